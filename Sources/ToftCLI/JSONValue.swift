import Foundation

/// A JSON value as it was read; integers keep all 64 bits.
enum JSONValue: Decodable {
    case null
    case bool(Bool)
    case integer(Int64)
    case double(Double)
    case text(String)
    case list([JSONValue])
    case dictionary([String: JSONValue])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(String.self) {
            self = .text(value)
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            // A zero with a sign is a double.
            let isNegativeZero = value == 0 && (try? container.decode(Double.self))?.sign == .minus
            self = isNegativeZero ? .double(-0.0) : .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .double(value)
        } else if let value = try? container.decode([JSONValue].self) {
            self = .list(value)
        } else {
            self = .dictionary(try container.decode([String: JSONValue].self))
        }
    }

    /// The value itself, for messages.
    var text: String {
        switch self {
        case .integer(let value): "\(value)"
        case .double(let value): "\(value)"
        case .text(let value): "'\(value)'"
        default: kind
        }
    }

    /// Whether a link is in it, as mixed properties have them.
    var hasLink: Bool {
        switch self {
        case .list(let elements): elements.contains(where: \.hasLink)
        case .dictionary(let members):
            members["$link"] != nil || members.values.contains(where: \.hasLink)
        default: false
        }
    }

    /// What it is, for messages.
    var kind: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .integer: "an integer"
        case .double: "a number"
        case .text: "a text"
        case .list: "a list"
        case .dictionary: "an object"
        }
    }
}
