internal import ToftPlatform

/// The values of a column of bytes in one cluster. Pages and bounds are verified when it is made; a
/// value costs two compares. Copying it counts no references: it is good as long as its cluster.
///
/// It is public because only public code is inlined in other modules: see `near`.
public struct BytesColumn {
    private let pages: Unmanaged<PageReader>
    private let page: PageNumber
    @usableFromInline let base: UnsafeRawPointer
    /// A cell for each row, or for each code.
    @usableFromInline let cells: UnsafeRawPointer
    /// Of a coded column the code of each row.
    private let codes: UnsafeRawPointer?
    /// Number of codes, including 0.
    private let codeCount: Int
    /// The tags of their texts.
    private let tags: UnsafeRawPointer
    /// The part of the heap that contains the column's cells.
    @usableFromInline let low: Int
    @usableFromInline let high: Int

    init(_ leaf: TableReader.Leaf, _ slice: ColumnSlice?, _ pages: Unmanaged<PageReader>)
        throws(StorageError)
    {
        self.pages = pages
        page = leaf.ref.page
        base = leaf.cluster.base
        guard let slice, slice.low < slice.high else {
            let isPlain = slice?.geometry.isCoded == false
            cells = isPlain ? slice?.values ?? DefaultArrays.zeros : DefaultArrays.zeros
            codes = nil
            tags = DefaultArrays.zeros
            // No value is then near.
            (low, high, codeCount) = (8, 8, 0)
            return
        }
        cells =
            slice.geometry.isCoded
            ? slice.base + (slice.start + slice.geometry.texts) : slice.values
        codes = slice.geometry.isCoded ? slice.values : nil
        codeCount = slice.geometry.isCoded ? slice.textCount &+ 1 : 0
        tags = base + (slice.start &+ slice.geometry.tags)
        guard slice.low >= UInt64(leaf.cluster.heapStart),
            slice.high <= UInt64(leaf.cluster.heapEnd)
        else {
            throw .corrupt(
                page: page, reason: "a column's bytes are outside its cluster's heap")
        }
        (low, high) = (Int(slice.low), Int(slice.high))
        let range = low..<high
        try pages.borrow { pages throws(StorageError) in try pages.verify(leaf.ref, base, range) }
    }

    /// The bytes of a row below the cluster's count; empty if it is null.
    package subscript(row: Int) -> UnsafeRawBufferPointer {
        @inline(__always)
        get throws(StorageError) {
            guard let codes else { return try bytes(HeapCell(raw: cells.uint32(at: row &* 4))) }
            return try text(codes.uint8(at: row))
        }
    }

    @inlinable
    @inline(__always)
    func cell(_ index: Int) -> UInt32 {
        UInt32(littleEndian: cells.loadUnaligned(fromByteOffset: index &* 4, as: UInt32.self))
    }

    /// The bytes of a row, or of a code if the column is coded, if they are in the cluster; nil for
    /// long values and damaged cells. The eight bytes before can be read, too. It is inlined and
    /// checks nothing twice, for loops.
    @inlinable
    @inline(__always)
    public func near(_ index: Int) -> UnsafeRawBufferPointer? {
        let cell = cell(index)
        let offset = Int(cell & 0x7_FFFF)
        let length = Int(cell &>> 19 & 0xFFF)
        guard offset >= low, offset &+ length <= high, Int32(bitPattern: cell) >= 0 else {
            return nil
        }
        return UnsafeRawBufferPointer(start: base + offset, count: length)
    }

    /// The codes of a coded column: one byte for each row of the cluster. Rows with equal codes
    /// have equal texts. Nil if the column is not coded.
    package var coding: (codes: UnsafePointer<UInt8>, count: Int)? {
        guard let codes else { return nil }
        return (codes.assumingMemoryBound(to: UInt8.self), codeCount)
    }

    /// The text of a code; code 0 has no text.
    package func text(_ code: Int) throws(StorageError) -> UnsafeRawBufferPointer {
        guard code < codeCount else { throw outside }
        let cell = HeapCell(raw: cells.uint32(at: code &* 4))
        if cell.isExternal { throw outside }
        return try bytes(cell)
    }

    /// The code of a text of a coded column; nil if the column does not have it. Null and the empty
    /// text have code 0. O(texts), 16 together.
    package func code(of sought: SoughtText) throws(StorageError) -> Int? {
        if sought.bytes.isEmpty { return 0 }
        return try TextTags(tags, codeCount: codeCount).code(of: sought) {
            code throws(StorageError) in
            try text(code).isSame(as: sought.bytes)
        }
    }

    /// Offsets in the cluster of a code's cell and text.
    func place(_ code: Int) -> (cell: Int, text: Int) {
        (cells - base &+ code &* 4, Int(cell(code) & 0x7_FFFF))
    }

