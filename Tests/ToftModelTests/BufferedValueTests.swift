// Tests: WriteBuffer.swift
import Testing
@testable import ToftModel
@testable import ToftStorage
import ToftTestKit

/// Values that are not yet in their rows: no reader may see a difference.
@Suite struct BufferedValueTests {
    static let counter = ClassSchema(
        "Counter",
        [
            PropertySchema("id", .int, isPrimaryKey: true), PropertySchema("value", .int),
            PropertySchema("weight", .double, isOptional: true),
        ])

    private func makeCounters(_ count: Int, in database: ModelDatabase) throws -> [Int64] {
        try database.write { transaction throws in
            try (0..<count).map { try transaction.create("Counter", ["id": .int(Int64($0))]) }
        }
    }

    @Test func `What was set is read at once and the last value stays`() throws {
        let database = try ModelDatabase(Self.counter)
        let keys = try makeCounters(600, in: database)
        try database.write { transaction throws in
            for key in keys.reversed() {
                try transaction.set(key, "Counter", "value", .int(1))
                try transaction.set(key, "Counter", "weight", .double(0.5))
            }
            for key in keys { try transaction.set(key, "Counter", "value", .int(key * 2)) }
            #expect(
                try transaction.view.value(keys[300], "Counter", "value") == .int(keys[300] * 2))
            try transaction.set(keys[300], "Counter", "value", .int(-1))
            try transaction.set(keys[300], "Counter", "weight", .null)
        }
        try database.read { view throws in
            for key in keys where key != keys[300] {
                #expect(try view.value(key, "Counter", "value") == .int(key * 2))
                #expect(try view.value(key, "Counter", "weight") == .double(0.5))
            }
            #expect(try view.value(keys[300], "Counter", "value") == .int(-1))
            #expect(try view.value(keys[300], "Counter", "weight") == .null)
        }
        try database.check()
    }

    /// Each read gets the value that was set before, in memory that is lent to it.
    @Test func `Memory is given back while a transaction reads what it sets`() throws {
        let database = try ModelDatabase(Self.counter, isTight: true)
        let keys = try makeCounters(20_000, in: database)
        try database.write { transaction throws in
            var most = 0
            for key in keys.reversed() {
                guard case .int(let value) = try transaction.view.value(key, "Counter", "value")
                else { continue }
                try transaction.set(key, "Counter", "value", .int(value + key))
                most = max(most, transaction.writing.pages.working.extents.bytes)
            }
            #expect(most < 200_000)
        }
        try database.read { view throws in
            for key in keys { #expect(try view.value(key, "Counter", "value") == .int(key)) }
        }
        try database.check()
    }

    private static let note = ClassSchema(
        "Note", [PropertySchema("text", .string), PropertySchema("value", .int)])

    /// Turns of setting all texts (written at once, and spilled) and all values (which wait), of
    /// reading texts, which are lent from the pages, and of a read that has the values written.
    @Test(arguments: [false, true])
    func `What a reader has written is spilled, and what it was lent before stays`(
        isEncrypted: Bool
    ) throws {
        let key = isEncrypted ? try EncryptionKey((0..<64).map { $0 }) : nil
        let database = try ModelDatabase(Self.note, dirtyLimit: 200_000, encryptionKey: key)
        func text(_ key: Int64, _ turn: Int) -> String {
            "\(turn) \(key) " + String(repeating: "x", count: Int(key % 300))
        }
        let keys = try database.write { transaction throws in
            try (0..<8_000).map { number in
                try transaction.create("Note", ["text": Value.string(text(Int64(number), 0))])
            }
        }
        let property = try database.property("Note", "text")
        try database.write { transaction throws in
            for turn in 1...3 {
                for key in keys where key % 2 == Int64(turn % 2) {
                    try transaction.set(key, "Note", "text", .string(text(key, turn)))
                }
                for key in keys.reversed() {
                    try transaction.set(key, "Note", "value", .int(key * Int64(turn)))
                }
                var lent: [(key: Int64, bytes: UnsafeRawBufferPointer, copy: [UInt8])] = []
                for key in keys where key % 7 == 0 {
                    if case .bytes(let bytes) = try transaction.view.cell(key, property) {
                        lent.append((key, bytes, Array(bytes)))
                    }
                }
                for _ in 0..<2 {
                    let value = try transaction.view.value(keys[5], "Note", "value")
                    #expect(value == .int(keys[5] * Int64(turn)))
                    #expect(lent.allSatisfy { Array($0.bytes) == $0.copy }, "turn \(turn)")
                }
                #expect(transaction.writing.pages.working.extents.bytes < 600_000)
            }
        }
        try database.read { view throws in
            for key in keys {
                #expect(try view.value(key, "Note", "value") == .int(key * 3))
                let turn = key % 2 == 0 ? 2 : 3
                #expect(try view.value(key, "Note", "text") == .string(text(key, turn)))
            }
        }
        try database.check()
    }

    @Test func `A scan of the transaction sees what was set`() throws {
        let database = try ModelDatabase(Self.counter)
        let keys = try makeCounters(300, in: database)
        try database.write { transaction throws in
            for key in keys.reversed() { try transaction.set(key, "Counter", "value", .int(7)) }
            let owner = try transaction.view.schema.classHandle(named: "Counter")
            let column = try owner.property(named: "value").column
            var sum: Int64 = 0
            try transaction.view.table(owner).forEachCluster { cluster throws(StorageError) in
                let values = try cluster.integers(column)
                for row in 0..<cluster.count { sum += values[row] }
                return true
            }
            #expect(sum == 2_100)
        }
        try database.check()
    }

    @Test func `What was set goes with the object that is erased`() throws {
        let database = try ModelDatabase(Self.counter)
        let keys = try makeCounters(300, in: database)
        try database.write { transaction throws in
            for key in keys { try transaction.set(key, "Counter", "value", .int(3)) }
            for key in keys where key % 2 == 0 {
                try transaction.set(key, "Counter", "weight", .double(1))
                try transaction.erase(key, "Counter")
            }
            #expect(throws: ModelError.self) {
                try transaction.set(keys[0] + keys[0] % 2, "Counter", "value", .int(9))
            }
        }
        try database.read { view throws in
            for key in keys where key % 2 == 0 {
                #expect(try !view.exists(key, database.handle("Counter")))
            }
            for key in keys where key % 2 != 0 {
                #expect(try view.value(key, "Counter", "value") == .int(3))
            }
        }
        try database.check()
    }

    @Test func `What was set is forgotten with the transaction`() throws {
        let database = try ModelDatabase(Self.counter)
        let keys = try makeCounters(20, in: database)
        try database.rolledBack { transaction throws in
            for key in keys { try transaction.set(key, "Counter", "value", .int(3)) }
        }
        try database.read { view throws in
            for key in keys { #expect(try view.value(key, "Counter", "value") == .int(0)) }
        }
        try database.check()
    }

    private static let runner = ClassSchema(
        "Runner",
        [
            PropertySchema("id", .int, isPrimaryKey: true), PropertySchema("laps", .int),
            PropertySchema("name", .string), PropertySchema("club", .string, isIndexed: true),
            .link("rival", to: "Runner"), PropertySchema("times", .int, collection: .list),
            PropertySchema("places", .string, collection: .set),
            PropertySchema("medals", .int, collection: .dictionary), .links("team", to: "Runner"),
            .linkingObjects("rivals", from: "Runner", "rival"),
        ])

    private func makeRunners(_ count: Int, in database: ModelDatabase) throws -> [Int64] {
        try database.write { transaction throws in
            try (0..<count).map { try transaction.create("Runner", ["id": .int(Int64($0))]) }
        }
    }

    /// All changes that programs make to objects that they have found, each after a read.
    private func change(
        _ key: Int64, turn: Int64, rival: Int64, _ transaction: ModelTransaction,
        _ database: ModelDatabase
    ) throws {
        let view = transaction.view
        func property(_ name: String) throws -> PropertyHandle {
            try database.property("Runner", name)
        }
        #expect(try view.value(key, property("laps")) == .int(2 * turn))
        try transaction.set(key, property("laps"), Value.int(2 * turn + 1))
        try transaction.add(1, to: key, property("laps"))
        #expect(try view.value(key, property("name")) == .string(turn == 0 ? "" : "N\(turn)"))
        try transaction.set(key, property("name"), Value.string("N\(turn + 1)"))
        #expect(try view.value(key, property("club")) == .string(turn == 0 ? "" : "C\(turn)"))
        try transaction.set(key, property("club"), Value.string("C\(turn + 1)"))
        let link = Value.link(
            ObjectRef(classID: try database.handle("Runner").id, key: rival))
        try transaction.set(key, property("rival"), link)
        #expect(try view.value(key, property("rival")) == link)
        #expect(try view.listCount(key, property("times")) == Int(turn))
        try transaction.listInsert(key, property("times"), at: Int(turn), .int(turn))
        #expect(try view.listCount(key, property("team")) == Int(turn))
        try transaction.listInsert(key, property("team"), at: Int(turn), link)
        let (found, isNew) = try transaction.create(
            try database.handle("Runner"),
            [
                (property("id"), .int(key)), (property("name"), .string("N\(turn + 1)")),
                (property("laps"), .int(2 * turn + 2)),
            ], policy: .modified)
        #expect(found == key && !isNew)
    }

    @Test func `Objects that are read and changed one by one wait, and nothing is written`() throws
    {
        let database = try ModelDatabase(Self.runner)
        let keys = try makeRunners(3_000, in: database)
        let order = keys.indices.map { keys[$0 * 1_237 % keys.count] }
        try database.write { transaction throws in
            for turn in 0..<3 as Range<Int64> {
                for (index, key) in order.enumerated() {
                    try change(
                        key, turn: turn, rival: order[(index + 1) % order.count], transaction,
                        database)
                }
                #expect(!transaction.writing.hasChanges, "turn \(turn)")
            }
            let times = try database.property("Runner", "times")
            #expect(try transaction.view.listValue(order[5], times, at: 2) == .int(2))
            #expect(transaction.writing.hasChanges, "a look at the elements has them written")
            #expect(try transaction.view.listValue(order[6], times, at: 1) == .int(1))
            #expect(try transaction.view.value(order[7], "Runner", "laps") == .int(6))
        }
        try database.read { view throws in
            for key in keys {
                #expect(try view.value(key, "Runner", "laps") == .int(6))
                #expect(try view.value(key, "Runner", "name") == .string("N3"))
                #expect(
                    try view.listValues(key, database.property("Runner", "times"))
                        == [.int(0), .int(1), .int(2)])
                #expect(try view.listCount(key, database.property("Runner", "team")) == 3)
            }
        }
        try database.check()
    }

    @Test(arguments: [false, true])
    func `Collections that wait have the size and the elements that they will have`(
        isTight: Bool
    ) throws {
        let database = try ModelDatabase(Self.runner, isTight: isTight)
        let keys = try makeRunners(4, in: database)
        let times = try database.property("Runner", "times")
        let places = try database.property("Runner", "places")
        let medals = try database.property("Runner", "medals")
        try database.write { transaction throws in
            let view = transaction.view
            for number in 0..<5 as Range<Int64> {
                try transaction.listInsert(keys[1], times, at: Int(number), .int(number))
            }
            #expect(try view.listCount(keys[1], times) == 5)
            try transaction.listMove(keys[1], times, from: 0, to: 4)
            try transaction.listSwap(keys[1], times, 0, 1)
            try transaction.listErase(keys[1], times, at: 2)
            try transaction.listSet(keys[1], times, at: 0, Value.int(9))
            #expect(try view.listCount(keys[1], times) == 4)
            #expect(
                try view.listValues(keys[1], times) == [.int(9), .int(1), .int(4), .int(0)])
            try transaction.clear(keys[1], times)
            #expect(try view.listCount(keys[1], times) == 0)
            try transaction.listInsert(keys[1], times, at: 0, .int(7))
            #expect(try view.listCount(keys[1], times) == 1)
            #expect(throws: ModelError.indexOutOfRange(index: 3, count: 2)) {
                try transaction.listInsert(keys[1], times, at: 3, .int(8))
            }
            for text in ["b", "a", "b", "c"] {
                try transaction.setInsert(keys[2], places, Value.string(text))
            }
            #expect(try view.listCount(keys[2], places) == 3)
            for (name, number) in [("x", 1), ("y", 2), ("x", 3)] as [(String, Int64)] {
                try transaction.dictionarySet(keys[3], medals, name, .int(number))
            }
            #expect(try view.listCount(keys[3], medals) == 2)
            #expect(try view.dictionaryKey(keys[3], medals, at: 0) == "x")
        }
        try database.read { view throws in
            #expect(try view.listValues(keys[1], times) == [.int(7)])
            #expect(
                try view.listValues(keys[2], places) == [.string("a"), .string("b"), .string("c")])
            #expect(try view.listValues(keys[3], medals) == [.int(3), .int(2)])
        }
        try database.check()
    }

    @Test func `A long value takes the place of a short one that waits, and the other way round`()
        throws
    {
        let database = try ModelDatabase(Self.runner)
        let keys = try makeRunners(2, in: database)
        let long = String(repeating: "long ", count: 1_000)
        try database.write { transaction throws in
            try transaction.set(keys[0], "Runner", "name", .string("short"))
            try transaction.set(keys[0], "Runner", "name", .string(long))
            #expect(try transaction.view.value(keys[0], "Runner", "name") == .string(long))
            try transaction.set(keys[1], "Runner", "name", .string(long))
            try transaction.set(keys[1], "Runner", "name", .string("short"))
            #expect(try transaction.view.value(keys[1], "Runner", "name") == .string("short"))
        }
        try database.read { view throws in
            #expect(try view.value(keys[0], "Runner", "name") == .string(long))
            #expect(try view.value(keys[1], "Runner", "name") == .string("short"))
        }
        try database.check()
    }

    @Test func `A text that waits stays where it was lent while a reader has it written`() throws {
        let database = try ModelDatabase(Self.runner)
        let keys = try makeRunners(50, in: database)
        let name = try database.property("Runner", "name")
        try database.write { transaction throws in
            for key in keys { try transaction.set(key, name, Value.string("name \(key)")) }
            guard case .bytes(let lent) = try transaction.view.cell(keys[9], name) else {
                return
            }
            _ = try transaction.view.table(try database.handle("Runner")).rowCount
            #expect(Array(lent) == Array("name \(keys[9])".utf8))
            // A text that the transaction has lent may be passed back to it.
            try transaction.set(keys[10], name, BorrowedValue.string(lent))
            try transaction.set(keys[11], name, Value.string("another"))
            #expect(try transaction.view.value(keys[10], name) == .string("name \(keys[9])"))
        }
        try database.check()
    }

    @Test func `A link that waits to a deleted object is null, and its object can go itself`()
        throws
    {
        let database = try ModelDatabase(Self.runner)
        let keys = try makeRunners(6, in: database)
        let id = try database.handle("Runner").id
        func link(_ key: Int64) -> Value { .link(ObjectRef(classID: id, key: key)) }
        let team = try database.property("Runner", "team")
        try database.write { transaction throws in
            for key in keys {
                try transaction.set(key, "Runner", "rival", link(keys[3]))
                try transaction.listInsert(key, team, at: 0, link(keys[4]))
                try transaction.listInsert(key, team, at: 1, link(keys[0]))
            }
            try transaction.erase(keys[3], "Runner")
            #expect(try transaction.view.value(keys[1], "Runner", "rival") == .null)
            try transaction.set(keys[2], "Runner", "rival", link(keys[5]))
            try transaction.erase(keys[4], "Runner")
            #expect(try transaction.view.listCount(keys[1], team) == 1)
            #expect(throws: ModelError.self) {
                try transaction.set(keys[4], "Runner", "laps", .int(1))
            }
        }
        try database.read { view throws in
            #expect(try view.value(keys[1], "Runner", "rival") == .null)
            #expect(try view.value(keys[2], "Runner", "rival") == link(keys[5]))
            #expect(try view.listValues(keys[5], team) == [link(keys[0])])
        }
        try database.check()
    }
}
