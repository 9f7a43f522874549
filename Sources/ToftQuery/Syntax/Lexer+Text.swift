internal import ToftModel

extension Lexer {
    /// At a quote: the text up to the same quote, escapes resolved.
    ///
    /// Besides the text itself it keeps the pattern for LIKE: there `\*`, `\?` and `\\` mean the
    /// character, a bare `*` or `?` is a wildcard.
    mutating func string() throws(QueryError) -> StringLiteral {
        let start = position
        let quote = peek()
        advance()
        var bytes: [UInt8] = []
        var pattern = LikePattern.Builder()
        var hasEscapes = false
        while let byte = peek() {
            if byte == quote {
                advance()
                return StringLiteral(bytes: bytes, pattern: hasEscapes ? pattern.finish() : nil)
            }
            guard byte == UInt8(ascii: "\\") else {
                let run = bytesBefore(quote)
                if hasEscapes { pattern.append(wild: run) }
                bytes += run
                advance(run.count)
                continue
            }
            if !hasEscapes { pattern.append(wild: bytes[...]) }
            hasEscapes = true
            let resolved = try escape()
            bytes += resolved
            pattern.append(plain: resolved)
        }
        throw failure(
            "The text that begins here has no end.", hint: "Close it with the same quote.",
            at: start)
    }

    /// The bytes from here to the next quote or backslash, or the end.
    private func bytesBefore(_ quote: UInt8?) -> ArraySlice<UInt8> {
        source.bytes[position...].prefix { $0 != quote && $0 != UInt8(ascii: "\\") }
    }

    /// At a backslash: the bytes that the escape means.
    private mutating func escape() throws(QueryError) -> [UInt8] {
        let start = position
        advance()
        guard let byte = peek() else {
            throw failure(
                "The text ends within an escape.", hint: "Close the text with its quote.", at: start
            )
        }
        advance()
        switch byte {
        case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "/"), UInt8(ascii: "\\"),
            UInt8(ascii: "*"), UInt8(ascii: "?"):
            return [byte]
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0C]
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "r"): return [0x0D]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "0"): return [0x00]
        case UInt8(ascii: "u"): return try unicodeEscape(from: start)
        default:
            throw failure(
                "A backslash has no meaning before this character.",
                hint: #"The escapes are \' \" \\ \/ \b \f \n \r \t \0 \uXXXX, and \* \? for LIKE."#,
                at: start)
        }
    }

    /// After `\u`: four hexadecimal digits, or two times four that make a surrogate pair.
    private mutating func unicodeEscape(from start: Int) throws(QueryError) -> [UInt8] {
        guard let unit = fourHexadecimalDigits() else {
            throw failure("\\u needs four hexadecimal digits.", at: start)
        }
        var code = unit
        if (0xD800..<0xDC00).contains(unit), skip("\\u"), let low = fourHexadecimalDigits(),
            (0xDC00..<0xE000).contains(low)
        {
            code = 0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00)
        }
        guard let scalar = Unicode.Scalar(code) else {
            throw failure("\\u with half of a surrogate pair is not a character.", at: start)
        }
        return Array(String(Character(scalar)).utf8)
    }

    private mutating func fourHexadecimalDigits() -> UInt32? {
        var value: UInt32 = 0
        for distance in 0..<4 {
            guard let byte = peek(distance), let digit = ASCII.hexadecimalDigit(byte) else {
                return nil
            }
            value = value << 4 | UInt32(digit)
        }
        advance(4)
        return value
    }

    // MARK: Base 64

    /// At `B64"`: the decoded bytes. Missing padding is not an error.
    mutating func base64() throws(QueryError) -> [UInt8]? {
        let start = position
        guard skip("B64\"") else { return nil }
        var bytes: [UInt8] = []
        var buffer: UInt32 = 0
        var bits = 0
        while let byte = peek() {
            advance()
            if byte == UInt8(ascii: "\"") { return bytes }
            if byte == UInt8(ascii: "=") { continue }
            guard let digit = Base64.bits(of: byte) else {
                throw failure("This is not a base 64 digit.", at: position - 1)
            }
            buffer = buffer << 6 | UInt32(digit)
            bits += 6
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: buffer >> UInt32(bits)))
            }
        }
        throw failure(
            "The base 64 text that begins here has no end.", hint: "Close it with \".", at: start)
    }

    // MARK: uuid(...) and oid(...)

    /// `uuid(8-4-4-4-12)` or `oid(24 digits)`, exactly so; anything else leaves the position alone.
    mutating func identifierLiteral() throws(QueryError) -> Token.Kind? {
        let start = position
        if skip("uuid(") {
            if let bytes = hexadecimalGroups([8, 4, 4, 4, 12]), skip(")") { return .uuid(bytes) }
            throw failure(
                "A uuid has 32 hexadecimal digits in five groups, without quotes.",
                hint:
                    "Write uuid(01234567-89ab-cdef-0123-456789abcdef), or give it as an argument.",
                at: start)
        }
        if skip("oid(") {
            if let bytes = hexadecimalGroups([24]), skip(")") { return .objectId(bytes) }
            throw failure(
                "An object id has 24 hexadecimal digits, without quotes.",
                hint: "Write oid(0123456789abcdef01234567), or give it as an argument.", at: start)
        }
        return nil
    }

    private mutating func hexadecimalGroups(_ lengths: [Int]) -> [UInt8]? {
        var bytes: [UInt8] = []
        for (index, length) in lengths.enumerated() {
            if index > 0, !skip("-") { return nil }
            for _ in 0..<length / 2 {
                guard let high = peek().flatMap(ASCII.hexadecimalDigit),
                    let low = peek(1).flatMap(ASCII.hexadecimalDigit)
                else { return nil }
                bytes.append(high << 4 | low)
                advance(2)
            }
        }
        return bytes
    }
}

extension Lexer {
    /// A name with a backslash before characters that do not belong to names, and in a reserved
    /// word.
    static func spelling(ofName name: String) -> String {
        var bytes: [UInt8] = []
        let isWord = Keyword(spelling: Array(name.utf8)[...]).map { !$0.canBeName } ?? false
        var needsEscape = isWord
        let argument =
            name.utf8.first == UInt8(ascii: "$")
            && name.utf8.dropFirst(name.hasPrefix("$K") ? 2 : 1).first.map(ASCII.isDigit) == true
        for (index, byte) in name.utf8.enumerated() {
            let escape = Lexer.letter(ofBlank: byte)
            let isBlankLetter = [UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t")]
                .contains(byte)
            if let escape {
                bytes += [UInt8(ascii: "\\"), escape]
            } else if index == 0 ? !Lexer.beginsName(byte) || argument : !Lexer.continuesName(byte)
            {
                bytes += [UInt8(ascii: "\\"), byte]
            } else if needsEscape, !isBlankLetter {
                needsEscape = false
                bytes += [UInt8(ascii: "\\"), byte]
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
