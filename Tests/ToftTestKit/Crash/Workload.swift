package import ToftStorage

/// Something to do with a database, over which crashes come.
package struct Workload: Sendable, CustomStringConvertible {
    package let name: String
    /// Small, to make transactions write before they commit.
    package var dirtyLimit = 48 << 20
    /// The size of the log's first segment; 0: no log.
    package var firstLogPages: UInt64 = 8
    /// Small, to make entries wander through the insert buffer.
    package var insertBuffer = InsertBufferPolicy.usual
    /// Of an encrypted file.
    package var encryptionKey: EncryptionKey?
    /// If an image is expensive, this percentage of them is opened.
    package var percentTried = 100
    package let body: @Sendable (RecordedDatabase, inout Seed) throws -> Void

    package var description: String { name }

    package init(
        _ name: String, dirtyLimit: Int = 48 << 20, firstLogPages: UInt64 = 8,
        percentTried: Int = 100,
        _ body: @escaping @Sendable (RecordedDatabase, inout Seed) throws -> Void
    ) {
        self.name = name
        self.dirtyLimit = dirtyLimit
        self.firstLogPages = firstLogPages
        self.percentTried = percentTried
        self.body = body
    }
}

extension Workload {
    /// Each of them is after something.
    package static let scripted = moments + shapes + company + log + insertBuffer

