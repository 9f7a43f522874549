internal import ToftPlatform

/// One version of the database: its trees, as they were committed and stay until the snapshot is
/// released. Any thread may use it.
///
/// A write transaction has one of the version that it makes: it shows the trees as they are now,
/// and belongs to the transaction's thread.
package final class Snapshot: Sendable {
    package let version: Version
    let store: Store
    let pages: PageReader
    let root: Root
    let rootRef: Ref
    /// The tree of trees.
    let catalog: Catalog
    private let state: FutexMutex<State>

    private struct State {
        var tables: [TreeID: TableReader] = [:]
        var trees: [TreeID: TreeReader] = [:]
        var pin: HeldPin?
        var isReleased = false
    }

    /// A committed version, pinned by `pin`.
    convenience init(store: Store, published: PublishedVersion, pin: Pin?) throws(StorageError) {
        let pages = PageReader(store.cache.forSnapshot(), version: published.version)
        try self.init(
            store: store, version: published.version, rootRef: published.root, pages: pages)
        state.withLock { $0.pin = pin.map { HeldPin($0, of: store) } }
    }

    /// A version that is not in the file, but was replayed into memory.
    convenience init(store: Store, replayed: ReplayedVersion, pin: Pin?) throws(StorageError) {
        let published = replayed.published
        try self.init(
            store: store, version: published.version, rootRef: published.root,
            pages: replayed.pages)
        state.withLock { $0.pin = pin.map { HeldPin($0, of: store) } }
    }

    private init(store: Store, version: Version, rootRef: Ref, pages: PageReader)
        throws(StorageError)
    {
        self.store = store
        self.pages = pages
        self.version = version
        self.rootRef = rootRef
        root = try Root(reading: rootRef, in: pages)
        catalog = Catalog(pages: pages, root: root.catalog, filePages: root.pageCount)
        state = FutexMutex(State())
    }

    /// The version that a transaction makes on top of the one with `root`.
    init(store: Store, making catalog: Catalog, on root: Root, at rootRef: Ref) {
        self.store = store
        self.root = root
        self.rootRef = rootRef
        self.catalog = catalog
        pages = catalog.pages
        version = pages.version
        state = FutexMutex(State())
    }

    /// True if the process has read enough into its memory for another snapshot of the same version
    /// to begin with empty memory. Always false for a mapped file.
    package var fillsMemory: Bool { pages.cache.isFull }

    /// Whether that can happen.
    package var mayFillMemory: Bool { pages.cache.mode != .mapped }

    deinit { release() }

    /// Whether `again` gives another snapshot: not of a version in progress, or one replayed into
    /// memory.
    package var canBeReadAgain: Bool { !pages.hasWorkingExtents }

    /// A snapshot of the same version with memory that is not full. The memory of this snapshot is
    /// released with the last snapshot that has it. Returns this one if the version can't be read
    /// again.
    package func again() throws(StorageError) -> Snapshot {
        try again(in: store.cache.withFreshMemory())
    }

    /// A snapshot of the same version for one thread's scan of much of it, which releases extents
    /// as it passes them. Returns this one if the file is plain.
    func forScan() throws(StorageError) -> Snapshot {
        let cache = pages.cache.forScan()
        return cache === pages.cache ? self : try again(in: cache)
    }

    /// A snapshot of the same version with memory that is not full, for the sole owner of this one,
    /// which nothing pins; also if it was replayed into memory.
    func againAlone() throws(StorageError) -> Snapshot {
        try Snapshot(
            store: store, version: version, rootRef: rootRef,
            pages: PageReader(store.cache.withFreshMemory(), again: pages))
    }

    private func again(in cache: PageCache) throws(StorageError) -> Snapshot {
        guard canBeReadAgain else { return self }
        let pin = try state.withLock { state throws(StorageError) in
            if state.isReleased { throw .closed }
            return state.pin
        }
        let next = try Snapshot(
            store: store, version: version, rootRef: rootRef,
            pages: PageReader(cache, version: version))
        next.state.withLock { $0.pin = pin }
        return next
    }

    /// Gives the version up, so that its pages may be reused. Nothing read through the snapshot may
    /// be used afterwards. Idempotent.
    package func release() {
        let last = state.withLock { state in
            defer { state = State(isReleased: true) }
            return state
        }
        // Its contents are released without the lock.
        withExtendedLifetime(last) {}
    }

    // MARK: Trees

    /// The table with this id. O(log trees) the first time, then one look-up.
    ///
    /// - Throws: `noSuchTree`, `closed` after the release, `corrupt`, `io`.
    package func table(_ id: TreeID) throws(StorageError) -> TableReader {
        if let table = state.withLock({ $0.tables[id] }) { return table }
        try checkNotReleased()
        let table = TableReader(
            pages: pages, head: try catalog.head(id, .table), catalog: catalog)
        return state.withLock { state in
            if let other = state.tables[id] { return other }
            if !state.isReleased { state.tables[id] = table }
            return table
        }
    }

    /// The ordered tree with this id. Cost and errors are those of `table`.
    package func orderedTree(_ id: TreeID) throws(StorageError) -> TreeReader {
        if let tree = state.withLock({ $0.trees[id] }) { return tree }
        try checkNotReleased()
        let tree = try catalog.orderedTree(id)
        return state.withLock { state in
            if let other = state.trees[id] { return other }
            if !state.isReleased { state.trees[id] = tree }
            return tree
        }
    }

    /// Whether there is a tree with this id. O(log trees).
    package func hasTree(_ id: TreeID) throws(StorageError) -> Bool {
        try catalog.contains(id)
    }

    /// Forgets the reader of a tree that was dropped.
    func forget(_ id: TreeID) {
        state.withLock { state in
            state.tables[id] = nil
            state.trees[id] = nil
        }
    }

    private func checkNotReleased() throws(StorageError) {
        if state.withLock({ $0.isReleased }) { throw .closed }
    }

    // MARK: Records

    /// The records of the commits after `earlier`, oldest first; nil if some have been overwritten,
    /// so that the two snapshots must be compared, or if they are longer than `limit` together.
    package func records(after earlier: Version, atMost limit: Int = .max) throws(StorageError)
        -> [CommitRecord]?
    {
        guard earlier < version else { return [] }
        var records: [CommitRecord] = []
        var reached = earlier
        var left = limit
        func add(_ value: UnsafeRawBufferPointer) throws(StorageError) -> Bool {
            guard value.count <= left else { return false }
            left -= value.count
            let record = try CommitRecord(validating: value)
            guard record.previousVersion == reached, !record.isTruncated else { return false }
            records.append(record)
            reached = record.version
            return true
        }
        if try hasTree(SystemTree.records) {
            let cursor = try orderedTree(SystemTree.records).cursor()
            var isThere = try TreeKey.with(earlier &+ 1) { key throws(StorageError) in
                try cursor.seek(key)
            }
            while isThere {
                if try !add(cursor.value) { return nil }
                isThere = try cursor.next()
            }
        }
        if let newest = try RootPayload.record(of: rootRef, in: pages), try !add(newest) {
            return nil
        }
        return reached == version ? records : nil
    }
}

extension Snapshot {
    /// The runs that a version lists as freed, except those that nobody can need.
    func freedRuns() throws(StorageError) -> [FreeSpace.Run] {
        var runs = try RootPayload.runs(of: rootRef, in: pages)
        for batch in try FreeSpaceReader.batches(root.batchList, in: pages) {
            runs += try FreeSpaceReader.batch(batch.ref, in: pages)
        }
        runs.removeAll { $0.isReclaimable }
        return runs
    }
}

/// A pin, released with the last snapshot that has it.
private final class HeldPin: Sendable {
    private let pin: Pin
    private let coordinator: Coordinator

    init(_ pin: Pin, of store: Store) {
        self.pin = pin
        coordinator = store.coordinator
    }

    deinit { coordinator.unpin(pin) }
}
