internal import ToftPlatform

/// A cluster's bytes, for reading. The header is verified when it is made, a column's slice when it
/// is requested, a heap cell when it is read: verified parts are then read without further tests.
struct ClusterPage {
    let base: UnsafeRawPointer
    let page: PageNumber
    // No wider than in the file: scans copy this.
    private let heap: (start: UInt32, end: UInt32)
    private let counts: (rows: UInt16, capacity: UInt16, columns: UInt16, pages: UInt8)
    /// Whether each row has the key after that of the row before, so that only the first is stored.
    let hasDenseKeys: Bool

    @inline(__always)
    init(_ base: UnsafeRawPointer, page: PageNumber, pageCount: UInt32) throws(StorageError) {
        guard pageCount > 0, pageCount <= ExtentLimit.pages else {
            throw .corrupt(page: page, reason: "a cluster of too many pages")
        }
        let header = Self.header(pages: Int(pageCount))
        self.base = base
        self.page = page
        counts = (
            UInt16(truncatingIfNeeded: base.uint16(at: header &+ ClusterLayout.rowCount)),
            UInt16(truncatingIfNeeded: base.uint16(at: header &+ ClusterLayout.rowCapacity)),
            UInt16(truncatingIfNeeded: base.uint16(at: header &+ ClusterLayout.columnCount)),
            UInt8(truncatingIfNeeded: pageCount)
        )
        let flags = base.uint16(at: header &+ ClusterLayout.flags)
        hasDenseKeys = flags & ClusterLayout.denseKeysFlag != 0
        heap = (
            UInt32(truncatingIfNeeded: base.uint32(at: header &+ ClusterLayout.heapStart)),
            UInt32(truncatingIfNeeded: base.uint32(at: header &+ ClusterLayout.heapEnd))
        )
        guard ExtentHeader.isPlain(base), rowCount > 0, rowCount <= rowCapacity,
            rowCapacity <= ClusterLimits.rows,
            columnCount <= ClusterLimits.columns, columnsStart <= heapStart, heapStart <= heapEnd,
            heapEnd <= byteCount, flags & ~ClusterLayout.denseKeysFlag == 0
        else { throw .corrupt(page: page, reason: "a cluster contradicts itself") }
    }

    @inline(__always) var rowCount: Int { Int(counts.rows) }
    @inline(__always) var rowCapacity: Int { Int(counts.capacity) }
    @inline(__always) var columnCount: Int { Int(counts.columns) }
    @inline(__always) var heapStart: Int { Int(heap.start) }
    @inline(__always) var heapEnd: Int { Int(heap.end) }
    @inline(__always) var byteCount: Int { Int(counts.pages) &* Page.size }
    /// Bytes that `count` rows like those of this cluster take, besides the extent's header.
    func payload(ofRows count: Int) -> Int {
        let heap = heapEnd &- heapStart &- base.uint32(at: header &+ ClusterLayout.garbage)
        return columnsStart &- header
            &+ (heapStart &- columnsStart) &* count / max(1, rowCapacity)
            &+ max(0, heap) &* count / max(1, rowCount)
    }

    /// Offset of the cluster's own header.
    @inline(__always) var header: Int { Self.header(pages: Int(counts.pages)) }

    @inline(__always)
    private static func header(pages: Int) -> Int {
        ExtentHeader.size &+ (pages &- 1) &* ExtentHeader.checksumSize
    }

    @inline(__always)
    func entry(_ index: Int) -> Int {
        header &+ ClusterLayout.headerSize &+ index &* ClusterLayout.entrySize
    }

    /// Offset of the keys.
    @inline(__always)
    var keysStart: Int { entry(columnCount) }

    /// Offset of the columns.
    @inline(__always)
    var columnsStart: Int {
        keysStart &+ ClusterLayout.keysSize(rowCapacity, isDense: hasDenseKeys)
    }

    // MARK: Rows

    /// The keys in ascending order, `rowCount` of them.
    @inline(__always)
    var keys: RowKeys {
        RowKeys((base + keysStart).assumingMemoryBound(to: Int64.self), isDense: hasDenseKeys)
    }

    /// Whether a new row can have a key; otherwise the cluster has to be written anew.
    @inline(__always)
    func takesKey(_ key: Int64, at row: Int) -> Bool {
        !hasDenseKeys || row == rowCount && key == keys[rowCount &- 1] &+ 1
    }

