internal import ToftModel
internal import ToftQuery

// Queries on a custom type: on its stored form.
extension Query where T: _CustomPersistable {
    /// The stored value, for queries that the app's type does not support:
    /// `$0.home.persistableValue.latitude > 50`.
    public var persistableValue: Query<T.PersistedType> { Query<T.PersistedType>(node) }
}

extension Query where T: _OptionalProtocol, T.Wrapped: _CustomPersistable {
    /// The stored value, for queries that the app's type does not support.
    public var persistableValue: Query<T.Wrapped.PersistedType?> {
        Query<T.Wrapped.PersistedType?>(node)
    }
}

extension Query where T: _CustomPersistable, T.PersistedType: _HasPersistedOrder {
    public static func < (left: Query, right: T) -> Query<Bool> { left.compared(.less, to: right) }
    public static func <= (left: Query, right: T) -> Query<Bool> {
        left.compared(.lessOrEqual, to: right)
    }
    public static func > (left: Query, right: T) -> Query<Bool> {
        left.compared(.greater, to: right)
    }
    public static func >= (left: Query, right: T) -> Query<Bool> {
        left.compared(.greaterOrEqual, to: right)
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
