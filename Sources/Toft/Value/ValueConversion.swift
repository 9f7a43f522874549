internal import ToftModel

/// The conversion of a value of type `Any` to that of a property. Not for apps.
public struct _ValueConversion {
    let builder: any ObjectBuilder
    /// "Dog.name", for messages.
    let path: String
    /// Whether the value is for a managed object, which copies a collection; an unmanaged one keeps
    /// it.
    let isLive: Bool

    var nullNotAllowed: Realm.Error {
        Realm.Error(.nullNotAllowed, "'\(path)' is not optional and can't be nil.")
    }

    func mismatch(_ any: Any) -> Realm.Error {
        Realm.Error(
            .typeMismatch, "'\(path)' can't take '\(shown(any))', which is \(Swift.type(of: any)).")
    }

    /// The elements for a list or a set. A dictionary or a text is a sequence, too, but not a list.
    func elements(_ any: Any, of kind: CollectionKind) throws -> any Sequence {
        guard let sequence = any as? any Sequence, !(any is any AnyDictionary), !(any is String)
        else {
            throw Realm.Error(
                .typeMismatch,
                "'\(path)' is a \(kind.name) and takes an array, not '\(shown(any))', which is "
                    + "\(Swift.type(of: any)).")
        }
        return sequence
    }
}

/// Any dictionary.
protocol AnyDictionary {}

extension Dictionary: AnyDictionary {}

/// Most levels of objects that may be given as nested dictionaries and arrays: each takes stack.
enum NestedValues {
    static let limit = 500

    /// - Parameter depth: the number of objects around one that is to be made.
    static func check(_ depth: Int) throws {
        guard depth < limit else {
            throw Realm.Error(
                .invalidArgument,
                "Objects are given as dictionaries or arrays more than \(limit) deep within one "
                    + "another. Create the inner ones first, and give these.")
        }
    }
}

extension ObjectBase {
    /// The object in a value of type `Any`; nil for anything else. To cast a dictionary or an array
    /// to a class, Foundation would first convert its contents into objects of its own.
    static func found(in any: Any) -> Self? {
        Swift.type(of: any) is AnyClass ? any as? Self : nil
    }
}

/// Makes objects of the values that an app gives in place of them: a dictionary, an array, another
/// object.
protocol ObjectBuilder {
    /// The number of objects around the one that is made.
    var depth: Int { get set }

    func object<Model: ObjectBase>(_ type: Model.Type, from any: Any, at path: String) throws
        -> Model
}

/// Makes unmanaged objects.
struct UnmanagedBuilder: ObjectBuilder {
    var depth = 0

    func object<Model: ObjectBase>(_ type: Model.Type, from any: Any, at path: String) throws
        -> Model
    {
        if let object = Model.found(in: any), !Model._isEmbedded || object.row == nil {
            return object
        }
        let object = type.init()
        try within().assign(any, to: object)
        return object
    }
}

extension ObjectBuilder {
    /// The builder for objects within the one being made.
    func within() throws -> Self {
        try NestedValues.check(depth)
        var builder = self
        builder.depth += 1
        return builder
    }

    /// Sets an unmanaged object's properties: those that a dictionary names, all in the order of
    /// declaration of an array, or those that another object has too. Gives back which ones.
    @discardableResult
    func assign(_ any: Any, to object: ObjectBase) throws -> Set<String> {
        let model = ModelClass.of(Swift.type(of: object))
        let given = try GivenValues(any, for: model)
        var names: Set<String> = []
        for property in model.properties where property.shape.type != .linkingObjects {
            guard let value = given.value(of: property) else { continue }
            names.insert(property.name)
            let conversion = _ValueConversion(
                builder: self, path: "\(model.name).\(property.name)", isLive: false)
            try property.withAddress(in: object) {
                try property.wrapper.set(value, at: $0, of: object, conversion)
            }
        }
        return names
    }
}

/// An app's values for an object.
private enum GivenValues {
    case dictionary([String: Any])
    case array([String: Any])
    case object(ObjectBase, ModelClass)

    init(_ any: Any, for model: ModelClass) throws {
        if let object = ObjectBase.found(in: any) {
            try object.row?.requireValid()
            self = .object(object, ModelClass.of(Swift.type(of: object)))
            return
        }
        switch any {
        case let dictionary as [String: Any]:
            self = .dictionary(dictionary)
        case let dictionary as [String: Any?]:
            self = .dictionary(dictionary.mapValues { $0 as Any })
        case let array as [Any]:
            let stored = model.properties.filter { $0.shape.type != .linkingObjects }
            guard array.count <= stored.count else {
                throw Realm.Error(
                    .invalidArgument,
                    "An array for '\(model.name)' has at most \(stored.count) values, one for each "
                        + "property; \(array.count) were given."
                )
            }
            self = .array(Dictionary(uniqueKeysWithValues: zip(stored.map(\.name), array)))
        default:
            throw Realm.Error(
                .typeMismatch,
                "'\(model.name)' can be made of a dictionary, an array or an object, not of "
                    + "\(Swift.type(of: any))."
            )
        }
    }

    /// The value for a property; nil if there is none (an explicit nil is a value).
    func value(of property: ModelProperty) -> Any?? {
        switch self {
        case .dictionary(let values), .array(let values):
            return values[property.name].map { Optional($0) }
        case .object(let object, let model):
            guard let source = model.property(named: property.name),
                source.shape.type != .linkingObjects
            else { return nil }
            return .some(source.value(in: object))
        }
    }
}
