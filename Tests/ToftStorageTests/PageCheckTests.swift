// Tests: ClusterPage.swift, ExtentRules+All.swift, ExtentRules.swift, InnerEditor.swift,
// InnerNode.swift, LittleEndian.swift, TreeHead.swift, TreeRoot.swift
import Testing
@testable import ToftStorage

/// Pages that contradict themselves: the check finds each, and a debug build does not write them.
@Suite struct PageCheckTests {
    private static let columns: [Column] = [
        Column(id: 0, type: .int64, isNullable: true),
        Column(id: 1, type: .bytes, isNullable: true),
        Column(id: 2, type: .list, isNullable: false, elementType: .bytes),
        Column(id: 3, type: .bool, isNullable: false),
        Column(id: 4, type: .float64, isNullable: false),
    ]

    /// A table of one cluster, whose checksums are not computed yet.
    private static func cluster() throws -> TableTwin {
        let twin = try TableTwin(columns)
        for key in 0..<20 as Range<Int64> {
            try twin.insert(key)
            try twin.set(key, 0, key % 3 == 0 ? .null : .int(key))
            try twin.set(key, 1, .bytes(Array("text \(key)".utf8)))
            try with(Array("element \(key)".utf8)) {
                try twin.table.listInsert(key, 2, at: 0, .bytes($0))
            }
            try with([1, 2, 3]) { try twin.table.listInsert(key, 2, at: 1, .bytes($0)) }
            try twin.set(key, 4, .double(1))
        }
        // So there is room behind the last row, and a gap between the keys.
        try twin.erase(19)
        try twin.erase(10)
        return twin
    }

    /// The effects of mistakes on a cluster: the positions of its header, and of a column's entry
    /// and arrays, are given.
    private static let clusterDamages:
        [(String, @Sendable (UnsafeMutableRawPointer, ClusterPage) throws -> Void)] = [
            (
                "rows",
                { base, cluster in
                    base.storeUInt16(
                        ClusterLimits.rows + 1, at: cluster.header + ClusterLayout.rowCapacity)
                }
            ),
            (
                "no rows",
                { base, cluster in
                    base.storeUInt16(0, at: cluster.header + ClusterLayout.rowCount)
                }
            ),
            (
                "key order",
                { base, cluster in
                    base.storeInt64(cluster.keys[5], at: cluster.keysStart + 4 * 8)
                }
            ),
            (
                "a key behind the last",
                { base, cluster in
                    base.storeInt64(1, at: cluster.keysStart + cluster.rowCount * 8)
                }
            ),
            (
                "null count",
                { base, cluster in
                    base.storeUInt16(
                        1, at: try cluster.slice(0).entry + ClusterLayout.entryNullCount)
                }
            ),
            (
                "lower bound",
                { base, cluster in
                    base.storeInt64(5, at: try cluster.slice(0).entry + ClusterLayout.entryLow)
                }
            ),
            (
                "upper bound",
                { base, cluster in
                    base.storeInt64(5, at: try cluster.slice(0).entry + ClusterLayout.entryHigh)
                }
            ),
            (
                "bound of a double",
                { base, cluster in
                    base.storeUInt64(
                        0.5.bitPattern, at: try cluster.slice(4).entry + ClusterLayout.entryHigh)
                }
            ),
            (
                "width",
                { base, cluster in
                    base.storeUInt8(3, at: try cluster.slice(0).entry + ClusterLayout.entryEncoding)
                }
            ),
            (
                "column order",
                { base, cluster in
                    base.storeUInt32(9, at: try cluster.slice(0).entry + ClusterLayout.entryID)
                }
            ),
            (
                "cells that overlap",
                { base, cluster in
                    let slice = try cluster.slice(1)
                    base.storeUInt32(
                        slice.heapCell(3).raw, at: slice.start + slice.geometry.values + 4 * 4)
                }
            ),
            (
                "a cell behind the last row",
                { base, cluster in
                    let slice = try cluster.slice(1)
                    base.storeUInt32(
                        slice.heapCell(3).raw,
                        at: slice.start + slice.geometry.values + cluster.rowCount * 4)
                }
            ),
            (
                "a bit behind the last row",
                { base, cluster in
                    let slice = try cluster.slice(3)
                    base.storeUInt64(1 << 25, at: slice.start + slice.geometry.values)
                }
            ),
            (
                "garbage",
                { base, cluster in
                    base.storeUInt32(cluster.byteCount, at: cluster.header + ClusterLayout.garbage)
                }
            ),
            (
                "a text's offset",
                { base, cluster in
                    let slot = try texts(base, cluster) + ElementLayout.values
                    base.storeUInt16(base.reading.uint16(at: slot) - 1, at: slot)
                }
            ),
            (
                "a text's length",
                { base, cluster in
                    let slot =
                        try texts(base, cluster) + ElementLayout.values + ElementLayout.slotLength
                    base.storeUInt16(base.reading.uint16(at: slot) - 1, at: slot)
                }
            ),
            (
                "the count of texts",
                { base, cluster in
                    base.storeUInt16(1, at: try texts(base, cluster) + ElementLayout.count)
                }
            ),
            (
                "an element without text",
                { base, cluster in
                    base.storeUInt8(0, at: try list(cluster) + ElementLayout.codes)
                }
            ),
            (
                "the code of no text",
                { base, cluster in
                    base.storeUInt8(200, at: try list(cluster) + ElementLayout.codes + 1)
                }
            ),
            (
                "texts outside the column's heap",
                { base, cluster in
                    let slice = try cluster.slice(2)
                    base.storeUInt64(slice.low + 4, at: slice.entry + ClusterLayout.entryLow)
                }
            ),
            (
                "a list's type",
                { base, cluster in
                    base.storeUInt8(2, at: try list(cluster) + ElementLayout.type)
                }
            ),
            (
                "a list's flags",
                { base, cluster in
                    base.storeUInt8(2, at: try list(cluster) + ElementLayout.flags)
                }
            ),
        ]

