package import ToftStorage

/// One value that its holder owns. To read many values without copying, use `Cell`.
///
/// Equality is that of the database: strings by their UTF-8 bytes (not by Unicode equivalence), NaN
/// equals NaN, -0.0 equals 0.0, decimals by value.
package enum Value: Sendable {
    case null
    case bool(Bool)
    case int(Int64)
    case float(Float)
    case double(Double)
    case string(String)
    case data([UInt8])
    case date(Timestamp)
    case link(ObjectRef)
    case uuid(FixedBytes)
    /// 12 bytes, and four zeros.
    case objectId(FixedBytes)
    case decimal(Decimal128)
    /// Within a mixed property.
    case list([Value])
    /// Within a mixed property; the keys ascend.
    case dictionary([ValueEntry])
}

/// A key of a dictionary within a mixed value, and its value.
package struct ValueEntry: Hashable, Sendable {
    package var key: String
    package var value: Value

    package init(key: String, value: Value) {
        self.key = key
        self.value = value
    }

    package static func == (left: ValueEntry, right: ValueEntry) -> Bool {
        left.key.utf8.elementsEqual(right.key.utf8) && left.value == right.value
    }
}

extension Value {
    /// Whether this is `.null`.
    package var isNull: Bool {
        if case .null = self { true } else { false }
    }
}

extension Value: Hashable {
    package static func == (left: Value, right: Value) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.int(let left), .int(let right)): left == right
        case (.float(let left), .float(let right)): left == right || (left.isNaN && right.isNaN)
        case (.double(let left), .double(let right)): left == right || (left.isNaN && right.isNaN)
        case (.string(let left), .string(let right)): left.utf8.elementsEqual(right.utf8)
        case (.data(let left), .data(let right)): left == right
        case (.date(let left), .date(let right)): left == right
        case (.link(let left), .link(let right)): left == right
        case (.uuid(let left), .uuid(let right)): left == right
        case (.objectId(let left), .objectId(let right)): left == right
        case (.decimal(let left), .decimal(let right)): left == right
        case (.list(let left), .list(let right)): left == right
        case (.dictionary(let left), .dictionary(let right)): left == right
        default: false
        }
    }

    package func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .bool(let value): hasher.combine(value)
        case .int(let value): hasher.combine(value)
        case .float(let value): hasher.combine(value.isNaN ? .nan : value)
        case .double(let value): hasher.combine(value.isNaN ? .nan : value)
        case .string(let value): value.utf8.forEach { hasher.combine($0) }
        case .data(let value): hasher.combine(value)
        case .date(let value): hasher.combine(value)
        case .link(let value): hasher.combine(value)
        case .uuid(let value), .objectId(let value): hasher.combine(value)
        case .decimal(let value): hasher.combine(value)
        case .list(let values): hasher.combine(values)
        case .dictionary(let entries): hasher.combine(entries.count)
        }
    }
}

extension Value: CustomStringConvertible {
    /// The value as a message shows it, long ones cut.
    package var description: String {
        switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .int(let value): "\(value)"
        case .float(let value): "\(value)"
        case .double(let value): "\(value)"
        case .string(let value):
            value.utf8.count <= 60
                ? "'\(value)'"
                : "'\(String(value.unicodeScalars.prefix(50)))…' (\(value.utf8.count) bytes)"
        case .data(let value): "\(value.count) bytes of data"
        case .date(let value): "T\(value.seconds):\(value.nanoseconds)"
        case .link(let value): "object \(value.key)"
        case .uuid(let value): "uuid(\(value.uuidText))"
        case .objectId(let value): "oid(\(value.objectIdText))"
        case .decimal(let value): value.description
        case .list(let values): "a list of \(values.count)"
        case .dictionary(let entries): "a dictionary of \(entries.count)"
        }
    }
}
