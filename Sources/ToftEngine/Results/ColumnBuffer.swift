package import ToftModel
internal import ToftStorage

/// Memory of the caller that takes a property of many objects, one element for each.
///
/// By type: bool a byte; int and link eight bytes; float four; double eight; string and data a
/// pointer and a count (borrowed until the session moves or writes); date eight bytes of seconds
/// and four of nanoseconds, sixteen in all; uuid and decimal sixteen; object id twelve.
/// Null reads as zero bytes.
package struct ColumnBuffer {
    /// Nil: the objects' own keys.
    package var property: PropertyID?
    package var values: UnsafeMutableRawPointer
    /// A byte for each element, 1 if it is null.
    package var nulls: UnsafeMutablePointer<UInt8>?

    package init(
        property: PropertyID?, values: UnsafeMutableRawPointer, nulls: UnsafeMutablePointer<UInt8>?
    ) {
        self.property = property
        self.values = values
        self.nulls = nulls
    }

    /// Bytes of one element of a property; nil for one that can't be read as a column.
    package static func elementSize(of property: PropertyHandle) -> Int? {
        guard property.collection == .none, property.type.elementSize > 0 else { return nil }
        return property.type.elementSize
    }
}

extension PropertyType {
    /// Bytes of one element in a caller's buffer; 0 if it has no fixed size.
    fileprivate var elementSize: Int {
        switch self {
        case .bool: 1
        case .float: 4
        case .int, .double, .link: 8
        case .string, .data, .date, .uuid, .decimal128: 16
        case .objectId: 12
        case .linkingObjects, .mixed: 0
        }
    }
}

/// Copies one column into a buffer.
struct ColumnCopier {
    /// Nil: the objects' keys.
    let column: UInt32?
    let type: PropertyType
    let buffer: ColumnBuffer

    /// Copies rows of a cluster to the elements from `first` on; null for rows without a cluster.
    func copy(_ rows: ClusterRows, of cluster: ClusterView?, to first: Int) throws(StorageError) {
        guard let cluster else { return clear(rows.count, from: first) }
        switch rows {
        case .range(let range):
            if try !copy(all: range, of: cluster, to: first) {
                try copy(each: range, of: cluster, to: first)
            }
        case .indexes(let indexes): try copy(each: indexes, of: cluster, to: first)
        }
    }

    private func clear(_ count: Int, from first: Int) {
        let size = type.elementSize
        (buffer.values + first * size).initializeMemory(
            as: UInt8.self, repeating: 0, count: count * size)
        if let nulls = buffer.nulls { (nulls + first).update(repeating: 1, count: count) }
    }

    /// Copies adjacent rows without nulls in one go; false if each row has to be tested.
    private func copy(all rows: Range<Int>, of cluster: ClusterView, to first: Int)
        throws(StorageError) -> Bool
    {
        guard let column else { return false }
        let view = try cluster.column(column)
        guard view.nulls == nil else { return false }
        let destination = buffer.values + first * type.elementSize
        switch type {
        case .bool: Self.spread(try view.bools(), rows, to: destination)
        case .int, .link: try view.integers()[rows].widen(to: destination)
        case .float: Self.copy(try view.float32s() + rows.lowerBound, rows.count, to: destination)
        case .double: Self.copy(try view.float64s() + rows.lowerBound, rows.count, to: destination)
        case .date, .string, .data, .uuid, .objectId, .decimal128, .linkingObjects, .mixed:
            return false
        }
        if let nulls = buffer.nulls { (nulls + first).update(repeating: 0, count: rows.count) }
        return true
    }

    @inline(never)
    private static func copy<Element: BitwiseCopyable>(
        _ values: UnsafePointer<Element>, _ count: Int, to destination: UnsafeMutableRawPointer
    ) {
        destination.copyMemory(from: values, byteCount: count * MemoryLayout<Element>.stride)
    }

    /// Makes a byte of each bit; eight at a time if the rows begin with a byte of the bitmap.
    @inline(never)
    private static func spread(
        _ bits: UnsafePointer<UInt64>, _ rows: Range<Int>, to destination: UnsafeMutableRawPointer
    ) {
        var row = rows.lowerBound
        var destination = destination
        while row < rows.upperBound {
            let rest = bits[row >> 6] &>> UInt64(row & 63)
            if row & 7 == 0 && row + 8 <= rows.upperBound {
                let chosen = ((rest & 0xFF) &* 0x0101_0101_0101_0101) & 0x8040_2010_0804_0201
                destination.storeBytes(
                    of: ((chosen &+ 0x7F7F_7F7F_7F7F_7F7F) &>> 7 & 0x0101_0101_0101_0101)
                        .littleEndian, as: UInt64.self)
                (row, destination) = (row + 8, destination + 8)
            } else {
                destination.storeBytes(of: UInt8(rest & 1), as: UInt8.self)
                (row, destination) = (row + 1, destination + 1)
            }
        }
    }

