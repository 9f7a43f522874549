internal import ToftPlatform
internal import ToftStorage

extension Workload {
    /// The other processes, and the growth of the file.
    static let company: [Workload] = [
        Workload("three writers, one after the other") { database, numbers in
            try database.commit { edit in _ = try edit.makeTree() }
            let others = try (0..<2).map { _ in try database.openStore().twin() }
            for round in 0..<12 {
                try database.commit(through: round % 3 == 0 ? nil : others[round % 3 - 1]) { edit in
                    for _ in 0..<4 {
                        try edit.put(17, [UInt8(numbers.below(20))], numbers.bytes(120))
                    }
                }
            }
        },
        Workload("three writers, and readers between them") { database, numbers in
            try database.commit { edit in
                let tree = try edit.makeTree()
                for key in 0..<40 { try edit.put(tree, [UInt8(key)], numbers.bytes(200)) }
            }
            let others = try (0..<2).map { _ in try database.openStore().twin() }
            for round in 0..<9 {
                if round % 2 == 0 { try database.pin() }
                try database.commit(through: round % 3 == 0 ? nil : others[round % 3 - 1]) { edit in
                    for _ in 0..<6 {
                        try edit.put(17, [UInt8(numbers.below(40))], numbers.bytes(200))
                    }
                }
                if round % 3 == 2 { try database.unpin() }
            }
        },
        Workload("rolled back after it had written, then small commits", dirtyLimit: 32 << 10) {
            database, numbers in
            try database.commit { edit in _ = try edit.makeTree() }
            for _ in 0..<4 {
                try database.rollback { edit in
                    for _ in 0..<300 { try edit.put(17, numbers.bytes(8), numbers.bytes(200)) }
                }
                try database.commit { edit in try edit.put(17, [1], numbers.bytes(20)) }
            }
        },
        Workload("rolled back, then closed and opened") { database, numbers in
            try database.commit { edit in _ = try edit.makeTree() }
            for _ in 0..<4 {
                try database.rollback { edit in
                    try edit.put(17, numbers.bytes(4), numbers.bytes(3_000))
                }
                try database.reopen()
                try database.commit { edit in try edit.put(17, numbers.bytes(4), numbers.bytes(30))
                }
            }
        },
        Workload("a column added while a reader looks") { database, numbers in
            try database.commit { edit in
                let table = try edit.makeTable([Column(id: 1, type: .int64, isNullable: false)])
                for _ in 0..<100 { try edit.fill(table, try edit.insert(table), &numbers) }
            }
            try database.pin()
            try database.commit { edit in
                try edit.addColumn(17, Column(id: 2, type: .timestamp, isNullable: true))
            }
            try database.commit { edit in
                for key in edit.content.tables[17]?.keys ?? [] { try edit.fill(17, key, &numbers) }
            }
            try database.unpin()
            try database.commit { edit in try edit.dropTable(17) }
        },
        Workload("so many freed runs that their list spills", percentTried: 40) {
            database, numbers in
            try database.commit { edit in
                let tree = try edit.makeTree()
                for number in 0..<4_500 {
                    try edit.put(
                        tree, [UInt8(number >> 8), UInt8(number & 255)], numbers.bytes(200))
                }
            }
            try database.startRecordingHere()
            try database.pin()
            for offset in [0, 7] {
                try database.commit { edit in
                    for number in stride(from: offset, to: 4_500, by: 15) {
                        try edit.put(
                            17, [UInt8(number >> 8), UInt8(number & 255)], numbers.bytes(200))
                    }
                }
            }
            try database.unpin()
            for _ in 0..<2 {
                try database.commit { edit in try edit.put(17, numbers.bytes(2), numbers.bytes(200))
                }
            }
        },
        Workload("a file that grows across a section", percentTried: 25) { database, numbers in
            // Nearly a section of long values, removed while a reader still needs them, so that
            // later values must be placed behind them.
            try database.commit { edit in
                let tree = try edit.makeTree()
                for key in 0..<UInt8(8) {
                    try edit.put(
                        tree, [key],
                        [UInt8](repeating: 0, count: (key == 0 ? 3_100 : 4_020) * 4_096 - 100))
                }
            }
            try database.pinUnseen()
            try database.commit { edit in
                for key in edit.keys(of: 17) { try edit.delete(17, key) }
            }
            try database.startRecordingHere()
            let section = 8_192 + 32_256 * 4_096
            guard try database.file.size() <= section else {
                throw Failure("the file has grown already")
            }
            var key: UInt8 = 0
            while try database.file.size() <= section {
                guard key < 24 else { throw Failure("the file has not grown") }
                let value = numbers.bytes(key == 0 ? 200 : 300_000)
                try database.commit { edit in try edit.put(17, [key], value) }
                key += 1
            }
        },
    ]
}
