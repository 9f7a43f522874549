/// A whole number of any length, not negative: for literals beyond 64 bits, which are compared
/// exactly.
struct WideInteger {
    /// 32 bits each, least significant first, without zeros at the end.
    private(set) var words: [UInt32]

    static let zero = WideInteger(words: [])

    /// The number that decimal digits spell.
    init(decimalDigits digits: some Sequence<UInt8>) {
        words = []
        for digit in digits {
            multiply(by: 10, adding: UInt32(digit & 0x0F))
        }
    }

    /// A finite double that is whole and not negative, exactly.
    init(_ double: Double) {
        words = []
        guard double >= 1 else { return }
        let exponent = Int(double.exponent)
        let significand = double.significandBitPattern | 1 << 52
        words = [
            UInt32(truncatingIfNeeded: significand), UInt32(truncatingIfNeeded: significand >> 32),
        ]
        if exponent < 52 {
            let value = significand >> UInt64(52 - exponent)
            words = [UInt32(truncatingIfNeeded: value), UInt32(truncatingIfNeeded: value >> 32)]
        } else {
            for _ in 0..<(exponent - 52) { multiply(by: 2, adding: 0) }
        }
        trim()
    }

    private init(words: [UInt32]) {
        self.words = words
    }

    mutating func multiply(by factor: UInt32, adding addend: UInt32) {
        var carry = UInt64(addend)
        for index in words.indices {
            let product = UInt64(words[index]) * UInt64(factor) + carry
            words[index] = UInt32(truncatingIfNeeded: product)
            carry = product >> 32
        }
        if carry != 0 { words.append(UInt32(carry)) }
    }

    private mutating func trim() {
        while words.last == 0 { words.removeLast() }
    }

    /// The decimal digits, most significant first; empty for zero.
    var decimalDigits: [UInt8] {
        var rest = self
        var digits: [UInt8] = []
        while !rest.words.isEmpty {
            var remainder: UInt64 = 0
            for index in rest.words.indices.reversed() {
                let value = remainder << 32 | UInt64(rest.words[index])
                rest.words[index] = UInt32(value / 10)
                remainder = value % 10
            }
            rest.trim()
            digits.append(UInt8(ascii: "0") + UInt8(remainder))
        }
        return digits.reversed()
    }

    /// -1, 0 or 1 as this number is less than, equal to or greater than `other`.
    func order(to other: WideInteger) -> Int {
        guard words.count == other.words.count else {
            return words.count < other.words.count ? -1 : 1
        }
        for index in words.indices.reversed() where words[index] != other.words[index] {
            return words[index] < other.words[index] ? -1 : 1
        }
        return 0
    }
}
