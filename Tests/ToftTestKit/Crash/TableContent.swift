package import ToftStorage

/// A cell that owns its value.
package enum CellValue: Equatable {
    case null
    case bool(Bool)
    case int64(Int64)
    case float64(Double)
    case timestamp(Int64, Int32)
    case bytes([UInt8])
    case fixed(FixedBytes)
    case list([CellValue])

    /// The value of a cell before it is set.
    init(defaultOf column: Column) {
        self = column.isNullable ? .null : CellValue(zeroOf: column.type)
    }

    private init(zeroOf type: ColumnType) {
        switch type {
        case .bool: self = .bool(false)
        case .int64: self = .int64(0)
        case .float32, .float64: self = .float64(0)
        case .timestamp: self = .timestamp(0, 0)
        case .bytes: self = .bytes([])
        case .fixed16, .fixed12: self = .fixed(.zero)
        case .list: self = .list([])
        }
    }

    init(_ cell: Cell) {
        switch cell {
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .int64(let value): self = .int64(value)
        case .float32(let value): self = .float64(Double(value))
        case .float64(let value): self = .float64(value)
        case .timestamp(let value): self = .timestamp(value.seconds, value.nanoseconds)
        case .bytes(let value): self = .bytes(Array(value))
        case .fixed(let value): self = .fixed(value)
        }
    }

    init(_ list: ListView) throws {
        self = .list(try (0..<list.count).map { CellValue(try list.cell(at: $0)) })
    }

    /// The value as the engine takes it.
    func withCell<Result>(_ body: (Cell) throws -> Result) throws -> Result {
        switch self {
        case .null: try body(.null)
        case .bool(let value): try body(.bool(value))
        case .int64(let value): try body(.int64(value))
        case .float64(let value): try body(.float64(value))
        case .timestamp(let seconds, let nanoseconds):
            try body(.timestamp(Timestamp(seconds: seconds, nanoseconds: nanoseconds)))
        case .bytes(let value): try value.withUnsafeBytes { try body(.bytes($0)) }
        case .fixed(let value): try body(.fixed(value))
        case .list: throw Failure("a list is not a cell")
        }
    }

    func append(to bytes: inout [UInt8]) {
        func append<Value>(_ tag: UInt8, _ value: Value) {
            bytes.append(tag)
            withUnsafeBytes(of: value) { bytes.append(contentsOf: $0) }
        }
        switch self {
        case .null: bytes.append(0)
        case .bool(let value): append(1, value)
        case .int64(let value): append(2, value)
        case .float64(let value): append(3, value.bitPattern)
        case .timestamp(let seconds, let nanoseconds):
            append(4, seconds)
            append(4, nanoseconds)
        case .bytes(let value):
            append(5, value.count)
            bytes.append(contentsOf: value)
        case .fixed(let value):
            append(7, value.high)
            append(7, value.low)
        case .list(let values):
            append(6, values.count)
            for value in values { value.append(to: &bytes) }
        }
    }
}

