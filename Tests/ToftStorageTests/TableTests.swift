// Tests: Cell.swift, ClusterBuilder.swift, ClusterShape.swift, ClusterView.swift,
// ColumnWriter.swift, DistinctTexts.swift, ListCodes.swift, TableWriter+Columns.swift,
// TableWriter+Rows.swift, TableWriter+Tail.swift, TextCodes.swift
import Testing
@testable import ToftStorage

/// A value that a test can keep: cells borrow, these own.
enum Value: Equatable {
    case null, bool(Bool), int(Int64), float(Float), double(Double), time(Timestamp), bytes([UInt8])
    case fixed(FixedBytes)

    init(_ cell: Cell) {
        switch cell {
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .int64(let value): self = .int(value)
        case .float32(let value): self = .float(value)
        case .float64(let value): self = .double(value)
        case .timestamp(let value): self = .time(value)
        case .bytes(let value): self = .bytes(Array(value))
        case .fixed(let value): self = .fixed(value)
        }
    }

    func with<Result>(_ body: (Cell) throws -> Result) rethrows -> Result {
        switch self {
        case .null: try body(.null)
        case .bool(let value): try body(.bool(value))
        case .int(let value): try body(.int64(value))
        case .float(let value): try body(.float32(value))
        case .double(let value): try body(.float64(value))
        case .time(let value): try body(.timestamp(value))
        case .bytes(let value): try value.withUnsafeBytes { try body(.bytes($0)) }
        case .fixed(let value): try body(.fixed(value))
        }
    }

    static func random(
        _ type: ColumnType, nullable: Bool, longest: Int, _ random: inout SeededGenerator
    ) -> Value {
        if nullable && random.below(4) == 0 { return .null }
        switch type {
        case .bool: return .bool(random.below(2) == 0)
        case .int64:
            return .int(
                random.below(3) == 0
                    ? Int64(bitPattern: random.next()) : Int64(random.below(100)) - 50)
        case .float32: return .float(Float(random.below(1000)) / 8 - 50)
        case .float64: return .double(Double(random.below(1000)) / 8 - 50)
        case .timestamp:
            return .time(
                Timestamp(
                    seconds: Int64(random.below(1000)), nanoseconds: Int32(random.below(1000))))
        case .fixed16: return .fixed(FixedBytes(high: random.next(), low: random.next()))
        case .fixed12: return .fixed(FixedBytes(high: random.next(), low: random.next() << 32))
        case .bytes, .list:
            return .bytes(
                random.bytes(
                    random.below(random.below(20) == 0 ? longest + 1 : min(30, longest + 1))))
        }
    }

    static func standard(_ column: Column) -> Value {
        column.isNullable ? .null : Value(column.absentCell)
    }
}

/// A table with the dictionary that it should equal.
final class TableTwin {
    let workshop: TreeWorkshop
    var table: TableWriter
    var rows: [Int64: [UInt32: Value]] = [:]
    var lists: [Int64: [UInt32: [Value]]] = [:]

    init(_ columns: [Column]) throws {
        workshop = try TreeWorkshop()
        table = workshop.table(TreeHead(kind: .table, columns: columns))
    }

    var isCommitted: Bool { workshop.pages.version > 1 }

    func commit() throws { table = try workshop.commit(table) }

    func insert(_ key: Int64) throws {
        try table.insertRow(key)
        rows[key] = [:]
        lists[key] = [:]
    }

    func erase(_ key: Int64) throws {
        try table.eraseRow(key)
        rows[key] = nil
        lists[key] = nil
    }

    func set(_ key: Int64, _ column: UInt32, _ value: Value) throws {
        try value.with { try table.setCell(key, column, $0) }
        rows[key]![column] = value
    }

    /// Makes a column nullable: cells that were never set still read as before.
    func makeNullable(_ id: UInt32) throws {
        let column = try table.reader.column(id)
        if column.type != .list {
            for key in rows.keys where rows[key]![id] == nil {
                rows[key]![id] = .standard(column)
            }
        }
        try table.makeNullable(id)
    }

