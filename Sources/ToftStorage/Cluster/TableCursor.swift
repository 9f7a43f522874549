internal import ToftPlatform

/// Reads cells of one row after the other of a committed version: within a cluster that it knows,
/// no look-up leads through the tree, and a column is found and verified once. One thread.
///
/// It knows the cluster of the row before. For rows in random order it keeps more clusters, up to
/// `mostFrames` or `mostBytes`. Its state for a cluster fits in few cache lines: rows in random
/// order wait for memory more than for anything else.
package final class TableCursor {
    /// A cached cluster. It is followed by a byte for each column of the table: the number of its
    /// `Form` there.
    private struct Frame {
        /// Nil without a cluster.
        var base: UnsafeRawPointer?
        var firstKey: Int64 = 0
        /// One bit for each of the first 64 pages: whether it is verified.
        var verifiedPages: UInt64 = 0
        var heap: (start: UInt32, end: UInt32) = (0, 0)
        private var keysStart: UInt32 = 0
        private var rowCount: UInt16 = 0
        /// Whether each row has the key after that of the row before.
        private var isDense = false

        init() {}

        init(_ cluster: ClusterPage) {
            let keys = cluster.keys, rowCount = cluster.rowCount
            base = cluster.base
            firstKey = keys[0]
            verifiedPages = 1
            heap = (UInt32(cluster.heapStart), UInt32(cluster.heapEnd))
            keysStart = UInt32(cluster.keysStart)
            self.rowCount = UInt16(rowCount)
            isDense = keys[rowCount &- 1] &- firstKey == Int64(rowCount &- 1)
        }

        /// The row of a key; nil if the cluster does not have it.
        @inline(__always)
        func row(of key: Int64) -> Int? {
            let distance = UInt64(bitPattern: key &- firstKey)
            if isDense {
                return distance < UInt64(rowCount) ? Int(truncatingIfNeeded: distance) : nil
            }
            return keys?.row(of: key, count: Int(rowCount))
        }

        private var keys: RowKeys? {
            guard let base else { return nil }
            let words = (base + Int(keysStart)).assumingMemoryBound(to: Int64.self)
            return RowKeys(words, isDense: isDense)
        }

        /// Number of its rows.
        var count: Int { Int(rowCount) }

        /// The key of the last row.
        var lastKey: Int64 { keys?[Int(rowCount) &- 1] ?? firstKey }

        /// The bytes of a cell in a verified page; nil if it needs a closer look.
        @inline(__always)
        func bytes(_ cell: HeapCell, _ base: UnsafeRawPointer) -> UnsafeRawBufferPointer? {
            let end = cell.offset &+ cell.length
            let last = max(cell.offset, end &- 1) / Page.size
            // No cell is longer than a page, so it spans one or two.
            let pages: UInt64 = 1 << UInt64(cell.offset / Page.size) | 1 << UInt64(last)
            guard last < UInt64.bitWidth, verifiedPages & pages == pages, !cell.isExternal,
                cell.offset >= Int(heap.start) && end <= Int(heap.end) || cell.raw == 0
            else { return nil }
            return UnsafeRawBufferPointer(start: base + cell.offset, count: cell.length)
        }
    }

    /// A column's layout in a cluster: the same in many of them.
    private struct Form: Equatable {
        enum State: UInt8 {
            /// Not searched yet.
            case unknown
            case isAbsent
            case isHeld
        }

        let state: State
        // The members below are valid only if a column is held.
        private var entry: UInt32 = 0
        private var start: UInt32 = 0
        private var geometry = ColumnGeometry(
            type: .list, isNullable: false, capacity: 0, width: .eight)

        private init(_ state: State) { self.state = state }

        /// - Parameter slice: nil if the cluster does not have the column.
        init(_ slice: ColumnSlice?) {
            guard let slice else {
                state = .isAbsent
                return
            }
            state = .isHeld
            entry = UInt32(slice.entry)
            start = UInt32(slice.start)
            geometry = slice.geometry
        }

        static var unknown: Form { Form(.unknown) }

        @inline(__always)
        func slice(_ base: UnsafeRawPointer) -> ColumnSlice {
            ColumnSlice(base: base, entry: Int(entry), start: Int(start), geometry: geometry)
        }
    }

    private static let mostFrames = 1 << 13
    /// Bytes of all frames at most.
    private static let mostBytes = 1 << 20
    private static let hintsPerFrame = 8
    /// Bytes of a frame before the numbers of its forms: with those of 24 columns it is one of the
    /// processor's lines.
    private static let headSize = MemoryLayout<Frame>.stride
    private static let lineSize = 64

    private let table: TableReader
    /// Bytes of a frame with the numbers of its forms.
    private let frameSize: Int
    /// `1 << frameBits` places, taken in turn.
    @exclusivity(unchecked) private var frames: UnsafeMutableRawPointer
    private var frameBits = 0
    /// The place that was taken last.
    private var lastPlace = 0
    /// For each range of keys, taken modulo the number of hints: the frame of the cluster that
    /// begins there, otherwise the one that last had a key of it. There are `hintMask` + 1 hints.
    @exclusivity(unchecked) private var hints: UnsafeMutablePointer<UInt16>
    @exclusivity(unchecked) private var hintMask = 0
    /// A hint is for `1 << hintShift` keys: about the quarter of a cluster.
    private var hintShift = 0
    /// The frame of the row.
    @exclusivity(unchecked) private var frame: UnsafeMutablePointer<Frame>
    @exclusivity(unchecked) private var row = 0
    /// Number of moves to a row that was in no known cluster and not next to the row before.
    private var jumps = 0
    /// The forms that were seen, `1 << formBits` for each column. The first is `unknown`, as those
    /// are that follow the last.
    @exclusivity(unchecked) private var forms: UnsafeMutablePointer<Form>
    @exclusivity(unchecked) private var formBits: Int
    private let mostFormBits: Int

    /// - Parameter mostFormBits: up to 8. A column keeps `1 << mostFormBits` forms, including the
    ///   first; a cell of another form is searched each time.
    package init(_ table: TableReader, mostFormBits: Int = 8) {
        self.table = table
        self.mostFormBits = mostFormBits
        formBits = min(2, mostFormBits)
        let size = Self.headSize + table.columns.count
        frameSize = (size + Self.lineSize - 1) / Self.lineSize * Self.lineSize
        (frames, hints) = Self.places(bits: 0, frameSize)
        frame = Self.frame(frames)
        forms = Self.noForms(table.columns.count << formBits)
        clear(frame, Frame())
    }

    deinit {
        frames.deallocate()
        hints.deallocate()
        forms.deallocate()
    }

    // MARK: Places

    private static func places(bits: Int, _ frameSize: Int)
        -> (UnsafeMutableRawPointer, UnsafeMutablePointer<UInt16>)
    {
        let frames = UnsafeMutableRawPointer.allocate(
            byteCount: frameSize << bits, alignment: lineSize)
        let hints = UnsafeMutablePointer<UInt16>.allocate(capacity: hintsPerFrame << bits)
        hints.initialize(repeating: 0, count: hintsPerFrame << bits)
        return (frames, hints)
    }

    @inline(__always)
    private static func frame(_ memory: UnsafeMutableRawPointer) -> UnsafeMutablePointer<Frame> {
        memory.assumingMemoryBound(to: Frame.self)
    }

    @inline(__always)
    private func frame(at place: Int) -> UnsafeMutablePointer<Frame> {
        Self.frame(frames + place &* frameSize)
    }

    /// The number of the form of each column of the table.
    @inline(__always)
    private func numbers(_ frame: UnsafeMutablePointer<Frame>) -> UnsafeMutablePointer<UInt8> {
        (UnsafeMutableRawPointer(frame) + Self.headSize).assumingMemoryBound(to: UInt8.self)
    }

    /// Puts a cluster into a frame, without any known column.
    private func clear(_ frame: UnsafeMutablePointer<Frame>, _ known: Frame) {
        frame.initialize(to: known)
        numbers(frame).initialize(repeating: 0, count: table.columns.count)
    }

    // MARK: Forms

    private static func noForms(_ count: Int) -> UnsafeMutablePointer<Form> {
        let forms = UnsafeMutablePointer<Form>.allocate(capacity: count)
        forms.initialize(repeating: .unknown, count: count)
        return forms
    }

    /// The known layout of a column of the table in the row's cluster.
    @inline(__always)
    private func form(_ column: Int) -> UnsafeMutablePointer<Form> {
        forms + (column &<< formBits | Int(numbers(frame)[column]))
    }

    /// Remembers the layout of a column in the row's cluster.
    private func note(_ form: Form, of column: Int) {
        let known = forms + column << formBits
        for number in 1..<1 << formBits {
            if known[number].state == .unknown { known[number] = form }
            if known[number] == form {
                numbers(frame)[column] = UInt8(number)
                return
            }
        }
        if formBits < mostFormBits {
            growForms()
            note(form, of: column)
        }
    }

    /// Makes place for eight times as many forms, up to the bound.
    private func growForms() {
        let oldForms = forms, oldBits = formBits
        formBits = min(oldBits + 3, mostFormBits)
        forms = Self.noForms(table.columns.count << formBits)
        for column in table.columns.indices {
            (forms + column << formBits).update(
                from: oldForms + column << oldBits, count: 1 << oldBits)
        }
        oldForms.deallocate()
    }

    // MARK: Rows

    /// Moves to the row with a key. O(1) in a known cluster, otherwise O(log rows).
    /// - Returns: whether it is in another cluster than the row before.
    /// - Throws: `noSuchRow`.
    @inline(__always)
    @discardableResult
    package func move(to key: Int64) throws(StorageError) -> Bool {
        if let row = frame.pointee.row(of: key) {
            self.row = row
            return false
        }
        try jump(to: key)
        return true
    }

    @inline(__always)
    private func hint(_ key: Int64) -> Int {
        Int(truncatingIfNeeded: key >> Int64(hintShift)) & hintMask
    }

    @inline(never)
    private func jump(to key: Int64) throws(StorageError) {
        let hint = hint(key)
        let place = Int(hints[hint])
        // The cluster before that which begins in the range.
        let placeBefore = Int(hints[(hint &- 1) & hintMask])
        if placeBefore != place { UnsafeRawPointer(frame(at: placeBefore)).prefetch() }
        if enter(place, key) || placeBefore != place && enter(placeBefore, key) { return }
        let found = try table.position(of: key)
        if !isNeighbour(key) {
            jumps += 1
            if jumps > 2 << frameBits { grow() }
        }
        let held = hold(found.leaf.cluster)
        if !begins(self.hint(key)) { hints[self.hint(key)] = UInt16(held) }
        frame = frame(at: held)
        row = found.row
    }

    /// Moves to the row with a key if the cluster in a frame has it.
    @inline(__always)
    private func enter(_ place: Int, _ key: Int64) -> Bool {
        let known = frame(at: place)
        guard let row = known.pointee.row(of: key) else { return false }
        frame = known
        self.row = row
        return true
    }

    /// Whether the cluster that a hint leads to begins among the keys that it is for.
    private func begins(_ hint: Int) -> Bool {
        let known = frame(at: Int(hints[hint]))
        return known.pointee.base != nil && self.hint(known.pointee.firstKey) == hint
    }

    /// The frame of a cluster, which is put into one if necessary.
    private func hold(_ cluster: ClusterPage) -> Int {
        let hint = hint(cluster.keys[0])
        var place = Int(hints[hint])
        if frame(at: place).pointee.base == cluster.base { return place }
        if !begins(hint) {
            lastPlace = (lastPlace &+ 1) & (1 << frameBits &- 1)
            place = lastPlace
        }
        clear(frame(at: place), Frame(cluster))
        hints[hint] = UInt16(place)
        return place
    }

    /// Whether a key may be in the cluster before or behind that of the row before: a loop over all
    /// rows needs no cluster twice.
    private func isNeighbour(_ key: Int64) -> Bool {
        guard frame.pointee.base != nil else { return true }
        let distance = Int64(ClusterLimits.rows)
        let first = frame.pointee.firstKey, last = frame.pointee.lastKey
        return key > last
            ? UInt64(bitPattern: key &- last) <= UInt64(distance)
            : UInt64(bitPattern: first &- key) <= UInt64(distance)
    }

    /// Makes place for eight times as many clusters, up to the bounds.
    private func grow() {
        let bits = frameBits == 12 ? 13 : frameBits + 3
        guard 1 << bits <= Self.mostFrames, frameSize << bits <= Self.mostBytes else { return }
        let oldFrames = frames, oldCount = 1 << frameBits
        let current = UnsafeMutableRawPointer(frame) - oldFrames
        hints.deallocate()
        frameBits = bits
        (frames, hints) = Self.places(bits: bits, frameSize)
        frames.copyMemory(from: oldFrames, byteCount: oldCount * frameSize)
        oldFrames.deallocate()
        for place in oldCount..<1 << bits { clear(frame(at: place), Frame()) }
        hintMask = Self.hintsPerFrame << bits - 1
        let known = (0..<oldCount).map { frame(at: $0).pointee }.filter { $0.base != nil }
        let quarter = known.reduce(0) { $0 + $1.count } / max(1, known.count) / 4
        hintShift = max(0, quarter.bitWidth - 1 - quarter.leadingZeroBitCount)
        for place in 0..<oldCount where frame(at: place).pointee.base != nil {
            hints[hint(frame(at: place).pointee.firstKey)] = UInt16(place)
        }
        frame = Self.frame(frames + current)
        lastPlace = oldCount &- 1
    }

    // MARK: Cells

    /// The cell of the row. O(1). Null for a list, and before `move`.
    package func cell(_ columnID: UInt32) throws(StorageError) -> Cell {
        guard let index = table.columnIndex(columnID) else { throw .noSuchColumn(columnID) }
        guard let base = frame.pointee.base else { return .null }
        var form = form(index).pointee
        if form.state == .unknown { form = try find(index, base) }
        guard form.state == .isHeld else { return table.columns[index].absentCell }
        let slice = form.slice(base)
        if slice.isNull(row) { return .null }
        guard slice.geometry.type == .bytes else { return slice.fixedCell(row) }
        let cell = slice.heapCell(row)
        if let bytes = frame.pointee.bytes(cell, base) { return .bytes(bytes) }
        return .bytes(try verified(cell, base))
    }

    /// Has the processor fetch the cell of the row, if its column is known here.
    @inline(__always)
    package func fetch(_ columnID: UInt32) {
        guard let index = table.columnIndex(columnID), let base = frame.pointee.base else { return }
        let form = form(index)
        if form.pointee.state == .isHeld { form.pointee.slice(base).fetch(row) }
    }

    /// Looks for a column in the cluster of the row, and verifies it.
    @inline(never)
    private func find(_ index: Int, _ base: UnsafeRawPointer) throws(StorageError) -> Form {
        let leaf = try TableReader.Leaf(base, table.pages)
        let slice = try leaf.cluster.slice(ofColumn: table.columns[index])
        if let slice { try table.pages.verify(leaf.ref, base, slice.range) }
        let form = Form(slice)
        note(form, of: index)
        return form
    }

    /// The bytes of a cell in a page that may not be verified yet, or in a blob.
    @inline(never)
    private func verified(_ cell: HeapCell, _ base: UnsafeRawPointer) throws(StorageError)
        -> UnsafeRawBufferPointer
    {
        let leaf = try TableReader.Leaf(base, table.pages)
        let bytes = try table.bytes(leaf, cell)
        if cell.length > 0 {
            for page in [cell.offset, cell.offset + cell.length - 1].map({ $0 / Page.size }) {
                frame.pointee.verifiedPages |= 1 << UInt64(page)
            }
        }
        return bytes
    }
}
