internal import ToftModel
internal import ToftStorage

/// What a query is asked of.
package enum QueryBase: Sendable {
    /// Every object of the class, in the order of keys, which is that of creation.
    case all
    /// These objects, in this order; those that are gone are no results.
    case keys([Int64])
}

/// One run of a query against one source. Used by one thread, for one answer.
final class Execution {
    let query: BoundQuery
    let source: DataSource
    private let compiler: Compiler
    private let reader: ClassReader

    init(_ query: BoundQuery, _ source: DataSource) throws(ModelError) {
        self.query = query
        self.source = source
        compiler = Compiler(source: source)
        reader = try source.reader(query.classID)
    }

    // MARK: Stages

    /// A filter and what is then done with the objects that pass.
    struct Segment {
        var filter: [BoundPredicate] = []
        var ordering: BoundOrdering?

        var limit: Int? { if case .limit(let count)? = ordering { count } else { nil } }
    }

    /// The stages in segments. Filters move before sorts, which they do not disturb; a sort that
    /// nothing looks at is left out.
    static func segments(_ stages: [BoundQuery.Stage], orderMatters: Bool) -> [Segment] {
        var segments = [Segment()]
        for stage in stages {
            switch stage {
            case .filter(let predicate): add(predicate, to: &segments)
            case .ordering(let ordering):
                segments[segments.count - 1].ordering = ordering
                segments.append(Segment())
            }
        }
        if !orderMatters {
            while segments.count > 1, case .sort? = segments[segments.count - 2].ordering {
                segments[segments.count - 2].ordering = nil
                segments[segments.count - 2].filter += segments.removeLast().filter
            }
        }
        return segments
    }

    private static func add(_ predicate: BoundPredicate, to segments: inout [Segment]) {
        var index = segments.count - 1
        while index > 0, case .sort? = segments[index - 1].ordering { index -= 1 }
        segments[index].filter.append(predicate)
    }

    // MARK: Answers

    /// The keys of the results, in order.
    func keys(_ base: QueryBase) throws(ModelError) -> [Int64] {
        let segments = Self.segments(query.stages, orderMatters: true)
        var rows = try prepared(base, for: segments[0].filter)
        var limits = segments.dropFirst().map { $0.filter.isEmpty ? $0.limit : nil }
        limits.append(nil)
        for (segment, limit) in zip(segments, limits) {
            rows = .keys(try run(segment, rows, thenLimitedTo: limit))
        }
        return try list(rows)
    }

    /// How many results there are.
    func count(_ base: QueryBase) throws(ModelError) -> Int {
        var segments = Self.segments(query.stages, orderMatters: false)
        let last = segments.removeLast()
        var rows = try prepared(base, for: segments.first?.filter ?? last.filter)
        for segment in segments { rows = .keys(try run(segment, rows)) }
        if case .all = rows, last.filter.isEmpty { return reader.table.rowCount }
        var count = 0
        try forEachBatch(rows, last.filter) { _, passing in
            count += passing.count
            return true
        }
        return count
    }

    /// Calls `body` with each batch of results, in no particular order of the whole unless the
    /// query has none.
    func forEachResult(_ base: QueryBase, _ body: (RowBatch, Selection) throws(ModelError) -> Void)
        throws(ModelError)
    {
        var segments = Self.segments(query.stages, orderMatters: false)
        let last = segments.removeLast()
        var rows = try prepared(base, for: segments.first?.filter ?? last.filter)
        for segment in segments { rows = .keys(try run(segment, rows)) }
        try forEachBatch(rows, last.filter) { frame, passing throws(ModelError) in
            try body(frame, passing)
            return true
        }
    }

    /// The objects to begin with: those that an index gives, where one serves the first filter.
    private func prepared(_ base: QueryBase, for filter: [BoundPredicate]) throws(ModelError)
        -> QueryBase
    {
        var rows = base
        if case .all = base, let candidates = try source.candidates(filter, reader) {
            rows = .keys(candidates)
        }
        switch rows {
        case .all: source.baseCount = reader.table.rowCount
        case .keys(let keys): source.baseCount = keys.count
        }
        return rows
    }

