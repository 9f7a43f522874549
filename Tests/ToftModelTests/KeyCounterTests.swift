// Tests: KeyCounter.swift
import Testing
@testable import ToftModel
import ToftStorage
import ToftTestKit

@Suite struct KeyCounterTests {
    static let counted = ticket(isAutoIncremented: true)
    static let plain = ticket(isAutoIncremented: false)

    static func ticket(isAutoIncremented: Bool) -> ClassSchema {
        ClassSchema(
            "Ticket",
            [
                PropertySchema(
                    "id", .int, isPrimaryKey: true, isAutoIncremented: isAutoIncremented),
                PropertySchema("text", .string),
            ])
    }

    /// Creates a ticket without a key, and returns the one that it got.
    func next(_ transaction: ModelTransaction) throws -> Int64 {
        let key = try transaction.create("Ticket", ["text": .string("t")])
        guard case .int(let id) = try transaction.view.value(key, "Ticket", "id") else { return -1 }
        return id
    }

    @Test func `Keys are counted from 1 on, in one transaction and the next`() throws {
        let database = try ModelDatabase(Self.counted)
        #expect(
            try database.write { transaction throws in
                [try next(transaction), try next(transaction)]
            } == [1, 2])
        #expect(try database.write { try next($0) } == 3)
        try database.check()
    }

    @Test func `A greater key moves the counter, others leave it`() throws {
        let database = try ModelDatabase(Self.counted)
        try database.write { transaction throws in
            for (given, expected) in [(Int64.min, Int64(1)), (-1, 2), (0, 3), (5, 6), (4, 7)] {
                try transaction.create("Ticket", ["id": .int(given)])
                #expect(try next(transaction) == expected)
            }
            for (given, expected) in [(Int64(8), Int64(9)), (11, 12)] {
                try transaction.create("Ticket", ["id": .int(given)], policy: .modified)
                #expect(try next(transaction) == expected)
            }
        }
        try database.check()
    }

    @Test func `The key of a deleted object is not given out again`() throws {
        try withTemporaryDirectory { directory in
            let file = StoreConfiguration.Location.file(path: directory + "/counted.toft")
            for expected in Int64(1)...3 {
                let database = try ModelDatabase(Self.counted, location: file)
                try database.write { transaction throws in
                    #expect(try next(transaction) == expected)
                    try transaction.eraseAll([database.handle("Ticket")])
                }
                try database.check()
            }
        }
    }

    @Test func `A key that was rolled back is given out again`() throws {
        let database = try ModelDatabase(Self.counted)
        try database.write { _ = try next($0) }
        try database.rolledBack { transaction throws in
            #expect(try next(transaction) == 2)
            try transaction.create("Ticket", ["id": .int(100)])
        }
        #expect(try database.write { try next($0) } == 2)
        try database.check()
    }

    @Test func `After the greatest key of all there is no next one`() throws {
        let database = try ModelDatabase(Self.counted)
        try database.write { transaction throws in
            try transaction.create("Ticket", ["id": .int(.max - 1)])
            #expect(try next(transaction) == .max)
            #expect(
                message { _ = try next(transaction) }
                    == "No primary key 'Ticket.id' is left to count on: it has been "
                    + "9223372036854775807. Give the object a key.")
            try transaction.create("Ticket", ["id": .int(7)])
        }
        try database.check()
    }

    @Test func `An update by key needs no key, and is a new object then`() throws {
        let database = try ModelDatabase(Self.counted)
        try database.write { transaction throws in
            let first = try transaction.create("Ticket", policy: .all)
            #expect(try transaction.view.find("Ticket", .int(1)) == first)
            #expect(try transaction.create("Ticket", ["id": .int(1)], policy: .all) == first)
            #expect(message { try transaction.create("Ticket", ["id": .null]) }.contains("null"))
        }
        try database.check()
    }

    @Test func `Counting begins behind the keys that a file has, and ends`() throws {
        let database = try ModelDatabase(Self.plain)
        try database.write { transaction throws in
            for id in [Int64(-3), 8, 5] { try transaction.create("Ticket", ["id": .int(id)]) }
        }
        try database.reopen(Self.counted)
        try database.write { transaction throws in
            #expect(try next(transaction) == 9)
            try transaction.eraseAll([database.handle("Ticket")])
        }
        try database.reopen(Self.plain)
        try database.write { transaction throws in
            #expect(
                message { try transaction.create("Ticket") }
                    == "Objects of class 'Ticket' are created with a value for their primary key "
                    + "'id'.")
            try transaction.create("Ticket", ["id": .int(3)])
        }
        try database.reopen(Self.counted)
        #expect(try database.write { try next($0) } == 10)
        try database.reopen(Self.plain)
        try database.write { try $0.create("Ticket", ["id": .int(20)]) }
        try database.reopen(Self.counted)
        #expect(try database.write { try next($0) } == 21)
        try database.check()
    }

    @Test func `Only a required int that is the primary key is counted`() {
        func problem(_ property: PropertySchema) -> [String] {
            Schema([ClassSchema("Ticket", [property])]).problems().map(\.description)
        }
        #expect(
            problem(PropertySchema("id", .int, isPrimaryKey: true, isAutoIncremented: true)) == [])
        #expect(
            problem(PropertySchema("id", .int, isAutoIncremented: true)) == [
                "property 'Ticket.id' is not the primary key and can't be auto-incremented"
            ])
        #expect(
            problem(PropertySchema("id", .string, isPrimaryKey: true, isAutoIncremented: true)) == [
                "property 'Ticket.id' is of type string and can't be auto-incremented; int can"
            ])
        #expect(
            problem(
                PropertySchema(
                    "id", .int, isOptional: true, isPrimaryKey: true, isAutoIncremented: true)) == [
                    "property 'Ticket.id' is of type optional int and can't be "
                        + "auto-incremented; int can"
                ])
    }

    @Test func `The check finds a key beyond the counter`() throws {
        let database = try ModelDatabase(Self.counted)
        try database.write { _ = try next($0) }
        let writing = try database.store.beginWrite()
        try KeyCounter.write(0, try database.handle("Ticket").id, in: writing)
        _ = try writing.commit()
        #expect(
            try database.read { try ModelCheck.run($0) } == [
                "'Ticket.id' counts 0, but is 1 in an object"
            ])
    }

    @Test func `A counted key that can't be one is a damaged schema, a negative counter too`()
        throws
    {
        var stored = StoredClass(id: 1, name: "Ticket", nextPropertyID: 2, table: TreeID(100))
        stored.primaryKeyID = 1
        stored.primaryKeyTree = TreeID(101)
        var property = StoredProperty(id: 1, name: "id", type: .string)
        property.isAutoIncremented = true
        stored.properties = [property]
        let read = try StoredClass(decoding: stored.encoded())
        #expect(read.properties[0].isAutoIncremented)
        let schema = StoredSchema(nextClassID: 2, classes: [read])
        #expect(
            message { try schema.validate() }.contains("can't be auto-incremented and is"))
        let database = try ModelDatabase(Self.counted)
        let writing = try database.store.beginWrite()
        try KeyCounter.write(-1, try database.handle("Ticket").id, in: writing)
        _ = try writing.commit()
        #expect(
            message { try database.rolledBack { _ = try next($0) } }
                .contains("the key counter of class 1 is -1"))
    }
}
