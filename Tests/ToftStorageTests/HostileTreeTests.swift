// Tests: ByteComparison.swift, BytesColumn.swift, ClusterEditor.swift, ColumnView.swift,
// ListView.swift, SequenceReader.swift, TableWriter+Cells.swift, TreeWalk.swift
import Testing
@testable import ToftStorage

/// Nodes with false fields behind checksums that hold: only the trees' own validation prevents a
/// trap. Every answer is allowed but a trap, a read outside the extent, or no answer.
@Suite struct HostileTreeTests {
    /// Values that fields of counts, offsets and lengths do not expect.
    private static let interesting: [UInt64] = [
        0, 1, 2, 7, 8, 31, 32, 255, 256, 257, 4_095, 4_096, 4_097, 0x7FFF, 0x8000, 0xFFFF, 0x7_FFFF,
        0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF, 1 << 62,
        .max >> 1, 1 << 63, .max,
    ]

    /// Remembers the places of a tree's extents.
    private final class Extents: TreeVisitor {
        var found: [(ref: Ref, type: ExtentType)] = []
        func visit(_ ref: Ref, as type: ExtentType) {
            if type != .blob { found.append((ref, type)) }
        }
        func visit(sequence id: TreeID) {}
    }

    /// Overwrites 1, 2, 4 or 8 bytes somewhere behind the extent's header, mostly in the fields.
    private func damage(
        _ base: UnsafeMutableRawPointer, pages: Int, _ random: inout SeededGenerator
    ) {
        let size = pages * Page.size
        let header = ExtentHeader.payloadStart(.cluster, pageCount: pages)
        let width = 1 << random.below(4)
        let reach = random.below(3) == 0 ? size - header - 8 : min(600, size - header - 8)
        let offset =
            header
            + (random.below(2) == 0 ? random.below(reach) / width * width : random.below(reach))
        let value =
            random.below(3) == 0
            ? random.next() : Self.interesting[random.below(Self.interesting.count)]
        withUnsafeBytes(of: value.littleEndian) { bytes in
            if let source = bytes.baseAddress {
                (base + offset).copyMemory(from: source, byteCount: width)
            }
        }
    }

    /// Damages one extent of a tree, runs `body`, and repairs it. Errors other than damage fail the
    /// test.
    private func withDamage(
        _ extents: [(ref: Ref, type: ExtentType)], in pages: PageWriter,
        _ random: inout SeededGenerator, _ body: (inout SeededGenerator) -> Void
    ) throws {
        let chosen = extents[random.below(extents.count)]
        var ref = chosen.ref
        let base = try pages.edit(&ref, as: chosen.type)
        let size = Int(ref.pageCount) * Page.size
        let copy = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
        defer { copy.deallocate() }
        copy.copyMemory(from: base, byteCount: size)
        for _ in 0...random.below(3) { damage(base, pages: Int(ref.pageCount), &random) }
        body(&random)
        base.copyMemory(from: copy, byteCount: size)
    }

    /// Runs something that may find the damage.
    private func attempt(_ body: () throws(StorageError) -> Void) {
        do throws(StorageError) {
            try body()
        } catch {}
    }

    // MARK: Reading

