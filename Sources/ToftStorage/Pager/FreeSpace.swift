/// The free space of one version, while a writer changes it.
///
/// A page is in one of four states: free (its bit is 0), in use (its bit is 1 and the root reaches
/// it), freed but still pinned (its bit is 1 and it stands in a list of freed runs with its
/// lifetime), or *ready*: it stands there, and nobody needs it any more.
///
/// 1. A run with lifetime [birth, death) becomes ready when no pinned version lies in it. Pins only
///    ever move to the versions that become visible, so what is ready stays so.
/// 2. A transaction takes ready pages first, and what it took and gives back is ready again. So in
///    a stream of small commits the same few pages are used in turn, and no bitmap changes.
/// 3. When nothing ready fits, or runs get too many, all that is ready is *folded* into the
///    bitmaps, and from then on the transaction takes its pages from these. It puts a run, and some
///    holes, by for the commits to come.
/// 4. The newest runs lie in the root page. Bitmaps, directory and batches of runs are extents like
///    others, copied on write: `finish` gives the changed ones new places, which may change further
///    bitmaps, until nothing changes any more.
/// 5. A commit reads the runs of the commits since the last pin moved, never all free space: full
///    batches behind a pin are skipped unread.
final class FreeSpace {
    struct Run: Equatable {
        var page: UInt64
        var count: UInt32
        var birth: UInt64
        var death: UInt64
    }

    /// An extent full of runs.
    struct Batch {
        var ref: Ref
        var maxBirth: UInt64
        var minDeath: UInt64
        var pages: UInt64
    }

    struct Region {
        var ref: Ref?
        var freePages: Int
        var bitmap: Bitmap?
    }

    /// How long a page will be needed.
    enum Life {
        /// Until the next commit, or nearly.
        case short
        case long
    }

    /// Places that pages can be taken from. Raw values are format.
    struct Places: OptionSet {
        let rawValue: UInt64
        static let holes = Places(rawValue: 1)
        static let runs = Places(rawValue: 2)
    }

    /// Ready runs at most, before they are folded.
    private static let readyLimit = 64

    /// Set when the commit begins to write what lives for one version only.
    @exclusivity(unchecked) var isBookkeeping = false
    /// What the bitmaps have besides what is ready.
    @exclusivity(unchecked) private(set) var bitmapsHave: Places = []
    /// Whether pages are taken from the bitmaps. `regions` is empty before.
    @exclusivity(unchecked) private(set) var isFolded: Bool
    @exclusivity(unchecked) private(set) var ready = PageRuns()
    /// Of what is ready, the run that pages are taken from which live shortly.
    @exclusivity(unchecked) private var run = PageRuns.Run(page: 0, count: 0)
    /// Runs that some version still needs.
    @exclusivity(unchecked) var waiting: [Run] = []
    @exclusivity(unchecked) var batches: [Batch]
    @exclusivity(unchecked) var areBatchesChanged = false
    /// The versions whose pages stay, ascending.
    @exclusivity(unchecked) private(set) var pins: [UInt64] = []
    @exclusivity(unchecked) var regions: [Region] = []
    /// Where the bitmaps take from, see `FreeSpace+Bitmaps.swift`.
    @exclusivity(unchecked) var windows = (short: Window(length: 12), long: Window(length: 64))
    /// A bit for each number of pages: whether holes for so many may be left.
    @exclusivity(unchecked) var mayHaveHoles = UInt32.max
    /// Pages that the file is known to have.
    @exclusivity(unchecked) var filePages: UInt64
    let file: MappedFile
    /// The directory of the version that this one builds on; nil in a new file.
    private let directory: Ref?
    /// Where nobody knows who looks at the pages that the file has: the first that may be taken.
    let firstOwnPage: UInt64?
    /// The file does not grow: its new pages stay in memory.
    let isPrivate: Bool

    /// Free space of a file that has none of it in use yet.
    init(file: MappedFile) throws(StorageError) {
        self.file = file
        directory = nil
        firstOwnPage = nil
        isPrivate = false
        isFolded = true
        batches = []
        filePages = try file.size() / UInt64(Page.size)
    }

    /// Free space as a version left it, read through that version's pages.
    init(
        file: MappedFile, root: Root, at rootRef: Ref, in space: PageSpace,
        growsOnly: Bool = false, isPrivate: Bool = false
    ) throws(StorageError) {
        self.file = file
        self.isPrivate = isPrivate
        directory = root.directory
        filePages =
            growsOnly ? max(root.pageCount, try file.size() / UInt64(Page.size)) : root.pageCount
        firstOwnPage = growsOnly ? filePages : nil
        isFolded = false
        bitmapsHave = root.bitmapsHave
        batches = try FreeSpaceReader.batches(root.batchList, in: space)
        waiting = try RootTail.runs(of: rootRef, in: space)
        if growsOnly { try fold(in: space) }
    }

    // MARK: Taking and giving pages

