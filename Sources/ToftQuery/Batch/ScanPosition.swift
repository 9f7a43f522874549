/// Where the walk over the base of a query goes on. It holds as long as the base and what the query
/// reads stay the same.
package struct ScanPosition: Sendable {
    /// Of the base `all`: the first key.
    var key = Int64.min
    /// Of keys: the index.
    var index = 0
    package internal(set) var isAtEnd = false

    package init() {}

    var isAtStart: Bool { key == .min && index == 0 }
}
