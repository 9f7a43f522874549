public import CToft
internal import ToftEngine
internal import ToftModel

@c @implementation
public func toft_schema_new(
    _ classes: UnsafePointer<toft_class_schema>?, _ class_count: Int,
    _ out_schema: UnsafeMutablePointer<OpaquePointer?>?
) -> toft_status {
    entry { () throws(EngineError) in
        let out = try Argument.out(out_schema, "out_schema")
        let schema = try Schema(classes, count: class_count)
        out.pointee = try HandleTable.shared.make(.schema, SchemaBox(schema), owner: nil)
    }
}

@c @implementation
public func toft_schema_release(_ schema: OpaquePointer?) {
    HandleTable.shared.release(schema, .schema)
}

/// The object behind a `toft_schema *`.
final class SchemaBox: Sendable {
    let schema: Schema

    init(_ schema: Schema) {
        self.schema = schema
    }

    /// The schema of a handle; nil for NULL.
    static func schema(of handle: OpaquePointer?) throws(EngineError) -> Schema? {
        guard let handle else { return nil }
        return unsafeDowncast(
            try HandleTable.shared.lookShared(handle, .schema), to: SchemaBox.self
        ).schema
    }
}

extension Schema {
    /// Classes of C.
    init(_ classes: UnsafePointer<toft_class_schema>?, count: Int) throws(EngineError) {
        self.init()
        for declared in try Argument.structures(classes, count, "classes") {
            self.classes.append(try ClassSchema(declared))
        }
        let problems = self.problems()
        if !problems.isEmpty { throw EngineError(.invalidSchema(problems)) }
    }
}

extension ClassSchema {
    fileprivate init(_ declared: toft_class_schema) throws(EngineError) {
        let embedded = TOFT_CLASS_EMBEDDED.rawValue
        try Argument.flags(declared.flags, known: embedded, "flags")
        try Argument.reserved(declared.reserved, "classes")
        self.init(
            try Argument.text(declared.name, "name"), isEmbedded: declared.flags & embedded != 0)
        for property in try Argument.structures(
            declared.properties, declared.property_count, "properties")
        {
            properties.append(try PropertySchema(property))
            if property.flags & PropertyFlag.unique != 0, let name = properties.last?.name {
                uniques.append([name])
            }
        }
        for unique in try Argument.structures(declared.uniques, declared.unique_count, "uniques") {
            var names: [String] = []
            for name in try Argument.array(
                unique.properties, unique.property_count, "properties")
            {
                names.append(try Argument.text(name, "properties"))
            }
            uniques.append(names)
        }
    }
}

extension PropertySchema {
    fileprivate init(_ declared: toft_property_schema) throws(EngineError) {
        let type = try PropertyType(declared.type)
        let flags = declared.flags
        try Argument.flags(flags, known: PropertyFlag.all, "flags")
        let target = try Argument.text(declared.target_class, "target_class")
        let origin = try Argument.text(declared.target_property, "target_property")
        self.init(
            try Argument.text(declared.name, "name"), type,
            collection: try CollectionKind(flags),
            isOptional: flags & PropertyFlag.nullable != 0,
            isPrimaryKey: flags & PropertyFlag.primaryKey != 0,
            isAutoIncremented: flags & PropertyFlag.autoIncrement != 0,
            isIndexed: flags & PropertyFlag.indexed != 0, deleteRule: try DeleteRule(flags),
            target: target.isEmpty ? nil : target,
            origin: origin.isEmpty ? nil : origin)
        if type == .link, collection == .none || collection == .dictionary { isOptional = true }
    }
}

/// The bits of `toft_property_flags`.
enum PropertyFlag {
    static let nullable = TOFT_PROPERTY_NULLABLE.rawValue
    static let primaryKey = TOFT_PROPERTY_PRIMARY_KEY.rawValue
    static let indexed = TOFT_PROPERTY_INDEXED.rawValue
    static let list = TOFT_PROPERTY_LIST.rawValue
    static let set = TOFT_PROPERTY_SET.rawValue
    static let dictionary = TOFT_PROPERTY_DICTIONARY.rawValue
    static let autoIncrement = TOFT_PROPERTY_AUTO_INCREMENT.rawValue
    static let unique = TOFT_PROPERTY_UNIQUE.rawValue
    static let cascade = TOFT_PROPERTY_CASCADE.rawValue
    static let deny = TOFT_PROPERTY_DENY.rawValue
    static let collections = list | set | dictionary
    static let all =
        nullable | primaryKey | indexed | collections | autoIncrement | unique | cascade | deny

