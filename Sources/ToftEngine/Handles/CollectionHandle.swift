package import ToftModel
package import ToftStorage

/// A live list, set or dictionary of an object: its elements, of a dictionary the values. Once the
/// object is deleted, everything throws `collectionInvalidated`; so does a collection within a
/// mixed value that was set to something else.
package struct CollectionHandle {
    package let owner: ObjectHandle
    package let property: PropertyHandle
    /// Of a list or dictionary within a mixed value.
    package let nested: NestedRef?
    package let kind: CollectionKind

    init(
        owner: ObjectHandle, property: PropertyHandle, nested: NestedRef? = nil,
        kind: CollectionKind? = nil
    ) {
        self.owner = owner
        self.property = property
        self.nested = nested
        self.kind = kind ?? property.collection
    }

    package var session: Session { owner.session }
    var ref: CollectionRef {
        CollectionRef(owner: owner.ref, property: property.id, nested: nested)
    }
    var key: Int64 { owner.ref.key }
}

extension CollectionHandle {
    /// Whether the object that has the list exists.
    package var isValid: Bool {
        get throws(EngineError) {
            guard let nested else { return try owner.isValid }
            do throws(EngineError) {
                _ = try content(nested)
                return true
            } catch {
                guard error.code == .collectionInvalidated else { throw error }
                return false
            }
        }
    }

