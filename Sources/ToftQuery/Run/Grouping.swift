package import ToftModel

/// Results grouped by the values of one or more paths, and the aggregates of each group.
package struct Grouping: Sendable {
    fileprivate let keys: [BoundSortKey]
    fileprivate let values: [BoundSortKey]
    fileprivate let operations: [AggregateOperation]

    /// Binds paths over to-one links. Throws for one that leads to several values. Without keys all
    /// results are one group, which there is also of no results.
    package init(
        by keys: [PathSyntax], of values: [(operation: AggregateOperation, path: PathSyntax)],
        className: String, schema: StoredSchema, aliases: KeyPathAliases
    ) throws(QueryError) {
        guard let owner = schema.storedClass(named: className) else {
            throw QueryError(.invalidQuery, "There is no class '\(className)'.", at: -1, in: .none)
        }
        var binder = Binder(
            schema, classID: owner.id, arguments: [], source: .none,
            aliases: aliases)
        self.keys = try binder.groupKeys(keys)
        self.values = try binder.groupKeys(values.map(\.path))
        operations = values.map(\.operation)
    }

    /// A path and an aggregate that it does not support; nil if all are supported.
    package var impossible: (path: String, operation: AggregateOperation)? {
        for (value, operation) in zip(values, operations)
        where !Aggregation.isPossible(operation, of: value.column.type) {
            return (value.description, operation)
        }
        return nil
    }
}

/// One group of results.
package struct ResultGroup: Sendable {
    /// The value of each path that the results are grouped by.
    package var keys: [Value]
    /// Number of results in the group.
    package var count: Int
    /// The group's aggregates, in the requested order.
    package var values: [Value]
}

extension Binder {
    fileprivate mutating func groupKeys(_ paths: [PathSyntax]) throws(QueryError) -> [BoundSortKey]
    {
        guard case .distinct(let keys) = try bind(.distinct(paths)) else { return [] }
        return keys
    }
}

extension BoundQuery {
    /// The groups of the results in the order of their keys: null first, then as SORT does. Null
    /// and NaN do not count in aggregates; the sum of nothing is 0, all else of nothing null.
    ///
    /// One pass over the columns. Memory: one entry for each group. Throws `sumOverflow` if a sum
    /// of integers does not fit into 64 bits.
    package func groups(_ grouping: Grouping, in view: ModelView, of base: QueryBase = .all)
        throws(ModelError) -> [ResultGroup]
    {
        var trace = Trace()
        let execution = try execution(in: view, of: base, for: .unordered, &trace)
        let columns = try execution.columns(grouping.values)
        if grouping.keys.isEmpty { return [try execution.group(of: grouping, columns, view)] }
        let table = SortTable(try execution.columns(grouping.keys))
        var counts: [Int] = []
        var aggregations: [Aggregation] = []
        var members: [Selection] = []
        try execution.forEachResult { batch, passing throws(ModelError) in
            var touched: [Int] = []
            try table.appendDistinct(batch, passing) { row, group in
                if group == counts.count {
                    counts.append(0)
                    members.append(.empty)
                    for (value, operation) in zip(grouping.values, grouping.operations) {
                        aggregations.append(Aggregation(operation, of: value.column.type))
                    }
                }
                if members[group].isEmpty { touched.append(group) }
                members[group].insert(row)
            }
            for (index, column) in columns.enumerated() {
                let vector = try column.evaluate(batch, passing)
                for group in touched {
                    aggregations[group * columns.count + index].add(vector, members[group])
                }
            }
            for group in touched {
                counts[group] += members[group].count
                members[group] = .empty
            }
        }
        var groups: [ResultGroup] = []
        for group in table.sortedRows().map({ Int($0) }) {
            let first = group * columns.count
            groups.append(
                ResultGroup(
                    keys: table.values(group, grouping.keys.map(\.column.type)),
                    count: counts[group],
                    values: try grouping.results(
                        aggregations[first..<first + columns.count], view)))
        }
        return groups
    }
}

extension Execution {
    /// All results as one group.
    fileprivate func group(of grouping: Grouping, _ columns: [SortColumn], _ view: ModelView)
        throws(ModelError) -> ResultGroup
    {
        var count = 0
        var aggregations = zip(grouping.values, grouping.operations).map {
            Aggregation($1, of: $0.column.type)
        }
        try forEachResult { batch, passing throws(ModelError) in
            count += passing.count
            for (index, column) in columns.enumerated() {
                aggregations[index].add(try column.evaluate(batch, passing), passing)
            }
        }
        return ResultGroup(
            keys: [], count: count, values: try grouping.results(aggregations[...], view))
    }
}

extension Grouping {
    /// The aggregates of one group.
    fileprivate func results(_ aggregations: ArraySlice<Aggregation>, _ view: ModelView)
        throws(ModelError) -> [Value]
    {
        var results: [Value] = []
        for (value, aggregation) in zip(values, aggregations) {
            guard let result = aggregation.result else {
                let owner = view.schema.anyClass(id: value.column.property.classID)?.name ?? ""
                throw .sumOverflow(className: owner, property: value.description)
            }
            results.append(result)
        }
        return results
    }
}
