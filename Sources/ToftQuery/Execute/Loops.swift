// The innermost loops: a dense array becomes a bitmap. Eight rows make a byte with constant shifts, which compiles to straight code.

/// Loops over 64-bit integers.
enum IntLoops {
    /// The rows whose value is from `low` to `high`.
    static func range(_ values: UnsafePointer<Int64>, count: Int, _ low: Int64, _ high: Int64) -> Mask {
        guard low <= high else { return .empty }
        return low == high ? equal(values, count: count, low) : within(values, count: count, low, UInt64(bitPattern: high &- low))
    }

    private static func equal(_ values: UnsafePointer<Int64>, count: Int, _ value: Int64) -> Mask {
        var mask = Mask.empty
        for word in 0..<((count &+ 63) >> 6) {
            let base = values + word &* 64
            let rest = min(count &- word &* 64, 64)
            var bits: UInt64 = 0
            for byte in 0..<(rest >> 3) {
                let rows = base + byte &* 8
                var part: UInt64 = 0
                for row in 0..<8 { part |= (rows[row] == value ? 1 : 0) &<< UInt64(row) }
                bits |= part &<< UInt64(byte &* 8)
            }
            for row in (rest & ~7)..<rest { bits |= (base[row] == value ? 1 : 0) &<< UInt64(row) }
            mask.setWord(word, bits)
        }
        return mask
    }

    private static func within(_ values: UnsafePointer<Int64>, count: Int, _ low: Int64, _ width: UInt64) -> Mask {
        var mask = Mask.empty
        for word in 0..<((count &+ 63) >> 6) {
            let base = values + word &* 64
            let rest = min(count &- word &* 64, 64)
            var bits: UInt64 = 0
            for byte in 0..<(rest >> 3) {
                let rows = base + byte &* 8
                var part: UInt64 = 0
                for row in 0..<8 { part |= (UInt64(bitPattern: rows[row] &- low) <= width ? 1 : 0) &<< UInt64(row) }
                bits |= part &<< UInt64(byte &* 8)
            }
            for row in (rest & ~7)..<rest { bits |= (UInt64(bitPattern: base[row] &- low) <= width ? 1 : 0) &<< UInt64(row) }
            mask.setWord(word, bits)
        }
        return mask
    }
}

/// Loops over doubles.
enum DoubleLoops {
    /// The rows whose value is from `low` to `high`; never NaN.
    static func range(_ values: UnsafePointer<Double>, count: Int, _ low: Double, _ high: Double) -> Mask {
        var mask = Mask.empty
        for word in 0..<((count &+ 63) >> 6) {
            let base = values + word &* 64
            let rest = min(count &- word &* 64, 64)
            var bits: UInt64 = 0
            for byte in 0..<(rest >> 3) {
                let rows = base + byte &* 8
                var part: UInt64 = 0
                for row in 0..<8 {
                    let isAbove: UInt64 = rows[row] >= low ? 1 : 0
                    let isBelow: UInt64 = rows[row] <= high ? 1 : 0
                    part |= (isAbove & isBelow) &<< UInt64(row)
                }
                bits |= part &<< UInt64(byte &* 8)
            }
            for row in (rest & ~7)..<rest { bits |= (base[row] >= low && base[row] <= high ? 1 : 0) &<< UInt64(row) }
            mask.setWord(word, bits)
        }
        return mask
    }

    /// The rows that hold NaN.
    static func notANumber(_ values: UnsafePointer<Double>, count: Int) -> Mask {
        var mask = Mask.empty
        for row in 0..<count where values[row].isNaN { mask.insert(row) }
        return mask
    }
}
