public import Dispatch
public import Foundation
internal import ToftEngine
internal import ToftModel
internal import ToftQuery

/// The types that are tied to a realm and its thread: objects, collections, results.
public protocol ThreadConfined {
    /// The realm; nil for an unmanaged one.
    var realm: Realm? { get }
    /// Whether it can't be used any more: deleted, or its realm invalidated.
    var isInvalidated: Bool { get }
    /// Whether it shows one version for ever, on any thread.
    var isFrozen: Bool { get }
    /// An unchanging copy of its present state, for any thread.
    func freeze() -> Self
    /// Its counterpart in the live realm here; nil when it has been deleted.
    func thaw() -> Self?
    /// The carrier for a reference to it. Not for apps.
    func _carry() throws -> _Carrier
}

extension ObjectBase: ThreadConfined {}

/// The base of all collections with indices.
public protocol RealmCollectionBase: RandomAccessCollection, LazyCollectionProtocol,
    CustomStringConvertible, ThreadConfined
where Element: RealmCollectionValue {}

/// The operations of `Results`, `List`, `MutableSet` and `LinkingObjects`: indexed, live, and to be
/// filtered, sorted, summed and observed.
public protocol RealmCollection: RealmCollectionBase, Equatable, SendableMetatype
where Index == Int, Iterator == RLMIterator<Element> {
    /// The core of a managed collection; nil for an unmanaged list or set. Not for apps.
    func _core() throws -> _CollectionCore?
}

// MARK: Elements

