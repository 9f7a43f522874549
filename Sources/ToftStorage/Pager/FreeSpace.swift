/// The free space of one version, while a writer changes it.
///
/// A page is in one of three states: free (its bit is 0), in use (its bit is 1 and the root reaches it), or freed but still pinned
/// (its bit is 1 and it stands in the list of freed runs with its lifetime).
///
/// 1. A run with lifetime [birth, death) becomes free only when no pinned version lies in it.
/// 2. Bitmaps, directory and list are extents like others, copied on write: `finish` gives the changed ones new places, which may change
///    further bitmaps, until nothing changes any more.
/// 3. A commit reads the runs of the commits since the last pin moved, never all free space: full batches behind a pin are skipped unread.
final class FreeSpace {
    struct Run {
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

    private struct Region {
        var ref: Ref?
        var freePages: Int
        var bitmap: Bitmap?
    }

    /// Runs that the list extent itself holds before they are moved into a batch.
    static let inlineRuns = 240
    /// Runs of a batch: a whole extent of 32 pages.
    static let batchRuns = (32 * Page.size - ExtentHeader.payloadStart(.freedBatch, pageCount: 32)) / FreedRunLayout.size

    /// Free pages in a row, from which extents are taken one after the other.
    private struct Window {
        var region = 0
        var pages = 0..<0
        /// No run so long, or longer, is left.
        var lengthThatIsMissing = Int.max
    }

    /// Shorter runs of free pages are holes.
    private static let holePages = 12
    /// Runs that the user's data may break up.
    private static let runPages = 64

    /// Set when the commit begins to write what lives for one version only.
    var isBookkeeping = false {
        didSet { window = Window() }
    }
    /// A bit for each number of pages: whether holes for so many may be left.
    private var mayHaveHoles = UInt32.max
    private var regions: [Region] = []
    private var window = Window()
    private var runs: [Run] = []
    private var batches: [Batch] = []
    /// Pages that the file is known to have.
    private(set) var filePages: UInt64
    private let file: any StorageFile
    /// Where nobody knows who looks at the pages that the file has: the first that may be taken.
    private let firstOwnPage: UInt64?
    /// The file does not grow: its new pages stay in memory.
    private let isPrivate: Bool

    /// Free space of a file that has none of it in use yet.
    init(file: any StorageFile) throws(StorageError) {
        self.file = file
        firstOwnPage = nil
        isPrivate = false
        filePages = try file.size() / UInt64(Page.size)
    }

    /// Free space as a version left it, read through that version's pages.
    init(
        file: any StorageFile, root: Root, in space: PageSpace, growsOnly: Bool = false, isPrivate: Bool = false
    ) throws(StorageError) {
        self.file = file
        self.isPrivate = isPrivate
        filePages = growsOnly ? max(root.pageCount, try file.size() / UInt64(Page.size)) : root.pageCount
        firstOwnPage = growsOnly ? filePages : nil
        regions = try FreeSpaceReader.regions(root.directory, in: space).map { Region(ref: $0.bitmap, freePages: $0.freePages, bitmap: nil) }
        (batches, runs) = try FreeSpaceReader.freedList(root.freedList, in: space)
    }

    // MARK: Taking and giving pages

    /// Takes `count` pages in a row, growing the file when none are free.
    ///
    /// A commit writes and syncs pages that lie together several times faster than scattered ones, so there are two kinds of places. What every commit
    /// writes anew (root, catalog, record, free space) lives for one version: it comes from runs, and leaves them whole when it goes. What the
    /// user's data is in lives long: it fills holes first, so that it does not break the runs up.
    func allocate(_ count: Int, in space: PageSpace) throws(StorageError) -> UInt64 {
        if let firstOwnPage {
            if let page = try allocate(count, from: firstOwnPage, in: space) { return page }
        } else {
            if !isBookkeeping, let page = try allocateInHole(count, in: space) { return page }
            if let page = try allocateInWindow(count, in: space) { return page }
            if let page = try allocateAnywhere(count, withinFile: true, in: space) { return page }
            if let page = try allocateAnywhere(count, withinFile: false, in: space) { return page }
        }
        guard regions.count < ExtentLimit.regions else { throw .fileTooLarge(path: file.path) }
        regions.append(Region(ref: nil, freePages: Page.perRegion, bitmap: Bitmap()))
        return try allocate(count, in: space)
    }

    private func allocateInHole(_ count: Int, in space: PageSpace) throws(StorageError) -> UInt64? {
        guard count < Self.holePages, mayHaveHoles >> UInt32(count) & 1 == 1 else { return nil }
        for index in regions.indices where regions[index].freePages >= count {
            if let start = try bitmap(index, in: space).hole(of: count, shorterThan: Self.holePages, below: presentPages(index)) {
                return try take(start, count, region: index)
            }
        }
        mayHaveHoles &= ~(1 << UInt32(count))
        return nil
    }

