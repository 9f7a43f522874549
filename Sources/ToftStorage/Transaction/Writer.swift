/// All that a store has for changing it: pages, free space, and the writers of the trees that were
/// changed lately.
///
/// A store has one. It is lent to one write transaction after the other, and keeps the decoded
/// state: a transaction that builds on the version of the one before need not read it again. After
/// a rollback, a change of structure or a commit of another process it starts anew.
///
/// `@unchecked Sendable`: only the thread of the write transaction uses it; the store's mutex hands
/// it on.
final class Writer: @unchecked Sendable {
    /// With more trees than this nothing is kept: decoding them again costs little beside such a
    /// transaction.
    private static let mostTreesKept = 64

    let pages: PageWriter
    private let scratch = ScratchBuffers()
    /// The writers of the last committed version, if `committedVersion` is its number.
    private var kept: TreeWriters?
    private var committedVersion: Version = 0

    init(for store: Store, isPrivate: Bool = false) {
        pages = PageWriter(store.cache, .all, isPrivate: isPrivate)
    }

    /// Begins a version on top of `base`.
    ///
    /// - Parameter pins: the versions whose pages stay, ascending.
    /// - Parameter unlisted: versions whose pages are left alone though free space does not list
    ///   them, see `FreeSpace.setAside`.
    /// - Parameter isPrivate: nothing reaches the file.
    /// - Returns: the root of `base`, and the trees as they are changed.
    func begin(
        _ version: Version, on base: PublishedVersion, pins: [Version],
        besides unlisted: UnlistedVersions?, isPrivate: Bool, policy: InsertBufferPolicy
    ) throws(StorageError) -> (root: Root, trees: TreeWriters) {
        pages.begin(version)
        let root = try Root(reading: base.root, in: pages.reader)
        let freeSpace = try FreeSpace(
            file: pages.cache.file, root: root, at: base.root, in: pages, isPrivate: isPrivate)
        pages.freeSpace = freeSpace
        try freeSpace.reclaim(pins: pins, in: pages)
        if let unlisted { try freeSpace.setAside(unlisted, in: pages) }
        defer { kept = nil }
        let isCurrent = committedVersion == base.version
        if isCurrent, let kept, kept.policy == policy { return (root, kept) }
        return (root, TreeWriters(root: root, pages: pages, scratch: scratch, policy: policy))
    }

    /// Ends the version. `trees`: as they were committed, to be kept; nil after a rollback.
    func end(keeping trees: TreeWriters?) {
        committedVersion = pages.version
        pages.reset()
        guard let trees, trees.count <= Self.mostTreesKept else { return }
        trees.reset()
        kept = trees
    }
}
