/// The record of one run: the plan that was run, and what it read of the queried class.
struct Trace {
    var plan: QueryPlan?
    /// Number of objects that an index gave; nil if none served.
    var indexed: Int?
    var rows = 0
    var clusters = 0
    var skippedClusters = 0
}
