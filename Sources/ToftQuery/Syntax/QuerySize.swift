/// The size of the query so far, and its limit.
///
/// A running query keeps some thousand bytes for each part of it, the values of 256 rows, so a text
/// of a few megabytes would take gigabytes. Counted when a text is parsed and again when it is
/// bound, since an alias or a key path argument may be more than its word.
struct QuerySize {
    /// First names of paths, comparisons, subqueries, constant conditions, NOT and orderings are
    /// one each; parts that take more memory count more.
    static let partLimit = 24_000
    /// A further name or an index of a path.
    static let stepParts = 2
    /// Additional parts of a comparison without a constant side.
    static let pairParts = 3
    static let computationParts = 4
    /// The elements of all list literals together, and of arguments that are used again.
    static let elementLimit = 131_072
    /// The steps of a regular expression that take as much as a part.
    static let expressionStepsOfPart = 200

    private var parts = 0
    private var elements = 0

    /// Counts parts of the query at `offset`.
    mutating func add(_ count: Int = 1, at offset: Int, in source: QuerySource) throws(QueryError) {
        parts += count
        guard parts <= Self.partLimit else {
            throw QueryError(
                .invalidQuery,
                "The query is too long: names, comparisons and computations are more than "
                    + "\(Self.partLimit).",
                hint: "Use IN for long chains of alternatives.", at: offset, in: source)
        }
    }

    /// Counts elements of lists.
    mutating func addElements(_ count: Int, at offset: Int, in source: QuerySource)
        throws(QueryError)
    {
        elements += count
        guard elements <= Self.elementLimit else {
            throw QueryError(
                .invalidQuery,
                "The lists of the query have more than \(Self.elementLimit) elements together.",
                hint: "Hand a long list in as an argument, once.", at: offset, in: source)
        }
    }
}
