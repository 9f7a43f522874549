internal import ToftModel
internal import ToftStorage

/// The values of up to `Selection.capacity` rows, one type for all: the result of an expression.
///
/// The pointers lead into a cluster if the values can be read in place, otherwise into storage of
/// the vector's own, which lives as long as it.
final class Vector {

    let layout: ValueLayout
    /// Rows without a value. Their elements in the arrays mean nothing.
    var nulls = Selection.empty
    /// The rows that are true, for bool.
    var bits = Selection.empty
    /// Int; the seconds of dates: with the width that they are stored in. The leading eight bytes
    /// of uuids and object ids.
    private(set) var integers: IntegerColumn
    private var wideInts: UnsafePointer<Int64>
    private var isWide = true
    var doubles: UnsafePointer<Double>
    var nanoseconds: UnsafePointer<Int32>
    /// The bytes from the ninth on of uuids and object ids, big-endian.
    private let lows: UnsafePointer<UInt64>
    var texts: UnsafePointer<UnsafeRawBufferPointer>
    /// The column of the last cluster that the vector was pointed at.
    @exclusivity(unchecked) var known: KnownColumn?
    /// Storage of the vector's own.
    private let storage: UnsafeMutableRawPointer

    init(_ layout: ValueLayout) {
        self.layout = layout
        let size = Selection.capacity * 16
        storage = .allocate(byteCount: size, alignment: 64)
        storage.initializeMemory(as: UInt8.self, repeating: 0, count: size)
        wideInts = UnsafePointer(storage.assumingMemoryBound(to: Int64.self))
        integers = IntegerColumn(wideInts, count: Selection.capacity)
        doubles = UnsafePointer(storage.assumingMemoryBound(to: Double.self))
        nanoseconds = UnsafePointer(
            (storage + Selection.capacity * 8).assumingMemoryBound(to: Int32.self))
        lows = UnsafePointer(
            (storage + Selection.capacity * 8).assumingMemoryBound(to: UInt64.self))
        texts = UnsafePointer(storage.assumingMemoryBound(to: UnsafeRawBufferPointer.self))
    }

    deinit { storage.deallocate() }

    var ownInts: UnsafeMutablePointer<Int64> { storage.assumingMemoryBound(to: Int64.self) }
    var ownDoubles: UnsafeMutablePointer<Double> { storage.assumingMemoryBound(to: Double.self) }
    var ownNanoseconds: UnsafeMutablePointer<Int32> {
        (storage + Selection.capacity * 8).assumingMemoryBound(to: Int32.self)
    }
    var ownLows: UnsafeMutablePointer<UInt64> {
        (storage + Selection.capacity * 8).assumingMemoryBound(to: UInt64.self)
    }
    var ownTexts: UnsafeMutablePointer<UnsafeRawBufferPointer> {
        storage.assumingMemoryBound(to: UnsafeRawBufferPointer.self)
    }

    /// Int; the seconds of dates: with eight bytes each.
    var ints: UnsafePointer<Int64> {
        @inline(__always) get {
            if !isWide { widen() }
            return wideInts
        }
    }

    /// Points the vector at integers of any width.
    func use(_ integers: IntegerColumn) {
        self.integers = integers
        if case .eight = integers.width {
            wideInts = integers.base.assumingMemoryBound(to: Int64.self)
            isWide = true
        } else {
            isWide = false
        }
    }

    private func widen() {
        integers.widen(to: storage)
        wideInts = UnsafePointer(ownInts)
        isWide = true
    }

    /// Points the vector at its own storage again.
    func useOwnStorage() {
        use(IntegerColumn(UnsafePointer(ownInts), count: Selection.capacity))
        doubles = UnsafePointer(ownDoubles)
        nanoseconds = UnsafePointer(ownNanoseconds)
        texts = UnsafePointer(ownTexts)
        nulls = .empty
        bits = .empty
    }

    /// Sets one row of the vector's own storage from a cell of the right type; anything else counts
    /// as null.
    @inline(__always)
    func set(_ row: Int, _ cell: Cell) {
        switch (cell, layout) {
        case (.int64(let value), .int): ownInts[row] = value
        case (.float64(let value), .double): ownDoubles[row] = value
        case (.float32(let value), .double): ownDoubles[row] = Double(value)
        case (.bool(let value), .bool): if value { bits.insert(row) }
        case (.timestamp(let value), .date):
            ownInts[row] = value.seconds
            ownNanoseconds[row] = value.nanoseconds
        case (.fixed(let value), .fixed), (.fixed(let value), .decimal): set(row, value)
        case (.bytes(let value), .text), (.bytes(let value), .mixed): ownTexts[row] = value
        default: nulls.insert(row)
        }
    }

    @inline(__always)
    func set(_ row: Int, _ value: FixedBytes) {
        ownInts[row] = value.leading
        ownLows[row] = value.low
    }

    /// A row of a vector of uuids or object ids.
    @inline(__always)
    func fixed(_ row: Int) -> FixedBytes { FixedBytes(leading: ints[row], low: lows[row]) }

    /// A row of a vector of decimals.
    func decimal(_ row: Int) -> Decimal128 { Decimal128(stored: fixed(row)) }

    /// Makes row `row` of this vector's own storage a copy of row `other` of `source`, which has
    /// the same layout.
    @inline(__always)
    func copy(_ row: Int, from source: Vector, _ other: Int) {
        if source.nulls[other] {
            nulls.insert(row)
            return
        }
        switch layout {
        case .bool: if source.bits[other] { bits.insert(row) }
        case .int: ownInts[row] = source.ints[other]
        case .double: ownDoubles[row] = source.doubles[other]
        case .date:
            ownInts[row] = source.ints[other]
            ownNanoseconds[row] = source.nanoseconds[other]
        case .fixed, .decimal: set(row, source.fixed(other))
        case .text, .mixed: ownTexts[row] = source.texts[other]
        }
    }

    /// Makes row `row` a copy as `copy` does, whatever it was before.
    func replace(_ row: Int, from source: Vector, _ other: Int) {
        var only = Selection.empty
        only.insert(row)
        nulls = nulls.subtracting(only)
        bits = bits.subtracting(only)
        copy(row, from: source, other)
    }

    /// Fills the first `count` rows of this vector with the rows of `source` that `owners` name.
    func gather(_ source: Vector, _ owners: UnsafePointer<UInt8>, count: Int) {
        useOwnStorage()
        for row in 0..<count { copy(row, from: source, Int(owners[row])) }
    }
}
