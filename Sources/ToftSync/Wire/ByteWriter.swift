/// Writes canonical bytes: one text of bytes for one value, on all machines.
package struct ByteWriter {
    package private(set) var bytes: [UInt8] = []

    package init() {}

    mutating func byte(_ byte: UInt8) { bytes.append(byte) }

    mutating func varint(_ value: UInt64) {
        var value = value
        while value > 0x7F {
            bytes.append(UInt8(truncatingIfNeeded: value) | 0x80)
            value >>= 7
        }
        bytes.append(UInt8(value))
    }

    mutating func svarint(_ value: Int64) {
        varint(UInt64(bitPattern: value << 1 ^ value >> 63))
    }

    mutating func count(_ count: Int) { varint(UInt64(count)) }

    mutating func fixed(_ value: some FixedWidthInteger) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func raw(_ bytes: [UInt8]) { self.bytes.append(contentsOf: bytes) }

    mutating func data(_ data: [UInt8]) {
        count(data.count)
        bytes.append(contentsOf: data)
    }

    mutating func text(_ text: Text) {
        count(text.string.utf8.count)
        bytes.append(contentsOf: text.string.utf8)
    }

    mutating func bytes12(_ value: Bytes12) {
        fixed(value.high.byteSwapped)
        fixed(value.low.byteSwapped)
    }

    mutating func bytes16(_ value: Bytes16) {
        fixed(value.high.byteSwapped)
        fixed(value.low.byteSwapped)
    }
}
