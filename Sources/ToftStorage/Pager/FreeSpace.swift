/// The free space of one version, while a writer changes it.
///
/// A page is in one of four states: free (its bit is 0); in use (its bit is 1 and the root reaches
/// it); freed (its bit is 1, a list of freed runs has it, and some pinned version is in its
/// lifetime); or *reclaimable*: freed, without a pinned version in its lifetime.
///
/// 1. Pins only ever move to versions that become visible, so reclaimable pages stay reclaimable.
/// 2. A transaction takes reclaimable pages first, and pages that it took and gives back are
///    reclaimable again. So a stream of small commits uses the same few pages in turn, and changes
///    no bitmap.
/// 3. When no reclaimable run is long enough, or there are many of them, all of them are *spilled*
///    to the bitmaps, and the transaction takes its pages from these from then on. It refills the
///    list with a few runs for the commits to come.
/// 4. The newest freed runs are in the root page. Bitmaps, directory and batches of runs are
///    extents like others, copied on write, see `finish`.
/// 5. A commit reads the runs that were freed since the last pin moved, never all free space:
///    batches that pins keep are skipped unread.
final class FreeSpace {
    struct Run: Equatable {
        var page: PageNumber
        var count: UInt32
        var birth: Version
        var death: Version
    }

    /// An extent full of runs.
    struct Batch {
        var ref: Ref
        /// A pin in [maxBirth, minDeath) keeps every run.
        var maxBirth: Version
        var minDeath: Version
        /// Each run was kept by the pins from the first to the last, `pinCount` versions. While
        /// that many are pinned there, nothing is reclaimable. 0: no pin kept the runs.
        var firstPin: Version
        var lastPin: Version
        var pinCount: UInt64
    }

    /// The probable lifetime of a page.
    enum Lifetime {
        /// For a commit or two.
        case short
        case long
    }

    /// The probable content of the bitmaps. Raw values are format.
    struct Supply: OptionSet {
        let rawValue: UInt64
        /// Runs of fewer than `PageRuns.fragmentPages` pages.
        static let fragments = Supply(rawValue: 1)
        /// Longer ones.
        static let runs = Supply(rawValue: 2)
    }

    /// The sources of pages: first the runs that the root lists, then the bitmaps.
    private enum Source {
        case reclaimable(ReclaimablePages)
        case bitmaps(BitmapAllocator)
    }

    /// Reclaimable runs at most, before they are spilled to the bitmaps.
    private static let reclaimableLimit = 64

    private var source: Source
    /// Runs that some pinned version may need.
    var freed: [Run] = []
    var batches: [Batch]
    var areBatchesChanged = false
    /// The versions whose pages stay, ascending, each once.
    private(set) var pins: [Version] = []
    private(set) var bitmapSupply: Supply = []
    /// The lifetime of allocations from now on; nil: judged by the replaced pages.
    var lifetime: Lifetime?
    /// The directory of regions of the version that this one builds on; nil in a new file.
    private let directory: Ref?
    /// Whether the version ends behind its last page in use.
    private(set) var trimsFile = false
    private let file: DataFile
    private let isPrivate: Bool
    /// Pages of the file, as the version knows it that this one builds on.
    private let basePages: UInt64

    /// Free space of a file whose pages are all free.
    init(file: DataFile) throws(StorageError) {
        self.file = file
        directory = nil
        isPrivate = false
        batches = []
        basePages = try file.size() / UInt64(Page.size)
        source = .bitmaps(BitmapAllocator(file: file, filePages: basePages))
    }

    /// Free space as a version left it, read through that version's pages.
    ///
    /// - Parameter isPrivate: nothing reaches the file, so it does not grow.
    init(
        file: DataFile, root: Root, at rootRef: Ref, in space: PageWriter,
        isPrivate: Bool = false
    ) throws(StorageError) {
        self.file = file
        self.isPrivate = isPrivate
        directory = root.directory
        basePages = root.pageCount
        bitmapSupply = root.bitmapSupply
        source = .reclaimable(ReclaimablePages())
        batches = try FreeSpaceReader.batches(root.batchList, in: space.reader)
        freed = try RootPayload.runs(of: rootRef, in: space.reader)
    }

