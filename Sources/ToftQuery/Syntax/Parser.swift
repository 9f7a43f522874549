internal import ToftModel
internal import ToftPlatform

/// Turns the text of a query into a syntax tree.
///
/// Predicates and values share the parenthesis, so they are parsed by one descent, by precedence
/// (OR, AND, NOT, comparison, `+ -`, `* /`), and distinguished by the result. Nesting is limited,
/// so that no text can exhaust a thread's stack.
struct Parser {
    private var lexer: Lexer
    /// The present word.
    var token: Token
    /// The depth of the descent.
    private var depth = 0
    private var size = QuerySize()

    /// Parentheses, NOT, SUBQUERY and chains of arithmetic together may nest this deep.
    static let depthLimit = 100

    /// Parses a whole query. `hyphenatedNames` are the names of the schema that contain a hyphen,
    /// which elsewhere subtracts.
    package static func parse(_ text: String, hyphenatedNames: Set<String> = []) throws(QueryError)
        -> QuerySyntax
    {
        let source = QuerySource(text)
        var parser = try Parser(source, hyphenatedNames: hyphenatedNames)
        let predicate = try parser.wholePredicate()
        let orderings = try parser.orderings()
        return QuerySyntax(predicate, orderings: orderings, source: source)
    }

    /// Parses the contents of brackets, one pair after the other, and nothing else.
    static func indices(_ text: String) throws(QueryError) -> [PathSyntax.Element.Kind] {
        var parser = try Parser(QuerySource(text), hyphenatedNames: [])
        var indices: [PathSyntax.Element.Kind] = []
        while parser.isAt(.openBracket) { indices.append(try parser.indexElement().kind) }
        guard case .end = parser.token.kind else { throw parser.unexpected("'['") }
        return indices
    }

    init(_ source: QuerySource, hyphenatedNames: Set<String>) throws(QueryError) {
        lexer = Lexer(source, hyphenatedNames: hyphenatedNames)
        token = try lexer.next()
    }

    // MARK: Words

    var source: QuerySource { lexer.source }

    mutating func advance() throws(QueryError) {
        token = try lexer.next()
    }

    /// Continues with the word at `position`.
    mutating func move(to position: Int) throws(QueryError) {
        lexer.move(to: position)
        try advance()
    }

    /// The bytes of the present word.
    var tokenBytes: ArraySlice<UInt8> { source.bytes[token.range] }

    /// The keyword that the present word is, if it is one.
    var keyword: Keyword? {
        guard case .identifier = token.kind else { return nil }
        return Keyword(spelling: tokenBytes)
    }

    func isAt(_ symbol: Token.Symbol) -> Bool {
        if case .symbol(symbol) = token.kind { true } else { false }
    }

    /// Skips `symbol` if it is next.
    mutating func accept(_ symbol: Token.Symbol) throws(QueryError) -> Bool {
        guard isAt(symbol) else { return false }
        try advance()
        return true
    }

    mutating func expect(_ symbol: Token.Symbol, _ purpose: String) throws(QueryError) {
        guard try accept(symbol) else { throw unexpected("'\(symbol.rawValue)' \(purpose)") }
    }

    /// The error that something else was expected here.
    func unexpected(_ expected: String, hint: String? = nil) -> QueryError {
        failure(
            "Expected \(expected), but \(tokenDescription).", hint: hint, at: token.range.lowerBound
        )
    }

    func failure(_ summary: String, hint: String? = nil, at offset: Int) -> QueryError {
        QueryError(.syntax, summary, hint: hint, at: offset, in: source)
    }

    private var tokenDescription: String {
        if case .end = token.kind { return "the query ends here" }
        let shown = String(decoding: tokenBytes.prefix(40), as: UTF8.self)
        return "found \(shown.hasPrefix("'") ? shown : "'\(shown)'")"
    }

    /// Counts one more level of nesting for the time of `body`.
    mutating func nested<Result>(_ body: (inout Parser) throws(QueryError) -> Result)
        throws(QueryError) -> Result
    {
        guard depth < Self.depthLimit else {
            throw failure(
                "The query nests deeper than \(Self.depthLimit) levels.",
                hint: "Split it, or use IN for long chains of alternatives.",
                at: token.range.lowerBound)
        }
        guard ThreadStack.hasRoom() else {
            throw .stackTooSmall(at: token.range.lowerBound, in: source)
        }
        depth += 1
        defer { depth -= 1 }
        return try body(&self)
    }

    /// Counts parts of the query at `offset`.
    mutating func count(_ parts: Int = 1, at offset: Int) throws(QueryError) {
        try size.add(parts, at: offset, in: source)
    }