    /// The events in a file's life.
    private static let moments: [Workload] = [
        Workload("a file that is opened and closed") { database, _ in
            try database.reopen()
            try database.reopen()
        },
        Workload("the first commit") { database, _ in
            try database.commit { _ in }
        },
        Workload("small commits, one after another") { database, numbers in
            try database.commit { edit in _ = try edit.makeTree() }
            for _ in 0..<12 {
                try database.commit { edit in try edit.put(17, numbers.bytes(8), numbers.bytes(20))
                }
            }
        },
        Workload("the same key again and again") { database, numbers in
            try database.commit { edit in _ = try edit.makeTree() }
            for _ in 0..<12 {
                try database.commit { edit in try edit.put(17, [1], numbers.bytes(100)) }
            }
        },
        Workload("rolled back between commits") { database, numbers in
            try database.commit { edit in _ = try edit.makeTree() }
            for round in 0..<6 {
                for _ in 0...(round % 3) {
                    try database.rollback { edit in
                        try edit.put(17, numbers.bytes(8), numbers.bytes(500))
                    }
                }
                try database.commit { edit in try edit.put(17, numbers.bytes(8), numbers.bytes(20))
                }
            }
        },
        Workload("a commit that grows the file") { database, numbers in
            try database.commit { edit in
                let tree = try edit.makeTree()
                for _ in 0..<400 { try edit.put(tree, numbers.bytes(12), numbers.bytes(200)) }
            }
            try database.commit { edit in
                for _ in 0..<400 { try edit.put(17, numbers.bytes(12), numbers.bytes(200)) }
            }
        },
        Workload("a long value, replaced and removed") { database, numbers in
            try database.commit { edit in
                let tree = try edit.makeTree()
                try edit.put(tree, [1], numbers.bytes(60_000))
            }
            try database.commit { edit in try edit.put(17, [1], numbers.bytes(100_000)) }
            try database.commit { edit in try edit.delete(17, [1]) }
        },
        Workload("everything deleted") { database, numbers in
            try database.commit { edit in
                let tree = try edit.makeTree()
                for _ in 0..<200 { try edit.put(tree, numbers.bytes(6), numbers.bytes(100)) }
            }
            let keys = database.keys(of: 17)
            for part in stride(from: 0, to: keys.count, by: 50) {
                try database.commit { edit in
                    for key in keys[part..<min(part + 50, keys.count)] { try edit.delete(17, key) }
                }
            }
        },
        Workload("many trees, made and dropped") { database, numbers in
            for _ in 0..<4 {
                try database.commit { edit in
                    for _ in 0..<4 {
                        let tree = try edit.makeTree()
                        for _ in 0..<5 { try edit.put(tree, numbers.bytes(4), numbers.bytes(40)) }
                    }
                }
                try database.commit { edit in
                    try edit.dropTree(
                        edit.content.trees.keys.filter { $0 != Content.directory }.min() ?? 0)
                }
            }
        },
        Workload("a reader keeps an old version") { database, numbers in
            try database.commit { edit in
                let tree = try edit.makeTree()
                for number in 0..<60 { try edit.put(tree, [UInt8(number)], numbers.bytes(150)) }
            }
            try database.pin()
            for round in 0..<8 {
                try database.commit { edit in
                    for _ in 0..<10 {
                        try edit.put(17, [UInt8(numbers.below(60))], numbers.bytes(150))
                    }
                }
                if round == 4 { try database.pin() }
            }
            try database.unpin()
            try database.commit { edit in try edit.put(17, [1], [2]) }
            try database.commit { edit in try edit.put(17, [2], [2]) }
        },
        Workload("closed and opened between commits") { database, numbers in
            for _ in 0..<6 {
                try database.commit { edit in
                    let tree = try edit.makeTree()
                    try edit.put(tree, numbers.bytes(4), numbers.bytes(300))
                }
                try database.reopen()
            }
        },
        Workload("compacted whole when it is opened") { database, numbers in
            for round in 0..<3 {
                try database.commit { edit in
                    let tree = try edit.makeTree()
                    for _ in 0..<300 { try edit.put(tree, numbers.bytes(4), numbers.bytes(200)) }
                    try edit.put(tree, [1], numbers.bytes(30_000))
                }
                for key in database.keys(of: 17).prefix(20) {
                    try database.commit(.deferred) { edit in try edit.delete(17, key) }
                }
                if round == 1 {
                    try database.commit { edit in
                        for key in edit.keys(of: 18) where key.count == 4 {
                            try edit.delete(18, key)
                        }
                    }
                }
                try database.reopen(isCompacted: true)
            }
        },
        Workload("another key, and none, between commits") { database, numbers in
            for round in 0..<4 {
                try database.commit { edit in
                    let tree = try edit.makeTree()
                    for _ in 0..<60 { try edit.put(tree, numbers.bytes(4), numbers.bytes(200)) }
                    try edit.put(tree, [1], numbers.bytes(20_000))
                }
                try database.commit(.deferred) { edit in
                    try edit.put(17, numbers.bytes(4), numbers.bytes(20))
                }
                let key = try EncryptionKey(numbers.bytes(64))
                try database.changeKey(to: round == 2 ? nil : key)
            }
            try database.commit { edit in try edit.put(17, [2], numbers.bytes(20)) }
        },
        Workload("a transaction larger than memory may be", dirtyLimit: 64 << 10) {
            database, numbers in
            try database.commit { edit in
                let tree = try edit.makeTree()
                for _ in 0..<600 { try edit.put(tree, numbers.bytes(10), numbers.bytes(200)) }
            }
            try database.rollback { edit in
                for _ in 0..<600 { try edit.put(17, numbers.bytes(10), numbers.bytes(200)) }
            }
            try database.commit { edit in
                for key in edit.keys(of: 17).prefix(300) {
                    try edit.put(17, key, numbers.bytes(210))
                }
            }
        },
        Workload("many short runs of freed pages") { database, numbers in
            try database.commit { edit in
                let tree = try edit.makeTree()
                for number in 0..<800 {
                    try edit.put(
                        tree, [UInt8(number >> 8), UInt8(number & 255)], numbers.bytes(200))
                }
            }
            try database.pin()
            for _ in 0..<5 {
                try database.commit { edit in
                    for number in stride(from: numbers.below(20), to: 800, by: 20) {
                        try edit.put(
                            17, [UInt8(number >> 8), UInt8(number & 255)], numbers.bytes(200))
                    }
                }
            }
            try database.unpin()
            for _ in 0..<3 {
                try database.commit { edit in try edit.put(17, numbers.bytes(3), numbers.bytes(200))
                }
            }
        },
        Workload("rows of a table, set and erased") { database, numbers in
            try database.commit { edit in
                let table = try edit.makeTable()
                for _ in 0..<40 { try edit.fill(table, try edit.insert(table), &numbers) }
            }
            for _ in 0..<6 {
                try database.commit { edit in
                    let keys = edit.content.tables[17]?.keys ?? []
                    for _ in 0..<4 { try edit.fill(17, keys[numbers.below(keys.count)], &numbers) }
                    try edit.erase(17, keys[numbers.below(keys.count)])
                    try edit.fill(17, try edit.insert(17), &numbers)
                }
            }
        },
        Workload("a column added to a table, and the table dropped") { database, numbers in
            try database.commit { edit in
                let table = try edit.makeTable([Column(id: 1, type: .int64, isNullable: false)])
                for _ in 0..<300 { try edit.fill(table, try edit.insert(table), &numbers) }
            }
            try database.commit { edit in
                try edit.addColumn(17, Column(id: 2, type: .bytes, isNullable: true))
            }
            try database.commit { edit in
                for key in edit.content.tables[17]?.keys.prefix(30) ?? [] {
                    try edit.fill(17, key, &numbers)
                }
            }
            try database.commit { edit in try edit.dropTable(17) }
        },
        Workload("columns that become nullable, one of them after rows were there") {
            database, numbers in
            try database.commit { edit in
                let table = try edit.makeTable([Column(id: 1, type: .int64, isNullable: false)])
                for _ in 0..<300 { try edit.fill(table, try edit.insert(table), &numbers) }
            }
            try database.commit { edit in
                try edit.addColumn(17, Column(id: 2, type: .bytes, isNullable: false))
            }
            try database.commit { edit in
                try edit.makeNullable(17, 1)
                try edit.makeNullable(17, 2)
            }
            try database.commit { edit in
                for key in edit.content.tables[17]?.keys.prefix(30) ?? [] {
                    try edit.set(17, key, 1, .null)
                    try edit.set(17, key + 60, 2, .null)
                }
                _ = try edit.insert(17)
            }
        },
        Workload("a list that grows out of its cluster") { database, numbers in
            try database.commit { edit in
                let table = try edit.makeTable()
                let key = try edit.insert(table)
                for index in 0..<400 {
                    try edit.listInsert(table, key, 6, at: index, .int64(Int64(index)))
                }
            }
            for _ in 0..<4 {
                try database.commit { edit in
                    let key = edit.content.tables[17]?.keys.first ?? 0
                    for _ in 0..<10 {
                        try edit.listMove(
                            17, key, 6, from: numbers.below(400), to: numbers.below(400))
                    }
                }
            }
            try database.commit { edit in
                try edit.listClear(17, edit.content.tables[17]?.keys.first ?? 0, 6)
            }
        },
    ]

