extension Decimal128 {
    /// The number, rounded if it has more than 34 digits.
    package init(_ integer: Int128) {
        self = Self.rounded(integer < 0, integer.magnitude, 0).value
    }

    /// The integer, exactly.
    package init(_ integer: Int64) {
        self = Self.rounded(integer < 0, UInt128(integer.magnitude), 0).value
    }

    /// The number next to the binary value of the double, which may have more than 34 digits.
    package init(_ double: Double) { self = Self.converted(double).value }

    /// The double in decimal, and whether that is exactly its value. Integers have no fraction:
    /// 1.0 is 1.
    package static func converted(_ double: Double, _ rounding: Rounding = .toNearest) -> (
        value: Decimal128, isExact: Bool
    ) {
        if double.isNaN { return (nan, true) }
        let isNegative = double.sign == .minus
        if double.isInfinite { return (isNegative ? infinity.negated : infinity, true) }
        if double == 0 { return rounded(isNegative, 0, 0) }
        var significand = double.significandBitPattern
        if double.isNormal { significand |= 1 << 52 }
        let zeros = significand.trailingZeroBitCount
        significand >>= UInt64(zeros)
        let power = max(Int(double.exponentBitPattern), 1) - 1075 + zeros
        // 5^32 has 75 bits, the significand 53.
        if power >= -32, power <= 75 {
            let factor: UInt128 = power < 0 ? (0..<(-power)).reduce(1) { five, _ in five * 5 } : 1
            return rounded(
                isNegative, UInt128(significand) * factor << UInt128(max(power, 0)), min(power, 0),
                rounding)
        }
        // In words of nine digits, the least first: one product with 2^16 or 5^10 after another.
        var words = [UInt64(significand % 1_000_000_000), UInt64(significand / 1_000_000_000)]
        var left = abs(power)
        while left > 0 {
            let step = min(left, power < 0 ? 10 : 16)
            let factor = (0..<step).reduce(UInt64(1)) { product, _ in product * (power < 0 ? 5 : 2)
            }
            var carry: UInt64 = 0
            for index in words.indices {
                let product = words[index] * factor + carry
                words[index] = product % 1_000_000_000
                carry = product / 1_000_000_000
            }
            if carry > 0 { words.append(carry) }
            left -= step
        }
        var digits = DigitReader()
        for word in words.reversed() {
            var divisor: UInt64 = 100_000_000
            while divisor > 0 {
                digits.append(UInt8(word / divisor % 10))
                divisor /= 10
            }
        }
        return digits.number(isNegative, min(power, 0), rounding)
    }

    /// -1, 0 or 1 as the double is less than, equal to or greater than the decimal, exactly. NaN
    /// equals NaN and is less than every number.
    package static func order(of double: Double, to decimal: Decimal128) -> Int {
        let (floor, isExact) = converted(double, .down)
        let (left, right) = (floor.orderKey, decimal.orderKey)
        return left < right ? -1 : left == right && isExact ? 0 : 1
    }

    /// The double next to the number.
    package var nearestDouble: Double { Double(description) ?? .nan }

    /// The greatest integer that is not greater, and whether it is the number itself. Nil beyond 64
    /// bits and for NaN.
    package var floor: (value: Int64, isExact: Bool)? {
        guard !isNaN, !isInfinite else { return nil }
        let parts = parts
        if parts.coefficient == 0 { return (0, true) }
        guard parts.exponent <= 19 else { return nil }
        var (whole, rest) = (parts.coefficient, UInt128(0))
        if parts.exponent >= 0 {
            guard Self.count(whole) + parts.exponent <= 38 else { return nil }
            whole *= Self.tens[parts.exponent]
        } else {
            (whole, rest) =
                parts.exponent >= -38
                ? whole.quotientAndRemainder(dividingBy: Self.tens[-parts.exponent]) : (0, whole)
        }
        if rest != 0, parts.isNegative { whole += 1 }
        let signed = parts.isNegative ? -Int128(whole) : Int128(whole)
        return Int64(exactly: signed).map { ($0, rest == 0) }
    }

    // MARK: Fixed point

    /// The digits of a number before and behind its point; nil if it is not finite.
    package var digitsAroundPoint: (whole: Int, fraction: Int)? {
        guard !isNaN, !isInfinite else { return nil }
        let parts = parts
        guard parts.coefficient != 0 else { return (1, 0) }
        let count = Self.count(parts.coefficient)
        return (max(count + parts.exponent, 0), max(-parts.exponent, 0))
    }

    /// The number times ten to the power of `scale`; nil if that is not an integer of up to 38
    /// digits.
    package func scaled(by scale: Int) -> Int128? {
        guard !isNaN, !isInfinite else { return nil }
        let parts = parts
        guard parts.coefficient != 0 else { return 0 }
        let power = parts.exponent + scale
        guard 0...38 ~= power, Self.count(parts.coefficient) + power <= 38 else { return nil }
        let magnitude = Int128(
            power == 0 ? parts.coefficient : parts.coefficient * Self.tens[power])
        return parts.isNegative ? -magnitude : magnitude
    }

