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

/// Writes a new cluster from rows of others: to grow, seal, split, merge or take in new columns. A
/// column's cells are then contiguous and in row order, bounds are tight, and garbage and dropped
/// columns are left out.
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
    /// Bytes of heap that they would need if no column were coded.
    let plainHeap: Int
    /// The encoding of each column.
    private var encodings: [ColumnEncoding] = []
    /// Whether the keys follow each other without a gap, including that of the next row, and need
    /// not be stored.
    let hasDenseKeys: Bool

    /// The reasons why a cluster's column cannot hold a value.
    enum Widening {
        /// An integer that does not fit into its column's width, or a timestamp whose column has
        /// no nanoseconds.
        case integers(UInt32, Int64, hasNanoseconds: Bool)
        /// A long value, which a coded column of bytes cannot have.
        case plainTexts(UInt32)
    }

    /// - Parameters:
    ///   - expected: the key of a row that is to come.
    ///   - widening: a future value of a column that cannot represent it yet.
    init(
        _ columns: [Column], _ sources: [ClusterSource], appending newKey: Int64? = nil,
        like model: ClusterBuilder? = nil, expecting expected: Int64? = nil,
        widening: Widening? = nil
    ) throws(StorageError) {
        self.columns = columns
        self.sources = sources
        self.newKey = newKey
        if let model {
            encodings = model.encodings.map(\.withoutCodes)
        } else {
            for column in columns { encodings.append(try Self.encoding(column, sources)) }
        }
        hasDenseKeys =
            model?.hasDenseKeys != false && Self.areDense(sources, newKey ?? expected)
        let rows = sources.reduce(newKey == nil ? 0 : 1) { $0 + $1.rows.count }
        if let widening { Self.widen(&encodings, columns, widening) }
        var sizes: [Int] = []
        for column in columns {
            var size = 0
            if column.hasHeap {
                for source in sources { size += try Self.liveHeap(source, column) }
            }
            sizes.append(size)
        }
        let plain = sizes.reduce(0, +)
        // A few long rows qualify too: coded, they were short enough for one cluster.
        let isCoded =
            model == nil && (rows >= ClusterLimits.codedRows || plain > ClusterLimits.bytes)
        var heap = 0
        for (index, column) in columns.enumerated() where column.hasHeap {
            let size = sizes[index]
            if isCoded && encodings[index].mayBeCoded && column.type == .bytes {
                encodings[index].codes = try TextCodes(column, sources, rows: rows, plain: size)
            }
            if isCoded && column.type == .list {
                encodings[index].lists = try ListCodes(column, sources, plain: size)
            }
            heap += encodings[index].codes?.heap ?? encodings[index].lists?.heap ?? size
        }
        rowCount = rows
        liveHeap = heap
        plainHeap = plain
    }

    /// As few bytes as the bounds of the values need, which are tight in clusters that are written
    /// anew. Nothing is known of rows to come.
    private static func encoding(_ column: Column, _ sources: [ClusterSource])
        throws(StorageError) -> ColumnEncoding
    {
        guard column.type.hasIntegers, !sources.isEmpty else { return ColumnEncoding() }
        var low = Int64.max
        var high = Int64.min
        var hasNanoseconds = false
        for source in sources {
            guard let slice = try source.cluster.slice(ofColumn: column) else { continue }
            low = min(low, Int64(bitPattern: slice.low))
            high = max(high, Int64(bitPattern: slice.high))
            if column.type == .timestamp && slice.geometry.hasNanoseconds && !hasNanoseconds {
                let nanoseconds = slice.nanoseconds
                hasNanoseconds = source.rows.contains { nanoseconds.uint32(at: $0 &* 4) != 0 }
            }
        }
        return ColumnEncoding(width: IntegerWidth(low, high), hasNanoseconds: hasNanoseconds)
    }

    private static func areDense(_ sources: [ClusterSource], _ newKey: Int64?) -> Bool {
        var next = sources.first.map { $0.cluster.keys[$0.rows.lowerBound] } ?? newKey ?? 0
        for source in sources {
            let keys = source.cluster.keys
            for row in source.rows {
                if keys[row] != next { return false }
                next &+= 1
            }
        }
        return newKey == nil || newKey == next
    }

    /// Makes a column so wide that it can take a value.
    private static func widen(
        _ encodings: inout [ColumnEncoding], _ columns: [Column], _ widening: Widening
    ) {
        switch widening {
        case .integers(let id, let value, let hasNanoseconds):
            guard let index = columns.firstIndex(where: { $0.id == id }) else { return }
            if !encodings[index].width.holds(value) {
                encodings[index].width = IntegerWidth(value, value)
            }
            if hasNanoseconds { encodings[index].hasNanoseconds = true }
        case .plainTexts(let id):
            guard let index = columns.firstIndex(where: { $0.id == id }) else { return }
            encodings[index].mayBeCoded = false
        }
    }

    private func geometry(_ index: Int, _ capacity: Int) -> ColumnGeometry {
        ColumnGeometry(
            type: columns[index].type, isNullable: columns[index].isNullable, capacity: capacity,
            width: encodings[index].codes == nil ? encodings[index].width : .one,
            hasNanoseconds: encodings[index].hasNanoseconds,
            textRoom: encodings[index].codes?.room ?? 0)
    }

    private static func liveHeap(_ source: ClusterSource, _ column: Column) throws(StorageError)
        -> Int
    {
        guard let slice = try source.cluster.slice(ofColumn: column) else { return 0 }
        var sum = column.type == .list ? 7 : 0
        for row in source.rows { sum += try source.cluster.neededBytes(slice, row, column) }
        return sum
    }

    /// Whether any column keeps its cells in the heap.
    var hasHeap: Bool { columns.contains { $0.hasHeap } }

    /// Pages of a cluster of a shape.
    func pages(_ shape: ClusterShape) -> Int {
        Self.pages(payload: fixedBytes(shape.rowCapacity) + shape.heap)
    }

    /// Pages of a cluster with `payload` bytes besides the extent's header.
    static func pages(payload: Int) -> Int {
        var pages = (payload + ExtentHeader.size + Page.size - 1) / Page.size
        while payload > room(pages) { pages += 1 }
        return pages
    }

    /// Bytes that a cluster of `pages` pages has besides the extent's header.
    static func room(_ pages: Int) -> Int {
        pages * Page.size - ExtentHeader.payloadStart(.cluster, pageCount: pages)
    }

    /// Bytes that the rows take besides the extent's header.
    var payload: Int { fixedBytes(rowCount) + liveHeap }

    /// The first rows of a cluster that takes no more rows.
    func first(_ count: Int) throws(StorageError) -> ClusterBuilder {
        var first: [ClusterSource] = []
        var missing = count
        for source in sources where missing > 0 {
            let rows = source.rows.prefix(missing)
            first.append(ClusterSource(cluster: source.cluster, rows: rows))
            missing -= rows.count
        }
        return try ClusterBuilder(columns, first)
    }

    func fixedBytes(_ capacity: Int) -> Int {
        var sum =
            ClusterLayout.headerSize + columns.count * ClusterLayout.entrySize
            + ClusterLayout.keysSize(capacity, isDense: hasDenseKeys)
        for index in columns.indices { sum += geometry(index, capacity).size }
        return sum
    }

    /// Writes the cluster. The shape has room for all rows, and is one that a cluster can have.
    func build(_ shape: ClusterShape, in pages: PageWriter) throws(StorageError) -> (
        ref: Ref, base: UnsafeMutableRawPointer
    ) {
        let pageCount = self.pages(shape)
        guard pageCount <= ExtentLimit.pages else {
            // Not an error of the caller's: the change may be half done.
            throw .invalidPage(
                page: 0, kind: "cluster",
                reason: "\(rowCount) rows of \(columns.count) columns take \(pageCount) pages")
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
        base.storeUInt16(
            hasDenseKeys ? ClusterLayout.denseKeysFlag : 0, at: header + ClusterLayout.flags)
        base.storeUInt32(heapStart, at: header + ClusterLayout.heapStart)
        copyKeys(to: base, at: keys)

        var start = keys + ClusterLayout.keysSize(shape.rowCapacity, isDense: hasDenseKeys)
        var writer = ColumnWriter(base: base, heapEnd: heapStart, heapLimit: pageCount * Page.size)
        for (index, column) in columns.enumerated() {
            let entry = header + ClusterLayout.headerSize + index * ClusterLayout.entrySize
            let geometry = geometry(index, shape.rowCapacity)
            try writer.write(
                column, geometry, entry: entry, start: start, from: sources, rowCount: rowCount,
                encodings[index].codes, encodings[index].lists)
            start += geometry.size
        }
        base.storeUInt32(writer.heapEnd, at: header + ClusterLayout.heapEnd)
        return (ref, base)
    }

    private func copyKeys(to base: UnsafeMutableRawPointer, at start: Int) {
        var offset = start
        for source in sources {
            let keys = source.cluster.keys
            for row in source.rows {
                base.storeInt64(keys[row], at: offset)
                if hasDenseKeys { return }
                offset += 8
            }
        }
        if let newKey { base.storeInt64(newKey, at: offset) }
    }
}

