// Tests: Limits.swift, MixedEncoder.swift, MixedFormat+Links.swift, MixedOrder.swift,
// MixedWriter.swift, ModelTransaction+Mixed.swift
import Testing
@testable import ToftModel
import ToftStorage
import ToftTestKit

@Suite struct MixedTests {
    static let box = ClassSchema(
        "Box",
        [
            PropertySchema("id", .int, isPrimaryKey: true), PropertySchema("any", .mixed),
            PropertySchema("list", .mixed, collection: .list),
            PropertySchema("set", .mixed, collection: .set),
            PropertySchema("map", .mixed, collection: .dictionary),
        ])
    static let part = ClassSchema("Part", isEmbedded: true, [PropertySchema("name", .string)])
    static let owner = ClassSchema("Owner", [.link("part", to: "Part")])

    /// Nested lists.
    static func nested(_ depth: Int) -> Value {
        depth == 0 ? .int(7) : .list([nested(depth - 1)])
    }

    @Test func `A mixed property holds a value of every type and says which`() throws {
        let database = try ModelDatabase(Self.box)
        try database.write { transaction throws in
            let key = try transaction.create("Box", ["id": .int(1)])
            #expect(try transaction.view.value(key, "Box", "any") == .null)
            let link = Value.link(ObjectRef(classID: try database.handle("Box").id, key: key))
            let dictionary = Value.dictionary([ValueEntry(key: "a", value: .list([.null, link]))])
            let values = ObjectTests.samples.map(\.1) + [.null, link, .list([]), dictionary]
            for value in values {
                try transaction.set(key, "Box", "any", value)
                #expect(try transaction.view.value(key, "Box", "any") == value)
                try transaction.append(key, "Box", "list", value)
            }
            #expect(try transaction.view.values(key, "Box", "list") == values)
        }
        try database.check()
    }

    @Test(arguments: [99, 100, 101])
    func `Collections nest up to a hundred deep`(depth: Int) throws {
        let database = try ModelDatabase(Self.box)
        try database.write { transaction throws in
            let key = try transaction.create("Box", ["id": .int(1)])
            if depth > 100 {
                let text = message { try transaction.set(key, "Box", "any", Self.nested(depth)) }
                #expect(text.contains("100"))
            } else {
                try transaction.set(key, "Box", "any", Self.nested(depth))
            }
            let expected = depth > 100 ? Value.null : Self.nested(depth)
            #expect(try transaction.view.value(key, "Box", "any") == expected)
        }
        try database.check()
    }

