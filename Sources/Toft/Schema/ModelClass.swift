internal import Synchronization
internal import ToftModel

/// A Swift class as a class of the database: determined once for each type, from its fields and one
/// new instance.
final class ModelClass: Sendable {
    let type: ObjectBase.Type
    let name: String
    let isEmbedded: Bool
    /// In the order of declaration, those of base classes first.
    let properties: [ModelProperty]
    let primaryKey: ModelProperty?
    /// Properties with values to forget in a new instance that becomes an accessor, and in one that
    /// an app has filled.
    private let clearedInAccessors: [ModelProperty]
    private let clearedWhenAdded: [ModelProperty]
    /// A new accessor; nil if instances have state besides that of their object.
    private let template: InstanceTemplate?
    /// Whether objects may lead to others.
    let leadsOn: Bool
    /// The reason why no realm can have it; nil if one can.
    let problem: String?
    /// The names of variables that look like stored ones before `@Persisted`; nil without any.
    let unstored: String?
    private let positions: [String: Int]

    private static let dynamicTemplate = InstanceTemplate(DynamicObject(), [])
    private static let known = Mutex<[ObjectIdentifier: ModelClass]>([:])

    /// The class of a type.
    static func of(_ type: ObjectBase.Type) -> ModelClass {
        if let found = known.withLock({ $0[ObjectIdentifier(type)] }) { return found }
        let made = ModelClass(type)
        return known.withLock { known in
            if let found = known[ObjectIdentifier(type)] { return found }
            known[ObjectIdentifier(type)] = made
            return made
        }
    }

    /// The name of a type's class in the database: its own, or the type's; of an embedded class
    /// within another class, as in Realm, both with `_` between them.
    static func name(of type: ObjectBase.Type) -> String {
        if let name = type._realmObjectName() { return name }
        guard type._isEmbedded, let outer = ClassDiscovery.nameOfClass(around: type) else {
            return "\(type)"
        }
        return "\(outer)_\(type)"
    }

