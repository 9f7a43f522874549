internal import ToftEngine
internal import ToftModel

/// The defaults of new properties for objects that a file has already: the values that a new object
/// would have. An instance is made for each object, so that random defaults differ.
struct DefaultValues: Sendable {
    private let models: [String: [ModelClass]]

    init(_ models: [ModelClass]) {
        self.models = Dictionary(grouping: models, by: \.name)
    }

    /// The handler for the engine.
    var handler: DefaultHandler {
        { className, name, use throws(ModelError) in
            let found = (models[className] ?? []).lazy.compactMap { model in
                model.properties.first { $0.persistedName == name }.map { (model, $0) }
            }.first
            guard let (model, property) = found, property.hasDefault else { return false }
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
        var values: [(property: PropertyID, value: Value)] = []
        var known = given
        for model in models[owner.name] ?? [] {
            var missing: [(id: PropertyID, property: ModelProperty)] = []
            for property in model.properties where property.hasDefault {
                let id = try owner.property(of: property).id
                if known.insert(id).inserted { missing.append((id, property)) }
            }
            guard !missing.isEmpty else { continue }
            let instance = model.type.init()
            values += missing.compactMap { id, property in
                property.storedValue(in: instance).map { (id, $0) }
            }
        }
        return values
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
