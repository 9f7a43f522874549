package import ToftModel
internal import ToftPlatform
internal import ToftStorage

extension BoundQuery {
    /// The keys of the results, in order.
    package func keys(in view: ModelView, of base: QueryBase = .all) throws(ModelError) -> [Int64] {
        if let keys = try keysInIndex(of: view, base) { return keys }
        return try execution(in: view, of: base, for: .results).keys()
    }

    /// The next keys of the results of a query without orderings, in a pass that continues at
    /// `position`: `count` or more, unless these are the last.
    package func keys(
        next count: Int, from position: inout ScanPosition, in view: ModelView, of base: QueryBase
    ) throws(ModelError) -> [Int64] {
        if position.isAtStart, let keys = try keysInIndex(of: view, base) {
            position.isAtEnd = true
            return keys
        }
        return try execution(in: view, of: base, for: .results).nextKeys(count, from: &position)
    }

    /// The key of the last result of a query without orderings, found without those before it.
    package func lastKey(in view: ModelView, of base: QueryBase) throws(ModelError) -> Int64? {
        if let keys = try keysInIndex(of: view, base) { return keys.last }
        return try execution(in: view, of: base, for: .results).lastKey()
    }

    /// The first `count` keys of sorted results, or more, found in one pass that sorts few. Nil if
    /// all are found about as fast: a SORT does not end the query, its first key is not a property
    /// of the objects themselves, or a costly test precedes it.
    package func keys(first count: Int, in view: ModelView) throws(ModelError) -> [Int64]? {
        guard case .ordering(.sort(let keys))? = stages.last, keys.first?.steps.isEmpty == true
        else { return nil }
        try requireStack()
        for stage in stages {
            if case .filter(let predicate) = stage, predicate.cost > 10 { return nil }
        }
        return try limited(to: count).keys(in: view)
    }

    /// Number of results. No list of them is made.
    package func count(in view: ModelView, of base: QueryBase = .all) throws(ModelError) -> Int {
        if let keys = try keysInIndex(of: view, base) { return keys.count }
        return try execution(in: view, of: base, for: .count).count()
    }

    /// The results if the plan would be a single lookup of one value; nil otherwise, and if the
    /// index gives so many that a scan is cheaper.
    private func keysInIndex(of view: ModelView, _ base: QueryBase) throws(ModelError) -> [Int64]? {
        guard case .all = base, stages.count == 1, case .filter(let predicate) = stages[0],
            let plan = IndexPlan.deciding(predicate, in: view.schema),
            let owner = view.schema.anyClass(id: classID)
        else { return nil }
        let rowCount = try view.table(owner).rowCount
        return try plan.candidates(in: view, of: rowCount)
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
        try execution(in: view, of: base, for: .unordered).forEachResult(
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
        try BoundQuery(filtersOf: self).execution(in: view, of: .keys([key]), for: .count).count()
            > 0
    }

    /// Runs the query over the objects of its class and describes the run as text: a line for each
    /// step, and one for the reads and the time.
    package func explain(in view: ModelView, of base: QueryBase = .all) throws(ModelError) -> String
    {
        try requireStack()
        let start = MonotonicClock.nanoseconds
        let plan = QueryPlan(self, over: base, in: view.schema, for: .results)
        let execution = try Execution(plan, over: base, in: view)
        let count = try execution.keys().count
        let elapsed = MonotonicClock.nanoseconds - start
        return try Explanation(
            plan, base, view, execution.tally, count: count, nanoseconds: elapsed
        ).text
    }

    func execution(
        in view: ModelView, of base: QueryBase, for answer: QueryPlan.Answer
    ) throws(ModelError) -> Execution {
        try requireStack()
        let plan = QueryPlan(self, over: base, in: view.schema, for: answer)
        return try Execution(plan, over: base, in: view)
    }
}
