public import Foundation

/// The types with a least and a greatest value: numbers and dates.
public protocol MinMaxType: _Scalar {}
extension Int: MinMaxType {}
extension Int8: MinMaxType {}
extension Int16: MinMaxType {}
extension Int32: MinMaxType {}
extension Int64: MinMaxType {}
extension Float: MinMaxType {}
extension Double: MinMaxType {}
extension Date: MinMaxType {}

/// The types that can be added up: numbers.
public protocol AddableType: _Scalar {
    /// The type of the mean of such values.
    associatedtype _Mean: AddableType = Double
}
extension Int: AddableType {}
extension Int8: AddableType {}
extension Int16: AddableType {}
extension Int32: AddableType {}
extension Int64: AddableType {}
extension Float: AddableType {}
extension Double: AddableType {}

/// A property, optional or not, with `min` and `max` by key path.
public protocol _HasMinMax {
    associatedtype Extreme: MinMaxType
}
extension Int: _HasMinMax { public typealias Extreme = Int }
extension Int8: _HasMinMax { public typealias Extreme = Int8 }
extension Int16: _HasMinMax { public typealias Extreme = Int16 }
extension Int32: _HasMinMax { public typealias Extreme = Int32 }
extension Int64: _HasMinMax { public typealias Extreme = Int64 }
extension Float: _HasMinMax { public typealias Extreme = Float }
extension Double: _HasMinMax { public typealias Extreme = Double }
extension Date: _HasMinMax { public typealias Extreme = Date }
extension Optional: _HasMinMax where Wrapped: MinMaxType { public typealias Extreme = Wrapped }

/// A property, optional or not, with `sum` by key path.
public protocol _HasSum {
    associatedtype Sum: AddableType
}
extension Int: _HasSum { public typealias Sum = Int }
extension Int8: _HasSum { public typealias Sum = Int8 }
extension Int16: _HasSum { public typealias Sum = Int16 }
extension Int32: _HasSum { public typealias Sum = Int32 }
extension Int64: _HasSum { public typealias Sum = Int64 }
extension Float: _HasSum { public typealias Sum = Float }
extension Double: _HasSum { public typealias Sum = Double }
extension Optional: _HasSum where Wrapped: AddableType { public typealias Sum = Wrapped }

/// The types that can be sorted by: numbers, text, dates, Bool, data, UUID, ObjectId, optional or
/// not, and `AnyRealmValue`.
public protocol _HasPersistedOrder {}
/// Realm's name for it.
public typealias SortableType = _HasPersistedOrder
extension Bool: _HasPersistedOrder {}
extension Int: _HasPersistedOrder {}
extension Int8: _HasPersistedOrder {}
extension Int16: _HasPersistedOrder {}
extension Int32: _HasPersistedOrder {}
extension Int64: _HasPersistedOrder {}
extension Float: _HasPersistedOrder {}
extension Double: _HasPersistedOrder {}
extension String: _HasPersistedOrder {}
extension Data: _HasPersistedOrder {}
extension Date: _HasPersistedOrder {}
extension UUID: _HasPersistedOrder {}
extension ObjectId: _HasPersistedOrder {}
extension AnyRealmValue: _HasPersistedOrder {}
extension Optional: _HasPersistedOrder where Wrapped: _HasPersistedOrder {}
