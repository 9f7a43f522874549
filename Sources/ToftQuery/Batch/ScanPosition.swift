/// The position from which a walk over the base of a query continues. It is valid as long as the
/// base and the query's data stay the same.
package struct ScanPosition: Sendable {
    /// Of the base `all`: the first key.
    var key = Int64.min
    /// Of keys: the index.
    var index = 0
    package internal(set) var isAtEnd = false

    package init() {}

    var isAtStart: Bool { key == .min && index == 0 }
}
