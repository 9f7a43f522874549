/// Bytes as text in base 64 of RFC 4648.
package enum Base64 {
    private static let digits = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// The digits of some bytes, with padding.
    package static func text(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            var bits: UInt32 = 0
            for byte in group { bits = bits << 8 | UInt32(byte) }
            bits <<= UInt32(8 * (3 - group.count))
            for digit in 0..<4 {
                text.append(
                    digit > group.count
                        ? UInt8(ascii: "=") : digits[Int(bits >> UInt32(18 - 6 * digit) & 63)])
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The six bits of a digit, also of the alphabet for addresses; nil for other bytes.
    package static func bits(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): digit - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): digit - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
        case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
        default: nil
        }
    }

    /// The bytes of a text with its padding; nil for any other text.
    package static func bytes(_ text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        var buffer: UInt32 = 0
        var count = 0, padding = 0
        for digit in text.utf8 {
            count += 1
            if digit == UInt8(ascii: "=") {
                padding += 1
                continue
            }
            guard padding == 0, let bits = bits(of: digit) else { return nil }
            buffer = buffer << 6 | UInt32(bits)
            if count % 4 != 1 { bytes.append(UInt8(truncatingIfNeeded: buffer >> shift(count))) }
        }
        return count % 4 == 0 && padding <= 2 ? bytes : nil
    }

    /// Number of bits, of those read after `count` digits, that belong to the next byte.
    private static func shift(_ count: Int) -> UInt32 { [0, 0, 4, 2][count % 4] }
}
