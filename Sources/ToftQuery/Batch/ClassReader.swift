internal import ToftModel
internal import ToftStorage

/// Reads columns of one class into vectors: in place from a cluster, row by row from wherever a
/// batch's objects are, or from a copy of the whole column when most of it will be needed in random
/// order.
final class ClassReader {
    let classID: ClassID
    let table: TableReader
    private unowned let source: DataSource
    private var wholeColumns: [UInt32: MaterializedColumn] = [:]
    /// Columns that turned out not worth a copy.
    private var scattered: Set<UInt32> = []

    init(_ classID: ClassID, _ table: TableReader, source: DataSource) {
        self.classID = classID
        self.table = table
        self.source = source
    }

    /// Fills `vector` with the column's values of the rows of `batch`; of rows that are not wanted
    /// it says nothing.
    func read(_ column: ColumnRead, _ batch: RowBatch, wanted: Selection, into vector: Vector)
        throws(ModelError)
    {
        if let key = column.key {
            return try readEntries(column, key, batch, wanted: wanted, into: vector)
        }
        if let cluster = batch.cluster {
            do {
                if try vector.use(column, of: cluster.pointee) { return }
                try ClusterColumn(cluster.pointee, column).read(into: vector, wanted: wanted)
            } catch { throw .storage(error) }
            return
        }
        if let whole = try wholeColumn(column) {
            whole.read(batch, wanted: wanted, into: vector)
            return
        }
        try gather(column, batch, into: vector)
    }

    private func gather(_ column: ColumnRead, _ batch: RowBatch, into vector: Vector)
        throws(ModelError)
    {
        let locations = try batch.located()
        vector.useOwnStorage()
        vector.nulls = batch.absent
        var start = 0
        for (cluster, end) in zip(locations.clusters, locations.ends) {
            do {
                let part = try ClusterColumn(cluster, column)
                for index in start..<end {
                    let row = Int(locations.order[index])
                    try part.copy(Int(locations.rows[row]), to: row, of: vector)
                }
            } catch {
                throw .storage(error)
            }
            start = end
        }
    }

    // MARK: Whole columns

    /// The copy of a column, when enough rows will be read to make copying it at once faster.
    private func wholeColumn(_ column: ColumnRead) throws(ModelError) -> MaterializedColumn? {
        if let known = wholeColumns[column.column] { return known }
        guard table.rowCount > Selection.capacity * 4, source.baseCount >= table.rowCount / 4,
            !scattered.contains(column.column)
        else { return nil }
        let copied: MaterializedColumn?
        do { copied = try MaterializedColumn(column, of: table) } catch { throw .storage(error) }
        if let copied {
            wholeColumns[column.column] = copied
        } else {
            scattered.insert(column.column)
        }
        return copied
    }

    // MARK: Collections

    /// Looks a key up in the dictionary of each row: null if it is missing. O(log entries) for
    /// each.
    private func readEntries(
        _ column: ColumnRead, _ key: [UInt8], _ batch: RowBatch, wanted: Selection,
        into vector: Vector
    ) throws(ModelError) {
        vector.useOwnStorage()
        var found = Selection.empty
        let keysColumn = DictionaryColumns.keys(column.column)
        try key.withBytes { key throws(ModelError) in
            try forEachRow(batch, wanted: wanted) { row, cluster, index throws(ModelError) in
                let keys = try Self.list(cluster, keysColumn, index)
                let position = try keys.position(of: .bytes(key), .string)
                guard position.isFound else { return }
                let values = try Self.list(cluster, column.column, index)
                vector.set(row, try values.element(position.index))
                found.insert(row)
            }
        }
        vector.nulls |= ~found
    }

    /// The list of each wanted row that has an object, in the order of rows: the elements of a
    /// collection, or the keys of a dictionary.
    func forEachList(
        _ column: UInt32, _ batch: RowBatch, wanted: Selection,
        _ body: (Int, ListView) throws(ModelError) -> Void
    ) throws(ModelError) {
        try forEachRow(batch, wanted: wanted) { row, cluster, index throws(ModelError) in
            try body(row, try Self.list(cluster, column, index))
        }
    }

    /// The value of each wanted row that has an object, in the order of rows.
    func forEachCell(
        _ column: UInt32, _ batch: RowBatch, wanted: Selection,
        _ body: (Int, Cell) throws(ModelError) -> Void
    ) throws(ModelError) {
        try forEachRow(batch, wanted: wanted) { row, cluster, index throws(ModelError) in
            try body(row, try Self.cell(cluster, column, index))
        }
    }

    /// Each wanted row that has an object, in order, with the object's cluster and its row there.
    @inline(__always)
    private func forEachRow(
        _ batch: RowBatch, wanted: Selection,
        _ body: (Int, ClusterView, Int) throws(ModelError) -> Void
    ) throws(ModelError) {
        if let cluster = batch.cluster?.pointee {
            var rows = wanted.rows
            while let row = rows.next() { try body(row, cluster, row) }
            return
        }
        let locations = try batch.located()
        var clusterOfRow = [UInt8](repeating: 0, count: batch.count)
        var start = 0
        for (index, end) in locations.ends.enumerated() {
            for position in start..<end {
                clusterOfRow[Int(locations.order[position])] = UInt8(truncatingIfNeeded: index)
            }
            start = end
        }
        var rows = wanted.subtracting(batch.absent).rows
        while let row = rows.next() {
            try body(
                row, locations.clusters[Int(clusterOfRow[row])], Int(locations.rows[row]))
        }
    }

    private static func cell(_ cluster: ClusterView, _ column: UInt32, _ row: Int)
        throws(ModelError) -> Cell
    {
        do { return try cluster.cell(row, column) } catch { throw .storage(error) }
    }

    private static func list(_ cluster: ClusterView, _ column: UInt32, _ row: Int)
        throws(ModelError) -> ListView
    {
        do { return try cluster.list(column, row) } catch { throw .storage(error) }
    }
}

extension ListView {
    /// The element at `index`.
    @inline(__always)
    func element(_ index: Int) throws(ModelError) -> Cell {
        do { return try cell(at: index) } catch { throw .storage(error) }
    }
}
