internal import ToftModel
internal import ToftStorage

extension Results {
    /// Reads properties of the objects from `first` on into the caller's buffers, at most
    /// `capacity` rows. Returns the number of rows. An object that a snapshot still lists and that
    /// has been deleted reads as null.
    package func read(_ buffers: [ColumnBuffer], from first: Int, capacity: Int) throws(EngineError)
        -> Int
    {
        let copiers = try copiers(of: buffers, try objectClass())
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

    private func copiers(of buffers: [ColumnBuffer], _ owner: ClassHandle) throws(EngineError)
        -> [ColumnCopier]
    {
        var copiers: [ColumnCopier] = []
        for buffer in buffers {
            guard let id = buffer.property else {
                copiers.append(ColumnCopier(column: nil, type: .int, buffer: buffer))
                continue
            }
            let property = try session.property(id, of: owner)
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
