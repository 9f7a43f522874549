import Foundation
import Testing
import ToftEngine
@testable import ToftModel
import ToftStorage
import ToftTestKit

@testable import ToftQuery

/// Random queries against an evaluator that knows nothing of the engine: each generated condition
/// is a text and a closure over plain values. With and without indexes, inside and outside of a
/// write transaction, with classes that fill a batch of rows, miss it by one, or exceed it by one.
@Suite struct DifferentialTests {
    /// Objects, and how many queries there are with CI=true.
    @Test(arguments: [
        (1, 2_000), (40, 10_000), (255, 2_000), (256, 2_000), (257, 2_000), (600, 2_000),
    ])
    func `Random queries have the answers of a plain evaluator`(size: Int, most: Int) throws {
        let isCI = ProcessInfo.processInfo.environment["CI"] == "true"
        let queries = isCI ? most : most / 10
        let seed = UInt64.random(in: 0...UInt64(UInt32.max))
        print("differential, \(size) objects, seed \(seed)")
        var random = Numbers(state: seed)
        var people = (0..<size).map { Plain(id: $0, size, &random) }
        let worlds = [try World(people, indexed: false), try World(people, indexed: true)]
        var found = 0
        for number in 0..<queries {
            // A transaction of eight changes, with a query after each.
            let isWriting = number % 32 >= 24
            if isWriting {
                let changed = random.below(size)
                people[changed] = Plain(id: changed, size, &random)
                for world in worlds {
                    if number % 32 == 24 { try world.session.beginWrite() }
                    try world.set(people[changed])
                }
            }
            let data = PlainData(people)
            let question = Question.random(&random)
            let expected = question.answer(data)
            found += expected.count
            for (index, world) in worlds.enumerated() {
                let place = "\(question.text) (seed \(seed), query \(number), world \(index))"
                do {
                    #expect(try world.ids(question.text) == expected, "\(place)")
                    if number % 4 == index { try checkWays(question.text, world, expected, place) }
                } catch {
                    Issue.record("\(error): \(place)")
                }
                if number % 32 == 31 { try world.session.commit() }
            }
        }
        #expect(found > 0)
    }

    /// The answer piece by piece, and that of the query described as text.
    private func checkWays(_ query: String, _ world: World, _ expected: [Int], _ place: String)
        throws
    {
        #expect(try world.walkedIDs(query) == expected, "\(place)")
        let text = try world.description(of: query)
        #expect(try world.ids(text) == expected, "\(text) of \(place)")
        #expect(try world.description(of: text) == text, "\(place)")
    }
}

// MARK: Numbers that can be drawn again

struct Numbers {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }

    mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(max(1, limit))) }
    mutating func chance(_ percent: Int) -> Bool { below(100) < percent }
    mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[below(elements.count)]
    }
}

// MARK: Plain values

/// A value of any scalar type. Numbers are multiples of a quarter, which every type has exactly.
enum Plainly: Equatable {
    case null
    case number(Double)
    case text(String)
    case bool(Bool)
    /// Dates, uuids, object ids and data: what kind, and a number that orders them.
    case other(Character, Int)

    /// Less than, equal to or greater than 0; nil where the two have no order.
    func order(_ right: Plainly) -> Int? {
        switch (self, right) {
        case (.null, .null): return 0
        case (.number(let left), .number(let right)):
            if left.isNaN || right.isNaN { return left.isNaN && right.isNaN ? 0 : nil }
            return left < right ? -1 : left > right ? 1 : 0
        case (.text(let left), .text(let right)):
            let (left, right) = (Array(left.utf8), Array(right.utf8))
            return left == right ? 0 : left.lexicographicallyPrecedes(right) ? -1 : 1
        case (.bool(let left), .bool(let right)): return (left ? 1 : 0) - (right ? 1 : 0)
        case (.other(let kind, let left), .other(let other, let right)) where kind == other:
            return left - right
        default: return nil
        }
    }

    func holds(_ comparator: String, _ right: Plainly) -> Bool {
        let order = order(right)
        switch comparator {
        case "==": return order == 0
        case "!=": return order != 0
        case "<": return order.map { $0 < 0 } ?? false
        case "<=": return order.map { $0 <= 0 } ?? false
        case ">": return order.map { $0 > 0 } ?? false
        default: return order.map { $0 >= 0 } ?? false
        }
    }

    /// Where it stands in a sort: null, NaN, values.
    var rank: Int {
        switch self {
        case .null: 0
        case .number(let value): value.isNaN ? 1 : 2
        default: 2
        }
    }

