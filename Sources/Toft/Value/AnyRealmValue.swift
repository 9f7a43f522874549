public import Foundation

/// A value of any type: of a property, or of an element of a collection, without a fixed type.
///
/// ```swift
/// class Setting: Object {
///     @Persisted(primaryKey: true) var name: String
///     @Persisted var value: AnyRealmValue
///     @Persisted var history: List<AnyRealmValue>
/// }
/// setting.value = 5
/// setting.value = .object(dog)
/// setting.value = .fromDictionary(["sizes": [1, 2.5, "large"]])
/// setting.value.dictionaryValue?["sizes"]?.listValue?.append("huge")
/// ```
///
/// Spelled as in Realm. A property starts as `.none`, which means nil, and can have no index. A
/// link to an object that is deleted becomes `.none`.
///
/// Lists and dictionaries can be nested to a depth of 100; sets hold neither. Assigning one to a
/// managed object copies it, with the unmanaged objects in it added to the realm. A list or
/// dictionary read from a managed object is live: it shows and makes changes in a write
/// transaction, and is invalid once the property is set to something else. Such a list or map has
/// no results and no observers of its own; to the observers of its object, a change of it is one of
/// the property. Reading an element takes time proportional to the size of the property's value,
/// and each change writes that value anew.
///
/// `==` distinguishes types, as in Realm: `.int(1)` is not `.double(1)`. The database compares
/// numbers by their value, in queries, sorting and managed sets.
public enum AnyRealmValue: Hashable {
    /// No value.
    case none
    /// An integer, kept as 64 bits.
    case int(Int)
    /// A truth value.
    case bool(Bool)
    /// A number of single precision.
    case float(Float)
    /// A number of double precision.
    case double(Double)
    /// Text.
    case string(String)
    /// Bytes.
    case data(Data)
    /// A moment, to the nanosecond.
    case date(Date)
    /// A link to an object of any class of the realm.
    case object(Object)
    /// An object id.
    case objectId(ObjectId)
    /// A decimal number.
    case decimal128(Decimal128)
    /// A UUID.
    case uuid(UUID)
    /// Values under keys.
    case dictionary(Map<String, AnyRealmValue>)
    /// Values in order.
    case list(List<AnyRealmValue>)

    /// No value.
    public init() { self = .none }

    /// An unmanaged list of these values. O(values).
    public static func fromArray(_ array: [AnyRealmValue]) -> AnyRealmValue { .list(List(array)) }

    /// An unmanaged dictionary of these values. A key with "." or one that begins with "$" is
    /// misuse. O(values).
    public static func fromDictionary(_ dictionary: [String: AnyRealmValue]) -> AnyRealmValue {
        let map = Map<String, AnyRealmValue>()
        for (key, value) in dictionary { map.updateValue(value, forKey: key) }
        return .dictionary(map)
    }
}

// MARK: What it is

extension AnyRealmValue {
    /// The integer; nil for anything else.
    public var intValue: Int? { if case .int(let value) = self { value } else { nil } }
    /// The truth value; nil for anything else.
    public var boolValue: Bool? { if case .bool(let value) = self { value } else { nil } }
    /// The number of single precision; nil for anything else.
    public var floatValue: Float? { if case .float(let value) = self { value } else { nil } }
    /// The number of double precision; nil for anything else.
    public var doubleValue: Double? { if case .double(let value) = self { value } else { nil } }
    /// The text; nil for anything else.
    public var stringValue: String? { if case .string(let value) = self { value } else { nil } }
    /// The bytes; nil for anything else.
    public var dataValue: Data? { if case .data(let value) = self { value } else { nil } }
    /// The moment; nil for anything else.
    public var dateValue: Date? { if case .date(let value) = self { value } else { nil } }
    /// The object id; nil for anything else.
    public var objectIdValue: ObjectId? {
        if case .objectId(let value) = self { value } else { nil }
    }
    /// The decimal number; nil for anything else.
    public var decimal128Value: Decimal128? {
        if case .decimal128(let value) = self { value } else { nil }
    }
    /// The UUID; nil for anything else.
    public var uuidValue: UUID? { if case .uuid(let value) = self { value } else { nil } }
    /// The dictionary, live if it is a managed object's; nil for anything else.
    public var dictionaryValue: Map<String, AnyRealmValue>? {
        if case .dictionary(let value) = self { value } else { nil }
    }
    /// The list, live if it is a managed object's; nil for anything else.
    public var listValue: List<AnyRealmValue>? {
        if case .list(let value) = self { value } else { nil }
    }

    /// The object; nil for anything else, and for an object of another class.
    public func object<T: Object>(_ objectType: T.Type) -> T? {
        if case .object(let object) = self { object as? T } else { nil }
    }

    /// The value in it; nil for `.none`.
    var content: Any? {
        switch self {
        case .none: nil
        case .int(let value): value
        case .bool(let value): value
        case .float(let value): value
        case .double(let value): value
        case .string(let value): value
        case .data(let value): value
        case .date(let value): value
        case .object(let value): value
        case .objectId(let value): value
        case .decimal128(let value): value
        case .uuid(let value): value
        case .dictionary(let value): value
        case .list(let value): value
        }
    }
}

// MARK: Literals

extension AnyRealmValue: ExpressibleByIntegerLiteral {
    public init(integerLiteral value: Int) { self = .int(value) }
}

extension AnyRealmValue: ExpressibleByFloatLiteral {
    public init(floatLiteral value: Double) { self = .double(value) }
}

extension AnyRealmValue: ExpressibleByBooleanLiteral {
    public init(booleanLiteral value: Bool) { self = .bool(value) }
}

extension AnyRealmValue: ExpressibleByStringLiteral {
    public init(stringLiteral value: String) { self = .string(value) }
}

extension AnyRealmValue: ExpressibleByArrayLiteral {
    /// An unmanaged list of these values.
    public init(arrayLiteral elements: AnyRealmValue...) { self = .fromArray(elements) }
}

extension AnyRealmValue: ExpressibleByDictionaryLiteral {
    /// An unmanaged dictionary of these values; of those with the same key, the last.
    public init(dictionaryLiteral elements: (String, AnyRealmValue)...) {
        let map = Map<String, AnyRealmValue>()
        for (key, value) in elements { map.updateValue(value, forKey: key) }
        self = .dictionary(map)
    }
}

// MARK: Coding

extension AnyRealmValue: Encodable {
    /// Encodes the value in it, without its type: `.none` as null, a list as an array, a dictionary
    /// as an object with its keys, a linked object as it encodes itself.
    /// - Throws: `EncodingError.invalidValue` for an object whose class is not `Encodable`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        guard let content else { return try container.encodeNil() }
        guard let content = content as? any Encodable else {
            throw EncodingError.invalidValue(
                content,
                EncodingError.Context(
                    codingPath: encoder.codingPath,
                    debugDescription: "The class \(type(of: content)) is not Encodable."))
        }
        try container.encode(content)
    }
}

extension AnyRealmValue: Decodable {
    /// Decodes the value found: nothing, a truth value, an integer if the number fits into 64 bits,
    /// another number, text, an array or an object with keys. Other types come back in the form
    /// that they were encoded in: a UUID as text, for example.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .none
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int.self) {
            self = .int(value)
        } else if let value = try? container.decode(Double.self) {
            self = .double(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if (try? decoder.unkeyedContainer()) != nil {
            self = .list(try container.decode(List<AnyRealmValue>.self))
        } else {
            self = .dictionary(try container.decode(Map<String, AnyRealmValue>.self))
        }
    }
}
