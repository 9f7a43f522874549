// Tests: Element.swift, ElementBlock.swift, ElementEdit.swift, SequenceWriter.swift,
// TableWriter+Lists.swift
import Testing
import ToftTestKit
@testable import ToftStorage

/// Lists of bytes with few different elements have each of those once in their cluster, and a code
/// of one byte for each element.
@Suite struct CodedListsTests {
    private static let tags = Column(
        id: 1, type: .list, isNullable: false, elementType: .bytes, elementIsNullable: true)
    /// The texts before the lists end anywhere in the heap.
    private static let columns = [Column(id: 0, type: .bytes, isNullable: false), tags]

    private func tag(_ number: Int) -> Value { .bytes(Array("tag number \(number)".utf8)) }

    private func insert(_ value: Value, _ key: Int64, at index: Int, _ twin: TableTwin) throws {
        try value.with { try twin.table.listInsert(key, 1, at: index, $0) }
        twin.lists[key]![1, default: []].insert(value, at: index)
    }

    /// A table whose rows have `length` of `different` texts each.
    private func twin(rows: Int64, length: Int, different: Int) throws -> TableTwin {
        let twin = try TableTwin(Self.columns)
        for key in 0..<rows {
            try twin.insert(key)
            try twin.set(key, 0, .bytes(Array("row \(key * 7)".utf8)))
            for index in 0..<length {
                try insert(tag((Int(key) * 7 + index * 3) % different), key, at: index, twin)
            }
        }
        return twin
    }

    /// The number of coded lists in all clusters.
    private func codedLists(_ twin: TableTwin) throws -> Int {
        var count = 0
        try twin.table.forEachLeaf { (cluster) throws(StorageError) in
            guard let slice = try cluster.slice(ofColumn: Self.tags) else { return }
            for row in 0..<cluster.rowCount {
                let cell = slice.heapCell(row)
                if cell.raw == 0 || cell.isExternal { continue }
                count += try cluster.block(cell, slice, Self.tags.elementKind).isCoded ? 1 : 0
            }
        }
        return count
    }

    private func finish(_ twin: TableTwin) throws {
        try twin.compare()
        try twin.check()
    }

    @Test(arguments: [1, 2, 16, 254, 255])
    func `Clusters that were filled have each text once`(different: Int) throws {
        let twin = try twin(rows: 2_000, length: 8, different: different)
        #expect(try codedLists(twin) > 1_000)
        try finish(twin)
        try twin.commit()
        try finish(twin)
    }

    /// Ten long equal texts in each of many lists: plain, eight rows have no room in a cluster.
    @Test func `Long rows are coded however few they are`() throws {
        let columns = (1...100).map { id in
            Column(
                id: UInt32(id), type: .list, isNullable: false, elementType: .bytes,
                elementIsNullable: true)
        }
        let twin = try TableTwin(columns)
        for key in 0..<16 as Range<Int64> {
            try twin.insert(key)
            for column in columns {
                let tag = Value.bytes(Array(repeating: UInt8(column.id), count: 92))
                for index in 0..<10 {
                    try tag.with { try twin.table.listInsert(key, column.id, at: index, $0) }
                    twin.lists[key]![column.id, default: []].append(tag)
                }
            }
        }
        try finish(twin)
        for key in [7, 3, 11, 1, 14, 5, 9, 0, 2, 4, 6, 8, 10] as [Int64] {
            try twin.erase(key)
            try finish(twin)
        }
    }

    @Test func `More texts than codes are stored for each list`() throws {
        let twin = try TableTwin(Self.columns)
        for key in 0..<600 as Range<Int64> {
            try twin.insert(key)
            for index in 0..<4 { try insert(tag(Int(key) * 4 + index), key, at: index, twin) }
        }
        #expect(try codedLists(twin) == 0)
        try finish(twin)
    }

