internal import ToftModel
internal import ToftStorage

extension Parser {
    /// One operand: a constant, a list, a path, a subquery, TRUEPREDICATE, or anything in
    /// parentheses.
    mutating func operand() throws(QueryError) -> Part {
        let offset = token.range.lowerBound
        switch token.kind {
        case .symbol(.openParenthesis): return try parenthesized()
        case .symbol(.openBrace): return .expression(try list(nil, at: offset))
        case .symbol(.plus), .symbol(.minus):
            return .expression(.literal(try literal(), offset: offset))
        case .operation(.links), .keyPathArgument: return .expression(.path(try path(nil)))
        case .identifier: return try word(at: offset)
        case .end, .symbol, .options, .operation:
            throw unexpected(
                "a value",
                hint: isAt(.openBracket)
                    ? "The options of a comparison are [c], [d] and [cd]."
                    : "A value is a property, a constant such as 18 or 'text', or an argument such "
                        + "as $0."
            )
        default: return .expression(.literal(try literal(), offset: offset))
        }
    }

    private mutating func parenthesized() throws(QueryError) -> Part {
        try advance()
        let part = try nested { (parser) throws(QueryError) in try parser.alternatives() }
        if isAt(.comma) {
            throw unexpected(
                "')' to close the parenthesis", hint: "A list is written with braces: {1, 2}.")
        }
        try expect(.closeParenthesis, "to close the parenthesis")
        return part
    }

    /// A name or a keyword.
    private mutating func word(at offset: Int) throws(QueryError) -> Part {
        guard let keyword else { return .expression(.path(try path(nil))) }
        if [.sort, .distinct, .limit, .offset].contains(keyword), isBeforeParenthesis {
            throw unexpected(
                "a condition", hint: "For all objects write TRUEPREDICATE before it.")
        }
        switch keyword {
        case .truePredicate:
            try count(at: offset)
            try advance()
            return .predicate(.constant(true))
        case .falsePredicate:
            try count(at: offset)
            try advance()
            return .predicate(.constant(false))
        case .anyOf: return .expression(try quantified(.any, at: offset))
        case .allOf: return .expression(try quantified(.all, at: offset))
        case .noneOf: return .expression(try quantified(.none, at: offset))
        case .subquery: return .expression(.subquery(try subquery(at: offset)))
        case .binary where isBeforeParenthesis:
            return .expression(.literal(try literal(), offset: offset))
        case .true, .false, .null, .infinity, .nan, .object:
            return .expression(.literal(try literal(), offset: offset))
        case _ where keyword.canBeName: return .expression(.path(try path(nil)))
        default: throw unexpected("a value", hint: Self.hint(forPropertyNamed: tokenBytes))
        }
    }

    /// A hint at the spelling of a property with the name of a word of the language.
    private static func hint(forPropertyNamed word: some Sequence<UInt8>) -> String {
        let name = String(decoding: Array(word), as: UTF8.self)
        return "A property of this name is written \(Lexer.spelling(ofName: name))."
    }

    /// Whether `(` follows the present word, blanks aside.
    private var isBeforeParenthesis: Bool {
        var index = token.range.upperBound
        while index < source.bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(source.bytes[index]) {
            index += 1
        }
        return index < source.bytes.count && source.bytes[index] == UInt8(ascii: "(")
    }

    private mutating func quantified(_ quantifier: Quantifier, at offset: Int) throws(QueryError)
        -> ExpressionSyntax
    {
        let word = tokenBytes
        try advance()
        if isAt(.openBrace) { return try list(quantifier, at: offset) }
        if case .argument(let index) = token.kind {
            try advance()
            return .quantifiedArgument(quantifier, index, offset: offset)
        }
        switch token.kind {
        case .identifier, .operation(.links), .keyPathArgument: return .path(try path(quantifier))
        default:
            throw unexpected(
                "a collection after \(quantifier.rawValue)",
                hint: Self.hint(forPropertyNamed: word))
        }
    }

    // MARK: Constants

