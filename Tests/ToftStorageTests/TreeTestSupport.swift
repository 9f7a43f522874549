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

/// Remembers what a check reached, and refuses what it reaches twice.
final class VisitedExtents: TreeVisitor {
    private(set) var pages: Set<UInt64> = []
    private(set) var sequences: Set<UInt64> = []

    func visit(_ ref: Ref, as type: ExtentType) throws(StorageError) {
        for page in ref.page..<ref.page + UInt64(ref.pageCount) where !pages.insert(page).inserted {
            throw .corrupt(page: page, reason: "reached twice")
        }
    }

    func visit(sequence id: UInt64) throws(StorageError) {
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

/// Pages in memory for trees without a store.
final class TreeWorkshop {
    private let file = MappedFile(MemoryFile())
    private let freeSpace: FreeSpace
    private(set) var space: PageSpace

    init() throws {
        freeSpace = try FreeSpace(file: file)
        space = PageSpace(file: file, version: 1, freeSpace: freeSpace)
    }

    /// Pages of this version's own extents.
    var ownPages: Int {
        space.dirty.pointee.bytes / Page.size
            + space.spilled.values.reduce(0) { $0 + Int($1.pageCount) }
    }

    /// Writes a tree as a commit does and goes on with the next version. The tree is to be opened
    /// anew from the root.
    func commit(_ root: TreeRoot) throws -> TreeRoot {
        try commit([root])[0]
    }

    func commit(_ roots: [TreeRoot]) throws -> [TreeRoot] {
        var settled = roots
        for index in settled.indices where !settled[index].isEmpty {
            settled[index].ref.checksum = try space.settle(settled[index].ref)
        }
        try space.flush()
        space = PageSpace(
            file: file, version: space.version + 1, freeSpace: freeSpace)
        return settled
    }

    /// Lets extents leave memory, as a large transaction does.
    func spill() throws { try space.spill(limit: 0) }
}
