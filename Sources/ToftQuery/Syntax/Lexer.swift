internal import ToftStorage

/// Cuts the text of a query into words, one at a time.
///
/// Letters and digits follow the rules of Realm's query language: a name begins with a letter, `_`,
/// `$` or anything beyond ASCII, and a backslash before a character makes it part of the name. Two
/// rules are ours: a sign is a word of its own (so `age-1` subtracts), and a hyphen belongs to a
/// name only if the schema has such a name.
struct Lexer {
    let source: QuerySource
    /// The position at which the next word is read.
    private(set) var position = 0
    /// The names of the schema that contain a hyphen.
    private let hyphenatedNames: Set<String>

    init(_ source: QuerySource, hyphenatedNames: Set<String>) {
        self.source = source
        self.hyphenatedNames = hyphenatedNames
    }

    /// The next word.
    mutating func next() throws(QueryError) -> Token {
        skipBlanks()
        let start = position
        guard let first = peek() else {
            return Token(kind: .end, range: start..<start)
        }
        let kind = try word(beginningWith: first)
        return Token(kind: kind, range: start..<position)
    }

    private mutating func word(beginningWith first: UInt8) throws(QueryError) -> Token.Kind {
        switch first {
        case 0x30...0x39:
            if let date = try date() { return date }
            return try number()
        case UInt8(ascii: "."):
            if let second = peek(1), ASCII.isDigit(second) { return try number() }
            return symbol(.dot, length: 1)
        case UInt8(ascii: "'"), UInt8(ascii: "\""):
            return .string(try string())
        case UInt8(ascii: "@"):
            return try operation()
        case UInt8(ascii: "["):
            return options() ?? symbol(.openBracket, length: 1)
        case UInt8(ascii: "$"):
            return try argument() ?? .identifier
        case UInt8(ascii: "T"):
            if let timestamp = try timestamp() { return .date(timestamp) }
            return name()
        case UInt8(ascii: "B"):
            if let data = try base64() { return .base64(data) }
            return name()
        case UInt8(ascii: "u"), UInt8(ascii: "o"):
            return try identifierLiteral() ?? name()
        case UInt8(ascii: "d"):
            return try numberOfType() ?? name()
        case UInt8(ascii: "L"):
            return link() ?? name()
        case 0xE2 where isAtCurlyQuote:
            throw failure(
                "A curly quote has no meaning here.",
                hint: "A text is in straight quotes, ' or \", not in curly ones.",
                at: position)
        case _ where Self.beginsName(first):
            return name()
        case UInt8(ascii: "\\"):
            return try escapedName()
        default:
            return try punctuation(first)
        }
    }

    // MARK: Bytes

    func peek(_ distance: Int = 0) -> UInt8? {
        let index = position + distance
        return index < source.bytes.count ? source.bytes[index] : nil
    }

    mutating func advance(_ distance: Int = 1) {
        position += distance
    }

    /// Skips `text` if it is next.
    mutating func skip(_ text: StaticString) -> Bool {
        let length = text.utf8CodeUnitCount
        guard position + length <= source.bytes.count else { return false }
        for index in 0..<length where source.bytes[position + index] != text.utf8Start[index] {
            return false
        }
        position += length
        return true
    }

    private mutating func skipBlanks() {
        while let byte = peek(), byte == 0x20 || byte == 0x09 || byte == 0x0D || byte == 0x0A {
            position += 1
        }
    }

    func failure(_ summary: String, hint: String? = nil, at offset: Int) -> QueryError {
        QueryError(.syntax, summary, hint: hint, at: offset, in: source)
    }