extension RealmCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { count }
    public func index(after index: Int) -> Int { index + 1 }
    public func index(before index: Int) -> Int { index - 1 }

    /// The first element; nil if the collection is empty.
    public var first: Element? { isEmpty ? nil : self[0] }
    /// The last element; nil if the collection is empty.
    public var last: Element? {
        let count = count
        return count == 0 ? nil : self[count - 1]
    }

    /// The elements at several indices.
    public func objects(at indexes: IndexSet) -> [Element] { indexes.map { self[$0] } }

    /// A line for each of the first elements.
    public var description: String { ObjectDescription.text(of: self) }

    /// The value of one property of each element, or the elements themselves for "self".
    public func value(forKey key: String) -> [Any?] {
        map { element in
            key == "self" ? element as Any? : (element as? ObjectBase)?.value(forKey: key)
        }
    }

    /// Sets a property of each element as they are now, also of those that leave the collection by
    /// it. Needs a write transaction.
    public func setValue(_ value: Any?, forKey key: String) {
        for element in self { (element as? ObjectBase)?.setValue(value, forKey: key) }
    }

    /// Sets the property at the end of a path over to-one links, from each element.
    public func setValue(_ value: Any?, forKeyPath keyPath: String) {
        for element in self { (element as? ObjectBase)?.setValue(value, forKeyPath: keyPath) }
    }

    /// The value of a path for each element, `[Any?]`; or one value of all: "@count", and
    /// "@min.age", "@max.age", "@sum.age", "@avg.age". After "@unionOfObjects." the path is that of
    /// each element, without nil, after "@distinctUnionOfObjects." each value once; after
    /// "@unionOfArrays." and "@distinctUnionOfArrays." it leads to collections, whose elements are
    /// joined.
    public func value(forKeyPath keyPath: String) -> Any? {
        guard keyPath.utf8.first == UInt8(ascii: "@") else { return values(forKeyPath: keyPath) }
        let parts = keyPath.unicodeScalars.split(separator: ".", maxSplits: 1).map { String($0) }
        let path = parts.count > 1 ? parts[1] : "self"
        switch parts[0] {
        case "@count": return count
        case "@min": return anyAggregate(.minimum, of: path)
        case "@max": return anyAggregate(.maximum, of: path)
        case "@sum": return anyAggregate(.sum, of: path)
        case "@avg": return anyAggregate(.average, of: path)
        case "@unionOfObjects": return union(path)
        case "@distinctUnionOfObjects": return Self.distinct(union(path))
        case "@unionOfArrays": return union(path).flatMap(Self.elements)
        case "@distinctUnionOfArrays":
            return Self.distinct(union(path).flatMap(Self.elements))
        default:
            Misuse.report(
                Realm.Error(
                    .noSuchProperty,
                    "'\(parts[0])' is not one of @count, @min, @max, @sum, @avg, @unionOfObjects, "
                        + "@unionOfArrays and the two with distinctUnion."))
            return nil
        }
    }

    private func anyAggregate(_ kind: Aggregate, of property: String) -> Any? {
        aggregate(kind, of: property).flatMap { AnyRealmValue._make($0).content }
    }

    private func values(forKeyPath path: String) -> [Any?] {
        map { element in
            path == "self" ? element as Any? : (element as? ObjectBase)?.value(forKeyPath: path)
        }
    }

    /// The value of a path for each element, without nil.
    private func union(_ path: String) -> [Any] {
        values(forKeyPath: path).compactMap(\.flattened)
    }

    private static func elements(of collection: Any) -> [Any] {
        (collection as? any Sequence).map { $0.compactMap { ($0 as Any?).flattened } } ?? []
    }

    /// Each value once, in the order in which they come.
    private static func distinct(_ values: [Any]) -> [Any] {
        var seen: Set<AnyHashable> = []
        return values.filter { ($0 as? AnyHashable).map { seen.insert($0).inserted } ?? true }
    }

    /// The index of an element: an object is found by identity, a value by equality. Nil if the
    /// collection does not have it, and for an unmanaged object.
    public func index(of element: Element) -> Int? {
        Misuse.reporting { () -> Int? in
            guard let core = try _core() else { return indexInMemory(of: element) }
            return try core.index(of: element)
        } ?? nil
    }

    /// As above, of a collection that is in memory: values are equal as in the database.
    private func indexInMemory(of element: Element) -> Int? {
        let elements = Array(self)
        if let mixed = element as? AnyRealmValue, mixed.scalar == nil, let known = mixed.known {
            return elements.firstIndex { ($0 as? AnyRealmValue)?.known == known }
        }
        // A value that is kept as an object equals one that is made of it.
        if Element._isObject || Element._isEmbedded { return elements.firstIndex(of: element) }
        let key = UniqueKey(element)
        return elements.firstIndex { UniqueKey($0) == key }
    }

    /// Always 0: a loop may end early if the machine fails, and the standard library stops the
    /// program if a collection gives fewer elements than it promised.
    public var underestimatedCount: Int { 0 }

    /// Used by `Array(collection)`, for the same reason. Not for apps.
    public func _copyToContiguousArray() -> ContiguousArray<Element> {
        var copy = ContiguousArray<Element>()
        copy.reserveCapacity(count)
        for element in self { copy.append(element) }
        return copy
    }

    /// Used by `contains`: true if a value is equal to one of the elements, as the database
    /// compares them. Not for apps.
    public func _customContainsEquatableElement(_ element: Element) -> Bool? {
        Element._isObject ? nil : index(of: element) != nil
    }

    /// As above, for `firstIndex(of:)`. Not for apps.
    public func _customIndexOfEquatableElement(_ element: Element) -> Int?? {
        Element._isObject ? nil : .some(index(of: element))
    }
}

// MARK: Queries

extension RealmCollection {
    /// The elements that match a query in text, `"age > %@ AND name BEGINSWITH[c] 'a'"`; `$0` and
    /// `%@` are arguments, `%K` is a property's name. If Realm's layer of `NSPredicate` differs
    /// from its own query language, the language holds: an empty text on the right of BEGINSWITH
    /// matches everything.
    public func filter(_ predicateFormat: String, _ arguments: Any...) -> Results<Element> {
        filter(predicateFormat, all: arguments)
    }

    func filter(_ predicateFormat: String, all arguments: [Any]) -> Results<Element> {
        derived("filter") { core in
            let format = try PredicateFormat(predicateFormat, arguments, in: core.session)
            return try core.results.filter(
                format.text, arguments: format.arguments, takesNumbersAsBools: true)
        }
    }

    /// The elements that match a query in Swift: `where { $0.age > 3 && $0.name.starts(with: "A")
    /// }`. The compiler checks it. On values it is misuse, as in Realm: only objects can be
    /// queried.
    public func `where`(_ isIncluded: (Query<Element>) -> Query<Bool>) -> Results<Element> {
        matching(isIncluded)
    }

    /// The projections whose objects match a query.
    public func `where`(_ isIncluded: (Query<Element.Root>) -> Query<Bool>) -> Results<Element>
    where Element: ProjectionObservable {
        matching(isIncluded)
    }

