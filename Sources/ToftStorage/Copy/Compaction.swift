internal import ToftPlatform

/// Releases the unused parts of a file in place: segments of the log and free pages.
///
/// It makes versions with the content of the last, each durable with both metas before the next
/// begins, so a crash leaves the newest durable one. The caller is the only participant of the
/// file, whose newest meta is durable and has nothing in the log behind it. A read-only attachment
/// that begins meanwhile sees the newest of these versions; it pins that, and the next steps are
/// left out.
///
/// 1. The log's pages are released.
/// 2. The insert buffer gives trees the entries that wait for them.
/// 3. Extents behind the cut, the future end of the file, move to free pages before it.
/// 4. Their old pages become free, and the version counts the pages up to the last one in use.
///
/// Then the file is truncated. If step 3 fills too few gaps, all extents move to the end of the
/// file once, and then back: when the whole file is compacted, and in a small file with a quarter
/// free. When the whole file is compacted, its free pages are overwritten in the end.
struct Compaction {
    /// The extent of the work.
    enum Extent: Equatable {
        /// The worthwhile part: step 2 leaves out trees with few waiting entries, step 3 leaves
        /// long values where they are, and steps 3 and 4 are repeated while a sixty-fourth is free
        /// and the file gets shorter.
        case little
        /// All that can be; steps 3 and 4 again as long as the file gets shorter.
        case whole
    }

    private let cache: PageCache
    private let coordinator: Coordinator
    private let dirtyLimit: Int
    private let extent: Extent
    private(set) var meta: Meta
    /// For the transactions that make the versions.
    private var store: Store?

    /// Free pages that are not worth it: beside a sixteenth of the file.
    #if TOFT_TRIALS
    private static let leastWaste: UInt64 = 8
    #else
    private static let leastWaste: UInt64 = 128
    #endif
    /// Pages that are moved at most: 16 MiB.
    private static let movedPages = 4_096
    /// Extents of a version of step 2, beside a thirty-second of the file's pages.
    private static let filledExtents = 1_024
    /// Pages in use of the largest file that is moved whole when it closes: 32 MiB.
    private static let rewrittenPages: UInt64 = 8_192
    /// Most repetitions of steps 3 and 4.
    private static let rounds = 6

    /// Compacts a file whose newest meta is `meta`.
    ///
    /// - Parameter segments: number of segments of the log that stay.
    /// - Returns: the meta that the file has then.
    /// - Throws: `io`, `diskFull`...: the file holds the same as before nevertheless.
    @discardableResult
    static func run(
        _ extent: Extent, _ cache: PageCache, _ coordinator: Coordinator, _ meta: Meta,
        dirtyLimit: Int, keeping segments: Int = 1
    ) throws(StorageError) -> Meta {
        var compaction = Compaction(
            cache: cache, coordinator: coordinator, dirtyLimit: dirtyLimit, extent: extent,
            meta: meta)
        try compaction.run(keeping: segments)
        return compaction.meta
    }

    private mutating func run(keeping segments: Int) throws(StorageError) {
        var trees = try treesToFill()
        if extent == .little, trees.isEmpty, try FileUse(meta, cache).wasted < leastWorth {
            return try Self.cut(cache.file, coordinator, behindEndOf: meta)
        }
        guard try isAlone() else { return }
        try releaseLog(keeping: segments)
        try fill(&trees)
        guard try shrink() else { return }
        if try isScattered() {
            try moveAllBehindTheEnd()
            guard try shrink() else { return }
        }
        try cache.file.truncate(to: meta.pageCount * UInt64(Page.size))
        Failpoint.reach(.fileTruncated)
        if extent == .whole { try clearUnused() }
    }

