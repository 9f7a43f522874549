package import ToftModel
internal import ToftPlatform
internal import ToftStorage

extension BoundQuery {
    /// The keys of the results, in order.
    package func keys(in view: ModelView, of base: QueryBase = .all) throws(ModelError) -> [Int64] {
        var trace = Trace()
        return try keys(in: view, of: base, &trace)
    }

    /// The next keys of the results of a query without orderings, in a pass that goes on at
    /// `position`: `count` or more, unless these are the last.
    package func keys(
        next count: Int, from position: inout ScanPosition, in view: ModelView, of base: QueryBase
    ) throws(ModelError) -> [Int64] {
        var trace = Trace()
        return try keys(next: count, from: &position, in: view, of: base, &trace)
    }

    /// The first `count` keys of sorted results of a whole class, or more, found in one pass that
    /// sorts few. Nil if all are found about as fast: see `QueryPlan.findsFirstOfSorted`; or if
    /// they are no small part of the class.
    package func keys(first count: Int, in view: ModelView) throws(ModelError) -> [Int64]? {
        var trace = Trace()
        return try keys(first: count, in: view, &trace)
    }

    /// The key of the last result of a query without orderings, found without those before it.
    package func lastKey(in view: ModelView, of base: QueryBase) throws(ModelError) -> Int64? {
        var trace = Trace()
        return try lastKey(in: view, of: base, &trace)
    }

    /// How many results there are. No list of them is made.
    package func count(in view: ModelView, of base: QueryBase = .all) throws(ModelError) -> Int {
        var trace = Trace()
        return try count(in: view, of: base, &trace)
    }

    /// One value of a property of all results; no list of them is made. Nil if values of the
    /// property's type have no such aggregate.
    package func aggregate(
        _ operation: AggregateOperation, of property: PropertyHandle, in view: ModelView,
        over base: QueryBase = .all
    ) throws(ModelError) -> Value? {
        guard !property.isCollection,
            let type = ValueType(property.type, target: property.targetClassID),
            Aggregation.isPossible(operation, of: type)
        else {
            return nil
        }
        let node = PropertyNode(
            ColumnRead(PropertyRef(classID: property.classID, propertyID: property.id), type))
        var aggregation = Aggregation(operation, of: type)
        var trace = Trace()
        try execution(in: view, of: base, for: .unordered, &trace).forEachResult(
            where: { cluster throws(StorageError) in
                try aggregation.isSettled(for: cluster, property.column)
            }
        ) { frame, passing throws(ModelError) in
            aggregation.add(try node.evaluate(frame, wanted: passing), passing)
        }
        guard let result = aggregation.result else {
            let owner = view.schema.anyClass(id: property.classID)?.name ?? ""
            throw .sumOverflow(className: owner, property: property.name)
        }
        return result
    }

    /// Whether one object passes every filter. SORT, DISTINCT and LIMIT say nothing of one object
    /// and are left out.
    package func matches(_ key: Int64, in view: ModelView) throws(ModelError) -> Bool {
        var trace = Trace()
        return try BoundQuery(filtersOf: self).exists(in: view, of: .keys([key]), &trace)
    }

    /// Runs the query over the objects of its class for an answer, and says how that went, as text:
    /// a line for each step, and one for what was read and how long it took.
    package func explain(
        for answer: QueryAnswer = .keys, in view: ModelView, of base: QueryBase = .all
    ) throws(ModelError) -> String {
        let start = MonotonicClock.nanoseconds
        var trace = Trace()
        let count = try run(for: answer, in: view, of: base, &trace)
        let elapsed = MonotonicClock.nanoseconds - start
        return try Explanation(trace, base, view, count: count, nanoseconds: elapsed).text
    }
}

// Each run leaves in a trace what it did.
extension BoundQuery {
    /// Runs the query as the calls that want such an answer do. Returns the number of results
    /// that it found.
    func run(
        for answer: QueryAnswer, in view: ModelView, of base: QueryBase, _ trace: inout Trace
    ) throws(ModelError) -> Int {
        switch answer {
        case .firstKeys(let count) where !hasOrderings:
            var position = ScanPosition()
            return try keys(next: count, from: &position, in: view, of: base, &trace).count
        case .firstKeys(let count):
            if case .all = base, let found = try keys(first: count, in: view, &trace) {
                return found.count
            }
            return try keys(in: view, of: base, &trace).count
        case .lastKey where !hasOrderings:
            return try lastKey(in: view, of: base, &trace) == nil ? 0 : 1
        case .keys, .lastKey: return try keys(in: view, of: base, &trace).count
        case .count: return try count(in: view, of: base, &trace)
        case .exists: return try exists(in: view, of: base, &trace) ? 1 : 0
        case .unordered:
            var count = 0
            let execution = try execution(in: view, of: base, for: .unordered, &trace)
            try execution.forEachResult { _, passing in count += passing.count }
            trace = execution.trace
            return count
        }
    }