    /// Whether a row can be removed; otherwise the cluster has to be written anew.
    func canErase(_ row: Int) -> Bool { !hasDenseKeys || row == 0 || row == rowCount &- 1 }

    /// The first row whose key is not below `key`; otherwise `rowCount`.
    @inline(__always)
    func lowerBound(_ key: Int64) -> Int { keys.lowerBound(key, count: rowCount) }

    /// The row of a key; nil if the cluster does not have it.
    @inline(__always)
    func row(of key: Int64) -> Int? { keys.row(of: key, count: rowCount) }

    // MARK: Columns

    /// The index of a column among the entries; nil if the cluster is older than the column.
    @inline(__always)
    func index(ofColumn id: UInt32) -> Int? {
        guard columnCount > 0 else { return nil }
        let first = columnID(0)
        let guess = min(Int(id &- first), columnCount &- 1)
        if columnID(guess) == id { return guess }
        return search(column: id)
    }

    private func search(column id: UInt32) -> Int? {
        var low = 0
        var high = columnCount
        while low < high {
            let middle = (low &+ high) >> 1
            let found = columnID(middle)
            if found == id { return middle }
            if found < id { low = middle &+ 1 } else { high = middle }
        }
        return nil
    }

    @inline(__always)
    private func columnID(_ index: Int) -> UInt32 {
        UInt32(truncatingIfNeeded: base.uint32(at: entry(index) &+ ClusterLayout.entryID))
    }

    /// A column's arrays, verified to be between the keys and the heap.
    @inline(__always)
    func slice(ofColumn column: Column) throws(StorageError) -> ColumnSlice? {
        guard let index = index(ofColumn: column.id) else { return nil }
        let slice = try slice(index)
        guard slice.geometry.type == column.type else {
            throw .corrupt(page: page, reason: "a column has another type than its table says")
        }
        return slice
    }

    /// The bounds of a column's values in its entry; nil if the entry has no bounds.
    func bounds(ofColumn id: UInt32) throws(StorageError) -> (
        type: ColumnType, low: UInt64, high: UInt64
    )? {
        guard let index = index(ofColumn: id) else { return nil }
        let type = base.uint8(at: entry(index) &+ ClusterLayout.entryType)
        guard let type = ColumnType(rawValue: UInt8(truncatingIfNeeded: type)) else {
            throw .corrupt(page: page, reason: "a column of unknown type")
        }
        return bounds(index).map { (type, $0.low, $0.high) }
    }

    /// The bounds of a column if it has one of two types; otherwise nil. For scans, which read the
    /// bounds of every cluster and the arrays of few.
    @inline(__always)
    func bounds(ofColumn id: UInt32, of type: ColumnType, or otherType: ColumnType) -> (
        low: UInt64, high: UInt64
    )? {
        guard let index = index(ofColumn: id) else { return nil }
        let found = base.uint8(at: entry(index) &+ ClusterLayout.entryType)
        guard found == Int(type.rawValue) || found == Int(otherType.rawValue) else { return nil }
        return bounds(index)
    }

    @inline(__always)
    private func bounds(_ index: Int) -> (low: UInt64, high: UInt64)? {
        let entry = entry(index)
        let flags = base.uint8(at: entry &+ ClusterLayout.entryFlags)
        guard flags & ClusterLayout.unboundedFlag == 0 else { return nil }
        return (
            base.uint64(at: entry &+ ClusterLayout.entryLow),
            base.uint64(at: entry &+ ClusterLayout.entryHigh)
        )
    }

    @inline(__always)
    func slice(_ index: Int) throws(StorageError) -> ColumnSlice {
        let entry = entry(index)
        let flags = base.uint8(at: entry &+ ClusterLayout.entryFlags)
        let textRoom = base.uint8(at: entry &+ ClusterLayout.entryTextRoom)
        guard
            let type = ColumnType(
                rawValue: UInt8(
                    truncatingIfNeeded: base.uint8(at: entry &+ ClusterLayout.entryType))),
            let width = width(index),
            width == .eight || type.hasIntegers
                || type == .bytes && width == .one && textRoom >= ClusterLimits.leastTextRoom,
            flags & ClusterLayout.wholeSecondsFlag == 0 || type == .timestamp
        else { throw .corrupt(page: page, reason: "a column of unknown type or encoding") }
        let geometry = ColumnGeometry(
            type: type, isNullable: flags & ClusterLayout.nullableFlag != 0, capacity: rowCapacity,
            width: width, hasNanoseconds: flags & ClusterLayout.wholeSecondsFlag == 0,
            textRoom: width == .one && type == .bytes ? textRoom : 0)
        let start = start(ofColumn: index)
        guard start & 7 == 0, start >= columnsStart, start &+ geometry.size <= heapStart else {
            throw .corrupt(page: page, reason: "a column is outside its cluster")
        }
        return ColumnSlice(base: base, entry: entry, start: start, geometry: geometry)
    }

