/// An inner node that a writer may change. The writer has verified it as an `InnerNode` of the
/// given height.
struct InnerEditor {
    let base: UnsafeMutableRawPointer
    let page: PageNumber

    /// Makes an empty node in a fresh extent.
    static func create(in base: UnsafeMutableRawPointer, page: PageNumber, height: Int)
        -> InnerEditor
    {
        base.clear(at: InnerLayout.height, count: InnerLayout.entries - InnerLayout.height)
        base.storeUInt8(height, at: InnerLayout.height)
        base.storeUInt16(Page.size, at: InnerLayout.heapLow)
        return InnerEditor(base: base, page: page)
    }

    var count: Int { base.reading.uint16(at: InnerLayout.count) }
    var height: Int { base.reading.uint8(at: InnerLayout.height) }

    @inline(__always)
    private func entry(_ index: Int) -> Int {
        InnerLayout.entries &+ index &* InnerLayout.entrySize
    }

    func setChild(_ index: Int, _ ref: Ref) {
        ref.encode(to: base + entry(index) + InnerLayout.entryRef)
    }

    func setRows(_ index: Int, _ rows: UInt64) {
        base.storeUInt64(rows, at: entry(index) + InnerLayout.entryRows)
    }

    /// Changes the rows of a child; an error of damage if they would fall below zero.
    @inline(__always)
    func addRows(_ index: Int, _ delta: Int) throws(StorageError) {
        let offset = entry(index) &+ InnerLayout.entryRows
        let (sum, overflow) = base.reading.int64(at: offset).addingReportingOverflow(Int64(delta))
        guard !overflow, sum >= 0 else {
            throw .corrupt(page: page, reason: "a row count is wrong")
        }
        base.storeInt64(sum, at: offset)
    }

    /// Bytes between entries and heap.
    private var gap: Int {
        base.reading.uint16(at: InnerLayout.heapLow) - InnerLayout.entries - count
            * InnerLayout.entrySize
    }

    /// Adds an entry at `index`, compacting the heap first if that makes room; false if the node is
    /// full.
    func insert(
        at index: Int, _ separator: Separator, _ ref: Ref, rows: UInt64,
        scratch: UnsafeMutableRawPointer
    ) throws(StorageError) -> Bool {
        let need = InnerLayout.entrySize + separator.tailLength
        if gap < need {
            guard base.reading.uint16(at: InnerLayout.garbage) > 0 else { return false }
            try compact(scratch: scratch)
            guard gap >= need else { return false }
        }
        let count = count
        base.move(
            from: entry(index), to: entry(index + 1), count: (count - index) * InnerLayout.entrySize
        )
        base.storeUInt16(count + 1, at: InnerLayout.count)
        setChild(index, ref)
        setRows(index, rows)
        writeSeparator(index, separator)
        return true
    }

    private func writeSeparator(_ index: Int, _ separator: Separator) {
        let entry = entry(index)
        var offset = 0
        if let tail = separator.tail {
            offset = base.reading.uint16(at: InnerLayout.heapLow) - separator.tailLength
            base.store(tail, count: separator.tailLength, at: offset)
            base.storeUInt16(offset, at: InnerLayout.heapLow)
        }
        base.storeUInt64(separator.prefix, at: entry + InnerLayout.entryPrefix)
        base.storeUInt16(offset, at: entry + InnerLayout.entryTailOffset)
        base.storeUInt16(separator.length, at: entry + InnerLayout.entryKeyLength)
        base.storeUInt32(0, at: entry + InnerLayout.entryKeyLength + 2)
    }

    /// Removes an entry. The first of those left takes over the range below it, so its separator
    /// becomes empty.
    func remove(at index: Int) {
        leaveTail(index)
        let count = count
        base.move(
            from: entry(index + 1), to: entry(index),
            count: (count - index - 1) * InnerLayout.entrySize)
        base.storeUInt16(count - 1, at: InnerLayout.count)
        if index == 0 && count > 1 { clearFirstSeparator() }
    }

    private func clearFirstSeparator() {
        leaveTail(0)
        writeSeparator(0, .lowest)
    }

    private func leaveTail(_ index: Int) {
        let tail = max(0, base.reading.uint16(at: entry(index) + InnerLayout.entryKeyLength) - 8)
        base.storeUInt16(
            min(base.reading.uint16(at: InnerLayout.garbage) + tail, Int(UInt16.max)),
            at: InnerLayout.garbage)
    }

    /// Appends entries `range` of another node; the first of them gets `first` as its separator, if
    /// given.
    func append(_ range: Range<Int>, of source: InnerNode, first: Separator? = nil)
        throws(StorageError)
    {
        for index in range {
            let own = try source.separator(index)
            let separator = index == range.lowerBound ? first ?? own : own
            guard gap >= InnerLayout.entrySize + separator.tailLength else {
                throw .corrupt(page: source.page, reason: "the entries of an inner node overlap")
            }
            let position = count
            base.storeUInt16(position + 1, at: InnerLayout.count)
            setChild(position, source.child(index))
            setRows(position, source.rows(index))
            writeSeparator(position, separator)
        }
    }

    /// Writes the heap anew without garbage.
    private func compact(scratch: UnsafeMutableRawPointer) throws(StorageError) {
        let height = height
        scratch.store(base, count: Page.size, at: 0)
        let old = try InnerNode(scratch, page: page, height: height)
        try InnerEditor.create(in: base, page: page, height: height).append(0..<old.count, of: old)
    }
}
