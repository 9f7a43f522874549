internal import ToftPlatform

/// A table: rows of typed columns under 64-bit keys in signed order, in clusters of up to 256 rows
/// below counted inner nodes.
///
/// A column that a cluster does not have reads as its default: null if it was nullable when it was
/// added, otherwise zero, false, no bytes or an empty list. Adding a column therefore costs
/// nothing. Threads and borrowed bytes follow the rules of `TreeReader`.
package final class TableReader: Sendable {
    let pages: PageReader
    let head: TreeHead
    /// Finds lists that are too long for their cluster.
    private let catalog: Catalog

    init(pages: PageReader, head: TreeHead, catalog: Catalog) {
        self.pages = pages
        self.head = head
        self.catalog = catalog
    }

    /// The root of the tree.
    @inline(__always)
    var root: TreeRoot { head.root }

    /// The columns in the order of their ids.
    @inline(__always)
    package var columns: [Column] { head.columns }

    /// Rows of the table.
    package var rowCount: Int { Int(clamping: root.count) }

    /// The key of the next new row: above every key that a row ever had.
    package var nextKey: Int64 { root.nextKey }

    /// Whether both are the same tree, of two committed versions: a changed tree has another root.
    package func hasSameRows(as other: TableReader) -> Bool { root == other.root }

    /// The column with an id.
    @inline(__always)
    package func column(_ id: UInt32) throws(StorageError) -> Column {
        guard let index = columnIndex(id) else { throw .noSuchColumn(id) }
        return columns[index]
    }

    /// Column ids are usually dense, so `id - firstID` is usually the index.
    @inline(__always)
    func columnIndex(_ id: UInt32) -> Int? {
        let columns = columns
        guard let first = columns.first else { return nil }
        let guess = min(Int(id &- first.id), columns.count - 1)
        if columns[guess].id == id { return guess }
        return search(id, columns)
    }

    /// Removed columns leave gaps in the ids.
    private func search(_ id: UInt32, _ columns: [Column]) -> Int? {
        var low = 0
        var high = columns.count
        while low < high {
            let middle = (low + high) / 2
            let found = columns[middle].id
            if found == id { return middle }
            if found < id { low = middle + 1 } else { high = middle }
        }
        return nil
    }

    // MARK: Rows

    /// Whether there is a row with this key. O(log rows).
    package func contains(_ key: Int64) throws(StorageError) -> Bool {
        guard !root.isEmpty else { return false }
        return try leaf(key).cluster.row(of: key) != nil
    }

    /// The cell of a row. O(log rows). Null for a list: see `list`.
    package func cell(_ key: Int64, _ columnID: UInt32) throws(StorageError) -> Cell {
        let column = try column(columnID)
        let position = try position(of: key)
        return try cell(position.leaf, position.row, column)
    }

    /// The position of a row, for reading several of its cells with one lookup. Valid as long as
    /// borrowed bytes are.
    package struct RowPosition {
        fileprivate let leaf: Leaf
        fileprivate let row: Int
    }

    /// Finds a row. O(log rows).
    package func row(_ key: Int64) throws(StorageError) -> RowPosition {
        let position = try position(of: key)
        return RowPosition(leaf: position.leaf, row: position.row)
    }

    /// The cell of a row that was found. O(1). Null for a list.
    package func cell(_ position: RowPosition, _ columnID: UInt32) throws(StorageError) -> Cell {
        try cell(position.leaf, position.row, try column(columnID))
    }

    /// The list of a row.
    package func list(_ key: Int64, _ columnID: UInt32) throws(StorageError) -> ListView {
        let column = try listColumn(columnID)
        let position = try position(of: key)
        return try list(position.leaf, position.row, column)
    }

    /// Elements of a row's list.
    package func listCount(_ key: Int64, _ columnID: UInt32) throws(StorageError) -> Int {
        try list(key, columnID).count
    }

    func listColumn(_ id: UInt32) throws(StorageError) -> Column {
        let column = try column(id)
        guard column.type == .list else { throw .typeMismatch("column \(id) is not a list") }
        return column
    }

    /// The key of the row at a rank in key order. O(log rows).
    package func key(atRank rank: Int) throws(StorageError) -> Int64 {
        let (leaf, row) = try leaf(atRank: rank)
        return leaf.cluster.keys[row]
    }

    /// Number of rows with a key below `key`. O(log rows).
    package func rank(of key: Int64) throws(StorageError) -> Int {
        guard !root.isEmpty else { return 0 }
        var target = RowTarget(key)
        let (_, base, before) = try root.rankedLeaf(&target, in: pages, as: .cluster)
        return Int(clamping: before) &+ (try Leaf(base, pages).cluster.lowerBound(key))
    }

    // MARK: Clusters

    /// The cluster that contains a row; nil if there is no such row. O(log rows).
    package func cluster(containing key: Int64) throws(StorageError) -> ClusterView? {
        guard !root.isEmpty else { return nil }
        let leaf = try leaf(key)
        return leaf.cluster.row(of: key) == nil ? nil : ClusterView(table: self, leaf: leaf)
    }

    /// The cluster that holds the row at a rank in key order, and which of its rows that is. O(log
    /// rows).
    package func cluster(atRank rank: Int) throws(StorageError) -> (view: ClusterView, row: Int) {
        let (leaf, row) = try leaf(atRank: rank)
        return (ClusterView(table: self, leaf: leaf), row)
    }

    /// Calls `body` for each cluster in key order, from the one that holds `key` or the first key
    /// after it, until it returns false. Rows of the first cluster may be before `key`.
    package func forEachCluster(
        from key: Int64 = .min, _ body: (ClusterView) throws(StorageError) -> Bool
    ) throws(StorageError) {
        let cursor = LeafCursor(pages: pages, root: root, leafType: .cluster)
        let cache = pages.cache
        let isEncrypted = cache.file.cipher != nil
        var readAhead = ReadAhead()
        var prefetch = LeafPrefetch()
        var target = RowTarget(key)
        var isThere = try cursor.seek(&target)
        while isThere, let base = cursor.base {
            if isEncrypted { readAhead.come(to: cursor) }
            let leaf = try Leaf(base, pages)
            let ahead = prefetch.come(to: cursor, in: cache)
            if let ahead {
                (ahead + leaf.cluster.header).prefetch()
                (ahead + leaf.cluster.keysStart).prefetch()
            }
            if key == .min || leaf.cluster.keys[leaf.cluster.rowCount - 1] >= key {
                guard try body(ClusterView(table: self, leaf: leaf, ahead: ahead)) else {
                    return
                }
            }
            isThere = try cursor.next()
        }
    }

    // MARK: Finding clusters

    /// A cluster whose keys are verified.
    struct Leaf {
        let cluster: ClusterPage

        /// The reference that the cluster was viewed through, without its digest.
        @inline(__always) var ref: Ref { Ref(viewed: cluster.base) }

        /// Verifies the own header and the keys of a cluster that was viewed.
        @inline(__always)
        init(_ base: UnsafeRawPointer, _ pages: PageReader) throws(StorageError) {
            let ref = Ref(viewed: base)
            cluster = try ClusterPage(base, page: ref.page, pageCount: ref.pageCount)
            if cluster.columnsStart > Page.size {
                try pages.verify(ref, base, 0..<cluster.columnsStart)
            }
        }
    }

    @inline(__always)
    func leaf(_ key: Int64) throws(StorageError) -> Leaf {
        var target = RowTarget(key)
        let (_, base) = try root.leaf(&target, in: pages, as: .cluster)
        return try Leaf(base, pages)
    }

    @inline(__always)
    func position(of key: Int64) throws(StorageError) -> (leaf: Leaf, row: Int) {
        guard !root.isEmpty else { throw .noSuchRow(key: key) }
        let leaf = try leaf(key)
        guard let row = leaf.cluster.row(of: key) else { throw .noSuchRow(key: key) }
        return (leaf, row)
    }

    private func leaf(atRank rank: Int) throws(StorageError) -> (leaf: Leaf, row: Int) {
        guard rank >= 0, rank < rowCount, !root.isEmpty else {
            throw .indexOutOfRange(index: rank, count: rowCount)
        }
        var target = PositionTarget(remaining: UInt64(rank))
        let (_, base) = try root.leaf(&target, in: pages, as: .cluster)
        let leaf = try Leaf(base, pages)
        guard target.remaining < UInt64(leaf.cluster.rowCount) else {
            throw .corrupt(
                page: leaf.cluster.page, reason: "a cluster holds fewer rows than are counted")
        }
        return (leaf, Int(target.remaining))
    }

    // MARK: Cells

    /// A cell of a cluster; `row` is below its row count.
    @inline(__always)
    func cell(_ leaf: Leaf, _ row: Int, _ column: Column) throws(StorageError) -> Cell {
        guard let slice = try leaf.cluster.slice(ofColumn: column) else {
            return column.absentCell
        }
        try pages.verify(leaf.ref, leaf.cluster.base, slice.range)
        return try cell(leaf, row, slice)
    }

    /// A cell of a column that is verified.
    @inline(__always)
    func cell(_ leaf: Leaf, _ row: Int, _ slice: ColumnSlice) throws(StorageError) -> Cell {
        if slice.isNull(row) { return .null }
        if slice.geometry.type == .bytes { return .bytes(try bytes(leaf, slice.heapCell(row))) }
        return slice.fixedCell(row)
    }

    /// The bytes of a cell, from its blob if it has one.
    @inline(__always)
    func bytes(_ leaf: Leaf, _ cell: HeapCell) throws(StorageError) -> UnsafeRawBufferPointer {
        let bytes = try leaf.cluster.heapBytes(cell)
        try pages.verify(
            leaf.ref, leaf.cluster.base,
            Range(uncheckedBounds: (cell.offset, cell.offset &+ cell.length)))
        guard cell.isExternal else { return bytes }
        return try pages.blob(try Ref(blob: bytes, page: leaf.cluster.page))
    }

    /// The list of a row; `row` is below the cluster's row count.
    func list(_ leaf: Leaf, _ row: Int, _ column: Column) throws(StorageError) -> ListView {
        guard let slice = try leaf.cluster.slice(ofColumn: column) else { return .empty(in: pages) }
        try pages.verify(leaf.ref, leaf.cluster.base, slice.range)
        let cell = slice.heapCell(row)
        if cell.raw == 0 { return .empty(in: pages) }
        let bytes = try leaf.cluster.heapBytes(cell)
        try pages.verify(leaf.ref, leaf.cluster.base, cell.offset..<cell.offset + cell.length)
        if cell.isExternal {
            return ListView(try sequence(bytes, leaf.cluster.page, column.elementKind), in: pages)
        }
        if let base = bytes.baseAddress, ElementBlock.isCoded(base, available: bytes.count) {
            let start = cell.offset - slice.heapBytes(before: cell)
            try pages.verify(leaf.ref, leaf.cluster.base, start..<cell.offset)
        }
        return ListView(try leaf.cluster.block(cell, slice, column.elementKind), in: pages)
    }

    /// The tree of a list that has one.
    func sequence(_ bytes: UnsafeRawBufferPointer, _ page: PageNumber, _ kind: ElementKind)
        throws(StorageError) -> SequenceReader
    {
        let sequence = try catalog.sequence(try TableReader.sequenceID(bytes, page))
        guard try sequence.kind().fits(kind) else {
            throw .corrupt(page: page, reason: "a list's elements are not of its column's type")
        }
        return sequence
    }

    static func sequenceID(_ bytes: UnsafeRawBufferPointer, _ page: PageNumber) throws(StorageError)
        -> TreeID
    {
        guard let base = bytes.baseAddress, bytes.count == ClusterLayout.sequenceIDSize else {
            throw .corrupt(page: page, reason: "a sequence id of the wrong size")
        }
        return base.uint64(at: 0)
    }
}

extension Column {
    /// Whether the rows of a cluster that does not hold the column are null there.
    @inline(__always)
    var isNullWhereAbsent: Bool { isNullable && !wasRequired }

    /// The value that a cell has in a cluster without the column.
    @inline(__always)
    var absentCell: Cell {
        if isNullWhereAbsent { return .null }
        switch type {
        case .bool: return .bool(false)
        case .int64: return .int64(0)
        case .float32: return .float32(0)
        case .float64: return .float64(0)
        case .timestamp: return .timestamp(Timestamp(seconds: 0, nanoseconds: 0))
        case .bytes: return .bytes(UnsafeRawBufferPointer(start: nil, count: 0))
        case .fixed16, .fixed12: return .fixed(.zero)
        case .list: return .null
        }
    }
}
