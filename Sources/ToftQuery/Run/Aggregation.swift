internal import ToftModel
internal import ToftStorage

/// One value of many, batch by batch. Null and NaN do not count; sums of integers are exact, those
/// of doubles and averages rounded once.
struct Aggregation {
    private let operation: AggregateOperation
    private let type: ValueType
    private var count = 0
    private var intSum: Int128 = 0
    private var doubleSum = ExactSum()
    private var leastInt = Int64.max
    private var greatestInt = Int64.min
    private var leastDouble = Double.infinity
    private var greatestDouble = -Double.infinity
    private var leastDate = Timestamp.maximum
    private var greatestDate = Timestamp.minimum
    private var decimalSum = Decimal128.zero
    private var leastDecimal = Decimal128.infinity
    private var greatestDecimal = Decimal128.infinity.negated
    /// Borrowed from the file.
    private var mixedExtreme = MixedRow(UnsafeRawBufferPointer(start: nil, count: 0))

    init(_ operation: AggregateOperation, of type: ValueType) {
        self.operation = operation
        self.type = type
    }

    mutating func add(_ vector: Vector, _ wanted: Selection) {
        let rows = wanted.subtracting(vector.nulls)
        switch vector.layout {
        case .int: addInts(vector.integers, rows)
        case .double: addDoubles(vector.doubles, rows)
        case .date: addDates(vector, rows)
        case .decimal: addDecimals(vector, rows)
        case .mixed: addMixed(vector, rows)
        case .bool, .fixed, .text: break
        }
    }

    /// Whether a least or greatest value stays the same whatever rows of a cluster are added, by
    /// the bounds of the column there. Mutating, as a call would else copy all of this.
    mutating func isSettled(for cluster: ClusterView, _ column: UInt32) throws(StorageError) -> Bool
    {
        let isLeast = operation == .minimum
        guard isLeast || operation == .maximum, count > 0, let zone = try cluster.zone(column)
        else { return false }
        switch zone {
        case .numbers(let low, let high):
            return isLeast ? low >= leastDouble : high <= greatestDouble
        case .integers(let low, let high) where type == .date:
            return isLeast ? low > leastDate.seconds : high < greatestDate.seconds
        case .integers(let low, let high):
            return isLeast ? low >= leastInt : high <= greatestInt
        }
    }

    private mutating func addInts(_ values: IntegerColumn, _ rows: Selection) {
        count &+= rows.count
        switch values.width {
        case .one: addInts(values.base.assumingMemoryBound(to: Int8.self), rows)
        case .two: addInts(values.base.assumingMemoryBound(to: Int16.self), rows)
        case .four: addInts(values.base.assumingMemoryBound(to: Int32.self), rows)
        case .eight: addInts(values.base.assumingMemoryBound(to: Int64.self), rows)
        }
    }

    @inline(__always)
    private mutating func addInts<Integer: FixedWidthInteger & SignedInteger>(
        _ values: UnsafePointer<Integer>, _ rows: Selection
    ) {
        if operation == .minimum || operation == .maximum {
            Self.forEachRun(of: rows, values) { widen(Self.extremes($0, $1)) }
        } else if Integer.bitWidth <= 32 {
            var sum: Int64 = 0
            Self.forEachRun(of: rows, values) { sum &+= Self.narrowSum($0, $1) }
            intSum += Int128(sum)
        } else {
            Self.forEachRun(of: rows, values) { intSum += Self.wideSum($0, $1) }
        }
    }

    /// Calls `body` with runs of adjacent values: 64 or 16 of them, or one.
    @inline(__always)
    private static func forEachRun<Integer>(
        of rows: Selection, _ values: UnsafePointer<Integer>,
        _ body: (UnsafePointer<Integer>, Int) -> Void
    ) {
        for index in 0..<4 {
            var word = rows.word(index)
            var start = values + index * 64
            if word == .max {
                body(start, 64)
                continue
            }
            // The bits before the end of a cluster.
            while word & 0xFFFF == 0xFFFF {
                body(start, 16)
                word >>= 16
                start += 16
            }
            while word != 0 {
                body(start + word.trailingZeroBitCount, 1)
                word &= word &- 1
            }
        }
    }

    /// The sum of integers of up to four bytes; the sum of 256 fits into 64 bits.
    @inline(__always)
    private static func narrowSum<Integer: FixedWidthInteger & SignedInteger>(
        _ values: UnsafePointer<Integer>, _ count: Int
    ) -> Int64 {
        if Integer.bitWidth == 8, count > 1 {
            // As unsigned numbers, which are 128 more each; twice as many of half the bits are
            // added at once.
            var sums = SIMD8<UInt16>(repeating: 0)
            for part in 0..<count / 16 {
                let pairs =
                    UnsafeRawPointer(values).loadUnaligned(
                        fromByteOffset: part &* 16, as: SIMD8<UInt16>.self)
                    ^ SIMD8(repeating: 0x8080)
                sums &+= (pairs & SIMD8(repeating: 0xFF)) &+ (pairs &>> SIMD8(repeating: 8))
            }
            return Int64(sums.wrappedSum()) &- 128 &* Int64(count)
        }
        if Integer.bitWidth == 16 {
            var sum: Int32 = 0
            for row in 0..<count { sum &+= Int32(truncatingIfNeeded: values[row]) }
            return Int64(sum)
        }
        var sum: Int64 = 0
        for row in 0..<count { sum &+= Int64(values[row]) }
        return sum
    }

