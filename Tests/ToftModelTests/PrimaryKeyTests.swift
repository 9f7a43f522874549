// Tests: ModelView+Keys.swift, PrimaryKeyEntry.swift
import Testing
@testable import ToftModel
import ToftStorage

@Suite struct PrimaryKeyTests {
    static let user = ClassSchema(
        "User",
        [
            PropertySchema("id", .int, isPrimaryKey: true), PropertySchema("name", .string),
            PropertySchema("age", .int),
            PropertySchema("tags", .string, collection: .list),
        ])

    @Test func `Objects are found by their primary key`() throws {
        let database = try ModelDatabase(
            Self.user, ClassSchema("Tag", [PropertySchema("name", .string, isPrimaryKey: true)]))
        try database.write { transaction throws in
            for id in [Int64.min, -1, 0, 1, .max] {
                try transaction.create("User", ["id": .int(id), "name": .string("\(id)")])
            }
            for name in ["", "a", "a\u{0}", "a\u{0}b", "ab", "é"] {
                try transaction.create("Tag", ["name": .string(name)])
            }
        }
        try database.read { view throws in
            for id in [Int64.min, -1, 0, 1, .max] {
                let key = try #require(try view.find("User", .int(id)))
                #expect(try view.value(key, "User", "name") == .string("\(id)"))
            }
            for name in ["", "a", "a\u{0}", "a\u{0}b", "ab", "é"] {
                let key = try #require(try view.find("Tag", .string(name)))
                #expect(try view.value(key, "Tag", "name") == .string(name))
            }
            #expect(try view.find("User", .int(2)) == nil)
            #expect(try view.find("Tag", .string("b")) == nil)
            #expect(try view.find("Tag", .string("e\u{301}")) == nil)
        }
        try database.check()
    }

