// Tests: BlockPool.swift, OrderedEntry.swift, OrderedLeafRewrite.swift, RootPayload.swift,
// ScratchBuffers.swift
import Testing
@testable import ToftStorage

/// Limits of counts and lengths: their dependence on each other, and the behaviour at each of them,
/// one below and one above.
@Suite struct LimitTests {
    // MARK: Relations

    @Test func `Every offset and length that a cluster stores fits into its bits`() {
        #expect(ExtentLimit.pages * Page.size - 1 <= ClusterLayout.cellOffsetMask)
        #expect(ClusterLimits.inlineBytes <= ClusterLayout.cellLengthMask)
        // A list that grows reserves half as much again.
        #expect(
            (ClusterLimits.inlineList + ClusterLimits.inlineList / 2).roundedUpToEight
                <= ScratchBuffers.cellSize)
        #expect(ScratchBuffers.cellSize <= ClusterLayout.cellLengthMask)
        #expect(ClusterLimits.rows <= Int(UInt16.max))
        #expect(ClusterLimits.columns <= Int(UInt16.max))
        #expect(ClusterLimits.rows % 64 == 0)
        #expect(ClusterLimits.tailRows <= ClusterLimits.rows / 4)
        #expect(ClusterLimits.bytes <= ExtentLimit.pages * Page.size)
    }

    @Test func `A single row with all columns fits into a cluster however long its values are`() {
        let widest = ColumnGeometry(type: .timestamp, isNullable: true, capacity: 1, width: .eight)
        let fixed =
            ClusterLayout.headerSize + 8
            + ClusterLimits.columns * (ClusterLayout.entrySize + widest.size)
        // Beyond so much heap every further value is a reference. Growing takes a sixteenth more.
        let heap =
            ClusterLimits.heap + ClusterLimits.inlineBytes
            + ClusterLimits.columns * Ref.size
        let header = ExtentHeader.payloadStart(.cluster, pageCount: ExtentLimit.pages)
        #expect(header + fixed + heap + heap / 16 <= ExtentLimit.pages * Page.size)
    }

    @Test func `Every offset and length that a leaf stores fits into its bits`() {
        #expect(Page.size <= Int(UInt16.max))
        #expect(OrderedLeafLayout.room <= OrderedLeafLayout.offsetMask)
        #expect(
            OrderedLeafLayout.formLimit << OrderedLeafLayout.formShift
                | OrderedLeafLayout.offsetMask == Int(UInt16.max))
        #expect(OrderedLeafLayout.shortestMiddle >= OrderedLeafLayout.hintSize)
        #expect(TreeLimits.key <= OrderedLeafLayout.lengthMask)
        #expect(TreeLimits.inlineValue < OrderedLeafLayout.blobLength)
        #expect(TreeLimits.inlineValue < ElementLayout.nullLength)
        #expect(Ref.size <= TreeLimits.inlineValue)
        #expect(SequenceLeafLayout.room <= ElementLayout.countLimit)
        #expect(ScratchBuffers.blockSize <= Int(UInt16.max))
        // Two entries of the greatest length share a leaf, so a full one can be divided.
        #expect(
            2
                * (OrderedLeafLayout.slotSize + OrderedLeafLayout.formSize + TreeLimits.key
                    + TreeLimits.inlineValue) + OrderedLeafLayout.longestMiddle
                <= OrderedLeafLayout.room)
        #expect(
            3 * (InnerLayout.entrySize + TreeLimits.key) <= InnerLayout.room)
        #expect(
            ClusterLimits.inlineList + ElementLayout.slotSize + TreeLimits.inlineValue
                <= SequenceLeafLayout.room)
        #expect(InnerLayout.maximumHeight <= Int(UInt8.max))
    }

    @Test func `The parts of scratch memory hold what the limits allow`() {
        let scratch = ScratchBuffers()
        #expect(ScratchBuffers.elementSize >= TreeLimits.inlineValue)
        #expect(
            ScratchBuffers.blockSize
                >= ClusterLimits.inlineList + ElementLayout.slotSize + ScratchBuffers.elementSize)
        #expect(Int(bitPattern: scratch.block) % 8 == 0)
        #expect(Int(bitPattern: scratch.emptyBlock) % 8 == 0)
        #expect(ScratchBuffers.separatorSize >= TreeLimits.key - 8)
        #expect(ScratchBuffers.entrySize >= TreeLimits.key + TreeLimits.inlineValue)
        #expect(ScratchBuffers.entrySize >= TreeLimits.key + Ref.size)
        #expect(
            ScratchBuffers.leafSize
                >= SequenceLeafLayout.room + ElementLayout.slotSize + TreeLimits.inlineValue)
        #expect(OrderedLeafRewrite.keySize >= TreeLimits.key)
    }

    @Test func `Values, records, runs and holes fit where they are kept`() {
        #expect(TreeLimits.value <= ExtentLimit.blobBytes)
        #expect(RecordLayout.limit + RecordLayout.effects <= TreeLimits.value)
        #expect(
            TreeRootLayout.size + ClusterLimits.columns * ColumnLayout.size <= TreeLimits.value)
        #expect(RootPayload.runLimit(besides: RootPayload.longestRecord) > 0)
        #expect(
            ExtentHeader.payloadStart(.regionDirectory, pageCount: ExtentLimit.pages)
                + ExtentLimit.regions * RegionEntry.size <= ExtentLimit.pages * Page.size)
        #expect(BufferKeyLayout.id + BufferKeyLayout.longestID < TreeLimits.key)
        let bitmap = Bitmap()
        let limit = PageRuns.fragmentPages
        for count in [1, limit - 1, limit, limit + 1] {
            let hole = bitmap.fragment(of: count, below: Page.perRegion)
            #expect(hole == nil)
        }
    }

    // MARK: One below, at, one above

    @Test(arguments: -1...1 as ClosedRange<Int>)
    func `A key is as long as the limit at most`(beyond: Int) throws {
        let workshop = try TreeWorkshop()
        let tree = workshop.tree()
        for first in 0..<40 as Range<UInt8> {
            let key = [first] + [UInt8](repeating: 7, count: TreeLimits.key + beyond - 1)
            let put = { try with(key) { key in try with([1]) { try tree.put(key, $0) } } }
            if beyond > 0 {
                #expect(
                    throws: StorageError.keyTooLong(
                        length: TreeLimits.key + 1, limit: TreeLimits.key)
                ) { _ = try put() }
            } else {
                #expect(try put())
            }
        }
        #expect(try tree.reader.count == (beyond > 0 ? 0 : 40))
        try tree.reader.check(VisitedExtents())
        _ = try workshop.commit(tree.root)
    }

    @Test(arguments: -1...1 as ClosedRange<Int>)
    func `A value lies in its leaf up to the limit and outside beyond it`(beyond: Int) throws {
        let workshop = try TreeWorkshop()
        let tree = workshop.tree()
        let value = [UInt8](repeating: 9, count: TreeLimits.inlineValue + beyond)
        for first in 0..<40 as Range<UInt8> {
            let key = [first] + [UInt8](repeating: 7, count: TreeLimits.key - 1)
            _ = try with(key) { key in try with(value) { try tree.put(key, $0) } }
        }
        let visited = VisitedExtents()
        try tree.reader.check(visited)
        #expect(visited.pages.count == workshop.ownPages)
        for first in 0..<40 as Range<UInt8> {
            let key = [first] + [UInt8](repeating: 7, count: TreeLimits.key - 1)
            #expect(try with(key) { try tree.reader.value(forKey: $0).map(Array.init) } == value)
        }
        _ = try workshop.commit(tree.root)
    }

    @Test(arguments: [
        ClusterLimits.inlineBytes, TreeLimits.inlineValue, ClusterLimits.inlineList,
    ])
    func `Texts and elements of lists around each limit are what was written`(limit: Int) throws {
        let twin = try TableTwin([
            Column(id: 0, type: .bytes, isNullable: false),
            Column(id: 1, type: .list, isNullable: false, elementType: .bytes),
            Column(id: 2, type: .list, isNullable: false, elementType: .bool),
        ])
        for beyond in -9...1 {
            let key = Int64(beyond + 9)
            try twin.insert(key)
            let text = [UInt8](repeating: UInt8(100 + beyond), count: limit + beyond)
            try twin.set(key, 0, .bytes(text))
            try with(text) { try twin.table.listInsert(key, 1, at: 0, .bytes($0)) }
            try with([1, 2]) { try twin.table.listInsert(key, 1, at: 1, .bytes($0)) }
            twin.lists[key]![1] = [.bytes(text), .bytes([1, 2])]
            for index in 0..<limit + beyond {
                try twin.table.listInsert(key, 2, at: index, .bool(index % 3 == 0))
            }
            twin.lists[key]![2] = (0..<limit + beyond).map { .bool($0 % 3 == 0) }
        }
        try twin.check()
        try twin.compare()
        try twin.commit()
        try twin.check()
        try twin.compare()
    }

    @Test(arguments: -1...1 as ClosedRange<Int>)
    func `A table has as many columns as the limit at most`(beyond: Int) throws {
        let count = ClusterLimits.columns + beyond
        let columns = (0..<min(count, ClusterLimits.columns)).map {
            Column(id: UInt32($0), type: .timestamp, isNullable: true)
        }
        let twin = try TableTwin(columns)
        if beyond > 0 {
            #expect(throws: StorageError.self) {
                try twin.table.addColumn(
                    Column(id: UInt32(count), type: .bool, isNullable: false))
            }
        }
        // Before, behind and between rows in different clusters.
        for key in [5, 1, 9, 7, 3] as [Int64] { try twin.insert(key) }
        for key in [1, 5, 9] as [Int64] {
            try twin.set(key, 7, .time(Timestamp(seconds: .max, nanoseconds: Int32(key))))
        }
        #expect(twin.table.rowCount == 5)
        try twin.check()
        try twin.commit()
        try twin.check()
        try twin.erase(5)
        try twin.check()
    }

    @Test func `Rows take in two thousand new columns, however many share a cluster`() throws {
        let twin = try TableTwin([Column(id: 0, type: .int64, isNullable: false)])
        for key in 0..<256 as Range<Int64> {
            try twin.insert(key)
            try twin.set(key, 0, .int(key))
        }
        let added = (1..<UInt32(ClusterLimits.columns)).map {
            Column(id: $0, type: .float64, isNullable: true)
        }
        twin.table = twin.workshop.table(
            TreeHead(root: twin.table.root, columns: twin.table.columns + added))
        for key in [0, 100, 255] as [Int64] { try twin.set(key, 1_000, .double(Double(key))) }
        try twin.check()
        for key in [0, 99, 100, 254, 255] as [Int64] {
            #expect(Value(try twin.table.cell(key, 0)) == .int(key))
            #expect(
                Value(try twin.table.cell(key, 1_000))
                    == (key % 100 == 99 || key == 254 ? .null : .double(Double(key))))
        }
        try twin.commit()
        try twin.check()
    }

    // MARK: Borrowed bytes

    @Test func `A text that lies in the cluster is set where that has to be written anew for it`()
        throws
    {
        let twin = try TableTwin([Column(id: 0, type: .bytes, isNullable: false)])
        for key in 0..<100 as Range<Int64> {
            try twin.insert(key)
            try twin.set(key, 0, .bytes(Array("text number \(key), somewhat long".utf8)))
        }
        let added = [
            Column(id: 1, type: .bytes, isNullable: false),
            Column(id: 2, type: .list, isNullable: false, elementType: .bytes),
        ]
        for column in added {
            try twin.table.addColumn(column)
            for key in 0..<100 as Range<Int64> {
                guard case .bytes(let lent) = try twin.table.cell(key, 0) else { continue }
                if column.type == .list {
                    try twin.table.listInsert(key, column.id, at: 0, .bytes(lent))
                    twin.lists[key]![column.id] = [twin.rows[key]![0]!]
                } else {
                    try twin.table.setCell(key, column.id, .bytes(lent))
                    twin.rows[key]![column.id] = twin.rows[key]![0]
                }
            }
        }
        try twin.check()
        try twin.compare()
    }

    @Test func `Memory that was given back reads as poison`() throws {
        #if DEBUG
        var blocks = BlockPool()
        defer { blocks.deallocate() }
        let block = blocks.take(pageCount: 1)
        block.initializeMemory(as: UInt8.self, repeating: 1, count: Page.size)
        blocks.give(block, pageCount: 1)
        let again = blocks.take(pageCount: 1)
        #expect(again == block)
        #expect(again.reading.uint8(at: 8) == Int(BlockPool.poison))
        #expect(again.reading.uint8(at: Page.size - 1) == Int(BlockPool.poison))
        blocks.give(again, pageCount: 1)
        #endif
    }
}