/// The narrowest form of a column in a cluster.
private struct ColumnEncoding {
    /// The width of its integers.
    var width = IntegerWidth.eight
    /// Whether its timestamps have nanoseconds.
    var hasNanoseconds = true
    /// Whether it may have codes.
    var mayBeCoded = true
    /// Of a coded column of bytes.
    var codes: TextCodes?
    /// Of a column of lists whose elements are coded.
    var lists: ListCodes?

    /// The encoding for future rows, whose texts are unknown.
    var withoutCodes: ColumnEncoding {
        ColumnEncoding(width: width, hasNanoseconds: hasNanoseconds)
    }
}

extension Column {
    @inline(__always)
    var hasHeap: Bool { type == .bytes || type == .list }
}

extension ClusterPage {
    /// Bytes of heap that a row needs without coding and without a list's reserve.
    @inline(__always)
    func neededBytes(_ slice: ColumnSlice, _ row: Int, _ column: Column) throws(StorageError) -> Int
    {
        let cell = slice.heapCell(row)
        guard slice.geometry.type == .list, !cell.isExternal, cell.raw != 0 else {
            return try heapBytes(cell).count
        }
        return try neededBytes(try block(cell, slice, column.elementKind))
    }

    /// Bytes of heap that a list needs without coding.
    func neededBytes(_ block: ElementBlock) throws(StorageError) -> Int {
        guard block.isCoded else { return block.length.roundedUpToEight }
        return block.kind.blockSize(
            count: block.count, heapBytes: try block.heapBytes(0..<block.count)
        ).roundedUpToEight
    }
}