    private func matching<Model>(_ isIncluded: (Query<Model>) -> Query<Bool>) -> Results<Element> {
        derived("where") { core in
            let query = try isIncluded(Query<Model>()).predicate(in: core.session)
            return try core.results.filter(query.syntax, arguments: query.arguments)
        }
    }

    /// The index of the first element that matches a query in text. Objects that are in memory are
    /// copied into a database there to be asked, O(elements); of embedded objects and of values in
    /// memory it is misuse.
    public func index(matching predicateFormat: String, _ arguments: Any...) -> Int? {
        index(matching: predicateFormat, all: arguments)
    }

    func index(matching predicateFormat: String, all arguments: [Any]) -> Int? {
        firstIndex { core in
            let format = try PredicateFormat(predicateFormat, arguments, in: core.session)
            return try core.results.filter(
                format.text, arguments: format.arguments, takesNumbersAsBools: true)
        }
    }

    /// The index of the first element that matches a query in Swift.
    public func index(matching isIncluded: (Query<Element>) -> Query<Bool>) -> Int? {
        firstIndex { core in
            let query = try isIncluded(Query<Element>()).predicate(in: core.session)
            return try core.results.filter(query.syntax, arguments: query.arguments)
        }
    }

    private func firstIndex(_ matches: (_CollectionCore) throws -> ToftEngine.Results) -> Int? {
        Misuse.reporting { () -> Int? in
            if try isUnmanaged, let copies = try CopiedElements(self) {
                return try copies.firstIndex(matches)
            }
            guard let core = try requiredCore("index(matching:)") else { return nil }
            let found = try matches(core).limited(to: 1)
            return try found.count == 0 ? nil : core.results.index(of: found.value(at: 0))
        } ?? nil
    }

    /// The elements sorted by a property, or a path over to-one links ("owner.name"); values by
    /// "self". Nil comes first when ascending.
    public func sorted(byKeyPath keyPath: String, ascending: Bool = true) -> Results<Element> {
        sorted(by: [SortDescriptor(keyPath: keyPath, ascending: ascending)])
    }

    /// The elements sorted by a property: `sorted(by: \.age)`.
    public func sorted<Value: _HasPersistedType>(
        by keyPath: KeyPath<Element, Value>, ascending: Bool = true
    ) -> Results<Element>
    where Value.PersistedType: SortableType, Element: ObjectBase {
        sorted(byKeyPath: KeyPathNames.name(of: keyPath), ascending: ascending)
    }

    /// The projections sorted by what a property stands for in their objects.
    public func sorted<Value: _HasPersistedType>(
        by keyPath: KeyPath<Element, Value>, ascending: Bool = true
    ) -> Results<Element>
    where Value.PersistedType: SortableType, Element: ProjectionObservable {
        sorted(byKeyPath: KeyPathNames.name(of: keyPath), ascending: ascending)
    }

    /// The elements sorted by several properties, the first being the most significant; ties keep
    /// their order.
    public func sorted<Descriptors: Sequence>(by sortDescriptors: Descriptors) -> Results<Element>
    where Descriptors.Element == SortDescriptor {
        derived("sorted") { core in
            try core.results.sorted(by: sortDescriptors.map { ($0.keyPath, $0.ascending) })
        }
    }

    /// The first element for each combination of values at key paths.
    public func distinct<KeyPaths: Sequence>(by keyPaths: KeyPaths) -> Results<Element>
    where KeyPaths.Element == String {
        derived("distinct") { core in try core.results.distinct(by: Array(keyPaths)) }
    }

    /// The first element for each combination of values at key paths.
    public func distinct<KeyPaths: Sequence>(by keyPaths: KeyPaths) -> Results<Element>
    where KeyPaths.Element == PartialKeyPath<Element>, Element: ObjectBase {
        distinct(by: keyPaths.map { KeyPathNames.name(of: $0) })
    }

    /// The first `count` elements, or all if there are fewer: live as other results are, so another
    /// element moves up from behind when one is deleted. Realm has no such thing. Later operations
    /// on the results use these elements alone, and sorted results are sorted only as far as these
    /// elements. A negative count is misuse, with code `.invalidArgument`.
    public func limited(to count: Int) -> Results<Element> {
        derived("limited") { core in
            try core.results.limited(to: Self.natural(count, "limit"))
        }
    }

