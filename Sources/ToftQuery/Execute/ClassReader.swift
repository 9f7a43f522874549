internal import ToftModel
internal import ToftStorage

/// A column that an expression reads.
struct ColumnRead {
    var property: PropertyRef
    var column: UInt32
    var type: ValueType
    var layout: Vector.Layout

    init(_ property: PropertyRef, _ type: ValueType) {
        self.property = property
        column = property.propertyID
        self.type = type
        layout = Vector.Layout(type)
    }
}

/// Reads columns of one class into vectors: in place from a cluster, row by row from wherever the
/// objects of a batch lie, or from a copy of the whole column when most of it will be needed in no
/// order.
final class ClassReader {
    let table: TableReader
    private unowned let source: DataSource
    private var wholeColumns: [UInt32: MaterializedColumn] = [:]
    /// Columns that turned out not worth a copy.
    private var scattered: Set<UInt32> = []

    init(_ table: TableReader, source: DataSource) {
        self.table = table
        self.source = source
    }

    /// Fills `vector` with the column's values of the rows of `batch`; of rows that are not wanted
    /// it says nothing.
    func read(_ column: ColumnRead, _ batch: RowBatch, wanted: Selection, into vector: Vector)
        throws(ModelError)
    {
        if let cluster = batch.cluster {
            do { try ClusterColumn(cluster, column).read(into: vector, wanted: wanted) } catch {
                throw .storage(error)
            }
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

    /// The copy of a column, when so many rows will ask for it that reading it at once pays.
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

    // MARK: Lists

    /// The list of each wanted row that has an object, in the order of rows.
    func forEachList(
        _ column: UInt32, _ batch: RowBatch, wanted: Selection,
        _ body: (Int, ListView) throws(ModelError) -> Void
    ) throws(ModelError) {
        if let cluster = batch.cluster {
            var rows = wanted.rows
            while let row = rows.next() { try body(row, try Self.list(cluster, column, row)) }
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
                row,
                try Self.list(
                    locations.clusters[Int(clusterOfRow[row])], column, Int(locations.rows[row])))
        }
    }

    private static func list(_ cluster: ClusterView, _ column: UInt32, _ row: Int)
        throws(ModelError) -> ListView
    {
        do { return try cluster.list(column, row) } catch { throw .storage(error) }
    }
}
