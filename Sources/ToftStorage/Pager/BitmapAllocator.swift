/// Takes pages from the bitmaps of the regions, which it reads as it needs them.
final class BitmapAllocator {
    struct Region {
        /// Nil: a new region, whose bitmap is in memory only.
        var ref: Ref?
        var freePages: Int
        var bitmap: Bitmap?
    }

    /// Free pages in a row, from which extents are taken one after the other.
    private struct AllocationWindow {
        let length: Int
        var region = 0
        var pages = 0..<0

        init(length: Int) { self.length = length }

        /// Forgets pages that were taken in another way.
        mutating func forget(_ taken: Range<Int>, of region: Int) {
            if region == self.region && pages.overlaps(taken) { pages = 0..<0 }
        }
    }

    @exclusivity(unchecked) var regions: [Region] = []  // these change with every page
    /// Pages that the file has, or will have if it is not written at all.
    @exclusivity(unchecked) private(set) var filePages: UInt64
    @exclusivity(unchecked) private var shortLived = AllocationWindow(
        length: PageRuns.fragmentPages)
    @exclusivity(unchecked) private var longLived = AllocationWindow(length: 64)
    /// For each region the pages of the longest run and of the longest fragment, or an upper bound
    /// while its bitmap is unread.
    @exclusivity(unchecked) private var runs = FirstFit()
    @exclusivity(unchecked) private var fragments = FirstFit()
    /// The regions whose bitmaps are in memory, ascending.
    private var loaded: [Int] = []
    /// Pages from here on are taken only if no earlier ones are free.
    private var limit = UInt64.max
    private let file: DataFile
    /// The file does not grow: its new pages stay in memory.
    private let isPrivate: Bool

    init(file: DataFile, filePages: UInt64, isPrivate: Bool = false) {
        self.file = file
        self.filePages = filePages
        self.isPrivate = isPrivate
    }

    func readRegions(_ directory: Ref, in space: PageWriter) throws(StorageError) {
        for region in try FreeSpaceReader.regions(directory, in: space.reader) {
            add(Region(ref: region.bitmap, freePages: region.freePages, bitmap: nil))
        }
    }

    // MARK: Allocating

    /// Takes `count` pages in a row; grows the file if there is no such run. O(log pages of the
    /// file), plus reading bitmaps for the first time.
    func allocate(_ count: Int, _ lifetime: FreeSpace.Lifetime, in space: PageWriter)
        throws(StorageError) -> PageNumber
    {
        if lifetime == .long, count < PageRuns.fragmentPages,
            let place = try lowestFragment(of: count, in: space)
        {
            return try take(place.start, count, region: place.region)
        }
        if let page = try allocateInWindow(lifetime, count, in: space) { return page }
        while true {
            if let place = try lowestRun(of: count, in: space) {
                return try take(place.start, count, region: place.region)
            }
            guard regions.count < ExtentLimit.regions else { throw .fileTooLarge(path: file.path) }
            addRegion()
        }
    }

    private func addRegion() {
        loaded.append(regions.count)
        add(Region(ref: nil, freePages: Page.perRegion, bitmap: Bitmap()))
    }

    private func add(_ region: Region) {
        regions.append(region)
        runs.append(region.freePages)
        fragments.append(region.freePages)
    }

    /// Updates the allocator's summary of a region whose bitmap is in memory.
    private func note(_ index: Int, _ bitmap: Bitmap) {
        regions[index].freePages = bitmap.freePages
        runs[index] = bitmap.longestRun
        fragments[index] = bitmap.longestFragment
    }

    private func allocateInWindow(
        _ lifetime: FreeSpace.Lifetime, _ count: Int, in space: PageWriter
    ) throws(StorageError) -> PageNumber? {
        var window = lifetime == .long ? longLived : shortLived
        guard count <= window.length else { return nil }
        if window.pages.count < count { try open(&window, in: space) }
        let start = window.pages.lowerBound
        let isFound = window.pages.count >= count
        if isFound { window.pages = (start + count)..<window.pages.upperBound }
        if lifetime == .long { longLived = window } else { shortLived = window }
        return isFound ? try take(start, count, region: window.region) : nil
    }