/// The expected content of a table.
package struct TableContent {
    package internal(set) var columns: [Column]
    package internal(set) var rows: [Int64: [UInt32: CellValue]] = [:]

    package var keys: [Int64] { rows.keys.sorted() }

    package init(columns: [Column]) { self.columns = columns }

    /// The content of a table in a snapshot.
    init(_ table: TableReader) throws {
        columns = table.columns
        try Self.forEachCluster(of: table) { cluster in
            for row in 0..<cluster.count {
                var values: [UInt32: CellValue] = [:]
                for column in table.columns {
                    values[column.id] = try Self.value(cluster, row, column)
                }
                rows[cluster.keys[row]] = values
            }
        }
    }

    func append(to bytes: inout [UInt8]) {
        for key in keys {
            CellValue.int64(key).append(to: &bytes)
            for column in columns {
                (rows[key]?[column.id] ?? CellValue(defaultOf: column)).append(to: &bytes)
            }
        }
    }

    /// The bytes of a table's content in a snapshot, cluster by cluster.
    static func append(_ table: TableReader, to bytes: inout [UInt8]) throws {
        try forEachCluster(of: table) { cluster in
            for row in 0..<cluster.count {
                CellValue.int64(cluster.keys[row]).append(to: &bytes)
                for column in table.columns {
                    try value(cluster, row, column).append(to: &bytes)
                }
            }
        }
    }

    private static func forEachCluster(of table: TableReader, _ body: (ClusterView) throws -> Void)
        throws
    {
        var failure: (any Error)?
        try table.forEachCluster { cluster throws(StorageError) in
            do { try body(cluster) } catch { failure = error }
            return failure == nil
        }
        if let failure { throw failure }
    }

    private static func value(_ cluster: ClusterView, _ row: Int, _ column: Column) throws
        -> CellValue
    {
        column.type == .list
            ? try CellValue(try cluster.list(column.id, row))
            : CellValue(try cluster.cell(row, column.id))
    }

    /// One column of each type, some of them nullable.
    package static let someColumns = [
        Column(id: 1, type: .int64, isNullable: false),
        Column(id: 2, type: .bytes, isNullable: true),
        Column(id: 3, type: .bool, isNullable: false),
        Column(id: 4, type: .float64, isNullable: true),
        Column(id: 5, type: .timestamp, isNullable: false),
        Column(id: 6, type: .list, isNullable: false, elementType: .int64),
        Column(id: 7, type: .list, isNullable: false, elementType: .bytes),
    ]
}

extension RecordedDatabase.Editor {
    package mutating func makeTable(_ columns: [Column] = TableContent.someColumns) throws -> TreeID
    {
        let id = try transaction.createTable(columns: columns)
        content.tables[id] = TableContent(columns: columns)
        try put(Content.directory, Content.listing(id, isTable: true), [])
        return id
    }

    package mutating func dropTable(_ id: TreeID) throws {
        try transaction.dropTree(id)
        content.tables[id] = nil
        try delete(Content.directory, Content.listing(id, isTable: true))
    }

    package mutating func addColumn(_ id: TreeID, _ column: Column) throws {
        try transaction.addColumn(id, column)
        content.tables[id]?.columns.append(column)
    }

    /// Makes a column nullable: cells that were never set still read as before.
    package mutating func makeNullable(_ id: TreeID, _ column: UInt32) throws {
        try transaction.makeNullable(id, column)
        guard var table = content.tables[id],
            let index = table.columns.firstIndex(where: { $0.id == column }),
            !table.columns[index].isNullable
        else { return }
        if table.columns[index].type == .list {
            table.columns[index].elementIsNullable = true
        } else {
            let zero = CellValue(defaultOf: table.columns[index])
            for key in table.keys where table.rows[key]?[column] == nil {
                table.rows[key]?[column] = zero
            }
            table.columns[index].isNullable = true
            table.columns[index].wasRequired = true
        }
        content.tables[id] = table
    }

    package mutating func insert(_ id: TreeID) throws -> Int64 {
        let key = try transaction.takeKey(id)
        try transaction.rowInsert(id, key, derived: false)
        content.tables[id]?.rows[key] = [:]
        return key
    }

    package mutating func erase(_ id: TreeID, _ key: Int64) throws {
        try transaction.rowErase(id, key, derived: false)
        content.tables[id]?.rows[key] = nil
    }

    package mutating func set(_ id: TreeID, _ key: Int64, _ column: UInt32, _ value: CellValue)
        throws
    {
        try value.withCell {
            try transaction.cellSet(id, key, column, $0, derived: false)
        }
        content.tables[id]?.rows[key]?[column] = value
    }

    package mutating func listInsert(
        _ id: TreeID, _ key: Int64, _ column: UInt32, at index: Int, _ value: CellValue
    ) throws {
        try value.withCell {
            try transaction.listInsert(id, key, column, at: index, $0, derived: false)
        }
        editList(id, key, column) { $0.insert(value, at: index) }
    }

    package mutating func listErase(_ id: TreeID, _ key: Int64, _ column: UInt32, at index: Int)
        throws
    {
        try transaction.listErase(id, key, column, at: index, derived: false)
        editList(id, key, column) { $0.remove(at: index) }
    }

