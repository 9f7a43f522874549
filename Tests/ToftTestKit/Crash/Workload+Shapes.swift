internal import ToftStorage

extension Workload {
    /// The shapes of the data: each is one that some part of the engine handles specially.
    static let shapes: [Workload] = [
        Workload("commits that change nothing but their number") { database, _ in
            for _ in 0..<8 { try database.commit { _ in } }
        },
        Workload("keys in descending order") { database, numbers in
            try database.commit { edit in _ = try edit.makeTree() }
            for part in (0..<6).reversed() {
                try database.commit { edit in
                    for key in (0..<40).reversed() {
                        try edit.put(17, [UInt8(part), UInt8(key)], numbers.bytes(60))
                    }
                }
            }
        },
        Workload("long keys") { database, numbers in
            try database.commit { edit in _ = try edit.makeTree() }
            for _ in 0..<5 {
                try database.commit { edit in
                    for _ in 0..<12 {
                        try edit.put(17, numbers.bytes(500 + numbers.below(13)), numbers.bytes(30))
                    }
                }
            }
        },
        Workload("values about as long as fit a leaf") { database, numbers in
            try database.commit { edit in _ = try edit.makeTree() }
            for length in 1_020..<1_030 {
                try database.commit { edit in
                    try edit.put(17, [UInt8(length % 4)], numbers.bytes(length))
                }
            }
        },
        Workload("values that grow in their places") { database, numbers in
            try database.commit { edit in
                let tree = try edit.makeTree()
                for key in 0..<30 { try edit.put(tree, [UInt8(key)], []) }
            }
            for round in 1..<8 {
                try database.commit { edit in
                    for key in 0..<30 {
                        try edit.put(17, [UInt8(key)], numbers.bytes(round * round * 6))
                    }
                }
            }
        },
        Workload("a very long value") { database, numbers in
            try database.commit { edit in
                let tree = try edit.makeTree()
                try edit.put(tree, [1], numbers.bytes(600_000))
            }
            try database.commit { edit in try edit.put(17, [2], numbers.bytes(300)) }
            try database.commit { edit in try edit.delete(17, [1]) }
            try database.commit { edit in try edit.put(17, [1], numbers.bytes(200_000)) }
        },
        Workload("a tree that is emptied and filled again") { database, numbers in
            try database.commit { edit in _ = try edit.makeTree() }
            for _ in 0..<4 {
                try database.commit { edit in
                    for _ in 0..<60 { try edit.put(17, numbers.bytes(6), numbers.bytes(80)) }
                }
                try database.commit { edit in
                    for key in edit.keys(of: 17) { try edit.delete(17, key) }
                }
            }
        },
        Workload("all trees dropped, and new ones") { database, numbers in
            for _ in 0..<4 {
                try database.commit { edit in
                    for id in edit.content.trees.keys where id != Content.directory {
                        try edit.dropTree(id)
                    }
                    for _ in 0..<3 {
                        let tree = try edit.makeTree()
                        for _ in 0..<20 { try edit.put(tree, numbers.bytes(4), numbers.bytes(100)) }
                    }
                }
            }
        },
        Workload("many tables") { database, numbers in
            try database.commit { edit in
                for _ in 0..<12 {
                    let table = try edit.makeTable([
                        Column(id: 1, type: .int64, isNullable: true),
                        Column(id: 2, type: .bytes, isNullable: false),
                    ])
                    for _ in 0..<3 { try edit.fill(table, try edit.insert(table), &numbers) }
                }
            }
            for _ in 0..<6 {
                try database.commit { edit in
                    let table = TreeID(UInt64(17 + numbers.below(12)))
                    try edit.fill(table, try edit.insert(table), &numbers)
                }
            }
        },
        Workload("a thousand rows at once, and each seventh erased") { database, numbers in
            try database.commit { edit in
                let table = try edit.makeTable([
                    Column(id: 1, type: .int64, isNullable: false),
                    Column(id: 2, type: .bytes, isNullable: true),
                ])
                for _ in 0..<1_000 { try edit.fill(table, try edit.insert(table), &numbers) }
            }
            try database.commit { edit in
                for (index, key) in (edit.content.tables[17]?.keys ?? []).enumerated()
                where index % 7 == 0 { try edit.erase(17, key) }
            }
            try database.commit { edit in
                for key in (edit.content.tables[17]?.keys ?? []).suffix(400) {
                    try edit.erase(17, key)
                }
            }
        },
        Workload("rows that come at the end and go at the beginning") { database, numbers in
            try database.commit { edit in
                let table = try edit.makeTable()
                for _ in 0..<30 { try edit.fill(table, try edit.insert(table), &numbers) }
            }
            for _ in 0..<6 {
                try database.commit { edit in
                    for key in (edit.content.tables[17]?.keys ?? []).prefix(10) {
                        try edit.erase(17, key)
                    }
                    for _ in 0..<10 { try edit.fill(17, try edit.insert(17), &numbers) }
                }
            }
        },
        Workload("long values in a table, replaced") { database, numbers in
            try database.commit { edit in
                let table = try edit.makeTable([Column(id: 1, type: .bytes, isNullable: true)])
                for _ in 0..<8 {
                    try edit.set(table, try edit.insert(table), 1, .bytes(numbers.bytes(8_000)))
                }
            }
            for _ in 0..<4 {
                try database.commit { edit in
                    let keys = edit.content.tables[17]?.keys ?? []
                    try edit.set(
                        17, keys[numbers.below(keys.count)], 1,
                        .bytes(numbers.bytes(numbers.below(20_000))))
                    try edit.set(17, keys[numbers.below(keys.count)], 1, .null)
                }
            }
        },
        Workload("lists of long strings of bytes") { database, numbers in
            try database.commit { edit in
                let table = try edit.makeTable()
                let key = try edit.insert(table)
                for index in 0..<60 {
                    try edit.listInsert(table, key, 7, at: index, .bytes(numbers.bytes(150)))
                }
            }
            for _ in 0..<4 {
                try database.commit { edit in
                    let key = edit.content.tables[17]?.keys.first ?? 0
                    for _ in 0..<8 {
                        try edit.listErase(
                            17, key, 7, at: numbers.below(edit.listCount(17, key, 7)))
                    }
                    for _ in 0..<8 {
                        try edit.listInsert(17, key, 7, at: 0, .bytes(numbers.bytes(150)))
                    }
                }
            }
        },
        Workload("a list that is cleared and filled again") { database, numbers in
            try database.commit { edit in
                let table = try edit.makeTable()
                _ = try edit.insert(table)
            }
            for count in [200, 3, 300] {
                try database.commit { edit in
                    let key = edit.content.tables[17]?.keys.first ?? 0
                    try edit.listClear(17, key, 6)
                    for index in 0..<count {
                        try edit.listInsert(17, key, 6, at: index, .int64(Int64(index)))
                    }
                }
            }
        },
        Workload("a tree and a table in the same commits") { database, numbers in
            try database.commit { edit in
                _ = try edit.makeTree()
                _ = try edit.makeTable()
            }
            for _ in 0..<8 {
                try database.commit { edit in
                    for _ in 0..<5 { try edit.put(17, numbers.bytes(5), numbers.bytes(50)) }
                    for _ in 0..<3 { try edit.fill(18, try edit.insert(18), &numbers) }
                }
            }
        },
    ]
}
