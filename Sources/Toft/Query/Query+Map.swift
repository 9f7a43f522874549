internal import ToftQuery

// Queries on a map.
extension Query where T: RealmKeyedCollection {
    /// The map's value under a key; null if it lacks the key.
    public subscript(key: T.Key) -> Query<T.Value> {
        path { $0.appending(key: key._text) }
    }

    /// The keys: a condition on them holds when any satisfies it.
    public var keys: Query<String> { path { $0.appending(.keys) } }

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

extension Query where T: RealmKeyedCollection, T.Value: _HasMinMax {
    /// The least value.
    public var min: Query<T.Value> { aggregate(.minimum) }
    /// The greatest value.
    public var max: Query<T.Value> { aggregate(.maximum) }

    /// Matches if all values are in a range.
    public func contains(_ range: Range<T.Value>) -> Query<Bool> where T.Value: Comparable {
        min.compared(.greaterOrEqual, to: range.lowerBound)
            && max.compared(.less, to: range.upperBound)
    }

    /// Matches if all values are in a range.
    public func contains(_ range: ClosedRange<T.Value>) -> Query<Bool>
    where T.Value: Comparable {
        min.compared(.greaterOrEqual, to: range.lowerBound)
            && max.compared(.lessOrEqual, to: range.upperBound)
    }
}

extension Query where T: RealmKeyedCollection, T.Value: _HasSum {
    /// The sum of the values.
    public var sum: Query<T.Value> { aggregate(.sum) }
    /// The mean of the values.
    public var avg: Query<T.Value.Sum._Mean?> { aggregate(.average) }
}