    @Test func `A primary key is given at creation and only once`() throws {
        let database = try ModelDatabase(Self.user)
        try database.write { transaction throws in
            let key = try transaction.create("User", ["id": .int(1), "name": .string("Ann")])
            #expect(
                message { try transaction.create("User", ["id": .int(1), "name": .string("Bob")]) }
                    == "Attempting to create an object of type 'User' with an existing primary key "
                    + "value '1'. Change that object, or say that it is to be updated."
            )
            #expect(
                message { try transaction.create("User", ["name": .string("Bob")]) }
                    == "Objects of class 'User' are created with a value for their primary key "
                    + "'id'."
            )
            #expect(
                message { try transaction.create("User", ["id": .null]) }.contains("can't be null"))
            #expect(
                message { try transaction.set(key, "User", "id", .int(1)) }
                    == "Primary key 'User.id' can't be changed after an object is inserted. "
                    + "Delete the object and create another."
            )
            let owner = try database.handle("User"), id = try owner.property(named: "id")
            #expect(throws: ModelError.primaryKeyImmutable(className: "User", property: "id")) {
                try transaction.set(key, owner, [(id, .int(3))])
            }
            #expect(try transaction.view.value(key, "User", "name") == .string("Ann"))
        }
        try database.check()
    }

    @Test func `An erased primary key may be used again`() throws {
        let database = try ModelDatabase(Self.user)
        let first = try database.write { try $0.create("User", ["id": .int(1)]) }
        let second = try database.write { transaction throws in
            try transaction.erase(first, "User")
            return try transaction.create("User", ["id": .int(1)])
        }
        #expect(second != first)
        #expect(try database.read { try $0.find("User", .int(1)) } == second)
        try database.check()
    }

    @Test func `Null is a primary key of its own where it is optional`() throws {
        let database = try ModelDatabase(
            ClassSchema("I", [PropertySchema("id", .int, isOptional: true, isPrimaryKey: true)]),
            ClassSchema("S", [PropertySchema("id", .string, isOptional: true, isPrimaryKey: true)]))
        try database.write { transaction throws in
            for (name, zero) in [("I", Value.int(0)), ("S", .string(""))] {
                let null = try transaction.create(name, ["id": .null]),
                    other = try transaction.create(name, ["id": zero])
                #expect(try transaction.view.find(name, .null) == null)
                #expect(try transaction.view.find(name, zero) == other)
                #expect(
                    message { try transaction.create(name, ["id": .null]) }.contains(
                        "existing primary key value 'null'"))
            }
        }
        try database.check()
    }

    @Test func `Long primary keys are told apart by their last byte`() throws {
        let database = try ModelDatabase(
            ClassSchema("S", [PropertySchema("id", .string, isPrimaryKey: true)]))
        let base = String(repeating: "k", count: 199)
        let names = [
            "", "a", "b", "aa", "ab", String(repeating: "x", count: 5_000),
            String(repeating: "x", count: 5_000) + "y",
        ].map { base + $0 }
        try database.write { transaction throws in
            for name in names {
                let key = try transaction.create("S", ["id": .string(name)])
                #expect(try transaction.view.find("S", .string(name)) == key)
                #expect(
                    message { try transaction.create("S", ["id": .string(name)]) }.contains(
                        "existing primary key"))
            }
            try transaction.erase(
                try #require(try transaction.view.find("S", .string(names[5]))), "S")
            #expect(try transaction.view.find("S", .string(names[5])) == nil)
            #expect(try transaction.view.find("S", .string(names[6])) != nil)
        }
        try database.check()
    }

    @Test func `Looking up with the wrong type or without a primary key is an error`() throws {
        let database = try ModelDatabase(Self.user, ClassSchema("Plain"))
        try database.read { view throws in
            #expect(
                message { _ = try view.find("User", .string("1")) }
                    == "Property 'User.id' holds int, not string.")
            #expect(
                message { _ = try view.find("Plain", .int(1)) }
                    == "Class 'Plain' has no primary key.")
        }
        try database.check()
    }

    @Test func `An upsert creates what is missing and keeps what is not given`() throws {
        let database = try ModelDatabase(Self.user)
        try database.write { transaction throws in
            for policy in [UpdatePolicy.all, .modified] {
                let id = Value.int(policy == .all ? 1 : 2)
                let key = try transaction.create(
                    "User", ["id": id, "name": .string("Ann"), "age": .int(3)], policy: policy)
                #expect(
                    try transaction.create("User", ["id": id, "age": .int(4)], policy: policy)
                        == key)
                #expect(try transaction.view.value(key, "User", "name") == .string("Ann"))
                #expect(try transaction.view.value(key, "User", "age") == .int(4))
            }
        }
        try database.check()
    }

    @Test func `An upsert needs a primary key`() throws {
        let database = try ModelDatabase(Self.user, ClassSchema("Plain"))
        try database.write { transaction throws in
            #expect(
                message { try transaction.create("Plain", policy: .all) }
                    == "Class 'Plain' has no primary key.")
            #expect(
                message { try transaction.create("User", ["age": .int(1)], policy: .modified) }
                    .contains("are created with a value"))
        }
        try database.check()
    }

    /// The effects of the newest commit on the user's data, in short.
    func effects(_ database: ModelDatabase, _ body: (ModelTransaction) throws -> Void) throws
        -> [String]
    {
        let version = database.store.latestVersion
        try database.write(body)
        var found: [String] = []
        let records = try #require(try database.read { try $0.snapshot.records(after: version) })
        for record in records {
            record.forEach { if !$0.isDerived { found.append("\($0.kind) \($0.column)") } }
        }
        return found
    }

    @Test
    func `An upsert of all records every property and one of modified only those that differ`()
        throws
    {
        let database = try ModelDatabase(Self.user)
        try database.write {
            try $0.create("User", ["id": .int(1), "name": .string("Ann"), "age": .int(3)])
        }
        let all = try effects(database) {
            try $0.create(
                "User", ["id": .int(1), "name": .string("Ann"), "age": .int(4)], policy: .all)
        }
        #expect(all == ["cellSet 2", "cellSet 3"])
        let modified = try effects(database) {
            try $0.create(
                "User", ["id": .int(1), "name": .string("Ann"), "age": .int(5)], policy: .modified)
        }
        #expect(modified == ["cellSet 3"])
        let none = try effects(database) {
            try $0.create(
                "User", ["id": .int(1), "name": .string("Ann"), "age": .int(5)], policy: .modified)
        }
        #expect(none == [])
        let same = try effects(database) { try $0.set(0, "User", "age", .int(5)) }
        #expect(same == ["cellSet 3"])
        try database.check()
    }

    @Test func `An upsert of lists fills them again or changes only what differs`() throws {
        let database = try ModelDatabase(Self.user)
        let owner = try database.handle("User"), id = try owner.property(named: "id"),
            tags = try owner.property(named: "tags")
        func upsert(
            _ transaction: ModelTransaction, _ texts: [StaticString], _ policy: UpdatePolicy
        ) throws {
            let values = texts.map {
                BorrowedValue.string(
                    UnsafeRawBufferPointer(start: $0.utf8Start, count: $0.utf8CodeUnitCount))
            }
            try values.withUnsafeBufferPointer { list in
                try [Assignment(id.id, .int(1)), Assignment(tags.id, .list(list))]
                    .withUnsafeBufferPointer {
                        _ = try transaction.create(owner, $0, policy: policy)
                    }
            }
        }
        try database.write { try upsert($0, ["a", "b", "c"], .error) }
        let key = try #require(try database.read { try $0.find("User", .int(1)) })
        let all = try effects(database) { try upsert($0, ["a", "b"], .all) }
        #expect(all == ["listClear 4", "listInsert 4", "listInsert 4"])
        let modified = try effects(database) { try upsert($0, ["a", "x", "y", "z"], .modified) }
        #expect(modified == ["listSet 4", "listInsert 4", "listInsert 4"])
        let shorter = try effects(database) { try upsert($0, ["a", "x"], .modified) }
        #expect(shorter == ["listErase 4", "listErase 4"])
        #expect(
            try database.read { try $0.values(key, "User", "tags") } == [
                .string("a"), .string("x"),
            ])
        try database.check()
    }
}
