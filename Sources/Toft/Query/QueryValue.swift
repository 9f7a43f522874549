internal import ToftEngine
internal import Foundation
internal import ToftModel
internal import ToftQuery
internal import ToftStorage

/// Converts an app's values in a query to the engine's.
struct QueryValue {
    /// The databases that objects among the values are of.
    private(set) var origins: Set<ObjectIdentifier> = []

    /// An argument: one value, or a list of them for IN.
    mutating func argument(_ any: Any?, for context: String) throws -> QueryArgument {
        guard let any = any.flattened else { return .value(.null) }
        if any is any _Scalar || any is any StringProtocol || any is AnyRealmValue
            || any is any _CustomPersistable
        {
            return .value(try value(of: any, for: context))
        }
        if let sequence = any as? any Sequence { return .list(try values(sequence, context)) }
        return .value(try value(of: any, for: context))
    }

    private mutating func values(_ sequence: some Sequence, _ context: String) throws -> [Value] {
        try sequence.map { try value(of: $0, for: context) }
    }

    /// One value, for a query without a certain database.
    static func value(of any: Any?, for context: String) throws -> Value {
        var values = QueryValue()
        return try values.value(of: any, for: context)
    }

    private mutating func value(of any: Any?, for context: String) throws -> Value {
        switch any.flattened {
        case nil: return .null
        case let scalar as any _Scalar: return scalar._engineValue.value
        case let custom as any _CustomPersistable:
            if let object = custom._embedded, object.row == nil {
                throw Realm.Error(
                    .invalidQueryArgument,
                    "\(context): \(Swift.type(of: custom)) is kept as an object, which is compared "
                        + "by its properties. Compare these, or use == in where { }.")
            }
            return try value(of: custom.persistableValue, for: context)
        case let object as ObjectBase: return link(to: object)
        case let mixed as AnyRealmValue: return try mixed.value { link(to: $0) }
        // Before NSNumber, which all of Swift's integers are by bridging.
        case let integer as any BinaryInteger: return try Self.whole(integer, context)
        case let number as NSNumber:
            if number.isBoolean { return .bool(number.boolValue) }
            if number.isFloatingPoint { return .double(number.doubleValue) }
            return number.isUnsigned
                ? try Self.whole(number.uint64Value, context) : .int(number.int64Value)
        case let other?: return try Self.rest(other, context)
        }
    }

    /// No link leads to an unmanaged object.
    private mutating func link(to object: ObjectBase) -> Value {
        guard let row = object.row else { return .link(.nowhere) }
        origins.insert(ObjectIdentifier(row.session.engine.database))
        return .link(row.handle.ref)
    }

    /// Throws if objects among the values are of another database than the queried realm: their
    /// keys mean others there.
    static func require(_ origins: Set<ObjectIdentifier>, in session: RealmSession) throws {
        guard origins.subtracting([ObjectIdentifier(session.engine.database)]).isEmpty else {
            throw Realm.Error(
                .wrongRealm,
                "An object in the query belongs to another realm than the queried one.")
        }
    }

    private static func whole(_ integer: some BinaryInteger, _ context: String) throws -> Value {
        guard let value = Int64(exactly: integer) else {
            throw Realm.Error(
                .invalidQueryArgument,
                "\(context): \(integer) is beyond the 64 bits with a sign that integers have.")
        }
        return .int(value)
    }

    private static func rest(_ any: Any, _ context: String) throws -> Value {
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
    /// True if it is one of the two boolean instances.
    fileprivate var isBoolean: Bool {
        self === NSNumber(value: true) || self === NSNumber(value: false)
    }

    fileprivate var isFloatingPoint: Bool {
        let type = String(cString: objCType)
        return type == "d" || type == "f"
    }

    fileprivate var isUnsigned: Bool { String(cString: objCType) == "Q" }
}
