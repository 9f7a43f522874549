// Tests: RowValue.swift
import Testing
import ToftTestKit
import ToftPlatform
@testable import ToftStorage

/// Rows that are inserted with all their values: the same rows and the same record as step by step.
@Suite struct WholeRowTests {
    private static let columns: [Column] = [
        Column(id: 1, type: .int64, isNullable: false),
        Column(id: 2, type: .bytes, isNullable: true),
        Column(id: 3, type: .bool, isNullable: false),
        Column(id: 4, type: .float64, isNullable: true),
        Column(id: 6, type: .timestamp, isNullable: false),
        Column(id: 7, type: .list, isNullable: false, elementType: .bytes, elementIsNullable: true),
        Column(id: 8, type: .list, isNullable: false, elementType: .int64),
        Column(id: 9, type: .float32, isNullable: false),
        Column(id: 10, type: .fixed16, isNullable: false),
        Column(id: 11, type: .fixed12, isNullable: true),
        Column(id: 12, type: .list, isNullable: false, elementType: .fixed12),
    ]

    private static func store() throws -> Store {
        let file = MemoryFile(name: "whole rows")
        try Store.format(file)
        return try Store.open(on: file, coordinator: Coordinator.inMemory())
    }

    /// A row for a test: values by column, and elements of lists.
    private struct Row {
        var values: [(column: Column, value: Value)] = []
        var lists: [(column: Column, elements: [Value])] = []

        static func random(longest: Int, _ seed: inout SeededGenerator) -> Row {
            var row = Row()
            for column in WholeRowTests.columns.shuffled(using: &seed) where seed.below(5) > 0 {
                if let type = column.elementType {
                    let count = seed.below(seed.below(10) == 0 ? 60 : 4)
                    let elements = (0..<count).map { _ in
                        Value.random(
                            type, nullable: column.elementIsNullable, longest: longest, &seed)
                    }
                    row.lists.append((column, elements))
                } else {
                    row.values.append(
                        (
                            column,
                            .random(
                                column.type, nullable: column.isNullable, longest: longest, &seed)
                        ))
                }
            }
            return row
        }

        /// Lends the row as content whose bytes are in an array of our own.
        func withContent(_ body: (RowContent) throws -> Void) throws {
            var bytes: [UInt8] = [0]
            func keep(_ value: Value) { if case .bytes(let own) = value { bytes += own } }
            for item in values { keep(item.value) }
            for list in lists { list.elements.forEach(keep) }
            try bytes.withUnsafeBytes { bytes in
                var used = 1
                func cell(_ value: Value) -> Cell {
                    guard case .bytes(let own) = value else { return value.with { $0 } }
                    defer { used += own.count }
                    return .bytes(UnsafeRawBufferPointer(rebasing: bytes[used..<used + own.count]))
                }
                var content = values.map { RowValue(column: $0.column.id, cell: cell($0.value)) }
                var elements: [Cell] = []
                for list in lists {
                    content.append(
                        RowValue(
                            column: list.column.id,
                            list: elements.count..<elements.count + list.elements.count))
                    elements += list.elements.map(cell)
                }
                try content.withUnsafeBufferPointer { values in
                    try elements.withUnsafeBufferPointer {
                        try body(RowContent(values: values, elements: $0))
                    }
                }
            }
        }
    }

    @Test(arguments: [30, 1_500])
    func `Whole rows are the same as rows made step by step`(longest: Int) throws {
        var seed = SeededGenerator(seed: UInt64.random(in: 0...UInt64(UInt32.max)))
        let start = seed
        let store = try Self.store()
        for size in [1, 7, 300] {
            var made: [(table: TreeID, effects: [String])] = []
            let rows = (0..<size).map { _ in Row.random(longest: longest, &seed) }
            for isWhole in [true, false] {
                let making = try store.beginWrite()
                let id = try making.createTable(columns: Self.columns)
                let before = try making.commit()
                let writing = try store.beginWrite()
                for row in rows {
                    try isWhole
                        ? insert(row, id, writing)
                        : insertStepByStep(row, id, writing)
                }
                _ = try writing.commit()
                made.append((id, try effects(of: id, after: before, store)))
            }
            let snapshot = try store.beginRead()
            defer { snapshot.release() }
            let (whole, stepwise) = (
                try snapshot.table(made[0].table), try snapshot.table(made[1].table)
            )
            #expect(whole.rowCount == size && stepwise.rowCount == size, "\(start)")
            for rank in 0..<size {
                #expect(try content(whole, rank) == content(stepwise, rank), "\(start)")
            }
            #expect(made[0].effects == made[1].effects, "\(start)")
        }
        #expect(try store.check().problems == [], "\(start)")
    }

    private func insert(_ row: Row, _ id: TreeID, _ writing: WriteTransaction)
        throws
    {
        let key = try writing.takeKey(id)
        try row.withContent { try writing.rowInsert(id, key, $0, derived: false) }
    }

    private func insertStepByStep(
        _ row: Row, _ id: TreeID, _ writing: WriteTransaction
    ) throws {
        let key = try writing.takeKey(id)
        try writing.rowInsert(id, key, derived: false)
        for (column, value) in row.values {
            try value.with {
                try writing.cellSet(id, key, column.id, $0, derived: false)
            }
        }
        for (column, elements) in row.lists {
            for (index, value) in elements.enumerated() {
                try value.with {
                    try writing.listInsert(id, key, column.id, at: index, $0, derived: false)
                }
            }
        }
    }

    private func content(_ table: TableReader, _ rank: Int) throws -> [[Value]] {
        let key = try table.key(atRank: rank)
        return try Self.columns.map { column in
            guard column.type == .list else { return [Value(try table.cell(key, column.id))] }
            let list = try table.list(key, column.id)
            return try (0..<list.count).map { Value(try list.cell(at: $0)) }
        }
    }

    private func effects(of table: TreeID, after version: Version, _ store: Store) throws
        -> [String]
    {
        let snapshot = try store.beginRead()
        defer { snapshot.release() }
        var effects: [String] = []
        for record in try #require(try snapshot.records(after: version)) {
            record.forEach { effect in
                guard effect.tree == table else { return }
                effects.append(
                    "\(effect.kind) \(effect.key) \(effect.column) \(effect.index) "
                        + "\(effect.isDerived) \(effect.value.count)"
                )
            }
        }
        return effects
    }

    @Test func `A value that the column cannot hold leaves nothing behind`() throws {
        let store = try Self.store()
        let writing = try store.beginWrite()
        let id = try writing.createTable(columns: Self.columns)
        for _ in 0..<3 { try insert(Row(values: [(Self.columns[0], .int(1))]), id, writing) }
        let key = try writing.takeKey(id)
        try Row(values: [(Self.columns[0], .bool(true))]).withContent { content in
            #expect(throws: StorageError.self) {
                try writing.rowInsert(id, key, content, derived: false)
            }
        }
        writing.rollback()
        #expect(try store.check().problems == [])
    }
}
