internal import ToftModel
internal import ToftQuery

// Questions about the kept form of a type of an app's own.
extension Query where T: _PersistableInsideOptional {
    /// The value as it is kept, for what the app's type can't be asked:
    /// `$0.home.persistableValue.latitude > 50`.
    public var persistableValue: Query<T.PersistedType> { Query<T.PersistedType>(node) }
}

extension Query where T: OptionalProtocol, T.Wrapped: _PersistableInsideOptional {
    /// The value as it is kept, for what the app's type can't be asked.
    public var persistableValue: Query<T.Wrapped.PersistedType?> {
        Query<T.Wrapped.PersistedType?>(node)
    }
}

extension Query where T: RealmCollection, T.Element.PersistedType: RealmCollectionValue {
    /// The elements as they are kept, for what the app's type can't be asked.
    public var persistableValue: Query<AnyRealmCollection<T.Element.PersistedType>> {
        Query<AnyRealmCollection<T.Element.PersistedType>>(node)
    }
}

extension Query where T: RealmKeyedCollection, T.Value.PersistedType: RealmCollectionValue {
    /// The values as they are kept, for what the app's type can't be asked.
    public var persistableValue: Query<Map<T.Key, T.Value.PersistedType>> {
        Query<Map<T.Key, T.Value.PersistedType>>(node)
    }
}

extension Query {
    /// A condition on an object; on those of a collection, that one of them satisfies all of it.
    static func holds(of node: QueryNode, _ condition: (QueryNode) -> QueryNode) -> QueryNode {
        guard case .path(var path) = node, let collection = path.lastCollection else {
            return condition(node)
        }
        path.collectionDepths = collection.collectionDepths
        return .comparison(
            .matchCount(collection, condition(.path(path))), .greater, [], .value(.value(.int(0))))
    }

    /// Equality with an unmanaged object, the stored form of a custom type's value: that of every
    /// property.
    static func equality(_ node: QueryNode, to object: ObjectBase) -> QueryNode {
        guard case .path(let path) = node else { return node }
        var all: QueryNode?
        for property in ModelClass.of(type(of: object)).properties
        where property.shape.type != .linkingObjects {
            guard property.shape.collection == .none else {
                return .mistake(
                    Realm.Error(
                        .invalidQuery,
                        "A value kept with collections can't be compared as a whole: compare its "
                            + "properties, with persistableValue."))
            }
            let next = QueryNode.path(path.appending(property.name, isCollection: false))
            let value = (property.value(in: object) as Any?).flattened
            let condition: QueryNode =
                if let inner = embedded(value) {
                    equality(next, to: inner)
                } else {
                    .comparison(next, .equal, [], Self.value(value))
                }
            all = all.map { .and($0, condition) } ?? condition
        }
        return all ?? .value(.value(.bool(true)))
    }

    /// The embedded object of a custom type's value; nil for any other.
    static func embedded(custom value: Any?) -> ObjectBase? {
        value.flattened is any _CustomPersistable ? embedded(value.flattened) : nil
    }

    /// The embedded object of a value, if it is unmanaged.
    static func embedded(_ value: Any?) -> ObjectBase? {
        let object = (value as? any RealmCollectionValue)?._embedded
        return object?.row == nil ? object : nil
    }
}
