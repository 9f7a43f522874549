public import Foundation
internal import ToftModel
internal import ToftStorage

/// The conversions of all scalars: one from the stored form and one to it serve properties, lists,
/// results and queries.
public protocol _Scalar: _Persistable, _PersistedForm {
    init()
    static var _type: _PropertyShape { get }
    /// Converts the engine's value; nil when it is null.
    static func _scalar(from value: _EngineValue) -> Self?
    /// Reads a managed property; nil when it is null.
    static func _load(_ object: ObjectBase, _ column: Int) -> Self?
    /// Writes a managed property.
    func _store(_ object: ObjectBase, _ column: Int)
    var _engineValue: _EngineValue { get }
    /// Converts any value of an app whose type is not known: an `Int8` for an `Int`, an `NSNumber`,
    /// a JSON number.
    static func _scalar(converting any: Any) -> Self?
}

extension _Scalar {
    public static var _shape: _PropertyShape { _type }
    public static func _initial() -> Self { Self() }
    @inlinable public static func _get(_ object: ObjectBase, _ column: Int) -> Self {
        _load(object, column) ?? Self()
    }
    @inlinable public static func _set(_ value: Self, _ object: ObjectBase, _ column: Int) {
        value._store(object, column)
    }
    @inlinable public static func _getOptional(_ object: ObjectBase, _ column: Int) -> Self? {
        _load(object, column)
    }
    @inlinable public static func _setOptional(_ value: Self?, _ object: ObjectBase, _ column: Int)
    {
        if let value { value._store(object, column) } else { object._setNull(column) }
    }

    public static func _promote(
        _ value: Self, _ object: ObjectBase, _ column: Int, _ promotion: _Promotion
    ) throws {
        promotion.set(value._engineValue.value, column)
    }
    public static func _promoteOptional(
        _ value: Self?, _ object: ObjectBase, _ column: Int, _ promotion: _Promotion
    ) throws {
        promotion.set(value?._engineValue.value ?? .null, column)
    }

    public static func _converted(from any: Any?, _ conversion: _ValueConversion) throws -> Self {
        try _convertedElement(from: any, conversion)
    }
    public static func _convertedElement(from any: Any?, _ conversion: _ValueConversion) throws
        -> Self
    {
        guard let any = any.flattened else { throw conversion.nullNotAllowed }
        if let value = any as? Self { return value }
        guard let value = _scalar(converting: any) else { throw conversion.mismatch(any) }
        return value
    }

    public static func _make(_ value: _EngineValue) -> Self { _scalar(from: value) ?? Self() }
    public static func _makeOptional(_ value: _EngineValue) -> Self? { _scalar(from: value) }
    public func _give(to destination: _Destination) throws -> _EngineValue { _engineValue }
    public static func _standIn() -> Self { Self() }
}

// MARK: Integers

/// Int and its kin, all kept as 64 bits.
public protocol _ScalarInteger: _Scalar, FixedWidthInteger, SignedInteger {}

extension _ScalarInteger {
    public static var _type: _PropertyShape { _PropertyShape(.int) }

    public static func _scalar(from value: _EngineValue) -> Self? {
        switch value.value {
        case .int(let number): Self(truncatingIfNeeded: number)
        case .double(let number): Self(exactly: number.rounded(.towardZero))
        default: nil
        }
    }
    public var _engineValue: _EngineValue { _EngineValue(.int(Int64(self))) }
    @inlinable public static func _load(_ object: ObjectBase, _ column: Int) -> Self? {
        object._loadWord(column).map { Self(truncatingIfNeeded: $0) }
    }
    @inlinable public func _store(_ object: ObjectBase, _ column: Int) {
        object._storeInt(Int64(self), column)
    }

    public static func _scalar(converting any: Any) -> Self? {
        switch any {
        case let number as any BinaryInteger: Self(exactly: number)
        case let number as NSNumber:
            Self(exactly: number.doubleValue) == nil ? nil : Self(exactly: number.int64Value)
        case let number as any BinaryFloatingPoint:
            Double(number).rounded() == Double(number) ? Self(exactly: Double(number)) : nil
        default: nil
        }
    }
}

