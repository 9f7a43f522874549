// Tests: ModelTransaction+Delete.swift
import Testing
@testable import ToftModel
import ToftStorage
import ToftTestKit

/// Erased objects whose rows are still to be removed: no reader may see them.
@Suite struct BufferedDeleteTests {
    static let person = ClassSchema(
        "Person",
        [
            PropertySchema("id", .int, isPrimaryKey: true),
            PropertySchema("name", .string, isIndexed: true), PropertySchema("age", .int),
            .link("boss", to: "Person"), .links("friends", to: "Person"),
            .linkingObjects("reports", from: "Person", "boss"),
        ])

    /// People 0..<count; each has the one before as boss, and the ones on both sides as friends.
    private func makePeople(_ count: Int, in database: ModelDatabase) throws -> [Int64] {
        try database.write { transaction throws in
            var keys: [Int64] = []
            for id in 0..<Int64(count) {
                keys.append(
                    try transaction.create(
                        "Person",
                        [
                            "id": .int(id), "name": .string("n\(id)"),
                            "boss": keys.last.map(link) ?? .null,
                        ]))
            }
            for (index, key) in keys.enumerated() {
                for friend in [index - 1, index + 1] where keys.indices.contains(friend) {
                    try transaction.append(key, "Person", "friends", link(keys[friend]))
                }
            }
            return keys
        }
    }

    private func link(_ key: Int64) -> Value { .link(ObjectRef(classID: 1, key: key)) }

    /// Beyond the limit of deletes that wait, the first ones are written before the last come.
    @Test(arguments: [4, 5, 6]) func `An object that is to be erased twice is erased once`(
        count: Int
    )
        throws
    {
        let database = try ModelDatabase(Self.person, isTight: true)
        let keys = try makePeople(20, in: database)
        let owner = try database.handle("Person")
        try database.write { transaction throws in
            let some = keys[..<count]
            try transaction.erase(some + some.reversed(), owner)
            #expect(try transaction.view.count(owner) == 20 - count)
        }
        try database.check()
    }

    @Test func `What a call takes back may be gone already`() throws {
        let database = try ModelDatabase(Self.person)
        let keys = try makePeople(20, in: database)
        let owner = try database.handle("Person")
        try database.write { transaction throws in
            try transaction.erase(keys[3], owner)
            #expect(try transaction.view.count(owner) == 19)
            #expect(try transaction.view.table(owner).rowCount == 19)
            try transaction.takeBack(keys[3], owner)
            try transaction.takeBack(keys[4], owner)
            #expect(try transaction.view.count(owner) == 18)
        }
        try database.check()
    }

