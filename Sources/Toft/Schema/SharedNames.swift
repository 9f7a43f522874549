internal import ToftModel

/// Swift classes that have one name in the database, `_realmObjectName()`: one class of it, with
/// the properties of all, each once for its stored name.
struct SharedNames {
    private(set) var schema: [ClassSchema] = []
    /// Those that fit together.
    private(set) var models: [ModelClass] = []
    private var places: [String: Int] = [:]

    /// - Parameter models: those whose Swift name is the stored one come before the others of that,
    ///   and these in the order of their Swift names.
    init(_ models: [ModelClass]) {
        let order = models.map { model in
            let isNamed = String(describing: model.type) == model.name
            return (model: model, key: (model.name, isNamed ? "" : String(reflecting: model.type)))
        }
        for (model, _) in order.sorted(by: { $0.key < $1.key }) { add(model) }
    }

    private mutating func add(_ model: ModelClass) {
        guard let place = places[model.name] else {
            places[model.name] = schema.count
            schema.append(model.schema)
            models.append(model)
            return
        }
        guard let joined = schema[place].joined(with: model.schema) else { return }
        schema[place] = joined
        models.append(model)
    }
}

extension ClassSchema {
    /// The class with what another one of its name has besides; nil where both can't be one, as a
    /// property differs in more than its name in Swift and its index.
    fileprivate func joined(with other: ClassSchema) -> ClassSchema? {
        guard isEmbedded == other.isEmbedded else { return nil }
        var joined = self
        for var property in other.properties {
            let named = joined.property(named: property.name)
            let stored = joined.properties.firstIndex {
                $0.persistedName.isSameName(as: property.persistedName)
            }
            guard let stored else {
                guard named == nil else { return nil }
                joined.properties.append(property)
                continue
            }
            guard named?.persistedName.isSameName(as: property.persistedName) ?? true else {
                return nil
            }
            property.name = joined.properties[stored].name
            property.isIndexed = property.isIndexed || joined.properties[stored].isIndexed
            joined.properties[stored].isIndexed = property.isIndexed
            guard joined.properties[stored] == property else { return nil }
        }
        joined.uniques += other.uniques.filter { !joined.uniques.contains($0) }
        return joined
    }
}

extension ClassHandle {
    /// The property that a Swift class declares: another class of the same name may call it
    /// otherwise.
    func property(of declared: ModelProperty) throws(ModelError) -> PropertyHandle {
        let stored = visibleProperties.first {
            $0.persistedName.isSameName(as: declared.persistedName)
        }
        if let stored { return stored }
        return try property(named: declared.name)
    }
}
