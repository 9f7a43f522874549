// Tests: UndoLog.swift
import Testing
@testable import ToftModel
import ToftStorage

/// Moments of a transaction that it comes back to.
@Suite struct SavepointTests {
    private func database() throws -> ModelDatabase {
        try ModelDatabase(
            EmbeddedTests.person, EmbeddedTests.address, EmbeddedTests.country,
            KeyCounterTests.counted)
    }

    private func streets(_ view: ModelView) throws -> [String] {
        try EmbeddedTests().streets(view)
    }

    /// Begins a savepoint, does something, and takes it back.
    private func takenBack(_ transaction: ModelTransaction, _ body: () throws -> Void) throws {
        try transaction.beginSavepoint()
        try body()
        #expect(try transaction.endSavepoint(keeping: false))
    }

    @Test func `What was replaced is there again as the same object`() throws {
        let database = try database()
        let (ann, home) = try database.write { transaction throws in
            let ann = try transaction.create("Person", ["name": .string("Ann")])
            return (ann, try transaction.embed(ann, "Person", "address", "Elm St"))
        }
        let link = try EmbeddedTests().link(database, home)
        try database.write { transaction throws in
            try takenBack(transaction) {
                try transaction.set(home, "Address", "street", .string("gone"))
                _ = try transaction.embed(ann, "Person", "address", "Oak St")
            }
            #expect(try transaction.view.value(ann, "Person", "address") == link)
            #expect(try streets(transaction.view) == ["Elm St"])
            #expect(!transaction.hasChanges, "the record tells of nothing")
        }
        try database.read { view throws in
            #expect(try view.value(ann, "Person", "address") == link)
            #expect(try view.keys("Address", "street", equalTo: .string("Elm St")) == [home])
            #expect(try view.inverse(home, "Address", "residents") == [ann])
        }
        try database.check()
    }

    @Test func `What was deleted is there again, with all that led to it`() throws {
        let database = try database()
        let (ann, bob) = try database.write { transaction throws in
            let ann = try transaction.create("Person", ["name": .string("Ann")])
            let bob = try transaction.create("Person", ["name": .string("Bob")])
            let friend = Value.link(ObjectRef(classID: try database.handle("Person").id, key: ann))
            try transaction.set(bob, "Person", "friend", friend)
            _ = try transaction.embed(ann, "Person", "address", "Elm St")
            return (ann, bob)
        }
        try database.write { transaction throws in
            let owner = try database.handle("Person")
            try takenBack(transaction) {
                try transaction.erase(ann, owner)
                #expect(try transaction.view.value(bob, "Person", "friend") == .null)
                #expect(try streets(transaction.view) == [])
                try transaction.create("Person", ["name": .string("Ann")])
            }
            #expect(try transaction.view.find(.string("Ann"), owner) == ann)
            #expect(try transaction.view.value(bob, "Person", "friend") != .null)
            #expect(try streets(transaction.view) == ["Elm St"])
        }
        try database.check()
    }

    @Test func `Savepoints lie within one another, and what was kept can still go`() throws {
        let database = try database()
        try database.write { transaction throws in
            let ann = try transaction.create("Person", ["name": .string("Ann")])
            try takenBack(transaction) {
                _ = try transaction.embed(ann, "Person", "address", "one")
                try takenBack(transaction) {
                    _ = try transaction.embed(ann, "Person", "address", "two")
                }
                #expect(try streets(transaction.view) == ["one"])
                try transaction.beginSavepoint()
                _ = try transaction.embed(ann, "Person", "address", "three")
                #expect(try transaction.endSavepoint(keeping: true))
                #expect(try streets(transaction.view) == ["three"])
            }
            #expect(try streets(transaction.view) == [])
            #expect(try !transaction.endSavepoint(keeping: true), "none is left")
        }
        try database.read { view throws in
            #expect(try view.count(database.handle("Person")) == 1)
        }
        try database.check()
    }

    @Test func `A key that was taken back is counted again`() throws {
        let database = try database(), counters = KeyCounterTests()
        try database.write { transaction throws in
            #expect(try counters.next(transaction) == 1)
            try takenBack(transaction) {
                #expect(try counters.next(transaction) == 2)
                try transaction.create("Ticket", ["id": .int(50)])
            }
            #expect(try counters.next(transaction) == 2)
        }
        try database.check()
    }

    @Test func `A transaction that keeps no values any more goes back too`() throws {
        let database = try database()
        let text = String(repeating: "x", count: 1 << 20)
        try database.write { transaction throws in
            let first = try transaction.create("Ticket", ["id": .int(1), "text": .string("kept")])
            try takenBack(transaction) {
                for id in Int64(2)...8 {
                    try transaction.create("Ticket", ["id": .int(id), "text": .string(text)])
                }
                try transaction.set(first, "Ticket", "text", .string(text))
            }
            #expect(try transaction.view.value(first, "Ticket", "text") == .string("kept"))
        }
        try database.read { view throws in
            #expect(try view.count(database.handle("Ticket")) == 1)
        }
        try database.check()
    }
}
