// Tests: ModelTransaction+SetsAndDictionaries.swift
import Testing
@testable import ToftModel
import ToftStorage
import ToftTestKit

@Suite struct SetTests {
    static let sets = ClassSchema(
        "Sets",
        ListTests.scalars.map { PropertySchema("\($0)", $0, collection: .set) }
            + ListTests.scalars.map {
                PropertySchema("optional_\($0)", $0, collection: .set, isOptional: true)
            } + [PropertySchema("friends", .link, collection: .set, target: "Sets")])

    @Test func `A set of any type holds each value once in ascending order`() throws {
        let database = try ModelDatabase(Self.sets)
        try database.write { transaction throws in
            let key = try transaction.create("Sets")
            for (name, value) in ObjectTests.samples {
                let set = try database.property("Sets", name)
                #expect(try transaction.setInsert(key, set, value).isNew)
                #expect(try !transaction.setInsert(key, set, value).isNew)
                #expect(try transaction.view.values(key, "Sets", name) == [value])
                #expect(
                    message { try transaction.setInsert(key, set, Value.null) }.contains("null"))
                let optional = try database.property("Sets", "optional_" + name)
                #expect(try transaction.setInsert(key, optional, value) == (0, true))
                #expect(try transaction.setInsert(key, optional, Value.null) == (0, true))
                #expect(try transaction.setInsert(key, optional, Value.null) == (0, false))
                #expect(
                    try transaction.view.values(key, "Sets", "optional_" + name) == [.null, value])
                #expect(try transaction.setErase(key, optional, .null))
                #expect(try !transaction.setErase(key, optional, .null))
                for (other, wrong) in ObjectTests.samples where other != name {
                    #expect(
                        message { try transaction.setInsert(key, set, wrong) }
                            == "Property 'Sets.\(name)' holds set of \(name), not \(other).")
                }
            }
        }
        try database.check()
    }

    @Test func `Numbers that are equal are one element whatever their bits`() throws {
        let database = try ModelDatabase(Self.sets)
        try database.write { transaction throws in
            let key = try transaction.create("Sets")
            let set = try database.property("Sets", "double")
            for value in [1, -0.0, .infinity, .nan, 0.0, -.nan, -.infinity, -1] {
                try transaction.setInsert(key, set, Value.double(value))
            }
            let values = try transaction.view.values(key, "Sets", "double")
            #expect(
                values
                    == [.nan, -.infinity, -1, 0, 1, .infinity].map { Value.double($0) })
        }
        try database.check()
    }

    @Test(arguments: [UpdatePolicy.all, .modified])
    func `A whole set is assigned in any order and with repetitions`(policy: UpdatePolicy) throws {
        let database = try ModelDatabase(Self.sets)
        let set = try database.property("Sets", "int")
        let key = try database.write { transaction throws in try transaction.create("Sets") }
        for numbers in [[3, 1, 2, 3], [], [5], [1, 9, 5, 3, 7], [9, 1], [0, 1, 2, 9, 10, 1]] {
            try database.write { transaction throws in
                let values = numbers.map { BorrowedValue.int(Int64($0)) }
                try values.withUnsafeBufferPointer {
                    try transaction.assign(.list($0), to: key, set, policy: policy)
                }
                #expect(
                    try transaction.view.values(key, "Sets", "int")
                        == Set(numbers).sorted().map { .int(Int64($0)) })
            }
        }
        try database.check()
    }

    @Test func `A large set finds each of its elements`() throws {
        let database = try ModelDatabase(Self.sets)
        var seed = Seed.random()
        var model = Set<String>()
        let set = try database.property("Sets", "string")
        try database.write { transaction throws in
            let key = try transaction.create("Sets")
            for _ in 0..<3_000 {
                let text = String(seed.below(5_000), radix: 7)
                #expect(
                    try transaction.setInsert(key, set, Value.string(text)).isNew
                        == model.insert(text).inserted)
            }
            for _ in 0..<1_000 {
                let text = String(seed.below(5_000), radix: 7)
                #expect(
                    try transaction.setErase(key, set, .string(text)) == (model.remove(text) != nil)
                )
            }
            #expect(
                try transaction.view.values(key, "Sets", "string")
                    == model.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
                    .map { .string($0) }, "\(seed)")
        }
        try database.check()
    }

    @Test func `A deleted object leaves every set and its backlinks go with the set`() throws {
        let database = try ModelDatabase(Self.sets)
        let friends = try database.property("Sets", "friends")
        try database.write { transaction throws in
            let keys = try (0..<5).map { _ in try transaction.create("Sets") }
            let id = try database.handle("Sets").id
            for owner in keys {
                for friend in keys.reversed() {
                    try transaction.setInsert(
                        owner, friends, Value.link(ObjectRef(classID: id, key: friend)))
                }
            }
            #expect(try transaction.view.backlinks(to: keys[2], through: friends) == keys)
            try transaction.erase(keys[1], "Sets")
            #expect(
                try transaction.view.values(keys[0], "Sets", "friends")
                    == [0, 2, 3, 4].map { .link(ObjectRef(classID: id, key: keys[$0])) })
            try transaction.clear(keys[0], friends)
            #expect(
                try transaction.view.backlinks(to: keys[2], through: friends)
                    == [keys[2], keys[3], keys[4]])
        }
        try database.check()
    }

    @Test func `The functions of one kind of collection refuse another`() throws {
        let lists = ClassSchema(
            "Mixture",
            [
                PropertySchema("one", .int), PropertySchema("list", .int, collection: .list),
                PropertySchema("set", .int, collection: .set),
                PropertySchema("map", .int, collection: .dictionary),
            ])
        let database = try ModelDatabase(lists)
        try database.write { transaction throws in
            let key = try transaction.create("Mixture")
            for name in ["one", "list", "set", "map"] {
                let property = try database.property("Mixture", name)
                let refusal = { (kind: String) in "Property 'Mixture.\(name)' is not a \(kind)." }
                if name != "list" {
                    #expect(
                        message { try transaction.listInsert(key, property, at: 0, .int(1)) }
                            == refusal("list"))
                }
                if name != "set" {
                    #expect(
                        message { try transaction.setInsert(key, property, Value.int(1)) }
                            == refusal("set"))
                    #expect(
                        message { _ = try transaction.setErase(key, property, .int(1)) }
                            == refusal("set"))
                }
                if name != "map" {
                    #expect(
                        message { try transaction.dictionarySet(key, property, "a", .int(1)) }
                            == refusal("dictionary"))
                    #expect(
                        message { _ = try transaction.view.dictionaryKeys(key, property) }
                            == refusal("dictionary"))
                }
            }
        }
        try database.check()
    }
}