    /// All elements but the first `count`, live as other results are:
    /// `people.sorted(byKeyPath: "name").offset(by: 20).limited(to: 10)` is the third page of ten.
    /// Realm has no such thing. A negative count is misuse, with code `.invalidArgument`.
    public func offset(by count: Int) -> Results<Element> {
        derived("offset") { core in
            try core.results.offset(by: Self.natural(count, "offset"))
        }
    }

    private static func natural(_ count: Int, _ what: String) throws -> Int {
        guard count >= 0 else {
            throw Realm.Error(.invalidArgument, "The \(what) is negative: \(count).")
        }
        return count
    }

    private func derived(_ name: String, _ make: (_CollectionCore) throws -> ToftEngine.Results)
        -> Results<Element>
    {
        Misuse.reporting { () -> Results<Element> in
            guard let core = try requiredCore(name) else { return Results(nil) }
            return Results(core.with(try make(core)))
        } ?? Results(nil)
    }

    /// Whether it is a list or a set that holds its elements itself.
    var isUnmanaged: Bool {
        get throws {
            guard try _core() == nil else { return false }
            let isErased = (self as? any ErasedCollection)?.isOfAdoptable ?? false
            return isErased || self is any AdoptableCollection
        }
    }

    /// The core of a managed collection; nil for one whose realm was invalidated. An unmanaged list
    /// or set is misuse.
    func requiredCore(_ name: String) throws -> _CollectionCore? {
        guard let core = try _core() else {
            guard try isUnmanaged else { return nil }
            throw CollectionBacking.unmanaged(name, "collections")
        }
        if core.isStale { return nil }
        try core.session.verify()
        return core
    }
}

// MARK: Aggregates

extension RealmCollection {
    /// The least value of a property; nil if empty. Of mixed values it is the one that
    /// sorts first, lists and dictionaries left out. In Toft this and its kin also take a
    /// path over to-one links, "boss.age": objects whose link is nil do not count.
    public func min<Value: _HasPersistedType>(ofProperty property: String) -> Value?
    where Value.PersistedType: MinMaxType {
        aggregate(.minimum, of: property)?.made(Value.self)
    }

    /// The greatest value of a property; nil if empty.
    public func max<Value: _HasPersistedType>(ofProperty property: String) -> Value?
    where Value.PersistedType: MinMaxType {
        aggregate(.maximum, of: property)?.made(Value.self)
    }

    /// The sum of a property; 0 when there is no value.
    public func sum<Value: _Persistable>(ofProperty property: String) -> Value
    where Value.PersistedType: AddableType {
        aggregate(.sum, of: property)?.total(Value.self) ?? Value._initial()
    }

    /// The mean of a property; nil when there is no value.
    public func average<Value: _HasPersistedType>(ofProperty property: String) -> Value?
    where Value.PersistedType: AddableType {
        mean(property)
    }

    private func mean<Mean>(_ property: String) -> Mean? {
        aggregate(.average, of: property)?.made(Mean.self)
    }

    /// The least value of a property: `min(of: \.age)`.
    public func min<Value: _HasPersistedType>(of keyPath: KeyPath<Element, Value>) -> Value?
    where Value.PersistedType: MinMaxType, Element: ObjectBase {
        min(ofProperty: KeyPathNames.name(of: keyPath))
    }

    /// The least value of a property that may be nil.
    public func min<Value: _HasPersistedType>(of keyPath: KeyPath<Element, Value?>) -> Value?
    where Value.PersistedType: MinMaxType, Element: ObjectBase {
        min(ofProperty: KeyPathNames.name(of: keyPath))
    }

    /// The greatest value of a property: `max(of: \.age)`.
    public func max<Value: _HasPersistedType>(of keyPath: KeyPath<Element, Value>) -> Value?
    where Value.PersistedType: MinMaxType, Element: ObjectBase {
        max(ofProperty: KeyPathNames.name(of: keyPath))
    }

    /// The greatest value of a property that may be nil.
    public func max<Value: _HasPersistedType>(of keyPath: KeyPath<Element, Value?>) -> Value?
    where Value.PersistedType: MinMaxType, Element: ObjectBase {
        max(ofProperty: KeyPathNames.name(of: keyPath))
    }

