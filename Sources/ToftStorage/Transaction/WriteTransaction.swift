internal import ToftPlatform

/// The one transaction that may change the database, over all threads and processes.
///
/// Its calls are the mutation funnel: every change of user data, and of the system's own trees
/// except the records, passes here and leaves an entry in the commit record.
///
/// 1. It belongs to one thread at a time.
/// 2. Until `commit` has returned no other thread sees anything of it. After an error of the file
///    or of memory in the middle of a change `commit` throws that error, and nothing is committed.
/// 3. `derived` marks consequences: index and backlink entries, nullified links, cascades.
package final class WriteTransaction {
    private enum State {
        case active
        case ended
    }

    /// The transaction's view: the last version and its own changes.
    package let view: Snapshot
    /// The version that this transaction makes. Rolled-back versions are skipped, never used again.
    package let version: Version
    package var baseVersion: Version { base.version }

    let store: Store
    let pages: PageWriter
    let trees: TreeWriters
    private let writer: Writer
    /// Whether the writer is the store's, and returns there.
    private let isWriterLent: Bool
    /// The version that it builds on, and its root.
    let base: PublishedVersion
    let baseRoot: Root
    /// Behind a pointer, as the runtime guards each access to a class's own variable.
    let record: UnsafeMutablePointer<RecordBuilder>
    private let abandonedKeys: [TreeID: Int64]
    /// Whether trees or columns were made or dropped, which the record does not count as user data.
    package private(set) var isStructureChanged = false
    /// Whether it has changed little.
    package var isSmall: Bool { record.pointee.isComplete && record.pointee.effectCount < 1_000 }
    /// The file's future end, if the transaction is a step of a compaction.
    var fileEnd: PageNumber?
    /// Whether the log had no room for this commit.
    var isLogTooShort = false
    private var state = State.active
    /// The undo effects since the first open savepoint.
    let undoLog = UndoLog()
    /// Number of open savepoints. Read at every change.
    @exclusivity(unchecked) var savepointCount = 0
    /// The first error that may have left a change half done: nothing can be committed after it.
    private var failure: StorageError?

    /// The transaction of a store's writer, which makes `version` on top of `published`.
    ///
    /// - Parameter writer: one of its own; nil: the store's.
    /// - Parameter pins: the versions whose pages stay, ascending.
    convenience init(
        store: Store, with writer: Writer?, published: PublishedVersion, version: Version,
        pins: [Version]
    ) throws(StorageError) {
        try self.init(
            store: store, writer: writer ?? store.takeWriter(), isWriterLent: writer == nil,
            published: published, version: version, pins: pins, unlisted: nil, isPrivate: false)
    }

    /// A transaction that makes a version again from the log, with a writer of its own.
    ///
    /// - Parameter unlisted: versions whose pages are left alone though free space does not list
    ///   them, see `FreeSpace.setAside`.
    /// - Parameter isPrivate: nothing reaches the file.
    convenience init(
        replayingIn store: Store, published: PublishedVersion, version: Version, pins: [Version],
        besides unlisted: UnlistedVersions?, isPrivate: Bool
    ) throws(StorageError) {
        try self.init(
            store: store, writer: Writer(for: store, isPrivate: isPrivate), isWriterLent: false,
            published: published, version: version, pins: pins, unlisted: unlisted,
            isPrivate: isPrivate)
    }

    private init(
        store: Store, writer: Writer, isWriterLent: Bool, published: PublishedVersion,
        version: Version, pins: [Version], unlisted: UnlistedVersions?, isPrivate: Bool
    ) throws(StorageError) {
        (baseRoot, trees) = try writer.begin(
            version, on: published, pins: pins, besides: unlisted, isPrivate: isPrivate,
            policy: store.insertBuffer.withLock { $0.policy })
        self.store = store
        self.writer = writer
        self.isWriterLent = isWriterLent
        self.version = version
        base = published
        pages = writer.pages
        abandonedKeys = store.abandonedKeys
        record = .allocate(capacity: 1)
        record.initialize(to: RecordBuilder())
        view = Snapshot(
            store: store, making: trees.catalog.reader, on: baseRoot, at: published.root)
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
    package func createTable(columns: [Column]) throws(StorageError) -> TreeID {
        try beginStructure()
        let id = trees.createTable(columns: columns)
        record.pointee.tree(.treeCreate, id)
        return id
    }

    /// Makes an ordered tree and returns its id.
    package func createOrderedTree() throws(StorageError) -> TreeID {
        try beginStructure()
        let id = trees.createOrderedTree()
        record.pointee.tree(.treeCreate, id)
        return id
    }

    /// Makes the schema's tree, or another system tree, if it is not there.
    package func ensureSystemTree(_ id: TreeID) throws(StorageError) {
        try beginStructure()
        try trees.ensureSystemTree(id)
    }

    /// Drops a tree and all that it holds. O(its extents).
    package func dropTree(_ id: TreeID) throws(StorageError) {
        try beginStructure()
        do throws(StorageError) { try trees.drop(id, abandonedKeys: abandonedKeys) } catch {
            noteFailure(error)
            throw error
        }
        view.forget(id)
        record.pointee.tree(.treeDrop, id)
    }

    /// Adds a column; existing rows read its default. O(1).
    package func addColumn(_ tree: TreeID, _ column: Column) throws(StorageError) {
        try beginStructure()
        try table(tree).addColumn(column)
        record.pointee.tree(.columnAdd, tree, column: column.id)
    }

    /// Removes columns with all their values. O(rows).
    package func removeColumns(_ tree: TreeID, _ columns: [UInt32]) throws(StorageError) {
        try beginStructure()
        do throws(StorageError) {
            try table(tree).removeColumns(columns, dirtyLimit: store.dirtyLimit)
        } catch {
            // Whatever it was: some clusters may have been written.
            fail(error)
            throw error
        }
        for column in columns { record.pointee.tree(.columnRemove, tree, column: column) }
    }

    /// Makes a column nullable, or the elements of its lists; existing values stay. O(1).
    package func makeNullable(_ tree: TreeID, _ column: UInt32) throws(StorageError) {
        try beginStructure()
        try table(tree).makeNullable(column)
        record.pointee.tree(.columnAdd, tree, column: column)
    }

    func beginStructure() throws(StorageError) {
        try checkActive()
        isStructureChanged = true
    }

    @inline(__always)
    func checkActive() throws(StorageError) {
        guard state == .active else { throw .closed }
    }

    /// Throws the error after which the transaction can only be rolled back, if there was one.
    func checkWhole() throws(StorageError) {
        if let failure { throw failure }
    }

    /// Nothing can be committed any more.
    func fail(_ error: StorageError) { failure = failure ?? error }

    @inline(__always)
    private func table(_ id: TreeID) throws(StorageError) -> TableWriter {
        try trees.table(id, abandonedKeys: abandonedKeys)
    }

    /// Every change of data. Records the effect first, because the caller's bytes may be in an
    /// extent that the change frees, and with a savepoint its undo effect. May then spill leaves:
    /// borrowed bytes become invalid.
    @inline(__always)
    private func change(
        _ note: (inout RecordBuilder) -> Void, undo: (UndoLog) throws(StorageError) -> Void,
        _ body: () throws(StorageError) -> Bool
    ) throws(StorageError) -> Bool {
        try checkActive()
        let mark = record.pointee.mark
        note(&record.pointee)
        do throws(StorageError) {
            if savepointCount > 0 {
                undoLog.begin()
                try undo(undoLog)
            }
            guard try body() else {
                forgetEffect(mark)
                return false
            }
        } catch {
            forgetEffect(mark)
            noteFailure(error)
            throw error
        }
        try spill()
        return true
    }

    /// Removes the last recorded effect, which did not happen.
    private func forgetEffect(_ mark: RecordBuilder.Mark) {
        record.pointee.undo(to: mark)
        if savepointCount > 0 { undoLog.dropLast() }
    }

    private func noteFailure(_ error: StorageError) {
        if failure == nil, error.mayLeaveHalf { failure = error }
    }

    /// Makes a reader's changes, such as buffered ones: borrowed bytes stay valid until a change of
    /// another kind.
    package func changeForReader<Failure>(_ body: () throws(Failure) -> Void) throws(Failure) {
        // A flush may read, and so cause another one.
        if pages.working.extents.isKeeping { return try body() }
        pages.working.extents.beginKeeping()
        defer { pages.working.extents.endKeeping() }
        try body()
    }

    /// Spills leaves over the limit. A failure leaves the caller's change half done.
    func spill() throws(StorageError) {
        do throws(StorageError) { try pages.spill(limit: store.dirtyLimit) } catch {
            noteFailure(error)
            throw error
        }
    }

    /// Spills for a buffered change; borrowed bytes become invalid. Without this, changes for
    /// readers alone would never release memory.
    @inline(__always)
    package func spillKept() throws(StorageError) {
        try pages.giveBackKept()
        guard pages.working.extents.bytes > store.dirtyLimit else { return }
        try spill()
    }

    // MARK: Ordered trees

    /// Sets the value of a key. O(log entries).
    package func treePut(
        _ tree: TreeID, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer,
        derived: Bool
    ) throws(StorageError) {
        try checkActive()
        try put(key, value, in: trees.orderedTree(tree), id: tree, derived: derived)
    }

    /// Removes a key. False if it is not there. O(log entries).
    @discardableResult
    package func treeDelete(_ tree: TreeID, _ key: UnsafeRawBufferPointer, derived: Bool)
        throws(StorageError) -> Bool
    {
        try checkActive()
        return try delete(key, from: trees.orderedTree(tree), id: tree, derived: derived)
    }

    func put(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, in tree: TreeWriter,
        id: TreeID, derived: Bool
    ) throws(StorageError) {
        _ = try change({ $0.treePut(id, key, value, derived: derived) }) {
            log throws(StorageError) in
            try log.notePut(key, in: tree.reader, id: id)
        } _: { () throws(StorageError) in
            try tree.put(key, value)
            return true
        }
    }

    /// Inserts an entry that is new, see `TreeWriter.insert`.
    func insert(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, in tree: TreeWriter,
        id: TreeID, bufferLevel: Int?, derived: Bool
    ) throws(StorageError) {
        _ = try change({ $0.treePut(id, key, value, derived: derived) }) {
            log throws(StorageError) in
            try log.notePut(key, in: tree.reader, id: id, isNew: true)
        } _: { () throws(StorageError) in
            try tree.insert(key, value, bufferLevel: bufferLevel)
            return true
        }
    }

    func delete(
        _ key: UnsafeRawBufferPointer, from tree: TreeWriter, id: TreeID, derived: Bool
    ) throws(StorageError) -> Bool {
        try change({ $0.treeDelete(id, key, derived: derived) }) { log throws(StorageError) in
            try log.notePut(key, in: tree.reader, id: id)
        } _: { () throws(StorageError) in
            try tree.delete(key)
        }
    }

    // MARK: Rows

    /// Takes the next object key of a table; keys are never used again, not even those of
    /// rolled-back or erased rows of a committed transaction.
    package func takeKey(_ table: TreeID) throws(StorageError) -> Int64 {
        try checkActive()
        return try self.table(table).takeNextKey()
    }

    /// Inserts a row whose cells have their defaults. O(log rows); O(1) at the end.
    package func rowInsert(_ table: TreeID, _ key: Int64, derived: Bool)
        throws(StorageError)
    {
        _ = try change({ $0.row(.rowInsert, table, key, derived: derived) }) {
            $0.noteInsert(of: key, id: table)
        } _: { () throws(StorageError) in
            try self.table(table).insertRow(key)
            return true
        }
    }

    /// Inserts a row with values; the columns that are not among them have their defaults.
    package func rowInsert(
        _ table: TreeID, _ key: Int64, _ content: RowContent, derived: Bool
    ) throws(StorageError) {
        _ = try change({ $0.row(table, key, content, derived: derived) }) {
            $0.noteInsert(of: key, id: table)
        } _: { () throws(StorageError) in
            try self.table(table).insertRow(key, content)
            return true
        }
    }

    /// Erases a row, its long values and its lists.
    package func rowErase(_ table: TreeID, _ key: Int64, derived: Bool)
        throws(StorageError)
    {
        _ = try change({ $0.row(.rowErase, table, key, derived: derived) }) {
            log throws(StorageError) in
            try log.noteErase(of: key, in: self.table(table).reader, id: table)
        } _: { () throws(StorageError) in
            try self.table(table).eraseRow(key)
            return true
        }
    }

    /// Sets a cell, also to the value that it has: that is a change too.
    @inline(__always)
    package func cellSet(
        _ table: TreeID, _ key: Int64, _ column: UInt32, _ cell: Cell, adding amount: Int64? = nil,
        derived: Bool
    ) throws(StorageError) {
        _ = try change({ $0.cell(table, key, column, cell, adding: amount, derived: derived) }) {
            log throws(StorageError) in
            try log.noteSet(key, column, in: self.table(table).reader, id: table)
        } _: { () throws(StorageError) in
            try self.table(table).setCell(key, column, cell)
            return true
        }
    }

    // MARK: Lists

    /// Inserts an element before `index`, or at the end.
    package func listInsert(
        _ table: TreeID, _ key: Int64, _ column: UInt32, at index: Int, _ cell: Cell,
        derived: Bool
    ) throws(StorageError) {
        _ = try change({
            $0.list(.listInsert, table, key, column, index: index, cell, derived: derived)
        }) {
            $0.noteListInsert(key, column, at: index, id: table)
        } _: { () throws(StorageError) in
            try self.table(table).listInsert(key, column, at: index, cell)
            return true
        }
    }

    /// Replaces an element.
    package func listSet(
        _ table: TreeID, _ key: Int64, _ column: UInt32, at index: Int, _ cell: Cell,
        derived: Bool
    ) throws(StorageError) {
        _ = try change({
            $0.list(.listSet, table, key, column, index: index, cell, derived: derived)
        }) { log throws(StorageError) in
            let reader = try self.table(table).reader
            try log.noteElement(.listSet, key, column, at: index, in: reader, id: table)
        } _: { () throws(StorageError) in
            try self.table(table).listSet(key, column, at: index, cell)
            return true
        }
    }

    /// Removes an element.
    package func listErase(
        _ table: TreeID, _ key: Int64, _ column: UInt32, at index: Int, derived: Bool
    ) throws(StorageError) {
        _ = try change({ $0.list(.listErase, table, key, column, index: index, derived: derived) })
        { log throws(StorageError) in
            let reader = try self.table(table).reader
            try log.noteElement(.listInsert, key, column, at: index, in: reader, id: table)
        } _: { () throws(StorageError) in
            try self.table(table).listErase(key, column, at: index)
            return true
        }
    }

    /// Moves an element, whose index is `destination` afterwards.
    package func listMove(
        _ table: TreeID, _ key: Int64, _ column: UInt32, from index: Int,
        to destination: Int
    ) throws(StorageError) {
        _ = try change({
            $0.list(.listMove, table, key, column, index: index, other: destination, derived: false)
        }) {
            $0.noteMove(.listMove, key, column, from: destination, to: index, id: table)
        } _: { () throws(StorageError) in
            try self.table(table).listMove(key, column, from: index, to: destination)
            return true
        }
    }

    /// Exchanges two elements.
    package func listSwap(
        _ table: TreeID, _ key: Int64, _ column: UInt32, _ first: Int, _ second: Int
    ) throws(StorageError) {
        _ = try change({
            $0.list(.listSwap, table, key, column, index: first, other: second, derived: false)
        }) {
            $0.noteMove(.listSwap, key, column, from: first, to: second, id: table)
        } _: { () throws(StorageError) in
            try self.table(table).listSwap(key, column, first, second)
            return true
        }
    }

    /// Removes all elements.
    package func listClear(
        _ table: TreeID, _ key: Int64, _ column: UInt32, derived: Bool
    ) throws(StorageError) {
        try checkActive()
        let count = try self.table(table).reader.listCount(key, column)
        _ = try change({
            $0.list(.listClear, table, key, column, index: 0, other: count, derived: derived)
        }) { log throws(StorageError) in
            try log.noteClear(key, column, in: self.table(table).reader, id: table)
        } _: { () throws(StorageError) in
            try self.table(table).listClear(key, column)
            return true
        }
    }

    /// Returns when the version that the transaction builds on is published: it may be one of a
    /// group of this process. For a caller that informs others of it.
    package func waitForBase() throws(StorageError) {
        // Nobody can join the group behind the base while this transaction has the write lock.
        try store.group.drain()
    }

    // MARK: The end

    /// The record of the changes, and the bytes of all records ever, including it.
    func finishRecord() -> (record: [UInt8], total: UInt64) {
        let bytes = record.pointee.finish(
            version: version, previousVersion: baseVersion, recordBytes: baseRoot.recordBytes)
        return (bytes, baseRoot.recordBytes &+ UInt64(bytes.count))
    }

    /// Makes the changes durable and visible to everyone. Returns the version, which is the old one
    /// when nothing was changed.
    ///
    /// - Throws: `commitOutcomeUnknown` after a failed sync: the database is poisoned until all
    ///   have closed it. Any other error leaves the last version as it was; in both cases the
    ///   transaction has ended.
    package func commit(_ durability: Durability = .immediate) throws(StorageError) -> Version {
        try run(durability) { _ in }
    }

    /// Commits, and pins the version before another commit. The snapshot is nil if all pins are
    /// taken; the commit is valid nevertheless.
    package func commitAndRead(_ durability: Durability = .immediate) throws(StorageError) -> (
        version: Version, snapshot: Snapshot?
    ) {
        var snapshot: Snapshot?
        let version = try run(durability) { snapshot = try? store.read($0) }
        return (version, snapshot)
    }

    /// Commits, shows the caller the new version before any other is made, and releases the write
    /// lock. In a group the write comes after that.
    private func run(_ durability: Durability, _ look: (PublishedVersion) -> Void)
        throws(StorageError) -> Version
    {
        guard state == .active else { throw .closed }
        let published: PublishedVersion
        do throws(StorageError) {
            defer { state = .ended }
            if let failure { throw failure }
            try compactInsertBuffer()
            published = hasChanges ? try Commit(self).run(durability) : base
            look(published)
        } catch {
            store.abandon(trees.takenKeys)
            end(keepingTrees: false)
            throw error
        }
        end(keepingTrees: hasChanges && !isStructureChanged)
        // Without a change, the version that the caller read may still belong to a group.
        if durability == .group || published.version == baseVersion {
            try store.finishGroup(published.version)
        }
        return published.version
    }

    /// Whether anything was changed so far.
    package var hasChanges: Bool { isStructureChanged || !record.pointee.isEmpty }

    /// The end of its record now.
    package var recordEnd: RecordPosition { record.pointee.end }

    /// Calls `body` with each effect after `position`, and moves that to the end. Calls it with all
    /// effects if some were undone since. Returns false if the transaction is too large to keep
    /// them one by one.
    package func forEachEffect(after position: inout RecordPosition, _ body: (Effect) -> Void)
        -> Bool
    {
        record.pointee.forEachEffect(after: &position, body)
    }

    /// Forgets every change. Does nothing after the end.
    package func rollback() {
        guard state == .active else { return }
        if hasChanges { store.abandon(trees.takenKeys) }
        end(keepingTrees: false)
    }

    /// Moves on the entries above the insert buffer's limits.
    func compactInsertBuffer() throws(StorageError) {
        var positions = store.insertBuffer.withLock { $0.positions }
        try trees.compactInsertBuffer(from: &positions, dirtyLimit: store.dirtyLimit)
        store.insertBuffer.withLock { $0.positions = positions }
    }

    private func end(keepingTrees: Bool) {
        state = .ended
        view.release()
        if isWriterLent {
            writer.end(keeping: keepingTrees ? trees : nil)
            store.giveBack(writer)
        }
        store.endWrite()
    }
}
