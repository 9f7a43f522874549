internal import ToftStorage

/// Random commands at the level of the storage: tables with many columns, texts at the limits,
/// lists that become trees and back, trees, transactions that are written before they commit.
///
/// Equal seeds give equal workloads. Sizes come from `WorkloadSizes`, as those of the model-based
/// test do.
extension Workload {
    /// The workload of a seed; its name includes the seed.
    package static func random(seed: UInt64) -> Workload {
        var numbers = Seed(seed &* 1_000_003 &+ 11)
        return Workload(
            "random \(seed)",
            dirtyLimit: numbers.chance(40) ? (1 << 14) << numbers.below(4) : 48 << 20,
            firstLogPages: numbers.pick([0, 2, 8, 32]) ?? 8
        ) { database, _ in
            var edits = RandomEdits(seed: seed)
            try edits.run(on: database)
        }
    }
}

/// Edits of a seed, each time others.
package struct RandomEdits {
    private var numbers: Seed
    private let sizes: WorkloadSizes
    /// The frequency of each kind of edit; 0 for those that this workload leaves out.
    private let weights: [Int]

    package init(seed: UInt64) {
        numbers = Seed(seed ^ 0x7057)
        sizes = WorkloadSizes(&numbers, percentTiny: 30, percentLarge: 0)
        let disabled = numbers.below(50)
        var weights: [Int] = []
        for weight in [30, 10, 30, 10, 30, 10, 12, 12, 3, 15, 8] {
            weights.append(numbers.chance(disabled) ? 0 : weight)
        }
        weights[0] = 30
        self.weights = weights
    }

    fileprivate mutating func run(on database: RecordedDatabase) throws {
        try database.commit { edit in
            _ = try edit.makeTree()
            _ = try edit.makeTable(self.columns())
        }
        for _ in 0..<10 + numbers.below(20) {
            switch numbers.below(24) {
            case 0: try database.reopen(isCompacted: numbers.chance(50))
            case 1: try database.pin()
            case 2: try database.unpin()
            case 3: try database.checkpoint()
            case 4: try database.flush()
            case 5, 6: try database.rollback { edit in try self.edits(&edit) }
            case 7...9: try database.commit(.deferred) { edit in try self.edits(&edit) }
            default:
                try database.commit(numbers.chance(30) ? .group : .immediate) { edit in
                    try self.edits(&edit)
                }
            }
        }
    }

    /// Columns of many types, or few, so that one decides how long a row is.
    private mutating func columns() -> [Column] {
        let types: [ColumnType] = [
            .bytes, .int64, .bool, .float64, .timestamp, .bytes, .fixed16, .fixed12,
        ]
        let count = numbers.chance(40) ? 2 : 3 + numbers.below(12)
        return (1...count).map { id in
            if id > 1, numbers.chance(35) {
                return Column(
                    id: UInt32(id), type: .list, isNullable: false,
                    elementType: numbers.pick([.bytes, .bytes, .bytes, .int64, .fixed12]))
            }
            return Column(
                id: UInt32(id), type: id == 1 ? .bytes : numbers.pick(types) ?? .int64,
                isNullable: numbers.chance(30))
        }
    }

    /// The edits of one transaction.
    package mutating func edits(_ edit: inout RecordedDatabase.Editor) throws {
        if edit.content.tables.isEmpty || numbers.chance(2) {
            _ = try edit.makeTable(columns())
        }
        for _ in 0..<1 + numbers.below(numbers.chance(10) ? 60 : 8) { try self.edit(&edit) }
    }

    private mutating func edit(_ edit: inout RecordedDatabase.Editor) throws {
        guard let table = numbers.pick(edit.content.tables.keys.sorted()) else { return }
        let keys = edit.content.tables[table]?.keys ?? []
        let key = numbers.pick(keys)
        switch (kind(), key) {
        case (0, _), (_, nil):
            for _ in 0..<min(300, sizes.objects(&numbers)) {
                try fill(try edit.insert(table), of: table, &edit)
            }
        case (1, let key?): try edit.erase(table, key)
        case (2, let key?): try setSome(key, of: table, &edit)
        case (3, let key?): try fill(key, of: table, &edit)
        case (4...8, let key?): try editList(key, of: table, &edit)
        case (9, _):
            if let tree = numbers.pick(trees(of: edit)) {
                try edit.put(
                    tree, [UInt8(numbers.below(6)), UInt8(numbers.below(40))],
                    numbers.bytes(sizes.length(&numbers)))
            }
        default:
            if let tree = numbers.pick(trees(of: edit)), let key = numbers.pick(edit.keys(of: tree))
            {
                try edit.delete(tree, key)
            }
        }
    }

    private func trees(of edit: RecordedDatabase.Editor) -> [TreeID] {
        edit.content.trees.keys.filter { $0 != Content.directory }.sorted()
    }

    private mutating func kind() -> Int {
        var rest = numbers.below(weights.reduce(0, +))
        for (kind, weight) in weights.enumerated() {
            if rest < weight { return kind }
            rest -= weight
        }
        return 0
    }

    private mutating func value(_ column: Column, _ type: ColumnType) -> CellValue {
        guard type == .bytes else {
            return .some(type, isNullable: column.isNullable && column.type != .list, &numbers)
        }
        return .bytes(numbers.bytes(sizes.length(&numbers)))
    }

    private mutating func fill(
        _ key: Int64, of table: TreeID, _ edit: inout RecordedDatabase.Editor
    ) throws {
        for column in edit.content.tables[table]?.columns ?? [] where column.type != .list {
            try edit.set(table, key, column.id, value(column, column.type))
        }
    }

    private mutating func setSome(
        _ key: Int64, of table: TreeID, _ edit: inout RecordedDatabase.Editor
    ) throws {
        let columns = (edit.content.tables[table]?.columns ?? []).filter { $0.type != .list }
        guard let column = numbers.pick(columns) else { return }
        try edit.set(table, key, column.id, value(column, column.type))
    }

    private mutating func editList(
        _ key: Int64, of table: TreeID, _ edit: inout RecordedDatabase.Editor
    ) throws {
        let columns = (edit.content.tables[table]?.columns ?? []).filter { $0.type == .list }
        guard let column = numbers.pick(columns) else { return }
        let type = column.elementType ?? .int64
        let count = edit.listCount(table, key, column.id)
        let (one, other) = (numbers.below(count), numbers.below(count))
        switch count == 0 ? 0 : numbers.below(12) {
        case 7: try edit.listErase(table, key, column.id, at: one)
        case 8: try edit.listMove(table, key, column.id, from: one, to: other)
        case 9: try edit.listSwap(table, key, column.id, one, other)
        case 10: try edit.listSet(table, key, column.id, at: one, value(column, type))
        case 11 where numbers.chance(20): try edit.listClear(table, key, column.id)
        default:
            let width = type == .bytes ? 4 + sizes.anchor : 8
            for index in 0..<min(200, sizes.elements(&numbers, width: width)) {
                try edit.listInsert(
                    table, key, column.id, at: numbers.chance(70) ? count + index : one,
                    value(column, type))
            }
        }
    }
}