    func sorts(before right: Plainly) -> Bool {
        rank != right.rank ? rank < right.rank : (order(right) ?? 0) < 0
    }

    /// As a query has it.
    var literal: String {
        switch self {
        case .null: "null"
        case .number(let value): value.isNaN ? "NaN" : "\(value)"
        case .text(let text): "'\(text)'"
        case .bool(let value): "\(value)"
        case .other("t", let number): "T\(number):0"
        case .other("u", let number): "uuid(00000000-0000-0000-0000-00000000000\(number))"
        case .other("o", let number): "oid(00000000000000000000000\(number))"
        case .other(_, let number): "binary('\(number)')"
        }
    }
}

/// One object, as plain values.
struct Plain {
    static let letters = ["a", "A", "b", "B", "é", "É", "e", "E"]
    static let keys = ["k", "l", "m"]

    var id: Int
    /// By property.
    var values: [String: Plainly] = [:]
    var boss: Int?
    var rows: [Int] = []
    var ints: [Plainly] = []
    var words: Set<String> = []
    var marks: [String: Plainly] = [:]

    init(id: Int, _ size: Int, _ random: inout Numbers) {
        self.id = id
        for (name, _) in World.scalars { values[name] = Self.value(of: name, &random) }
        boss = random.chance(30) ? nil : random.below(size)
        rows = (0..<random.below(4)).map { _ in random.below(size) }
        ints = (0..<random.below(4)).map { _ in Self.value(of: "i", &random) }.filter {
            $0 != .null
        }
        words = Set((0..<random.below(3)).map { _ in Self.text(&random) })
        for _ in 0..<random.below(3) {
            marks[random.pick(Self.keys)] = .number(Double(random.below(5)))
        }
    }

    static func text(_ random: inout Numbers) -> String {
        (0..<random.below(4)).map { _ in random.pick(letters) }.joined()
    }

    static func value(of name: String, _ random: inout Numbers) -> Plainly {
        if name == "v" { return value(of: random.pick(["i", "d", "s", "b", "t"]), &random) }
        if random.chance(20) { return .null }
        switch name {
        case "i": return .number(Double(random.below(8) - 3))
        case "f", "d": return random.chance(10) ? .number(.nan) : quarter(&random)
        case "m": return quarter(&random)
        case "s": return .text(text(&random))
        case "b": return .bool(random.chance(50))
        default: return .other(Character(name), random.below(6))
        }
    }

    private static func quarter(_ random: inout Numbers) -> Plainly {
        .number(Double(random.below(24) - 8) / 4)
    }
}

/// All objects, and what links to each.
struct PlainData {
    let people: [Plain]
    var reports: [[Int]]
    var holders: [[Int]]

    init(_ people: [Plain]) {
        self.people = people
        reports = Array(repeating: [], count: people.count)
        holders = reports
        for person in people {
            if let boss = person.boss { reports[boss].append(person.id) }
            for row in person.rows { holders[row].append(person.id) }
        }
    }
}

// MARK: The same in a database

/// The objects in a database in memory.
struct World {
    static let scalars: [(name: String, type: PropertyType)] = [
        ("i", .int), ("f", .float), ("d", .double), ("m", .decimal128), ("s", .string),
        ("b", .bool), ("t", .date), ("u", .uuid), ("o", .objectId), ("x", .data), ("v", .mixed),
    ]

    let session: Session
    private let owner: ClassID
    private var keys: [String: PropertyID] = [:]

    init(_ people: [Plain], indexed: Bool) throws {
        var properties = [PropertySchema("id", .int, isPrimaryKey: true)]
        for (name, type) in Self.scalars {
            var property = PropertySchema(name, type, isOptional: type != .mixed)
            property.isIndexed = indexed && type.canBeIndexed
            properties.append(property)
        }
        properties += [
            .link("boss", to: "P"), .links("rows", to: "P"),
            PropertySchema("ints", .int, collection: .list),
            PropertySchema("words", .string, collection: .set),
            PropertySchema("marks", .int, collection: .dictionary),
        ]
        session = try Session.open(
            Configuration(
                location: .memory(name: "differential \(UInt64.random(in: 0 ... .max))"),
                schema: Schema([ClassSchema("P", properties)])))
        let found = try session.classHandle(named: "P")
        owner = found.id
        for property in found.visibleProperties { keys[property.name] = property.id }
        try session.beginWrite()
        let id = try key("id")
        for person in people {
            _ = try session.create(owner, [(id, .int(Int64(person.id)))])
        }
        for person in people { try set(person) }
        try session.commit()
    }

