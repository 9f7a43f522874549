internal import ToftPlatform
package import ToftModel
package import ToftQuery

extension Session {
    /// All objects of a class, in the order of their creation.
    package func results(of id: ClassID) throws(EngineError) -> Results {
        _ = try classHandle(id)
        return Results(ResultsDefinition(.all(id), classID: id), in: self)
    }

    // MARK: Finding

    /// The object with this primary key; nil if there is no such object.
    package func find(_ primaryKey: BorrowedValue, in id: ClassID) throws(EngineError)
        -> ObjectHandle?
    {
        try check()
        let view = view
        let owner = try model { () throws(ModelError) in try view.schema.classHandle(id: id) }
        guard let key = try model({ () throws(ModelError) in try view.find(primaryKey, owner) })
        else { return nil }
        return handle(key, owner)
    }

    /// Whether there is an object with this primary key.
    package func holds(_ primaryKey: BorrowedValue, _ owner: ClassHandle) throws(EngineError)
        -> Bool
    {
        try model { () throws(ModelError) in try view.find(primaryKey, owner) != nil }
    }

    /// The object with a primary key that the caller keeps.
    package func find(_ primaryKey: Value, in id: ClassID) throws(EngineError) -> ObjectHandle? {
        let owner = try classHandle(id)
        guard let key = try model({ () throws(ModelError) in try view.find(primaryKey, owner) })
        else { return nil }
        return handle(key, owner)
    }

    /// The key of the first object of a class that a query gives with one argument, which the
    /// caller lends; nil if there is no result. `isKnown` is false if one lookup does not decide
    /// the query, or it has not run before.
    package func first(in id: ClassID, _ query: PreparedQuery, lookingUp value: BorrowedValue)
        throws(EngineError) -> (isKnown: Bool, key: Int64?)
    {
        try check()
        guard aliases.isEmpty else { return (false, nil) }
        return try model { () throws(ModelError) in
            try Unmanaged.passUnretained(view).borrow { view throws(ModelError) in
                try query.firstKey(of: id, lookingUp: value, in: view)
            }
        }
    }

    /// The key of the first object of a class that a query gives; nil if there is no result. Cost:
    /// that of the query with a limit of one.
    package func first(in id: ClassID, _ query: PreparedQuery, arguments: [QueryArgument])
        throws(EngineError) -> Int64?
    {
        try results(of: id).filter(query, arguments: arguments).limited(to: 1).keys().first
    }

    /// A handle of an object by its name; nil if it does not exist.
    package func object(_ ref: ObjectRef) throws(EngineError) -> ObjectHandle? {
        let owner = try classHandle(ref.classID)
        guard try model({ () throws(ModelError) in try view.exists(ref.key, owner) }) else {
            return nil
        }
        return handle(ref.key, owner)
    }

    /// A handle of an object.
    package func handle(_ key: Int64, _ owner: ClassHandle) -> ObjectHandle {
        ObjectHandle(ObjectRef(classID: owner.id, key: key), owner: owner, in: self)
    }

    // MARK: Changing

    /// Creates an object, or updates the one that has the primary key, as `policy` says. All or
    /// nothing.
    /// - Returns: the object, and whether it is new.
    package func create(
        _ id: ClassID, _ assignments: UnsafeBufferPointer<Assignment>, policy: UpdatePolicy = .error
    ) throws(EngineError) -> (object: ObjectHandle, isNew: Bool) {
        let owner = try classHandle(id)
        let transaction = try writing()
        let created = try model { () throws(ModelError) in
            try transaction.create(owner, assignments, policy: policy)
        }
        note(created.isNew, owner)
        return (handle(created.key, owner), created.isNew)
    }

    /// Creates an object with values that the caller keeps.
    @discardableResult
    package func create(
        _ id: ClassID, _ values: [(property: PropertyID, value: Value)] = [],
        policy: UpdatePolicy = .error
    ) throws(EngineError) -> ObjectHandle {
        let owner = try classHandle(id)
        let transaction = try writing()
        var resolved: [(property: PropertyHandle, value: Value)] = []
        for (id, value) in values { resolved.append((try property(id, of: owner), value)) }
        let created = try model { () throws(ModelError) in
            try transaction.create(owner, resolved, policy: policy)
        }
        note(created.isNew, owner)
        return handle(created.key, owner)
    }

