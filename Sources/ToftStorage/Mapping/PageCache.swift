internal import Synchronization
internal import ToftPlatform

/// The pages of the file in memory, and the record of those that have been verified.
///
/// One for each open file and store, shared by every snapshot and thread. The bytes at a page's
/// address may be read only if its word of verification says so: the birth version that the page
/// was verified for; 0 if it was not; `forgotten` if it takes memory that does not hold its bytes.
/// Rule 1, of addresses, is that of `RegionMap`.
///
/// 2. A page is remembered as verified by the birth version that its reference named: another
///    version in the same page is read and verified anew (another process may have reused it).
/// 3. `mapped`: a region is a shared mapping of the file, read only, which grows with the file.
///    Before a page is verified it is read into memory by a call that reports errors; the system
///    may evict it later and reads it again at an access, which cannot report one. A mapping may
///    show another file than the descriptor: on layered file systems (a container's image), the
///    first write copies the file up, and a mapping stays with the lower one. If a page can't be
///    verified, it is therefore read through the descriptor, and if that is right, it replaces the
///    mapped one; new snapshots then have another mapping. Pages that are written to such a cache
///    replace the mapped ones, too.
/// 4. `buffered`: a region is memory of this process. A page is read into it before it is verified,
///    and not again as long as it is remembered. So every error of the device, and a file that
///    others truncate, is an error of a call. A page is filled again only when another version is
///    in it, which no snapshot of this process can be reading. An encrypted file is decrypted
///    there, by whole extents: `verify` does that. Only an extent whose MAC is right replaces
///    another one: a salvage reads old extents whose pages newer ones have.
/// 5. `buffered`: memory holds at most the pages that the open snapshots have read, in blocks that
///    become whole once they are half filled, and, encrypted, pages written meanwhile, up to the
///    limit. When the last snapshot of the process ends and more than the limit is filled, all
///    memory is released. If there is always a snapshot, those opened with more filled have other
///    memory (`forSnapshot`).
/// 6. `scan`: a scan of an encrypted file has a cache of its own (`forScan`) and releases each
///    extent that it has passed (`release`).
final class PageCache: Sendable {
    /// The memory that pages are in.
    enum Mode: Sendable, Equatable {
        /// A mapping of the file.
        case mapped
        /// Memory of the process, kept up to a limit of bytes while no snapshot is open.
        case buffered(limit: Int = PageCache.defaultLimit)
        /// Memory that one scan fills and releases.
        case scan
    }

    let file: DataFile
    let mode: Mode
    /// Addresses of pages and their words of verification.
    let regions: RegionMap
    /// Held while pages are filled, and while pages replace mapped ones.
    let filled = FutexMutex(FilledPages())
    /// `mapped`: the last run of pages that was read, first page in the upper 40 bits, their number
    /// in the lower 24.
    let lastRun = Atomic<UInt64>(0)
    /// `mapped`: whether a page was seen that the mapping does not show.
    let isStale = Atomic<Bool>(false)
    /// `buffered`: number of open spaces of pages.
    private let readers = FutexMutex<Int>(0)
    /// The file with other memory, or another mapping, which new snapshots have; nil: this one.
    private let other = FutexMutex<PageCache?>(nil)

    /// Bytes that a buffered file may fill before new snapshots have other memory. A working set
    /// that takes more is read, and decrypted, again after each commit.
    static let defaultLimit = 256 << 20
    /// The word of verification of a page that takes memory, in which nothing is verified.
    static let forgotten = UInt64.max

    /// An encrypted file is never mapped: it is buffered then.
    init(_ file: DataFile, _ mode: Mode = .mapped) {
        self.file = file
        self.mode = mode == .mapped && file.cipher != nil ? .buffered() : mode
        regions = RegionMap(file, self.mode == .mapped ? .mapping : .memory)
    }

    /// In bytes.
    var limit: Int {
        switch mode {
        case .mapped: .max
        case .buffered(let limit): limit
        case .scan: Self.defaultLimit
        }
    }

    /// Whether a new snapshot has other memory than this.
    var isFull: Bool { mode != .mapped && filled.withLock { $0.size } > limit }

    /// Number of pages in memory of this process.
    var filledPages: Int { filled.withLock { $0.count } }

    // MARK: Other memory for the same file

    /// The cache for a new snapshot: this one, or if it is full or stale, another, which ends with
    /// the last snapshot that has it.
    func forSnapshot() -> PageCache {
        if !isFull && !isStale.load(ordering: .relaxed) { return self }
        return other.withLock { other in
            if let other, !other.isFull, !other.isStale.load(ordering: .relaxed) { return other }
            if mode == .mapped { file.renewMapping() }
            let next = reopened()
            other = next
            return next
        }
    }

    /// The file with a mapping of its own, as another process has it.
    func reopened() -> PageCache { PageCache(file, mode) }

    /// A cache of a quarter of the limit for one snapshot, which replaces another of its version
    /// whose memory is filled.
    func withFreshMemory() -> PageCache { PageCache(file, .buffered(limit: limit / 4)) }

    /// A cache for one thread's scan of much of the file; this one if the file is plain.
    func forScan() -> PageCache {
        if file.cipher == nil || mode == .scan { return self }
        return PageCache(file, .scan)
    }

    // MARK: Pages

    /// The address of a page, of which `count` must exist, with its words of verification.
    @inline(__always)
    func locate(_ page: PageNumber, count: Int) throws(StorageError) -> RegionMap.Location {
        try regions.locate(page, count: count)
    }

    /// The addresses of a page and its word of verification, if it and `further` pages behind it
    /// were located before; nil if not.
    @inline(__always)
    func located(_ page: PageNumber, further: Int = 0) -> RegionMap.Location? {
        regions.located(page, further: further)
    }

    /// Has the processor fetch the beginning of a page, which is about to be read, and its word of
    /// verification: all at once, not one after the other. Returns the page's address, if it was
    /// located before.
    @inline(__always)
    @discardableResult
    func prefetch(_ page: PageNumber, lines: Int) -> UnsafeRawPointer? {
        guard let (base, word) = located(page) else { return nil }
        UnsafeRawPointer(word).prefetch()
        for line in 0..<lines { (base + line &* 64).prefetch() }
        return base
    }

    // MARK: Readers

    /// Says that pages are going to be read. To be called before the first, and undone by
    /// `endReading` after the last.
    func beginReading() {
        if mode != .mapped { readers.withLock { $0 += 1 } }
    }

    func endReading() {
        guard mode != .mapped else { return }
        readers.withLock { readers in
            readers -= 1
            if readers == 0 { releaseAll() }
        }
    }

    private func releaseAll() {
        filled.withLock { filled in
            guard filled.size > limit else { return }
            filled.reset()
            regions.discard()
        }
    }

    /// Releases the memory of an extent that the scan has passed: its bytes may not be used any
    /// more. Does nothing if others may read it.
    func release(_ ref: Ref) {
        guard mode == .scan,
            let (base, words) = located(ref.page, further: Int(ref.pageCount) - 1),
            let memory = regions.memory(of: ref.page)
        else { return }
        filled.withLock { filled in
            for index in 0..<Int(ref.pageCount) { words[index].store(0, ordering: .relaxed) }
            filled.remove(Int(ref.pageCount))
            memory.discard(
                UnsafeMutableRawBufferPointer(
                    start: UnsafeMutableRawPointer(mutating: base),
                    count: Int(ref.pageCount) * Page.size))
        }
    }
}
