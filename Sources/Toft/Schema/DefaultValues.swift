internal import ToftEngine
internal import ToftModel

/// The defaults of new properties for objects that a file has already: the values that a new object
/// would have. An instance is made for each object, so that random defaults differ.
struct DefaultValues: Sendable {
    private let models: [String: ModelClass]

    init(_ models: [ModelClass]) {
        self.models = Dictionary(models.map { ($0.name, $0) }, uniquingKeysWith: { $1 })
    }

    /// The handler for the engine.
    var handler: DefaultHandler {
        { className, name, use throws(ModelError) in
            guard let model = models[className],
                let property = model.properties.first(where: { $0.persistedName == name }),
                property.hasDefault
            else { return false }
            // A default that is computed may be nil for one object and not for the next.
            let value = property.storedValue(in: model.type.init()) ?? .null
            try value.withBorrowed(use)
            return true
        }
    }

    /// The defaults of a class, except of links and collections, for an object with some given
    /// properties.
    func values(of owner: ClassHandle, besides given: Set<PropertyID>) throws(ModelError)
        -> [(property: PropertyID, value: Value)]
    {
        var missing: [(id: PropertyID, property: ModelProperty)] = []
        for property in models[owner.name]?.properties ?? [] where property.hasDefault {
            let id = try owner.property(named: property.name).id
            if !given.contains(id) { missing.append((id, property)) }
        }
        guard !missing.isEmpty, let instance = models[owner.name]?.type.init() else { return [] }
        return missing.compactMap { id, property in
            property.storedValue(in: instance).map { (id, $0) }
        }
    }
}

extension ModelProperty {
    /// The value of an unmanaged object's property as the database keeps it; nil for nil, links and
    /// collections.
    func storedValue(in object: ObjectBase) -> Value? { Self.stored(value(in: object)) }

    private static func stored(_ any: Any) -> Value? {
        switch any {
        case let value as AnyRealmValue: value.scalar
        case let value as any _Scalar: value._engineValue.value
        case let value as any _CustomPersistable: stored(value.persistableValue)
        default: nil
        }
    }
}

extension AnyPersisted {
    /// Whether a declaration without a value means another one than 0, "" or null: the present
    /// time, a random one, or a custom type's own.
    static var isNeverZero: Bool {
        switch shape.type {
        case .date, .uuid, .objectId: !shape.isOptional && shape.collection == .none
        default:
            element is any PersistableEnum.Type || element is any _CustomPersistable.Type
        }
    }
}
