/// UTF-8, checked without making a string.
enum UTF8Text {
    /// Whether the bytes are well-formed UTF-8; NUL is a character like others.
    static func isValid(_ bytes: UnsafeRawBufferPointer) -> Bool {
        isASCII(bytes) || String(validating: bytes, as: UTF8.self) != nil
    }

    private static func isASCII(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard var next = bytes.baseAddress else { return true }
        var rest = bytes.count, seen: UInt64 = 0
        while rest >= 8 {
            seen |= next.loadUnaligned(as: UInt64.self)
            next += 8
            rest &-= 8
        }
        for offset in 0..<rest { seen |= UInt64(next.load(fromByteOffset: offset, as: UInt8.self)) }
        return seen & 0x8080_8080_8080_8080 == 0
    }
}
