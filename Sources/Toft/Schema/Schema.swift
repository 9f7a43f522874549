internal import ToftModel

/// The classes of a realm.
public struct Schema: CustomStringConvertible, Equatable {
    /// In the order of their names.
    public let objectSchema: [ObjectSchema]

    init(_ models: [ModelClass]) {
        objectSchema = models.map { ObjectSchema($0) }
    }

    /// The class with this name.
    public subscript(className: String) -> ObjectSchema? {
        objectSchema.first { $0.className == className }
    }

    public var description: String {
        Schema.block("Schema", objectSchema.map(\.description))
    }

    /// A name with lines in braces, as Realm writes them.
    static func block(_ name: String, _ lines: [String]) -> String {
        let text = lines.map { line in
            line.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
                .map { "\t\(Substring($0))\n" }.joined()
        }
        return "\(name) {\n\(text.joined())}"
    }
}

/// A class and its persisted properties.
public struct ObjectSchema: CustomStringConvertible, Equatable {
    let model: ModelClass

    init(_ model: ModelClass) {
        self.model = model
    }

    /// The class's name in the database.
    public var className: String { model.name }
    /// The Swift class.
    public var objectClass: AnyClass { model.type }
    /// Whether its objects live in others, as those of `EmbeddedObject` do.
    public var isEmbedded: Bool { model.isEmbedded }
    /// Whether its objects only go to a server: never, as there is no sync.
    public var isAsymmetric: Bool { false }
    /// In the order of declaration, those that show what links here after the others.
    public var properties: [Property] {
        let isComputed = { (property: ModelProperty) in property.shape.type == .linkingObjects }
        return (model.properties.filter { !isComputed($0) } + model.properties.filter(isComputed))
            .map { Property($0) }
    }
    /// The primary key, if there is one.
    public var primaryKeyProperty: Property? { model.primaryKey.map { Property($0) } }

    /// The property with this name.
    public subscript(propertyName: String) -> Property? {
        model.property(named: propertyName).map { Property($0) }
    }

    public var description: String {
        Schema.block(className, properties.map(\.description))
    }

    public static func == (left: ObjectSchema, right: ObjectSchema) -> Bool {
        left.model === right.model
    }
}

/// A persisted property.
public struct Property: CustomStringConvertible, Equatable {
    let property: ModelProperty

    init(_ property: ModelProperty) {
        self.property = property
    }

    /// Whether both are declared alike.
    public static func == (left: Property, right: Property) -> Bool {
        left.description == right.description && left.deleteRule == right.deleteRule
            && left.isAutoIncremented == right.isAutoIncremented
    }

    /// The name in Swift.
    public var name: String { property.name }
    /// The name in the file.
    public var columnName: String { property.persistedName }
    /// The type of the value, or of the elements.
    public var type: PropertyType { PropertyType(property.shape.type) }
    /// Whether it is a list.
    public var isArray: Bool { property.shape.collection == .list }
    /// Whether it is a set.
    public var isSet: Bool { property.shape.collection == .set }
    /// Whether it is a map.
    public var isMap: Bool { property.shape.collection == .dictionary }
    /// Whether it has an index; a primary key always has one.
    public var isIndexed: Bool { property.isIndexed || property.isPrimaryKey }
    /// Whether an object that is added with 0 gets the next primary key.
    public var isAutoIncremented: Bool { property.isAutoIncremented }
    /// The effect of deletions along a link.
    public var deleteRule: DeleteRule { property.deleteRule }
    /// Whether the value, or an element, may be nil.
    public var isOptional: Bool { property.shape.isOptional }
    /// The class that is linked to or, for linking objects, links here.
    public var objectClassName: String? {
        property.targetName ?? property.shape.target.map { ModelClass.name(of: $0) }
    }

    public var description: String {
        func flag(_ name: String, _ value: Bool) -> String { "\(name) = \(value ? "YES" : "NO");" }
        let target =
            objectClassName.map {
                [
                    "objectClassName = \($0);",
                    "linkOriginPropertyName = \(property.origin ?? "(null)");",
                ]
            } ?? []
        return Schema.block(
            name,
            ["type = \(type.text);"] + target + [
                "columnName = \(columnName);", flag("indexed", isIndexed),
                flag("isPrimary", property.isPrimaryKey), flag("array", isArray),
                flag("set", isSet), flag("dictionary", isMap), flag("optional", isOptional),
            ])
    }
}

/// The type of a property's values.
public enum PropertyType: Int, Sendable {
    case int = 0
    case bool = 1
    case string = 2
    case data = 3
    case date = 4
    case float = 5
    case double = 6
    case object = 7
    case linkingObjects = 8
    /// `AnyRealmValue`: a value of any type.
    case any = 9
    case objectId = 10
    case decimal128 = 11
    case UUID = 12

    /// The type's name in descriptions.
    var text: String {
        switch self {
        case .any: "mixed"
        case .linkingObjects: "linking objects"
        case .objectId: "object id"
        case .UUID: "uuid"
        default: "\(self)"
        }
    }

    init(_ type: ToftModel.PropertyType) {
        switch type {
        case .bool: self = .bool
        case .int: self = .int
        case .float: self = .float
        case .double: self = .double
        case .string: self = .string
        case .data: self = .data
        case .date: self = .date
        case .link: self = .object
        case .linkingObjects: self = .linkingObjects
        case .objectId: self = .objectId
        case .uuid: self = .UUID
        case .decimal128: self = .decimal128
        case .mixed: self = .any
        }
    }
}