@Suite struct DictionaryTests {
    static let maps = ClassSchema(
        "Maps",
        ListTests.scalars.map { PropertySchema("\($0)", $0, collection: .dictionary) }
            + ListTests.scalars.map {
                PropertySchema("optional_\($0)", $0, collection: .dictionary, isOptional: true)
            } + [
                PropertySchema(
                    "named", .link, collection: .dictionary, isOptional: true, target: "Maps")
            ])

    func contents(_ view: ModelView, _ key: Int64, _ property: PropertyHandle) throws
        -> [(String, Value)]
    {
        let count = try view.dictionaryKeys(key, property).count
        #expect(try view.listCount(key, property) == count)
        return try (0..<count).map {
            (
                try view.dictionaryKey(key, property, at: $0),
                try view.listValue(key, property, at: $0)
            )
        }
    }

    func expect(
        _ view: ModelView, _ key: Int64, _ property: PropertyHandle, _ model: [String: Value],
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        let found = try contents(view, key, property)
        let sorted = model.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        #expect(found.map(\.0) == sorted.map(\.key), sourceLocation: location)
        #expect(found.map(\.1) == sorted.map(\.value), sourceLocation: location)
    }

    @Test func `A dictionary of any type keeps values under its keys in the order of their bytes`()
        throws
    {
        let database = try ModelDatabase(Self.maps)
        try database.write { transaction throws in
            let key = try transaction.create("Maps")
            for (name, value) in ObjectTests.samples {
                for property in [name, "optional_" + name] {
                    let map = try database.property("Maps", property)
                    var model: [String: Value] = [:]
                    for entry in ["b", "", "é", "a\u{0}", "a", "ab", "b", "😀"] {
                        #expect(
                            try transaction.dictionarySet(key, map, entry, value).isNew
                                == (model.updateValue(value, forKey: entry) == nil))
                    }
                    try expect(transaction.view, key, map, model)
                    if map.isOptional {
                        try transaction.dictionarySet(key, map, "a", .null)
                        model["a"] = .null
                    } else {
                        #expect(
                            message { try transaction.dictionarySet(key, map, "a", .null) }
                                .contains("can't be null"))
                    }
                    #expect(try transaction.dictionaryErase(key, map, "ab"))
                    #expect(try !transaction.dictionaryErase(key, map, "ab"))
                    model["ab"] = nil
                    try expect(transaction.view, key, map, model)
                }
            }
        }
        try database.check()
    }

    @Test func `Keys that queries could not name are refused and change nothing`() throws {
        let database = try ModelDatabase(Self.maps)
        let map = try database.property("Maps", "int")
        try database.write { transaction throws in
            let key = try transaction.create("Maps")
            #expect(
                message { try transaction.dictionarySet(key, map, "a.b", .int(1)) }
                    == "A key of dictionary 'Maps.int' contains a '.'.")
            #expect(
                message { try transaction.dictionarySet(key, map, "$a", .int(1)) }
                    == "A key of dictionary 'Maps.int' begins with '$'.")
            [UInt8(0xFF)].withUnsafeBytes { bytes in
                #expect(
                    message { try transaction.dictionarySet(key, map, bytes, .int(1)) }
                        .contains("not valid UTF-8"))
            }
            try transaction.dictionarySet(key, map, "a$", .int(1))
            try expect(transaction.view, key, map, ["a$": .int(1)])
        }
        try database.check()
    }

    @Test(arguments: [UpdatePolicy.all, .modified])
    func `A whole dictionary is assigned and the last of equal keys counts`(policy: UpdatePolicy)
        throws
    {
        let database = try ModelDatabase(Self.maps)
        let map = try database.property("Maps", "int")
        let key = try database.write { transaction throws in try transaction.create("Maps") }
        for entries in [
            [("b", 1), ("a", 2), ("b", 3)], [], [("b", 3)], [("a", 1), ("b", 3), ("c", 4)],
            [("c", 4), ("", 0)],
        ] {
            try database.write { transaction throws in
                let names = entries.map { Array($0.0.utf8) }
                var model: [String: Value] = [:]
                for (name, number) in entries { model[name] = .int(Int64(number)) }
                var lent: [BorrowedEntry] = []
                // The arrays live on in `names`.
                for (name, entry) in zip(names, entries) {
                    lent.append(
                        BorrowedEntry(
                            key: name.withUnsafeBytes { UnsafeRawBufferPointer($0) },
                            value: .int(Int64(entry.1))))
                }
                try withExtendedLifetime(names) {
                    try lent.withUnsafeBufferPointer {
                        try transaction.assign(.dictionary($0), to: key, map, policy: policy)
                    }
                }
                try expect(transaction.view, key, map, model)
            }
        }
        try database.check()
    }

    @Test func `A large dictionary holds what a plain one does`() throws {
        let database = try ModelDatabase(Self.maps)
        var seed = Seed.random()
        var model: [String: Value] = [:]
        let map = try database.property("Maps", "string")
        let key = try database.write { transaction throws in
            let key = try transaction.create("Maps")
            for _ in 0..<3_000 {
                let name = String(seed.below(4_000), radix: 5)
                let value = Value.string(String(repeating: "v", count: seed.below(20)))
                try transaction.dictionarySet(key, map, name, value)
                model[name] = value
                if seed.chance(30) {
                    let gone = String(seed.below(4_000), radix: 5)
                    #expect(
                        try transaction.dictionaryErase(key, map, gone)
                            == (model.removeValue(forKey: gone) != nil))
                }
            }
            try expect(transaction.view, key, map, model)
            return key
        }
        try database.read { try expect($0, key, map, model) }
        try database.check()
    }

    @Test func `A deleted object leaves its keys behind with null`() throws {
        let database = try ModelDatabase(Self.maps)
        let named = try database.property("Maps", "named")
        try database.write { transaction throws in
            let keys = try (0..<3).map { _ in try transaction.create("Maps") }
            let links = try keys.map {
                Value.link(ObjectRef(classID: try database.handle("Maps").id, key: $0))
            }
            for (name, link) in [("a", links[1]), ("b", links[2]), ("c", links[1]), ("d", .null)] {
                try transaction.dictionarySet(keys[0], named, name, link)
            }
            #expect(
                try transaction.view.backlinks(to: keys[1], through: named) == [keys[0], keys[0]])
            try transaction.dictionarySet(keys[0], named, "c", links[2])
            #expect(try transaction.view.backlinks(to: keys[1], through: named) == [keys[0]])
            try transaction.erase(keys[1], "Maps")
            try expect(
                transaction.view, keys[0], named,
                ["a": .null, "b": links[2], "c": links[2], "d": .null])
            #expect(try transaction.dictionaryErase(keys[0], named, "b"))
            #expect(try transaction.view.backlinks(to: keys[2], through: named) == [keys[0]])
        }
        try database.check()
    }

    @Test func `Sets and dictionaries are added to a class that has objects`() throws {
        let database = try ModelDatabase(ClassSchema("Maps", [PropertySchema("one", .int)]))
        let key = try database.write { try $0.create("Maps", ["one": .int(1)]) }
        try database.reopen(
            ClassSchema(
                "Maps",
                [
                    PropertySchema("one", .int),
                    PropertySchema("tags", .string, collection: .set),
                    PropertySchema("scores", .int, collection: .dictionary),
                ]))
        let tags = try database.property("Maps", "tags")
        let scores = try database.property("Maps", "scores")
        try database.write { transaction throws in
            #expect(try transaction.view.listCount(key, tags) == 0)
            try expect(transaction.view, key, scores, [:])
            try transaction.setInsert(key, tags, Value.string("x"))
            try transaction.dictionarySet(key, scores, "x", .int(1))
        }
        try database.read { try expect($0, key, scores, ["x": .int(1)]) }
        try database.check()
    }
}
