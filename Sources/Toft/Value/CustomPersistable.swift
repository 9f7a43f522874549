internal import ToftModel

/// The types that a custom type can be stored as: numbers, text, dates and their like, enums of
/// such, and `EmbeddedObject`. Not for apps.
public protocol _PersistedForm: _PersistableInsideOptional {}

extension EmbeddedObject: _PersistedForm {}

/// The conversions of all custom types; an app's type conforms to `CustomPersistable` or
/// `FailableCustomPersistable`.
public protocol _CustomPersistable: _Persistable, _PersistableInsideOptional, _Indexable,
    _PrimaryKey
where PersistedType: _PersistedForm {
    /// The type that the database keeps.
    associatedtype PersistedType
    /// The value as the database keeps it.
    var persistableValue: PersistedType { get }
    /// Makes a value of its stored form. Not for apps.
    static func _custom(_ persisted: PersistedType) -> Self?
}

/// A type of an app's own that properties and collections can hold, kept as another type.
///
/// ```swift
/// struct Price: CustomPersistable {
///     var cents: Int
///     init(persistedValue: Int) { cents = persistedValue }
///     var persistableValue: Int { cents }
/// }
///
/// class Book: Object {
///     @Persisted(indexed: true) var price: Price
///     @Persisted var earlier: List<Price>
/// }
/// realm.objects(Book.self).where { $0.price < Price(persistedValue: 1000) }
/// ```
///
/// `PersistedType` is a scalar or an `EmbeddedObject`; the latter is created with each assignment,
/// and read from the object in the property. Queries and indexes compare the stored form; if that
/// is an object, `==` compares each of its properties. An index or a primary key needs a stored
/// type that can have one; otherwise opening the realm is an error. A bare declaration starts with
/// the value that is made of 0, "", or a new object. Differs from Realm: the type has to be
/// `Hashable`.
public protocol CustomPersistable: _CustomPersistable {
    /// The type that the database keeps.
    associatedtype PersistedType
    /// The value as the database keeps it.
    var persistableValue: PersistedType { get }
    /// Makes a value of its stored form.
    init(persistedValue: PersistedType)
}

/// A custom type that has no value for some stored values.
///
/// ```swift
/// extension URL: FailableCustomPersistable {
///     public init?(persistedValue: String) { self.init(string: persistedValue) }
///     public var persistableValue: String { absoluteString }
/// }
/// ```
///
/// If the file contains such a value, an optional reads as nil; any other reads as the value of a
/// bare declaration and is misuse, with code `.typeMismatch`: Realm stops the program there. If no
/// value can be made of 0, "" or a new object, a property that is not optional needs a default.
public protocol FailableCustomPersistable: _CustomPersistable {
    /// The type that the database keeps.
    associatedtype PersistedType
    /// The value as the database keeps it.
    var persistableValue: PersistedType { get }
    /// Makes a value of a stored one; nil if it has none for it.
    init?(persistedValue: PersistedType)
}

extension CustomPersistable {
    public static func _custom(_ persisted: PersistedType) -> Self? {
        Self(persistedValue: persisted)
    }
}

extension FailableCustomPersistable {
    public static func _custom(_ persisted: PersistedType) -> Self? {
        Self(persistedValue: persisted)
    }
}

// MARK: Properties

extension _CustomPersistable {
    public static var _shape: _PropertyShape { PersistedType._shape }
    public static func _initial() -> Self { _standIn() }

    public static func _get(_ object: ObjectBase, _ column: Int) -> Self {
        if let recorder = object.recorder {
            recorder.record(object, column)
            return declared(in: object, column) ?? _standIn()
        }
        return PersistedType._getOptional(object, column).map { known($0) } ?? _standIn()
    }

    public static func _set(_ value: Self, _ object: ObjectBase, _ column: Int) {
        PersistedType._setOptional(value.persistableValue, object, column)
    }

    public static func _getOptional(_ object: ObjectBase, _ column: Int) -> Self? {
        if let recorder = object.recorder {
            recorder.record(object, column)
            return nil
        }
        return PersistedType._getOptional(object, column).flatMap { _custom($0) }
    }

    public static func _setOptional(_ value: Self?, _ object: ObjectBase, _ column: Int) {
        PersistedType._setOptional(value?.persistableValue, object, column)
    }

    public static func _promote(
        _ value: Self, _ object: ObjectBase, _ column: Int, _ promotion: _Promotion
    ) throws {
        try PersistedType._promoteOptional(value.persistableValue, object, column, promotion)
    }

    public static func _promoteOptional(
        _ value: Self?, _ object: ObjectBase, _ column: Int, _ promotion: _Promotion
    ) throws {
        try PersistedType._promoteOptional(value?.persistableValue, object, column, promotion)
    }

    public static func _converted(from any: Any?, _ conversion: _ValueConversion) throws -> Self {
        try _convertedElement(from: any, conversion)
    }

    /// The value of a stored form in the file.
    private static func known(_ persisted: PersistedType) -> Self {
        if let value = _custom(persisted) { return value }
        Misuse.report(
            Realm.Error(
                .typeMismatch,
                "The file holds '\(persisted)', and no \(Self.self) can be made of that. Make the "
                    + "property optional to read it as nil."))
        return _standIn()
    }

    /// The default of a property's declaration, for an instance that records key paths.
    private static func declared(in object: ObjectBase, _ column: Int) -> Self? {
        let properties = ModelClass.of(type(of: object)).properties
        guard properties.indices.contains(column),
            properties[column].wrapper is Persisted<Self>.Type
        else { return nil }
        return properties[column].withAddress(in: object) {
            $0.assumingMemoryBound(to: Persisted<Self>.self).pointee.value
        }
    }
}

// MARK: Elements

extension _CustomPersistable {
    public static var _isEmbedded: Bool { PersistedType._isEmbedded }
    public var _embedded: ObjectBase? { persistableValue._embedded }

    public static func _make(_ value: _EngineValue) -> Self {
        PersistedType._makeOptional(value).map { known($0) } ?? _standIn()
    }

    public static func _makeOptional(_ value: _EngineValue) -> Self? {
        PersistedType._makeOptional(value).flatMap { _custom($0) }
    }

    public func _give(to destination: _Destination) throws -> _EngineValue {
        try persistableValue._give(to: destination)
    }

    public static func _standIn() -> Self {
        let persisted = PersistedType._standIn()
        if let value = _custom(persisted) { return value }
        Misuse.stop(
            Realm.Error(
                .typeMismatch,
                "No \(Self.self) can be made of '\(persisted)', with which a bare declaration "
                    + "starts. Give the property a default, or make it optional."))
    }

    public static func _convertedElement(from any: Any?, _ conversion: _ValueConversion) throws
        -> Self
    {
        guard let any = any.flattened else { throw conversion.nullNotAllowed }
        if let value = any as? Self { return value }
        guard let value = _custom(try PersistedType._convertedElement(from: any, conversion))
        else { throw conversion.mismatch(any) }
        return value
    }
}