    /// Offset of a column's arrays. Not verified.
    @inline(__always)
    func start(ofColumn index: Int) -> Int {
        base.uint32(at: entry(index) &+ ClusterLayout.entryOffset)
    }

    /// The width of a column's integers; nil for an encoding that there is not.
    @inline(__always)
    func width(_ index: Int) -> IntegerWidth? {
        IntegerWidth(encoding: base.uint8(at: entry(index) &+ ClusterLayout.entryEncoding))
    }

    /// Whether a column is wide enough for a value.
    @inline(__always)
    func holds(_ cell: Cell, inColumn index: Int) -> Bool {
        guard let integer = cell.integer else { return true }
        guard width(index)?.holds(integer) == true else { return false }
        return !cell.hasNanoseconds
            || base.uint8(at: entry(index) &+ ClusterLayout.entryFlags)
                & ClusterLayout.wholeSecondsFlag == 0
    }

    /// Whether a coded column has a text, or room for it; other columns have.
    func holds(_ text: UnsafeRawBufferPointer, _ slice: ColumnSlice) throws(StorageError) -> Bool {
        guard slice.geometry.isCoded, slice.textCount == slice.geometry.textRoom else {
            return true
        }
        return try code(of: SoughtText(text), slice) != nil
    }

    /// The code of a non-empty text in a coded column; nil if the column does not have it.
    /// O(texts), 16 together.
    func code(of text: SoughtText, _ slice: ColumnSlice) throws(StorageError) -> Int? {
        try slice.tags.code(of: text) { code throws(StorageError) in
            try heapBytes(slice.text(code)).isSame(as: text.bytes)
        }
    }

    /// The block of a list in the cluster, whose pages are all verified.
    func block(_ cell: HeapCell, _ slice: ColumnSlice, _ kind: ElementKind) throws(StorageError)
        -> ElementBlock
    {
        let bytes = try heapBytes(cell)
        guard let base = bytes.baseAddress else {
            throw .corrupt(page: page, reason: "a list without bytes")
        }
        return try ElementBlock(
            base, available: bytes.count, kind: kind, page: page,
            before: slice.heapBytes(before: cell))
    }

    /// The bytes of a heap cell, verified to be within the heap.
    @inline(__always)
    func heapBytes(_ cell: HeapCell) throws(StorageError) -> UnsafeRawBufferPointer {
        guard cell.offset >= heapStart && cell.offset &+ cell.length <= heapEnd || cell.raw == 0
        else {
            throw .corrupt(page: page, reason: "a cell is outside its cluster's heap")
        }
        return UnsafeRawBufferPointer(start: base + cell.offset, count: cell.length)
    }
}

/// One column of a cluster: the position of its arrays. Rows are below the cluster's row count.
struct ColumnSlice {
    let base: UnsafeRawPointer
    // No wider than in the file: cursors keep many of these.
    private let offsets: (entry: UInt32, start: UInt32)
    let geometry: ColumnGeometry

    /// - Parameters:
    ///   - entry: the offset of the column's entry.
    ///   - start: the offset of the column's first array.
    @inline(__always)
    init(base: UnsafeRawPointer, entry: Int, start: Int, geometry: ColumnGeometry) {
        self.base = base
        offsets = (UInt32(truncatingIfNeeded: entry), UInt32(truncatingIfNeeded: start))
        self.geometry = geometry
    }

    /// The offset of the column's entry.
    @inline(__always) var entry: Int { Int(offsets.entry) }
    /// The offset of the column's first array.
    @inline(__always) var start: Int { Int(offsets.start) }

    /// All arrays of the column.
    @inline(__always)
    var range: Range<Int> { Range(uncheckedBounds: (start, start &+ geometry.size)) }

    @inline(__always)
    var values: UnsafeRawPointer { base + (start &+ geometry.values) }

    @inline(__always)
    var nullCount: Int { base.uint16(at: entry &+ ClusterLayout.entryNullCount) }

