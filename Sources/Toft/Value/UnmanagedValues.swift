internal import ToftEngine
internal import ToftModel

/// The values of one property of elements in memory, or the elements themselves, for aggregates of
/// an unmanaged collection.
struct UnmanagedValues {
    private let values: [Value]
    private let type: ToftModel.PropertyType

    /// - Parameter path: a property's name, a path over to-one links ("owner.age"), or "self" for
    ///   elements that are not objects.
    init<Elements: Sequence>(_ elements: Elements, _ path: String) throws
    where Elements.Element: RealmCollectionValue {
        let shape = Elements.Element._shape
        guard Elements.Element._isObject, let target = shape.target else {
            guard path == "self" else {
                throw Realm.Error(
                    .noSuchProperty, "Values have no property '\(path)': only 'self'.")
            }
            type = shape.type
            values = try elements.map { try QueryValue.value(of: $0, for: "An element") }
            return
        }
        type = try Self.property(at: path, of: target).shape.type
        values = try elements.map { element in
            let object = (element as Any?).flattened as? ObjectBase
            return try QueryValue.value(of: object?.value(forKeyPath: path), for: path)
        }
    }

    /// The property at the end of a path over to-one links.
    private static func property(at path: String, of type: ObjectBase.Type) throws -> ModelProperty
    {
        var names = path.pathNames[...]
        var model = ModelClass.of(type)
        while let name = names.popFirst() {
            guard let property = model.property(named: name) else {
                throw Realm.Error(.noSuchProperty, "'\(model.name)' has no property '\(name)'.")
            }
            let isSingle = property.shape.collection == .none
            if names.isEmpty, isSingle { return property }
            guard isSingle, property.shape.type == .link, let target = property.shape.target else {
                throw Realm.Error(
                    .unsupportedAggregate,
                    "'\(model.name).\(name)' is neither a value nor a link to one object.")
            }
            model = ModelClass.of(target)
        }
        throw Realm.Error(.noSuchProperty, "The name of a property is missing.")
    }

    /// One value of all. Null and NaN do not count.
    func aggregate(_ kind: Aggregate) throws -> Value { try kind.value(of: values, type: type) }
}