    /// The part of the cluster that contains the texts, perhaps with other texts between them.
    package var heap: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: base + low, count: high - low)
    }

    /// True if one of the first `count` rows has a long value, which is stored outside of the
    /// cluster. For a column that is not coded. O(count).
    package func hasLongValues(_ count: Int) -> Bool {
        var flags: UInt32 = 0
        for row in 0..<count {
            flags |= cells.loadUnaligned(fromByteOffset: row &* 4, as: UInt32.self)
        }
        return HeapCell(raw: Int(UInt32(littleEndian: flags))).isExternal
    }

    /// The row whose value holds the bytes at `offset` of the heap, searched from row `start` on
    /// and then before; nil if no value does. For a column that is not coded. O(count).
    package func row(at offset: Int, length: Int, from start: Int, count: Int) -> Int? {
        let begin = offset &+ low
        let end = begin &+ length
        for step in 0..<count {
            let row = start &+ step < count ? start &+ step : start &+ step &- count
            let cell = HeapCell(raw: cells.uint32(at: row &* 4))
            if cell.offset <= begin && end <= cell.offset &+ cell.length { return row }
        }
        return nil
    }

    /// The rows of `count`, up to 64 from `start` on, that may begin with a head: the first is the
    /// lowest bit. Rows with long values may, and those with values near the end of the column's
    /// part of the heap. For a column that is not coded.
    package func rows(from start: Int, _ count: Int, mayBeginWith head: SoughtHead) -> UInt64 {
        var bits: UInt64 = 0
        var row = 0
        while row < count {
            if row &+ 8 <= count, let eight = eightRows(start &+ row, mayBeginWith: head) {
                bits |= eight &<< UInt64(truncatingIfNeeded: row)
                row &+= 8
                continue
            }
            let end = min(row &+ 8, count)
            while row < end {
                let isOpen = mayBegin(start &+ row, with: head)
                bits |= (isOpen ? 1 : 0) &<< UInt64(truncatingIfNeeded: row)
                row &+= 1
            }
        }
        return bits
    }

    private func mayBegin(_ row: Int, with head: SoughtHead) -> Bool {
        let cell = cell(row)
        let offset = Int(cell & 0x7_FFFF)
        guard offset >= low, offset &+ 8 <= high, Int32(bitPattern: cell) >= 0 else { return true }
        return head.admits(base.uint64(at: offset))
    }

    /// `mayBegin` for eight rows; nil if a row has no eight bytes in the column's part of the heap,
    /// or some that are not ASCII and have to be.
    @inline(__always)
    private func eightRows(_ first: Int, mayBeginWith head: SoughtHead) -> UInt64? {
        // The flag of a long value stays, and is the sign as that of a difference is.
        let places =
            cells.loadUnaligned(fromByteOffset: first &* 4, as: SIMD8<UInt32>.self)
            & SIMD8(repeating: 0x8007_FFFF)
        let lows = SIMD8(repeating: UInt32(truncatingIfNeeded: low))
        let lasts = SIMD8(repeating: UInt32(truncatingIfNeeded: high &- 8))
        let signs = unsafeBitCast(
            places | (places &- lows) | (lasts &- places), to: SIMD4<UInt64>.self)
        if (signs[0] | signs[1] | signs[2] | signs[3]) & 0x8000_0000_8000_0000 != 0 { return nil }
        var differences: UInt64 = 0
        var bits: UInt64 = 0
        for row in 0..<8 {
            let place = cells.uint32(at: (first &+ 7 &- row) &* 4) & 0x7_FFFF
            let difference = (base.uint64(at: place) ^ head.bytes) & head.mask
            differences |= difference
            // One more bit below; `< 1` is one instruction with the addition.
            bits = bits &+ bits &+ (difference < 1 ? 1 : 0)
        }
        return differences & head.ascii == 0 ? bits : nil
    }

    @inline(__always)
    private func bytes(_ cell: HeapCell) throws(StorageError) -> UnsafeRawBufferPointer {
        let offset = cell.offset
        let end = offset &+ cell.length
        if cell.raw != 0 && (offset < low || end > high) { throw outside }
        let bytes = UnsafeRawBufferPointer(start: base + offset, count: cell.length)
        return cell.isExternal ? try external(bytes) : bytes
    }

    /// Calls `body` with the bytes of a row of a column that is not coded, which nobody keeps: a
    /// long value need not stay in memory.
    package func reading<Value>(_ row: Int, _ body: (UnsafeRawBufferPointer) -> Value)
        throws(StorageError) -> Value
    {
        let cell = HeapCell(raw: cells.uint32(at: row &* 4))
        guard cell.isExternal, cell.offset >= low, cell.offset &+ cell.length <= high else {
            return body(try bytes(cell))
        }
        let stored = UnsafeRawBufferPointer(start: base + cell.offset, count: cell.length)
        return try pages.borrow { pages throws(StorageError) in
            try pages.withBlob(try Ref(blob: stored, page: page), body)
        }
    }

    private var outside: StorageError {
        .corrupt(page: page, reason: "a cell is outside its column's heap")
    }

    private func external(_ bytes: UnsafeRawBufferPointer) throws(StorageError)
        -> UnsafeRawBufferPointer
    {
        try pages.borrow { pages throws(StorageError) in
            try pages.blob(try Ref(blob: bytes, page: page))
        }
    }
}

/// The first eight bytes of a search text, or fewer: most other texts are excluded by them.
package struct SoughtHead: Sendable {
    /// The first byte is the lowest.
    package var bytes: UInt64 = 0
    /// The bits that have to be the same.
    package var mask: UInt64 = 0
    /// A text with one of these bits needs a full comparison: the highest of each byte if all have
    /// to be ASCII. A subset of `mask`, clear in `bytes`.
    package var ascii: UInt64 = 0

    package init() {}

    /// Whether a text may pass that begins with these bytes, or is these and shorter.
    @inline(__always)
    func admits(_ first: UInt64) -> Bool {
        (first ^ bytes) & mask == 0 || first & ascii != 0
    }
}