    /// Overwrites the log and the remaining free pages: both may contain deleted data.
    private func clearUnused() throws(StorageError) {
        let bitmaps = try FreeSpaceReader.unusedPages(
            of: meta.root, pins: [], in: PageReader(cache, version: meta.version))
        for (region, bitmap) in bitmaps.enumerated() {
            let first = Page.first(ofRegion: region)
            guard meta.pageCount > first.rawValue else { break }
            let count = min(Page.perRegion, Int(clamping: meta.pageCount - first.rawValue))
            for run in bitmap.freeRuns(below: count) {
                try cache.file.clear(first + UInt64(run.lowerBound), count: UInt64(run.count))
            }
        }
        for segment in meta.logMap.segments {
            try cache.file.clear(segment.page, count: segment.pageCount)
        }
        try cache.file.sync()
    }

    /// Cuts off the growth of the file by a cancelled transaction, or a writer that died.
    static func cut(_ file: DataFile, _ coordinator: Coordinator, behindEndOf meta: Meta)
        throws(StorageError)
    {
        let end = meta.logMap.segments.reduce(meta.pageCount) {
            max($0, $1.page.rawValue + $1.pageCount)
        }
        guard try file.size() / UInt64(Page.size) > end + leastWorth(in: meta),
            try coordinator.readOnlyPins().isEmpty
        else { return }
        try file.truncate(to: end * UInt64(Page.size))
        Failpoint.reach(.fileTruncated)
    }

    /// Whether much is free still, in gaps too small for extents of several pages.
    private func isScattered() throws(StorageError) -> Bool {
        let wasted = try FileUse(meta, cache).wasted
        if extent == .whole { return wasted > max(16, meta.pageCount / 32) }
        return wasted > max(Self.leastWaste, meta.pageCount / 4)
            && meta.pageCount - wasted <= Self.rewrittenPages
    }

    /// Steps 3 and 4. False if a version is read meanwhile.
    private mutating func shrink() throws(StorageError) -> Bool {
        for round in 0..<Self.rounds {
            if extent == .little, round > 0, try FileUse(meta, cache).wasted < leastWorth / 4 {
                break
            }
            let before = meta.pageCount
            guard try isAlone() else { return false }
            try moveExtents()
            guard try isAlone() else { return false }
            try commit { (transaction) throws(StorageError) in
                try transaction.pages.freeSpace?.trimFile(in: transaction.pages)
            }
            if meta.pageCount >= before { break }
        }
        return try isAlone()
    }

    /// Moves every extent to the file's end, one after the other, so that everything before is free
    /// and in one piece. The file grows by its content.
    private mutating func moveAllBehindTheEnd() throws(StorageError) {
        let limit = dirtyLimit
        try commit { (transaction) throws(StorageError) in
            let pages = transaction.pages
            guard let freeSpace = pages.freeSpace else { return }
            let free = try freeSpace.takeAll(in: pages)
            try transaction.trees.move(
                ExtentMove(
                    pages: pages, cut: 0, dirtyLimit: limit, movesLongValues: true,
                    growsFile: true))
            for run in free { try freeSpace.release(run.page, count: run.count, in: pages) }
        }
    }

    /// Whether no read-only attachment pins a version.
    private func isAlone() throws(StorageError) -> Bool {
        try coordinator.readOnlyPins().isEmpty
    }

    private var leastWorth: UInt64 { Self.leastWorth(in: meta) }

    private static func leastWorth(in meta: Meta) -> UInt64 { max(leastWaste, meta.pageCount / 16) }

    private mutating func releaseLog(keeping kept: Int) throws(StorageError) {
        let segments = meta.logMap.segments
        meta.logMap.segments = Array(segments.prefix(kept))
        let extent = extent
        try commit { (transaction) throws(StorageError) in
            for segment in segments.dropFirst(kept) {
                try transaction.pages.freeSpace?.release(
                    segment.page, count: Int(segment.pageCount), in: transaction.pages)
            }
            // Nobody is left who would need the records of earlier commits.
            if extent == .whole, try transaction.view.hasTree(SystemTree.records) {
                try transaction.dropTree(SystemTree.records)
            }
        }
    }

