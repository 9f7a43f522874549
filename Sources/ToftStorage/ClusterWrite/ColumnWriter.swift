/// Writes the columns of a new cluster, one after the other.
struct ColumnWriter {
    let base: UnsafeMutableRawPointer
    var heapEnd: Int
    let heapLimit: Int

    /// Writes a column's entry, arrays and heap; a coded one has its texts. Rows of a source
    /// without the column get their default; a row without a source is null if the column is
    /// nullable. The memory is zeroed.
    mutating func write(
        _ column: Column, _ geometry: ColumnGeometry, entry: Int, start: Int,
        from sources: [ClusterSource], rowCount: Int, _ codes: TextCodes?, _ lists: ListCodes?
    ) throws(StorageError) {
        base.storeUInt32(Int(column.id), at: entry + ClusterLayout.entryID)
        base.storeUInt8(Int(column.type.rawValue), at: entry + ClusterLayout.entryType)
        base.storeUInt8(geometry.width.encoding, at: entry + ClusterLayout.entryEncoding)
        base.storeUInt8(
            (column.isNullable ? ClusterLayout.nullableFlag : 0)
                | (column.type == .timestamp && !geometry.hasNanoseconds
                    ? ClusterLayout.wholeSecondsFlag : 0),
            at: entry + ClusterLayout.entryFlags)
        base.storeUInt8(geometry.textRoom, at: entry + ClusterLayout.entryTextRoom)
        base.storeUInt32(start, at: entry + ClusterLayout.entryOffset)
        let target = ColumnSlice(base: base, entry: entry, start: start, geometry: geometry)
        var row = 0
        // Coded lists have no numbers that would have to be aligned.
        if column.type == .list && lists == nil { heapEnd = heapEnd.roundedUpToEight }
        let heapStart = heapEnd
        for source in sources {
            if let slice = try source.cluster.slice(ofColumn: column) {
                try copy(slice, source, to: target, at: row)
            } else if column.isNullWhereAbsent {
                fillBits(source.rows.count, at: start, row)
            }
            row += source.rows.count
        }
        if let codes { try write(codes, to: target) }
        if column.type == .list { try copyLists(column, sources, to: target, lists) }
        if column.isNullable { fillBits(rowCount - row, at: start, row) }
        if geometry.isNullable {
            base.storeUInt16(
                countBits(rowCount, at: start), at: entry + ClusterLayout.entryNullCount)
        }
        setBounds(target, rows: rowCount, heap: heapStart..<heapEnd)
    }

    // MARK: Values

    private mutating func copy(
        _ slice: ColumnSlice, _ source: ClusterSource, to target: ColumnSlice, at row: Int
    ) throws(StorageError) {
        let rows = source.rows
        if target.geometry.isNullable && slice.geometry.isNullable {
            copyBits(from: slice.base + slice.start, rows, to: target.start, row)
        } else if slice.geometry.isNullable && slice.nullCount > 0 {
            throw .corrupt(
                page: source.cluster.page, reason: "nulls in a column that may not be null")
        }
        let values = target.start + target.geometry.values
        switch target.geometry.type {
        case .bool: copyBits(from: slice.values, rows, to: values, row)
        case .int64:
            base.store(
                slice.integers(rows), target.geometry.width,
                at: values + row * target.geometry.width.bytes)
        case .float64: copyArray(slice, rows, to: values, row, width: 8)
        case .float32: copyArray(slice, rows, to: values, row, width: 4)
        case .fixed16: copyArray(slice, rows, to: values, row, width: 16)
        case .fixed12: copyArray(slice, rows, to: values, row, width: 12)
        case .timestamp:
            base.store(
                slice.integers(rows), target.geometry.width,
                at: values + row * target.geometry.width.bytes)
            guard target.geometry.hasNanoseconds else { return }
            base.store(
                slice.nanoseconds + rows.lowerBound * 4, count: rows.count * 4,
                at: target.start + target.geometry.nanoseconds + row * 4)
        case .bytes where target.geometry.isCoded: break
        case .bytes: try copyHeap(slice, source, to: values + row * 4)
        case .list: break
        }
    }

