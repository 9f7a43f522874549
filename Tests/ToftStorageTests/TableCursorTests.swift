// Tests: TableCursor.swift
import Testing
@testable import ToftStorage

/// A cursor returns the content of the table, in whatever order its rows are read.
@Suite struct TableCursorTests {
    private static let columns = [
        Column(id: 0, type: .int64, isNullable: false),
        Column(id: 1, type: .bytes, isNullable: true),
    ]

    /// Rows of some 50 clusters: every fifth hundred has gaps. Rows from `long` on have texts of
    /// 1,500 bytes, which makes clusters of few rows.
    private func twin(long: Int64 = .max) throws -> TableTwin {
        let twin = try TableTwin(Self.columns)
        for key in 0..<12_000 as Range<Int64> {
            if key / 100 % 5 == 0, key % 3 == 0 { continue }
            try twin.insert(key)
            try twin.set(key, 0, .int(key &* 7))
            if key >= long {
                try twin.set(key, 1, .bytes(Array(repeating: UInt8(key & 0x7F), count: 1_500)))
            } else if key % 2 == 0 {
                try twin.set(key, 1, .bytes(Array("row \(key)".utf8)))
            }
        }
        return twin
    }

    /// Reads a row through the cursor and compares it with the dictionary.
    private func expect(
        _ key: Int64, _ cursor: TableCursor, _ twin: TableTwin, _ columns: [Column] = columns
    ) throws {
        guard let row = twin.rows[key] else {
            #expect(throws: StorageError.noSuchRow(key: key)) { try cursor.move(to: key) }
            return
        }
        try cursor.move(to: key)
        for column in columns { cursor.fetch(column.id) }
        cursor.fetch(99)
        for column in columns {
            let found = Value(try cursor.cell(column.id))
            #expect(found == row[column.id] ?? .standard(column), "key \(key)")
        }
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `Rows in any order, and keys that are not there`(seed: UInt64) throws {
        let twin = try twin(), cursor = TableCursor(twin.table.reader)
        var random = SeededGenerator(seed: seed)
        for _ in 0..<20_000 { try expect(Int64(random.below(12_100)) - 50, cursor, twin) }
        try twin.check()
    }

    @Test(arguments: [1, 2] as [UInt64])
    func `Many clusters of few rows beside some of many`(seed: UInt64) throws {
        let twin = try twin(long: 9_000), cursor = TableCursor(twin.table.reader)
        var random = SeededGenerator(seed: seed)
        for turn in 0..<20_000 {
            let first: Int64 = turn % 3 == 0 ? 0 : 9_000
            try expect(first + Int64(random.below(3_000)), cursor, twin)
        }
        try twin.check()
    }

    @Test(arguments: [0, 1, 2, 8])
    func `Columns that lie elsewhere in each cluster`(mostFormBits: Int) throws {
        let columns =
            Self.columns
            + (2..<5 as Range<UInt32>).map { Column(id: $0, type: .int64, isNullable: false) }
        let twin = try TableTwin(columns)
        var random = SeededGenerator(seed: 5)
        for key in 0..<9_000 as Range<Int64> {
            try twin.insert(key)
            // The width of a column in a cluster depends on its greatest number.
            let block = key / 200
            for id in 2..<5 as Range<UInt32> {
                let bits = (block &* 31 &+ Int64(id) &* block / 3) % 60
                try twin.set(key, id, .int(key &<< bits))
            }
            try twin.set(key, 1, .bytes(Array("\(key)".utf8)))
        }
        let cursor = TableCursor(twin.table.reader, mostFormBits: mostFormBits)
        for _ in 0..<20_000 {
            try expect(Int64(random.below(9_000)), cursor, twin, columns)
        }
        try twin.check()
    }

    @Test func `Rows up, down, and back and forth between two clusters`() throws {
        let twin = try twin(), cursor = TableCursor(twin.table.reader)
        for key in -1...12_000 as ClosedRange<Int64> { try expect(key, cursor, twin) }
        for key in (-1...12_000 as ClosedRange<Int64>).reversed() {
            try expect(key, cursor, twin)
        }
        for key in 0..<300 as Range<Int64> {
            try expect(key, cursor, twin)
            try expect(11_999 - key * 20, cursor, twin)
        }
        for key in [.min, .max, 0, .max, .min, 11_999] as [Int64] {
            try expect(key, cursor, twin)
        }
        try twin.check()
    }
}