    @Test func `A set holds one of the numbers that are equal and no collection`() throws {
        let database = try ModelDatabase(Self.box)
        let set = try database.property("Box", "set")
        try database.write { transaction throws in
            let key = try transaction.create("Box", ["id": .int(1)])
            let one = try #require(Decimal128("1.0"))
            for value in [Value.int(1), .double(1), .float(1), .decimal(one)] {
                #expect(try transaction.setInsert(key, set, value).isNew == (value == .int(1)))
            }
            for value in [Value.bool(true), .string("1"), .data([49]), .null, .double(0.5)] {
                #expect(try transaction.setInsert(key, set, value).isNew)
            }
            #expect(
                try transaction.view.values(key, "Box", "set") == [
                    .null, .bool(true), .double(0.5), .int(1), .string("1"), .data([49]),
                ])
            #expect(try transaction.setErase(key, set, .double(1)))
            #expect(
                message { try transaction.setInsert(key, set, Value.list([])) }.contains("set"))
        }
        try database.check()
    }

    @Test func `A deleted object becomes null wherever a mixed value links to it`() throws {
        let database = try ModelDatabase(Self.box)
        try database.write { transaction throws in
            let target = try transaction.create("Box", ["id": .int(1)])
            let link = Value.link(ObjectRef(classID: try database.handle("Box").id, key: target))
            let deep = Value.dictionary([
                ValueEntry(key: "a", value: .list([link, .int(1), link])),
                ValueEntry(key: "b", value: link),
            ])
            let key = try transaction.create("Box", ["id": .int(2), "any": deep])
            try transaction.append(key, "Box", "list", link, .int(5), deep)
            let (set, map) = (
                try database.property("Box", "set"), try database.property("Box", "map")
            )
            try transaction.setInsert(key, set, link)
            try transaction.dictionarySet(key, map, "k", link)
            let any = try database.property("Box", "any")
            let id = try database.handle("Box").id
            #expect(try transaction.view.backlinks(to: target, of: id, through: any).count == 3)
            try transaction.erase(target, "Box")
            let empty = Value.dictionary([
                ValueEntry(key: "a", value: .list([.null, .int(1), .null])),
                ValueEntry(key: "b", value: .null),
            ])
            #expect(try transaction.view.value(key, "Box", "any") == empty)
            #expect(try transaction.view.values(key, "Box", "list") == [.null, .int(5), empty])
            #expect(try transaction.view.values(key, "Box", "set") == [])
            #expect(try transaction.view.values(key, "Box", "map") == [.null])
        }
        try database.check()
    }

    @Test func `A mixed value links to no embedded object and to none that is gone`() throws {
        let database = try ModelDatabase(Self.box, Self.part, Self.owner)
        try database.write { transaction throws in
            let key = try transaction.create("Box", ["id": .int(1)])
            let owner = try transaction.create("Owner")
            let part = try transaction.setEmbedded(owner, try database.property("Owner", "part"))
            let id = try database.handle("Part").id
            for value in [Value.link(ObjectRef(classID: id, key: part))] {
                #expect(
                    message { try transaction.set(key, "Box", "any", value) }.contains("own"))
                #expect(
                    message { try transaction.set(key, "Box", "any", .list([value])) }
                        .contains("own"))
            }
            let box = try database.handle("Box").id
            #expect(
                message {
                    try transaction.set(
                        key, "Box", "any", .list([.link(ObjectRef(classID: box, key: 99))]))
                } != "")
            #expect(
                message {
                    try transaction.set(
                        key, "Box", "any", .link(ObjectRef(classID: 99, key: 0)))
                } != "")
            #expect(try transaction.view.value(key, "Box", "any") == .null)
        }
        try database.check()
    }

    @Test func `A collection within a value is changed in place and gone once it is replaced`()
        throws
    {
        let database = try ModelDatabase(Self.box)
        let any = try database.property("Box", "any")
        try database.write { transaction throws in
            let key = try transaction.create("Box", ["id": .int(1)])
            try transaction.set(key, any, .list([.int(1), .int(2)]))
            #expect(message { _ = try transaction.view.nested(key, any, .dictionary) } != "")
            let ref = try transaction.view.nested(key, any, .list)
            try transaction.edit(key, any, ref, .set(.bool(true), at: 0))
            try transaction.edit(key, any, ref, .move(from: 0, to: 1))
            #expect(try transaction.view.value(key, any) == .list([.int(2), .bool(true)]))
            try transaction.set(key, any, .list([.int(1), .int(2)]))
            #expect(
                message { try transaction.edit(key, any, ref, .erase(0..<1)) }.contains("invalid"))
        }
        try database.check()
    }

    @Test(arguments: [Limits.valueBytes - 1, Limits.valueBytes, Limits.valueBytes + 1])
    func `A mixed value takes as many bytes as any other`(size: Int) throws {
        let database = try ModelDatabase(Self.box)
        try database.write { transaction throws in
            let key = try transaction.create("Box", ["id": .int(1)])
            // The tag and the number of bytes come before the text.
            let value = Value.string(String(repeating: "x", count: size - 5))
            if size > Limits.valueBytes {
                let text = message { try transaction.set(key, "Box", "any", value) }
                #expect(text.contains("\(size)"))
            } else {
                try transaction.set(key, "Box", "any", value)
                #expect(try transaction.view.value(key, "Box", "any") == value)
            }
        }
        try database.check()
    }

    @Test func `Upserting writes a mixed value only where it differs`() throws {
        let database = try ModelDatabase(Self.box)
        let value = Value.dictionary([ValueEntry(key: "k", value: .list([.int(1)]))])
        try database.write { transaction throws in
            _ = try transaction.create("Box", ["id": .int(1), "any": value])
        }
        try database.write { transaction throws in
            _ = try transaction.create("Box", ["id": .int(1), "any": value], policy: .modified)
            #expect(!transaction.hasChanges)
            _ = try transaction.create(
                "Box", ["id": .int(1), "any": .double(1)], policy: .modified)
            #expect(transaction.hasChanges)
        }
        try database.check()
    }

    @Test func `Damaged bytes are an error whatever reads them`() throws {
        var seed = Seed.random()
        let database = try ModelDatabase(Self.box)
        var samples: [[UInt8]] = []
        try database.write { transaction throws in
            let key = try transaction.create("Box", ["id": .int(1)])
            let link = Value.link(ObjectRef(classID: try database.handle("Box").id, key: key))
            let values = ObjectTests.samples.map(\.1) + [link]
            let deep = Value.list([
                .dictionary([ValueEntry(key: "k", value: .list(values))]), Self.nested(40),
            ])
            for value in values + [deep] {
                try transaction.set(key, "Box", "any", value)
                let cell = try transaction.view.cell(key, try database.property("Box", "any"))
                if case .bytes(let bytes) = cell { samples.append(Array(bytes)) }
            }
        }
        var damaged = 0
        for _ in 0..<20_000 {
            guard var bytes = seed.pick(samples), let whole = seed.pick(samples) else { return }
            for _ in 0...seed.below(3) {
                bytes[seed.below(bytes.count)] = UInt8(truncatingIfNeeded: seed.next())
            }
            if seed.chance(30) { bytes.removeLast(seed.below(bytes.count)) }
            bytes.withUnsafeBytes { bytes in
                do {
                    let value = try MixedValue(.bytes(bytes))
                    _ = try value.owned()
                    _ = try MixedValue.links(in: .bytes(bytes))
                    _ = try MixedFormat.replacing(linksTo: { _ in true }, in: bytes)
                    try value.check()
                } catch { damaged += 1 }
                var path: [Int] = []
                _ = try? MixedFormat.find(seed.next(), in: bytes, from: 0, &path)
                whole.withUnsafeBytes { whole in
                    _ = MixedValue.order(.bytes(bytes), .bytes(whole))
                    _ = MixedFormat.isIdentical(bytes, whole)
                }
            }
        }
        #expect(damaged > 1_000, "\(seed)")
        try database.check()
    }
}
