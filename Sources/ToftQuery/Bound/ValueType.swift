internal import ToftModel

/// The type of a value in a query.
enum ValueType: Hashable, Sendable {
    case bool
    case int
    case float
    case double
    case string
    case data
    case date
    case uuid
    case objectId
    case decimal
    /// A value whose type is its own.
    case mixed
    /// The result of `@type` for a mixed value.
    case typeName
    /// A link to an object of this class, or the object itself.
    case link(ClassID)

    /// The type of a stored property, or of the elements of a list; nil for inverse links, which
    /// are objects.
    init?(_ property: StoredProperty) {
        self.init(property.type, target: property.targetClassID)
    }

    init?(_ type: PropertyType, target: ClassID?) {
        switch type {
        case .bool: self = .bool
        case .int: self = .int
        case .float: self = .float
        case .double: self = .double
        case .string: self = .string
        case .data: self = .data
        case .date: self = .date
        case .uuid: self = .uuid
        case .objectId: self = .objectId
        case .decimal128: self = .decimal
        case .link:
            guard let target else { return nil }
            self = .link(target)
        case .mixed: self = .mixed
        case .linkingObjects: return nil
        }
    }

    /// Int, float, double or decimal: compared with one another by value.
    var isNumeric: Bool {
        switch self {
        case .int, .float, .double, .decimal: true
        default: false
        }
    }

    /// Whether it can be computed with: for a mixed value, if it is a number.
    var isComputable: Bool { isNumeric || self == .mixed }

    /// String or data: the types for BEGINSWITH and its kin.
    var isText: Bool { self == .string || self == .data }

    /// The type in plain words.
    var name: String {
        switch self {
        case .link: "link"
        case .decimal: "decimal128"
        case .typeName: "the name of a type"
        default: "\(self)"
        }
    }

    /// True if values of both types can be compared.
    func isComparable(with other: ValueType) -> Bool {
        self == other || (isNumeric && other.isNumeric)
            || ((self == .mixed || other == .mixed) && self != .typeName && other != .typeName)
            || (self == .typeName && other == .string)
    }
}
