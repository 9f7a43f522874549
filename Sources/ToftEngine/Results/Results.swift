internal import ToftPlatform
package import ToftModel
package import ToftQuery
internal import ToftStorage

/// Live results: a definition, and its last evaluation.
///
/// Creating them costs nothing. They are evaluated when they are first read, and after a change of
/// a dependency: again, or by following the touched objects.
package final class Results {
    package let session: Session
    let definition: ResultsDefinition
    /// The class of the objects; nil for results of values.
    package let classID: ClassID?
    private(set) var order: ResultRows?
    /// When `order` was found.
    private var lastChange: UInt64 = 0
    /// The session's position at that time.
    private var position: SessionPosition?
    /// When `order` was last known to be valid.
    private var checked: UInt64 = 0
    /// The cluster of the last key of a whole class.
    @exclusivity(unchecked) var window: RankWindow?
    /// The count and when it was taken, of a query that has only been counted.
    private var counted: (count: Int, lastChange: UInt64)?
    /// The last key of a filter that has not been evaluated, and the time it was found.
    private var end: (key: Int64, lastChange: UInt64)?
    /// The first keys of results that have not been evaluated, the time they were found, and the
    /// position from which their pass continues, if that was a filter's.
    private var page: (keys: [Int64], lastChange: UInt64, next: ScanPosition)?
    /// Number of evaluations; tests look for repeated work.
    private(set) var evaluations = 0
    /// For results of a frozen session alone, which threads may share: held during an evaluation,
    /// so that the others find its result.
    private let lock: ResultsLock?

    init(_ definition: ResultsDefinition, in session: Session) {
        self.definition = definition
        self.session = session
        classID = definition.classID
        lock = session.isFrozen ? ResultsLock() : nil
    }

    /// Runs an evaluation, while no other thread does.
    @inline(__always)
    private func alone<Found, Failure: Error>(_ body: () throws(Failure) -> Found) throws(Failure)
        -> Found
    {
        guard let lock else { return try body() }
        return try lock.mutex.withLock { _ throws(Failure) in try body() }
    }

    /// Whether they are all objects of a class, in the order of their keys.
    package var isWhole: Bool {
        if case .all = definition.base { definition.isPlain } else { false }
    }

    /// A number that grows with each change after which the results may be others, or with each
    /// change of anything.
    package func changeStamp(ofAnything: Bool) throws(EngineError) -> UInt64 {
        try session.check()
        return ofAnything ? session.counters.now : session.lastChange(of: definition.watched)
    }

    /// The present results.
    func current() throws(EngineError) -> ResultRows {
        try session.check()
        if lock == nil, let order, checked == session.counters.now { return order }
        return try alone { () throws(EngineError) in try rows() }
    }

    private func rows() throws(EngineError) -> ResultRows {
        let last = session.lastChange(of: definition.watched)
        let now = session.counters.now
        if let known = try knownOrder(last) {
            checked = now
            return known
        }
        let begun = try begunAndEnded(last)
        let found = if let begun { begun } else { try workedOut() }
        keep(found, last)
        checked = now
        return found
    }

    /// The results, if they have been evaluated and nothing has changed since `last`, or the
    /// changes can be followed.
    private func knownOrder(_ last: UInt64) throws(EngineError) -> ResultRows? {
        guard let order else { return nil }
        if lastChange == last { return order }
        guard let followed = try followed(order) else { return nil }
        keep(followed, last)
        return followed
    }

    private func keep(_ found: ResultRows, _ last: UInt64) {
        order = found
        lastChange = last
        position = session.position
    }

    /// The results updated by testing the objects that were touched since; nil if all must be
    /// tested.
    private func followed(_ before: ResultRows) throws(EngineError) -> ResultRows? {
        guard let position, let classID, let limit = definition.mostTouched(of: before) else {
            return nil
        }
        return try session.interruption.watching { () throws(EngineError) -> ResultRows? in
            let touched = try session.touchedKeys(
                of: classID, reading: definition.watched, since: position, atMost: limit)
            guard let touched else { return nil }
            return try definition.rows(before, touching: touched, in: session.view)
        }
    }

    private func workedOut() throws(EngineError) -> ResultRows {
        evaluations += 1
        return try session.interruption.watching { () throws(EngineError) in
            try definition.order(in: session.view)
        }
    }

    /// Numbers of keys of sorted results that are found before all are: a page, and many pages when
    /// more are read. Each is found by another pass over the class.
    static let pageSizes = [128, 2_048]

    /// At least the first `count` keys of results that have not been evaluated: the beginning of a
    /// long list is available before all of it. Nil if the results have to be evaluated, or have
    /// been, which also happens if they have no more keys.
    func keysWithoutOrder(_ count: Int) throws(EngineError) -> [Int64]? {
        try session.check()
        return try alone { () throws(EngineError) in try firstKeys(count) }
    }

    private func firstKeys(_ count: Int) throws(EngineError) -> [Int64]? {
        guard count > 0, definition.query != nil else { return nil }
        let last = session.lastChange(of: definition.watched)
        if try knownOrder(last) != nil { return nil }
        if let page, page.lastChange == last, count <= page.keys.count { return page.keys }
        if definition.isFiltered { return try scannedKeys(count, last) }
        guard let size = Self.pageSizes.first(where: { $0 >= count }) else { return nil }
        let found = try session.interruption.watching { () throws(EngineError) in
            try definition.firstKeys(size, in: session.view)
        }
        guard let found else { return nil }
        evaluations += 1
        guard found.count >= size else {
            keep(.keys(found, isAscending: definition.isAscending), last)
            return nil
        }
        page = (found, last, ScanPosition())
        return found
    }

    /// The first keys of a filter: the pass that found the keys so far continues.
    private func scannedKeys(_ count: Int, _ last: UInt64) throws(EngineError) -> [Int64]? {
        var (found, position) = begun(last)
        guard let base = try scanBase(in: session.view) else {
            page = nil
            return nil
        }
        if found.isEmpty { evaluations += 1 }
        try session.interruption.watching { () throws(EngineError) in
            try definition.findMore(
                &found, upTo: count, from: &position, in: session.view, of: base)
        }
        if position.isAtEnd {
            keep(.keys(found, isAscending: definition.isAscending), last)
            page = nil
            return nil
        }
        page = (found, last, position)
        return found
    }

    /// The key of the last result of a filter that has not been evaluated, found without those
    /// before it; nil if it is empty, and for all other results.
    package func lastKeyWithoutOrder() throws(EngineError) -> Int64? {
        try session.check()
        return try alone { () throws(EngineError) in try lastKey() }
    }

    private func lastKey() throws(EngineError) -> Int64? {
        guard definition.isFiltered else { return nil }
        let last = session.lastChange(of: definition.watched)
        if try knownOrder(last) != nil { return nil }
        if let end, end.lastChange == last { return end.key }
        guard counted?.lastChange != last || counted?.count != 0,
            let base = try scanBase(in: session.view)
        else { return nil }
        evaluations += 1
        let key = try session.interruption.watching { () throws(EngineError) in
            try definition.lastKey(in: session.view, of: base)
        }
        if let key { end = (key, last) } else { counted = (0, last) }
        return key
    }

    /// The keys of some results that have not been evaluated, found without those behind them, the
    /// last also without those before it. Nil if `keysWithoutOrder` is nil.
    func keysWithoutOrder(of range: Range<Int>) throws(EngineError) -> ArraySlice<Int64>? {
        try session.check()
        return try alone { () throws(EngineError) -> ArraySlice<Int64>? in
            if range.count == 1, let key = try lastKey(at: range.lowerBound) { return [key] }
            return try firstKeys(range.upperBound)?[range]
        }
    }

    /// The key of the last result if `index` is its own, by a previous count, and is beyond the
    /// results found so far.
    private func lastKey(at index: Int) throws(EngineError) -> Int64? {
        guard let count = knownCount, index == count - 1, index >= page?.keys.count ?? 0 else {
            return nil
        }
        return try lastKey()
    }

    /// The objects that a filter tests; nil if they are deleted.
    private func scanBase(in view: ModelView) throws(EngineError) -> QueryBase? {
        try model { () throws(ModelError) in
            try definition.isGone(in: view) ? nil : try definition.queryBase(in: view)
        }
    }

    /// All results of a filter whose first results are known: the pass that found them continues.
    /// Nil if there was no such pass.
    private func begunAndEnded(_ last: UInt64) throws(EngineError) -> ResultRows? {
        guard definition.isFiltered, page?.lastChange == last else { return nil }
        return try scannedKeys(.max, last) == nil ? order : nil
    }

    /// The first keys of a filter that are known, and the position from which to continue.
    private func begun(_ last: UInt64) -> (found: [Int64], position: ScanPosition) {
        guard let page, page.lastChange == last else { return ([], ScanPosition()) }
        return (page.keys, page.next)
    }

    /// The scan for a loop that finds a filter's results as it proceeds, in the session's version;
    /// nil if they are known, or found all at once.
    func scanToWalk() throws(EngineError) -> ResultsScan? {
        guard definition.isFiltered, session.transaction == nil else { return nil }
        try session.check()
        let last = session.lastChange(of: definition.watched)
        let view = session.base
        return try alone { () throws(EngineError) in
            guard try knownOrder(last) == nil, let base = try scanBase(in: view) else { return nil }
            let (found, position) = begun(last)
            if found.isEmpty { evaluations += 1 }
            return ResultsScan(
                results: self, view: view, base: base, lastChange: last, found: found,
                position: position)
        }
    }

    /// Keeps the keys that a loop has found, if nothing has changed since it began.
    func keep(_ scan: ResultsScan) {
        guard session.transaction == nil,
            session.lastChange(of: definition.watched) == scan.lastChange
        else { return }
        alone {
            keep(.keys(scan.found, isAscending: definition.isAscending), scan.lastChange)
            page = nil
        }
    }

    /// Whether a query has been counted since it changed last.
    var isCounted: Bool { alone { knownCount != nil } }

    /// The last count of a query, if nothing has changed since.
    private var knownCount: Int? {
        guard let counted, counted.lastChange == session.lastChange(of: definition.watched) else {
            return nil
        }
        return counted.count
    }

    /// The count of a query or of backlinks that have not been evaluated; nil if the rows are
    /// known, and otherwise.
    func countWithoutOrder() throws(EngineError) -> Int? {
        try session.check()
        return try alone { () throws(EngineError) in try countAll() }
    }

    private func countAll() throws(EngineError) -> Int? {
        if let knownCount { return knownCount }
        let last = session.lastChange(of: definition.watched)
        if try knownOrder(last) != nil { return nil }
        let found: Int?
        if definition.query == nil {
            found = try definition.backlinkCount(in: session.view)
        } else {
            evaluations += 1
            found = try session.interruption.watching { () throws(EngineError) in
                try definition.count(in: session.view)
            }
        }
        guard let found else { return nil }
        counted = (found, last)
        return found
    }
}

