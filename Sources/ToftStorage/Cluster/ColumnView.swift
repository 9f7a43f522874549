/// One column of a cluster: found and verified once, then read without further tests.
package struct ColumnView {
    private let column: Column
    /// Nil if the cluster does not have the column.
    private let slice: ColumnSlice?
    private let count: Int

    init(_ column: Column, _ slice: ColumnSlice?, count: Int) {
        self.column = column
        self.slice = slice
        self.count = count
    }

    /// The column's layout in a cluster; nil if the cluster does not have the column.
    func known(in cluster: ClusterPage) -> KnownColumn? {
        slice.map { KnownColumn(column, $0, in: cluster) }
    }

    /// The type of the values.
    package var type: ColumnType { column.type }

    /// Bitmap of rows that are null (1); nil if no row is.
    package var nulls: UnsafePointer<UInt64>? {
        guard let slice else { return column.isNullWhereAbsent ? DefaultArrays.ones : nil }
        return slice.nulls
    }

    /// The bits of a column of bools.
    package func bools() throws(StorageError) -> UnsafePointer<UInt64> {
        try array(.bool).assumingMemoryBound(to: UInt64.self)
    }

    /// The values of a column of integers.
    package func integers() throws(StorageError) -> IntegerColumn {
        guard let slice = try slice(.int64) else { return zeros }
        return slice.integers(first: count)
    }

    /// The values of a column of single-precision numbers.
    package func float32s() throws(StorageError) -> UnsafePointer<Float> {
        try array(.float32).assumingMemoryBound(to: Float.self)
    }

    /// The values of a column of double-precision numbers.
    package func float64s() throws(StorageError) -> UnsafePointer<Double> {
        try array(.float64).assumingMemoryBound(to: Double.self)
    }

    /// The values of a column of 16 or 12 bytes.
    package func fixed() throws(StorageError) -> FixedColumn {
        guard let width = column.type.elementWidth, column.type.isFixed else {
            throw .typeMismatch("column \(column.id) holds \(column.type), not bytes of one length")
        }
        return FixedColumn(values: try array(column.type), width: width)
    }

    /// The two arrays of a column of timestamps.
    package func timestamps() throws(StorageError) -> (
        seconds: IntegerColumn, nanoseconds: UnsafePointer<Int32>
    ) {
        guard let slice = try slice(.timestamp) else {
            return (zeros, DefaultArrays.zeros.assumingMemoryBound(to: Int32.self))
        }
        return (
            slice.integers(first: count), slice.nanoseconds.assumingMemoryBound(to: Int32.self)
        )
    }

    private func array(_ type: ColumnType) throws(StorageError) -> UnsafeRawPointer {
        guard let slice = try slice(type) else { return DefaultArrays.zeros }
        return slice.values
    }

    private func slice(_ type: ColumnType) throws(StorageError) -> ColumnSlice? {
        guard column.type == type else {
            throw .typeMismatch("column \(column.id) holds \(column.type), not \(type)")
        }
        return slice
    }

    private var zeros: IntegerColumn { IntegerColumn(DefaultArrays.zeros, .eight, count: count) }
}

/// A column's layout in one cluster. Most other clusters have it with the same type and width: only
/// its place has to be found and verified there.
package struct KnownColumn {
    let column: Column
    private let index: Int
    /// The bytes of its entry that determine its geometry, except the last: that is the room for
    /// texts of a coded column, which differs.
    private let head: UInt64
    private let geometry: ColumnGeometry

    private static let headBits = 56

    init(_ column: Column, _ slice: ColumnSlice, in cluster: ClusterPage) {
        self.column = column
        index = (slice.entry &- cluster.entry(0)) / ClusterLayout.entrySize
        head = slice.base.uint64(at: slice.entry) << (64 - Self.headBits)
        geometry = slice.geometry
    }

    /// The column's arrays, verified to be between the keys and the heap; nil if the cluster has to
    /// be searched or the type differs.
    @inline(__always)
    func slice(in cluster: ClusterPage, as type: ColumnType) -> ColumnSlice? {
        let entry = cluster.entry(index)
        let found = cluster.base.uint64(at: entry)
        guard geometry.type == type, index < cluster.columnCount,
            found &<< UInt64(64 - Self.headBits) == head
        else { return nil }
        var geometry = geometry
        geometry.capacity = cluster.rowCapacity
        if type == .bytes {
            let textRoom = Int(found &>> UInt64(Self.headBits))
            guard geometry.takes(textRoom: textRoom) else { return nil }
            geometry.textRoom = textRoom
        }
        let start = cluster.start(ofColumn: index)
        guard start & 7 == 0, start >= cluster.columnsStart,
            start &+ geometry.size(as: type) <= cluster.heapStart
        else { return nil }
        return ColumnSlice(base: cluster.base, entry: entry, start: start, geometry: geometry)
    }
}

/// The values of a column of 16 or 12 bytes each.
package struct FixedColumn {
    package let values: UnsafeRawPointer
    /// Bytes of a value.
    package let width: Int

    package init(values: UnsafeRawPointer, width: Int) {
        self.values = values
        self.width = width
    }

    /// The value of a row, which is below the count of rows.
    @inline(__always)
    package subscript(row: Int) -> FixedBytes { values.fixed(at: row &* width, width: width) }
}

/// Arrays of a column that a cluster does not hold.
///
/// `nonisolated(unsafe)`: pointers to memory that is never written, and never released.
enum DefaultArrays {
    /// Zeros for a full cluster of the widest values. Never written.
    nonisolated(unsafe) static let zeros = filled(0)
    /// A bitmap that says null for every row.
    nonisolated(unsafe) static let ones = filled(0xFF).assumingMemoryBound(to: UInt64.self)

    private static func filled(_ byte: UInt8) -> UnsafeRawPointer {
        let bytes = UnsafeMutableRawPointer.allocate(
            byteCount: ClusterLimits.rows * 16, alignment: 64)
        bytes.initializeMemory(as: UInt8.self, repeating: byte, count: ClusterLimits.rows * 16)
        return UnsafeRawPointer(bytes)
    }
}
