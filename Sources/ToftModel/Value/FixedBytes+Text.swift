package import ToftStorage

extension FixedBytes {
    /// A UUID as text: 36 characters, lower case.
    package var uuidText: String {
        let digits = hexadecimal(high, 16) + hexadecimal(low, 16)
        var text = ""
        for (index, digit) in digits.enumerated() {
            if [8, 12, 16, 20].contains(index) { text.append("-") }
            text.append(digit)
        }
        return text
    }

    /// An object id as text: 24 characters, lower case.
    package var objectIdText: String { hexadecimal(high, 16) + hexadecimal(low >> 32, 8) }

    private func hexadecimal(_ number: UInt64, _ count: Int) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: count - digits.count) + digits
    }

    /// A UUID from its text: 8-4-4-4-12 hexadecimal digits of either case; nil for any other text.
    package init?(uuidText text: some StringProtocol) {
        let bytes = Array(text.utf8)
        guard bytes.count == 36 else { return nil }
        for position in [8, 13, 18, 23] where bytes[position] != UInt8(ascii: "-") { return nil }
        self.init(digits: bytes.filter { $0 != UInt8(ascii: "-") }, count: 32)
    }

    /// An object id from its text: 24 hexadecimal digits of either case; nil for any other text.
    package init?(objectIdText text: some StringProtocol) {
        self.init(digits: Array(text.utf8), count: 24)
    }

    private init?(digits: [UInt8], count: Int) {
        guard digits.count == count else { return nil }
        self = .zero
        for (index, digit) in digits.enumerated() {
            guard let value = Character(UnicodeScalar(digit)).hexDigitValue else { return nil }
            let bits = UInt64(value) << UInt64(60 - index % 16 * 4)
            if index < 16 { high |= bits } else { low |= bits }
        }
    }
}
