// Tests: IntegerColumn.swift, TableWriter+WholeRows.swift, TableWriter.swift
import Testing
@testable import ToftStorage

/// Integers take as many bytes in a cluster as its values need.
@Suite struct IntegerWidthTests {
    /// The extreme values of each width, and the first ones beyond it.
    private static let edges: [Int64] = [
        0, 1, -1, 127, -128, 128, -129, 32_767, -32_768, 32_768, -32_769, 1 << 31 - 1, -1 << 31,
        1 << 31, -1 << 31 - 1, .max, .min,
    ]

    private static let columns = [
        Column(id: 0, type: .int64, isNullable: false),
        Column(id: 1, type: .int64, isNullable: true),
        Column(id: 2, type: .timestamp, isNullable: true),
    ]

    private func widths(_ table: TableWriter, _ column: UInt32) throws -> [IntegerWidth] {
        var widths: [IntegerWidth] = []
        try table.forEachCluster { (view) throws(StorageError) in
            widths.append(try view.integers(column).width)
            return true
        }
        return widths
    }

    @Test func `A width holds what its bytes can, and is the least that does`() {
        let expected: [IntegerWidth] = [
            .one, .one, .one, .one, .one, .two, .two, .two, .two, .four, .four, .four, .four,
            .eight, .eight, .eight, .eight,
        ]
        for (value, width) in zip(Self.edges, expected) {
            #expect(IntegerWidth(value, value) == width, "\(value)")
            #expect(IntegerWidth(min(value, 0), max(value, 0)) == width)
            for other in [IntegerWidth.one, .two, .four, .eight] {
                #expect(other.holds(value) == (other.rawValue >= width.rawValue))
            }
        }
        #expect(IntegerWidth(.max, .min) == .one)
        for encoding in 0...255 {
            #expect((IntegerWidth(encoding: encoding) != nil) == [0, 1, 2, 4].contains(encoding))
        }
    }

    @Test
    func
        `Clusters are as narrow as their values; a wider value widens its column`()
        throws
    {
        let twin = try TableTwin(Self.columns)
        for key in 0..<1_000 as Range<Int64> {
            try twin.insert(key)
            try twin.set(key, 0, .int(key % 100))
            try twin.set(key, 1, key % 3 == 0 ? .null : .int(key * 40))
            try twin.set(key, 2, .time(Timestamp(seconds: 1_700_000_000 + key, nanoseconds: 1)))
        }
        #expect(try widths(twin.table, 0).allSatisfy { $0 == .one })
        #expect(try widths(twin.table, 1) == [.two, .two, .two, .four])
        try twin.compare()
        for (value, width) in [(200, .two), (-40_000, .four), (1 << 40, .eight)]
            as [(Int64, IntegerWidth)]
        {
            try twin.set(300, 0, .int(value))
            #expect(try widths(twin.table, 0) == [.one, width, .one, .one])
            try twin.compare()
        }
        try twin.set(700, 2, .time(Timestamp(seconds: 1 << 50, nanoseconds: 2)))
        #expect(try widths(twin.table, 1) == [.two, .two, .two, .four])
        try twin.compare()
        try twin.check()
    }

    @Test func `A wide column stays wide until its cluster is written anew for another reason`()
        throws
    {
        let twin = try TableTwin(Self.columns)
        for key in 0..<100 as Range<Int64> { try twin.insert(key) }
        try twin.set(50, 0, .int(1 << 40))
        let identity = try #require(try twin.table.reader.cluster(containing: 50)).identity
        for value in [1, 1 << 40, 3, -1 << 50] as [Int64] { try twin.set(50, 0, .int(value)) }
        #expect(try #require(try twin.table.reader.cluster(containing: 50)).identity == identity)
        try twin.set(50, 0, .int(7))
        try twin.compare()
        try twin.check()
    }

    @Test(arguments: 1...12 as ClosedRange<UInt64>)
    func `Integers of all sizes in random rows are what a dictionary holds`(seed: UInt64) throws {
        print("integer widths, seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let twin = try TableTwin(Self.columns)
        var next: Int64 = 0
        for step in 0..<6_000 {
            let known =
                twin.rows.isEmpty
                ? nil : try twin.table.key(atRank: random.below(twin.table.rowCount))
            switch random.below(8) {
            case 0...2:
                next += Int64(1 + random.below(3))
                try twin.insert(seed % 2 == 0 ? next : Int64(bitPattern: random.next()))
            case 3:
                if let known { try twin.erase(known) }
            default:
                guard let key = known else { continue }
                let edge =
                    Self.edges[random.below(step / 400 + 3) % Self.edges.count]
                    &+ Int64(random.below(3))
                try twin.set(key, 0, .int(edge))
                try twin.set(
                    key, 1, random.below(4) == 0 ? .null : .int(Int64(random.below(300)) - 150))
                try twin.set(
                    key, 2,
                    random.below(4) == 0
                        ? .null
                        : .time(Timestamp(seconds: edge, nanoseconds: Int32(random.below(1_000)))))
            }
            if step % 1_000 == 999 { try twin.commit() }
            if step % 700 == 0 { try twin.workshop.spill() }
        }
        try twin.compare()
        try twin.check()
    }

    @Test func `An encoding that there is not is damage, also where the type has none`() throws {
        let twin = try TableTwin(TableTests.everyType)
        for key in 0..<20 as Range<Int64> { try twin.insert(key) }
        var ref = twin.table.root.ref
        let base = try twin.workshop.pages.edit(&ref, as: .cluster)
        let cluster = try ClusterPage(base, page: ref.page, pageCount: ref.pageCount)
        for (index, column) in twin.table.columns.enumerated() {
            let place = cluster.entry(index) + ClusterLayout.entryEncoding
            let right = base.reading.uint8(at: place)
            for encoding in 0...255 where encoding != right {
                base.storeUInt8(encoding, at: place)
                if column.type.hasIntegers && [0, 1, 2, 4].contains(encoding) {
                    // Another width is not a contradiction as long as the arrays are between the
                    // keys and the heap; nothing outside may be read.
                    do throws(StorageError) { try twin.table.check(VisitedExtents()) } catch {}
                } else {
                    #expect(throws: StorageError.self) { try twin.table.check(VisitedExtents()) }
                    #expect(throws: StorageError.self) { _ = try twin.table.cell(3, column.id) }
                }
            }
            base.storeUInt8(right, at: place)
        }
        try twin.check()
    }
}
