/// Reads cells of one row after the other of a committed version: within a cluster that it knows,
/// no look-up leads through the tree, and a column is found and verified once. One thread.
///
/// It knows the cluster of the row before. Where rows are read in no order it keeps more clusters,
/// up to `mostFrames` or `mostSlots`.
package final class TableCursor {
    /// A column of a cluster.
    private struct Slot {
        /// The visit for which it holds.
        var visit = 0
        /// Nil where the cluster does not hold the column.
        var slice: ColumnSlice?
    }

    /// A place for a cluster.
    private struct Frame {
        var leaf: TableReader.Leaf?
        /// The first row's key, and how many rows have one key after the other from there on: all
        /// or none. Kept here since the cluster's own are far away in memory.
        var firstKey: Int64 = 0
        var denseCount: UInt64 = 0
        /// Which visit of a cluster it was that put it here, from 1.
        var visit = 0
        /// One for each column of the table; allocated when first needed.
        var slots: UnsafeMutablePointer<Slot>?

        /// The row of a key; nil where there is none.
        @inline(__always)
        func row(of key: Int64) -> Int? {
            let distance = UInt64(bitPattern: key &- firstKey)
            if distance < denseCount { return Int(truncatingIfNeeded: distance) }
            return denseCount > 0 ? nil : leaf?.cluster.row(of: key)
        }

        mutating func hold(_ leaf: TableReader.Leaf, visit: Int) {
            let keys = leaf.cluster.keys, rowCount = leaf.cluster.rowCount
            firstKey = keys[0]
            let isDense = keys[rowCount &- 1] &- firstKey == Int64(rowCount &- 1)
            denseCount = isDense ? UInt64(rowCount) : 0
            self.leaf = leaf
            self.visit = visit
        }
    }

    private static let mostFrames = 1 << 13
    private static let mostSlots = 1 << 17
    private static let hintsPerFrame = 8

    private let table: TableReader
    /// `1 << frameBits` places, taken in turn.
    @exclusivity(unchecked) private var frames: UnsafeMutablePointer<Frame>
    private var frameBits = 0
    /// The place that was taken last.
    private var lastPlace = 0
    /// For each range of keys, and each further one of as many ranges: the frame of the cluster
    /// that begins there, else the one where a key of it was last found. `hintMask` + 1 of them.
    @exclusivity(unchecked) private var hints: UnsafeMutablePointer<UInt16>
    @exclusivity(unchecked) private var hintMask = 0
    /// A hint is for `1 << hintShift` keys: about the quarter of a cluster.
    private var hintShift = 0
    /// The frame of the row.
    @exclusivity(unchecked) private var frame: UnsafeMutablePointer<Frame>
    @exclusivity(unchecked) private var row = 0
    private var visits = 0
    /// How often a row was in no known cluster and not behind or before the row before.
    private var jumps = 0

    package init(_ table: TableReader) {
        self.table = table
        (frames, hints) = Self.places(bits: 0)
        frame = frames
    }

    deinit {
        for index in 0..<1 << frameBits { frames[index].slots?.deallocate() }
        frames.deallocate()
        hints.deallocate()
    }

    private static func places(bits: Int)
        -> (UnsafeMutablePointer<Frame>, UnsafeMutablePointer<UInt16>)
    {
        let frames = UnsafeMutablePointer<Frame>.allocate(capacity: 1 << bits)
        frames.initialize(repeating: Frame(), count: 1 << bits)
        let hints = UnsafeMutablePointer<UInt16>.allocate(capacity: hintsPerFrame << bits)
        hints.initialize(repeating: 0, count: hintsPerFrame << bits)
        return (frames, hints)
    }

    /// Goes to the row with a key. O(1) in a cluster that is known, else O(log rows).
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
        // The other one: the cluster before that which begins in the range.
        if enter(hint, key) || enter((hint &- 1) & hintMask, key) { return }
        let found = try table.position(of: key)
        if !isNeighbour(key) {
            jumps += 1
            if jumps > 2 << frameBits { grow() }
        }
        let index = hold(found.leaf)
        if !begins(self.hint(key)) { hints[self.hint(key)] = UInt16(index) }
        frame = frames + index
        row = found.row
    }

    /// Goes to the row with a key if the cluster that a hint leads to has it.
    @inline(__always)
    private func enter(_ hint: Int, _ key: Int64) -> Bool {
        let known = frames + Int(hints[hint])
        guard let row = known.pointee.row(of: key) else { return false }
        frame = known
        self.row = row
        return true
    }

    /// Whether the cluster that a hint leads to begins among the keys that it is for.
    private func begins(_ hint: Int) -> Bool {
        let known = frames + Int(hints[hint])
        return known.pointee.leaf != nil && self.hint(known.pointee.firstKey) == hint
    }

    /// The place of a cluster, which is put into one if it is in none.
    private func hold(_ leaf: TableReader.Leaf) -> Int {
        let hint = hint(leaf.cluster.keys[0])
        var place = Int(hints[hint])
        if frames[place].leaf?.ref.page == leaf.ref.page { return place }
        if !begins(hint) {
            lastPlace = (lastPlace &+ 1) & (1 << frameBits &- 1)
            place = lastPlace
        }
        visits += 1
        frames[place].hold(leaf, visit: visits)
        hints[hint] = UInt16(place)
        return place
    }

    /// Whether a key may be in the cluster before or behind that of the row before: a loop over all
    /// rows needs no cluster twice.
    private func isNeighbour(_ key: Int64) -> Bool {
        guard let cluster = frame.pointee.leaf?.cluster else { return true }
        let distance = Int64(ClusterLimits.rows)
        let first = cluster.keys[0], last = cluster.keys[cluster.rowCount &- 1]
        return key > last
            ? UInt64(bitPattern: key &- last) <= UInt64(distance)
            : UInt64(bitPattern: first &- key) <= UInt64(distance)
    }

    /// Makes place for eight times as many clusters, up to the bounds.
    private func grow() {
        let bits = frameBits == 12 ? 13 : frameBits + 3
        guard 1 << bits <= Self.mostFrames, table.columns.count << bits <= Self.mostSlots else {
            return
        }
        let (oldFrames, oldCount) = (frames, 1 << frameBits)
        let current = frame - frames
        hints.deallocate()
        frameBits = bits
        (frames, hints) = Self.places(bits: bits)
        hintMask = Self.hintsPerFrame << bits - 1
        let sizes = (0..<oldCount).compactMap { oldFrames[$0].leaf?.cluster.rowCount }
        let quarter = sizes.reduce(0, +) / max(1, sizes.count) / 4
        hintShift = max(0, quarter.bitWidth - 1 - quarter.leadingZeroBitCount)
        for index in 0..<oldCount {
            frames[index] = oldFrames[index]
            guard frames[index].leaf != nil else { continue }
            hints[hint(frames[index].firstKey)] = UInt16(index)
        }
        oldFrames.deallocate()
        frame = frames + current
        lastPlace = oldCount &- 1
    }

    /// The cell of the row. O(1). Null for a list, and before `move`.
    package func cell(_ columnID: UInt32) throws(StorageError) -> Cell {
        guard let index = table.columnIndex(columnID) else { throw .noSuchColumn(columnID) }
        let slot: UnsafeMutablePointer<Slot>
        if let slots = frame.pointee.slots, slots[index].visit == frame.pointee.visit {
            slot = slots + index
        } else {
            slot = try find(index)
        }
        guard let leaf = frame.pointee.leaf else { return .null }
        guard let slice = slot.pointee.slice else { return table.columns[index].absentCell }
        return try table.cell(leaf, row, slice)
    }

    /// Has the processor fetch the cell of the row, if its column is known here.
    @inline(__always)
    package func fetch(_ columnID: UInt32) {
        guard let index = table.columnIndex(columnID), let slots = frame.pointee.slots,
            slots[index].visit == frame.pointee.visit, let slice = slots[index].slice
        else { return }
        slice.fetch(row)
    }

    @inline(never)
    private func find(_ index: Int) throws(StorageError) -> UnsafeMutablePointer<Slot> {
        let slots = frame.pointee.slots ?? makeSlots()
        if let leaf = frame.pointee.leaf {
            let slice = try leaf.cluster.slice(ofColumn: table.columns[index])
            if let slice { try table.pages.verify(leaf.ref, leaf.cluster.base, slice.range) }
            slots[index] = Slot(visit: frame.pointee.visit, slice: slice)
        }
        return slots + index
    }

    private func makeSlots() -> UnsafeMutablePointer<Slot> {
        let slots = UnsafeMutablePointer<Slot>.allocate(capacity: table.columns.count)
        slots.initialize(repeating: Slot(), count: table.columns.count)
        frame.pointee.slots = slots
        return slots
    }
}
