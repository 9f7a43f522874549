/// The kind of an answer that a query is run for.
package enum QueryAnswer: Sendable, Equatable {
    /// The results in their order.
    case keys
    /// The first results in their order: this many or more, unless there are fewer.
    case firstKeys(Int)
    /// The last result of a query without orderings; of others all results.
    case lastKey
    /// The results in any order.
    case unordered
    /// Only how many there are.
    case count
    /// Only whether there is one.
    case exists
}