    /// The sum of a property: `sum(of: \.age)`.
    public func sum<Value: _Persistable>(of keyPath: KeyPath<Element, Value>) -> Value
    where Value.PersistedType: AddableType, Element: ObjectBase {
        sum(ofProperty: KeyPathNames.name(of: keyPath))
    }

    /// The sum of a property that may be nil.
    public func sum<Value: _Persistable>(of keyPath: KeyPath<Element, Value?>) -> Value
    where Value.PersistedType: AddableType, Element: ObjectBase {
        sum(ofProperty: KeyPathNames.name(of: keyPath))
    }

    /// The mean of a property: `average(of: \.age)`. A double; of decimals a decimal.
    public func average<Value: _HasPersistedType>(of keyPath: KeyPath<Element, Value>)
        -> Value.PersistedType._Mean?
    where Value.PersistedType: AddableType, Element: ObjectBase {
        mean(KeyPathNames.name(of: keyPath))
    }

    /// The mean of a property that may be nil.
    public func average<Value: _HasPersistedType>(of keyPath: KeyPath<Element, Value?>)
        -> Value.PersistedType._Mean?
    where Value.PersistedType: AddableType, Element: ObjectBase {
        mean(KeyPathNames.name(of: keyPath))
    }

    /// The mean as a value of the property's own type, as Realm has it.
    @_disfavoredOverload
    public func average<Value: _HasPersistedType>(of keyPath: KeyPath<Element, Value>) -> Value?
    where Value.PersistedType: AddableType, Element: ObjectBase {
        mean(KeyPathNames.name(of: keyPath))
    }

    func aggregate(_ kind: Aggregate, of property: String) -> _EngineValue? {
        Misuse.reporting { () -> _EngineValue? in
            if try isUnmanaged {
                return _EngineValue(try UnmanagedValues(self, property).aggregate(kind))
            }
            guard let core = try requiredCore("\(kind)") else { return nil }
            core.session.reads?.noteEverything()
            return _EngineValue(try core.results.aggregate(kind, of: property), core.session)
        } ?? nil
    }
}

extension RealmCollection where Element.PersistedType: MinMaxType {
    /// The least value; nil if empty. Mixed values have the order in which values of all
    /// types are sorted, and nil does not count.
    public func min() -> Element? { min(ofProperty: "self") }
    /// The greatest value; nil without a value.
    public func max() -> Element? { max(ofProperty: "self") }
}

extension RealmCollection
where
    Element: OptionalProtocol, Element.Wrapped: _HasPersistedType,
    Element.Wrapped.PersistedType: MinMaxType
{
    /// The least value; nil if empty.
    public func min() -> Element.Wrapped? { min(ofProperty: "self") }
    /// The greatest value; nil if empty.
    public func max() -> Element.Wrapped? { max(ofProperty: "self") }
}

extension RealmCollection where Element.PersistedType: AddableType {
    /// The sum; 0 when there is no value.
    public func sum() -> Element {
        aggregate(.sum, of: "self")?.total(Element.self) ?? Element._standIn()
    }
    /// The mean; nil when there is no value. A double; of decimals and mixed values a decimal.
    public func average() -> Element.PersistedType._Mean? { mean("self") }
    /// The mean as another type of numbers; nil when there is no value.
    @_disfavoredOverload
    public func average<Mean: _HasPersistedType>() -> Mean? where Mean.PersistedType: AddableType {
        mean("self")
    }
}

extension RealmCollection
where
    Element: OptionalProtocol, Element.Wrapped: _Persistable,
    Element.Wrapped.PersistedType: AddableType
{
    /// The sum; 0 when there is no value.
    public func sum() -> Element.Wrapped { sum(ofProperty: "self") }
    /// The mean; nil when there is no value. A double; of decimals a decimal.
    public func average() -> Element.Wrapped.PersistedType._Mean? { mean("self") }
    /// The mean as another type of numbers; nil when there is no value.
    @_disfavoredOverload
    public func average<Mean: _HasPersistedType>() -> Mean? where Mean.PersistedType: AddableType {
        mean("self")
    }
}

