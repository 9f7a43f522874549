/// Why bytes are no changeset, value or batch.
package enum DecodingError: Error, Hashable, Sendable {
    case endsTooEarly
    /// The value has another, canonical encoding: each has exactly one.
    case notCanonical
    case notUTF8
    case unknownKind(UInt8)
    /// Collections or embedded objects are nested deeper than `Schema.nesting`.
    case nestedTooDeep
    /// A text, data or count is longer than allowed.
    case tooLong
    case somethingBehind
}

/// Reads canonical bytes. Nothing traps, no recursion is deeper than `Schema.nesting`, and nothing
/// takes more memory than a small multiple of the bytes that are there.
package struct ByteReader {
    private let bytes: [UInt8]
    private var place = 0

    /// Bytes of one text or data.
    package static let valueBytes = 16 * 1024 * 1024 - 1

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    package var isAtEnd: Bool { place == bytes.count }

    /// The index of the next byte.
    var position: Int { place }

    /// The bytes that have been read since an index.
    func slice(from start: Int) -> ArraySlice<UInt8> { bytes[start..<place] }

    private var remaining: Int { bytes.count - place }

    package mutating func end() throws(DecodingError) {
        if !isAtEnd { throw .somethingBehind }
    }

    mutating func byte() throws(DecodingError) -> UInt8 {
        guard place < bytes.count else { throw .endsTooEarly }
        place += 1
        return bytes[place - 1]
    }

    mutating func varint() throws(DecodingError) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            let byte = try byte()
            if shift == 63, byte > 1 { throw .tooLong }
            value |= UInt64(byte & 0x7F) << shift
            if byte & 0x80 == 0 {
                if byte == 0, shift > 0 { throw .notCanonical }
                return value
            }
            shift += 7
            if shift > 63 { throw .tooLong }
        }
    }

    mutating func svarint() throws(DecodingError) -> Int64 {
        let value = try varint()
        return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }

    mutating func varint32() throws(DecodingError) -> UInt32 {
        guard let value = UInt32(exactly: try varint()) else { throw .tooLong }
        return value
    }

    /// A number of items, each of at least one byte.
    mutating func count() throws(DecodingError) -> Int {
        guard let count = Int(exactly: try varint()), count <= remaining else {
            throw .endsTooEarly
        }
        return count
    }

    /// An integer of fixed width, little-endian.
    mutating func fixed<Number: FixedWidthInteger>(
        _ type: Number.Type
    ) throws(DecodingError) -> Number {
        let size = Number.bitWidth / 8
        guard size <= remaining else { throw .endsTooEarly }
        var value: Number = 0
        for index in 0..<size { value |= Number(bytes[place + index]) << Number(index * 8) }
        place += size
        return value
    }

    mutating func data() throws(DecodingError) -> [UInt8] {
        let count = try count()
        if count > Self.valueBytes { throw .tooLong }
        place += count
        return Array(bytes[place - count..<place])
    }

    mutating func text() throws(DecodingError) -> Text {
        let count = try count()
        if count > Self.valueBytes { throw .tooLong }
        guard let text = String(validating: bytes[place..<place + count], as: UTF8.self) else {
            throw .notUTF8
        }
        place += count
        return Text(text)
    }

    mutating func bytes12() throws(DecodingError) -> Bytes12 {
        let high = try fixed(UInt64.self).byteSwapped
        return Bytes12(high: high, low: try fixed(UInt32.self).byteSwapped)
    }

    mutating func bytes16() throws(DecodingError) -> Bytes16 {
        let high = try fixed(UInt64.self).byteSwapped
        return Bytes16(high: high, low: try fixed(UInt64.self).byteSwapped)
    }
}
