internal import ToftModel

/// A JSON value: members in their order, integers with all 64 bits.
package enum JSONValue {
    case null
    case bool(Bool)
    case integer(Int64)
    /// Written, never read, as doubles are.
    case number(UInt64)
    case double(Double)
    /// Read, never written: numbers other than integers.
    case numeral(Numeral)
    case text(String)
    case list([JSONValue])
    case dictionary([(key: String, value: JSONValue)])

    package static func object(_ members: [(String, JSONValue)]) -> JSONValue {
        .dictionary(members.map { (key: $0.0, value: $0.1) })
    }

    /// The value itself, for messages.
    package var shown: String {
        switch self {
        case .integer(let value): "\(value)"
        case .double(let value): "\(value)"
        case .numeral(let number): number.text.start
        case .text(let value): "'\(value.start)'"
        default: kind
        }
    }

    /// The kind of the value, for messages.
    package var kind: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .integer, .number: "an integer"
        case .double, .numeral: "a number"
        case .text: "a text"
        case .list: "a list"
        case .dictionary: "an object"
        }
    }

    /// Whether a link is in it, as mixed properties have them.
    var hasLink: Bool {
        switch self {
        case .list(let elements): elements.contains(where: \.hasLink)
        case .dictionary(let members):
            members.contains { $0.key == "$link" || $0.value.hasLink }
        default: false
        }
    }

    /// The member of an object that has this name.
    package func member(_ name: String) -> JSONValue? {
        guard case .dictionary(let members) = self else { return nil }
        return members.first { $0.key.isSameName(as: name) }?.value
    }
}

extension String {
    /// The beginning of it, for messages. Marks are counted as letters are: one may have any number
    /// of them.
    var start: String { String(unicodeScalars.prefix(80)) }
}

extension JSONValue: CustomStringConvertible {
    /// The value on one line.
    package var description: String {
        var text = ""
        write(to: &text)
        return text
    }

    private func write(to text: inout String) {
        switch self {
        case .null: text += "null"
        case .bool(let value): text += value ? "true" : "false"
        case .integer(let value): text += String(value)
        case .number(let value): text += String(value)
        case .double(let value):
            // A NaN is one, whatever its sign and payload.
            text += value.isFinite ? "\(value)" : value.isNaN ? "\"nan\"" : "\"\(value)\""
        case .numeral(let number): text += number.text
        case .text(let value): Self.write(value, to: &text)
        case .list(let values):
            text += "["
            for (index, value) in values.enumerated() {
                if index > 0 { text += "," }
                value.write(to: &text)
            }
            text += "]"
        case .dictionary(let members):
            text += "{"
            for (index, member) in members.enumerated() {
                if index > 0 { text += "," }
                Self.write(member.key, to: &text)
                text += ":"
                member.value.write(to: &text)
            }
            text += "}"
        }
    }

    private static func write(_ value: String, to text: inout String) {
        text += "\""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case _ where scalar.value < 0x20:
                text += (scalar.value < 16 ? "\\u000" : "\\u00") + String(scalar.value, radix: 16)
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }
}
