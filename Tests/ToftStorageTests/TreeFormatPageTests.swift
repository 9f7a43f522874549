import Testing

@testable import ToftStorage

/// The format page's tables of trees and clusters hold against the constants, as those of the pager
/// do in `FormatPageTests`.
@Suite struct TreeFormatPageTests {
    private func expect(_ title: String, _ offsets: [Int]) throws {
        let rows = try #require(
            try FormatPageTests.tables()[title], "the page has no table called \(title)")
        #expect(rows.map(\.offset) == offsets, "\(title): \(rows.map(\.field))")
    }

    @Test func `The page draws roots and nodes as they are`() throws {
        try expect(
            "Tree root",
            [
                TreeRootLayout.kind, TreeRootLayout.height, TreeRootLayout.flags,
                TreeRootLayout.count, TreeRootLayout.nextKey, TreeRootLayout.ref,
            ])
        #expect(TreeRootLayout.size == 64)
        try expect(
            "Table column",
            [
                ColumnLayout.id, ColumnLayout.type, ColumnLayout.flags, ColumnLayout.elementType,
                ColumnLayout.elementType + 1,
            ])
        #expect(ColumnLayout.size == 12)
        try expect(
            "Inner node",
            [
                InnerLayout.height, InnerLayout.count, InnerLayout.heapLow, InnerLayout.garbage,
                InnerLayout.entries,
            ])
        try expect(
            "Inner entry",
            [
                InnerLayout.entryRef, InnerLayout.entryRows, InnerLayout.entryPrefix,
                InnerLayout.entryTailOffset, InnerLayout.entryKeyLength,
            ])
        #expect(InnerLayout.entrySize == 64)
        try expect(
            "Ordered leaf",
            [
                OrderedLeafLayout.count, OrderedLeafLayout.heapLow, OrderedLeafLayout.garbage,
                OrderedLeafLayout.sharedOffset,
                OrderedLeafLayout.sharedLength, OrderedLeafLayout.lastHint, OrderedLeafLayout.slots,
            ])
        try expect(
            "Ordered slot",
            [
                OrderedLeafLayout.slotHint, OrderedLeafLayout.slotOffset,
                OrderedLeafLayout.slotSuffixLength, OrderedLeafLayout.slotValueLength,
            ])
        #expect(OrderedLeafLayout.slotSize == 10)
        try expect("Delta key", [DeltaKeyLayout.idLength, DeltaKeyLayout.id])
        #expect(
            SystemTree.delta == 4...8 && SystemTree.delta.count == DeltaPolicy.usual.limits.count)
    }

    @Test func `The page draws blocks and clusters as they are`() throws {
        try expect(
            "Element block",
            [
                ElementLayout.count, ElementLayout.type, ElementLayout.flags, ElementLayout.length,
                ElementLayout.values,
            ])
        #expect(SequenceLeafLayout.block == 32 && ElementLayout.slotSize == 4)
        try expect(
            "Cluster header",
            [
                ClusterLayout.rowCount, ClusterLayout.rowCapacity, ClusterLayout.columnCount,
                ClusterLayout.heapStart, ClusterLayout.heapEnd,
                ClusterLayout.garbage,
            ])
        #expect(ClusterLayout.headerSize == 32)
        try expect(
            "Column entry",
            [
                ClusterLayout.entryID, ClusterLayout.entryType, ClusterLayout.entryEncoding,
                ClusterLayout.entryFlags, ClusterLayout.entryOffset,
                ClusterLayout.entryNullCount, ClusterLayout.entryLow, ClusterLayout.entryHigh,
            ])
        #expect(ClusterLayout.entrySize == 32)
        #expect(HeapCell(offset: 5, length: 7, isElsewhere: true).raw == 5 | 7 << 19 | 1 << 31)
        #expect(
            1 << ClusterLayout.cellLengthShift == ExtentLimit.pages * Page.size,
            "an offset reaches every byte of the largest extent")
        #expect(ClusterLimits.inlineBytes <= ClusterLayout.cellLengthMask)
    }
}