    /// Pages that the file has.
    var filePages: UInt64 {
        if case .bitmaps(let bitmaps) = source { return bitmaps.filePages }
        return basePages
    }

    // MARK: Allocating and releasing

    /// Takes `count` pages in a row; grows the file if there is no such run.
    ///
    /// A commit writes contiguous pages several times faster than scattered ones. So pages that
    /// will be freed soon come from one run, which is whole again when they are freed; pages that
    /// will stay come from fragments, so that they do not break runs up.
    func allocate(_ count: Int, _ lifetime: Lifetime, in space: PageWriter) throws(StorageError)
        -> PageNumber
    {
        if case .reclaimable(let pages) = source,
            let page = pages.allocate(count, lifetime, besides: bitmapSupply)
        {
            return page
        }
        return try spillToBitmaps(in: space).allocate(count, lifetime, in: space)
    }

    /// The expected lifetime of pages that `version` writes in place of others, born in version
    /// `birth`: short, if those did not live long. 0 for new pages, whose lifetime is unknown.
    func expectedLifetime(after birth: Version, in version: Version) -> Lifetime {
        lifetime ?? (version &- birth <= 2 ? .short : .long)
    }

    /// Gives back at once pages that nobody else knows: this transaction took them, or they are
    /// reclaimable.
    func release(_ page: PageNumber, count: Int, in space: PageWriter) throws(StorageError) {
        guard page >= Page.firstData, page < Page.first(ofRegion: ExtentLimit.regions), count > 0,
            page + UInt64(count) <= PageNumber(filePages),
            Page.indexInRegion(page) + count <= Page.perRegion
        else { throw Self.notInUse(page) }
        switch source {
        case .bitmaps(let bitmaps): try bitmaps.release(page, count: count, in: space)
        case .reclaimable(let pages):
            guard pages.insert(page, count: count) else { throw Self.notInUse(page) }
            if pages.runCount > Self.reclaimableLimit { try spillToBitmaps(in: space) }
        }
    }

    static func notInUse(_ page: PageNumber) -> StorageError {
        .corrupt(page: page, reason: "pages were released that were not in use")
    }

    /// Notes pages of an earlier version that this one no longer needs.
    func addFreed(page: PageNumber, count: UInt32, birth: Version, death: Version) {
        if let last = freed.last, last.page + UInt64(last.count) == page, last.birth == birth,
            last.death == death, Page.region(of: last.page) == Page.region(of: page)
        {
            freed[freed.count - 1].count += count
        } else {
            freed.append(Run(page: page, count: count, birth: birth, death: death))
        }
    }

    // MARK: Lifetimes

    /// Makes every freed run reclaimable that no pin keeps. `pins` ascend, each once.
    /// O(runs in the root and in batches that lost a pin).
    func reclaim(pins: [Version], in space: PageWriter) throws(StorageError) {
        self.pins = pins
        try openBatches(in: space)
        let listed = freed
        freed = []
        freed.reserveCapacity(listed.count + 16)
        for run in listed {
            if run.death == space.version || Self.pin(keeping: run, of: pins) != nil {
                freed.append(run)
            } else {
                try release(run.page, count: Int(run.count), in: space)
            }
        }
    }

    /// Takes the runs out of the batches that lost a pin. They may be many, so they go to the
    /// bitmaps.
    private func openBatches(in space: PageWriter) throws(StorageError) {
        guard let first = batches.firstIndex(where: { !isKept($0) }) else { return }
        try spillToBitmaps(in: space)
        areBatchesChanged = true
        let unread = batches[first...]
        batches.removeSubrange(first...)
        for batch in unread {
            if isKept(batch) {
                batches.append(batch)
            } else {
                freed += try FreeSpaceReader.batch(batch.ref, in: space.reader)
                addFreed(
                    page: batch.ref.page, count: batch.ref.pageCount, birth: batch.ref.birth,
                    death: space.version)
            }
        }
    }

    private func isKept(_ batch: Batch) -> Bool {
        if Self.pin(from: batch.maxBirth, before: batch.minDeath, of: pins) != nil { return true }
        return batch.pinCount > 0
            && pinCount(from: batch.firstPin, through: batch.lastPin) >= batch.pinCount
    }

