// Tests: Cell+Order.swift, ToftModel/Decimal128.swift, Decimal128+Arithmetic.swift,
// Decimal128+Conversion.swift, ModelView+Collections.swift
import Testing
import ToftTestKit
@testable import ToftModel
import ToftStorage

/// Arithmetic of 34 digits at its limits. The results of many random numbers are compared with
/// Python's decimal module in `bindings/python/tests/test_decimals.py`.
@Suite struct DecimalTests {
    private static let nines = String(repeating: "9", count: 34)

    private func text(_ spelled: String) -> String? { Decimal128(spelled)?.description }

    private func number(_ spelled: String) throws -> Decimal128 {
        try #require(Decimal128(spelled), "\(spelled)")
    }

    @Test func `A text is read and printed with the digits that it has`() {
        for spelled in [
            "0", "-0", "0.00", "0E+3", "1", "1.0", "1.00", "-1.50", "1E+3", "1.5E+7", "0.000001",
            "1E-7", "1.23E-9", "NaN", "Infinity", "-Infinity", Self.nines, "0E-6176", "0E+6111",
            "1E-6176", "9.999999999999999999999999999999999E+6144",
        ] {
            #expect(text(spelled) == spelled)
        }
        for (spelled, printed) in [
            ("+1", "1"), (".5", "0.5"), ("1.", "1"), ("007.50", "7.50"), ("1e3", "1E+3"),
            ("inf", "Infinity"), ("-INFINITY", "-Infinity"), ("-nan", "NaN"),
            ("1E+6144", "1.000000000000000000000000000000000E+6144"),
            ("0E+7000", "0E+6111"), ("0E-7000", "0E-6176"),
        ] {
            #expect(text(spelled) == printed, "\(spelled)")
        }
        for wrong in [
            "", "-", "+", ".", "e5", "1e", "1e+", "1.2.3", "1 ", " 1", "0x1", "1_0", "--1", "nano",
            "infinit", "1,5", "１", "1e5.0",
            // Beyond the range, for which the nearest number would be infinite or 0.
            "1E+6145", "-1E+6145", "1E99999999999999999999", "1E-6177", "5E-6177", "9E-6300",
            "-1E-99999999999999999999",
        ] {
            #expect(Decimal128(wrong) == nil, "\(wrong)")
        }
    }

