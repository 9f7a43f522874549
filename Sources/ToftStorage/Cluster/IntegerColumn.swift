/// Number of bytes of each integer of a column in one cluster: as few as its least and greatest
/// value need.
package enum IntegerWidth: UInt8, Sendable {
    // The raw value is the logarithm of the bytes.
    case one, two, four, eight

    /// The width that a column's encoding says; nil if there is no such encoding.
    @inline(__always)
    init?(encoding: Int) {
        switch encoding {
        case 0: self = .eight
        case 1: self = .one
        case 2: self = .two
        case 4: self = .four
        default: return nil
        }
    }

    /// The least width for values from `low` to `high`; `low` is greater if there are no values.
    init(_ low: Int64, _ high: Int64) {
        let bits =
            low <= high
            ? 64 - max(low ^ (low >> 63), high ^ (high >> 63)).leadingZeroBitCount + 1 : 0
        self = bits <= 8 ? .one : bits <= 16 ? .two : bits <= 32 ? .four : .eight
    }

    @inline(__always)
    var bytes: Int { 1 &<< Int(rawValue) }

    var encoding: Int { self == .eight ? 0 : bytes }

    /// Bits of eight bytes that are not the integer's.
    @inline(__always)
    fileprivate var unusedBits: Int64 { 64 &- 8 &<< Int64(rawValue) }

    /// Whether a value fits.
    @inline(__always)
    func holds(_ value: Int64) -> Bool { (value &<< unusedBits) &>> unusedBits == value }
}

/// The integers of a column in one cluster: dense, each `width` bytes, little-endian, signed.
package struct IntegerColumn {
    package let base: UnsafeRawPointer
    package let width: IntegerWidth
    /// Number of integers.
    package let count: Int
    /// Reads single integers.
    package let reader: IntegerReader

    @inline(__always)
    init(_ base: UnsafeRawPointer, _ width: IntegerWidth, count: Int) {
        self.base = base
        self.width = width
        self.count = count
        reader = IntegerReader(width)
    }

    /// Integers of eight bytes.
    package init(_ integers: UnsafePointer<Int64>, count: Int) {
        self.init(UnsafeRawPointer(integers), .eight, count: count)
    }

    /// One integer.
    @inlinable
    @inline(__always)
    package subscript(row: Int) -> Int64 { reader.word(base, row) }

    /// Some of the integers, side by side.
    package subscript(rows: Range<Int>) -> IntegerColumn {
        IntegerColumn(base + rows.lowerBound * width.bytes, width, count: rows.count)
    }

    /// Writes the integers to memory with eight bytes for each.
    @inline(never)
    package func widen(to destination: UnsafeMutableRawPointer) {
        switch width {
        case .one: widen(Int8.self, destination)
        case .two: widen(Int16.self, destination)
        case .four: widen(Int32.self, destination)
        case .eight: widen(Int64.self, destination)
        }
    }

    @inline(__always)
    private func widen<Value: FixedWidthInteger>(
        _ type: Value.Type, _ destination: UnsafeMutableRawPointer
    ) {
        let values = base.assumingMemoryBound(to: type)
        for row in 0..<count {
            destination.storeBytes(
                of: Int64(Value(littleEndian: values[row])), toByteOffset: row &* 8, as: Int64.self)
        }
    }

    /// The least and the greatest integer; the first is greater if there are no integers.
    func bounds() -> (low: Int64, high: Int64) {
        switch width {
        case .one: bounds(Int8.self)
        case .two: bounds(Int16.self)
        case .four: bounds(Int32.self)
        case .eight: bounds(Int64.self)
        }
    }

    @inline(__always)
    private func bounds<Value: FixedWidthInteger>(_ type: Value.Type) -> (low: Int64, high: Int64) {
        guard count > 0 else { return (.max, .min) }
        let values = base.assumingMemoryBound(to: type)
        var low = Value.max
        var high = Value.min
        for row in 0..<count {
            let value = Value(littleEndian: values[row])
            low = min(low, value)
            high = max(high, value)
        }
        return (Int64(low), Int64(high))
    }
}

/// Loads single integers of any width without asking for it. Inlinable, as it is called for one
/// integer.
package struct IntegerReader {
    /// The logarithm of the bytes of an integer.
    package let shift: UInt8

    @inline(__always)
    init(_ width: IntegerWidth) { shift = width.rawValue }

    /// For eight bytes.
    package static var eight: IntegerReader { IntegerReader(.eight) }

    /// The integer of a row of a column that begins at `base`. The eight bytes that end with it are
    /// loaded, whatever its width: the bytes before a narrow column belong to its extent.
    @inlinable
    @inline(__always)
    package func word(_ base: UnsafeRawPointer, _ row: Int) -> Int64 {
        let bytes = 1 &<< Int(truncatingIfNeeded: shift)
        let word = (base + ((row &+ 1) &* bytes &- 8)).loadUnaligned(as: Int64.self)
        return Int64(littleEndian: word) &>> Int64(truncatingIfNeeded: 64 &- 8 &* bytes)
    }
}

extension UnsafeMutableRawPointer {
    /// Stores an integer that fits into `width`.
    @inline(__always)
    func storeInteger(_ value: Int64, _ width: IntegerWidth, at offset: Int) {
        switch width {
        case .one: storeUInt8(Int(truncatingIfNeeded: value), at: offset)
        case .two: storeUInt16(Int(truncatingIfNeeded: value), at: offset)
        case .four: storeUInt32(Int(truncatingIfNeeded: value), at: offset)
        case .eight: storeInt64(value, at: offset)
        }
    }

    /// Copies integers to `offset`; those that do not fit lose their upper bits, so they mean
    /// nothing.
    func store(_ integers: IntegerColumn, _ width: IntegerWidth, at offset: Int) {
        if integers.width == width {
            return store(integers.base, count: integers.count * width.bytes, at: offset)
        }
        switch width {
        case .one: convert(integers, Int8.self, at: offset)
        case .two: convert(integers, Int16.self, at: offset)
        case .four: convert(integers, Int32.self, at: offset)
        case .eight: convert(integers, Int64.self, at: offset)
        }
    }

    @inline(never)
    private func convert<Value: FixedWidthInteger>(
        _ integers: IntegerColumn, _ type: Value.Type, at offset: Int
    ) {
        let reader = integers.reader
        for row in 0..<integers.count {
            let value = Value(truncatingIfNeeded: reader.word(integers.base, row))
            storeBytes(
                of: value.littleEndian, toByteOffset: offset &+ row &* MemoryLayout<Value>.size,
                as: Value.self)
        }
    }
}
