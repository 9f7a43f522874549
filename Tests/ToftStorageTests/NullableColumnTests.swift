// Tests: Column+Coding.swift
import Testing
@testable import ToftStorage

/// Columns that become nullable after rows are there.
@Suite struct NullableColumnTests {
    private static let required: [Column] = [
        Column(id: 1, type: .int64, isNullable: false),
        Column(id: 2, type: .bool, isNullable: false),
        Column(id: 3, type: .float32, isNullable: false),
        Column(id: 4, type: .float64, isNullable: false),
        Column(id: 5, type: .timestamp, isNullable: false),
        Column(id: 6, type: .bytes, isNullable: false),
        Column(id: 7, type: .fixed16, isNullable: false),
        Column(id: 8, type: .fixed12, isNullable: false),
    ]

    private static func value(_ column: Column, _ number: Int64) -> Value {
        switch column.type {
        case .bool: .bool(number % 2 == 0)
        case .int64: .int(number * 1_000)
        case .float32: .float(Float(number))
        case .float64: .double(Double(number))
        case .timestamp: .time(Timestamp(seconds: number, nanoseconds: 7))
        case .fixed16, .fixed12: .fixed(FixedBytes(high: UInt64(number), low: 9 << 32))
        case .bytes, .list: .bytes(Array("row number \(number)".utf8))
        }
    }

    /// A table with rows; every third one has values.
    private func table(rows: Int64) throws -> TableTwin {
        let twin = try TableTwin([Column(id: 0, type: .int64, isNullable: false)] + Self.required)
        for key in 0..<rows {
            try twin.insert(key)
            guard key % 3 == 0 else { continue }
            for column in Self.required { try twin.set(key, column.id, Self.value(column, key)) }
        }
        return twin
    }

    @Test(arguments: [0, 1, 63, 64, 65, 255, 256, 257, 1_000] as [Int64], [false, true])
    func `All values stay, and then some become null, others come back, and rows follow`(
        rows: Int64, isCommitted: Bool
    ) throws {
        let twin = try table(rows: rows)
        if isCommitted { try twin.commit() }
        for column in Self.required { try twin.makeNullable(column.id) }
        try twin.check()
        try twin.compare()
        if isCommitted { try twin.commit() }
        for key in stride(from: 0, to: rows, by: 5) {
            for column in Self.required { try twin.set(key, column.id, .null) }
        }
        for key in stride(from: 0, to: rows, by: 10) {
            try twin.set(key, 6, .bytes([1, 2, 3]))
            try twin.set(key, 1, .int(.max))
        }
        try twin.check()
        try twin.compare()
        for key in rows..<rows + 300 { try twin.insert(key) }
        #expect(try Value(twin.table.cell(rows, 1)) == .null)
        try twin.check()
        try twin.compare()
        for key in stride(from: 0, to: rows + 300, by: 2) { try twin.erase(key) }
        try twin.check()
        try twin.compare()
    }

    @Test(arguments: [1, 255, 256, 257, 1_000] as [Int64], [false, true])
    func `Rows that are older than the column keep its zero, and new ones are null`(
        rows: Int64, isCommitted: Bool
    ) throws {
        let twin = try TableTwin([Column(id: 0, type: .int64, isNullable: false)])
        for key in 0..<rows { try twin.insert(key) }
        if isCommitted { try twin.commit() }
        for column in Self.required { try twin.table.addColumn(column) }
        for column in Self.required { try twin.makeNullable(column.id) }
        if isCommitted { try twin.commit() }
        #expect(try Value(twin.table.cell(0, 1)) == .int(0))
        #expect(try Value(twin.table.cell(rows - 1, 6)) == .bytes([]))
        try twin.check()
        try twin.compare()
        // The first new row meets clusters that do not hold the columns.
        try twin.insert(rows)
        #expect(try Value(twin.table.cell(rows, 2)) == .null)
        try twin.compare()
        try twin.set(0, 4, .null)
        try twin.set(rows / 2, 5, .time(Timestamp(seconds: 1, nanoseconds: 0)))
        for key in rows + 1..<rows + 600 { try twin.insert(key) }
        try twin.check()
        try twin.compare()
        // Clusters with and without the columns are merged.
        for key in stride(from: 1, to: rows + 600, by: 1) where key % 7 != 0 { try twin.erase(key) }
        try twin.check()
        try twin.compare()
    }

    @Test func `Rows between others are null too, where their cluster had no nulls`() throws {
        let twin = try TableTwin(Self.required)
        for key in stride(from: 0, to: 1_000, by: 2) as StrideTo<Int64> {
            try twin.insert(key)
            try twin.set(key, 1, .int(key))
        }
        for column in Self.required { try twin.makeNullable(column.id) }
        for key in stride(from: 1, to: 1_000, by: 2) as StrideTo<Int64> { try twin.insert(key) }
        try twin.check()
        try twin.compare()
    }

