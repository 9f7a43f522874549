internal import ToftTestKit

/// A value of any scalar type. Most numbers are multiples of a quarter, which every type has
/// exactly.
enum Plainly: Equatable {
    case null
    case number(Double)
    /// A number that not every type has: of a mixed value that is an int (`i`), a double (`d`) or a
    /// decimal (`m`), or a constant.
    case exact(Exact, Character)
    case text(String)
    case bool(Bool)
    /// Dates, uuids, object ids, data and links (`k`): the kind, and a number that orders them.
    case other(Character, Int)

    /// Less than, equal to or greater than 0; nil if the two have no order.
    func order(_ right: Plainly) -> Int? {
        switch (self, right) {
        case (.null, .null): return 0
        case (.number(let left), .number(let right)):
            if left.isNaN || right.isNaN { return left.isNaN && right.isNaN ? 0 : nil }
            return left < right ? -1 : left > right ? 1 : 0
        case (.exact(let left, _), .exact(let right, _)): return left.order(right)
        case (.exact(let left, _), .number(let right)):
            return right.isNaN ? nil : left.order(Exact(right))
        case (.number(let left), .exact(let right, _)):
            return left.isNaN ? nil : Exact(left).order(right)
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

    /// Its rank in a sort: null, NaN, values.
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

    /// The result of `@type` for it in a mixed value.
    var typeName: String {
        switch self {
        case .null: "null"
        case .number(let value): value == value.rounded() ? "int" : "double"
        case .exact(_, "i"): "int"
        case .exact(_, "d"): "double"
        case .exact: "decimal"
        case .text: "string"
        case .bool: "bool"
        case .other("t", _): "date"
        case .other("k", _): "link"
        case .other("u", _): "uuid"
        case .other("o", _): "objectid"
        case .other: "binary"
        }
    }

    /// The text in a query.
    var literal: String {
        switch self {
        case .null: "null"
        case .number(let value): value.isNaN ? "NaN" : "\(value)"
        case .exact(let number, _): number.text
        case .text(let text): "'\(text)'"
        case .bool(let value): "\(value)"
        case .other("t", let number): "T\(number):0"
        case .other("u", let number): "uuid(00000000-0000-0000-0000-00000000000\(number))"
        case .other("o", let number): "oid(00000000000000000000000\(number))"
        case .other("k", let number): "obj('P', \(number))"
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
    var flags: Set<Bool> = []
    var kin: Set<Int> = []
    var things: [Plainly] = []
    var mix = Mix.one(.null)

    /// A mixed value that may be a dictionary with a value under `a` and a list under `l`.
    enum Mix {
        case one(Plainly)
        case entries(a: Plainly?, l: [Plainly])
    }

    /// - Parameter nulls: the percentage of null values of properties.
    init(id: Int, _ size: Int, nulls: Int, _ random: inout Seed) {
        self.id = id
        for (name, _) in PlainWorld.scalars {
            values[name] = random.chance(nulls) ? .null : Self.value(of: name, &random)
        }
        boss = random.chance(30) ? nil : random.below(size)
        rows = (0..<random.below(4)).map { _ in random.below(size) }
        ints = (0..<random.below(4)).map { _ in Self.value(of: "i", &random) }
        words = Set((0..<random.below(3)).map { _ in Self.text(&random) })
        for _ in 0..<random.below(3) {
            marks[random.one(of: Self.keys)] = .number(Double(random.below(5)))
        }
        flags = Set((0..<random.below(3)).map { _ in random.chance(50) })
        kin = Set((0..<random.below(3)).map { _ in random.below(size) })
        things = (0..<random.below(4)).map { _ in Self.mixed(&random) }
        let list = (0..<random.below(3)).map { _ in Self.mixed(&random) }
        mix =
            random.chance(30)
            ? .one(Self.mixed(&random))
            : .entries(a: random.chance(20) ? nil : Self.mixed(&random), l: list)
    }

    private static func mixed(_ random: inout Seed) -> Plainly {
        random.chance(15) ? .null : value(of: "v", &random)
    }

    static func text(_ random: inout Seed) -> String {
        (0..<random.below(4)).map { _ in random.one(of: letters) }.joined()
    }

    static func value(of name: String, _ random: inout Seed) -> Plainly {
        switch name {
        case "v", "w":
            return value(of: random.one(of: ["i", "d", "s", "b", "t", "x", "k", "g"]), &random)
        case "g": return Exact.stored(&random)
        case "k": return .other("k", 0)
        case "i": return .number(Double(random.below(8) - 3))
        case "f", "d": return random.chance(10) ? .number(.nan) : quarter(&random)
        case "m": return quarter(&random)
        case "s": return .text(text(&random))
        case "b": return .bool(random.chance(50))
        default: return .other(Character(name), random.below(6))
        }
    }

    /// A constant to compare a property with.
    static func constant(for name: String, _ random: inout Seed) -> Plainly {
        if random.chance(20) { return .null }
        let isNumber = ["i", "f", "d", "m", "v", "w"].contains(name)
        return isNumber && random.chance(10) ? Exact.constant(&random) : value(of: name, &random)
    }

    private static func quarter(_ random: inout Seed) -> Plainly {
        .number(Double(random.below(24) - 8) / 4)
    }
}

/// All objects, and those that link to each.
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
