internal import Synchronization
internal import ToftPlatform

/// For each page of the file an address, and a word whose meaning is the page cache's.
///
/// The file is cut into regions (`Page.perRegion`); address space is reserved for a region whole,
/// at its first use.
///
/// 1. The address of a page never changes, and nothing beyond the end of the file is ever touched.
///
/// `@unchecked Sendable`: an entry of `regions` is published by its atomic word of `presentPages`.
struct RegionMap: ~Copyable, @unchecked Sendable {
    /// The memory at the addresses.
    enum Backing {
        /// A shared mapping of the file, read only, which grows with the file.
        case mapping
        /// Memory of this process, zeros at first.
        case memory
    }

    /// A page's address and its word.
    typealias Location = (base: UnsafeRawPointer, word: UnsafeMutablePointer<Atomic<UInt64>>)

    private struct Region {
        var memory: Reservation?
        /// The region's first page.
        var base: UnsafeRawPointer?
        var words: UnsafeMutablePointer<Atomic<UInt64>>?
        /// The memory of `words`.
        var wordMemory: SharedWords?
    }

    private let file: DataFile
    private let backing: Backing
    /// The memory of the two that follow.
    private let directory: SharedWords
    /// An entry is filled once; readers see it through the release of its `presentPages`.
    private let regions: UnsafeMutablePointer<Region>
    private let presentPages: UnsafeMutablePointer<Atomic<Int>>
    /// Number of regions up to the last one in use. Held while one is extended.
    private let regionCount = FutexMutex<Int>(0)
    /// The regions' memory again: leak detectors do not look into `directory`.
    private let memories = FutexMutex<[AnyObject]>([])

    init(_ file: DataFile, _ backing: Backing) {
        self.file = file
        self.backing = backing
        // Zeros are regions without anything. Most files have few of the thousands that can be.
        let count = ExtentLimit.regions
        directory = SharedWords(
            byteCount: count * (MemoryLayout<Region>.stride + MemoryLayout<Atomic<Int>>.stride))
        regions = directory.base.bindMemory(to: Region.self, capacity: count)
        presentPages = (directory.base + count * MemoryLayout<Region>.stride).bindMemory(
            to: Atomic<Int>.self, capacity: count)
    }

    deinit { regions.deinitialize(count: regionCount.withLock { $0 }) }

    // MARK: Addresses

    /// The address of a page, of which `count` must exist in one region, and its word.
    ///
    /// - Throws: `corrupt` if the file does not have them; `addressSpaceExhausted`.
    @inline(__always)
    func locate(_ page: PageNumber, count: Int) throws(StorageError) -> Location {
        guard page >= Page.firstData, page < Page.first(ofRegion: ExtentLimit.regions) else {
            throw .corrupt(page: page, reason: "a reference leaves the file")
        }
        let region = Page.region(of: page)
        let index = Page.indexInRegion(page)
        guard index &+ count <= Page.perRegion else {
            throw .corrupt(page: page, reason: "a reference leaves its region")
        }
        if presentPages[region].load(ordering: .acquiring) < index &+ count {
            try extend(region, pages: index &+ count, for: page)
        }
        guard let base = regions[region].base, let words = regions[region].words else {
            throw .addressSpaceExhausted
        }
        return (base + index &* Page.size, words + index)
    }

    /// The address of a page and its word, if it and `further` pages behind it were located
    /// before; nil if not.
    @inline(__always)
    func located(_ page: PageNumber, further: Int = 0) -> Location? {
        guard page >= Page.firstData, page < Page.first(ofRegion: ExtentLimit.regions) else {
            return nil
        }
        let region = Page.region(of: page)
        let index = Page.indexInRegion(page)
        guard presentPages[region].load(ordering: .acquiring) > index &+ further,
            let base = regions[region].base, let words = regions[region].words
        else {
            return nil
        }
        return (base + index &* Page.size, words + index)
    }

    /// The words of those of some pages of a region that were located before.
    func presentWords(_ page: PageNumber, _ count: Int) -> (
        words: UnsafeMutablePointer<Atomic<UInt64>>, count: Int
    )? {
        guard page >= Page.firstData, page < Page.first(ofRegion: ExtentLimit.regions) else {
            return nil
        }
        let index = Page.indexInRegion(page)
        let end = min(index + count, presentCount(from: page) + index)
        guard index < end, let words = regions[Page.region(of: page)].words else { return nil }
        return (words + index, end - index)
    }

    /// Number of pages that its region has from a page on.
    func presentCount(from page: PageNumber) -> Int {
        presentPages[Page.region(of: page)].load(ordering: .acquiring) - Page.indexInRegion(page)
    }

    /// The reservation that contains a page; nil if no page of its region was located.
    func memory(of page: PageNumber) -> Reservation? { regions[Page.region(of: page)].memory }

    /// Releases the memory of all pages, which nobody reads, and sets their words to 0.
    func discard() {
        for region in 0..<regionCount.withLock({ $0 }) {
            guard let memory = regions[region].memory, let words = regions[region].words else {
                continue
            }
            for index in 0..<Page.perRegion { words[index].store(0, ordering: .relaxed) }
            memory.discard()
        }
    }

    // MARK: Regions

    private func extend(_ region: Int, pages: Int, for page: PageNumber) throws(StorageError) {
        try regionCount.withLock { regionCount throws(StorageError) in
            let known = presentPages[region].load(ordering: .relaxed)
            guard known < pages else { return }
            let start = Page.first(ofRegion: region).byteOffset
            let size = try file.size()
            var present =
                size > start
                ? Int(min((size - start) / UInt64(Page.size), UInt64(Page.perRegion))) : 0
            guard present >= pages else {
                throw .corrupt(page: page, reason: "the file ends before this page")
            }
            regionCount = max(regionCount, region + 1)
            let base = try memory(of: region)
            func map() throws(SystemError) {
                try file.map(
                    start + UInt64(known * Page.size)..<start + UInt64(present * Page.size),
                    at: base + known * Page.size)
            }
            if backing == .mapping {
                do throws(SystemError) {
                    try map()
                } catch .fileEnds {
                    // A compaction has cut the file since, behind the pages of all versions.
                    present = pages
                    try system(map())
                } catch {
                    throw StorageError(error)
                }
            }
            if regions[region].words == nil {
                let words = SharedWords(
                    byteCount: Page.perRegion * MemoryLayout<Atomic<UInt64>>.stride)
                regions[region].wordMemory = words
                memories.withLock { $0.append(words) }
                regions[region].words = words.base.bindMemory(
                    to: Atomic<UInt64>.self, capacity: Page.perRegion)
            }
            presentPages[region].store(present, ordering: .releasing)
        }
    }

    /// The address of a region. A mapping begins at a page of memory, which may be larger than
    /// ours, so room is left for the bytes before the region in its first one.
    private func memory(of region: Int) throws(StorageError) -> UnsafeMutableRawPointer {
        if let base = regions[region].base { return UnsafeMutableRawPointer(mutating: base) }
        let lead = Int(Page.firstData.byteOffset) % Machine.memoryPageSize
        let memory = try system(Reservation(byteCount: Page.perRegion * Page.size + lead))
        if backing == .memory { try system(memory.becomeMemory()) }
        regions[region].memory = memory
        memories.withLock { $0.append(memory) }
        let base = memory.base + lead
        regions[region].base = UnsafeRawPointer(base)
        return base
    }
}