/// A lock for one thread at a time.
private final class ResultsLock: Sendable {
    let mutex = FutexMutex(())
}

/// One cluster of a class, the rank of its rows, and the change until which it is valid.
struct RankWindow {
    let first: Int
    let keys: RowKeys
    let count: Int
    /// The session's epoch for which it holds.
    let epoch: UInt64

    /// The key of a row; nil if it is in another cluster, or something has changed since.
    @inline(__always)
    func key(at index: Int, _ now: UInt64) -> Int64? {
        let row = index &- first
        guard epoch == now, row >= 0, row < count else { return nil }
        return keys[row]
    }
}

// MARK: Chains

extension Results {
    /// The objects that match a query.
    /// - Parameter takesNumbersAsBools: whether 0 and 1 are accepted as false and true beside
    ///   booleans.
    package func filter(
        _ query: String, arguments: [QueryArgument] = [], takesNumbersAsBools: Bool = false
    ) throws(EngineError) -> Results {
        let owner = try objectClass()
        let bound = try querying { () throws(QueryError) in
            let queries = session.database.queries
            if arguments.isEmpty {
                return try queries.bound(
                    query, to: owner.name, schema: session.schema.stored,
                    aliases: session.aliases, takesNumbersAsBools: takesNumbersAsBools)
            }
            return try queries.query(query).bound(
                to: owner.name, arguments: arguments, schema: session.schema.stored,
                aliases: session.aliases, takesNumbersAsBools: takesNumbersAsBools)
        }
        return Results(definition.appending(bound), in: session)
    }

