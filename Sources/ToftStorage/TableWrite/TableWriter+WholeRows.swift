/// Rows that are inserted with all their values. If they belong at the end of the table and the
/// last cluster has room, they are written in their final form; otherwise step by step.
extension TableWriter {
    /// Inserts a row with values. O(log rows), at the end O(1).
    func insertRow(_ key: Int64, _ content: RowContent) throws(StorageError) {
        if try appendRow(key, content) { return }
        try insertRow(key)
        for value in content.values {
            if !value.isList { try setCell(key, value.column, value.cell) }
            for (index, cell) in content.elements(value).enumerated() {
                try listInsert(key, value.column, at: index, cell)
            }
        }
    }

    /// Appends a row to the cluster of the last change; false, without a change, if that is not the
    /// last cluster or has no room.
    private func appendRow(_ key: Int64, _ content: RowContent)
        throws(StorageError) -> Bool
    {
        guard let leaf = try leafAtHint(key), isAtEnd else { return false }
        let cluster = leaf.cluster, row = cluster.rowCount
        guard row < cluster.rowCapacity, key > cluster.keys[row &- 1],
            cluster.takesKey(key, at: row), holdsColumns(leaf),
            let heap = try plan(content, cluster, rowPlan.slices),
            cluster.heapEnd &+ heap <= cluster.byteCount
        else { return false }
        try path.refresh()
        var appended = AppendedRow(leaf.editor, row: row)
        let slices = rowPlan.slices
        for index in columns.indices {
            let slice = slices[index]
            guard let position = rowPlan.value(index) else {
                appended.putDefault(slice)
                continue
            }
            let value = content.values[position]
            if value.isList {
                try appended.put(content.elements(value), columns[index].elementKind, slice)
            } else {
                try appended.put(value.cell, slice)
            }
        }
        appended.finish(key: key)
        try path.addRows(&head.root, 1)
        appendedRows &+= 1
        raiseNextKey(above: key)
        return true
    }

    /// Whether a cluster holds exactly the columns of the table, which are looked up once for each
    /// cluster.
    private func holdsColumns(_ leaf: Leaf) -> Bool {
        if rowPlan.cluster == leaf.ref.page && rowPlan.base == leaf.base { return true }
        guard leaf.cluster.columnCount == columns.count else { return false }
        rowPlan.cluster = 0
        rowPlan.slices.removeAll(keepingCapacity: true)
        for (index, column) in columns.enumerated() {
            guard leaf.cluster.index(ofColumn: column.id) == index,
                let slice = try? leaf.cluster.slice(index),
                slice.geometry.type == column.type, slice.geometry.isNullable == column.isNullable
            else { return false }
            rowPlan.slices.append(slice)
        }
        (rowPlan.cluster, rowPlan.base) = (leaf.ref.page, leaf.base)
        return true
    }

    /// Finds the column of each value and returns the bytes of heap that they take; nil if a value
    /// does not fit into its column or the cluster. The cluster has all columns of the table.
    private func plan(
        _ content: RowContent, _ cluster: ClusterPage, _ slices: ContiguousArray<ColumnSlice>
    ) throws(StorageError) -> Int? {
        var heap = 0
        rowPlan.begin(columns.count)
        for position in content.values.indices {
            let value = content.values[position]
            guard let index = reader.columnIndex(value.column),
                let size = heapSize(value, content, columns[index])
            else { return nil }
            guard cluster.holds(value.cell, inColumn: index) else { return nil }
            if case .bytes(let bytes) = value.cell,
                try !cluster.holds(bytes, slices[index])
            {
                return nil
            }
            rowPlan.put(position, at: index)
            heap &+= size
        }
        return heap
    }

    @inline(__always)
    private func heapSize(_ value: RowValue, _ content: RowContent, _ column: Column) -> Int? {
        if value.isList { return listSize(content.elements(value), column) }
        guard column.accepts(value.cell) else { return nil }
        guard case .bytes(let bytes) = value.cell else { return 0 }
        return bytes.count <= ClusterLimits.inlineBytes ? bytes.count : nil
    }

