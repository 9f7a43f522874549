/// The values of a column of bytes in one cluster. Pages and bounds are verified when it is made; a
/// value costs two compares.
package struct BytesColumn {
    private let pages: PageReader
    private let cluster: ClusterPage
    private let cells: UnsafeRawPointer
    /// The part of the heap that the column's cells lie in.
    private let low: Int
    private let high: Int

    init(_ leaf: TableReader.Leaf, _ slice: ColumnSlice?, _ pages: PageReader) throws(StorageError)
    {
        self.pages = pages
        cluster = leaf.cluster
        guard let slice, slice.low < slice.high else {
            cells = slice?.values ?? DefaultArrays.zeros
            (low, high) = (0, 0)
            return
        }
        cells = slice.values
        guard slice.low >= UInt64(cluster.heapStart), slice.high <= UInt64(cluster.heapEnd) else {
            throw .corrupt(
                page: cluster.page, reason: "a column's bytes lie outside its cluster's heap")
        }
        (low, high) = (Int(slice.low), Int(slice.high))
        try pages.verify(leaf.ref, cluster.base, low..<high)
    }

    /// The bytes of a row below the cluster's count; none where it is null.
    package subscript(row: Int) -> UnsafeRawBufferPointer {
        @inline(__always)
        get throws(StorageError) {
            let cell = HeapCell(raw: cells.uint32(at: row &* 4))
            let offset = cell.offset
            let end = offset &+ cell.length
            if cell.raw != 0 && (offset < low || end > high) { throw outside }
            let bytes = UnsafeRawBufferPointer(start: cluster.base + offset, count: cell.length)
            return cell.isExternal ? try external(bytes) : bytes
        }
    }

    private var outside: StorageError {
        .corrupt(page: cluster.page, reason: "a cell lies outside its column's heap")
    }

    private func external(_ bytes: UnsafeRawBufferPointer) throws(StorageError)
        -> UnsafeRawBufferPointer
    {
        try pages.blob(try Ref(blob: bytes, page: cluster.page))
    }
}