    private func key(_ name: String) throws -> PropertyID { try #require(keys[name]) }

    private func object(_ id: Int) throws -> ObjectHandle {
        try #require(try session.find(Value.int(Int64(id)), in: owner))
    }

    /// Makes an object what `person` is.
    func set(_ person: Plain) throws {
        let object = try object(person.id)
        for (name, type) in Self.scalars {
            try object.set(try key(name), Self.value(person.values[name] ?? .null, type))
        }
        let boss = try person.boss.map { Value.link(try self.object($0).ref) } ?? .null
        try object.set(try key("boss"), boss)
        let rows = try object.list(try key("rows"))
        try rows.clear()
        for row in person.rows { try rows.append(.link(try self.object(row).ref)) }
        let ints = try object.list(try key("ints"))
        try ints.clear()
        for value in person.ints { try ints.append(Self.value(value, .int)) }
        let words = try object.collection(try key("words"), .set)
        try words.clear()
        for word in person.words { try words.setInsert(.string(word)) }
        let marks = try object.collection(try key("marks"), .dictionary)
        try marks.clear()
        for (name, mark) in person.marks { try marks.dictionarySet(name, Self.value(mark, .int)) }
    }

    private static func value(_ value: Plainly, _ type: PropertyType) -> Value {
        switch (value, type) {
        case (.null, _): .null
        case (.number(let value), .int): .int(Int64(value))
        case (.number(let value), .float): .float(Float(value))
        case (.number(let value), .decimal128): .decimal(Decimal128(value))
        case (.number(let value), .mixed) where value == value.rounded(): .int(Int64(value))
        case (.number(let value), _): .double(value)
        case (.text(let text), _): .string(text)
        case (.bool(let value), _): .bool(value)
        case (.other("t", let number), _):
            .date(Timestamp(seconds: Int64(number), nanoseconds: 0))
        case (.other("u", let number), _):
            .uuid(FixedBytes(bytes: Array(repeating: 0, count: 15) + [UInt8(number)]))
        case (.other("o", let number), _):
            .objectId(FixedBytes(bytes: Array(repeating: 0, count: 11) + [UInt8(number)]))
        case (.other(_, let number), _): .data(Array("\(number)".utf8))
        }
    }

    /// The answer, and the query as text: of the results and of those filtered once more.
    func ids(_ query: String) throws -> [Int] {
        try session.results(of: owner).filter(query).keys().map(Int.init)
    }

    /// The same, found piece by piece.
    func walkedIDs(_ query: String) throws -> [Int] {
        let results = try session.results(of: owner).filter(query)
        let first = try results.isEmpty ? nil : results.key(at: 0)
        var walk = try results.walk()
        var walked: [Int64] = []
        while let run = try walk.nextRun() { walked += run }
        #expect(first == walked.first, "\(query)")
        return walked.map(Int.init)
    }

    func description(of query: String) throws -> String {
        try session.results(of: owner).filter(query).filter("TRUEPREDICATE").query()
    }
}

// MARK: Questions

/// A condition: as text, and as something that plain values answer.
struct Condition {
    var text: String
    var holds: (Plain, PlainData) -> Bool
}

/// One value of an object: as text, and as something that plain values answer.
struct PathTo {
    var text: String
    var value: (Plain, PlainData) -> Plainly
}

struct Question {
    private var condition: Condition
    private var orderings = ""
    private var steps: [([Plain], PlainData) -> [Plain]] = []

    var text: String { condition.text + orderings }

    func answer(_ data: PlainData) -> [Int] {
        var people = data.people.filter { condition.holds($0, data) }
        for step in steps { people = step(people, data) }
        return people.map(\.id)
    }

    static func random(_ random: inout Numbers) -> Question {
        var question = Question(condition: condition(&random, 3))
        for _ in 0..<(random.chance(40) ? 1 + random.below(3) : 0) { question.order(&random) }
        return question
    }

