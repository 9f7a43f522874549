// Tests: PropertyHandle+Cells.swift, IndexBound.swift, ModelView+Keys.swift
import Testing
@testable import ToftModel
import ToftStorage
import ToftTestKit

@Suite struct IndexTests {
    static func indexed(_ isIndexed: Bool = true) -> ClassSchema {
        ClassSchema(
            "Thing",
            [PropertyType.int, .bool, .string, .date, .uuid, .objectId].flatMap {
                [
                    PropertySchema("\($0)", $0, isIndexed: isIndexed),
                    PropertySchema("optional_\($0)", $0, isOptional: true, isIndexed: isIndexed),
                ]
            })
    }

    static func sample(_ type: PropertyType, _ seed: inout Seed) -> Value {
        switch type {
        case .bool: return .bool(seed.chance(50))
        case .int: return .int(seed.pick([Int64.min, -300, -1, 0, 1, 255, 256, .max])!)
        case .date:
            return .date(
                seed.pick(
                    [(-5, -1), (-5, 0), (0, -1), (0, 0), (0, 1), (7, 5), (.max, 999_999_999)].map(
                        Timestamp.init))!)
        case .uuid, .objectId:
            let half = seed.pick([UInt64.min, 1, 255 << 32, 1 << 63, .max])!
            let rest = seed.pick([UInt64.min, 1 << 32, 1 << 63, .max << 32])!
            let bytes = FixedBytes(high: half, low: rest)
            return type == .uuid ? .uuid(bytes) : .objectId(bytes)
        default:
            let base = String(repeating: "x", count: seed.pick([0, 1, 198, 199, 200, 201, 300])!)
            return .string(base + seed.pick(["", "a", "b", "\u{0}", "\u{0}a", "é", "\u{10FFFF}"])!)
        }
    }

    /// Values of one property in the order that an index must have.
    static func less(_ left: Value, _ right: Value) -> Bool {
        switch (left, right) {
        case (.null, .null): false
        case (.null, _): true
        case (_, .null): false
        case (.bool(let left), .bool(let right)): !left && right
        case (.int(let left), .int(let right)): left < right
        case (.date(let left), .date(let right)): left < right
        case (.uuid(let left), .uuid(let right)): left < right
        case (.objectId(let left), .objectId(let right)): left < right
        case (.string(let left), .string(let right)):
            left.utf8.lexicographicallyPrecedes(right.utf8)
        default: false
        }
    }

    @Test(arguments: [PropertyType.int, .bool, .string, .date, .uuid, .objectId], [false, true])
    func `An index finds exactly the objects with a value in every range`(
        type: PropertyType, isOptional: Bool
    )
        throws
    {
        var seed = Seed.random()
        let database = try ModelDatabase(Self.indexed())
        let name = isOptional ? "optional_\(type)" : "\(type)"
        let objects = try database.write { transaction throws in
            var objects: [(key: Int64, value: Value)] = []
            for _ in 0..<200 {
                let value = isOptional && seed.chance(15) ? .null : Self.sample(type, &seed)
                objects.append((try transaction.create("Thing", [:]), value))
                try transaction.set(objects[objects.count - 1].key, "Thing", name, value)
            }
            return objects
        }
        try database.read { view throws in
            for _ in 0..<60 {
                let wanted =
                    seed.chance(80)
                    ? objects[seed.below(objects.count)].value : Self.sample(type, &seed)
                let expected = objects.filter { $0.value == wanted }.map(\.key)
                let found = try view.keys("Thing", name, equalTo: wanted).filter {
                    try view.value($0, "Thing", name) == wanted
                }
                #expect(found == expected, "\(seed)")
                try expectRange(
                    view, name, objects, wanted, objects[seed.below(objects.count)].value, "\(seed)"
                )
            }
        }
        try database.check()
    }

    /// Every kind of range between two values gives the same objects as a filter; candidates are
    /// compared again, as a query does.
    func expectRange(
        _ view: ModelView, _ name: String, _ objects: [(key: Int64, value: Value)], _ low: Value,
        _ high: Value, _ seed: String
    ) throws {
        let property = try view.schema.classHandle(named: "Thing").property(named: name)
        for (lowKind, highKind) in [(0, 0), (1, 1), (1, 2), (2, 1), (2, 2), (0, 2), (2, 0)] {
            func isInside(_ value: Value) -> Bool {
                let isAbove =
                    lowKind == 0 || Self.less(low, value) || (lowKind == 1 && low == value)
                return isAbove
                    && (highKind == 0 || Self.less(value, high) || (highKind == 1 && high == value))
            }
            var found: [Int64] = []
            try low.withBorrowed { lower throws(ModelError) in
                try high.withBorrowed { upper throws(ModelError) in
                    let lower = try bound(lowKind, property.checkedCell(lower, in: view.schema))
                    let upper = try bound(highKind, property.checkedCell(upper, in: view.schema))
                    try view.forEachIndexed(property, from: lower, to: upper) {
                        key throws(ModelError) in
                        found.append(key)
                        return true
                    }
                }
            }
            let inside = try found.filter { isInside(try view.value($0, "Thing", name)) }
            #expect(
                inside.sorted() == objects.filter { isInside($0.value) }.map(\.key),
                "\(seed) \(lowKind) \(low) \(highKind) \(high)")
            let values = try inside.map { try view.value($0, "Thing", name) }
            let order = zip(values, values.dropFirst()).allSatisfy {
                !Self.less($1, $0) || isLong($0) && isLong($1)
            }
            #expect(order, "\(seed)")
        }
    }

    func isLong(_ value: Value) -> Bool {
        if case .string(let text) = value { text.utf8.count > KeyBytes.textLimit } else { false }
    }

    func bound(_ kind: Int, _ cell: Cell) -> IndexBound {
        kind == 0 ? .unbounded : kind == 1 ? .including(cell) : .excluding(cell)
    }

    @Test func `An index added later knows the objects that were there`() throws {
        let database = try ModelDatabase(Self.indexed(false))
        let keys = try database.write { transaction throws in
            try (0..<500).map {
                try transaction.create(
                    "Thing",
                    [
                        "int": .int(Int64($0 % 7)),
                        "optional_string": $0 % 3 == 0 ? .null : .string("\($0 % 5)"),
                    ])
            }
        }
        try database.reopen(Self.indexed())
        try database.read { view throws in
            #expect(try view.keys("Thing", "int", equalTo: .int(3)) == keys.filter { $0 % 7 == 3 })
            #expect(
                try view.keys("Thing", "optional_string", equalTo: .null)
                    == keys.filter { $0 % 3 == 0 })
        }
        try database.write { try $0.set(keys[3], "Thing", "int", .int(4)) }
        try database.check()
        try database.reopen(Self.indexed(false))
        #expect(try database.property("Thing", "int").isIndexed == false)
        try database.check()
    }
}
