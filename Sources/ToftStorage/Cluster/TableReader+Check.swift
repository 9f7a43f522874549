extension TableReader {
    /// Checks every node, row, cell, list and long value: order, bounds, counts, checksums. Reports
    /// each extent and each list's tree to `visitor`; throws at the first damage. O(rows).
    func check(_ visitor: any TreeVisitor) throws(StorageError) {
        var walker = ClusterWalker(
            pages: pages, columns: columns, nextKey: root.nextKey, visitor: visitor)
        try root.check(&walker, in: pages, as: .cluster, visitor)
    }
}

/// Checks a cluster against all rules of its layout.
private struct ClusterWalker: LeafWalker {
    let pages: PageReader
    let columns: [Column]
    let nextKey: Int64
    let visitor: any TreeVisitor

    func leaf(_ ref: Ref, _ base: UnsafeRawPointer, from low: Separator?, below high: Separator?)
        throws(StorageError) -> UInt64
    {
        let cluster = try ClusterPage(base, page: ref.page, pageCount: ref.pageCount)
        try checkKeys(cluster, low, high)
        try cluster.check()
        for index in 0..<cluster.columnCount {
            let id = UInt32(
                truncatingIfNeeded: base.uint32(at: cluster.entry(index) + ClusterLayout.entryID))
            guard let column = columns.first(where: { $0.id == id }) else { continue }
            try checkColumn(cluster, try cluster.slice(index), column)
        }
        return UInt64(cluster.rowCount)
    }

    private func damage(_ cluster: ClusterPage, _ reason: String) -> StorageError {
        .corrupt(page: cluster.page, reason: reason)
    }

    private func checkKeys(_ cluster: ClusterPage, _ low: Separator?, _ high: Separator?)
        throws(StorageError)
    {
        let keys = cluster.keys
        let first = Separator(rowKey: keys[0])
        let last = Separator(rowKey: keys[cluster.rowCount - 1])
        guard low.map({ $0.compare(first) <= 0 }) ?? true,
            high.map({ last.compare($0) < 0 }) ?? true
        else {
            throw damage(cluster, "keys are outside the parent's bounds")
        }
        guard keys[cluster.rowCount - 1] < nextKey || nextKey == .max else {
            throw damage(cluster, "a key could be given again")
        }
    }

    /// Compares a column with its table, and checks its cells' values outside of the cluster.
    private func checkColumn(_ cluster: ClusterPage, _ slice: ColumnSlice, _ column: Column)
        throws(StorageError)
    {
        guard column.type == slice.geometry.type else {
            throw damage(cluster, "a column has another type than its table says")
        }
        guard column.isNullable || slice.nullCount == 0 else {
            throw damage(cluster, "nulls in a column that may not be null")
        }
        guard slice.geometry.hasHeap else { return }
        for row in 0..<cluster.rowCount {
            let cell = slice.heapCell(row)
            if cell.raw == 0 { continue }
            let bytes = try cluster.heapBytes(cell)
            if column.type == .list {
                try checkList(cluster, slice, cell, column)
            } else if cell.isExternal {
                let blob = try Ref(blob: bytes, page: cluster.page)
                _ = try pages.blob(blob)
                pages.leave(blob)
                try visitor.visit(blob, as: .blob)
            }
        }
    }

    private func checkList(
        _ cluster: ClusterPage, _ slice: ColumnSlice, _ cell: HeapCell, _ column: Column
    ) throws(StorageError) {
        if cell.isExternal {
            return try visitor.visit(
                sequence: try TableReader.sequenceID(try cluster.heapBytes(cell), cluster.page))
        }
        try cluster.block(cell, slice, column.elementKind).check(in: pages, visitor)
    }
}
