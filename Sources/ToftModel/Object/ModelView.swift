package import ToftStorage

/// The objects of one version, read through a snapshot; within a write transaction, of the version
/// being made.
///
/// Reading copies nothing: a `Cell` with bytes borrows from the file until the snapshot is
/// released, in a write transaction until its next change. Any thread may read a committed view; a
/// transaction's view belongs to the thread of the transaction. Property and class handles must
/// come from the view's own schema.
package final class ModelView: Sendable {
    package let snapshot: Snapshot
    package let schema: ModelSchema
    private let slots: TreeSlots
    /// In a transaction's view, the changes that the snapshot does not show yet.
    let unflushed: (any UnflushedChanges)?

    /// The objects of `snapshot`. `previous` is the schema of an earlier view, reused if it is
    /// still valid.
    package convenience init(
        _ snapshot: Snapshot, declared: Schema? = nil, previous: ModelSchema? = nil
    ) throws(ModelError) {
        self.init(
            snapshot, schema: try ModelSchema.read(snapshot, declared: declared, previous: previous)
        )
    }

    init(_ snapshot: Snapshot, schema: ModelSchema, unflushed: (any UnflushedChanges)? = nil) {
        self.snapshot = snapshot
        self.schema = schema
        self.unflushed = unflushed
        slots = TreeSlots(tableCount: schema.classes.count, treeCount: schema.slotCount)
        if !schema.unwritten.isEmpty { snapshot.show(schema.unwritten) }
    }

    /// Whether reads can fill its memory.
    package var mayFill: Bool { unflushed == nil && snapshot.mayFillMemory }

    /// Whether reads have filled its memory, and `again` would give other memory.
    package var isFilled: Bool {
        unflushed == nil && snapshot.fillsMemory && snapshot.canBeReadAgain
    }

    /// A view of the same version with other memory, if this view's has been filled by reads of an
    /// encrypted or buffered file; nil if it has not, or has to stay. Bytes that this view has lent
    /// stay valid as long as the view.
    package func again() throws(ModelError) -> ModelView? {
        guard isFilled else { return nil }
        return try ModelView(
            try stored { () throws(StorageError) in try snapshot.again() }, previous: schema)
    }

    // MARK: Trees

    /// The table of a class, for scans: column ids are property ids, row keys object keys.
    package func table(_ owner: ClassHandle) throws(ModelError) -> TableReader {
        let table = try rows(owner)
        try unflushed?.flushRows(of: owner.position)
        return table
    }

    /// The table of a class for a scan that reads keys alone: buffered values may wait.
    package func keyTable(_ owner: ClassHandle) throws(ModelError) -> TableReader {
        let table = try rows(owner)
        try unflushed?.flushDeletesForReader()
        return table
    }

    /// The table of a class as it is in the snapshot, without the changes that are not flushed.
    func rows(_ owner: ClassHandle) throws(ModelError) -> TableReader {
        do { return try slots.table(owner.position, id: owner.table, in: snapshot) } catch {
            throw .storage(error)
        }
    }

    /// The table of an object that is not deleted.
    @inline(__always)
    func rows(_ owner: ClassHandle, with key: Int64) throws(ModelError) -> TableReader {
        try requireNotDeleted(key, owner)
        return try rows(owner)
    }

    /// Throws for an object that was deleted, whose row may still be there.
    @inline(__always)
    func requireNotDeleted(_ key: Int64, _ owner: ClassHandle) throws(ModelError) {
        if isDeleted(key, owner) { throw .noSuchObject(className: owner.name, key: key) }
    }

    /// The table for reading a collection of one object, which leads to no deleted object. Its
    /// `column` is that of the property, or of a dictionary's keys.
    @inline(__always)
    func table(of property: PropertyHandle, _ column: UInt32, with key: Int64) throws(ModelError)
        -> TableReader
    {
        let owner = schema.classes[property.classPosition]
        let table = try rows(owner, with: key)
        if let unflushed {
            if property.type.canLink { try unflushed.flushDeletesForReader() }
            try unflushed.flushValue(key, column, owner.position)
        }
        return table
    }

    /// Whether an object was deleted whose row is still there.
    @inline(__always)
    func isDeleted(_ key: Int64, _ owner: ClassHandle) -> Bool {
        unflushed?.isDeleted(key, owner.position) ?? false
    }

    func primaryKeyTree(_ owner: ClassHandle) throws(ModelError) -> TreeReader {
        guard owner.primaryKey != nil else { throw .noPrimaryKey(className: owner.name) }
        return try completeTree(owner.primaryKeySlot, owner.primaryKeyTree)
    }

    func indexTree(_ property: PropertyHandle) throws(ModelError) -> TreeReader {
        try completeTree(property.indexSlot, property.indexTree)
    }

    /// The tree of an index without a reference count. Valid as long as the view.
    @inline(__always)
    func uncountedIndexTree(_ property: PropertyHandle) throws(ModelError) -> Unmanaged<TreeReader>
    {
        try unflushed?.flushEntries(of: property.indexSlot)
        return try uncountedTree(property.indexSlot, property.indexTree)
    }

    func backlinkTree(_ property: PropertyHandle) throws(ModelError) -> TreeReader {
        try completeTree(property.backlinkSlot, property.backlinkTree)
    }

    func uniqueTree(_ constraint: UniqueConstraint) throws(ModelError) -> TreeReader {
        try completeTree(constraint.slot, constraint.tree)
    }

    /// A tree with all its entries.
    private func completeTree(_ slot: Int, _ id: TreeID?) throws(ModelError) -> TreeReader {
        let tree = try openTree(slot, id)
        try unflushed?.flushEntries(of: slot)
        return tree
    }

    /// A tree without the entries that are not flushed.
    func openTree(_ slot: Int, _ id: TreeID?) throws(ModelError) -> TreeReader {
        try uncountedTree(slot, id).takeUnretainedValue()
    }

    /// The tree of a slot without a reference count. Valid as long as the view.
    @inline(__always)
    func uncountedTree(_ slot: Int, _ id: TreeID?) throws(ModelError) -> Unmanaged<TreeReader> {
        guard let id else { throw .inconsistent("a tree is missing") }
        do { return try slots.tree(slot, id: id, in: snapshot) } catch { throw .storage(error) }
    }

    // MARK: Objects

    /// The number of objects of a class. O(1).
    package func count(_ owner: ClassHandle) throws(ModelError) -> Int {
        try rows(owner).rowCount - (unflushed?.deletedCount(owner.position) ?? 0)
    }

    /// True if the class has an object with this key. O(log objects); O(1) if no object was ever
    /// deleted.
    package func exists(_ key: Int64, _ owner: ClassHandle) throws(ModelError) -> Bool {
        guard let unflushed else { return try holdsRow(key, owner) }
        if unflushed.isVerified(key, owner.position) { return true }
        guard !unflushed.isDeleted(key, owner.position), try holdsRow(key, owner) else {
            return false
        }
        unflushed.noteVerified(key, owner.position)
        return true
    }

    private func holdsRow(_ key: Int64, _ owner: ClassHandle) throws(ModelError) -> Bool {
        let table = try rows(owner)
        // Keys count up from 0 and are never used twice: as many rows as keys leave no gap.
        if table.rowCount == table.nextKey { return key >= 0 && key < table.nextKey }
        do { return try table.contains(key) } catch { throw .storage(error) }
    }

    /// Whether the object exists; false too for an object of a hidden class.
    package func exists(_ object: ObjectRef) throws(ModelError) -> Bool {
        guard let owner = schema.anyClass(id: object.classID), !owner.isHidden else { return false }
        return try exists(object.key, owner)
    }

    /// Whether an object with this reference may be created in a later version.
    package func isToCome(_ object: ObjectRef) throws(ModelError) -> Bool {
        guard let owner = schema.anyClass(id: object.classID) else { return false }
        return object.key >= (try rows(owner).nextKey)
    }

    func requireObject(_ key: Int64, _ owner: ClassHandle) throws(ModelError) {
        guard try exists(key, owner) else { throw .noSuchObject(className: owner.name, key: key) }
    }

    // MARK: Values

    /// The value of a property that is not a list, without copying. A link is its target's key.
    /// O(log objects).
    @inline(__always)
    package func cell(_ key: Int64, _ property: PropertyHandle) throws(ModelError) -> Cell {
        guard property.collection == .none, property.isStored else { throw property.notOneValue }
        let table = try rows(schema.classes[property.classPosition], with: key)
        if let unflushed {
            if property.type == .mixed { try unflushed.flushDeletesForReader() }
            if let cell = unflushed.value(key, property.column, property.classPosition) {
                return isDangling(cell, property) ? .null : cell
            }
        }
        do {
            let cell = try table.cell(key, property.column)
            return isDangling(cell, property) ? .null : cell
        } catch { throw property.modelError(error, key: key) }
    }

    /// Whether values of a class wait for its table, or deletes: reading values one by one then
    /// costs less than reading the table.
    package func holdsBack(_ owner: ClassHandle) -> Bool {
        unflushed?.holdsRows(of: owner.position) ?? false
    }

    /// Whether a cell is a link to a deleted object.
    @inline(__always)
    private func isDangling(_ cell: Cell, _ property: PropertyHandle) -> Bool {
        guard let unflushed, property.type == .link, case .int64(let target) = cell,
            let position = property.targetPosition
        else { return false }
        return unflushed.isDeleted(target, position)
    }

    /// Calls `body` with the type of each of some properties that are not lists, the class that it
    /// links to, and its value, without copying. The object is looked up once for all.
    package func forEachCell(
        _ key: Int64, _ owner: ClassHandle, _ ids: UnsafeBufferPointer<PropertyID>,
        _ body: (PropertyType, ClassID, Cell) -> Void
    ) throws(ModelError) {
        let table = try rows(owner, with: key)
        if owner.hasMixed { try unflushed?.flushDeletesForReader() }
        let row = try reading(key, owner) { () throws(StorageError) in try table.row(key) }
        for id in ids {
            let property = try owner.property(id: id)
            guard property.collection == .none, property.isStored else {
                throw property.notOneValue
            }
            let waiting = unflushed?.value(key, property.column, owner.position)
            let cell =
                if let waiting { waiting } else {
                    try reading(key, owner) { () throws(StorageError) in
                        try table.cell(row, property.column)
                    }
                }
            body(
                property.type, property.targetClassID ?? 0,
                isDangling(cell, property) ? .null : cell)
        }
    }

    /// The value of a property, owned by the caller.
    package func value(_ key: Int64, _ property: PropertyHandle) throws(ModelError) -> Value {
        try property.value(of: cell(key, property))
    }
}

