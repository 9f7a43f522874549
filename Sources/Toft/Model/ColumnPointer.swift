internal import ToftEngine
internal import ToftStorage

/// Where a column lies, as a window showed it.
@usableFromInline struct ColumnPointer {
    /// Nil while it is not known.
    /// Of words and times, the eight bytes that end with the first.
    @usableFromInline let values: UnsafeRawPointer?
    /// A bitmap of the rows that are null; nil where none is.
    @usableFromInline let nulls: UnsafePointer<UInt64>?
    /// The bytes of a word, and the bits that lie before it in the eight bytes that end with it.
    @usableFromInline let width: Int
    @usableFromInline let bitsBefore: Int64
    private let nanoseconds: UnsafePointer<Int32>?

    /// A place that is not known.
    init() {
        (values, nulls, nanoseconds) = (nil, nil, nil)
        (width, bitsBefore) = (8, 0)
    }

    init(_ column: ClusterColumn) {
        width = 1 << Int(column.wordShift)
        bitsBefore = Int64(64 - 8 * width)
        values = column.values + (width - 8)
        nulls = column.nulls
        nanoseconds = column.nanoseconds
    }
}

extension ColumnPointer {
    /// The integer of a row, or the key that a link holds; nil when null. Of words.
    @inlinable @inline(__always)
    func word(_ row: Int) -> Int64? {
        values(row).map { word(row, in: $0) }
    }

    /// The same for words of any width.
    @inlinable @inline(__always)
    func word(_ row: Int, in values: UnsafeRawPointer) -> Int64 {
        (values + row &* width).loadUnaligned(as: Int64.self) &>> bitsBefore
    }

    /// The number of a row; nil when null. Of words.
    @inlinable @inline(__always)
    func double(_ row: Int) -> Double? {
        values(row)?.load(fromByteOffset: row &* 8, as: Double.self)
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

    /// The text or data of a row, borrowed until the realm moves or writes; nil when null. Of
    /// texts.
    @inline(__always)
    func bytes(_ row: Int) throws(StorageError) -> UnsafeRawBufferPointer? {
        guard let values = values(row) else { return nil }
        return try values.assumingMemoryBound(to: TextColumn.self).pointee.values[row]
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