    /// Number of pinned versions from one to another. O(log pins).
    func pinCount(from first: Version, through last: Version) -> UInt64 {
        let low = Self.index(ofPinFrom: first, in: pins)
        let high = last == .max ? pins.count : Self.index(ofPinFrom: last + 1, in: pins)
        return UInt64(max(0, high - low))
    }

    /// The lowest pin that keeps a run.
    static func pin(keeping run: Run, of pins: [Version]) -> Version? {
        pin(from: run.birth, before: run.death, of: pins)
    }

    /// The lowest pin in [birth, death). `pins` ascend. O(log pins).
    static func pin(from birth: Version, before death: Version, of pins: [Version]) -> Version? {
        let index = Self.index(ofPinFrom: birth, in: pins)
        return index < pins.count && pins[index] < death ? pins[index] : nil
    }

    /// The index of the first pin that is not before `version`. O(log pins).
    static func index(ofPinFrom version: Version, in pins: [Version]) -> Int {
        var low = 0
        var high = pins.count
        while low < high {
            let middle = (low + high) / 2
            if pins[middle] < version { low = middle + 1 } else { high = middle }
        }
        return low
    }

    // MARK: The two sources

    /// The root page's part of free space.
    var runsOfRoot: [Run] {
        guard case .reclaimable(let pages) = source else { return refilled + freed }
        return pages.allRuns.map { Run(reclaimable: $0) } + freed
    }

    /// Reclaimable runs for the commits to come, taken from the bitmaps.
    private var refilled: [Run] = []

    /// Whether no bitmap was changed and the root page has room for all runs.
    func fitsRoot(_ runLimit: Int) -> Bool {
        guard case .reclaimable(let pages) = source else { return false }
        return pages.runCount + 1 + freed.count <= runLimit
    }

    /// Gives all reclaimable pages to the bitmaps, from which pages are taken from now on.
    @discardableResult
    func spillToBitmaps(in space: PageWriter) throws(StorageError) -> BitmapAllocator {
        switch source {
        case .bitmaps(let bitmaps): return bitmaps
        case .reclaimable(let pages):
            let bitmaps = BitmapAllocator(file: file, filePages: basePages, isPrivate: isPrivate)
            if let directory { try bitmaps.readRegions(directory, in: space) }
            source = .bitmaps(bitmaps)
            for run in pages.allRuns {
                try bitmaps.release(run.page, count: run.count, in: space)
            }
            return bitmaps
        }
    }

    /// Pages of long runs that the list gets, and pages of fragments; and runs of both at most.
    private static let refillPages = 256
    private static let refillFragments = 32
    static let refillRuns = refillPages / 16 + refillFragments

    /// Takes free pages for the commits to come from bitmaps that are in memory anyway.
    func refill(in space: PageWriter) throws(StorageError) {
        guard directory != nil, case .bitmaps(let bitmaps) = source else { return }
        bitmapSupply = [.fragments, .runs]
        var runs = PageRuns()
        var missing = Self.refillPages
        for length in [Self.refillPages, 64, 16] {
            while missing >= length, let page = try bitmaps.takeLoaded(length) {
                _ = runs.insert(page, count: length)
                missing -= length
            }
        }
        if missing > 0 { bitmapSupply.remove(.runs) }
        for _ in 0..<Self.refillFragments {
            guard let page = try bitmaps.takeLoadedFragment() else {
                bitmapSupply.remove(.fragments)
                break
            }
            _ = runs.insert(page, count: 1)
        }
        refilled = runs.runs.map { Run(reclaimable: $0) }
    }

    // MARK: Compaction

    /// The possible end of the file after at most `limit` of its last pages have moved to free
    /// ones, which are taken first from now on. The bitmaps among them move; the caller moves
    /// extents of trees. O(free space).
    func cutFile(movingAtMost limit: Int, in space: PageWriter) throws(StorageError) -> PageNumber {
        let bitmaps = try spillToBitmaps(in: space)
        let cut = try bitmaps.cut(movingAtMost: limit, besides: PageSet(), in: space).cut
        bitmaps.setLimit(cut)
        try bitmaps.relocate(from: cut, in: space)
        return cut
    }

