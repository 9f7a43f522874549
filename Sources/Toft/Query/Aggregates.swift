public import Foundation

/// A type whose values the database keeps: those of an app's own type and of an enum as another
/// type, others as they are.
public protocol _HasPersistedType: SendableMetatype {
    /// The type that is kept.
    associatedtype PersistedType = Self
}

/// The types of properties, as Realm calls them in generic code.
public typealias _RealmSchemaDiscoverable = _Persistable
/// The types of properties, by another name of Realm's.
public typealias _OptionalPersistable = _Persistable

/// The types that have a value of their own to start with.
public protocol _DefaultConstructible {
    /// 0, "", no bytes, nothing.
    init()
}
extension Bool: _DefaultConstructible {}
extension Int: _DefaultConstructible {}
extension Int8: _DefaultConstructible {}
extension Int16: _DefaultConstructible {}
extension Int32: _DefaultConstructible {}
extension Int64: _DefaultConstructible {}
extension Float: _DefaultConstructible {}
extension Double: _DefaultConstructible {}
extension String: _DefaultConstructible {}
extension Data: _DefaultConstructible {}
extension Date: _DefaultConstructible {}
extension UUID: _DefaultConstructible {}
extension ObjectId: _DefaultConstructible {}
extension Decimal128: _DefaultConstructible {}
extension AnyRealmValue: _DefaultConstructible {}
extension List: _DefaultConstructible {}
extension MutableSet: _DefaultConstructible {}
extension Map: _DefaultConstructible {}

/// The number of a property, as Realm calls it.
public typealias PropertyKey = UInt16

/// The types with a least and a greatest value: numbers, dates, and `AnyRealmValue`.
public protocol MinMaxType: _HasPersistedType where PersistedType == Self {}
extension Int: MinMaxType {}
extension Int8: MinMaxType {}
extension Int16: MinMaxType {}
extension Int32: MinMaxType {}
extension Int64: MinMaxType {}
extension Float: MinMaxType {}
extension Double: MinMaxType {}
extension Date: MinMaxType {}
extension AnyRealmValue: MinMaxType {}

/// The types that can be added up: numbers, and `AnyRealmValue`.
public protocol AddableType: _HasPersistedType where PersistedType == Self {
    /// The type of the mean of such values.
    associatedtype _Mean: AddableType = Double
    /// 0.
    init()
}
extension Int: AddableType {}
extension Int8: AddableType {}
extension Int16: AddableType {}
extension Int32: AddableType {}
extension Int64: AddableType {}
extension Float: AddableType {}
extension Double: AddableType {}
extension AnyRealmValue: AddableType { public typealias _Mean = AnyRealmValue }

/// The types that can be sorted by: numbers, text, dates, Bool, data, UUID, ObjectId, optional or
/// not, and `AnyRealmValue`.
public protocol SortableType {}
extension Bool: SortableType {}
extension String: SortableType {}
extension Data: SortableType {}
extension UUID: SortableType {}
extension ObjectId: SortableType {}
extension Optional: SortableType where Wrapped: SortableType {}

/// The types of which queries find ranges: numbers and dates, optional or not, and `AnyRealmValue`.
public protocol _QueryNumeric: SortableType {}
extension Int: _QueryNumeric {}
extension Int8: _QueryNumeric {}
extension Int16: _QueryNumeric {}
extension Int32: _QueryNumeric {}
extension Int64: _QueryNumeric {}
extension Float: _QueryNumeric {}
extension Double: _QueryNumeric {}
extension Date: _QueryNumeric {}
extension AnyRealmValue: _QueryNumeric {}
extension Optional: _QueryNumeric where Wrapped: _QueryNumeric {}

/// The elements that are sorted by key paths which the compiler checks: objects and projections.
public protocol KeypathSortable {}
extension ObjectBase: KeypathSortable {}

extension _EngineValue {
    /// The value of an aggregate as what an app asks for; nil for null.
    func made<Wanted>(_ type: Wanted.Type) -> Wanted? {
        switch type {
        case is AnyRealmValue.Type:
            let value = AnyRealmValue._make(self)
            return value == .none ? nil : value as? Wanted
        case let wanted as any _PersistableInsideOptional.Type:
            return wanted._makeOptional(self) as? Wanted
        default: return nil
        }
    }

    /// The sum of what is added up; nil where there is none to tell, which is 0 of mixed values.
    func total<Wanted>(_ type: Wanted.Type) -> Wanted? {
        made(type) ?? AnyRealmValue.decimal128(0) as? Wanted
    }
}