    /// Filters by a query that was parsed before.
    package func filter(_ query: PreparedQuery, arguments: [QueryArgument]) throws(EngineError)
        -> Results
    {
        let owner = try objectClass()
        let bound = try querying { () throws(QueryError) in
            try query.bound(
                to: owner.name, arguments: arguments, schema: session.schema.stored,
                aliases: session.aliases)
        }
        return Results(definition.appending(bound), in: session)
    }

    /// Filters by a query built from code.
    package func filter(_ query: QuerySyntax, arguments: [QueryArgument] = []) throws(EngineError)
        -> Results
    {
        let owner = try objectClass()
        let bound = try querying { () throws(QueryError) in
            try BoundQuery(
                query, arguments: arguments, className: owner.name, schema: session.schema.stored,
                aliases: session.aliases)
        }
        return Results(definition.appending(bound), in: session)
    }

    /// The definition of the results, without a session: to be evaluated again in another one of
    /// the same database, on any thread.
    package var carried: CarriedResults { CarriedResults(definition: definition) }

    /// These results in another session of the same database.
    package func resolved(in other: Session) throws(EngineError) -> Results {
        try session.check()
        try other.check()
        guard session.database === other.database else {
            throw EngineError(.wrongRealm, "The realm is one of another database.")
        }
        if let classID { _ = try other.classHandle(classID) }
        return carried.results(in: other)
    }

