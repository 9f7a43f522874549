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

    package var version: Version { snapshot.version }

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
}