    package mutating func listMove(
        _ id: TreeID, _ key: Int64, _ column: UInt32, from index: Int, to other: Int
    ) throws {
        try transaction.listMove(id, key, column, from: index, to: other)
        editList(id, key, column) { $0.insert($0.remove(at: index), at: other) }
    }

    package mutating func listSet(
        _ id: TreeID, _ key: Int64, _ column: UInt32, at index: Int, _ value: CellValue
    ) throws {
        try value.withCell {
            try transaction.listSet(id, key, column, at: index, $0, derived: false)
        }
        editList(id, key, column) { $0[index] = value }
    }

    package mutating func listSwap(
        _ id: TreeID, _ key: Int64, _ column: UInt32, _ one: Int, _ other: Int
    ) throws {
        try transaction.listSwap(id, key, column, one, other)
        editList(id, key, column) { $0.swapAt(one, other) }
    }

    package mutating func listClear(_ id: TreeID, _ key: Int64, _ column: UInt32) throws {
        try transaction.listClear(id, key, column, derived: false)
        editList(id, key, column) { $0 = [] }
    }

    package func listCount(_ id: TreeID, _ key: Int64, _ column: UInt32) -> Int {
        if case .list(let values) = content.tables[id]?.rows[key]?[column] {
            values.count
        } else {
            0
        }
    }

    private mutating func editList(
        _ id: TreeID, _ key: Int64, _ column: UInt32, _ edit: (inout [CellValue]) -> Void
    ) {
        var values: [CellValue] = []
        if case .list(let old) = content.tables[id]?.rows[key]?[column] { values = old }
        edit(&values)
        content.tables[id]?.rows[key]?[column] = .list(values)
    }

    /// Sets every column of a row to something.
    package mutating func fill(_ id: TreeID, _ key: Int64, _ numbers: inout Seed) throws {
        for column in content.tables[id]?.columns ?? []
        where column.type != .list || numbers.chance(30) {
            if column.type == .list {
                try editSomeList(id, key, column, &numbers)
            } else {
                try set(
                    id, key, column.id, .some(column.type, isNullable: column.isNullable, &numbers))
            }
        }
    }

    private mutating func editSomeList(
        _ id: TreeID, _ key: Int64, _ column: Column, _ numbers: inout Seed
    ) throws {
        let type = column.elementType ?? .int64
        let long = numbers.chance(5) ? 300 : 5
        for _ in 0..<(1 + numbers.below(long)) {
            let count = listCount(id, key, column.id)
            switch count == 0 ? 9 : numbers.below(10) {
            case 0: try listErase(id, key, column.id, at: numbers.below(count))
            case 1:
                try listMove(
                    id, key, column.id, from: numbers.below(count), to: numbers.below(count))
            case 2 where numbers.chance(20): try listClear(id, key, column.id)
            default:
                try listInsert(
                    id, key, column.id, at: numbers.below(count + 1),
                    .some(type, isNullable: column.elementIsNullable, &numbers))
            }
        }
    }
}

extension CellValue {
    static func some(_ type: ColumnType, isNullable: Bool, _ numbers: inout Seed) -> CellValue {
        if isNullable, numbers.chance(20) { return .null }
        switch type {
        case .bool: return .bool(numbers.chance(50))
        case .int64: return .int64(Int64(bitPattern: numbers.next()) >> Int64(numbers.below(64)))
        case .float32, .float64: return .float64(Double(numbers.below(1_000_000)) / 64)
        case .timestamp:
            return .timestamp(
                Int64(numbers.below(2_000_000_000)), Int32(numbers.below(1_000_000_000)))
        case .bytes: return .bytes(numbers.bytes(numbers.below(numbers.chance(3) ? 5_000 : 40)))
        case .fixed16: return .fixed(FixedBytes(high: numbers.next(), low: numbers.next()))
        case .fixed12: return .fixed(FixedBytes(high: numbers.next(), low: numbers.next() << 32))
        case .list: return .null
        }
    }
}
