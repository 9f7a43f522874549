// Tests: ElementBlock.swift
import Testing
@testable import ToftStorage

@Suite struct ListTests {
    private static let elementTypes: [ColumnType] = [
        .bool, .int64, .float32, .float64, .timestamp, .bytes, .fixed16, .fixed12,
    ]

    /// A list column for each type of element, nullable and not.
    private static let columns: [Column] = elementTypes.enumerated().flatMap { index, type in
        [false, true].map { isNullable in
            Column(
                id: UInt32(index * 2 + (isNullable ? 1 : 0)), type: .list, isNullable: false,
                elementType: type, elementIsNullable: isNullable)
        }
    }

    private static let numbers: UInt32 = 2
    private static let words: UInt32 = 10

    @Test func `A short list of numbers is a dense array, a long one a tree of its own`() throws {
        let twin = try TableTwin(Self.columns)
        try twin.insert(1)
        for value in 0..<3_000 as Range<Int64> {
            try twin.table.listInsert(1, Self.numbers, at: Int(value), .int64(value))
        }
        #expect(twin.workshop.sequences.count == 1)
        #expect(try twin.table.list(1, Self.numbers).int64s == nil)
        for _ in 0..<100 { try twin.table.listInsert(1, Self.numbers, at: 0, .int64(-1)) }
        #expect(try twin.table.listCount(1, Self.numbers) == 3_100)
        for value in stride(from: 0, to: 3_000, by: 13) {
            #expect(
                Value(try twin.table.list(1, Self.numbers).cell(at: value + 100))
                    == .int(Int64(value)))
        }
        try twin.check()
        try twin.table.listClear(1, Self.numbers)
        #expect(twin.workshop.sequences.isEmpty)
        for value in 0..<20 as Range<Int64> {
            try twin.table.listInsert(1, Self.numbers, at: 0, .int64(value))
        }
        let dense = try #require(try twin.table.list(1, Self.numbers).int64s)
        #expect((0..<20).map { dense[$0] } == (0..<20).reversed())
        try twin.check()
        try twin.erase(1)
        #expect(twin.workshop.ownPages == 0)
    }

    @Test func `Erasing a row frees the long strings of its short and of its long lists`() throws {
        let twin = try TableTwin(Self.columns)
        let long = [UInt8](repeating: 7, count: 5_000)
        for key in 0..<3 as Range<Int64> {
            try twin.insert(key)
            for _ in 0..<(key == 0 ? 3 : 100) {
                try with(long) { try twin.table.listInsert(key, Self.words, at: 0, .bytes($0)) }
            }
        }
        try twin.check()
        try twin.erase(0)
        try twin.erase(2)
        try twin.check()
        try twin.table.freeAll()
        #expect(twin.workshop.ownPages == 0 && twin.workshop.sequences.isEmpty)
    }

    @Test func `Removing a column frees its lists`() throws {
        let twin = try TableTwin(Self.columns)
        let long = [UInt8](repeating: 7, count: 5_000)
        for key in 0..<3 as Range<Int64> {
            try twin.insert(key)
            for _ in 0..<(key == 0 ? 3 : 100) {
                try with(long) { try twin.table.listInsert(key, Self.words, at: 0, .bytes($0)) }
            }
        }
        try twin.table.removeColumns([Self.words])
        #expect(twin.workshop.sequences.isEmpty)
        try twin.check()
        for key in 0..<3 as Range<Int64> { try twin.erase(key) }
        #expect(twin.workshop.ownPages == 0)
    }

    @Test func `An index that a list does not have changes nothing`() throws {
        let twin = try TableTwin(Self.columns)
        try twin.insert(1)
        try twin.table.listInsert(1, Self.numbers, at: 0, .int64(5))
        let table = twin.table
        for index in [-1, 2, .max, .min] {
            #expect(throws: StorageError.indexOutOfRange(index: index, count: 1)) {
                try table.listInsert(1, Self.numbers, at: index, .int64(0))
            }
        }
        for index in [-1, 1, .max, .min] {
            #expect(throws: StorageError.indexOutOfRange(index: index, count: 1)) {
                try table.listSet(1, Self.numbers, at: index, .int64(0))
            }
            #expect(throws: StorageError.indexOutOfRange(index: index, count: 1)) {
                try table.listErase(1, Self.numbers, at: index)
            }
            #expect(throws: StorageError.indexOutOfRange(index: index, count: 1)) {
                try table.listMove(1, Self.numbers, from: index, to: 0)
            }
            #expect(throws: StorageError.indexOutOfRange(index: index, count: 1)) {
                try table.listMove(1, Self.numbers, from: 0, to: index)
            }
            #expect(throws: StorageError.indexOutOfRange(index: index, count: 1)) {
                try table.listSwap(1, Self.numbers, 0, index)
            }
            #expect(throws: StorageError.indexOutOfRange(index: index, count: 1)) {
                _ = try table.list(1, Self.numbers).cell(at: index)
            }
        }
        #expect(throws: StorageError.self) { try table.listInsert(1, Self.numbers, at: 0, .null) }
        #expect(throws: StorageError.self) {
            try table.listInsert(1, Self.numbers, at: 0, .bool(true))
        }
        #expect(throws: StorageError.self) { try table.setCell(1, Self.numbers, .null) }
        #expect(throws: StorageError.noSuchRow(key: 2)) { try table.listClear(2, Self.numbers) }
        #expect(Value(try table.list(1, Self.numbers).cell(at: 0)) == .int(5))
    }

    @Test func `Texts keep their bytes when they change places while their list becomes a tree`()
        throws
    {
        let twin = try TableTwin([
            Column(id: 0, type: .list, isNullable: false, elementType: .bytes)
        ])
        let filler = Array("twenty bytes of text".utf8)
        let brief = Array("short one!".utf8)
        let lengthy = Array(repeating: UInt8(120), count: 64)
        for count in 10..<60 {
            let key = Int64(count)
            try twin.insert(key)
            let texts = Array(repeating: filler, count: count) + [brief, lengthy]
            for text in texts {
                try with(text) {
                    try twin.table.listInsert(
                        key, 0, at: try twin.table.listCount(key, 0), .bytes($0))
                }
            }
            try twin.table.listSwap(key, 0, count, count + 1)
            twin.lists[key]![0] =
                (texts.dropLast(2) + [lengthy, brief]).map { Value.bytes($0) }
        }
        try twin.check()
        try twin.compare()
    }

    @Test func `A text keeps its bytes when it moves in a list whose row has become very long`()
        throws
    {
        let long = (1..<200 as Range<UInt32>).map {
            Column(id: $0, type: .bytes, isNullable: false)
        }
        let twin = try TableTwin(
            [Column(id: 0, type: .list, isNullable: false, elementType: .bytes)] + long)
        let texts = ["first of the three", "second of the three", "third of the three"].map {
            Array($0.utf8)
        }
        try twin.insert(1)
        for (index, text) in texts.enumerated() {
            try with(text) { try twin.table.listInsert(1, 0, at: index, .bytes($0)) }
        }
        for column in long {
            try twin.set(
                1, column.id, .bytes(Array(repeating: 7, count: ClusterLimits.inlineBytes)))
        }
        try twin.table.listMove(1, 0, from: 0, to: 2)
        twin.lists[1]![0] = [texts[1], texts[2], texts[0]].map { Value.bytes($0) }
        try twin.check()
        try twin.compare()
    }

    @Test(arguments: 1...16 as ClosedRange<UInt64>)
    func `Random edits leave what an array holds`(seed: UInt64) throws {
        print("lists, seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let columns =
            Self.columns.filter { _ in random.below(2) == 0 } + [
                Column(id: 50, type: .bytes, isNullable: false)
            ]
        var lists = columns.filter { $0.type == .list }
        guard !lists.isEmpty else { return }
        let twin = try TableTwin(columns)
        for key in 0..<5 as Range<Int64> { try twin.insert(key) }
        let longest = [10, 200, 3_000][random.below(3)]
        for step in 0..<8_000 {
            let key = Int64(random.below(random.below(3) == 0 ? 5 : 2))
            let column = lists[random.below(lists.count)]
            try edit(
                twin, key, column, isShrinking: (step / 2_000) % 2 == 1, longest: longest, &random)
            if random.below(50) == 0 {
                try twin.set(key, 50, .bytes(random.bytes(random.below(2_000))))
            }
            if random.below(2_000) == 0 {
                try twin.erase(key)
                try twin.insert(key)
            }
            if step % 1_700 == 1_699 {
                try twin.makeNullable(lists[random.below(lists.count)].id)
                lists = twin.table.columns.filter { $0.type == .list }
            }
            if seed % 2 == 0 && step % 1_000 == 999 { try twin.commit() }
            if step % 900 == 0 { try twin.workshop.spill() }
            if step % 1_000 == 0 { try twin.check() }
        }
        try twin.compare()
        try twin.check()
        try twin.table.freeAll()
        if !twin.isCommitted { #expect(twin.workshop.ownPages == 0) }
    }

    private func edit(
        _ twin: TableTwin, _ key: Int64, _ column: Column, isShrinking: Bool, longest: Int,
        _ random: inout SeededGenerator
    ) throws {
        let type = column.elementType ?? .bool
        var model = twin.lists[key]?[column.id] ?? []
        let value = Value.random(
            type, nullable: column.elementIsNullable, longest: longest, &random)
        let index = random.below(model.count)
        let other = random.below(model.count)
        switch random.below(20) {
        case 0...(isShrinking ? 3 : 11):
            let place = random.below(3) == 0 ? model.count : random.below(model.count + 1)
            try value.with { try twin.table.listInsert(key, column.id, at: place, $0) }
            model.insert(value, at: place)
        case 12 where random.below(60) == 0:
            try twin.table.listClear(key, column.id)
            model = []
        case _ where model.isEmpty: return
        case 13, 14:
            try value.with { try twin.table.listSet(key, column.id, at: index, $0) }
            model[index] = value
        case 15, 16:
            try twin.table.listMove(key, column.id, from: index, to: other)
            model.insert(model.remove(at: index), at: other)
        case 17:
            try twin.table.listSwap(key, column.id, index, other)
            model.swapAt(index, other)
        default:
            try twin.table.listErase(key, column.id, at: index)
            model.remove(at: index)
        }
        twin.lists[key]?[column.id] = model
    }
}
