internal import ToftPlatform

/// The tree of trees of one version: finds a tree by its id once, then keeps it.
///
/// The catalog of a committed version may be used by any thread. That of the version being made
/// belongs to the write transaction, and returns trees in their present state.
final class Catalog: Sendable {
    /// Tree ids to roots.
    let tree: TreeReader
    private let state = FutexMutex(State())
    /// Whether the insert buffer has all its levels, for a writer; otherwise only those with
    /// entries.
    private let hasAllLevels: Bool
    /// Pages of the file, as the version's root says.
    private let filePages: UInt64

    private struct State {
        var heads: [TreeID: TreeHead] = [:]
        var buffer: InsertBufferReader?
    }

    init(pages: PageReader, root: TreeRoot, filePages: UInt64, hasAllLevels: Bool = false) {
        tree = TreeReader(pages: pages, head: TreeHead(root: root))
        self.hasAllLevels = hasAllLevels
        self.filePages = filePages
    }

    var pages: PageReader { tree.pages }

    // MARK: Reading

    /// Whether there is a tree with this id.
    func contains(_ id: TreeID) throws(StorageError) -> Bool {
        if state.withLock({ $0.heads[id] != nil }) { return true }
        return try TreeKey.with(id) { key throws(StorageError) in try tree.contains(key) }
    }

    /// The tree with this id. O(log trees) the first time, then one look-up.
    ///
    /// - Throws: `noSuchTree`, also if it is of another kind.
    func head(_ id: TreeID, _ kind: TreeKind) throws(StorageError) -> TreeHead {
        let head = try head(id)
        guard head.root.kind == kind else { throw .noSuchTree(id) }
        return head
    }

    /// The kind of the tree with this id.
    func kind(_ id: TreeID) throws(StorageError) -> TreeKind { try head(id).root.kind }

    /// The tree with this id, of any kind.
    func head(_ id: TreeID) throws(StorageError) -> TreeHead {
        if let kept = state.withLock({ $0.heads[id] }) { return kept }
        return try read(id)
    }

    private func read(_ id: TreeID) throws(StorageError) -> TreeHead {
        let read = try readAgain(id)
        return state.withLock { state in
            if let other = state.heads[id] { return other }
            state.heads[id] = read
            return read
        }
    }

    /// The tree as the catalog describes it, not cached: for the check of a file.
    func readAgain(_ id: TreeID) throws(StorageError) -> TreeHead {
        let entry = try TreeKey.with(id) { key throws(StorageError) in try tree.value(forKey: key) }
        guard let entry else { throw .noSuchTree(id) }
        let head = try TreeHead(decoding: entry, page: tree.root.ref.page)
        // Pages that the transaction has added count, too: the file's size knows them.
        var isPossible = head.root.fits(in: filePages)
        if !isPossible {
            isPossible = head.root.fits(in: try pages.cache.file.size() / UInt64(Page.size))
        }
        guard isPossible else {
            throw .corrupt(
                page: tree.root.ref.page,
                reason: "tree \(id) counts \(head.root.count), more than the file can hold")
        }
        return head
    }

    /// The insert buffer.
    func insertBuffer() throws(StorageError) -> InsertBufferReader {
        if let buffer = state.withLock({ $0.buffer }) { return buffer }
        let opened = try InsertBufferReader(in: self, hasAllLevels: hasAllLevels)
        return state.withLock { state in
            if let buffer = state.buffer { return buffer }
            state.buffer = opened
            return opened
        }
    }

    /// A reader of an ordered tree, with its entries in the insert buffer.
    func orderedTree(_ id: TreeID) throws(StorageError) -> TreeReader {
        let head = try head(id, .ordered)
        guard id >= SystemTree.firstUser else { return TreeReader(pages: pages, head: head) }
        return TreeReader(
            pages: pages, head: head,
            buffered: BufferedEntries(try insertBuffer(), tree: id))
    }

    /// The trees to which the insert buffer gives its entries when the file is at rest: those that
    /// many wait for. `all`: all with entries. O(trees with entries * log entries).
    func treesToFill(all: Bool, _ policy: InsertBufferPolicy) throws(StorageError) -> [TreeID] {
        let buffer = try insertBuffer()
        var ids: [TreeID] = []
        for id in try buffer.trees() {
            let waiting = try BufferedEntries(buffer, tree: id).count
            let count = try orderedTree(id).ownCount
            if all || waiting >= count / policy.treeToRestRatio { ids.append(id) }
        }
        return ids.sorted()
    }

    // MARK: For the writer

    /// Adds a tree that the catalog's entries do not name yet.
    func add(_ head: TreeHead, _ id: TreeID) { state.withLock { $0.heads[id] = head } }

    /// Forgets a tree.
    func remove(_ id: TreeID) { state.withLock { _ = $0.heads.removeValue(forKey: id) } }

    /// Trees that are kept.
    var count: Int { state.withLock { $0.heads.count } }

    /// The kept trees whose entries are out of date, or all, in the order of their ids.
    func changedHeads(all: Bool) -> [(id: TreeID, head: TreeHead)] {
        state.withLock { state in
            var changed: [(id: TreeID, head: TreeHead)] = []
            for (id, head) in state.heads where all || head.root != head.rootInCatalog {
                changed.append((id, head))
            }
            return changed.sorted { $0.id < $1.id }
        }
    }
}

/// Keys of the catalog and of the records: a number, big-endian, so that bytes sort as numbers do.
enum TreeKey {
    static func with<Result>(
        _ number: some Identifier, _ body: (UnsafeRawBufferPointer) throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        var bytes = number.rawValue.bigEndian
        return try withUnsafeBytes(of: &bytes) { buffer throws(StorageError) in try body(buffer) }
    }

    static func number<Number: Identifier>(_ key: UnsafeRawBufferPointer) -> Number? {
        key.count == 8 ? Number(UInt64(bigEndian: key.loadUnaligned(as: UInt64.self))) : nil
    }
}