    /// The flags of a property of the file.
    static func flags(of property: PropertyHandle, in owner: ClassHandle) -> UInt32 {
        var flags: UInt32 = 0
        for constraint in owner.uniques
        where constraint.properties.count == 1 && constraint.properties[0].id == property.id {
            flags |= unique
        }
        if property.isOptional { flags |= nullable }
        if property.isPrimaryKey { flags |= primaryKey }
        if property.isIndexed { flags |= indexed }
        if property.isAutoIncremented { flags |= autoIncrement }
        switch property.deleteRule {
        case .nullify: break
        case .cascade: flags |= cascade
        case .deny: flags |= deny
        }
        switch property.collection {
        case .none: break
        case .list: flags |= list
        case .set: flags |= set
        case .dictionary: flags |= dictionary
        }
        return flags
    }
}

extension DeleteRule {
    /// The rule that flags name.
    fileprivate init(_ flags: UInt32) throws(EngineError) {
        switch flags & (PropertyFlag.cascade | PropertyFlag.deny) {
        case 0: self = .nullify
        case PropertyFlag.cascade: self = .cascade
        case PropertyFlag.deny: self = .deny
        default: throw .invalidArgument("A property can have only one delete rule.")
        }
    }
}

extension CollectionKind {
    /// The kind that flags name.
    fileprivate init(_ flags: UInt32) throws(EngineError) {
        switch flags & PropertyFlag.collections {
        case 0: self = .none
        case PropertyFlag.list: self = .list
        case PropertyFlag.set: self = .set
        case PropertyFlag.dictionary: self = .dictionary
        default:
            throw .invalidArgument("A property can be only one of a list, a set and a dictionary.")
        }
    }
}

extension PropertyType {
    fileprivate init(_ type: toft_type) throws(EngineError) {
        switch type {
        case TOFT_TYPE_BOOL: self = .bool
        case TOFT_TYPE_INT: self = .int
        case TOFT_TYPE_FLOAT: self = .float
        case TOFT_TYPE_DOUBLE: self = .double
        case TOFT_TYPE_STRING: self = .string
        case TOFT_TYPE_DATA: self = .data
        case TOFT_TYPE_DATE: self = .date
        case TOFT_TYPE_LINK: self = .link
        case TOFT_TYPE_LINKING_OBJECTS: self = .linkingObjects
        case TOFT_TYPE_OBJECT_ID: self = .objectId
        case TOFT_TYPE_UUID: self = .uuid
        case TOFT_TYPE_DECIMAL: self = .decimal128
        case TOFT_TYPE_MIXED: self = .mixed
        case TOFT_TYPE_NULL, TOFT_TYPE_LIST, TOFT_TYPE_SET, TOFT_TYPE_DICTIONARY:
            throw .invalidArgument("A property can't have the type \(type.rawValue).")
        default: throw type.refusal("type")
        }
    }

    /// The type as C names it.
    var typeInC: toft_type {
        switch self {
        case .bool: TOFT_TYPE_BOOL
        case .int: TOFT_TYPE_INT
        case .float: TOFT_TYPE_FLOAT
        case .double: TOFT_TYPE_DOUBLE
        case .string: TOFT_TYPE_STRING
        case .data: TOFT_TYPE_DATA
        case .date: TOFT_TYPE_DATE
        case .link: TOFT_TYPE_LINK
        case .linkingObjects: TOFT_TYPE_LINKING_OBJECTS
        case .objectId: TOFT_TYPE_OBJECT_ID
        case .uuid: TOFT_TYPE_UUID
        case .decimal128: TOFT_TYPE_DECIMAL
        case .mixed: TOFT_TYPE_MIXED
        }
    }
}
