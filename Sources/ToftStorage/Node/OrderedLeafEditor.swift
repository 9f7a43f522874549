/// A leaf of an ordered tree that a writer may change, verified as an `OrderedLeaf` before.
struct OrderedLeafEditor {
    let base: UnsafeMutableRawPointer
    let page: PageNumber

    /// Makes an empty leaf for keys that all begin with `shared`, most of them with `middle`. The
    /// forms of another leaf that shares `fewer` bytes more come first.
    static func create(
        in base: UnsafeMutableRawPointer, page: PageNumber, shared: UnsafeRawBufferPointer,
        middle: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0),
        forms: UnsafeRawPointer? = nil, sharingFewer fewer: Int = 0
    ) -> OrderedLeafEditor {
        let start = Page.size - shared.count
        let low = start - middle.count
        base.clear(
            at: OrderedLeafLayout.count, count: OrderedLeafLayout.slots - OrderedLeafLayout.count)
        if let source = shared.baseAddress { base.store(source, count: shared.count, at: start) }
        if let source = middle.baseAddress { base.store(source, count: middle.count, at: low) }
        base.storeUInt16(low, at: OrderedLeafLayout.heapLow)
        base.storeUInt16(shared.count, at: OrderedLeafLayout.sharedLength)
        base.storeUInt16(middle.count, at: OrderedLeafLayout.middleLength)
        let leaf = OrderedLeafEditor(base: base, page: page)
        if let forms { leaf.forms.replaceAll(by: forms, sharingFewer: fewer) }
        return leaf
    }

    /// The forms that its entries share.
    private var forms: LeafForms { LeafForms(base: base) }

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

    /// Adds an entry whose key begins with the shared bytes; false if there is no room even without
    /// garbage. `scratch` takes a page.
    func insert(at index: Int, _ entry: OrderedEntry, scratch: UnsafeMutableRawPointer)
        throws(StorageError) -> Bool
    {
        let suffix = suffix(of: entry.key)
        if put(suffix, entry.stored, entry.isBlob, at: index) { return true }
        guard base.reading.uint16(at: OrderedLeafLayout.garbage) > 0 else { return false }
        try compact(scratch: scratch)
        return put(suffix, entry.stored, entry.isBlob, at: index)
    }

    /// The part of a key that the leaf's keys do not share.
    @inline(__always)
    private func suffix(of key: UnsafeRawBufferPointer) -> KeySuffix {
        let length = base.reading.uint16(at: OrderedLeafLayout.middleLength)
        let shared = sharedLength
        return KeySuffix(
            of: key.baseAddress ?? base.reading, count: key.count, shared: shared,
            around: UnsafeRawBufferPointer(
                start: base + (Page.size - shared - length), count: length))
    }

    /// False if there is no room between slots and heap.
    private func put(
        _ suffix: KeySuffix, _ stored: UnsafeRawBufferPointer, _ isBlob: Bool, at index: Int
    ) -> Bool {
        let form = suffix.form.with(stored, isBlob: isBlob)
        let place = forms.place(of: form)
        let size = forms.size(of: form, at: place)
        let count = count
        let low = base.reading.uint16(at: OrderedLeafLayout.heapLow)
        guard low - slot(count) >= size else { return false }
        base.move(
            from: slot(index), to: slot(index + 1),
            count: (count - index) * OrderedLeafLayout.slotSize)
        let offset = low - size + OrderedLeafLayout.slotSize
        var next = offset
        if place == OrderedLeafLayout.formLimit {
            base.storeUInt32(Int(form.bits), at: next)
            next += OrderedLeafLayout.formSize
        } else {
            forms.add(form, at: place)
        }
        base.store(suffix.tail, count: suffix.tailLength, at: next)
        next += suffix.tailLength
        if suffix.endLength > 0 {
            base.store(suffix.end, count: suffix.endLength, at: next)
            next += suffix.endLength
        }
        if let value = stored.baseAddress { base.store(value, count: stored.count, at: next) }
        writeSlot(index, suffix.hint, offset, place)
        base.storeUInt16(count + 1, at: OrderedLeafLayout.count)
        if index == count { noteLast() }
        return true
    }

    /// Writes the slot of an entry at the beginning of the heap, which is `offset` now.
    @inline(__always)
    private func writeSlot(_ index: Int, _ hint: UInt32, _ offset: Int, _ place: Int) {
        let slot = slot(index)
        base.storeUInt32(Int(hint), at: slot)
        base.storeUInt16(
            (Page.size - offset) | place << OrderedLeafLayout.formShift,
            at: slot + OrderedLeafLayout.slotCell)
        base.storeUInt16(offset, at: OrderedLeafLayout.heapLow)
    }

    /// Writes the last entry's hint to the header, for searches.
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
            base.reading.uint16(at: OrderedLeafLayout.garbage) + entry.heapSize
        base.storeUInt16(min(garbage, Int(UInt16.max)), at: OrderedLeafLayout.garbage)
        if index == count - 1 { noteLast() }
    }

    /// Removes several entries in a row.
    func remove(_ range: Range<Int>) throws(StorageError) {
        let leaf = try OrderedLeaf(base, page: page)
        var garbage = base.reading.uint16(at: OrderedLeafLayout.garbage)
        for index in range {
            let entry = try leaf.entry(index)
            garbage += entry.heapSize
        }
        base.move(
            from: slot(range.upperBound), to: slot(range.lowerBound),
            count: (leaf.count - range.upperBound) * OrderedLeafLayout.slotSize)
        base.storeUInt16(leaf.count - range.count, at: OrderedLeafLayout.count)
        base.storeUInt16(min(garbage, Int(UInt16.max)), at: OrderedLeafLayout.garbage)
        noteLast()
    }

    /// Appends one entry whose key begins with the shared bytes; false if there is no room.
    func append(_ entry: OrderedEntry) throws(StorageError) -> Bool {
        guard entry.key.count >= sharedLength else { throw outOfOrder }
        return put(suffix(of: entry.key), entry.stored, entry.isBlob, at: count)
    }

    /// Appends an entry of a leaf with the same shared bytes and middle, with the index of its
    /// form.
    @inline(__always)
    func append(_ entry: OrderedLeaf.Stored, place: Int) -> Bool {
        let count = count
        let low = base.reading.uint16(at: OrderedLeafLayout.heapLow)
        guard low - slot(count) >= forms.size(of: entry.form, at: place) else { return false }
        let size = entry.form.heapSize
        var offset = low - size
        base.store(entry.heap, count: size, at: offset)
        if place == OrderedLeafLayout.formLimit {
            offset -= OrderedLeafLayout.formSize
            base.storeUInt32(Int(entry.form.bits), at: offset)
        } else {
            forms.add(entry.form, at: place)
        }
        writeSlot(count, entry.hint, offset, place)
        base.storeUInt16(count + 1, at: OrderedLeafLayout.count)
        base.storeUInt32(Int(entry.hint), at: OrderedLeafLayout.lastHint)
        return true
    }

    /// The index of a form, or the one that it would get.
    func place(of form: LeafForm) -> Int { forms.place(of: form) }

    /// A damaged leaf can have more than fits.
    var outOfOrder: StorageError {
        .corrupt(page: page, reason: "the entries of a leaf overlap or are out of order")
    }

    /// Rewrites the leaf if the bytes of many entries are not in the order of the entries, as a
    /// search prefetches bytes by that order. A damaged leaf stays as it is.
    func defragment() {
        guard slot(count) <= Page.size else { return }
        var last = 0, steps = 0
        for index in 0..<count {
            let cell = base.reading.uint16(at: slot(index) + OrderedLeafLayout.slotCell)
            let distance = cell & OrderedLeafLayout.offsetMask
            if distance < last { steps += 1 }
            last = distance
        }
        guard steps * 32 > count else { return }
        withUnsafeTemporaryAllocation(byteCount: Page.size, alignment: 16) { memory in
            guard let scratch = memory.baseAddress else { return }
            do throws(StorageError) { try compact(scratch: scratch) } catch {
                base.store(scratch, count: Page.size, at: 0)
            }
        }
    }

    /// Writes the leaf without garbage, with the present forms of its entries, or with its old
    /// forms if those leave fewer of them in the heap.
    private func compact(scratch: UnsafeMutableRawPointer) throws(StorageError) {
        scratch.store(base, count: Page.size, at: 0)
        let old = try OrderedLeaf(scratch, page: page)
        for isKeepingForms in [false, true] {
            let new = OrderedLeafEditor.create(
                in: base, page: page, shared: old.shared, middle: old.middle,
                forms: isKeepingForms ? scratch.reading : nil)
            var index = 0
            while index < old.count {
                let entry = try old.stored(index)
                guard new.append(entry, place: new.place(of: entry.form)) else { break }
                index += 1
            }
            if index == old.count { return }
        }
        throw outOfOrder
    }
}