    /// Looks for a run within the file from which extents are then taken one after the other.
    private func open(_ window: inout AllocationWindow, in space: PageWriter) throws(StorageError) {
        guard let place = try lowestRun(of: window.length, in: space),
            place.start + window.length <= presentPages(place.region)
        else { return }
        window.region = place.region
        window.pages = place.start..<(place.start + window.length)
    }

    /// The lowest run of `count` pages, even if it reaches beyond the file's end.
    private func lowestRun(of count: Int, in space: PageWriter) throws(StorageError) -> (
        region: Int, start: Int
    )? {
        while let index = runs.first(atLeast: count) {
            let bitmap = try bitmap(index, in: space)
            if let start = bitmap.run(of: count, below: Page.perRegion) { return (index, start) }
            note(index, bitmap)
        }
        return nil
    }

    /// The lowest fragment of `count` pages or more within the file.
    private func lowestFragment(of count: Int, in space: PageWriter) throws(StorageError) -> (
        region: Int, start: Int
    )? {
        while let index = fragments.first(atLeast: count), presentPages(index) > 0 {
            let bitmap = try bitmap(index, in: space)
            if let start = bitmap.fragment(of: count, below: Page.perRegion) {
                return start + count <= presentPages(index) ? (index, start) : nil
            }
            note(index, bitmap)
        }
        return nil
    }

    /// True if `count` pages in a row are free before the limit.
    func hasRun(of count: Int, in space: PageWriter) throws(StorageError) -> Bool {
        guard let place = try lowestRun(of: count, in: space) else { return false }
        return place.start + count <= presentPages(place.region)
    }

    /// Takes pages in a row within the file, from a bitmap that is in memory. Nil if there is no
    /// such run.
    func takeLoaded(_ count: Int) throws(StorageError) -> PageNumber? {
        for index in loaded where runs[index] >= count {
            if let start = regions[index].bitmap?.run(of: count, below: presentPages(index)) {
                return try take(start, count, region: index)
            }
        }
        return nil
    }

    /// Takes one page of a fragment, from a bitmap that is in memory.
    func takeLoadedFragment() throws(StorageError) -> PageNumber? {
        for index in loaded where fragments[index] > 0 {
            if let start = regions[index].bitmap?.fragment(of: 1, below: presentPages(index)) {
                return try take(start, 1, region: index)
            }
        }
        return nil
    }

    /// Takes all free pages of the file except those that are free in `others`, the bitmaps of the
    /// same regions; nil excepts no page. Returns them.
    func takeAll(butThoseIn others: [Bitmap]?, in space: PageWriter) throws(StorageError)
        -> [PageRuns.Run]
    {
        filePages = max(filePages, try file.size() / UInt64(Page.size))
        while presentPages(regions.count) > 0 { addRegion() }
        var taken: [PageRuns.Run] = []
        for index in regions.indices {
            let unused = others.flatMap { index < $0.count ? $0[index] : nil } ?? Bitmap()
            for run in try bitmap(index, in: space).freeRuns(below: presentPages(index))
            where run.count > 0 {
                let used =
                    others == nil
                    ? [run] : unused.usedRuns(in: run)
                for pages in used {
                    let page = try take(pages.lowerBound, pages.count, region: index)
                    taken.append(PageRuns.Run(page: page, count: pages.count))
                }
            }
        }
        return taken
    }

    private func take(_ start: Int, _ count: Int, region: Int) throws(StorageError) -> PageNumber {
        guard let bitmap = regions[region].bitmap, bitmap.take(start, count: count) else {
            throw .corrupt(
                page: Page.first(ofRegion: region) + UInt64(start),
                reason: "pages that are in use were to be taken")
        }
        shortLived.forget(start..<(start + count), of: region)
        longLived.forget(start..<(start + count), of: region)
        note(region, bitmap)
        return try ensurePresent(Page.first(ofRegion: region) + UInt64(start), count: count)
    }

    // MARK: Releasing