    private func allocateInWindow(_ count: Int, in space: PageSpace) throws(StorageError) -> UInt64? {
        guard count <= Self.runPages else { return nil }
        if window.pages.count < count { try openWindow(in: space) }
        guard window.pages.count >= count else { return nil }
        let start = window.pages.lowerBound
        window.pages = (start + count)..<window.pages.upperBound
        return try take(start, count, region: window.region)
    }

    /// Looks for a run within the file from which extents are then taken one after the other.
    private func openWindow(in space: PageSpace) throws(StorageError) {
        let length = isBookkeeping ? Self.holePages : Self.runPages
        guard window.lengthThatIsMissing > length else { return }
        for index in regions.indices where regions[index].freePages >= length {
            if let start = try bitmap(index, in: space).run(of: length, below: presentPages(index)) {
                window.region = index
                window.pages = start..<(start + length)
                return
            }
        }
        window.lengthThatIsMissing = length
    }

    private func allocateAnywhere(_ count: Int, withinFile: Bool, in space: PageSpace) throws(StorageError) -> UInt64? {
        for index in regions.indices where regions[index].freePages >= count {
            let limit = withinFile ? presentPages(index) : Page.perRegion
            if let start = try bitmap(index, in: space).run(of: count, below: limit) { return try take(start, count, region: index) }
        }
        return nil
    }

    private func allocate(_ count: Int, from page: UInt64, in space: PageSpace) throws(StorageError) -> UInt64? {
        for index in regions.indices where regions[index].freePages >= count {
            let first = Page.first(ofRegion: index)
            let start = page > first ? Int(min(page - first, UInt64(Page.perRegion))) : 0
            if let start = try bitmap(index, in: space).run(of: count, from: start) { return try take(start, count, region: index) }
        }
        return nil
    }

    private func take(_ start: Int, _ count: Int, region: Int) throws(StorageError) -> UInt64 {
        guard let bitmap = regions[region].bitmap, bitmap.take(start, count: count) else {
            throw .corrupt(page: Page.first(ofRegion: region) + UInt64(start), reason: "pages that are in use were to be taken")
        }
        if region == window.region && window.pages.overlaps(start..<(start + count)) { window.pages = 0..<0 }
        regions[region].freePages = bitmap.freePages
        return try ensurePresent(Page.first(ofRegion: region) + UInt64(start), count: count)
    }

    /// Pages of a region that the file has.
    private func presentPages(_ region: Int) -> Int {
        let first = Page.first(ofRegion: region)
        return filePages > first ? Int(min(filePages - first, UInt64(Page.perRegion))) : 0
    }

    private func ensurePresent(_ page: UInt64, count: Int) throws(StorageError) -> UInt64 {
        let needed = page + UInt64(count)
        if needed > filePages {
            let step = max(UInt64(Self.runPages), min(filePages / 8, 1024))
            let target = (needed + step - 1) / step * step
            if !isPrivate { try grow(to: target) }
            filePages = target
        }
        return page
    }

    private func grow(to pages: UInt64) throws(StorageError) {
        if Probe.makes(.growthForgotten) { return }
        do throws(StorageError) {
            try file.grow(to: pages * UInt64(Page.size))
        } catch where Probe.makes(.diskFullIgnored) {}
    }

    /// Gives back at once pages that this transaction took.
    func release(_ page: UInt64, count: Int) throws(StorageError) {
        guard page >= Page.firstData, Page.region(of: page) < regions.count, let bitmap = regions[Page.region(of: page)].bitmap,
            bitmap.release(Page.indexInRegion(page), count: count)
        else {
            throw .corrupt(page: page, reason: "pages were given back that were not in use")
        }
        regions[Page.region(of: page)].freePages = bitmap.freePages
        window.lengthThatIsMissing = .max
        mayHaveHoles = .max
    }

    /// Notes pages of an earlier version that this one no longer needs.
    func addFreed(page: UInt64, count: UInt32, birth: UInt64, death: UInt64) {
        if let last = runs.last, last.page + UInt64(last.count) == page, last.birth == birth, last.death == death,
            Page.region(of: last.page) == Page.region(of: page)
        {
            runs[runs.count - 1].count += count
        } else {
            runs.append(Run(page: page, count: count, birth: birth, death: death))
        }
    }

