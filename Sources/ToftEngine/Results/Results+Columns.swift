package import ToftModel
internal import ToftStorage

extension Results {
    /// Reads properties of the objects from `first` on into the caller's buffers, at most
    /// `capacity` rows. Returns the number of rows. An object that a snapshot still lists and that
    /// has been deleted reads as null.
    package func read(_ buffers: [ColumnBuffer], from first: Int, capacity: Int) throws(EngineError)
        -> Int
    {
        let copiers = try session.copiers(of: buffers, try objectClass())
        let range = try range(from: first, capacity: max(capacity, 0))
        var done = 0
        try forEachRows(of: range) { cluster, rows throws(StorageError) in
            for copier in copiers { try copier.copy(rows, of: cluster, to: done) }
            done += rows.count
        }
        return done
    }

    /// The part of the range that has elements. The results are evaluated, unless it is among their
    /// first elements, or the last.
    private func range(from first: Int, capacity: Int) throws(EngineError) -> Range<Int> {
        let (end, isBeyond) = first.addingReportingOverflow(capacity)
        if first >= 0, capacity > 0, !isBeyond {
            if try partialKeys(of: first..<end) != nil { return first..<end }
            _ = try current()
        }
        let total = try count
        guard first >= 0, first <= total else { throw EngineError(outOfRange: first, count: total) }
        return first..<first + min(capacity, total - first)
    }
}

extension Session {
    /// Reads properties of the objects with some keys into the caller's buffers, an element for
    /// each key: null for one that is marked in `nulls`, and for one that no object has. Keys in
    /// ascending order are read a cluster at a time, others with a lookup for each.
    package func read(
        _ buffers: [ColumnBuffer], of id: ClassID, keys: UnsafeBufferPointer<Int64>,
        nulls: UnsafePointer<UInt8>?
    ) throws(EngineError) {
        try check()
        let owner = try classHandle(id)
        let copiers = try copiers(of: buffers, owner)
        let table = try model { () throws(ModelError) in try view.table(owner) }
        func isNull(_ index: Int) -> Bool { nulls.map { $0[index] != 0 } ?? false }
        try storage { () throws(StorageError) in
            var next = 0
            while next < keys.count {
                let first = next
                let cluster = isNull(next) ? nil : try table.cluster(containing: keys[next])
                var rows: [Int] = []
                while next < keys.count, !isNull(next), let row = cluster?.row(of: keys[next]) {
                    rows.append(row)
                    next += 1
                }
                if rows.isEmpty { next += 1 }
                let found = rows.isEmpty ? ClusterRows.range(0..<1) : .indexes(rows)
                for copier in copiers {
                    try copier.copy(found, of: rows.isEmpty ? nil : cluster, to: first)
                }
            }
        }
    }

    fileprivate func copiers(of buffers: [ColumnBuffer], _ owner: ClassHandle) throws(EngineError)
        -> [ColumnCopier]
    {
        var copiers: [ColumnCopier] = []
        for buffer in buffers {
            guard let id = buffer.property else {
                copiers.append(ColumnCopier(column: nil, type: .int, buffer: buffer))
                continue
            }
            let property = try self.property(id, of: owner)
            guard ColumnBuffer.elementSize(of: property) != nil else {
                throw EngineError(
                    .typeMismatch,
                    "Property '\(owner.name).\(property.name)' holds more than one value and "
                        + "can't be read as a column."
                )
            }
            copiers.append(
                ColumnCopier(column: property.column, type: property.type, buffer: buffer))
        }
        return copiers
    }
}

extension ClusterRows {
    var count: Int {
        switch self {
        case .range(let range): range.count
        case .indexes(let indexes): indexes.count
        }
    }
}