    private func keys(in view: ModelView, of base: QueryBase, _ trace: inout Trace)
        throws(ModelError) -> [Int64]
    {
        let begun = try begin(for: .keys, in: view, of: base, &trace)
        if let results = begun.results { return results }
        return try run(begun, in: view, &trace) { execution throws(ModelError) in
            try execution.keys()
        }
    }

    private func keys(
        next count: Int, from position: inout ScanPosition, in view: ModelView, of base: QueryBase,
        _ trace: inout Trace
    ) throws(ModelError) -> [Int64] {
        let begun = try begin(for: .firstKeys(count), in: view, of: base, &trace)
        if position.isAtStart, let results = begun.results {
            position.isAtEnd = true
            return results
        }
        return try run(begun, in: view, &trace) { execution throws(ModelError) in
            try execution.nextKeys(count, from: &position)
        }
    }

    private func keys(first count: Int, in view: ModelView, _ trace: inout Trace)
        throws(ModelError) -> [Int64]?
    {
        guard QueryPlan.findsFirstOfSorted(self),
            let owner = view.schema.anyClass(id: classID),
            try view.count(owner) / Self.leastPart >= count
        else { return nil }
        let begun = try begin(for: .firstKeys(count), in: view, of: .all, &trace)
        return try run(begun, in: view, &trace) { execution throws(ModelError) in
            try execution.keys()
        }
    }

    /// Of a class: the first sorted results are found by themselves if they are not more than one
    /// in so many objects.
    private static let leastPart = 32

    private func lastKey(in view: ModelView, of base: QueryBase, _ trace: inout Trace)
        throws(ModelError) -> Int64?
    {
        let begun = try begin(for: .lastKey, in: view, of: base, &trace)
        if let results = begun.results { return results.last }
        return try run(begun, in: view, &trace) { execution throws(ModelError) in
            try execution.lastKey()
        }
    }

    private func count(in view: ModelView, of base: QueryBase, _ trace: inout Trace)
        throws(ModelError) -> Int
    {
        let begun = try begin(for: .count, in: view, of: base, &trace)
        if let results = begun.results { return results.count }
        return try run(begun, in: view, &trace) { execution throws(ModelError) in
            try execution.count()
        }
    }

    private func exists(in view: ModelView, of base: QueryBase, _ trace: inout Trace)
        throws(ModelError) -> Bool
    {
        let begun = try begin(for: .exists, in: view, of: base, &trace)
        if let results = begun.results { return !results.isEmpty }
        return try run(begun, in: view, &trace) { execution throws(ModelError) in
            try execution.exists()
        }
    }

    /// A run that is asked for batches of its results.
    func execution(
        in view: ModelView, of base: QueryBase, for answer: QueryAnswer, _ trace: inout Trace
    ) throws(ModelError) -> Execution {
        let begun = try begin(for: answer, in: view, of: base, &trace)
        return try Execution(begun, trace, in: view)
    }

    private func begin(
        for answer: QueryAnswer, in view: ModelView, of base: QueryBase, _ trace: inout Trace
    ) throws(ModelError) -> RunBeginning {
        try requireStack()
        let plan = QueryPlan(self, over: base, in: view.schema, for: answer)
        let begun = try plan.begin(over: base, in: view)
        trace.plan = plan
        if begun.isIndexed, case .keys(let found) = begun.rows { trace.indexed = found.count }
        return begun
    }

    private func run<Answer>(
        _ begun: RunBeginning, in view: ModelView, _ trace: inout Trace,
        _ body: (Execution) throws(ModelError) -> Answer
    ) throws(ModelError) -> Answer {
        let execution = try Execution(begun, trace, in: view)
        let answer = try body(execution)
        trace = execution.trace
        return answer
    }
}