    /// An integer whose last `scale` digits are behind the point; nil if it has more than 34
    /// digits.
    package init?(_ integer: Int128, scale: Int) {
        let (value, isExact) = Self.rounded(integer < 0, integer.magnitude, -scale)
        guard isExact else { return nil }
        self = value
    }

    // MARK: Text

    /// The number that a text spells, rounded to 34 digits: `-12.50`, `.5`, `1E+3`, `inf`,
    /// `Infinity`, `NaN`, in either case; nil for any other text, and for a number that would
    /// become infinite, or 0.
    package init?(_ text: some StringProtocol) {
        let bytes = Array(text.utf8)
        guard let (value, _) = Self.parse(bytes), !value.isBeyondRange(of: bytes) else {
            return nil
        }
        self = value
    }

    /// True if the number, read from a text, is infinite or 0 because its magnitude is out of
    /// range.
    package func isBeyondRange(of text: some Sequence<UInt8>) -> Bool {
        let digits = text.prefix { $0 | 0x20 != UInt8(ascii: "e") }
        return isInfinite
            ? digits.contains { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
            : isZero && digits.contains { $0 >= UInt8(ascii: "1") && $0 <= UInt8(ascii: "9") }
    }

    /// The number, and whether it is exact.
    package static func parse(_ text: [UInt8], _ rounding: Rounding = .toNearest) -> (
        value: Decimal128, isExact: Bool
    )? {
        var text = text[...]
        let isNegative = text.first == UInt8(ascii: "-")
        if isNegative || text.first == UInt8(ascii: "+") { text.removeFirst() }
        switch String(decoding: text, as: UTF8.self).lowercased() {
        case "nan": return (nan, true)
        case "inf", "infinity": return (isNegative ? infinity.negated : infinity, true)
        default: break
        }
        var digits = DigitReader()
        var (fraction, hasDigits, hasPoint) = (0, false, false)
        while let byte = text.first {
            if byte == UInt8(ascii: "."), !hasPoint {
                hasPoint = true
            } else if byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") {
                digits.append(byte - UInt8(ascii: "0"))
                hasDigits = true
                if hasPoint { fraction += 1 }
            } else {
                break
            }
            text.removeFirst()
        }
        guard hasDigits, let exponent = exponent(text) else { return nil }
        return digits.number(isNegative, exponent - fraction, rounding)
    }

    /// The exponent after the digits: nothing, or `E+3`. An exponent beyond 2^40 counts as that.
    private static func exponent(_ text: ArraySlice<UInt8>) -> Int? {
        guard let letter = text.first else { return 0 }
        var text = text.dropFirst()
        let isNegative = text.first == UInt8(ascii: "-")
        if isNegative || text.first == UInt8(ascii: "+") { text.removeFirst() }
        guard letter | 0x20 == UInt8(ascii: "e"), !text.isEmpty else { return nil }
        var exponent = 0
        for byte in text {
            guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
            exponent = min(exponent * 10 + Int(byte - UInt8(ascii: "0")), 1 << 40)
        }
        return isNegative ? -exponent : exponent
    }

    /// Digits of a number of any length: 38 of them, and whether a later one is not 0.
    private struct DigitReader {
        private var coefficient: UInt128 = 0
        private var cut = 0
        private var hasRest = false

        mutating func append(_ digit: UInt8) {
            if coefficient < Decimal128.tens[37] {
                coefficient = coefficient * 10 + UInt128(digit)
            } else {
                cut += 1
                hasRest = hasRest || digit != 0
            }
        }

        func number(_ isNegative: Bool, _ exponent: Int, _ rounding: Rounding) -> (
            value: Decimal128, isExact: Bool
        ) {
            Decimal128.rounded(
                isNegative, coefficient, exponent + cut, hasRest: hasRest, rounding)
        }
    }
}

extension Decimal128: CustomStringConvertible {
    /// The scientific text of the standard, which gives the number with its exponent back: 1.00,
    /// 1E+3, -0, NaN, -Infinity.
    package var description: String {
        if isNaN { return "NaN" }
        let sign = isNegative ? "-" : ""
        if isInfinite { return sign + "Infinity" }
        let parts = parts
        var digits = String(parts.coefficient)
        let adjusted = parts.exponent + digits.utf8.count - 1
        if parts.exponent <= 0, adjusted >= -6 {
            if parts.exponent == 0 { return sign + digits }
            if adjusted < 0 { digits = String(repeating: "0", count: -adjusted) + digits }
            digits.insert(
                ".", at: digits.index(digits.endIndex, offsetBy: parts.exponent))
            return sign + digits
        }
        if digits.utf8.count > 1 {
            digits.insert(".", at: digits.index(after: digits.startIndex))
        }
        return sign + digits + (adjusted < 0 ? "E" : "E+") + String(adjusted)
    }
}
