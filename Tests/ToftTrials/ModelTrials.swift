internal import ToftPlatform
internal import ToftStorage
internal import ToftTestKit

/// Tables against what was written to them: rows around the limit of a cluster, and lists around
/// the length at which they become trees.
enum ModelTrials {
    /// Runs all cases. True: nothing was wrong.
    static func run() throws -> Bool {
        var cases = 0
        for length in stride(from: 196, through: 240, by: 4) {
            cases += 1
            guard isSound(cases, { try appendedRows(length: length) }) else { return false }
        }
        cases += 1
        return isSound(cases, swappedTexts)
    }

    /// Runs a case, which tells what is wrong, or fails. The first wrong one is printed.
    private static func isSound(_ number: Int, _ body: () throws -> String?) -> Bool {
        let wrong: String?
        do { wrong = try body() } catch { wrong = "\(error)" }
        guard let wrong else { return true }
        print("VIOLATION \(wrong)")
        print("cases \(number)")
        return false
    }

    private static func store() throws -> Store {
        let file = MemoryFile(name: "model")
        try Store.format(file)
        return try Store.open(on: file, coordinator: Coordinator.inMemory())
    }

    /// What the check of a store finds first.
    private static func finding(in store: Store) throws -> String? {
        try store.check().problems.first
    }

    /// Rows one by one until the clusters are almost full, then many in one transaction.
    private static func appendedRows(length: Int) throws -> String? {
        let store = try store()
        let first = try store.beginWrite()
        let id = try first.createTable(columns: [
            Column(id: 0, type: .int64, isNullable: false),
            Column(id: 1, type: .bytes, isNullable: false),
        ])
        try first.commit()
        let text = [UInt8](repeating: 120, count: length)
        for batch in Array(repeating: 1, count: ClusterLimits.rows - 15) + [60] {
            let transaction = try store.beginWrite()
            let table = try transaction.view.table(id)
            for _ in 0..<batch {
                let key = try transaction.takeKey(table)
                try transaction.rowInsert(table, id: id, key, derived: false)
                try text.withUnsafeBytes {
                    try transaction.cellSet(table, id: id, key, 1, .bytes($0), derived: false)
                }
            }
            try transaction.commit()
        }
        return try finding(in: store)
    }

    /// Lists of texts of which the last two change places.
    private static func swappedTexts() throws -> String? {
        let store = try store()
        let transaction = try store.beginWrite()
        let id = try transaction.createTable(columns: [
            Column(id: 0, type: .list, isNullable: false, elementType: .bytes)
        ])
        let table = try transaction.view.table(id)
        for count in 10..<60 {
            let key = try transaction.takeKey(table)
            try transaction.rowInsert(table, id: id, key, derived: false)
            for length in Array(repeating: 20, count: count) + [10, 64] {
                let text = [UInt8](repeating: UInt8(length), count: length)
                try text.withUnsafeBytes {
                    try transaction.listInsert(
                        table, id: id, key, 0, at: try table.listCount(key, 0), .bytes($0),
                        derived: false)
                }
            }
            try transaction.listSwap(table, id: id, key, 0, count, count + 1)
            for (index, length) in [(count, 64), (count + 1, 10)] {
                guard case .bytes(let text) = try table.list(key, 0).cell(at: index),
                    text.count == length, text.allSatisfy({ $0 == UInt8(length) })
                else { return "a text of \(count + 2) in a list changed when it was swapped" }
            }
        }
        try transaction.commit()
        return try finding(in: store)
    }
}
