internal import ToftModel
internal import ToftQuery

extension ChangeCalculation {
    /// The results after, found by asking the query about touched rows only; nil where everything
    /// must be asked again: the query looks at other objects than its own, orders them, or too much
    /// was touched.
    func follow(_ definition: ResultsDefinition, _ before: ResultRows) throws(EngineError)
        -> ResultRows?
    {
        guard !isCompared, case .all(let classID) = definition.base,
            case .keys(let keys, true) = before, let query = definition.query,
            !query.hasOrderings, query.looksOnlyAtItself
        else { return nil }
        let rows = changes.rows[classID] ?? TransactionChanges.Rows()
        guard rows.inserted.count + rows.modified.count <= max(1_000, keys.count / 8) else {
            return nil
        }
        let asked = (Array(rows.inserted) + Array(rows.modified)).map { Int64($0) }.sorted()
        let matching = try model { () throws(ModelError) in
            try query.keys(in: new, of: .keys(asked))
        }
        let isMatching = Set(matching)
        let gone = rows.erased.lazy.map { Int64($0) }.filter { keys.binarySearch($0) != nil }
        let lost = asked.filter { !isMatching.contains($0) && keys.binarySearch($0) != nil }
        let gained = matching.filter { keys.binarySearch($0) == nil }
        return .keys(keys.replacing((lost + gone).sorted(), by: gained), isAscending: true)
    }
}

extension BoundQuery {
    /// Whether an object is a result by its own properties alone.
    fileprivate var looksOnlyAtItself: Bool {
        dependencies.allSatisfy {
            $0.steps.isEmpty && !$0.isOfOthers && $0.property.classID == classID
        }
    }
}

extension [Int64] {
    /// Ascending keys without some of them, and with others; the same array where nothing is to be
    /// done. All ascend.
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
