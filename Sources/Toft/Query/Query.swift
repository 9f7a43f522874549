public import Foundation
internal import ToftEngine
internal import ToftModel
internal import ToftQuery

/// Represents an object, a property or a condition while a query is written in Swift:
///
/// ```swift
/// people.where { $0.age > 30 && $0.dogs.name.starts(with: "R") }
/// ```
///
/// Properties are reached by name, as on the object; the result is the tree that the engine's
/// parser makes of text. A property of the objects of a list means that any has it. Spelled as in
/// Realm.
@dynamicMemberLookup
public struct Query<T> {
    let node: QueryNode

    init(_ node: QueryNode) {
        self.node = node
    }

    init() {
        node = .path(QueryPath())
    }

    /// A property of an object.
    public subscript<V>(dynamicMember member: KeyPath<T, V>) -> Query<V> where T: ObjectBase {
        appending(KeyPathNames.name(of: member), isCollection: false)
    }

    /// A number of a class without `@Persisted`.
    public subscript<V>(dynamicMember member: KeyPath<T, RealmOptional<V>>) -> Query<V?>
    where T: ObjectBase {
        appending(KeyPathNames.name(of: member), isCollection: false)
    }

    /// A value of a class without `@Persisted`.
    public subscript<V>(dynamicMember member: KeyPath<T, RealmProperty<V>>) -> Query<V>
    where T: ObjectBase {
        appending(KeyPathNames.name(of: member), isCollection: false)
    }

    /// A list, a set, or linking objects.
    public subscript<V: RealmCollection>(dynamicMember member: KeyPath<T, V>) -> Query<V>
    where T: ObjectBase {
        appending(KeyPathNames.name(of: member), isCollection: true)
    }

    /// A map.
    public subscript<V: RealmKeyedCollection>(dynamicMember member: KeyPath<T, V>) -> Query<V>
    where T: ObjectBase {
        appending(KeyPathNames.name(of: member), isCollection: true)
    }

    fileprivate func appending<V>(_ name: String, isCollection: Bool) -> Query<V> {
        guard case .path(let path) = node else { return Query<V>(node) }
        guard !name.isEmpty else {
            return Query<V>(
                .mistake(
                    Realm.Error(
                        .invalidQuery, "A key path of the query names no persisted property.")))
        }
        return Query<V>(.path(path.appending(name, isCollection: isCollection)))
    }

    func compared(
        _ comparator: ToftQuery.Comparator, _ options: ToftQuery.StringOptions = [], to value: Any?
    ) -> Query<Bool> {
        switch comparator {
        case .equal, .notEqual:
            guard let object = Self.embedded(custom: value) else { break }
            return Query<Bool>(
                Self.holds(of: node) { node in
                    let isEqual = Self.equality(node, to: object)
                    return comparator == .equal ? isEqual : .not(isEqual)
                })
        default: break
        }
        return Query<Bool>(.comparison(node, comparator, options, Self.value(value)))
    }

    /// Whether it is one of several values.
    func isAmong(_ values: [Any]) -> Query<Bool> {
        guard values.contains(where: { Self.embedded(custom: $0) != nil }) else {
            return compared(.in, to: values)
        }
        let conditions = values.map { compared(.equal, to: $0) }
        return conditions.dropFirst().reduce(conditions[0]) { $0 || $1 }
    }

    /// Whether the elements have a value among them.
    func hasElement(_ value: Any) -> Query<Bool> {
        Self.embedded(custom: value) == nil
            ? Query<Bool>(.comparison(Self.value(value), .in, [], node))
            : compared(.equal, to: value)
    }

    fileprivate func compared<Other>(
        _ comparator: ToftQuery.Comparator, _ options: ToftQuery.StringOptions = [],
        to other: Query<Other>
    ) -> Query<Bool> {
        Query<Bool>(.comparison(node, comparator, options, other.node))
    }

    static func value(_ any: Any?) -> QueryNode {
        var values = QueryValue()
        do {
            let argument = try values.argument(any, for: "A value of the query")
            return values.origins.isEmpty ? .value(argument) : .objects(argument, values.origins)
        } catch {
            return .mistake(Realm.Error(wrapping: error))
        }
    }
}

extension Query where T == Bool {
    /// The finished query, with its arguments, for a realm.
    func predicate(in session: RealmSession) throws -> (
        syntax: QuerySyntax, arguments: [QueryArgument]
    ) {
        var translation = QueryTranslation()
        let predicate = try translation.predicate(node)
        try QueryValue.require(translation.origins, in: session)
        return (QuerySyntax(predicate), translation.arguments)
    }
}

