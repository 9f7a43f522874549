internal import ToftModel
internal import ToftStorage

extension SQLiteValue {
    /// The value as one of a property's type; nil if it is none. A null is none of a property that
    /// is not optional.
    func value(of property: PropertySchema, _ dates: DateForm?) -> Value? {
        switch (property.type, self) {
        case (_, .null): property.isOptional ? Value.null : nil
        case (.bool, .int(0)): .bool(false)
        case (.bool, .int(1)): .bool(true)
        case (.bool, .text(let text)): Truth(text).map { .bool($0.value) }
        case (.int, .int(let number)): .int(number)
        case (.int, .real(let number)): Int64(exactly: number).map { .int($0) }
        case (.int, .text(let text)): Int64(text).map { .int($0) }
        case (.double, _): double.map { .double($0) }
        case (.float, _): double.map { .float(Float($0)) }
        case (.string, .text(let text)): .string(text)
        case (.string, .int(let number)): .string("\(number)")
        case (.string, .real(let number)): .string("\(number)")
        case (.data, .blob(let bytes)): .data(bytes)
        case (.date, _): (dates ?? .iso).date(self).map { .date($0) }
        case (.decimal128, .int(let number)): .decimal(Decimal128(number))
        case (.decimal128, .real(let number)):
            number.isFinite ? Decimal128(exact: "\(number)").map { .decimal($0) } : nil
        case (.decimal128, .text(let text)): Decimal128(exact: text).map { .decimal($0) }
        case (.uuid, .text(let text)): FixedBytes(uuidText: text).map { .uuid($0) }
        case (.uuid, .blob(let bytes)):
            bytes.count == 16 ? .uuid(FixedBytes(bytes: bytes)) : nil
        case (.objectId, .text(let text)): FixedBytes(objectIdText: text).map { .objectId($0) }
        case (.objectId, .blob(let bytes)):
            bytes.count == 12 ? .objectId(FixedBytes(bytes: bytes)) : nil
        case (.mixed, _): mixed
        default: nil
        }
    }

    /// Doubles are exact; a whole number that no double equals is refused.
    private var double: Double? {
        switch self {
        case .real(let number): number
        case .int(let number): Double(exactly: number)
        case .text(let text): Double(text)
        default: nil
        }
    }

    private var mixed: Value? {
        switch self {
        case .int(let number): .int(number)
        case .real(let number): .double(number)
        case .text(let text): .string(text)
        case .blob(let bytes): .data(bytes)
        case .null, .notUTF8: nil
        }
    }
}

extension PropertySchema {
    /// The content that a column must have for the property, for messages.
    func expectation(_ dates: DateForm?) -> String {
        let what =
            switch type {
            case .bool: "0, 1, 'true' or 'false'"
            case .int: "a whole number of 64 bits"
            case .float, .double: "a number"
            case .string: "a text"
            case .data: "a blob"
            case .date: (dates ?? .iso).expectation
            case .decimal128: "a number of at most 34 digits"
            case .uuid: "a UUID, a text or a blob of 16 bytes"
            case .objectId: "24 hexadecimal digits or a blob of 12 bytes"
            case .mixed: "a number, a text or a blob"
            case .link, .linkingObjects: "a key"
            }
        return what + (isOptional ? " or null" : "")
    }
}

extension DateForm {
    fileprivate var expectation: String {
        switch self {
        case .iso: "a date as 2026-11-22T08:30:00Z"
        case .seconds: "seconds since 1970"
        case .milliseconds: "milliseconds since 1970"
        case .microseconds: "microseconds since 1970"
        case .nanoseconds: "nanoseconds since 1970"
        case .julian: "a Julian day"
        case .apple: "seconds since 2001"
        case .webkit: "microseconds since 1601"
        }
    }
}

/// The key of a row, which others name it by.
enum SQLiteKey: Hashable {
    case number(Int64)
    case others([SQLiteValue])

    /// Nil if a part is null: then it names nothing.
    init?(_ parts: [SQLiteValue]) {
        let plain = parts.map { part in
            if case .real(let number) = part, let whole = Int64(exactly: number) {
                return SQLiteValue.int(whole)
            }
            return part
        }
        guard !plain.contains(.null) else { return nil }
        if plain.count == 1, let number = plain[0].int {
            self = .number(number)
        } else {
            self = .others(plain)
        }
    }

    /// The key with its number as a text, or its text as a number, as some programs store it.
    var alternative: SQLiteKey? {
        switch self {
        case .number(let number): .others([.text("\(number)")])
        case .others(let parts):
            if parts.count == 1, let text = parts[0].text, let number = Int64(text),
                "\(number)" == text
            {
                .number(number)
            } else {
                nil
            }
        }
    }

    var shown: String {
        switch self {
        case .number(let number): "\(number)"
        case .others(let parts): parts.map(\.shown).joined(separator: ", ")
        }
    }
}