    /// Takes `count` pages in a row, growing the file when none are free.
    ///
    /// A commit writes pages that lie together several times faster than scattered ones, so there
    /// are two kinds of places. What lives for one version comes from runs, and leaves them whole
    /// when it goes; what the next commits will hardly change fills holes, so that it does not
    /// break the runs up.
    func allocate(_ count: Int, _ life: Life, in space: PageSpace) throws(StorageError) -> UInt64 {
        if !isFolded {
            if let page = takeReady(count, life) { return page }
            try fold(in: space)
        }
        return try allocateFromBitmaps(count, life, in: space)
    }

    private func takeReady(_ count: Int, _ life: Life) -> UInt64? {
        if life == .short { return takeFromRun(count) }
        if let page = ready.takeFromHole(count) { return page }
        return bitmapsHave.contains(.holes) && count == 1 ? nil : ready.takeFromLongest(count)
    }

    /// Pages that live shortly follow each other in the same run: when they go together, that run
    /// is there again.
    private func takeFromRun(_ count: Int) -> UInt64? {
        if run.count < count {
            leaveRun()
            let length = bitmapsHave.contains(.runs) ? max(count, PageRuns.holePages) : count
            guard let next = ready.takeRun(of: length) else { return nil }
            run = next
        }
        defer { run.dropFirst(count) }
        return run.page
    }

    private func leaveRun() {
        if run.count > 0 { _ = ready.insert(run.page, count: run.count) }
        run = PageRuns.Run(page: 0, count: 0)
    }

    /// How long pages will probably be needed that `version` writes in place of others, born in
    /// version `birth`: shortly, if those did not live long. 0 for new ones, of which nothing is
    /// known.
    func life(after birth: UInt64, in version: UInt64) -> Life {
        isBookkeeping || version &- birth <= 2 ? .short : .long
    }

    /// Gives back at once pages that nobody else knows: this transaction took them, or they are
    /// ready.
    func release(_ page: UInt64, count: Int, in space: PageSpace) throws(StorageError) {
        if isFolded { return try releaseToBitmap(page, count: count, in: space) }
        guard page >= Page.firstData, page < Page.first(ofRegion: ExtentLimit.regions), count > 0,
            page + UInt64(count) <= filePages,
            Page.indexInRegion(page) + count <= Page.perRegion, ready.insert(page, count: count)
        else {
            throw .corrupt(page: page, reason: "pages were given back that were not in use")
        }
        if ready.count > Self.readyLimit { try fold(in: space) }
    }

    /// Notes pages of an earlier version that this one no longer needs.
    func addFreed(page: UInt64, count: UInt32, birth: UInt64, death: UInt64) {
        if let last = waiting.last, last.page + UInt64(last.count) == page, last.birth == birth,
            last.death == death,
            Page.region(of: last.page) == Page.region(of: page)
        {
            waiting[waiting.count - 1].count += count
        } else {
            waiting.append(Run(page: page, count: count, birth: birth, death: death))
        }
    }

    // MARK: Lifetimes

    /// Looks through the lists for what no pin needs any more. `pins` is sorted.
    func ripen(pins: [UInt64], in space: PageSpace) throws(StorageError) {
        self.pins = pins
        try openBatches(in: space)
        let listed = waiting
        waiting = []
        waiting.reserveCapacity(listed.count + 16)
        for run in listed {
            if run.death == space.version || pin(of: run) != nil {
                waiting.append(run)
            } else {
                try release(run.page, count: Int(run.count), in: space)
            }
        }
    }

    /// Takes the runs out of the batches that no pin keeps. They may be many, so they go to the
    /// bitmaps.
    private func openBatches(in space: PageSpace) throws(StorageError) {
        guard let first = batches.firstIndex(where: { !isPinned($0) }) else { return }
        try fold(in: space)
        areBatchesChanged = true
        let unread = batches[first...]
        batches.removeSubrange(first...)
        for batch in unread {
            if isPinned(batch) {
                batches.append(batch)
            } else {
                waiting += try FreeSpaceReader.batch(batch.ref, in: space)
                addFreed(
                    page: batch.ref.page, count: batch.ref.pageCount, birth: batch.ref.birth,
                    death: space.version)
            }
        }
    }

    private func isPinned(_ batch: Batch) -> Bool {
        Self.pin(from: batch.maxBirth, before: batch.minDeath, of: pins) != nil
    }

    /// The lowest pin that keeps a run.
    func pin(of run: Run) -> UInt64? { Self.pin(from: run.birth, before: run.death, of: pins) }

    static func pin(from birth: UInt64, before death: UInt64, of pins: [UInt64]) -> UInt64? {
        var low = 0
        var high = pins.count
        while low < high {
            let middle = (low + high) / 2
            if pins[middle] < birth { low = middle + 1 } else { high = middle }
        }
        return low < pins.count && pins[low] < death ? pins[low] : nil
    }

    // MARK: Folding

