/// A key as inner nodes compare it: its first eight bytes as a number, then the rest.
struct Separator {
    /// The first eight bytes, big-endian, filled up with zeros.
    let prefix: UInt64
    /// Bytes of the whole key.
    let length: Int
    /// The bytes after the first eight, `length - 8` of them; meaningless for keys up to eight
    /// bytes.
    let tail: UnsafeRawPointer?

    /// Before every key.
    static var lowest: Separator { Separator(prefix: 0, length: 0, tail: nil) }

    @inline(__always)
    init(prefix: UInt64, length: Int, tail: UnsafeRawPointer?) {
        self.prefix = prefix
        self.length = length
        self.tail = tail
    }

    /// The separator of a whole key, borrowing its bytes.
    @inline(__always)
    init(key: UnsafeRawBufferPointer) {
        length = key.count
        tail = key.count > 8 ? key.baseAddress.map { $0 + 8 } : nil
        prefix = leadingNumber(key)
    }

    /// The separator of a row's key: eight bytes in signed order.
    @inline(__always)
    init(rowKey: Int64) {
        prefix = UInt64(bitPattern: rowKey) ^ (1 << 63)
        length = 8
        tail = nil
    }

    /// The row's key, of a separator of a table.
    var rowKey: Int64 { Int64(bitPattern: prefix ^ (1 << 63)) }

    /// Bytes that do not fit into the prefix.
    @inline(__always)
    var tailLength: Int { length > 8 ? length - 8 : 0 }

    /// The whole key.
    var bytes: [UInt8] {
        var bytes = withUnsafeBytes(of: prefix.bigEndian) { Array($0.prefix(length)) }
        if let tail { bytes += UnsafeRawBufferPointer(start: tail, count: tailLength) }
        return bytes
    }

    /// Negative, zero or positive, as `self` is before, equal to or after `other`.
    @inline(__always)
    func compare(_ other: Separator) -> Int {
        if prefix != other.prefix { return prefix < other.prefix ? -1 : 1 }
        guard let tail, let otherTail = other.tail else { return length - other.length }
        return compareBytes(tail, tailLength, otherTail, other.tailLength)
    }
}

/// The first eight bytes as a big-endian number, filled up with zeros.
@inline(__always)
func leadingNumber(_ key: UnsafeRawBufferPointer) -> UInt64 {
    guard let base = key.baseAddress else { return 0 }
    if key.count >= 8 { return UInt64(bigEndian: base.loadUnaligned(as: UInt64.self)) }
    var number: UInt64 = 0
    for index in 0..<key.count {
        number |= UInt64(base.load(fromByteOffset: index, as: UInt8.self)) << UInt64(56 - 8 * index)
    }
    return number
}

/// Negative, zero or positive, in the order of unsigned bytes; a prefix is before the longer bytes.
@inline(__always)
func compareBytes(
    _ left: UnsafeRawPointer, _ leftCount: Int, _ right: UnsafeRawPointer, _ rightCount: Int
) -> Int {
    let shared = min(leftCount, rightCount)
    var index = 0
    while index &+ 8 <= shared {
        let a = UInt64(bigEndian: left.loadUnaligned(fromByteOffset: index, as: UInt64.self))
        let b = UInt64(bigEndian: right.loadUnaligned(fromByteOffset: index, as: UInt64.self))
        if a != b { return a < b ? -1 : 1 }
        index &+= 8
    }
    if index &+ 4 <= shared {
        let a = UInt32(bigEndian: left.loadUnaligned(fromByteOffset: index, as: UInt32.self))
        let b = UInt32(bigEndian: right.loadUnaligned(fromByteOffset: index, as: UInt32.self))
        if a != b { return a < b ? -1 : 1 }
        index &+= 4
    }
    while index < shared {
        let a = left.load(fromByteOffset: index, as: UInt8.self)
        let b = right.load(fromByteOffset: index, as: UInt8.self)
        if a != b { return a < b ? -1 : 1 }
        index &+= 1
    }
    return leftCount &- rightCount
}
