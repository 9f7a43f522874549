/// A cluster that a writer changes in place. Every function verifies the columns that it touches.
struct ClusterEditor {
    let base: UnsafeMutableRawPointer
    /// The cluster as it was when the editor was made; its row count and heap end are not kept up.
    let cluster: ClusterPage

    // MARK: Rows

    /// Makes room for a row whose cells have their defaults. The capacity has room, and the cluster
    /// takes the key.
    @inline(__always)
    func insertRow(at row: Int, key: Int64) throws(StorageError) {
        let count = cluster.rowCount
        if !cluster.hasDenseKeys { openPlace(cluster.keysStart, width: 8, at: row, count) }
        storeKey(key, at: row)
        for index in 0..<cluster.columnCount {
            let slice = try cluster.slice(index)
            if row < count { openPlaces(slice, at: row, count) }
            if slice.geometry.isNullable {
                setBit(row, at: slice.start)
                setNullCount(slice, slice.nullCount &+ 1)
            } else {
                widenByZero(slice)
            }
        }
        base.storeUInt16(count &+ 1, at: cluster.header &+ ClusterLayout.rowCount)
    }

    /// Stores the key of the last row, which the cluster takes.
    @inline(__always)
    func storeKey(_ key: Int64, at row: Int) {
        if !cluster.hasDenseKeys {
            base.storeInt64(key, at: cluster.keysStart &+ row &* 8)
        }
    }

    /// Removes a row, if that is possible, and closes the gap. The caller has freed its values
    /// outside of the cluster; its heap becomes garbage.
    func eraseRow(at row: Int) throws(StorageError) {
        let count = cluster.rowCount
        for index in 0..<cluster.columnCount {
            let slice = try cluster.slice(index)
            if slice.isNull(row) { setNullCount(slice, max(0, slice.nullCount &- 1)) }
            if slice.geometry.hasHeap && !slice.geometry.isCoded {
                leaveGarbage(slice.heapCell(row).length)
            }
            closePlaces(slice, at: row, count)
        }
        if !cluster.hasDenseKeys {
            closePlace(cluster.keysStart, width: 8, at: row, count)
        } else if row == 0 {
            base.storeInt64(cluster.keys[0] &+ 1, at: cluster.keysStart)
        }
        base.storeUInt16(count &- 1, at: cluster.header &+ ClusterLayout.rowCount)
    }

    private func openPlaces(_ slice: ColumnSlice, at row: Int, _ count: Int) {
        forEachArray(
            slice, { openPlace($0, width: $1, at: row, count) }, { insertBit(row, at: $0) })
    }

    private func closePlaces(_ slice: ColumnSlice, at row: Int, _ count: Int) {
        forEachArray(
            slice, { closePlace($0, width: $1, at: row, count) }, { removeBit(row, at: $0) })
    }

    @inline(__always)
    private func forEachArray(
        _ slice: ColumnSlice, _ array: (Int, Int) -> Void, _ bitmap: (Int) -> Void
    ) {
        let geometry = slice.geometry
        if geometry.isNullable { bitmap(slice.start) }
        let values = slice.start &+ geometry.values
        switch geometry.type {
        case .bool: bitmap(values)
        case .int64: array(values, geometry.width.bytes)
        case .float64: array(values, 8)
        case .fixed16: array(values, 16)
        case .fixed12: array(values, 12)
        case .bytes where geometry.isCoded: array(values, 1)
        case .float32, .bytes, .list: array(values, 4)
        case .timestamp:
            array(values, geometry.width.bytes)
            if geometry.hasNanoseconds { array(slice.start &+ geometry.nanoseconds, 4) }
        }
    }

    @inline(__always)
    private func openPlace(_ start: Int, width: Int, at row: Int, _ count: Int) {
        guard row < count else { return }
        let offset = start &+ row &* width
        base.move(from: offset, to: offset &+ width, count: (count &- row) &* width)
        base.clear(at: offset, count: width)
    }

    private func closePlace(_ start: Int, width: Int, at row: Int, _ count: Int) {
        let offset = start &+ row &* width
        base.move(from: offset &+ width, to: offset, count: (count &- row &- 1) &* width)
        base.clear(at: start &+ (count &- 1) &* width, count: width)
    }

    // MARK: Bits

    @inline(__always)
    private func setBit(_ row: Int, at bitmap: Int) {
        let word = bitmap &+ (row >> 6) &* 8
        base.storeUInt64(base.reading.uint64(at: word) | (1 << UInt64(row & 63)), at: word)
    }

    @inline(__always)
    private func clearBit(_ row: Int, at bitmap: Int) {
        let word = bitmap &+ (row >> 6) &* 8
        base.storeUInt64(base.reading.uint64(at: word) & ~(1 << UInt64(row & 63)), at: word)
    }

    private var bitmapWords: Int { (cluster.rowCapacity &+ 63) / 64 }

