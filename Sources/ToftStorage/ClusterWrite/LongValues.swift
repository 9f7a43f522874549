/// Finds the long values that a leaf names.
enum LongValues {
    /// Offsets of the references of long values in a leaf whose pages are verified. O(entries,
    /// cells or elements of bytes).
    static func references(in base: UnsafeRawPointer, of ref: Ref, _ type: ExtentType)
        throws(StorageError) -> [Int]
    {
        var found: [Int] = []
        switch type {
        case .orderedLeaf:
            let leaf = try OrderedLeaf(base, page: ref.page)
            for index in 0..<leaf.count {
                let entry = try leaf.entry(index)
                if entry.isBlob { note(entry.stored, base, &found) }
            }
        case .sequenceLeaf:
            try addElements(
                base + SequenceLeafLayout.block, SequenceLeafLayout.room, ref.page, base, &found)
        case .cluster:
            let cluster = try ClusterPage(base, page: ref.page, pageCount: ref.pageCount)
            for index in 0..<cluster.columnCount {
                let slice = try cluster.slice(index)
                if slice.geometry.hasHeap { try addCells(of: slice, in: cluster, &found) }
            }
        default: break
        }
        return found
    }

    private static func addCells(
        of slice: ColumnSlice, in cluster: ClusterPage, _ found: inout [Int]
    ) throws(StorageError) {
        for row in 0..<cluster.rowCount {
            let cell = slice.heapCell(row)
            if cell.raw == 0 { continue }
            let bytes = try cluster.heapBytes(cell)
            if slice.geometry.type == .bytes {
                if cell.isExternal { note(bytes, cluster.base, &found) }
            } else if !cell.isExternal, let block = bytes.baseAddress {
                try addElements(
                    block, bytes.count, cluster.page, cluster.base, &found,
                    before: slice.heapBytes(before: cell))
            }
        }
    }

    private static func addElements(
        _ block: UnsafeRawPointer, _ available: Int, _ page: PageNumber, _ base: UnsafeRawPointer,
        _ found: inout [Int], before: Int = 0
    ) throws(StorageError) {
        let block = try ElementBlock(
            ofAnyType: block, available: available, page: page, before: before)
        guard block.kind.type == .bytes, !block.isCoded else { return }
        for index in 0..<block.count {
            if case .blob(let bytes) = try block.element(index) { note(bytes, base, &found) }
        }
    }

    /// Adds a reference whose length was checked.
    private static func note(
        _ reference: UnsafeRawBufferPointer, _ base: UnsafeRawPointer, _ found: inout [Int]
    ) {
        guard reference.count == Ref.size, let start = reference.baseAddress else { return }
        found.append(start - base)
    }
}