// MARK: Through links and collections

/// An optional of any kind.
public protocol OptionalProtocol {
    associatedtype Wrapped
}
extension Optional: OptionalProtocol {}

extension Query where T: OptionalProtocol, T.Wrapped: ObjectBase {
    /// A property of the object that is linked to.
    public subscript<V>(dynamicMember member: KeyPath<T.Wrapped, V>) -> Query<V> {
        appending(KeyPathNames.name(of: member), isCollection: false)
    }

    /// A list or a set of the object that is linked to.
    public subscript<V: RealmCollection>(dynamicMember member: KeyPath<T.Wrapped, V>) -> Query<V> {
        appending(KeyPathNames.name(of: member), isCollection: true)
    }

    /// A map of the object that is linked to.
    public subscript<V: RealmKeyedCollection>(dynamicMember member: KeyPath<T.Wrapped, V>)
        -> Query<V>
    {
        appending(KeyPathNames.name(of: member), isCollection: true)
    }
}

extension Query where T: RealmCollection {
    /// A property of the collection's objects: a condition on it holds when any of them satisfies
    /// it.
    public subscript<V>(dynamicMember member: KeyPath<T.Element, V>) -> Query<V>
    where T.Element: ObjectBase {
        appending(KeyPathNames.name(of: member), isCollection: false)
    }

    /// A list or a set of the collection's objects.
    public subscript<V: RealmCollection>(dynamicMember member: KeyPath<T.Element, V>) -> Query<V>
    where T.Element: ObjectBase {
        appending(KeyPathNames.name(of: member), isCollection: true)
    }

    /// A map of the collection's objects.
    public subscript<V: RealmKeyedCollection>(dynamicMember member: KeyPath<T.Element, V>)
        -> Query<V>
    where T.Element: ObjectBase {
        appending(KeyPathNames.name(of: member), isCollection: true)
    }

    /// How many elements there are.
    public var count: Query<Int> { operation(.count) }

    /// Whether any element has this value.
    public static func == (left: Query, right: T.Element) -> Query<Bool> {
        left.compared(.equal, to: right)
    }

    /// Whether any element has another value.
    public static func != (left: Query, right: T.Element) -> Query<Bool> {
        left.compared(.notEqual, to: right)
    }

    /// Whether a value or object is among the elements.
    public func contains(_ value: T.Element) -> Query<Bool> { hasElement(value) }

    /// Whether any of several values or objects is among the elements.
    public func containsAny<Values: Sequence>(in values: Values) -> Query<Bool>
    where Values.Element == T.Element {
        isAmong(values.map { $0 as Any })
    }
}

extension Query {
    func operation<V>(_ operation: PathOperation) -> Query<V> {
        guard case .path(let path) = node else { return Query<V>(node) }
        return Query<V>(.path(path.appending(operation)))
    }
}

extension Query where T: RealmCollection, T.Element.PersistedType: SortableType {
    /// Whether any element is less.
    public static func < (left: Query, right: T.Element) -> Query<Bool> {
        left.compared(.less, to: right)
    }

    /// Whether any element is less or equal.
    public static func <= (left: Query, right: T.Element) -> Query<Bool> {
        left.compared(.lessOrEqual, to: right)
    }

    /// Whether any element is greater.
    public static func > (left: Query, right: T.Element) -> Query<Bool> {
        left.compared(.greater, to: right)
    }

    /// Whether any element is greater or equal.
    public static func >= (left: Query, right: T.Element) -> Query<Bool> {
        left.compared(.greaterOrEqual, to: right)
    }
}

extension Query where T: RealmCollection, T.Element.PersistedType: _QueryNumeric {
    /// The least element.
    public var min: Query<T.Element> { aggregate(.minimum) }
    /// The greatest element.
    public var max: Query<T.Element> { aggregate(.maximum) }
    /// The sum of the elements.
    public var sum: Query<T.Element> { aggregate(.sum) }
    /// The mean of the elements.
    public var avg: Query<T.Element> { aggregate(.average) }

    /// Whether all elements lie in a range: of its end too, unless it is one without it.
    public func contains<Bounds: _QueryRange>(_ range: Bounds) -> Query<Bool>
    where Bounds.Bound == T.Element {
        allLie(within: range)
    }
}

extension Query
where
    T: RealmCollection, T.Element: OptionalProtocol, T.Element.Wrapped: _HasPersistedType,
    T.Element.Wrapped.PersistedType: _QueryNumeric
{
    /// Whether all elements lie in a range: of its end too, unless it is one without it.
    public func contains<Bounds: _QueryRange>(_ range: Bounds) -> Query<Bool>
    where Bounds.Bound == T.Element.Wrapped {
        allLie(within: range)
    }
}

