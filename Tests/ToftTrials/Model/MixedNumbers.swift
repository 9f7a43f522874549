/// The numbers that mixed values of the model have, spelled by hand in the order of their values:
/// no code of the engine says how numbers of different types compare.
enum MixedNumbers {
    /// Each row is one number, as every type that can be exactly that one. The first row is NaN.
    private static let rows: [[Datum]] = [
        [.float(.nan), .double(.nan), .decimal(0, 0x7C << 56)],
        [.float(-.infinity), .double(-.infinity), .decimal(0, 0xF8 << 56)],
        [.int(.min), .float(-9_223_372_036_854_775_808), .double(-9_223_372_036_854_775_808)],
        [.int(.min + 1)],
        [.int(-1), .float(-1), .double(-1), decimal(1, 0, true), decimal(10, -1, true)],
        [.float(-0.1)],
        [.double(-0.1)],
        [decimal(1, -1, true)],
        [
            .int(0), .float(0), .float(-0.0), .double(0), .double(-0.0), decimal(0, 0),
            decimal(0, -2),
        ],
        [decimal(1, -6176)],
        [.double(.leastNonzeroMagnitude)],
        [.float(.leastNonzeroMagnitude)],
        [decimal(1, -1), decimal(10, -2)],
        [.double(0.1)],
        [.float(0.1)],
        [.int(1), .float(1), .double(1), decimal(1, 0), decimal(100, -2)],
        [.float(1.5), .double(1.5), decimal(15, -1), decimal(150, -2)],
        [.int(16_777_216), .float(16_777_216), .double(16_777_216)],
        [.int(16_777_217), .double(16_777_217), decimal(16_777_217, 0)],
        [
            .int(9_007_199_254_740_992), .float(9_007_199_254_740_992),
            .double(9_007_199_254_740_992),
        ],
        [.int(9_007_199_254_740_993), decimal(9_007_199_254_740_993, 0)],
        [.int(.max - 1)],
        [.int(.max), decimal(9_223_372_036_854_775_807, 0)],
        [
            .float(9_223_372_036_854_775_808), .double(9_223_372_036_854_775_808),
            decimal(9_223_372_036_854_775_808, 0),
        ],
        [.float(.greatestFiniteMagnitude)],
        [.double(.greatestFiniteMagnitude)],
        [decimal(1, 6111), decimal(1_000, 6108)],
        [.float(.infinity), .double(.infinity), .decimal(0, 0x78 << 56)],
    ]

    private static func decimal(_ digits: UInt64, _ exponent: Int, _ isNegative: Bool = false)
        -> Datum
    {
        .decimal(digits, UInt64(exponent + 6176) << 49 | (isNegative ? 1 << 63 : 0))
    }

    private static let all = rows.flatMap { $0 }

    /// Compares numbers bit for bit; all NaNs are equal.
    private struct Spelling: Hashable {
        var type: Int
        var low: UInt64
        var high: UInt64 = 0

        init?(_ number: Datum) {
            switch number {
            case .int(let value): (type, low) = (0, UInt64(bitPattern: value))
            case .float(let value):
                (type, low) = (1, UInt64(value.isNaN ? 0x7FC0_0000 : value.bitPattern))
            case .double(let value): (type, low) = (2, value.isNaN ? .max : value.bitPattern)
            case .decimal(let low, let high): (type, self.low, self.high) = (3, low, high)
            default: return nil
            }
        }
    }

    private static let ranks: [Spelling: Int] = {
        var ranks: [Spelling: Int] = [:]
        for (rank, row) in rows.enumerated() {
            for number in row { if let spelling = Spelling(number) { ranks[spelling] = rank } }
        }
        return ranks
    }()

    static func value(_ number: UInt64) -> Datum { all[Int(number % UInt64(all.count))] }

    /// The rank of a number among these, 0 for NaN; nil for other values.
    static func rank(_ number: Datum) -> Int? { Spelling(number).flatMap { ranks[$0] } }

    /// The order of two of these numbers; nil for NaN with a number, and for all else.
    static func order(_ left: Datum, _ right: Datum) -> Int? {
        guard let left = rank(left), let right = rank(right) else { return nil }
        return left == 0 || right == 0 ? left == right ? 0 : nil : left - right
    }

    /// One of the numbers that equal a given one, always the same.
    static func first(equalTo number: Datum) -> Datum {
        rank(number).map { rows[$0][0] } ?? number
    }
}
