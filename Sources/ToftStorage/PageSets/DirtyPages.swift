/// The extents that a write transaction holds in memory, by page number: open addressing, no
/// reference counting on look-up.
///
/// Used by one thread at a time, the writer's.
struct DirtyPages: ~Copyable {
    struct Extent {
        /// 0 marks an empty slot, 1 a removed one; data pages begin at 2.
        var page: PageNumber
        var base: UnsafeMutableRawPointer
        var pageCount: Int32
        var type: ExtentType

        /// In bytes.
        var size: Int { Int(pageCount) * Page.size }
    }

    private static let empty: PageNumber = 0
    private static let removed: PageNumber = 1
    /// Slots that an empty table may have.
    private static let keptCapacity = 1024

    private var slots: UnsafeMutablePointer<Extent>
    private var capacity: Int
    /// Slots that hold an extent or once held one.
    private var used = 0
    private(set) var count = 0
    /// Memory held by the extents.
    private(set) var bytes = 0
    /// Whether the memory of removed extents is kept for readers that borrowed it; otherwise the
    /// next removal releases it.
    private(set) var isKeeping = false
    private var kept: [Extent] = []
    /// Pages inserted since keeping began: not borrowed yet. Some may have been removed again.
    private var fresh: [PageNumber] = []
    /// Bytes of `fresh`.
    private(set) var freshBytes = 0
    private var blocks = BlockPool()

    init(capacity: Int = 64) {
        self.capacity = capacity
        slots = Self.makeSlots(capacity)
    }

    deinit {
        for index in 0..<capacity where slots[index].page > Self.removed {
            slots[index].base.deallocate()
        }
        blocks.deallocate()
        slots.deallocate()
        for extent in kept { extent.base.deallocate() }
    }

    /// Forgets all extents.
    mutating func removeAll() {
        giveBackKept()
        defer { if capacity > Self.keptCapacity { rehash() } }
        for index in 0..<capacity where slots[index].page != Self.empty {
            if slots[index].page != Self.removed {
                blocks.give(slots[index].base, pageCount: Int(slots[index].pageCount))
            }
            slots[index].page = Self.empty
        }
        used = 0
        count = 0
        bytes = 0
        blocks.keepFew()
    }

    /// Keeps that much memory of discarded extents for later ones.
    mutating func keepMemory(of bytes: Int) { blocks.keep(pages: bytes / Page.size) }

    private static func makeSlots(_ capacity: Int) -> UnsafeMutablePointer<Extent> {
        let slots = UnsafeMutablePointer<Extent>.allocate(capacity: capacity)
        let nowhere = UnsafeMutableRawPointer(slots)
        slots.initialize(
            repeating: Extent(page: empty, base: nowhere, pageCount: 0, type: .blob),
            count: capacity)
        return slots
    }

    @inline(__always)
    private func home(_ page: PageNumber) -> Int {
        Int(truncatingIfNeeded: (page.rawValue &* 0x9E37_79B9_7F4A_7C15) >> 32) & (capacity &- 1)
    }

    @inline(__always)
    func find(_ page: PageNumber) -> Extent? {
        guard page > Self.removed else { return nil }
        var index = home(page)
        while true {
            let found = slots[index].page
            if found == page { return slots[index] }
            if found == Self.empty { return nil }
            index = (index &+ 1) & (capacity &- 1)
        }
    }

    /// Makes memory for an extent, zeroed unless the caller fills all of it, and remembers it.
    mutating func insert(
        _ page: PageNumber, pageCount: Int, type: ExtentType, isZeroed: Bool = true
    )
        -> UnsafeMutableRawPointer
    {
        if (used + 1) * 4 > capacity * 3 { rehash() }
        let size = pageCount * Page.size
        let base = blocks.take(pageCount: pageCount)
        if isZeroed { base.initializeMemory(as: UInt8.self, repeating: 0, count: size) }
        put(
            Extent(
                page: page, base: base, pageCount: Int32(truncatingIfNeeded: pageCount), type: type)
        )
        count += 1
        bytes += size
        if isKeeping {
            fresh.append(page)
            freshBytes += size
        }
        return base
    }

    /// Removes an extent and releases its memory, unless it is to be kept.
    mutating func remove(_ page: PageNumber) {
        guard let extent = take(page) else { return }
        if isKeeping { return kept.append(extent) }
        blocks.give(extent.base, pageCount: Int(extent.pageCount))
        giveBackKept()
    }

    /// Removes an extent without borrowers, and releases its memory.
    mutating func discard(_ page: PageNumber) {
        guard let extent = take(page) else { return }
        blocks.give(extent.base, pageCount: Int(extent.pageCount))
    }

    private mutating func take(_ page: PageNumber) -> Extent? {
        var index = home(page)
        while slots[index].page != page {
            if slots[index].page == Self.empty { return nil }
            index = (index &+ 1) & (capacity &- 1)
        }
        let extent = slots[index]
        slots[index].page = Self.removed
        count -= 1
        bytes -= extent.size
        return extent
    }

    // MARK: Keeping

    /// Keeps the memory of extents removed from now on.
    mutating func beginKeeping() {
        isKeeping = true
        fresh.removeAll(keepingCapacity: true)
        freshBytes = 0
    }

    /// Ends keeping. Kept extents stay until the next removal.
    mutating func endKeeping() { isKeeping = false }

    /// The extents that were inserted since it began to keep, or since the last call, and satisfy a
    /// condition, in the order of their pages.
    mutating func takeFresh(where isWanted: (Extent) -> Bool) -> [Extent] {
        fresh.sort()
        var found: [Extent] = []
        for page in fresh where page != found.last?.page {
            if let extent = find(page), isWanted(extent) { found.append(extent) }
        }
        fresh.removeAll(keepingCapacity: true)
        freshBytes = 0
        return found
    }

    /// Releases memory kept for readers: borrowed bytes are not read any more.
    mutating func giveBackKept() {
        guard !kept.isEmpty else { return }
        for extent in kept { blocks.give(extent.base, pageCount: Int(extent.pageCount)) }
        kept = []
    }

    /// The extents that satisfy a condition, in the order of their pages.
    func sorted(where isWanted: (Extent) -> Bool) -> [Extent] {
        var found: [Extent] = []
        found.reserveCapacity(count)
        for index in 0..<capacity where slots[index].page > Self.removed && isWanted(slots[index]) {
            found.append(slots[index])
        }
        found.sort { $0.page < $1.page }
        return found
    }

    private mutating func put(_ extent: Extent) {
        var index = home(extent.page)
        while slots[index].page > Self.removed { index = (index &+ 1) & (capacity &- 1) }
        if slots[index].page == Self.empty { used += 1 }
        slots[index] = extent
    }

    private mutating func rehash() {
        let old = slots
        let oldCapacity = capacity
        capacity = max(64, (count + 1) * 4).nextPowerOfTwo
        slots = Self.makeSlots(capacity)
        used = 0
        for index in 0..<oldCapacity where old[index].page > Self.removed { put(old[index]) }
        old.deallocate()
    }
}

extension Int {
    /// The smallest power of two that is not below a positive number.
    var nextPowerOfTwo: Int { self <= 1 ? 1 : 1 << (Int.bitWidth - (self - 1).leadingZeroBitCount) }
}
