// The rules for the bytes of a cluster that need no other page: see `PageReader.checkBeforeWrite`.

extension ClusterPage {
    /// Keys ascend; columns are in the order of their ids and do not overlap; nulls, bounds and
    /// cells match the column's entry; no two cells share bytes; everything behind the last row is
    /// zero, as appending a row expects.
    func check() throws(StorageError) {
        for row in 1..<max(1, rowCount) where keys[row - 1] >= keys[row] {
            throw damage("keys are out of order")
        }
        var cells: [Range<Int>] = []
        var end = columnsStart
        var lastID = -1
        for index in 0..<columnCount {
            let id = base.uint32(at: entry(index) + ClusterLayout.entryID)
            let slice = try slice(index)
            guard id > lastID else { throw damage("columns are out of order") }
            guard slice.start >= end else { throw damage("columns overlap") }
            (lastID, end) = (id, slice.range.upperBound)
            try checkColumn(slice, &cells)
        }
        try checkHeap(&cells)
        if !hasDenseKeys { try checkZeros(keysStart + rowCount * 8..<columnsStart) }
    }

    private func checkHeap(_ cells: inout [Range<Int>])
        throws(StorageError)
    {
        cells.sort { $0.lowerBound < $1.lowerBound }
        var used = base.uint32(at: header + ClusterLayout.garbage)
        var end = heapStart
        for cell in cells {
            guard cell.lowerBound >= end else { throw damage("cells overlap") }
            end = cell.upperBound
            used += cell.count
        }
        guard used <= heapEnd - heapStart else {
            throw damage("a heap counts more garbage than it has room for")
        }
    }

    private func checkColumn(_ slice: ColumnSlice, _ cells: inout [Range<Int>]) throws(StorageError)
    {
        var nulls = 0
        for row in 0..<rowCount {
            let isNull = slice.isNull(row)
            nulls += isNull ? 1 : 0
            if slice.geometry.isCoded {
                try checkCode(slice, row, isNull)
            } else if slice.geometry.hasHeap {
                try checkHeapCell(slice, slice.heapCell(row), isNull, &cells)
            } else if !isNull {
                try checkBounds(slice, slice.fixedCell(row))
            }
        }
        guard slice.nullCount == nulls else {
            throw damage("a column counts its nulls wrongly")
        }
        if slice.geometry.isCoded { try checkTexts(slice, &cells) }
        try checkEnd(slice)
    }

    private func checkCode(_ slice: ColumnSlice, _ row: Int, _ isNull: Bool) throws(StorageError) {
        guard slice.values.uint8(at: row) <= (isNull ? 0 : slice.textCount) else {
            throw damage("a row has the code of no text")
        }
    }

    private func checkTexts(_ slice: ColumnSlice, _ cells: inout [Range<Int>]) throws(StorageError)
    {
        guard base.uint16(at: slice.entry + ClusterLayout.entryTextCount) == slice.textCount,
            slice.text(0).raw == 0
        else { throw damage("a column has more texts than room for them") }
        for code in stride(from: 1, through: slice.textCount, by: 1) {
            let text = slice.text(code)
            guard text.raw != 0 else { throw damage("a code has no text") }
            try checkHeapCell(slice, text, false, &cells)
            let tag = base.uint8(at: slice.start + slice.geometry.tags + code)
            guard tag == SoughtText(try heapBytes(text)).tag else {
                throw damage("a text has the tag of another one")
            }
        }
    }

    /// The arrays of a column are zero behind the last row.
    private func checkEnd(_ slice: ColumnSlice) throws(StorageError) {
        let geometry = slice.geometry
        let rows = rowCount
        let values = slice.start + geometry.values
        if geometry.isNullable { try checkBits(slice.start..<values) }
        switch geometry.type {
        case .bool: try checkBits(values..<slice.range.upperBound)
        case .int64:
            try checkZeros(values + rows * geometry.width.bytes..<slice.range.upperBound)
        case .float64: try checkZeros(values + rows * 8..<slice.range.upperBound)
        case .fixed16: try checkZeros(values + rows * 16..<slice.range.upperBound)
        case .fixed12: try checkZeros(values + rows * 12..<slice.range.upperBound)
        case .bytes where geometry.isCoded:
            let texts = slice.start + geometry.texts
            let tags = slice.start + geometry.tags
            try checkZeros(values + rows..<tags + 1)
            try checkZeros(tags + slice.textCount + 1..<texts)
            try checkZeros(texts + (slice.textCount + 1) * 4..<slice.range.upperBound)
        case .float32, .bytes, .list:
            try checkZeros(values + rows * 4..<slice.range.upperBound)
        case .timestamp:
            let nanoseconds = slice.start + geometry.nanoseconds
            try checkZeros(values + rows * geometry.width.bytes..<nanoseconds)
            if geometry.hasNanoseconds {
                try checkZeros(nanoseconds + rows * 4..<slice.range.upperBound)
            }
        }
    }

    private func checkBits(_ bitmap: Range<Int>)
        throws(StorageError)
    {
        let word = rowCount / 64
        let start = bitmap.lowerBound + word * 8
        guard start < bitmap.upperBound else { return }
        guard base.uint64(at: start) >> UInt64(rowCount % 64) == 0 else {
            throw damage("a bit behind the last row is set")
        }
        try checkZeros(start + 8..<bitmap.upperBound)
    }

    private func checkZeros(_ range: Range<Int>)
        throws(StorageError)
    {
        for offset in range where base.uint8(at: offset) != 0 {
            throw damage("a value behind the last row is set")
        }
    }

    private func checkBounds(_ slice: ColumnSlice, _ cell: Cell)
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
        case .bool, .bytes, .fixed, .null: isWithin = true
        }
        guard isWithin else {
            throw damage("a value is outside its column's bounds")
        }
    }

    private func checkHeapCell(
        _ slice: ColumnSlice, _ cell: HeapCell, _ isNull: Bool,
        _ cells: inout [Range<Int>]
    ) throws(StorageError) {
        if cell.raw == 0 { return }
        let bytes = try heapBytes(cell)
        let end = cell.offset + cell.length
        guard !isNull, cell.length > 0, UInt64(cell.offset) >= slice.low, UInt64(end) <= slice.high
        else { throw damage("a cell is outside its column's heap") }
        cells.append(cell.offset..<end)
        if cell.isExternal {
            let size =
                slice.geometry.type == .list ? ClusterLayout.sequenceIDSize : Ref.size
            guard cell.length == size else {
                throw damage("a reference of the wrong size")
            }
        } else if slice.geometry.type == .list, let base = bytes.baseAddress {
            let block = try ElementBlock(
                ofAnyType: base, available: bytes.count, page: page,
                before: slice.heapBytes(before: cell))
            try block.check()
            if block.isCoded { try checkTexts(of: block, &cells) }
        }
    }

    /// The texts of coded blocks count as a cell, which all blocks of a column share.
    private func checkTexts(of block: ElementBlock, _ cells: inout [Range<Int>])
        throws(StorageError)
    {
        let texts = try block.texts()
        let start = texts.base - base
        let range = start..<start + texts.length
        if cells.contains(range) { return }
        try texts.check()
        cells.append(range)
    }

    private func damage(_ reason: String) -> StorageError { .corrupt(page: page, reason: reason) }
}