extension Query where T: RealmCollection, T.Element.PersistedType: AddableType {
    /// The mean of the elements, to be compared with what the type of these can't hold.
    @_disfavoredOverload
    public var avg: Query<T.Element.PersistedType._Mean?> { aggregate(.average) }
}

extension Query
where
    T: RealmCollection, T.Element: OptionalProtocol, T.Element.Wrapped: _HasPersistedType,
    T.Element.Wrapped.PersistedType: AddableType
{
    /// The mean of the elements, to be compared with what the type of these can't hold.
    @_disfavoredOverload
    public var avg: Query<T.Element.Wrapped.PersistedType._Mean?> { aggregate(.average) }
}

extension Query where T: _HasPersistedType, T.PersistedType: _QueryNumeric {
    /// Of a property of a collection's objects, `$0.dogs.age.min`: the least value.
    public var min: Query<T> { aggregate(.minimum) }
    /// Of a property of a collection's objects, `$0.dogs.age.max`: the greatest value.
    public var max: Query<T> { aggregate(.maximum) }
    /// Of a property of a collection's objects, `$0.dogs.age.sum`: the sum.
    public var sum: Query<T> { aggregate(.sum) }
    /// Of a property of a collection's objects, `$0.dogs.age.avg`: the mean.
    public var avg: Query<T> { aggregate(.average) }
}

extension Query where T: _HasPersistedType, T.PersistedType: AddableType {
    /// The mean, to be compared with what the property's type can't hold.
    @_disfavoredOverload
    public var avg: Query<T.PersistedType._Mean?> { aggregate(.average) }
}

extension Query
where T: OptionalProtocol, T.Wrapped: _HasPersistedType, T.Wrapped.PersistedType: AddableType {
    /// The mean, to be compared with what the property's type can't hold.
    @_disfavoredOverload
    public var avg: Query<T.Wrapped.PersistedType._Mean?> { aggregate(.average) }
}

extension Query {
    func aggregate<V>(_ operation: PathOperation) -> Query<V> {
        guard case .path(let path) = node else { return Query<V>(node) }
        return Query<V>(.path(path.aggregated(operation)))
    }
}

extension Query where T == Bool {
    /// Number of objects that satisfy a condition on a collection, `($0.dogs.age > 3).count`.
    public var count: Query<Int> {
        guard let collection = node.collection else {
            return Query<Int>(
                .mistake(
                    Realm.Error(
                        .invalidQuery,
                        "Only conditions on the elements of a collection can be counted.")))
        }
        return Query<Int>(.matchCount(collection, node))
    }
}

// MARK: Conditions

extension Query {
    /// Whether both are equal.
    public static func == (left: Query, right: T) -> Query<Bool> {
        left.compared(.equal, to: right)
    }
    /// Whether both are equal.
    public static func == (left: Query, right: Query) -> Query<Bool> {
        left.compared(.equal, to: right)
    }
    /// Whether they differ.
    public static func != (left: Query, right: T) -> Query<Bool> {
        left.compared(.notEqual, to: right)
    }
    /// Whether they differ.
    public static func != (left: Query, right: Query) -> Query<Bool> {
        left.compared(.notEqual, to: right)
    }

    /// Whether the value is one of several.
    public func `in`<Values: Sequence>(_ values: Values) -> Query<Bool> where Values.Element == T {
        isAmong(values.map { $0 as Any })
    }
}

extension Query where T: _HasPersistedType, T.PersistedType: SortableType {
    public static func < (left: Query, right: T) -> Query<Bool> { left.compared(.less, to: right) }
    public static func < (left: Query, right: Query) -> Query<Bool> {
        left.compared(.less, to: right)
    }
    public static func <= (left: Query, right: T) -> Query<Bool> {
        left.compared(.lessOrEqual, to: right)
    }
    public static func <= (left: Query, right: Query) -> Query<Bool> {
        left.compared(.lessOrEqual, to: right)
    }
    public static func > (left: Query, right: T) -> Query<Bool> {
        left.compared(.greater, to: right)
    }
    public static func > (left: Query, right: Query) -> Query<Bool> {
        left.compared(.greater, to: right)
    }
    public static func >= (left: Query, right: T) -> Query<Bool> {
        left.compared(.greaterOrEqual, to: right)
    }
    public static func >= (left: Query, right: Query) -> Query<Bool> {
        left.compared(.greaterOrEqual, to: right)
    }
}

