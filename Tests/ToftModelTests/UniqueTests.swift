// Tests: UniqueConstraint.swift
import Testing
@testable import ToftModel
import ToftStorage
import ToftTestKit

/// Properties whose values together are unique when a transaction commits.
@Suite struct UniqueTests {
    static func person(_ uniques: [[String]]) -> ClassSchema {
        ClassSchema(
            "Person",
            [
                PropertySchema("email", .string, isOptional: true),
                PropertySchema("first", .string), PropertySchema("last", .string, isIndexed: true),
                PropertySchema("born", .int, isOptional: true),
            ], uniques: uniques)
    }
    static let both = person([["email"], ["last", "first", "born"]])

    func person(
        _ transaction: ModelTransaction, _ email: Value, _ first: String = "", _ last: String = "",
        _ born: Value = .null
    ) throws -> Int64 {
        try transaction.create(
            "Person",
            [
                "email": email, "first": .string(first), "last": .string(last), "born": born,
            ])
    }

    @Test func `Two objects with the same value do not commit`() throws {
        let database = try ModelDatabase(Self.both)
        let ann = try database.write { try person($0, .string("ann")) }
        #expect(
            message { _ = try database.write { _ = try person($0, .string("ann")) } }
                == "Two objects of class 'Person' have email = 'ann', which is unique. Change one "
                + "of them. Nothing was committed.")
        #expect(
            throws: ModelError.duplicateValues(
                className: "Person", properties: ["email"], values: [.string("bob")])
        ) {
            try database.write { transaction throws in
                let bob = try person(transaction, .string("bob"))
                try transaction.set(ann, "Person", "email", .string("bob"))
                #expect(try transaction.view.value(bob, "Person", "email") == .string("bob"))
            }
        }
        #expect(try database.read { try $0.value(ann, "Person", "email") } == .string("ann"))
        #expect(try database.read { try $0.count(database.handle("Person")) } == 1)
        try database.check()
    }

    @Test func `Null is the same as nothing, and an empty text is a value`() throws {
        let database = try ModelDatabase(Self.both)
        try database.write { transaction throws in
            for _ in 0..<3 { _ = try person(transaction, .null, "a", "b", .null) }
            _ = try person(transaction, .string(""))
        }
        #expect(throws: ModelError.self) {
            try database.write { _ = try person($0, .string("")) }
        }
        try database.check()
    }

    @Test func `Several properties are unique together`() throws {
        let database = try ModelDatabase(Self.both)
        try database.write { transaction throws in
            _ = try person(transaction, .null, "a", "b", .int(1))
            _ = try person(transaction, .null, "b", "a", .int(1))
            _ = try person(transaction, .null, "a", "b", .int(2))
            _ = try person(transaction, .null, "ab", "", .int(1))
            _ = try person(transaction, .null, "", "ab", .int(1))
        }
        #expect(
            message { _ = try database.write { _ = try person($0, .null, "a", "b", .int(2)) } }
                == "Two objects of class 'Person' have first = 'a' and last = 'b' and born = 2, "
                + "which is unique. Change one of them. Nothing was committed.")
        try database.check()
    }

    @Test func `In between two objects may have the same values: a swap, a chain, an upsert`()
        throws
    {
        let database = try ModelDatabase(Self.both)
        let keys = try database.write { transaction throws in
            try (0..<100).map { try person(transaction, .string("\($0)"), "a", "b", .int($0)) }
        }
        try database.write { transaction throws in
            for (index, key) in keys.enumerated() {
                let next = (index + 1) % keys.count
                try transaction.set(key, "Person", "email", .string("\(next)"))
                try transaction.add(1, to: key, try database.property("Person", "born"))
            }
        }
        try database.write { transaction throws in
            try transaction.erase(keys[0], "Person")
            _ = try person(transaction, .string("1"), "a", "b", .int(1))
            try transaction.set(keys[1], "Person", "email", .null)
            try transaction.set(keys[1], "Person", "email", .string("2"))
        }
        #expect(throws: ModelError.self) {
            try database.write { transaction throws in
                try transaction.add(1, to: keys[5], try database.property("Person", "born"))
            }
        }
        try database.check()
    }

    @Test func `Long texts are told apart to their end`() throws {
        let database = try ModelDatabase(Self.both)
        let long = String(repeating: "x", count: 5_000)
        try database.write { transaction throws in
            for end in ["", "a", "b"] { _ = try person(transaction, .string(long + end)) }
        }
        #expect(throws: ModelError.self) {
            try database.write { _ = try person($0, .string(long + "b")) }
        }
        try database.check()
    }

    @Test func `A constraint is added to clean data, and refused where two are the same`() throws {
        let database = try ModelDatabase(Self.person([]))
        let keys = try database.write { transaction throws in
            try (0..<500).map { try person(transaction, .string("\($0)"), "a", "b", .int($0)) }
        }
        try database.write { try $0.set(keys[7], "Person", "email", .string("9")) }
        #expect(
            message { try database.reopen(Self.both) }
                == "Two objects of class 'Person' have email = '9', which is unique. Change one of "
                + "them. Nothing was committed.")
        try database.write { try $0.set(keys[7], "Person", "email", .string("7")) }
        try database.reopen(Self.both)
        #expect(
            try database.handle("Person").uniques.map { $0.properties.map(\.name) } == [
                ["email"], ["first", "last", "born"],
            ])
        #expect(throws: ModelError.self) {
            try database.write { _ = try person($0, .string("9")) }
        }
        try database.reopen(Self.person([["first", "born", "last"]]))
        try database.write { _ = try person($0, .string("9")) }
        try database.reopen(Self.person([]))
        try database.write { _ = try person($0, .null, "a", "b", .int(3)) }
        try database.check()
    }

    @Test func `Only properties of one value with an order are unique`() {
        func problems(_ uniques: [[String]]) -> [String] {
            Schema([
                ClassSchema(
                    "A",
                    [
                        PropertySchema("int", .int), PropertySchema("double", .double),
                        PropertySchema("list", .int, collection: .list),
                        PropertySchema("mixed", .mixed, isOptional: true),
                    ], uniques: uniques)
            ]).problems().map(\.description)
        }
        #expect(problems([["int"]]) == [])
        #expect(problems([[]]) == ["class 'A' has a unique constraint without properties"])
        #expect(
            problems([["int"], ["int"]]) == [
                "class 'A' has the unique constraint on 'int' twice"
            ])
        #expect(
            problems([["int", "int"]]) == [
                "class 'A' has a unique constraint that names a property twice: 'int', 'int'"
            ])
        #expect(
            problems([["none"]]) == [
                "class 'A' has a unique constraint on 'none', which it does not have"
            ])
        #expect(
            problems([["list"], ["double"], ["int", "mixed"]]) == [
                "property 'A.list' is a list and can't be unique",
                "property 'A.double' is of type double and can't be unique; bool, int, string, "
                    + "date, objectId and uuid can",
                "property 'A.mixed' is of type mixed and can't be unique; bool, int, string, "
                    + "date, objectId and uuid can",
            ])
        let names = (0..<65).map { "p\($0)" }
        for count in [63, 64, 65] {
            let schema = Schema([
                ClassSchema(
                    "A", names.map { PropertySchema($0, .int) },
                    uniques: names.prefix(count).map { [$0] })
            ])
            #expect(schema.problems().isEmpty == (count <= 64))
        }
    }

    @Test func `A file keeps its constraints, and one that can't be is a damaged schema`() throws {
        try withTemporaryDirectory { directory in
            let file = StoreConfiguration.Location.file(path: directory + "/unique.toft")
            for round in 0..<3 {
                let database = try ModelDatabase(Self.both, location: file)
                try database.write { _ = try person($0, .string("\(round)")) }
                #expect(throws: ModelError.self) {
                    try database.write { _ = try person($0, .string("0")) }
                }
                try database.check()
            }
        }
        var stored = StoredClass(id: 1, name: "A", nextPropertyID: 2, table: TreeID(100))
        stored.properties = [StoredProperty(id: 1, name: "x", type: .double)]
        for ids: [PropertyID] in [[1], [], [2]] {
            stored.uniques = [StoredUnique(properties: ids, tree: TreeID(101))]
            let read = try StoredClass(decoding: stored.encoded())
            #expect(read.uniques == stored.uniques)
            let schema = StoredSchema(nextClassID: 2, classes: [read])
            #expect(message { try schema.validate() }.contains("a unique constraint of class 'A'"))
        }
    }
}
