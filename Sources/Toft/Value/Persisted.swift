internal import ToftModel

/// Marks a property of an `Object` subclass as one that the database keeps.
///
/// ```swift
/// class Dog: Object {
///     @Persisted(primaryKey: true) var id: Int
///     @Persisted(indexed: true) var name: String
///     @Persisted var owner: Person?
///     @Persisted var toys: List<String>
///     @Persisted(originProperty: "dog") var walks: LinkingObjects<Walk>
/// }
/// ```
///
/// Spelled as in Realm. The compiler checks the types that it can mark; Realm finds some out at
/// launch.
@propertyWrapper
public struct Persisted<Value: _Persistable> {
    // In the order that takes the fewest bytes.
    /// The value while unmanaged, nil until a bare declaration is first read that always starts as
    /// the same; of a managed collection, the collection.
    @usableFromInline var value: Value?
    @usableFromInline let traits: _PersistedTraits
    /// The property's place in its class once the object is managed, -1 while it is not. Stays the
    /// last stored property: adding an object to a realm writes it in place.
    @usableFromInline var column: Int32

    @usableFromInline init(value: Value?, traits: _PersistedTraits) {
        self.value = value
        self.traits = traits
        column = -1
    }

    /// A property that starts as 0, false, "", nil, no bytes, the present time or an empty
    /// collection.
    @_disfavoredOverload
    @inlinable public init() { self.init(value: nil, traits: .plain) }

    /// A property with a default value.
    @inlinable public init(wrappedValue: Value) { self.init(value: wrappedValue, traits: .plain) }

    /// Only for the compiler: the value of a property is reached through its object.
    @available(
        *, unavailable, message: "@Persisted can only be used for properties of Object subclasses"
    )
    public var wrappedValue: Value {
        get { Value._initial() }
        set { value = newValue }
    }

    /// The value of the property of `object`.
    @inlinable
    public static subscript<Owner: ObjectBase>(
        _enclosingInstance object: Owner,
        wrapped wrappedKeyPath: ReferenceWritableKeyPath<Owner, Value>,
        storage storageKeyPath: ReferenceWritableKeyPath<Owner, Self>
    ) -> Value {
        @inline(__always) get {
            let column = object[keyPath: storageKeyPath].column
            if column >= 0, !Value._isKeptWhenManaged { return Value._get(object, Int(column)) }
            if let value = object[keyPath: storageKeyPath].value { return value }
            if column >= 0, !object._keepsCollections { return Value._get(object, Int(column)) }
            return object[keyPath: storageKeyPath].kept(in: object)
        }
        @inline(__always) set {
            let column = object[keyPath: storageKeyPath].column
            if column >= 0 { return Value._set(newValue, object, Int(column)) }
            if Value._isKeptWhenManaged { object._hasCollections = true }
            object[keyPath: storageKeyPath].value = newValue
        }
    }

    /// The value stored here: any value of an unmanaged object, the collection of a managed one.
    @inlinable mutating func kept(in object: ObjectBase) -> Value {
        if let value { return value }
        if Value._isKeptWhenManaged { object._hasCollections = true }
        let made = column >= 0 ? Value._get(object, Int(column)) : Value._initial()
        value = made
        return made
    }
}

extension Persisted where Value: _Indexable {
    /// A property with an index or without.
    @inlinable public init(indexed: Bool) {
        self.init(value: nil, traits: indexed ? .indexed : .plain)
    }

    /// A property with a default value, with an index or without.
    @inlinable public init(wrappedValue: Value, indexed: Bool) {
        self.init(value: wrappedValue, traits: indexed ? .indexed : .plain)
    }
}

extension Persisted where Value: _PrimaryKey {
    /// The primary key, or a plain property.
    @inlinable public init(primaryKey: Bool) {
        self.init(value: nil, traits: primaryKey ? .primaryKey : .plain)
    }

    /// The primary key with a default value, or a plain property.
    @inlinable public init(wrappedValue: Value, primaryKey: Bool) {
        self.init(value: wrappedValue, traits: primaryKey ? .primaryKey : .plain)
    }
}

