/// Bytes of output that are gathered before they are written: whole rows, so that printing a
/// million of them makes few calls and no object for each.
package struct ByteBuffer {
    package private(set) var bytes: [UInt8] = []

    package init() {}

    package var count: Int { bytes.count }

    package mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    /// Removes all bytes from an index on.
    package mutating func cut(to count: Int) { bytes.removeSubrange(count...) }

    @inline(__always)
    package mutating func append(_ byte: UInt8) { bytes.append(byte) }

    package mutating func append(_ text: StaticString) {
        bytes.append(
            contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    package mutating func append(_ text: String) {
        var text = text
        text.withUTF8 { bytes.append(contentsOf: $0) }
    }

    package mutating func append(_ text: UnsafeRawBufferPointer) { bytes.append(contentsOf: text) }

    package mutating func append(repeating byte: UInt8, count: Int) {
        for _ in 0..<max(0, count) { bytes.append(byte) }
    }

    package mutating func insert(repeating byte: UInt8, count: Int, at index: Int) {
        if count > 0 { bytes.insert(contentsOf: repeatElement(byte, count: count), at: index) }
    }

    // MARK: Numbers

    package mutating func append(_ number: Int64) {
        if number < 0 { bytes.append(UInt8(ascii: "-")) }
        appendDigits(number.magnitude, atLeast: 1)
    }

    /// The digits of a number, with zeros in front up to a count.
    mutating func appendDigits(_ number: UInt64, atLeast count: Int) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
            var rest = number, start = 20
            while rest > 0 || 20 - start < count {
                start -= 1
                digits[start] = UInt8(truncatingIfNeeded: rest % 10) &+ UInt8(ascii: "0")
                rest /= 10
            }
            bytes.append(contentsOf: digits[start...])
        }
    }

    // MARK: Bytes as text

    private static let hexDigits = [UInt8]("0123456789abcdef".utf8)

    /// The lowest `count` hexadecimal digits of a number.
    mutating func appendHex(_ number: UInt64, count: Int) {
        for place in (0..<count).reversed() {
            bytes.append(Self.hexDigits[Int(truncatingIfNeeded: number >> UInt64(4 * place) & 15)])
        }
    }

    private static let base64Digits = [UInt8](
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    mutating func appendBase64(_ data: UnsafeRawBufferPointer) {
        for start in stride(from: 0, to: data.count, by: 3) {
            let size = min(3, data.count - start)
            var bits: UInt32 = 0
            for index in 0..<3 {
                bits = bits << 8 | (index < size ? UInt32(data[start + index]) : 0)
            }
            for digit in 0..<4 {
                bytes.append(
                    digit > size
                        ? UInt8(ascii: "=")
                        : Self.base64Digits[Int(bits >> UInt32(18 - 6 * digit) & 63)])
            }
        }
    }

    /// The text of JSON, in quotes.
    package mutating func appendJSON(_ text: UnsafeRawBufferPointer) {
        bytes.append(UInt8(ascii: "\""))
        var start = 0
        for (index, byte) in text.enumerated()
        where byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
            append(UnsafeRawBufferPointer(rebasing: text[start..<index]))
            start = index + 1
            appendEscape(byte)
        }
        append(UnsafeRawBufferPointer(rebasing: text[start...]))
        bytes.append(UInt8(ascii: "\""))
    }

    package mutating func appendJSON(_ text: String) {
        var text = text
        text.withUTF8 { appendJSON(UnsafeRawBufferPointer($0)) }
    }

    private mutating func appendEscape(_ byte: UInt8) {
        bytes.append(UInt8(ascii: "\\"))
        switch byte {
        case 0x0A: bytes.append(UInt8(ascii: "n"))
        case 0x0D: bytes.append(UInt8(ascii: "r"))
        case 0x09: bytes.append(UInt8(ascii: "t"))
        case 0x00..<0x20:
            append("u00")
            appendHex(UInt64(byte), count: 2)
        default: bytes.append(byte)
        }
    }

    /// A field of comma-separated values: in quotes if it is empty, or could be read as others.
    package mutating func appendCSV(_ text: UnsafeRawBufferPointer) {
        if Self.isPlainField(text) { return append(text) }
        bytes.append(UInt8(ascii: "\""))
        for byte in text {
            if byte == UInt8(ascii: "\"") { bytes.append(byte) }
            bytes.append(byte)
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static func isPlainField(_ text: UnsafeRawBufferPointer) -> Bool {
        guard let first = text.first, let last = text.last, first != 0x20, last != 0x20,
            first != 0xEF  // may begin a mark that readers of the file leave out
        else { return false }
        for byte in text
        where byte < 0x20 || byte == UInt8(ascii: ",") || byte == UInt8(ascii: "\"") {
            return false
        }
        return true
    }

    package mutating func appendCSV(_ text: String) {
        var text = text
        text.withUTF8 { appendCSV(UnsafeRawBufferPointer($0)) }
    }
}