    /// The position of a row's list, whose elements are coded.
    private static func list(_ cluster: ClusterPage) throws -> Int {
        try cluster.slice(2).heapCell(3).offset
    }

    /// The position of the lists' texts.
    private static func texts(_ base: UnsafeMutableRawPointer, _ cluster: ClusterPage) throws
        -> Int
    {
        let block = try list(cluster)
        try #require(ElementBlock.isCoded(base + block, available: cluster.byteCount - block))
        return Int(try cluster.slice(2).low)
    }

    @Test(arguments: clusterDamages.indices)
    func `A cluster that contradicts itself is found, and not written`(index: Int) throws {
        let (name, damage) = Self.clusterDamages[index]
        let twin = try Self.cluster()
        var ref = twin.table.root.ref
        let base = try twin.workshop.pages.edit(&ref, as: .cluster)
        try twin.table.check(VisitedExtents())
        try damage(base, try ClusterPage(base, page: ref.page, pageCount: ref.pageCount))
        #expect(throws: StorageError.self, "\(name)") { try twin.table.check(VisitedExtents()) }
        try expectRefused(ref, "cluster", name) { try twin.commit() }
    }

    private func expectRefused(
        _ ref: Ref, _ kind: String, _ name: String, _ body: () throws -> Void
    ) throws {
        #if DEBUG
        do {
            try body()
            Issue.record("\(name): a damaged page was written")
        } catch StorageError.invalidPage(let page, let found, _) {
            #expect(page == ref.page && found == kind, "\(name)")
        }
        #endif
    }

    /// A tree of several leaves below one node.
    private func tree(_ workshop: TreeWorkshop) throws -> TreeWriter {
        let tree = workshop.tree()
        for number in 0..<600 {
            let key = Array("key number \(1_000 + number)".utf8)
            _ = try with(key) { try tree.put($0, $0) }
        }
        return tree
    }

