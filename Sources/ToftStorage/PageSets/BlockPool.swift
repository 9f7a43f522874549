/// Memory of extents that were given up, kept for the next ones of the same length: one small
/// commit after the other uses the same blocks, which the processor's cache still holds.
///
/// Each kept block begins with the address of the next of its length.
struct BlockPool {
    /// Pages of the longest blocks that are kept.
    private static let longest = 16
    /// The content of kept blocks in debug builds.
    static let poison: UInt8 = 0xDB
    /// Pages that are kept in all, for small transactions.
    private static let few = 256

    /// The first block of each length; nil until one is given.
    private var first: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
    private var pages = 0
    /// Pages that are kept in all.
    private var most = Self.few

    /// Memory for an extent, with whatever was in it before.
    mutating func take(pageCount: Int) -> UnsafeMutableRawPointer {
        guard pageCount <= Self.longest, let first, let block = first[pageCount - 1] else {
            // Of other lengths there are enough: the memory of all together does not grow.
            if pages > Self.few { drop(pageCount) }
            return .allocate(byteCount: pageCount * Page.size, alignment: 16)
        }
        first[pageCount - 1] = block.load(as: UnsafeMutableRawPointer?.self)
        pages -= pageCount
        return block
    }

    /// Takes memory back.
    mutating func give(_ block: UnsafeMutableRawPointer, pageCount: Int) {
        guard pageCount <= Self.longest, pages + pageCount <= most else {
            return block.deallocate()
        }
        let first = first ?? made()
        #if DEBUG || TOFT_TRIALS
        // A stale read of the extent that was here must be noticed.
        block.initializeMemory(
            as: UInt8.self, repeating: Self.poison, count: pageCount * Page.size)
        #endif
        block.storeBytes(of: first[pageCount - 1], as: UnsafeMutableRawPointer?.self)
        first[pageCount - 1] = block
        pages += pageCount
    }

    /// Keeps more from now on, for a transaction that writes extents out to make room for others.
    mutating func keep(pages: Int) { most = max(pages, Self.few) }

    /// Ends that.
    mutating func keepFew() {
        most = Self.few
        if pages > Self.few { drop(pages - Self.few) }
    }

    /// Releases at least `count` pages.
    private mutating func drop(_ count: Int) {
        guard let first else { return }
        let rest = max(0, pages - count)
        for length in (0..<Self.longest).reversed() {
            while pages > rest, let block = first[length] {
                first[length] = block.load(as: UnsafeMutableRawPointer?.self)
                block.deallocate()
                pages -= length + 1
            }
        }
    }

    private mutating func made() -> UnsafeMutablePointer<UnsafeMutableRawPointer?> {
        let made = UnsafeMutablePointer<UnsafeMutableRawPointer?>.allocate(capacity: Self.longest)
        made.initialize(repeating: nil, count: Self.longest)
        first = made
        return made
    }

    /// The end of all that is kept. The blocks must not be used again.
    func deallocate() {
        guard let first else { return }
        for length in 0..<Self.longest {
            var block = first[length]
            while let next = block {
                block = next.load(as: UnsafeMutableRawPointer?.self)
                next.deallocate()
            }
        }
        first.deallocate()
    }
}
