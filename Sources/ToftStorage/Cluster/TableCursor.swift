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

    private static let mostFrames = 4096
    private static let mostSlots = 1 << 16
    /// Keys that a hint is for: the quarter of a cluster of new objects.
    private static let keysPerHint = 64
    private static let hintsPerFrame = 8

    private let table: TableReader
    /// `1 << frameBits` places; a cluster's is by its page.
    @exclusivity(unchecked) private var frames: UnsafeMutablePointer<Frame>
    private var frameBits = 0
    /// For each range of keys, and each further one of as many ranges: the frame that it was last
    /// in. `hintMask` + 1 of them.
    @exclusivity(unchecked) private var hints: UnsafeMutablePointer<UInt16>
    @exclusivity(unchecked) private var hintMask = 0
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
    /// - Throws: `noSuchRow`.
    @inline(__always)
    package func move(to key: Int64) throws(StorageError) {
        if let row = frame.pointee.row(of: key) {
            self.row = row
            return
        }
        try jump(to: key)
    }

    private func hint(_ key: Int64) -> Int {
        Int(truncatingIfNeeded: key / Int64(Self.keysPerHint)) & hintMask
    }

    @inline(never)
    private func jump(to key: Int64) throws(StorageError) {
        let known = frames + Int(hints[hint(key)])
        if let row = known.pointee.row(of: key) {
            frame = known
            self.row = row
            return
        }
        let found = try table.position(of: key)
        if !isNeighbour(key) {
            jumps += 1
            if jumps > 2 << frameBits { grow() }
        }
        let index = place(of: found.leaf)
        frame = frames + index
        if frame.pointee.leaf?.ref.page != found.leaf.ref.page {
            visits += 1
            frame.pointee.hold(found.leaf, visit: visits)
        }
        hints[hint(key)] = UInt16(index)
        row = found.row
    }

    private func place(of leaf: TableReader.Leaf) -> Int {
        if frameBits == 0 { return 0 }
        return Int((leaf.ref.page.rawValue &* 0x9E37_79B9_7F4A_7C15) >> UInt64(64 - frameBits))
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
        let bits = frameBits + 3
        guard 1 << bits <= Self.mostFrames, table.columns.count << bits <= Self.mostSlots else {
            return
        }
        let (oldFrames, oldCount) = (frames, 1 << frameBits)
        hints.deallocate()
        frameBits = bits
        (frames, hints) = Self.places(bits: bits)
        hintMask = Self.hintsPerFrame << bits - 1
        for index in 0..<oldCount {
            guard let leaf = oldFrames[index].leaf else { continue }
            frames[place(of: leaf)].slots?.deallocate()
            frames[place(of: leaf)] = oldFrames[index]
        }
        oldFrames.deallocate()
        frame = frames
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