    private mutating func list(_ quantifier: Quantifier?, at offset: Int) throws(QueryError)
        -> ExpressionSyntax
    {
        try advance()
        var elements: [ExpressionSyntax.ListElement] = []
        if try accept(.closeBrace) { return .list(quantifier, elements, offset: offset) }
        repeat {
            let elementOffset = token.range.lowerBound
            try countElement(at: elementOffset)
            elements.append(ExpressionSyntax.ListElement(try literal(), offset: elementOffset))
        } while try accept(.comma)
        try expect(.closeBrace, "or ',' in the list")
        return .list(quantifier, elements, offset: offset)
    }

    /// A constant, with its sign.
    private mutating func literal() throws(QueryError) -> Literal {
        let literal: Literal
        switch token.kind {
        case .symbol(.plus), .symbol(.minus): return try signedNumber()
        case .integer(let integer): literal = .integer(integer)
        case .double(let number): literal = .double(number)
        case .float(let float): literal = .float(float)
        case .string(let string): literal = .string(string)
        case .base64(let bytes): literal = .string(StringLiteral(bytes: bytes))
        case .date(let date): literal = .date(date)
        case .uuid(let bytes): literal = .uuid(bytes)
        case .objectId(let bytes): literal = .objectId(bytes)
        case .value(let value): literal = .value(value)
        case .argument(let index): literal = .argument(index)
        case .identifier: return try wordLiteral()
        default: throw unexpected("a constant")
        }
        try advance()
        return literal
    }

    private mutating func wordLiteral() throws(QueryError) -> Literal {
        let literal: Literal
        switch keyword {
        case .true: literal = .bool(true)
        case .false: literal = .bool(false)
        case .null: literal = .null
        case .infinity: literal = .double(.infinity)
        case .nan: literal = .double(.nan)
        case .binary: return try binary()
        case .object: return try objectLiteral()
        default:
            // In a list no property has such a name.
            if let word = Literal(word: String(decoding: tokenBytes, as: UTF8.self)) {
                literal = word
                break
            }
            throw unexpected(
                "a constant",
                hint: "Only constants and arguments are allowed here; text is between quotes.")
        }
        try advance()
        return literal
    }

    /// A sign belongs to a number only when it touches it.
    private mutating func signedNumber() throws(QueryError) -> Literal {
        let isNegative = isAt(.minus)
        let signEnd = token.range.upperBound
        try advance()
        guard token.range.lowerBound == signEnd else {
            throw unexpected("a number right after the sign")
        }
        switch token.kind {
        case .integer(let integer):
            try advance()
            return .integer(isNegative ? integer.negated : integer)
        case .double(let number):
            try advance()
            return .double(isNegative ? number.negated : number)
        case .float(let float):
            try advance()
            return .float(isNegative ? -float : float)
        case .identifier where keyword == .infinity || keyword == .nan:
            let isNaN = keyword == .nan
            try advance()
            if isNaN { return .double(.nan) }
            return .double(isNegative ? WrittenNumber.infinity.negated : .infinity)
        default:
            throw unexpected(
                "a number after the sign", hint: "To change the sign of a property write 0 - age.")
        }
    }

    /// `binary('abc')` or `binary(B64"...")`
    private mutating func binary() throws(QueryError) -> Literal {
        try advance()
        try expect(.openParenthesis, "after binary")
        let bytes: [UInt8]
        switch token.kind {
        case .string(let string): bytes = string.bytes
        case .base64(let decoded): bytes = decoded
        default: throw unexpected("a text or B64\"...\" within binary(...)")
        }
        try advance()
        try expect(.closeParenthesis, "to close binary(...)")
        return .data(bytes)
    }

    /// `obj('Person', 5)`
    private mutating func objectLiteral() throws(QueryError) -> Literal {
        try advance()
        try expect(.openParenthesis, "after obj")
        guard case .string(let name) = token.kind else {
            throw unexpected("the name of a class in quotes", hint: "Write obj('Person', 5).")
        }
        try advance()
        try expect(.comma, "and the primary key of the object")
        let key = try primaryKeyLiteral()
        try expect(.closeParenthesis, "to close obj(...)")
        return .object(className: String(decoding: name.bytes, as: UTF8.self), primaryKey: key)
    }

