/// The elements of a sequence that can stay in place: the heaviest ascending subsequence.
///
/// `values` are distinct and not negative. Length counts first; among the longest, the one with
/// most elements that are `preferred`. The answer is a mask over the positions. O(n log n).
func longestAscent<Failure>(_ values: [Int], preferred: (Int) throws(Failure) -> Bool)
    throws(Failure) -> [Bool]
{
    var kept = [Bool](repeating: false, count: values.count)
    guard let largest = values.max() else { return kept }
    if isAscending(values) { return [Bool](repeating: true, count: values.count) }
    var best = PrefixMaximum(count: largest + 1)
    var previous = [Int](repeating: -1, count: values.count)
    // One for the length dominates all that preferences can add up to.
    let one = values.count + 1
    var top = (weight: 0, position: -1)
    for (position, value) in values.enumerated() {
        let below = best.maximum(below: value)
        previous[position] = below.position
        let weight = below.weight + one + (try preferred(position) ? 1 : 0)
        best.raise(value, to: (weight, position))
        if weight > top.weight { top = (weight, position) }
    }
    var position = top.position
    while position >= 0 {
        kept[position] = true
        position = previous[position]
    }
    return kept
}

private func isAscending(_ values: [Int]) -> Bool {
    for index in values.indices.dropFirst() where values[index] <= values[index - 1] {
        return false
    }
    return true
}

/// A Fenwick tree of maxima: the heaviest entry below a value.
private struct PrefixMaximum {
    typealias Entry = (weight: Int, position: Int)
    private var entries: [Entry]

    init(count: Int) {
        entries = Array(repeating: (0, -1), count: count + 1)
    }

    func maximum(below value: Int) -> Entry {
        var best: Entry = (0, -1)
        var node = value
        while node > 0 {
            if entries[node].weight > best.weight { best = entries[node] }
            node &= node - 1
        }
        return best
    }

    mutating func raise(_ value: Int, to entry: Entry) {
        var node = value + 1
        while node < entries.count {
            if entries[node].weight < entry.weight { entries[node] = entry }
            node += node & -node
        }
    }
}
