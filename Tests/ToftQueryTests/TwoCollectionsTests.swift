// Tests: CrossPairNode.swift, PairNode.swift
import Testing
import ToftEngine
import ToftModel
import ToftStorage
import ToftTestKit

@testable import ToftQuery

/// Two collections against each other, every value with every other, against loops over plain
/// values: short lists and such as fill a batch of values, miss it by one, or exceed it.
@Suite struct TwoCollectionsTests {
    private enum Number: Equatable {
        case null
        case number(Double)

        /// Less than, equal to or greater than 0; nil where neither is before the other.
        func order(_ other: Number) -> Int? {
            switch (self, other) {
            case (.null, .null): 0
            case (.number(let one), .number(let another)):
                one.isNaN && another.isNaN
                    ? 0 : one < another ? -1 : one == another ? 0 : one > another ? 1 : nil
            default: nil
            }
        }
    }

    private struct World {
        let session: Session
        let owner: ClassID
        var lists: [String: [[Number]]] = [:]
        var texts: [String: [[String?]]] = [:]

        static let count = 24

        init(_ random: inout Seed) throws {
            func list(_ name: String, _ type: PropertyType) -> PropertySchema {
                PropertySchema(name, type, collection: .list, isOptional: true)
            }
            session = try Session.open(
                Configuration(
                    location: .memory(name: "pairs \(UInt64.random(in: 0 ... .max))"),
                    schema: Schema([
                        ClassSchema(
                            "Owner",
                            [
                                PropertySchema("id", .int, isPrimaryKey: true),
                                list("ints", .int), list("doubles", .double),
                                list("decimals", .decimal128), list("mixed", .mixed),
                                list("texts", .string), list("others", .string),
                            ])
                    ])))
            owner = try session.classHandle(named: "Owner").id
            draw(&random)
            try store()
        }

        private mutating func draw(_ random: inout Seed) {
            // A list of one value decides otherwise than one of many.
            func values<Element>(_ draw: () -> Element) -> [[Element]] {
                (0..<Self.count).map { _ in
                    let isLarge = random.chance(12)
                    let size = random.one(of: isLarge ? [255, 256, 257, 600] : [0, 1, 2, 3, 5])
                    let only = random.chance(20) ? draw() : nil
                    return (0..<size).map { _ in only ?? draw() }
                }
            }
            for name in ["ints", "doubles", "decimals", "mixed"] {
                let hasNaN = name != "ints"
                let spread = random.one(of: [2, 5, 400])
                lists[name] = values {
                    random.chance(10)
                        ? .null
                        : hasNaN && random.chance(5)
                            ? .number(.nan) : .number(Double(random.below(spread)))
                }
            }
            for name in ["texts", "others"] {
                texts[name] = values {
                    random.chance(10) ? nil : random.one(of: ["", "a", "A", "ab", "aB", "b", "ba"])
                }
            }
        }

        private func store() throws {
            try session.beginWrite()
            let handle = try session.classHandle(named: "Owner")
            func property(_ name: String) throws -> PropertyID {
                try handle.property(named: name).id
            }
            for index in 0..<Self.count {
                let object = try session.create(owner, [(try property("id"), .int(Int64(index)))])
                for (name, values) in lists {
                    let list = try object.list(try property(name))
                    for value in values[index] { try list.append(stored(value, name)) }
                }
                for (name, values) in texts {
                    let list = try object.list(try property(name))
                    for value in values[index] {
                        try list.append(value.map { .string($0) } ?? .null)
                    }
                }
            }
            try session.commit()
        }

        private func stored(_ value: Number, _ name: String) -> Value {
            guard case .number(let number) = value else { return .null }
            return switch name {
            case "ints": .int(Int64(number))
            case "decimals": .decimal(number.isNaN ? .nan : Decimal128(Int64(number)))
            default: .double(number)
            }
        }

        func ids(_ query: String) throws -> [Int] {
            try session.results(of: owner).filter(query).keys().map(Int.init)
        }
    }

    @Test func `Two lists have the answers of all pairs`() throws {
        let seed = UInt64.random(in: 0...UInt64(UInt32.max))
        print("two collections, seed \(seed)")
        var random = Seed(seed)
        let world = try World(&random)
        for (one, left) in world.lists {
            for (other, right) in world.lists {
                for (comparator, isExpected) in Self.orders {
                    try check(one, left, comparator, other, right, world, seed) {
                        isExpected($0.order($1))
                    }
                }
            }
        }
        try compareTexts(world, seed)
    }

    private static let orders: [(String, @Sendable (Int?) -> Bool)] = [
        ("==", { $0 == 0 }), ("!=", { $0 != 0 }), ("<", { ($0 ?? 0) < 0 }),
        ("<=", { ($0 ?? 1) <= 0 }), (">", { ($0 ?? 0) > 0 }), (">=", { ($0 ?? -1) >= 0 }),
    ]

    private func compareTexts(_ world: World, _ seed: UInt64) throws {
        let left = world.texts["texts"]!, right = world.texts["others"]!
        func both(_ test: @escaping (String, String) -> Bool) -> (String?, String?) -> Bool {
            { one, other in one.flatMap { one in other.map { test(one, $0) } } ?? false }
        }
        let tests: [(String, (String?, String?) -> Bool)] = [
            ("==", { $0 == $1 }), ("!=", { $0 != $1 }),
            ("==[c]", { $0?.lowercased() == $1?.lowercased() }),
            ("<", both { $0.utf8.lexicographicallyPrecedes($1.utf8) }),
            (">", both { $1.utf8.lexicographicallyPrecedes($0.utf8) }),
            ("BEGINSWITH", both { $0.hasPrefix($1) }), ("ENDSWITH", both { $0.hasSuffix($1) }),
        ]
        for (comparator, isExpected) in tests {
            try check("texts", left, comparator, "others", right, world, seed, isExpected)
        }
    }

    private func check<Element>(
        _ one: String, _ left: [[Element]], _ comparator: String, _ other: String,
        _ right: [[Element]], _ world: World, _ seed: UInt64,
        _ isExpected: (Element, Element) -> Bool
    ) throws {
        let counts = (0..<World.count).map { owner in
            var known: [String: Int] = [:]
            return left[owner].map { value in
                let count =
                    known["\(value)"] ?? right[owner].count { isExpected(value, $0) }
                known["\(value)"] = count
                return count
            }
        }
        for outer in ["ANY", "ALL", "NONE"] {
            for inner in ["ANY", "ALL", "NONE"] {
                let expected = (0..<World.count).filter { owner in
                    let passing = counts[owner].count {
                        holds(inner, $0, of: right[owner].count)
                    }
                    return holds(outer, passing, of: left[owner].count)
                }
                let query = "\(outer) \(one) \(comparator) \(inner) \(other)"
                #expect(try world.ids(query) == expected, "\(query) (seed \(seed))")
            }
        }
    }

    private func holds(_ quantifier: String, _ passing: Int, of count: Int) -> Bool {
        switch quantifier {
        case "ANY": passing > 0
        case "ALL": passing == count
        default: passing == 0
        }
    }
}
