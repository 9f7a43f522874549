internal import ToftModel
package import ToftStorage

/// A column as it lies in a cluster: while the window on it holds, a value costs a load.
///
/// Callers load it themselves: calls from one module into another are not inlined, and would cost more
/// than the loads.
package struct ClusterColumn {
    /// How the values lie.
    package enum Kind {
        /// Integers and links by their targets' keys, as wide as they are in the cluster; doubles.
        case words
        /// One bit each, n % 64 of word n / 64.
        case bits
        /// Four bytes each.
        case floats
        /// Seconds, and nanoseconds in an array of their own.
        case times
        /// Text or data: one `TextColumn`, which the window keeps.
        case texts
    }

    package let values: UnsafeRawPointer
    /// The logarithm of the bytes of a word, or of the seconds of a time. Before a narrow one there
    /// are eight bytes that may be read with it.
    package let wordShift: UInt8
    /// A bitmap of the rows that are null; nil where none is.
    package let nulls: UnsafePointer<UInt64>?
    /// Of times.
    package let nanoseconds: UnsafePointer<Int32>?

    init(
        _ values: UnsafeRawPointer, _ nulls: UnsafePointer<UInt64>?,
        nanoseconds: UnsafePointer<Int32>? = nil
    ) {
        self.values = values
        wordShift = IntegerReader.eight.shift
        self.nulls = nulls
        self.nanoseconds = nanoseconds
    }

    /// Integers, or times with these seconds.
    init(
        _ integers: IntegerColumn, _ nulls: UnsafePointer<UInt64>?,
        nanoseconds: UnsafePointer<Int32>? = nil
    ) {
        values = integers.base
        wordShift = integers.reader.shift
        self.nulls = nulls
        self.nanoseconds = nanoseconds
    }
}

/// A column of text or data in a cluster.
package struct TextColumn {
    package let values: BytesColumn
}

extension PropertyType {
    /// How values of the type lie in a cluster.
    var columnKind: ClusterColumn.Kind? {
        switch self {
        case .int, .link, .double: .words
        case .bool: .bits
        case .float: .floats
        case .date: .times
        case .string, .data: .texts
        case .linkingObjects: nil
        }
    }
}