    /// Sorted by key paths, the first being the most significant; ties keep their order. Values are
    /// sorted by the path "self".
    package func sorted(by keys: [(path: String, isAscending: Bool)]) throws(EngineError) -> Results
    {
        guard definition.classID != nil else {
            try session.check()
            guard keys.count == 1, keys[0].path == "self" else { throw Self.noPathOfValues }
            return Results(
                definition.appending(.sort(isAscending: keys[0].isAscending)), in: session)
        }
        return try ordered([
            .sort(
                keys.enumerated().map { index, key in
                    OrderingSyntax.SortKey(
                        PathSyntax(keyPath: key.path, offset: -1 - index),
                        isAscending: key.isAscending)
                })
        ])
    }

    /// The first for each combination of values at key paths. The path "self" compares values
    /// themselves.
    package func distinct(by paths: [String]) throws(EngineError) -> Results {
        guard definition.classID != nil else {
            try session.check()
            guard paths == ["self"] else { throw Self.noPathOfValues }
            return Results(definition.appending(.distinct), in: session)
        }
        return try ordered([
            .distinct(
                paths.enumerated().map { PathSyntax(keyPath: $1, offset: -1 - $0) })
        ])
    }

    /// All but the first `offset`.
    package func offset(by offset: Int) throws(EngineError) -> Results {
        guard definition.classID != nil else {
            try session.check()
            return Results(definition.appending(.offset(max(0, offset))), in: session)
        }
        return try ordered([.offset(max(0, offset))])
    }

    /// The first `limit`.
    package func limited(to limit: Int) throws(EngineError) -> Results {
        guard definition.classID != nil else {
            try session.check()
            return Results(definition.appending(.limit(max(0, limit))), in: session)
        }
        return try ordered([.limit(max(0, limit))])
    }

    private static var noPathOfValues: EngineError {
        EngineError(.invalidQuery, "Values have no properties: their one key path is 'self'.")
    }

    private func ordered(_ orderings: [OrderingSyntax]) throws(EngineError) -> Results {
        let owner = try objectClass()
        let bound = try querying { () throws(QueryError) in
            try BoundQuery(
                QuerySyntax(.constant(true), orderings: orderings), className: owner.name,
                schema: session.schema.stored,
                aliases: session.aliases)
        }
        return Results(definition.appending(bound), in: session)
    }

    /// The class of the objects, as the session sees it now.
    func objectClass() throws(EngineError) -> ClassHandle {
        guard let id = definition.classID else {
            throw EngineError(.typeMismatch, "These are results of values, not of objects.")
        }
        return try session.classHandle(id)
    }

    /// The present results: elements are no longer added or removed.
    package func snapshot() throws(EngineError) -> Results {
        if definition.classID != nil {
            return Results(
                ResultsDefinition(.objects(try keys()), classID: definition.classID), in: session)
        }
        guard let ref = definition.collectionRef else { return self }
        var values: [Value] = []
        for index in 0..<(try count) { values.append(try value(at: index)) }
        return Results(ResultsDefinition(.values(values, of: ref), classID: nil), in: session)
    }
}

/// Results in transit from one session to another.
package struct CarriedResults: Sendable {
    fileprivate let definition: ResultsDefinition

    /// The results, in a session.
    package func results(in session: Session) -> Results {
        Results(definition, in: session)
    }
}
