extension TableWriter {
    /// Sets a cell to null or to a value of its column's type. O(log rows); O(1) in the row that
    /// was changed last. Lists have calls of their own.
    func setCell(_ key: Int64, _ columnID: UInt32, _ cell: Cell) throws(StorageError) {
        let column = try reader.column(columnID)
        guard column.accepts(cell) else {
            throw .typeMismatch(
                "column \(columnID) holds \(column.type)\(column.isNullable ? "" : ", not null")")
        }
        if case .bytes(let bytes) = cell {
            guard bytes.count <= TreeLimits.value else {
                throw .valueTooLong(length: bytes.count, limit: TreeLimits.value)
            }
            return try setBytes(key, column, bytes)
        }
        let (leaf, row, slice) = try locateCell(key, column)
        if slice.geometry.hasHeap { try freeExternal(leaf.cluster, slice, row) }
        if case .null = cell { return leaf.editor.setNull(slice, row) }
        if !leaf.editor.setFixed(slice, row, cell) { try setWide(key, column, cell) }
    }

    /// Sets an integer for which its cluster has to be written anew, with more bytes for all
    /// integers of the column.
    private func setWide(_ key: Int64, _ column: Column, _ cell: Cell)
        throws(StorageError)
    {
        let widening = cell.integer.map {
            ClusterBuilder.Widening.integers(column.id, $0, hasNanoseconds: cell.hasNanoseconds)
        }
        for _ in 0..<ClusterLimits.rows {
            try makeRoom(key, heap: 0, widening)
            let (leaf, row, slice) = try locateCell(key, column)
            if leaf.editor.setFixed(slice, row, cell) { return }
        }
        throw .corrupt(page: root.ref.page, reason: "a cluster cannot be divided")
    }

    /// Locates a cell for a change. A cluster is written anew if it lacks the column, or has it
    /// without nulls although there may be some.
    @inline(__always)
    func locateCell(_ key: Int64, _ column: Column) throws(StorageError) -> (
        leaf: Leaf, row: Int, slice: ColumnSlice
    ) {
        let (leaf, row) = try locateForWrite(key)
        if let slice = try leaf.cluster.slice(ofColumn: column),
            slice.geometry.isNullable == column.isNullable
        {
            return (leaf, row, slice)
        }
        return try makeCell(key, column)
    }

    private func makeCell(_ key: Int64, _ column: Column)
        throws(StorageError)
        -> (leaf: Leaf, row: Int, slice: ColumnSlice)
    {
        for _ in 0..<ClusterLimits.rows {
            try makeRoom(key, heap: 0, nil)
            let (leaf, row) = try locateForWrite(key)
            if let slice = try leaf.cluster.slice(ofColumn: column),
                slice.geometry.isNullable == column.isNullable
            {
                return (leaf, row, slice)
            }
        }
        throw .corrupt(page: root.ref.page, reason: "a cluster cannot be divided")
    }

    private func setBytes(_ key: Int64, _ column: Column, _ lent: UnsafeRawBufferPointer)
        throws(StorageError)
    {
        var bytes = lent
        let (leaf, row, slice) = try locateCell(key, column, keeping: &bytes)
        if bytes.count > inlineLimit(leaf.cluster, ClusterLimits.inlineBytes) {
            let blob = try pages.writeBlob(bytes)
            try freeExternal(leaf.cluster, slice, row)
            blob.encode(to: scratch.cell)
            return try setHeap(
                key, column, UnsafeRawBufferPointer(start: scratch.cell, count: Ref.size),
                reserve: Ref.size, isExternal: true)
        }
        if bytes.isEmpty {
            try freeExternal(leaf.cluster, slice, row)
            return leaf.editor.setEmpty(slice, row)
        }
        if slice.heapCell(row).isExternal {
            let kept = scratch.keepCell(bytes)
            try freeExternal(leaf.cluster, slice, row)
            return try setHeap(
                key, column, kept, reserve: bytes.count, isExternal: false)
        }
        if try leaf.editor.setHeap(slice, row, bytes, reserve: bytes.count, isExternal: false) {
            return
        }
        try setHeap(key, column, bytes, reserve: bytes.count, isExternal: false)
    }

