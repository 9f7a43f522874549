import Testing
@testable import ToftModel
@testable import ToftStorage
import ToftTestKit

/// Values that wait for their rows: nobody may see that they do.
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

    /// Each read has what was set before written, in memory that it is lent.
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
}
