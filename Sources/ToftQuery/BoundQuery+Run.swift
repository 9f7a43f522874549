package import ToftModel

extension BoundQuery {
    /// The keys of the results, in order.
    package func keys(in view: ModelView, of base: QueryBase = .all) throws(ModelError) -> [Int64] {
        try Execution(self, ViewSource(view)).keys(base)
    }

    /// How many results there are. No list of them is made.
    package func count(in view: ModelView, of base: QueryBase = .all) throws(ModelError) -> Int {
        try Execution(self, ViewSource(view)).count(base)
    }

    /// One value of a property of all results; no list of them is made. Nil where values of the
    /// property's type have no such aggregate.
    package func aggregate(
        _ operation: AggregateOperation, of property: PropertyHandle, in view: ModelView,
        over base: QueryBase = .all
    ) throws(ModelError) -> Value? {
        guard !property.isList, let type = ValueType(property.type, target: property.targetClassID),
            Aggregation.isPossible(operation, of: type)
        else {
            return nil
        }
        let node = PropertyNode(
            ColumnRead(PropertyRef(classID: property.classID, propertyID: property.id), type))
        var aggregation = Aggregation(operation, of: type)
        try Execution(self, ViewSource(view)).forEachResult(base) {
            frame, passing throws(ModelError) in
            aggregation.add(try node.evaluate(frame, wanted: passing), passing)
        }
        return aggregation.result
    }

    /// Whether one object passes every filter. SORT, DISTINCT and LIMIT say nothing of one object
    /// and are left out.
    package func matches(_ key: Int64, in view: ModelView) throws(ModelError) -> Bool {
        let filters = BoundQuery(filtersOf: self)
        return try Execution(filters, ViewSource(view)).count(.keys([key])) > 0
    }

    /// How the query is worked out over the objects of its class, as text: a line for each step.
    package func explain(in view: ModelView, of base: QueryBase = .all) throws(ModelError) -> String
    {
        try Explanation(self, view, base).text
    }
}
