internal import ToftEngine
internal import ToftModel
internal import ToftStorage

/// The position of a column of a cluster, for the property reads that are inlined into an app.
@usableFromInline struct ColumnPointer {
    /// Nil while it is not known.
    /// Of words and times, the eight bytes that end with the first.
    @usableFromInline let values: UnsafeRawPointer?
    /// A bitmap of the rows that are null; nil if no row is.
    @usableFromInline let nulls: UnsafePointer<UInt64>?
    /// The bytes of a word, and the number of bits before it in the eight bytes that end with it.
    @usableFromInline let width: Int
    @usableFromInline let bitsBefore: Int64
    private let nanoseconds: UnsafePointer<Int32>?

    /// A place that is not known.
    init() {
        (values, nulls, nanoseconds) = (nil, nil, nil)
        (width, bitsBefore) = (8, 0)
    }

    /// Of words, bits, floats and times.
    init(_ column: ColumnView) throws(StorageError) {
        switch column.type {
        case .int64: self.init(try column.integers(), column.nulls)
        case .timestamp:
            let times = try column.timestamps()
            self.init(times.seconds, column.nulls, times.nanoseconds)
        case .float64: self.init(try column.float64s(), column.nulls)
        case .float32: self.init(try column.float32s(), column.nulls)
        case .bool: self.init(try column.bools(), column.nulls)
        case .fixed16, .fixed12:
            let fixed = try column.fixed()
            self.init(fixed.values, column.nulls, width: fixed.width)
        case .bytes, .list: self.init()
        }
    }

    /// Of texts.
    init(_ texts: UnsafePointer<BytesColumn>, _ nulls: UnsafePointer<UInt64>?) {
        self.init(UnsafeRawPointer(texts), nulls)
    }

    private init(
        _ values: UnsafeRawPointer, _ nulls: UnsafePointer<UInt64>?, width: Int = 8
    ) {
        (self.values, self.nulls, nanoseconds) = (values, nulls, nil)
        (self.width, bitsBefore) = (width, 0)
    }

    private init(
        _ integers: IntegerColumn, _ nulls: UnsafePointer<UInt64>?,
        _ nanoseconds: UnsafePointer<Int32>? = nil
    ) {
        width = 1 << Int(integers.reader.shift)
        bitsBefore = Int64(64 - 8 * width)
        values = integers.base + (width - 8)
        self.nulls = nulls
        self.nanoseconds = nanoseconds
    }
}

extension ColumnPointer {
    /// The layout of a column's values.
    enum Kind {
        /// Integers and links by their targets' keys, as wide as they are in the cluster; doubles.
        case words
        /// One bit each, n % 64 of word n / 64.
        case bits
        /// Four bytes each.
        case floats
        /// Seconds, and nanoseconds in an array of their own.
        case times
        /// 16 or 12 bytes each.
        case fixed
        /// Text or data: a `BytesColumn` that the window keeps.
        case texts

        init?(_ type: ColumnType) {
            switch type {
            case .int64, .float64: self = .words
            case .bool: self = .bits
            case .float32: self = .floats
            case .timestamp: self = .times
            case .fixed16, .fixed12: self = .fixed
            case .bytes: self = .texts
            case .list: return nil
            }
        }
    }

    /// The column of a property, which must be of the given kind.
    init(_ id: PropertyID, _ kind: Kind, in window: ClusterWindow) throws(EngineError) {
        if kind == .texts {
            let texts = try window.texts(id)
            self.init(texts.values, texts.nulls)
            return
        }
        let column = try window.column(id)
        guard Kind(column.type) == kind else { throw window.wrongType(id) }
        do { try self.init(column) } catch { throw EngineError(error) }
    }
}

extension ColumnPointer {
    /// The integer of a row, or the key that a link holds; nil when null. Of words.
    @inlinable @inline(__always)
    func word(_ row: Int) -> Int64? {
        values(row).map { word(row, in: $0) }
    }

    /// A word of any width.
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

    /// The bytes of a row; nil when null. Of fixed.
    func fixed(_ row: Int) -> FixedBytes? {
        values(row).map { FixedColumn(values: $0, width: width)[row] }
    }

    /// The text or data of a row, borrowed until the realm moves or writes; nil when null. Of
    /// texts.
    @inline(__always)
    func bytes(_ row: Int) throws(StorageError) -> UnsafeRawBufferPointer? {
        guard let values = values(row) else { return nil }
        return try values.assumingMemoryBound(to: BytesColumn.self).pointee[row]
    }

    /// The values, unless the row is null.
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