    private init(_ type: ObjectBase.Type) {
        self.type = type
        name = Self.name(of: type)
        isEmbedded = type._isEmbedded
        let fields = StoredField.all(of: type)
        let instance = type.init()
        properties = Self.properties(of: instance, fields)
        clearedInAccessors = properties.filter(\.isClearedInAccessors)
        clearedWhenAdded = properties.filter { $0.wrapper.holdsMemory }
        let base = type._isEmbedded ? EmbeddedObject.self : ObjectBase.self
        let isStateless =
            fields.count == properties.count + StoredField.all(of: base).count
            && !properties.contains(where: \.isLegacy)
        clearedInAccessors.forgetValues(of: instance)
        instance._hasCollections = false
        template = isStateless ? InstanceTemplate(instance, properties) : nil
        primaryKey = properties.first(where: \.isPrimaryKey)
        leadsOn = properties.contains(where: \.leadsOn)
        problem =
            StoredField.problem(of: type, name)
            ?? LegacyNames(type).error(name, Set(properties.map(\.name)))
        unstored = StoredField.unstored(of: type)
        positions = Dictionary(
            properties.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// A class that is known by its name only: its objects are `DynamicObject`s, which have no
    /// properties in Swift.
    static func dynamic(_ owner: ClassHandle) -> ModelClass {
        ModelClass(named: owner, properties: [])
    }

    /// The class with its visible properties, not for instances.
    convenience init(named owner: ClassHandle) {
        self.init(named: owner, properties: owner.visibleProperties.map { ModelProperty($0) })
    }

    private init(named owner: ClassHandle, properties: [ModelProperty]) {
        type = DynamicObject.self
        name = owner.name
        isEmbedded = owner.isEmbedded
        self.properties = properties
        clearedInAccessors = []
        clearedWhenAdded = []
        template = Self.dynamicTemplate
        leadsOn = false
        problem = nil
        unstored = nil
        primaryKey = properties.first(where: \.isPrimaryKey)
        positions = Dictionary(
            properties.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The property with this name.
    func property(named name: String) -> ModelProperty? {
        positions[name].map { properties[$0] }
    }

    /// The class's schema for the engine.
    var schema: ClassSchema {
        ClassSchema(
            name, isEmbedded: type._isEmbedded, properties.map(\.schema),
            uniques: type.uniqueProperties())
    }

    // MARK: Instances

    /// Whether instances have no state but that of their object.
    var isStateless: Bool { template != nil }

    /// An instance to become the accessor of an object.
    func makeAccessor() -> ObjectBase {
        if let template { return template.makeInstance() }
        let object = type.init()
        clearedInAccessors.forgetValues(of: object)
        return object
    }

    /// Forgets the values that an instance was filled with.
    func forgetValues(of object: ObjectBase) {
        clearedWhenAdded.forgetValues(of: object)
    }

    // MARK: Reflection

    private static func properties(
        of instance: ObjectBase, _ fields: [StoredField]
    ) -> [ModelProperty] {
        let names = LegacyNames(Swift.type(of: instance))
        return withExtendedLifetime(instance) {
            fields.compactMap { field in
                guard field.isPersisted, let wrapper = field.type as? any AnyPersisted.Type
                else { return nil }
                return ModelProperty(
                    field.name, wrapper: wrapper, offset: field.offset, of: instance, names: names)
            }
        }
    }
}

extension [ModelProperty] {
    /// Releases the values in an instance.
    fileprivate func forgetValues(of object: ObjectBase) {
        for property in self { property.withAddress(in: object) { property.wrapper.clear(at: $0) } }
    }
}

/// A class's declarations in class functions, the older way.
private struct LegacyNames {
    let primaryKey: String?
    let indexed: [String]
    let mapping: [String: String]

    init(_ type: ObjectBase.Type) {
        primaryKey = (type as? Object.Type)?.primaryKey()
        indexed = type.indexedProperties()
        mapping = type.propertiesMapping()
    }

    /// The first name that is not one of the class's properties, for a message.
    func error(_ className: String, _ properties: Set<String>) -> String? {
        if let primaryKey, !properties.contains(primaryKey) {
            return "primaryKey() of '\(className)' gives '\(primaryKey)', which is not the name of "
                + "a persisted property."
        }
        return indexed.first { !properties.contains($0) }.map {
            "indexedProperties() of '\(className)' gives '\($0)', which is not the name of a "
                + "persisted property."
        }
    }
}

/// One property of a class that the database keeps.
struct ModelProperty: Sendable {
    let name: String
    let persistedName: String
    let shape: _PropertyShape
    /// The class that is linked to, if only its name is known.
    let targetName: String?
    let isPrimaryKey: Bool
    let isAutoIncremented: Bool
    let isIndexed: Bool
    let deleteRule: DeleteRule
    /// For linking objects, the property that links here.
    let origin: String?
    let wrapper: any AnyPersisted.Type
    /// True if a new instance has a value of it that has to be released when the instance becomes
    /// an accessor: a collection, or a default that owns memory.
    let isClearedInAccessors: Bool
    /// Whether a new instance may have another value of it than the database gives by itself.
    let hasDefault: Bool
    /// The wrapper's offset in an instance.
    let offset: Int
    /// The offset of its column's number; nil for a legacy property.
    var columnOffset: Int? { wrapper.columnOffset.map { offset + $0 } }
    /// Whether it is kept without `@Persisted`.
    var isLegacy: Bool { wrapper.columnOffset == nil }
}

extension ModelProperty {
    fileprivate init(
        _ field: String, wrapper: any AnyPersisted.Type, offset: Int, of instance: ObjectBase,
        names: LegacyNames
    ) {
        // The storage of a wrapped property `name` is a field `_name`.
        let name =
            wrapper.columnOffset != nil && field.unicodeScalars.first == "_"
            ? String(field.unicodeScalars.dropFirst()) : field
        let address = Unmanaged.passUnretained(instance).toOpaque() + offset
        let traits = wrapper.traits(at: address)
        self.name = name
        persistedName = names.mapping[name] ?? name
        shape = wrapper.shape
        targetName = nil
        isPrimaryKey = traits.contains(.primaryKey) || names.primaryKey == name
        isAutoIncremented = traits.contains(.autoIncrement)
        deleteRule =
            traits.contains(.cascade) ? .cascade : traits.contains(.deny) ? .deny : .nullify
        isIndexed = traits.contains(.indexed) || names.indexed.contains(name)
        origin = wrapper.originProperty(at: address)
        self.wrapper = wrapper
        isClearedInAccessors =
            wrapper.columnOffset != nil && wrapper.holdsMemory && wrapper.hasValue(at: address)
        hasDefault = wrapper.hasValue(at: address) || wrapper.isNeverZero
        self.offset = offset
    }

    /// A property of a class that is known by its name only, as it is shown.
    init(_ stored: PropertyHandle) {
        let target = stored.targetClassID == nil ? nil : DynamicObject.self
        var shape = _PropertyShape(stored.type, target: target).collection(stored.collection)
        shape.isOptional = stored.isOptional
        self.shape = shape
        (name, persistedName, targetName) = (stored.name, stored.persistedName, stored.targetName)
        isPrimaryKey = stored.isPrimaryKey
        isAutoIncremented = stored.isAutoIncremented
        isIndexed = stored.isIndexed
        deleteRule = .nullify
        origin = nil
        wrapper = Persisted<Int>.self
        isClearedInAccessors = false
        hasDefault = false
        offset = 0
    }

    /// The property's schema for the engine.
    var schema: PropertySchema {
        PropertySchema(
            name, shape.type, collection: shape.collection, isOptional: shape.isOptional,
            isPrimaryKey: isPrimaryKey, isAutoIncremented: isAutoIncremented, isIndexed: isIndexed,
            deleteRule: deleteRule.stored,
            target: shape.target.map { ModelClass.name(of: $0) }, origin: origin,
            persistedName: persistedName)
    }

    /// Whether there may be objects in it.
    var leadsOn: Bool { shape.type == .link || shape.type == .mixed }

    /// The value that an object's property has, managed or not.
    func value(in object: ObjectBase) -> Any {
        withAddress(in: object) { wrapper.any(at: $0, of: object) }
    }

    /// Runs `body` on the wrapper's address in an object.
    func withAddress<Result>(
        in object: ObjectBase, _ body: (UnsafeMutableRawPointer) throws -> Result
    ) rethrows -> Result {
        try withExtendedLifetime(object) {
            try body(Unmanaged.passUnretained(object).toOpaque() + offset)
        }
    }
}

extension DeleteRule {
    fileprivate var stored: ToftModel.DeleteRule {
        switch self {
        case .nullify: .nullify
        case .cascade: .cascade
        case .deny: .deny
        }
    }
}
