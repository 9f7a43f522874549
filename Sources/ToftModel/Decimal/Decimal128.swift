package import ToftStorage

/// A decimal number of IEEE 754-2008: 34 digits and an exponent of -6176...6111, both with a sign;
/// infinities, and NaN.
///
/// 1.0, 1.00 and 1 are equal and stay apart as texts. NaN equals NaN and sorts below all numbers.
/// Bits that the standard calls non-canonical have its meaning: a coefficient that is too large is
/// zero.
///
/// The code is ours: Swift and Foundation have no such type on all platforms, and the libraries of
/// C that have it would be most of the size of this one.
package struct Decimal128: Sendable {
    /// The words of the binary encoding (BID).
    package let low: UInt64
    package let high: UInt64

    package init(low: UInt64, high: UInt64) {
        self.low = low
        self.high = high
    }

    // MARK: In the file

    /// The exponent field of 1. The file has its bits inverted, so that 16 zero bytes are 0 and not
    /// 0E-6176.
    private static let zeroExponent: UInt64 = 6176 << 49

    /// The number that 16 bytes of a file are: the words in the order low, high, little-endian.
    package init(stored: FixedBytes) {
        low = stored.high.byteSwapped
        high = stored.low.byteSwapped ^ Self.zeroExponent
    }

    package var stored: FixedBytes {
        FixedBytes(high: low.byteSwapped, low: (high ^ Self.zeroExponent).byteSwapped)
    }

    // MARK: Parts

    static let digits = 34
    static let exponents = -6176...6111
    /// 1, 10, 100... 10^38.
    static let tens: [UInt128] = (1...38).reduce(into: [1]) { tens, _ in
        tens.append(tens[tens.count - 1] * 10)
    }

    package static let nan = Decimal128(low: 0, high: 0x7C << 56)
    package static let infinity = Decimal128(low: 0, high: 0x78 << 56)
    package static let zero = Decimal128(low: 0, high: zeroExponent)
    package static let greatest = Decimal128(false, tens[34] - 1, exponents.upperBound)

    package var isNaN: Bool { high >> 58 & 0x1F == 0x1F }
    package var isInfinite: Bool { high >> 58 & 0x1F == 0x1E }
    package var isNegative: Bool { high >> 63 == 1 }
    package var magnitude: Decimal128 { Decimal128(low: low, high: high & ~(1 << 63)) }
    package var negated: Decimal128 { Decimal128(low: low, high: high ^ 1 << 63) }

    /// The parts of a finite number: `coefficient` times ten to the power of `exponent`.
    struct Parts {
        var isNegative: Bool
        var coefficient: UInt128
        var exponent: Int
    }

    var parts: Parts {
        if high >> 61 & 3 == 3 {
            // The coefficient would be 2^113 or more.
            return Parts(
                isNegative: isNegative, coefficient: 0,
                exponent: Int(high >> 47 & 0x3FFF) + Self.exponents.lowerBound)
        }
        let coefficient = UInt128(high & (1 << 49 - 1)) << 64 | UInt128(low)
        return Parts(
            isNegative: isNegative, coefficient: coefficient < Self.tens[34] ? coefficient : 0,
            exponent: Int(high >> 49 & 0x3FFF) + Self.exponents.lowerBound)
    }

    /// Of parts within their ranges.
    private init(_ isNegative: Bool, _ coefficient: UInt128, _ exponent: Int) {
        low = UInt64(truncatingIfNeeded: coefficient)
        high =
            (isNegative ? 1 << 63 : 0)
            | UInt64(truncatingIfNeeded: exponent - Self.exponents.lowerBound) << 49
            | UInt64(truncatingIfNeeded: coefficient >> 64)
    }

    /// Number of decimal digits of a number; 1 for 0.
    static func count(_ number: UInt128) -> Int {
        // 1233 / 4096 is a little more than the logarithm of 2.
        let guess = ((128 - number.leadingZeroBitCount) * 1233) >> 12
        return guess < 39 && number >= tens[guess] ? guess + 1 : max(guess, 1)
    }

    // MARK: Rounding

    package enum Rounding: Sendable {
        /// To the nearest; between two of them to the one with an even last digit.
        case toNearest
        /// To the next one that is not greater.
        case down
    }

    /// The number of any parts, rounded to the nearest decimal.
    ///
    /// - Parameters:
    ///   - exponent: -2^60...2^60.
    ///   - hasRest: whether something less than 1 was cut off `coefficient`, which then has 35
    ///     digits or more.
    static func rounded(
        _ isNegative: Bool, _ coefficient: UInt128, _ exponent: Int, hasRest: Bool = false,
        _ rounding: Rounding = .toNearest
    ) -> (value: Decimal128, isExact: Bool) {
        var (coefficient, exponent) = (coefficient, exponent)
        var isExact = !hasRest
        let excess = max(count(coefficient) - digits, exponents.lowerBound - exponent, 0)
        if excess > 0 {
            var (quotient, rest) = (UInt128(0), coefficient)
            var isMore = false
            if excess <= 38 {
                (quotient, rest) = coefficient.quotientAndRemainder(dividingBy: tens[excess])
                let half = tens[excess] / 2
                isMore = rest > half || rest == half && (hasRest || quotient & 1 == 1)
            }
            isExact = isExact && rest == 0
            if rounding == .down { isMore = false }
            coefficient = isMore ? quotient + 1 : quotient
            exponent += excess
        }
        if rounding == .down, isNegative, !isExact { coefficient += 1 }
        if coefficient == tens[34] { (coefficient, exponent) = (tens[33], exponent + 1) }
        let padding = exponent - exponents.upperBound
        if padding > 0 {
            if coefficient == 0 { return (Decimal128(isNegative, 0, exponents.upperBound), true) }
            guard count(coefficient) + padding <= digits else {
                if rounding == .down, !isNegative { return (greatest, false) }
                return (isNegative ? infinity.negated : infinity, false)
            }
            (coefficient, exponent) = (coefficient * tens[padding], exponents.upperBound)
        }
        return (Decimal128(isNegative, coefficient, exponent), isExact)
    }

    // MARK: Order

    /// 16 bytes that sort as the numbers do and are the same for equal ones; NaN has zeros.
    package var orderKey: FixedBytes {
        if isNaN { return .zero }
        if isInfinite {
            return isNegative ? FixedBytes(high: 0, low: 1) : FixedBytes(high: .max, low: .max)
        }
        let parts = parts
        var key = UInt128(1) << 127
        if parts.coefficient != 0 {
            // The exponent that the number has with 34 digits, and these.
            let shift = Self.digits - Self.count(parts.coefficient)
            let exponent = parts.exponent - shift - Self.exponents.lowerBound + Self.digits - 1
            let size =
                UInt128(truncatingIfNeeded: exponent) << 113 | parts.coefficient * Self.tens[shift]
            key = parts.isNegative ? key - size : key + size
        }
        return FixedBytes(
            high: UInt64(truncatingIfNeeded: key >> 64), low: UInt64(truncatingIfNeeded: key))
    }

    /// The number of a key, with as few digits as it needs; for the text of a plan.
    package init(orderKey: FixedBytes) {
        let key = UInt128(orderKey.high) << 64 | UInt128(orderKey.low)
        let isNegative = key >> 127 == 0
        let size = isNegative ? 1 << 127 - key : key - 1 << 127
        var coefficient = size & (1 << 113 - 1)
        var exponent = Int(size >> 113) + Self.exponents.lowerBound - Self.digits + 1
        while coefficient != 0, coefficient % 10 == 0 {
            (coefficient, exponent) = (coefficient / 10, exponent + 1)
        }
        self =
            key == 0
            ? .nan : Self.rounded(isNegative, coefficient, size == 0 ? 0 : exponent).value
    }
}

extension Decimal128: Hashable, Comparable {
    package static func == (left: Decimal128, right: Decimal128) -> Bool {
        left.orderKey == right.orderKey
    }

    package static func < (left: Decimal128, right: Decimal128) -> Bool {
        left.orderKey < right.orderKey
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(orderKey) }
}
