internal import ToftModel

extension Optional: _HasPersistedType where Wrapped: _PersistableInsideOptional {
    public typealias PersistedType = Wrapped.PersistedType?
}

extension Optional: _Persistable where Wrapped: _PersistableInsideOptional {
    public static var _shape: _PropertyShape { Wrapped._shape.optional }
    public static func _initial() -> Wrapped? { nil }
    @inlinable public static func _get(_ object: ObjectBase, _ column: Int) -> Wrapped? {
        Wrapped._getOptional(object, column)
    }
    @inlinable public static func _set(_ value: Wrapped?, _ object: ObjectBase, _ column: Int) {
        Wrapped._setOptional(value, object, column)
    }
    public static func _promote(
        _ value: Wrapped?, _ object: ObjectBase, _ column: Int, _ promotion: _Promotion
    ) throws {
        try Wrapped._promoteOptional(value, object, column, promotion)
    }
    public static func _converted(from any: Any?, _ conversion: _ValueConversion) throws -> Wrapped?
    {
        try any.flattened.map { try Wrapped._convertedElement(from: $0, conversion) }
    }
}

extension Optional: RealmCollectionValue where Wrapped: _PersistableInsideOptional {
    public static var _isObject: Bool { Wrapped._isObject }
    public static var _isEmbedded: Bool { Wrapped._isEmbedded }
    public var _embedded: ObjectBase? { self?._embedded }
    public static func _make(_ value: _EngineValue) -> Wrapped? { Wrapped._makeOptional(value) }
    public func _give(to destination: _Destination) throws -> _EngineValue {
        try self?._give(to: destination) ?? _EngineValue(.null)
    }
    public static func _standIn() -> Wrapped? { nil }
    public static func _convertedElement(from any: Any?, _ conversion: _ValueConversion) throws
        -> Wrapped?
    {
        try _converted(from: any, conversion)
    }
}

extension Optional: _Indexable where Wrapped: _Indexable {}
extension Optional: _PrimaryKey where Wrapped: _PrimaryKey {}

extension Optional where Wrapped == Any {
    /// Nil for nil, for `NSNull`, and for an optional inside that is nil.
    var flattened: Any? {
        guard let value = self else { return nil }
        // No dictionary is cast to a class: Foundation would turn all of it into its own objects.
        if Swift.type(of: value) is AnyClass, value is NSNull { return nil }
        if let optional = value as? any AnyOptional { return optional.anyValue.flattened }
        return value
    }
}

/// Any optional, to unwrap one of type `Any`.
protocol AnyOptional {
    static var wrapped: any Any.Type { get }
    var anyValue: Any? { get }
}

extension Optional: AnyOptional {
    static var wrapped: any Any.Type { Wrapped.self }
    var anyValue: Any? { self }
}
private import Foundation
