internal import ToftModel

/// Reads one JSON value (RFC 8259) from UTF-8, also behind a byte order mark. Its errors say at
/// which byte. No object has two members of one name.
///
/// A number is an integer if it is exactly one of 64 bits, in any notation: 2, 2.0 and 2e0. All
/// others keep their text, -0 too: see `Numeral`.
package struct JSONParser {
    private let bytes: UnsafeRawBufferPointer
    private var position = 0
    private var depth = 0

    /// Most levels of arrays and objects: enough for the deepest objects with their lists, and a
    /// value of a mixed property in the innermost one.
    private static let greatestDepth = 4 * Limits.nestedCollections

    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    private init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
        if bytes.starts(with: Self.byteOrderMark) { position = Self.byteOrderMark.count }
    }

    /// The value that a text is.
    package static func value(of bytes: UnsafeRawBufferPointer) throws(EngineError) -> JSONValue {
        var parser = JSONParser(bytes)
        let value = try parser.value()
        parser.skipBlanks()
        guard parser.position == bytes.count else { throw parser.failure("the text goes on") }
        return value
    }

    private func failure(_ what: String, at position: Int? = nil) -> EngineError {
        let position = position ?? self.position
        return EngineError(
            .invalidArgument, "This is not JSON: \(what) at byte \(position).",
            number: Int64(position))
    }

    // MARK: Bytes

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipBlanks() {
        while let next, next == 0x20 || next == 0x0A || next == 0x0D || next == 0x09 {
            position += 1
        }
    }

    private mutating func skip(_ mark: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: mark) else { return false }
        position += 1
        return true
    }

    private mutating func skip(word: StaticString) -> Bool {
        let end = position + word.utf8CodeUnitCount
        guard end <= bytes.count else { return false }
        for index in position..<end where bytes[index] != word.utf8Start[index - position] {
            return false
        }
        position = end
        return true
    }

    // MARK: Values

    private mutating func value() throws(EngineError) -> JSONValue {
        skipBlanks()
        switch next {
        case UInt8(ascii: "{"):
            return try nested { parser throws(EngineError) in
                .dictionary(try parser.members())
            }
        case UInt8(ascii: "["):
            return try nested { parser throws(EngineError) in
                .list(try parser.elements())
            }
        case UInt8(ascii: "\""): return .text(try text())
        case UInt8(ascii: "t") where skip(word: "true"): return .bool(true)
        case UInt8(ascii: "f") where skip(word: "false"): return .bool(false)
        case UInt8(ascii: "n") where skip(word: "null"): return .null
        case nil: throw failure("the text ends too early")
        case let digit? where digit == UInt8(ascii: "-") || Self.isDigit(digit):
            return try number()
        case UInt8(ascii: "N"), UInt8(ascii: "I"):
            throw failure(
                "NaN and infinities are the texts \"nan\", \"inf\" and \"-inf\", and none stands")
        default: throw failure("there is no value")
        }
    }

    private mutating func nested(_ body: (inout JSONParser) throws(EngineError) -> JSONValue)
        throws(EngineError) -> JSONValue
    {
        guard depth < Self.greatestDepth else {
            throw EngineError(
                .valueTooLong,
                "More than \(Self.greatestDepth) arrays and objects are in one another at byte "
                    + "\(position) of the JSON.", number: Int64(position))
        }
        try model { () throws(ModelError) in try ModelError.requireStack(forLevel: depth) }
        position += 1
        depth += 1
        defer { depth -= 1 }
        return try body(&self)
    }

    private mutating func elements() throws(EngineError) -> [JSONValue] {
        var elements: [JSONValue] = []
        skipBlanks()
        if skip("]") { return elements }
        while true {
            elements.append(try value())
            skipBlanks()
            if skip("]") { return elements }
            guard skip(",") else { throw failure("neither ',' nor ']'") }
        }
    }

    private mutating func members() throws(EngineError) -> [(key: String, value: JSONValue)] {
        var members: [(key: String, value: JSONValue)] = []
        var names = Names()
        skipBlanks()
        if skip("}") { return members }
        while true {
            skipBlanks()
            guard next == UInt8(ascii: "\"") else { throw failure("no name of a member stands") }
            let start = position
            let key = try text()
            guard names.insert(key) else {
                throw EngineError(
                    .invalidArgument, "The object has '\(key.start)' twice, at byte \(start).",
                    number: Int64(start))
            }
            skipBlanks()
            guard skip(":") else { throw failure("no ':'") }
            members.append((key, try value()))
            skipBlanks()
            if skip("}") { return members }
            guard skip(",") else { throw failure("neither ',' nor '}'") }
        }
    }

    // MARK: Numbers

    private mutating func number() throws(EngineError) -> JSONValue {
        let start = position
        _ = skip("-")
        let isZero = next == UInt8(ascii: "0")
        let first = position
        guard skipDigits() else { throw failure("no digit") }
        if isZero, position - first > 1 { throw failure("a number begins with 0", at: start) }
        let whole = position
        if skip("."), !skipDigits() { throw failure("no digit") }
        let end = position
        if skip("e") || skip("E") {
            _ = skip("+") || skip("-")
            guard skipDigits() else { throw failure("no digit") }
        }
        let isNegative = first > start
        let exponent = end == position ? 0 : Int(string(end + 1..<position)) ?? .max
        let integer = integer(
            first..<whole, min(whole + 1, end)..<end, exponent, isNegative: isNegative)
        if let integer, integer != 0 || !isNegative { return .integer(integer) }
        return .numeral(Numeral(text: string(start..<position)))
    }

    /// The integer value of a number, from its digits before and after the point and its exponent.
    /// Nil if it is not whole or needs more than 64 bits.
    private func integer(
        _ whole: Range<Int>, _ fraction: Range<Int>, _ exponent: Int, isNegative: Bool
    ) -> Int64? {
        // Number of digits before the point when it is moved by the exponent.
        let (sum, overflows) = whole.count.addingReportingOverflow(exponent)
        var left = overflows ? .max : sum
        // Kept negative, as the range has one more number there.
        var value: Int64 = 0
        func append(_ digit: UInt8) -> Bool {
            let (tenfold, isTooSmall) = value.multipliedReportingOverflow(by: 10)
            let (next, isSmaller) = tenfold.subtractingReportingOverflow(Int64(digit))
            value = next
            return !isTooSmall && !isSmaller
        }
        for digits in [whole, fraction] {
            for index in digits {
                let digit = bytes[index] - UInt8(ascii: "0")
                guard left > 0 ? append(digit) : digit == 0 else { return nil }
                left = max(0, left - 1)
            }
        }
        while left > 0, value != 0 {
            guard append(0) else { return nil }
            left -= 1
        }
        if isNegative { return value }
        return value == .min ? nil : -value
    }

    private func string(_ range: Range<Int>) -> String {
        String(decoding: UnsafeRawBufferPointer(rebasing: bytes[range]), as: UTF8.self)
    }

    private mutating func skipDigits() -> Bool {
        let start = position
        while let next, Self.isDigit(next) { position += 1 }
        return position > start
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
    }

    // MARK: Texts

    /// At a quote: the text up to the next one.
    private mutating func text() throws(EngineError) -> String {
        let start = position
        position += 1
        var text = ""
        while let next {
            switch next {
            case UInt8(ascii: "\""):
                position += 1
                return text
            case UInt8(ascii: "\\"): text.unicodeScalars.append(try escaped())
            case 0..<0x20: throw failure("a control character in a text")
            default: text += try plain()
            }
        }
        throw failure("a text has no end that begins", at: start)
    }

    /// The text before the next quote, escape or control character.
    private mutating func plain() throws(EngineError) -> String {
        let start = position
        while let next, next >= 0x20, next != UInt8(ascii: "\""), next != UInt8(ascii: "\\") {
            position += 1
        }
        guard
            let text = String(
                validating: UnsafeRawBufferPointer(rebasing: bytes[start..<position]),
                as: UTF8.self)
        else { throw failure("a text is not UTF-8", at: start) }
        return text
    }

    private mutating func escaped() throws(EngineError) -> Unicode.Scalar {
        let start = position
        position += 1
        guard let escape = next else { throw failure("the text ends too early") }
        position += 1
        switch escape {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"):
            return Unicode.Scalar(escape)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): break
        default: throw failure("an escape is unknown", at: start)
        }
        let first = try codeUnit()
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard first < 0xDC00, skip("\\"), skip("u") else {
            throw failure("half a surrogate pair", at: start)
        }
        let second = try codeUnit()
        guard (0xDC00..<0xE000).contains(second),
            let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
        else { throw failure("half a surrogate pair", at: start) }
        return scalar
    }

    /// Four hexadecimal digits.
    private mutating func codeUnit() throws(EngineError) -> UInt32 {
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard let next, let digit = Character(Unicode.Scalar(next)).hexDigitValue else {
                throw failure("no hexadecimal digit")
            }
            unit = unit << 4 | UInt32(digit)
            position += 1
        }
        return unit
    }
}

/// The names of an object's members.
private struct Names {
    /// Few are compared with each other, more are hashed.
    private var few: [String] = []
    private var many: Set<[UInt8]> = []
    private static let mostCompared = 16

    /// False if the set has it already.
    mutating func insert(_ name: String) -> Bool {
        if few.count < Self.mostCompared {
            // Most differ already to Swift, for which other bytes may be the same letters.
            if few.contains(where: { $0 == name && $0.isSameName(as: name) }) { return false }
            if few.isEmpty { few.reserveCapacity(Self.mostCompared) }
            few.append(name)
            return true
        }
        if many.isEmpty { many.formUnion(few.lazy.map { Array($0.utf8) }) }
        return many.insert(Array(name.utf8)).inserted
    }
}
