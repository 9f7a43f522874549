internal import ToftModel
internal import ToftQuery

extension ResultsDefinition {
    /// Most touched objects for which results are followed: for more it is as cheap to evaluate
    /// them again. Nil for results that can't be followed.
    func mostTouched(of before: ResultRows) -> Int? {
        guard case .all = base, case .keys(let keys, _) = before, query?.judgesEachAlone == true
        else { return nil }
        return isAscending ? max(1_000, keys.count / 8) : max(16, keys.count / 256)
    }

    /// The results after objects were touched, found by testing only these with the query; nil if
    /// something else changed, too.
    /// - Parameter before: results for which there is a `mostTouched`.
    /// - Parameter touched: the keys of all objects that the query may answer otherwise about,
    ///   ascending, each once.
    func rows(_ before: ResultRows, touching touched: [Int64], in view: ModelView)
        throws(EngineError) -> ResultRows?
    {
        guard case .keys(let keys, _) = before, let query else { return nil }
        if touched.isEmpty { return before }
        return try model { () throws(ModelError) -> ResultRows? in
            let there = try view.existing(touched, of: query.classID)
            let found = try query.keys(in: view, of: .keys(there))
            if isAscending {
                let lost = touched.filter {
                    keys.binarySearch($0) != nil && found.binarySearch($0) == nil
                }
                let gained = found.filter { keys.binarySearch($0) == nil }
                return .keys(keys.replacing(lost, by: gained), isAscending: true)
            }
            let kept = keys.without(touched)
            if found.isEmpty && kept.count == keys.count { return before }
            return try query.merging(found, into: kept, in: view).map {
                .keys($0, isAscending: false)
            }
        }
    }
}

extension [Int64] {
    /// Keys in any order without some that ascend.
    fileprivate func without(_ others: [Int64]) -> [Int64] {
        var lastBits: UInt64 = 0
        for key in others { lastBits |= 1 << UInt64(key & 63) }
        return filter { lastBits & (1 << UInt64($0 & 63)) == 0 || others.binarySearch($0) == nil }
    }

    /// Ascending keys without some of them, and with others; the same array if there is nothing to
    /// do. All ascend.
    func replacing(_ lost: [Int64], by gained: [Int64]) -> [Int64] {
        guard !lost.isEmpty || !gained.isEmpty else { return self }
        var result: [Int64] = []
        result.reserveCapacity(count - lost.count + gained.count)
        var start = 0
        var (nextLost, nextGained) = (0, 0)
        while nextLost < lost.count || nextGained < gained.count {
            let isLoss =
                nextGained == gained.count
                || (nextLost < lost.count && lost[nextLost] < gained[nextGained])
            let key = isLoss ? lost[nextLost] : gained[nextGained]
            let index = lowerBound(of: key)
            result.append(contentsOf: self[start..<index])
            start = isLoss ? index + 1 : index
            if isLoss {
                nextLost += 1
            } else {
                result.append(key)
                nextGained += 1
            }
        }
        result.append(contentsOf: self[start...])
        return result
    }
}