    private mutating func order(_ random: inout Numbers) {
        let path = Self.path(
            to: random.pick(["i", "f", "d", "m", "s", "b", "t", "u", "o"]), &random)
        switch random.below(4) {
        case 0:
            let isAscending = random.chance(50)
            orderings += " SORT(\(path.text) \(isAscending ? "ASC" : "DESC"))"
            steps.append { people, data in
                let values = people.map { path.value($0, data) }
                return people.indices.sorted { left, right in
                    let (one, other) = isAscending ? (left, right) : (right, left)
                    if values[one].sorts(before: values[other]) { return true }
                    return !values[other].sorts(before: values[one]) && left < right
                }.map { people[$0] }
            }
        case 1:
            orderings += " DISTINCT(\(path.text))"
            steps.append { people, data in
                var known: [Plainly] = []
                return people.filter { person in
                    let value = path.value(person, data)
                    if known.contains(where: { $0.order(value) == 0 }) { return false }
                    known.append(value)
                    return true
                }
            }
        case 2:
            let count = random.below(9)
            orderings += " LIMIT(\(count))"
            steps.append { people, _ in Array(people.prefix(count)) }
        default:
            let count = random.below(5)
            orderings += " OFFSET(\(count))"
            steps.append { people, _ in Array(people.dropFirst(count)) }
        }
    }

    // MARK: Parts

    private static let comparators = ["==", "!=", "<", "<=", ">", ">="]
    private static let numbers = ["i", "f", "d", "m"]

    private static func condition(_ random: inout Numbers, _ depth: Int) -> Condition {
        guard depth > 0, random.chance(45) else { return leaf(&random) }
        switch random.below(3) {
        case 0:
            let inner = condition(&random, depth - 1)
            return Condition(text: "NOT (\(inner.text))") { !inner.holds($0, $1) }
        case 1:
            let parts = (0..<2 + random.below(2)).map { _ in condition(&random, depth - 1) }
            return Condition(text: parts.map { "(\($0.text))" }.joined(separator: " AND ")) {
                person, data in parts.allSatisfy { $0.holds(person, data) }
            }
        default:
            let parts = (0..<2 + random.below(2)).map { _ in condition(&random, depth - 1) }
            return Condition(text: parts.map { "(\($0.text))" }.joined(separator: " || ")) {
                person, data in parts.contains { $0.holds(person, data) }
            }
        }
    }

    /// A property of the object, or of one that links lead to.
    private static func path(to name: String, _ random: inout Numbers) -> PathTo {
        let steps = random.chance(70) ? 0 : 1 + random.below(2)
        return PathTo(text: String(repeating: "boss.", count: steps) + name) { person, data in
            var person = person
            for _ in 0..<steps {
                guard let boss = person.boss else { return .null }
                person = data.people[boss]
            }
            return person.values[name] ?? .null
        }
    }

    private static func leaf(_ random: inout Numbers) -> Condition {
        switch random.below(17) {
        case 0: return constantCondition(random.chance(50))
        case 1, 2, 3: return comparison(&random)
        case 4: return pair(&random)
        case 5: return arithmetic(&random)
        case 6, 7: return text(&random)
        case 8: return among(&random)
        case 9: return between(&random)
        case 10: return quantified(&random)
        case 11: return elements(&random)
        case 12: return aggregate(&random)
        case 13: return dictionary(&random)
        case 14: return subquery(&random)
        case 15: return chain(&random)
        default: return backlinks(&random)
        }
    }

    private static func constantCondition(_ value: Bool) -> Condition {
        Condition(text: value ? "TRUEPREDICATE" : "FALSEPREDICATE") { _, _ in value }
    }

    private static func comparison(_ random: inout Numbers) -> Condition {
        let name = random.pick(World.scalars.map(\.name))
        let path = path(to: name, &random)
        let comparator = random.pick(comparators)
        let constant = Plain.value(of: name, &random)
        if random.chance(15), constant != .null {
            let reversed = ["<": ">", "<=": ">=", ">": "<", ">=": "<="][comparator] ?? comparator
            return Condition(text: "\(constant.literal) \(reversed) \(path.text)") {
                path.value($0, $1).holds(comparator, constant)
            }
        }
        return Condition(text: "\(path.text) \(comparator) \(constant.literal)") {
            path.value($0, $1).holds(comparator, constant)
        }
    }

    private static func pair(_ random: inout Numbers) -> Condition {
        let name = random.pick(World.scalars.map(\.name))
        let other = numbers.contains(name) ? random.pick(numbers) : name
        let (left, right) = (path(to: name, &random), path(to: other, &random))
        let comparator = random.pick(comparators)
        return Condition(text: "\(left.text) \(comparator) \(right.text)") {
            left.value($0, $1).holds(comparator, right.value($0, $1))
        }
    }

