package import ToftModel

/// The text of a number, which becomes a value of the type that it is read for: exactly, or the
/// nearest one of a binary type. It never becomes infinite, and 0 only if it is 0.
package struct Numeral: Sendable {
    let text: String

    /// Whether it has neither a point nor an exponent.
    var isWhole: Bool {
        !text.utf8.contains { $0 == UInt8(ascii: ".") || $0 | 0x20 == UInt8(ascii: "e") }
    }

    /// Whether it is 0, or -0.
    var isZero: Bool {
        !text.utf8.prefix { $0 | 0x20 != UInt8(ascii: "e") }.contains {
            $0 > UInt8(ascii: "0") && $0 <= UInt8(ascii: "9")
        }
    }

    /// The nearest double; nil beyond the range of doubles.
    var double: Double? {
        guard let number = Double(text), number.isFinite, number != 0 || isZero else { return nil }
        return number
    }

    /// The nearest float; nil beyond the range of floats.
    var float: Float? {
        guard let number = Float(text), number.isFinite, number != 0 || isZero else { return nil }
        return number
    }

    /// The number as a decimal; nil if 34 digits are too few, or the exponent is out of range.
    var decimal: Decimal128? { Decimal128(exactly: text) }

    /// The value for a mixed property. The digits of a whole number are kept, so it is a decimal if
    /// an int would be too short; other numbers are doubles. Nil for a whole number of more than 34
    /// digits, and beyond the range of doubles.
    package var mixed: Value? {
        isWhole && !isZero ? decimal.map { .decimal($0) } : double.map { .double($0) }
    }
}

extension JSONValue {
    /// The number in a field of comma-separated values: as in JSON, also with a plus, with zeros in
    /// front, and with digits on one side of the point only. Nil for another text.
    package static func field(ofNumber text: String) -> JSONValue? {
        let bytes = Array(text.utf8)
        return exactNumber(bytes) ?? spelledAsInJSON(bytes[...]).flatMap { exactNumber($0) }
    }

    private static func exactNumber(_ bytes: [UInt8]) -> JSONValue? {
        // Nothing else that begins and ends so is JSON, nor has blanks around it.
        guard let first = bytes.first, first == UInt8(ascii: "-") || isDigit(first),
            bytes.last.map(isDigit) == true
        else { return nil }
        return bytes.withUnsafeBytes { try? JSONParser.value(of: $0) }
    }

    private static func spelledAsInJSON(_ field: ArraySlice<UInt8>) -> [UInt8]? {
        let sign = field.prefix(1).filter { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "+") }
        let unsigned = field.dropFirst(sign.count)
        let whole = unsigned.prefix(while: isDigit)
        var rest = unsigned[whole.endIndex...]
        let hasPoint = rest.first == UInt8(ascii: ".")
        if hasPoint { rest.removeFirst() }
        let fraction = hasPoint ? rest.prefix(while: isDigit) : rest.prefix(0)
        rest = rest[fraction.endIndex...]
        guard !whole.isEmpty || !fraction.isEmpty else { return nil }
        let digits = whole.drop { $0 == UInt8(ascii: "0") }
        return sign.filter { $0 == UInt8(ascii: "-") }
            + (digits.isEmpty ? [UInt8(ascii: "0")] : digits)
            + (fraction.isEmpty ? [] : [UInt8(ascii: ".")] + fraction) + rest
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
    }
}

extension Decimal128 {
    /// The number that a text spells, in any of the ways of `init(_:)`; nil if it would be rounded.
    init?(exactly text: String) {
        guard let (value, isExact) = Decimal128.parse(Array(text.utf8)), isExact else { return nil }
        self = value
    }
}
