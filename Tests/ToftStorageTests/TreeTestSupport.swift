import Testing
import ToftPlatform
@testable import ToftStorage

/// SplitMix64: the same numbers from the same seed everywhere.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(max(1, limit))) }

    mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
    }

    /// A word of small letters: likely to share prefixes with others.
    mutating func word(_ longest: Int) -> [UInt8] {
        (0..<below(longest + 1)).map { _ in UInt8(97 + below(3)) }
    }
}

/// Remembers the extents that a check reached, and refuses to reach one twice.
final class VisitedExtents: TreeVisitor {
    private(set) var pages: Set<PageNumber> = []
    private(set) var sequences: Set<TreeID> = []

    func visit(_ ref: Ref, as type: ExtentType) throws(StorageError) {
        for index in 0..<UInt64(ref.pageCount) where !pages.insert(ref.page + index).inserted {
            throw .corrupt(page: ref.page + index, reason: "reached twice")
        }
    }

    func visit(sequence id: TreeID) throws(StorageError) {
        guard sequences.insert(id).inserted else {
            throw .corrupt(page: 0, reason: "sequence \(id) reached twice")
        }
    }
}

/// Runs `body` with the bytes in memory.
func with<Result>(_ bytes: [UInt8], _ body: (UnsafeRawBufferPointer) throws -> Result) rethrows
    -> Result
{
    try bytes.withUnsafeBytes(body)
}

/// Pages in memory for trees without a store, and the trees on them.
final class TreeWorkshop {
    let pages: PageWriter
    let scratch = ScratchBuffers()
    /// Names the trees; its entries are not written.
    private(set) var catalog: CatalogWriter
    private(set) var sequenceWriters: SequenceWriters

    init() throws {
        let cache = PageCache(DataFile(MemoryFile()))
        pages = PageWriter(cache, .all)
        pages.begin(1)
        pages.freeSpace = try FreeSpace(file: cache.file)
        (catalog, sequenceWriters) = Self.emptyCatalog(pages, scratch)
    }

    private static func emptyCatalog(_ pages: PageWriter, _ scratch: ScratchBuffers) -> (
        CatalogWriter, SequenceWriters
    ) {
        let catalog = CatalogWriter(
            Catalog(pages: pages.reader, root: TreeRoot(kind: .ordered), filePages: .max),
            pages: pages,
            scratch: scratch, nextTreeID: SystemTree.firstUser)
        return (catalog, SequenceWriters(in: catalog, pages: pages, scratch: scratch))
    }

    /// An ordered tree that begins at `root`.
    func tree(_ root: TreeRoot = TreeRoot(kind: .ordered)) -> TreeWriter {
        let reader = TreeReader(pages: pages.reader, head: TreeHead(root: root))
        return TreeWriter(reader, pages: pages, scratch: scratch)
    }

    /// A table that begins where `head` says.
    func table(_ head: TreeHead) -> TableWriter {
        let reader = TableReader(pages: pages.reader, head: head, catalog: catalog.reader)
        return TableWriter(reader, pages: pages, scratch: scratch, sequences: sequenceWriters)
    }

    /// The sequences of all lists that have one.
    var sequences: [TreeID: SequenceReader] {
        Dictionary(
            uniqueKeysWithValues: catalog.reader.changedHeads(all: true).map {
                ($0.id, SequenceReader(pages: pages.reader, head: $0.head))
            })
    }

    /// Pages of this version's own extents.
    var ownPages: Int {
        pages.working.extents.bytes / Page.size
            + pages.spilled.values.reduce(0) { $0 + Int($1.pageCount) }
    }

    /// Writes a tree as a commit does and begins the next version. The tree is to be opened again
    /// from the root.
    func commit(_ root: TreeRoot) throws -> TreeRoot {
        let committed = try finalized(root)
        try beginNextVersion()
        return committed
    }

    /// Commits a table and its lists.
    func commit(_ table: TableWriter) throws -> TableWriter {
        let root = try finalized(table.root)
        let lists = try sequences.mapValues { try finalized($0.root) }
        try beginNextVersion()
        let next = catalog.nextTreeID
        (catalog, sequenceWriters) = Self.emptyCatalog(pages, scratch)
        catalog.nextTreeID = next
        for (id, root) in lists { catalog.reader.add(TreeHead(root: root), id) }
        return self.table(TreeHead(root: root, columns: table.columns))
    }

    private func finalized(_ root: TreeRoot) throws -> TreeRoot {
        var root = root
        if !root.isEmpty { root.ref.digest = try pages.finalizeChecksums(root.ref) }
        return root
    }

    private func beginNextVersion() throws {
        try pages.flush()
        let freeSpace = pages.freeSpace
        pages.reset()
        pages.begin(pages.version + 1)
        pages.freeSpace = freeSpace
    }

    /// Lets extents leave memory, as a large transaction does.
    func spill() throws { try pages.spill(limit: 0) }
}

/// The present content of a tree under test.
extension TreeWriter {
    var root: TreeRoot { reader.root }
    var count: Int { get throws(StorageError) { try reader.count } }

    func value(forKey key: UnsafeRawBufferPointer) throws(StorageError) -> UnsafeRawBufferPointer? {
        try reader.value(forKey: key)
    }

    func rank(of key: UnsafeRawBufferPointer) throws(StorageError) -> Int {
        try reader.rank(of: key)
    }

    func cursor() throws(StorageError) -> TreeCursor { try reader.cursor() }
    func check(_ visitor: any TreeVisitor) throws(StorageError) { try reader.check(visitor) }
}

/// The present content of a table under test.
extension TableWriter {
    var rowCount: Int { reader.rowCount }

    func contains(_ key: Int64) throws(StorageError) -> Bool { try reader.contains(key) }
    func key(atRank rank: Int) throws(StorageError) -> Int64 { try reader.key(atRank: rank) }
    func rank(of key: Int64) throws(StorageError) -> Int { try reader.rank(of: key) }
    func check(_ visitor: any TreeVisitor) throws(StorageError) { try reader.check(visitor) }

    func cell(_ key: Int64, _ column: UInt32) throws(StorageError) -> Cell {
        try reader.cell(key, column)
    }

    func list(_ key: Int64, _ column: UInt32) throws(StorageError) -> ListView {
        try reader.list(key, column)
    }

    func listCount(_ key: Int64, _ column: UInt32) throws(StorageError) -> Int {
        try reader.listCount(key, column)
    }

    func forEachCluster(_ body: (ClusterView) throws(StorageError) -> Bool) throws(StorageError) {
        try reader.forEachCluster(body)
    }
}
