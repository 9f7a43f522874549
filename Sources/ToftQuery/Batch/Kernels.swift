internal import ToftPlatform
internal import ToftStorage

// The innermost loops: a dense array becomes a bitmap. A compare leaves ones in the lanes of the
// rows that pass, whose highest bits are taken together.

/// Kernels over integers, in the width that they have.
enum IntLoops {
    /// The rows whose value is from `low` to `high`.
    static func range(_ values: IntegerColumn, count: Int, _ low: Int64, _ high: Int64) -> Selection
    {
        switch values.width {
        case .one:
            guard let range = Bounds<Int8>(low, high) else { return .empty }
            return bytes(values.base, count, UInt8(bitPattern: range.low), range.distance)
        case .two:
            guard let range = Bounds<Int16>(low, high) else { return .empty }
            return pairs(values.base, count, UInt16(bitPattern: range.low), range.distance)
        case .four: return wide(values.base.assumingMemoryBound(to: Int32.self), count, low, high)
        case .eight: return wide(values.base.assumingMemoryBound(to: Int64.self), count, low, high)
        }
    }

    /// Number of these rows.
    static func count(_ values: IntegerColumn, count: Int, _ low: Int64, _ high: Int64) -> Int {
        guard case .one = values.width else {
            return range(values, count: count, low, high).count
        }
        guard let range = Bounds<Int8>(low, high) else { return 0 }
        return countBytes(values.base, count, UInt8(bitPattern: range.low), range.distance)
    }

    /// The part of a range that a type can represent.
    private struct Bounds<Value: FixedWidthInteger & SignedInteger> {
        let low: Value
        /// The upper bound minus the lower.
        let distance: Value.Magnitude

        @inline(__always)
        init?(_ low: Int64, _ high: Int64) {
            guard low <= high, low <= Int64(Value.max), high >= Int64(Value.min) else { return nil }
            self.low = Value(truncatingIfNeeded: max(low, Int64(Value.min)))
            distance = Value.Magnitude(
                truncatingIfNeeded: min(high, Int64(Value.max)) &- Int64(self.low))
        }
    }

    // MARK: Narrow values

    private static func bytes(
        _ base: UnsafeRawPointer, _ count: Int, _ low: UInt8, _ distance: UInt8
    ) -> Selection {
        let lows = SIMD16<UInt8>(repeating: low)
        if distance == 0 { return bytes(base, count) { $0 .== lows } }
        let distances = SIMD16<UInt8>(repeating: distance)
        return bytes(base, count) { $0 &- lows .<= distances }
    }

    /// The rows whose bytes pass, 16 at a time.
    @inline(__always)
    private static func bytes(
        _ base: UnsafeRawPointer, _ count: Int,
        where passes: (SIMD16<UInt8>) -> SIMDMask<SIMD16<Int8>>
    ) -> Selection {
        @inline(__always)
        func passing(_ offset: Int) -> UInt64 {
            let values = base.loadUnaligned(fromByteOffset: offset, as: SIMD16<UInt8>.self)
            return unsafeBitCast(passes(values), to: SIMD16<UInt8>.self).highBits
        }
        return Selection(wholeWords: count) { start, rows in
            if rows == 64 {
                return passing(start) | passing(start &+ 16) &<< 16
                    | passing(start &+ 32) &<< 32 | passing(start &+ 48) &<< 48
            }
            var bits: UInt64 = 0
            var row = 0
            while row &+ 16 <= rows {
                bits |= passing(start &+ row) &<< UInt64(truncatingIfNeeded: row)
                row &+= 16
            }
            while row < rows {
                let value = base.load(fromByteOffset: start &+ row, as: UInt8.self)
                let isPassing = passes(SIMD16(repeating: value))[0]
                bits |= (isPassing ? 1 : 0) &<< UInt64(truncatingIfNeeded: row)
                row &+= 1
            }
            return bits
        }
    }

