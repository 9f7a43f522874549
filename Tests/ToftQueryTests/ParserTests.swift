// Tests: Parser.swift, EngineError+Query.swift, KeyPath.swift, Parser+Operand.swift,
// QueryError.swift, SyntaxTree.swift, Token.swift
import Testing
import ToftModel
import ToftStorage

@testable import ToftQuery

@Suite struct ParserTests {
    /// The error that parsing `text` gives.
    private func failure(_ text: String) -> QueryError? {
        do {
            _ = try Parser.parse(text)
            return nil
        } catch {
            return error
        }
    }

    /// The tree of `text`, drawn with every parenthesis.
    private func drawn(_ text: String, hyphenatedNames: Set<String> = []) throws -> String {
        try Parser.parse(text, hyphenatedNames: hyphenatedNames).predicate.drawn
    }

    @Test func `Not binds tighter than and binds tighter than or`() throws {
        #expect(
            try drawn("NOT a == 1 AND b == 2 OR c == 3")
                == "((NOT (a == 1) AND (b == 2)) OR (c == 3))")
        #expect(
            try drawn("a == 1 || b == 2 && !c == 3") == "((a == 1) OR ((b == 2) AND NOT (c == 3)))")
        #expect(
            try drawn("a == 1 OR b == 2 AND c == 3 OR d == 4")
                == "((a == 1) OR ((b == 2) AND (c == 3)) OR (d == 4))")
    }

    @Test func `A path is parted at each point, whatever marks it joins with`() {
        for (path, count) in [
            ("a.\u{301}b", 2), ("a\u{600}.b", 2), ("a.\u{FE0F}b['x.\u{301}y'].c", 4),
            ("e\u{301}", 1),
            ("a[\u{301}'x']", 1), ("\u{301}a['x']\u{301}.b", 2),
        ] {
            #expect(PathSyntax(keyPath: path).elements.count == count, "\(path.utf8.map { $0 })")
        }
    }

    @Test func `Multiplication binds tighter than addition and both from the left`() throws {
        #expect(try drawn("a + 2 * b - 3 == 4") == "(((a + (2 * b)) - 3) == 4)")
        #expect(try drawn("a / 2 * 2 == a") == "(((a / 2) * 2) == a)")
    }

    @Test func `Parentheses may hold conditions or values`() throws {
        #expect(try drawn("((age)) > (18)") == "(age > 18)")
        #expect(
            try drawn("(age + 1) * 2 > 3 AND ((name == 'x'))")
                == "((((age + 1) * 2) > 3) AND (name == 'x'))")
    }

    @Test func `A sign touches its number where a value is expected and subtracts elsewhere`()
        throws
    {
        #expect(try drawn("age+1==19") == "((age + 1) == 19)")
        #expect(try drawn("age -1 == -17") == "((age - 1) == -17)")
        #expect(try drawn("age - -1 == +2") == "((age - -1) == 2)")
        #expect(failure("age == --1")?.kind == .syntax)
        #expect(failure("age == - 1")?.kind == .syntax)
        #expect(failure("-age == 1")?.kind == .syntax)
    }

    @Test func `A hyphen belongs to a name only if the schema has such a name`() throws {
        #expect(
            try drawn("first-name == 'x'", hyphenatedNames: ["first-name"]) == "(first-name == 'x')"
        )
        #expect(try drawn("a-b-1 == 2", hyphenatedNames: ["a-b"]) == "((a-b - 1) == 2)")
        #expect(try drawn("age-1 == 17") == "((age - 1) == 17)")
    }

    @Test func `Blanks in a name are escaped`() throws {
        #expect(try drawn(#"full\ name == 1"#) == "(full name == 1)")
    }

    @Test func `Most keywords may name a property`() throws {
        for name in [
            "contains", "like", "between", "in", "sort", "distinct", "limit", "asc", "desc", "text",
            "binary", "first", "last", "size",
        ] {
            #expect(try drawn("\(name) == 1") == "(\(name) == 1)")
        }
        for name in [
            "any", "all", "none", "some", "and", "or", "not", "true == 1 AND true", "null.x", "obj",
            "subquery",
        ] {
            #expect(failure("\(name) == 1")?.kind == .syntax || name.hasPrefix("true"))
        }
        #expect(try drawn("contains CONTAINS 'x'") == "(contains CONTAINS 'x')")
    }

    @Test func `Some keywords count only in one case`() throws {
        #expect(
            try drawn("a In == 1 AND b == 2".replacing("a In", with: "iN"))
                == "((iN == 1) AND (b == 2))")
        #expect(failure("nOt age > 18")?.kind == .syntax)
        #expect(failure("age iN {18}")?.kind == .syntax)
        #expect(try drawn("age BeTwEeN {1, 2}") == "(age BETWEEN {1, 2})")
    }

    @Test func `Numbers are decimal unless they begin with 0 x`() throws {
        #expect(try drawn("a == 010") == "(a == 10)")
        #expect(try drawn("a == 0x1F") == "(a == 31)")
        #expect(try drawn("a == 18446744073709551615") == "(a == 18446744073709551615)")
        #expect(try drawn("a == 0xFFFFFFFFFFFFFFFF") == "(a == 18446744073709551615)")
        #expect(try drawn("a == -9223372036854775808") == "(a == -9223372036854775808)")
        #expect(
            try drawn("a == 1. OR a == .5 OR a == 1e3 OR a == 2.5E-1 OR a == 1.e1")
                == "((a == 1.0) OR (a == 0.5) OR (a == 1000.0) OR (a == 0.25) OR (a == 10.0))")
        #expect(try drawn("a == 42f AND a == -1.5f") == "((a == 42.0f) AND (a == -1.5f))")
        #expect(try drawn("age > 18AND b == 1") == "((age > 18) AND (b == 1))")
        #expect(failure("a == 1.2.3")?.kind == .syntax)
        #expect(failure("a == 0b11")?.kind == .syntax)
    }

    @Test func `Escapes in text mean what they say`() throws {
        #expect(try drawn(#"a == 'it\'s'"#) == "(a == 'it's')")
        #expect(try drawn(#"a == 'x\ny\t\\\u0041\uD83D\uDE00\/'"#) == "(a == 'x\ny\t\\A😀/')")
        #expect(failure(#"a == 'x\q'"#)?.offset == 7)
        #expect(failure(#"a == '\uD83D'"#)?.kind == .syntax)
        #expect(try drawn("a == 'line\nbreak'") == "(a == 'line\nbreak')")
    }

    @Test func `Base 64 is text alone and data within binary`() throws {
        #expect(try drawn(#"a == B64"Qm9i""#) == "(a == 'Bob')")
        #expect(try drawn(#"a == binary(B64"//4")"#) == "(a == binary[255, 254])")
        #expect(try drawn("a == bin ('abc')") == "(a == binary[97, 98, 99])")
    }

    @Test func `Dates are seconds or calendar time`() throws {
        #expect(try drawn("a == T1:5") == "(a == T1:5)")
        #expect(try drawn("a == T-1:-500000000") == "(a == T-1:-500000000)")
        #expect(try drawn("a == 2020-01-01@00:00:00") == "(a == T1577836800:0)")
        #expect(try drawn("a == 2020-1-1T0:0:0:7") == "(a == T1577836800:7)")
        #expect(try drawn("a == 1969-12-31@23:59:59:500000000") == "(a == T-1:-500000000)")
        #expect(try drawn("a == 1600-02-29@00:00:00") == "(a == T-11670998400:0)")
        #expect(try drawn("a == 9999-12-31@23:59:59") == "(a == T253402300799:0)")
        #expect(try drawn("T123456 == 1") == "(T123456 == 1)")
        #expect(failure("a == T-1:500000000")?.kind == .syntax)
        #expect(failure("a == 2020-01-01@00:00")?.kind == .syntax)
    }

    @Test func `A date field out of range is shown where it stands`() {
        #expect(failure("a == 2019-13-01@00:00:00")?.offset == 10)
        #expect(failure("a == 2019-02-29@00:00:00")?.offset == 13)
        #expect(failure("a == 2019-12-31@24:00:00")?.offset == 16)
        #expect(failure("a == 99999999999999999999-12-31@00:00:00")?.kind == .syntax)
    }

    @Test func `Paths have operations indexes and quantifiers`() throws {
        #expect(try drawn("SOME boss.dogs.@max.age > 1") == "(ANY boss.dogs.@max.age > 1)")
        #expect(try drawn("NONE ints[*] == {1, 2}") == "(NONE ints[*] == {1, 2})")
        #expect(try drawn("a[0].b[LAST].c['k'][$1] == 1") == "(a[0].b[LAST].c['k'][$1] == 1)")
        #expect(
            try drawn("@links.Person.dogs.@count > ALL {1}")
                == "(@links.Person.dogs.@count > ALL {1})")
        #expect(try drawn("$K0 == $1") == "($K0 == $1)")
        #expect(
            try drawn("SUBQUERY($f.dogs, $d, $d.age > 5).@size > 0")
                == "(SUBQUERY($f.dogs, $d, ($d.age > 5)) > 0)")
        #expect(failure("ints[-1] == 3")?.kind == .syntax)
        #expect(failure("ints[Last] == 3")?.kind == .syntax)
    }

    @Test func `Orderings follow the predicate in written order`() throws {
        let query = try Parser.parse(
            "TRUEPREDICATE SORT(age ASC, name descending)limit(5)DISTINCT(a.b)")
        #expect(query.orderings.count == 3)
        #expect(failure("TRUEPREDICATE LIMIT(-1)")?.kind == .syntax)
        #expect(failure("TRUEPREDICATE LIMIT($0)")?.kind == .syntax)
        #expect(failure("age > 18 LIMIT(5) AND active == true")?.kind == .syntax)
        #expect(failure("age > 18 SORT(name)")?.kind == .syntax)
        #expect(failure("age > 18 SORT(dogs.@count DESC)")?.kind == .syntax)
    }

    @Test func `An error shows the line with a caret under the place`() {
        let error = failure("name == 'x'\n  AND age == ")
        #expect(
            error?.message == """
                Expected a value, but the query ends here.
                    Line 2:
                      AND age == 
                                 ^
                A value is a property, a constant such as 18 or 'text', or an argument such as $0.
                """)
        #expect(failure("é == `x`")?.message.contains("    é == `x`\n         ^") == true)
    }

    @Test func `A long line is cut around the caret`() {
        let text =
            "name == '" + String(repeating: "x", count: 500) + "' AND AND "
            + String(repeating: "y", count: 500)
        let lines = failure(text)?.message.split(separator: "\n") ?? []
        #expect(lines.count >= 3 && lines.allSatisfy { $0.count < 140 })
    }

    @Test func `Deep nesting is an error and not a stack overflow`() {
        for (open, close) in [
            ("(", ")"), ("NOT ", ""), ("!", ""), ("SUBQUERY(a, $a, ", ").@count > 0"),
            ("1 + (", ")"),
        ] {
            let text =
                String(repeating: open, count: 100_000) + "a == 1"
                + String(repeating: close, count: 100_000)
            #expect(failure(text)?.kind == .syntax)
        }
        #expect(failure("a == 1" + String(repeating: " + 1", count: 100_000))?.kind == .syntax)
        #expect(
            failure(
                String(repeating: "(", count: 90) + "a == 1" + String(repeating: ")", count: 90))
                == nil)
    }

    @Test func `A long chain of alternatives is fine`() throws {
        let text = (0..<12_000).map { "age == \($0)" }.joined(separator: " OR ")
        guard case .or(let parts) = try Parser.parse(text).predicate else {
            Issue.record("not an OR")
            return
        }
        #expect(parts.count == 12_000)
    }

    @Test func `What realm calls a syntax error is one and nothing else`() {
        #expect(Fixtures.rows.count == 1080)
        for row in Fixtures.rows where Fixtures.quirks[row.id] == nil {
            let error = failure(row.query)
            let isSyntaxError = row.errorKind == "syntax"
            #expect(
                (error?.kind == .syntax) == isSyntaxError,
                "\(row.id): \(row.query)\n\(error?.message ?? "parses")")
        }
    }
}

