// Results are rounded to 34 digits, half to even. An exact result keeps the exponent that the
// standard prefers, within 34 digits: 1.0 + 1.00 is 2.00.
extension Decimal128 {
    package static func + (left: Decimal128, right: Decimal128) -> Decimal128 {
        if left.isNaN || right.isNaN { return .nan }
        if left.isInfinite {
            return right.isInfinite && left.isNegative != right.isNegative ? .nan : left
        }
        if right.isInfinite { return right }
        var (large, small) = (left.parts, right.parts)
        if large.exponent < small.exponent { (large, small) = (small, large) }
        if large.coefficient == 0 {
            // 0 takes the other's exponent.
            large = Parts(
                isNegative: large.isNegative, coefficient: 0, exponent: small.exponent)
        }
        // The one with the larger exponent gets zeros until exponents are the same, or 38 digits;
        // in these, digits are then cut off the other.
        let distance = large.exponent - small.exponent
        let zeros = min(distance, 38 - count(large.coefficient))
        let sum = large.coefficient * tens[zeros]
        let exponent = large.exponent - zeros
        let cut = distance - zeros
        let (addend, rest) =
            cut <= 38
            ? small.coefficient.quotientAndRemainder(dividingBy: tens[cut])
            : (0, small.coefficient)
        let hasRest = rest != 0
        if large.isNegative == small.isNegative {
            return rounded(large.isNegative, sum + addend, exponent, hasRest: hasRest).value
        }
        if sum == addend && !hasRest { return rounded(false, 0, exponent).value }
        if sum < addend { return rounded(small.isNegative, addend - sum, exponent).value }
        return rounded(
            large.isNegative, sum - addend - (hasRest ? 1 : 0), exponent, hasRest: hasRest
        ).value
    }

    package static func - (left: Decimal128, right: Decimal128) -> Decimal128 {
        left + right.negated
    }

    package static func * (left: Decimal128, right: Decimal128) -> Decimal128 {
        if left.isNaN || right.isNaN { return .nan }
        let isNegative = left.isNegative != right.isNegative
        let (one, other) = (left.parts, right.parts)
        if left.isInfinite || right.isInfinite {
            let isZero =
                !left.isInfinite && one.coefficient == 0
                || !right.isInfinite && other.coefficient == 0
            return isZero ? .nan : isNegative ? .infinity.negated : .infinity
        }
        // 68 digits at most; 35 or 36 of them stay.
        let cut = max(count(one.coefficient) + count(other.coefficient) - 36, 0)
        let (quotient, rest) = tens[cut].dividingFullWidth(
            one.coefficient.multipliedFullWidth(by: other.coefficient))
        return rounded(
            isNegative, quotient, one.exponent + other.exponent + cut, hasRest: rest != 0
        ).value
    }

    /// Division by zero gives infinity, or NaN of zero.
    package static func / (left: Decimal128, right: Decimal128) -> Decimal128 {
        if left.isNaN || right.isNaN || left.isInfinite && right.isInfinite { return .nan }
        let isNegative = left.isNegative != right.isNegative
        let (one, other) = (left.parts, right.parts)
        if left.isInfinite { return isNegative ? .infinity.negated : .infinity }
        if right.isInfinite { return rounded(isNegative, 0, exponents.lowerBound).value }
        if other.coefficient == 0 {
            return one.coefficient == 0 ? .nan : isNegative ? .infinity.negated : .infinity
        }
        let preferred = one.exponent - other.exponent
        if one.coefficient == 0 { return rounded(isNegative, 0, preferred).value }
        // 34 digits, then one more than the divisor has, make a quotient of 35 or 36.
        let first = digits - count(one.coefficient)
        let second = count(other.coefficient) + 1
        var (quotient, rest) = other.coefficient.dividingFullWidth(
            (one.coefficient * tens[first]).multipliedFullWidth(by: tens[second]))
        var exponent = preferred - first - second
        if rest == 0 {
            while exponent < preferred, quotient % 10 == 0 {
                (quotient, exponent) = (quotient / 10, exponent + 1)
            }
        }
        return rounded(isNegative, quotient, exponent, hasRest: rest != 0).value
    }

    /// Whether it is zero, of either sign.
    package var isZero: Bool { !isNaN && !isInfinite && parts.coefficient == 0 }
}