extension Persisted where Value: _AutoIncrementable {
    /// A primary key that is counted: an object that is added with 0 gets the next one, 1 more than
    /// the greatest that an object of the class has had. The key of a deleted object is not used
    /// again.
    ///
    /// ```swift
    /// @Persisted(primaryKey: true, autoIncrement: true) var id: Int
    /// ```
    @inlinable public init(primaryKey: Bool, autoIncrement: Bool) {
        let key: _PersistedTraits = primaryKey ? .primaryKey : .plain
        self.init(value: nil, traits: autoIncrement ? key.union(.autoIncrement) : key)
    }
}

extension Persisted where Value: _Linking {
    /// A link, or a collection of links, with a rule for deletions.
    ///
    /// ```swift
    /// @Persisted(deleteRule: .cascade) var invoices: List<Invoice>
    /// ```
    @inlinable public init(deleteRule: DeleteRule) {
        self.init(value: nil, traits: deleteRule.traits)
    }
}

/// The effect of deletions along a link: the rule of a property, for its targets.
public enum DeleteRule: Int, Sendable {
    /// The targets stay when the object is deleted; links to an object that is deleted become nil,
    /// or leave their collection. Every link does that without a rule.
    case nullify = 0
    /// The targets are deleted with the object, whatever else links to them; so are their own
    /// targets with this rule, at any depth, and cycles end.
    case cascade = 1
    /// An object can't be deleted while another one links to it through this property, unless the
    /// same call deletes that one too.
    case deny = 2

    @usableFromInline var traits: _PersistedTraits {
        switch self {
        case .nullify: .plain
        case .cascade: .cascade
        case .deny: .deny
        }
    }
}

// A default that is random, or the current time, is made with the object: reading, encoding and
// adding it give the same one.
extension Persisted where Value: _DrawnDefault {
    /// A property that starts as the present time, or as an id of its own.
    public init() { self.init(value: Value._initial(), traits: .plain) }
}

extension Persisted where Value: _DrawnDefault & _Indexable {
    /// A property with an index or without, which starts as the present time, or as an id of its
    /// own.
    public init(indexed: Bool) {
        self.init(value: Value._initial(), traits: indexed ? .indexed : .plain)
    }
}

extension Persisted where Value: _DrawnDefault & _PrimaryKey {
    /// The primary key, or a plain property, which starts as an id of its own.
    public init(primaryKey: Bool) {
        self.init(value: Value._initial(), traits: primaryKey ? .primaryKey : .plain)
    }
}

extension Persisted where Value: _LinkingObjects {
    /// The objects that link here through the property named `originProperty` of their class.
    public init(originProperty: String) {
        self.init(value: Value._unmanaged(originProperty: originProperty), traits: .plain)
    }
}

/// A declaration's properties besides the type. Not for apps.
public struct _PersistedTraits: OptionSet, Sendable {
    public let rawValue: UInt8
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    @inlinable public static var plain: _PersistedTraits { [] }
    @inlinable public static var primaryKey: _PersistedTraits { _PersistedTraits(rawValue: 1) }
    @inlinable public static var indexed: _PersistedTraits { _PersistedTraits(rawValue: 2) }
    @inlinable public static var autoIncrement: _PersistedTraits { _PersistedTraits(rawValue: 4) }
    @inlinable public static var cascade: _PersistedTraits { _PersistedTraits(rawValue: 8) }
    @inlinable public static var deny: _PersistedTraits { _PersistedTraits(rawValue: 16) }
}