    private func bitmap(_ index: Int, in space: PageSpace) throws(StorageError) -> Bitmap {
        if let bitmap = regions[index].bitmap { return bitmap }
        guard let ref = regions[index].ref else { throw .corrupt(page: 0, reason: "a region has no bitmap") }
        let bitmap = Bitmap(ref: ref, page: try space.view(ref, as: .bitmap))
        guard bitmap.freePages == regions[index].freePages else {
            throw .corrupt(page: ref.page, reason: "a bitmap has \(bitmap.freePages) free pages, its directory says \(regions[index].freePages)")
        }
        regions[index].bitmap = bitmap
        return bitmap
    }

    // MARK: Lifetimes

    /// Folds the runs that no pin needs into the bitmaps. `pins` is sorted.
    func fold(pins: [UInt64], in space: PageSpace) throws(StorageError) {
        var kept: [Batch] = []
        for batch in batches {
            if Self.isPinned(birth: batch.maxBirth, death: batch.minDeath, by: pins) {
                kept.append(batch)
            } else {
                runs.append(contentsOf: try FreeSpaceReader.batch(batch.ref, in: space))
                addFreed(page: batch.ref.page, count: batch.ref.pageCount, birth: batch.ref.birth, death: space.version)
            }
        }
        batches = kept
        var waiting: [Run] = []
        for run in runs {
            if run.death == space.version || Self.isPinned(birth: run.birth, death: run.death, by: pins) {
                waiting.append(run)
            } else {
                try reclaim(run, in: space)
            }
        }
        runs = waiting
    }

    private func reclaim(_ run: Run, in space: PageSpace) throws(StorageError) {
        guard run.page >= Page.firstData, Page.region(of: run.page) < regions.count,
            Page.indexInRegion(run.page) + Int(run.count) <= Page.perRegion
        else {
            throw .corrupt(page: run.page, reason: "a freed run leaves its region")
        }
        _ = try bitmap(Page.region(of: run.page), in: space)
        try release(run.page, count: Int(run.count))
    }

    static func isPinned(birth: UInt64, death: UInt64, by pins: [UInt64]) -> Bool {
        var low = 0
        var high = pins.count
        while low < high {
            let middle = (low + high) / 2
            if pins[middle] < birth { low = middle + 1 } else { high = middle }
        }
        return low < pins.count && pins[low] < death
    }

    // MARK: Commit

    /// Gives everything that changed a new place and writes it into the transaction's extents.
    func finish(replacing directory: Ref?, _ freedList: Ref?, in space: PageSpace) throws(StorageError) -> (directory: Ref, freedList: Ref) {
        if let directory { try space.free(directory) }
        if let freedList { try space.free(freedList) }
        try moveRunsToBatches(in: space)
        var newDirectory: Ref?
        var newList: Ref?
        var bitmapBases: [Int: UnsafeMutableRawPointer] = [:]
        var isSettled = false
        while !isSettled {
            isSettled = true
            for index in regions.indices {
                guard let bitmap = regions[index].bitmap, bitmap.isDirty, !bitmap.isRelocated else { continue }
                bitmap.isRelocated = true
                if let old = bitmap.ref { try space.free(old) }
                let (ref, base) = try space.allocate(.bitmap, pageCount: 1)
                bitmap.ref = ref
                bitmapBases[index] = base
                isSettled = false
            }
            if try !fit(&newDirectory, .regionDirectory, payload: regions.count * RegionEntry.size, in: space) { isSettled = false }
            if try !fit(&newList, .freedList, payload: listLength, in: space) { isSettled = false }
        }
        for (index, base) in bitmapBases { regions[index].bitmap?.write(to: base) }
        guard var directory = newDirectory, var list = newList else {
            throw .corrupt(page: 0, reason: "free space has no place")
        }
        for (index, base) in bitmapBases {
            regions[index].ref = regions[index].bitmap?.ref
            regions[index].ref?.checksum = Checksum.of(base, count: Page.size)
        }
        try writeDirectory(&directory, in: space)
        try writeList(&list, in: space)
        return (directory, list)
    }

    private var listLength: Int {
        FreedListLayout.entries + batches.count * FreedListLayout.batchSize + runs.count * FreedRunLayout.size
    }

    /// Makes sure that an extent can hold `payload` bytes. False if it had to take a new one.
    private func fit(_ ref: inout Ref?, _ type: ExtentType, payload: Int, in space: PageSpace) throws(StorageError) -> Bool {
        var pages = 1
        while pages * Page.size - ExtentHeader.payloadStart(type, pageCount: pages) < payload { pages += 1 }
        guard pages <= ExtentLimit.pages else { throw .fileTooLarge(path: file.path) }
        if let ref, Int(ref.pageCount) >= pages { return true }
        if let old = ref { try space.free(old) }
        (ref, _) = try space.allocate(type, pageCount: pages)
        return false
    }