    /// Plans a step beside readers. Freed pages that are still pinned do not count as moved, nor do
    /// the segments of the log. O(free space + freed runs).
    func planStep(movingAtMost limit: Int, _ log: [LogSegment], in space: PageWriter)
        throws(StorageError) -> StepPlan
    {
        let bitmaps = try spillToBitmaps(in: space)
        var kept = freed
        for batch in batches { kept += try FreeSpaceReader.batch(batch.ref, in: space.reader) }
        kept.removeAll { $0.isReclaimable }
        var fixed = PageSet()
        for run in kept { for page in 0..<UInt64(run.count) { fixed.insert(run.page + page) } }
        for segment in log {
            for page in 0..<segment.pageCount { fixed.insert(segment.page + page) }
        }
        let end = try bitmaps.usedEnd(in: space)
        var (cut, moving) = try bitmaps.cut(movingAtMost: limit, besides: fixed, in: space)
        cut = min(cut, PageNumber(end))
        bitmaps.setLimit(cut)
        let relocated = limit > 0 ? try bitmaps.relocate(from: cut, in: space) : 0
        trimsFile = true
        return StepPlan(
            usedEnd: end, cut: cut, pagesBehindCut: moving, relocatedPages: relocated,
            heldPages: kept.reduce(0) {
                $1.death == space.version ? $0 : $0 + UInt64($1.count)
            })
    }

    struct StepPlan {
        /// Behind the last page that is in use.
        var usedEnd: UInt64
        /// The possible end of the file.
        var cut: PageNumber
        /// Pages of extents behind it.
        var pagesBehindCut: Int
        /// Bitmaps among them that the commit writes to pages before it.
        var relocatedPages: Int
        /// Pages that only earlier versions need.
        var heldPages: UInt64
    }

    /// Takes all free pages of the file, so that the next allocations are behind its end.
    func takeAll(in space: PageWriter) throws(StorageError) -> [PageRuns.Run] {
        try spillToBitmaps(in: space).takeAll(butThoseIn: nil, in: space)
    }

    /// True if `count` pages in a row are free before the cut.
    func hasRun(of count: Int, in space: PageWriter) throws(StorageError) -> Bool {
        try spillToBitmaps(in: space).hasRun(of: count, in: space)
    }

    /// The file is to end behind the last page in use. O(free space).
    func trimFile(in space: PageWriter) throws(StorageError) {
        let bitmaps = try spillToBitmaps(in: space)
        bitmaps.setLimit(PageNumber(try bitmaps.usedEnd(in: space)))
        trimsFile = true
    }

    // MARK: Recovery beside read-only attachments

    /// Leaves pages alone that versions after the checkpoint may use: its free space calls them
    /// free. They count as freed, with a lifetime that ends after the newest of these versions.
    /// O(free space).
    func setAside(_ unlisted: UnlistedVersions, in space: PageWriter) throws(StorageError) {
        let bitmaps = try spillToBitmaps(in: space)
        let unused = unlisted.newest.flatMap { newest in
            try? FreeSpaceReader.unusedPages(
                of: newest.root, pins: unlisted.pins,
                in: PageReader(space.cache, version: newest.version))
        }
        for run in try bitmaps.takeAll(butThoseIn: unused, in: space) {
            addFreed(
                page: run.page, count: UInt32(truncatingIfNeeded: run.count),
                birth: unlisted.lifetime.lowerBound, death: unlisted.lifetime.upperBound)
        }
    }
}

/// Versions after the newest checkpoint that were published and lost their writers: read-only
/// attachments may still read them, but the checkpoint's free space does not list their pages.
struct UnlistedVersions {
    /// From the checkpoint to the newest of them.
    var lifetime: Range<Version>
    /// The newest of them; its free space says which pages all of them leave unused. Nil: unknown,
    /// so every page of the file may be in use.
    var newest: PublishedVersion?
    /// The versions that the attachments have pinned, ascending.
    var pins: [Version]
}

/// Pages that a transaction may take without reading a bitmap.
final class ReclaimablePages {
    private var runs = PageRuns()
    /// The run from which short-lived pages are being allocated.
    private var shortLived = PageRuns.Run(page: 0, count: 0)

