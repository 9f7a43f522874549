internal import ToftPlatform

/// A leaf of an ordered tree, for reading. Its header is verified when it is made, an entry when it
/// is read.
struct OrderedLeaf {
    let base: UnsafeRawPointer
    let page: PageNumber
    let count: Int
    private let heapLow: Int
    /// The common prefix of all keys.
    let shared: UnsafeRawBufferPointer
    /// The bytes near the ends of those keys whose form says so.
    let middle: UnsafeRawBufferPointer

    @inline(__always)
    init(_ base: UnsafeRawPointer, page: PageNumber) throws(StorageError) {
        count = base.uint16(at: OrderedLeafLayout.count)
        heapLow = base.uint16(at: OrderedLeafLayout.heapLow)
        let length = base.uint16(at: OrderedLeafLayout.sharedLength)
        let middleLength = base.uint16(at: OrderedLeafLayout.middleLength)
        guard ExtentHeader.isPlain(base),
            OrderedLeafLayout.slots + count * OrderedLeafLayout.slotSize <= heapLow,
            heapLow &+ length &+ middleLength <= Page.size, length <= TreeLimits.key,
            middleLength == 0
                || (middleLength >= OrderedLeafLayout.shortestMiddle
                    && middleLength <= OrderedLeafLayout.longestMiddle)
        else { throw .corrupt(page: page, reason: "an ordered leaf contradicts itself") }
        self.base = base
        self.page = page
        let start = base + (Page.size &- length)
        shared = UnsafeRawBufferPointer(start: start, count: length)
        middle = UnsafeRawBufferPointer(start: start - middleLength, count: middleLength)
    }

    /// One entry of the leaf, its bytes verified to be within the heap.
    struct Entry {
        let suffix: KeySuffix
        let stored: UnsafeRawBufferPointer
        let isBlob: Bool
        /// True if its form is in the heap.
        let isSpelledOut: Bool

        /// Bytes in the heap.
        @inline(__always)
        var heapSize: Int {
            suffix.form.heapSize &+ (isSpelledOut ? OrderedLeafLayout.formSize : 0)
        }

        /// The reference of the blob; nil if the value is in the leaf.
        var blob: Ref? { isBlob ? stored.baseAddress.map { Ref(decoding: $0) } : nil }
    }

    @inline(__always)
    private func slot(_ index: Int) -> Int {
        OrderedLeafLayout.slots &+ index &* OrderedLeafLayout.slotSize
    }

    @inline(__always)
    private func hint(_ index: Int) -> UInt32 {
        UInt32(truncatingIfNeeded: base.uint32(at: slot(index)))
    }

    /// An entry whose key is not read, its bytes verified to be within the heap.
    struct Stored {
        let hint: UInt32
        /// The index of its form among those of the leaf; `OrderedLeafLayout.formLimit` if it is in
        /// the heap.
        let place: Int
        let form: LeafForm
        /// As many bytes as the form says.
        let heap: UnsafeRawPointer

        /// The value, or the reference of its blob.
        @inline(__always)
        var value: (stored: UnsafeRawBufferPointer, isBlob: Bool) {
            let length = form.valueLength
            let start = heap + (form.heapSize &- length)
            return (UnsafeRawBufferPointer(start: start, count: length), form.isBlob)
        }
    }

    /// Entry `index`, which is below `count`.
    @inline(__always)
    func entry(_ index: Int) throws(StorageError) -> Entry {
        let stored = try stored(index)
        let (value, isBlob) = stored.value
        return Entry(
            suffix: KeySuffix(
                hint: stored.hint, form: stored.form, heap: stored.heap, around: middle),
            stored: value, isBlob: isBlob,
            isSpelledOut: stored.place == OrderedLeafLayout.formLimit)
    }

    /// The stored form of entry `index`, which is below `count`; throws if its bytes are out of
    /// bounds.
    @inline(__always)
    func stored(_ index: Int) throws(StorageError) -> Stored {
        let cell = base.uint16(at: slot(index) &+ OrderedLeafLayout.slotCell)
        var offset = Page.size &- cell & OrderedLeafLayout.offsetMask
        let place = cell >> OrderedLeafLayout.formShift
        let form: LeafForm
        if place == OrderedLeafLayout.formLimit {
            guard offset >= heapLow, offset &+ OrderedLeafLayout.formSize <= Page.size else {
                throw outside
            }
            form = LeafForm(bits: base.uint32(at: offset))
            offset &+= OrderedLeafLayout.formSize
        } else {
            form = LeafForms.form(place, in: base)
        }
        let length = form.hasMiddle ? form.own &+ middle.count : form.own
        guard offset >= heapLow, offset &+ form.heapSize <= Page.size, form.head >= 0,
            !form.hasMiddle || !middle.isEmpty, shared.count &+ length <= TreeLimits.key
        else { throw outside }
        return Stored(hint: hint(index), place: place, form: form, heap: base + offset)
    }

    private var outside: StorageError {
        .corrupt(page: page, reason: "an entry is outside its leaf")
    }

    /// The place of an entry's form.
    @inline(__always)
    func formPlace(_ index: Int) -> Int {
        base.uint16(at: slot(index) &+ OrderedLeafLayout.slotCell) >> OrderedLeafLayout.formShift
    }

    /// The whole key of an entry, assembled in memory for `TreeLimits.key` bytes and four more.
    @inline(__always)
    func key(of entry: Entry, in memory: UnsafeMutableRawPointer) -> UnsafeRawBufferPointer {
        if let source = shared.baseAddress {
            memory.copyMemory(from: source, byteCount: shared.count)
        }
        entry.suffix.write(to: memory + shared.count)
        return UnsafeRawBufferPointer(start: memory, count: shared.count &+ entry.suffix.length)
    }