    @Test func `The 35th digit rounds, half to even`() throws {
        let ones = String(repeating: "1", count: 33)
        for (digits, rounded) in [
            ("24", "2"), ("25", "2"), ("26", "3"), ("251", "3"), ("35", "4"), ("34", "3"),
            ("2500000000000000000000000", "2"), ("2500000000000000000000001", "3"),
        ] {
            let exponent = digits.utf8.count - 1
            #expect(
                try number(ones + digits) == number(ones + rounded + "E\(exponent)"), "\(digits)")
        }
        #expect(text(Self.nines + "4") == "9.999999999999999999999999999999999E+34")
        #expect(text(Self.nines + "5") == "1.000000000000000000000000000000000E+35")
        #expect(text(Self.nines + "5E6110") == nil)
        #expect(text("-" + Self.nines + "5E6110") == nil)
        #expect(text(Self.nines + "4E6110") == Decimal128.greatest.description)
    }

    @Test func `Below the least exponent digits are cut off, half to even`() {
        for (spelled, rounded) in [
            ("1E-6176", "1E-6176"), ("51E-6178", "1E-6176"), ("15E-6177", "2E-6176"),
            ("25E-6177", "2E-6176"), ("-6E-6177", "-1E-6176"), ("123E-6178", "1E-6176"),
            (Self.nines + "E-6177", "1.000000000000000000000000000000000E-6143"),
        ] {
            #expect(text(spelled) == rounded, "\(spelled)")
        }
    }

    @Test func `Sums, products and quotients have the exponent that the standard prefers`() throws {
        let greatest = Decimal128.greatest.description
        for (one, operation, other, result) in [
            ("1.0", "+", "1.00", "2.00"), ("1E+3", "+", "1", "1001"), ("-0", "+", "-0", "-0"),
            ("-0", "+", "0", "0"), ("1", "-", "1.00", "0.00"), ("1E+40", "+", "0", "1"),
            (Self.nines, "+", "1", "1.000000000000000000000000000000000E+34"),
            (Self.nines, "+", "0.5", "1.000000000000000000000000000000000E+34"),
            (Self.nines, "+", "0.4", Self.nines),
            ("1E+34", "-", "0.1", "1.000000000000000000000000000000000E+34"),
            ("1E+33", "-", "0.1", "999999999999999999999999999999999.9"),
            ("1E+6000", "-", "1E-6000", "1"), (greatest, "+", "1E+6111", "Infinity"),
            (greatest, "+", "4E+6110", greatest), ("Infinity", "-", "Infinity", "NaN"),
            ("1.20", "*", "3", "3.60"), ("-0", "*", "5E+2", "-0E+2"), ("0", "*", "Infinity", "NaN"),
            (Self.nines, "*", Self.nines, "9.999999999999999999999999999999998E+67"),
            ("1E-6176", "*", "0.5", "0E-6176"), ("3E-6176", "*", "0.5", "2E-6176"),
            ("1E+6000", "*", "1E+6000", "Infinity"), ("1E-6000", "*", "-1E-6000", "-0E-6176"),
            ("1", "/", "3", "0.3333333333333333333333333333333333"),
            ("2", "/", "3", "0.6666666666666666666666666666666667"), ("6", "/", "2", "3"),
            ("6.00", "/", "2", "3.00"), ("1", "/", "8", "0.125"), ("1E+3", "/", "1E+1", "1E+2"),
            ("1", "/", "0", "Infinity"), ("-1", "/", "0", "-Infinity"), ("0", "/", "0", "NaN"),
            ("1", "/", "Infinity", "0E-6176"), ("NaN", "+", "1", "NaN"),
        ] {
            let (left, right) = (try number(one), try number(other))
            let found =
                switch operation {
                case "+": left + right
                case "-": left - right
                case "*": left * right
                default: left / right
                }
            if result == "1" {
                #expect(found == left, "\(one) \(operation) \(other)")
            } else {
                #expect(found.description == result, "\(one) \(operation) \(other)")
            }
        }
    }

    @Test func `Order and hash are of the value, NaN comes first`() throws {
        let ascending = [
            ["NaN"], ["-Infinity"], ["-9.999999999999999999999999999999999E+6144"],
            ["-1E+3", "-1000", "-1000.00"], ["-1.5"], ["-1E-6176"],
            ["-0", "0", "0.00", "0E+6111", "0E-6176"], ["1E-6176"], ["2E-6176", "0.2E-6175"],
            ["0.1", "0.10"], ["1", "1.0", "1.000000000000000000000000000000000"],
            ["1.000000000000000000000000000000001"], ["9.999999999999999999999999999999999"],
            ["10", "1E+1"], [Self.nines], ["1E+34", "1.00E+34"], ["Infinity"],
        ]
        for (index, group) in ascending.enumerated() {
            for (otherIndex, others) in ascending.enumerated() {
                for (one, other) in group.flatMap({ one in others.map { (one, $0) } }) {
                    let (left, right) = (try number(one), try number(other))
                    #expect((left < right) == (index < otherIndex), "\(one) \(other)")
                    #expect((left == right) == (index == otherIndex), "\(one) \(other)")
                    #expect(
                        (Value.decimal(left) == .decimal(right)) == (index == otherIndex),
                        "\(one) \(other)")
                    if index == otherIndex { #expect(left.hashValue == right.hashValue) }
                }
            }
            #expect(Decimal128(orderKey: try number(group[0]).orderKey) == (try number(group[0])))
        }
    }

    @Test func `Doubles are compared by their binary value and converted to the nearest decimal`()
        throws
    {
        for (double, spelled, order) in [
            (0.1, "0.1", 1), (0.5, "0.50", 0), (1, "1.0", 0), (-0.0, "0", 0), (.nan, "NaN", 0),
            (.nan, "-Infinity", -1), (.infinity, "1E+6144", 1), (-.infinity, "-Infinity", 0),
            (0.1, "0.1000000000000000055511151231257827", 1),
            (0.1, "0.1000000000000000055511151231257828", -1),
            (-0.1, "-0.1000000000000000055511151231257827", -1),
            (.leastNonzeroMagnitude, "0", 1), (.greatestFiniteMagnitude, "1E+309", -1),
            (0x1p63, "9223372036854775808", 0), (0x1p100, "1267650600228229401496703205376", 0),
        ] {
            #expect(Decimal128.order(of: double, to: try number(spelled)) == order, "\(spelled)")
        }
        #expect(Decimal128(0.1).description == "0.1000000000000000055511151231257827")
        #expect(Decimal128(1.0).description == "1" && Decimal128(-0.0).description == "-0")
        #expect(Decimal128(0.125).description == "0.125")
        #expect(Decimal128(1e300).nearestDouble == 1e300)
        #expect(
            Decimal128(.leastNonzeroMagnitude).description
                == "4.940656458412465441765687928682214E-324")
        #expect(try number("1E+400").nearestDouble == .infinity)
    }

    @Test func `The integer below a decimal is found within 64 bits`() throws {
        for (spelled, value, isExact) in [
            ("0.00", 0, true), ("1.0", 1, true), ("1.5", 1, false), ("-1.5", -2, false),
            ("-0.1", -1, false), ("1E-6176", 0, false), ("-1E-6176", -1, false),
            ("1E+3", 1_000, true),
            ("9223372036854775807", .max, true), ("9223372036854775807.9", .max, false),
            ("-9223372036854775808.00", .min, true),
        ] as [(String, Int64, Bool)] {
            let floor = try #require(try number(spelled).floor, "\(spelled)")
            #expect(floor == (value, isExact), "\(spelled)")
        }
        for spelled in [
            "9223372036854775808", "-9223372036854775808.1", "1E+19", "1E+6144", "NaN", "Infinity",
        ] {
            #expect(try number(spelled).floor == nil, "\(spelled)")
        }
        #expect(Decimal128(Int64.min).description == "-9223372036854775808")
        #expect(
            Decimal128(Int128.max).description == "1.701411834604692317316873037158841E+38")
    }

    @Test func `A set has equal decimals once and in their order, a list finds them by value`()
        throws
    {
        let database = try ModelDatabase(
            ClassSchema(
                "Prices",
                [
                    PropertySchema("set", .decimal128, collection: .set),
                    PropertySchema("list", .decimal128, collection: .list),
                ]))
        try database.write { transaction throws in
            let key = try transaction.create("Prices")
            let set = try database.property("Prices", "set")
            let list = try database.property("Prices", "list")
            for (spelled, isNew) in [
                ("1.0", true), ("-3", true), ("1.00", false), ("NaN", true), ("1E+3", true),
                ("1000", false), ("0.1", true), ("-Infinity", true), ("-0", true), ("0.0", false),
            ] {
                let value = Value.decimal(try number(spelled))
                #expect(try transaction.setInsert(key, set, value).isNew == isNew, "\(spelled)")
                try transaction.append(key, "Prices", "list", value)
            }
            #expect(
                try transaction.view.values(key, "Prices", "set").map(\.description) == [
                    "NaN", "-Infinity", "-3", "-0", "0.1", "1.0", "1E+3",
                ])
            let thousand = Value.decimal(try number("1000.0"))
            #expect(try transaction.view.setPosition(key, set, of: thousand).index == 6)
            #expect(try transaction.view.listIndex(key, list, of: thousand) == 4)
        }
        try database.check()
    }

    @Test func `Bits that are not canonical are read as the standard says`() throws {
        let one = try number("1")
        let tooLarge = Decimal128(low: .max, high: one.high | (1 << 49 - 1))
        #expect(tooLarge.description == "0" && tooLarge == .zero)
        #expect(Decimal128(low: 5, high: 0b11 << 61 | 6174 << 47).description == "0.00")
        #expect(Decimal128(low: 7, high: 0xFF << 56).description == "NaN")
        #expect(Decimal128(low: 7, high: 0x79 << 56).description == "Infinity")
        #expect(Decimal128(stored: .zero).description == "0")
        var random = Seed(77)
        for _ in 0..<10_000 {
            let number = Decimal128(low: random.next(), high: random.next())
            #expect(Decimal128(stored: number.stored).high == number.high)
            let read = try self.number(number.description)
            #expect(read == number && (number + read).isNaN == number.isNaN)
        }
    }
}
