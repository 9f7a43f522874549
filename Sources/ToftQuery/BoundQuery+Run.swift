package import ToftModel

extension BoundQuery {
    /// The keys of the results, in order.
    package func keys(in view: ModelView, of base: QueryBase = .all) throws(ModelError) -> [Int64] {
        try execution(in: view, of: base, for: .results).keys()
    }

    /// How many results there are. No list of them is made.
    package func count(in view: ModelView, of base: QueryBase = .all) throws(ModelError) -> Int {
        try execution(in: view, of: base, for: .count).count()
    }

    /// One value of a property of all results; no list of them is made. Nil where values of the
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
        try execution(in: view, of: base, for: .unordered).forEachResult {
            frame, passing throws(ModelError) in
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

    /// How the query is worked out over the objects of its class, as text: a line for each step.
    package func explain(in view: ModelView, of base: QueryBase = .all) throws(ModelError) -> String
    {
        let plan = QueryPlan(self, over: base, in: view.schema, for: .results)
        return try Explanation(plan, base, view).text
    }

    func execution(
        in view: ModelView, of base: QueryBase, for answer: QueryPlan.Answer
    ) throws(ModelError) -> Execution {
        let plan = QueryPlan(self, over: base, in: view.schema, for: answer)
        return try Execution(plan, over: base, in: view)
    }
}