extension Query where T: _HasPersistedType, T.PersistedType: _QueryNumeric {
    /// Whether the value lies in a range: its end too, unless it is one without it.
    public func contains<Bounds: _QueryRange>(_ range: Bounds) -> Query<Bool>
    where Bounds.Bound == T {
        lies(within: range)
    }
}

extension Query
where T: OptionalProtocol, T.Wrapped: _HasPersistedType, T.Wrapped.PersistedType: _QueryNumeric {
    /// Whether the value lies in a range: its end too, unless it is one without it.
    public func contains<Bounds: _QueryRange>(_ range: Bounds) -> Query<Bool>
    where Bounds.Bound == T.Wrapped {
        lies(within: range)
    }
}

/// A range of any kind that queries ask for. Not for apps.
public protocol _QueryRange {
    /// The type of its ends.
    associatedtype Bound
    /// Its ends, nil where it has none, and whether it includes the upper one.
    var _ends: (lower: Bound?, upper: Bound?, includesUpper: Bool) { get }
}

extension Range: _QueryRange {
    public var _ends: (lower: Bound?, upper: Bound?, includesUpper: Bool) {
        (lowerBound, upperBound, false)
    }
}

extension ClosedRange: _QueryRange {
    public var _ends: (lower: Bound?, upper: Bound?, includesUpper: Bool) {
        (lowerBound, upperBound, true)
    }
}

extension PartialRangeFrom: _QueryRange {
    public var _ends: (lower: Bound?, upper: Bound?, includesUpper: Bool) {
        (lowerBound, nil, false)
    }
}

extension PartialRangeUpTo: _QueryRange {
    public var _ends: (lower: Bound?, upper: Bound?, includesUpper: Bool) {
        (nil, upperBound, false)
    }
}

extension PartialRangeThrough: _QueryRange {
    public var _ends: (lower: Bound?, upper: Bound?, includesUpper: Bool) {
        (nil, upperBound, true)
    }
}

extension Query {
    func lies(within range: some _QueryRange) -> Query<Bool> {
        Self.within(range._ends, lowest: self, highest: self)
    }

    /// Whether all elements of the collection do.
    func allLie(within range: some _QueryRange) -> Query<Bool> {
        Self.within(
            range._ends, lowest: aggregate(.minimum) as Query, highest: aggregate(.maximum) as Query
        )
    }

    private static func within<Bound>(
        _ ends: (lower: Bound?, upper: Bound?, includesUpper: Bool), lowest: Query, highest: Query
    ) -> Query<Bool> {
        let lower = ends.lower.map { lowest.compared(.greaterOrEqual, to: $0) }
        let upper = ends.upper.map {
            highest.compared(ends.includesUpper ? .lessOrEqual : .less, to: $0)
        }
        guard let lower, let upper else {
            return lower ?? upper ?? Query<Bool>(.value(.value(.bool(true))))
        }
        return lower && upper
    }
}

/// Options for comparing texts: `options: .caseInsensitive`, or several in brackets.
public struct StringOptions: OptionSet, Sendable {
    public let rawValue: Int8

    public init(rawValue: Int8) { self.rawValue = rawValue }

    /// Letters that differ only in case are the same.
    public static let caseInsensitive = StringOptions(rawValue: 1)
    /// Letters that differ only in accents are the same.
    public static let diacriticInsensitive = StringOptions(rawValue: 2)
}

/// Text and bytes, optional or not: what can be searched in.
public protocol _QueryBinary {}
extension String: _QueryBinary {}
extension Data: _QueryBinary {}
extension AnyRealmValue: _QueryBinary {}
extension Optional: _QueryBinary where Wrapped: _QueryBinary {}

/// Text, optional or not.
public protocol _QueryString: _QueryBinary {}
extension String: _QueryString {}
extension AnyRealmValue: _QueryString {}
extension Optional: _QueryString where Wrapped: _QueryString {}

extension Query where T: _HasPersistedType, T.PersistedType: _QueryBinary {
    /// Whether the value has another in it.
    public func contains(_ value: T, options: StringOptions? = nil) -> Query<Bool> {
        compared(.contains, options.engine, to: value)
    }
    /// Whether the value begins with another.
    public func starts(with value: T, options: StringOptions? = nil) -> Query<Bool> {
        compared(.beginsWith, options.engine, to: value)
    }
    /// Whether the value ends with another.
    public func ends(with value: T, options: StringOptions? = nil) -> Query<Bool> {
        compared(.endsWith, options.engine, to: value)
    }
    /// Equality with options.
    public func equals(_ value: T, options: StringOptions? = nil) -> Query<Bool> {
        compared(.equal, options.engine, to: value)
    }
    /// Inequality with options.
    public func notEquals(_ value: T, options: StringOptions? = nil) -> Query<Bool> {
        compared(.notEqual, options.engine, to: value)
    }
}