extension PropertyHandle {
    /// The error for asking a list or an inverse link for one value.
    var notOneValue: ModelError {
        collection != .none
            ? .isACollection(className: className, property: name, kind: collection)
            : .typeMismatch(
                className: className, property: name, expected: "an inverse link",
                found: "one value")
    }

    /// The error that an error of the table means for an object.
    func modelError(_ error: StorageError, key: Int64) -> ModelError {
        switch error {
        case .noSuchRow: .noSuchObject(className: className, key: key)
        case .indexOutOfRange(let index, let count): .indexOutOfRange(index: index, count: count)
        default: .storage(error)
        }
    }

    /// Copies a cell of this property, or an element of the list, to a value that the caller owns.
    package func value(of cell: Cell) throws(ModelError) -> Value {
        switch cell {
        case .null: .null
        case .bool(let value): .bool(value)
        case .int64(let value):
            type == .link ? .link(ObjectRef(classID: targetClassID ?? 0, key: value)) : .int(value)
        case .float32(let value): .float(value)
        case .float64(let value): .double(value)
        case .timestamp(let value): .date(value)
        case .fixed(let bytes) where type == .uuid: .uuid(bytes)
        case .fixed(let bytes) where type == .decimal128: .decimal(Decimal128(stored: bytes))
        case .fixed(let bytes): .objectId(bytes)
        case .bytes where type == .mixed: try MixedValue(cell).owned()
        case .bytes(let bytes): try value(ofBytes: bytes)
        }
    }

    /// Throws unless a text is UTF-8. Makes no value: Swift 6.3.1 releases the array of one that
    /// nobody uses before it copies the bytes into it.
    func requireText(_ cell: Cell) throws(ModelError) {
        guard type == .string, case .bytes(let bytes) = cell, !UTF8Text.isValid(bytes) else {
            return
        }
        throw .invalidText(className: className, property: name)
    }

    private func value(ofBytes bytes: UnsafeRawBufferPointer) throws(ModelError) -> Value {
        guard type == .string else { return .data(Array(bytes)) }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw .inconsistent("'\(className).\(name)' holds text that is not UTF-8")
        }
        return .string(text)
    }
}
