/// A leaf of an ordered tree that a writer may change, verified as an `OrderedLeaf` before.
struct OrderedLeafEditor {
    let base: UnsafeMutableRawPointer
    let page: PageNumber

    /// Makes an empty leaf for keys that all begin with `shared`.
    static func create(
        in base: UnsafeMutableRawPointer, page: PageNumber, shared: UnsafeRawBufferPointer
    ) -> OrderedLeafEditor {
        let low = Page.size - shared.count
        base.clear(
            at: OrderedLeafLayout.count, count: OrderedLeafLayout.slots - OrderedLeafLayout.count)
        if let source = shared.baseAddress { base.store(source, count: shared.count, at: low) }
        base.storeUInt16(low, at: OrderedLeafLayout.heapLow)
        base.storeUInt16(shared.isEmpty ? 0 : low, at: OrderedLeafLayout.sharedOffset)
        base.storeUInt16(shared.count, at: OrderedLeafLayout.sharedLength)
        return OrderedLeafEditor(base: base, page: page)
    }

    private var count: Int { base.reading.uint16(at: OrderedLeafLayout.count) }
    private var sharedLength: Int { base.reading.uint16(at: OrderedLeafLayout.sharedLength) }

    private func slot(_ index: Int) -> Int {
        OrderedLeafLayout.slots + index * OrderedLeafLayout.slotSize
    }

    /// Bytes between slots and heap.
    private var gap: Int { base.reading.uint16(at: OrderedLeafLayout.heapLow) - slot(count) }

    /// Bytes that slots, entries and shared bytes take, without garbage.
    var occupied: Int {
        OrderedLeafLayout.room - gap - base.reading.uint16(at: OrderedLeafLayout.garbage)
    }

    /// Adds an entry whose key begins with the shared bytes; false where there is no room even
    /// without garbage. `scratch` takes a page.
    func insert(at index: Int, _ entry: OrderedEntry, scratch: UnsafeMutableRawPointer)
        throws(StorageError) -> Bool
    {
        let size = entry.size(shared: sharedLength)
        if gap < size {
            guard gap + base.reading.uint16(at: OrderedLeafLayout.garbage) >= size else {
                return false
            }
            try compact(scratch: scratch)
            guard gap >= size else { return false }
        }
        put(entry, at: index)
        return true
    }

    private func put(_ entry: OrderedEntry, at index: Int) {
        guard let key = entry.key.baseAddress else {
            return put(
                KeySuffix(hint: 0, length: 0, tail: base), entry.stored, entry.isBlob, at: index)
        }
        put(
            KeySuffix(of: key, count: entry.key.count, shared: sharedLength), entry.stored,
            entry.isBlob, at: index)
    }

    private func put(
        _ suffix: KeySuffix, _ stored: UnsafeRawBufferPointer, _ isBlob: Bool, at index: Int
    ) {
        let count = count
        base.move(
            from: slot(index), to: slot(index + 1),
            count: (count - index) * OrderedLeafLayout.slotSize)
        let offset =
            base.reading.uint16(at: OrderedLeafLayout.heapLow) - suffix.tailLength - stored.count
        base.store(suffix.tail, count: suffix.tailLength, at: offset)
        if let value = stored.baseAddress {
            base.store(value, count: stored.count, at: offset + suffix.tailLength)
        }
        let slot = slot(index)
        base.storeUInt32(Int(suffix.hint), at: slot)
        let length = isBlob ? OrderedLeafLayout.blobLength : stored.count
        base.storeUInt32(
            (Page.size - offset) | suffix.length << OrderedLeafLayout.suffixShift
                | length << OrderedLeafLayout.valueShift, at: slot + OrderedLeafLayout.slotCell)
        base.storeUInt16(offset, at: OrderedLeafLayout.heapLow)
        base.storeUInt16(count + 1, at: OrderedLeafLayout.count)
        if index == count { noteLast() }
    }

    /// Writes the last entry's hint where a search looks for it.
    private func noteLast() {
        base.storeUInt32(
            count > 0 ? base.reading.uint32(at: slot(count - 1)) : 0, at: OrderedLeafLayout.lastHint
        )
    }

    /// Overwrites a value with one of the same length and form.
    func overwrite(_ entry: OrderedLeaf.Entry, with stored: UnsafeRawBufferPointer) {
        guard let value = entry.stored.baseAddress, let source = stored.baseAddress else { return }
        base.store(source, count: stored.count, at: value - base.reading)
    }

    /// Removes an entry that was read before.
    func remove(at index: Int, _ entry: OrderedLeaf.Entry) {
        let count = count
        base.move(
            from: slot(index + 1), to: slot(index),
            count: (count - index - 1) * OrderedLeafLayout.slotSize)
        base.storeUInt16(count - 1, at: OrderedLeafLayout.count)
        let garbage =
            base.reading.uint16(at: OrderedLeafLayout.garbage) + entry.suffix.tailLength
            + entry.stored.count
        base.storeUInt16(min(garbage, Int(UInt16.max)), at: OrderedLeafLayout.garbage)
        if index == count - 1 { noteLast() }
    }

    /// Removes several entries in a row.
    func remove(_ range: Range<Int>) throws(StorageError) {
        let leaf = try OrderedLeaf(base, page: page)
        var garbage = base.reading.uint16(at: OrderedLeafLayout.garbage)
        for index in range {
            let entry = try leaf.entry(index)
            garbage += entry.suffix.tailLength + entry.stored.count
        }
        base.move(
            from: slot(range.upperBound), to: slot(range.lowerBound),
            count: (leaf.count - range.upperBound) * OrderedLeafLayout.slotSize)
        base.storeUInt16(leaf.count - range.count, at: OrderedLeafLayout.count)
        base.storeUInt16(min(garbage, Int(UInt16.max)), at: OrderedLeafLayout.garbage)
        noteLast()
    }

    /// Appends one entry whose key begins with the shared bytes; a damaged leaf can have more than
    /// fits.
    func append(_ entry: OrderedEntry) throws(StorageError) {
        guard entry.key.count >= sharedLength, gap >= entry.size(shared: sharedLength) else {
            throw .corrupt(page: page, reason: "the entries of a leaf overlap or are out of order")
        }
        put(entry, at: count)
    }

    /// The same for one of which the bytes after the shared ones are known.
    @inline(__always)
    func append(_ suffix: KeySuffix, _ stored: UnsafeRawBufferPointer, _ isBlob: Bool)
        throws(StorageError)
    {
        guard gap >= OrderedLeafLayout.slotSize + suffix.tailLength + stored.count else {
            throw .corrupt(page: page, reason: "the entries of a leaf overlap or are out of order")
        }
        put(suffix, stored, isBlob, at: count)
    }

    private func compact(scratch: UnsafeMutableRawPointer) throws(StorageError) {
        scratch.store(base, count: Page.size, at: 0)
        let old = try OrderedLeaf(scratch, page: page)
        let new = OrderedLeafEditor.create(in: base, page: page, shared: old.shared)
        for index in 0..<old.count {
            let entry = try old.entry(index)
            guard new.gap >= entry.size() else {
                throw .corrupt(page: page, reason: "the entries of a leaf overlap")
            }
            new.put(entry.suffix, entry.stored, entry.isBlob, at: index)
        }
    }
}