    private static func arithmetic(_ random: inout Numbers) -> Condition {
        let isInt = random.chance(60)
        let path = path(to: isInt ? "i" : "d", &random)
        let word = random.pick(["+", "-", "*", "/"])
        let operand = Double(random.below(6) - 2)
        let (comparator, constant) = (random.pick(comparators), Double(random.below(12) - 4))
        let spelled = isInt ? "\(Int(operand))" : "\(operand)"
        return Condition(text: "\(path.text) \(word) \(spelled) \(comparator) \(Int(constant))") {
            guard case .number(let value) = path.value($0, $1) else {
                return Plainly.null.holds(comparator, .number(constant))
            }
            var result = Plainly.null
            switch word {
            case "+": result = .number(value + operand)
            case "-": result = .number(value - operand)
            case "*": result = .number(value * operand)
            default:
                if operand != 0 {
                    result = .number(
                        isInt ? (value / operand).rounded(.towardZero) : value / operand)
                }
            }
            return result.holds(comparator, .number(constant))
        }
    }

    /// A long computation, joined from the left or nested to the right.
    private static func chain(_ random: inout Numbers) -> Condition {
        let isNested = random.chance(30)
        let count = 2 + random.below(isNested ? 35 : 75)
        var result = path(to: random.pick(["i", "d"]), &random)
        for _ in 0..<count {
            let isSum = random.chance(50)
            let operand = chainOperand(&random)
            let (left, right) = isNested ? (operand, result) : (result, operand)
            result = PathTo(
                text: "\(left.text) \(isSum ? "+" : "-") "
                    + (isNested ? "(\(right.text))" : right.text)
            ) { person, data in
                guard case .number(let first) = left.value(person, data),
                    case .number(let second) = right.value(person, data)
                else { return .null }
                return .number(isSum ? first + second : first - second)
            }
        }
        let (comparator, constant) = (random.pick(comparators), random.below(12) - 4)
        return Condition(text: "\(result.text) \(comparator) \(constant)") {
            result.value($0, $1).holds(comparator, .number(Double(constant)))
        }
    }

    private static func chainOperand(_ random: inout Numbers) -> PathTo {
        switch random.below(4) {
        case 0: return path(to: random.pick(["i", "d"]), &random)
        case 1:
            let value = Double(random.below(40)) / 4
            return PathTo(text: "\(value)") { _, _ in .number(value) }
        default:
            let value = random.below(10)
            return PathTo(text: "\(value)") { _, _ in .number(Double(value)) }
        }
    }

    // MARK: Texts

    private static func folded(_ text: String, _ options: String) -> [Character] {
        text.map { character in
            var character = character
            if options.contains("d") {
                character = character == "é" ? "e" : character == "É" ? "E" : character
            }
            return options.contains("c") ? Character(character.lowercased()) : character
        }
    }

    private static func text(_ random: inout Numbers) -> Condition {
        let path = path(to: random.chance(80) ? "s" : "v", &random)
        let options = random.pick(["", "", "[c]", "[d]", "[cd]"])
        let word = random.pick([
            "==", "!=", "BEGINSWITH", "ENDSWITH", "CONTAINS", "LIKE", "MATCHES",
        ])
        if word == "MATCHES" {
            let pattern = Pattern.random(&random, 3)
            return Condition(text: "\(path.text) MATCHES\(options) '\(pattern.text)'") {
                guard case .text(let text) = path.value($0, $1) else { return false }
                let letters = folded(text, options)
                return pattern.ends(letters, [0], options).contains(letters.count)
            }
        }
        var needle = Plain.text(&random)
        if word == "LIKE" {
            needle = random.pick(["*", "?", ""]) + needle + random.pick(["*", "?"])
        }
        return Condition(text: "\(path.text) \(word)\(options) '\(needle)'") {
            guard case .text(let text) = path.value($0, $1) else { return word == "!=" }
            let (letters, needle) = (folded(text, options), folded(needle, options))
            switch word {
            case "==": return letters == needle
            case "!=": return letters != needle
            case "BEGINSWITH": return letters.starts(with: needle)
            case "ENDSWITH": return letters.reversed().starts(with: needle.reversed())
            case "CONTAINS":
                return (0...letters.count).contains { letters[$0...].starts(with: needle) }
            default: return isLike(letters[...], needle[...])
            }
        }
    }

