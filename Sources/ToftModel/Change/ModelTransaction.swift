package import ToftStorage

/// Changes objects within a write transaction.
///
/// 1. Every call checks all it was given before it changes anything: a `ModelError` other than
///    `.storage` and `.inconsistent` leaves the transaction as it was and usable. After those two,
///    roll back.
/// 2. Primary keys, indexes, backlinks and nullified links are kept up as derived effects, so that
///    they follow from the user's own.
/// 3. It belongs to the thread of the transaction. Property and class handles must come from
///    `view.schema`.
package final class ModelTransaction {
    /// What the transaction sees: its own changes too.
    package let view: ModelView
    let writing: WriteTransaction
    /// What waits to be brought where it belongs.
    package let pending: PendingChanges
    let arena = ByteArena()
    /// What a call was given, checked. Behind a pointer: a class's own property would be guarded at
    /// each access.
    let prepared = UnsafeMutablePointer<PreparedAssignments>.allocate(capacity: 1)

    /// Works on a write transaction, which the caller ends and gives to no other at the same time.
    /// `view` shows an earlier version or the one that the transaction builds on: its schema is
    /// used again where it still holds, and `pending`, which a small transaction has left, with it.
    package convenience init(
        _ transaction: WriteTransaction, after view: ModelView, pending: PendingChanges? = nil
    ) throws(ModelError) {
        let isSame = view.snapshot.version == transaction.baseVersion
        let schema =
            isSame ? view.schema : try ModelSchema.read(transaction.view, previous: view.schema)
        self.init(
            transaction, schema: schema, limits: .usual,
            pending: pending?.suits(schema) == true ? pending : nil)
    }

    /// `limits`: how much may wait.
    init(
        _ transaction: WriteTransaction, schema: ModelSchema, limits: PendingChanges.Limits,
        pending: PendingChanges? = nil
    ) {
        writing = transaction
        prepared.initialize(to: PreparedAssignments())
        self.pending = pending ?? PendingChanges(schema, limits: limits)
        self.pending.serve(transaction)
        view = ModelView(transaction.view, schema: schema, pending: self.pending)
    }

    /// Whether anything was changed so far.
    package var hasChanges: Bool { writing.hasChanges || pending.holdsUserChanges }

    deinit {
        prepared.deinitialize(count: 1)
        prepared.deallocate()
    }

    // MARK: Checking what was given

    /// Checks assignments of one class and keeps them in `prepared`.
    func prepare(_ assignments: UnsafeBufferPointer<Assignment>, _ owner: ClassHandle)
        throws(ModelError)
    {
        arena.reset()
        prepared.pointee.begin(owner)
        for assignment in assignments {
            let position = try owner.position(id: assignment.property)
            let rule = owner.rules[position]
            if rule.isList {
                prepared.pointee.add(
                    try prepareList(assignment.value, owner.properties[position], position))
            } else {
                guard rule.isOneValue else {
                    throw owner.properties[position].notSettable(assignment.value)
                }
                guard let cell = try prepare(assignment.value, rule) else {
                    throw owner.properties[position].rejection(of: assignment.value, view.schema)
                }
                prepared.pointee.add(RowValue(column: rule.column, tag: position, cell: cell))
            }
        }
    }

    /// The cell of a value or of an element of a list, its bytes our own; nil where the property
    /// does not take it.
    @inline(__always)
    private func prepare(_ value: BorrowedValue, _ rule: ValueRule) throws(ModelError) -> Cell? {
        guard let cell = rule.cell(value) else { return nil }
        if rule.type == .link { try checkTarget(cell, rule) }
        return arena.copy(cell)
    }

    /// Checks one value of a property that is no list.
    @inline(__always)
    func prepareCell(_ value: BorrowedValue, _ property: PropertyHandle) throws(ModelError) -> Cell
    {
        let cell = try property.checkedCell(value, in: view.schema)
        if property.type == .link { try checkTarget(cell, property.rule) }
        return arena.copy(cell)
    }

    /// Checks one element of a list.
    func prepareElement(_ value: BorrowedValue, _ property: PropertyHandle) throws(ModelError)
        -> Cell
    {
        if let cell = try prepare(value, property.rule) { return cell }
        throw property.rejection(of: value, view.schema)
    }

    private func prepareList(
        _ value: BorrowedValue, _ property: PropertyHandle, _ position: Int
    ) throws(ModelError) -> RowValue {
        let first = prepared.pointee.listCells.count
        switch value {
        case .null: break
        case .list(let values):
            for value in values {
                prepared.pointee.addListCell(try prepareElement(value, property))
            }
        default:
            throw .typeMismatch(
                className: property.className, property: property.name, expected: property.typeName,
                found: value.kindName)
        }
        return RowValue(
            column: property.column, tag: position, list: first..<prepared.pointee.listCells.count)
    }

    /// A link leads to an object that is there.
    private func checkTarget(_ cell: Cell, _ rule: ValueRule) throws(ModelError) {
        guard case .int64(let target) = cell, rule.targetPosition >= 0,
            !pending.isNew(target, rule.targetPosition)
        else { return }
        try view.requireObject(target, view.schema.classes[rule.targetPosition])
    }
}

extension ClassHandle {
    /// Where the visible property with this id stands in `properties`.
    @inline(__always)
    func position(id: PropertyID) throws(ModelError) -> Int {
        guard let position = anyPosition(id: id), !rules[position].isHidden else {
            throw .noSuchProperty(className: name, property: "#\(id)")
        }
        return position
    }
}
