// Tests: ClusterPage.swift
import Testing
@testable import ToftStorage

/// Keys without gaps and timestamps without nanoseconds take no room in a cluster.
@Suite struct DenseClusterTests {
    private static let columns = [
        Column(id: 0, type: .int64, isNullable: false),
        Column(id: 1, type: .timestamp, isNullable: true),
        Column(id: 2, type: .bytes, isNullable: false),
    ]

    private func twin(_ keys: some Sequence<Int64>) throws -> TableTwin {
        let twin = try TableTwin(Self.columns)
        for key in keys {
            try twin.insert(key)
            try twin.set(key, 1, .time(Timestamp(seconds: 1_700_000_000 &+ key, nanoseconds: 0)))
            try twin.set(key, 2, .bytes(Array("row \(key)".utf8)))
        }
        return twin
    }

    private func clusters<Fact>(_ table: TableWriter, _ fact: (ClusterPage) throws -> Fact) throws
        -> [Fact]
    {
        var facts: [Fact] = []
        try table.forEachLeaf { cluster in
            if let found = try? fact(cluster) { facts.append(found) }
        }
        return facts
    }

    private func dense(_ table: TableWriter) throws -> [Bool] {
        try clusters(table) { $0.hasDenseKeys }
    }

    private func nanoseconds(_ table: TableWriter) throws -> [Bool] {
        try clusters(table) { try #require(try $0.slice(ofColumn: Self.columns[1])).geometry }
            .map(\.hasNanoseconds)
    }

    private func finish(_ twin: TableTwin) throws {
        try twin.compare()
        try twin.check()
    }

    // MARK: Keys

    @Test func `Keys that follow each other are stored once a cluster`() throws {
        let twin = try twin(0..<1_000)
        #expect(try dense(twin.table).allSatisfy { $0 })
        for key in [-1, 1_000, .min, .max] as [Int64] {
            #expect(try twin.table.reader.contains(key) == false)
        }
        #expect(try twin.table.reader.rank(of: 512) == 512)
        #expect(try twin.table.reader.key(atRank: 999) == 999)
        try finish(twin)
    }

    @Test(arguments: [1, 2, 3, 255, 256] as [Int64])
    func `A gap at the end or in the middle stores them all`(count: Int64) throws {
        let twin = try twin(0..<count)
        try twin.insert(count + 1)
        try finish(twin)
        try twin.insert(count)
        try finish(twin)
        try twin.insert(-1)
        try twin.insert(-3)
        try finish(twin)
        for key in count + 2..<count + 300 { try twin.insert(key) }
        try finish(twin)
    }

    @Test func `The first and the last row go without a gap, another one leaves one`() throws {
        let twin = try twin(0..<200)
        try twin.erase(0)
        try twin.erase(199)
        #expect(try dense(twin.table) == [true])
        try finish(twin)
        try twin.erase(100)
        #expect(try dense(twin.table) == [false])
        try finish(twin)
        try twin.insert(100)
        try twin.erase(2)
        try finish(twin)
        for key in 3..<198 as Range<Int64> { try twin.erase(key) }
        #expect(twin.table.rowCount == 2)
        try finish(twin)
        try twin.erase(1)
        try twin.erase(198)
        #expect(twin.table.rowCount == 0)
    }

    @Test func `The least and the greatest keys are dense like others`() throws {
        for keys in [Int64.min...(Int64.min + 20), Int64.max - 20...Int64.max] {
            let twin = try twin(keys)
            #expect(try dense(twin.table) == [true])
            try finish(twin)
            try twin.erase(keys.lowerBound)
            try twin.erase(keys.upperBound)
            try twin.erase(keys.lowerBound + 9)
            try finish(twin)
            try twin.insert(keys.upperBound)
            try finish(twin)
        }
    }

    @Test func `Flags that there are not, and keys beyond the greatest number, are damage`() throws
    {
        let twin = try twin(0..<20)
        var ref = twin.table.root.ref
        let base = try twin.workshop.pages.edit(&ref, as: .cluster)
        let cluster = try ClusterPage(base, page: ref.page, pageCount: ref.pageCount)
        let flags = cluster.header + ClusterLayout.flags
        for bit in 0..<16 {
            base.storeUInt16(cluster.base.uint16(at: flags) ^ 1 << bit, at: flags)
            #expect(throws: StorageError.self, "bit \(bit)") {
                try twin.table.check(VisitedExtents())
            }
            base.storeUInt16(cluster.base.uint16(at: flags) ^ 1 << bit, at: flags)
        }
        base.storeInt64(.max - 5, at: cluster.keysStart)
        #expect(throws: StorageError.self) { try twin.table.check(VisitedExtents()) }
        for key in [.min, 0, 3, .max - 5, .max] as [Int64] {
            _ = try? twin.table.reader.contains(key)
        }
        base.storeInt64(0, at: cluster.keysStart)
        try twin.check()
    }

    // MARK: Timestamps

    @Test func `Nanoseconds take room where there are any`() throws {
        let twin = try twin(0..<1_000)
        #expect(try nanoseconds(twin.table).dropLast().allSatisfy { !$0 })
        for (key, nanoseconds) in [(300, 1), (301, 999_999_999), (302, 0)] as [(Int64, Int32)] {
            try twin.set(key, 1, .time(Timestamp(seconds: 5, nanoseconds: nanoseconds)))
        }
        try twin.set(20, 1, .time(Timestamp(seconds: -1, nanoseconds: 0)))
        try twin.set(21, 1, .null)
        #expect(try nanoseconds(twin.table)[..<2] == [false, true])
        try finish(twin)
        for key in 256..<500 as Range<Int64> {
            try twin.set(key, 1, .time(Timestamp(seconds: key, nanoseconds: 0)))
        }
        try finish(twin)
        for key in 300..<310 as Range<Int64> {
            try twin.set(key, 2, .bytes([UInt8](repeating: 7, count: 2_000)))
        }
        #expect(try nanoseconds(twin.table)[1] == false, "written anew for another reason")
        try finish(twin)
    }

    @Test(arguments: 1...10 as ClosedRange<UInt64>)
    func `Random rows with few gaps are what a dictionary holds`(seed: UInt64) throws {
        print("dense clusters, seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let twin = try twin(0..<3)
        var next: Int64 = 3
        for step in 0..<5_000 {
            let isGapless = (step / 500) % 2 == 0
            let known =
                twin.rows.isEmpty
                ? nil : try twin.table.key(atRank: random.below(twin.table.rowCount))
            switch random.below(9) {
            case 0...3:
                if !isGapless && random.below(20) == 0 { next += Int64(random.below(4)) }
                try twin.insert(next)
                next += 1
            case 4:
                let edge = random.below(3)
                let rank = edge == 0 ? 0 : twin.rows.count - 1
                guard let known, step % 3 == 0 else { continue }
                try twin.erase(
                    edge == 2 && !isGapless ? known : try twin.table.key(atRank: rank))
            default:
                guard let key = known else { continue }
                let hasNanoseconds = (step / 900) % 2 == 1 && random.below(10) == 0
                try twin.set(
                    key, 1,
                    random.below(6) == 0
                        ? .null
                        : .time(
                            Timestamp(
                                seconds: Int64(random.below(1 << 33)),
                                nanoseconds: hasNanoseconds ? 5 : 0)))
                try twin.set(
                    key, 2, .bytes([UInt8](repeating: 1, count: random.below(200))))
            }
            if step % 1_000 == 999 { try twin.commit() }
            if step % 700 == 0 { try twin.workshop.spill() }
        }
        try finish(twin)
    }
}
