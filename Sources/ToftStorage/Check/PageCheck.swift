/// What the bytes of one page promise by themselves: order, counts, offsets, lengths, room. The
/// check of a file asks it of every page that it reaches. Debug builds ask it of every page before
/// it is written.
enum PageCheck {
    private static func damage(_ page: UInt64, _ reason: String) -> StorageError {
        .corrupt(page: page, reason: reason)
    }

    // MARK: Trees

    /// The separators of a node ascend and its heap holds what it says. `isSequence`: the node has
    /// no separators; nil where that is not known.
    static func check(_ node: InnerNode, isSequence: Bool?) throws(StorageError) {
        let heapLow = node.base.uint16(at: InnerLayout.heapLow)
        let gap = heapLow - InnerLayout.entries - node.count * InnerLayout.entrySize
        guard try node.separator(0).length == 0,
            node.usedBytes + gap + node.base.uint16(at: InnerLayout.garbage) == InnerLayout.room
        else { throw damage(node.page, "an inner node contradicts itself") }
        var hasNoKeys = isSequence ?? false
        if isSequence == nil, node.count > 1 { hasNoKeys = try node.separator(1).length == 0 }
        for index in 0..<node.count {
            guard node.rows(index) > 0 else { throw damage(node.page, "a child has no rows") }
            let separator = try node.separator(index)
            if hasNoKeys {
                guard separator.length == 0 else { throw damage(node.page, "a sequence has a key") }
            } else if index > 1, try node.separator(index - 1).compare(separator) >= 0 {
                throw damage(node.page, "separators are out of order")
            }
        }
    }

    /// The keys of a leaf ascend, and its heap holds what it says.
    static func check(_ leaf: OrderedLeaf) throws(StorageError) {
        guard leaf.count > 0 else { throw damage(leaf.page, "a leaf is empty") }
        let base = leaf.base
        let heapLow = base.uint16(at: OrderedLeafLayout.heapLow)
        let slots = OrderedLeafLayout.slots + leaf.count * OrderedLeafLayout.slotSize
        let used = try leaf.usedBytes()
        guard
            used + heapLow - slots + base.uint16(at: OrderedLeafLayout.garbage)
                == OrderedLeafLayout.room
        else { throw damage(leaf.page, "the entries of a leaf overlap") }
        let last = try leaf.entry(leaf.count - 1)
        guard base.uint32(at: OrderedLeafLayout.lastHint) == Int(last.suffix.hint) else {
            throw damage(leaf.page, "a leaf names another last key than it has")
        }
        for index in 1..<max(1, leaf.count) {
            let before = try leaf.entry(index - 1).suffix
            let suffix = try leaf.entry(index).suffix
            guard
                before.hint < suffix.hint
                    || before.hint == suffix.hint && before.compareRest(suffix) < 0
            else { throw damage(leaf.page, "the keys of a leaf are out of order") }
        }
    }

    // MARK: Lists

    /// The elements of a block lie side by side, in their order, and fill it.
    static func check(_ block: ElementBlock) throws(StorageError) {
        guard block.kind.type == .bytes else { return }
        var end = block.kind.blockSize(count: block.count, heapBytes: 0)
        for index in 0..<block.count {
            let bytes: UnsafeRawBufferPointer
            switch try block.element(index) {
            case .cell(.bytes(let value)): bytes = value
            case .blob(let ref): bytes = ref
            case .cell: continue
            }
            guard let start = bytes.baseAddress, start - block.base == end else {
                throw damage(block.page, "the elements of a list overlap")
            }
            end += bytes.count
        }
        guard end == block.length else {
            throw damage(block.page, "a block of list elements is longer than its elements")
        }
    }

    /// A block of elements of whatever type it says.
    static func checkBlock(_ base: UnsafeRawPointer, available: Int, page: UInt64)
        throws(StorageError)
    {
        guard available >= ElementLayout.values,
            let type = ColumnType(
                rawValue: UInt8(truncatingIfNeeded: base.uint8(at: ElementLayout.type))),
            type != .list
        else { throw damage(page, "a block of list elements contradicts itself") }
        try check(
            try ElementBlock(
                base, available: available, kind: ElementKind(type: type, isNullable: true),
                page: page))
    }

    // MARK: Clusters

    /// Keys ascend; columns are in the order of their ids and apart from each other; nulls, bounds
    /// and cells are what the column's entry says; no two cells share bytes; what lies behind the
    /// last row is zero, as a row that is appended expects.
    static func check(_ cluster: ClusterPage) throws(StorageError) {
        let keys = cluster.keys
        for row in 1..<max(1, cluster.rowCount) where keys[row - 1] >= keys[row] {
            throw damage(cluster.page, "keys are out of order")
        }
        var cells: [Range<Int>] = []
        var end = cluster.columnsStart
        var lastID = -1
        for index in 0..<cluster.columnCount {
            let id = cluster.base.uint32(at: cluster.entry(index) + ClusterLayout.entryID)
            let slice = try cluster.slice(index)
            guard id > lastID else { throw damage(cluster.page, "columns are out of order") }
            guard slice.start >= end else { throw damage(cluster.page, "columns overlap") }
            (lastID, end) = (id, slice.range.upperBound)
            try checkColumn(cluster, slice, &cells)
        }
        try checkHeap(cluster, &cells)
        try checkZeros(
            cluster, cluster.keysStart + cluster.rowCount * 8..<cluster.columnsStart)
    }

