internal import ToftEngine

// The operations of `Results` on a map's values. A map of objects gives the objects alone, without
// the keys whose object was deleted.
extension Map {
    /// The values as live results; empty, and misuse, for an unmanaged map.
    private func results(_ name: String) -> Results<Value> {
        Misuse.reporting { () -> Results<Value> in
            guard let core = try _core() else {
                throw CollectionBacking.unmanaged(name, "maps")
            }
            return Results(core)
        } ?? Results(nil)
    }

    private func aggregate(_ kind: Aggregate, of property: String) -> _EngineValue? {
        Misuse.reporting { () -> _EngineValue? in
            guard try _core() != nil else {
                let values = try UnmanagedValues(map(\.value), property)
                return _EngineValue(try values.aggregate(kind))
            }
            return results("\(kind)").aggregate(kind, of: property)
        } ?? nil
    }

    /// The values that match a query in text, in a map of objects.
    public func filter(_ predicateFormat: String, _ arguments: Any...) -> Results<Value> {
        results("filter").filter(predicateFormat, all: arguments)
    }

    /// The values that match a query in Swift, in a map of objects.
    public func `where`(_ isIncluded: (Query<Value>) -> Query<Bool>) -> Results<Value> {
        results("where").where(isIncluded)
    }

    /// The values sorted by a property, or by "self".
    public func sorted(byKeyPath keyPath: String, ascending: Bool = true) -> Results<Value> {
        results("sorted").sorted(byKeyPath: keyPath, ascending: ascending)
    }

    /// The values sorted by several properties, the first being the most significant.
    public func sorted<Descriptors: Sequence>(by sortDescriptors: Descriptors) -> Results<Value>
    where Descriptors.Element == SortDescriptor {
        results("sorted").sorted(by: sortDescriptors)
    }

    /// The first value for each combination of values at key paths.
    public func distinct<KeyPaths: Sequence>(by keyPaths: KeyPaths) -> Results<Value>
    where KeyPaths.Element == String {
        results("distinct").distinct(by: keyPaths)
    }

    /// The first `count` values, in the order of their keys.
    public func limited(to count: Int) -> Results<Value> {
        results("limited").limited(to: count)
    }

    /// All values but the first `count`, in the order of their keys.
    public func offset(by count: Int) -> Results<Value> {
        results("offset").offset(by: count)
    }

    /// The least value of a property; nil without a value.
    public func min<Extreme: MinMaxType>(ofProperty property: String) -> Extreme? {
        aggregate(.minimum, of: property).flatMap { Extreme._scalar(from: $0) }
    }

    /// The greatest value of a property; nil without a value.
    public func max<Extreme: MinMaxType>(ofProperty property: String) -> Extreme? {
        aggregate(.maximum, of: property).flatMap { Extreme._scalar(from: $0) }
    }

    /// The sum of a property; 0 when there is no value.
    public func sum<Sum: AddableType>(ofProperty property: String) -> Sum {
        aggregate(.sum, of: property).flatMap { Sum._scalar(from: $0) } ?? Sum()
    }

    /// The mean of a property; nil when there is no value.
    public func average<Mean: AddableType>(ofProperty property: String) -> Mean? {
        aggregate(.average, of: property).flatMap { Mean._scalar(from: $0) }
    }
}

extension Map where Value: _OptionalProtocol, Value.Wrapped: ObjectBase {
    /// The objects sorted by a property: `sorted(by: \.age)`.
    public func sorted<Property: _HasPersistedOrder>(
        by keyPath: KeyPath<Value.Wrapped, Property>, ascending: Bool = true
    ) -> Results<Value> {
        sorted(byKeyPath: KeyPathNames.name(of: keyPath), ascending: ascending)
    }

    /// The least value of a property: `min(of: \.age)`.
    public func min<Property: _HasMinMax>(of keyPath: KeyPath<Value.Wrapped, Property>)
        -> Property.Extreme?
    {
        min(ofProperty: KeyPathNames.name(of: keyPath))
    }

    /// The greatest value of a property: `max(of: \.age)`.
    public func max<Property: _HasMinMax>(of keyPath: KeyPath<Value.Wrapped, Property>)
        -> Property.Extreme?
    {
        max(ofProperty: KeyPathNames.name(of: keyPath))
    }

    /// The sum of a property: `sum(of: \.age)`.
    public func sum<Property: _HasSum>(of keyPath: KeyPath<Value.Wrapped, Property>)
        -> Property.Sum
    {
        sum(ofProperty: KeyPathNames.name(of: keyPath))
    }

    /// The mean of a property: `average(of: \.age)`. A double; of decimals a decimal.
    public func average<Property: _HasSum>(of keyPath: KeyPath<Value.Wrapped, Property>)
        -> Property.Sum._Mean?
    {
        average(ofProperty: KeyPathNames.name(of: keyPath))
    }
}

extension Map where Value: _HasMinMax {
    /// The least value; nil without a value.
    public func min() -> Value.Extreme? { min(ofProperty: "self") }
    /// The greatest value; nil without a value.
    public func max() -> Value.Extreme? { max(ofProperty: "self") }
}

extension Map where Value: _HasSum {
    /// The sum; 0 when there is no value.
    public func sum() -> Value.Sum { sum(ofProperty: "self") }
    /// The mean; nil when there is no value. A double; of decimals a decimal.
    public func average() -> Value.Sum._Mean? { average(ofProperty: "self") }
}

extension Map where Value: _HasPersistedOrder {
    /// The values in their order.
    public func sorted(ascending: Bool = true) -> Results<Value> {
        sorted(byKeyPath: "self", ascending: ascending)
    }
    /// Each value once.
    public func distinct() -> Results<Value> { distinct(by: ["self"]) }
}
