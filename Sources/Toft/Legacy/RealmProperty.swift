/// The types that `RealmOptional` can hold: `Bool`, integers, `Float`, `Double`, and `RealmEnum`.
public protocol RealmOptionalType: _PersistableInsideOptional {}

extension Bool: RealmOptionalType {}
extension Int: RealmOptionalType {}
extension Int8: RealmOptionalType {}
extension Int16: RealmOptionalType {}
extension Int32: RealmOptionalType {}
extension Int64: RealmOptionalType {}
extension Float: RealmOptionalType {}
extension Double: RealmOptionalType {}

/// The types that `RealmProperty` can hold: optionals of those of `RealmOptional`, and
/// `AnyRealmValue`.
public protocol RealmPropertyType: _Persistable {}

extension AnyRealmValue: RealmPropertyType {}
extension Optional: RealmPropertyType where Wrapped: RealmOptionalType {}

/// A number that may be nil, in a class without `@Persisted`.
///
/// ```swift
/// class Person: Object {
///     let age = RealmOptional<Int>()
/// }
/// person.age.value = 30
/// ```
///
/// Declare it with `let`. It is kept with its object, and confined as that is once it is managed.
/// New classes say `@Persisted var age: Int?`.
public final class RealmOptional<Value: RealmOptionalType> {
    let box: LegacyBox<Value?>

    /// A property that starts with a value.
    public init(_ value: Value? = nil) { box = LegacyBox(value) }

    /// The value. Setting that of a managed object needs a write transaction.
    public var value: Value? {
        get { box.value }
        set { box.value = newValue }
    }
}

/// A value in a class without `@Persisted`: a number that may be nil, or one of any type.
///
/// ```swift
/// class Person: Object {
///     let age = RealmProperty<Int?>()
///     let anything = RealmProperty<AnyRealmValue>()
/// }
/// person.age.value = 30
/// ```
///
/// Declare it with `let`. It is kept with its object, and confined as that is once it is managed.
/// New classes say `@Persisted var age: Int?`.
public final class RealmProperty<Value: RealmPropertyType> {
    let box: LegacyBox<Value>

    /// A property that starts as nil.
    public init() { box = LegacyBox(Value._initial()) }

    /// A property that starts with a value.
    public init(_ value: Value) { box = LegacyBox(value) }

    /// The value. Setting that of a managed object needs a write transaction.
    public var value: Value {
        get { box.value }
        set { box.value = newValue }
    }
}

// MARK: What Swift asks of values

extension RealmOptional: CustomStringConvertible {
    /// The value as text.
    public var description: String { value.map { "\($0)" } ?? "nil" }
}

extension RealmOptional: Equatable {
    /// Whether both hold equal values.
    public static func == (left: RealmOptional, right: RealmOptional) -> Bool {
        left.value == right.value
    }
}

extension RealmOptional: Comparable where Value: Comparable {
    /// By what they hold; nil comes first.
    public static func < (left: RealmOptional, right: RealmOptional) -> Bool {
        guard let right = right.value else { return false }
        return left.value.map { $0 < right } ?? true
    }
}

extension RealmOptional: Encodable where Value: Encodable {
    /// Encodes what it holds.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}

extension RealmOptional: Decodable where Value: Decodable {
    /// A property of an unmanaged object with the value that is there.
    public convenience init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        self.init(container.decodeNil() ? nil : try container.decode(Value.self))
    }
}

extension RealmProperty: CustomStringConvertible {
    /// The value as text.
    public var description: String { (value as Any?).flattened.map { "\($0)" } ?? "nil" }
}

extension RealmProperty: Equatable where Value: Equatable {
    /// Whether both hold equal values.
    public static func == (left: RealmProperty, right: RealmProperty) -> Bool {
        left.value == right.value
    }
}

extension RealmProperty: Encodable where Value: Encodable {
    /// Encodes what it holds.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}

extension RealmProperty: Decodable where Value: Decodable {
    /// A property of an unmanaged object with the value that is there.
    public convenience init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode(Value.self))
    }
}

extension KeyedDecodingContainer {
    /// A property that is nil where the key is missing.
    public func decode<Value: Decodable>(_ type: RealmOptional<Value>.Type, forKey key: Key) throws
        -> RealmOptional<Value>
    {
        RealmOptional(try decodeIfPresent(Value.self, forKey: key))
    }

    /// A property that is nil where the key is missing.
    public func decode<Value: Decodable>(_ type: RealmProperty<Value?>.Type, forKey key: Key) throws
        -> RealmProperty<Value?>
    {
        RealmProperty(try decodeIfPresent(Value.self, forKey: key))
    }
}

// MARK: Being kept

/// The value of a `RealmOptional` or a `RealmProperty`: in memory, or that of a row.
final class LegacyBox<Value: _Persistable> {
    private var unmanaged: Value
    private var place: LegacyPlace?
    /// The object that has it, if that lives; else another instance of it is asked.
    private weak var object: ObjectBase?
    fileprivate var recording: LegacyRecording?

    init(_ value: Value) { unmanaged = value }

    fileprivate var isNil: Bool { (unmanaged as Any?).flattened == nil }

    fileprivate func attach(to object: ObjectBase, _ column: Int) {
        guard let row = object.row else { return }
        self.object = object
        place = LegacyPlace(row: row, column: column)
        unmanaged = Value._initial()
    }

    private func owner(_ place: LegacyPlace) -> ObjectBase {
        object ?? place.row.home.makeObject(place.row.key, RowCursor())
    }

    var value: Value {
        get {
            recording?.record()
            guard let place else { return unmanaged }
            return Value._get(owner(place), place.column)
        }
        set {
            guard let place else { return unmanaged = newValue }
            Value._set(newValue, owner(place), place.column)
        }
    }
}

/// `RealmOptional` and `RealmProperty`.
protocol LegacyBoxed: LegacyProperty {
    associatedtype Kept: _Persistable
    var box: LegacyBox<Kept> { get }
}

extension LegacyBoxed {
    static var shape: _PropertyShape { Kept._shape }
    static var element: (any RealmCollectionValue.Type)? {
        Kept.self as? any RealmCollectionValue.Type
    }
    var identity: ObjectIdentifier { ObjectIdentifier(box) }
    var kept: Any { box.value }
    var hasDefault: Bool { !box.isNil }

    func attach(to object: ObjectBase, _ column: Int) { box.attach(to: object, column) }
    func record(_ recording: LegacyRecording) { box.recording = recording }

    func promote(of object: ObjectBase, _ column: Int, _ promotion: _Promotion) throws {
        try Kept._promote(box.value, object, column, promotion)
    }

    func assign(_ any: Any?, _ conversion: _ValueConversion) throws {
        box.value = try Kept._converted(from: any, conversion)
    }
}

extension RealmOptional: LegacyBoxed {}
extension RealmProperty: LegacyBoxed {}
