internal import ToftModel

/// A column of fixed width as it lies in a cluster: while the window on it holds, a value costs a load.
///
/// Doors do the loading: calls from one module into another are not inlined, and would cost more than the loads.
package struct FixedColumn {
    /// How the values lie.
    package enum Kind {
        /// Eight bytes each: integers, links by their targets' keys, doubles.
        case words
        /// One bit each, n % 64 of word n / 64.
        case bits
        /// Four bytes each.
        case floats
        /// Seconds, and nanoseconds in an array of their own.
        case times
    }

    package let values: UnsafeRawPointer
    /// A bitmap of the rows that are null; nil where none is.
    package let nulls: UnsafePointer<UInt64>?
    /// Of times.
    package let nanoseconds: UnsafePointer<Int32>?

    init(_ values: UnsafeRawPointer, _ nulls: UnsafePointer<UInt64>?, nanoseconds: UnsafePointer<Int32>? = nil) {
        self.values = values
        self.nulls = nulls
        self.nanoseconds = nanoseconds
    }
}

extension PropertyType {
    /// How values of the type lie in a cluster, where they are of fixed width.
    var columnKind: FixedColumn.Kind? {
        switch self {
        case .int, .link, .double: .words
        case .bool: .bits
        case .float: .floats
        case .date: .times
        case .string, .data, .linkingObjects: nil
        }
    }
}
