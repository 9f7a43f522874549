public import Foundation
internal import ToftModel

/// The types of `@Persisted` properties. Every conformance is Toft's own; apps name it at most in
/// generic code.
public protocol _Persistable: _HasPersistedType {
    static var _shape: _PropertyShape { get }
    /// Whether a managed object keeps the value once made: true of collections, which are live
    /// themselves.
    static var _isKeptWhenManaged: Bool { get }
    /// The value of an unmanaged property declared without a default.
    static func _initial() -> Self
    /// Reads a managed property.
    static func _get(_ object: ObjectBase, _ column: Int) -> Self
    /// Writes a managed property.
    static func _set(_ value: Self, _ object: ObjectBase, _ column: Int)
    /// Converts anything (a value, a dictionary, an array) to such a value; throws if it is not
    /// one.
    static func _converted(from any: Any?, _ conversion: _ValueConversion) throws -> Self
    /// Gives the value of an unmanaged object's property to the object's new row.
    static func _promote(
        _ value: Self, _ object: ObjectBase, _ column: Int, _ promotion: _Promotion) throws
}

extension _Persistable {
    @inlinable public static var _isKeptWhenManaged: Bool { false }
}

/// The types of elements of `List`, `MutableSet`, `Results` and `LinkingObjects`, and of values of
/// `Map`: objects, and the scalars, optional or not.
public protocol RealmCollectionValue: Hashable, _HasPersistedType {
    static var _shape: _PropertyShape { get }
    /// Whether elements are objects themselves, not types of an app's own that are kept as some.
    static var _isObject: Bool { get }
    /// Whether it is kept as an object that lives in its owner.
    static var _isEmbedded: Bool { get }
    /// The object to store, for an embedded one.
    var _embedded: ObjectBase? { get }
    /// Makes an element of the engine's value.
    static func _make(_ value: _EngineValue) -> Self
    /// Gives the element to the engine. An unmanaged object is added to the realm.
    func _give(to destination: _Destination) throws -> _EngineValue
    /// The replacement for an element that can't be read, after misuse.
    static func _standIn() -> Self
    static func _convertedElement(from any: Any?, _ conversion: _ValueConversion) throws -> Self
}

extension RealmCollectionValue {
    @inlinable public static var _isObject: Bool { false }
    @inlinable public static var _isEmbedded: Bool { false }
    @inlinable public var _embedded: ObjectBase? { nil }
}

/// The types that may be `Wrapped` of an optional property: the scalars, and objects as links.
public protocol _PersistableInsideOptional: RealmCollectionValue {
    /// Reads a managed optional property.
    static func _getOptional(_ object: ObjectBase, _ column: Int) -> Self?
    /// Writes a managed optional property.
    static func _setOptional(_ value: Self?, _ object: ObjectBase, _ column: Int)
    static func _promoteOptional(
        _ value: Self?, _ object: ObjectBase, _ column: Int, _ promotion: _Promotion) throws
    /// Makes an element of the engine's value; nil for null and for a missing one.
    static func _makeOptional(_ value: _EngineValue) -> Self?
}

/// The types that may have an index: Bool, Int and its kin, String, Date, UUID, ObjectId, each also
/// optional.
public protocol _Indexable {}
/// The types that may be a primary key: Int and its kin, String, UUID, ObjectId, each also
/// optional.
public protocol _PrimaryKey {}

/// Types whose bare declaration starts with a different value each time: Date, UUID, ObjectId.
public protocol _DrawnDefault: _Persistable {}

extension Date: _DrawnDefault {}
extension UUID: _DrawnDefault {}
extension ObjectId: _DrawnDefault {}

/// Types of primary keys that can be counted: integers of 64 bits.
public protocol _AutoIncrementable {}

/// Links and collections of links, which may have a delete rule.
public protocol _Linking {}

extension Optional: _Linking where Wrapped: ObjectBase {}
extension List: _Linking where Element: ObjectBase {}
extension MutableSet: _Linking where Element: ObjectBase {}
extension Map: _Linking where Value: _Linking {}

/// The type of a property as the engine sees it.
public struct _PropertyShape: Sendable {
    let type: ToftModel.PropertyType
    var isOptional = false
    var collection = CollectionKind.none
    /// The class of objects linked to.
    var target: ObjectBase.Type?

    init(_ type: ToftModel.PropertyType, target: ObjectBase.Type? = nil) {
        self.type = type
        self.target = target
    }

    /// The optional form of the shape.
    var optional: _PropertyShape {
        var shape = self
        shape.isOptional = true
        return shape
    }

    /// A collection of such values.
    func collection(_ kind: CollectionKind) -> _PropertyShape {
        var shape = self
        shape.collection = kind
        return shape
    }
}

/// A value on its way to or from the engine, with the realm that its link belongs to.
public struct _EngineValue {
    let value: Value
    let session: RealmSession?

    init(_ value: Value, _ session: RealmSession? = nil) {
        self.value = value
        self.session = session
    }
}
