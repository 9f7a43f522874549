internal import ToftEngine
internal import ToftModel

/// What objects that a file has already get in properties that are new to it: what a new object
/// would have. An instance is made for each object, so that random defaults differ.
struct DefaultValues: Sendable {
    private let models: [String: ModelClass]

    init(_ models: [ModelClass]) {
        self.models = Dictionary(models.map { ($0.name, $0) }, uniquingKeysWith: { $1 })
    }

    /// What the engine asks.
    var handler: DefaultHandler {
        { className, name, use throws(ModelError) in
            guard let model = models[className],
                let property = model.properties.first(where: { $0.persistedName == name }),
                property.hasDefault
            else { return false }
            // A default that is computed may be nil for one object and not for the next.
            let value = Self.value(of: property.value(in: model.type.init())) ?? .null
            try value.withBorrowed(use)
            return true
        }
    }

    /// Nil for nil, links and collections.
    private static func value(of any: Any) -> Value? {
        switch any {
        case let value as AnyRealmValue: value.scalar
        case let value as any _Scalar: value._engineValue.value
        case let value as any _CustomPersistable: Self.value(of: value.persistableValue)
        default: nil
        }
    }
}

extension AnyPersisted {
    /// Whether a declaration without a value means another one than 0, "" or null: now, a random
    /// one, or what a type of an app's own says.
    static var isNeverZero: Bool {
        switch shape.type {
        case .date, .uuid, .objectId: !shape.isOptional && shape.collection == .none
        default:
            element is any PersistableEnum.Type || element is any _CustomPersistable.Type
        }
    }
}