    private static func isLike(_ text: ArraySlice<Character>, _ pattern: ArraySlice<Character>)
        -> Bool
    {
        guard let first = pattern.first else { return text.isEmpty }
        if first == "*" {
            return isLike(text, pattern.dropFirst())
                || (!text.isEmpty && isLike(text.dropFirst(), pattern))
        }
        guard let letter = text.first, first == "?" || first == letter else { return false }
        return isLike(text.dropFirst(), pattern.dropFirst())
    }

    /// A regular expression as a tree.
    indirect enum Pattern {
        case letter(Character)
        case any
        case oneOf([Character], isInverted: Bool)
        case sequence([Pattern])
        case either(Pattern, Pattern)
        case times(Pattern, Int, Int?)

        static func random(_ random: inout Numbers, _ depth: Int) -> Pattern {
            switch random.below(depth > 0 ? 8 : 3) {
            case 0: return .any
            case 1:
                return .oneOf(
                    (0..<1 + random.below(3)).map { _ in Character(random.pick(Plain.letters)) },
                    isInverted: random.chance(30))
            case 3, 4:
                return .sequence(
                    (0..<random.below(4)).map { _ in Pattern.random(&random, depth - 1) })
            case 5:
                return .either(
                    Pattern.random(&random, depth - 1), Pattern.random(&random, depth - 1))
            case 6, 7:
                let least = random.below(3)
                return .times(
                    Pattern.random(&random, depth - 1), least,
                    random.chance(50) ? nil : least + random.below(3))
            default: return .letter(Character(random.pick(Plain.letters)))
            }
        }

        var text: String {
            switch self {
            case .letter(let letter): String(letter)
            case .any: "."
            case .oneOf(let letters, let isInverted): "[\(isInverted ? "^" : "")\(String(letters))]"
            case .sequence(let parts): parts.map(\.text).joined()
            case .either(let one, let other): "(\(one.text)|\(other.text))"
            case .times(let inner, 0, nil): "(?:\(inner.text))*"
            case .times(let inner, 1, nil): "(\(inner.text))+?"
            case .times(let inner, 0, 1): "(\(inner.text))?"
            case .times(let inner, let least, nil): "(\(inner.text)){\(least),}"
            case .times(let inner, let least, let most?): "(\(inner.text)){\(least),\(most)}"
            }
        }

        /// Where it may end when it begins at any of `starts`.
        func ends(_ text: [Character], _ starts: Set<Int>, _ options: String) -> Set<Int> {
            switch self {
            case .letter, .any, .oneOf:
                return Set(
                    starts.filter { $0 < text.count && accepts(text[$0], options) }.map { $0 + 1 })
            case .sequence(let parts):
                return parts.reduce(starts) { $1.ends(text, $0, options) }
            case .either(let one, let other):
                return one.ends(text, starts, options).union(other.ends(text, starts, options))
            case .times(let inner, let least, let most):
                var reached = starts
                for _ in 0..<least { reached = inner.ends(text, reached, options) }
                var all = reached
                for _ in 0..<(most.map { $0 - least } ?? text.count + 1) {
                    reached = inner.ends(text, reached, options)
                    all.formUnion(reached)
                }
                return all
            }
        }

        private func accepts(_ letter: Character, _ options: String) -> Bool {
            switch self {
            case .letter(let own): Question.folded(String(own), options) == [letter]
            case .oneOf(let letters, let isInverted):
                Question.folded(String(letters), options).contains(letter) != isInverted
            default: true
            }
        }
    }

    // MARK: Lists of constants

    private static func among(_ random: inout Numbers) -> Condition {
        let name = random.pick(World.scalars.map(\.name).filter { $0 != "x" })
        let path = path(to: name, &random)
        let constants = (0..<random.below(4)).map { _ in Plain.value(of: name, &random) }
        let list = "{\(constants.map(\.literal).joined(separator: ", "))}"
        let quantifier = random.pick(["", "", "NONE "])
        return Condition(text: "\(path.text) IN \(quantifier)\(list)") {
            let value = path.value($0, $1)
            return constants.contains { value.order($0) == 0 } == quantifier.isEmpty
        }
    }

    private static func between(_ random: inout Numbers) -> Condition {
        let name = random.pick(["i", "d", "m", "t", "s"])
        let path = path(to: name, &random)
        let (low, high) = (Plain.value(of: name, &random), Plain.value(of: name, &random))
        return Condition(text: "\(path.text) BETWEEN {\(low.literal), \(high.literal)}") {
            let value = path.value($0, $1)
            return value.holds(">=", low) && value.holds("<=", high)
        }
    }

    // MARK: Collections