    private static func countBytes(
        _ base: UnsafeRawPointer, _ count: Int, _ low: UInt8, _ distance: UInt8
    ) -> Int {
        guard count >= 16 else { return bytes(base, count, low, distance).count }
        let lows = SIMD16<UInt8>(repeating: low)
        if distance == 0 { return countBytes(base, count) { $0 .== lows } }
        let distances = SIMD16<UInt8>(repeating: distance)
        return countBytes(base, count) { $0 &- lows .<= distances }
    }

    /// Number of passing bytes, of 16 to 256: each lane of 16 counts its own.
    @inline(__always)
    private static func countBytes(
        _ base: UnsafeRawPointer, _ count: Int,
        where passes: (SIMD16<UInt8>) -> SIMDMask<SIMD16<Int8>>
    ) -> Int {
        @inline(__always)
        func passing(_ offset: Int) -> SIMD16<UInt8> {
            let values = base.loadUnaligned(fromByteOffset: offset, as: SIMD16<UInt8>.self)
            return unsafeBitCast(passes(values), to: SIMD16<UInt8>.self)
        }
        var counts = SIMD16<UInt8>(repeating: 0)
        var row = 0
        // A lane that passes is -1.
        while row &+ 64 <= count {
            counts &-=
                passing(row) &+ passing(row &+ 16) &+ passing(row &+ 32)
                &+ passing(row &+ 48)
            row &+= 64
        }
        while row &+ 16 <= count {
            counts &-= passing(row)
            row &+= 16
        }
        if row < count {
            // The last 16 rows, without those that are counted already.
            let isCounted = SIMD16<UInt8>(repeating: UInt8(truncatingIfNeeded: row &+ 16 &- count))
            let isNew = Self.lanes .>= isCounted
            counts &-= passing(count &- 16) & unsafeBitCast(isNew, to: SIMD16<UInt8>.self)
        }
        // No lane is above 16, so that eight together fit into a byte.
        let halves = unsafeBitCast(counts, to: SIMD2<UInt64>.self) &* 0x0101_0101_0101_0101
        return Int(truncatingIfNeeded: halves[0] &>> 56 &+ halves[1] &>> 56)
    }

    private static var lanes: SIMD16<UInt8> {
        SIMD16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
    }

    private static func pairs(
        _ base: UnsafeRawPointer, _ count: Int, _ low: UInt16, _ distance: UInt16
    ) -> Selection {
        let lows = SIMD8<UInt16>(repeating: low)
        let distances = SIMD8<UInt16>(repeating: distance)
        let bit = SIMD8<UInt16>(1, 2, 4, 8, 16, 32, 64, 128)
        return Selection(wholeWords: count) { start, rows in
            var bits: UInt64 = 0
            var row = 0
            while row &+ 8 <= rows {
                let values = base.loadUnaligned(
                    fromByteOffset: (start &+ row) &* 2, as: SIMD8<UInt16>.self)
                // Cut down to a different bit for each of eight rows, the lanes' sum is their mask.
                let passing =
                    unsafeBitCast((values &- lows) .<= distances, to: SIMD8<UInt16>.self) & bit
                let halves = unsafeBitCast(passing, to: SIMD2<UInt64>.self)
                bits |=
                    (((halves[0] | halves[1]) &* 0x0001_0001_0001_0001) &>> 48)
                    &<< UInt64(truncatingIfNeeded: row)
                row &+= 8
            }
            while row < rows {
                let value = base.load(fromByteOffset: (start &+ row) &* 2, as: UInt16.self)
                bits |= (value &- low <= distance ? 1 : 0) &<< UInt64(truncatingIfNeeded: row)
                row &+= 1
            }
            return bits
        }
    }

    /// The rows that have a code.
    static func equal(_ codes: UnsafePointer<UInt8>, count: Int, _ code: UInt8) -> Selection {
        bytes(codes, count, code, 0)
    }

    /// Number of rows with a code.
    static func count(_ codes: UnsafePointer<UInt8>, count: Int, equal code: UInt8) -> Int {
        countBytes(codes, count, code, 0)
    }

