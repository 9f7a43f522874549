internal import ToftModel
internal import ToftStorage

extension TransactionChanges {
    /// The differences of two versions, for all visible classes. Clusters that both have are not
    /// read.
    init(comparing old: ModelView, with new: ModelView) throws(EngineError) {
        var differences: [ClassID: TableComparison] = [:]
        try model { () throws(ModelError) in
            for after in new.schema.visibleClasses {
                guard let before = old.schema.anyClass(id: after.id) else { continue }
                let columns = after.visibleProperties.filter { property in
                    property.isStored && before.visibleProperties.contains { $0.id == property.id }
                }
                var comparison = TableComparison(
                    columns: columns.flatMap { property in
                        property.collection == .dictionary
                            ? [(property.column, true), (property.keysColumn, true)]
                            : [(property.column, property.isCollection)]
                    })
                let tables = (try old.table(before), try new.table(after))
                try stored { () throws(StorageError) in try comparison.run(tables.0, tables.1) }
                differences[after.id] = comparison
            }
        }
        self.init(differences: differences.mapValues { ($0.inserted, $0.erased, $0.modified) })
    }
}

/// Finds the rows in which two versions of a table differ.
private struct TableComparison {
    /// A row: its cluster and its place there.
    private typealias RowLocation = (cluster: ClusterView, row: Int)

    let columns: [(id: UInt32, isCollection: Bool)]
    private(set) var inserted = IndexRanges()
    private(set) var erased = IndexRanges()
    private(set) var modified = IndexRanges()

    init(columns: [(id: UInt32, isCollection: Bool)]) {
        self.columns = columns
    }

    mutating func run(_ old: TableReader, _ new: TableReader) throws(StorageError) {
        let before = try Self.clusters(of: old)
        let after = try Self.clusters(of: new)
        let gone = Self.rows(of: before.filter { after[$0.key] == nil }.map(\.value))
        let come = Self.rows(of: after.filter { before[$0.key] == nil }.map(\.value))
        for key in come.keys.sorted() where gone[key] == nil { inserted.append(Int(key)) }
        for key in gone.keys.sorted() {
            guard let now = come[key], let was = gone[key] else {
                erased.append(Int(key))
                continue
            }
            if try !isEqual(was, now) { modified.append(Int(key)) }
        }
    }

    private static func clusters(of table: TableReader) throws(StorageError) -> [ClusterIdentity:
        ClusterView]
    {
        var clusters: [ClusterIdentity: ClusterView] = [:]
        try table.forEachCluster { cluster throws(StorageError) in
            clusters[cluster.identity] = cluster
            return true
        }
        return clusters
    }

    private static func rows(of clusters: [ClusterView]) -> [Int64: RowLocation] {
        var rows: [Int64: RowLocation] = [:]
        for cluster in clusters {
            for row in 0..<cluster.count { rows[cluster.keys[row]] = (cluster, row) }
        }
        return rows
    }

    private func isEqual(_ was: RowLocation, _ now: RowLocation) throws(StorageError) -> Bool {
        for column in columns {
            if column.isCollection {
                guard
                    try was.cluster.list(column.id, was.row).isEqual(
                        to: now.cluster.list(column.id, now.row))
                else { return false }
            } else {
                guard
                    try was.cluster.cell(was.row, column.id).isEqual(
                        to: now.cluster.cell(now.row, column.id))
                else { return false }
            }
        }
        return true
    }

}

extension ListView {
    fileprivate func isEqual(to other: ListView) throws(StorageError) -> Bool {
        guard count == other.count else { return false }
        for index in 0..<count {
            guard try cell(at: index).isEqual(to: other.cell(at: index)) else { return false }
        }
        return true
    }

    /// Whether two lists of one property hold equal values.
    func hasSameElements(as other: ListView) throws(ModelError) -> Bool {
        do { return try isEqual(to: other) } catch { throw .storage(error) }
    }
}
