/// A leaf of an ordered tree, for reading. Its header is verified when it is made, an entry when it is asked for.
struct OrderedLeaf {
    let base: UnsafeRawPointer
    let page: UInt64
    let count: Int
    private let heapLow: Int

    @inline(__always)
    init(_ base: UnsafeRawPointer, page: UInt64) throws(StorageError) {
        count = base.uint16(at: OrderedLeafLayout.count)
        heapLow = base.uint16(at: OrderedLeafLayout.heapLow)
        guard OrderedLeafLayout.slots + count * OrderedLeafLayout.slotSize <= heapLow, heapLow <= Page.size else {
            throw .corrupt(page: page, reason: "an ordered leaf contradicts itself")
        }
        self.base = base
        self.page = page
    }

    /// One entry, its bytes verified to lie in the heap.
    struct Entry {
        let key: UnsafeRawBufferPointer
        /// The value, or the reference of the blob that holds it.
        let stored: UnsafeRawBufferPointer
        let isBlob: Bool

        var size: Int { OrderedLeafLayout.slotSize + key.count + stored.count }
    }

    /// Entry `index`, which is below `count`.
    @inline(__always)
    func entry(_ index: Int) throws(StorageError) -> Entry {
        let slot = OrderedLeafLayout.slots &+ index &* OrderedLeafLayout.slotSize
        let offset = base.uint16(at: slot)
        let keyLength = base.uint16(at: slot &+ OrderedLeafLayout.slotKeyLength)
        let value = base.uint16(at: slot &+ OrderedLeafLayout.slotValueLength)
        let valueLength = value & ~OrderedLeafLayout.blobFlag
        let isBlob = value & OrderedLeafLayout.blobFlag != 0
        guard offset >= heapLow, offset &+ keyLength &+ valueLength <= Page.size, keyLength <= TreeLimits.key,
            isBlob ? valueLength == Ref.size : valueLength <= TreeLimits.inlineValue
        else { throw .corrupt(page: page, reason: "an entry lies outside its leaf") }
        return Entry(
            key: UnsafeRawBufferPointer(start: base + offset, count: keyLength),
            stored: UnsafeRawBufferPointer(start: base + offset + keyLength, count: valueLength), isBlob: isBlob)
    }

    /// The first entry that is not before `key`, and whether it is the key's own.
    @inline(__always)
    func search(_ key: UnsafeRawBufferPointer) throws(StorageError) -> (index: Int, found: Bool) {
        guard let bytes = key.baseAddress, key.count > 0 else {
            return count > 0 ? (0, try entry(0).key.isEmpty) : (0, false)
        }
        var low = 0
        var high = count
        while low < high {
            let middle = (low &+ high) >> 1
            let other = try entry(middle).key
            let order = other.baseAddress.map { compareBytes($0, other.count, bytes, key.count) } ?? -1
            if order == 0 { return (middle, true) }
            if order < 0 { low = middle &+ 1 } else { high = middle }
        }
        return (low, false)
    }

    /// Bytes that slots and entries take.
    func usedBytes() throws(StorageError) -> Int {
        var sum = 0
        for index in 0..<count { sum += try entry(index).size }
        return sum
    }
}

/// A leaf of an ordered tree that a writer may change, verified as an `OrderedLeaf` before.
struct OrderedLeafEditor {
    let base: UnsafeMutableRawPointer
    let page: UInt64

    /// Makes an empty leaf.
    static func create(in base: UnsafeMutableRawPointer, page: UInt64) -> OrderedLeafEditor {
        base.clear(at: OrderedLeafLayout.count, count: OrderedLeafLayout.slots - OrderedLeafLayout.count)
        base.storeUInt16(Page.size, at: OrderedLeafLayout.heapLow)
        return OrderedLeafEditor(base: base, page: page)
    }

    private var count: Int { base.reading.uint16(at: OrderedLeafLayout.count) }

    private func slot(_ index: Int) -> Int { OrderedLeafLayout.slots + index * OrderedLeafLayout.slotSize }

    /// Bytes between slots and heap.
    private var gap: Int { base.reading.uint16(at: OrderedLeafLayout.heapLow) - slot(count) }

    /// Adds an entry; false where there is no room even without garbage. `scratch` takes a page.
    func insert(at index: Int, _ entry: OrderedLeaf.Entry, scratch: UnsafeMutableRawPointer) throws(StorageError) -> Bool {
        if gap < entry.size {
            guard gap + base.reading.uint16(at: OrderedLeafLayout.garbage) >= entry.size else { return false }
            try compact(scratch: scratch)
            guard gap >= entry.size else { return false }
        }
        place(entry, at: index)
        return true
    }

    private func place(_ entry: OrderedLeaf.Entry, at index: Int) {
        let count = count
        base.move(from: slot(index), to: slot(index + 1), count: (count - index) * OrderedLeafLayout.slotSize)
        let offset = base.reading.uint16(at: OrderedLeafLayout.heapLow) - entry.key.count - entry.stored.count
        if let key = entry.key.baseAddress { base.store(key, count: entry.key.count, at: offset) }
        if let value = entry.stored.baseAddress { base.store(value, count: entry.stored.count, at: offset + entry.key.count) }
        let slot = slot(index)
        base.storeUInt16(offset, at: slot)
        base.storeUInt16(entry.key.count, at: slot + OrderedLeafLayout.slotKeyLength)
        base.storeUInt16(entry.stored.count | (entry.isBlob ? OrderedLeafLayout.blobFlag : 0), at: slot + OrderedLeafLayout.slotValueLength)
        base.storeUInt16(offset, at: OrderedLeafLayout.heapLow)
        base.storeUInt16(count + 1, at: OrderedLeafLayout.count)
    }

    /// Overwrites a value with one of the same length and form.
    func overwrite(_ entry: OrderedLeaf.Entry, with stored: UnsafeRawBufferPointer) {
        guard let place = entry.stored.baseAddress, let source = stored.baseAddress else { return }
        base.store(source, count: stored.count, at: place - base.reading)
    }

    /// Removes an entry that was read before.
    func remove(at index: Int, _ entry: OrderedLeaf.Entry) {
        let count = count
        base.move(from: slot(index + 1), to: slot(index), count: (count - index - 1) * OrderedLeafLayout.slotSize)
        base.storeUInt16(count - 1, at: OrderedLeafLayout.count)
        let garbage = base.reading.uint16(at: OrderedLeafLayout.garbage) + entry.key.count + entry.stored.count
        base.storeUInt16(min(garbage, Int(UInt16.max)), at: OrderedLeafLayout.garbage)
    }

    /// Appends entries of another leaf.
    func append(_ range: Range<Int>, of source: OrderedLeaf) throws(StorageError) {
        for index in range { try append(try source.entry(index), source.page) }
    }

    /// Appends one entry; a leaf whose entries overlap can run out of room.
    func append(_ entry: OrderedLeaf.Entry, _ page: UInt64) throws(StorageError) {
        guard gap >= entry.size else { throw .corrupt(page: page, reason: "the entries of a leaf overlap") }
        place(entry, at: count)
    }

    private func compact(scratch: UnsafeMutableRawPointer) throws(StorageError) {
        scratch.store(base, count: Page.size, at: 0)
        let old = try OrderedLeaf(scratch, page: page)
        try OrderedLeafEditor.create(in: base, page: page).append(0..<old.count, of: old)
    }
}
