// Tests: TableWriter+Columns.swift
import Testing
@testable import ToftStorage

/// Columns that leave a table with the contents of their cells.
@Suite struct RemovedColumnTests {
    private static let kept: [Column] = [
        Column(id: 1, type: .int64, isNullable: false),
        Column(id: 4, type: .bytes, isNullable: true),
        Column(id: 6, type: .timestamp, isNullable: true),
        Column(id: 9, type: .list, isNullable: false, elementType: .bytes),
    ]
    private static let removed: [Column] = [
        Column(id: 0, type: .bool, isNullable: true),
        Column(id: 2, type: .bytes, isNullable: false),
        Column(id: 5, type: .list, isNullable: false, elementType: .bytes),
        Column(id: 7, type: .list, isNullable: false, elementType: .int64),
        Column(id: 10, type: .fixed16, isNullable: false),
    ]

    /// A row with a value in every column; some of the removed ones are outside their cluster.
    private func insert(_ key: Int64, _ twin: TableTwin, textLength: Int) throws {
        try twin.insert(key)
        try twin.set(key, 1, .int(key * 1_000))
        try twin.set(key, 4, .bytes(Array("row number \(key)".utf8)))
        try twin.set(key, 6, .time(Timestamp(seconds: key, nanoseconds: 7)))
        try twin.set(key, 0, .bool(key % 2 == 0))
        let length = key % 50 == 0 ? 5_000 : textLength
        try twin.set(key, 2, .bytes([UInt8](repeating: UInt8(key & 127), count: length)))
        try twin.set(key, 10, .fixed(FixedBytes(high: UInt64(bitPattern: key), low: 9)))
        try append(.bytes([1, UInt8(key & 127)]), to: 9, of: key, twin, count: 2)
        try append(.bytes([3]), to: 5, of: key, twin, count: key % 40 == 0 ? 400 : 1)
        try append(.int(key), to: 7, of: key, twin, count: key % 64 == 0 ? 1_000 : 2)
    }

    private func append(
        _ value: Value, to column: UInt32, of key: Int64, _ twin: TableTwin, count: Int
    ) throws {
        for index in 0..<count {
            try value.with { try twin.table.listInsert(key, column, at: index, $0) }
        }
        twin.lists[key]![column] = [Value](repeating: value, count: count)
    }

    private func expectOnlyKept(_ twin: TableTwin, clusters: ClosedRange<Int>) throws {
        #expect(twin.table.columns == Self.kept)
        var count = 0
        try twin.table.forEachCluster { (view) throws(StorageError) in
            count += 1
            return true
        }
        #expect(clusters.contains(count), "\(count) clusters")
        for column in Self.removed {
            #expect(throws: StorageError.noSuchColumn(column.id)) {
                _ = try twin.table.reader.column(column.id)
            }
        }
        try twin.compare()
        try twin.check()
    }

    @Test(arguments: [1, 2, 255, 256, 257, 3_000] as [Int64], [false, true])
    func `No cluster has the columns afterwards, and what they held is freed`(
        rows: Int64, isCommitted: Bool
    ) throws {
        let twin = try TableTwin(Self.kept + Self.removed)
        for key in 0..<rows {
            // Some gaps, and rows of an earlier version than others.
            try insert(key * (key % 3 == 0 ? 1 : 7), twin, textLength: 300)
            if isCommitted, key % 1_000 == 100 { try twin.commit() }
        }
        if isCommitted { try twin.commit() }
        try twin.check()
        try twin.table.removeColumns(Self.removed.map(\.id))
        #expect(twin.workshop.sequences.isEmpty)
        try expectOnlyKept(twin, clusters: 1...max(1, Int(rows) / 100 + 2))
        // The table stays usable.
        for key in 100_000..<100_300 as Range<Int64> {
            try twin.insert(key)
            try twin.set(key, 4, .bytes([7]))
        }
        try twin.erase(0)
        try twin.compare()
        try twin.check()
        try twin.table.freeAll()
        if !isCommitted { #expect(twin.workshop.ownPages == 0) }
    }

    @Test func `Clusters of few long rows become clusters of many short ones`() throws {
        let twin = try TableTwin(Self.kept + Self.removed)
        for key in 0..<1_500 as Range<Int64> { try insert(key, twin, textLength: 2_000) }
        let before = twin.workshop.ownPages
        try twin.table.removeColumns(Self.removed.map(\.id), dirtyLimit: 0)
        try expectOnlyKept(twin, clusters: 6...12)
        #expect(twin.workshop.ownPages < before / 20)
    }

    @Test func `A table without rows, and clusters that are older than the columns`() throws {
        let twin = try TableTwin(Self.kept)
        try twin.table.addColumn(Self.removed[0])
        try twin.table.removeColumns([0])
        for key in 0..<600 as Range<Int64> {
            try twin.insert(key)
            try twin.set(key, 4, .bytes([UInt8](repeating: 1, count: 200)))
        }
        for column in Self.removed { try twin.table.addColumn(column) }
        for key in 500..<510 as Range<Int64> { try twin.set(key, 2, .bytes([1, 2, 3])) }
        #expect(throws: StorageError.noSuchColumn(77)) { try twin.table.removeColumns([0, 77]) }
        #expect(twin.table.columns.count == Self.kept.count + Self.removed.count)
        try twin.table.removeColumns(Self.removed.map(\.id))
        try expectOnlyKept(twin, clusters: 2...20)
    }

    @Test func `A cluster that does not take in what has become nullable is divided`() throws {
        // As wide as a cluster may be; most of its columns become nullable, and take more then.
        let wide = (0..<1_000 as Range<UInt32>).map {
            Column(id: $0, type: .bool, isNullable: false)
        }
        let twin = try TableTwin(wide)
        for key in 0..<40 as Range<Int64> {
            try twin.insert(key)
            try twin.set(key, 500, .bool(true))
        }
        for column in wide.dropFirst() { try twin.makeNullable(column.id) }
        try twin.table.removeColumns([0])
        try twin.compare()
        try twin.check()
        try twin.table.freeAll()
        #expect(twin.workshop.ownPages == 0)
    }
}