    private func listSize(_ elements: UnsafeBufferPointer<Cell>, _ column: Column) -> Int? {
        guard column.type == .list, let type = column.elementType,
            elements.count <= ClusterLimits.inlineList
        else { return nil }
        let element = Column(id: column.id, type: type, isNullable: column.elementIsNullable)
        var heap = 0
        for cell in elements {
            guard element.accepts(cell) else { return nil }
            heap &+= Element.cell(cell).heapBytes
        }
        let size = column.elementKind.blockSize(count: elements.count, heapBytes: heap)
        return size <= ClusterLimits.inlineList
            ? elements.isEmpty ? 0 : size.roundedUpToEight &+ 7 : nil
    }
}

/// The assignment of values to the columns of a row that is inserted whole.
struct RowPlan {
    /// By the index of the column, the index of its value; -1: it gets its default.
    private var values: ContiguousArray<Int32> = []
    /// The page and address of the last cluster that was found to have all columns; 0 if a cluster
    /// has been written since.
    var cluster: PageNumber = 0
    var base: UnsafeMutableRawPointer?
    /// Its columns.
    var slices: ContiguousArray<ColumnSlice> = []

    mutating func begin(_ count: Int) {
        if values.count != count {
            values = ContiguousArray(repeating: -1, count: count)
        } else {
            for index in values.indices { values[index] = -1 }
        }
    }

    @inline(__always)
    mutating func put(_ value: Int, at column: Int) {
        values[column] = Int32(truncatingIfNeeded: value)
    }

    @inline(__always)
    func value(_ column: Int) -> Int? { values[column] >= 0 ? Int(values[column]) : nil }
}

/// A row on its way into the first free row of a cluster, whose columns are zero there. The heap
/// has room for it.
private struct AppendedRow {
    private let editor: ClusterEditor
    private let row: Int
    private var heapEnd: Int

    init(_ editor: ClusterEditor, row: Int) {
        self.editor = editor
        self.row = row
        heapEnd = editor.cluster.heapEnd
    }

    func putDefault(_ slice: ColumnSlice) {
        if slice.geometry.isNullable {
            editor.setNull(slice, row)
        } else {
            editor.widenByZero(slice)
        }
    }

    @inline(__always)
    mutating func put(_ cell: Cell, _ slice: ColumnSlice) throws(StorageError) {
        switch cell {
        case .null: editor.setNull(slice, row)
        case .bytes(let bytes):
            guard let source = bytes.baseAddress, bytes.count > 0 else { return }
            if slice.geometry.isCoded {
                heapEnd = try editor.setText(slice, row, bytes, heapEnd) ?? heapEnd
                return
            }
            editor.base.store(source, count: bytes.count, at: heapEnd)
            putHeap(slice, heapEnd, bytes.count)
        default: _ = editor.setFixed(slice, row, cell)
        }
    }

    mutating func put(
        _ elements: UnsafeBufferPointer<Cell>, _ kind: ElementKind, _ slice: ColumnSlice
    ) throws(StorageError) {
        guard !elements.isEmpty else { return }
        let start = heapEnd.roundedUpToEight
        var writer = try ElementWriter(
            editor.base + start, capacity: editor.cluster.byteCount - start, kind: kind,
            count: elements.count, page: editor.cluster.page)
        for cell in elements { try writer.append(.cell(cell), page: editor.cluster.page) }
        putHeap(slice, start, writer.length.roundedUpToEight)
    }

    @inline(__always)
    private mutating func putHeap(_ slice: ColumnSlice, _ start: Int, _ length: Int) {
        editor.setHeapCell(slice, row, HeapCell(offset: start, length: length, isExternal: false))
        heapEnd = start &+ length
    }

    func finish(key: Int64) {
        let cluster = editor.cluster
        editor.storeKey(key, at: row)
        editor.base.storeUInt32(heapEnd, at: cluster.header &+ ClusterLayout.heapEnd)
        editor.base.storeUInt16(row &+ 1, at: cluster.header &+ ClusterLayout.rowCount)
    }
}
