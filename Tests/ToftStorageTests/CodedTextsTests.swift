// Tests: ClusterPage+Check.swift, ColumnGeometry.swift, TextTags.swift
import Testing
import ToftTestKit
@testable import ToftStorage

/// A column of bytes with few different values has each of them once in a cluster, and a code of
/// one byte for each row.
@Suite struct CodedTextsTests {
    private static let city = Column(id: 1, type: .bytes, isNullable: true)
    private static let columns = [Column(id: 0, type: .int64, isNullable: false), city]

    private func name(_ number: Int64) -> Value { .bytes(Array("city number \(number)".utf8)) }

    /// A table whose rows have `different` texts in turn.
    private func twin(rows: Int64, different: Int64) throws -> TableTwin {
        let twin = try TableTwin(Self.columns)
        for key in 0..<rows {
            try twin.insert(key)
            try twin.set(key, 1, name(key % different))
        }
        return twin
    }

    /// Number of texts that each cluster has in its column; 0 if that is not coded.
    private func texts(_ twin: TableTwin) throws -> [Int] {
        var counts: [Int] = []
        try twin.table.forEachLeaf { (cluster) throws(StorageError) in
            counts.append(try cluster.slice(ofColumn: Self.city)?.textCount ?? 0)
        }
        return counts
    }

    private func finish(_ twin: TableTwin) throws {
        try twin.compare()
        try twin.check()
    }

    @Test(arguments: [1, 2, 10, 100, 150] as [Int64])
    func `Clusters that were filled have each text once`(different: Int64) throws {
        let twin = try twin(rows: 3_000, different: different)
        #expect(try texts(twin).dropLast().allSatisfy { $0 == Int(different) })
        try finish(twin)
        try twin.commit()
        try finish(twin)
    }

    @Test func `Texts that hardly repeat are stored for each row`() throws {
        let twin = try twin(rows: 3_000, different: 250)
        #expect(try texts(twin).allSatisfy { $0 == 0 })
        try finish(twin)
    }

    @Test func `A row takes a text that is there, and a new one while there is room`() throws {
        let twin = try twin(rows: 256, different: 3)
        try twin.set(7, 1, name(2))
        #expect(try texts(twin) == [3])
        for row in 10..<250 as Range<Int64> {
            try twin.set(row, 1, name(1_000 + row))
            try twin.check()
        }
        #expect(try texts(twin) == [0], "too many of them, so that it was written anew")
        try finish(twin)
        for row in 10..<250 as Range<Int64> { try twin.set(row, 1, name(row % 3)) }
        for row in 0..<200 as Range<Int64> {
            try twin.set(row, 1, .bytes([UInt8](repeating: 7, count: 2_000)))
        }
        try finish(twin)
    }

    @Test func `Null and the empty text are no texts and stay apart`() throws {
        let twin = try twin(rows: 600, different: 3)
        for row in stride(from: 0, to: 600 as Int64, by: 3) {
            try twin.set(row, 1, row % 2 == 0 ? .null : .bytes([]))
        }
        try finish(twin)
        for row in stride(from: 0, to: 600 as Int64, by: 6) { try twin.set(row, 1, name(1)) }
        try finish(twin)
        for row in 0..<600 as Range<Int64> { try twin.set(row, 1, .null) }
        try finish(twin)
        for row in 0..<600 as Range<Int64> { try twin.set(row, 1, name(row % 5)) }
        try finish(twin)
    }

    @Test(arguments: [2_047, 2_048, 2_049, 100_000])
    func `A long value among repeating ones has its own pages`(length: Int) throws {
        let twin = try twin(rows: 512, different: 2)
        try twin.set(100, 1, .bytes([UInt8](repeating: 1, count: length)))
        try finish(twin)
        try twin.set(100, 1, name(0))
        try twin.set(101, 1, .bytes([UInt8](repeating: 2, count: length)))
        try finish(twin)
        try twin.erase(101)
        for row in 200..<456 as Range<Int64> { try twin.set(row, 1, name(row % 2)) }
        try finish(twin)
        try twin.table.freeAll()
        #expect(twin.workshop.ownPages == 0)
    }

