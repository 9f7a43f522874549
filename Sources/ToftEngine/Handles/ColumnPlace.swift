internal import ToftModel

/// Where a column of fixed width lies in a cluster: as long as the window holds, a value costs a load.
///
/// Doors read the values themselves: calls from one module into another are never inlined, and would cost more than the loads.
package struct ColumnPlace {
    /// How the values of a column lie.
    package enum Kind {
        /// Eight bytes each: integers, links by their targets' keys, doubles.
        case words
        /// One bit each.
        case bits
        /// Four bytes each.
        case floats
        /// Seconds, and nanoseconds in an array of their own.
        case times
    }

    /// The column's values; nil where it is not known.
    package let values: UnsafeRawPointer?
    /// A bitmap of the rows that are null (bit n % 64 of word n / 64); nil where none is.
    package let nulls: UnsafePointer<UInt64>?
    /// The second array of times.
    package let nanoseconds: UnsafePointer<Int32>?

    /// A place; without values, one that is not known.
    init(_ values: UnsafeRawPointer? = nil, _ nulls: UnsafePointer<UInt64>? = nil, nanoseconds: UnsafePointer<Int32>? = nil) {
        self.values = values
        self.nulls = nulls
        self.nanoseconds = nanoseconds
    }
}

extension PropertyType {
    /// How values of the type lie in a cluster, where they are of fixed width.
    var placeKind: ColumnPlace.Kind? {
        switch self {
        case .int, .link, .double: .words
        case .bool: .bits
        case .float: .floats
        case .date: .times
        default: nil
        }
    }
}
