// Tests: BoundOrdering.swift, FixedBytes+Text.swift, Sorting.swift
import Testing
import ToftEngine
import ToftModel
import ToftStorage
import ToftTestKit

@testable import ToftQuery

/// Sorts of a few thousand objects beside a stable sort written out here: many ties, nulls, NaN,
/// texts that share their beginnings, and limits below and above the number that is sorted at a
/// time.
@Suite struct SortTests {
    private static let rows = 5000
    private static let names = [
        "text", "number", "ratio", "moment", "mark", "price", "flag", "mixture", "rank",
    ]
    private let session: Session
    private let thing: ClassID
    private let seed: Seed
    /// The values of each row, in the order of `names`.
    private let values: [[Value]]

    init() throws {
        var seed = Seed.random()
        self.seed = Seed(seed.value)
        let types: [PropertyType] = [
            .string, .int, .double, .date, .uuid, .decimal128, .bool, .mixed, .int,
        ]
        let session = try Session.open(
            Configuration(
                location: .memory(name: "sorts \(UInt64.random(in: 0 ... .max))"),
                schema: Schema([
                    ClassSchema(
                        "Thing",
                        zip(Self.names, types).map {
                            PropertySchema($0, $1, isOptional: $1 != .mixed)
                        })
                ])))
        let owner = try session.classHandle(named: "Thing")
        let thing = owner.id
        var ids: [PropertyID] = []
        for name in Self.names { ids.append(try owner.property(named: name).id) }
        try session.beginWrite()
        values = try (0..<Self.rows).map { index in
            var row = types.map { Self.value($0, &seed) }
            // Ascending, so that clusters are behind others; the last have some that come first.
            row[8] = index > 4_900 && index % 9 == 0 ? .null : .int(Int64(index / 3))
            _ = try session.create(thing, zip(ids, row).map { ($0, $1) })
            return row
        }
        try session.commit()
        self.session = session
        self.thing = thing
    }

    private static func value(_ type: PropertyType, _ seed: inout Seed) -> Value {
        if seed.chance(10) { return .null }
        switch type {
        case .string: return .string(text(&seed))
        case .int:
            return .int(seed.pick([.min, -1, 0, 1, .max]) ?? 0)
        case .double:
            return .double(seed.pick([-.infinity, -1.5, -0.0, 0, 1e-300, 2, .infinity, .nan]) ?? 0)
        case .date:
            let seconds = Int64(seed.below(3) - 1)
            let nanoseconds = Int32(seed.below(3)) * (seconds < 0 ? -1 : 1)
            return .date(Timestamp(seconds: seconds, nanoseconds: nanoseconds))
        case .uuid:
            let (first, last) = (seed.pick(["00", "7f", "80", "ff"]) ?? "00", seed.below(4))
            let text = "\(first)000000-0000-0000-0000-00000000000\(last)"
            return FixedBytes(uuidText: text).map { .uuid($0) } ?? .null
        case .decimal128:
            let texts = ["-Infinity", "-2.5", "-0", "1E-30", "1.00", "1.01", "9E40", "NaN"]
            return .decimal(Decimal128(seed.pick(texts) ?? "0") ?? .zero)
        case .bool: return .bool(seed.chance(50))
        default: return value([.string, .int, .double, .bool][seed.below(4)], &seed)
        }
    }

    /// Few beginnings, of lengths around the parts that are sorted at once.
    private static func text(_ seed: inout Seed) -> String {
        let length = seed.pick([0, 1, 6, 7, 8, 13, 14, 15, 55, 56, 57, 70]) ?? 0
        let beginning = String(repeating: seed.chance(50) ? "é" : "a", count: length)
        let end = seed.pick(["", "\0", "\0\0", "b", "\u{10FFFF}"]) ?? ""
        // Some clusters have too many different texts for codes.
        return beginning + end + (seed.chance(60) ? "\(seed.below(3_000))" : "")
    }

    /// Null, then NaN, then the rest.
    private static func order(_ left: Value, _ right: Value) -> Int {
        switch (left, right) {
        case (.null, .null): 0
        case (.null, _): -1
        case (_, .null): 1
        case (.string(let left), .string(let right)):
            left.utf8.elementsEqual(right.utf8)
                ? 0 : left.utf8.lexicographicallyPrecedes(right.utf8) ? -1 : 1
        case (.int(let left), .int(let right)): left == right ? 0 : left < right ? -1 : 1
        case (.double(let left), .double(let right)):
            left.isNaN || right.isNaN
                ? (left.isNaN ? 0 : 1) - (right.isNaN ? 0 : 1)
                : left == right ? 0 : left < right ? -1 : 1
        case (.date(let left), .date(let right)):
            left.seconds == right.seconds
                ? Int(left.nanoseconds - right.nanoseconds) : left.seconds < right.seconds ? -1 : 1
        case (.uuid(let left), .uuid(let right)):
            left == right ? 0 : left.uuidText < right.uuidText ? -1 : 1
        case (.bool(let left), .bool(let right)): (left ? 1 : 0) - (right ? 1 : 0)
        default: left.mixedOrder(right)
        }
    }