    /// Locates a cell; bytes that may be in the cluster are copied to scratch memory before it is
    /// written anew.
    private func locateCell(
        _ key: Int64, _ column: Column, keeping bytes: inout UnsafeRawBufferPointer
    ) throws(StorageError) -> (leaf: Leaf, row: Int, slice: ColumnSlice) {
        let (leaf, row) = try locateForWrite(key)
        if let slice = try leaf.cluster.slice(ofColumn: column),
            slice.geometry.isNullable == column.isNullable
        {
            return (leaf, row, slice)
        }
        if bytes.count <= ScratchBuffers.cellSize { bytes = scratch.keepCell(bytes) }
        return try makeCell(key, column)
    }

    /// The most bytes that fit into a cluster; a single very large row stores everything outside.
    func inlineLimit(_ cluster: ClusterPage, _ limit: Int) -> Int {
        cluster.rowCount == 1 && cluster.heapEnd - cluster.heapStart > ClusterLimits.heap
            ? Ref.size : limit
    }

    /// Puts bytes into a cell's heap, after making room if necessary. The caller has freed the
    /// cell's old value outside of the cluster.
    func setHeap(
        _ key: Int64, _ column: Column, _ bytes: UnsafeRawBufferPointer, reserve: Int,
        isExternal: Bool
    ) throws(StorageError) {
        guard bytes.count <= reserve, reserve <= ScratchBuffers.cellSize else {
            throw .invalidPage(
                page: root.ref.page, kind: "cluster", reason: "a cell of \(reserve) bytes")
        }
        let kept = scratch.keepCell(bytes)
        for _ in 0..<ClusterLimits.rows {
            let (leaf, row, slice) = try locateCell(key, column)
            if try leaf.editor.setHeap(
                slice, row, kept, reserve: reserve, isExternal: isExternal)
            {
                return
            }
            try makeRoom(
                key, heap: reserve + 8,
                isExternal && slice.geometry.isCoded ? .plainTexts(column.id) : nil)
        }
        throw .corrupt(page: root.ref.page, reason: "a cluster cannot be divided")
    }

    func builder(of leaf: Leaf, _ widening: ClusterBuilder.Widening?) throws(StorageError)
        -> ClusterBuilder
    {
        try ClusterBuilder(columns, [ClusterSource(leaf.cluster)], widening: widening)
    }

    /// Writes the cluster of a row anew with more room in its heap or a wider column, or divides
    /// it.
    private func makeRoom(_ key: Int64, heap: Int, _ widening: ClusterBuilder.Widening?)
        throws(StorageError)
    {
        let (leaf, row) = try locateForWrite(key)
        try path.refresh()
        let count = leaf.cluster.rowCount
        if isAtEnd && row == count - 1,
            try makeRoomInTail(leaf, heap: heap, widening)
        {
            return
        }
        let builder = try builder(of: leaf, widening)
        if let shape = builder.grown(rows: count, from: leaf.cluster.rowCapacity, heap: heap) {
            _ = try rebuild(leaf, builder, shape)
            return
        }
        try split(leaf, at: isAtEnd && row == count - 1 ? row : max(1, count / 2))
    }
}

extension Column {
    /// Whether a cell of this column can be set to a value.
    @inline(__always)
    func accepts(_ cell: Cell) -> Bool {
        switch (cell, type) {
        case (.null, _): isNullable
        case (.bool, .bool), (.int64, .int64), (.float32, .float32), (.float64, .float64),
            (.timestamp, .timestamp), (.bytes, .bytes), (.fixed, .fixed16):
            true
        case (.fixed(let value), .fixed12): value.low & 0xFFFF_FFFF == 0
        default: false
        }
    }
}