/// Comparisons with another property in place of a value.
extension Query where T: _HasPersistedType, T.PersistedType: _QueryBinary {
    /// Whether the value has that of another property in it.
    public func contains<U: _HasPersistedType>(
        _ column: Query<U>, options: StringOptions? = nil
    ) -> Query<Bool> where U.PersistedType: _QueryBinary {
        compared(.contains, options.engine, to: column)
    }
    /// Whether the value begins with that of another property.
    public func starts<U: _HasPersistedType>(
        with column: Query<U>, options: StringOptions? = nil
    ) -> Query<Bool> where U.PersistedType: _QueryBinary {
        compared(.beginsWith, options.engine, to: column)
    }
    /// Whether the value ends with that of another property.
    public func ends<U: _HasPersistedType>(
        with column: Query<U>, options: StringOptions? = nil
    ) -> Query<Bool> where U.PersistedType: _QueryBinary {
        compared(.endsWith, options.engine, to: column)
    }
    /// Equality with options.
    public func equals<U: _HasPersistedType>(
        _ column: Query<U>, options: StringOptions? = nil
    ) -> Query<Bool> where U.PersistedType: _QueryBinary {
        compared(.equal, options.engine, to: column)
    }
    /// Inequality with options.
    public func notEquals<U: _HasPersistedType>(
        _ column: Query<U>, options: StringOptions? = nil
    ) -> Query<Bool> where U.PersistedType: _QueryBinary {
        compared(.notEqual, options.engine, to: column)
    }
}

extension Query where T: _HasPersistedType, T.PersistedType: _QueryString {
    /// Whether the text matches a pattern, as older programs say that case does not matter.
    public func like(_ value: T, caseInsensitive: Bool) -> Query<Bool> {
        like(value, options: caseInsensitive ? [.caseInsensitive] : [])
    }

    /// Whether the text matches the pattern that another property has.
    public func like<U: _HasPersistedType>(
        _ column: Query<U>, options: StringOptions? = nil
    ) -> Query<Bool> where U.PersistedType: _QueryString {
        compared(.like, options.engine, to: column)
    }

    /// Whether the text matches a pattern: `?` is one character, `*` any number.
    public func like(_ value: T, options: StringOptions? = nil) -> Query<Bool> {
        compared(.like, options.engine, to: value)
    }
}

/// Comparisons of the elements of a collection: whether any does.
extension Query where T: RealmCollection, T.Element.PersistedType: _QueryBinary {
    /// Whether any element has another value in it.
    public func contains(_ value: T.Element, options: StringOptions) -> Query<Bool> {
        compared(.contains, options.engine, to: value)
    }
    /// Whether any element begins with a value.
    public func starts(with value: T.Element, options: StringOptions? = nil) -> Query<Bool> {
        compared(.beginsWith, options.engine, to: value)
    }
    /// Whether any element ends with a value.
    public func ends(with value: T.Element, options: StringOptions? = nil) -> Query<Bool> {
        compared(.endsWith, options.engine, to: value)
    }
    /// Whether any element equals a value, with options.
    public func equals(_ value: T.Element, options: StringOptions? = nil) -> Query<Bool> {
        compared(.equal, options.engine, to: value)
    }
    /// Whether any element differs from a value, with options.
    public func notEquals(_ value: T.Element, options: StringOptions? = nil) -> Query<Bool> {
        compared(.notEqual, options.engine, to: value)
    }
}

extension Query where T: RealmCollection, T.Element.PersistedType: _QueryString {
    /// Whether any element matches a pattern.
    public func like(_ value: T.Element, options: StringOptions? = nil) -> Query<Bool> {
        compared(.like, options.engine, to: value)
    }
}

extension StringOptions? {
    fileprivate var engine: ToftQuery.StringOptions { self?.engine ?? [] }
}

extension StringOptions {
    fileprivate var engine: ToftQuery.StringOptions {
        var options: ToftQuery.StringOptions = []
        if contains(.caseInsensitive) { options.insert(.caseInsensitive) }
        if contains(.diacriticInsensitive) { options.insert(.diacriticInsensitive) }
        return options
    }
}

extension Query where T == Bool {
    public static prefix func ! (query: Query) -> Query { Query(.not(query.node)) }
    public static func && (left: Query, right: Query) -> Query {
        Query(.and(left.node, right.node))
    }
    public static func || (left: Query, right: Query) -> Query { Query(.or(left.node, right.node)) }
}
