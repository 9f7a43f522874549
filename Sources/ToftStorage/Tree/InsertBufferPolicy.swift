/// When entries enter the insert buffer and when they move on.
package struct InsertBufferPolicy: Equatable, Sendable {
    /// Soft limit of entries of each level. Level 0 and one commit's overflow fit into one leaf.
    package var limits = [80, 1 << 10, 8 << 10, 64 << 10, 512 << 10]
    /// Entries that one commit moves on from a level that is over its limit.
    package var compactionBatch = 32
    /// A batch enters the first level whose limit is this many times the batch.
    package var levelToBatchRatio = 8
    /// Entries of the smallest tree that is buffered.
    package var smallestTree = 16 << 10
    /// A batch skips the buffer if its tree has fewer than this many entries for each of the batch.
    package var treeToBatchRatio = 64
    /// A level's entries of a tree move to the tree itself if it has fewer than this many for each
    /// of them.
    package var treeToShareRatio = 8

    /// A file at rest gives a tree its entries if it has at most this many for each of them: most
    /// leaves that are written then get several.
    var treeToRestRatio = 16

    package static let usual = InsertBufferPolicy()

    package init() {}

    /// Hard limit of entries of a level: entries above it move on at once.
    func hardLimit(_ level: Int) -> Int { limits[level] + limits[level] / 8 + compactionBatch }

    /// The level that new entries of a batch enter.
    func entryLevel(batch: Int) -> Int {
        limits.firstIndex { batch * levelToBatchRatio <= $0 } ?? limits.count - 1
    }
}

/// A store's state of the insert buffer.
package struct InsertBufferState: Sendable {
    package var policy = InsertBufferPolicy.usual
    /// The key from which each level's compaction continues. Forgotten with the store: it matters
    /// for evenness only.
    var positions = [[UInt8]](repeating: [], count: InsertBufferPolicy.usual.limits.count)
}
