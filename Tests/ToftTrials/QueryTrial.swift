// Tests: Parser.swift
internal import ToftEngine
internal import ToftModel
internal import ToftPlatform
internal import ToftQuery
internal import ToftStorage
internal import ToftTestKit

/// Random texts through lexer, parser, binder and execution: `ToftTrials query N [seed]`.
///
/// Half are made by a grammar and may still be nonsense for the types, half are such texts changed
/// at random. Each ends in an answer or in an error with a message, within two seconds. The text
/// that an accepted query gives of itself is accepted, gives itself again and finds the same, with
/// and without indexes.
enum QueryTrial {
    static func run(texts: Int, seed: UInt64, violationLimit: Int = 5) throws -> Bool {
        var numbers = Seed(seed)
        let worlds = [try World(indexed: false), try World(indexed: true)]
        var (accepted, refused, violations) = (0, 0, 0)
        var slowest: Int64 = 0
        var number = 0
        while number < texts, violations < violationLimit {
            number += 1
            var grammar = QueryGrammar(numbers.next())
            var text = grammar.query()
            if numbers.chance(50) { text = mutated(text, &numbers) }
            if numbers.chance(2) { text = String(repeating: text + " AND ", count: 60) + text }
            let start = MonotonicClock.nanoseconds
            do {
                let isAccepted = try check(text, worlds)
                accepted += isAccepted ? 1 : 0
                refused += isAccepted ? 0 : 1
                let time = MonotonicClock.nanoseconds - start
                slowest = max(slowest, time)
                if time > 2_000_000_000 {
                    throw Failure("it took \(time / 1_000_000) ms")
                }
            } catch {
                violations += 1
                print("VIOLATION seed \(seed), text \(number): \(text.debugDescription): \(error)")
            }
        }
        print("cases \(number)")
        print(
            "query: \(number) texts, seed \(seed), \(accepted) accepted, \(refused) refused, "
                + "\(violations) violations, slowest \(slowest / 1000) us")
        let isMixed = accepted > texts / 20 && refused > texts / 20
        if violations == 0, !isMixed { print("VIOLATION nearly all texts were of one kind") }
        return violations == 0 && isMixed
    }

    /// Compares elements that are read one by one, and a loop that continues where they end, with
    /// all results.
    private static func compareParts(of results: Results, _ found: [Int64]) throws {
        for (index, key) in found.prefix(3).enumerated() {
            guard try results.key(at: index) == key else {
                throw Failure("element \(index) differs")
            }
        }
        var walk = try results.walk()
        var walked: [Int64] = []
        while let run = try walk.nextRun() { walked += run }
        guard walked == found, try results.keys() == found else {
            throw Failure("a loop finds \(walked), not \(found)")
        }
    }

    /// Whether the query was accepted.
    private static func check(_ text: String, _ worlds: [World]) throws -> Bool {
        var answers: [[Int64]] = []
        for world in worlds {
            let results: Results
            do throws(EngineError) {
                results = try world.people.filter(text, arguments: world.arguments)
            } catch {
                guard !error.message.isEmpty, world === worlds[0] else {
                    throw Failure("the error \(error)")
                }
                return false
            }
            let found = try results.keys()
            answers.append(found)
            guard try results.count == found.count else { throw Failure("its count differs") }
            try compareParts(of: try world.people.filter(text, arguments: world.arguments), found)
            let described = try results.query()
            do throws(EngineError) {
                let again = try world.people.filter(described)
                let itsText = try again.query()
                guard itsText == described else {
                    throw EngineError(.invalidQuery, "which is \(itsText) of itself")
                }
                let itsKeys = try again.keys()
                guard itsKeys == found else {
                    throw EngineError(.invalidQuery, "which finds \(itsKeys), not \(found)")
                }
            } catch {
                throw Failure("as text it is \(described.debugDescription): \(error.message)")
            }
        }
        guard answers[0] == answers[1] else {
            throw Failure("without indexes \(answers[0]), with them \(answers[1])")
        }
        return true
    }

    // MARK: Changed texts

    private static let inserts = [
        "(", ")", "'", "\"", "\\", "{", "}", "[", "]", "$", "$0", "$K1", "@", ".", ",", "-", "+",
        "*",
        "/", "!", "=", "<", "9", "0x", "1e9", "f", "ANY ", "NOT ", " IN ", " OR ", "null", "\0",
        "é",
        "\u{301}", "\u{10FFFF}", "[c]", "SUBQUERY(", "T1:", "uuid(", "L2:1", "double(", "SORT(",
        "LIMIT(1)", "FILTER(", "@count", "[FIRST]", "['a']", "{1,2}{", "MATCHES '(a|b)*'",
    ]