/// The parts of any `Persisted` that reflection needs, at its address in an object.
protocol AnyPersisted: SendableMetatype {
    static var shape: _PropertyShape { get }
    /// The type of the value, if the engine's values can be converted to it; nil for links.
    static var element: (any RealmCollectionValue.Type)? { get }
    static var alignment: Int { get }
    /// The offset in it of the column's number; nil for a legacy property, which has none.
    static var columnOffset: Int? { get }
    /// The legacy property that lies here; nil for another.
    static func legacy(at address: UnsafeRawPointer) -> (any LegacyProperty)?
    /// Whether a managed object's kept value has to be made anew: true of collections.
    static var isKept: Bool { get }
    static func traits(at address: UnsafeRawPointer) -> _PersistedTraits
    /// The name given as `originProperty`.
    static func originProperty(at address: UnsafeRawPointer) -> String?
    /// Whether a value holds memory: text, data, objects, collections.
    static var holdsMemory: Bool { get }
    /// Whether there is a value, given or read.
    static func hasValue(at address: UnsafeRawPointer) -> Bool
    /// Releases the value stored here.
    static func clear(at address: UnsafeMutableRawPointer)
    /// Hands the value of an unmanaged object's property over, to be written to its new row.
    static func promote(
        at address: UnsafeMutableRawPointer, of object: ObjectBase, _ column: Int,
        _ promotion: _Promotion) throws
    /// The value, managed or not.
    static func any(at address: UnsafeMutableRawPointer, of object: ObjectBase) -> Any
    /// Converts a value and sets it.
    static func set(
        _ any: Any?, at address: UnsafeMutableRawPointer, of object: ObjectBase,
        _ conversion: _ValueConversion) throws
}

extension Persisted: AnyPersisted {
    static var shape: _PropertyShape {
        let shape = Value._shape
        // A custom type's shape does not include that.
        return shape.type == .link && shape.collection == .none ? shape.optional : shape
    }
    static var element: (any RealmCollectionValue.Type)? {
        Value.self as? any RealmCollectionValue.Type
    }
    static var alignment: Int { MemoryLayout<Self>.alignment }
    static var columnOffset: Int? { MemoryLayout<Self>.size - MemoryLayout<Int32>.size }
    static func legacy(at address: UnsafeRawPointer) -> (any LegacyProperty)? { nil }
    static var isKept: Bool { Value._isKeptWhenManaged }

    static func traits(at address: UnsafeRawPointer) -> _PersistedTraits {
        address.assumingMemoryBound(to: Self.self).pointee.traits
    }

    static func originProperty(at address: UnsafeRawPointer) -> String? {
        (address.assumingMemoryBound(to: Self.self).pointee.value as? any _LinkingObjects)?
            ._originProperty
    }

    static var holdsMemory: Bool { !_isPOD(Value.self) }

    static func hasValue(at address: UnsafeRawPointer) -> Bool {
        address.assumingMemoryBound(to: Self.self).pointee.value != nil
    }

    static func clear(at address: UnsafeMutableRawPointer) {
        address.assumingMemoryBound(to: Self.self).pointee.value = nil
    }

    static func promote(
        at address: UnsafeMutableRawPointer, of object: ObjectBase, _ column: Int,
        _ promotion: _Promotion
    ) throws {
        let value = address.assumingMemoryBound(to: Self.self).pointee.kept(in: object)
        let isAdopted = (value as? any AdoptableCollection)?.isUnmanaged == true
        try Value._promote(value, object, column, promotion)
        // The app's list becomes the managed one, and the object continues to return it. Nothing
        // else may refer to the object by then: those that led to it have forgotten it.
        if isAdopted {
            promotion.afterwards { _ in
                withExtendedLifetime(object) {
                    address.assumingMemoryBound(to: Self.self).pointee.value = value
                }
            }
        }
    }

    static func any(at address: UnsafeMutableRawPointer, of object: ObjectBase) -> Any {
        let property = address.assumingMemoryBound(to: Self.self)
        let column = property.pointee.column
        if column >= 0, !isKept || !object._keepsCollections {
            return Value._get(object, Int(column))
        }
        return property.pointee.kept(in: object)
    }

    static func set(
        _ any: Any?, at address: UnsafeMutableRawPointer, of object: ObjectBase,
        _ conversion: _ValueConversion
    ) throws {
        let value = try Value._converted(from: any, conversion)
        let property = address.assumingMemoryBound(to: Self.self)
        if property.pointee.column >= 0 {
            Value._set(value, object, Int(property.pointee.column))
        } else {
            if isKept { object._hasCollections = true }
            property.pointee.value = value
        }
    }
}

/// A collection that becomes managed with its object.
protocol AdoptableCollection {
    var isUnmanaged: Bool { get }
}
