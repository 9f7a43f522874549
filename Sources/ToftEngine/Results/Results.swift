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
    private var state = State.unknown
    /// Whether all results are known; tests look for work that no question needs.
    var isComplete: Bool { if case .complete = state { true } else { false } }
    /// The cluster of the last key of a whole class.
    @exclusivity(unchecked) var window: RankWindow?
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

    /// Whether all results were found, before or after the last change of a dependency.
    var isEvaluated: Bool { alone { state.all != nil } }

    /// Whether they are all objects of a class, in the order of their keys.
    package var isWhole: Bool {
        if case .all = definition.base { definition.isPlain } else { false }
    }

    /// Whether both are the links to one object through one property, all of them.
    package func showSameLinks(as other: Results) -> Bool {
        guard case .backlinks(let target, let link) = definition.base,
            case .backlinks(let otherTarget, let otherLink) = other.definition.base
        else { return false }
        return target == otherTarget && link == otherLink
            && definition.isPlain && other.definition.isPlain
    }

    /// A number that grows with each change after which the results may be others, or with each
    /// change of anything.
    package func changeStamp(ofAnything: Bool) throws(EngineError) -> UInt64 {
        try session.check()
        return ofAnything ? session.stampOfEverything : session.lastChange(of: definition.watched)
    }

    /// The current results.
    func current() throws(EngineError) -> ResultRows {
        try session.check()
        if lock == nil, case .complete(let all) = state, all.checked == session.stampOfEverything {
            return all.rows
        }
        return try alone { () throws(EngineError) in
            guard case .complete(let all) = try advance(to: .all) else { return .gone }
            return all.rows
        }
    }

    // MARK: Finding

    /// The known part of the results.
    private enum State {
        case unknown
        /// Parts of them, found for questions that need no more. `before`: all results as they were
        /// before a change that could not be followed; if it is cancelled they are valid again.
        case partial(Parts, before: All?)
        case complete(All)

        var all: All? {
            switch self {
            case .unknown: nil
            case .partial(_, let before): before
            case .complete(let all): all
            }
        }

        /// The parts that were found after the last change of a dependency.
        func parts(at stamp: UInt64) -> Parts? {
            if case .partial(let parts, _) = self, parts.stamp == stamp { parts } else { nil }
        }
    }

    /// All results, and when they were found.
    private final class All {
        let rows: ResultRows
        /// The last change of a dependency at that time.
        let stamp: UInt64
        /// The session's state at that time.
        let mark: SessionMark
        /// When they were last known to be valid.
        var checked: UInt64

        init(_ rows: ResultRows, _ stamp: UInt64, _ mark: SessionMark, _ checked: UInt64) {
            self.rows = rows
            self.stamp = stamp
            self.mark = mark
            self.checked = checked
        }
    }

    /// Parts of the results.
    private struct Parts {
        /// The last change of a dependency when they were found.
        let stamp: UInt64
        /// The first keys.
        var first: [Int64] = []
        /// The position from which the pass that found them continues, if that was a filter's.
        var next = ScanPosition()
        var count: Int?
        /// The last key, of a filter.
        var last: Int64?
    }

    /// The part of the results that a question needs.
    private enum Need {
        /// The known part, after all changes.
        case nothing
        case count
        case first(Int)
        case last
        case all
    }

    /// Finds what is needed: follows the touched objects, continues a pass or evaluates. No other
    /// function changes what is known, but for a walk that has found all. The result is `complete`
    /// if all results are known then. Otherwise the parts have what is needed, unless that can't be
    /// found without all results.
    private func advance(to need: Need) throws(EngineError) -> State {
        let stamp = session.lastChange(of: definition.watched)
        let now = session.stampOfEverything
        let before = state.all
        if let before, let valid = try valid(before, stamp) {
            valid.checked = now
            state = .complete(valid)
            return state
        }
        var parts = state.parts(at: stamp) ?? Parts(stamp: stamp)
        var rows: ResultRows?
        switch need {
        case .nothing: break
        case .count: try findCount(&parts)
        case .first(let count): rows = try findFirst(count, &parts)
        case .last: try findLast(&parts)
        case .all:
            // A pass that has begun continues.
            if definition.isFiltered, !parts.first.isEmpty { rows = try findFirst(.max, &parts) }
            if rows == nil { rows = try evaluate() }
        }
        if let rows {
            state = .complete(All(rows, stamp, session.mark, now))
        } else {
            state = .partial(parts, before: before)
        }
        return state
    }

    /// All results, if nothing has changed since they were found or the change can be followed;
    /// otherwise nil.
    private func valid(_ all: All, _ stamp: UInt64) throws(EngineError) -> All? {
        if all.stamp == stamp { return all }
        return try followed(all).map { All($0, stamp, session.mark, stamp) }
    }

    /// The results after a change, found by evaluating the query for the touched objects alone; nil
    /// if all have to be evaluated.
    private func followed(_ before: All) throws(EngineError) -> ResultRows? {
        guard let classID, let limit = definition.mostTouched(of: before.rows) else { return nil }
        return try session.interruption.watching { () throws(EngineError) -> ResultRows? in
            let touched = try session.touchedKeys(
                of: classID, reading: definition.watched, since: before.mark, atMost: limit)
            guard let touched else { return nil }
            return try definition.rows(before.rows, touching: touched, in: session.view)
        }
    }

    private func evaluate() throws(EngineError) -> ResultRows {
        evaluations += 1
        return try session.interruption.watching { () throws(EngineError) in
            try definition.order(in: session.view)
        }
    }

    /// Counts a query or backlinks; of all else the count stays unknown.
    private func findCount(_ parts: inout Parts) throws(EngineError) {
        if parts.count != nil { return }
        if definition.query == nil {
            parts.count = try definition.backlinkCount(in: session.view)
        } else {
            evaluations += 1
            parts.count = try session.interruption.watching { () throws(EngineError) in
                try definition.count(in: session.view)
            }
        }
    }

    /// Numbers of keys of sorted results that are found before all are: a page, and many pages when
    /// more are read. Each is found by another pass over the class.
    static let pageSizes = [128, 2_048]

    /// Finds the first `count` keys of a query without those behind them, or more, if that is much
    /// faster. Returns the results if these are all.
    private func findFirst(_ count: Int, _ parts: inout Parts) throws(EngineError) -> ResultRows? {
        guard parts.first.count < count, definition.query != nil else { return nil }
        if definition.isFiltered { return try scan(count, &parts) }
        guard let size = Self.pageSizes.first(where: { $0 >= count }) else { return nil }
        let found = try session.interruption.watching { () throws(EngineError) in
            try definition.firstKeys(size, in: session.view)
        }
        guard let found else { return nil }
        evaluations += 1
        parts.first = found
        return found.count < size ? rows(found) : nil
    }

    /// Continues the pass of a filter that found the keys so far.
    private func scan(_ count: Int, _ parts: inout Parts) throws(EngineError) -> ResultRows? {
        guard let base = try scanBase(in: session.view) else { return nil }
        if parts.first.isEmpty { evaluations += 1 }
        var (first, next) = (parts.first, parts.next)
        parts.first = []
        try session.interruption.watching { () throws(EngineError) in
            try definition.findMore(
                &first, upTo: count, from: &next, in: session.view, of: base)
        }
        (parts.first, parts.next) = (first, next)
        return next.isAtEnd ? rows(first) : nil
    }

    private func rows(_ keys: [Int64]) -> ResultRows {
        .keys(keys, isAscending: definition.isAscending)
    }

    /// Finds the last key of a filter without those before it; a count of 0 if there is none.
    private func findLast(_ parts: inout Parts) throws(EngineError) {
        guard definition.isFiltered, parts.last == nil, parts.count != 0,
            let base = try scanBase(in: session.view)
        else { return }
        evaluations += 1
        parts.last = try session.interruption.watching { () throws(EngineError) in
            try definition.lastKey(in: session.view, of: base)
        }
        if parts.last == nil { parts.count = 0 }
    }

    /// The objects that a filter reads; nil if their source is gone.
    private func scanBase(in view: ModelView) throws(EngineError) -> QueryBase? {
        try model { () throws(ModelError) in
            try definition.isGone(in: view) ? nil : try definition.queryBase(in: view)
        }
    }

    // MARK: Parts of results that have not been evaluated

    /// The count of a query or of backlinks; nil if all results are known or have to be evaluated.
    func partialCount() throws(EngineError) -> Int? {
        try session.check()
        return try alone { () throws(EngineError) in
            guard case .partial(let parts, _) = try advance(to: .count) else { return nil }
            return parts.count
        }
    }

    /// At least the first `count` keys: the beginning of a long list is available before all of it.
    /// Nil if all results are known or have to be evaluated.
    func partialKeys(first count: Int) throws(EngineError) -> [Int64]? {
        try session.check()
        return try alone { () throws(EngineError) in try firstKeys(count) }
    }

    private func firstKeys(_ count: Int) throws(EngineError) -> [Int64]? {
        guard count > 0, definition.query != nil,
            case .partial(let parts, _) = try advance(to: .first(count)),
            parts.first.count >= count
        else { return nil }
        return parts.first
    }

    /// The keys of some results, found without those behind them, the last also without those
    /// before it. Nil if `partialKeys(first:)` is nil.
    func partialKeys(of range: Range<Int>) throws(EngineError) -> ArraySlice<Int64>? {
        try session.check()
        return try alone { () throws(EngineError) -> ArraySlice<Int64>? in
            if range.count == 1, isLastAndUnknown(range.lowerBound), let key = try lastKey() {
                return [key]
            }
            return try firstKeys(range.upperBound)?[range]
        }
    }

    /// Whether an index is that of the last result, by a count, and beyond the keys that are known.
    private func isLastAndUnknown(_ index: Int) -> Bool {
        guard case .partial(let parts, _) = state, parts.count == index + 1,
            index >= parts.first.count
        else { return false }
        return parts.stamp == session.lastChange(of: definition.watched)
    }

    /// The key of the last result of a filter, found without those before it; nil if there is none,
    /// if all results are known, and for other results.
    package func partialLastKey() throws(EngineError) -> Int64? {
        try session.check()
        return try alone { () throws(EngineError) in try lastKey() }
    }

    private func lastKey() throws(EngineError) -> Int64? {
        guard definition.isFiltered, case .partial(let parts, _) = try advance(to: .last) else {
            return nil
        }
        return parts.last
    }

    /// Whether a query has been counted since the last change of a dependency.
    var isCounted: Bool {
        alone { state.parts(at: session.lastChange(of: definition.watched))?.count != nil }
    }

    /// A walk that finds results of a filter as it goes, in the session's version; nil if they are
    /// known or found all at once.
    func scanToWalk() throws(EngineError) -> ResultsScan? {
        guard definition.isFiltered, session.transaction == nil else { return nil }
        try session.check()
        let view = session.base
        return try alone { () throws(EngineError) in
            guard case .partial(let parts, _) = try advance(to: .nothing),
                let base = try scanBase(in: view)
            else { return nil }
            if parts.first.isEmpty { evaluations += 1 }
            return ResultsScan(
                results: self, view: view, base: base, lastChange: parts.stamp, found: parts.first,
                position: parts.next)
        }
    }

    /// Keeps the results of a walk, if nothing has changed since it began.
    func keep(_ scan: ResultsScan) {
        guard session.transaction == nil,
            session.lastChange(of: definition.watched) == scan.lastChange
        else { return }
        alone {
            state = .complete(
                All(rows(scan.found), scan.lastChange, session.mark, scan.lastChange))
        }
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
