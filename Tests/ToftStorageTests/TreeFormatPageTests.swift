// Tests: ClusterLayout.swift, TreeLayout.swift
import Testing

@testable import ToftStorage

/// Compares the format page's tables of trees and clusters with the constants, as `FormatPageTests`
/// does those of the pager.
@Suite struct TreeFormatPageTests {
    @Test func `The page draws roots and nodes as they are`() throws {
        try FormatPageTests.expect(
            "Tree root",
            [
                TreeRootLayout.kind, TreeRootLayout.height, TreeRootLayout.flags,
                TreeRootLayout.count, TreeRootLayout.nextKey, TreeRootLayout.ref,
            ], end: TreeRootLayout.size)
        try FormatPageTests.expect(
            "Table column",
            [
                ColumnLayout.id, ColumnLayout.type, ColumnLayout.flags, ColumnLayout.elementType,
                ColumnLayout.elementType + 1,
            ], end: ColumnLayout.size)
        try FormatPageTests.expect(
            "Inner node",
            [
                InnerLayout.height, InnerLayout.count, InnerLayout.heapLow, InnerLayout.garbage,
                InnerLayout.entries,
            ], end: nil)
        try FormatPageTests.expect(
            "Inner entry",
            [
                InnerLayout.entryRef, InnerLayout.entryRows, InnerLayout.entryPrefix,
                InnerLayout.entryTailOffset, InnerLayout.entryKeyLength,
            ], end: InnerLayout.entrySize)
        try FormatPageTests.expect(
            "Ordered leaf",
            [
                OrderedLeafLayout.count, OrderedLeafLayout.heapLow, OrderedLeafLayout.garbage,
                OrderedLeafLayout.sharedLength, OrderedLeafLayout.middleLength,
                OrderedLeafLayout.formCount, OrderedLeafLayout.lastHint, OrderedLeafLayout.forms,
                OrderedLeafLayout.slots,
            ], end: nil)
        try FormatPageTests.expect(
            "Ordered slot",
            [
                OrderedLeafLayout.slotHint, OrderedLeafLayout.slotCell,
            ], end: OrderedLeafLayout.slotSize)
        try FormatPageTests.expect(
            "Buffered key", [BufferKeyLayout.idLength, BufferKeyLayout.id], end: nil)
        #expect(
            SystemTree.insertBuffer == [4, 5, 6, 7, 8]
                && SystemTree.insertBuffer.count == InsertBufferPolicy.usual.limits.count)
    }

    @Test func `The page draws blocks and clusters as they are`() throws {
        try FormatPageTests.expect(
            "Element block",
            [
                ElementLayout.type, ElementLayout.flags, ElementLayout.count, ElementLayout.length,
                ElementLayout.values,
            ], end: nil)
        #expect(SequenceLeafLayout.block == 32 && ElementLayout.slotSize == 4)
        try FormatPageTests.expect(
            "Cluster header",
            [
                ClusterLayout.rowCount, ClusterLayout.rowCapacity, ClusterLayout.columnCount,
                ClusterLayout.flags, ClusterLayout.heapStart, ClusterLayout.heapEnd,
                ClusterLayout.garbage,
            ], end: ClusterLayout.headerSize)
        try FormatPageTests.expect(
            "Column entry",
            [
                ClusterLayout.entryID, ClusterLayout.entryType, ClusterLayout.entryEncoding,
                ClusterLayout.entryFlags, ClusterLayout.entryTextRoom, ClusterLayout.entryOffset,
                ClusterLayout.entryNullCount, ClusterLayout.entryTextCount, ClusterLayout.entryLow,
                ClusterLayout.entryHigh,
            ], end: ClusterLayout.entrySize)
        #expect(HeapCell(offset: 5, length: 7, isExternal: true).raw == 5 | 7 << 19 | 1 << 31)
        #expect(
            1 << ClusterLayout.cellLengthShift == ExtentLimit.pages * Page.size,
            "an offset reaches every byte of the largest extent")
        #expect(ClusterLimits.inlineBytes <= ClusterLayout.cellLengthMask)
    }
}
