internal import ToftStorage

/// The type of a property's values. Raw values are format.
package enum PropertyType: UInt8, Sendable, CaseIterable {
    case bool = 1
    case int = 2
    case float = 3
    case double = 4
    case string = 5
    case data = 6
    case date = 7
    /// A link to an object of the target class.
    case link = 8
    /// The objects of another class that link here through one of its properties; computed, never
    /// stored.
    case linkingObjects = 9
    /// 34 decimal digits, in 16 bytes.
    case decimal128 = 10
    /// 12 bytes: by convention 4 of seconds since 1970, 5 random ones, 3 of a counter.
    case objectId = 11
    /// 16 bytes.
    case uuid = 12
    /// A value of any of these types, of its own choice, or a list or a dictionary of such values;
    /// always optional.
    case mixed = 13
}

extension PropertyType {
    /// The type in plain words, for messages.
    package var name: String {
        self == .linkingObjects ? "inverse link" : "\(self)"
    }

    /// The type of a property in plain words: "optional int", "list of string", "link to 'Dog'".
    func name(_ collection: CollectionKind, isOptional: Bool, target: String?) -> String {
        let suffix = self == .link ? " to '\(target ?? "?")'" : ""
        let optional = isOptional && !canLink ? "optional " : ""
        return (collection == .none ? "" : "\(collection.name) of ") + optional + name + suffix
    }

    /// The type of the column that holds such values, or of the elements of a list of them; nil for
    /// inverse links, which are computed.
    var columnType: ColumnType? {
        switch self {
        case .bool: .bool
        case .int, .link: .int64
        case .float: .float32
        case .double: .float64
        case .string, .data, .mixed: .bytes
        case .date: .timestamp
        case .objectId: .fixed12
        case .uuid, .decimal128: .fixed16
        case .linkingObjects: nil
        }
    }

    /// Whether its values may lead to other objects.
    package var canLink: Bool { self == .link || self == .mixed }

    /// Whether it may be the type of a primary key.
    package var canBePrimaryKey: Bool {
        switch self {
        case .int, .string, .objectId, .uuid: true
        default: false
        }
    }

    /// Whether it may be in a unique constraint: equal bytes of a key mean equal values.
    package var canBeUnique: Bool { canBeIndexed && self != .mixed }

    /// Whether a secondary index can be made of it.
    package var canBeIndexed: Bool {
        switch self {
        case .bool, .int, .string, .date, .objectId, .uuid, .mixed: true
        default: false
        }
    }
}

/// Whether a property holds one value or many. Raw values are format.
package enum CollectionKind: UInt8, Sendable {
    case none = 0
    /// Values in an order that the user gives them.
    case list = 1
    /// Distinct values, in ascending order.
    case set = 2
    /// Values under keys that are text, in the order of the keys' bytes.
    case dictionary = 3
}

extension CollectionKind {
    /// The kind in plain words, for messages.
    package var name: String {
        self == .none ? "value" : "\(self)"
    }

    /// Whether its links may be null: a list and a set lose the links to deleted objects, a
    /// dictionary keeps the key.
    var hasOptionalLinks: Bool { self == .none || self == .dictionary }
}