    @Test func `Rows come and go in the middle`() throws {
        let twin = try twin(rows: 500, different: 7)
        for row in stride(from: 3, to: 490 as Int64, by: 5) { try twin.erase(row) }
        try finish(twin)
        for row in stride(from: 3, to: 490 as Int64, by: 10) {
            try twin.insert(row)
            try twin.set(row, 1, name(row % 9))
        }
        try finish(twin)
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func `Random rows are what a dictionary holds`(seed: UInt64) throws {
        print("coded texts, seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let twin = try TableTwin(Self.columns)
        let different = [2, 20, 120, 240][Int(seed) % 4]
        for step in 0..<6_000 {
            let key = Int64(random.below(900))
            switch random.below(8) {
            case 0: if twin.rows[key] != nil { try twin.erase(key) }
            case 1: if twin.rows[key] != nil { try twin.set(key, 1, .null) }
            case 2 where random.below(40) == 0 && twin.rows[key] != nil:
                try twin.set(key, 1, .bytes(random.bytes(random.below(5_000))))
            default:
                if twin.rows[key] == nil { try twin.insert(key) }
                try twin.set(key, 1, name(Int64(random.below(different))))
            }
            if seed % 2 == 0 && step % 1_000 == 999 { try twin.commit() }
            if step % 500 == 0 { try twin.check() }
        }
        try finish(twin)
        try twin.table.freeAll()
        if !twin.isCommitted { #expect(twin.workshop.ownPages == 0) }
    }

    /// Texts whose tags are equal.
    private func alike(_ count: Int) -> [[UInt8]] {
        var texts: [[UInt8]] = []
        var number = 0
        while texts.count < count {
            let text = Array("text \(number)".utf8)
            if text.withUnsafeBytes({ SoughtText($0).tag }) == 7 { texts.append(text) }
            number += 1
        }
        return texts
    }

    @Test(arguments: [1, 3, 4, 5, 15, 16, 17, 40])
    func `Each text is found by its code, also where all have the same tag`(count: Int) throws {
        let texts = alike(count + 1)
        let twin = try TableTwin(Self.columns)
        for key in 0..<256 as Range<Int64> {
            try twin.insert(key)
            try twin.set(key, 1, .bytes(texts[Int(key) % count]))
        }
        try finish(twin)
        var found: ClusterPage?
        try twin.table.forEachLeaf { found = $0 }
        let cluster = try #require(found)
        let slice = try #require(try cluster.slice(ofColumn: Self.city))
        #expect(slice.textCount == count)
        for (index, text) in texts.enumerated() {
            try text.withUnsafeBytes { bytes in
                let code = try cluster.code(of: SoughtText(bytes), slice)
                #expect((code != nil) == (index < count))
                if let code { #expect(try cluster.heapBytes(slice.text(code)).elementsEqual(text)) }
            }
        }
    }

    @Test func `Codes without text, texts outside the heap and a wrong count are found`() throws {
        let twin = try twin(rows: 256, different: 3)
        var found: ClusterPage?
        try twin.table.forEachLeaf { found = $0 }
        let whole = try #require(found)
        let image = UnsafeMutableRawBufferPointer.allocate(
            byteCount: whole.byteCount, alignment: 4_096)
        defer { image.deallocate() }
        func fails(_ damage: (UnsafeMutableRawPointer, ColumnSlice) -> Void) throws -> Bool {
            let copy = try #require(image.baseAddress)
            copy.copyMemory(from: whole.base, byteCount: image.count)
            let cluster = try ClusterPage(
                copy, page: whole.page, pageCount: UInt32(image.count / 4_096))
            damage(copy, try #require(try cluster.slice(ofColumn: Self.city)))
            do { try cluster.check() } catch { return true }
            return false
        }
        #expect(try !fails { _, _ in })
        #expect(try fails { $0.storeUInt8(4, at: $1.start + $1.geometry.values + 9) })
        #expect(try fails { $0.storeUInt8(255, at: $1.start + $1.geometry.values + 9) })
        #expect(try fails { $0.storeUInt8(1, at: $1.start + $1.geometry.values - 1) })
        #expect(try fails { $0.storeUInt16(2, at: $1.entry + ClusterLayout.entryTextCount) })
        #expect(try fails { $0.storeUInt16(300, at: $1.entry + ClusterLayout.entryTextCount) })
        #expect(try fails { $0.storeUInt32(1, at: $1.start + $1.geometry.texts) })
        #expect(try fails { $0.storeUInt32(0, at: $1.start + $1.geometry.texts + 4) })
        #expect(try fails { $0.storeUInt8(0, at: $1.start + $1.geometry.tags + 1) })
        #expect(try fails { $0.storeUInt8(1, at: $1.start + $1.geometry.tags) })
        #expect(try fails { $0.storeUInt8(1, at: $1.start + $1.geometry.tags + 4) })
        let least = ClusterLimits.leastTextRoom
        for room in [least - 1, least, least + 1] {
            let isRefused = try fails {
                $0.storeUInt8(room, at: $1.entry + ClusterLayout.entryTextRoom)
            }
            #expect(isRefused == (room < least))
        }
        for raw in [1 << 31 | 5_000, Int(UInt32.max), HeapCell.outside.raw] {
            #expect(try fails { $0.storeUInt32(raw, at: $1.start + $1.geometry.texts + 8) })
        }
    }
}
