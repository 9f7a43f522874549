internal import ToftModel
internal import ToftPlatform
internal import ToftStorage

/// One run of a plan over one base and one version. Used by one thread, for one answer.
///
/// A run may decrypt more of an encrypted file than memory is to hold. One that finds only keys, or
/// their number, then continues with other memory (`renew`): the pages that it has read before are
/// released.
final class Execution {
    private let begun: RunBeginning
    private var source: DataSource
    private var compiler: Compiler
    private var reader: ClassReader
    private let probe = InterruptProbe.current ?? .never
    /// The reads of the run so far.
    @exclusivity(unchecked) private(set) var trace: Trace  // changed for every cluster

    init(_ begun: RunBeginning, _ trace: Trace, in view: ModelView) throws(ModelError) {
        self.begun = begun
        self.trace = trace
        source = DataSource(view)
        compiler = Compiler(source: source)
        reader = try source.reader(begun.plan.classID)
        switch begun.rows {
        case .all: source.baseCount = reader.table.rowCount
        case .keys(let keys): source.baseCount = keys.count
        }
    }

    private var plan: QueryPlan { begun.plan }

    // MARK: Answers

    /// The keys of the results, in order.
    func keys() throws(ModelError) -> [Int64] {
        var rows = begun.rows
        var keys: [Int64] = []
        for (index, step) in begun.steps.enumerated() {
            keys = try run(step, rows, thenLimitedTo: plan.needed(from: index + 1))
            rows = .keys(keys)
        }
        return keys
    }

    /// The keys of the next results of a query without orderings: `count` or more unless these are
    /// the last, as each batch is evaluated once and as a whole. An index would have to be read
    /// again for the following ones, so all of them are found then.
    func nextKeys(_ count: Int, from position: inout ScanPosition) throws(ModelError) -> [Int64] {
        let (rows, filter) = (begun.rows, begun.steps[0].filter)
        if case .keys(let keys) = rows, filter.isEmpty {
            position.isAtEnd = true
            return Array(keys[position.index...])
        }
        let wanted = begun.isIndexed && !position.isAtStart ? .max : count
        // Clusters may have been divided and joined since: rows may occur again.
        let first = position.key
        var found: [Int64] = []
        while try forEachBatch(
            rows, filter, from: &position, false, { _ in false },
            { batch, filter throws(ModelError) in
                var passingRows = try filter.rows(of: batch).rows
                while let row = passingRows.next() {
                    let key = batch.keys[row]
                    if key >= first { found.append(key) }
                }
                return found.count < wanted
            })
        {
            try renew()
        }
        return found
    }

    /// The key of the last result of a query without orderings, searched in ever longer parts from
    /// the end of the base: earlier parts are read only if the later ones have no result.
    func lastKey() throws(ModelError) -> Int64? {
        let (rows, filter) = (begun.rows, begun.steps[0].filter)
        var size = 4_096
        while true {
            let start = max(0, source.baseCount - size)
            var position = ScanPosition()
            switch rows {
            case .all:
                let table = reader.table
                if start > 0 {
                    position.key = try stored { () throws(StorageError) in
                        try table.key(atRank: start)
                    }
                }
            case .keys: position.index = start
            }
            var last: Int64?
            while try forEachBatch(
                rows, filter, from: &position, false, { _ in false },
                { batch, filter throws(ModelError) in
                    if let row = try filter.rows(of: batch).last { last = batch.keys[row] }
                    return true
                })
            {
                try renew()
            }
            if last != nil || start == 0 { return last }
            size *= 16
        }
    }

    /// Number of results.
    func count() throws(ModelError) -> Int {
        let (rows, filter) = try lastRows()
        if case .all = rows, filter.isEmpty { return reader.table.rowCount }
        var count = 0
        try forEachBatch(rows, filter, keepsMemory: false) { batch, filter throws(ModelError) in
            count += try filter.count(in: batch)
            return true
        }
        return count
    }

    /// Whether there is a result.
    func exists() throws(ModelError) -> Bool {
        let (rows, filter) = try lastRows()
        if case .all = rows, filter.isEmpty { return reader.table.rowCount > 0 }
        var isFound = false
        try forEachBatch(rows, filter, keepsMemory: false) { batch, filter throws(ModelError) in
            isFound = try filter.count(in: batch) > 0
            return !isFound
        }
        return isFound
    }

    /// Calls `body` with each batch of results, ordered within a batch only, unless the query has
    /// no orderings.
    /// - Parameter isNeedless: whether a scan can leave out a cluster.
    func forEachResult(
        where isNeedless: (ClusterView) throws(StorageError) -> Bool = { _ in false },
        _ body: (RowBatch, Selection) throws(ModelError) -> Void
    ) throws(ModelError) {
        let (rows, filter) = try lastRows()
        try forEachBatch(rows, filter, where: isNeedless) { batch, filter throws(ModelError) in
            try body(batch, try filter.rows(of: batch))
            return true
        }
    }

    /// Runs all steps but the last. Returns the objects that the last step gets, and its filter.
    private func lastRows() throws(ModelError) -> (rows: QueryBase, filter: [BoundPredicate]) {
        var rows = begun.rows
        for (index, step) in begun.steps.dropLast().enumerated() {
            rows = .keys(try run(step, rows, thenLimitedTo: plan.needed(from: index + 1)))
        }
        return (rows, begun.steps.last?.filter ?? [])
    }

