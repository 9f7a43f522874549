// Tests: TableWriter+Tail.swift
import Testing
@testable import ToftStorage

/// The end of a table, to which transactions of all sizes append.
@Suite struct TailTests {
    /// Rows of some 150 bytes.
    static let person: [Column] = [
        Column(id: 0, type: .int64, isNullable: false),
        Column(id: 1, type: .bytes, isNullable: false),
        Column(id: 2, type: .bytes, isNullable: true),
        Column(id: 3, type: .float64, isNullable: false),
        Column(id: 4, type: .timestamp, isNullable: false),
        Column(id: 5, type: .list, isNullable: false, elementType: .bytes),
    ]

    private func append(_ twin: TableTwin, _ key: Int64, textLength: Int = 60) throws {
        try twin.insert(key)
        try twin.set(key, 0, .int(key * 7))
        try twin.set(key, 1, .bytes(Array("somebody with the number \(key)".utf8)))
        try twin.set(key, 2, .bytes(Array(repeating: 120, count: textLength)))
        try twin.set(key, 3, .double(Double(key)))
        try twin.set(key, 4, .time(Timestamp(seconds: 1_700_000_000 + key, nanoseconds: 5)))
    }

    private func counts(_ table: TableWriter) throws -> [Int] {
        var counts: [Int] = []
        try table.forEachCluster { (view) throws(StorageError) in
            counts.append(view.count)
            return true
        }
        return counts
    }

    @Test
    func
        `One more row usually costs a page; clusters end up full`()
        throws
    {
        let twin = try TableTwin(Self.person)
        var pages: [Int] = []
        for key in 0..<1_500 as Range<Int64> {
            try append(twin, key)
            pages.append(twin.workshop.ownPages)
            try twin.commit()
        }
        try twin.check()
        try twin.compare()
        pages.sort()
        // The tail and the root above it.
        #expect(pages[pages.count / 2] <= 2)
        #expect(pages[pages.count * 9 / 10] <= 2)
        #expect(try counts(twin.table).dropLast(2).allSatisfy { $0 >= 192 })
    }

    @Test(arguments: [1, 40, 5_000])
    func `A cluster has as many rows as fill its pages`(rowsOfACommit: Int64) throws {
        let columns = Array(Self.person.prefix(2))
        let rows: Int64 = rowsOfACommit == 1 ? 2_500 : 10_000
        // Of some lengths 256 rows fill their pages, of others they leave most of one empty.
        for length in stride(from: 60, through: 140, by: rowsOfACommit == 1 ? 40 : 16) {
            let twin = try TableTwin(columns)
            for key in 0..<rows {
                try twin.insert(key)
                try twin.set(key, 0, .int(key << 16))
                let text = "\(key) " + String(repeating: "x", count: length - 5)
                try twin.set(key, 1, .bytes(Array(text.utf8)))
                if key % rowsOfACommit == 0 { try twin.commit() }
            }
            try twin.commit()
            try twin.check()
            try twin.compare()
            let visited = VisitedExtents()
            try twin.table.check(visited)
            let bytes = Int(rows) * (length + 8)
            #expect(visited.pages.count * 4_096 < bytes + bytes / 12 + 6 * 4_096, "\(length)")
            #expect(try counts(twin.table).dropLast(2).allSatisfy { $0 >= 192 }, "\(length)")
        }
    }

    @Test func `Long rows, of which a page takes few, have clusters of several`() throws {
        let twin = try TableTwin(Self.person)
        for key in 0..<300 as Range<Int64> {
            try append(twin, key, textLength: 1_500)
            #expect(twin.workshop.ownPages <= 24)
            try twin.commit()
        }
        try twin.check()
        try twin.compare()
        #expect(try counts(twin.table).count < 300 / 16)
    }

    @Test func `A row beside many that were appended at once leaves their cluster alone`() throws {
        let twin = try TableTwin(Self.person)
        for key in 0..<200 as Range<Int64> { try append(twin, key) }
        try twin.commit()
        try append(twin, 200)
        #expect(twin.workshop.ownPages == 2)
        try twin.commit()
        #expect(try counts(twin.table) == [200, 1])
        for key in 201..<400 as Range<Int64> { try append(twin, key) }
        #expect(try counts(twin.table).first ?? 0 > 201)
        try twin.check()
        try twin.compare()
    }

    @Test(arguments: [ClusterLimits.rows - 1, ClusterLimits.rows, ClusterLimits.rows + 1])
    func `No cluster takes more rows than the limit, whatever length they have`(rows: Int) throws {
        let columns = Array(Self.person.prefix(2))
        for length in stride(from: 196, through: 240, by: 4) {
            let twin = try TableTwin(columns)
            func append(_ key: Int) throws {
                try twin.insert(Int64(key))
                try twin.set(Int64(key), 0, .int(Int64(key)))
                try twin.set(Int64(key), 1, .bytes(Array(repeating: 120, count: length)))
            }
            // Row by row until the clusters are almost full, then many in one transaction.
            for key in 0..<rows - 15 {
                try append(key)
                try twin.commit()
            }
            for key in rows - 15..<rows + 30 { try append(key) }
            try twin.commit()
            #expect(try counts(twin.table).allSatisfy { $0 <= ClusterLimits.rows })
            try twin.check()
            try twin.compare()
        }
    }

    @Test(arguments: 1...10 as ClosedRange<UInt64>)
    func `Transactions of any size append, change and erase what a dictionary holds`(seed: UInt64)
        throws
    {
        print("tail, seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let columns = seed % 3 == 0 ? Array(Self.person.prefix(1)) : Self.person
        let twin = try TableTwin(columns)
        let longest = [20, 300, 2_100][random.below(3)]
        var next: Int64 = 0
        for _ in 0..<200 {
            for _ in 0..<[1, 1, 1, 3, 20, 90, 300][random.below(7)] {
                next += Int64(random.below(20) == 0 ? 1 + random.below(5) : 1)
                try twin.insert(next)
                for column in columns where column.type != .list && random.below(4) > 0 {
                    try twin.set(
                        next, column.id,
                        .random(column.type, nullable: column.isNullable, longest: longest, &random)
                    )
                }
                if random.below(40) == 0 {
                    try twin.erase(
                        try twin.table.key(
                            atRank: twin.table.rowCount - 1
                                - random.below(min(30, twin.table.rowCount))))
                }
                if random.below(30) == 0, twin.table.rowCount > 0 {
                    let known = try twin.table.key(atRank: random.below(twin.table.rowCount))
                    try twin.set(known, 0, .int(Int64(bitPattern: random.next())))
                }
            }
            if random.below(10) == 0 { try twin.workshop.spill() }
            try twin.commit()
        }
        try twin.check()
        try twin.compare()
    }
}