    private mutating func write(_ codes: TextCodes, to target: ColumnSlice) throws(StorageError) {
        var offset = target.start + target.geometry.values
        for code in codes.rows {
            base.storeUInt8(Int(code), at: offset)
            offset &+= 1
        }
        offset = target.start + target.geometry.texts
        var tag = target.start + target.geometry.tags
        for text in codes.texts {
            guard let from = text.baseAddress, heapEnd &+ text.count <= heapLimit else { break }
            offset &+= 4
            tag &+= 1
            base.storeUInt8(Int(SoughtText(text).tag), at: tag)
            base.store(from, count: text.count, at: heapEnd)
            base.storeUInt32(
                HeapCell(offset: heapEnd, length: text.count, isExternal: false).raw, at: offset)
            heapEnd &+= text.count
        }
        base.storeUInt16(codes.texts.count, at: target.entry + ClusterLayout.entryTextCount)
    }

    @inline(__always)
    private func copyArray(
        _ slice: ColumnSlice, _ rows: Range<Int>, to values: Int, _ row: Int, width: Int
    ) {
        base.store(
            slice.values + rows.lowerBound * width, count: rows.count * width,
            at: values + row * width)
    }

    private mutating func copyHeap(_ slice: ColumnSlice, _ source: ClusterSource, to cells: Int)
        throws(StorageError)
    {
        var offset = cells
        for row in source.rows {
            let old = slice.heapCell(row)
            if old.raw != 0 { try copy(old, of: source.cluster, to: offset) }
            offset &+= 4
        }
    }

    /// Copies the bytes of a cell as they are; `offset` is that of the new cell.
    @inline(__always)
    private mutating func copy(_ old: HeapCell, of cluster: ClusterPage, to offset: Int)
        throws(StorageError)
    {
        let bytes = try cluster.heapBytes(old)
        guard let from = bytes.baseAddress, heapEnd &+ bytes.count <= heapLimit else {
            throw Self.overlap(cluster)
        }
        base.store(from, count: bytes.count, at: heapEnd)
        endCell(offset, length: bytes.count, isExternal: old.isExternal)
    }

    /// Makes a cell of the bytes that have been written to the heap's end.
    @inline(__always)
    private mutating func endCell(_ offset: Int, length: Int, isExternal: Bool) {
        base.storeUInt32(
            HeapCell(offset: heapEnd, length: length, isExternal: isExternal).raw, at: offset)
        heapEnd &+= length
    }

    private static func overlap(_ cluster: ClusterPage) -> StorageError {
        .corrupt(page: cluster.page, reason: "the cells of a cluster overlap")
    }

    // MARK: Lists

    /// Writes the lists of all rows; each list has its own texts, or codes of texts that come
    /// first.
    private mutating func copyLists(
        _ column: Column, _ sources: [ClusterSource], to target: ColumnSlice, _ codes: ListCodes?
    ) throws(StorageError) {
        if let codes { try writeTexts(codes.texts) }
        var offset = target.start + target.geometry.values
        var element = 0
        for source in sources {
            guard let slice = try source.cluster.slice(ofColumn: column) else {
                offset += source.rows.count * 4
                continue
            }
            for row in source.rows {
                let cell = slice.heapCell(row)
                if cell.isExternal {
                    try copy(cell, of: source.cluster, to: offset)
                } else if cell.raw != 0 {
                    let block = try source.cluster.block(cell, slice, column.elementKind)
                    if let codes {
                        let end = element + block.count
                        guard end <= codes.elements.count else {
                            throw Self.overlap(source.cluster)
                        }
                        try write(
                            codes.elements[element..<end], block.kind, to: offset)
                        element = end
                    } else {
                        try write(block, of: source.cluster, to: offset)
                    }
                }
                offset += 4
            }
        }
    }

    private mutating func writeTexts(_ texts: [UnsafeRawBufferPointer]) throws(StorageError) {
        var writer = try ElementWriter(
            base + heapEnd, capacity: heapLimit - heapEnd,
            kind: ElementKind(type: .bytes, isNullable: false), count: texts.count, page: 0)
        for text in texts { try writer.append(.cell(.bytes(text)), page: 0) }
        heapEnd += writer.length
    }

    private mutating func write(
        _ codes: ArraySlice<UInt8>, _ kind: ElementKind, to offset: Int
    ) throws(StorageError) {
        guard heapEnd + ElementLayout.codes + codes.count <= heapLimit else {
            throw .corrupt(page: 0, reason: "the cells of a cluster overlap")
        }
        let length = ElementWriter.writeCoded(codes, base + heapEnd, kind: kind)
        endCell(offset, length: length, isExternal: false)
    }

