internal import ToftPlatform

/// Gives back at the last close what the file no longer needs: the segments of the log but the
/// first, and free pages.
///
/// It makes three versions, each durable with both metas before the next begins, so a crash leaves
/// the newest of them that is. The caller holds the exclusive attach lock, and the clean meta is
/// durable, so that nothing needs the log. A read-only attachment that has come meanwhile sees the
/// newest of these versions; it pins that, and what would be next is left out.
///
/// 1. The log gives its pages back, and the insert buffer of a small file its entries.
/// 2. What lies behind the cut, where the file is to end, moves to free pages before it. Long
///    values stay where they are.
/// 3. What that has freed becomes free, and the version counts the pages up to the last in use.
///
/// Then the file is truncated.
struct CloseCompaction {
    private let store: Store
    private var meta: Meta

    /// Free pages that are not worth it: beside an eighth of the file.
    #if TOFT_TRIALS
    private static let leastWaste: UInt64 = 8
    #else
    private static let leastWaste: UInt64 = 128
    #endif
    /// Pages that are moved at most: 16 MiB.
    private static let movedPages = 4_096
    /// Pages of the largest file whose insert buffer is emptied: 64 MiB.
    private static let drainedPages: UInt64 = 16_384

    /// Compacts a file that `meta` marks as closed cleanly.
    ///
    /// - Throws: `io`, `diskFull`...: the file is closed cleanly nevertheless.
    static func run(_ store: Store, _ meta: Meta) throws(StorageError) {
        var compaction = CloseCompaction(store: store, meta: meta)
        guard try compaction.isWorthIt(), try compaction.isAlone() else { return }
        try compaction.releaseLog()
        guard try compaction.isAlone() else { return }
        try compaction.moveExtents()
        guard try compaction.isAlone() else { return }
        try compaction.commit { (transaction) throws(StorageError) in
            try transaction.pages.freeSpace?.trimFile(in: transaction.pages)
        }
        guard try compaction.isAlone() else { return }
        try store.file.truncate(to: compaction.meta.pageCount * UInt64(Page.size))
        Failpoint.reach(.fileTruncated)
    }

    /// Whether no read-only attachment pins a version.
    private func isAlone() throws(StorageError) -> Bool {
        try store.coordinator.readOnlyPins().isEmpty
    }

    /// Whether an eighth of the file is free, or the log's.
    private func isWorthIt() throws(StorageError) -> Bool {
        let pages = PageReader(store.file, version: meta.version)
        let root = try Root(reading: meta.root, in: pages)
        var used = Page.firstData.rawValue
        for region in try FreeSpaceReader.regions(root.directory, in: pages) {
            used += UInt64(Page.perRegion - region.freePages)
        }
        for run in try RootPayload.runs(of: meta.root, in: pages) { used &-= UInt64(run.count) }
        for segment in meta.logMap.segments.dropFirst() { used &-= segment.pageCount }
        let waste = meta.pageCount > used ? meta.pageCount - used : 0
        return waste >= max(Self.leastWaste, meta.pageCount / 8)
    }

    private mutating func releaseLog() throws(StorageError) {
        let segments = meta.logMap.segments
        meta.logMap.segments = Array(segments.prefix(1))
        let drains = meta.pageCount <= Self.drainedPages
        let limit = store.dirtyLimit
        try commit { (transaction) throws(StorageError) in
            for segment in segments.dropFirst() {
                try transaction.pages.freeSpace?.release(
                    segment.page, count: Int(segment.pageCount), in: transaction.pages)
            }
            if drains { try transaction.trees.emptyInsertBuffer(dirtyLimit: limit) }
        }
    }

    private mutating func moveExtents() throws(StorageError) {
        let limit = store.dirtyLimit
        try commit { (transaction) throws(StorageError) in
            let pages = transaction.pages
            guard
                let cut = try pages.freeSpace?.cutFile(movingAtMost: Self.movedPages, in: pages)
            else { return }
            try transaction.trees.move(ExtentMove(pages: pages, cut: cut, dirtyLimit: limit))
        }
    }

    /// Makes a version that holds the same as the last, and a meta that says that the file is
    /// closed cleanly.
    private mutating func commit(_ change: (WriteTransaction) throws(StorageError) -> Void)
        throws(StorageError)
    {
        let base = try Store.aside(
            meta, store.file, dirtyLimit: store.dirtyLimit, keepsRecords: false)
        let transaction = try WriteTransaction(
            replayingIn: base, published: PublishedVersion(meta),
            version: store.coordinator.claimVersion(), pins: [meta.version], besides: nil,
            isPrivate: false)
        try change(transaction)
        let bytes = transaction.baseRoot.recordBytes
        let record = transaction.record.pointee.finish(
            version: transaction.version, previousVersion: transaction.baseVersion,
            recordBytes: bytes)
        let published = try VersionBuilder(transaction).build(
            record, total: bytes &+ UInt64(record.count))
        try transaction.pages.flush()
        Failpoint.reach(.compactionWritten)
        try store.file.sync()
        meta.version = published.version
        meta.root = published.root
        meta.pageCount = published.fileSize / UInt64(Page.size)
        for slot: PageNumber in [0, 1] { try MetaPage.write(meta, slot: slot, to: store.file) }
        store.coordinator.ring.publish(published)
        Failpoint.reach(.compactionDurable)
    }
}

/// Moves extents from behind a page to free pages before it.
struct ExtentMove {
    let pages: PageWriter
    /// Where the file is to end.
    let cut: PageNumber
    /// Bytes of extents above which leaves are spilled.
    let dirtyLimit: Int

    /// Moves what lies behind the cut of a tree: `ref` is its node of a height. O(inner nodes +
    /// what is moved).
    func move(_ ref: inout Ref, height: Int, leafType: ExtentType) throws(StorageError) {
        guard Page.isRun(ref.page, count: ref.pageCount) else {
            throw .corrupt(page: ref.page, reason: "a reference names \(ref.pageCount) pages there")
        }
        let isBehind = ref.page + UInt64(ref.pageCount) > cut && ref.birth != pages.version
        guard height > 0 else {
            if isBehind {
                _ = try pages.edit(&ref, as: leafType)
                try pages.spill(limit: dirtyLimit)
            }
            return
        }
        if isBehind { _ = try pages.edit(&ref, as: .treeInner) }
        let count = try node(ref, height).count
        for index in 0..<count {
            let old = try node(ref, height).child(index)
            var child = old
            try move(&child, height: height - 1, leafType: leafType)
            guard child != old else { continue }
            let base = try pages.edit(&ref, as: .treeInner)
            InnerEditor(base: base, page: ref.page).setChild(index, child)
        }
    }

    private func node(_ ref: Ref, _ height: Int) throws(StorageError) -> InnerNode {
        try InnerNode(try pages.view(ref, as: .treeInner), page: ref.page, height: height)
    }
}