    /// What the root page is to hold of free space.
    var runsOfRoot: [Run] {
        leaveRun()
        return ready.runs.map { Run(ready: $0) } + waiting
    }

    /// Gives everything that is ready to the bitmaps, from which pages are taken from now on.
    func fold(in space: PageSpace) throws(StorageError) {
        guard !isFolded else { return }
        isFolded = true
        leaveRun()
        if let directory {
            regions = try FreeSpaceReader.regions(directory, in: space).map {
                Region(ref: $0.bitmap, freePages: $0.freePages, bitmap: nil)
            }
        }
        for run in ready.runs { try releaseToBitmap(run.page, count: run.count, in: space) }
        ready = PageRuns()
    }

    /// Pages in a row that are put by, and pages of holes; and runs of both at most.
    private static let reserve = 256
    private static let reserveOfHoles = 32
    static let reserveRuns = reserve / 16 + reserveOfHoles

    /// Puts free pages by for the commits to come, from bitmaps that were looked into anyway.
    func putReserveBy(in space: PageSpace) throws(StorageError) {
        guard firstOwnPage == nil, directory != nil else { return }
        bitmapsHave = [.holes, .runs]
        var missing = Self.reserve
        for length in [Self.reserve, 64, 16] {
            while missing >= length, let page = try takeKnown(length) {
                _ = ready.insert(page, count: length)
                missing -= length
            }
        }
        if missing > 0 { bitmapsHave.remove(.runs) }
        for _ in 0..<Self.reserveOfHoles {
            guard let page = try takeKnownHole() else {
                bitmapsHave.remove(.holes)
                return
            }
            _ = ready.insert(page, count: 1)
        }
    }
}

extension FreeSpace.Run {
    /// Pages that nobody needs.
    init(ready run: PageRuns.Run) {
        self.init(page: run.page, count: UInt32(truncatingIfNeeded: run.count), birth: 0, death: 1)
    }

    /// Whether no version can need it.
    var isReady: Bool { death == 1 }

    /// Reads a run of the list on `listPage`, and refuses one that cannot be: the pages of a run are
    /// some of one region, and it died after it was born.
    init(validating bytes: UnsafeRawPointer, on listPage: UInt64) throws(StorageError) {
        self.init(decoding: bytes)
        guard Page.isRun(page, count: count), birth < death else {
            throw .corrupt(
                page: listPage,
                reason: "it lists a freed run of \(count) pages at page \(page), versions "
                    + "\(birth) to \(death)")
        }
    }

    private init(decoding bytes: UnsafeRawPointer) {
        page = UInt64(
            littleEndian: bytes.loadUnaligned(fromByteOffset: FreedRunLayout.page, as: UInt64.self))
        count = UInt32(
            littleEndian: bytes.loadUnaligned(fromByteOffset: FreedRunLayout.count, as: UInt32.self)
        )
        birth = UInt64(
            littleEndian: bytes.loadUnaligned(fromByteOffset: FreedRunLayout.birth, as: UInt64.self)
        )
        death = UInt64(
            littleEndian: bytes.loadUnaligned(fromByteOffset: FreedRunLayout.death, as: UInt64.self)
        )
    }

    func encode(to bytes: UnsafeMutableRawPointer) {
        bytes.storeBytes(of: page.littleEndian, toByteOffset: FreedRunLayout.page, as: UInt64.self)
        bytes.storeBytes(
            of: UInt64(count).littleEndian, toByteOffset: FreedRunLayout.count, as: UInt64.self)
        bytes.storeBytes(
            of: birth.littleEndian, toByteOffset: FreedRunLayout.birth, as: UInt64.self)
        bytes.storeBytes(
            of: death.littleEndian, toByteOffset: FreedRunLayout.death, as: UInt64.self)
    }
}

extension FreeSpace.Batch {
    init(decoding bytes: UnsafeRawPointer) {
        ref = Ref(decoding: bytes + FreedBatchLayout.ref)
        maxBirth = UInt64(
            littleEndian: bytes.loadUnaligned(
                fromByteOffset: FreedBatchLayout.maxBirth, as: UInt64.self))
        minDeath = UInt64(
            littleEndian: bytes.loadUnaligned(
                fromByteOffset: FreedBatchLayout.minDeath, as: UInt64.self))
        pages = UInt64(
            littleEndian: bytes.loadUnaligned(
                fromByteOffset: FreedBatchLayout.pages, as: UInt64.self))
    }

    func encode(to bytes: UnsafeMutableRawPointer) {
        ref.encode(to: bytes + FreedBatchLayout.ref)
        bytes.storeBytes(
            of: maxBirth.littleEndian, toByteOffset: FreedBatchLayout.maxBirth, as: UInt64.self)
        bytes.storeBytes(
            of: minDeath.littleEndian, toByteOffset: FreedBatchLayout.minDeath, as: UInt64.self)
        bytes.storeBytes(
            of: pages.littleEndian, toByteOffset: FreedBatchLayout.pages, as: UInt64.self)
    }
}