    @Test func `An erased object is gone at once for whoever asks`() throws {
        let database = try ModelDatabase(Self.person)
        let keys = try makePeople(500, in: database)
        let owner = try database.handle("Person")
        try database.write { transaction throws in
            for key in keys where key % 2 == 1 { try transaction.erase(key, owner) }
            let (odd, even) = (
                keys.first { $0 % 2 == 1 } ?? 0, keys.first { $0 % 2 == 0 && $0 > 1 } ?? 0
            )
            #expect(try !transaction.view.exists(odd, owner))
            #expect(try transaction.view.count(owner) == 250)
            #expect(
                try transaction.view.find("Person", .int(Int64(keys.firstIndex(of: odd) ?? 0)))
                    == nil)
            #expect(try transaction.view.value(even, "Person", "boss") == .null)
            #expect(throws: ModelError.noSuchObject(className: "Person", key: odd)) {
                _ = try transaction.view.value(odd, "Person", "name")
            }
            #expect(throws: ModelError.noSuchObject(className: "Person", key: odd)) {
                try transaction.set(odd, "Person", "name", .string("x"))
            }
            #expect(throws: ModelError.noSuchObject(className: "Person", key: odd)) {
                try transaction.set(odd, "Person", "age", .int(1))
            }
            #expect(throws: ModelError.noSuchObject(className: "Person", key: odd)) {
                try transaction.set(even, "Person", "boss", link(odd))
            }
            #expect(throws: ModelError.noSuchObject(className: "Person", key: odd)) {
                try transaction.append(odd, "Person", "friends", link(even))
            }
            #expect(throws: ModelError.noSuchObject(className: "Person", key: odd)) {
                try transaction.erase(odd, owner)
            }
            #expect(transaction.hasChanges)
            #expect(try transaction.view.values(even, "Person", "friends") == [])
            #expect(try transaction.view.keys("Person", "name", equalTo: .string("n1")) == [])
        }
        try database.check()
    }

    @Test func `A link that was set to something else stays`() throws {
        let database = try ModelDatabase(Self.person)
        let keys = try makePeople(10, in: database)
        try database.write { transaction throws in
            try transaction.erase(keys[4], "Person")
            try transaction.set(keys[5], "Person", "boss", link(keys[9]))
            try transaction.erase(keys[9], "Person")
            try transaction.set(keys[5], "Person", "boss", link(keys[0]))
        }
        try database.read { view throws in
            #expect(try view.value(keys[5], "Person", "boss") == link(keys[0]))
            #expect(try view.inverse(keys[0], "Person", "reports") == [keys[1], keys[5]])
        }
        try database.check()
    }

    @Test func `A primary key is free as soon as its object is erased`() throws {
        let database = try ModelDatabase(Self.person)
        let keys = try makePeople(50, in: database)
        try database.write { transaction throws in
            for (id, key) in keys.enumerated() {
                try transaction.erase(key, "Person")
                let new = try transaction.create(
                    "Person", ["id": .int(Int64(id)), "name": .string("again")], policy: .all)
                #expect(new != key)
            }
        }
        try database.read { view throws in
            #expect(try view.count(database.handle("Person")) == 50)
            #expect(try view.keys("Person", "name", equalTo: .string("again")).count == 50)
        }
        try database.check()
    }

    @Test(arguments: [false, true])
    func `A class can be emptied and filled again`(isTight: Bool) throws {
        let database = try ModelDatabase(Self.person, isTight: isTight)
        _ = try makePeople(700, in: database)
        let owner = try database.handle("Person")
        try database.write { transaction throws in
            try transaction.eraseAll([owner])
            #expect(try transaction.view.count(owner) == 0)
            try transaction.create("Person", ["id": .int(3)])
        }
        try database.read { view throws in #expect(try view.count(owner) == 1) }
        try database.check()
    }

    @Test func `The record tells of every erased object and of every link that it took along`()
        throws
    {
        let database = try ModelDatabase(Self.person)
        let keys = try makePeople(6, in: database)
        let before = try database.view()
        defer { before.snapshot.release() }
        try database.write { transaction throws in
            try transaction.set(keys[3], "Person", "age", .int(7))
            try transaction.erase(keys[4], "Person")
            try transaction.erase(keys[1], "Person")
        }
        let table = try database.handle("Person").table
        try database.read { view throws in
            var effects: [String] = []
            for record in try #require(try view.snapshot.records(after: before.snapshot.version)) {
                record.forEach { effect in
                    guard effect.tree == table else { return }
                    let number = keys.firstIndex(of: effect.key) ?? -1
                    effects.append(
                        "\(effect.kind) \(number)\(effect.isDerived ? " derived" : "")")
                }
            }
            #expect(
                effects == [
                    "cellSet 3", "listErase 0 derived", "rowErase 1", "cellSet 2 derived",
                    "listErase 2 derived", "listErase 3 derived", "rowErase 4",
                    "cellSet 5 derived", "listErase 5 derived",
                ])
        }
        try database.check()
    }

    @Test func `What was erased is there again after a rollback`() throws {
        let database = try ModelDatabase(Self.person)
        let keys = try makePeople(20, in: database)
        try database.rolledBack { transaction throws in
            for key in keys { try transaction.erase(key, "Person") }
        }
        try database.read { view throws in #expect(try view.count(database.handle("Person")) == 20)
        }
        try database.check()
    }

    @Test func `Bytes that were lent out stay where they are while others read`() throws {
        let database = try ModelDatabase(Self.person, isTight: true)
        let keys = try makePeople(600, in: database)
        let owner = try database.handle("Person"), name = try database.property("Person", "name")
        try database.write { transaction throws in
            let text = String(repeating: "lent ", count: 20)
            try transaction.set(keys[0], "Person", "name", .string(text))
            for key in keys.dropFirst(10).prefix(4) { try transaction.erase(key, owner) }
            let cell = try transaction.view.cell(keys[0], name)
            _ = try transaction.view.table(owner)
            _ = try transaction.view.keys("Person", "name", equalTo: .string("n9"))
            guard case .bytes(let bytes) = cell else { return #expect(Bool(false)) }
            #expect(String(decoding: bytes, as: UTF8.self) == text)
        }
        try database.check()
    }
}