    /// The rows whose code has the verdict 1. Codes from `codeCount` on have 0.
    static func verdicts(
        _ codes: UnsafePointer<UInt8>, count: Int, _ verdicts: UnsafePointer<UInt8>,
        _ codeCount: Int
    ) -> Selection {
        Selection(count) { start, rows in
            var bits: UInt64 = 0
            for row in 0..<rows {
                let code = Int(codes[start &+ row])
                bits |= (code < codeCount ? UInt64(verdicts[code]) : 0) &<< UInt64(row)
            }
            return bits
        }
    }

    // MARK: Wide values

    private static func wide<Value: FixedWidthInteger & SignedInteger>(
        _ values: UnsafePointer<Value>, _ count: Int, _ low: Int64, _ high: Int64
    ) -> Selection {
        guard let range = Bounds<Value>(low, high) else { return .empty }
        if range.distance == 0 { return rows(values, count) { $0 == range.low } }
        return rows(values, count) {
            Value.Magnitude(truncatingIfNeeded: $0 &- range.low) <= range.distance
        }
    }

    @inline(__always)
    private static func rows<Value>(
        _ values: UnsafePointer<Value>, _ count: Int, where passes: (Value) -> Bool
    ) -> Selection {
        Selection(wholeWords: count) { start, count in
            let base = values + start
            var bits: UInt64 = 0
            for byte in 0..<(count >> 3) {
                let rows = base + byte &* 8
                var part: UInt64 = 0
                for row in 0..<8 { part |= (passes(rows[row]) ? 1 : 0) &<< UInt64(row) }
                bits |= part &<< UInt64(byte &* 8)
            }
            for row in (count & ~7)..<count { bits |= (passes(base[row]) ? 1 : 0) &<< UInt64(row) }
            return bits
        }
    }
}

/// Kernels over doubles.
enum DoubleLoops {
    /// The rows whose value is from `low` to `high`; never NaN.
    static func range(_ values: UnsafePointer<Double>, count: Int, _ low: Double, _ high: Double)
        -> Selection
    {
        let lows = SIMD2<Double>(repeating: low)
        let highs = SIMD2<Double>(repeating: high)
        return Selection(wholeWords: count) { start, rows in
            let base = UnsafeRawPointer(values + start)
            var bits: UInt64 = 0
            for byte in 0..<(rows >> 3) {
                var part: UInt64 = 0
                for pair in 0..<4 {
                    let pair = pair &* 2
                    let two = base.loadUnaligned(
                        fromByteOffset: (byte &* 8 &+ pair) &* 8, as: SIMD2<Double>.self)
                    let passing = unsafeBitCast(
                        (two .>= lows) .& (two .<= highs), to: SIMD2<UInt64>.self)
                    part |= passing.highBits &<< UInt64(truncatingIfNeeded: pair)
                }
                bits |= part &<< UInt64(truncatingIfNeeded: byte &* 8)
            }
            for row in (rows & ~7)..<rows {
                let value = values[start &+ row]
                bits |= (value >= low && value <= high ? 1 : 0) &<< UInt64(row)
            }
            return bits
        }
    }

    /// The least and the greatest of numbers, a multiple of 8; nil if one is NaN.
    static func extremes(_ values: UnsafePointer<Double>, _ count: Int) -> (
        least: Double, greatest: Double
    )? {
        var least = SIMD8<Double>(repeating: .infinity)
        var greatest = SIMD8<Double>(repeating: -.infinity)
        var numbers = SIMDMask<SIMD8<Int64>>(repeating: true)
        for part in 0..<count &>> 3 {
            let rows = UnsafeRawPointer(values + part &* 8).loadUnaligned(as: SIMD8<Double>.self)
            numbers = numbers .& (rows .== rows)
            least.replace(with: rows, where: rows .< least)
            greatest.replace(with: rows, where: rows .> greatest)
        }
        return all(numbers) ? (least.min(), greatest.max()) : nil
    }

    /// The rows that hold NaN.
    static func notANumber(_ values: UnsafePointer<Double>, count: Int) -> Selection {
        var mask = Selection.empty
        for row in 0..<count where values[row].isNaN { mask.insert(row) }
        return mask
    }
}