extension PredicateSyntax {
    /// The tree with every parenthesis.
    var drawn: String {
        switch self {
        case .constant(let value): value ? "TRUEPREDICATE" : "FALSEPREDICATE"
        case .not(let predicate): "NOT " + predicate.drawn
        case .and(let parts): "(" + parts.map(\.drawn).joined(separator: " AND ") + ")"
        case .or(let parts): "(" + parts.map(\.drawn).joined(separator: " OR ") + ")"
        case .comparison(let comparison):
            "(\(comparison.left.drawn) "
                + "\(comparison.comparator.rawValue)\(comparison.options.spelling) "
                + "\(comparison.right.drawn))"
        }
    }
}

extension ExpressionSyntax {
    var drawn: String {
        switch self {
        case .literal(let literal, _): literal.drawn
        case .list(let quantifier, let elements, _):
            (quantifier.map { $0.rawValue + " " } ?? "") + "{"
                + elements.map(\.literal.drawn).joined(separator: ", ") + "}"
        case .quantifiedArgument(let quantifier, let index, _): "\(quantifier.rawValue) $\(index)"
        case .path(let path): path.drawn
        case .arithmetic(let arithmetic, let left, let right, _):
            "(\(left.drawn) \(arithmetic.rawValue) \(right.drawn))"
        case .subquery(let subquery):
            "SUBQUERY(\(subquery.collection.drawn), \(subquery.variable), "
                + "\(subquery.predicate.drawn))"
        }
    }
}

