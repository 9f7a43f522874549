internal import ToftModel

/// Tells for rows of one class whether something changed that key paths name.
///
/// As `DeepChangeChecker` it has two ways to the same answer: backwards from changed objects to all
/// rows at once, within a budget; otherwise forwards from each row to test.
final class KeyPathTest<Reader: LinkReading>: RowChangeFilter {
    private struct Visit: Hashable {
        let node: Int
        let key: Int64
    }

    private let paths: WatchedPaths
    /// For each node, the objects in which something changed that is watched there.
    private let changed: [IndexRanges]
    private let reader: Reader
    let budget: Int
    /// All rows that changed, after a backward search.
    private(set) var rows: Set<Int64>?
    /// Visits from which the forward search found nothing.
    private var barren: Set<Visit> = []

    init(_ paths: WatchedPaths, changed: [IndexRanges], reader: Reader, budget: Int)
        throws(EngineError)
    {
        self.paths = paths
        self.changed = changed
        self.reader = reader
        self.budget = budget
        rows = try rowsBackwards()
    }

    var isEmpty: Bool { changed.allSatisfy(\.isEmpty) || rows?.isEmpty == true }

    func isModified(_ key: Int64) throws(EngineError) -> Bool {
        if let rows { return rows.contains(key) }
        for root in paths.roots where try reaches(Visit(node: root, key: key)) { return true }
        return false
    }

    // MARK: Backwards

    private func rowsBackwards() throws(EngineError) -> Set<Int64>? {
        guard changed.reduce(0, { $0 + $1.count }) <= budget else { return nil }
        var left = budget
        var visited: [Set<Int64>] = changed.map { Set($0.lazy.map { Int64($0) }) }
        var frontier = visited.enumerated().flatMap { node, keys in
            keys.map { Visit(node: node, key: $0) }
        }
        let incoming = incoming
        while let visit = frontier.popLast() {
            for (origin, step) in incoming[visit.node] {
                try forEachOrigin(of: visit.key, through: step) { key in
                    left -= 1
                    if visited[origin].insert(key).inserted {
                        frontier.append(Visit(node: origin, key: key))
                    }
                    return left >= 0
                }
                guard left >= 0 else { return nil }
            }
        }
        return paths.roots.reduce(into: []) { $0.formUnion(visited[$1]) }
    }

    /// For each node, the steps that lead to it.
    private var incoming: [[(origin: Int, step: WatchedPaths.Step)]] {
        var incoming: [[(origin: Int, step: WatchedPaths.Step)]] = Array(
            repeating: [], count: paths.nodes.count)
        for (origin, node) in paths.nodes.enumerated() {
            for step in node.steps { incoming[step.next].append((origin, step)) }
        }
        return incoming
    }

    private func forEachOrigin(
        of key: Int64, through step: WatchedPaths.Step, _ body: (Int64) -> Bool
    ) throws(EngineError) {
        if step.isInverse {
            try reader.forEachTarget(of: key, through: step.link, body)
        } else {
            try reader.forEachSource(of: key, through: step.link, body)
        }
    }

    // MARK: Forwards

    private func reaches(_ visit: Visit) throws(EngineError) -> Bool {
        if changed[visit.node].contains(Int(visit.key)) { return true }
        guard !barren.contains(visit) else { return false }
        for step in paths.nodes[visit.node].steps where try leads(step, from: visit.key) {
            return true
        }
        barren.insert(visit)
        return false
    }

    /// Whether something changed beyond a step from an object.
    func leads(_ step: WatchedPaths.Step, from key: Int64) throws(EngineError) -> Bool {
        var targets: [Int64] = []
        let note: (Int64) -> Bool = { target in
            targets.append(target)
            return true
        }
        if step.isInverse {
            try reader.forEachSource(of: key, through: step.link, note)
        } else {
            try reader.forEachTarget(of: key, through: step.link, note)
        }
        for target in targets where try reaches(Visit(node: step.next, key: target)) { return true }
        return false
    }
}