    /// Counts an element of a list.
    mutating func countElement(at offset: Int) throws(QueryError) {
        try size.addElements(1, at: offset, in: source)
    }

    // MARK: Predicates

    /// The result of parsing a part of a query.
    enum Part {
        case predicate(PredicateSyntax)
        case expression(ExpressionSyntax)
    }

    private mutating func wholePredicate() throws(QueryError) -> PredicateSyntax {
        if case .end = token.kind {
            throw failure(
                "The query is empty.", hint: "TRUEPREDICATE matches all objects.", at: 0)
        }
        return try predicate()
    }

    /// A predicate; a lone value is an error.
    mutating func predicate() throws(QueryError) -> PredicateSyntax {
        let part = try alternatives()
        return try requirePredicate(part)
    }

    private func requirePredicate(_ part: Part) throws(QueryError) -> PredicateSyntax {
        guard case .expression(let expression) = part else {
            if case .predicate(let predicate) = part { return predicate }
            return .constant(true)
        }
        throw unexpected(
            "a comparison such as ==, < or CONTAINS",
            hint: keywordHint(expression) ?? operatorHint
                ?? "A value alone is not a condition: write active == true, not active."
        )
    }

    /// A hint for a name before another one: these keywords are written in capitals or in small
    /// letters, otherwise they are names.
    private func keywordHint(_ expression: ExpressionSyntax) -> String? {
        guard case .identifier = token.kind, case .path(let path) = expression,
            path.elements.count == 1, case .name(let name)? = path.elements.first?.kind,
            ["ANY", "SOME", "ALL", "NONE", "NOT"].contains(name.uppercased())
        else { return nil }
        return "Did you mean \(name.uppercased())?"
    }

    /// A hint for other languages' words for an operator of this one, and for misspelled operators.
    private var operatorHint: String? {
        guard case .identifier = token.kind else { return nil }
        let word = String(decoding: tokenBytes.prefix(32), as: UTF8.self).uppercased()
        switch word {
        case "IS", "EQUALS", "EQ": return "Write ==."
        case "NOT": return "NOT is written before the whole condition: NOT age IN {1, 2}."
        case "STARTSWITH", "STARTS", "PREFIX": return "Did you mean BEGINSWITH?"
        case "ENDS", "SUFFIX": return "Did you mean ENDSWITH?"
        case "HAS", "INCLUDES": return "Did you mean CONTAINS?"
        case "REGEXP", "RLIKE", "ILIKE": return "Did you mean MATCHES or LIKE[c]?"
        default:
            let words: [Comparator] = [
                .beginsWith, .endsWith, .contains, .like, .matches, .between, .in,
            ]
            let near = words.map(\.rawValue).min {
                NearestName.distance($0, word) < NearestName.distance($1, word)
            }
            guard let near, NearestName.distance(near, word) <= max(1, near.utf8.count / 3) else {
                return nil
            }
            return "Did you mean \(near)?"
        }
    }

    mutating func alternatives() throws(QueryError) -> Part {
        let first = try conjunction()
        guard isAtOr else { return first }
        var parts = [try requirePredicate(first)]
        while isAtOr {
            try advance()
            let part = try conjunction()
            parts.append(try requirePredicate(part))
        }
        return .predicate(.or(parts))
    }

    private mutating func conjunction() throws(QueryError) -> Part {
        let first = try negation()
        guard isAtAnd else { return first }
        var parts = [try requirePredicate(first)]
        while isAtAnd {
            try advance()
            let part = try negation()
            parts.append(try requirePredicate(part))
        }
        return .predicate(.and(parts))
    }

    private var isAtOr: Bool { isAt(.or) || keyword == .or }
    private var isAtAnd: Bool { isAt(.and) || keyword == .and }

    private mutating func negation() throws(QueryError) -> Part {
        guard isAt(.not) || keyword == .not else { return try comparison() }
        try count(at: token.range.lowerBound)
        try advance()
        return try nested { (parser) throws(QueryError) in
            let part = try parser.negation()
            return .predicate(.not(try parser.requirePredicate(part)))
        }
    }

    private mutating func comparison() throws(QueryError) -> Part {
        let left = try sum()
        guard case .expression(let leftExpression) = left else { return left }
        try refuseSearch()
        guard let comparator else { return left }
        let offset = token.range.lowerBound
        try count(at: offset)
        try advance()
        let options = try stringOptions(after: comparator)
        if comparator == .between {
            return .predicate(.comparison(try between(leftExpression, at: offset)))
        }
        guard case .expression(let right) = try sum() else {
            throw unexpected(
                "a value on the right of \(comparator.rawValue)",
                hint: "Conditions are joined with AND and OR, not compared.")
        }
        if leftExpression.isComputed, right.isComputed {
            try count(QuerySize.pairParts, at: offset)
        }
        return .predicate(
            .comparison(
                ComparisonSyntax(
                    leftExpression, comparator, options: options, right, offset: offset)))
    }

