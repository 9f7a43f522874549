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
/// can have one, Int and its kin or String; of another it is an error when the realm is opened.
public protocol PersistableEnum: RealmEnum, CaseIterable, Comparable, _Indexable, _PrimaryKey
where RawValue: Comparable {}

/// An enum that a class without `@Persisted` can hold, as `RealmOptional<Mood>` or
/// `RealmProperty<Mood?>`: kept as its raw value.
public protocol RealmEnum: RawRepresentable, _Scalar, RealmOptionalType
where RawValue: _Scalar, PersistedType == RawValue {}

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
}

extension RealmEnum {
    /// The case with the raw value 0 or "".
    public init() {
        guard let value = Self(rawValue: RawValue()) else {
            Misuse.stop(
                Realm.Error(
                    .invalidSchema,
                    "\(Self.self) has no case for '\(RawValue())', with which a property starts: "
                        + "make the property optional."))
        }
        self = value
    }

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

extension Query where T: OptionalProtocol, T.Wrapped: PersistableEnum {
    /// The value as it is kept, for what an enum can't be asked.
    public var rawValue: Query<T.Wrapped.RawValue?> { Query<T.Wrapped.RawValue?>(node) }
}

extension Query where T: RealmCollection, T.Element: PersistableEnum {
    /// The elements as they are kept, for what an enum can't be asked.
    public var rawValue: Query<AnyRealmCollection<T.Element.RawValue>> {
        Query<AnyRealmCollection<T.Element.RawValue>>(node)
    }
}

extension Query
where T: RealmCollection, T.Element: OptionalProtocol, T.Element.Wrapped: PersistableEnum {
    /// The elements as they are kept, for what an enum can't be asked.
    public var rawValue: Query<AnyRealmCollection<T.Element.Wrapped.RawValue?>> {
        Query<AnyRealmCollection<T.Element.Wrapped.RawValue?>>(node)
    }
}

extension Query where T: RealmKeyedCollection, T.Value: PersistableEnum {
    /// The values as they are kept, for what an enum can't be asked.
    public var rawValue: Query<Map<T.Key, T.Value.RawValue>> {
        Query<Map<T.Key, T.Value.RawValue>>(node)
    }
}

extension Query
where T: RealmKeyedCollection, T.Value: OptionalProtocol, T.Value.Wrapped: PersistableEnum {
    /// The values as they are kept, for what an enum can't be asked.
    public var rawValue: Query<Map<T.Key, T.Value.Wrapped.RawValue?>> {
        Query<Map<T.Key, T.Value.Wrapped.RawValue?>>(node)
    }
}
