/// The one transaction that may change the database, over all threads and processes.
///
/// Its calls are the mutation funnel: every change of user data, and of the system's own trees but
/// for the records, passes here and leaves an entry in the commit record.
///
/// 1. It belongs to one thread at a time.
/// 2. Until `commit` has returned nobody else sees anything of it; after an error of any call it
///    should be rolled back.
/// 3. `derived` marks consequences: index and backlink entries, nullified links, cascades.
package final class WriteTransaction {
    private enum State {
        case active
        case ended
    }

    /// What the transaction sees: the last version and its own changes.
    package let view: Snapshot
    /// The version that this transaction makes. Rolled-back versions are skipped, never used again.
    package let version: UInt64
    package var baseVersion: UInt64 { base.version }

    let store: Store
    let space: PageSpace
    /// The version that it builds on, and its root.
    let base: PublishedVersion
    let baseRoot: Root
    /// Behind a pointer, as the runtime guards each access to a class's own variable.
    let record: UnsafeMutablePointer<RecordBuilder>
    /// Whether trees or columns were made or dropped, which the record does not count as user data.
    package private(set) var isStructureChanged = false
    /// Whether it has changed little.
    package var isSmall: Bool { record.pointee.isComplete && record.pointee.effectCount < 1_000 }
    /// Whether the log had no room for this commit.
    var isLogTooShort = false
    private var state = State.active

    /// - Parameter unlisted: versions whose pages are left alone though free space does not list
    ///   them, see `FreeSpace.setAside`.
    /// - Parameter isPrivate: nothing reaches the file.
    init(
        store: Store, published: PublishedVersion, version: UInt64, pins: [UInt64],
        besides unlisted: UnlistedVersions? = nil, isPrivate: Bool = false
    ) throws(StorageError) {
        self.store = store
        let reading = PageSpace(
            file: store.file, version: published.version)
        base = published
        baseRoot = try Root(reading: published.root, in: reading)
        let freeSpace = try FreeSpace(
            file: store.file, root: baseRoot, at: published.root, in: reading, isPrivate: isPrivate)
        let desk = unlisted != nil || isPrivate ? nil : store.takeDesk(of: published.version)
        if let desk { desk.space.begin(version, freeSpace) }
        space =
            desk?.space
            ?? PageSpace(
                file: store.file, version: version, freeSpace: freeSpace,
                isPrivate: isPrivate)
        self.version = version
        record = .allocate(capacity: 1)
        record.initialize(to: RecordBuilder())
        view = Snapshot(
            store: store, writing: space, on: baseRoot, at: published.root,
            abandonedKeys: store.abandonedKeys, desk: desk)
        try freeSpace.reclaim(pins: pins, in: space)
        if let unlisted { try freeSpace.setAside(unlisted, in: space) }
    }

    deinit {
        rollback()
        record.deinitialize(count: 1)
        record.deallocate()
    }

    /// Whether neither `commit` nor `rollback` has ended it yet.
    package var isActive: Bool { state == .active }

    // MARK: Structure

    /// Makes a table and returns its id.
    package func createTable(columns: [Column]) throws(StorageError) -> UInt64 {
        try beginStructure()
        let id = view.addTable(columns: columns)
        record.pointee.tree(.treeCreate, id)
        return id
    }

    /// Makes an ordered tree and returns its id.
    package func createOrderedTree() throws(StorageError) -> UInt64 {
        try beginStructure()
        let id = try view.addOrderedTree()
        record.pointee.tree(.treeCreate, id)
        return id
    }

    /// Makes the schema's tree, or another system tree, if it is not there.
    package func ensureSystemTree(_ id: UInt64) throws(StorageError) {
        try beginStructure()
        _ = try view.ensureSystemTree(id)
    }

    /// Drops a tree and all that it holds. O(its extents).
    package func dropTree(_ id: UInt64) throws(StorageError) {
        try beginStructure()
        try view.drop(id)
        record.pointee.tree(.treeDrop, id)
    }

    /// Adds a column; rows that are there read its default. O(1).
    package func addColumn(_ tree: UInt64, _ column: Column) throws(StorageError) {
        try beginStructure()
        try view.table(tree).addColumn(column)
        record.pointee.tree(.columnAdd, tree, column: column.id)
    }

    private func beginStructure() throws(StorageError) {
        try checkActive()
        isStructureChanged = true
    }

    @inline(__always)
    private func checkActive() throws(StorageError) {
        guard state == .active else { throw .closed }
    }

    /// Every change of data: first it is noted, as the bytes that the caller lends may lie in an
    /// extent that the change gives up; at last, between two operations, extents may leave memory.
    @inline(__always)
    private func change(
        _ note: (inout RecordBuilder) -> Void, _ body: () throws(StorageError) -> Bool
    ) throws(StorageError) -> Bool {
        try checkActive()
        let mark = record.pointee.mark
        note(&record.pointee)
        do throws(StorageError) {
            guard try body() else {
                record.pointee.undo(to: mark)
                return false
            }
        } catch {
            record.pointee.undo(to: mark)
            throw error
        }
        try space.spill(limit: store.dirtyLimit)
        return true
    }

    /// Makes changes that a reader asks for, such as have been kept back: what was lent before
    /// stays in memory until a change of another kind.
    package func changeForReader<Failure>(_ body: () throws(Failure) -> Void) throws(Failure) {
        space.dirty.pointee.isKeeping = true
        defer { space.dirty.pointee.isKeeping = false }
        try body()
    }

    /// Lets extents leave memory; for who changes trees without the funnel.
    func spill() throws(StorageError) { try space.spill(limit: store.dirtyLimit) }

    // MARK: Ordered trees

    /// Sets the value of a key. O(log entries).
    package func treePut(
        _ tree: UInt64, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer,
        derived: Bool
    ) throws(StorageError) {
        try treePut(view.orderedTree(tree), id: tree, key, value, derived: derived)
    }

    /// The same for a tree that the caller has open, and who may know that the key is new.
    package func treePut(
        _ tree: OrderedTree, id: UInt64, _ key: UnsafeRawBufferPointer,
        _ value: UnsafeRawBufferPointer, derived: Bool,
        to place: EntryPlace = .wherever
    ) throws(StorageError) {
        _ = try change({ $0.treePut(id, key, value, derived: derived) }) {
            () throws(StorageError) in
            _ = try tree.put(key, value, to: place)
            return true
        }
    }

    /// Removes a key. False if it is not there.
    @discardableResult
    package func treeDelete(_ tree: UInt64, _ key: UnsafeRawBufferPointer, derived: Bool)
        throws(StorageError) -> Bool
    {
        try treeDelete(view.orderedTree(tree), id: tree, key, derived: derived)
    }

    /// The same for a tree that the caller has open.
    @discardableResult
    package func treeDelete(
        _ tree: OrderedTree, id: UInt64, _ key: UnsafeRawBufferPointer, derived: Bool
    ) throws(StorageError) -> Bool {
        try change({ $0.treeDelete(id, key, derived: derived) }) { () throws(StorageError) in
            try tree.delete(key)
        }
    }

    // MARK: Rows

    /// Takes the next object key of a table; keys are never used again, not even those of
    /// rolled-back or erased rows of a committed transaction.
    package func takeKey(_ table: Table) throws(StorageError) -> Int64 {
        try checkActive()
        return table.takeNextKey()
    }

    /// Inserts a row whose cells have their defaults. O(log rows); O(1) at the end.
    package func rowInsert(_ table: Table, id: UInt64, _ key: Int64, derived: Bool)
        throws(StorageError)
    {
        _ = try change({ $0.row(.rowInsert, id, key, derived: derived) }) {
            () throws(StorageError) in
            try table.insertRow(key)
            return true
        }
    }

    /// Inserts a row with values; the columns that are not among them have their defaults.
    package func rowInsert(
        _ table: Table, id: UInt64, _ key: Int64, _ content: RowContent, derived: Bool
    ) throws(StorageError) {
        _ = try change({ $0.row(id, key, content, derived: derived) }) { () throws(StorageError) in
            try table.insertRow(key, content)
            return true
        }
    }

    /// Erases a row, its long values and its lists.
    package func rowErase(_ table: Table, id: UInt64, _ key: Int64, derived: Bool)
        throws(StorageError)
    {
        _ = try change({ $0.row(.rowErase, id, key, derived: derived) }) {
            () throws(StorageError) in
            try table.eraseRow(key)
            return true
        }
    }

    /// Sets a cell, also to the value that it has: that is a change too.
    @inline(__always)
    package func cellSet(
        _ table: Table, id: UInt64, _ key: Int64, _ column: UInt32, _ cell: Cell, derived: Bool
    ) throws(StorageError) {
        _ = try change({ $0.cell(id, key, column, cell, derived: derived) }) {
            () throws(StorageError) in
            try table.setCell(key, column, cell)
            return true
        }
    }

    // MARK: Lists

    /// Inserts an element before `index`, or at the end.
    package func listInsert(
        _ table: Table, id: UInt64, _ key: Int64, _ column: UInt32, at index: Int, _ cell: Cell,
        derived: Bool
    ) throws(StorageError) {
        _ = try change({
            $0.list(.listInsert, id, key, column, index: index, cell, derived: derived)
        }) { () throws(StorageError) in
            try table.listInsert(key, column, at: index, cell)
            return true
        }
    }

    /// Replaces an element.
    package func listSet(
        _ table: Table, id: UInt64, _ key: Int64, _ column: UInt32, at index: Int, _ cell: Cell,
        derived: Bool
    ) throws(StorageError) {
        _ = try change({ $0.list(.listSet, id, key, column, index: index, cell, derived: derived) })
        { () throws(StorageError) in
            try table.listSet(key, column, at: index, cell)
            return true
        }
    }

    /// Removes an element.
    package func listErase(
        _ table: Table, id: UInt64, _ key: Int64, _ column: UInt32, at index: Int, derived: Bool
    ) throws(StorageError) {
        _ = try change({ $0.list(.listErase, id, key, column, index: index, derived: derived) }) {
            () throws(StorageError) in
            try table.listErase(key, column, at: index)
            return true
        }
    }

    /// Moves an element to where it then stands at `destination`.
    package func listMove(
        _ table: Table, id: UInt64, _ key: Int64, _ column: UInt32, from index: Int,
        to destination: Int
    ) throws(StorageError) {
        _ = try change({
            $0.list(.listMove, id, key, column, index: index, other: destination, derived: false)
        }) { () throws(StorageError) in
            try table.listMove(key, column, from: index, to: destination)
            return true
        }
    }

    /// Exchanges two elements.
    package func listSwap(
        _ table: Table, id: UInt64, _ key: Int64, _ column: UInt32, _ first: Int, _ second: Int
    ) throws(StorageError) {
        _ = try change({
            $0.list(.listSwap, id, key, column, index: first, other: second, derived: false)
        }) { () throws(StorageError) in
            try table.listSwap(key, column, first, second)
            return true
        }
    }

    /// Removes all elements.
    package func listClear(
        _ table: Table, id: UInt64, _ key: Int64, _ column: UInt32, derived: Bool
    ) throws(StorageError) {
        try checkActive()
        let count = try table.listCount(key, column)
        _ = try change({
            $0.list(.listClear, id, key, column, index: 0, other: count, derived: derived)
        }) { () throws(StorageError) in
            try table.listClear(key, column)
            return true
        }
    }

    /// Returns when the version that the transaction builds on is published: it may be one of a
    /// group of this process. For who tells others of it.
    package func waitForBase() throws(StorageError) {
        // Nobody can join the group behind the base while this transaction has the write lock.
        try store.group.drain()
    }

    // MARK: The end

    /// Makes the changes durable and visible to everyone. Returns the version, which is the old one
    /// when nothing was changed.
    ///
    /// - Throws: `commitOutcomeUnknown` after a failed sync: the database is poisoned until all
    ///   have closed it. Any other error leaves the last version as it was; in both cases the
    ///   transaction has ended.
    package func commit(_ durability: Durability = .immediate) throws(StorageError) -> UInt64 {
        try run(durability) { _ in }
    }

    /// The same, and pins what was committed before anybody else can commit. The snapshot is nil
    /// where no pin was to be had; the commit stands.
    package func commitAndRead(_ durability: Durability = .immediate) throws(StorageError) -> (
        version: UInt64, snapshot: Snapshot?
    ) {
        var snapshot: Snapshot?
        let version = try run(durability) { snapshot = try? store.read($0) }
        return (version, snapshot)
    }

    /// Commits, lets the caller look at the new version before any other is made, and gives the
    /// write lock back. In a group the write comes after that.
    private func run(_ durability: Durability, _ look: (PublishedVersion) -> Void)
        throws(StorageError) -> UInt64
    {
        guard state == .active else { throw .closed }
        let published: PublishedVersion
        do throws(StorageError) {
            defer { state = .ended }
            try view.settleDelta()
            published = hasChanges ? try Commit(self).run(durability) : base
            look(published)
            if hasChanges && !isStructureChanged { store.keepDesk(view.clearDesk()) }
        } catch {
            store.abandon(view.takenKeys)
            end()
            throw error
        }
        end()
        // Where nothing was changed, what the caller looked at may still be of a group.
        if durability == .group || published.version == baseVersion {
            try store.finishGroup(published.version)
        }
        return published.version
    }

    /// Whether anything was changed so far.
    package var hasChanges: Bool { isStructureChanged || !record.pointee.isEmpty }

    /// Forgets every change. Does nothing after the end.
    package func rollback() {
        guard state == .active else { return }
        if hasChanges { store.abandon(view.takenKeys) }
        end()
    }

    private func end() {
        state = .ended
        view.release()
        store.endWrite()
    }
}