    /// Entry `index` with its whole key, assembled in `memory`.
    func whole(_ index: Int, in memory: UnsafeMutableRawPointer) throws(StorageError)
        -> OrderedEntry
    {
        let entry = try entry(index)
        return OrderedEntry(
            key: key(of: entry, in: memory), stored: entry.stored, isBlob: entry.isBlob)
    }

    /// The first entry that is not before `key`, and whether it is the key's own.
    @inline(__always)
    func search(_ key: UnsafeRawBufferPointer) throws(StorageError) -> (index: Int, found: Bool) {
        guard let start = key.baseAddress, let head = shared.baseAddress else {
            return (0, try isFirstEmpty())
        }
        let order = compareBytes(start, min(key.count, shared.count), head, shared.count)
        if order < 0 { return (0, false) }
        if order > 0 { return (count, false) }
        return try search(KeySuffix(of: start, count: key.count, shared: shared.count))
    }

    /// True if the key of entry `index`, which is below `count`, may begin with `prefix`, judged by
    /// its slot alone: false is certain.
    @inline(__always)
    func mayBegin(_ index: Int, with prefix: UnsafeRawBufferPointer) -> Bool {
        guard prefix.count >= shared.count &+ OrderedLeafLayout.hintSize,
            let start = prefix.baseAddress, let head = shared.baseAddress
        else { return true }
        return compareBytes(start, shared.count, head, shared.count) == 0
            && hint(index)
                == KeySuffix(of: start, count: prefix.count, shared: shared.count).hint
    }

    private func isFirstEmpty() throws(StorageError) -> Bool {
        guard count > 0, shared.isEmpty else { return false }
        return try entry(0).suffix.length == 0
    }

    /// The value of a key, or the reference of its blob; nil if the leaf does not have the key. If
    /// keys have no gaps, the first probe finds it.
    @inline(__always)
    func value(of key: UnsafeRawBufferPointer) throws(StorageError) -> (
        stored: UnsafeRawBufferPointer, isBlob: Bool
    )? {
        if count > 0, let start = key.baseAddress, let head = shared.baseAddress,
            key.count >= shared.count,
            compareBytes(start, shared.count, head, shared.count) == 0
        {
            let suffix = KeySuffix(of: start, count: key.count, shared: shared.count)
            let index = guess(suffix.hint)
            if hint(index) == suffix.hint {
                let stored = try stored(index), form = stored.form
                if !form.hasMiddle, form.own == suffix.length,
                    compareBytes(
                        stored.heap, suffix.tailLength, suffix.tail, suffix.tailLength) == 0
                {
                    return stored.value
                }
            }
        }
        let (index, found) = try search(key)
        return found ? try stored(index).value : nil
    }

    /// The first probe is at the key's position if all keys are spread evenly, the next ones near
    /// it: a leaf outside of the caches costs two or three cache lines, not six.
    @inline(__always)
    private func search(_ suffix: KeySuffix) throws(StorageError) -> (index: Int, found: Bool) {
        var low = 0
        var high = count
        var middle = guess(suffix.hint)
        var reach = 4
        while low < high {
            let hint = hint(middle)
            var order = hint < suffix.hint ? -1 : 1
            if hint == suffix.hint {
                order = try entry(middle).suffix.compareRest(suffix)
                if order == 0 { return (middle, true) }
            }
            if order < 0 {
                low = middle &+ 1
                middle = min(low &+ reach, (low &+ high) >> 1)
            } else {
                high = middle
                middle = max(high &- reach, (low &+ high) >> 1)
            }
            reach <<= 2
        }
        return (low, false)
    }

    /// Prefetches the parts of a leaf at `base` that a search reads: the header, the forms, the
    /// shared bytes, the slot at the `share` of `count` entries, and its bytes, if those of all
    /// entries, `heap` bytes, are in order and equally long.
    @inline(__always)
    static func fetch(_ base: UnsafeRawPointer, at share: Float, of count: Int, heap: Int = 0) {
        base.prefetch()
        (base + OrderedLeafLayout.slots).prefetch()
        (base + (Page.size &- 1)).prefetch()
        let place = Int(share * Float(count) + 0.5) &* OrderedLeafLayout.slotSize
        if place < OrderedLeafLayout.room { (base + (OrderedLeafLayout.slots &+ place)).prefetch() }
        let behind = Int(share * Float(heap))
        if behind < Page.size { (base + (Page.size &- 1 &- behind)).prefetch() }
    }

    @inline(__always)
    private func guess(_ wanted: UInt32) -> Int {
        guard count > 0 else { return 0 }
        let last = count &- 1
        let lowest = hint(0),
            highest = UInt32(truncatingIfNeeded: base.uint32(at: OrderedLeafLayout.lastHint))
        if wanted <= lowest { return 0 }
        if wanted >= highest { return last }
        // Rounded: exact if keys have no gaps.
        return Int(Float(wanted &- lowest) / Float(highest &- lowest) * Float(last) + 0.5)
    }

    /// Bytes of the heap, with those that no entry takes any more.
    var heapSize: Int { Page.size &- heapLow }

    /// Bytes that no entry takes.
    var freeBytes: Int {
        heapLow - slot(count) + base.uint16(at: OrderedLeafLayout.garbage)
    }

    /// Bytes that the shared bytes, the middle, slots and entries take.
    func usedBytes() throws(StorageError) -> Int {
        var sum = shared.count + middle.count
        for index in 0..<count { sum += OrderedLeafLayout.slotSize + (try entry(index).heapSize) }
        return sum
    }
}