    private mutating func primaryKeyLiteral() throws(QueryError) -> Literal.PrimaryKeyLiteral {
        switch try literal() {
        case .null: .null
        case .integer(.small(let value)): .integer(value)
        case .string(let text): .string(String(decoding: text.bytes, as: UTF8.self))
        case .uuid(let bytes): .uuid(bytes)
        case .objectId(let bytes): .objectId(bytes)
        case .argument(let index): .argument(index)
        default: .other
        }
    }

    // MARK: Paths

    /// A path, which begins here with a name, `@links` or `$K0`.
    mutating func path(_ quantifier: Quantifier?) throws(QueryError) -> PathSyntax {
        let offset = token.range.lowerBound
        var elements = [try pathElement(isFirst: true)]
        while true {
            if try accept(.dot) {
                elements.append(try pathElement())
            } else if isAt(.openBracket) {
                elements.append(try indexElement())
            } else {
                return PathSyntax(elements, quantifier: quantifier, offset: offset)
            }
        }
    }

    private mutating func pathElement(isFirst: Bool = false) throws(QueryError)
        -> PathSyntax.Element
    {
        let offset = token.range.lowerBound
        try count(isFirst ? 1 : QuerySize.stepParts, at: offset)
        let kind: PathSyntax.Element.Kind
        switch token.kind {
        case .identifier:
            if let keyword, !keyword.canBeName {
                throw unexpected(
                    "the name of a property", hint: Self.hint(forPropertyNamed: tokenBytes))
            }
            kind = .name(Lexer.unescapedName(tokenBytes))
        case .operation(let operation): kind = .operation(operation)
        case .keyPathArgument(let index): kind = .argument(index)
        default: throw unexpected("the name of a property")
        }
        try advance()
        return PathSyntax.Element(kind, offset: offset)
    }

    /// `[0]`, `[FIRST]`, `['key']`...
    mutating func indexElement() throws(QueryError) -> PathSyntax.Element {
        try advance()
        let offset = token.range.lowerBound
        try count(QuerySize.stepParts, at: offset)
        let index: PathIndex
        switch token.kind {
        case .integer(.small(let value)): index = .position(Int(value))
        case .string(let key): index = .key(String(decoding: key.bytes, as: UTF8.self))
        case .argument(let argument): index = .argument(argument)
        case .symbol(.times): index = .every
        case .identifier where keyword == .first: index = .first
        case .identifier where keyword == .last: index = .last
        case .identifier where keyword == .size: index = .size
        default:
            throw unexpected(
                "an index: a number from 0 on, FIRST, LAST, SIZE, *, $0, or in quotes the key of a "
                    + "dictionary")
        }
        try advance()
        try expect(.closeBracket, "after the index")
        return PathSyntax.Element(.index(index), offset: offset)
    }

    // MARK: Subqueries

    /// At SUBQUERY: `SUBQUERY(path, $variable, predicate).@count`
    private mutating func subquery(at offset: Int) throws(QueryError) -> SubquerySyntax {
        try count(at: offset)
        try advance()
        try expect(.openParenthesis, "after SUBQUERY")
        let collection = try path(nil)
        try expect(.comma, "and the variable of the subquery")
        let variable = try subqueryVariable()
        try expect(.comma, "and the condition of the subquery")
        let predicate = try nested { (parser) throws(QueryError) in try parser.predicate() }
        try expect(.closeParenthesis, "to close SUBQUERY")
        try expect(.dot, "and @count after SUBQUERY(...)")
        guard case .operation(let operation) = token.kind, operation == .count || operation == .size
        else {
            throw unexpected("@count after SUBQUERY(...)")
        }
        try advance()
        return SubquerySyntax(collection, variable: variable, predicate, offset: offset)
    }

    private mutating func subqueryVariable() throws(QueryError) -> String {
        guard case .identifier = token.kind, tokenBytes.first == UInt8(ascii: "$"),
            tokenBytes.count > 1
        else {
            throw unexpected(
                "the variable of the subquery",
                hint: "It begins with '$' and a letter: SUBQUERY(dogs, $dog, $dog.age > 5).@count")
        }
        let name = Lexer.unescapedName(tokenBytes)
        try advance()
        return name
    }

