/// The objects that a query selects from.
package enum QueryBase: Sendable {
    /// Every object of the class, in the order of keys, which is that of creation.
    case all
    /// A list of objects, in its order; deleted ones pass no filter and no SORT.
    case keys([Int64])
}
