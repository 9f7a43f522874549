package import ToftModel
package import ToftQuery
package import ToftStorage

/// A live object: its reference in the database and its session.
///
/// Holds nothing that could dangle. After the object's deletion, and for one made in a transaction
/// that was cancelled, everything but `isValid` throws `objectDeleted`.
package struct ObjectHandle {
    package let session: Session
    package let ref: ObjectRef
    /// The class, as the session saw it when the handle was made.
    let owner: ClassHandle

    /// The object, whether it exists or not.
    init(_ ref: ObjectRef, owner: ClassHandle, in session: Session) {
        self.ref = ref
        self.owner = owner
        self.session = session
    }
}

extension ObjectHandle {
    /// Whether the object exists in the session's present view.
    package var isValid: Bool {
        get throws(EngineError) {
            try session.check()
            return try model { () throws(ModelError) in try session.view.exists(ref) }
        }
    }

    /// A property of the object's class that the session sees.
    package func property(_ id: PropertyID) throws(EngineError) -> PropertyHandle {
        try session.check()
        return try session.property(id, of: owner)
    }

    /// The error for operations on a deleted object.
    package var deleted: EngineError {
        EngineError(ModelError.noSuchObject(className: owner.name, key: ref.key))
    }

    /// Throws if the object is deleted.
    func requireExistence() throws(EngineError) {
        guard try isValid else { throw deleted }
    }

    // MARK: Reading

    /// The value of a property, borrowed until the session moves or, in a write transaction,
    /// writes.
    package func cell(_ id: PropertyID) throws(EngineError) -> Cell {
        let property = try property(id)
        return try model { () throws(ModelError) in try session.view.cell(ref.key, property) }
    }

    /// Calls `body` with each of some properties and its value: see `Session.forEachCell`.
    package func forEachCell(
        _ ids: UnsafeBufferPointer<PropertyID>, _ body: CellReceiver
    ) throws(EngineError) {
        try session.check()
        do throws(ModelError) {
            try session.forEachCell(ref.key, ref.classID, ids, body)
        } catch { throw EngineError(error) }
    }

    /// The value of a property, to keep.
    package func value(_ id: PropertyID) throws(EngineError) -> Value {
        let property = try property(id)
        return try model { () throws(ModelError) in try session.view.value(ref.key, property) }
    }

    /// A list property, live.
    package func list(_ id: PropertyID) throws(EngineError) -> CollectionHandle {
        try collection(id, .list)
    }

    /// A list, a set or a dictionary, live.
    package func collection(_ id: PropertyID, _ kind: CollectionKind) throws(EngineError)
        -> CollectionHandle
    {
        let property = try property(id)
        if property.type == .mixed, property.collection == .none {
            let ref = try model { () throws(ModelError) in
                try session.view.nested(self.ref.key, property, kind)
            }
            return CollectionHandle(owner: self, property: property, nested: ref, kind: kind)
        }
        guard property.collection == kind else {
            throw EngineError(
                ModelError.notACollection(
                    className: property.className, property: property.name, kind: kind))
        }
        try requireExistence()
        return CollectionHandle(owner: self, property: property)
    }

    /// The objects that link here through an inverse property, live.
    package func linkingObjects(_ id: PropertyID) throws(EngineError) -> Results {
        let property = try property(id)
        try requireExistence()
        let origin = try model { () throws(ModelError) in try session.schema.origin(of: property) }
        return try linkingObjects(through: origin)
    }

    /// The objects that link here through a property of their class, live.
    package func linkingObjects(through link: PropertyHandle) throws(EngineError) -> Results {
        try session.check()
        try requireExistence()
        return Results(
            ResultsDefinition(
                .backlinks(target: ref, link: PropertyRef(link)), classID: link.classID),
            in: session)
    }

    /// Whether the object passes the conditions of a query; its SORT, DISTINCT and LIMIT say
    /// nothing of one object.
    package func matches(_ query: PreparedQuery, arguments: [QueryArgument]) throws(EngineError)
        -> Bool
    {
        try requireExistence()
        let bound = try querying { () throws(QueryError) in
            try query.bound(
                to: owner.name, arguments: arguments, schema: session.schema.stored,
                aliases: session.aliases)
        }
        return try model { () throws(ModelError) in try bound.matches(ref.key, in: session.view) }
    }

    // MARK: Writing

    /// Sets a property, also to the value that it has: that is a change too.
    package func set(_ id: PropertyID, _ value: BorrowedValue) throws(EngineError) {
        let property = try property(id)
        let transaction = try session.writing()
        try model { () throws(ModelError) in try transaction.set(ref.key, property, value) }
        session.noteSet(property)
    }

    /// Sets a property to a value that the caller keeps.
    package func set(_ id: PropertyID, _ value: Value) throws(EngineError) {
        let property = try property(id)
        let transaction = try session.writing()
        try model { () throws(ModelError) in try transaction.set(ref.key, property, value) }
        session.noteSet(property)
    }

    /// Sets several properties, all or nothing.
    package func set(_ assignments: UnsafeBufferPointer<Assignment>) throws(EngineError) {
        for assignment in assignments { _ = try property(assignment.property) }
        let transaction = try session.writing()
        try model { () throws(ModelError) in try transaction.set(ref.key, owner, assignments) }
        for assignment in assignments { session.noteSet(try property(assignment.property)) }
    }

    /// Creates an embedded object in a property, replacing the present one. All or nothing.
    package func setEmbedded(_ id: PropertyID, _ assignments: UnsafeBufferPointer<Assignment>)
        throws(EngineError) -> ObjectHandle
    {
        let property = try property(id)
        let transaction = try session.writing()
        let key = try model { () throws(ModelError) in
            try transaction.setEmbedded(ref.key, property, assignments)
        }
        return try session.embedded(key, in: property)
    }

    /// Sets an embedded object, with values that the caller keeps.
    package func setEmbedded(
        _ id: PropertyID, _ values: [(property: PropertyID, value: Value)]
    ) throws(EngineError) -> ObjectHandle {
        let property = try property(id)
        return try session.embed(values, in: property) { transaction, values throws(ModelError) in
            try transaction.setEmbedded(ref.key, property, values)
        }
    }

    /// Adds an amount to an integer property: see `ModelTransaction.add`.
    package func add(_ amount: Int64, to id: PropertyID) throws(EngineError) {
        let property = try property(id)
        let transaction = try session.writing()
        try model { () throws(ModelError) in try transaction.add(amount, to: ref.key, property) }
        session.noteSet(property)
    }

    /// Deletes the object: links to it become null, lists lose it.
    package func delete() throws(EngineError) {
        let transaction = try session.writing()
        try requireExistence()
        try model { () throws(ModelError) in try transaction.erase(ref.key, owner) }
        session.noteUnread()
    }

    // MARK: Observing

    /// Observes the object's own properties and its deletion; with key paths, only the properties
    /// that those name, also beyond links: see `WatchedPaths`.
    package func observe(keyPaths: [String]? = nil, _ handler: @escaping NotificationHandler)
        throws(EngineError) -> Token
    {
        try session.check()
        try requireExistence()
        return try session.observe(.object(ref), handler, keyPaths: keyPaths, from: ref.classID)
    }
}

extension ObjectHandle: Equatable {
    /// Whether both are the same object of the same session.
    package static func == (left: ObjectHandle, right: ObjectHandle) -> Bool {
        left.ref == right.ref && left.session === right.session
    }
}