    private static func checkHeap(_ cluster: ClusterPage, _ cells: inout [Range<Int>])
        throws(StorageError)
    {
        cells.sort { $0.lowerBound < $1.lowerBound }
        var used = cluster.base.uint32(at: cluster.header + ClusterLayout.garbage)
        var end = cluster.heapStart
        for cell in cells {
            guard cell.lowerBound >= end else { throw damage(cluster.page, "cells overlap") }
            end = cell.upperBound
            used += cell.count
        }
        guard used <= cluster.heapEnd - cluster.heapStart else {
            throw damage(cluster.page, "a heap counts more garbage than it has room for")
        }
    }

    private static func checkColumn(
        _ cluster: ClusterPage, _ slice: ColumnSlice, _ cells: inout [Range<Int>]
    ) throws(StorageError) {
        var nulls = 0
        for row in 0..<cluster.rowCount {
            let isNull = slice.isNull(row)
            nulls += isNull ? 1 : 0
            if slice.geometry.hasHeap {
                try checkHeapCell(cluster, slice, row, isNull, &cells)
            } else if !isNull {
                try checkBounds(cluster, slice, slice.fixedCell(row))
            }
        }
        guard slice.nullCount == nulls else {
            throw damage(cluster.page, "a column counts its nulls wrongly")
        }
        try checkEnd(cluster, slice)
    }

    /// The arrays of a column are zero behind the last row.
    private static func checkEnd(_ cluster: ClusterPage, _ slice: ColumnSlice) throws(StorageError)
    {
        let geometry = slice.geometry
        let rows = cluster.rowCount
        let values = slice.start + geometry.values
        if geometry.isNullable { try checkBits(cluster, slice.start..<values) }
        switch geometry.type {
        case .bool: try checkBits(cluster, values..<slice.range.upperBound)
        case .int64:
            try checkZeros(cluster, values + rows * geometry.width.bytes..<slice.range.upperBound)
        case .float64: try checkZeros(cluster, values + rows * 8..<slice.range.upperBound)
        case .float32, .bytes, .list:
            try checkZeros(cluster, values + rows * 4..<slice.range.upperBound)
        case .timestamp:
            let nanoseconds = slice.start + geometry.nanoseconds
            try checkZeros(cluster, values + rows * geometry.width.bytes..<nanoseconds)
            try checkZeros(cluster, nanoseconds + rows * 4..<slice.range.upperBound)
        }
    }

    private static func checkBits(_ cluster: ClusterPage, _ bitmap: Range<Int>)
        throws(StorageError)
    {
        let word = cluster.rowCount / 64
        let start = bitmap.lowerBound + word * 8
        guard start < bitmap.upperBound else { return }
        guard cluster.base.uint64(at: start) >> UInt64(cluster.rowCount % 64) == 0 else {
            throw damage(cluster.page, "a bit behind the last row is set")
        }
        try checkZeros(cluster, start + 8..<bitmap.upperBound)
    }

    private static func checkZeros(_ cluster: ClusterPage, _ range: Range<Int>)
        throws(StorageError)
    {
        for offset in range where cluster.base.uint8(at: offset) != 0 {
            throw damage(cluster.page, "a value behind the last row is set")
        }
    }

    private static func checkBounds(_ cluster: ClusterPage, _ slice: ColumnSlice, _ cell: Cell)
        throws(StorageError)
    {
        if slice.isUnbounded { return }
        let isWithin: Bool
        switch cell {
        case .int64(let value):
            isWithin =
                Int64(bitPattern: slice.low) <= value && value <= Int64(bitPattern: slice.high)
        case .timestamp(let value):
            isWithin =
                Int64(bitPattern: slice.low) <= value.seconds
                && value.seconds <= Int64(bitPattern: slice.high)
        case .float32(let value):
            isWithin =
                Double(bitPattern: slice.low) <= Double(value)
                && Double(value) <= Double(bitPattern: slice.high)
        case .float64(let value):
            isWithin =
                Double(bitPattern: slice.low) <= value && value <= Double(bitPattern: slice.high)
        case .bool, .bytes, .null: isWithin = true
        }
        guard isWithin else {
            throw damage(cluster.page, "a value lies outside its column's bounds")
        }
    }

    private static func checkHeapCell(
        _ cluster: ClusterPage, _ slice: ColumnSlice, _ row: Int, _ isNull: Bool,
        _ cells: inout [Range<Int>]
    ) throws(StorageError) {
        let cell = slice.heapCell(row)
        if cell.raw == 0 { return }
        let bytes = try cluster.heapBytes(cell)
        let end = cell.offset + cell.length
        guard !isNull, cell.length > 0, UInt64(cell.offset) >= slice.low, UInt64(end) <= slice.high
        else { throw damage(cluster.page, "a cell lies outside its column's heap") }
        cells.append(cell.offset..<end)
        if cell.isExternal {
            let size =
                slice.geometry.type == .list ? ClusterLayout.sequenceIDSize : Ref.size
            guard cell.length == size else {
                throw damage(cluster.page, "a reference of the wrong size")
            }
        } else if slice.geometry.type == .list, let base = bytes.baseAddress {
            try checkBlock(base, available: bytes.count, page: cluster.page)
        }
    }
}
