internal import ToftQuery

// Queries on a map.
extension Query where T: RealmKeyedCollection {
    /// The map's value under a key; null if it lacks the key.
    public subscript(key: T.Key) -> Query<T.Value> {
        path { $0.appending(key: key._text) }
    }

    /// The keys: a condition on them holds when any satisfies it.
    public var keys: Query<T.Key> { path { $0.appending(.keys) } }

    /// The values: a condition on them holds when any satisfies it.
    public var values: Query<T.Value> { path { $0.appendingValues() } }

    /// Number of entries.
    public var count: Query<Int> { path { $0.appending(.count) } }

    /// Whether a value or object is among the values.
    public func contains(_ value: T.Value) -> Query<Bool> { hasElement(value) }

    /// Whether any of several values or objects is among the values.
    public func containsAny<Values: Sequence>(in values: Values) -> Query<Bool>
    where Values.Element == T.Value {
        isAmong(values.map { $0 as Any })
    }

    private func path<V>(_ append: (QueryPath) -> QueryPath) -> Query<V> {
        guard case .path(let path) = node else { return Query<V>(node) }
        return Query<V>(.path(append(path)))
    }
}

extension Query where T: RealmKeyedCollection {
    /// Whether any value is this one.
    public static func == (left: Query, right: T.Value) -> Query<Bool> {
        left.compared(.equal, to: right)
    }

    /// Whether any value is another one.
    public static func != (left: Query, right: T.Value) -> Query<Bool> {
        left.compared(.notEqual, to: right)
    }
}

extension Query where T: RealmKeyedCollection, T.Value.PersistedType: SortableType {
    /// Whether any value is less.
    public static func < (left: Query, right: T.Value) -> Query<Bool> {
        left.compared(.less, to: right)
    }

    /// Whether any value is less or equal.
    public static func <= (left: Query, right: T.Value) -> Query<Bool> {
        left.compared(.lessOrEqual, to: right)
    }

    /// Whether any value is greater.
    public static func > (left: Query, right: T.Value) -> Query<Bool> {
        left.compared(.greater, to: right)
    }

    /// Whether any value is greater or equal.
    public static func >= (left: Query, right: T.Value) -> Query<Bool> {
        left.compared(.greaterOrEqual, to: right)
    }
}

extension Query where T: RealmKeyedCollection, T.Value.PersistedType: _QueryNumeric {
    /// The least value.
    public var min: Query<T.Value> { aggregate(.minimum) }
    /// The greatest value.
    public var max: Query<T.Value> { aggregate(.maximum) }
    /// The sum of the values.
    public var sum: Query<T.Value> { aggregate(.sum) }
    /// The mean of the values.
    public var avg: Query<T.Value> { aggregate(.average) }

    /// Whether all values lie in a range: of its end too, unless it is one without it.
    public func contains<Bounds: _QueryRange>(_ range: Bounds) -> Query<Bool>
    where Bounds.Bound == T.Value {
        allLie(within: range)
    }
}

extension Query
where
    T: RealmKeyedCollection, T.Value: OptionalProtocol, T.Value.Wrapped: _HasPersistedType,
    T.Value.Wrapped.PersistedType: _QueryNumeric
{
    /// Whether all values lie in a range: of its end too, unless it is one without it.
    public func contains<Bounds: _QueryRange>(_ range: Bounds) -> Query<Bool>
    where Bounds.Bound == T.Value.Wrapped {
        allLie(within: range)
    }
}

extension Query where T: RealmKeyedCollection, T.Value.PersistedType: AddableType {
    /// The mean of the values, to be compared with what the type of these can't hold.
    @_disfavoredOverload
    public var avg: Query<T.Value.PersistedType._Mean?> { aggregate(.average) }
}