    static func beginsName(_ byte: UInt8) -> Bool {
        byte >= 0x80 || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "$")
            || (byte | 0x20 >= 0x61 && byte | 0x20 <= 0x7A)
    }

    static func continuesName(_ byte: UInt8) -> Bool {
        beginsName(byte) || ASCII.isDigit(byte)
    }

    // MARK: Names

    /// True if a typographic quote is next, which word processors make of ' and ": U+2018 to
    /// U+201F.
    private var isAtCurlyQuote: Bool {
        peek() == 0xE2 && peek(1) == 0x80 && peek(2).map { (0x98...0x9F).contains($0) } == true
    }

    private mutating func name() -> Token.Kind {
        let start = position
        skipNamePart()
        while peek() == UInt8(ascii: "-"), extendsOverHyphen(from: start) {}
        return .identifier
    }

    private mutating func skipNamePart() {
        while let byte = peek() {
            if Self.continuesName(byte) {
                position += 1
            } else if byte == UInt8(ascii: "\\"), peek(1).map({ $0 < 0x80 }) ?? false {
                position += 2
            } else {
                return
            }
        }
    }

    /// A name may begin with an escaped character.
    private mutating func escapedName() throws(QueryError) -> Token.Kind {
        guard let next = peek(1), next < 0x80 else {
            throw failure(
                "A backslash here begins nothing.",
                hint: #"Outside of quotes a backslash escapes a character of a name: full\ name."#,
                at: position)
        }
        return name()
    }

    /// At a hyphen: skips it and the following characters as long as the schema has a name that
    /// continues like that.
    private mutating func extendsOverHyphen(from start: Int) -> Bool {
        guard !hyphenatedNames.isEmpty else { return false }
        let hyphen = position
        position += 1
        skipNamePart()
        let longer = Self.unescapedName(source.bytes[start..<position])
        if hyphenatedNames.contains(where: {
            $0.utf8.elementsEqual(longer.utf8) || $0.utf8.starts(with: (longer + "-").utf8)
        }) {
            return true
        }
        position = hyphen
        return false
    }

    /// The meaning of an escaped character: itself, except for the letters of blanks.
    private static func character(forEscape byte: UInt8) -> UInt8 {
        switch byte {
        case UInt8(ascii: "t"): 0x09
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        default: byte
        }
    }

    /// The letter that is written for a blank behind a backslash.
    static func letter(ofBlank byte: UInt8) -> UInt8? {
        switch byte {
        case 0x09: UInt8(ascii: "t")
        case 0x0A: UInt8(ascii: "n")
        case 0x0D: UInt8(ascii: "r")
        default: nil
        }
    }

    /// The name that `bytes` spell, escapes resolved.
    static func unescapedName(_ bytes: ArraySlice<UInt8>) -> String {
        guard bytes.contains(UInt8(ascii: "\\")) else {
            return String(decoding: bytes, as: UTF8.self)
        }
        var name: [UInt8] = []
        var index = bytes.startIndex
        while index < bytes.endIndex {
            if bytes[index] == UInt8(ascii: "\\"), index + 1 < bytes.endIndex {
                name.append(character(forEscape: bytes[index + 1]))
                index += 2
            } else {
                name.append(bytes[index])
                index += 1
            }
        }
        return String(decoding: name, as: UTF8.self)
    }

    // MARK: Words with a sign before them

    private static let argumentLimit = 1_000_000

    /// `$0` or `$K0`; a `$` before anything else begins a name.
    private mutating func argument() throws(QueryError) -> Token.Kind? {
        let isKeyPath = peek(1) == UInt8(ascii: "K")
        var index = position + (isKeyPath ? 2 : 1)
        var number = 0
        let first = index
        while index < source.bytes.count, ASCII.isDigit(source.bytes[index]) {
            number = min(number * 10 + Int(source.bytes[index] & 0x0F), Self.argumentLimit)
            index += 1
        }
        guard index > first else { return name() }
        guard number < Self.argumentLimit else {
            throw failure(
                "The numbers of arguments are less than \(Self.argumentLimit).", at: position)
        }
        position = index
        return isKeyPath ? .keyPathArgument(number) : .argument(number)
    }

    private mutating func operation() throws(QueryError) -> Token.Kind {
        let start = position
        position += 1
        while let byte = peek(), Self.continuesName(byte) { position += 1 }
        let spelling = String(decoding: source.bytes[start..<position], as: UTF8.self)
        guard let operation = PathOperation(rawValue: spelling) else {
            throw failure(
                "There is no operation '\(spelling)'.",
                hint:
                    "The operations are @count, @size, @min, @max, @sum, @avg, @links, @type, "
                    + "@keys and @values, written in lower case.",
                at: start)
        }
        return .operation(operation)
    }

    private mutating func options() -> Token.Kind? {
        if skip("[c]") { return .options(.caseInsensitive) }
        if skip("[d]") { return .options(.diacriticInsensitive) }
        if skip("[cd]") { return .options([.caseInsensitive, .diacriticInsensitive]) }
        return nil
    }

    // MARK: Operators

    private mutating func symbol(_ symbol: Token.Symbol, length: Int) -> Token.Kind {
        position += length
        return .symbol(symbol)
    }

    private mutating func punctuation(_ first: UInt8) throws(QueryError) -> Token.Kind {
        let second = peek(1)
        switch first {
        case UInt8(ascii: "("): return symbol(.openParenthesis, length: 1)
        case UInt8(ascii: ")"): return symbol(.closeParenthesis, length: 1)
        case UInt8(ascii: "{"): return symbol(.openBrace, length: 1)
        case UInt8(ascii: "}"): return symbol(.closeBrace, length: 1)
        case UInt8(ascii: "]"): return symbol(.closeBracket, length: 1)
        case UInt8(ascii: ","): return symbol(.comma, length: 1)
        case UInt8(ascii: ":"): return symbol(.colon, length: 1)
        case UInt8(ascii: "+"): return symbol(.plus, length: 1)
        case UInt8(ascii: "-"): return symbol(.minus, length: 1)
        case UInt8(ascii: "*"): return symbol(.times, length: 1)
        case UInt8(ascii: "/"): return symbol(.divide, length: 1)
        case UInt8(ascii: "="): return equalSign(second)
        case UInt8(ascii: "!"):
            return second == UInt8(ascii: "=")
                ? symbol(.notEqual, length: 2) : symbol(.not, length: 1)
        case UInt8(ascii: "<"):
            if second == UInt8(ascii: ">") { return symbol(.notEqual, length: 2) }
            return second == UInt8(ascii: "=")
                ? symbol(.lessOrEqual, length: 2) : symbol(.less, length: 1)
        case UInt8(ascii: ">"):
            return second == UInt8(ascii: "=")
                ? symbol(.greaterOrEqual, length: 2) : symbol(.greater, length: 1)
        case UInt8(ascii: "&") where second == first: return symbol(.and, length: 2)
        case UInt8(ascii: "|") where second == first: return symbol(.or, length: 2)
        default: throw unknownCharacter(first)
        }
    }

    private mutating func equalSign(_ second: UInt8?) -> Token.Kind {
        switch second {
        case UInt8(ascii: "="): symbol(.equal, length: 2)
        case UInt8(ascii: "<"): symbol(.lessOrEqual, length: 2)
        case UInt8(ascii: ">"): symbol(.greaterOrEqual, length: 2)
        default: symbol(.equal, length: 1)
        }
    }

    private func unknownCharacter(_ byte: UInt8) -> QueryError {
        let hint: String? =
            switch byte {
            case UInt8(ascii: "`"): "Write text between ' or \"."
            case UInt8(ascii: "&"): "Write AND or &&."
            case UInt8(ascii: "|"): "Write OR or ||."
            case UInt8(ascii: "%"):
                "Arguments are written $0, $1...; there is no remainder operator."
            case UInt8(ascii: ";"): "Elements of a list are separated by commas."
            default: nil
            }
        let isVisible = byte > 0x20 && byte < 0x7F
        let shown =
            isVisible
            ? "'\(Character(Unicode.Scalar(byte)))'"
            : "The control character 0x\(String(byte, radix: 16))"
        return failure("\(shown) has no meaning here.", hint: hint, at: position)
    }
}

extension Lexer {
    /// Moves to `position`: for the parts of the lexer that read numbers, texts and dates.
    mutating func move(to position: Int) {
        self.position = position
    }
}
