package import ToftModel

extension BoundQuery {
    /// Puts results into the order of others, of a query that judges each alone. Few rows are
    /// compared: about 128 for each that is added and each 64-fold of `keys`.
    /// - Parameter added: results in the order of the query, disjoint from `keys`.
    /// - Parameter keys: results in the order of the query.
    /// - Returns: all in order; nil if one of them is not a result of the query in this version.
    package func merging(_ added: [Int64], into keys: [Int64], in view: ModelView)
        throws(ModelError) -> [Int64]?
    {
        var merged: [Int64] = []
        merged.reserveCapacity(keys.count + added.count)
        return try merge(added[...], into: keys[...], in: view, &merged) ? merged : nil
    }

    /// Number of keys that are read to find the neighbours of the added ones.
    private static let pivotCount = 64

    private func merge(
        _ added: ArraySlice<Int64>, into keys: ArraySlice<Int64>, in view: ModelView,
        _ merged: inout [Int64]
    ) throws(ModelError) -> Bool {
        guard !added.isEmpty, !keys.isEmpty else {
            merged += keys
            merged += added
            return true
        }
        let stride = max(1, keys.count / Self.pivotCount)
        let pivots = Swift.stride(
            from: keys.startIndex + stride - 1, to: keys.endIndex, by: stride)
        let asked = pivots.map { keys[$0] } + added
        let order = try self.keys(in: view, of: .keys(asked.sorted()))
        guard order.count == asked.count else { return false }
        var places = pivots.makeIterator()
        var (rest, following) = (added, keys)
        var end = added.startIndex
        for key in order {
            if end < added.endIndex, key == added[end] {
                end += 1
                continue
            }
            guard let place = places.next(), key == keys[place] else { return false }
            let isMerged = try merge(
                rest[..<end], into: following[..<place], in: view, &merged)
            guard isMerged else { return false }
            merged.append(key)
            (rest, following) = (added[end...], keys[(place + 1)...])
        }
        return try merge(rest, into: following, in: view, &merged)
    }
}
