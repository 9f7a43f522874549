public import Foundation
internal import ToftModel

/// A decimal number of IEEE 754-2008: 34 digits, and an exponent of -6176...6111.
///
/// A decimal with 34 digits; a class in Realm. 1.0 and 1.00 are equal, and each keeps its digits.
/// NaN equals NaN and sorts below all numbers. A property of this type is neither a primary key nor
/// indexed.
public struct Decimal128: Hashable, Sendable {
    let number: ToftModel.Decimal128

    init(_ number: ToftModel.Decimal128) { self.number = number }

    /// 0.
    public init() { number = .zero }

    /// The number of a text: `1.50`, `-1E+3`, `Infinity`, `NaN`; more than 34 digits are rounded.
    ///
    /// - Parameter string: any other text gives NaN, as in Realm 20, and a number beyond the range
    ///   (1E-6176 to 9.99...E+6144) too.
    public init(string: String) { number = ToftModel.Decimal128(string) ?? .nan }

    /// The number of a `Decimal128`, an integer, a `Double`, a `Float`, a `Decimal`, an `NSNumber`
    /// or a text.
    ///
    /// - Parameter value: anything else gives NaN; Realm throws.
    public init(value: Any) {
        self = Self._scalar(converting: value) ?? Self(ToftModel.Decimal128.nan)
    }

    /// The number of an `NSNumber`.
    public init(number: NSNumber) { self.init(value: number) }

    /// An integer. One with more than 34 digits is rounded, half to even.
    public init(_ integer: some BinaryInteger) {
        number =
            Int128(exactly: integer).map { ToftModel.Decimal128($0) }
            ?? ToftModel.Decimal128(String(integer)) ?? ToftModel.Decimal128.nan
    }

    /// The binary value of a double, to 34 digits: 0.1 has 0.1000000000000000055511151231257827.
    public init(_ double: Double) { number = ToftModel.Decimal128(double) }

    /// The least finite number, -9.999999999999999999999999999999999E+6144.
    public static var min: Decimal128 { Decimal128(.greatest.negated) }
    /// The greatest finite number, 9.999999999999999999999999999999999E+6144.
    public static var max: Decimal128 { Decimal128(.greatest) }

    public var isNaN: Bool { number.isNaN }
    /// Always false: a NaN is a quiet one.
    public var isSignaling: Bool { false }
    /// Always false: a NaN is a quiet one.
    public var isSignalingNaN: Bool { false }
    public var isInfinite: Bool { number.isInfinite }
    /// The number without its sign.
    public var magnitude: Decimal128 { Decimal128(number.magnitude) }
    /// The text of the number, with all its digits: `1.50`, `1E3`, `-0`, `NaN`, `-Infinity`.
    public var stringValue: String { number.description.replacing("E+", with: "E") }
    /// The double next to the number.
    public var doubleValue: Double { number.nearestDouble }

    // Results are rounded to 34 digits, half to even, and keep the zeros that IEEE 754 gives them:
    // 1.20 + 1.30 is 2.50, 2.0 * 1.5 is 3.00. Division by zero gives infinity, or NaN.
    public static func + (left: Decimal128, right: Decimal128) -> Decimal128 {
        Decimal128(left.number + right.number)
    }
    public static func - (left: Decimal128, right: Decimal128) -> Decimal128 {
        Decimal128(left.number - right.number)
    }
    public static func * (left: Decimal128, right: Decimal128) -> Decimal128 {
        Decimal128(left.number * right.number)
    }
    public static func / (left: Decimal128, right: Decimal128) -> Decimal128 {
        Decimal128(left.number / right.number)
    }
    public static prefix func - (number: Decimal128) -> Decimal128 {
        Decimal128(number.number.negated)
    }
    public static func *= (left: inout Decimal128, right: Decimal128) { left = left * right }
    public static func /= (left: inout Decimal128, right: Decimal128) { left = left / right }
}

extension Decimal128: SignedNumeric, Strideable {
    /// An integer; nil if it has more digits than fit.
    public init?(exactly source: some BinaryInteger) {
        let digits = String(source.magnitude)
        let zeros = digits.reversed().prefix { $0 == "0" }.count
        guard digits.count - zeros <= 34 else { return nil }
        self.init(source)
    }

    public func distance(to other: Decimal128) -> Decimal128 { other - self }
    public func advanced(by amount: Decimal128) -> Decimal128 { self + amount }
}

extension Decimal128: Comparable, CustomStringConvertible {
    // Without it Swift would ask whether the distance is 0, which is a decimal.
    public static func == (left: Decimal128, right: Decimal128) -> Bool {
        left.number == right.number
    }

    public static func < (left: Decimal128, right: Decimal128) -> Bool {
        left.number < right.number
    }

    public var description: String { stringValue }
}

extension Decimal128: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByStringLiteral
{
    public init(integerLiteral value: Int64) { number = ToftModel.Decimal128(value) }

    /// Swift gives a literal as a double: 0.1 is 0.1 and 1.0 is 1.0, but of more than 15 digits not
    /// all are kept. Write those as text: "0.1234567890123456789".
    public init(floatLiteral value: Double) {
        number = ToftModel.Decimal128("\(value)") ?? .nan
    }

    /// Equivalent to `init(string:)`.
    public init(stringLiteral value: String) { self.init(string: value) }
}

extension Decimal128: Codable {
    /// Reads a text, or a number.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let integer = try? container.decode(Int64.self) {
            self.init(integer)
        } else if let double = try? container.decode(Double.self) {
            self.init(floatLiteral: double)
        } else {
            let text = try container.decode(String.self)
            guard let number = ToftModel.Decimal128(text) else {
                throw DecodingError.dataCorruptedError(
                    in: container, debugDescription: "'\(text)' is not a decimal number")
            }
            self.init(number)
        }
    }

    /// Writes `stringValue`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(stringValue)
    }
}

extension Decimal128: _Scalar {
    public static var _type: _PropertyShape { _PropertyShape(.decimal128) }

    public static func _scalar(from value: _EngineValue) -> Decimal128? {
        if case .decimal(let number) = value.value { Decimal128(number) } else { nil }
    }
    public var _engineValue: _EngineValue { _EngineValue(.decimal(number)) }
    public static func _load(_ object: ObjectBase, _ column: Int) -> Decimal128? {
        object.fixed(column).map { Decimal128(ToftModel.Decimal128(stored: $0)) }
    }
    public func _store(_ object: ObjectBase, _ column: Int) {
        object.store(.decimal(number), column)
    }
    public static func _scalar(converting any: Any) -> Decimal128? {
        switch any {
        case let value as Decimal128: value
        case let text as String: ToftModel.Decimal128(text).map { Decimal128($0) }
        case let integer as Int: Decimal128(integer)
        case let double as Double: Decimal128(floatLiteral: double)
        case let integer as any BinaryInteger: Decimal128(integer)
        case let float as Float: ToftModel.Decimal128("\(float)").map { Decimal128($0) }
        case let decimal as Decimal: ToftModel.Decimal128("\(decimal)").map { Decimal128($0) }
        case let number as NSNumber where number.objCType.pointee == 0x64:  // "d", a double
            Decimal128(floatLiteral: number.doubleValue)
        case let number as NSNumber:
            ToftModel.Decimal128(number.stringValue).map { Decimal128($0) }
        default: nil
        }
    }
}

extension Decimal128: MinMaxType, AddableType, _QueryNumeric {
    public typealias _Mean = Decimal128
}
