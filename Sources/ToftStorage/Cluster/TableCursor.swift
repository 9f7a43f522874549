/// Reads cells of one row after the other of a committed version: within a cluster no look-up leads
/// through the tree, and a column is found and verified once. One thread.
package final class TableCursor {
    /// A column of the cluster.
    private struct Slot {
        /// The cluster for which it holds.
        var cluster = 0
        /// Nil where the cluster does not hold the column.
        var slice: ColumnSlice?
    }

    private let table: TableReader
    @exclusivity(unchecked) private var leaf: TableReader.Leaf?
    @exclusivity(unchecked) private var row = 0
    /// Counts the clusters, from 1.
    @exclusivity(unchecked) private var cluster = 0
    /// One for each column of the table.
    private let slots: UnsafeMutablePointer<Slot>

    package init(_ table: TableReader) {
        self.table = table
        slots = .allocate(capacity: table.columns.count)
        slots.initialize(repeating: Slot(), count: table.columns.count)
    }

    deinit { slots.deallocate() }

    /// Goes to the row with a key. O(1) in the cluster of the row before, else O(log rows).
    /// - Throws: `noSuchRow`.
    package func move(to key: Int64) throws(StorageError) {
        if let row = leaf?.cluster.row(of: key) {
            self.row = row
            return
        }
        leaf = nil
        let found = try table.position(of: key)
        leaf = found.leaf
        row = found.row
        cluster &+= 1
    }

    /// The cell of the row. O(1). Null for a list, and before `move`.
    package func cell(_ columnID: UInt32) throws(StorageError) -> Cell {
        guard let index = table.columnIndex(columnID) else { throw .noSuchColumn(columnID) }
        if slots[index].cluster != cluster { try find(index) }
        guard let leaf else { return .null }
        guard let slice = slots[index].slice else { return table.columns[index].absentCell }
        return try table.cell(leaf, row, slice)
    }

    @inline(never)
    private func find(_ index: Int) throws(StorageError) {
        guard let leaf else { return }
        let slice = try leaf.cluster.slice(ofColumn: table.columns[index])
        if let slice { try table.pages.verify(leaf.ref, leaf.cluster.base, slice.range) }
        slots[index] = Slot(cluster: cluster, slice: slice)
    }
}
