/// Rows of a cluster that go into a new one.
struct ClusterSource {
    let cluster: ClusterPage
    let rows: Range<Int>

    init(cluster: ClusterPage, rows: Range<Int>) {
        self.cluster = cluster
        self.rows = rows
    }

    /// All rows of a cluster.
    init(_ cluster: ClusterPage) { self.init(cluster: cluster, rows: 0..<cluster.rowCount) }
}

/// Writes a cluster anew from rows of others: to grow, to seal, to split, to merge, to take in new
/// columns. Cells of a column come to lie side by side in row order, bounds become tight, garbage
/// and dropped columns stay behind.
///
/// All pages of the sources have been verified.
struct ClusterBuilder {
    private let columns: [Column]
    private let sources: [ClusterSource]
    /// The key of one more row at the end, whose cells have their defaults.
    private let newKey: Int64?
    let rowCount: Int
    /// Bytes of heap that the rows need.
    let liveHeap: Int
    /// The width of each column's integers.
    private var widths: [IntegerWidth] = []

    init(
        _ columns: [Column], _ sources: [ClusterSource], appending newKey: Int64? = nil,
        like model: ClusterBuilder? = nil
    ) throws(StorageError) {
        self.columns = columns
        self.sources = sources
        self.newKey = newKey
        if let model {
            widths = model.widths
        } else {
            for column in columns { widths.append(try Self.width(column, sources)) }
        }
        var rows = newKey == nil ? 0 : 1
        var heap = 0
        for source in sources {
            rows += source.rows.count
            heap += try Self.liveHeap(source, columns)
        }
        rowCount = rows
        liveHeap = heap
    }

    /// As few bytes as the bounds of the values need, which are tight in clusters that are written
    /// anew. Nothing is known of rows to come.
    private static func width(_ column: Column, _ sources: [ClusterSource]) throws(StorageError)
        -> IntegerWidth
    {
        guard column.type.hasIntegers, !sources.isEmpty else { return .eight }
        var low = Int64.max
        var high = Int64.min
        for source in sources {
            guard let slice = try source.cluster.slice(ofColumn: column) else { continue }
            low = min(low, Int64(bitPattern: slice.low))
            high = max(high, Int64(bitPattern: slice.high))
        }
        return IntegerWidth(low, high)
    }

    /// Makes a column so wide that it can take a value.
    mutating func widen(_ id: UInt32, for value: Int64) {
        guard let index = columns.firstIndex(where: { $0.id == id }), !widths[index].holds(value)
        else { return }
        widths[index] = IntegerWidth(value, value)
    }

    private func geometry(_ index: Int, _ capacity: Int) -> ColumnGeometry {
        ColumnGeometry(
            type: columns[index].type, isNullable: columns[index].isNullable, capacity: capacity,
            width: widths[index])
    }

    private static func liveHeap(_ source: ClusterSource, _ columns: [Column]) throws(StorageError)
        -> Int
    {
        var sum = 0
        for column in columns where column.hasHeap {
            guard let slice = try source.cluster.slice(ofColumn: column) else { continue }
            for row in source.rows { sum += try source.cluster.neededBytes(slice, row).count }
            if column.type == .list { sum += 7 }
        }
        return sum
    }

    /// Whether any column keeps its cells in the heap.
    var hasHeap: Bool { columns.contains { $0.hasHeap } }

    /// Pages of a cluster of a shape.
    func pages(_ shape: ClusterShape) -> Int {
        let payload = fixedBytes(shape.rowCapacity) + shape.heap
        var pages = (payload + ExtentHeader.size + Page.size - 1) / Page.size
        while ExtentHeader.payloadStart(.cluster, pageCount: pages) + payload > pages * Page.size {
            pages += 1
        }
        return pages
    }

    private func fixedBytes(_ capacity: Int) -> Int {
        var sum = ClusterLayout.headerSize + columns.count * ClusterLayout.entrySize + capacity * 8
        for index in columns.indices { sum += geometry(index, capacity).size }
        return sum
    }

    /// Writes the cluster. The shape has room for all rows, and is one that a cluster can have.
    func build(_ shape: ClusterShape, in pages: PageWriter) throws(StorageError) -> (
        ref: Ref, base: UnsafeMutableRawPointer
    ) {
        let pageCount = self.pages(shape)
        guard pageCount <= ExtentLimit.pages else {
            throw .valueTooLong(length: pageCount * Page.size, limit: ExtentLimit.pages * Page.size)
        }
        guard rowCount >= 1, rowCount <= shape.rowCapacity,
            shape.rowCapacity <= ClusterLimits.rows,
            columns.count <= ClusterLimits.columns, liveHeap <= shape.heap
        else {
            throw .invalidPage(
                page: 0, kind: "cluster",
                reason: "\(rowCount) rows of \(columns.count) columns with room for "
                    + "\(shape.rowCapacity), \(liveHeap) bytes of heap with room for \(shape.heap)")
        }
        let (ref, base) = try pages.allocate(.cluster, pageCount: pageCount)
        let header = ExtentHeader.payloadStart(.cluster, pageCount: pageCount)
        let keys = header + ClusterLayout.headerSize + columns.count * ClusterLayout.entrySize
        let heapStart = header + fixedBytes(shape.rowCapacity)
        base.storeUInt16(rowCount, at: header + ClusterLayout.rowCount)
        base.storeUInt16(shape.rowCapacity, at: header + ClusterLayout.rowCapacity)
        base.storeUInt16(columns.count, at: header + ClusterLayout.columnCount)
        base.storeUInt32(heapStart, at: header + ClusterLayout.heapStart)
        copyKeys(to: base, at: keys)

        var start = keys + shape.rowCapacity * 8
        var writer = ColumnWriter(base: base, heapEnd: heapStart, heapLimit: pageCount * Page.size)
        for (index, column) in columns.enumerated() {
            let entry = header + ClusterLayout.headerSize + index * ClusterLayout.entrySize
            let geometry = geometry(index, shape.rowCapacity)
            try writer.write(
                column, geometry, entry: entry, start: start, from: sources, rowCount: rowCount)
            start += geometry.size
        }
        base.storeUInt32(writer.heapEnd, at: header + ClusterLayout.heapEnd)
        return (ref, base)
    }

    private func copyKeys(to base: UnsafeMutableRawPointer, at start: Int) {
        var offset = start
        for source in sources {
            base.store(
                source.cluster.keys + source.rows.lowerBound, count: source.rows.count * 8,
                at: offset)
            offset += source.rows.count * 8
        }
        if let newKey { base.storeInt64(newKey, at: offset) }
    }
}

extension Column {
    @inline(__always)
    var hasHeap: Bool { type == .bytes || type == .list }
}

extension ClusterPage {
    /// The bytes of a heap cell without the room that a list keeps.
    @inline(__always)
    func neededBytes(_ slice: ColumnSlice, _ row: Int) throws(StorageError)
        -> UnsafeRawBufferPointer
    {
        let cell = slice.heapCell(row)
        let bytes = try heapBytes(cell)
        guard slice.geometry.type == .list, cell.length >= ElementLayout.values, !cell.isExternal,
            let base = bytes.baseAddress
        else { return bytes }
        return UnsafeRawBufferPointer(
            start: base,
            count: min(base.uint32(at: ElementLayout.length).roundedUpToEight, cell.length))
    }
}
