internal import ToftModel

/// Tells for rows of one class whether they changed: themselves, or something they reach over up to
/// three links.
///
/// There are two ways to the answer. Backwards: from changed objects, along the links that point to
/// them, to all rows at once; this is taken if it ends within its budget. Forwards: from the row in
/// question; this is for few rows that are linked, through some hub, to many.
final class DeepChangeChecker<Reader: LinkReading>: RowChangeFilter {
    private let classID: ClassID
    private let modified: [ClassID: IndexRanges]
    private let links: LinkMap
    private let reader: Reader
    private let distances: [ClassID: Int]
    let budget: Int
    /// All rows that changed, after a backward search.
    private(set) var rows: Set<Int64>?
    /// `rows` if they are few: a list is faster to search for a missing row.
    private var fewRows: [Int64]?
    /// Objects from which the forward search found nothing, and the number of links left then.
    private var barren: [ObjectRef: Int] = [:]
    /// Entries of `barren` made by the present search, with the previous ones.
    private var trail: [(ObjectRef, Int?)] = []

    /// - Parameter budget: objects that the backward way may visit.
    init(
        of classID: ClassID, modified: [ClassID: IndexRanges], links: LinkMap, reader: Reader,
        budget: Int
    ) throws(EngineError) {
        self.classID = classID
        self.links = links
        self.reader = reader
        self.budget = budget
        let distances = links.distances(from: classID)
        self.distances = distances
        self.modified = modified.filter { distances[$0.key] != nil && !$0.value.isEmpty }
        let found = try rowsBackwards(budget: budget)
        rows = found
        if let found, found.count <= 8 { fewRows = Array(found) }
    }

    /// Nothing that the class could reach has changed.
    var isEmpty: Bool { modified.isEmpty || rows?.isEmpty == true }

    func isModified(_ key: Int64) throws(EngineError) -> Bool {
        if let fewRows { return fewRows.contains(key) }
        if let rows { return rows.contains(key) }
        trail = []
        guard try reaches(ObjectRef(classID: classID, key: key), left: LinkMap.depth) else {
            return false
        }
        // A dead end may have been one only because this search was at it already.
        for (object, left) in trail.reversed() { barren[object] = left }
        return true
    }

    // MARK: Backwards

    private func rowsBackwards(budget: Int) throws(EngineError) -> Set<Int64>? {
        var visited: [ClassID: Set<Int64>] = [:]
        var frontier: [ObjectRef] = []
        var left = budget
        for (changed, keys) in modified {
            left -= keys.count
            guard left >= 0 else { return nil }
            for key in keys {
                visited[changed, default: []].insert(Int64(key))
                frontier.append(ObjectRef(classID: changed, key: Int64(key)))
            }
        }
        for step in 1...LinkMap.depth where !frontier.isEmpty {
            var next: [ObjectRef] = []
            for target in frontier {
                for link in links.incoming[target.classID] ?? []
                where isNear(link.source, after: step) {
                    try reader.forEachSource(of: target.key, through: link) { source in
                        left -= 1
                        if visited[link.source, default: []].insert(source).inserted {
                            next.append(ObjectRef(classID: link.source, key: source))
                        }
                        return left >= 0
                    }
                    guard left >= 0 else { return nil }
                }
            }
            frontier = next
        }
        return visited[classID] ?? []
    }

    /// Whether the observed class reaches this one with the links that are left.
    private func isNear(_ source: ClassID, after steps: Int) -> Bool {
        guard let distance = distances[source] else { return false }
        return distance <= LinkMap.depth - steps
    }

    // MARK: Forwards

    private func reaches(_ object: ObjectRef, left: Int) throws(EngineError) -> Bool {
        if modified[object.classID]?.contains(Int(object.key)) == true { return true }
        guard left > 0, barren[object, default: 0] < left else { return false }
        // Before the search, so that a cycle ends.
        trail.append((object, barren.updateValue(left, forKey: object)))
        for link in links.outgoing[object.classID] ?? [] where canLead(link.target, left: left - 1)
        {
            var targets: [Int64] = []
            try reader.forEachTarget(of: object.key, through: link) { target in
                targets.append(target)
                return true
            }
            for target in targets
            where try reaches(ObjectRef(classID: link.target, key: target), left: left - 1) {
                return true
            }
        }
        return false
    }

    private func canLead(_ target: ClassID, left: Int) -> Bool {
        left > 0 || modified[target] != nil
    }
}

/// Decides for rows of one class whether an observer is to be notified of them.
protocol RowChangeFilter: AnyObject {
    /// No row did.
    var isEmpty: Bool { get }
    /// All rows that did, if they are known at once.
    var rows: Set<Int64>? { get }
    /// Number of objects that can be read to find them at once.
    var budget: Int { get }
    func isModified(_ key: Int64) throws(EngineError) -> Bool
}