    private static func mutated(_ text: String, _ numbers: inout Seed) -> String {
        var scalars = Array(text.unicodeScalars)
        for _ in 0...numbers.below(3) {
            let place = numbers.below(scalars.count + 1)
            let end = min(scalars.count, place + 1 + numbers.below(6))
            switch numbers.below(4) {
            case 0: scalars.removeSubrange(place..<end)
            case 1: scalars.insert(contentsOf: scalars[place..<end], at: place)
            case 2:
                scalars.insert(
                    contentsOf: (numbers.pick(inserts) ?? "").unicodeScalars, at: place)
            default:
                let other = numbers.below(scalars.count + 1)
                scalars.insert(
                    contentsOf: scalars[other..<min(scalars.count, other + 4)], at: place)
            }
        }
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars)
        return String(text)
    }

    // MARK: The data

    private final class World {
        let people: Results
        let arguments: [QueryArgument]
        private let session: Session

        init(indexed: Bool) throws {
            let schema = Schema([
                ClassSchema(
                    "Person",
                    [
                        PropertySchema("id", .int, isPrimaryKey: true),
                        PropertySchema("age", .int, isIndexed: indexed),
                        PropertySchema("name", .string, isOptional: true, isIndexed: indexed),
                        PropertySchema("height", .double, isOptional: true),
                        PropertySchema("price", .decimal128),
                        PropertySchema("active", .bool, isIndexed: indexed),
                        PropertySchema("born", .date, isIndexed: indexed),
                        PropertySchema("data", .data),
                        PropertySchema("token", .uuid, isIndexed: indexed),
                        PropertySchema("value", .mixed, isOptional: true, isIndexed: indexed),
                        PropertySchema("boss", .link, isOptional: true, target: "Person"),
                        PropertySchema(
                            "friends", .link, collection: .list, target: "Person"),
                        PropertySchema("scores", .int, collection: .list),
                        PropertySchema("tags", .string, collection: .set),
                        PropertySchema("marks", .int, collection: .dictionary),
                        .linkingObjects("reports", from: "Person", "boss"),
                    ])
            ])
            session = try Session.open(
                Configuration(
                    location: .memory(name: "query trial \(indexed)"), schema: schema))
            let owner = try session.classHandle(named: "Person")
            func id(_ name: String) throws -> PropertyID { try owner.property(named: name).id }
            let names: [Value] = ["Ann", "Bob", "bob", "Zoë", "a*b", ""].map { .string($0) }
            try session.beginWrite()
            for key in 0..<40 {
                let object = try session.create(
                    owner.id, [(try id("id"), .int(Int64(key)))])
                func set(_ name: String, _ value: Value) throws {
                    try object.set(try id(name), value)
                }
                try set("age", .int(Int64(key % 9 - 2)))
                try set("name", key % 7 == 6 ? .null : names[key % 6])
                try set("height", key % 5 == 4 ? .null : .double(Double(key % 11) / 4))
                try set("price", .decimal(Decimal128("\(key % 10).10") ?? .zero))
                try set("active", .bool(key % 3 == 0))
                try set("born", .date(Timestamp(seconds: Int64(key % 4) - 1, nanoseconds: 0)))
                try set("data", .data([UInt8(key % 3), 0x61]))
                try set(
                    "token", .uuid(FixedBytes(bytes: Array(repeating: UInt8(key % 5), count: 16))))
                try set("value", key % 4 == 0 ? .int(Int64(key % 6)) : names[key % 6])
                let friends = try object.list(try id("friends"))
                let scores = try object.list(try id("scores"))
                let tags = try object.collection(try id("tags"), .set)
                for number in 0..<key % 4 {
                    try friends.append(
                        .link(ObjectRef(classID: owner.id, key: Int64(key / (number + 2)))))
                    try scores.append(.int(Int64(number)))
                    try tags.setInsert(.string(["b", "a", "Bob"][number]))
                }
                if key % 3 == 0 {
                    try object.collection(try id("marks"), .dictionary)
                        .dictionarySet("a", .int(Int64(key % 5)))
                }
                if key > 2 {
                    try set(
                        "boss", .link(ObjectRef(classID: owner.id, key: Int64((key - 1) / 3))))
                }
            }
            try session.commit()
            people = try session.results(of: owner.id)
            arguments = [
                .value(.int(3)), .list([.int(1), .int(3), .null]), .value(.string("boss.age")),
                .value(.string("Bob")), .value(.double(0.1)),
                .value(.link(ObjectRef(classID: owner.id, key: 1))),
            ]
        }
    }
}

/// Texts of the language: most are queries, some of them with types that do not go together.
private struct QueryGrammar {
    private var numbers: Seed

    init(_ bits: UInt64) {
        numbers = Seed(bits)
    }

    private mutating func pick(_ words: [String]) -> String { numbers.pick(words) ?? "" }

    mutating func query() -> String {
        var text = predicate(3)
        while numbers.chance(25) { text += " " + ordering() }
        return text
    }

