internal import ToftModel
internal import ToftStorage

/// Rows of one cluster, by their places there.
enum ClusterRows {
    case range(Range<Int>)
    case indexes([Int])
}

extension Results {
    /// Calls `body` for the rows of `range` of the results, in order, a cluster at a time: in the
    /// order of a class cluster after cluster, otherwise with a lookup for each run of neighbours.
    /// The cluster is nil for a deleted object that a snapshot still lists.
    func forEachRows(
        of range: Range<Int>,
        _ body: (ClusterView?, ClusterRows) throws(StorageError) -> Void
    ) throws(EngineError) {
        guard !range.isEmpty else { return }
        let owner = try objectClass()
        let table = try model { () throws(ModelError) in try session.view.table(owner) }
        if let keys = try partialKeys(of: range) {
            try storage { () throws(StorageError) in try Self.forEachRun(of: keys, table, body) }
        } else if case .whole = try current() {
            try storage { () throws(StorageError) in
                try Self.forEachRows(of: table, range, body)
            }
        } else {
            let keys = try keys()[range]
            try storage { () throws(StorageError) in try Self.forEachRun(of: keys, table, body) }
        }
    }

    private static func forEachRows(
        of table: TableReader, _ range: Range<Int>,
        _ body: (ClusterView?, ClusterRows) throws(StorageError) -> Void
    ) throws(StorageError) {
        let start = try table.cluster(atRank: range.lowerBound)
        var row = start.row
        var left = range.count
        try table.forEachCluster(from: start.view.keys[row]) {
            cluster throws(StorageError) in
            let count = min(cluster.count - row, left)
            try body(cluster, .range(row..<row + count))
            left -= count
            row = 0
            return left > 0
        }
    }

    private static func forEachRun(
        of keys: ArraySlice<Int64>, _ table: TableReader,
        _ body: (ClusterView?, ClusterRows) throws(StorageError) -> Void
    ) throws(StorageError) {
        var next = keys.startIndex
        while next < keys.endIndex {
            let cluster = try table.cluster(containing: keys[next])
            var indexes: [Int] = []
            while next < keys.endIndex, let row = cluster?.row(of: keys[next]) {
                indexes.append(row)
                next += 1
            }
            if indexes.isEmpty {
                try body(nil, .range(0..<1))
                next += 1
            } else {
                try body(cluster, .indexes(indexes))
            }
        }
    }
}
