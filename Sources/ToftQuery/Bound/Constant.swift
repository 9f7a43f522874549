package import ToftModel
internal import ToftStorage

/// A constant of a bound query.
enum Constant: Sendable {
    case null
    case bool(Bool)
    case int(Int64)
    /// A whole number beyond 64 bits.
    case large(LargeInteger)
    case float(Float)
    case double(Double)
    case decimal(Decimal128)
    /// A number as it is written: beside a decimal it is one, elsewhere the double next to it.
    case written(WrittenNumber)
    case string(StringLiteral)
    case data([UInt8])
    case date(Timestamp)
    case uuid(FixedBytes)
    case objectId(FixedBytes)
    case link(ObjectRef)
    /// The object of the class with this primary key; whether it exists shows when the query runs.
    case objectWithKey(ClassID, Value)

    /// A value that a caller handed in.
    init(_ value: Value) {
        switch value {
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .int(let value): self = .int(value)
        case .float(let value): self = .float(value)
        case .double(let value): self = .double(value)
        case .string(let value): self = .string(StringLiteral(value))
        case .data(let value): self = .data(value)
        case .date(let value): self = .date(value)
        case .uuid(let value): self = .uuid(value)
        case .objectId(let value): self = .objectId(value)
        case .decimal(let value): self = .decimal(value)
        case .link(let value): self = .link(value)
        case .list, .dictionary: self = .null
        }
    }

    /// Nil for null, which fits every type.
    var type: ValueType? {
        switch self {
        case .null: nil
        case .bool: .bool
        case .int, .large: .int
        case .float: .float
        case .double, .written: .double
        case .decimal: .decimal
        case .string: .string
        case .data: .data
        case .date: .date
        case .uuid: .uuid
        case .objectId: .objectId
        case .link(let object): .link(object.classID)
        case .objectWithKey(let classID, _): .link(classID)
        }
    }

    /// The bytes of a text or of data.
    var text: [UInt8]? {
        switch self {
        case .string(let text): text.bytes
        case .data(let bytes): bytes
        default: nil
        }
    }

    var isNull: Bool { if case .null = self { true } else { false } }

    /// The constant as a message or a plan shows it.
    var description: String {
        switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .int(let value): "\(value)"
        case .large(let value): value.description
        case .float(let value): "\(value)f"
        case .double(let value): "\(value)"
        case .written(let number):
            number.isBeyondDouble ? number.decimal.description : "\(number.double)"
        case .decimal(let value): value.description
        case .string(let text):
            Value.string(String(decoding: text.bytes, as: UTF8.self)).description
        case .data(let bytes): "\(bytes.count) bytes of data"
        case .date(let date): "T\(date.seconds):\(date.nanoseconds)"
        case .uuid(let bytes): Value.uuid(bytes).description
        case .objectId(let bytes): Value.objectId(bytes).description
        case .link(let object): "object \(object.key)"
        case .objectWithKey(_, let key): "object with key \(key.description)"
        }
    }

    /// The nearest double of a number; nil for other constants.
    var number: Double? {
        switch self {
        case .int(let value): Double(value)
        case .large(let value): value.nearest
        case .float(let value): Double(value)
        case .double(let value): value
        case .written(let number): number.double
        case .decimal(let value): value.nearestDouble
        default: nil
        }
    }

    /// The greatest decimal that is not greater than a number, and true if it is the number itself;
    /// nil for other constants.
    var decimalFloor: (value: Decimal128, isExact: Bool)? {
        switch self {
        case .int(let value): (Decimal128(value), true)
        case .large(let value): Decimal128.parse(Array(value.description.utf8), .down)
        case .float(let value): Decimal128.converted(Double(value), .down)
        case .double(let value): Decimal128.converted(value, .down)
        case .decimal(let value): (value, true)
        case .written(let number): (number.decimal, true)
        default: nil
        }
    }

    /// The number as a decimal, for computations with decimals; nil for other constants.
    var decimal: Decimal128? {
        switch self {
        case .large(let value): Decimal128(value.description)
        case .float(let value): Decimal128(Double(value))
        case .double(let value): Decimal128(value)
        default: decimalFloor?.value
        }
    }

    /// Whether it is an infinity, not a large number.
    var isInfinite: Bool {
        switch self {
        case .large: false
        case .decimal(let value): value.isInfinite
        case .written(let number): number.decimal.isInfinite
        default: number?.isInfinite == true
        }
    }

    /// True if no double is near it because its magnitude is out of range.
    var isBeyondDouble: Bool {
        switch self {
        case .large(let value): value.nearest.isInfinite
        case .written(let number): number.isBeyondDouble
        default: false
        }
    }
}

extension Constant {
    /// The class of `O17`, which the link beside it names.
    private static let classBeside = ClassID.max

    /// `O17`
    static func object(ofClassBeside key: Int64) -> Constant {
        .link(ObjectRef(classID: classBeside, key: key))
    }

    /// The key of an object whose class the link beside it names.
    var keyOfClassBeside: Int64? {
        guard case .link(let object) = self, object.classID == Self.classBeside else { return nil }
        return object.key
    }
}

/// A whole number beyond 64 bits, placed exactly among the doubles.
struct LargeInteger: Sendable {
    /// The double next to it.
    let nearest: Double
    /// -1, 0 or 1 as `nearest` is less than, equal to or greater than the number.
    let orderOfNearest: Int
    let description: String

    init(isNegative: Bool, digits: [UInt8]) {
        let magnitude = Double(String(decoding: digits, as: UTF8.self)) ?? .infinity
        let order =
            magnitude.isInfinite
            ? 1 : WideInteger(magnitude).order(to: WideInteger(decimalDigits: digits))
        nearest = isNegative ? -magnitude : magnitude
        orderOfNearest = isNegative ? -order : order
        description = (isNegative ? "-" : "") + String(decoding: digits, as: UTF8.self)
    }

    var isNegative: Bool { nearest < 0 }
}

extension Constant {
    /// The number that a quoted text means if a number is expected; nil if the whole text is not a
    /// number.
    static func number(spelledBy bytes: [UInt8], allowingInfinity: Bool) -> Constant? {
        let text = String(decoding: bytes, as: UTF8.self)
        let signed = text.first == "-" || text.first == "+"
        let unsigned = (signed ? String(text.dropFirst()) : text).lowercased()
        if allowingInfinity {
            if unsigned == "nan" { return .double(.nan) }
            if unsigned == "inf" || unsigned == "infinity" {
                return .double(text.first == "-" ? -.infinity : .infinity)
            }
        }
        guard let first = unsigned.utf8.first, ASCII.isDigit(first) || first == UInt8(ascii: "."),
            unsigned.utf8.allSatisfy({
                ASCII.isDigit($0) || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "e")
                    || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "+")
            })
        else { return nil }
        if unsigned.utf8.allSatisfy(ASCII.isDigit) {
            let literal = Lexer.integer(digits: ArraySlice(Array(unsigned.utf8)))
            return Constant(text.first == "-" ? literal.negated : literal)
        }
        return Lexer.written(bytes[...]).map { .written($0) }
    }

    init(_ literal: IntegerLiteral) {
        switch literal {
        case .small(let value): self = .int(value)
        case .large(let isNegative, let digits):
            self = .large(LargeInteger(isNegative: isNegative, digits: digits))
        }
    }
}

/// A caller's argument for `$0`, `$1`...
package enum QueryArgument: Sendable {
    case value(Value)
    case list([Value])
}