    @Test(arguments: [1, UInt64.random(in: 0...UInt64(UInt32.max))])
    func `Damaged ordered trees are read without a trap`(seed: UInt64) throws {
        print("hostile ordered tree, seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let workshop = try TreeWorkshop()
        let tree = workshop.tree()
        try fill(tree, 1_500, &random)
        let extents = Extents()
        try tree.check(extents)
        for _ in 0..<1_500 {
            try withDamage(extents.found, in: workshop.pages, &random) { read(tree, &$0) }
        }
        try tree.check(VisitedExtents())
    }

    private func fill(_ tree: TreeWriter, _ count: Int, _ random: inout SeededGenerator) throws {
        for _ in 0..<count {
            let key = random.word(6) + random.bytes(random.below(random.below(10) == 0 ? 300 : 12))
            try with(key) { key in
                try with(random.bytes(random.below(40))) { _ = try tree.put(key, $0) }
            }
        }
    }

    private func read(_ tree: TreeWriter, _ random: inout SeededGenerator) {
        attempt { () throws(StorageError) in try tree.check(VisitedExtents()) }
        guard let cursor = try? tree.cursor() else { return }
        attempt { () throws(StorageError) in
            var isThere = try cursor.seekFirst()
            var steps = 0
            while isThere, steps < 20_000 {
                _ = cursor.key.count + (try cursor.value.count)
                isThere = try cursor.next()
                steps += 1
            }
        }
        for _ in 0..<10 {
            let key = random.word(8)
            key.withUnsafeBytes { key in
                attempt { () throws(StorageError) in _ = try tree.value(forKey: key) }
                attempt { () throws(StorageError) in _ = try tree.rank(of: key) }
                attempt { () throws(StorageError) in
                    if try cursor.seek(before: key) { _ = try cursor.previous() }
                }
            }
        }
    }

    @Test(arguments: [1, UInt64.random(in: 0...UInt64(UInt32.max))])
    func `Damaged tables and lists are read without a trap`(seed: UInt64) throws {
        print("hostile table, seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let twin = try filledTable(700, &random)
        let extents = try extents(of: twin)
        for _ in 0..<1_500 {
            try withDamage(extents, in: twin.workshop.pages, &random) {
                read(twin.table, twin.workshop.sequences.values, &$0)
            }
        }
        try twin.check()
    }

    private func filledTable(_ count: Int, _ random: inout SeededGenerator) throws -> TableTwin {
        let twin = try TableTwin(TableTests.everyType)
        for key in 0..<Int64(count) {
            try twin.insert(key * 2 + Int64(random.below(2)))
            guard random.below(3) > 0, let key = twin.rows.keys.max() else { continue }
            for column in TableTests.everyType where column.type != .list {
                try twin.set(
                    key, column.id,
                    .random(column.type, nullable: column.isNullable, longest: 300, &random))
            }
            let length = random.below(200) == 0 ? 900 : random.below(6)
            for _ in 0..<length {
                try twin.table.listInsert(key, 31, at: 0, .int64(Int64(length)))
                try with(random.bytes(random.below(30))) {
                    try twin.table.listInsert(key, 32, at: 0, .bytes($0))
                }
            }
        }
        return twin
    }

    private func extents(of twin: TableTwin) throws -> [(ref: Ref, type: ExtentType)] {
        let extents = Extents()
        try twin.table.check(extents)
        for sequence in twin.workshop.sequences.values { try sequence.check(extents) }
        return extents.found
    }

    private func read(
        _ table: TableWriter, _ sequences: some Collection<SequenceReader>,
        _ random: inout SeededGenerator
    ) {
        attempt { () throws(StorageError) in try table.check(VisitedExtents()) }
        for sequence in sequences {
            attempt { () throws(StorageError) in try sequence.check(VisitedExtents()) }
        }
        attempt { () throws(StorageError) in
            try table.forEachCluster { (view) throws(StorageError) in
                for column in table.columns {
                    attempt { () throws(StorageError) in try scan(view, column) }
                }
                return true
            }
        }
        for _ in 0..<20 {
            let key = Int64(random.below(1_500))
            attempt { () throws(StorageError) in _ = try table.contains(key) }
            attempt { () throws(StorageError) in _ = try table.rank(of: key) }
            attempt { () throws(StorageError) in _ = try table.key(atRank: Int(key)) }
            for column in table.columns where column.type != .list {
                attempt { () throws(StorageError) in _ = try table.cell(key, column.id) }
            }
            for column in [31, 32] as [UInt32] {
                attempt { () throws(StorageError) in try read(try table.list(key, column)) }
            }
        }
    }

    private func scan(_ view: ClusterView, _ column: Column) throws(StorageError) {
        _ = try view.nulls(column.id)?[(view.count - 1) / 64]
        _ = try view.zone(column.id)
        for row in [0, view.count - 1] {
            switch column.type {
            case .bool: _ = try view.bools(column.id)[row / 64]
            case .int64: _ = try view.integers(column.id)[row]
            case .float32: _ = try view.float32s(column.id)[row]
            case .float64: _ = try view.float64s(column.id)[row]
            case .timestamp:
                _ = (
                    try view.timestamps(column.id).seconds[row],
                    try view.timestamps(column.id).nanoseconds[row]
                )
            case .fixed16, .fixed12: _ = try view.fixed(column.id)[row]
            case .bytes: _ = try view.bytes(column.id)[row].reduce(0) { $0 &+ Int($1) }
            case .list: try read(try view.list(column.id, row))
            }
        }
    }

    private func read(_ list: ListView) throws(StorageError) {
        for index in [0, list.count / 2, list.count - 1] where index >= 0 && index < list.count {
            if case .bytes(let bytes) = try list.cell(at: index) {
                _ = bytes.reduce(0) { $0 &+ Int($1) }
            }
        }
        try list.forEachBlock { (block) throws(StorageError) in
            for index in 0..<block.count {
                if case .bytes(let bytes) = try block.cell(at: index) {
                    _ = bytes.reduce(0) { $0 &+ Int($1) }
                }
            }
            return true
        }
    }

    // MARK: Writing

    @Test(arguments: 1...60 as ClosedRange<UInt64>)
    func `Damaged trees are written to without a trap`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let twin = try filledTable(300, &random)
        let tree = twin.workshop.tree()
        try fill(tree, 500, &random)
        let ordered = Extents()
        try tree.check(ordered)
        for extents in [try extents(of: twin), ordered.found] {
            for _ in 0..<6 {
                var chosen = extents[random.below(extents.count)]
                damage(
                    try twin.workshop.pages.edit(&chosen.ref, as: chosen.type),
                    pages: Int(chosen.ref.pageCount), &random)
            }
        }
        for _ in 0..<600 { write(twin.table, &random) }
        for _ in 0..<600 { write(tree, &random) }
        attempt { () throws(StorageError) in try twin.table.freeAll() }
        attempt { () throws(StorageError) in try tree.freeAll() }
    }

    private func write(_ table: TableWriter, _ random: inout SeededGenerator) {
        let key = Int64(random.below(700))
        let column = table.columns[random.below(table.columns.count)]
        let index = random.below(5)
        let value = Value.random(
            column.elementType ?? column.type, nullable: column.isNullable, longest: 1_500, &random)
        value.with { cell in
            switch random.below(8) {
            case 0: attempt { () throws(StorageError) in try table.insertRow(key) }
            case 1: attempt { () throws(StorageError) in try table.eraseRow(key) }
            case _ where column.type != .list:
                attempt { () throws(StorageError) in try table.setCell(key, column.id, cell) }
            case 2:
                attempt { () throws(StorageError) in try table.listErase(key, column.id, at: index)
                }
            case 3:
                attempt { () throws(StorageError) in
                    try table.listMove(key, column.id, from: index, to: 0)
                }
            case 4:
                attempt { () throws(StorageError) in try table.listSwap(key, column.id, index, 1) }
            case 5: attempt { () throws(StorageError) in try table.listClear(key, column.id) }
            default:
                attempt { () throws(StorageError) in
                    try table.listInsert(key, column.id, at: 0, cell)
                }
            }
        }
    }

    private func write(_ tree: TreeWriter, _ random: inout SeededGenerator) {
        let key = random.word(6) + random.bytes(random.below(10))
        let value = random.bytes(random.below(300))
        key.withUnsafeBytes { key in
            value.withUnsafeBytes { value in
                if random.below(2) == 0 {
                    attempt { () throws(StorageError) in _ = try tree.put(key, value) }
                } else {
                    attempt { () throws(StorageError) in
                        let cursor = try tree.cursor()
                        guard try cursor.seek(key) else { return }
                        try Array(cursor.key).withBytes { found throws(StorageError) in
                            _ = try tree.delete(found)
                        }
                    }
                }
            }
        }
    }
}