    private mutating func ordering() -> String {
        switch numbers.below(5) {
        case 0:
            let second = numbers.chance(30) ? ", \(plainPath()) desc" : ""
            return "SORT(\(plainPath()) ASC\(second))"
        case 1: return "DISTINCT(\(plainPath()))"
        case 2: return "LIMIT(\(numbers.below(12)))"
        case 3: return "OFFSET(\(numbers.below(12)))"
        default: return "FILTER(\(predicate(1)))"
        }
    }

    private mutating func predicate(_ depth: Int) -> String {
        switch numbers.below(depth > 0 ? 9 : 4) {
        case 4: return "NOT \(predicate(depth - 1))"
        case 5: return "!(\(predicate(depth - 1)))"
        case 6: return "\(predicate(depth - 1)) && \(predicate(depth - 1))"
        case 7: return "(\(predicate(depth - 1)) or \(predicate(depth - 1)))"
        case 8: return "\(predicate(depth - 1)) OR \(predicate(depth - 1))"
        default: return comparison(depth)
        }
    }

    private mutating func comparison(_ depth: Int) -> String {
        let order = pick(["==", "!=", "<", "<=", ">", ">=", "=<", "<>", "="])
        switch numbers.below(14) {
        case 0, 1, 2: return "\(number(2)) \(order) \(number(2))"
        case 3:
            return "name \(pick(["==", "!=", "BEGINSWITH", "contains", "ENDSWITH", "LIKE"]))"
                + "\(pick(["", "", "[c]", "[cd]"])) \(text())"
        case 4: return "name MATCHES \(pick(["'[A-Z].*'", "'(a|b)+'", "'\\\\w{3}'", "$3"]))"
        case 5: return "\(plainPath()) IN \(pick(["{1, 3}", "$1", "{'Bob', null}", "{}"]))"
        case 6: return "age BETWEEN {\(numbers.below(5)), \(numbers.below(9))}"
        case 7:
            return "\(pick(["ANY", "ALL", "NONE", "some"])) \(collection()) \(order) \(constant())"
        case 8:
            let list = pick(["{1, 2}", "{}", "ANY {1, 3}", "ALL $1", "{'b', 'a', 'b'}", "$1"])
            return "\(collection()) \(order) \(list)"
        case 9 where depth > 0:
            let variable = "$v\(depth)"
            return "SUBQUERY(\(pick(["friends", "reports", "boss.reports"])), \(variable), "
                + "\(variable).age \(order) \(number(1)) AND \(predicate(depth - 1))).@count "
                + "\(order) \(numbers.below(3))"
        case 10: return "value\(pick(["", ".@type", "[0]", "['a']"])) \(order) \(constant())"
        case 11: return pick(["TRUEPREDICATE", "FALSEPREDICATE", "active == YES", "SELF == $5"])
        case 12: return "$K2 \(order) \(number(1))"
        default: return "\(plainPath()) \(order) \(constant())"
        }
    }

    private mutating func plainPath() -> String {
        pick(["", "", "", "boss.", "boss.boss."])
            + pick([
                "age", "name", "height", "price", "active", "born", "data", "token", "value", "id",
                "boss", "a\\ge", "marks['a']",
            ])
    }

    private mutating func collection() -> String {
        pick(["", "", "boss."])
            + pick([
                "scores", "tags", "marks", "marks.@keys", "friends.age", "reports.age",
                "@links.Person.boss.name", "scores[0]", "scores[LAST]", "friends[FIRST].name",
            ])
    }

    private mutating func number(_ depth: Int) -> String {
        switch numbers.below(depth > 0 ? 8 : 5) {
        case 0: return pick(["age", "boss.age", "height", "price", "id", "value"])
        case 1:
            return pick(["", "boss."])
                + pick([
                    "scores.@count", "scores.@sum", "reports.@max.age", "reports.@avg.height",
                    "name.@size", "@links.@count", "friends.@min.price", "marks.@avg",
                ])
        case 5, 6, 7:
            let inner =
                "\(number(depth - 1)) \(pick(["+", "-", "*", "/"])) \(number(depth - 1))"
            return numbers.chance(50) ? "(\(inner))" : inner
        default: return pick(["1", "3", "-2", "0", "$0", "2.5", "1.10", "$4", "1e1", "0x2", "3f"])
        }
    }

    private mutating func text() -> String {
        pick(["'Bob'", "\"b*\"", "'a\\*b'", "'?o?'", "''", "$3", "null", "'\\u005A\\n\\\\'"])
    }

    private mutating func constant() -> String {
        switch numbers.below(4) {
        case 0: return number(0)
        case 1: return text()
        default:
            return pick([
                "null", "true", "T0:0", "1970-01-01@00:00:01", "T-1:0", "binary('a')",
                "binary(B64\"AGE=\")", "uuid(01010101-0101-0101-0101-010101010101)",
                "oid(010101010101010101010101)", "nan", "-inf", "99999999999999999999",
                "decimal(3.10)",
                "double(0.25)", "obj('Person', 1)", "$5", "'numeric'", "{1, 2}", "L9:1", "O1",
                "{O1, YES}",
            ])
        }
    }
}
