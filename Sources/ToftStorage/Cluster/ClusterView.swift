internal import ToftPlatform

/// One cluster as a scan sees it: a call for each column, then dense arrays without further tests.
///
/// Arrays have `count` values in the order of `keys`; values of null rows are undefined. Bitmaps
/// hold row n in bit n % 64 of word n / 64; bits from `count` on are undefined. A column that the
/// cluster does not hold reads as its default. Valid until the snapshot is released, in a write
/// transaction until the table's next change. Copying it counts no references: its user keeps the
/// table alive, by a view or a snapshot.
package struct ClusterView {
    private let table: Unmanaged<TableReader>
    private let pages: Unmanaged<PageReader>
    private let leaf: TableReader.Leaf
    /// The address of a cluster that the scan reaches soon; nil if it is unknown.
    private let ahead: UnsafeRawPointer?

    init(table: TableReader, leaf: TableReader.Leaf, ahead: UnsafeRawPointer? = nil) {
        self.table = .passUnretained(table)
        pages = .passUnretained(table.pages)
        self.leaf = leaf
        self.ahead = ahead
    }

    /// Prefetches from the cluster ahead the part that is read of this one: most clusters have the
    /// same layout.
    @inline(__always)
    private func fetchAhead(_ range: Range<Int>) {
        guard let ahead else { return }
        var offset = range.lowerBound
        while offset < range.upperBound {
            (ahead + offset).prefetch()
            offset &+= 64
        }
    }

    @inline(__always)
    private func fetchAhead(_ slice: ColumnSlice, as type: ColumnType) {
        guard let ahead else { return }
        (ahead + slice.entry).prefetch()
        fetchAhead(slice.start..<slice.start &+ slice.geometry.rowBytes(as: type))
    }

    /// Prefetches all texts of the cluster ahead, expected at the same offsets as here.
    package func fetchAhead(_ texts: BytesColumn) { fetchAhead(texts.low..<texts.high) }

    /// Prefetches a text of the cluster ahead, expected at the offset of `code`'s text here.
    package func fetchAhead(_ texts: BytesColumn, _ code: Int) {
        let (cell, text) = texts.place(code)
        fetchAhead(cell: cell, text: text)
    }

    @inline(__always)
    private func fetchAhead(cell: Int, text: Int) {
        guard let ahead else { return }
        (ahead + cell).prefetch()
        (ahead + (text &- 64)).prefetch()
        (ahead + text).prefetch()
        (ahead + (text &+ 64)).prefetch()
    }

    @inline(__always)
    private func reading<Value>(_ body: (TableReader) throws(StorageError) -> Value)
        throws(StorageError) -> Value
    {
        try table.borrow(body)
    }

    /// The permanent identity of the content: in two committed versions of a table, clusters with
    /// equal identities are equal.
    package var identity: ClusterIdentity {
        ClusterIdentity(page: leaf.ref.page, birth: leaf.ref.birth)
    }

    /// Rows of the cluster: 1...256.
    package var count: Int { leaf.cluster.rowCount }

    /// The rows' keys, ascending.
    package var keys: RowKeys { leaf.cluster.keys }

    /// The row with a key; nil if the cluster does not have it.
    package func row(of key: Int64) -> Int? { leaf.cluster.row(of: key) }

    /// The first row whose key is not below `key`; otherwise `count`.
    package func lowerBound(_ key: Int64) -> Int { leaf.cluster.lowerBound(key) }

    /// A column, for all uses.
    package func column(_ id: UInt32) throws(StorageError) -> ColumnView {
        try reading { table throws(StorageError) in
            let column = try table.column(id)
            guard let slice = try leaf.cluster.slice(ofColumn: column) else {
                return ColumnView(column, nil, count: count)
            }
            try table.pages.verify(leaf.ref, leaf.cluster.base, slice.range)
            fetchAhead(slice, as: column.type)
            return ColumnView(column, slice, count: count)
        }
    }

    /// `column(_:)`, faster if the cluster has the column as the previous cluster with the same
    /// `known` did.
    package func column(_ id: UInt32, _ known: inout KnownColumn?) throws(StorageError)
        -> ColumnView
    {
        if let column = known?.column, let slice = try slice(id, known, as: column.type) {
            return ColumnView(column, slice, count: count)
        }
        let view = try column(id)
        known = view.known(in: leaf.cluster)
        return view
    }

    /// The values of a column of integers, and the bitmap of null rows (1), nil if no row is null.
    package func nullableIntegers(_ id: UInt32, _ known: inout KnownColumn?) throws(StorageError)
        -> (values: IntegerColumn, nulls: UnsafePointer<UInt64>?)
    {
        if let slice = try slice(id, known, as: .int64) {
            return (slice.integers(first: count), slice.nulls)
        }
        let view = try column(id, &known)
        return (try view.integers(), view.nulls)
    }

    /// The values of a column of bytes, and the bitmap of null rows (1), nil if no row is null.
    package func nullableBytes(_ id: UInt32, _ known: inout KnownColumn?) throws(StorageError)
        -> (nulls: UnsafePointer<UInt64>?, values: BytesColumn)
    {
        guard let slice = try slice(id, known, as: .bytes) else {
            known = try column(id).known(in: leaf.cluster)
            return try nullableBytes(id)
        }
        return (slice.nulls, try BytesColumn(leaf, slice, pages))
    }

    /// The codes of a coded column without nulls, one byte for each row, and the code of a
    /// non-empty text, nil if no row has it. Nil if the cluster has the column in another form than
    /// the previous one, with nulls, or uncoded. For counts, which need nothing else of the column.
    @inline(__always)
    package func codes(of sought: SoughtText, _ id: UInt32, _ known: KnownColumn?)
        throws(StorageError) -> (codes: UnsafePointer<UInt8>, code: Int?)?
    {
        guard let slice = try slice(id, known, as: .bytes), slice.geometry.isCoded,
            slice.nulls == nil
        else { return nil }
        let code = try slice.tags.code(of: sought) { code throws(StorageError) in
            let text = slice.text(code)
            guard text.length == sought.bytes.count else { return false }
            let bytes = try leaf.cluster.heapBytes(text)
            try verify(Range(uncheckedBounds: (text.offset, text.offset &+ text.length)))
            fetchAhead(cell: slice.textOffset(code), text: text.offset)
            return bytes.isSame(as: sought.bytes)
        }
        return (slice.values.assumingMemoryBound(to: UInt8.self), code)
    }

    @inline(__always)
    private func slice(_ id: UInt32, _ known: KnownColumn?, as type: ColumnType)
        throws(StorageError) -> ColumnSlice?
    {
        guard let known, known.column.id == id, let slice = known.slice(in: leaf.cluster, as: type)
        else { return nil }
        let end = slice.start &+ slice.geometry.size(as: type)
        try verify(Range(uncheckedBounds: (slice.start, end)))
        fetchAhead(slice, as: type)
        return slice
    }

    @inline(__always)
    private func verify(_ range: Range<Int>) throws(StorageError) {
        if range.upperBound <= Page.size { return }
        try pages.borrow { pages throws(StorageError) in
            try pages.verify(leaf.ref, leaf.cluster.base, range)
        }
    }

    /// Bitmap of rows that are null (1); nil if no row is.
    package func nulls(_ column: UInt32) throws(StorageError) -> UnsafePointer<UInt64>? {
        try self.column(column).nulls
    }

    /// The bits of a column of bools.
    package func bools(_ column: UInt32) throws(StorageError) -> UnsafePointer<UInt64> {
        try self.column(column).bools()
    }

    /// The values of a column of integers.
    package func integers(_ column: UInt32) throws(StorageError) -> IntegerColumn {
        try self.column(column).integers()
    }

    /// The values of a column of single-precision numbers.
    package func float32s(_ column: UInt32) throws(StorageError) -> UnsafePointer<Float> {
        try self.column(column).float32s()
    }

    /// The values of a column of double-precision numbers.
    package func float64s(_ column: UInt32) throws(StorageError) -> UnsafePointer<Double> {
        try self.column(column).float64s()
    }

    /// The values of a column of 16 or 12 bytes.
    package func fixed(_ column: UInt32) throws(StorageError) -> FixedColumn {
        try self.column(column).fixed()
    }

    /// The two arrays of a column of timestamps.
    package func timestamps(_ column: UInt32) throws(StorageError) -> (
        seconds: IntegerColumn, nanoseconds: UnsafePointer<Int32>
    ) {
        try self.column(column).timestamps()
    }

    /// The values of a column of bytes.
    package func bytes(_ column: UInt32) throws(StorageError) -> BytesColumn {
        try nullableBytes(column).values
    }

    /// A column's bytes and the bitmap of null rows (1), nil if no row is null, with one lookup.
    package func nullableBytes(_ column: UInt32) throws(StorageError) -> (
        nulls: UnsafePointer<UInt64>?, values: BytesColumn
    ) {
        try reading { table throws(StorageError) in
            let column = try table.column(column, .bytes)
            let slice = try leaf.cluster.slice(ofColumn: column)
            if let slice {
                try table.pages.verify(leaf.ref, leaf.cluster.base, slice.range)
                fetchAhead(slice, as: .bytes)
            }
            return (
                ColumnView(column, slice, count: count).nulls,
                try BytesColumn(leaf, slice, pages)
            )
        }
    }

    /// The list of a row below `count`.
    package func list(_ column: UInt32, _ row: Int) throws(StorageError) -> ListView {
        guard row >= 0, row < count else { throw .indexOutOfRange(index: row, count: count) }
        return try reading { table throws(StorageError) in
            try table.list(leaf, row, try table.column(column, .list))
        }
    }

    /// One cell, for callers that do not read a column at a time.
    package func cell(_ row: Int, _ column: UInt32) throws(StorageError) -> Cell {
        guard row >= 0, row < count else { throw .indexOutOfRange(index: row, count: count) }
        return try reading { table throws(StorageError) in
            try table.cell(leaf, row, try table.column(column))
        }
    }

    /// Bounds of all values that are not null, not always the tightest; nil if they are unknown.
    /// `isEmpty`: no row has a value.
    package func zone(_ column: UInt32) throws(StorageError) -> Zone? {
        guard let (type, low, high) = try leaf.cluster.bounds(ofColumn: column) else { return nil }
        switch type {
        case .int64, .timestamp: return .integers(Int64(bitPattern: low), Int64(bitPattern: high))
        case .float32, .float64: return .numbers(Double(bitPattern: low), Double(bitPattern: high))
        case .bool, .bytes, .list, .fixed16, .fixed12: return nil
        }
    }

    /// Whether no value of a column of integers, or no seconds of one of timestamps, can be from
    /// `low` to `high`.
    package func excludes(_ column: UInt32, _ low: Int64, _ high: Int64) -> Bool {
        guard let bounds = leaf.cluster.bounds(ofColumn: column, of: .int64, or: .timestamp) else {
            return false
        }
        return Int64(bitPattern: bounds.high) < low || Int64(bitPattern: bounds.low) > high
    }

    /// `excludes` for a column of numbers.
    package func excludes(_ column: UInt32, _ low: Double, _ high: Double) -> Bool {
        guard let bounds = leaf.cluster.bounds(ofColumn: column, of: .float64, or: .float32) else {
            return false
        }
        return Double(bitPattern: bounds.high) < low || Double(bitPattern: bounds.low) > high
    }
}

extension TableReader {
    fileprivate func column(_ id: UInt32, _ type: ColumnType) throws(StorageError) -> Column {
        let column = try column(id)
        guard column.type == type else {
            throw .typeMismatch("column \(id) holds \(column.type), not \(type)")
        }
        return column
    }
}

/// A cluster's page and the version that wrote it.
package struct ClusterIdentity: Hashable, Sendable {
    let page: PageNumber
    let birth: Version
}

/// Bounds of a column's values in a cluster, both included; low > high if there are no values.
package enum Zone {
    /// Of int64 columns, and of the seconds of timestamps.
    case integers(Int64, Int64)
    /// Of float32 and float64 columns. No value is NaN.
    case numbers(Double, Double)

    /// Whether no row has a value.
    package var isEmpty: Bool {
        switch self {
        case .integers(let low, let high): low > high
        case .numbers(let low, let high): low > high
        }
    }
}