    private func list(_ base: QueryBase) throws(ModelError) -> [Int64] {
        if case .keys(let keys) = base { return keys }
        return try run(Segment(), base)
    }

    private func run(_ segment: Segment, _ rows: QueryBase, thenLimitedTo limit: Int? = nil)
        throws(ModelError) -> [Int64]
    {
        switch segment.ordering {
        case nil: return try filtered(rows, segment.filter, limit: .max)
        case .limit(let count): return try filtered(rows, segment.filter, limit: count)
        case .sort(let keys): return try sorted(rows, segment.filter, keys, limit: limit)
        case .distinct(let keys): return try distinct(rows, segment.filter, keys)
        }
    }

    private func filtered(_ rows: QueryBase, _ filter: [BoundPredicate], limit: Int)
        throws(ModelError) -> [Int64]
    {
        if case .keys(let keys) = rows, filter.isEmpty {
            return keys.count <= limit ? keys : Array(keys[..<limit])
        }
        var found: [Int64] = []
        guard limit > 0 else { return found }
        try forEachBatch(rows, filter) { frame, passing in
            var passingRows = passing.rows
            while let row = passingRows.next() {
                found.append(frame.keys[row])
                if found.count == limit { return false }
            }
            return true
        }
        return found
    }

    // MARK: Ordering

    private func sorted(
        _ rows: QueryBase, _ filter: [BoundPredicate], _ keys: [BoundSortKey], limit: Int?
    ) throws(ModelError) -> [Int64] {
        let table = SortTable(try columns(keys), isAscending: keys.map(\.isAscending))
        try forEachBatch(rows, filter) { frame, passing throws(ModelError) in
            try table.append(frame, passing)
            return true
        }
        return table.sortedKeys(limit: limit ?? .max)
    }

    private func distinct(_ rows: QueryBase, _ filter: [BoundPredicate], _ keys: [BoundSortKey])
        throws(ModelError) -> [Int64]
    {
        let table = SortTable(try columns(keys), isAscending: keys.map(\.isAscending))
        try forEachBatch(rows, filter) { frame, passing throws(ModelError) in
            try table.appendDistinct(frame, passing)
            return true
        }
        return table.keys
    }

    private func columns(_ keys: [BoundSortKey]) throws(ModelError) -> [SortColumn] {
        var columns: [SortColumn] = []
        for key in keys {
            let property = PropertyNode(ColumnRead(key.property, key.type))
            columns.append(
                SortColumn(
                    key.steps.isEmpty ? property : try LinkedNode(key.steps, property, source)))
        }
        return columns
    }

    // MARK: Batches

    /// Calls `body` with frames of the base and the rows of them that pass all of `filter`, until
    /// it returns false.
    private func forEachBatch(
        _ rows: QueryBase, _ filter: [BoundPredicate],
        _ body: (RowBatch, Selection) throws(ModelError) -> Bool
    ) throws(ModelError) {
        let predicate =
            filter.isEmpty
            ? nil : try compiler.predicate(filter.count == 1 ? filter[0] : .and(filter))
        let frame = RowBatch(reader)
        switch rows {
        case .all:
            var failure: ModelError?
            let zones = ZoneMapFilter.conjuncts(of: filter)
            do {
                try reader.table.forEachCluster(reading: zones.map(\.column)) {
                    cluster throws(StorageError) in
                    for zone in zones where try zone.excludes(cluster) { return true }
                    frame.fill(cluster)
                    do throws(ModelError) {
                        let passing =
                            try predicate?.evaluate(frame, wanted: frame.rows) ?? frame.rows
                        return try body(frame, passing & frame.rows)
                    } catch {
                        failure = error
                        return false
                    }
                }
            } catch {
                throw .storage(error)
            }
            if let failure { throw failure }
        case .keys(let keys):
            var start = 0
            while start < keys.count {
                frame.clear()
                while start < keys.count, !frame.isFull {
                    frame.append(keys[start], owner: 0)
                    start += 1
                }
                _ = try frame.located()
                let present = frame.rows.subtracting(frame.absent)
                let passing = try predicate?.evaluate(frame, wanted: present) ?? present
                if try !body(frame, passing & present) { return }
            }
        }
    }
}
