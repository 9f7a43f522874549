internal import ToftTestKit

/// A number with all its decimal digits.
struct Exact: Equatable {
    /// The text in a query.
    let text: String
    private let isNegative: Bool
    /// Before the point, without zeros at the beginning, and behind it, without zeros at the end.
    private let whole: [UInt8]
    private let fraction: [UInt8]

    /// The number of a text such as `-12.5` or `1e400`.
    init(_ text: String) {
        let parts = text.split(separator: "e")
        let mantissa = parts[0].drop { $0 == "-" }.split(separator: ".")
        var digits = mantissa.joined().utf8.map { $0 - 48 }
        var point = mantissa[0].utf8.count + (parts.count > 1 ? Int(parts[1]) ?? 0 : 0)
        if point < 0 {
            digits = [UInt8](repeating: 0, count: -point) + digits
            point = 0
        }
        digits += [UInt8](repeating: 0, count: max(0, point - digits.count))
        self.init(text, text.hasPrefix("-"), digits, point)
    }

    /// A finite number of binary floating point.
    init(_ double: Double) {
        var digits: [UInt8] = []
        var scale = 0
        if double != 0 {
            var (bits, power) = (double.significandBitPattern | 1 << 52, Int(double.exponent) - 52)
            while bits & 1 == 0 { (bits, power) = (bits >> 1, power + 1) }
            digits = String(bits).utf8.map { $0 - 48 }
            for _ in 0..<abs(power) { Self.multiply(&digits, by: power > 0 ? 2 : 5) }
            scale = max(0, -power)
        }
        digits = [UInt8](repeating: 0, count: max(0, scale - digits.count)) + digits
        self.init("\(double)", double < 0, digits, digits.count - scale)
    }

    private init(_ text: String, _ isNegative: Bool, _ digits: [UInt8], _ point: Int) {
        self.text = text
        whole = Array(digits[..<point].drop { $0 == 0 })
        fraction = Array(digits[point...].reversed().drop { $0 == 0 }.reversed())
        self.isNegative = isNegative && !(whole.isEmpty && fraction.isEmpty)
    }

    private static func multiply(_ digits: inout [UInt8], by factor: Int) {
        var carry = 0
        for index in digits.indices.reversed() {
            carry += Int(digits[index]) * factor
            digits[index] = UInt8(carry % 10)
            carry /= 10
        }
        if carry > 0 { digits.insert(UInt8(carry), at: 0) }
    }

    func order(_ other: Exact) -> Int {
        if isNegative != other.isNegative { return isNegative ? -1 : 1 }
        return isNegative ? -sizeOrder(other) : sizeOrder(other)
    }

    private func sizeOrder(_ other: Exact) -> Int {
        if whole.count != other.whole.count { return whole.count < other.whole.count ? -1 : 1 }
        let (digits, others) = (whole + fraction, other.whole + other.fraction)
        return digits == others ? 0 : digits.lexicographicallyPrecedes(others) ? -1 : 1
    }

    // MARK: Drawn

    /// The double next to 10^100, without its last digit.
    private static let googol =
        "100000000000000001590289110975991804683608085639452813897813275577"
        + "4783877217038106081346998585681510"

    /// A value that a mixed property may have.
    static func stored(_ random: inout Seed) -> Plainly {
        let (text, type): (String, Character) = random.one(of: [
            ("9223372036854775807", "i"), ("-9223372036854775808", "i"), ("9007199254740993", "i"),
            ("9007199254740992", "d"), ("9999999999999999455752309870428160", "d"),
            ("-9999999999999999455752309870428160", "d"),
            (googol + "4", "d"),
            ("9999999999999999999999999999999999", "m"),
            ("10000000000000000000000000000000000", "m"),
            ("-10000000000000000000000000000000000", "m"), ("9223372036854775807.5", "m"),
            ("9007199254740993", "m"),
        ])
        return .exact(Exact(text), type)
    }

    /// A whole number of any length, or one that no double is next to.
    static func constant(_ random: inout Seed) -> Plainly {
        let text = random.one(of: [
            "9223372036854775807", "9223372036854775808", "-9223372036854775808",
            "-9223372036854775809", "9007199254740993", "9999999999999999455752309870428160",
            "9999999999999999455752309870428161", "10000000000000000000000000000000000",
            "10000000000000000000000000000000001", "-10000000000000000000000000000000001",
            "99999999999999999999999999999999999", "100000000000000000000000000000000000001",
            googol + "3", googol + "4",
            "1e400", "-1e400", "1e-400",
        ])
        return .exact(Exact(text), "i")
    }
}
