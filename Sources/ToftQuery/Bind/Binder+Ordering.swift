internal import ToftModel

extension Binder {
    /// Keys of one SORT: each costs a level of recursion.
    private static let sortKeyLimit = 64

    mutating func bind(_ ordering: OrderingSyntax) throws(QueryError) -> BoundOrdering {
        try count(at: -1)
        switch ordering {
        case .sort(let keys):
            guard keys.count <= Self.sortKeyLimit else {
                throw failure(
                    .invalidQuery,
                    "SORT has \(keys.count) keys; \(Self.sortKeyLimit) are the most.",
                    at: keys[0].path.offset)
            }
            var bound: [BoundSortKey] = []
            for key in keys {
                bound.append(try sortKey(key.path, isAscending: key.isAscending, purpose: "sorted"))
            }
            noteStack(ofSortKeys: keys.count)
            return .sort(bound)
        case .distinct(let paths):
            var bound: [BoundSortKey] = []
            for path in paths {
                bound.append(try sortKey(path, isAscending: true, purpose: "told apart"))
            }
            return .distinct(bound)
        case .limit(let count):
            return .limit(max(0, count))
        case .offset(let count):
            return .offset(max(0, count))
        case .filter:
            return .offset(0)
        }
    }

    private mutating func sortKey(_ syntax: PathSyntax, isAscending: Bool, purpose: String)
        throws(QueryError) -> BoundSortKey
    {
        let path = try bind(syntax)
        guard !path.isMultiple, syntax.quantifier == nil else {
            throw failure(
                .invalidQuery,
                "Objects cannot be \(purpose) by '\(path.description)', which has more than one "
                    + "value.",
                hint: "Only properties and paths over links to one object have an order.",
                at: syntax.offset)
        }
        let column: ColumnRead
        switch path.leaf {
        case .property(let property, let type): column = ColumnRead(property, type)
        case .entry(let property, let key, let type):
            column = ColumnRead(property, type, key: key)
        default:
            throw failure(
                .invalidQuery, "Objects cannot be \(purpose) by '\(path.description)'.",
                at: syntax.offset)
        }
        return BoundSortKey(
            steps: path.steps, column: column, isAscending: isAscending,
            description: path.description)
    }
}