    @Test func `Coded lists are changed in every way`()
        throws
    {
        let twin = try twin(rows: 1_000, length: 4, different: 9)
        for key in stride(from: 0, to: 500 as Int64, by: 2) {
            try insert(tag(100 + Int(key)), key, at: 2, twin)
            try twin.table.listErase(key, 1, at: 0)
            twin.lists[key]![1]!.removeFirst()
        }
        try finish(twin)
        for key in stride(from: 0, to: 500 as Int64, by: 2) {
            try twin.table.listSwap(key, 1, 0, 3)
            twin.lists[key]![1]!.swapAt(0, 3)
            try twin.table.listMove(key, 1, from: 1, to: 2)
            let moved = twin.lists[key]![1]!.remove(at: 1)
            twin.lists[key]![1]!.insert(moved, at: 2)
        }
        for key in stride(from: 1, to: 500 as Int64, by: 4) {
            try twin.table.listClear(key, 1)
            twin.lists[key]![1] = []
        }
        try finish(twin)
        for key in stride(from: 3, to: 990 as Int64, by: 5) { try twin.erase(key) }
        try finish(twin)
    }

    @Test func `Null and the empty text are elements of their own`() throws {
        let twin = try twin(rows: 600, length: 3, different: 5)
        for key in stride(from: 0, to: 600 as Int64, by: 3) {
            try insert(.null, key, at: 1, twin)
            try insert(.bytes([]), key, at: 0, twin)
        }
        for key in stride(from: 5, to: 590 as Int64, by: 7) { try twin.erase(key) }
        #expect(try codedLists(twin) > 300)
        try finish(twin)
        try twin.commit()
        try finish(twin)
    }

    @Test(arguments: [400, 2_000, 100_000])
    func `A long element, or a long list, is kept beside coded ones`(length: Int) throws {
        let twin = try twin(rows: 512, length: 3, different: 4)
        try insert(.bytes([UInt8](repeating: 1, count: length)), 100, at: 1, twin)
        for index in 0..<300 { try insert(tag(index % 4), 200, at: index, twin) }
        for key in stride(from: 2, to: 90 as Int64, by: 3) { try twin.erase(key) }
        for key in stride(from: 300, to: 500 as Int64, by: 3) { try twin.erase(key) }
        try finish(twin)
        try twin.table.freeAll()
        #expect(twin.workshop.ownPages == 0 && twin.workshop.sequences.isEmpty)
    }

    @Test(arguments: 1...6 as ClosedRange<UInt64>)
    func `Random lists are what arrays hold`(seed: UInt64) throws {
        print("coded lists, seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let twin = try TableTwin(Self.columns)
        let different = [3, 40, 250, 400][Int(seed) % 4]
        for step in 0..<6_000 {
            let key = Int64(random.below(700))
            if twin.rows[key] == nil {
                try twin.insert(key)
                try twin.set(key, 0, .bytes(random.bytes(random.below(20))))
            }
            let count = twin.lists[key]![1]?.count ?? 0
            switch random.below(10) {
            case 0: try twin.erase(key)
            case 1 where count > 0:
                let index = random.below(count)
                try twin.table.listErase(key, 1, at: index)
                twin.lists[key]![1]!.remove(at: index)
            case 2 where count > 0:
                let (index, value) = (random.below(count), tag(random.below(different)))
                try value.with { try twin.table.listSet(key, 1, at: index, $0) }
                twin.lists[key]![1]![index] = value
            case 3: try insert(.null, key, at: random.below(count + 1), twin)
            case 4 where random.below(60) == 0:
                let long = Value.bytes(random.bytes(random.below(3_000)))
                try insert(long, key, at: count, twin)
            default:
                try insert(tag(random.below(different)), key, at: random.below(count + 1), twin)
            }
            if seed % 2 == 0 && step % 1_000 == 999 { try twin.commit() }
            if step % 500 == 0 { try twin.check() }
        }
        try finish(twin)
        try twin.table.freeAll()
        if !twin.isCommitted { #expect(twin.workshop.ownPages == 0) }
    }
}
