/// The exact sum of doubles: whatever their order, it is rounded once, when it is read.
///
/// A double is an integer of 53 bits times a power of two. Those whose powers are near one another
/// are added as integers of 128 bits; `wide` takes the others, as integers of 2,200 bits. NaN does
/// not count; with infinities the sum is infinite, with those of both signs NaN.
package struct ExactSum {
    /// The sum of the near ones, times 2^(1075 - base).
    private var near: Int128 = 0
    /// The biased exponent of the least power that `near` covers; 4096, which covers nothing,
    /// before the first number.
    private var base: UInt64 = 4096
    /// See `addBlock`.
    private var scale: Int64 = 0
    /// The sums of blocks: of the numbers after rounding, times 2^(52 - scale), and of the
    /// remainders, times 2^(97 - scale).
    private var rounded: Int128 = 0
    private var remainders: Int128 = 0
    /// The part outside of `near`: 32 bits in each, least first, times 2^-1075. Signed, so that
    /// carries can wait.
    private var wide: [Int64]?
    /// Number of additions to `wide` since its carries were resolved.
    private var waiting = 0
    private var hasInfinity = false
    private var hasNegativeInfinity = false

    /// Powers that `near` takes: 53 bits shifted by less than this, 64 times, fit into 122 bits.
    private static let span: UInt64 = 63
    private static let wideCount = 70

    package init() {}

    /// Adds one number. Returns whether it counts: NaN does not.
    package mutating func add(_ value: Double) -> Bool {
        let bits = value.bitPattern
        let shift = (bits >> 52 & 0x7FF) &- base
        guard shift < Self.span else { return addFar(bits) }
        near &+= Self.product(bits, shift)
        keepRoom()
        return true
    }

    /// Adds numbers, at most 256. Returns the number of those that count: NaN does not.
    package mutating func add(_ values: UnsafePointer<Double>, count: Int) -> Int {
        var counting = count
        let together = count & ~1
        for row in (addBlock(values, together) ? together : 0)..<count where !add(values[row]) {
            counting &-= 1
        }
        return counting
    }

    /// Adds those of 64 numbers whose bit is set. Returns the number of those that count: NaN does
    /// not.
    package mutating func add(_ values: UnsafePointer<Double>, _ selection: UInt64) -> Int {
        var count = selection.nonzeroBitCount
        var rest = selection
        // All of them, or those before the end of a cluster.
        let together = (~selection).trailingZeroBitCount & ~15
        if together > 0, addBlock(values, together) { rest = (rest >> together) << together }
        while rest != 0 {
            if !add(values[rest.trailingZeroBitCount]) { count &-= 1 }
            rest &= rest &- 1
        }
        return count
    }

    /// Adds numbers, a multiple of 2 and at most 256, that are less than 2^(scale - 9) and have no
    /// bits below 2^(scale - 97); otherwise adds nothing, fits `scale` to them and returns false.
    ///
    /// Adding 1.5 * 2^scale to a number and subtracting it again leaves the number rounded to a
    /// multiple of 2^(scale - 52). The remainder is a double, and rounded in the same way to a
    /// multiple of 2^(scale - 97) it has to stay unchanged. 128 of either add up without rounding.
    private mutating func addBlock(_ values: UnsafePointer<Double>, _ count: Int) -> Bool {
        let high = Double(bitPattern: UInt64(bitPattern: scale &+ 1023) << 52 | 1 << 51)
        let low = Double(bitPattern: UInt64(bitPattern: scale &+ 978) << 52 | 1 << 51)
        let (highs, lows) = (SIMD2(repeating: high), SIMD2(repeating: low))
        let least = SIMD2(repeating: high.bitPattern &- 1 << 43)
        var (highSums, lowSums) = (SIMD2<Double>.zero, SIMD2<Double>.zero)
        var (excess, rest) = (SIMD2<UInt64>.zero, SIMD2<UInt64>.zero)
        for row in 0..<count &>> 1 {
            let value = UnsafeRawPointer(values + row &* 2).loadUnaligned(as: SIMD2<Double>.self)
            let shifted = value + highs
            excess |= unsafeBitCast(shifted, to: SIMD2<UInt64>.self) &- least
            let rounded = shifted - highs
            let remainder = value - rounded
            let roundedRemainder = (remainder + lows) - lows
            rest |= unsafeBitCast(roundedRemainder - remainder, to: SIMD2<UInt64>.self)
            highSums += rounded
            lowSums += roundedRemainder
        }
        guard (excess[0] | excess[1]) >> 44 == 0, rest[0] | rest[1] == 0 else {
            fitScale(to: values, count)
            return false
        }
        rounded &+= Self.units(highSums[0], high) &+ Self.units(highSums[1], high)
        remainders &+= Self.units(lowSums[0], low) &+ Self.units(lowSums[1], low)
        return true
    }

    /// A sum in units of the rounding of numbers added to `shift`. The sum is a third of `shift` at
    /// most and has no bits below the unit.
    @inline(__always)
    private static func units(_ sum: Double, _ shift: Double) -> Int128 {
        Int128(Int64(bitPattern: (sum + shift).bitPattern &- shift.bitPattern))
    }

    @inline(never)
    private mutating func fitScale(to values: UnsafePointer<Double>, _ count: Int) {
        var greatest: Int64 = 0
        for row in 0..<count where values[row].isFinite {
            greatest = max(greatest, Int64(values[row].bitPattern >> 52 & 0x7FF))
        }
        let fitting = min(max(greatest - 1023 + 11, -900), 1000)
        if fitting == scale { return }
        spillBlocks()
        scale = fitting
    }

    /// The integer of a normal number, with its sign, shifted left.
    @inline(__always)
    private static func product(_ bits: UInt64, _ shift: UInt64) -> Int128 {
        let sign = Int64(bitPattern: bits) >> 63
        let magnitude = Int64(bitPattern: bits & 0xF_FFFF_FFFF_FFFF | 1 &<< 52)
        return Int128((magnitude ^ sign) &- sign) &* Int128(Int64(1) &<< Int64(bitPattern: shift))
    }

    @inline(__always)
    private mutating func keepRoom() {
        let high = Int64(truncatingIfNeeded: near &>> 64)
        if UInt64(bitPattern: high &+ 1 << 61) >> 62 != 0 { spill() }
    }

    /// Adds a number outside of the range of `near`; the first one sets that range.
    @inline(never)
    private mutating func addFar(_ bits: UInt64) -> Bool {
        let exponent = bits >> 52 & 0x7FF
        let fraction = bits & 0xF_FFFF_FFFF_FFFF
        let isNegative = bits >> 63 != 0
        if exponent == 0x7FF {
            if fraction != 0 { return false }
            hasNegativeInfinity = hasNegativeInfinity || isNegative
            hasInfinity = hasInfinity || !isNegative
        } else if exponent != 0, base == 4096 {
            // 30 powers below the first number; never those of NaN and infinity.
            base = min(max(exponent, 31) - 30, 0x7FF - Self.span)
            near = Self.product(bits, exponent - base)
        } else if bits << 1 != 0 {
            let magnitude = exponent == 0 ? fraction : fraction | 1 << 52
            addWide(magnitude, isNegative, at: Int(max(exponent, 1)))
        }
        return true
    }

    /// Adds an integer times 2^(position - 1075) to `wide`.
    private mutating func addWide(_ magnitude: UInt64, _ isNegative: Bool, at position: Int) {
        var digits = wide ?? Array(repeating: 0, count: Self.wideCount)
        wide = nil
        var rest = UInt128(magnitude) << UInt128(position & 31)
        var index = position >> 5
        while rest != 0, index < digits.count {
            let digit = Int64(truncatingIfNeeded: rest & 0xFFFF_FFFF)
            digits[index] &+= isNegative ? -digit : digit
            rest >>= 32
            index += 1
        }
        waiting += 1
        if waiting == 1 << 30 {
            Self.carry(&digits)
            waiting = 0
        }
        wide = digits
    }

    /// Moves the sum of the near ones to `wide`.
    private mutating func spill() {
        addWide(near, at: Int(base))
        near = 0
    }

    /// Moves the sums of blocks to `wide`.
    private mutating func spillBlocks() {
        addWide(rounded, at: Int(scale) + 1023)
        addWide(remainders, at: Int(scale) + 978)
        (rounded, remainders) = (0, 0)
    }

    private mutating func addWide(_ sum: Int128, at position: Int) {
        let (magnitude, isNegative) = (sum.magnitude, sum < 0)
        addWide(UInt64(truncatingIfNeeded: magnitude), isNegative, at: position)
        addWide(UInt64(truncatingIfNeeded: magnitude >> 64), isNegative, at: position + 64)
    }

    /// Leaves 0..<2^32 in each digit but the last, which has the sign.
    private static func carry(_ digits: inout [Int64]) {
        var carry: Int64 = 0
        for index in digits.indices.dropLast() {
            let digit = digits[index] &+ carry
            digits[index] = digit & 0xFFFF_FFFF
            carry = digit >> 32
        }
        digits[digits.count - 1] &+= carry
    }

    // MARK: Result

    /// The double next to the sum, ties to even.
    package var value: Double { average(of: 1) }

    /// The double next to the sum divided by a number of values, 1 to 2^40, ties to even. No
    /// overflow of the sum shows in it.
    package func average(of count: Int) -> Double {
        if hasInfinity || hasNegativeInfinity {
            return hasInfinity && hasNegativeInfinity
                ? .nan : hasInfinity ? .infinity : -.infinity
        }
        var all = self
        if base != 4096 { all.spill() }
        all.spillBlocks()
        guard var digits = all.wide else { return 0 }
        Self.carry(&digits)
        let isNegative = digits[digits.count - 1] < 0
        if isNegative {
            for index in digits.indices { digits[index] = 0 &- digits[index] }
            Self.carry(&digits)
        }
        guard let last = digits.lastIndex(where: { $0 != 0 }) else { return 0 }
        // 97 bits or more from the top, and whether there is anything below them.
        var top: UInt128 = 0
        for index in stride(from: last, through: last - 3, by: -1) {
            top = top << 32 | (index < 0 ? 0 : UInt128(UInt64(bitPattern: digits[index])))
        }
        let isInexact = digits[..<max(0, last - 3)].contains { $0 != 0 }
        let average = Self.quotient(top, isInexact, at: (last - 3) * 32, count)
        return isNegative ? -average : average
    }

    /// The double next to a sum of integers divided by their number, 1 to 2^40, ties to even.
    package static func average(_ sum: Int128, of count: Int) -> Double {
        if sum == 0 { return 0 }
        let shift = sum.magnitude.leadingZeroBitCount
        let average = quotient(sum.magnitude << UInt128(shift), false, at: 1075 - shift, count)
        return sum < 0 ? -average : average
    }

    /// The double next to an integer of 97 to 128 bits, to which something below 1 is to be added
    /// if it is inexact, times 2^(position - 1075), divided by a count.
    private static func quotient(
        _ integer: UInt128, _ isInexact: Bool, at position: Int, _ count: Int
    ) -> Double {
        let (quotient, remainder) = integer.quotientAndRemainder(dividingBy: UInt128(count))
        // Bits that a double has no place for: more than 53, and those below position 1.
        let excess = max(128 - quotient.leadingZeroBitCount - 53, 1 - position)
        var significand = UInt64(truncatingIfNeeded: quotient >> UInt128(excess))
        let rest = quotient & (UInt128(1) << UInt128(excess) - 1)
        let half = UInt128(1) << UInt128(excess - 1)
        let isMore = rest > half || rest == half && (remainder != 0 || isInexact)
        if isMore || rest == half && significand & 1 == 1 { significand += 1 }
        return Double(
            sign: .plus, exponent: position + excess - 1075, significand: Double(significand))
    }
}
