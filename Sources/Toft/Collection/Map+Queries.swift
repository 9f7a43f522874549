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

    /// The least value of a property; nil if empty.
    public func min<Extreme: _HasPersistedType>(ofProperty property: String) -> Extreme?
    where Extreme.PersistedType: MinMaxType {
        aggregate(.minimum, of: property)?.made(Extreme.self)
    }

    /// The greatest value of a property; nil if empty.
    public func max<Extreme: _HasPersistedType>(ofProperty property: String) -> Extreme?
    where Extreme.PersistedType: MinMaxType {
        aggregate(.maximum, of: property)?.made(Extreme.self)
    }

    /// The sum of a property; 0 when there is no value.
    public func sum<Sum: _Persistable>(ofProperty property: String) -> Sum
    where Sum.PersistedType: AddableType {
        aggregate(.sum, of: property)?.total(Sum.self) ?? Sum._initial()
    }

    /// The mean of a property; nil when there is no value.
    public func average<Mean: _HasPersistedType>(ofProperty property: String) -> Mean?
    where Mean.PersistedType: AddableType {
        mean(property)
    }

    private func mean<Mean>(_ property: String) -> Mean? {
        aggregate(.average, of: property)?.made(Mean.self)
    }
}

extension Map where Value: OptionalProtocol, Value.Wrapped: ObjectBase {
    /// The objects sorted by a property: `sorted(by: \.age)`.
    public func sorted<Property: _HasPersistedType>(
        by keyPath: KeyPath<Value.Wrapped, Property>, ascending: Bool = true
    ) -> Results<Value> where Property.PersistedType: SortableType {
        sorted(byKeyPath: KeyPathNames.name(of: keyPath), ascending: ascending)
    }

    /// The least value of a property: `min(of: \.age)`.
    public func min<Property: _HasPersistedType>(of keyPath: KeyPath<Value.Wrapped, Property>)
        -> Property? where Property.PersistedType: MinMaxType
    {
        min(ofProperty: KeyPathNames.name(of: keyPath))
    }

    /// The least value of a property that may be nil.
    public func min<Property: _HasPersistedType>(of keyPath: KeyPath<Value.Wrapped, Property?>)
        -> Property? where Property.PersistedType: MinMaxType
    {
        min(ofProperty: KeyPathNames.name(of: keyPath))
    }

    /// The greatest value of a property: `max(of: \.age)`.
    public func max<Property: _HasPersistedType>(of keyPath: KeyPath<Value.Wrapped, Property>)
        -> Property? where Property.PersistedType: MinMaxType
    {
        max(ofProperty: KeyPathNames.name(of: keyPath))
    }

    /// The greatest value of a property that may be nil.
    public func max<Property: _HasPersistedType>(of keyPath: KeyPath<Value.Wrapped, Property?>)
        -> Property? where Property.PersistedType: MinMaxType
    {
        max(ofProperty: KeyPathNames.name(of: keyPath))
    }

    /// The sum of a property: `sum(of: \.age)`.
    public func sum<Property: _Persistable>(of keyPath: KeyPath<Value.Wrapped, Property>)
        -> Property where Property.PersistedType: AddableType
    {
        sum(ofProperty: KeyPathNames.name(of: keyPath))
    }

    /// The sum of a property that may be nil.
    public func sum<Property: _Persistable>(of keyPath: KeyPath<Value.Wrapped, Property?>)
        -> Property where Property.PersistedType: AddableType
    {
        sum(ofProperty: KeyPathNames.name(of: keyPath))
    }

    /// The mean of a property: `average(of: \.age)`. A double; of decimals a decimal.
    public func average<Property: _HasPersistedType>(of keyPath: KeyPath<Value.Wrapped, Property>)
        -> Property.PersistedType._Mean? where Property.PersistedType: AddableType
    {
        mean(KeyPathNames.name(of: keyPath))
    }

    /// The mean of a property that may be nil.
    public func average<Property: _HasPersistedType>(of keyPath: KeyPath<Value.Wrapped, Property?>)
        -> Property.PersistedType._Mean? where Property.PersistedType: AddableType
    {
        mean(KeyPathNames.name(of: keyPath))
    }

    /// The mean as a value of the property's own type, as Realm has it.
    @_disfavoredOverload
    public func average<Property: _HasPersistedType>(of keyPath: KeyPath<Value.Wrapped, Property>)
        -> Property? where Property.PersistedType: AddableType
    {
        mean(KeyPathNames.name(of: keyPath))
    }
}

extension Map where Value.PersistedType: MinMaxType {
    /// The least value; nil if empty.
    public func min() -> Value? { min(ofProperty: "self") }
    /// The greatest value; nil if empty.
    public func max() -> Value? { max(ofProperty: "self") }
}

extension Map
where
    Value: OptionalProtocol, Value.Wrapped: _HasPersistedType,
    Value.Wrapped.PersistedType: MinMaxType
{
    /// The least value; nil if empty.
    public func min() -> Value.Wrapped? { min(ofProperty: "self") }
    /// The greatest value; nil if empty.
    public func max() -> Value.Wrapped? { max(ofProperty: "self") }
}

extension Map where Value.PersistedType: AddableType {
    /// The sum; 0 when there is no value.
    public func sum() -> Value {
        aggregate(.sum, of: "self")?.total(Value.self) ?? Value._standIn()
    }
    /// The mean; nil when there is no value. A double; of decimals a decimal.
    public func average() -> Value.PersistedType._Mean? { mean("self") }
    /// The mean as another type of numbers; nil when there is no value.
    @_disfavoredOverload
    public func average<Mean: _HasPersistedType>() -> Mean? where Mean.PersistedType: AddableType {
        mean("self")
    }
}

extension Map
where
    Value: OptionalProtocol, Value.Wrapped: _Persistable, Value.Wrapped.PersistedType: AddableType
{
    /// The sum; 0 when there is no value.
    public func sum() -> Value.Wrapped { sum(ofProperty: "self") }
    /// The mean; nil when there is no value. A double; of decimals a decimal.
    public func average() -> Value.Wrapped.PersistedType._Mean? { mean("self") }
    /// The mean as another type of numbers; nil when there is no value.
    @_disfavoredOverload
    public func average<Mean: _HasPersistedType>() -> Mean? where Mean.PersistedType: AddableType {
        mean("self")
    }
}

extension Map where Value.PersistedType: SortableType {
    /// The values in their order.
    public func sorted(ascending: Bool = true) -> Results<Value> {
        sorted(byKeyPath: "self", ascending: ascending)
    }
    /// Each value once.
    public func distinct() -> Results<Value> { distinct(by: ["self"]) }
}
