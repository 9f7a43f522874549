internal import ToftPlatform
package import ToftStorage

extension Workload {
    /// Commits of all three kinds of durability, checkpoints between and within them, logs that are
    /// short, full and growing, and deaths.
    static let log: [Workload] = [
        Workload("a short log that goes round", firstLogPages: 4) { database, numbers in
            try database.commit { edit in _ = try edit.makeTree() }
            for round in 0..<40 {
                try database.put(&numbers)
                if round % 6 == 5 { try database.checkpoint() }
            }
        },
        Workload("a log that fills up", firstLogPages: 2) { database, numbers in
            try database.commit { edit in _ = try edit.makeTree() }
            for _ in 0..<30 { try database.put(&numbers) }
        },
        Workload("a log that is opened again and again", firstLogPages: 4) { database, numbers in
            try database.commit { edit in _ = try edit.makeTree() }
            for round in 0..<20 {
                try database.put(&numbers)
                if round % 5 == 4 { try database.reopen() }
            }
        },
        Workload("records longer than a page", firstLogPages: 16) { database, numbers in
            try database.commit { edit in _ = try edit.makeTree() }
            for round in 0..<12 {
                try database.put(&numbers, bytes: 900, count: 1 + round)
                if round % 4 == 3 { try database.checkpoint() }
            }
        },
        Workload("deferred commits, and then one that is durable") { database, numbers in
            try database.commit { edit in _ = try edit.makeTree() }
            for round in 0..<16 {
                try database.put(&numbers, round % 5 == 4 ? .immediate : .deferred)
            }
        },
        Workload("deferred commits in a short log", firstLogPages: 4) { database, numbers in
            try database.commit { edit in _ = try edit.makeTree() }
            for round in 0..<30 {
                try database.put(&numbers, round % 7 == 6 ? .immediate : .deferred)
                if round % 9 == 8 { try database.checkpoint() }
            }
        },
        Workload("deferred commits, flushed") { database, numbers in
            try database.commit { edit in _ = try edit.makeTree() }
            for round in 0..<12 {
                try database.put(&numbers, .deferred)
                if round % 4 == 3 { try database.flush() }
            }
        },
        Workload("deferred commits, and rolled back ones") { database, numbers in
            try database.commit { edit in _ = try edit.makeTree() }
            for round in 0..<10 {
                try database.put(&numbers, .deferred)
                if round % 3 == 2 {
                    try database.rollback { edit in
                        try edit.put(17, numbers.bytes(4), numbers.bytes(3_000))
                    }
                }
            }
            try database.put(&numbers, .group)
        },
        Workload("deferred commits of three writers") { database, numbers in
            try database.commit { edit in _ = try edit.makeTree() }
            let others = try (0..<2).map { _ in try database.openStore().twin() }
            for round in 0..<15 {
                try database.put(
                    &numbers, round % 4 == 3 ? .immediate : .deferred,
                    through: round % 3 == 0 ? nil : others[round % 3 - 1])
                if round == 7 { try database.checkpoint(through: others[0]) }
            }
        },
        Workload("changes of structure between logged commits") { database, numbers in
            try database.commit { edit in _ = try edit.makeTree() }
            for round in 0..<8 {
                try database.put(&numbers, round % 2 == 0 ? .immediate : .deferred)
                try database.commit(round % 3 == 0 ? .deferred : .immediate) { edit in
                    _ = try edit.makeTree()
                }
                try database.put(&numbers)
            }
        },
        Workload("a checkpoint after each commit") { database, numbers in
            try database.commit { edit in _ = try edit.makeTree() }
            for _ in 0..<8 {
                try database.put(&numbers)
                try database.checkpoint()
            }
        },
        Workload("a reader keeps a version over checkpoints", firstLogPages: 4) {
            database, numbers in
            try database.commit { edit in
                let tree = try edit.makeTree()
                for key in 0..<40 { try edit.put(tree, [UInt8(key)], numbers.bytes(150)) }
            }
            try database.put(&numbers)
            try database.pin()
            for round in 0..<12 {
                try database.put(&numbers, bytes: 150, count: 4)
                if round % 3 == 2 { try database.checkpoint() }
            }
            try database.unpin()
            for _ in 0..<4 { try database.put(&numbers, bytes: 150, count: 4) }
        },
        Workload("checkpoints at every moment of logged commits", firstLogPages: 16) {
            database, numbers in
            try database.commit { edit in _ = try edit.makeTree() }
            let other = try database.openStore().twin()
            for moment in [
                Failpoint.transactionBegun, .recordKept, .pagesWritten, .logWritten, .published,
                .writerLeaving,
            ] {
                for durability in [Durability.immediate, .deferred] {
                    try database.put(&numbers)
                    try database.interrupt(at: moment, with: { _ = try other.checkpoint() }) {
                        try database.put(&numbers, durability)
                    }
                }
            }
        },
        Workload("commits at every moment of checkpoints", firstLogPages: 16) { database, numbers in
            try database.commit { edit in _ = try edit.makeTree() }
            let other = try database.openStore().twin()
            for moment in [
                Failpoint.checkpointAdopted, .checkpointPinned, .checkpointSynced,
                .checkpointMetaWritten,
            ] {
                for durability in [Durability.immediate, .deferred] {
                    try database.put(&numbers, .deferred)
                    var later = numbers
                    try database.interrupt(
                        at: moment,
                        with: {
                            for _ in 0..<3 {
                                try database.put(&later, durability, bytes: 200, count: 3)
                            }
                        }
                    ) {
                        _ = try other.checkpoint()
                    }
                    try database.put(&numbers)
                }
            }
        },
        Workload("writers die, and others take over", firstLogPages: 8) { database, numbers in
            try database.commit { edit in _ = try edit.makeTree() }
            let other = try database.openStore().twin()
            for moment in [Failpoint.pagesWritten, .logWritten, .pagesWritten, .logWritten] {
                try database.put(&numbers)
                database.die(at: moment)
                try database.put(
                    &numbers, through: database.openStore().twin(), bytes: 300, count: 3)
                database.live()
                try database.put(&numbers, through: other)
            }
            for moment in [
                Failpoint.pagesWritten, .pagesSynced, .metaWritten, .durableStored,
                .markerWritten,
            ] {
                try database.put(&numbers)
                database.die(at: moment)
                try database.commit(through: database.openStore().twin()) { edit in
                    _ = try edit.makeTree()
                }
                database.live()
                try database.put(&numbers, .deferred, through: other)
                try database.put(&numbers)
            }
            for moment in [Failpoint.metaWritten, .durableStored, .published] {
                try database.put(&numbers)
                for moment in [Failpoint.markerWritten, moment] {
                    database.die(at: moment)
                    try database.commit(through: database.openStore().twin()) { edit in
                        _ = try edit.makeTree()
                    }
                    database.live()
                }
                try database.reopen()
            }
        },
        Workload("writers die where the next has no room behind them", firstLogPages: 4) {
            database, numbers in
            try database.commit { edit in _ = try edit.makeTree() }
            for round in 0..<16 {
                for _ in 0..<numbers.below(4) { try database.put(&numbers) }
                database.die(at: round % 4 == 3 ? .markerWritten : .logWritten)
                if round % 4 == 3 {
                    try database.commit(through: database.openStore().twin()) { edit in
                        _ = try edit.makeTree()
                    }
                } else {
                    try database.put(&numbers, through: database.openStore().twin())
                }
                database.live()
                try database.put(
                    &numbers, round % 2 == 0 ? .immediate : .deferred,
                    bytes: 600 + numbers.below(300), count: 1 + numbers.below(6))
                if numbers.chance(50) { try database.put(&numbers) }
                try database.checkpoint()
            }
        },
        Workload("a writer dies with its record written, and the next commit goes without the log")
        { database, numbers in
            try database.commit { edit in _ = try edit.makeTree() }
            for round in 0..<4 {
                try database.put(&numbers)
                database.die(at: .logWritten)
                try database.put(&numbers, through: database.openStore().twin())
                database.live()
                try database.commit { edit in _ = try edit.makeTree() }
                if round % 2 == 0 { try database.put(&numbers, .deferred) }
            }
        },
        Workload("checkpoints die, and others go on", firstLogPages: 8) { database, numbers in
            try database.commit { edit in
                let tree = try edit.makeTree()
                for key in 0..<40 { try edit.put(tree, [UInt8(key)], numbers.bytes(150)) }
            }
            for moment in [
                Failpoint.checkpointPinned, .checkpointSynced, .checkpointMetaWritten,
                .checkpointMetaWritten,
            ] {
                for durability in [Durability.immediate, .deferred] {
                    for _ in 0..<2 { try database.put(&numbers, bytes: 150, count: 3) }
                    database.die(at: moment)
                    try database.checkpoint()
                    database.live()
                    for _ in 0..<3 { try database.put(&numbers, durability, bytes: 150, count: 3) }
                }
                try database.checkpoint()
            }
            database.die(at: .checkpointMetaWritten)
            try database.checkpoint()
            database.live()
            try database.commit { edit in _ = try edit.makeTree() }
            try database.put(&numbers)
        },
        Workload("checkpoints die while they write their meta", firstLogPages: 8) {
            database, numbers in
            try database.commit { edit in
                let tree = try edit.makeTree()
                for key in 0..<40 { try edit.put(tree, [UInt8(key)], numbers.bytes(150)) }
            }
            for round in 0..<4 {
                for _ in 0..<2 { try database.put(&numbers, bytes: 150, count: 3) }
                #if TOFT_TRIALS
                database.die(at: .checkpointMetaWritten)
                database.file.breakNextDurableWrite()
                #endif
                try database.checkpoint()
                database.live()
                for _ in 0..<3 { try database.put(&numbers, bytes: 150, count: 3) }
                let other = try database.openStore().twin()
                var later = numbers
                if round % 2 == 0 {
                    try database.interrupt(
                        at: round == 0 ? .checkpointPinned : .checkpointSynced,
                        with: { for _ in 0..<6 { try database.put(&later, bytes: 150, count: 3) } }
                    ) { _ = try other.checkpoint() }
                } else {
                    try database.commit { edit in _ = try edit.makeTree() }
                }
                for _ in 0..<2 { try database.put(&numbers, bytes: 150, count: 3) }
            }
        },
        Workload("steps of a compaction between commits", firstLogPages: 4) { database, numbers in
            try database.commit { edit in _ = try edit.makeTree() }
            for round in 0..<5 {
                for _ in 0..<6 { try database.put(&numbers, bytes: 900, count: 40) }
                if round % 2 == 1 { try database.pin() }
                try database.commit { edit in
                    let keys = edit.content.trees[17, default: [:]].keys.sorted {
                        $0.lexicographicallyPrecedes($1)
                    }
                    for key in keys where numbers.chance(80) { try edit.delete(17, key) }
                }
                for _ in 0..<4 {
                    let other = try database.openStore().twin()
                    var later = numbers
                    // Only the log has the commits between its checkpoint and its commit.
                    try database.interrupt(
                        at: .checkpointLeaving, with: { try database.put(&later) }
                    ) { try database.compactStep(through: other) }
                    try database.put(&numbers, .deferred)
                }
                if round % 2 == 0 { try database.unpin() }
            }
            try database.compactStep()
        },
    ]
}

extension RecordedDatabase {
    /// Sets some keys of the first tree, of forty.
    package func put(
        _ numbers: inout Seed, _ durability: Durability = .immediate, through other: Store? = nil,
        bytes: Int = 40, count: Int = 1
    ) throws {
        try commit(durability, through: other) { edit in
            for _ in 0..<count {
                try edit.put(17, [UInt8(numbers.below(40))], numbers.bytes(bytes))
            }
        }
    }
}
