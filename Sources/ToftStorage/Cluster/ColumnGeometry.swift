/// The arrays of a column in a cluster, as bytes from the column's start.
struct ColumnGeometry: Equatable {
    let type: ColumnType
    let isNullable: Bool
    /// The width of integers, and of the seconds of timestamps.
    let width: IntegerWidth
    /// Whether timestamps have nanoseconds.
    let hasNanoseconds: Bool
    // No wider than in the file: scans and cursors copy this.
    private var rowCapacity: UInt16
    private var mostTexts: UInt8

    /// - Parameters:
    ///   - capacity: up to `ClusterLimits.rows`.
    ///   - textRoom: up to `ClusterLimits.codedTexts`.
    @inline(__always)
    init(
        type: ColumnType, isNullable: Bool, capacity: Int, width: IntegerWidth,
        hasNanoseconds: Bool = true, textRoom: Int = 0
    ) {
        self.type = type
        self.isNullable = isNullable
        self.width = width
        self.hasNanoseconds = hasNanoseconds
        rowCapacity = UInt16(truncatingIfNeeded: capacity)
        mostTexts = UInt8(truncatingIfNeeded: textRoom)
    }

    /// Rows that the arrays have room for.
    @inline(__always)
    var capacity: Int {
        get { Int(rowCapacity) }
        set { rowCapacity = UInt16(truncatingIfNeeded: newValue) }
    }

    /// Number of different texts that a coded column of bytes has room for; 0 if it is not coded.
    @inline(__always)
    var textRoom: Int {
        get { Int(mostTexts) }
        set { mostTexts = UInt8(truncatingIfNeeded: newValue) }
    }

    /// Bytes of a bitmap of the capacity.
    @inline(__always)
    var bitmapBytes: Int { (capacity &+ 63) / 64 &* 8 }

    /// Offset of the values, after the bitmap of nulls.
    @inline(__always)
    var values: Int { isNullable ? bitmapBytes : 0 }

    /// Bytes of all arrays.
    @inline(__always)
    var size: Int { size(as: type) }

    /// `size` for a caller that knows the type.
    @inline(__always)
    func size(as type: ColumnType) -> Int {
        switch type {
        case .bool: values &+ bitmapBytes
        case .int64: values &+ integerBytes
        case .float64: values &+ capacity &* 8
        case .bytes where isCoded: texts &+ ((textRoom &+ 1) &* 4).roundedUpToEight
        case .float32, .bytes, .list: values &+ (capacity &* 4).roundedUpToEight
        case .fixed16: values &+ capacity &* 16
        case .fixed12: values &+ (capacity &* 12).roundedUpToEight
        case .timestamp:
            nanoseconds &+ (hasNanoseconds ? (capacity &* 4).roundedUpToEight : 0)
        }
    }

    /// Bytes of the values before that of a row.
    @inline(__always)
    func distance(ofRow row: Int) -> Int {
        switch type {
        case .bool: row >> 3
        case .int64, .timestamp: row &* width.bytes
        case .bytes where isCoded: row
        case .float32, .bytes, .list: row &* 4
        case .float64: row &* 8
        case .fixed16: row &* 16
        case .fixed12: row &* 12
        }
    }

    /// Bytes of the arrays that have something for each row, for a caller that knows the type.
    @inline(__always)
    func rowBytes(as type: ColumnType) -> Int {
        type == .bytes && isCoded ? texts : size(as: type)
    }

    /// Offset of a timestamp column's second array.
    @inline(__always)
    var nanoseconds: Int { values &+ integerBytes }

    /// True if a column, coded or not, may have this much room for texts.
    @inline(__always)
    func takes(textRoom: Int) -> Bool {
        isCoded ? textRoom >= ClusterLimits.leastTextRoom : textRoom == 0
    }

    /// Whether a column of bytes has a code of one byte for each row, and each text once.
    @inline(__always)
    var isCoded: Bool { textRoom > 0 }

    /// Offset of the tags of a coded column's texts, beginning with code 0.
    @inline(__always)
    var tags: Int { values &+ capacity }

    /// Offset of the cells of a coded column's texts, beginning with code 0.
    @inline(__always)
    var texts: Int { (tags &+ textRoom &+ 1).roundedUpToEight }

    @inline(__always)
    private var integerBytes: Int { (capacity &* width.bytes).roundedUpToEight }

    /// True if cells are in the heap.
    @inline(__always)
    var hasHeap: Bool { type == .bytes || type == .list }
}

/// The position of a cell's bytes: length and offset in one word.
struct HeapCell {
    let raw: Int

    @inline(__always)
    init(raw: Int) { self.raw = raw }

    /// A cell outside of any heap.
    static var outside: HeapCell {
        HeapCell(
            offset: ClusterLayout.cellOffsetMask, length: ClusterLayout.cellLengthMask,
            isExternal: false)
    }

    @inline(__always)
    init(offset: Int, length: Int, isExternal: Bool) {
        raw =
            offset | length << ClusterLayout.cellLengthShift
            | (isExternal ? ClusterLayout.externalFlag : 0)
    }

    @inline(__always) var offset: Int { raw & ClusterLayout.cellOffsetMask }
    @inline(__always) var length: Int {
        (raw >> ClusterLayout.cellLengthShift) & ClusterLayout.cellLengthMask
    }
    /// Whether the bytes are a reference or an id instead of the value.
    @inline(__always) var isExternal: Bool { raw & ClusterLayout.externalFlag != 0 }
}