    private func copy(
        each rows: some RandomAccessCollection<Int>, of cluster: ClusterView, to first: Int
    ) throws(StorageError) {
        guard let column else { return fill(rows, nil, first, Int64(0)) { cluster.keys[$0] } }
        let nulls = try cluster.nulls(column)
        switch type {
        case .bool:
            let bits = try cluster.bools(column)
            fill(rows, nulls, first, UInt8(0)) {
                UInt8(truncatingIfNeeded: bits[$0 >> 6] >> UInt64($0 & 63) & 1)
            }
        case .int, .link:
            let values = try cluster.integers(column)
            fill(rows, nulls, first, Int64(0)) { values[$0] }
        case .float:
            let values = try cluster.float32s(column)
            fill(rows, nulls, first, Float(0)) { values[$0] }
        case .double:
            let values = try cluster.float64s(column)
            fill(rows, nulls, first, Double(0)) { values[$0] }
        case .date:
            let values = try cluster.timestamps(column)
            fill(rows, nulls, first, DateElement()) {
                DateElement(seconds: values.seconds[$0], nanoseconds: values.nanoseconds[$0])
            }
        case .uuid:
            let values = try cluster.fixed(column)
            fill(rows, nulls, first, UUIDElement(.zero)) { UUIDElement(values[$0]) }
        case .decimal128:
            let values = try cluster.fixed(column)
            fill(rows, nulls, first, DecimalElement()) {
                DecimalElement(Decimal128(stored: values[$0]))
            }
        case .objectId:
            let values = try cluster.fixed(column)
            fill(rows, nulls, first, ObjectIdElement(.zero)) { ObjectIdElement(values[$0]) }
        case .string, .data:
            let values = try cluster.bytes(column)
            try fillBytes(rows, nulls, first, values)
        case .linkingObjects, .mixed: break
        }
    }

    // It is deliberately a call of its own. Inlined, its loop may become the move of memory that
    // ends a throwing function, at which Swift 6.3's optimiser forgets the register of the error.
    @inline(never)
    private func fill<Element: BitwiseCopyable>(
        _ rows: some RandomAccessCollection<Int>, _ nulls: UnsafePointer<UInt64>?, _ first: Int,
        _ null: Element, _ value: (Int) -> Element
    ) {
        let size = MemoryLayout<Element>.stride
        var destination = buffer.values + first * size
        for row in rows {
            destination.storeBytes(of: nulls.isNull(row) ? null : value(row), as: Element.self)
            destination += size
        }
        noteNulls(rows, nulls, first)
    }

    private func fillBytes(
        _ rows: some RandomAccessCollection<Int>, _ nulls: UnsafePointer<UInt64>?, _ first: Int,
        _ values: BytesColumn
    ) throws(StorageError) {
        let size = MemoryLayout<BytesElement>.stride
        var destination = buffer.values + first * size
        for row in rows {
            destination.storeBytes(
                of: nulls.isNull(row) ? BytesElement() : BytesElement(try values[row]),
                as: BytesElement.self)
            destination += size
        }
        noteNulls(rows, nulls, first)
    }

    @inline(never)
    private func noteNulls(
        _ rows: some RandomAccessCollection<Int>, _ nulls: UnsafePointer<UInt64>?, _ first: Int
    ) {
        guard var destination = buffer.nulls.map({ $0 + first }) else { return }
        for row in rows {
            destination.pointee = nulls.isNull(row) ? 1 : 0
            destination += 1
        }
    }
}

extension UnsafePointer<UInt64>? {
    /// Whether a bitmap of nulls, if there is one, marks a row.
    @inline(__always)
    func isNull(_ row: Int) -> Bool {
        guard let self else { return false }
        return self[row >> 6] >> UInt64(row & 63) & 1 != 0
    }
}

/// A date as a caller's buffer holds it.
private struct DateElement: BitwiseCopyable {
    var seconds: Int64 = 0
    var nanoseconds: Int32 = 0
    var padding: Int32 = 0
}

/// A uuid as a caller's buffer and Arrow hold it.
struct UUIDElement: BitwiseCopyable {
    var high: UInt64
    var low: UInt64

    init(_ value: FixedBytes) {
        high = value.high.bigEndian
        low = value.low.bigEndian
    }
}

/// A decimal as a caller's buffer holds it.
private struct DecimalElement: BitwiseCopyable {
    var low: UInt64 = 0
    var high: UInt64 = 0

    init() {}

    init(_ value: Decimal128) { (low, high) = (value.low, value.high) }
}

/// An object id as a caller's buffer holds it: 12 bytes, without room behind them.
struct ObjectIdElement: BitwiseCopyable {
    var words: (UInt32, UInt32, UInt32)

    init(_ value: FixedBytes) {
        words = (
            UInt32(truncatingIfNeeded: value.high >> 32).bigEndian,
            UInt32(truncatingIfNeeded: value.high).bigEndian,
            UInt32(truncatingIfNeeded: value.low >> 32).bigEndian
        )
    }
}

/// A string or data as a caller's buffer holds it.
private struct BytesElement: BitwiseCopyable {
    var base: UnsafeRawPointer?
    var count = 0

    init() {}

    init(_ bytes: UnsafeRawBufferPointer) {
        base = bytes.baseAddress
        count = bytes.count
    }
}
