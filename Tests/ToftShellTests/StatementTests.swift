// Tests: Statement.swift, StatementParser.swift, StatementReader.swift, DotCommand.swift,
// HyphenatedNames.swift
import Testing
import ToftEngine
import ToftQuery
import ToftTestKit

@testable import ToftShell

@Suite struct StatementTests {
    private func question(_ text: String) throws -> Question {
        guard case .question(let question) = try StatementParser.parse(text) else {
            throw Unexpected(text)
        }
        return question
    }

    private struct Unexpected: Error {
        var text: String
        init(_ text: String) { self.text = text }
    }

    /// The column under the caret of the error that a statement gives, and the error itself.
    private func failure(_ text: String) -> (column: Int, error: QueryError)? {
        do {
            _ = try StatementParser.parse(text)
            return nil
        } catch {
            let caret = error.excerpt.split(separator: "\n").last ?? ""
            return (caret.count - 1 - 4, error)
        }
    }

    @Test func `A class alone asks for all its objects`() throws {
        let question = try question("Person")
        #expect(question.owner.name == "Person" && question.query == nil)
        guard case .objects(let paths) = question.answer else { throw Unexpected("no objects") }
        #expect(paths.isEmpty)
    }

    @Test func `A condition ends where the next word can't belong to it`() throws {
        let question = try question(
            "Person where age > 5 and name != 'sort' sort(name) limit 20 show name, boss.name")
        #expect(question.query?.orderings.count == 2)
        guard case .objects(let paths) = question.answer else { throw Unexpected("no objects") }
        #expect(paths.map(\.text) == ["name", "boss.name"])
    }