extension Int: _ScalarInteger, _Indexable, _PrimaryKey, _AutoIncrementable {}
extension Int8: _ScalarInteger, _Indexable, _PrimaryKey {}
extension Int16: _ScalarInteger, _Indexable, _PrimaryKey {}
extension Int32: _ScalarInteger, _Indexable, _PrimaryKey {}
extension Int64: _ScalarInteger, _Indexable, _PrimaryKey, _AutoIncrementable {}

// MARK: Bool and floating point

extension Bool: _Scalar, _Indexable {
    public static var _type: _PropertyShape { _PropertyShape(.bool) }

    public static func _scalar(from value: _EngineValue) -> Bool? {
        if case .bool(let flag) = value.value { flag } else { nil }
    }
    public var _engineValue: _EngineValue { _EngineValue(.bool(self)) }
    @inlinable public static func _load(_ object: ObjectBase, _ column: Int) -> Bool? {
        object._loadBool(column)
    }
    public func _store(_ object: ObjectBase, _ column: Int) { object.store(.bool(self), column) }

    public static func _scalar(converting any: Any) -> Bool? {
        (any as? NSNumber).flatMap { $0.int64Value == 0 || $0.int64Value == 1 ? $0.boolValue : nil }
    }
}

extension Float: _Scalar {
    public static var _type: _PropertyShape { _PropertyShape(.float) }

    public static func _scalar(from value: _EngineValue) -> Float? {
        switch value.value {
        case .float(let number): number
        case .double(let number): Float(number)
        case .int(let number): Float(number)
        default: nil
        }
    }
    public var _engineValue: _EngineValue { _EngineValue(.float(self)) }
    public static func _load(_ object: ObjectBase, _ column: Int) -> Float? {
        object.float(column)
    }
    public func _store(_ object: ObjectBase, _ column: Int) { object.store(.float(self), column) }
    public static func _scalar(converting any: Any) -> Float? {
        if let whole = any as? any BinaryInteger { return Float(exactly: whole) }
        guard let number = Double._scalar(converting: any) else { return nil }
        if let given = any as? NSNumber, given.isWhole { return Float(exactly: number) }
        let float = Float(number)
        return float.isInfinite && number.isFinite ? nil : float
    }
}

extension Double: _Scalar {
    public static var _type: _PropertyShape { _PropertyShape(.double) }

    public static func _scalar(from value: _EngineValue) -> Double? {
        switch value.value {
        case .double(let number): number
        case .float(let number): Double(number)
        case .int(let number): Double(number)
        case .decimal(let number): number.nearestDouble
        default: nil
        }
    }
    public var _engineValue: _EngineValue { _EngineValue(.double(self)) }
    @inlinable public static func _load(_ object: ObjectBase, _ column: Int) -> Double? {
        object._loadDouble(column)
    }
    public func _store(_ object: ObjectBase, _ column: Int) { object.store(.double(self), column) }

    public static func _scalar(converting any: Any) -> Double? {
        switch any {
        case let number as any BinaryFloatingPoint: Double(number)
        case let number as any BinaryInteger: Double(exactly: number)
        case let number as NSNumber:
            if number.isWhole, number.doubleValue < 0x1p63 {
                Double(exactly: number.int64Value)
            } else if number.isWhole {
                Double(exactly: number.uint64Value)
            } else {
                number.doubleValue
            }
        default: nil
        }
    }
}

extension NSNumber {
    /// Whether it was made of an integer.
    fileprivate var isWhole: Bool {
        let type = UInt8(bitPattern: objCType.pointee)
        return type != UInt8(ascii: "d") && type != UInt8(ascii: "f")
    }
}

// MARK: Text, bytes, time

extension String: _Scalar, _Indexable, _PrimaryKey {
    public static var _type: _PropertyShape { _PropertyShape(.string) }

