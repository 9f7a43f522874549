package import ToftModel

/// Reads a statement that has queries in it, such as `Person where age > 5 sort(name) limit 20`,
/// in the words of the query language. Words of the statement itself stand where no property can.
package struct StatementReader {
    private var parser: Parser
    private let source: QuerySource

    /// - Parameter schema: says which names have a hyphen, which elsewhere subtracts.
    package init(_ text: String, schema: StoredSchema? = nil) throws(QueryError) {
        source = QuerySource(text)
        let hyphenated = text.hasHyphen ? schema?.hyphenatedNames : nil
        parser = try Parser(source, hyphenatedNames: hyphenated ?? [])
    }

    /// A path, as it was parsed and as it was written.
    package struct Path: Sendable {
        package var syntax: PathSyntax
        package var text: String
        package var place: StatementPlace

        /// The path as a text of its own: see `PathSyntax.init(keyPath:)`.
        package var keyPath: String {
            var names: [String] = []
            for element in syntax.elements {
                guard case .name(let name) = element.kind else { return text }
                names.append(name)
            }
            return names.joined(separator: ".")
        }
    }

    /// A value, as a statement has it.
    package enum Written: Sendable {
        /// Between quotes, without them.
        case text(String)
        /// Anything else: it should be JSON.
        case json([UInt8])
    }

    /// Punctuation between the parts of a statement.
    package enum Mark: Sendable {
        case comma, colon, equal, minus, openParenthesis, closeParenthesis

        fileprivate var symbol: Token.Symbol {
            switch self {
            case .comma: .comma
            case .colon: .colon
            case .equal: .equal
            case .minus: .minus
            case .openParenthesis: .openParenthesis
            case .closeParenthesis: .closeParenthesis
            }
        }
    }

    // MARK: Words

    package var isAtEnd: Bool {
        if case .end = parser.token.kind { true } else { false }
    }

    /// The place of the present word.
    package var place: StatementPlace { StatementPlace(source: source, offset: offset) }

    private var offset: Int { parser.token.range.lowerBound }

    /// The present word in lower case, if it is a name without escapes: `\show` is always a name.
    package var word: String? {
        guard case .identifier = parser.token.kind,
            parser.tokenBytes.first != UInt8(ascii: "\\")
        else { return nil }
        return String(decoding: parser.tokenBytes, as: UTF8.self).lowercased()
    }

    /// Skips a word if it is next, in any letter case.
    package mutating func accept(_ word: String) throws(QueryError) -> Bool {
        guard self.word == word else { return false }
        try parser.advance()
        return true
    }

    /// Skips a mark if it is next.
    package mutating func accept(_ mark: Mark) throws(QueryError) -> Bool {
        try parser.accept(mark.symbol)
    }

    package mutating func expect(_ mark: Mark, _ purpose: String) throws(QueryError) {
        try parser.expect(mark.symbol, purpose)
    }

    // MARK: Parts

    /// A name without a path, escapes resolved.
    /// - Parameter what: the name's meaning, for the error.
    package mutating func name(_ what: String) throws(QueryError) -> String {
        guard case .identifier = parser.token.kind else { throw parser.unexpected(what) }
        let name = Lexer.unescapedName(parser.tokenBytes)
        try parser.advance()
        return name
    }

    package mutating func path() throws(QueryError) -> Path {
        let start = offset
        let syntax = try parser.path(nil)
        return Path(
            syntax: syntax, text: text(from: start),
            place: StatementPlace(source: source, offset: start))
    }

    /// The text from an offset up to the present word, without blanks at its end.
    private func text(from start: Int) -> String {
        var bytes = source.bytes[start..<offset]
        while let last = bytes.last, last == 0x20 || (0x09...0x0D).contains(last) {
            bytes.removeLast()
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    package mutating func predicate() throws(QueryError) -> PredicateSyntax {
        try parser.predicate()
    }

    /// Any of SORT, DISTINCT, LIMIT, OFFSET and FILTER that come next. ASC may be left out, and
    /// the parentheses around a number.
    package mutating func orderings() throws(QueryError) -> [OrderingSyntax] {
        var orderings: [OrderingSyntax] = []
        while let ordering = try parser.ordering(isShort: true) { orderings.append(ordering) }
        return orderings
    }

    /// The comparison that is next, if it is one of two values that have an order.
    package mutating func comparator() throws(QueryError) -> Comparator? {
        guard case .symbol(let symbol) = parser.token.kind,
            let comparator = symbol.comparator
        else { return nil }
        try parser.advance()
        return comparator
    }

    /// A value: a text in quotes, or JSON.
    package mutating func written() throws(QueryError) -> Written {
        if case .string(let text) = parser.token.kind {
            try parser.advance()
            return .text(String(decoding: text.bytes, as: UTF8.self))
        }
        guard !isAtEnd else { throw parser.unexpected("a value") }
        let start = offset
        let end = try endOfJSON(from: start)
        try parser.move(to: end)
        return .json(Array(source.bytes[start..<end]))
    }

    /// The end of an array or object, or of a word.
    private func endOfJSON(from start: Int) throws(QueryError) -> Int {
        let bytes = source.bytes
        var depth = 0, index = start
        var isQuoted = false
        while index < bytes.count {
            let byte = bytes[index]
            if isQuoted {
                if byte == UInt8(ascii: "\\") { index += 1 }
                isQuoted = byte != UInt8(ascii: "\"")
            } else {
                switch byte {
                case UInt8(ascii: "\""): isQuoted = true
                case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
                case UInt8(ascii: "}"), UInt8(ascii: "]"):
                    depth -= 1
                    if depth <= 0 { return index + 1 }
                case UInt8(ascii: ","), UInt8(ascii: ")"), 0x20, 0x09...0x0D:
                    if depth == 0 { return index }
                default: break
                }
            }
            index += 1
        }
        guard depth == 0, !isQuoted else {
            throw QueryError(
                .syntax, "The value that begins here has no end.", at: start, in: source)
        }
        return min(index, bytes.count)
    }

    // MARK: Results

    /// A query of parts of this statement: its errors show the whole one.
    package func query(_ predicate: PredicateSyntax?, _ orderings: [OrderingSyntax]) -> QuerySyntax
    {
        QuerySyntax(predicate ?? .constant(true), orderings: orderings, source: source)
    }

    /// The error that something else was expected at the present word.
    package func unexpected(_ expected: String, hint: String? = nil) -> QueryError {
        parser.unexpected(expected, hint: hint)
    }
}

/// A place in a statement, for errors.
package struct StatementPlace: Sendable {
    fileprivate let source: QuerySource
    /// In UTF-8 bytes from the beginning of the statement.
    package let offset: Int

    /// The statement with a caret under the place.
    package var excerpt: String {
        source.excerpt(at: min(max(0, offset), source.bytes.count)).joined(separator: "\n")
    }

    /// An error at the place.
    package func failure(
        _ summary: String, hint: String? = nil, kind: QueryError.Kind = .syntax
    ) -> QueryError {
        QueryError(kind, summary, hint: hint, at: offset, in: source)
    }

    /// An error at an element of a path of the statement.
    package func failure(_ summary: String, at element: PathSyntax.Element) -> QueryError {
        QueryError(
            .invalidQuery, summary, at: element.offset < 0 ? offset : element.offset, in: source)
    }
}