    /// The trees of step 2.
    private func treesToFill() throws(StorageError) -> [TreeID] {
        let reader = PageReader(cache, version: meta.version)
        let root = try Root(reading: meta.root, in: reader)
        return try Catalog(pages: reader, root: root.catalog, filePages: root.pageCount)
            .treesToFill(all: extent == .whole, .usual)
    }

    /// Step 2, in versions of so few extents that the single pages that one frees are little beside
    /// the file; the next one takes them.
    private mutating func fill(_ trees: inout [TreeID]) throws(StorageError) {
        let dirtyLimit = dirtyLimit
        let extentLimit = max(Self.filledExtents, Int(clamping: meta.pageCount / 32))
        while !trees.isEmpty {
            try commit { (transaction) throws(StorageError) in
                try transaction.trees.fill(
                    &trees, extentLimit: extentLimit, dirtyLimit: dirtyLimit)
            }
            guard try isAlone() else { return }
        }
    }

    private mutating func moveExtents() throws(StorageError) {
        let (extent, limit) = (extent, dirtyLimit)
        let movedPages = extent == .whole ? .max : Self.movedPages
        try commit { (transaction) throws(StorageError) in
            let pages = transaction.pages
            guard
                let cut = try pages.freeSpace?.cutFile(movingAtMost: movedPages, in: pages)
            else { return }
            try transaction.trees.move(
                ExtentMove(
                    pages: pages, cut: cut, dirtyLimit: limit,
                    movesLongValues: extent == .whole))
        }
    }

    /// Makes a version that holds the same as the last, and both metas of it.
    private mutating func commit(_ change: (WriteTransaction) throws(StorageError) -> Void)
        throws(StorageError)
    {
        try CurrentCall.checkInterruption()
        let store =
            if let store { store } else { try Store.aside(meta, cache, dirtyLimit: dirtyLimit) }
        self.store = store
        store.forgetRecords(upTo: meta.version)
        let transaction = try WriteTransaction(
            replayingIn: store, published: PublishedVersion(meta),
            version: coordinator.claimVersion(), pins: [], besides: nil, isPrivate: false)
        try change(transaction)
        let (record, total) = transaction.finishRecord()
        let published = try VersionBuilder(transaction).build(record, total: total)
        try transaction.pages.flush()
        Failpoint.reach(.compactionWritten)
        try cache.file.sync()
        meta.version = published.version
        meta.root = published.root
        meta.pageCount = published.fileSize / UInt64(Page.size)
        // First over the older one: pages that only it needs are written by now.
        for _ in 0..<2 {
            try MetaPage.write(meta, slot: try MetaPage.idleSlot(of: cache.file), to: cache.file)
        }
        coordinator.ring.publish(published)
        Failpoint.reach(.compactionDurable)
    }
}

/// The use of the pages of a file at rest.
struct FileUse {
    /// Pages of the file, as its meta counts them.
    let pages: UInt64
    /// Of them: pages that hold nothing but the log, and free ones.
    let wasted: UInt64

    /// O(regions of the file + freed runs).
    init(_ meta: Meta, _ cache: PageCache) throws(StorageError) {
        let reader = PageReader(cache, version: meta.version)
        let root = try Root(reading: meta.root, in: reader)
        var used = Page.firstData.rawValue
        for region in try FreeSpaceReader.regions(root.directory, in: reader) {
            used += UInt64(Page.perRegion - region.freePages)
        }
        for run in try RootPayload.runs(of: meta.root, in: reader) { used &-= UInt64(run.count) }
        for batch in try FreeSpaceReader.batches(root.batchList, in: reader) {
            for run in try FreeSpaceReader.batch(batch.ref, in: reader) {
                used &-= UInt64(run.count)
            }
        }
        for segment in meta.logMap.segments.dropFirst() { used &-= segment.pageCount }
        pages = meta.pageCount
        wasted = pages > used ? pages - used : 0
    }
}