    /// Writes a list with its texts for itself.
    private mutating func write(_ block: ElementBlock, of cluster: ClusterPage, to offset: Int)
        throws(StorageError)
    {
        let length = try cluster.neededBytes(block)
        guard heapEnd + length <= heapLimit else { throw Self.overlap(cluster) }
        if block.isCoded {
            var writer = try ElementWriter(
                base + heapEnd, capacity: length, kind: block.kind, count: block.count,
                page: block.page)
            try writer.append(0..<block.count, of: block)
        } else {
            base.store(block.base, count: block.length, at: heapEnd)
        }
        endCell(offset, length: length, isExternal: false)
    }

    // MARK: Bits

    private func copyBits(
        from source: UnsafeRawPointer, _ rows: Range<Int>, to bitmap: Int, _ row: Int
    ) {
        var done = 0
        while done < rows.count {
            let from = rows.lowerBound + done
            let to = row + done
            let count = min(rows.count - done, 64 - from & 63, 64 - to & 63)
            let mask: UInt64 = count == 64 ? .max : (1 << UInt64(count)) - 1
            let bits = (source.uint64(at: (from >> 6) * 8) >> UInt64(from & 63)) & mask
            let word = bitmap + (to >> 6) * 8
            base.storeUInt64(base.reading.uint64(at: word) | bits << UInt64(to & 63), at: word)
            done += count
        }
    }

    private func fillBits(_ count: Int, at bitmap: Int, _ row: Int) {
        for bit in row..<row + count {
            let word = bitmap + (bit >> 6) * 8
            base.storeUInt64(base.reading.uint64(at: word) | (1 << UInt64(bit & 63)), at: word)
        }
    }

    private func countBits(_ rows: Int, at bitmap: Int) -> Int {
        var sum = 0
        for word in 0..<(rows + 63) / 64 {
            sum += base.reading.uint64(at: bitmap + word * 8).nonzeroBitCount
        }
        return sum
    }

    // MARK: Bounds

    private func setBounds(_ target: ColumnSlice, rows: Int, heap: Range<Int>) {
        let bounds: (low: UInt64, high: UInt64)
        switch target.geometry.type {
        case .bool, .fixed16, .fixed12: bounds = (0, 0)
        case .int64, .timestamp: bounds = integerBounds(target, rows)
        case .float32, .float64: bounds = numberBounds(target, rows)
        case .bytes, .list:
            bounds = heap.isEmpty ? (.max, 0) : (UInt64(heap.lowerBound), UInt64(heap.upperBound))
        }
        base.storeUInt64(bounds.low, at: target.entry + ClusterLayout.entryLow)
        base.storeUInt64(bounds.high, at: target.entry + ClusterLayout.entryHigh)
    }

    private func integerBounds(_ target: ColumnSlice, _ rows: Int) -> (UInt64, UInt64) {
        let values = target.integers(0..<rows)
        var (low, high) = target.nullCount == 0 ? values.bounds() : (.max, .min)
        if target.nullCount > 0 {
            for row in 0..<rows where !target.isNull(row) {
                low = min(low, values[row])
                high = max(high, values[row])
            }
        }
        return (UInt64(bitPattern: low), UInt64(bitPattern: high))
    }

    private func numberBounds(_ target: ColumnSlice, _ rows: Int) -> (UInt64, UInt64) {
        var low = Double.infinity
        var high = -Double.infinity
        var isUnbounded = false
        let isDouble = target.geometry.type == .float64
        let values = target.values
        let hasNulls = target.nullCount > 0
        for row in 0..<rows where !hasNulls || !target.isNull(row) {
            let value =
                isDouble
                ? Double(bitPattern: values.uint64(at: row &* 8))
                : Double(Float(bitPattern: UInt32(truncatingIfNeeded: values.uint32(at: row &* 4))))
            if value < low { low = value }
            if value > high { high = value }
            if value.isNaN { isUnbounded = true }
        }
        if isUnbounded {
            let flags = target.entry + ClusterLayout.entryFlags
            base.storeUInt8(base.reading.uint8(at: flags) | ClusterLayout.unboundedFlag, at: flags)
        }
        return (low.bitPattern, high.bitPattern)
    }
}
