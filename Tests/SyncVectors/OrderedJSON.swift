/// A JSON value whose objects keep the order of their keys: what makes ids goes by that order.
package enum OrderedJSON: Sendable {
    case null
    case bool(Bool)
    case int(Int64)
    case double(Double)
    case string(String)
    case array([OrderedJSON])
    case object([(key: String, value: OrderedJSON)])

    package subscript(key: String) -> OrderedJSON? { members?.first { $0.key == key }?.value }

    package var members: [(key: String, value: OrderedJSON)]? {
        if case .object(let members) = self { members } else { nil }
    }
    package var array: [OrderedJSON]? { if case .array(let array) = self { array } else { nil } }
    package var string: String? { if case .string(let value) = self { value } else { nil } }
    package var int: Int64? { if case .int(let value) = self { value } else { nil } }
    package var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    package var isNull: Bool { if case .null = self { true } else { false } }

    /// The text with the keys of objects in their order, so that equal values have equal texts.
    package var canonical: String {
        switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .int(let value): "\(value)"
        case .double(let value):
            Int64(exactly: value).map(String.init) ?? "\(value)"
        case .string(let value): Self.quoted(value)
        case .array(let array): "[\(array.map(\.canonical).joined(separator: ","))]"
        case .object(let members):
            "{"
                + members.map { "\(Self.quoted($0.key)):\($0.value.canonical)" }.sorted()
                .joined(separator: ",") + "}"
        }
    }

    private static func quoted(_ text: String) -> String {
        // A link that is a key is the text of JSON, with blanks that say nothing.
        if text.hasPrefix("{\"link\""), let link = try? OrderedJSON(parsing: text) {
            return quotedAsItIs(link.canonical)
        }
        return quotedAsItIs(text)
    }

    private static func quotedAsItIs(_ text: String) -> String {
        "\"" + text.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : "\($0)" }.joined() + "\""
    }
}

package struct JSONError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

extension OrderedJSON {
    package init(parsing text: String) throws {
        var parser = Parser(bytes: Array(text.utf8))
        self = try parser.value(0)
        parser.skipBlanks()
        guard parser.next == nil else { throw parser.error("something behind the value") }
    }

    private struct Parser {
        let bytes: [UInt8]
        var place = 0

        init(bytes: [UInt8]) { self.bytes = bytes }

        var next: UInt8? { place < bytes.count ? bytes[place] : nil }

        func error(_ what: String) -> JSONError { JSONError("\(what) at byte \(place)") }

        mutating func skipBlanks() {
            while let next, next == 32 || next == 10 || next == 13 || next == 9 { place += 1 }
        }

        mutating func take(_ text: StaticString) -> Bool {
            let length = text.utf8CodeUnitCount
            guard place + length <= bytes.count,
                text.withUTF8Buffer({ $0.elementsEqual(bytes[place..<place + length]) })
            else { return false }
            place += length
            return true
        }

        mutating func value(_ depth: Int) throws -> OrderedJSON {
            guard depth < 500 else { throw error("nested too deep") }
            skipBlanks()
            switch next {
            case UInt8(ascii: "{"): return try object(depth)
            case UInt8(ascii: "["): return try array(depth)
            case UInt8(ascii: "\""): return .string(try string())
            case _ where take("null"): return .null
            case _ where take("true"): return .bool(true)
            case _ where take("false"): return .bool(false)
            default: return try number()
            }
        }

        mutating func object(_ depth: Int) throws -> OrderedJSON {
            place += 1
            var members: [(key: String, value: OrderedJSON)] = []
            skipBlanks()
            if take("}") { return .object([]) }
            while true {
                skipBlanks()
                guard next == UInt8(ascii: "\"") else { throw error("no key") }
                let key = try string()
                skipBlanks()
                guard take(":") else { throw error("no colon") }
                members.append((key, try value(depth + 1)))
                skipBlanks()
                if take("}") { return .object(members) }
                guard take(",") else { throw error("no comma") }
            }
        }

        mutating func array(_ depth: Int) throws -> OrderedJSON {
            place += 1
            var elements: [OrderedJSON] = []
            skipBlanks()
            if take("]") { return .array([]) }
            while true {
                elements.append(try value(depth + 1))
                skipBlanks()
                if take("]") { return .array(elements) }
                guard take(",") else { throw error("no comma") }
            }
        }

        mutating func string() throws -> String {
            place += 1
            var text: [UInt8] = []
            while let byte = next, byte != UInt8(ascii: "\"") {
                place += 1
                if byte != UInt8(ascii: "\\") {
                    text.append(byte)
                    continue
                }
                guard let escaped = next else { break }
                place += 1
                switch escaped {
                case UInt8(ascii: "n"): text.append(10)
                case UInt8(ascii: "t"): text.append(9)
                case UInt8(ascii: "r"): text.append(13)
                case UInt8(ascii: "b"): text.append(8)
                case UInt8(ascii: "f"): text.append(12)
                case UInt8(ascii: "u"): text += Array(String(try scalar()).utf8)
                default: text.append(escaped)
                }
            }
            guard take("\"") else { throw error("a text without end") }
            return String(decoding: text, as: UTF8.self)
        }

        mutating func scalar() throws -> Unicode.Scalar {
            var code = try unit()
            if code >= 0xD800, code < 0xDC00, take("\\u") {
                code = 0x10000 + (code - 0xD800) << 10 + (try unit() &- 0xDC00)
            }
            return Unicode.Scalar(code) ?? "\u{FFFD}"
        }

        mutating func unit() throws -> UInt32 {
            guard place + 4 <= bytes.count,
                let code = UInt32(
                    String(decoding: bytes[place..<place + 4], as: UTF8.self), radix: 16)
            else { throw error("no code of a character") }
            place += 4
            return code
        }

        mutating func number() throws -> OrderedJSON {
            let start = place
            while let byte = next, "+-.0123456789eE".utf8.contains(byte) { place += 1 }
            let text = String(decoding: bytes[start..<place], as: UTF8.self)
            if let value = Int64(text) { return .int(value) }
            guard let value = Double(text) else { throw error("no value") }
            return .double(value)
        }
    }
}