    private func insertBit(_ row: Int, at bitmap: Int) {
        let first = row >> 6
        var index = bitmapWords - 1
        while index > first {
            let word =
                base.reading.uint64(at: bitmap + index * 8) << 1 | base.reading.uint64(
                    at: bitmap + index * 8 - 8) >> 63
            base.storeUInt64(word, at: bitmap + index * 8)
            index -= 1
        }
        let word = base.reading.uint64(at: bitmap + first * 8)
        let below: UInt64 = (1 << UInt64(row & 63)) &- 1
        base.storeUInt64((word & below) | (word & ~below) << 1, at: bitmap + first * 8)
    }

    private func removeBit(_ row: Int, at bitmap: Int) {
        let first = row >> 6
        let last = bitmapWords - 1
        for index in first...last {
            let word = base.reading.uint64(at: bitmap + index * 8)
            let carry = index < last ? base.reading.uint64(at: bitmap + index * 8 + 8) << 63 : 0
            let below: UInt64 = index == first ? (1 << UInt64(row & 63)) &- 1 : 0
            base.storeUInt64(
                (word & below) | ((word >> 1 | carry) & ~below), at: bitmap + index * 8)
        }
    }

    // MARK: Cells

    /// Sets a cell of a column without heap to a value of its type; false if an integer does not
    /// fit into the column's width, or the column has no nanoseconds.
    @inline(__always)
    func setFixed(_ slice: ColumnSlice, _ row: Int, _ cell: Cell) -> Bool {
        let values = slice.start &+ slice.geometry.values
        switch cell {
        case .bool(let value):
            if value { setBit(row, at: values) } else { clearBit(row, at: values) }
        case .int64(let value):
            guard setInteger(slice, row, value) else { return false }
        case .float32(let value):
            base.storeUInt32(Int(value.bitPattern), at: values &+ row &* 4)
            widen(slice, Double(value))
        case .float64(let value):
            base.storeUInt64(value.bitPattern, at: values &+ row &* 8)
            widen(slice, value)
        case .timestamp(let value):
            let hasNanoseconds = slice.geometry.hasNanoseconds
            guard hasNanoseconds || value.nanoseconds == 0,
                setInteger(slice, row, value.seconds)
            else { return false }
            if hasNanoseconds {
                base.storeUInt32(
                    Int(UInt32(bitPattern: value.nanoseconds)),
                    at: slice.start &+ slice.geometry.nanoseconds &+ row &* 4)
            }
        case .fixed(let value):
            let width = slice.geometry.type.elementWidth ?? 0
            base.storeFixed(value, width: width, at: values &+ row &* width)
        case .null, .bytes: break
        }
        clearNull(slice, row)
        return true
    }

    @inline(__always)
    private func setInteger(_ slice: ColumnSlice, _ row: Int, _ value: Int64) -> Bool {
        let width = slice.geometry.width
        guard width.holds(value) else { return false }
        base.storeInteger(
            value, width, at: slice.start &+ slice.geometry.values &+ row &* width.bytes)
        widen(slice, value)
        return true
    }

    /// Sets a cell to null. Its column is nullable; the caller has freed its value outside of the
    /// cluster.
    func setNull(_ slice: ColumnSlice, _ row: Int) {
        if slice.geometry.hasHeap { dropHeap(slice, row) }
        guard !slice.isNull(row) else { return }
        setBit(row, at: slice.start)
        setNullCount(slice, slice.nullCount &+ 1)
    }

    @inline(__always)
    private func clearNull(_ slice: ColumnSlice, _ row: Int) {
        guard slice.isNull(row) else { return }
        clearBit(row, at: slice.start)
        setNullCount(slice, max(0, slice.nullCount &- 1))
    }

    @inline(__always)
    private func setNullCount(_ slice: ColumnSlice, _ count: Int) {
        base.storeUInt16(count, at: slice.entry &+ ClusterLayout.entryNullCount)
    }

    // MARK: Heap

    /// Makes a cell empty; the caller has freed its value outside of the cluster.
    func setEmpty(_ slice: ColumnSlice, _ row: Int) {
        dropHeap(slice, row)
        clearNull(slice, row)
    }

    private func dropHeap(_ slice: ColumnSlice, _ row: Int) {
        if slice.geometry.isCoded { return setCode(slice, row, 0) }
        leaveGarbage(slice.heapCell(row).length)
        base.storeUInt32(0, at: slice.start &+ slice.geometry.values &+ row &* 4)
    }

