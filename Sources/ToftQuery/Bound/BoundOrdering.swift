internal import ToftModel

/// SORT, DISTINCT, LIMIT or OFFSET, bound.
enum BoundOrdering: Sendable {
    case sort([BoundSortKey])
    case distinct([BoundSortKey])
    case limit(Int)
    case offset(Int)
}

/// A sort or DISTINCT key: a property, or a dictionary's value under a key, at the end of to-one
/// links.
struct BoundSortKey: Sendable {
    var steps: [PathStep]
    var column: ColumnRead
    var isAscending: Bool
    /// As it is written.
    var description: String
}