    /// Walks the table's own check, and finds every page of this version exactly once.
    func check() throws {
        let visited = VisitedExtents()
        try table.check(visited)
        #expect(visited.sequences == Set(workshop.sequences.keys))
        for sequence in workshop.sequences.values { try sequence.check(visited) }
        if !isCommitted { #expect(visited.pages.count == workshop.ownPages) }
    }

    func compare() throws {
        #expect(table.rowCount == rows.count)
        let keys = rows.keys.sorted()
        for (rank, key) in keys.enumerated() {
            #expect(try table.key(atRank: rank) == key)
            #expect(try table.rank(of: key) == rank)
            for column in table.columns {
                if column.type == .list {
                    try compareList(key, column)
                } else {
                    #expect(
                        Value(try table.cell(key, column.id)) == rows[key]![column.id]
                            ?? .standard(column), "row \(key), column \(column.id)")
                }
            }
        }
        try compareScan(keys)
    }

    private func compareList(_ key: Int64, _ column: Column) throws {
        let expected = lists[key]![column.id] ?? []
        let list = try table.list(key, column.id)
        var found: [Value] = []
        try list.forEachBlock { (block) throws(StorageError) in
            for index in 0..<block.count { found.append(Value(try block.cell(at: index))) }
            return true
        }
        #expect(found == expected && list.count == expected.count, "row \(key), list \(column.id)")
        for index in stride(from: 0, to: expected.count, by: max(1, expected.count / 7)) {
            #expect(Value(try list.cell(at: index)) == expected[index])
        }
    }

    private func compareScan(_ keys: [Int64]) throws {
        var seen: [Int64] = []
        try table.forEachCluster { (view) throws(StorageError) in
            for row in 0..<view.count { seen.append(view.keys[row]) }
            for column in table.columns where column.type != .list {
                try compareColumn(view, column)
            }
            return true
        }
        #expect(seen == keys)
    }

    private func compareColumn(_ view: ClusterView, _ column: Column) throws(StorageError) {
        let nulls = try view.nulls(column.id)
        let zone = try view.zone(column.id)
        for row in 0..<view.count {
            let isNull = nulls.map { $0[row / 64] & (1 << UInt64(row % 64)) != 0 } ?? false
            let found: Value
            switch column.type {
            case .bool:
                found = .bool(try view.bools(column.id)[row / 64] & (1 << UInt64(row % 64)) != 0)
            case .int64: found = .int(try view.integers(column.id)[row])
            case .float32: found = .float(try view.float32s(column.id)[row])
            case .float64: found = .double(try view.float64s(column.id)[row])
            case .timestamp:
                let (seconds, nanoseconds) = try view.timestamps(column.id)
                found = .time(Timestamp(seconds: seconds[row], nanoseconds: nanoseconds[row]))
            case .fixed16, .fixed12: found = .fixed(try view.fixed(column.id)[row])
            case .bytes, .list: found = .bytes(Array(try view.bytes(column.id)[row]))
            }
            let expected = rows[view.keys[row]]![column.id] ?? .standard(column)
            #expect(isNull ? expected == .null : found == expected)
            if case .integers(let low, let high)? = zone, case .int(let value) = expected {
                #expect(low <= value && value <= high)
            }
            if case .numbers(let low, let high)? = zone, case .double(let value) = expected {
                #expect(low <= value && value <= high)
            }
        }
    }
}

@Suite struct TableTests {
    static let everyType: [Column] = [
        Column(id: 0, type: .bool, isNullable: false),
        Column(id: 1, type: .int64, isNullable: false),
        Column(id: 2, type: .float32, isNullable: false),
        Column(id: 3, type: .float64, isNullable: true),
        Column(id: 4, type: .timestamp, isNullable: false),
        Column(id: 5, type: .bytes, isNullable: false),
        Column(id: 6, type: .bool, isNullable: true), Column(id: 7, type: .int64, isNullable: true),
        Column(id: 9, type: .float32, isNullable: true),
        Column(id: 10, type: .timestamp, isNullable: true),
        Column(id: 11, type: .fixed16, isNullable: false),
        Column(id: 12, type: .fixed16, isNullable: true),
        Column(id: 13, type: .fixed12, isNullable: false),
        Column(id: 14, type: .fixed12, isNullable: true),
        Column(id: 30, type: .bytes, isNullable: true),
        Column(id: 31, type: .list, isNullable: false, elementType: .int64),
        Column(
            id: 32, type: .list, isNullable: false, elementType: .bytes, elementIsNullable: true),
    ]

