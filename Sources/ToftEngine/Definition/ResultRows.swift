internal import ToftModel

/// The rows of results in one version. Whole classes and lists are not copied.
enum ResultRows: Sendable {
    /// All objects of the class, by rank.
    case whole
    /// The list as it is.
    case list
    /// Objects by their keys. Ascending when the results are not sorted.
    case keys([Int64], isAscending: Bool)
    /// Elements of the list, by their indices there.
    case positions([Int])
    /// The values themselves.
    case values([Value])
    /// The object that the results depend on is deleted.
    case gone
}