    @Test func `A property may have the name of a word of a statement`() throws {
        let question = try question(#"Person where count > 3 and \show == 1 show \count, limit"#)
        guard case .objects(let paths) = question.answer else { throw Unexpected("no objects") }
        #expect(paths.map(\.keyPath) == ["count", "limit"])
        #expect(try self.question(#"\set where a == 1"#).owner.name == "set")
    }

    @Test func `Directions and parentheses may be left out, or written as in the query language`()
        throws
    {
        for text in [
            "P sort(a) limit 2 offset 1", "P sort(a ASC) LIMIT(2) OFFSET(1)",
            "P where TRUEPREDICATE SORT(a ascending) limit (2) offset(1)",
        ] {
            let orderings = try question(text).query?.orderings ?? []
            guard orderings.count == 3, case .sort(let keys) = orderings[0],
                case .limit(2) = orderings[1], case .offset(1) = orderings[2]
            else {
                Issue.record("\(text): \(orderings)")
                continue
            }
            #expect(keys.count == 1 && keys[0].isAscending, "\(text)")
        }
    }

    @Test func `Groups have keys, aggregates, conditions, an order and a limit`() throws {
        let question = try question(
            "Package where size > 0 group section, boss.name: count, sum(size), avg(a.b) "
                + "having count > 3 and sum(size) >= 10 or section == 'x' "
                + "sort(max(size) desc, section) limit 5 offset 2")
        guard case .groups(let groups) = question.answer else { throw Unexpected("no groups") }
        #expect(groups.keys.map(\.text) == ["section", "boss.name"])
        #expect(groups.values.map { $0.title(groups.keys) } == ["count", "sum(size)", "avg(a.b)"])
        #expect(groups.having.map(\.count) == [2, 1])
        #expect(groups.sort.map(\.isAscending) == [false, true])
        #expect(groups.hidden.map { $0.title(groups.keys) } == ["max(size)"])
        #expect(groups.limit == 5 && groups.offset == 2)
    }

    @Test func `Aggregates of all objects are one group without keys`() throws {
        guard case .count = try question("P where a == 1 count").answer else {
            throw Unexpected("no count")
        }
        guard case .groups(let groups) = try question("P count, min(a), max(b.c)").answer else {
            throw Unexpected("no groups")
        }
        #expect(groups.keys.isEmpty && groups.values.count == 3)
    }

    @Test func `Changes name a class, objects and values`() throws {
        guard
            case .set(let change) = try StatementParser.parse(
                #"set Person where age > 5 age=-3, name='It\'s', tags=["a, b", "]"] ok = true"#)
        else { throw Unexpected("no change") }
        #expect(change.assignments.map(\.property.name) == ["age", "name", "tags", "ok"])
        let values = change.assignments.map { assigned in
            switch assigned.value {
            case .text(let text): "'\(text)'"
            case .json(let bytes): String(decoding: bytes, as: UTF8.self)
            }
        }
        #expect(values == ["-3", "'It's'", #"["a, b", "]"]"#, "true"])
        guard case .set(let one) = try StatementParser.parse("set Person id=5 age=3"),
            case .key(let name, _) = one.selection.objects
        else { throw Unexpected("no key") }
        #expect(name.name == "id" && one.assignments.count == 1)
        guard case .create(let creation) = try StatementParser.parse(#"create P {"a": {"b": 1}}"#)
        else { throw Unexpected("no creation") }
        #expect(String(decoding: creation.json, as: UTF8.self) == #"{"a": {"b": 1}}"#)
        guard case .delete(let selection) = try StatementParser.parse("delete P where a == 1"),
            case .query = selection.objects
        else { throw Unexpected("no deletion") }
    }

    @Test(arguments: [
        ("", 0), ("5", 0), ("Person age > 5", 7), ("Person where", 12), ("Person where age >", 18),
        ("Person where age > 5 name", 21), ("Person show", 11), ("Person show name,", 17),
        ("Person limit x", 13), ("Person sort(name", 16), ("Person sort(name up)", 17),
        ("P group", 7), ("P group a: total", 11), ("P group a: sum", 14), ("P group a: sum(", 15),
        ("P group a having b > 3", 17), ("P group a having count", 22),
        ("P group a having count >", 24), ("P group a limit -1", 16), ("P count, b", 9),
        ("create", 6), ("create P", 8), ("create P 5", 9), ("create P {\"a\": 1", 9),
        ("set P", 5), ("set P id", 8), ("set P id=5", 10), ("set P where a == 1", 18),
        ("set P where a == 1 b", 20), ("set P where a == 1 b=", 21), ("set P id=5 a=1,", 15),
        ("delete P", 8), ("delete P where", 14), ("delete P id=5 x", 14), ("begin x", 6),
        ("P where a == 'x", 13), ("P show @nothing", 7), ("P ~", 2),
    ])
    func `A wrong statement is told with a caret under the wrong word`(text: String, column: Int) {
        let found = failure(text)
        #expect(found?.column == column, "\(text): \(found?.error.message ?? "no error")")
        #expect(found?.error.summary.isEmpty == false)
    }

    @Test func `Bytes of any kind give a statement or an error`() {
        for text in [
            "\u{0}", "P where \u{1F600} == 1", "P show a[", "set P where a == 1 b={\"c\": [}",
            "create P {\"a\": \"\\", "P group a: count having count > \"", "\\", "P where (((((",
        ] {
            _ = try? StatementParser.parse(text)
        }
    }

    @Test func `Words in any order give a statement or an error with its place`() {
        var seed = Seed.random()
        let words = [
            "Person", "where", "age", ">", "5", "==", "'x'", "and", "not", "sort", "(", ")",
            "limit", "show", "group", ":", "count", "sum", "having", ",", ".", "@count", "@links",
            "create", "set", "delete", "explain", "begin", "{", "}", "[", "]", "\"", "\\", "=",
            "-", "{\"a\": 1}", "ANY", "$0", "\u{301}", "desc", "offset", "TRUEPREDICATE",
        ]
        for _ in 0..<5_000 {
            let count = seed.below(12)
            let text = (0..<count).map { _ in seed.one(of: words) }.joined(
                separator: seed.chance(80) ? " " : "")
            do {
                _ = try StatementParser.parse(text)
            } catch {
                let place = error.offset ?? -1
                #expect(place >= 0 && place <= text.utf8.count, "\(seed): \(text)")
            }
        }
    }

    @Test func `Options of a command make the answer that a statement has`() throws {
        let fields = try StatementParser.answer(
            fields: "id, boss.name,tags.@count", keys: nil, aggregates: [], counts: false)
        guard case .objects(let paths) = fields else { throw Unexpected("no objects") }
        #expect(paths.map(\.text) == ["id", "boss.name", "tags.@count"])
        guard
            case .groups(let groups) = try StatementParser.answer(
                fields: nil, keys: "city", aggregates: [(.sum, "age")], counts: true)
        else { throw Unexpected("no groups") }
        #expect(groups.values.map { $0.title(groups.keys) } == ["count", "sum(age)"])
        #expect(throws: QueryError.self) {
            try StatementParser.answer(fields: "id,", keys: nil, aggregates: [], counts: false)
        }
    }

    @Test func `Commands of the shell are told apart, and wrong ones named with their place`()
        throws
    {
        guard case .mode(.json?) = try DotCommand.parse(" .mode json "),
            case .timer(true?) = try DotCommand.parse(".timer on"),
            case .schema(nil) = try DotCommand.parse(".schema"),
            case .open("a b.toft") = try DotCommand.parse(".open a b.toft"),
            case .explain("P where a == 1") = try DotCommand.parse(".explain P where a == 1")
        else { throw Unexpected("another command") }
        for (text, word, caret) in [
            (".mod json", "'.mode'", "    ^"), (".mode xml", "table", "          ^"),
            (".open", "file", "         ^"), (".quit now", "nothing", "          ^"),
            (".timer maybe", "on or off", "           ^"),
        ] {
            let error = #expect(throws: EngineError.self) { try DotCommand.parse(text) }
            #expect(error?.message.contains(word) == true, "\(error?.message ?? "")")
            #expect(error?.detail.hasSuffix("\n" + caret) == true, "\(error?.detail ?? "")")
        }
    }
}