    /// Whatever comes.
    package static let random = Workload("random", dirtyLimit: 256 << 10) { database, numbers in
        try database.commit { edit in _ = try edit.makeTree() }
        let steps = 10 + numbers.below(20)
        for _ in 0..<steps {
            switch numbers.below(27) {
            case 26:
                try database.changeKey(
                    to: numbers.chance(30) ? nil : try EncryptionKey(numbers.bytes(64)))
            case 24...25: try database.compactStep()
            case 20: try database.checkpoint()
            case 21: try database.flush()
            case 22...23: try database.commit(.deferred) { edit in try edit.anything(&numbers) }
            case 0: try database.reopen(isCompacted: numbers.chance(50))
            case 1: try database.pin()
            case 2: try database.unpin()
            case 3...5: try database.rollback { edit in try edit.anything(&numbers) }
            default:
                try database.commit(numbers.chance(30) ? .group : .immediate) { edit in
                    try edit.anything(&numbers)
                }
            }
        }
    }
}

extension RecordedDatabase.Editor {
    /// Some edits of some trees.
    package mutating func anything(_ numbers: inout Seed) throws {
        var trees = content.trees.keys.filter { $0 != Content.directory }.sorted()
        if trees.isEmpty || numbers.chance(4) { trees.append(try makeTree()) }
        if trees.count > 3, numbers.chance(20) { try dropTree(trees.removeFirst()) }
        try anyRows(&numbers)
        let sizes = [10, 50, 300, 1_500, 20_000]
        for _ in 0..<(1 + numbers.below(numbers.chance(10) ? 300 : 20)) {
            let tree = trees[numbers.below(trees.count)]
            let key = [UInt8(numbers.below(6)), UInt8(numbers.below(40))]
            if numbers.chance(25) {
                try delete(tree, key)
            } else {
                let size = sizes[numbers.chance(90) ? numbers.below(3) : numbers.below(sizes.count)]
                try put(tree, key, numbers.bytes(numbers.below(size)))
            }
        }
    }

    /// Some edits of some tables.
    private mutating func anyRows(_ numbers: inout Seed) throws {
        var tables = content.tables.keys.sorted()
        if tables.isEmpty || numbers.chance(3) { tables.append(try makeTable()) }
        if tables.count > 2, numbers.chance(30) { try dropTable(tables.removeFirst()) }
        let table = tables[numbers.below(tables.count)]
        if numbers.chance(5), let last = content.tables[table]?.columns.last {
            try addColumn(
                table, Column(id: last.id + 1, type: .timestamp, isNullable: numbers.chance(50)))
        }
        if numbers.chance(5), let columns = content.tables[table]?.columns, !columns.isEmpty {
            try makeNullable(table, columns[numbers.below(columns.count)].id)
        }
        for _ in 0..<(1 + numbers.below(numbers.chance(10) ? 200 : 10)) {
            let keys = content.tables[table]?.keys ?? []
            switch keys.isEmpty ? 9 : numbers.below(10) {
            case 0...2: try erase(table, keys[numbers.below(keys.count)])
            case 3...5: try fill(table, keys[numbers.below(keys.count)], &numbers)
            default: try fill(table, try insert(table), &numbers)
            }
        }
    }
}