    /// The rows in the order of a stable sort.
    private func sorted(_ keys: [(column: Int, isAscending: Bool)]) -> [Int64] {
        let rows = (0..<Self.rows).sorted { left, right in
            for key in keys {
                let order = Self.order(values[left][key.column], values[right][key.column])
                if order != 0 { return (order < 0) == key.isAscending }
            }
            return left < right
        }
        return rows.map { Int64($0) }
    }

    private static let limits = [
        0, 1, 4, 5, 127, 128, 129, 1249, 1250, 1251, 4999, 5000, 5001,
    ]

    @Test func `Sorts and their limits agree with a stable sort`() throws {
        var seed = seed
        let least = try session.results(of: thing).key(at: 0)
        for turn in 0..<27 {
            let keys = (0...seed.below(3)).map { index in
                (
                    column: index == 0 ? turn % Self.names.count : seed.below(Self.names.count),
                    isAscending: seed.chance(50)
                )
            }
            let text = keys.map { "\(Self.names[$0.column]) \($0.isAscending ? "ASC" : "DESC")" }
                .joined(separator: ", ")
            let expected = sorted(keys)
            let all = try session.results(of: thing).filter("TRUEPREDICATE SORT(\(text))")
            #expect(try all.keys().map { $0 - least } == expected, "\(text), seed \(seed.value)")
            // Each limit once with each property.
            for (index, limit) in Self.limits.enumerated()
            where index % 3 == turn / Self.names.count {
                let some = try session.results(of: thing).filter(
                    "TRUEPREDICATE SORT(\(text)) LIMIT(\(limit))")
                #expect(try some.count == min(limit, Self.rows))
                let found = try some.keys().map { $0 - least }
                #expect(
                    found == Array(expected.prefix(limit)),
                    "\(text), limit \(limit), seed \(seed.value)")
            }
        }
    }

    @Test func `The beginning of a sorted class is read before the rest is sorted`() throws {
        var seed = seed
        for turn in 0..<9 {
            let isAscending = seed.chance(50)
            let text = "\(Self.names[turn]) \(isAscending ? "ASC" : "DESC")"
            let expected = sorted([(turn, isAscending)])
            let all = try session.results(of: thing).filter("TRUEPREDICATE SORT(\(text))")
            let least = try session.results(of: thing).key(at: 0)
            for index in [127, 0, 126, 128, 0, 127, Self.rows - 1] {
                #expect(try all.key(at: index) - least == expected[index], "\(text), \(seed.value)")
            }
            for index in [-1, Self.rows] {
                #expect(throws: EngineError.self) { try all.key(at: index) }
            }
        }
    }

    @Test func `The beginning of a sorted class follows changes and ends where it does`() throws {
        let sorted = try session.results(of: thing).filter("rank < 40 SORT(rank ASC)")
        #expect(throws: EngineError.self) { try sorted.key(at: 120) }
        let count = try sorted.count
        #expect(count == 120)
        let fresh = try session.results(of: thing).filter("TRUEPREDICATE SORT(rank DESC)")
        let first = try fresh.key(at: 0)
        try session.beginWrite()
        try session.object(ObjectRef(classID: thing, key: first))?.delete()
        let second = try fresh.key(at: 0)
        #expect(second != first)
        try session.commit()
        #expect(try fresh.key(at: 0) == second)
        #expect(try fresh.keys().first == second)
        try session.beginWrite()
        let rank = try session.classHandle(thing).property(named: "rank").id
        let added = try session.create(thing, [(rank, .int(1_000_000))])
        #expect(try fresh.key(at: 0) == added.ref.key)
        try session.cancel()
        #expect(try fresh.key(at: 0) == second)
    }

    @Test func `A count leaves out sorts, but not what depends on them`() throws {
        let queries = [
            ("flag == true SORT(text ASC)", "flag == true"),
            ("flag == true SORT(text ASC) LIMIT(10)", "flag == true LIMIT(10)"),
            ("TRUEPREDICATE SORT(number ASC) SORT(text DESC) LIMIT(7)", "TRUEPREDICATE LIMIT(7)"),
        ]
        for (sorted, plain) in queries {
            let (one, other) = (
                try session.results(of: thing).filter(sorted),
                try session.results(of: thing).filter(plain)
            )
            #expect(try one.count == other.count, "\(sorted)")
        }
        // The choice of the ten that are left determines the number of their texts, and of those
        // that pass a filter.
        for query in [
            "TRUEPREDICATE SORT(text ASC) LIMIT(10) DISTINCT(text)",
            "TRUEPREDICATE SORT(text DESC) DISTINCT(text) LIMIT(3)",
        ] {
            let results = try session.results(of: thing).filter(query)
            #expect(try results.count == results.keys().count, "\(query), seed \(seed.value)")
        }
        let ten = try session.results(of: thing).filter("TRUEPREDICATE SORT(text ASC) LIMIT(10)")
        #expect(try ten.filter("text != null").count == 0, "nulls come first")
        #expect(try ten.filter("text == null").count == 10)
    }
}
