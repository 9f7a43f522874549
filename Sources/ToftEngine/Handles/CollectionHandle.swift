package import ToftModel
package import ToftStorage

/// A live list, set or dictionary of an object: its elements, of a dictionary the values. Once the
/// object is deleted, everything throws `collectionInvalidated`.
package struct CollectionHandle {
    package let owner: ObjectHandle
    package let property: PropertyHandle

    package var session: Session { owner.session }
    var ref: CollectionRef { CollectionRef(owner: owner.ref, property: property.id) }
    var key: Int64 { owner.ref.key }
}

extension CollectionHandle {
    /// Whether the object that has the list exists.
    package var isValid: Bool {
        get throws(EngineError) { try owner.isValid }
    }

    /// Runs what reads or changes the collection, on a handle of the property that the session sees
    /// now.
    func onCollection<Result>(_ body: (PropertyHandle) throws(ModelError) -> Result)
        throws(EngineError) -> Result
    {
        try session.check()
        do throws(EngineError) {
            let property = try owner.property(property.id)
            return try model { () throws(ModelError) in try body(property) }
        } catch {
            throw error.code == .objectDeleted ? try invalidated(error) : error
        }
    }

    /// A list of a deleted object is invalidated; a deleted target of a link is not that.
    private func invalidated(_ error: EngineError) throws(EngineError) -> EngineError {
        guard try !isValid else { return error }
        return EngineError(
            .collectionInvalidated,
            "The \(property.collection.name) '\(property.className).\(property.name)' is invalid: "
                + "its object has been deleted."
        )
    }

    // MARK: Reading

    package var count: Int {
        get throws(EngineError) {
            try onCollection { property throws(ModelError) in
                try session.view.listCount(key, property)
            }
        }
    }

    /// The list as it is now, for many reads in a row: valid until the session moves or writes.
    package func elements() throws(EngineError) -> ListView {
        try onCollection { property throws(ModelError) in try session.view.list(key, property) }
    }

    /// One element, borrowed until the session moves or, in a write transaction, writes.
    package func cell(at index: Int) throws(EngineError) -> Cell {
        try onCollection { property throws(ModelError) in
            try session.view.listCell(key, property, at: index)
        }
    }

    /// One element, to keep.
    package func value(at index: Int) throws(EngineError) -> Value {
        try onCollection { property throws(ModelError) in
            try session.view.listValue(key, property, at: index)
        }
    }

    /// The index of the first element that equals a value. O(elements), of a set O(log elements).
    package func firstIndex(of value: Value) throws(EngineError) -> Int? {
        try onCollection { property throws(ModelError) in
            guard property.collection == .set else {
                return try session.view.listIndex(key, property, of: value)
            }
            let position = try session.view.setPosition(key, property, of: value)
            return position.isFound ? position.index : nil
        }
    }

    /// The list as results, to filter, sort and sum.
    package func results() throws(EngineError) -> Results {
        guard try isValid else { throw try invalidated(EngineError(.objectDeleted, "")) }
        return Results(
            ResultsDefinition(
                .collection(ref), classID: property.type == .link ? property.targetClassID : nil),
            in: session)
    }

    // MARK: Writing

    func change(_ body: (ModelTransaction, PropertyHandle) throws(ModelError) -> Void)
        throws(EngineError)
    {
        let transaction = try session.writing()
        try onCollection { property throws(ModelError) in try body(transaction, property) }
        session.noteSet(property)
    }

    /// Inserts values before `index`, or at the end; all or none.
    package func insert(_ values: UnsafeBufferPointer<BorrowedValue>, at index: Int)
        throws(EngineError)
    {
        try change { transaction, property throws(ModelError) in
            try transaction.listInsert(key, property, at: index, values)
        }
    }

    /// Inserts one value that the caller keeps.
    package func insert(_ value: Value, at index: Int) throws(EngineError) {
        try change { transaction, property throws(ModelError) in
            try transaction.listInsert(key, property, at: index, value)
        }
    }

    package func append(_ values: UnsafeBufferPointer<BorrowedValue>) throws(EngineError) {
        try change { transaction, property throws(ModelError) in
            try transaction.listAppend(key, property, values)
        }
    }

    package func append(_ value: Value) throws(EngineError) {
        try change { transaction, property throws(ModelError) in
            try transaction.listAppend(key, property, value)
        }
    }

