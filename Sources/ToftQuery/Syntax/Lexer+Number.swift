internal import ToftModel
internal import ToftStorage

extension Lexer {
    /// At a digit, or at a point before one: a number without its sign.
    mutating func number() throws(QueryError) -> Token.Kind {
        if let integer = try hexadecimalInteger() { return .integer(integer) }
        let start = position
        skipDigits()
        let endOfInteger = position
        let isWhole = !skipFraction() && !skipExponent()
        if !isWhole { _ = skipExponent() }
        let text = source.bytes[start..<position]
        if peek() == UInt8(ascii: "f"),
            !(peek(1).map { Self.beginsName($0) || ASCII.isDigit($0) } ?? false)
        {
            advance()
            let float = Float(Self.normalized(text)) ?? .nan
            if !float.isFinite || float == 0 && text.contains(where: Self.isDigitFromOne) {
                throw failure("The number is too large or small for a float.", at: start)
            }
            return .float(float)
        }
        if isWhole { return .integer(Self.integer(digits: source.bytes[start..<endOfInteger])) }
        guard let number = Self.written(text) else {
            throw failure(
                "The number is beyond the range of numbers, 1E-6176 to 9.99...E+6144.", at: start)
        }
        return .double(number)
    }

    /// A number with a point or an exponent; nil if it is not a number, or beyond the range of
    /// decimals.
    static func written(_ text: ArraySlice<UInt8>) -> WrittenNumber? {
        guard let (decimal, isExact) = Decimal128.parse(Array(text)),
            !decimal.isBeyondRange(of: text), let double = Double(normalized(text))
        else { return nil }
        return WrittenNumber(double: double, decimal: decimal, isExact: isExact)
    }

    private static func isDigitFromOne(_ byte: UInt8) -> Bool {
        byte != UInt8(ascii: "0") && ASCII.isDigit(byte)
    }

    private mutating func skipDigits() {
        while let byte = peek(), ASCII.isDigit(byte) { advance() }
    }

    private mutating func skipFraction() -> Bool {
        guard peek() == UInt8(ascii: ".") else { return false }
        advance()
        skipDigits()
        return true
    }

    /// An exponent counts only with its digits: `18e` is 18 and the name `e`.
    private mutating func skipExponent() -> Bool {
        guard let letter = peek(), letter | 0x20 == UInt8(ascii: "e") else { return false }
        let hasSign = peek(1) == UInt8(ascii: "+") || peek(1) == UInt8(ascii: "-")
        guard let digit = peek(hasSign ? 2 : 1), ASCII.isDigit(digit) else { return false }
        advance(hasSign ? 3 : 2)
        skipDigits()
        return true
    }

    /// Swift reads numbers with digits on both sides of the point.
    private static func normalized(_ bytes: ArraySlice<UInt8>) -> String {
        var text = bytes.first == UInt8(ascii: ".") ? "0" : ""
        for byte in bytes {
            if byte != UInt8(ascii: "."), text.last == ".", !ASCII.isDigit(byte) { text += "0" }
            text.unicodeScalars.append(Unicode.Scalar(byte))
        }
        return text.last == "." ? text + "0" : text
    }

    /// Its digits become decimal ones in a time that grows with the square of their number.
    private static let mostHexadecimalDigits = 10_000

    /// `0x1F`: at least one digit.
    private mutating func hexadecimalInteger() throws(QueryError) -> IntegerLiteral? {
        let start = position
        guard peek() == UInt8(ascii: "0"), let letter = peek(1), letter | 0x20 == UInt8(ascii: "x"),
            peek(2).flatMap(ASCII.hexadecimalDigit) != nil
        else { return nil }
        advance(2)
        var value = WideInteger.zero
        while let digit = peek().flatMap(ASCII.hexadecimalDigit) {
            guard position - start < 2 + Self.mostHexadecimalDigits else {
                throw failure(
                    "A hexadecimal number has at most \(Self.mostHexadecimalDigits) digits.",
                    at: start)
            }
            value.multiply(by: 16, adding: UInt32(digit))
            advance()
        }
        return Self.integer(digits: ArraySlice(value.decimalDigits))
    }

    /// Decimal digits, however many; leading zeros do not make a number octal.
    static func integer(digits: ArraySlice<UInt8>) -> IntegerLiteral {
        let significant = digits.drop { $0 == UInt8(ascii: "0") }
        if significant.count <= 18 {
            return .small(significant.reduce(0) { $0 * 10 + Int64($1 & 0x0F) })
        }
        if let value = Int64(String(decoding: significant, as: UTF8.self)) { return .small(value) }
        return .large(isNegative: false, digits: Array(significant))
    }
}

extension Lexer {
    /// At `double(0.1)` or `decimal(0.1)`, exactly so; anything else leaves the position alone.
    mutating func numberOfType() throws(QueryError) -> Token.Kind? {
        let start = position
        let isDouble = skip("double(")
        if isDouble || skip("decimal(") {
            var bytes: [UInt8] = []
            while let byte = peek(), byte != UInt8(ascii: ")"), byte < 0x80 {
                bytes.append(byte)
                advance()
            }
            let text = String(decoding: bytes, as: UTF8.self)
            if skip(")"), bytes.last.map(ASCII.isDigit) == true, let value = Double(text),
                let (decimal, isExact) = Decimal128.parse(bytes)
            {
                if isDouble {
                    let number = WrittenNumber(double: value, decimal: decimal)
                    guard !number.isBeyondDouble, !decimal.isBeyondRange(of: bytes) else {
                        throw failure("The number is too large or small for a double.", at: start)
                    }
                    return .value(.double(value))
                }
                guard isExact, !decimal.isBeyondRange(of: bytes) else {
                    throw failure(
                        "A decimal has 34 digits, and is from 1E-6176 to 9.99...E+6144.",
                        at: start)
                }
                return .value(.decimal(decimal))
            }
        }
        move(to: start)
        return nil
    }

    /// At `L3:17`: the object 17 of the class 3; anything else leaves the position alone.
    mutating func link() -> Token.Kind? {
        var index = position + 1
        guard let classID = signedDigits(&index)?.value, index < source.bytes.count,
            source.bytes[index] == UInt8(ascii: ":")
        else { return nil }
        index += 1
        guard let key = signedDigits(&index)?.value, let id = ClassID(exactly: classID) else {
            return nil
        }
        move(to: index)
        return .value(.link(ObjectRef(classID: id, key: key)))
    }
}

extension IntegerLiteral {
    /// The number with the other sign.
    var negated: IntegerLiteral {
        switch self {
        case .small(let value):
            value == .min
                ? .large(isNegative: false, digits: Array("9223372036854775808".utf8))
                : .small(-value)
        case .large(let isNegative, let digits):
            !isNegative && digits.elementsEqual("9223372036854775808".utf8)
                ? .small(.min) : .large(isNegative: !isNegative, digits: digits)
        }
    }
}
