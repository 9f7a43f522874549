internal import ToftStorage

/// A copy of a column of all objects of a class, addressed by object key: for links that lead all
/// over it.
///
/// A read takes a few nanoseconds for each value; finding an object by its key takes some hundred.
/// Memory: the width of the column for each key between the first and the last; for integers the
/// width of the longest one, so that a short copy stays in the caches.
final class MaterializedColumn {
    /// Keys that belong to no object may take three quarters of the copy.
    private static let maximumSpread = 4

    private let layout: ValueLayout
    private let firstKey: Int64
    private let count: Int
    private var values: UnsafeMutableRawPointer
    /// Bytes of an integer: 1, 2, 4 or 8.
    private var intWidth = 1
    private let nanoseconds: UnsafeMutablePointer<Int32>?
    /// One bit a key: there is an object and its value is not null.
    private let present: UnsafeMutablePointer<UInt64>

    /// Nil if the keys are too sparse.
    init?(_ column: ColumnRead, of table: TableReader) throws(StorageError) {
        guard let (first, last) = try table.keyBounds else { return nil }
        // In a damaged file keys may be in any order.
        let (spread, overflow) = last.subtractingReportingOverflow(first)
        guard !overflow, spread >= 0, spread / Int64(Self.maximumSpread) < Int64(table.rowCount)
        else { return nil }
        layout = column.layout
        firstKey = first
        count = Int(spread) + 1
        let width =
            switch column.layout {
            case .bool, .int: 1
            case .double, .date: 8
            case .fixed, .decimal, .text, .mixed: 16
            }
        values = .allocate(byteCount: count * width, alignment: 64)
        values.initializeMemory(as: UInt8.self, repeating: 0, count: count * width)
        nanoseconds = column.layout == .date ? .allocate(capacity: count) : nil
        present = .allocate(capacity: count / 64 + 1)
        present.initialize(repeating: 0, count: count / 64 + 1)
        let vector = Vector(column.layout)
        try table.forEachCluster { cluster throws(StorageError) in
            try ClusterColumn(cluster, column).read(into: vector, wanted: .first(cluster.count))
            take(vector, cluster)
            return true
        }
    }

    deinit {
        values.deallocate()
        nanoseconds?.deallocate()
        present.deallocate()
    }

    private func take(_ vector: Vector, _ cluster: ClusterView) {
        if layout == .int { widen(for: vector, cluster.count) }
        var rows = Selection.first(cluster.count).subtracting(vector.nulls).rows
        while let row = rows.next() {
            let offset = cluster.keys[row] &- firstKey
            guard offset >= 0, offset < count else { continue }
            let index = Int(offset)
            present[index >> 6] |= 1 &<< UInt64(index & 63)
            switch layout {
            case .bool:
                values.storeBytes(of: vector.bits[row] ? 1 : 0, toByteOffset: index, as: UInt8.self)
            case .int: store(vector.ints[row], at: index)
            case .double:
                values.storeBytes(
                    of: vector.doubles[row], toByteOffset: index &* 8, as: Double.self)
            case .date:
                values.storeBytes(of: vector.ints[row], toByteOffset: index &* 8, as: Int64.self)
                nanoseconds?[index] = vector.nanoseconds[row]
            case .fixed, .decimal:
                values.storeBytes(
                    of: vector.fixed(row), toByteOffset: index &* 16, as: FixedBytes.self)
            case .text, .mixed:
                values.storeBytes(
                    of: vector.texts[row], toByteOffset: index &* 16,
                    as: UnsafeRawBufferPointer.self)
            }
        }
    }

    /// Fills `vector` for the wanted rows of `batch`.
    func read(_ batch: RowBatch, wanted: Selection, into vector: Vector) {
        vector.useOwnStorage()
        var nulls = batch.absent
        var rows = wanted.subtracting(batch.absent).rows
        while let row = rows.next() {
            let offset = batch.keys[row] &- firstKey
            guard offset >= 0, offset < count,
                present[Int(offset) >> 6] & (1 &<< UInt64(offset & 63)) != 0
            else {
                nulls.insert(row)
                continue
            }
            copy(Int(offset), to: row, of: vector)
        }
        vector.nulls = nulls
    }

    /// Makes the integers as wide as the first rows of a vector need.
    private func widen(for vector: Vector, _ rowCount: Int) {
        // The bits in null rows are no values, and at worst cost width.
        var bits: Int64 = 0
        for row in 0..<rowCount { bits |= vector.ints[row] ^ (vector.ints[row] >> 63) }
        let needed = bits < 1 << 7 ? 1 : bits < 1 << 15 ? 2 : bits < 1 << 31 ? 4 : 8
        guard needed > intWidth else { return }
        let narrow = values, old = intWidth
        values = .allocate(byteCount: count * needed, alignment: 64)
        intWidth = needed
        for index in 0..<count { store(Self.int(narrow, at: index, old), at: index) }
        narrow.deallocate()
    }

    @inline(__always)
    private func store(_ value: Int64, at index: Int) {
        switch intWidth {
        case 1:
            values.storeBytes(
                of: Int8(truncatingIfNeeded: value), toByteOffset: index, as: Int8.self)
        case 2:
            values.storeBytes(
                of: Int16(truncatingIfNeeded: value), toByteOffset: index &* 2, as: Int16.self)
        case 4:
            values.storeBytes(
                of: Int32(truncatingIfNeeded: value), toByteOffset: index &* 4, as: Int32.self)
        default: values.storeBytes(of: value, toByteOffset: index &* 8, as: Int64.self)
        }
    }

    @inline(__always)
    private static func int(_ values: UnsafeMutableRawPointer, at index: Int, _ width: Int) -> Int64
    {
        switch width {
        case 1: Int64(values.load(fromByteOffset: index, as: Int8.self))
        case 2: Int64(values.load(fromByteOffset: index &* 2, as: Int16.self))
        case 4: Int64(values.load(fromByteOffset: index &* 4, as: Int32.self))
        default: values.load(fromByteOffset: index &* 8, as: Int64.self)
        }
    }

    @inline(__always)
    private func copy(_ index: Int, to row: Int, of vector: Vector) {
        switch layout {
        case .bool:
            if values.load(fromByteOffset: index, as: UInt8.self) != 0 { vector.bits.insert(row) }
        case .int: vector.ownInts[row] = Self.int(values, at: index, intWidth)
        case .double:
            vector.ownDoubles[row] = values.load(fromByteOffset: index &* 8, as: Double.self)
        case .date:
            vector.ownInts[row] = values.load(fromByteOffset: index &* 8, as: Int64.self)
            vector.ownNanoseconds[row] = nanoseconds?[index] ?? 0
        case .fixed, .decimal:
            vector.set(row, values.load(fromByteOffset: index &* 16, as: FixedBytes.self))
        case .text, .mixed:
            vector.ownTexts[row] = values.load(
                fromByteOffset: index &* 16, as: UnsafeRawBufferPointer.self)
        }
    }
}

extension TableReader {
    /// The least and the greatest key; nil for an empty table.
    fileprivate var keyBounds: (first: Int64, last: Int64)? {
        get throws(StorageError) {
            guard rowCount > 0 else { return nil }
            var first: Int64?
            try forEachCluster { cluster throws(StorageError) in
                first = cluster.keys[0]
                return false
            }
            guard let first else { return nil }
            return (first, try key(atRank: rowCount - 1))
        }
    }
}