    /// Replaces an element, also by itself: that is a change too.
    package func set(_ value: BorrowedValue, at index: Int) throws(EngineError) {
        try change { transaction, property throws(ModelError) in
            try transaction.listSet(key, property, at: index, value)
        }
    }

    package func set(_ value: Value, at index: Int) throws(EngineError) {
        try change { transaction, property throws(ModelError) in
            try transaction.listSet(key, property, at: index, value)
        }
    }

    /// Creates an embedded object before `index`, or at the end. All or nothing.
    package func insertEmbedded(_ assignments: UnsafeBufferPointer<Assignment>, at index: Int)
        throws(EngineError) -> ObjectHandle
    {
        var created: Int64 = 0
        try change { transaction, property throws(ModelError) in
            created = try transaction.listInsertEmbedded(key, property, at: index, assignments)
        }
        return try session.embedded(created, in: property)
    }

    /// Creates an embedded object in place of the one at `index`. All or nothing.
    package func setEmbedded(_ assignments: UnsafeBufferPointer<Assignment>, at index: Int)
        throws(EngineError) -> ObjectHandle
    {
        var created: Int64 = 0
        try change { transaction, property throws(ModelError) in
            created = try transaction.listSetEmbedded(key, property, at: index, assignments)
        }
        return try session.embedded(created, in: property)
    }

    /// Creates an embedded object for a key of a dictionary, in place of the one that is there. All
    /// or nothing.
    package func setEmbedded(
        _ assignments: UnsafeBufferPointer<Assignment>, forKey entryKey: UnsafeRawBufferPointer
    ) throws(EngineError) -> ObjectHandle {
        var created: Int64 = 0
        try change { transaction, property throws(ModelError) in
            created = try transaction.dictionarySetEmbedded(key, property, entryKey, assignments)
        }
        return try session.embedded(created, in: property)
    }

    /// The same for lists with values that the caller keeps.
    package func insertEmbedded(
        _ values: [(property: PropertyID, value: Value)], at index: Int
    ) throws(EngineError) -> ObjectHandle {
        let property = try owner.property(property.id)
        return try session.embed(values, in: property) { transaction, values throws(ModelError) in
            try transaction.listInsertEmbedded(key, property, at: index, values)
        }
    }

    package func setEmbedded(
        _ values: [(property: PropertyID, value: Value)], at index: Int
    ) throws(EngineError) -> ObjectHandle {
        let property = try owner.property(property.id)
        return try session.embed(values, in: property) { transaction, values throws(ModelError) in
            try transaction.listSetEmbedded(key, property, at: index, values)
        }
    }

    package func setEmbedded(
        _ values: [(property: PropertyID, value: Value)], forKey entryKey: String
    ) throws(EngineError) -> ObjectHandle {
        let property = try owner.property(property.id), bytes = Array(entryKey.utf8)
        return try session.embed(values, in: property) { transaction, values throws(ModelError) in
            let result: Result<Int64, ModelError> = bytes.withUnsafeBytes { bytes in
                do throws(ModelError) {
                    return .success(
                        try transaction.dictionarySetEmbedded(key, property, bytes, values))
                } catch { return .failure(error) }
            }
            return try result.get()
        }
    }

    package func erase(_ range: Range<Int>) throws(EngineError) {
        try change { transaction, property throws(ModelError) in
            try transaction.listErase(key, property, range)
        }
    }

    /// Takes an element out and puts it where it then has the index `to`.
    package func move(from: Int, to: Int) throws(EngineError) {
        try change { transaction, property throws(ModelError) in
            try transaction.listMove(key, property, from: from, to: to)
        }
    }

    package func swap(_ first: Int, _ second: Int) throws(EngineError) {
        try change { transaction, property throws(ModelError) in
            try transaction.listSwap(key, property, first, second)
        }
    }

    package func clear() throws(EngineError) {
        try change { transaction, property throws(ModelError) in
            try transaction.clear(key, property)
        }
    }

    // MARK: Observing

    /// Observes the list's elements and, for links, what they reach; with key paths, only what
    /// those name: see `WatchedPaths`.
    package func observe(
        keyPaths: [String]? = nil, callsInitially: Bool = true,
        _ handler: @escaping NotificationHandler
    ) throws(EngineError) -> Token {
        guard try isValid else { throw try invalidated(EngineError(.objectDeleted, "")) }
        return try session.observe(
            .collection(ref), handler, keyPaths: keyPaths,
            from: property.type == .link ? property.targetClassID : nil,
            callsInitially: callsInitially)
    }
}