    /// Creates an embedded object in a property with values that the caller keeps.
    func embed(
        _ values: [(property: PropertyID, value: Value)], in property: PropertyHandle,
        _ create: (ModelTransaction, UnsafeBufferPointer<Assignment>) throws(ModelError) -> Int64
    ) throws(EngineError) -> ObjectHandle {
        let target = try classHandle(property.targetClassID ?? 0)
        let transaction = try writing()
        var resolved: [(property: PropertyHandle, value: Value)] = []
        for (id, value) in values { resolved.append((try self.property(id, of: target), value)) }
        let key = try model { () throws(ModelError) in
            try transaction.withAssignments(resolved) { values throws(ModelError) in
                try create(transaction, values)
            }
        }
        return try embedded(key, in: property)
    }

    /// The embedded object that was created in a property.
    func embedded(_ key: Int64, in property: PropertyHandle) throws(EngineError) -> ObjectHandle {
        noteUnread()
        return handle(key, try classHandle(property.targetClassID ?? 0))
    }

    /// Creates `count` objects, or updates those that have the primary keys, as `policy` says. All
    /// or nothing.
    /// - Parameter valuesOfNew: number of the last values that are for new objects alone.
    /// - Parameter row: gives `create` the values of one row.
    /// - Returns: the key of each row's object, and whether it is new.
    /// - Throws: the errors of `create`, with the number of the row.
    package func create(
        _ id: ClassID, count: Int, policy: UpdatePolicy, valuesOfNew: Int = 0,
        row: (
            Int, (UnsafeBufferPointer<Assignment>) throws(EngineError) -> Void
        ) throws(EngineError) -> Void
    ) throws(EngineError) -> [(key: Int64, isNew: Bool)] {
        let owner = try classHandle(id)
        let transaction = try writing()
        var made: [(key: Int64, isNew: Bool)] = []
        made.reserveCapacity(count)
        defer { noteUnread() }
        func createAll() throws(EngineError) {
            for index in 0..<count {
                do throws(EngineError) {
                    try row(index) { values throws(EngineError) in
                        made.append(
                            try model { () throws(ModelError) in
                                try transaction.create(
                                    owner, values, policy: policy, valuesOfNew: valuesOfNew)
                            })
                    }
                } catch {
                    throw EngineError(
                        error.code, "Row \(index): \(error.message)", detail: error.detail,
                        number: Int64(index))
                }
            }
        }
        guard policy == .error else {
            if count > 1 { try allOrNothing(createAll) } else { try createAll() }
            return made
        }
        // Deleting created objects again costs less than a savepoint.
        do throws(EngineError) {
            try createAll()
        } catch {
            // The failure that led here is the one to report.
            for object in made.reversed() { try? transaction.takeBack(object.key, owner) }
            throw error
        }
        return made
    }

    /// The record has the changes of an update.
    private func note(_ isNew: Bool, _ owner: ClassHandle) {
        if isNew { noteCreation(of: owner) } else { noteUnread() }
    }
}

// MARK: Checks

/// The checks that a call of several steps makes before its first one: whether a step would be
/// refused. Nothing is changed.
extension Session {
    /// Throws if an object of a class would not accept values.
    package func check(_ id: ClassID, _ values: [(property: PropertyID, value: Value)])
        throws(EngineError)
    {
        let owner = try classHandle(id)
        let transaction = try writing()
        var resolved: [(property: PropertyHandle, value: Value)] = []
        for (id, value) in values { resolved.append((try property(id, of: owner), value)) }
        try model { () throws(ModelError) in try transaction.check(owner, resolved) }
    }

    /// The last key that was given to an object of a class whose keys are counted.
    package func lastKey(of id: ClassID) throws(EngineError) -> Int64 {
        let owner = try classHandle(id)
        let transaction = try writing()
        return try model { () throws(ModelError) in try transaction.lastKey(of: owner) }
    }
}
