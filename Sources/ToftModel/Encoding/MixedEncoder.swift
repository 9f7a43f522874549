internal import ToftStorage

/// Encodes values as they are, unchecked.
struct MixedEncoder {
    var bytes: [UInt8] = []

    /// Appends a value that is not a collection.
    mutating func put(_ value: BorrowedValue) {
        switch value {
        case .null, .list, .dictionary: bytes.append(0)
        case .bool(let value): bytes += [1, value ? 1 : 0]
        case .int(let value): put(2, UInt64(bitPattern: value))
        case .float(let value): put(3, value.bitPattern)
        case .double(let value): put(4, value.bitPattern)
        case .string(let text): put(5, text)
        case .data(let data): put(6, data)
        case .date(let date):
            put(7, UInt64(bitPattern: date.seconds))
            put(UInt32(bitPattern: date.nanoseconds))
        case .link(let target):
            put(8, target.classID)
            put(UInt64(bitPattern: target.key))
        case .decimal(let value): put(10, value.stored)
        case .objectId(let value): put(11, value)
        case .uuid(let value): put(12, value)
        }
    }

    mutating func put(_ tag: UInt8, _ content: UnsafeRawBufferPointer) {
        put(tag, UInt32(truncatingIfNeeded: content.count))
        bytes.append(contentsOf: content)
    }

    mutating func put(_ tag: UInt8, _ value: FixedBytes) {
        put(tag, value.high)
        put(value.low)
    }

    mutating func put(_ tag: UInt8, _ number: some FixedWidthInteger) {
        bytes.append(tag)
        put(number)
    }

    mutating func put(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }
}

extension MixedValue {
    /// The bytes of a value that is not a collection; empty for null.
    package static func encoded(_ value: BorrowedValue) -> [UInt8] {
        guard !value.isNull else { return [] }
        var encoder = MixedEncoder()
        encoder.put(value)
        return encoder.bytes
    }
}

/// Stores an unsigned number of four bytes.
func store(_ number: Int, at offset: Int, in bytes: inout [UInt8]) {
    withUnsafeBytes(of: UInt32(truncatingIfNeeded: number).littleEndian) {
        bytes.replaceSubrange(offset..<offset + 4, with: $0)
    }
}