    /// Runs an operation on the collection, on a handle of the property that the session sees now.
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
        guard try !owner.isValid else { return error }
        return EngineError(
            .collectionInvalidated,
            "The \(kind.name) '\(property.className).\(property.name)' is invalid: "
                + "its object has been deleted."
        )
    }

    private func requireValidity() throws(EngineError) {
        if let nested {
            _ = try content(nested)
        } else if try !owner.isValid {
            throw try invalidated(EngineError(.objectDeleted, ""))
        }
    }

    // MARK: Reading

    package var count: Int {
        get throws(EngineError) {
            if let nested { return try content(nested).count }
            return try onCollection { property throws(ModelError) in
                try session.view.listCount(key, property)
            }
        }
    }

    /// Elements from `first` on, as many as there are and at most `limit`, borrowed until the
    /// session moves or writes.
    package func cells(from first: Int, limit: Int) throws(EngineError) -> [Cell] {
        if let nested { return try elements(nested, from: first, limit: limit).map(\.cell) }
        let list = try onCollection { property throws(ModelError) in
            try session.view.list(key, property)
        }
        return try cells(of: list, from: first, limit: limit)
    }

    func cells(of list: ListView, from first: Int, limit: Int) throws(EngineError) -> [Cell] {
        guard first >= 0, first <= list.count else {
            throw EngineError(outOfRange: first, count: list.count)
        }
        var cells: [Cell] = []
        for index in first..<min(list.count, first + min(limit, list.count)) {
            cells.append(try storage { () throws(StorageError) in try list.cell(at: index) })
        }
        return cells
    }

    /// One element, borrowed until the session moves or, in a write transaction, writes.
    package func cell(at index: Int) throws(EngineError) -> Cell {
        if let nested { return try element(nested, at: index).cell }
        return try onCollection { property throws(ModelError) in
            try session.view.listCell(key, property, at: index)
        }
    }

    /// One element, to keep.
    package func value(at index: Int) throws(EngineError) -> Value {
        if let nested {
            let element = try element(nested, at: index)
            return try model { () throws(ModelError) in try element.value().owned() }
        }
        return try onCollection { property throws(ModelError) in
            try session.view.listValue(key, property, at: index)
        }
    }

    /// The index of the first element that equals a value. O(elements), of a set O(log elements).
    package func firstIndex(of value: Value) throws(EngineError) -> Int? {
        if nested == nil, kind == .set {
            return try onCollection { property throws(ModelError) in
                let position = try session.view.setPosition(key, property, of: value)
                return position.isFound ? position.index : nil
            }
        }
        return try firstIndex(of: value, in: 0..<count)
    }

    /// The first index of a value among the elements of a list, or the values of a dictionary, with
    /// these indices. O(elements compared).
    package func firstIndex(of value: Value, in indices: Range<Int>) throws(EngineError) -> Int? {
        let count = try count
        guard indices.upperBound <= count else {
            throw EngineError(
                outOfRange: max(indices.lowerBound, indices.upperBound - 1), count: count)
        }
        if nested != nil {
            let values = try values()
            return indices.first { values[$0].mixedOrder(value) == 0 }
        }
        return try onCollection { property throws(ModelError) in
            try session.view.listIndex(key, property, of: value, in: indices)
        }
    }

    /// The list as results, to filter, sort and sum.
    package func results() throws(EngineError) -> Results {
        try requireValidity()
        return Results(
            ResultsDefinition(
                .collection(ref), classID: property.type == .link ? property.targetClassID : nil),
            in: session)
    }

    // MARK: Writing

    /// Runs a change.
    func change<Result>(
        _ body: (ModelTransaction, PropertyHandle) throws(ModelError) -> Result
    ) throws(EngineError) -> Result {
        let transaction = try session.writing()
        let result = try onCollection { property throws(ModelError) in
            try body(transaction, property)
        }
        session.noteSet(property)
        return result
    }

    @discardableResult
    func edit(_ edit: CollectionEdit) throws(EngineError) -> OrderedPosition {
        try change { transaction, property throws(ModelError) in
            try transaction.edit(key, property, nested, edit)
        }
    }

    /// Makes an edit of one value that the caller keeps.
    private func edit(
        _ value: Value, _ edit: (UnsafeBufferPointer<BorrowedValue>) -> CollectionEdit
    ) throws(EngineError) {
        try change { transaction, property throws(ModelError) in
            try value.withList { values throws(ModelError) in
                _ = try transaction.edit(key, property, nested, edit(values))
            }
        }
    }

    /// Inserts values before `index`, or at the end; all or nothing.
    package func insert(_ values: UnsafeBufferPointer<BorrowedValue>, at index: Int)
        throws(EngineError)
    {
        try edit(.insert(values, at: index))
    }

    /// Inserts one value that the caller keeps.
    package func insert(_ value: Value, at index: Int) throws(EngineError) {
        try edit(value) { .insert($0, at: index) }
    }

    package func append(_ values: UnsafeBufferPointer<BorrowedValue>) throws(EngineError) {
        try edit(.append(values))
    }

    package func append(_ value: Value) throws(EngineError) {
        try edit(value) { .append($0) }
    }

    /// Replaces an element, also by itself: that is a change too.
    package func set(_ value: BorrowedValue, at index: Int) throws(EngineError) {
        try edit(.set(value, at: index))
    }

    package func set(_ value: Value, at index: Int) throws(EngineError) {
        try edit(value) { .set($0[0], at: index) }
    }

    package func erase(_ range: Range<Int>) throws(EngineError) { try edit(.erase(range)) }

    /// Moves an element, whose index is `to` afterwards.
    package func move(from: Int, to: Int) throws(EngineError) {
        try edit(.move(from: from, to: to))
    }

    package func swap(_ first: Int, _ second: Int) throws(EngineError) {
        try edit(.swap(first, second))
    }

    package func clear() throws(EngineError) { try edit(.assign(.null)) }

    // MARK: Embedded objects

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

    /// Creates an embedded object for a key of a dictionary, replacing the present one. All or
    /// nothing.
    package func setEmbedded(
        _ assignments: UnsafeBufferPointer<Assignment>, forKey entryKey: UnsafeRawBufferPointer
    ) throws(EngineError) -> ObjectHandle {
        var created: Int64 = 0
        try change { transaction, property throws(ModelError) in
            created = try transaction.dictionarySetEmbedded(key, property, entryKey, assignments)
        }
        return try session.embedded(created, in: property)
    }

    /// Inserts embedded objects into a list, with values that the caller keeps.
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

    // MARK: Observing

    /// Observes the list's elements and, for links, the objects that they reach; with key paths,
    /// only the properties that those name: see `WatchedPaths`.
    package func observe(
        keyPaths: [String]? = nil, callsInitially: Bool = true,
        _ handler: @escaping NotificationHandler
    ) throws(EngineError) -> Token {
        try requireValidity()
        return try session.observe(
            .collection(ref), handler, keyPaths: keyPaths,
            from: property.type == .link ? property.targetClassID : nil,
            callsInitially: callsInitially)
    }
}