extension RealmCollection where Element.PersistedType: SortableType {
    /// The values in their order.
    public func sorted(ascending: Bool = true) -> Results<Element> {
        sorted(byKeyPath: "self", ascending: ascending)
    }
    /// Each value once.
    public func distinct() -> Results<Element> { distinct(by: ["self"]) }
}

// MARK: Observation

extension RealmCollection {
    /// Calls the block with the collection as it first is, then after every commit of any process
    /// that changed which elements it has or the elements themselves, with indices. On the run loop
    /// of this thread, or on `queue`, with the collection of a realm there. Ends when the token is
    /// invalidated or released.
    /// - Parameters:
    ///   - keyPaths: of the elements; if given, only the properties that they name count as their
    ///     modification: "age", "dogs.name", "boss.*". Insertions and deletions are reported in any
    ///     case; `[]`: only those. If not given, everything that an element reaches over up to
    ///     three links counts.
    ///   - queue: a serial queue; nil: this thread's run loop.
    ///   - block: called with the collection and its changes.
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
        _ block: @escaping (RealmCollectionChange<Self>) -> Void
    ) -> NotificationToken {
        observe(keyPaths, at: queue.map { Place($0) }, block)
    }

    func observe(
        _ keyPaths: [String]?, at place: Place?,
        _ block: @escaping (RealmCollectionChange<Self>) -> Void
    ) -> NotificationToken {
        Misuse.reporting {
            guard let core = try requiredCore("observe") else {
                throw Realm.Error(.collectionInvalidated, "The collection has been invalidated.")
            }
            let names = try (Element.self as? any ProjectionObservable.Type)?.names(keyPaths)
            return try Observations.collection(self, core, names ?? keyPaths, at: place, block)
        } ?? NotificationToken()
    }

    /// Observes on an actor, with the collection of a realm of that actor, which is opened for it.
    /// The observation has begun when this returns: it includes every later commit.
    /// - Parameters:
    ///   - keyPaths: as above.
    ///   - actor: the actor on which the block is called. It is not kept alive.
    ///   - _isolation: the caller's isolation; not to be given.
    ///   - block: called with the actor, the collection and its changes.
    /// - Returns: the token that keeps the observation alive.
    public func observe<Owner: Actor>(
        keyPaths: [String]? = nil, on actor: Owner,
        _isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated Owner, RealmCollectionChange<Self>) -> Void
    ) async -> NotificationToken {
        await observe(keyPaths, at: Place(actor), Place.called(on: actor, block)).begun()
    }

    /// Observes on an actor, with the collection of a realm of that actor, which is opened for it.
    /// The observation has begun when this returns: it includes every later commit.
    /// - Parameters:
    ///   - keyPaths: as above.
    ///   - actor: the actor on which the block is called. It is not kept alive.
    ///   - _isolation: the caller's isolation; not to be given.
    ///   - block: called with the actor, the collection and its changes.
    /// - Returns: the token that keeps the observation alive.
    @_disfavoredOverload
    public func observe<Owner: Actor>(
        keyPaths: [PartialKeyPath<Element>], on actor: Owner,
        _isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated Owner, RealmCollectionChange<Self>) -> Void
    ) async -> NotificationToken where Element: ObjectBase {
        await observe(keyPaths: keyPaths.map { KeyPathNames.name(of: $0) }, on: actor, block)
    }

    /// Observes with key paths that the compiler checks: `\.age`, `\.boss?.name`, `\.dogs[0].name`
    /// for the name of any dog.
    @_disfavoredOverload
    public func observe(
        keyPaths: [PartialKeyPath<Element>], on queue: DispatchQueue? = nil,
        _ block: @escaping (RealmCollectionChange<Self>) -> Void
    ) -> NotificationToken where Element: ObjectBase {
        observe(keyPaths: keyPaths.map { KeyPathNames.name(of: $0) }, on: queue, block)
    }

    /// Observes projections: `\PersonProjection.name`.
    @_disfavoredOverload
    public func observe(
        keyPaths: [PartialKeyPath<Element>], on queue: DispatchQueue? = nil,
        _ block: @escaping (RealmCollectionChange<Self>) -> Void
    ) -> NotificationToken where Element: ProjectionObservable {
        let names = keyPaths.map { KeyPathNames.name(of: $0) }
        let labels = Element.paths.filter { names.contains($0.name) }.map(\.label)
        return observe(keyPaths: labels, on: queue, block)
    }
}
