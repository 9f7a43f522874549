/// An enum that `@Persisted` properties and collections can hold: kept as its raw value, a number
/// or a text.
///
/// ```swift
/// enum Mood: String, PersistableEnum { case calm, wild }
///
/// class Dog: Object {
///     @Persisted var mood = Mood.calm
///     @Persisted var lastMood: Mood?
/// }
/// realm.objects(Dog.self).where { $0.mood == .wild }
/// ```
///
/// A bare declaration starts with the first case. If the file has a raw value without a case, an
/// optional reads as nil; any other reads as the first case and is misuse, with code
/// `.typeMismatch`: Realm stops the program there. An index or a primary key needs a raw value that
/// can have one, Int and its kin or String; otherwise opening the realm is an error.
public protocol PersistableEnum: RawRepresentable, CaseIterable, Comparable, _Scalar, MinMaxType,
    _HasMinMax, _HasPersistedOrder, _Indexable,
    _PrimaryKey, _QueryEquatable
where RawValue: _Scalar & Comparable, Extreme == Self {}

extension PersistableEnum {
    /// The first case.
    public init() {
        guard let value = Self.allCases.first ?? Self(rawValue: RawValue()) else {
            Misuse.stop(
                Realm.Error(
                    .invalidSchema, "\(Self.self) has no case, so no property can hold one."))
        }
        self = value
    }

    /// By the raw values, as the database compares them.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    public static var _type: _PropertyShape { RawValue._type }
    public static func _scalar(from value: _EngineValue) -> Self? {
        RawValue._scalar(from: value).flatMap { Self(rawValue: $0) }
    }
    public static func _load(_ object: ObjectBase, _ column: Int) -> Self? {
        RawValue._load(object, column).flatMap { Self(rawValue: $0) }
    }
    public func _store(_ object: ObjectBase, _ column: Int) { rawValue._store(object, column) }
    public var _engineValue: _EngineValue { rawValue._engineValue }
    public static func _scalar(converting any: Any) -> Self? {
        (any as? RawValue ?? RawValue._scalar(converting: any)).flatMap { Self(rawValue: $0) }
    }

    public static func _get(_ object: ObjectBase, _ column: Int) -> Self {
        RawValue._load(object, column).map { known($0) } ?? Self()
    }

    public static func _make(_ value: _EngineValue) -> Self {
        RawValue._scalar(from: value).map { known($0) } ?? Self()
    }

    /// The case with a raw value that the file holds.
    private static func known(_ rawValue: RawValue) -> Self {
        if let value = Self(rawValue: rawValue) { return value }
        Misuse.report(
            Realm.Error(
                .typeMismatch,
                "The file holds '\(rawValue)', which no case of \(Self.self) has. Make the "
                    + "property optional to read it as nil."
            ))
        return Self()
    }
}

extension Query where T: PersistableEnum {
    /// The stored value, for queries that an enum does not support: `$0.mood.rawValue.starts(with:
    /// "w")`.
    public var rawValue: Query<T.RawValue> { Query<T.RawValue>(node) }
}

extension Query where T: _OptionalProtocol, T.Wrapped: PersistableEnum {
    /// The stored value, for queries that an enum does not support.
    public var rawValue: Query<T.Wrapped.RawValue?> { Query<T.Wrapped.RawValue?>(node) }
}