    /// Throws at an operator of Realm that is not built yet.
    private func refuseSearch() throws(QueryError) {
        let name: String
        switch keyword {
        case .text: name = "Full-text"
        case .geoWithin: name = "Geographic"
        default: return
        }
        throw QueryError(
            .invalidQuery, "\(name) search is not supported yet.", at: token.range.lowerBound,
            in: source)
    }

    /// The comparison operator that is next.
    private var comparator: Comparator? {
        if case .symbol(let symbol) = token.kind { return symbol.comparator }
        return switch keyword {
        case .in: .in
        case .between: .between
        case .beginsWith: .beginsWith
        case .endsWith: .endsWith
        case .contains: .contains
        case .like: .like
        case .matches: .matches
        default: nil
        }
    }

    private mutating func stringOptions(after comparator: Comparator) throws(QueryError)
        -> StringOptions
    {
        guard case .options(let options) = token.kind else { return [] }
        switch comparator {
        case .equal, .notEqual, .in, .beginsWith, .endsWith, .contains, .like, .matches:
            try advance()
            return options
        default:
            throw unexpected(
                "a value",
                hint:
                    "\(options.spelling) goes with ==, !=, IN, BEGINSWITH, ENDSWITH, CONTAINS, "
                    + "LIKE and MATCHES."
            )
        }
    }

    /// After BETWEEN: a list literal, and on the left a path.
    private mutating func between(_ left: ExpressionSyntax, at offset: Int) throws(QueryError)
        -> ComparisonSyntax
    {
        switch left {
        case .path, .subquery: break
        default:
            throw failure(
                "BETWEEN needs a property on its left.",
                hint: "Write the two comparisons with >= and <= instead.", at: offset)
        }
        switch try operand() {
        case .expression(let list) where list.mayBeList:
            return ComparisonSyntax(left, .between, list, offset: offset)
        default:
            throw failure(
                "BETWEEN needs a list of two values on its right.", hint: "Write BETWEEN {18, 30}.",
                at: offset)
        }
    }

    // MARK: Arithmetic

    private mutating func sum() throws(QueryError) -> Part {
        let first = try product()
        guard isAt(.plus) || isAt(.minus) else { return first }
        return try chain(from: first, of: [.plus: .add, .minus: .subtract]) {
            (parser) throws(QueryError) in try parser.product()
        }
    }

    private mutating func product() throws(QueryError) -> Part {
        let first = try operand()
        guard isAt(.times) || isAt(.divide) else { return first }
        return try chain(from: first, of: [.times: .multiply, .divide: .divide]) {
            (parser) throws(QueryError) in try parser.operand()
        }
    }

    /// Operands of the same precedence, joined from the left. Each operator deepens the tree, so
    /// each counts as a level.
    private mutating func chain(
        from first: Part, of operators: [Token.Symbol: ArithmeticOperator],
        _ next: (inout Parser) throws(QueryError) -> Part
    ) throws(QueryError) -> Part {
        let outerDepth = depth
        defer { depth = outerDepth }
        var result = try requireOperand(first)
        while case .symbol(let symbol) = token.kind, let arithmetic = operators[symbol] {
            let offset = token.range.lowerBound
            try count(QuerySize.computationParts, at: offset)
            try advance()
            let left = result
            result = try nested { (parser) throws(QueryError) in
                let part = try next(&parser)
                return .arithmetic(
                    arithmetic, left, try parser.requireOperand(part), offset: offset)
            }
            depth += 1
        }
        return .expression(result)
    }

    private func requireOperand(_ part: Part) throws(QueryError) -> ExpressionSyntax {
        guard case .expression(let expression) = part else {
            throw unexpected(
                "AND, OR or the end of the condition",
                hint: "There is no arithmetic with conditions.")
        }
        return expression
    }
}

extension Token.Symbol {
    /// The comparison that it means, if any.
    var comparator: Comparator? {
        switch self {
        case .equal: .equal
        case .notEqual: .notEqual
        case .less: .less
        case .lessOrEqual: .lessOrEqual
        case .greater: .greater
        case .greaterOrEqual: .greaterOrEqual
        default: nil
        }
    }
}

extension ExpressionSyntax {
    /// Whether it is neither a constant nor a list.
    var isComputed: Bool {
        switch self {
        case .path, .arithmetic, .subquery: true
        case .literal, .list, .quantifiedArgument: false
        }
    }

    fileprivate var mayBeList: Bool {
        switch self {
        case .list, .literal(.argument, _): true
        default: false
        }
    }
}
