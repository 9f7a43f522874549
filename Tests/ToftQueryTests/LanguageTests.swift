// Tests: Arithmetic.swift, Binder.swift, Binder+Alternatives.swift, Binder+Comparison.swift,
// Binder+Dependencies.swift, Binder+Ordering.swift, Binder+Path.swift, BoundPredicate.swift,
// BoundQuery+Binding.swift, ByteSearch.swift, CaseFolding.swift, Cost.swift,
// ExpressionMatcher.swift, FoldingTable.swift, KeyPathAliases.swift, LikeMatcher.swift,
// LikePattern.swift, PreparedQuery.swift, QuerySize.swift, RegularExpression.swift,
// StackOfQuery.swift, StringOptions.swift, TextMatcher.swift, TypeNames.swift
import Synchronization
import Testing
import ToftEngine
import ToftModel
import ToftPlatform
import ToftStorage

@testable import ToftQuery

/// Cases beyond the examples of the language's page: limits, sums beyond 64 bits, and queries that
/// would take for ever if every path were followed.
@Suite struct LanguageTests {
    private let session: Session
    private let person: ClassID

    /// Four people, 1 to 4, each a friend of all; `ints` are sums that overflow on the way or not.
    init() throws {
        session = try Session.open(
            Configuration(
                location: .memory(name: "language \(UInt64.random(in: 0 ... .max))"),
                schema: Schema([
                    ClassSchema(
                        "Person",
                        [
                            PropertySchema("id", .int, isPrimaryKey: true),
                            PropertySchema("name", .string),
                            PropertySchema("age", .int),
                            PropertySchema("ints", .int, collection: .list),
                            .links("friends", to: "Person"),
                            PropertySchema("mixed", .mixed, isOptional: true),
                            PropertySchema("mixeds", .mixed, collection: .list),
                        ])
                ])))
        let owner = try session.classHandle(named: "Person")
        person = owner.id
        func property(_ name: String) throws -> PropertyID { try owner.property(named: name).id }
        try session.beginWrite()
        let lists: [[Int64]] = [
            [.max, 1, -1], [1, -1, .max], [.max, 13, 1 - .max], [.max, .max],
        ]
        var made: [ObjectHandle] = []
        for (index, list) in lists.enumerated() {
            let object = try session.create(
                person,
                [
                    (try property("id"), .int(Int64(index + 1))),
                    (try property("name"), .string(String(repeating: "a", count: 30))),
                    (try property("age"), .int(list[0])),
                ])
            for value in list { try object.list(try property("ints")).append(.int(value)) }
            made.append(object)
        }
        for object in made {
            for friend in made {
                try object.list(try property("friends")).append(.link(friend.ref))
            }
        }
        try session.commit()
    }

    private func ids(_ query: String, _ arguments: [QueryArgument] = []) throws -> [Int64] {
        try session.results(of: person).filter(query, arguments: arguments).keys().map { $0 + 1 }
    }

    private func message(_ query: String, _ arguments: [QueryArgument] = []) -> String {
        do {
            _ = try ids(query, arguments)
            return ""
        } catch {
            return (error as? EngineError)?.message ?? "\(error)"
        }
    }

    @Test func `A sum and a mean do not depend on the order of their integers`() throws {
        #expect(try ids("ints.@sum == 9223372036854775807") == [1, 2])
        #expect(try ids("ints.@sum == 14") == [3])
        #expect(try ids("ints.@sum == null") == [4], "beyond 64 bits")
        #expect(try ids("ints.@avg > 4.66 AND ints.@avg < 4.67") == [3])
        #expect(try ids("ints.@avg == 9223372036854775807.0") == [4], "2^63, next to the mean")
    }

    /// Runs a body with a fifth person in the database, without values.
    private func withNobody(_ body: (_ nobody: ObjectHandle) throws -> Void) throws {
        try session.beginWrite()
        defer { try? session.cancel() }
        let owner = try session.classHandle(named: "Person")
        try body(
            try session.create(person, [(try owner.property(named: "id").id, .int(5))]))
    }

