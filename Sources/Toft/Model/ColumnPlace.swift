internal import ToftEngine
internal import ToftStorage

/// Where a column of fixed width lies, as a window showed it.
@usableFromInline struct ColumnPlace {
    /// Nil while it is not known.
    @usableFromInline let values: UnsafeRawPointer?
    /// A bitmap of the rows that are null; nil where none is.
    @usableFromInline let nulls: UnsafePointer<UInt64>?
    /// The logarithm of the bytes of a word.
    @usableFromInline let wordShift: UInt8
    private let nanoseconds: UnsafePointer<Int32>?

    /// A place that is not known.
    init() {
        (values, nulls, wordShift, nanoseconds) = (nil, nil, 3, nil)
    }

    init(_ column: FixedColumn) {
        (values, nulls, wordShift, nanoseconds) = (column.values, column.nulls, column.wordShift, column.nanoseconds)
    }
}

extension ColumnPlace {
    /// The integer of a row, the key that a link holds, or the bits of a double; nil when null. Of words.
    @inlinable @inline(__always)
    func word(_ row: Int) -> Int64? {
        values(row).map { word(row, in: $0) }
    }

    /// Loads the eight bytes that end with a word and shifts out what is before it: the same for words of any width.
    @inlinable @inline(__always)
    func word(_ row: Int, in values: UnsafeRawPointer) -> Int64 {
        let bytes = 1 &<< Int(truncatingIfNeeded: wordShift)
        let word = (values + ((row &+ 1) &* bytes &- 8)).loadUnaligned(as: Int64.self)
        return word &>> Int64(truncatingIfNeeded: 64 &- 8 &* bytes)
    }

    /// The flag of a row; nil when null. Of bits.
    @inlinable @inline(__always)
    func bit(_ row: Int) -> Bool? {
        values(row).map { Self.bit(row, in: $0.assumingMemoryBound(to: UInt64.self)) }
    }

    /// The number of a row; nil when null. Of floats.
    func float(_ row: Int) -> Float? {
        values(row)?.load(fromByteOffset: row &* 4, as: Float.self)
    }

    /// The time of a row; nil when null. Of times.
    func time(_ row: Int) -> Timestamp? {
        guard let values = values(row), let nanoseconds else { return nil }
        return Timestamp(seconds: word(row, in: values), nanoseconds: nanoseconds[row])
    }

    /// The values, where the row's is not null.
    @inlinable @inline(__always)
    func values(_ row: Int) -> UnsafeRawPointer? {
        if let nulls, Self.bit(row, in: nulls) { return nil }
        return values
    }

    @inlinable @inline(__always)
    static func bit(_ row: Int, in bitmap: UnsafePointer<UInt64>) -> Bool {
        bitmap[row &>> 6] & (1 &<< UInt64(truncatingIfNeeded: row & 63)) != 0
    }
}
