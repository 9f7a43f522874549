/// The stack that a bound query takes, in bytes: it may run on another thread than the one that
/// bound it, so this is counted when it is bound, and checked before each run.
enum StackOfQuery {
    #if DEBUG
    private static let scale = 6
    #else
    private static let scale = 1
    #endif

    /// A condition or a computation in another one.
    static let level = 1_000 * scale
    /// The condition of a subquery.
    static let subquery = 4_000 * scale
    /// A step of a path to many objects, or within a mixed value.
    static let step = 1_500 * scale
    /// A key of a SORT: rows that are equal in it are sorted by the next, part by part.
    static let sortKey = 2_000 * scale
}