    func release(_ page: PageNumber, count: Int, in space: PageWriter) throws(StorageError) {
        let index = Page.region(of: page), start = Page.indexInRegion(page)
        guard page >= Page.firstData, index < regions.count, start + count <= Page.perRegion else {
            throw FreeSpace.notInUse(page)
        }
        let bitmap = try bitmap(index, in: space)
        guard bitmap.release(start, count: count) else { throw FreeSpace.notInUse(page) }
        note(index, bitmap)
    }

    // MARK: The file

    /// Pages of a region that the file has, up to the limit.
    private func presentPages(_ region: Int) -> Int {
        let first = Page.first(ofRegion: region).rawValue
        let end = min(filePages, limit)
        return end > first ? Int(min(end - first, UInt64(Page.perRegion))) : 0
    }

    private func ensurePresent(_ page: PageNumber, count: Int) throws(StorageError) -> PageNumber {
        let needed = page.rawValue + UInt64(count)
        if needed > filePages {
            let step = max(64, min(filePages / 32, 1024))
            let target = (needed + step - 1) / step * step
            if !isPrivate { try grow(to: target) }
            filePages = target
        }
        return page
    }

    // MARK: Compaction

    /// Prefers pages before this one. To be called before any is taken.
    func setLimit(_ page: PageNumber) { limit = page.rawValue }

    /// Behind the last page that is in use.
    func usedEnd(in space: PageWriter) throws(StorageError) -> UInt64 {
        for index in regions.indices.reversed() where regions[index].freePages < Page.perRegion {
            let first = Page.first(ofRegion: index).rawValue
            return first + UInt64(try bitmap(index, in: space).usedEnd)
        }
        return Page.firstData.rawValue
    }

    /// Counts the file's pages up to the last in use.
    func trimFile(in space: PageWriter) throws(StorageError) {
        filePages = min(filePages, try usedEnd(in: space))
    }

    /// The possible end of the file if at most `limit` of its last pages moved to free ones before,
    /// not counting those in `fixed`, and the number of pages to move.
    func cut(movingAtMost limit: Int, besides fixed: PageSet, in space: PageWriter)
        throws(StorageError) -> (cut: PageNumber, moving: Int)
    {
        let used = regions.reduce(0) { $0 + Page.perRegion - $1.freePages }
        // Extents of several pages do not fill all gaps.
        let least = Page.firstData + UInt64(used + used / 64 + 16)
        var moved = 0
        for index in regions.indices.reversed() where regions[index].freePages < Page.perRegion {
            let bitmap = try bitmap(index, in: space)
            for word in (0..<BitmapLayout.words).reversed() {
                let start = Page.first(ofRegion: index) + UInt64(word * 64)
                let used = (bitmap.word(word) & ~fixed.word(from: start)).nonzeroBitCount
                if start <= least { return (least, moved) }
                if moved + used > limit { return (start + 64, moved) }
                moved += used
            }
        }
        return (least, moved)
    }

    /// Rewrites the bitmaps behind the limit, if pages are free before it. Returns their number.
    @discardableResult
    func relocate(from cut: PageNumber, in space: PageWriter) throws(StorageError) -> Int {
        guard try hasRun(of: 1, in: space) else { return 0 }
        var count = 0
        for index in regions.indices where regions[index].ref.map({ $0.page >= cut }) ?? false {
            try bitmap(index, in: space).isDirty = true
            count += 1
        }
        return count
    }

    private func grow(to pages: UInt64) throws(StorageError) {
        try file.grow(to: pages * UInt64(Page.size))
    }

    private func bitmap(_ index: Int, in space: PageWriter) throws(StorageError) -> Bitmap {
        if let bitmap = regions[index].bitmap { return bitmap }
        guard let ref = regions[index].ref else {
            throw .corrupt(page: 0, reason: "a region has no bitmap")
        }
        let bitmap = Bitmap(page: try space.view(ref, as: .bitmap))
        guard bitmap.freePages == regions[index].freePages else {
            throw .corrupt(
                page: ref.page,
                reason:
                    "a bitmap has \(bitmap.freePages) free pages, its directory says "
                    + "\(regions[index].freePages)"
            )
        }
        regions[index].bitmap = bitmap
        loaded.insert(index, at: loaded.firstIndex { $0 > index } ?? loaded.count)
        return bitmap
    }
}