    // MARK: Orderings

    /// SORT, DISTINCT, LIMIT, OFFSET and FILTER up to the end of the query.
    mutating func orderings() throws(QueryError) -> [OrderingSyntax] {
        var orderings: [OrderingSyntax] = []
        while let ordering = try ordering() { orderings.append(ordering) }
        guard case .end = token.kind else { throw unexpectedContinuation() }
        return orderings
    }

    /// SORT, DISTINCT, LIMIT, OFFSET or FILTER; nil if another word is next.
    /// - Parameter isShort: whether ASC may be left out, and the parentheses around a number.
    mutating func ordering(isShort: Bool = false) throws(QueryError) -> OrderingSyntax? {
        if case .end = token.kind {} else { try count(at: token.range.lowerBound) }
        switch keyword {
        case .sort:
            try advance()
            return .sort(try sortKeys(isShort))
        case .distinct:
            try advance()
            return .distinct(try distinctPaths())
        case .limit:
            try advance()
            return .limit(try number(of: "LIMIT", isShort))
        case .offset:
            try advance()
            return .offset(try number(of: "OFFSET", isShort))
        case .filter:
            try advance()
            try expect(.openParenthesis, "after FILTER")
            let condition = try predicate()
            try expect(.closeParenthesis, "to close FILTER")
            return .filter(condition)
        default: return nil
        }
    }

    private func unexpectedContinuation() -> QueryError {
        unexpected("AND, OR, SORT, DISTINCT, LIMIT, OFFSET, FILTER or the end of the query")
    }

    private mutating func sortKeys(_ isShort: Bool) throws(QueryError) -> [OrderingSyntax.SortKey] {
        try expect(.openParenthesis, "after SORT")
        var keys: [OrderingSyntax.SortKey] = []
        repeat {
            let path = try orderingPath()
            if isShort, isAt(.comma) || isAt(.closeParenthesis) {
                keys.append(OrderingSyntax.SortKey(path, isAscending: true))
                continue
            }
            guard let keyword, keyword == .ascending || keyword == .descending else {
                throw unexpected(
                    "ASC or DESC", hint: "Write SORT(\(path.isPlain ? "name" : "path") ASC).")
            }
            try advance()
            keys.append(OrderingSyntax.SortKey(path, isAscending: keyword == .ascending))
        } while try accept(.comma)
        try expect(.closeParenthesis, "to close SORT")
        return keys
    }

    private mutating func distinctPaths() throws(QueryError) -> [PathSyntax] {
        try expect(.openParenthesis, "after DISTINCT")
        var paths: [PathSyntax] = []
        repeat {
            paths.append(try orderingPath())
        } while try accept(.comma)
        try expect(.closeParenthesis, "to close DISTINCT")
        return paths
    }

    /// A path of names alone: collections and their operations have no order.
    private mutating func orderingPath() throws(QueryError) -> PathSyntax {
        let path = try path(nil)
        for element in path.elements {
            if case .operation(let operation) = element.kind {
                throw failure(
                    "\(operation.rawValue) cannot be sorted by.",
                    hint: "SORT and DISTINCT take properties and paths over links to one object.",
                    at: element.offset)
            }
        }
        return path
    }

    private mutating func number(of word: String, _ isShort: Bool) throws(QueryError) -> Int {
        let isBare = isShort && !isAt(.openParenthesis)
        if !isBare { try expect(.openParenthesis, "after \(word)") }
        guard case .integer(let integer) = token.kind else {
            throw unexpected(
                "a whole number", hint: "\(word) takes a number from 0 on, no argument.")
        }
        try advance()
        if !isBare { try expect(.closeParenthesis, "to close \(word)") }
        guard case .small(let count) = integer else { return .max }
        return Int(count)
    }
}

extension PathSyntax {
    fileprivate var isPlain: Bool { elements.count == 1 }
}
