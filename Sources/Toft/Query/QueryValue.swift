internal import ToftEngine
internal import Foundation
internal import ToftModel
internal import ToftQuery
internal import ToftStorage

/// Turns what an app hands to a query into the engine's values.
enum QueryValue {
    /// An argument: one value, or a list of them for IN.
    static func argument(_ any: Any?, for context: String) throws -> QueryArgument {
        guard let any = any.flattened else { return .value(.null) }
        if let custom = any as? any _CustomPersistable {
            return try argument(custom.persistableValue, for: context)
        }
        if any is any _Scalar || any is any StringProtocol || any is AnyRealmValue {
            return .value(try value(of: any, for: context))
        }
        if let sequence = any as? any Sequence { return .list(try values(sequence, context)) }
        return .value(try value(of: any, for: context))
    }

    private static func values(_ sequence: some Sequence, _ context: String) throws -> [Value] {
        try sequence.map { try value(of: $0, for: context) }
    }

    /// One value.
    static func value(of any: Any?, for context: String) throws -> Value {
        switch any.flattened {
        case nil: return .null
        case let scalar as any _Scalar: return scalar._engineValue.value
        case let custom as any _CustomPersistable:
            return try value(of: custom.persistableValue, for: context)
        case let object as ObjectBase: return try link(to: object, for: context)
        case let mixed as AnyRealmValue:
            return try mixed.value { try link(to: $0, for: context) }
        case let number as NSNumber:
            return number.isFloatingPoint ? .double(number.doubleValue) : .int(number.int64Value)
        case let other?: return try rest(other, context)
        }
    }

    private static func link(to object: ObjectBase, for context: String) throws -> Value {
        guard let row = object.row else {
            throw Realm.Error(
                .invalidQueryArgument,
                "\(context): an unmanaged object can't be asked for; add it to the realm first.")
        }
        return .link(row.handle.ref)
    }

    private static func rest(_ any: Any, _ context: String) throws -> Value {
        if let integer = any as? any BinaryInteger, let value = Int64(exactly: integer) {
            return .int(value)
        }
        if let date = any as? NSDate {
            return Date(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate)
                ._engineValue.value
        }
        if let text = any as? any StringProtocol { return .string(String(text)) }
        throw Realm.Error(
            .invalidQueryArgument,
            "\(context): '\(any)' is \(Swift.type(of: any)), which no property holds.")
    }
}

extension NSNumber {
    fileprivate var isFloatingPoint: Bool {
        let type = String(cString: objCType)
        return type == "d" || type == "f"
    }
}
