internal import Synchronization

/// One version of the database, as it was committed and as it stays until the snapshot is released;
/// or, within a write transaction, the version being made.
///
/// A committed snapshot may be read by any thread. A transaction's view belongs to the thread of
/// the transaction.
package final class Snapshot: @unchecked Sendable, TreeOwner, DeltaOwner {
    package let version: UInt64
    let store: Store
    let space: PageSpace
    let root: Root
    let rootRef: Ref
    /// The tree of trees.
    let catalog: OrderedTree
    private let trees: Mutex<[UInt64: OpenTree]>
    private let openDelta: Mutex<Delta?>
    private let pin: Mutex<Pin?>
    /// Only to be trusted while writing: the trees of an ended transaction may belong to the next.
    private let isReleased = Atomic<Bool>(false)
    /// The next id of a tree, while writing.
    private(set) var nextTreeID: UInt64
    /// While writing: keys of tables that cancelled transactions have taken, see
    /// `Store.abandonedKeys`.
    private let abandonedKeys: [UInt64: Int64]

    /// A committed version, pinned by `pin`.
    init(store: Store, published: PublishedVersion, pin: Pin?) throws(StorageError) {
        self.store = store
        version = published.version
        space = PageSpace(file: store.file, version: published.version)
        rootRef = published.root
        root = try Root(reading: rootRef, in: space)
        catalog = OrderedTree(space: space, root: root.catalog)
        nextTreeID = root.nextTreeID
        abandonedKeys = [:]
        trees = Mutex([:])
        openDelta = Mutex(nil)
        self.pin = Mutex(pin)
    }

    /// A version that is not in the file, but was replayed into memory.
    init(store: Store, replayed: ReplayedVersion, pin: Pin) throws(StorageError) {
        self.store = store
        version = replayed.published.version
        space = replayed.space
        rootRef = replayed.published.root
        root = try Root(reading: rootRef, in: space)
        catalog = OrderedTree(space: space, root: root.catalog)
        nextTreeID = root.nextTreeID
        abandonedKeys = [:]
        trees = Mutex([:])
        openDelta = Mutex(nil)
        self.pin = Mutex(pin)
    }

    /// The view of a write transaction. `desk`: what the transaction left that made `root`.
    init(
        store: Store, writing space: PageSpace, on root: Root, at rootRef: Ref,
        abandonedKeys: [UInt64: Int64] = [:], desk: WriterDesk? = nil
    ) {
        self.abandonedKeys = abandonedKeys
        self.store = store
        version = space.version
        self.space = space
        self.root = root
        self.rootRef = rootRef
        catalog = desk?.catalog ?? OrderedTree(space: space, root: root.catalog)
        nextTreeID = root.nextTreeID
        trees = Mutex(desk?.trees ?? [:])
        openDelta = Mutex(desk?.delta)
        pin = Mutex(nil)
        desk?.serve(self)
    }

    deinit { release() }

    /// Gives the version up, so that its pages may be reused. Nothing read through the snapshot may
    /// be used afterwards. Idempotent.
    package func release() {
        isReleased.store(true, ordering: .relaxed)
        trees.withLock { $0 = [:] }
        openDelta.withLock { $0 = nil }
        let held = pin.withLock { pin -> Pin? in
            defer { pin = nil }
            return pin
        }
        if let held { store.coordinator.unpin(held) }
    }

    // MARK: Trees

    /// The table with this id. O(log trees) the first time, then one look-up.
    package func table(_ id: UInt64) throws(StorageError) -> Table {
        guard case .table(let table) = try open(id).tree else { throw .noSuchTree(id) }
        return table
    }

    /// The ordered tree with this id.
    package func orderedTree(_ id: UInt64) throws(StorageError) -> OrderedTree {
        guard case .ordered(let tree) = try open(id).tree else { throw .noSuchTree(id) }
        return tree
    }

    /// Whether there is a tree with this id.
    package func hasTree(_ id: UInt64) throws(StorageError) -> Bool {
        if trees.withLock({ $0[id] != nil }) { return true }
        return try TreeKey.with(id) { key throws(StorageError) in
            try catalog.value(forKey: key) != nil
        }
    }

    package func sequence(_ id: UInt64) throws(StorageError) -> SequenceTree {
        guard case .sequence(let tree) = try open(id).tree else { throw .noSuchTree(id) }
        return tree
    }

    private func open(_ id: UInt64) throws(StorageError) -> OpenTree {
        if let tree = trees.withLock({ $0[id] }) { return tree }
        if isReleased.load(ordering: .relaxed) && space.isWritable { throw .closed }
        let entry = try TreeKey.with(id) { key throws(StorageError) in
            try catalog.value(forKey: key)
        }
        guard let entry else { throw .noSuchTree(id) }
        let opened = try OpenTree(decoding: entry, id: id, in: self)
        if case .table(let table) = opened.tree, let key = abandonedKeys[id] {
            table.raiseNextKey(above: key)
        }
        return trees.withLock { trees in
            if let other = trees[id] { return other }
            trees[id] = opened
            return opened
        }
    }

    // MARK: Changing trees, for the transaction

    /// The highest key that each table which was opened has given out.
    var takenKeys: [UInt64: Int64] {
        trees.withLock { trees in
            trees.compactMapValues { tree in
                if case .table(let table) = tree.tree, table.nextKey > 0 {
                    table.nextKey - 1
                } else {
                    nil
                }
            }
        }
    }

    package func newSequence() throws(StorageError) -> UInt64 {
        add(.sequence(SequenceTree(space: space, root: TreeRoot(kind: .sequence))))
    }

    package func dropSequence(_ id: UInt64) throws(StorageError) {
        try drop(id)
    }

    func addOrderedTree() throws(StorageError) -> UInt64 {
        add(
            .ordered(
                OrderedTree(
                    space: space, root: TreeRoot(kind: .ordered),
                    share: try deltaShare(of: nextTreeID))))
    }

    func addTable(columns: [Column]) -> UInt64 {
        add(
            .table(Table(space: space, root: TreeRoot(kind: .table), columns: columns, owner: self))
        )
    }

    /// Makes a system tree with its reserved id, if it is not there.
    func ensureSystemTree(_ id: UInt64) throws(StorageError) -> OrderedTree {
        if try !hasTree(id) {
            trees.withLock {
                $0[id] = OpenTree(
                    .ordered(OrderedTree(space: space, root: TreeRoot(kind: .ordered))))
            }
        }
        return try orderedTree(id)
    }

    // MARK: The delta

    /// What the delta holds of a tree; nil for the engine's own trees, which have none.
    func deltaShare(of id: UInt64) throws(StorageError) -> DeltaShare? {
        id < SystemTree.firstUser ? nil : DeltaShare(try delta(), tree: id)
    }

    private func delta() throws(StorageError) -> Delta {
        if let delta = openDelta.withLock({ $0 }) { return delta }
        let opened = try Delta(
            self, policy: store.delta.withLock { $0.policy }, isWritable: space.isWritable)
        return openDelta.withLock { delta in
            if let delta { return delta }
            delta = opened
            return opened
        }
    }

    func deltaLevel(_ level: Int, making: Bool) throws(StorageError) -> OrderedTree? {
        let id = SystemTree.delta.lowerBound + UInt64(level)
        if making { return try ensureSystemTree(id) }
        do { return try orderedTree(id) } catch {
            if case .noSuchTree = error { return nil }
            throw error
        }
    }

    /// Has the delta hand on what is too much for it, as the last change before a commit.
    func settleDelta() throws(StorageError) {
        guard let delta = openDelta.withLock({ $0 }) else { return }
        var positions = store.delta.withLock { $0.positions }
        try delta.moveOn(from: &positions, spilling: store.dirtyLimit)
        store.delta.withLock { $0.positions = positions }
    }

    private func add(_ tree: OpenTree.Tree) -> UInt64 {
        let id = nextTreeID
        nextTreeID += 1
        trees.withLock { $0[id] = OpenTree(tree) }
        return id
    }

    /// Frees every extent of a tree and forgets it. O(its extents).
    func drop(_ id: UInt64) throws(StorageError) {
        switch try open(id).tree {
        case .table(let tree): try tree.freeAll()
        case .ordered(let tree): try tree.freeAll()
        case .sequence(let tree): try tree.freeAll()
        }
        trees.withLock { _ = $0.removeValue(forKey: id) }
        _ = try TreeKey.with(id) { key throws(StorageError) in try catalog.delete(key) }
    }

    /// Settles every tree that changed and writes its root into the catalog; `all`: columns may
    /// have changed, too. Returns the catalog's root.
    func settleTrees(all: Bool) throws(StorageError) -> TreeRoot {
        for (id, open) in movedTrees(all: all) {
            var settled = open
            let entry = try settled.settle(in: space)
            trees.withLock { $0[id] = settled }
            try TreeKey.with(id) { key throws(StorageError) in
                if let old = try catalog.value(forKey: key), old.elementsEqual(entry) { return }
                try entry.withBytes { bytes throws(StorageError) in _ = try catalog.put(key, bytes)
                }
            }
        }
        if !catalog.root.isEmpty { catalog.root.ref.checksum = try space.settle(catalog.root.ref) }
        return catalog.root
    }

    /// The trees of which the catalog says something else, in the order of their ids.
    private func movedTrees(all: Bool) -> [(id: UInt64, tree: OpenTree)] {
        trees.withLock { trees in
            var moved: [(id: UInt64, tree: OpenTree)] = []
            for (id, tree) in trees where all || tree.hasMoved { moved.append((id, tree)) }
            return moved.sorted { $0.id < $1.id }
        }
    }

    /// What the next transaction may go on with, after this one's commit. The view is not used any
    /// more.
    func clearDesk() -> WriterDesk? {
        defer { release() }
        return WriterDesk(
            space: space, catalog: catalog, trees: trees.withLock { $0 },
            delta: openDelta.withLock { $0 })
    }

    // MARK: Records

    /// The records of the commits after `earlier`, oldest first; nil where some are gone, so that
    /// the two snapshots must be compared.
    package func records(after earlier: UInt64) throws(StorageError) -> [CommitRecord]? {
        guard earlier < version else { return [] }
        var records: [CommitRecord] = []
        var reached = earlier
        func add(_ value: UnsafeRawBufferPointer) throws(StorageError) -> Bool {
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
        if let newest = try RootTail.record(of: rootRef, in: space), try !add(newest) { return nil }
        return reached == version ? records : nil
    }
}

/// Keys of the catalog and of the records: a number, big-endian, so that bytes sort as numbers do.
enum TreeKey {
    static func with<Result>(
        _ number: UInt64, _ body: (UnsafeRawBufferPointer) throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        var bytes = number.bigEndian
        return try withUnsafeBytes(of: &bytes) { buffer throws(StorageError) in try body(buffer) }
    }

    static func number(_ key: UnsafeRawBufferPointer) -> UInt64? {
        key.count == 8 ? UInt64(bigEndian: key.loadUnaligned(as: UInt64.self)) : nil
    }

}

extension [UInt8] {
    /// The array's bytes, for the time of the call.
    func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws(StorageError) -> Result)
        throws(StorageError) -> Result
    {
        try withUnsafeBufferPointer { buffer throws(StorageError) in
            try body(UnsafeRawBufferPointer(buffer))
        }
    }
}