    private static let leafDamages: [(String, @Sendable (UnsafeMutableRawPointer) throws -> Void)] =
        [
            (
                "count",
                { base in
                    base.storeUInt16(
                        base.reading.uint16(at: OrderedLeafLayout.count) - 1,
                        at: OrderedLeafLayout.count)
                }
            ),
            ("hint of the last", { base in base.storeUInt32(1, at: OrderedLeafLayout.lastHint) }),
            ("garbage", { base in base.storeUInt16(9, at: OrderedLeafLayout.garbage) }),
            (
                "order",
                { base in
                    base.move(
                        from: OrderedLeafLayout.slots,
                        to: OrderedLeafLayout.slots + OrderedLeafLayout.slotSize,
                        count: OrderedLeafLayout.slotSize)
                }
            ),
            (
                "value length",
                { base in
                    let form = OrderedLeafLayout.forms
                    base.storeUInt32(
                        base.reading.uint32(at: form) ^ 1 << OrderedLeafLayout.valueShift, at: form)
                }
            ),
            (
                "form",
                { base in
                    let cell = OrderedLeafLayout.slots + OrderedLeafLayout.slotCell
                    let other = OrderedLeafLayout.formLimit - 1
                    base.storeUInt16(
                        base.reading.uint16(at: cell) & OrderedLeafLayout.offsetMask
                            | other << OrderedLeafLayout.formShift, at: cell)
                }
            ),
            ("forms", { base in base.storeUInt16(16, at: OrderedLeafLayout.formCount) }),
            ("middle", { base in base.storeUInt16(3, at: OrderedLeafLayout.middleLength) }),
            (
                "middle that there is not",
                { base in
                    let form = OrderedLeafLayout.forms
                    base.storeUInt32(
                        base.reading.uint32(at: form) | 1 << OrderedLeafLayout.endShift, at: form)
                }
            ),
        ]

    @Test(arguments: leafDamages.indices)
    func `A leaf that contradicts itself is found, and not written`(index: Int) throws {
        let (name, damage) = Self.leafDamages[index]
        let workshop = try TreeWorkshop()
        let tree = try tree(workshop)
        let node = try InnerNode(
            try workshop.pages.view(tree.root.ref, as: .treeInner), page: tree.root.ref.page,
            height: tree.root.height)
        var ref = node.child(1)
        try damage(try workshop.pages.edit(&ref, as: .orderedLeaf))
        #expect(throws: StorageError.self, "\(name)") { try tree.check(VisitedExtents()) }
        try expectRefused(ref, "orderedLeaf", name) { _ = try workshop.commit(tree.root) }
    }

    private static let nodeDamages: [(String, @Sendable (UnsafeMutableRawPointer) throws -> Void)] =
        [
            (
                "rows of a child",
                { base in
                    base.storeUInt64(0, at: InnerLayout.entries + InnerLayout.entryRows)
                }
            ),
            ("height", { base in base.storeUInt8(65, at: InnerLayout.height) }),
            ("count", { base in base.storeUInt16(1, at: InnerLayout.count) }),
            (
                "order",
                { base in
                    base.storeUInt64(
                        .max,
                        at: InnerLayout.entries + InnerLayout.entrySize + InnerLayout.entryPrefix)
                }
            ),
        ]

    @Test(arguments: nodeDamages.indices)
    func `An inner node that contradicts itself is found, and not written`(index: Int) throws {
        let (name, damage) = Self.nodeDamages[index]
        let workshop = try TreeWorkshop()
        let tree = try tree(workshop)
        var ref = tree.root.ref
        let base = try workshop.pages.edit(&ref, as: .treeInner)
        try damage(base)
        #expect(throws: StorageError.self, "\(name)") { try tree.check(VisitedExtents()) }
        #expect(throws: StorageError.self, "\(name)") { _ = try workshop.commit(tree.root) }
    }

    @Test func `A row too many or too few below a child is found`() throws {
        for change in [-1, 1] {
            let workshop = try TreeWorkshop()
            let tree = try tree(workshop)
            var ref = tree.root.ref
            let base = try workshop.pages.edit(&ref, as: .treeInner)
            try InnerEditor(base: base, page: ref.page).addRows(1, change)
            #expect(throws: StorageError.self) { try tree.check(VisitedExtents()) }
            tree.reader.head.root.count = UInt64(Int(tree.root.count) + change)
            #expect(throws: StorageError.self) { try tree.check(VisitedExtents()) }
        }
    }

    @Test func `A next key that could be given again is found`() throws {
        let twin = try Self.cluster()
        twin.table.head.root.nextKey = 18
        #expect(throws: StorageError.self) { try twin.table.check(VisitedExtents()) }
        twin.table.head.root.nextKey = 19
        try twin.table.check(VisitedExtents())
    }
}
