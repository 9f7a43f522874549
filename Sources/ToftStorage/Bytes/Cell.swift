/// A point in time: seconds and nanoseconds since 1970-01-01 00:00 UTC, both of the same sign.
package struct Timestamp: Hashable, Comparable, Sendable {
    package var seconds: Int64
    /// -999,999,999...999,999,999, of the sign of `seconds`.
    package var nanoseconds: Int32

    package init(seconds: Int64, nanoseconds: Int32) {
        self.seconds = seconds
        self.nanoseconds = nanoseconds
    }

    package static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.seconds != right.seconds
            ? left.seconds < right.seconds : left.nanoseconds < right.nanoseconds
    }
}

/// The layout of a column in a cluster. Raw values are format; those not listed up to 31 are
/// reserved.
package enum ColumnType: UInt8, Sendable {
    case bool = 1
    case int64 = 2
    case float32 = 3
    case float64 = 4
    case timestamp = 5
    case bytes = 6
    case list = 7
    /// 16 bytes.
    case fixed16 = 8
    /// 12 bytes.
    case fixed12 = 9
}

/// One column of a table. Ids are never reused within a table.
package struct Column: Hashable, Sendable {
    package var id: UInt32
    package var type: ColumnType
    package var isNullable: Bool
    /// The type of the elements, for a list.
    package var elementType: ColumnType?
    package var elementIsNullable: Bool
    /// Whether it became nullable after rows existed: in a cluster without the column their cells
    /// are zero, false or no bytes, not null.
    package var wasRequired: Bool

    package init(
        id: UInt32, type: ColumnType, isNullable: Bool, elementType: ColumnType? = nil,
        elementIsNullable: Bool = false, wasRequired: Bool = false
    ) {
        self.id = id
        self.type = type
        self.isNullable = isNullable
        self.elementType = elementType
        self.elementIsNullable = elementIsNullable
        self.wasRequired = wasRequired
    }
}

/// One value as storage sees it. Holds no reference: `bytes` borrows from the page (or from the
/// caller) and is valid until the snapshot is released, in a write transaction until its next
/// mutation.
package enum Cell {
    case null
    case bool(Bool)
    case int64(Int64)
    case float32(Float)
    case float64(Double)
    case timestamp(Timestamp)
    case bytes(UnsafeRawBufferPointer)
    case fixed(FixedBytes)
}

/// The bytes of a `fixed16`, or of a `fixed12` and four zeros: sorted as the bytes are.
package struct FixedBytes: Hashable, Comparable, Sendable {
    /// The first eight bytes as a big-endian number, and the others.
    package var high: UInt64
    package var low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    package static let zero = FixedBytes(high: 0, low: 0)

    /// Up to 16 bytes, then zeros.
    package init(_ bytes: UnsafeRawBufferPointer) {
        var memory = (UInt64(0), UInt64(0))
        withUnsafeMutableBytes(of: &memory) {
            $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes.prefix(16)))
        }
        self.init(high: UInt64(bigEndian: memory.0), low: UInt64(bigEndian: memory.1))
    }

    /// Makes fixed bytes of an array.
    package init(bytes: [UInt8]) { self = bytes.withUnsafeBytes { FixedBytes($0) } }

    /// Writes as many bytes as there is room for, 16 at most.
    package func write(to destination: UnsafeMutableRawBufferPointer) {
        withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) {
            destination.copyMemory(
                from: UnsafeRawBufferPointer(rebasing: $0.prefix(destination.count)))
        }
    }

    @inline(__always)
    package static func < (left: FixedBytes, right: FixedBytes) -> Bool {
        left.high != right.high ? left.high < right.high : left.low < right.low
    }
}

extension Cell {
    /// The integer of a cell, or its seconds.
    @inline(__always)
    var integer: Int64? {
        switch self {
        case .int64(let value): value
        case .timestamp(let value): value.seconds
        case .null, .bool, .float32, .float64, .bytes, .fixed: nil
        }
    }

    /// Whether it is a timestamp with nanoseconds.
    @inline(__always)
    var hasNanoseconds: Bool {
        if case .timestamp(let value) = self { value.nanoseconds != 0 } else { false }
    }
}
