internal import ToftModel
internal import ToftStorage

extension Results {
    /// Reads properties of the objects from `first` on into the caller's buffers, at most `capacity` rows. Returns how many rows there were. In
    /// the order of a class a cluster at a time; else a look-up for each run of neighbours. A deleted object of a snapshot is an error.
    package func read(_ buffers: [ColumnBuffer], from first: Int, capacity: Int) throws(EngineError) -> Int {
        let owner = try objectClass()
        let copiers = try copiers(of: buffers, owner)
        let total = try count
        guard first >= 0, first <= total else { throw EngineError(outOfRange: first, count: total) }
        let rows = min(capacity, total - first)
        guard rows > 0 else { return 0 }
        let table = try model { () throws(ModelError) in try session.view.table(owner) }
        if case .whole = try current() {
            try storage { () throws(StorageError) in try Self.readWhole(table, copiers, first: first, rows: rows) }
        } else {
            let keys = try keys()[first..<first + rows]
            try readRuns(of: Array(keys), table, copiers, owner)
        }
        return rows
    }

    private func copiers(of buffers: [ColumnBuffer], _ owner: ClassHandle) throws(EngineError) -> [ColumnCopier] {
        var copiers: [ColumnCopier] = []
        for buffer in buffers {
            guard let id = buffer.property else {
                copiers.append(ColumnCopier(column: nil, type: .int, buffer: buffer))
                continue
            }
            let property = try session.property(id, of: owner)
            guard ColumnBuffer.elementSize(of: property) != nil else {
                throw EngineError(.typeMismatch, "Property '\(owner.name).\(property.name)' holds more than one value and can't be read as a column.")
            }
            copiers.append(ColumnCopier(column: property.column, type: property.type, buffer: buffer))
        }
        return copiers
    }

    private static func readWhole(_ table: Table, _ copiers: [ColumnCopier], first: Int, rows: Int) throws(StorageError) {
        let start = try table.cluster(atRank: first)
        var done = 0
        var row = start.row
        try table.forEachCluster(from: start.view.keys[start.row]) { cluster throws(StorageError) in
            let count = min(cluster.count - row, rows - done)
            for copier in copiers { try copier.copy(row..<row + count, of: cluster, to: done) }
            done += count
            row = 0
            return done < rows
        }
    }

    private func readRuns(of keys: [Int64], _ table: Table, _ copiers: [ColumnCopier], _ owner: ClassHandle) throws(EngineError) {
        var done = 0
        while done < keys.count {
            guard let cluster = try storage({ () throws(StorageError) in try table.cluster(containing: keys[done]) }) else {
                throw EngineError(ModelError.noSuchObject(className: owner.name, key: keys[done]))
            }
            var rows: [Int] = []
            while done + rows.count < keys.count, let row = cluster.row(of: keys[done + rows.count]) { rows.append(row) }
            try storage { () throws(StorageError) in
                for copier in copiers { try copier.copy(rows, of: cluster, to: done) }
            }
            done += rows.count
        }
    }
}