    /// The sum of integers of eight bytes. 64 of -2^56..<2^56 fit into 64 bits; a value beyond sets
    /// one of the upper 7 bits.
    @inline(__always)
    private static func wideSum<Integer: FixedWidthInteger & SignedInteger>(
        _ values: UnsafePointer<Integer>, _ count: Int
    ) -> Int128 {
        var sum: Int64 = 0
        var bits: UInt64 = 0
        for row in 0..<count {
            let value = Int64(values[row])
            sum &+= value
            bits |= UInt64(bitPattern: value &+ 1 << 56)
        }
        if bits >> 57 == 0 { return Int128(sum) }
        return (0..<count).reduce(0) { $0 + Int128(values[$1]) }
    }

    @inline(__always)
    private static func extremes<Integer: FixedWidthInteger & SignedInteger>(
        _ values: UnsafePointer<Integer>, _ count: Int
    ) -> (least: Int64, greatest: Int64) {
        var (least, greatest) = (Integer.max, Integer.min)
        for row in 0..<count {
            least = min(least, values[row])
            greatest = max(greatest, values[row])
        }
        return (Int64(least), Int64(greatest))
    }

    @inline(__always)
    private mutating func widen(_ extremes: (least: Int64, greatest: Int64)) {
        leastInt = min(leastInt, extremes.least)
        greatestInt = max(greatestInt, extremes.greatest)
    }

    private mutating func addDoubles(_ values: UnsafePointer<Double>, _ selection: Selection) {
        if operation == .sum || operation == .average {
            // All of them, or those before the end of a cluster.
            let together = selection.leadingCount
            count &+= doubleSum.add(values, count: together)
            let rest = selection.subtracting(.first(together))
            if rest.isEmpty { return }
            for index in 0..<4 {
                count &+= doubleSum.add(values + index * 64, rest.word(index))
            }
            return
        }
        for index in 0..<4 {
            var word = selection.word(index)
            var start = values + index * 64
            // All of them, or those before the end of a cluster.
            let together = (~word).trailingZeroBitCount & ~7
            if together > 0, let (least, greatest) = DoubleLoops.extremes(start, together) {
                count &+= together
                if least < leastDouble { leastDouble = least }
                if greatest > greatestDouble { greatestDouble = greatest }
                word >>= together
                start += together
            }
            while word != 0 {
                let value = start[word.trailingZeroBitCount]
                word &= word &- 1
                if value.isNaN { continue }
                count &+= 1
                if value < leastDouble { leastDouble = value }
                if value > greatestDouble { greatestDouble = value }
            }
        }
    }

    private mutating func addDates(_ vector: Vector, _ selection: Selection) {
        var rows = selection.rows
        while let row = rows.next() {
            let date = Timestamp(seconds: vector.ints[row], nanoseconds: vector.nanoseconds[row])
            count += 1
            leastDate = min(leastDate, date)
            greatestDate = max(greatestDate, date)
        }
    }

    private mutating func addDecimals(_ vector: Vector, _ selection: Selection) {
        var rows = selection.rows
        while let row = rows.next() {
            let value = vector.decimal(row)
            if value.isNaN { continue }
            count += 1
            switch operation {
            case .sum, .average: decimalSum = decimalSum + value
            case .minimum: leastDecimal = count == 1 ? value : min(leastDecimal, value)
            case .maximum: greatestDecimal = count == 1 ? value : max(greatestDecimal, value)
            }
        }
    }

    /// The sum is that of the numbers; least and greatest are of all values but lists and
    /// dictionaries.
    private mutating func addMixed(_ vector: Vector, _ selection: Selection) {
        var rows = selection.rows
        while let row = rows.next() {
            let value = MixedRow(vector.texts[row])
            if value.isNaN || value.scalar == nil { continue }
            switch operation {
            case .sum, .average:
                guard let number = value.number else { continue }
                decimalSum = decimalSum + number
            case .minimum: if count == 0 || value.order(mixedExtreme) < 0 { mixedExtreme = value }
            case .maximum: if count == 0 || value.order(mixedExtreme) > 0 { mixedExtreme = value }
            }
            count += 1
        }
    }

    /// Null without a value, except that the sum is then 0. Nil for a sum of integers that does not
    /// fit into 64 bits.
    var result: Value? {
        switch operation {
        case .sum where type == .int: Int64(exactly: intSum).map { .int($0) }
        case .sum where type == .decimal || type == .mixed: .decimal(decimalSum)
        case .sum: .double(doubleSum.value)
        case .average where count == 0: .null
        case .average where type == .decimal || type == .mixed:
            .decimal(decimalSum / Decimal128(Int64(count)))
        case .average where type == .int: .double(ExactSum.average(intSum, of: count))
        case .average: .double(doubleSum.average(of: count))
        case .minimum, .maximum: count == 0 ? .null : extreme(isLeast: operation == .minimum)
        }
    }

    private func extreme(isLeast: Bool) -> Value {
        switch type {
        case .int: .int(isLeast ? leastInt : greatestInt)
        case .float: .float(Float(isLeast ? leastDouble : greatestDouble))
        case .double: .double(isLeast ? leastDouble : greatestDouble)
        case .decimal: .decimal(isLeast ? leastDecimal : greatestDecimal)
        case .date: .date(isLeast ? leastDate : greatestDate)
        case .mixed: mixedExtreme.owned
        case .bool, .string, .data, .uuid, .objectId, .link, .typeName: .null
        }
    }
}

extension Aggregation {
    /// Whether values of a type have such an aggregate: numbers have all, dates a least and a
    /// greatest.
    static func isPossible(_ operation: AggregateOperation, of type: ValueType) -> Bool {
        switch type {
        case .int, .float, .double, .decimal, .mixed: true
        case .date: operation == .minimum || operation == .maximum
        case .bool, .string, .data, .uuid, .objectId, .link, .typeName: false
        }
    }
}