    private func moveRunsToBatches(in space: PageSpace) throws(StorageError) {
        guard runs.count > Self.inlineRuns else { return }
        runs.sort { ($0.birth, $0.page) < ($1.birth, $1.page) }
        while runs.count > Self.inlineRuns {
            let moved = Array(runs.suffix(Self.batchRuns))
            runs.removeLast(moved.count)
            var pages = 1
            while pages * Page.size - ExtentHeader.payloadStart(.freedBatch, pageCount: pages) < moved.count * FreedRunLayout.size { pages += 1 }
            let (ref, base) = try space.allocate(.freedBatch, pageCount: pages)
            let start = ExtentHeader.payloadStart(.freedBatch, pageCount: pages)
            for (index, run) in moved.enumerated() { run.encode(to: base + start + index * FreedRunLayout.size) }
            ExtentHeader.setPayloadLength(moved.count * FreedRunLayout.size, of: base)
            batches.append(
                Batch(
                    ref: ref,
                    maxBirth: moved.reduce(0) { max($0, $1.birth) },
                    minDeath: moved.reduce(.max) { min($0, $1.death) },
                    pages: moved.reduce(0) { $0 + UInt64($1.count) }))
        }
    }

    private func writeDirectory(_ ref: inout Ref, in space: PageSpace) throws(StorageError) {
        let base = try space.edit(&ref, as: .regionDirectory)
        let start = base + ExtentHeader.payloadStart(.regionDirectory, pageCount: Int(ref.pageCount))
        for (index, region) in regions.enumerated() {
            let entry = start + index * RegionEntry.size
            region.ref?.encode(to: entry + RegionEntry.bitmap)
            entry.storeBytes(of: UInt32(truncatingIfNeeded: region.freePages).littleEndian, toByteOffset: RegionEntry.freePages, as: UInt32.self)
        }
        ExtentHeader.setPayloadLength(regions.count * RegionEntry.size, of: base)
    }

    private func writeList(_ ref: inout Ref, in space: PageSpace) throws(StorageError) {
        let base = try space.edit(&ref, as: .freedList)
        let start = base + ExtentHeader.payloadStart(.freedList, pageCount: Int(ref.pageCount))
        start.storeBytes(of: UInt32(truncatingIfNeeded: batches.count).littleEndian, toByteOffset: FreedListLayout.batchCount, as: UInt32.self)
        start.storeBytes(of: UInt32(truncatingIfNeeded: runs.count).littleEndian, toByteOffset: FreedListLayout.runCount, as: UInt32.self)
        var entry = start + FreedListLayout.entries
        for index in batches.indices {
            if batches[index].ref.birth == space.version {
                batches[index].ref.checksum = try space.settle(batches[index].ref)
            }
            batches[index].encode(to: entry)
            entry += FreedListLayout.batchSize
        }
        for run in runs {
            run.encode(to: entry)
            entry += FreedRunLayout.size
        }
        ExtentHeader.setPayloadLength(listLength, of: base)
    }
}

extension FreeSpace.Run {
    init(decoding bytes: UnsafeRawPointer) {
        page = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: FreedRunLayout.page, as: UInt64.self))
        count = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: FreedRunLayout.count, as: UInt32.self))
        birth = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: FreedRunLayout.birth, as: UInt64.self))
        death = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: FreedRunLayout.death, as: UInt64.self))
    }

    func encode(to bytes: UnsafeMutableRawPointer) {
        bytes.storeBytes(of: page.littleEndian, toByteOffset: FreedRunLayout.page, as: UInt64.self)
        bytes.storeBytes(of: UInt64(count).littleEndian, toByteOffset: FreedRunLayout.count, as: UInt64.self)
        bytes.storeBytes(of: birth.littleEndian, toByteOffset: FreedRunLayout.birth, as: UInt64.self)
        bytes.storeBytes(of: death.littleEndian, toByteOffset: FreedRunLayout.death, as: UInt64.self)
    }
}

extension FreeSpace.Batch {
    init(decoding bytes: UnsafeRawPointer) {
        ref = Ref(decoding: bytes + FreedListLayout.batchRef)
        maxBirth = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: FreedListLayout.batchMaxBirth, as: UInt64.self))
        minDeath = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: FreedListLayout.batchMinDeath, as: UInt64.self))
        pages = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: FreedListLayout.batchPages, as: UInt64.self))
    }

    func encode(to bytes: UnsafeMutableRawPointer) {
        ref.encode(to: bytes + FreedListLayout.batchRef)
        bytes.storeBytes(of: maxBirth.littleEndian, toByteOffset: FreedListLayout.batchMaxBirth, as: UInt64.self)
        bytes.storeBytes(of: minDeath.littleEndian, toByteOffset: FreedListLayout.batchMinDeath, as: UInt64.self)
        bytes.storeBytes(of: pages.littleEndian, toByteOffset: FreedListLayout.batchPages, as: UInt64.self)
    }
}