    /// - Parameter limit: most of the found objects that are needed; nil for all.
    private func run(_ step: QueryPlan.Step, _ rows: QueryBase, thenLimitedTo limit: Int?)
        throws(ModelError) -> [Int64]
    {
        switch step.ordering {
        case nil: return try filtered(rows, step.filter, limit: .max)
        case .limit(let count):
            return try filtered(rows, step.filter, limit: min(count, limit ?? .max))
        case .offset(let count):
            let (end, isBeyond) = count.addingReportingOverflow(limit ?? .max)
            let found = try filtered(rows, step.filter, limit: isBeyond ? .max : end)
            return Array(found.dropFirst(count))
        case .sort(let keys): return try sorted(rows, step.filter, keys, limit: limit)
        case .distinct(let keys): return try distinct(rows, step.filter, keys)
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
        try forEachBatch(rows, filter, keepsMemory: false) { batch, filter throws(ModelError) in
            var passingRows = try filter.rows(of: batch).rows
            while let row = passingRows.next() {
                found.append(batch.keys[row])
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
        let table = SortTable(try columns(keys), limit: limit ?? .max)
        try forEachBatch(rows, filter) { batch, filter throws(ModelError) in
            try table.append(batch, try filter.rows(of: batch))
            return true
        }
        return table.sortedKeys()
    }

    private func distinct(_ rows: QueryBase, _ filter: [BoundPredicate], _ keys: [BoundSortKey])
        throws(ModelError) -> [Int64]
    {
        let table = SortTable(try columns(keys))
        try forEachBatch(rows, filter) { batch, filter throws(ModelError) in
            try table.appendDistinct(batch, try filter.rows(of: batch))
            return true
        }
        return table.keys
    }

    func columns(_ keys: [BoundSortKey]) throws(ModelError) -> [SortColumn] {
        var columns: [SortColumn] = []
        for key in keys {
            let property = PropertyNode(key.column)
            let isDirect = key.steps.isEmpty
            columns.append(
                SortColumn(
                    isDirect ? property : try LinkedNode(key.steps, property, source),
                    isAscending: key.isAscending,
                    direct: isDirect && key.column.key == nil ? key.column.column : nil))
        }
        return columns
    }

    // MARK: Batches

    /// True after an interrupt. Checked once a batch.
    private var isInterrupted: Bool { probe.isInterrupted }

    /// Calls `body` with batches of the base and the remaining predicates for their rows, all of
    /// `filter`, until it returns false.
    /// - Parameter keepsMemory: whether `body` keeps borrowed bytes of the file.
    private func forEachBatch(
        _ rows: QueryBase, _ filter: [BoundPredicate], keepsMemory: Bool = true,
        where isNeedless: (ClusterView) throws(StorageError) -> Bool = { _ in false },
        _ body: (RowBatch, RowFilter) throws(ModelError) -> Bool
    ) throws(ModelError) {
        var next = ScanPosition()
        while try forEachBatch(rows, filter, from: &next, keepsMemory, isNeedless, body) {
            try renew()
        }
    }

    /// Goes on with memory that is not filled.
    private func renew() throws(ModelError) {
        guard let view = try source.view.again() else { return }
        let next = DataSource(view)
        next.baseCount = source.baseCount
        reader = try next.reader(plan.classID)
        compiler = Compiler(source: next)
        source = next
    }

    /// Continues from a position to the end, until `body` stops or until memory is full: then it
    /// returns true. The position is then behind the last batch.
    private func forEachBatch(
        _ rows: QueryBase, _ filter: [BoundPredicate], from position: inout ScanPosition,
        _ keepsMemory: Bool, _ isNeedless: (ClusterView) throws(StorageError) -> Bool,
        _ body: (RowBatch, RowFilter) throws(ModelError) -> Bool
    ) throws(ModelError) -> Bool {
        let predicate =
            filter.isEmpty
            ? nil : try compiler.predicate(filter.count == 1 ? filter[0] : .and(filter))
        let rowFilter = RowFilter(predicate ?? PredicateNode())
        let batch = RowBatch(reader)
        let view = source.view
        let mayFill = !keepsMemory && view.mayFill
        var isFilled = false
        switch rows {
        case .all:
            var failure: ModelError?
            let zones = plan.zones
            let first = position.key
            var last = first
            var isStopped = false
            do {
                try reader.table.forEachCluster(from: first) { cluster throws(StorageError) in
                    if isInterrupted {
                        failure = .storage(.interrupted)
                        return false
                    }
                    for index in zones.indices where zones[index].excludes(cluster) {
                        trace.skippedClusters &+= 1
                        return true
                    }
                    if try isNeedless(cluster) { return true }
                    batch.fill(cluster)
                    trace.clusters &+= 1
                    trace.rows &+= batch.count
                    do throws(ModelError) {
                        isStopped = try !body(batch, rowFilter)
                    } catch {
                        failure = error
                        return false
                    }
                    isFilled = mayFill && view.isFilled && !isStopped
                    if !isStopped && !isFilled { return true }
                    last = batch.keys[batch.count &- 1]
                    return false
                }
            } catch {
                throw .storage(error)
            }
            if let failure { throw failure }
            position.isAtEnd = !(isStopped || isFilled) || last == .max
            position.key = last &+ 1
            return isFilled && !position.isAtEnd
        case .keys(let keys):
            var start = position.index
            while start < keys.count, !isFilled {
                if isInterrupted { throw .storage(.interrupted) }
                batch.clear()
                while start < keys.count, !batch.isFull {
                    batch.append(keys[start], owner: 0)
                    start += 1
                }
                _ = try batch.located()
                if predicate != nil || plan.readsKeys { trace.rows &+= batch.count }
                let isStopped = try !body(batch, rowFilter)
                position.index = start
                position.isAtEnd = start == keys.count
                if isStopped { return false }
                isFilled = mayFill && view.isFilled
            }
            position.isAtEnd = start == keys.count
            return isFilled && !position.isAtEnd
        }
    }
}
