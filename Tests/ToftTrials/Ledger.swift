internal import ToftStorage
internal import ToftTestKit

/// The data of the trials with several processes: accounts between which money moves, and entries
/// that say who moved it.
///
/// In every version the balances add up to the same, and each participant has as many entries as
/// its counter says.
struct Ledger {
    static let accountCount = 100
    static let sum: Int64 = 100_000

    private static let accounts: TreeID = 16
    private static let entries: TreeID = 17
    private static let counters: TreeID = 18

    private static let balance: UInt32 = 1
    private static let owner: UInt32 = 1
    private static let number: UInt32 = 2

    static func create(in store: Store) throws {
        let transaction = try store.beginWrite()
        let ids = [
            try transaction.createTable(columns: [
                Column(id: balance, type: .int64, isNullable: false)
            ]),
            try transaction.createTable(columns: [
                Column(id: owner, type: .int64, isNullable: false),
                Column(id: number, type: .int64, isNullable: false),
            ]),
            try transaction.createOrderedTree(),
        ]
        guard ids == [accounts, entries, counters] else { throw Failure("unexpected ids \(ids)") }
        for _ in 0..<accountCount {
            let key = try transaction.takeKey(accounts)
            try transaction.rowInsert(accounts, key, derived: false)
            try transaction.cellSet(
                accounts, key, balance, .int64(sum / Int64(accountCount)), derived: false
            )
        }
        _ = try transaction.commit()
    }

    /// Moves money and makes an entry; removes an older one now and then. Returns the participant's
    /// new number.
    static func move(_ transaction: WriteTransaction, participant: Int, _ numbers: inout Seed)
        throws
        -> Int64
    {
        let table = try transaction.view.table(accounts)
        let from = try table.key(atRank: numbers.below(table.rowCount))
        let to = try table.key(atRank: numbers.below(table.rowCount))
        let amount = Int64(numbers.below(50))
        try add(-amount, to: from, table, transaction)
        try add(amount, to: to, table, transaction)
        let next = try counter(participant, transaction.view) + 1
        try put(next, participant, transaction)
        let log = try transaction.view.table(entries)
        let key = try transaction.takeKey(entries)
        try transaction.rowInsert(entries, key, derived: false)
        try transaction.cellSet(entries, key, owner, .int64(Int64(participant)), derived: false)
        try transaction.cellSet(entries, key, number, .int64(next), derived: false)
        if next % 7 == 0 || log.rowCount > 400 {
            try transaction.rowErase(
                entries, try log.key(atRank: numbers.below(log.rowCount)), derived: false)
        }
        return next
    }

    /// Writes so much that a transaction with little memory has to write before it commits.
    static func scribble(_ transaction: WriteTransaction, _ numbers: inout Seed) throws {
        for number in UInt8(10)..<80 {
            try [number].withUnsafeBytes { key throws in
                try numbers.bytes(900).withUnsafeBytes { value throws in
                    try transaction.treePut(counters, key, value, derived: false)
                }
            }
        }
    }

    /// Makes a tree and drops it, for the commit to go the long way.
    static func restructure(_ transaction: WriteTransaction) throws {
        try transaction.dropTree(transaction.createOrderedTree())
    }

    private static func add(
        _ amount: Int64, to key: Int64, _ table: TableReader, _ transaction: WriteTransaction
    ) throws {
        try transaction.cellSet(
            accounts, key, balance, .int64(try int(table, key, balance) + amount),
            derived: false)
    }

    /// The number of a participant's commits in a version.
    static func counter(_ participant: Int, _ snapshot: Snapshot) throws -> Int64 {
        try [UInt8(participant)].withUnsafeBytes { key throws in
            try snapshot.orderedTree(counters).value(forKey: key)?.loadUnaligned(as: Int64.self)
                ?? 0
        }
    }

    private static func put(_ count: Int64, _ participant: Int, _ transaction: WriteTransaction)
        throws
    {
        try [UInt8(participant)].withUnsafeBytes { key throws in
            try withUnsafeBytes(of: count) { value throws in
                try transaction.treePut(counters, key, value, derived: false)
            }
        }
    }

    private static func int(_ table: TableReader, _ key: Int64, _ column: UInt32) throws -> Int64 {
        guard case .int64(let value) = try table.cell(key, column) else {
            throw Failure("no integer at \(key)")
        }
        return value
    }

    // MARK: A copy of it, kept up to date by records

    /// The content of a version, in dictionaries.
    struct Copy: Equatable {
        var balances: [Int64: Int64] = [:]
        var log: [Int64: [Int64]] = [:]

        var sum: Int64 { balances.values.reduce(0, +) }

        init(_ snapshot: Snapshot) throws {
            try snapshot.table(accounts).forEachKey { key throws in
                balances[key] = try int(snapshot.table(accounts), key, balance)
            }
            try snapshot.table(entries).forEachKey { key throws in
                log[key] = try Self.entry(key, snapshot)
            }
        }

        /// Applies the changes of commits, as far as `snapshot`. The rows and cells that a record
        /// touched are read from there.
        mutating func apply(_ records: [CommitRecord], _ snapshot: Snapshot) throws {
            var touched: Set<Int64> = []
            var logged: Set<Int64> = []
            for record in records {
                record.forEach { effect in
                    if effect.tree == accounts { touched.insert(effect.key) }
                    if effect.tree == entries { logged.insert(effect.key) }
                }
            }
            for key in touched { balances[key] = try int(snapshot.table(accounts), key, balance) }
            for key in logged {
                log[key] =
                    try snapshot.table(entries).contains(key) ? Self.entry(key, snapshot) : nil
            }
        }

        private static func entry(_ key: Int64, _ snapshot: Snapshot) throws -> [Int64] {
            let table = try snapshot.table(entries)
            return [try int(table, key, owner), try int(table, key, number)]
        }

        /// Equal in all processes with the same content.
        var fingerprint: UInt64 {
            var digest = Digest()
            func mix(_ value: Int64) { digest.add(UInt64(bitPattern: value)) }
            for (key, value) in balances.sorted(by: { $0.key < $1.key }) {
                mix(key)
                mix(value)
            }
            for (key, values) in log.sorted(by: { $0.key < $1.key }) {
                mix(key)
                values.forEach(mix)
            }
            return digest.value
        }
    }
}

extension TableReader {
    func forEachKey(_ body: (Int64) throws -> Void) throws {
        for rank in 0..<rowCount { try body(try key(atRank: rank)) }
    }
}