    private static func holds(_ quantifier: String, _ verdicts: [Bool]) -> Bool {
        switch quantifier {
        case "ALL": !verdicts.contains(false)
        case "NONE": !verdicts.contains(true)
        default: verdicts.contains(true)
        }
    }

    private static func quantified(_ random: inout Numbers) -> Condition {
        let quantifier = random.pick(["ANY", "ALL", "NONE", "SOME"])
        let steps = random.pick([
            ["rows"], ["rows", "rows"], ["rows", "boss"], ["boss", "rows"],
            ["rows", "rows", "rows"],
        ])
        let name = random.pick(["i", "d", "m", "s", "t"])
        let (comparator, constant) = (random.pick(comparators), Plain.value(of: name, &random))
        let path = steps.joined(separator: ".")
        return Condition(
            text: "\(quantifier) \(path).\(name) \(comparator) \(constant.literal)"
        ) { person, data in
            var reached = [person]
            for step in steps {
                reached = reached.flatMap { person in
                    (step == "rows" ? person.rows : person.boss.map { [$0] } ?? []).map {
                        data.people[$0]
                    }
                }
            }
            return holds(
                quantifier, reached.map { ($0.values[name] ?? .null).holds(comparator, constant) })
        }
    }

    /// The words of an object, or of those that it has, as a whole: in any order, each once.
    private static func wholeSet(_ random: inout Numbers) -> Condition {
        let (isEqual, isOfRows) = (random.chance(60), random.chance(30))
        let list = (0..<random.below(4)).map { _ in Plain.text(&random) }
        let literals = list.map { "'\($0)'" }.joined(separator: ", ")
        return Condition(
            text: "\(isOfRows ? "rows." : "")words \(isEqual ? "==" : "!=") {\(literals)}"
        ) { person, data in
            let owners = isOfRows ? person.rows.map { data.people[$0] } : [person]
            let words = owners.reduce(into: Set<[UInt8]>()) { words, owner in
                words.formUnion(owner.words.map { Array($0.utf8) })
            }
            return (words == Set(list.map { Array($0.utf8) })) == isEqual
        }
    }

    private static func elements(_ random: inout Numbers) -> Condition {
        let comparator = random.pick(comparators)
        let constant = Plainly.number(Double(random.below(8) - 3))
        switch random.below(5) {
        case 4: return wholeSet(&random)
        case 0:
            let list = (0..<random.below(3)).map { _ in Plainly.number(Double(random.below(8) - 3))
            }
            let isEqual = random.chance(60)
            return Condition(
                text: "ints \(isEqual ? "==" : "!=") "
                    + "{\(list.map(\.literal).joined(separator: ", "))}"
            ) { person, _ in (person.ints == list) == isEqual }
        case 1:
            let isLast = random.chance(50)
            return Condition(
                text: "ints[\(isLast ? "LAST" : "0")] \(comparator) \(constant.literal)"
            ) { person, _ in
                (isLast ? person.ints.last : person.ints.first)?.holds(comparator, constant)
                    ?? false
            }
        case 2:
            let word = Plain.text(&random)
            let quantifier = random.pick(["ANY", "ALL", "NONE"])
            return Condition(text: "\(quantifier) words BEGINSWITH '\(word)'") { person, _ in
                holds(quantifier, person.words.map { Array($0).starts(with: Array(word)) })
            }
        default:
            let quantifier = random.pick(["ANY", "ALL", "NONE"])
            return Condition(text: "\(quantifier) ints \(comparator) \(constant.literal)") {
                person, _ in holds(quantifier, person.ints.map { $0.holds(comparator, constant) })
            }
        }
    }

    private static func made(_ operation: String, _ values: [Plainly]) -> Plainly {
        let numbers = values.compactMap { value -> Double? in
            if case .number(let number) = value, !number.isNaN { number } else { nil }
        }
        switch operation {
        case "@sum": return .number(numbers.reduce(0, +))
        case "@avg":
            return numbers.isEmpty
                ? .null : .number(numbers.reduce(0, +) / Double(numbers.count))
        case "@min": return numbers.min().map { .number($0) } ?? .null
        case "@max": return numbers.max().map { .number($0) } ?? .null
        default: return .number(Double(values.count))
        }
    }