    /// Not counting the one of the short-lived pages.
    var runCount: Int { runs.count }

    var allRuns: [PageRuns.Run] {
        closeShortLivedRun()
        return runs.runs
    }

    /// Nil if no run is long enough, or the bitmaps have a better one.
    func allocate(_ count: Int, _ lifetime: FreeSpace.Lifetime, besides supply: FreeSpace.Supply)
        -> PageNumber?
    {
        if lifetime == .short { return allocateShortLived(count, besides: supply) }
        if let page = runs.takeFromFragment(count) { return page }
        return supply.contains(.fragments) && count == 1 ? nil : runs.takeFromLongest(count)
    }

    private func allocateShortLived(_ count: Int, besides supply: FreeSpace.Supply) -> PageNumber? {
        if shortLived.count < count {
            closeShortLivedRun()
            let length = supply.contains(.runs) ? max(count, PageRuns.fragmentPages) : count
            guard let next = runs.takeRun(of: length) else { return nil }
            shortLived = next
        }
        defer { shortLived.dropFirst(count) }
        return shortLived.page
    }

    private func closeShortLivedRun() {
        if shortLived.count > 0 { _ = runs.insert(shortLived.page, count: shortLived.count) }
        shortLived = PageRuns.Run(page: 0, count: 0)
    }

    /// Adds pages of one region. False if it had some of them already.
    func insert(_ page: PageNumber, count: Int) -> Bool { runs.insert(page, count: count) }
}

extension FreeSpace.Run {
    /// Pages that no version needs.
    init(reclaimable run: PageRuns.Run) {
        self.init(page: run.page, count: UInt32(truncatingIfNeeded: run.count), birth: 0, death: 1)
    }

    /// Whether no version can need it.
    var isReclaimable: Bool { death == 1 }

    /// Reads a run of the list on `listPage`, and refuses one that cannot be: the pages of a run
    /// are some of one region, and it died after it was born.
    init(validating bytes: UnsafeRawPointer, on listPage: PageNumber) throws(StorageError) {
        self.init(decoding: bytes)
        guard Page.isRun(page, count: count), birth < death else {
            throw .corrupt(
                page: listPage,
                reason: "it lists a freed run of \(count) pages at page \(page), versions "
                    + "\(birth) to \(death)")
        }
    }

    private init(decoding bytes: UnsafeRawPointer) {
        page = bytes.uint64(at: FreedRunLayout.page)
        count = UInt32(truncatingIfNeeded: bytes.uint32(at: FreedRunLayout.count))
        birth = bytes.uint64(at: FreedRunLayout.birth)
        death = bytes.uint64(at: FreedRunLayout.death)
    }

    func encode(to bytes: UnsafeMutableRawPointer) {
        bytes.storeUInt64(page, at: FreedRunLayout.page)
        bytes.storeUInt64(UInt64(count), at: FreedRunLayout.count)
        bytes.storeUInt64(birth, at: FreedRunLayout.birth)
        bytes.storeUInt64(death, at: FreedRunLayout.death)
    }
}

extension FreeSpace.Batch {
    init(decoding bytes: UnsafeRawPointer) {
        ref = Ref(decoding: bytes + FreedBatchLayout.ref)
        maxBirth = bytes.uint64(at: FreedBatchLayout.maxBirth)
        minDeath = bytes.uint64(at: FreedBatchLayout.minDeath)
        firstPin = bytes.uint64(at: FreedBatchLayout.firstPin)
        lastPin = bytes.uint64(at: FreedBatchLayout.lastPin)
        pinCount = bytes.uint64(at: FreedBatchLayout.pinCount)
    }

    func encode(to bytes: UnsafeMutableRawPointer) {
        ref.encode(to: bytes + FreedBatchLayout.ref)
        bytes.storeUInt64(maxBirth, at: FreedBatchLayout.maxBirth)
        bytes.storeUInt64(minDeath, at: FreedBatchLayout.minDeath)
        bytes.storeUInt64(firstPin, at: FreedBatchLayout.firstPin)
        bytes.storeUInt64(lastPin, at: FreedBatchLayout.lastPin)
        bytes.storeUInt64(pinCount, at: FreedBatchLayout.pinCount)
    }
}