extension PathSyntax {
    var drawn: String {
        var text = quantifier.map { $0.rawValue + " " } ?? ""
        for (index, element) in elements.enumerated() {
            let dot = index == 0 ? "" : "."
            switch element.kind {
            case .name(let name): text += dot + name
            case .argument(let argument): text += dot + "$K\(argument)"
            case .operation(let operation): text += dot + operation.rawValue
            case .index(let index): text += "[\(index.drawn)]"
            }
        }
        return text
    }
}

extension PathIndex {
    var drawn: String {
        switch self {
        case .position(let position): "\(position)"
        case .first: "FIRST"
        case .last: "LAST"
        case .size: "SIZE"
        case .every: "*"
        case .key(let key): "'\(key)'"
        case .argument(let index): "$\(index)"
        }
    }
}

extension Literal {
    var drawn: String {
        switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .integer(.small(let value)): "\(value)"
        case .integer(.large(let isNegative, let digits)):
            (isNegative ? "-" : "") + String(decoding: digits, as: UTF8.self)
        case .double(let number): "\(number.double)"
        case .float(let value): "\(value)f"
        case .string(let text): "'\(String(decoding: text.bytes, as: UTF8.self))'"
        case .data(let bytes): "binary\(bytes)"
        case .date(let date): "T\(date.seconds):\(date.nanoseconds)"
        case .uuid(let bytes): "uuid\(bytes)"
        case .objectId(let bytes): "oid\(bytes)"
        case .value(let value): value.description
        case .objectKey(let key): "O\(key)"
        case .argument(let index): "$\(index)"
        case .object(let className, let key): "obj(\(className), \(key))"
        }
    }
}
