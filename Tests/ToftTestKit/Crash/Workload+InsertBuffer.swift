internal import ToftStorage

extension Workload {
    /// Entries that wander through the levels of the insert buffer while crashes come.
    static let insertBuffer: [Workload] = [
        wandering("new entries that wander through the insert buffer") { database, numbers in
            try database.commit { edit in
                for _ in 0..<2 { try edit.putNew(try edit.makeTree(), [0], []) }
            }
            for round in 0..<24 {
                try database.commit { edit in
                    for tree in [TreeID(17), 18] { try edit.putSomeNew(tree, &numbers) }
                    if round % 3 == 2 { try edit.deleteSome(17, &numbers) }
                }
                if round == 12 { try database.reopen() }
                if round % 8 == 7 { try database.compactStep() }
            }
        },
        wandering(
            "entries that move on in a transaction larger than memory may be", dirtyLimit: 16 << 10
        ) { database, numbers in
            try database.commit { edit in try edit.putNew(try edit.makeTree(), [0], []) }
            for _ in 0..<4 {
                try database.commit { edit in
                    for _ in 0..<30 { try edit.putSomeNew(17, &numbers) }
                }
                try database.rollback { edit in try edit.putSomeNew(17, &numbers) }
            }
        },
        wandering("a tree that is dropped while its entries wander") { database, numbers in
            for round in 0..<4 {
                try database.commit { edit in _ = try edit.makeTree() }
                for _ in 0..<4 {
                    try database.commit { edit in
                        for tree in edit.content.trees.keys.sorted() where tree != Content.directory
                        { try edit.putSomeNew(tree, &numbers) }
                    }
                }
                if round % 2 == 1 {
                    try database.commit { edit in
                        try edit.dropTree(
                            edit.content.trees.keys.filter { $0 != Content.directory }.min() ?? 0)
                    }
                }
                try database.checkpoint()
            }
        },
    ]

    /// With levels so small that entries move on with each commit.
    private static func wandering(
        _ name: String, dirtyLimit: Int = 48 << 20,
        _ body: @escaping @Sendable (RecordedDatabase, inout Seed) throws -> Void
    ) -> Workload {
        var workload = Workload(name, dirtyLimit: dirtyLimit, body)
        workload.insertBuffer.limits = [2, 4, 8, 16, 32]
        workload.insertBuffer.compactionBatch = 3
        workload.insertBuffer.smallestTree = 0
        workload.insertBuffer.treeToBatchRatio = 1
        workload.insertBuffer.treeToShareRatio = 1
        return workload
    }
}

extension RecordedDatabase.Editor {
    fileprivate mutating func putSomeNew(_ tree: TreeID, _ numbers: inout Seed) throws {
        for _ in 0...numbers.below(4) {
            let key = numbers.bytes(6)
            if content.trees[tree]?[key] == nil {
                try putNew(tree, key, numbers.bytes(numbers.below(40)))
            }
        }
    }

    fileprivate mutating func deleteSome(_ tree: TreeID, _ numbers: inout Seed) throws {
        for _ in 0..<2 {
            if let key = numbers.pick(keys(of: tree)) { try delete(tree, key) }
        }
    }
}