    @Test func `A list of constants is compared with each element as one constant is`() throws {
        try withNobody { _ throws in
            for (one, list) in [
                ("ANY ints != 1", "ANY ints != {1}"), ("ALL ints != 1", "ALL ints != {1}"),
                ("NONE ints != 9223372036854775807", "NONE ints != {9223372036854775807}"),
                ("ints[0] != 1", "ints[0] != {1}"), ("ints[2] != 1", "ints[2] != {1}"),
                ("1 != ALL ints", "{1} != ALL ints"), ("age != 1", "age != {1}"),
            ] { #expect(try ids(one) == ids(list), "\(one)") }
            #expect(try ids("ALL ints != {1}") == [3, 4, 5])
            #expect(try ids("NONE ints != {9223372036854775807}") == [4, 5])
            #expect(try ids("ints[0] != {1}") == [1, 3, 4])
            #expect(
                try ids("ALL ints == {1, -1, 9223372036854775807}")
                    == ids("{1, -1, 9223372036854775807} == ALL ints"))
            #expect(try ids("{1, -1, 9223372036854775807} == ALL ints") == [1, 2, 4, 5])
            #expect(try ids("ints != {1, -1, 9223372036854775807}") == [1, 3, 4, 5])
        }
    }

    @Test func `A text or a prepared query takes its paths and indices from each call's arguments`()
        throws
    {
        func both(_ text: String, _ arguments: Value...) throws -> [Int64] {
            let arguments = arguments.map(QueryArgument.value)
            let found = try ids(text, arguments)
            let results = try session.results(of: person)
            #expect(
                try results.filter(prepared[text]!, arguments: arguments).keys().map { $0 + 1 }
                    == found)
            return found
        }
        let prepared = Dictionary(
            uniqueKeysWithValues: try ["ints[$0] == $1", "$K0 == $1"].map {
                ($0, try PreparedQuery($0))
            })
        for _ in 0..<3 {
            #expect(try both("ints[$0] == $1", .int(0), .int(.max)) == [1, 3, 4])
            #expect(try both("ints[$0] == $1", .int(1), .int(-1)) == [2])
            #expect(try both("$K0 == $1", .string("id"), .int(3)) == [3])
            #expect(try both("$K0 == $1", .string("age"), .int(1)) == [2])
        }
    }

    @Test func `The least and the greatest of mixed values are no NaN`() throws {
        try withNobody { nobody throws in
            let owner = try session.classHandle(named: "Person")
            let list = try nobody.list(try owner.property(named: "mixeds").id)
            try list.append(.double(.nan))
            #expect(try ids("mixeds.@max == NULL AND id == 5") == [5])
            for value in [Value.int(5), .int(7), .double(.nan)] { try list.append(value) }
            #expect(try ids("mixeds.@min == 5") == [5])
            #expect(try ids("mixeds.@max == 7") == [5])
        }
    }

    @Test func `Lists of equal numbers within mixed values are told apart by none`() throws {
        try withNobody { nobody throws in
            let owner = try session.classHandle(named: "Person")
            let mixed = try owner.property(named: "mixed").id
            try nobody.set(mixed, .list([.int(1), .list([.double(2)])]))
            let other = try session.create(
                person, [(try owner.property(named: "id").id, .int(6))])
            try other.set(mixed, .list([.double(1), .list([.int(2)])]))
            #expect(try ids("mixed != NULL") == [5, 6])
            #expect(try ids("mixed != NULL DISTINCT(mixed)") == [5])
        }
    }

    @Test(arguments: [63, 64, 65]) func `An alias stands for as many steps as a path may have`(
        steps: Int
    ) throws {
        let path = Array(repeating: "friends", count: steps - 1) + ["id"]
        try session.setAlias("far", of: person, to: path.joined(separator: "."))
        let text = message("ANY far == 1")
        #expect(steps <= 64 ? text.isEmpty : text.contains("64 are the most"), "\(text)")
        #expect(message("ANY \(path.joined(separator: ".")) == 1").isEmpty == (steps <= 64))
    }

    @Test(arguments: [63, 64, 65]) func `A sort has no more keys than its limit`(count: Int) throws
    {
        let keys = Array(repeating: "name ASC", count: count - 1) + ["id DESC"]
        let query = "TRUEPREDICATE SORT(\(keys.joined(separator: ", ")))"
        if count <= 64 {
            #expect(try ids(query) == [4, 3, 2, 1])
        } else {
            #expect(message(query).contains("64 are the most"))
        }
    }

    @Test func `A query that compares all elements of long lists can be interrupted`() throws {
        try session.beginWrite()
        let object = try #require(try session.object(ObjectRef(classID: person, key: 0)))
        let list = try object.list(
            try session.classHandle(named: "Person").property(named: "ints").id)
        for value in 0..<200_000 { try list.append(.int(Int64(value))) }
        expectInterrupted("ALL ints != ALL ints")
        try session.cancel()
    }

    private func expectInterrupted(_ query: String) {
        let interruption = session.interruption
        let done = Atomic(false)
        let thread = try? PlatformThread(name: "interrupt") {
            while !done.load(ordering: .acquiring) {
                Futex.sleep(nanoseconds: 10_000_000)
                interruption.interrupt()
            }
        }
        #expect(message(query).contains("ended by another thread"))
        done.store(true, ordering: .releasing)
        thread?.join()
    }

    @Test func `A path that leads to the same objects in many ways is followed once for each`()
        throws
    {
        let friends = Array(repeating: "friends", count: 60).joined(separator: ".")
        #expect(try ids("ANY \(friends).age == -99") == [])
        #expect(try ids("ALL \(friends).name BEGINSWITH 'a'") == [1, 2, 3, 4])
        #expect(try ids("NONE \(friends).id == 5") == [1, 2, 3, 4])
        #expect(try ids("ANY friends.friends.friends.id == 3 AND id == 2") == [2])
        let counted = "SUBQUERY(\(friends), $f, $f.id == 1).@count"
        #expect(try ids("\(counted) == \(Int64.max)") == [1, 2, 3, 4], "no more than this")
        #expect(try ids("SUBQUERY(friends, $f, $f.id > 2).@count == 2") == [1, 2, 3, 4])
    }

    /// `age - 1 - 1 ...` took twice as long with each operator: the type of both sides was computed
    /// at every level.
    @Test(arguments: [20, 28, 60, 99]) func `A long computation takes as long as its length`(
        operators: Int
    ) throws {
        let paths = ["id", "id * 1.0", "mixed", "ints", "friends.id", "ints.@count"]
        let operands = ["1", "1.0", "decimal(1)", "id", "friends.@count"]
        for path in paths {
            for operand in operands {
                for word in ["+", "-", "*", "/"] {
                    let depth = operators - (path.contains("*") ? 1 : 0)
                    let chain = path + String(repeating: " \(word) \(operand)", count: depth)
                    _ = try ids("\(chain) == 5")
                    _ = try ids("id < \(chain)")
                }
            }
        }
        let nested = min(operators, 49)
        let right =
            String(repeating: "1 - (", count: nested) + "id" + String(repeating: ")", count: nested)
        #expect(try ids("\(right) == \(nested % 2 == 0 ? "2" : "1 - 2")") == [2])
        let left =
            String(repeating: "(", count: nested) + "id" + String(repeating: " - 1)", count: nested)
        #expect(try ids("\(left) == 2 - \(nested)") == [2])
        #expect(
            try ids("id\(String(repeating: " - 1", count: operators)) == 2 - \(operators)") == [2])
    }

    /// A megabyte of conditions took hundreds of megabytes of memory.
    @Test(arguments: [-1, 0, 1]) func `A query has no more parts than its limit`(over: Int) throws {
        let limit = QuerySize.partLimit
        // `id == 1` is two parts, `NOT` is one more.
        func conditions(_ parts: Int) -> String {
            Array(repeating: "id == 1", count: parts / 2).joined(separator: " AND ")
                + (parts % 2 == 1 ? " AND TRUEPREDICATE" : "")
        }
        func expect(_ query: String) {
            let text = message(query)
            #expect(over > 0 ? text.contains("more than \(limit)") : text.isEmpty, "\(text)")
            #expect(over <= 0 || excerpt(query).contains("^"))
        }
        expect(conditions(limit + over))
        let sums = "id" + String(repeating: " + 1", count: 95) + " == 9"
        let all = Array(repeating: sums, count: limit / 382).joined(separator: " OR ")
        expect(all + " OR " + conditions(limit % 382 + over))
        // An alias counts as its path.
        try session.setAlias(
            "far", of: person, to: String(repeating: "friends.", count: 37) + "id")
        let far = Array(repeating: "far == 1", count: limit / 78).joined(separator: " OR ")
        expect(far + " OR " + conditions(limit % 78 + over))
    }

    @Test(arguments: [-1, 0, 1]) func `The lists of a query have no more elements than their limit`(
        over: Int
    ) throws {
        let limit = QuerySize.elementLimit
        func list(_ count: Int) -> String {
            "{" + Array(repeating: "1", count: count).joined(separator: ",") + "}"
        }
        let text = message("id IN {1} OR id IN \(list(limit - 1 + over))")
        #expect(over > 0 ? text.contains("more than \(limit) elements") : text.isEmpty, "\(text)")
        // An argument is as long as its program likes, the first time that it is used.
        let values = Array(repeating: Value.int(2), count: limit + over)
        #expect(try ids("id IN $0", [.list(values)]) == [2])
        let again = message("id IN $0 OR age IN $0", [.list(values)])
        #expect(again.contains("more than \(limit) elements") == (over > 0), "\(again)")
    }

    @Test func `An error in a long line shows what stands around it`() {
        let long = "name == '" + String(repeating: "é", count: 3_000_000) + "' AND"
        #expect(excerpt(long).contains("éé' AND\n"))
        #expect(excerpt("name == = '" + long).contains("éé…\n"))
    }

    /// The line with the caret; empty if the query is parsed.
    private func excerpt(_ query: String) -> String {
        do throws(QueryError) {
            _ = try BoundQuery.parse(
                query, className: "Person", schema: session.schema.stored,
                aliases: session.aliases)
            return ""
        } catch {
            return error.excerpt
        }
    }

    @Test func `An error stands where the word is, and says which was meant`() {
        func expect(_ query: String, _ parts: String...) {
            let text = message(query) + "\n" + excerpt(query)
            for part in parts { #expect(text.contains(part), "\(query): \(text)") }
        }
        expect("name is 'Bob'", "found 'is'", "Write ==.", "\n         ^")
        expect("name STARTSWITH 'x'", "Did you mean BEGINSWITH?", "\n         ^")
        for text in ["any == 1", "any.@size == 1", "SELF.any == 1"] {
            expect(text, "A property of this name is written \\any.")
        }
        expect("and == 1", "A property of this name is written \\and.")
        expect("not_ == 1 OR boss.not == 1", "A property of this name is written n\\ot.")
        expect(
            "id == 1 AND name CONTIANS 'x'", "Did you mean CONTAINS?", "\n                     ^")
        expect("age NOT IN {1}", "NOT age IN", "\n        ^")
        expect("LIMIT(5)", "Expected a condition", "write TRUEPREDICATE before it", "\n    ^")
        expect("id IN (1, 2)", "A list is written with braces: {1, 2}.", "\n            ^")
        let digits = String(repeating: "f", count: 10_000)
        #expect(message("id == 0x\(digits)") == "")
        expect("id == 0x\(digits)f", "A hexadecimal number has at most 10000 digits.")
        #expect(message(String(repeating: "x", count: 100_000) + " == 1").utf8.count < 3_000)
        expect("id == 1 OR NOT name", "the query ends here", "\n                       ^")
        expect("mixed == uuid(0000)", "32 hexadecimal digits", "Write uuid(")
        expect("mixed == oid('00')", "24 hexadecimal digits", "Write oid(")
        expect("id == $99999999999999999999", "less than 1000000")
        expect("name ==[C] 'x'", "are [c], [d] and [cd].", "\n           ^")
        expect("friends.@sum.friends.id == 1", "list of link to 'Person'")
        expect("Any friends.id == 1", "Did you mean ANY?", "\n        ^")
        expect("NOT Not id == 1", "Did you mean NOT?")
        expect("self.id == 1", "SELF, in capitals,", "\n    ^")
        expect("friends.count > 1", "Did you mean @count?", "\n            ^")
        expect("name.length > 1", "Did you mean @size?")
        expect("friends.id.@max > 1", "stands before the property: @max.id.", "\n               ^")
        #expect(!message("friends.name.@max == 'x'").contains("before"))
        expect("@links.Persons.friends.id == 1", "There is no class", "'Person'?", "\n           ^")
        expect("@links.Person.freinds.id == 1", "'friends'?", "\n                  ^")
        expect("@links.Person.id == 1", "'Person.id' does not link to 'Person'.")
        expect("id == 1 AND\r\n  nam == 'x'", "Line 2:\n      nam == 'x'\n      ^")
        expect("\n\n\nid ==\n", "Line 5:\n    \n    ^")
    }

    @Test func `A constant beyond 64 bits is computed with as a double`() throws {
        #expect(try ids("id + 9223372036854775808 > 9223372036854775807").count == 4)
        #expect(
            try ids("id - 9223372036854775809 < 0 AND -9223372036854775809 * id < 0").count == 4)
        #expect(try ids("id + 9223372036854775807 > 0").count == 0)
    }

    @Test func `A number that no type has is compared exactly, or refused`() throws {
        // `age` holds 2^63 - 1, 1, 2^63 - 1 and 2^63 - 1.
        #expect(try ids("age < 1e400").count == 4 && ids("age > -1e400").count == 4)
        #expect(try ids("id - id == 1e-400 OR age == 1e400 OR age == -1e400").count == 0)
        #expect(try ids("id > 1e-400").count == 4)
        #expect(try ids("double(2.5) < id").count == 2)
        for query in [
            "id > 1e7000", "id > -1e7000", "id > 1e-7000", "id == 1e39f", "id == 1e-60f",
            "id IN {1, 1e7000}", "id BETWEEN {0, 1e7000}", "id == decimal(1e7000)",
            "id == decimal(0.10000000000000000000000000000000001)",
        ] {
            #expect(
                message(query).contains("range") || message(query).contains("float")
                    || message(query).contains("34 digits"), "\(query): \(message(query))")
        }
        for query in ["id + 1e400 > 5", "1e-400 * id > 5"] {
            #expect(message(query).contains("to be computed with"))
        }
        let digits = "0.10000000000000000000000000000000001"
        #expect(message("mixed == \(digits)").contains("more than 34 digits"))
        #expect(try ids("id + 0.5 == \(digits)").count == 0, "beside a double it is the next one")
        #expect(try ids("mixed == double(\(digits))").count == 0)
    }

    @Test func `Curly quotes are no quotes`() throws {
        for text in [
            "name == \u{201C}Bob\u{201D}", "name == \u{2018}Bob\u{2019}",
            "name IN {\u{201E}x\u{201C}}",
        ] {
            #expect(message(text).contains("A curly quote has no meaning here."), "\(text)")
            #expect(message(text).contains("straight quotes, ' or \", not in curly ones"))
        }
        #expect(try ids("name == '\u{201C}Bob\u{201D}'") == [])
    }

    @Test func `An object may be written as its number, beside a link or with its class`() throws {
        let keys = try session.results(of: person).keys()
        for (index, key) in keys.enumerated() {
            let id = Int64(index + 1)
            for query in [
                "SELF == O\(key)", "O\(key) == SELF", "SELF IN {O\(key)}",
                "SELF == L\(person):\(key)",
                "SELF IN {O\(key), O99999}",
            ] {
                #expect(try ids(query) == [id], "\(query)")
            }
            #expect(try ids("SELF != O\(key)").count == 3)
            #expect(try ids("friends == O\(key)").count == 4)
        }
        #expect(try ids("SELF == O99999") == [])
        let text = try session.results(of: person).filter("SELF == O1 OR friends IN {O2}").query()
        #expect(text == "SELF == O1 OR friends IN {O2}")
        #expect(try session.results(of: person).filter(text).query() == text)
        #expect(message("id == O1").contains("of the class that a link leads to, but id is int"))
        #expect(message("mixed == O1").contains("such as $0, obj('Class', key), or L"))
        #expect(message("O1 == O2").contains("Two constants"))
        #expect(message("id + O1 == 2").contains("no property 'O1'"))
        #expect(message("SELF == O99999999999999999999").contains("no property"))
        #expect(message("SELF == O1x").contains("no property"))
        #expect(message("SELF == L9:1").contains("no class with the number 9"))
    }

    @Test func `Cocoa's words for true and false may stand in lists`() throws {
        #expect(try ids("mixed IN {YES, NO}") == [])
        #expect(try ids("NOT mixed IN {YES}") == [1, 2, 3, 4])
        #expect(message("id IN {YES}").contains("id is int, but true is bool"))
        #expect(message("id == True").contains("Truth values are true and false."))
    }

    /// Within a subquery SELF was an error, or the inner object.
    @Test func `SELF is the object that the whole query is asked of`() throws {
        #expect(try ids("SELF.id == 2") == [2])
        #expect(
            try ids("SELF.friends.@count == 4 AND ANY SELF.friends.id > 3 AND SELF.id < 2") == [1])
        #expect(try ids("SUBQUERY(friends, $f, $f.id < SELF.id).@count == 2") == [3])
        #expect(try ids("SUBQUERY(friends, $f, $f == SELF).@count == 1") == [1, 2, 3, 4])
        #expect(try ids("SUBQUERY(friends, $f, $f != SELF AND $f.id > 1).@count == 3") == [1])
        #expect(try ids("SUBQUERY(friends, $f, id < SELF.id).@count == 2") == [3])
        #expect(
            try ids("SUBQUERY(SELF.friends, $f, $f.id == 1).@count == 1 SORT(SELF.id DESC)") == [
                4, 3, 2, 1,
            ])
        let inner = "SUBQUERY($f.friends, $g, $g.id < SELF.id AND $g.id > $f.id).@count == 1"
        #expect(try ids("SUBQUERY(friends, $f, \(inner)).@count == 1") == [3, 4])
        #expect(try ids("SUBQUERY(friends, $f, ANY SELF.ints == 13).@count == 4") == [3])
        #expect(message("SELF.nothing == 1").contains("has no property 'nothing'"))
        #expect(message("boss.SELF == 1").contains("has no property"))
    }

    @Test func `An expression that others need exponential time for takes a line`() throws {
        #expect(try ids("name MATCHES '(a*)*b'") == [])
        #expect(try ids("name MATCHES '(a|a)*'") == [1, 2, 3, 4])
        let many = String(repeating: "a?", count: 30) + String(repeating: "a", count: 30)
        #expect(try ids("name MATCHES '\(many)'") == [1, 2, 3, 4])
        // A group of nothing is nothing, however often.
        #expect(
            try ids("name MATCHES '\(String(repeating: "(){1000000}", count: 1_000))a+'")
                == [1, 2, 3, 4])
    }

    @Test func `Capitals of a set stand for letters that have one capital`() throws {
        try withNobody { nobody throws in
            let name = try session.classHandle(named: "Person").property(named: "name").id
            for (text, matches) in [
                ("stra\u{DF}e", false), ("\u{1F0}", false), ("\u{FB01}", false), ("strasse", true),
                ("STRASSE", true),
            ] {
                try nobody.set(name, .string(text))
                #expect(try ids("id == 5 AND name MATCHES[c] '[A-Z]+'") == (matches ? [5] : []))
                #expect(try ids("id == 5 AND name MATCHES[c] '[a-z]+'") == (matches ? [5] : []))
            }
        }
    }

    @Test func `An expression has its limits and says where it is wrong`() throws {
        let limit = RegularExpression.programLimit
        for count in [limit - 1, limit] {
            #expect(try RegularExpression(Array("a{\(count)}".utf8)).program.count == count)
        }
        #expect(message("name MATCHES 'a{\(limit + 1)}'").contains("more than 2000 steps"))
        #expect(message("name MATCHES '((a{99}){99}){99}'").contains("more than 2000 steps"))
        func nested(_ depth: Int) -> String {
            String(repeating: "(", count: depth) + "a" + String(repeating: ")", count: depth)
        }
        let depth = RegularExpression.depthLimit
        for depth in [depth - 1, depth] {
            #expect(message("name MATCHES '\(nested(depth))'") == "")
        }
        #expect(message("name MATCHES '\(nested(depth + 1))'").contains("100 levels"))
        #expect(message("name MATCHES '\(nested(1_000_000))'").contains("100 levels"))
        for (expression, reason) in [
            ("a**", "A repetition is repeated"), ("*a", "nothing to repeat"),
            ("a)", "closes nothing"), ("(a", "no end"), ("[a", "no end"), ("[b-a]", "backwards"),
            ("a{2,1}", "{2,5}"), ("a{", "{2,5}"), ("(?=a)", "no looking around"),
            ("(?i)a", "no looking around"), (#"\\1"#, "no such escape"), (#"a\\"#, "ends here"),
            (#"\\b"#, "no such escape"), (#"\\u12"#, "four hexadecimal"), ("[[:a:]]", "write"),
        ] {
            let text = message("name MATCHES '\(expression)'")
            #expect(text.contains(reason), "\(expression): \(text)")
        }
        #expect(message("name MATCHES $0", [.value(.string("(a"))]).contains("byte 0"))
        #expect(message("name MATCHES name").contains("constant or an argument"))
        #expect(message("'a' MATCHES name").contains("constant or an argument"))
        #expect(message("age MATCHES '1'").contains("strings and data"))
    }

    @Test(arguments: [
        ("", "", true), ("", "a", false), ("a|", "", true), ("|a", "a", true), ("a|b|c", "b", true),
        ("ab|cd", "abd", false), ("(ab|c)+", "abcab", true), ("(ab|c)+", "abca", false),
        ("a+?b", "aab", true), ("a{2}", "aa", true), ("a{2}", "aaa", false),
        ("a{2,}", "aaaa", true), ("a{2,}", "a", false), ("a{0,2}", "", true),
        ("a{0}b", "b", true), ("(a{1,2}){2}", "aaaa", true), ("(a{1,2}){2}", "aaaaa", false),
        (".", "\n", false), (".", "é", true), ("[^a]", "\n", true), ("[]a]", "]", true),
        ("[a-]", "-", true), ("[-a]", "-", true), ("[a-c]x", "bx", true),
        (#"[\d.]+"#, "3.14", true), (#"\d"#, "x", false), (#"\D+"#, "xy", true),
        (#"\w+\s\w+"#, "Grüße Welt", true), (#"\."#, "x", false), (#"\u00e9"#, "é", true),
        ("^a$", "a", true), ("a^b", "ab", false), ("(^a|b$)c?", "b", true), ("a$b", "ab", false),
        (#"[\]\\]+"#, #"]\"#, true), (#"\n"#, "\n", true),
        (#"\w+"#, "e\u{301}", true), (#"\w+"#, "\u{0915}\u{093E}", true),
        (#"\w+"#, "a\u{20DD}", true), (#"\w+"#, "\u{0915}\u{200D}\u{0937}", true),
        (#"\W"#, "\u{093E}", false), (#"[\w]"#, "\u{1D165}", true), (#"\w"#, "-", false),
    ])
    func `An expression matches the whole text or not`(
        expression: String, text: String, expected: Bool
    ) throws {
        let matcher = ExpressionMatcher(try RegularExpression(Array(expression.utf8)), [])
        for _ in 0..<2 {
            let found = Array(text.utf8).withUnsafeBytes { matcher.matches($0) }
            #expect(found == expected, "\(expression) and \(text)")
        }
    }

    @Test func `Offsets and limits of any size are taken`() throws {
        let most = Int64.max
        #expect(try ids("TRUEPREDICATE OFFSET(\(most))") == [])
        #expect(try ids("TRUEPREDICATE OFFSET(1) LIMIT(\(most))") == [2, 3, 4])
        #expect(try ids("TRUEPREDICATE OFFSET(\(most)) LIMIT(\(most))") == [])
        #expect(try ids("TRUEPREDICATE SORT(id DESC) OFFSET(2) OFFSET(1) LIMIT(5)") == [1])
        #expect(try ids("TRUEPREDICATE SORT(id DESC) OFFSET(1) LIMIT(2) OFFSET(1)") == [2])
        #expect(try ids("TRUEPREDICATE OFFSET(99999999999999999999)") == [])
        #expect(message("TRUEPREDICATE OFFSET(-1)").contains("OFFSET takes a number from 0 on"))
        let all = try session.results(of: person).filter("TRUEPREDICATE OFFSET(1)")
        #expect(try all.count == 3)
        #expect(try all.filter("id > 2").keys() == [2, 3])
        #expect(try all.explain().contains("leave out the first 1"))
    }
}