    private static func aggregate(_ random: inout Numbers) -> Condition {
        let operation = random.pick(["@sum", "@avg", "@min", "@max"])
        let comparator = random.pick(comparators)
        // What decimals divide to is none of a double: means are compared with whole numbers.
        let constant = Plainly.number(Double(random.below(12) - 4))
        let name = random.pick(["i", "f", "d", "m"])
        let path: PathTo
        switch random.below(5) {
        case 0:
            path = PathTo(text: "ints.\(operation)") { person, _ in made(operation, person.ints) }
        case 1:
            path = PathTo(text: "rows.\(operation).\(name)") { person, data in
                made(operation, person.rows.map { data.people[$0].values[name] ?? .null })
            }
        case 2:
            path = PathTo(text: "boss.\(operation).\(name)") { person, data in
                made(operation, person.boss.map { [data.people[$0].values[name] ?? .null] } ?? [])
            }
        case 3:
            path = PathTo(text: "rows.\(operation).boss.\(name)") { person, data in
                made(
                    operation,
                    person.rows.compactMap { data.people[$0].boss }.map {
                        data.people[$0].values[name] ?? .null
                    })
            }
        default:
            path = PathTo(text: "rows.@count") { person, _ in
                made("@count", person.rows.map { _ in .null })
            }
        }
        return Condition(text: "\(path.text) \(comparator) \(constant.literal)") {
            path.value($0, $1).holds(comparator, constant)
        }
    }

    private static func dictionary(_ random: inout Numbers) -> Condition {
        let key = random.pick(Plain.keys)
        let comparator = random.pick(comparators)
        let constant = random.chance(20) ? Plainly.null : .number(Double(random.below(5)))
        switch random.below(3) {
        case 0:
            return Condition(text: "marks.@keys == '\(key)'") { person, _ in
                person.marks[key] != nil
            }
        case 1:
            let isPoint = random.chance(50)
            let path = isPoint ? "marks.\(key)" : "marks['\(key)']"
            return Condition(text: "\(path) \(comparator) \(constant.literal)") { person, _ in
                (person.marks[key] ?? .null).holds(comparator, constant)
            }
        default:
            return Condition(text: "ANY marks.@values \(comparator) \(constant.literal)") {
                person, _ in person.marks.values.contains { $0.holds(comparator, constant) }
            }
        }
    }

    private static func subquery(_ random: inout Numbers) -> Condition {
        let name = random.pick(["i", "d", "s", "b"])
        let comparator = random.pick(comparators)
        let (counting, number) = (random.pick(comparators), random.below(3))
        if random.chance(40) {
            let inner = SubqueryOfOuter(name: name, comparator: comparator)
            return Condition(
                text: "SUBQUERY(rows, $x, SUBQUERY($x.rows, $y, $y.\(name) \(comparator) "
                    + "$x.\(name)).@count > 0).@count \(counting) \(number)"
            ) { person, data in
                let count = person.rows.filter { inner.holds(data.people[$0], data) }.count
                return Plainly.number(Double(count)).holds(counting, .number(Double(number)))
            }
        }
        let constant = Plain.value(of: name, &random)
        return Condition(
            text: "SUBQUERY(rows, $x, $x.\(name) \(comparator) \(constant.literal)).@count "
                + "\(counting) \(number)"
        ) { person, data in
            let count = person.rows.filter {
                (data.people[$0].values[name] ?? .null).holds(comparator, constant)
            }.count
            return Plainly.number(Double(count)).holds(counting, .number(Double(number)))
        }
    }

    private struct SubqueryOfOuter {
        var name: String
        var comparator: String

        func holds(_ person: Plain, _ data: PlainData) -> Bool {
            person.rows.contains {
                (data.people[$0].values[name] ?? .null).holds(
                    comparator, person.values[name] ?? .null)
            }
        }
    }

    private static func backlinks(_ random: inout Numbers) -> Condition {
        let isOfBoss = random.chance(50)
        let property = isOfBoss ? "boss" : "rows"
        let comparator = random.pick(comparators)
        let constant = Plainly.number(Double(random.below(5) - 1))
        if random.chance(50) {
            return Condition(
                text: "@links.P.\(property).@count \(comparator) \(constant.literal)"
            ) { person, data in
                let count = (isOfBoss ? data.reports : data.holders)[person.id].count
                return Plainly.number(Double(count)).holds(comparator, constant)
            }
        }
        return Condition(text: "@links.P.\(property).i \(comparator) \(constant.literal)") {
            person, data in
            (isOfBoss ? data.reports : data.holders)[person.id].contains {
                (data.people[$0].values["i"] ?? .null).holds(comparator, constant)
            }
        }
    }
}