    @Test func `A new row reads as the defaults of its columns`() throws {
        let twin = try TableTwin(Self.everyType)
        for key in [5, 3, 9, -7, .max, .min, 0] as [Int64] { try twin.insert(key) }
        try twin.compare()
        try twin.check()
        #expect(throws: StorageError.duplicateRow(key: 3)) { try twin.table.insertRow(3) }
        #expect(throws: StorageError.noSuchRow(key: 4)) { try twin.table.eraseRow(4) }
        #expect(throws: StorageError.noSuchRow(key: 4)) { _ = try twin.table.cell(4, 1) }
        #expect(throws: StorageError.noSuchColumn(8)) { _ = try twin.table.cell(3, 8) }
        #expect(throws: StorageError.self) { try twin.table.setCell(3, 1, .null) }
        #expect(throws: StorageError.self) { try twin.table.setCell(3, 1, .bool(true)) }
        #expect(throws: StorageError.indexOutOfRange(index: 7, count: 7)) {
            _ = try twin.table.key(atRank: 7)
        }
    }

    @Test func `Keys are never given twice, also after rows were erased`() throws {
        let twin = try TableTwin([])
        #expect(twin.table.takeNextKey() == 0)
        try twin.insert(0)
        try twin.insert(100)
        try twin.erase(100)
        #expect(twin.table.takeNextKey() == 101)
        #expect(twin.table.takeNextKey() == 102)
        try twin.erase(0)
        #expect(twin.table.root.isEmpty && twin.workshop.ownPages == 0)
        #expect(twin.table.takeNextKey() == 103)
    }

    @Test func `A key behind a gap is taken wherever the keys before follow each other by chance`()
        throws
    {
        let columns = [Column(id: 0, type: .bytes, isNullable: false)]
        for gap in 3...120 as ClosedRange<Int64> {
            let twin = try TableTwin(columns)
            try twin.insert(0)
            for key in 2...120 as ClosedRange<Int64> {
                let key = key < gap ? key : key + 1
                try twin.insert(key)
                try twin.set(key, 0, .bytes(Array(repeating: 120, count: 150)))
                // The cluster stores its keys, and then they follow each other.
                if key == 24 { try twin.erase(0) }
            }
            try twin.check()
            try twin.compare()
        }
    }

    @Test func `Appended rows end in full, sealed clusters`() throws {
        let columns = [
            Column(id: 0, type: .int64, isNullable: false),
            Column(id: 1, type: .bytes, isNullable: false),
        ]
        let twin = try TableTwin(columns)
        for key in 0..<5_000 as Range<Int64> {
            try twin.insert(key)
            try twin.set(key, 0, .int(key * 3))
            try twin.set(key, 1, .bytes(Array("row number \(key)".utf8)))
            if key % 1_250 == 1_249 { try twin.commit() }
        }
        try twin.check()
        try twin.compare()
        var counts: [Int] = []
        try twin.table.forEachCluster { (view) throws(StorageError) in
            counts.append(view.count)
            return true
        }
        #expect(counts.dropLast().allSatisfy { $0 >= 192 })
        let visited = VisitedExtents()
        try twin.table.check(visited)
        #expect(visited.pages.count * 4_096 < 5_000 * 32)
    }

    @Test func `Columns that were added later read as their defaults and can be set`() throws {
        let twin = try TableTwin([Column(id: 3, type: .int64, isNullable: false)])
        for key in 0..<600 as Range<Int64> { try twin.insert(key) }
        for column in Self.everyType where column.id != 3 && column.id != 1 {
            try twin.table.addColumn(column)
        }
        try twin.compare()
        try twin.set(77, 30, .bytes([1, 2, 3]))
        try twin.set(300, 6, .bool(true))
        try twin.compare()
        try twin.check()
        try twin.table.removeColumns([30])
        #expect(throws: StorageError.noSuchColumn(30)) { _ = try twin.table.cell(77, 30) }
        try twin.compare()
        try twin.check()
    }

    @Test(arguments: [40, 400])
    func `Rows between others go where many columns are younger than their cluster`(
        columns: UInt32
    ) throws {
        let twin = try TableTwin([
            Column(id: 0, type: .int64, isNullable: false),
            Column(id: 1, type: .bytes, isNullable: true),
        ])
        for key in 0..<600 as Range<Int64> {
            try twin.insert(key)
            if key % 9 == 0 { try twin.set(key, 1, .bytes([UInt8](repeating: 7, count: 5_000))) }
        }
        for id in 2..<2 + columns {
            try twin.table.addColumn(
                Column(id: id, type: id % 2 == 0 ? .float64 : .fixed16, isNullable: id % 3 == 0))
        }
        try twin.erase(100)
        try twin.compare()
        try twin.check()
        // Clusters that become small join others, or are written with less room.
        for key in 1..<599 as Range<Int64> where key != 100 && key % 7 != 0 { try twin.erase(key) }
        try twin.compare()
        try twin.check()
        try twin.insert(600)
        try twin.set(301, 2, .double(1.5))
        try twin.compare()
        try twin.check()
    }

    @Test func `A row of two thousand wide columns fits, and the next column is refused`() throws {
        let twin = try TableTwin((0..<2_000).map { Column(id: $0, type: .bytes, isNullable: true) })
        try twin.insert(1)
        try twin.insert(2)
        var random = SeededGenerator(seed: 5)
        for column in 0..<2_000 as Range<UInt32> {
            try twin.set(1, column, .bytes(random.bytes(1_900)))
        }
        for column in 0..<2_000 as Range<UInt32> {
            try twin.set(2, column, .bytes(random.bytes(40)))
        }
        try twin.check()
        #expect(throws: StorageError.self) {
            try twin.table.addColumn(Column(id: 2_000, type: .bool, isNullable: false))
        }
        for column in stride(from: 0, to: 2_000 as UInt32, by: 41) {
            #expect(Value(try twin.table.cell(1, column)) == twin.rows[1]![column])
            #expect(Value(try twin.table.cell(2, column)) == twin.rows[2]![column])
        }
        try twin.erase(1)
        try twin.erase(2)
        #expect(twin.workshop.ownPages == 0)
    }

    @Test(arguments: 1...16 as ClosedRange<UInt64>)
    func `Random rows and cells are what a dictionary holds`(seed: UInt64) throws {
        print("table, seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let columns = Self.everyType.filter { _ in random.below(3) > 0 }
        let twin = try TableTwin(columns)
        var cells = columns.filter { $0.type != .list }
        let longest = [20, 700, 2_500][random.below(3)]
        let isAppending = random.below(2) == 0
        var last: Int64 = 0
        for step in 0..<8_000 {
            let isShrinking = (step / 2_000) % 2 == 1
            let known =
                twin.rows.isEmpty
                ? nil : try twin.table.key(atRank: random.below(twin.table.rowCount))
            switch random.below(10) {
            case 0...(isShrinking ? 0 : 2):
                last = isAppending ? last + 1 : Int64(random.below(5_000)) - 1_000
                if twin.rows[last] == nil { try twin.insert(last) }
            case 3...(isShrinking ? 5 : 3):
                if let known { try twin.erase(known) }
            default:
                guard let key = twin.rows[last] == nil ? known : last, !cells.isEmpty else {
                    continue
                }
                for _ in 0..<3 {
                    let column = cells[random.below(cells.count)]
                    try twin.set(
                        key, column.id,
                        .random(column.type, nullable: column.isNullable, longest: longest, &random)
                    )
                }
                if let known { last = random.below(2) == 0 && !isAppending ? known : last }
            }
            if step % 1_600 == 1_599, !cells.isEmpty {
                try twin.makeNullable(cells[random.below(cells.count)].id)
                cells = twin.table.columns.filter { $0.type != .list }
            }
            if step % 1_700 == 1_699, twin.table.columns.count > 3 {
                try twin.table.removeColumns(
                    [twin.table.columns[random.below(twin.table.columns.count)].id])
                cells = twin.table.columns.filter { $0.type != .list }
            }
            if seed % 2 == 0 && step % 1_000 == 999 { try twin.commit() }
            if step % 900 == 0 { try twin.workshop.spill() }
            if step % 1_000 == 0 { try twin.check() }
        }
        try twin.compare()
        try twin.check()
        try twin.table.freeAll()
        if !twin.isCommitted { #expect(twin.workshop.ownPages == 0) }
    }
}