    @inline(__always)
    var isUnbounded: Bool {
        base.uint8(at: entry &+ ClusterLayout.entryFlags) & ClusterLayout.unboundedFlag != 0
    }

    @inline(__always)
    var low: UInt64 { base.uint64(at: entry &+ ClusterLayout.entryLow) }

    @inline(__always)
    var high: UInt64 { base.uint64(at: entry &+ ClusterLayout.entryHigh) }

    /// Bitmap of rows that are null (1); nil if no row is.
    @inline(__always)
    var nulls: UnsafePointer<UInt64>? {
        geometry.isNullable && nullCount > 0
            ? (base + start).assumingMemoryBound(to: UInt64.self) : nil
    }

    @inline(__always)
    func isNull(_ row: Int) -> Bool { geometry.isNullable && bit(row, at: start) }

    @inline(__always)
    private func bit(_ row: Int, at bitmap: Int) -> Bool {
        base.uint64(at: bitmap &+ (row >> 6) &* 8) & (1 << UInt64(row & 63)) != 0
    }

    /// The integers, or the seconds of timestamps, of the first rows.
    @inline(__always)
    func integers(first count: Int) -> IntegerColumn {
        IntegerColumn(values, geometry.width, count: count)
    }

    /// `integers` for a range of rows.
    @inline(__always)
    func integers(_ rows: Range<Int>) -> IntegerColumn {
        IntegerColumn(values, geometry.width, count: rows.upperBound)[rows]
    }

    @inline(__always)
    private func integer(_ row: Int) -> Int64 { IntegerReader(geometry.width).word(values, row) }

    /// Prefetches the stored value of a row.
    @inline(__always)
    func fetch(_ row: Int) { (values + geometry.distance(ofRow: row)).prefetch() }

    /// The nanoseconds of timestamps.
    @inline(__always)
    var nanoseconds: UnsafeRawPointer {
        geometry.hasNanoseconds ? base + (start &+ geometry.nanoseconds) : DefaultArrays.zeros
    }

    /// The position of a row's bytes or list.
    @inline(__always)
    func heapCell(_ row: Int) -> HeapCell {
        geometry.isCoded
            ? text(base.uint8(at: start &+ geometry.values &+ row))
            : HeapCell(raw: values.uint32(at: row &* 4))
    }

    /// Bytes of the column's heap before a cell.
    func heapBytes(before cell: HeapCell) -> Int {
        let low = Int(clamping: low)
        return low < cell.offset ? cell.offset &- low : 0
    }

    /// Number of different texts of a coded column.
    @inline(__always)
    var textCount: Int {
        min(base.uint16(at: entry &+ ClusterLayout.entryTextCount), geometry.textRoom)
    }

    /// The tags of a coded column's texts.
    @inline(__always)
    var tags: TextTags {
        TextTags(base + (start &+ geometry.tags), codeCount: textCount &+ 1)
    }

    /// The position of a code's text; the text of code 0 is empty. Long values have no codes.
    func text(_ code: Int) -> HeapCell {
        guard code <= geometry.textRoom else { return .outside }
        let cell = HeapCell(raw: base.uint32(at: textOffset(code)))
        return cell.isExternal ? .outside : cell
    }

    /// The offset of the cell that `text` reads.
    @inline(__always)
    func textOffset(_ code: Int) -> Int { start &+ geometry.texts &+ code &* 4 }

    /// The value of a row that is not null, in a column without heap.
    @inline(__always)
    func fixedCell(_ row: Int) -> Cell {
        switch geometry.type {
        case .bool: return .bool(bit(row, at: start &+ geometry.values))
        case .int64: return .int64(integer(row))
        case .float32:
            return .float32(
                Float(bitPattern: UInt32(truncatingIfNeeded: values.uint32(at: row &* 4))))
        case .float64: return .float64(Double(bitPattern: values.uint64(at: row &* 8)))
        case .fixed16: return .fixed(values.fixed(at: row &* 16, width: 16))
        case .fixed12: return .fixed(values.fixed(at: row &* 12, width: 12))
        case .timestamp:
            let nanoseconds = nanoseconds.uint32(at: row &* 4)
            return .timestamp(
                Timestamp(
                    seconds: integer(row),
                    nanoseconds: Int32(bitPattern: UInt32(truncatingIfNeeded: nanoseconds))))
        case .bytes, .list: return .null
        }
    }
}
