/// The change from one sequence of keys to another: the old and the new results.
///
/// A row that changed its place is a deletion and an insertion, never a move. Of several smallest
/// edit scripts the one that moves changed rows is taken. A key that occurs several times is
/// matched occurrence by occurrence, in order.
enum SequenceDifference {
    typealias Test = (Int64) throws(EngineError) -> Bool

    static func between(
        _ old: [Int64], _ new: [Int64], isModified: Test
    ) throws(EngineError) -> CollectionChange {
        var change = CollectionChange()
        let front = commonPrefix(old, new)
        let back = commonSuffix(old, new, after: front)
        try keep(old: 0, new: 0, count: front, of: new, isModified, &change)
        let oldMiddle = front..<old.count - back
        let newMiddle = front..<new.count - back
        if isStrictlyAscending(old, oldMiddle), isStrictlyAscending(new, newMiddle) {
            try mergeAscending(old, oldMiddle, new, newMiddle, isModified, &change)
        } else {
            try matchByKey(old, oldMiddle, new, newMiddle, isModified, &change)
        }
        try keep(
            old: old.count - back, new: new.count - back, count: back, of: new, isModified, &change)
        return change
    }

    /// Records which of `count` rows that stayed were modified.
    private static func keep(
        old: Int, new: Int, count: Int, of keys: [Int64], _ isModified: Test,
        _ change: inout CollectionChange
    ) throws(EngineError) {
        for offset in 0..<count where try isModified(keys[new + offset]) {
            change.modifications.append(old + offset)
            change.modificationsNew.append(new + offset)
        }
    }

    private static func commonPrefix(_ old: [Int64], _ new: [Int64]) -> Int {
        let limit = min(old.count, new.count)
        var length = 0
        while length < limit, old[length] == new[length] { length += 1 }
        return length
    }

    private static func commonSuffix(_ old: [Int64], _ new: [Int64], after front: Int) -> Int {
        let limit = min(old.count, new.count) - front
        var length = 0
        while length < limit, old[old.count - 1 - length] == new[new.count - 1 - length] {
            length += 1
        }
        return length
    }

    private static func isStrictlyAscending(_ keys: [Int64], _ range: Range<Int>) -> Bool {
        for index in range.dropFirst() where keys[index] <= keys[index - 1] { return false }
        return true
    }

    /// The difference of strictly ascending keys, if few rows, `modified` ascending, changed: they
    /// are looked up instead of testing each row.
    static func betweenAscending(_ old: [Int64], _ new: [Int64], modified: [Int64])
        throws(EngineError) -> CollectionChange
    {
        var change = CollectionChange()
        if !old.isSame(as: new) {
            let front = commonPrefix(old, new)
            let back = commonSuffix(old, new, after: front)
            try mergeAscending(
                old, front..<old.count - back, new, front..<new.count - back, { _ in false },
                &change)
        }
        for key in modified {
            guard let after = new.binarySearch(key), let before = old.binarySearch(key) else {
                continue
            }
            change.modifications.append(before)
            change.modificationsNew.append(after)
        }
        return change
    }

    /// Both sides in key order, as unsorted results are: one walk.
    private static func mergeAscending(
        _ old: [Int64], _ oldRange: Range<Int>, _ new: [Int64], _ newRange: Range<Int>,
        _ isModified: Test,
        _ change: inout CollectionChange
    ) throws(EngineError) {
        var left = oldRange.lowerBound
        var right = newRange.lowerBound
        while left < oldRange.upperBound || right < newRange.upperBound {
            if right == newRange.upperBound
                || (left < oldRange.upperBound && old[left] < new[right])
            {
                change.deletions.append(left)
                left += 1
            } else if left == oldRange.upperBound || new[right] < old[left] {
                change.insertions.append(right)
                right += 1
            } else {
                try keep(old: left, new: right, count: 1, of: new, isModified, &change)
                left += 1
                right += 1
            }
        }
    }

    private static func matchByKey(
        _ old: [Int64], _ oldRange: Range<Int>, _ new: [Int64], _ newRange: Range<Int>,
        _ isModified: Test,
        _ change: inout CollectionChange
    ) throws(EngineError) {
        var occurrences = OccurrenceTable(old, oldRange)
        var matches: [(old: Int, new: Int)] = []
        matches.reserveCapacity(newRange.count)
        for index in newRange {
            if let match = occurrences.take(new[index]) { matches.append((match, index)) }
        }
        let kept = try longestAscent(matches.map(\.old)) { index throws(EngineError) in
            try !isModified(new[matches[index].new])
        }
        var left = oldRange.lowerBound
        var right = newRange.lowerBound
        for (match, isKept) in zip(matches, kept) where isKept {
            change.deletions.append(left..<match.old)
            change.insertions.append(right..<match.new)
            try keep(old: match.old, new: match.new, count: 1, of: new, isModified, &change)
            left = match.old + 1
            right = match.new + 1
        }
        change.deletions.append(left..<oldRange.upperBound)
        change.insertions.append(right..<newRange.upperBound)
    }
}

extension [Int64] {
    /// Whether both are one array in memory, and therefore equal.
    func isSame(as other: [Int64]) -> Bool {
        count == other.count
            && withUnsafeBufferPointer { one in
                other.withUnsafeBufferPointer { one.baseAddress == $0.baseAddress }
            }
    }
}

/// The positions of each key, used in ascending order.
private struct OccurrenceTable {
    private var first: [Int64: Int] = [:]
    /// The next occurrence of the same key, by position from the range's start.
    private var next: [Int]
    private let start: Int

    init(_ keys: [Int64], _ range: Range<Int>) {
        start = range.lowerBound
        next = [Int](repeating: -1, count: range.count)
        first.reserveCapacity(range.count)
        for index in range.reversed() {
            if let later = first.updateValue(index, forKey: keys[index]) {
                next[index - start] = later
            }
        }
    }

    mutating func take(_ key: Int64) -> Int? {
        guard let index = first[key] else { return nil }
        let later = next[index - start]
        first[key] = later < 0 ? nil : later
        return index
    }
}
