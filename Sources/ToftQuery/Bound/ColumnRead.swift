internal import ToftModel

/// A column that an expression reads.
struct ColumnRead {
    var property: PropertyRef
    var column: UInt32
    var type: ValueType
    var layout: ValueLayout
    /// The key to look up, if the column is that of a dictionary's values.
    var key: [UInt8]?

    init(_ property: PropertyRef, _ type: ValueType, key: [UInt8]? = nil) {
        self.property = property
        self.key = key
        column = property.propertyID
        self.type = type
        layout = ValueLayout(type)
    }

    /// The column that a step to one object reads.
    init(_ step: PathStep) {
        self.init(step.property, .link(step.target), key: step.key)
    }
}

/// The layout of values in a vector.
enum ValueLayout {
    case bool
    /// Int, and the key of the object that a link leads to.
    case int
    /// Float and double.
    case double
    case date
    /// Uuid and object id.
    case fixed
    /// Decimals, in the file's encoding.
    case decimal
    case text
    /// Mixed values, encoded.
    case mixed

    init(_ type: ValueType) {
        switch type {
        case .bool: self = .bool
        case .int, .link, .typeName: self = .int
        case .float, .double: self = .double
        case .date: self = .date
        case .uuid, .objectId: self = .fixed
        case .decimal: self = .decimal
        case .string, .data: self = .text
        case .mixed: self = .mixed
        }
    }
}
