internal import Synchronization
package import ToftPlatform

/// The data file as the storage uses it: pages at fixed addresses, the record of those verified in
/// memory, and the calls of `StorageFile` with the storage's errors.
///
/// One for each open file and store, shared by every snapshot and thread. The file is cut into
/// regions (`Page.perRegion`); address space is reserved for a region whole, at its first use.
///
/// 1. The address of a page never changes, and nothing beyond the end of the file is ever touched.
/// 2. A page is remembered as verified by the birth version that its reference named: another
///    version in the same page is read and verified anew (another process may have reused it).
/// 3. `mapped`: a region is a shared mapping of the file, read only, which grows with the file.
///    Before a page is verified it is read into memory by a call that reports errors; the system
///    may evict it later and reads it again at an access, which cannot report one. A mapping may
///    show another file than the descriptor: on layered file systems (a container's image), the
///    first write copies the file up, and a mapping stays with the lower one. If a page can't be
///    verified, it is therefore read through the descriptor, and if that is right, it replaces the
///    mapped one; new snapshots then have another mapping.
/// 4. `buffered`: a region is memory of this process. A page is read into it before it is verified,
///    and not again as long as it is remembered. So every error of the device, and a file that
///    others truncate, is an error of a call. A page is filled again only when another version is
///    in it, which no snapshot of this process can be reading. An encrypted file is decrypted
///    there, by whole extents: `verify` does that. Only an extent whose MAC is right replaces
///    another one: a salvage reads old extents whose pages newer ones have.
/// 5. `buffered`: memory holds at most the pages that the open snapshots have read, in blocks that
///    become whole once they are half filled, and, encrypted, pages written meanwhile, up to
///    `keptBytes`. When the last snapshot of the process ends and more than `keptBytes` are filled,
///    all memory is released. If there is always a snapshot, those opened with more filled have
///    other memory (`forSnapshot`).
/// 6. A scan of an encrypted file has a cache of its own (`forOneWalk`) and releases each extent
///    that it has passed (`giveBack`).
///
/// `@unchecked Sendable`: an entry of `regions` is published by its atomic word of `presentPages`.
package final class MappedFile: @unchecked Sendable {
    private struct Region {
        var memory: Reservation?
        /// The region's first page.
        var base: UnsafeRawPointer?
        /// For each page of the region the birth version that it was verified for. 0 if it was not;
        /// buffered, `forgotten` if memory does not hold its bytes.
        var verified: UnsafeMutablePointer<Atomic<UInt64>>?
        /// The memory of `verified`.
        var words: SharedWords?
        /// `buffered`: the blocks of its memory.
        var blocks: UnsafeMutablePointer<Block>?
    }

    /// 2 MiB of memory. Once many of its pages are filled it is one page of the machine: small ones
    /// cost more to begin, and more to find when all are scanned.
    private struct Block {
        /// Number of its filled pages; all pages of an extent count in its first page's block.
        var filled = 0
        /// Whether all of it takes room, and counts as filled.
        var isJoined = false

        static let pages = Reservation.blockSize / Page.size
        static let many = pages / 2
    }

    private let file: any StorageFile
    /// Whether pages are read into memory instead of being mapped.
    package let isBuffered: Bool
    /// Nil if the file is plain. An encrypted one is buffered.
    let cipher: Cipher?
    /// Whether its memory belongs to one walk, which gives back extents.
    let isOfOneWalk: Bool
    /// The memory of the two that follow.
    private let directory: SharedWords
    /// An entry is filled once; readers see it through the release of its `presentPages`.
    private let regions: UnsafeMutablePointer<Region>
    private let presentPages: UnsafeMutablePointer<Atomic<Int>>
    /// Number of regions up to the last one in use. Held while one is extended.
    private let regionCount = FutexMutex<Int>(0)
    /// The regions' memory again: leak detectors do not look into `directory`.
    private let memories = FutexMutex<[AnyObject]>([])
    /// `mapped`: the last run of pages that was read, first page in the upper 40 bits, their number
    /// in the lower 24.
    private let lastRun = Atomic<UInt64>(0)
    /// `buffered`: held while pages are filled.
    private let filling = FutexMutex<Int>(0)
    /// `buffered`: number of open spaces of pages.
    private let readers = FutexMutex<Int>(0)

    /// Memory that pages of a buffered file may fill before new snapshots have other memory. A
    /// working set that takes more is read, and decrypted, again after each commit.
    package static let defaultKeptBytes = 256 << 20
    private let keptBytes: Int
    /// `mapped`: whether a page was seen that the mapping does not show.
    private let isStale = Atomic<Bool>(false)
    /// The file with other memory, or another mapping, which new snapshots have; nil: this one.
    private let other = FutexMutex<MappedFile?>(nil)
    /// The word of verification of a page that takes memory, in which nothing is verified.
    private static let forgotten = UInt64.max
    /// Most pages that are read at once, if one run follows the other.
    private static let longestRun = 64

    /// - Parameter keptBytes: bytes that a buffered file keeps in memory when no snapshot is open.
    package init(
        _ file: any StorageFile, isBuffered: Bool = false, cipher: Cipher? = nil,
        keptBytes: Int = MappedFile.defaultKeptBytes, isOfOneWalk: Bool = false
    ) {
        self.isOfOneWalk = isOfOneWalk
        self.file = file
        self.isBuffered = isBuffered || cipher != nil
        self.cipher = cipher
        self.keptBytes = keptBytes
        // Zeros are regions without anything. Most files have few of the thousands that can be.
        let count = ExtentLimit.regions
        directory = SharedWords(
            byteCount: count * (MemoryLayout<Region>.stride + MemoryLayout<Atomic<Int>>.stride))
        regions = directory.base.bindMemory(to: Region.self, capacity: count)
        presentPages = (directory.base + count * MemoryLayout<Region>.stride).bindMemory(
            to: Atomic<Int>.self, capacity: count)
    }

    deinit {
        let count = regionCount.withLock { $0 }
        for region in 0..<count { regions[region].blocks?.deallocate() }
        regions.deinitialize(count: count)
    }

    /// The file with the memory for a new snapshot: this one, or if it is full or stale, another,
    /// which ends with the last snapshot that has it.
    func forSnapshot() -> MappedFile {
        if !isFull && !isStale.load(ordering: .relaxed) { return self }
        return other.withLock { other in
            if let other, !other.isFull, !other.isStale.load(ordering: .relaxed) { return other }
            if !isBuffered { file.renewMapping() }
            let next = reopened()
            other = next
            return next
        }
    }

    /// Whether a new snapshot has other memory than this.
    var isFull: Bool { isBuffered && bufferedPages * Page.size > keptBytes }

    /// The file with a mapping of its own, as another process has it.
    func reopened() -> MappedFile {
        MappedFile(
            file, isBuffered: isBuffered, cipher: cipher, keptBytes: keptBytes,
            isOfOneWalk: isOfOneWalk)
    }

    /// The file with other memory, a quarter as much, for one snapshot: it takes the place of
    /// another of the same version, whose memory is filled.
    func forSnapshotAgain() -> MappedFile {
        MappedFile(file, isBuffered: true, cipher: cipher, keptBytes: keptBytes / 4)
    }

    /// The file with memory for one thread's scan of much of it; a plain file keeps the memory that
    /// it has.
    func forOneWalk() -> MappedFile {
        if cipher == nil || isOfOneWalk { return self }
        return MappedFile(file, cipher: cipher, isOfOneWalk: true)
    }

    // MARK: Pages

    /// The address of a page, of which `count` must exist, with its words of verification. Its
    /// bytes may be read only if the words say so.
    @inline(__always)
    func locate(_ page: PageNumber, count: Int) throws(StorageError) -> (
        base: UnsafeRawPointer, verified: UnsafeMutablePointer<Atomic<UInt64>>
    ) {
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
        guard let base = regions[region].base, let verified = regions[region].verified else {
            throw .addressSpaceExhausted
        }
        return (base + index &* Page.size, verified + index)
    }

    /// The addresses of a page and its word of verification, if it and `further` pages behind it
    /// were located before; nil if not.
    @inline(__always)
    func located(_ page: PageNumber, further: Int = 0) -> (
        base: UnsafeRawPointer, verified: UnsafeMutablePointer<Atomic<UInt64>>
    )? {
        guard page >= Page.firstData, page < Page.first(ofRegion: ExtentLimit.regions) else {
            return nil
        }
        let region = Page.region(of: page)
        let index = Page.indexInRegion(page)
        guard presentPages[region].load(ordering: .acquiring) > index &+ further,
            let base = regions[region].base, let verified = regions[region].verified
        else {
            return nil
        }
        return (base + index &* Page.size, verified + index)
    }

    /// Has the processor fetch the beginning of a page, which is about to be read, and its word of
    /// verification: all at once, not one after the other. Returns the page's address, if it was
    /// located before.
    @inline(__always)
    @discardableResult
    func fetch(_ page: PageNumber, lines: Int) -> UnsafeRawPointer? {
        guard let (base, verified) = located(page) else { return nil }
        UnsafeRawPointer(verified).prefetch()
        for line in 0..<lines { (base + line &* 64).prefetch() }
        return base
    }

    /// Reads pages for the first time, has them verified, and remembers them. They are in one
    /// extent that was located.
    ///
    /// - Parameter verify: gets the first byte of the pages, and decrypts them there.
    func admit(
        _ page: PageNumber, count: Int, birth: Version,
        _ verify: (UnsafeMutableRawPointer) throws(StorageError) -> Void
    ) throws(StorageError) {
        let (base, verified) = try locate(page, count: count)
        let place = UnsafeMutableRawPointer(mutating: base)
        guard isBuffered else {
            var isShown = false
            do throws(StorageError) {
                try populate(page, count, base)
                isShown = true
                try verify(place)
            } catch {
                // A failing device is reported for both: reading around it would hide that.
                if !isShown, !error.isBadAddress { throw error }
                try readAround(page, count, place, isShown, error)
                try verify(place)
                isStale.store(true, ordering: .relaxed)
            }
            for index in 0..<count { verified[index].store(birth.rawValue, ordering: .releasing) }
            return
        }
        try filling.withLock { filled throws(StorageError) in
            let known = (0..<count).map { verified[$0].load(ordering: .relaxed) }
            if known.allSatisfy({ $0 == birth.rawValue }) { return }
            noteFilled(page, known.count { $0 == 0 }, &filled)
            // A wrong reference decrypts to garbage, which would replace a valid version.
            if cipher != nil, known.contains(where: { $0 != 0 && $0 != Self.forgotten }) {
                return try replace(page, count, birth, place, verified, verify)
            }
            for index in 0..<count { verified[index].store(Self.forgotten, ordering: .relaxed) }
            try fill(page, count, place)
            try verify(place)
            for index in 0..<count { verified[index].store(birth.rawValue, ordering: .releasing) }
        }
    }

    /// Reads pages that the mapping may not show through the descriptor, and puts them in its
    /// place. Whoever reads others in the same pages of memory sees the same as before.
    ///
    /// - Parameter isShown: whether the mapping can be read.
    /// - Throws: `failure`, its reason, if the mapping shows the file's content.
    private func readAround(
        _ page: PageNumber, _ count: Int, _ place: UnsafeMutableRawPointer, _ isShown: Bool,
        _ failure: StorageError
    ) throws(StorageError) {
        try filling.withLock { _ throws(StorageError) in
            let unit = Machine.memoryPageSize
            let lead = Int(bitPattern: place) % unit
            let count = count * Page.size
            let (start, offset) = (place - lead, page.byteOffset - UInt64(lead))
            let buffer = UnsafeMutableRawBufferPointer.allocate(
                byteCount: (lead + count + unit - 1) / unit * unit, alignment: Page.size)
            defer { buffer.deallocate() }
            buffer.initializeMemory(as: UInt8.self, repeating: 0)
            // The last page of memory may reach beyond the file.
            guard let memory = regions[Page.region(of: page)].memory,
                let size = try? file.size(), size >= page.byteOffset + UInt64(count),
                (try? file.read(
                    into: UnsafeMutableRawBufferPointer(
                        rebasing: buffer[..<Int(min(UInt64(buffer.count), size - offset))]),
                    at: offset)) != nil
            else { throw failure }
            let found = UnsafeRawBufferPointer(rebasing: buffer[lead..<lead + count])
            if isShown, found.isSame(as: UnsafeRawBufferPointer(start: place, count: count)) {
                throw failure
            }
            try system(memory.replace(at: start, by: UnsafeRawBufferPointer(buffer)))
        }
    }

    /// Reads and decrypts extents of an encrypted file before they are wanted, on several threads.
    /// One that can't be read, that is damaged, or in whose pages another version is, is left to
    /// `admit`.
    func admitAhead(_ refs: [Ref], as type: ExtentType) {
        guard let cipher else { return }
        filling.withLock { filled in
            var extents: [(ref: Ref, memory: FilledMemory)] = []
            var end = Page.firstData
            // A damaged file may name pages twice, which no two threads may fill.
            for ref in refs.sorted(by: { $0.page < $1.page }) where ref.page >= end {
                let count = Int(ref.pageCount)
                guard (1...ExtentLimit.pages).contains(count),
                    let (base, verified) = try? locate(ref.page, count: count)
                else { continue }
                let known = (0..<count).map { verified[$0].load(ordering: .relaxed) }
                guard known.allSatisfy({ $0 == 0 || $0 == Self.forgotten }) else { continue }
                noteFilled(ref.page, known.count { $0 == 0 }, &filled)
                for index in 0..<count { verified[index].store(Self.forgotten, ordering: .relaxed) }
                end = ref.page + UInt64(count)
                extents.append(
                    (ref, FilledMemory(UnsafeMutableRawPointer(mutating: base), verified)))
            }
            let work = extents
            SharedWork<Never>.run(work.count) { index in
                let (ref, memory) = work[index]
                let count = Int(ref.pageCount)
                guard (try? self.fill(ref.page, count, memory.base)) != nil,
                    (try? cipher.decrypt(memory.base, ref, type)) != nil
                else { return }
                for index in 0..<count {
                    memory.verified[index].store(ref.birth.rawValue, ordering: .releasing)
                }
            }
        }
    }

    /// The memory of an extent, which one thread fills.
    private struct FilledMemory: @unchecked Sendable {
        let base: UnsafeMutableRawPointer
        let verified: UnsafeMutablePointer<Atomic<UInt64>>

        init(_ base: UnsafeMutableRawPointer, _ verified: UnsafeMutablePointer<Atomic<UInt64>>) {
            self.base = base
            self.verified = verified
        }
    }

    /// `admit` if another version is in some of the pages: it stays until they are verified.
    @inline(never)
    private func replace(
        _ page: PageNumber, _ count: Int, _ birth: Version, _ place: UnsafeMutableRawPointer,
        _ verified: UnsafeMutablePointer<Atomic<UInt64>>,
        _ verify: (UnsafeMutableRawPointer) throws(StorageError) -> Void
    ) throws(StorageError) {
        let aside = UnsafeMutableRawPointer.allocate(
            byteCount: count * Page.size, alignment: Page.size)
        defer { aside.deallocate() }
        try fill(page, count, aside)
        try verify(aside)
        for index in 0..<count { verified[index].store(Self.forgotten, ordering: .relaxed) }
        place.copyMemory(from: aside, byteCount: count * Page.size)
        for index in 0..<count { verified[index].store(birth.rawValue, ordering: .releasing) }
    }

    /// Remembers pages that this process has just written from `base` as verified. Buffered pages
    /// are read when they are needed. Decrypting costs more than keeping them, so encrypted ones
    /// are kept as long as new snapshots use this memory.
    func noteVerified(
        _ page: PageNumber, count: Int, birth: Version, from base: UnsafeRawPointer
    ) {
        guard isBuffered else { return mark(page, count, birth) }
        guard cipher != nil, !isOfOneWalk, let place = try? locate(page, count: count) else {
            return
        }
        filling.withLock { filled in
            guard filled * Page.size < keptBytes else { return }
            let new = (0..<count).count { place.verified[$0].load(ordering: .relaxed) == 0 }
            noteFilled(page, new, &filled, mayJoin: false)
            UnsafeMutableRawPointer(mutating: place.base).copyMemory(
                from: base, byteCount: count * Page.size)
            for index in 0..<count {
                place.verified[index].store(birth.rawValue, ordering: .releasing)
            }
        }
    }

    private func mark(_ page: PageNumber, _ count: Int, _ birth: Version) {
        guard let (words, count) = presentWords(page, count) else { return }
        for index in 0..<count { words[index].store(birth.rawValue, ordering: .relaxed) }
    }

    /// The words of verification of those of some pages of a region that were located before.
    private func presentWords(_ page: PageNumber, _ count: Int) -> (
        words: UnsafeMutablePointer<Atomic<UInt64>>, count: Int
    )? {
        guard page >= Page.firstData, page < Page.first(ofRegion: ExtentLimit.regions) else {
            return nil
        }
        let region = Page.region(of: page)
        let index = Page.indexInRegion(page)
        let end = min(index + count, presentPages[region].load(ordering: .acquiring))
        guard index < end, let words = regions[region].verified else { return nil }
        return (words + index, end - index)
    }

    /// Reads mapped pages into memory: these, or, if they follow the last ones that were read, some
    /// more, so that a scan makes few and large requests.
    private func populate(_ page: PageNumber, _ count: Int, _ base: UnsafeRawPointer)
        throws(StorageError)
    {
        let last = lastRun.load(ordering: .relaxed)
        let lastStart = PageNumber(last >> 24)
        let lastCount = Int(last & 0xFF_FFFF)
        let lastEnd = lastStart + UInt64(lastCount)
        if page >= lastStart && page + UInt64(count) <= lastEnd { return }
        var run = count
        if page >= lastStart && page <= lastEnd + UInt64(Self.longestRun / 4) {
            let region = Page.region(of: page)
            let present = presentPages[region].load(ordering: .acquiring)
            run = max(
                count,
                min(lastCount * 2, Self.longestRun, present - Page.indexInRegion(page)))
        }
        if run > count, (try? populate(page, run, base, readingAhead: true)) != nil {
            lastRun.store(page.rawValue << 24 | UInt64(run), ordering: .relaxed)
            return
        }
        try populate(page, count, base, readingAhead: count > 1)
        lastRun.store(page.rawValue << 24 | UInt64(count), ordering: .relaxed)
    }

    private func populate(
        _ page: PageNumber, _ count: Int, _ base: UnsafeRawPointer, readingAhead: Bool
    ) throws(StorageError) {
        let start = page.byteOffset
        let range = start..<start + UInt64(count * Page.size)
        try asking(for: range) { () throws(SystemError) in
            try file.populate(range, at: base, readingAhead: readingAhead)
        }
    }

    /// Reads pages from the file.
    func fill(_ page: PageNumber, _ count: Int, _ base: UnsafeMutableRawPointer)
        throws(StorageError)
    {
        let start = page.byteOffset
        let buffer = UnsafeMutableRawBufferPointer(start: base, count: count * Page.size)
        try asking(for: start..<start + UInt64(buffer.count)) { () throws(SystemError) in
            try file.read(into: buffer, at: start)
        }
    }

    /// Calls the system for pages that some version has: that they are not there means that the
    /// file was truncated.
    private func asking(for range: Range<UInt64>, _ call: () throws(SystemError) -> Void)
        throws(StorageError)
    {
        do throws(SystemError) {
            try call()
        } catch {
            if case .fileEnds = error { try checkPresent(range.upperBound) }
            throw StorageError(error)
        }
    }

    /// Throws if the file is shorter than a version that it holds needs it to be.
    ///
    /// - Throws: `fileTruncated`, or an error of the system.
    func checkPresent(_ byteCount: UInt64) throws(StorageError) {
        let size = try size()
        if size < byteCount {
            throw .fileTruncated(path: path, size: size, needed: byteCount)
        }
    }

    private func extend(_ region: Int, pages: Int, for page: PageNumber) throws(StorageError) {
        try regionCount.withLock { regionCount throws(StorageError) in
            let known = presentPages[region].load(ordering: .relaxed)
            guard known < pages else { return }
            let start = Page.first(ofRegion: region).byteOffset
            let size = try self.size()
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
            if !isBuffered {
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
            if regions[region].verified == nil {
                let words = SharedWords(
                    byteCount: Page.perRegion * MemoryLayout<Atomic<UInt64>>.stride)
                regions[region].words = words
                memories.withLock { $0.append(words) }
                regions[region].verified = words.base.bindMemory(
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
        if isBuffered {
            try system(memory.becomeMemory())
            let blocks = UnsafeMutablePointer<Block>.allocate(capacity: memory.blockCount)
            blocks.initialize(repeating: Block(), count: memory.blockCount)
            regions[region].blocks = blocks
        }
        regions[region].memory = memory
        memories.withLock { $0.append(memory) }
        let base = memory.base + lead
        regions[region].base = UnsafeRawPointer(base)
        return base
    }

    // MARK: Memory

    /// `buffered`: number of pages in memory.
    var bufferedPages: Int { filling.withLock { $0 } }

    /// Says that pages are going to be read. To be called before the first, and undone by
    /// `endReading` after the last.
    func beginReading() {
        if isBuffered { readers.withLock { $0 += 1 } }
    }

    func endReading() {
        guard isBuffered else { return }
        readers.withLock { readers in
            readers -= 1
            if readers == 0 { giveBack() }
        }
    }

    /// Counts pages that take memory from now on. `filled`: those of the whole file. Written pages
    /// join no blocks: most are not read again soon, and joining takes as long as writing.
    private func noteFilled(
        _ page: PageNumber, _ count: Int, _ filled: inout Int, mayJoin: Bool = true
    ) {
        guard count > 0 else { return }
        guard !isOfOneWalk, let (block, memory, index) = block(of: page) else {
            return filled += count
        }
        if block.pointee.isJoined { return }
        let before = block.pointee.filled
        block.pointee.filled = before + count
        filled += count
        if mayJoin, before < Block.many, before + count >= Block.many, memory.joinBlock(index) {
            filled += max(0, Block.pages - block.pointee.filled)
            block.pointee.isJoined = true
        }
    }

    /// The block of memory that contains a located page.
    private func block(of page: PageNumber) -> (
        block: UnsafeMutablePointer<Block>, memory: Reservation, index: Int
    )? {
        let region = regions[Page.region(of: page)]
        guard let memory = region.memory, let base = region.base, let blocks = region.blocks else {
            return nil
        }
        let index = memory.block(at: base + Page.indexInRegion(page) * Page.size)
        return (blocks + index, memory, index)
    }

    /// Allocates large pages of the machine for extents that will fill much of an empty block,
    /// which `noteVerified` gets next: in the order of their pages.
    func makeRoom(for extents: [DirtyPages.Extent]) {
        guard cipher != nil, !isOfOneWalk else { return }
        filling.withLock { filled in
            var last: UnsafeMutablePointer<Block>?
            var pages = 0
            for extent in extents {
                guard filled * Page.size < keptBytes else { return }
                let count = Int(extent.pageCount)
                guard (try? locate(extent.page, count: count)) != nil,
                    let (block, memory, index) = block(of: extent.page)
                else { continue }
                if block != last { (last, pages) = (block, 0) }
                pages += count
                if pages >= Block.many, pages - count < Block.many, block.pointee.filled == 0,
                    !block.pointee.isJoined, memory.joinBlock(index)
                {
                    filled += Block.pages
                    block.pointee.isJoined = true
                }
            }
        }
    }

    /// Releases the memory of an extent that the walk has passed: its bytes may not be used any
    /// more. Does nothing if others may read it.
    func giveBack(_ ref: Ref) {
        guard isOfOneWalk,
            let (base, verified) = located(ref.page, further: Int(ref.pageCount) - 1),
            let memory = regions[Page.region(of: ref.page)].memory
        else { return }
        filling.withLock { filled in
            for index in 0..<Int(ref.pageCount) { verified[index].store(0, ordering: .relaxed) }
            filled -= min(filled, Int(ref.pageCount))
            memory.discard(
                UnsafeMutableRawBufferPointer(
                    start: UnsafeMutableRawPointer(mutating: base),
                    count: Int(ref.pageCount) * Page.size))
        }
    }

    private func giveBack() {
        filling.withLock { filled in
            guard filled * Page.size > keptBytes else { return }
            filled = 0
            for region in 0..<regionCount.withLock({ $0 }) {
                guard let memory = regions[region].memory, let verified = regions[region].verified
                else { continue }
                for index in 0..<Page.perRegion { verified[index].store(0, ordering: .relaxed) }
                memory.discard()
                regions[region].blocks?.update(repeating: Block(), count: memory.blockCount)
            }
        }
    }
}

// The calls of the file. Any thread may call them.

extension MappedFile {
    /// Absolute, without symbolic links; a name in angle brackets if it is not a file on disk.
    var path: String { file.path }
    /// Whether locks are taken on the file, because other processes can come.
    var hasLocks: Bool { file.hasLocks }
    /// Throws `descriptorLost` if the program has closed the descriptor.
    func checkDescriptor() throws(StorageError) { try system(file.checkDescriptor()) }

    func size() throws(StorageError) -> UInt64 { try system(file.size()) }
    func identity() throws(StorageError) -> FileIdentity { try system(file.identity()) }
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(StorageError) {
        try system(file.read(into: buffer, at: offset))
    }
    func readFromDevice(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64)
        throws(StorageError)
    {
        try system(file.readFromDevice(into: buffer, at: offset))
    }
    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StorageError) {
        forget(offset, bytes.count)
        try system(file.write(bytes, at: offset))
    }
    func write(_ pieces: [UnsafeRawBufferPointer], at offset: UInt64) throws(StorageError) {
        forget(offset, pieces.reduce(0) { $0 + $1.count })
        try system(file.write(pieces, at: offset))
    }

    /// Writes zeros to pages.
    func clear(_ page: PageNumber, count: UInt64) throws(StorageError) {
        let piece = [UInt8](repeating: 0, count: 16 * Page.size)
        var offset = page.byteOffset
        let end = offset + count * UInt64(Page.size)
        while offset < end {
            let size = Int(min(end - offset, UInt64(piece.count)))
            try piece.withBytes { bytes throws(StorageError) in
                try write(UnsafeRawBufferPointer(rebasing: bytes[..<size]), at: offset)
            }
            offset += UInt64(size)
        }
    }

    func writeDurably(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StorageError) {
        forget(offset, bytes.count)
        try system(file.writeDurably(bytes, at: offset))
    }
    func writeOut(_ range: Range<UInt64>) throws(StorageError) {
        try system(file.writeOut(range))
    }
    func sync() throws(StorageError) { try system(file.sync()) }
    func grow(to size: UInt64) throws(StorageError) { try system(file.grow(to: size)) }
    /// No version may need bytes behind `size`.
    func truncate(to size: UInt64) throws(StorageError) { try system(file.truncate(to: size)) }
    func close() throws(StorageError) { try system(file.close()) }

    /// Written pages must be read again if they are buffered: a transaction may write its own pages
    /// more than once.
    private func forget(_ offset: UInt64, _ count: Int) {
        guard isBuffered, count > 0 else { return }
        let first = PageNumber(ofByte: offset)
        let last = PageNumber(ofByte: offset + UInt64(count) - 1)
        guard let (words, count) = presentWords(first, Int(last - first) + 1) else { return }
        for index in 0..<count where words[index].load(ordering: .relaxed) != 0 {
            words[index].store(Self.forgotten, ordering: .relaxed)
        }
    }
}

extension StorageError {
    /// Whether the mapping has nothing at an address.
    fileprivate var isBadAddress: Bool {
        if case .io(_, _, SystemError.badAddress) = self { true } else { false }
    }
}