    @Test func `A cluster that can't take in all columns is divided for a new row`() throws {
        let count = UInt32(ClusterLimits.columns)
        let twin = try TableTwin([Column(id: 0, type: .int64, isNullable: false)])
        for key in 0..<250 as Range<Int64> { try twin.insert(key) }
        try twin.erase(200)
        for id in 1..<count {
            try twin.table.addColumn(Column(id: id, type: .timestamp, isNullable: false))
            try twin.table.makeNullable(id)
        }
        for key in [200, 250, 251] as [Int64] {
            try twin.insert(key)
            #expect(try Value(twin.table.cell(key, 1)) == .null)
            #expect(try Value(twin.table.cell(key, count - 1)) == .null)
        }
        for key in [0, 199, 201, 249] as [Int64] {
            #expect(
                try Value(twin.table.cell(key, count - 1))
                    == .time(Timestamp(seconds: 0, nanoseconds: 0)))
        }
        try twin.check()
    }

    @Test func `Lists take nulls: short ones, ones on the limit of their cluster, and long ones`()
        throws
    {
        let types: [ColumnType] = [
            .bool, .int64, .float32, .float64, .timestamp, .bytes, .fixed16, .fixed12,
        ]
        for (type, width) in zip(types, [1, 8, 4, 8, 12, 12, 16, 12]) {
            let limit = (ClusterLimits.inlineList - ElementLayout.values) / width
            let leaf = (SequenceLeafLayout.room - ElementLayout.values) / width
            for count in [0, 1, limit - 1, limit, limit + 1, leaf - 1, leaf, leaf + 1, 3 * leaf] {
                try takeNulls(type, count)
            }
        }
    }

    private func takeNulls(_ type: ColumnType, _ count: Int) throws {
        let twin = try TableTwin([
            Column(id: 1, type: .list, isNullable: false, elementType: type)
        ])
        let one = Column(id: 0, type: type, isNullable: false)
        let element: (Int) -> Value = {
            type == .bytes ? .bytes(Array(repeating: 5, count: 8)) : Self.value(one, Int64($0))
        }
        for key in 0..<4 as Range<Int64> {
            try twin.insert(key)
            for index in 0..<count {
                try element(index).with { try twin.table.listInsert(key, 1, at: index, $0) }
            }
            twin.lists[key]![1] = (0..<count).map(element)
        }
        try twin.commit()
        #expect(throws: StorageError.self) { try twin.table.listInsert(0, 1, at: 0, .null) }
        try twin.makeNullable(1)
        try twin.compare()
        try twin.table.listInsert(0, 1, at: count, .null)
        twin.lists[0]![1]!.append(.null)
        try twin.table.listInsert(1, 1, at: 0, .null)
        twin.lists[1]![1]!.insert(.null, at: 0)
        if count > 0 {
            try twin.table.listSet(2, 1, at: count / 2, .null)
            twin.lists[2]![1]![count / 2] = .null
            try twin.table.listErase(3, 1, at: count - 1)
            twin.lists[3]![1]!.removeLast()
        }
        try twin.check()
        try twin.compare()
        try twin.commit()
        try twin.check()
        try twin.compare()
    }

    @Test func `A column's flags are in the file, and flags that nobody knows are damage`() throws {
        var column = Column(id: 3, type: .int64, isNullable: true, wasRequired: true)
        let bytes = Column.encodeAll([column])
        #expect(try bytes.withUnsafeBytes { try Column.decodeAll($0) } == [column])
        column.wasRequired = false
        #expect(try bytes.withUnsafeBytes { try Column.decodeAll($0) } != [column])
        for flags in 0...255 as ClosedRange<UInt8> {
            var other = bytes
            other[ColumnLayout.flags] = flags
            let isRead = (try? other.withUnsafeBytes { try Column.decodeAll($0) }) != nil
            #expect(isRead == [0, 1, 5].contains(flags), "\(flags)")
        }
    }

    @Test func `A column that is not there can't become nullable, and a nullable one stays it`()
        throws
    {
        let twin = try TableTwin([Column(id: 1, type: .int64, isNullable: true)])
        try twin.insert(1)
        #expect(throws: StorageError.noSuchColumn(9)) { try twin.table.makeNullable(9) }
        try twin.makeNullable(1)
        #expect(twin.table.columns == [Column(id: 1, type: .int64, isNullable: true)])
        #expect(try Value(twin.table.cell(1, 1)) == .null)
        try twin.check()
    }
}