    /// Gives a cell new bytes, in the old ones' place if they fit; false if the heap has no room.
    /// At least `reserve` bytes are kept for them; those of lists begin at a multiple of eight and
    /// keep their whole room.
    func setHeap(
        _ slice: ColumnSlice, _ row: Int, _ bytes: UnsafeRawBufferPointer, reserve: Int,
        isExternal: Bool
    ) throws(StorageError) -> Bool {
        guard let source = bytes.baseAddress else { return false }
        if slice.geometry.isCoded {
            guard !isExternal, let heapEnd = try setText(slice, row, bytes, cluster.heapEnd) else {
                return false
            }
            base.storeUInt32(heapEnd, at: cluster.header + ClusterLayout.heapEnd)
            clearNull(slice, row)
            return true
        }
        let old = slice.heapCell(row)
        _ = try cluster.heapBytes(old)
        let isList = slice.geometry.type == .list
        var offset = old.offset
        var length = isList && !isExternal ? max(old.length, bytes.count) : bytes.count
        if old.raw == 0 || old.length < bytes.count {
            let start = isList ? cluster.heapEnd.roundedUpToEight : cluster.heapEnd
            guard start + reserve <= cluster.byteCount else { return false }
            base.storeUInt32(start + reserve, at: cluster.header + ClusterLayout.heapEnd)
            leaveGarbage(old.length)
            (offset, length) = (start, isList && !isExternal ? reserve : bytes.count)
        } else {
            leaveGarbage(old.length - length)
        }
        base.store(source, count: bytes.count, at: offset)
        setHeapCell(slice, row, HeapCell(offset: offset, length: length, isExternal: isExternal))
        clearNull(slice, row)
        return true
    }

    /// Gives a row of a coded column the code of a text, which is added if it is new. Returns the
    /// new end of the heap; nil if there is no room.
    func setText(
        _ slice: ColumnSlice, _ row: Int, _ bytes: UnsafeRawBufferPointer, _ heapEnd: Int
    ) throws(StorageError) -> Int? {
        let text = SoughtText(bytes)
        if let code = try cluster.code(of: text, slice) {
            setCode(slice, row, code)
            return heapEnd
        }
        let code = slice.textCount &+ 1
        let end = heapEnd &+ bytes.count
        guard code <= slice.geometry.textRoom, end <= cluster.byteCount,
            let source = bytes.baseAddress
        else { return nil }
        base.store(source, count: bytes.count, at: heapEnd)
        base.storeUInt32(
            HeapCell(offset: heapEnd, length: bytes.count, isExternal: false).raw,
            at: slice.start &+ slice.geometry.texts &+ code &* 4)
        base.storeUInt8(Int(text.tag), at: slice.start &+ slice.geometry.tags &+ code)
        base.storeUInt16(code, at: slice.entry &+ ClusterLayout.entryTextCount)
        widenHeap(slice, heapEnd, end)
        setCode(slice, row, code)
        return end
    }

    private func setCode(_ slice: ColumnSlice, _ row: Int, _ code: Int) {
        base.storeUInt8(code, at: slice.start &+ slice.geometry.values &+ row)
    }

    /// Sets the position of a cell's bytes.
    @inline(__always)
    func setHeapCell(_ slice: ColumnSlice, _ row: Int, _ cell: HeapCell) {
        base.storeUInt32(cell.raw, at: slice.start &+ slice.geometry.values &+ row &* 4)
        widenHeap(slice, cell.offset, cell.offset &+ cell.length)
    }

    private func leaveGarbage(_ count: Int) {
        guard count > 0 else { return }
        let offset = cluster.header &+ ClusterLayout.garbage
        base.storeUInt32(
            min(base.reading.uint32(at: offset) &+ count, cluster.byteCount), at: offset)
    }

    // MARK: Bounds

    @inline(__always)
    func widenByZero(_ slice: ColumnSlice) {
        switch slice.geometry.type {
        case .int64, .timestamp: widen(slice, 0 as Int64)
        case .float32, .float64: widen(slice, 0 as Double)
        case .bool, .bytes, .list, .fixed16, .fixed12: break
        }
    }

    @inline(__always)
    private func widen(_ slice: ColumnSlice, _ value: Int64) {
        if value < Int64(bitPattern: slice.low) {
            base.storeInt64(value, at: slice.entry &+ ClusterLayout.entryLow)
        }
        if value > Int64(bitPattern: slice.high) {
            base.storeInt64(value, at: slice.entry &+ ClusterLayout.entryHigh)
        }
    }

    @inline(__always)
    private func widen(_ slice: ColumnSlice, _ value: Double) {
        if value < Double(bitPattern: slice.low) {
            base.storeUInt64(value.bitPattern, at: slice.entry &+ ClusterLayout.entryLow)
        }
        if value > Double(bitPattern: slice.high) {
            base.storeUInt64(value.bitPattern, at: slice.entry &+ ClusterLayout.entryHigh)
        }
        if value.isNaN {
            let flags = slice.entry &+ ClusterLayout.entryFlags
            base.storeUInt8(base.reading.uint8(at: flags) | ClusterLayout.unboundedFlag, at: flags)
        }
    }

    private func widenHeap(_ slice: ColumnSlice, _ low: Int, _ high: Int) {
        if UInt64(low) < slice.low {
            base.storeUInt64(UInt64(low), at: slice.entry &+ ClusterLayout.entryLow)
        }
        if UInt64(high) > slice.high {
            base.storeUInt64(UInt64(high), at: slice.entry &+ ClusterLayout.entryHigh)
        }
    }
}