    public static func _scalar(from value: _EngineValue) -> String? {
        if case .string(let text) = value.value { text } else { nil }
    }
    public var _engineValue: _EngineValue { _EngineValue(.string(self)) }
    public static func _load(_ object: ObjectBase, _ column: Int) -> String? {
        guard let bytes = object.bytes(column) else { return nil }
        // Up to 15 bytes fit in the string itself, and this is the fastest way to fill it.
        guard bytes.count <= 15 else { return String(decoding: bytes, as: UTF8.self) }
        return String(unsafeUninitializedCapacity: bytes.count) { room in
            UnsafeMutableRawBufferPointer(room).copyMemory(from: bytes)
            return bytes.count
        }
    }
    public func _store(_ object: ObjectBase, _ column: Int) {
        var text = self
        text.withUTF8 { object.store(.string(UnsafeRawBufferPointer($0)), column) }
    }
    public static func _scalar(converting any: Any) -> String? {
        (any as? Substring).map { String($0) }
    }
}

extension Data: _Scalar {
    public static var _type: _PropertyShape { _PropertyShape(.data) }

    public static func _scalar(from value: _EngineValue) -> Data? {
        if case .data(let bytes) = value.value { Data(bytes) } else { nil }
    }
    public var _engineValue: _EngineValue { _EngineValue(.data([UInt8](self))) }
    public static func _load(_ object: ObjectBase, _ column: Int) -> Data? {
        object.bytes(column).map { Data($0) }
    }
    public func _store(_ object: ObjectBase, _ column: Int) {
        withUnsafeBytes { object.store(.data($0), column) }
    }
    public static func _scalar(converting any: Any) -> Data? { (any as? [UInt8]).map { Data($0) } }
}

extension Date: _Scalar, _Indexable {
    public static var _type: _PropertyShape { _PropertyShape(.date) }

    /// Seconds from 1970 to the reference date of Foundation, 2001.
    private static let referenceSeconds: Int64 = 978_307_200

    /// Seconds and nanoseconds of the same sign, as the file keeps time. Times beyond 64 bits
    /// become the nearest valid one.
    var timestamp: Timestamp {
        let interval = timeIntervalSinceReferenceDate
        guard abs(interval) < 9e18 else {
            return Timestamp(
                seconds: interval < 0 ? .min : interval.isNaN ? 0 : .max, nanoseconds: 0)
        }
        let whole = interval.rounded(.down)
        var seconds = Int64(whole) + Self.referenceSeconds
        var nanoseconds = Int32(((interval - whole) * 1e9).rounded())
        if nanoseconds >= 1_000_000_000 {
            seconds += 1
            nanoseconds -= 1_000_000_000
        }
        if seconds < 0, nanoseconds > 0 {
            seconds += 1
            nanoseconds -= 1_000_000_000
        }
        return Timestamp(seconds: seconds, nanoseconds: nanoseconds)
    }

    init(_ timestamp: Timestamp) {
        let seconds = Double(timestamp.seconds) - Double(Self.referenceSeconds)
        self.init(timeIntervalSinceReferenceDate: seconds + Double(timestamp.nanoseconds) / 1e9)
    }

    public static func _scalar(from value: _EngineValue) -> Date? {
        if case .date(let timestamp) = value.value { Date(timestamp) } else { nil }
    }
    public var _engineValue: _EngineValue { _EngineValue(.date(timestamp)) }
    public static func _load(_ object: ObjectBase, _ column: Int) -> Date? {
        object.time(column).map { Date($0) }
    }
    /// The value of null in a property that is not optional: the first moment of 1970, like the
    /// zero of numbers.
    public static func _get(_ object: ObjectBase, _ column: Int) -> Date {
        _load(object, column) ?? Date(timeIntervalSince1970: 0)
    }
    public static func _make(_ value: _EngineValue) -> Date {
        _scalar(from: value) ?? Date(timeIntervalSince1970: 0)
    }
    public func _store(_ object: ObjectBase, _ column: Int) {
        object.store(.date(timestamp), column)
    }
    public static func _scalar(converting any: Any) -> Date? {
        (any as? NSDate).map {
            Date(timeIntervalSinceReferenceDate: $0.timeIntervalSinceReferenceDate)
        }
    }
}
