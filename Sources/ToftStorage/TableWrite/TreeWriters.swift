/// The trees of the version being made: the catalog, the insert buffer, and a writer for each tree
/// that was changed.
final class TreeWriters {
    let policy: InsertBufferPolicy
    let catalog: CatalogWriter
    private let pages: PageWriter
    private let scratch: ScratchBuffers
    private let sequences: SequenceWriters
    private var tables: [TreeID: TableWriter] = [:]
    private var orderedTrees: [TreeID: TreeWriter] = [:]
    private var insertBuffer: InsertBuffer?
    /// The most recently used writers: most changes go to the same tree as the one before.
    @exclusivity(unchecked) private var lastTable:  // asked for every change
        (id: TreeID, writer: TableWriter)?
    @exclusivity(unchecked) private var lastTree:  // asked for every change
        (id: TreeID, writer: TreeWriter)?

    /// The trees of the version with `root`.
    init(
        root: Root, pages: PageWriter, scratch: ScratchBuffers, policy: InsertBufferPolicy
    ) {
        self.pages = pages
        self.scratch = scratch
        self.policy = policy
        let reader = Catalog(
            pages: pages.reader, root: root.catalog, filePages: root.pageCount, hasAllLevels: true)
        catalog = CatalogWriter(
            reader, pages: pages, scratch: scratch, nextTreeID: root.nextTreeID)
        sequences = SequenceWriters(in: catalog, pages: pages, scratch: scratch)
    }

    /// Trees that are open.
    var count: Int { catalog.reader.count }

    /// Forgets the state for one transaction.
    func reset() {
        catalog.reset()
        insertBuffer?.reset()
        for table in tables.values { table.reset() }
        for tree in orderedTrees.values { tree.reset() }
    }

    // MARK: Finding

    /// The writer of a table.
    ///
    /// - Parameter abandonedKeys: keys that no row may get, by table: see `Store.abandonedKeys`.
    /// - Throws: `noSuchTree`.
    @inline(__always)
    func table(_ id: TreeID, abandonedKeys: [TreeID: Int64]) throws(StorageError) -> TableWriter {
        if let lastTable, lastTable.id == id { return lastTable.writer }
        return try findTable(id, abandonedKeys)
    }

    private func findTable(_ id: TreeID, _ abandonedKeys: [TreeID: Int64]) throws(StorageError)
        -> TableWriter
    {
        if let writer = tables[id] {
            lastTable = (id, writer)
            return writer
        }
        let reader = TableReader(
            pages: pages.reader, head: try catalog.reader.head(id, .table),
            catalog: catalog.reader)
        let writer = TableWriter(reader, pages: pages, scratch: scratch, sequences: sequences)
        if let key = abandonedKeys[id] { writer.raiseNextKey(above: key) }
        tables[id] = writer
        lastTable = (id, writer)
        return writer
    }

    /// The writer of an ordered tree.
    ///
    /// - Throws: `noSuchTree`.
    @inline(__always)
    func orderedTree(_ id: TreeID) throws(StorageError) -> TreeWriter {
        if let lastTree, lastTree.id == id { return lastTree.writer }
        return try findOrderedTree(id)
    }

    private func findOrderedTree(_ id: TreeID) throws(StorageError) -> TreeWriter {
        if let writer = orderedTrees[id] {
            lastTree = (id, writer)
            return writer
        }
        let buffered = id < SystemTree.firstUser ? nil : try openInsertBuffer().entries(of: id)
        let writer = TreeWriter(
            try catalog.reader.orderedTree(id), pages: pages, scratch: scratch, buffered: buffered)
        orderedTrees[id] = writer
        lastTree = (id, writer)
        return writer
    }

    private func openInsertBuffer() throws(StorageError) -> InsertBuffer {
        if let insertBuffer { return insertBuffer }
        let opened = try InsertBuffer(
            in: catalog.reader, pages: pages, scratch: scratch, policy: policy)
        insertBuffer = opened
        return opened
    }

    // MARK: Making and dropping

    func createTable(columns: [Column]) -> TreeID {
        catalog.add(TreeHead(kind: .table, columns: columns))
    }

    func createOrderedTree() -> TreeID { catalog.add(TreeHead(kind: .ordered)) }

    /// Makes a system tree with its reserved id, if it is not there.
    func ensureSystemTree(_ id: TreeID) throws(StorageError) {
        if try catalog.reader.contains(id) { return }
        catalog.reader.add(TreeHead(kind: .ordered), id)
    }

    /// Frees every extent of a tree and forgets it. O(its extents).
    func drop(_ id: TreeID, abandonedKeys: [TreeID: Int64]) throws(StorageError) {
        switch try catalog.reader.kind(id) {
        case .table: try table(id, abandonedKeys: abandonedKeys).freeAll()
        case .ordered: try orderedTree(id).freeAll()
        case .sequence: return try sequences.drop(id)
        }
        tables[id] = nil
        orderedTrees[id] = nil
        lastTable = nil
        lastTree = nil
        try catalog.remove(id)
    }

    // MARK: The commit

    /// Moves on the entries above the insert buffer's limits, as the last change before a commit.
    func compactInsertBuffer(from positions: inout [[UInt8]], dirtyLimit: Int)
        throws(StorageError)
    {
        try insertBuffer?.compact(from: &positions, dirtyLimit: dirtyLimit) {
            (id) throws(StorageError) in try orderedTree(id)
        }
    }

    /// Moves entries of the insert buffer to trees, and removes those from `trees` that have all,
    /// until the version being made has `extentLimit` extents. O(entries moved).
    func fill(_ trees: inout [TreeID], extentLimit: Int, dirtyLimit: Int) throws(StorageError) {
        let buffer = try openInsertBuffer()
        while let id = trees.last, pages.extentCount < extentLimit {
            let isFull = try buffer.empty(id, extentLimit: extentLimit, dirtyLimit: dirtyLimit) {
                (id) throws(StorageError) in try orderedTree(id)
            }
            if isFull { trees.removeLast() }
        }
    }

    /// Moves the extents of all trees that are behind the file's future end and have not changed
    /// yet. O(inner nodes + trees).
    func move(_ extents: ExtentMove) throws(StorageError) {
        let own = catalog.reader.tree
        let cursor = try own.cursor()
        var ids: [TreeID] = []
        var isThere = try cursor.seekFirst()
        while isThere {
            if let id: TreeID = TreeKey.number(cursor.key) { ids.append(id) }
            isThere = try cursor.next()
        }
        for id in ids {
            let head = try catalog.reader.head(id)
            try move(extents, head)
        }
        try move(extents, own.head)
    }

    private func move(_ extents: ExtentMove, _ head: TreeHead) throws(StorageError) {
        let root = head.root
        guard !root.isEmpty else { return }
        var ref = root.ref
        try extents.move(&ref, height: root.height, leafType: root.kind.leafType)
        head.root.ref = ref
    }

    /// The highest key that each changed table has assigned.
    var takenKeys: [TreeID: Int64] {
        tables.compactMapValues { $0.root.nextKey > 0 ? $0.root.nextKey - 1 : nil }
    }
}
