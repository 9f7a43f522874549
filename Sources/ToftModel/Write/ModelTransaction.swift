package import ToftStorage

/// Changes objects within a write transaction.
///
/// 1. Every call checks all it was given before it changes anything: a `ModelError` other than
///    `.storage` and `.inconsistent` leaves the transaction as it was and usable. After those two,
///    roll back.
/// 2. Changes of primary keys, indexes, backlinks and nullified links are derived effects: they
///    follow from those of the user.
/// 3. It belongs to the thread of the transaction. Property and class handles must come from
///    `view.schema`.
package final class ModelTransaction {
    /// The transaction's view: with its own changes.
    package let view: ModelView
    let writing: WriteTransaction
    let buffer: WriteBuffer
    private var hasEnded = false
    /// The open savepoints, the first one first.
    private var savepoints: [WriteTransaction.Savepoint] = []
    /// Embedded objects within one another at most. Files of earlier versions have more.
    var nestingLimit = Limits.nestedEmbeddedObjects
    /// Depths of embedded objects that were created here, themselves included: the last ones that
    /// were needed. An owner never changes.
    var embeddedDepths: [ObjectRef: Int] = [:]
    let arena = ByteArena()
    /// The checked arguments of a call. Behind a pointer, because the runtime guards each access to
    /// a class's own property.
    let prepared = UnsafeMutablePointer<PreparedAssignments>.allocate(capacity: 1)

    /// Works on a write transaction, which is ended through `commit` or `rollback` here alone.
    /// - Parameter view: shows an earlier version or the one that the transaction builds on. Its
    ///   schema is reused if it is still valid.
    /// - Parameter buffer: belongs to the transaction until it ends.
    package convenience init(
        _ transaction: WriteTransaction, after view: ModelView, buffer: WriteBuffer
    ) throws(ModelError) {
        let isSame = view.snapshot.version == transaction.baseVersion
        let schema =
            isSame ? view.schema : try ModelSchema.read(transaction.view, previous: view.schema)
        self.init(transaction, schema: schema, buffer: buffer)
    }

    init(_ transaction: WriteTransaction, schema: ModelSchema, buffer: WriteBuffer) {
        writing = transaction
        prepared.initialize(to: PreparedAssignments())
        self.buffer = buffer
        buffer.begin(transaction, schema)
        view = ModelView(transaction.view, schema: schema, unflushed: buffer)
    }

    deinit {
        rollback()
        prepared.deinitialize(count: 1)
        prepared.deallocate()
    }

    // MARK: The record

    /// The version that it builds on.
    package var baseVersion: Version { writing.baseVersion }

    /// The end of the record of written changes; buffered changes come after it.
    package var recordEnd: RecordPosition { writing.recordEnd }

    /// Calls `body` with each effect after `position`, and moves that to the end: see
    /// `WriteTransaction.forEachEffect`. Writes buffered objects; borrowed bytes stay valid.
    package func forEachEffect(after position: inout RecordPosition, _ body: (Effect) -> Void)
        throws(ModelError) -> Bool
    {
        try buffer.flushAllRows()
        return writing.forEachEffect(after: &position, body)
    }

    // MARK: Savepoints

    /// Begins a savepoint: a state that the transaction can return to. Savepoints are nested.
    /// Flushes the buffer, and until it ends each change records its undo effect.
    package func beginSavepoint() throws(ModelError) {
        try buffer.flush()
        savepoints.append(try stored { () throws(StorageError) in try writing.beginSavepoint() })
    }

    /// Ends the last savepoint. `keeping`: changes since then stay; otherwise every object, and the
    /// record, are restored. False without a savepoint.
    /// - Throws: after which the transaction must be rolled back.
    package func endSavepoint(keeping: Bool) throws(ModelError) -> Bool {
        guard let savepoint = savepoints.popLast() else { return false }
        defer { writing.endSavepoint() }
        guard !keeping else { return true }
        buffer.discard()
        embeddedDepths = [:]
        try stored { () throws(StorageError) in try writing.rollBack(to: savepoint) }
        return true
    }

    // MARK: The end

    /// Whether anything was changed so far.
    package var hasChanges: Bool { writing.hasChanges || buffer.holdsUserChanges }

    /// Flushes the write buffer, then commits. Afterwards the transaction has ended, also when the
    /// commit throws.
    /// - Returns: the version, which is the old one when nothing was changed, and a snapshot of it,
    ///   pinned before another transaction can commit; nil if no pin was free.
    /// - Throws: as `WriteTransaction.commit`; then nothing has changed, unless the error is
    ///   `commitOutcomeUnknown`.
    @discardableResult
    package func commit(_ durability: Durability = .immediate) throws(ModelError) -> (
        version: Version, snapshot: Snapshot?
    ) {
        guard writing.isActive else { throw .storage(.closed) }
        defer { rollback() }
        try buffer.flush()
        try checkUniques()
        return try stored { () throws(StorageError) in try writing.commitAndRead(durability) }
    }

    /// Forgets every change. Does nothing after the end.
    package func rollback() {
        guard !hasEnded else { return }
        hasEnded = true
        buffer.end()
        writing.rollback()
    }

    /// Writes buffered changes and releases the write transaction without ending it: another of
    /// another schema continues with it. This one has ended.
    func handOver() throws(ModelError) {
        try buffer.flush()
        hasEnded = true
        buffer.end()
    }

    /// The buffer, after the end, for the next transaction; nil if a large transaction has grown
    /// it.
    package var reusableBuffer: WriteBuffer? { hasEnded && writing.isSmall ? buffer : nil }

    // MARK: Checks

    /// Checks assignments of one class and keeps them in `prepared`.
    func prepare(_ assignments: UnsafeBufferPointer<Assignment>, _ owner: ClassHandle)
        throws(ModelError)
    {
        arena.reset()
        prepared.pointee.begin(owner)
        for assignment in assignments {
            let position = try owner.position(id: assignment.property)
            let rule = owner.rules[position]
            if rule.collection != .none {
                try prepareCollection(assignment.value, owner.properties[position], position)
            } else {
                guard rule.isOneValue else {
                    throw owner.properties[position].notSettable(assignment.value)
                }
                let cell =
                    rule.type == .mixed
                    ? try prepareMixed(assignment.value, owner.properties[position])
                    : try prepare(assignment.value, rule)
                guard let cell else {
                    throw owner.properties[position].rejection(of: assignment.value, view.schema)
                }
                prepared.pointee.add(RowValue(column: rule.column, tag: position, cell: cell))
            }
        }
    }

    /// The cell of a value or of an element of a list, its bytes copied to `arena`; nil if the
    /// property does not accept it.
    @inline(__always)
    private func prepare(_ value: BorrowedValue, _ rule: ValueRule) throws(ModelError) -> Cell? {
        guard let cell = rule.cell(value) else { return nil }
        if rule.type == .link { try checkTarget(cell, rule) }
        return arena.copy(cell)
    }

    /// Checks one value of a property that is not a list.
    @inline(__always)
    func prepareCell(_ value: BorrowedValue, _ property: PropertyHandle) throws(ModelError) -> Cell
    {
        if property.type == .mixed { return try prepareMixed(value, property) }
        let cell = try property.checkedCell(value, in: view.schema)
        if property.type == .link { try checkTarget(cell, property.rule) }
        return arena.copy(cell)
    }

    /// Checks one element of a list.
    func prepareElement(_ value: BorrowedValue, _ property: PropertyHandle) throws(ModelError)
        -> Cell
    {
        if property.type == .mixed { return try prepareMixed(value, property) }
        if let cell = try prepare(value, property.rule) { return cell }
        throw property.rejection(of: value, view.schema)
    }

    /// Checks a whole collection; null is an empty one.
    private func prepareCollection(
        _ value: BorrowedValue, _ property: PropertyHandle, _ position: Int
    ) throws(ModelError) {
        let first = prepared.pointee.listCells.count
        switch (value, property.collection) {
        case (.null, _): break
        case (.list(let values), .list), (.list(let values), .set):
            for value in values {
                prepared.pointee.addListCell(try prepareElement(value, property))
            }
            if property.collection == .set {
                prepared.pointee.makeSet(from: first, of: property.type)
            }
        case (.dictionary(let entries), .dictionary):
            for entry in entries {
                prepared.pointee.addListCell(try prepareEntryKey(entry.key, property))
                prepared.pointee.addListCell(try prepareElement(entry.value, property))
            }
            prepared.pointee.makeDictionary(from: first)
        default:
            throw .typeMismatch(
                className: property.className, property: property.name, expected: property.typeName,
                found: value.kindName)
        }
        let end = prepared.pointee.listCells.count
        guard property.collection == .dictionary else {
            return prepared.pointee.add(
                RowValue(column: property.column, tag: position, list: first..<end))
        }
        prepared.pointee.addDictionary(first..<first + (end - first) / 2, property, position)
    }

    /// Checks a key of a dictionary, its bytes copied to `arena`.
    func prepareEntryKey(_ key: UnsafeRawBufferPointer, _ property: PropertyHandle)
        throws(ModelError) -> Cell
    {
        try property.checkEntryKey(key)
        return arena.copy(.bytes(key))
    }

    /// Throws unless the target of a link exists.
    private func checkTarget(_ cell: Cell, _ rule: ValueRule) throws(ModelError) {
        guard case .int64(let target) = cell, rule.targetPosition >= 0,
            !buffer.isCreated(target, rule.targetPosition)
        else { return }
        try view.requireObject(target, view.schema.classes[rule.targetPosition])
    }
}

extension ClassHandle {
    /// The index in `properties` of the visible property with this id.
    @inline(__always)
    func position(id: PropertyID) throws(ModelError) -> Int {
        guard let position = anyPosition(id: id), !rules[position].isHidden else {
            throw .noSuchProperty(className: name, property: "#\(id)")
        }
        return position
    }
}

extension ModelTransaction {
    /// The objects of the version that it has committed, with the schema that it had.
    package func committedView(_ snapshot: Snapshot) throws(ModelError) -> ModelView {
        let schema = view.schema
        return ModelView(
            snapshot,
            schema: writing.isStructureChanged
                ? try ModelSchema.read(snapshot, previous: schema) : schema)
    }
}
