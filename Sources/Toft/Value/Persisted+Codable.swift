/// A class whose properties are all coded, as `class Dog: Object, Codable`, is coded like any
/// other: the compiler writes the code.
///
/// A decoded object is unmanaged: `realm.add` it. A key that JSON lacks is nil for an optional,
/// otherwise an error, as with any Swift type: a default is for properties that `CodingKeys` leave
/// out.
extension Persisted: Decodable where Value: Decodable {
    public init(from decoder: any Decoder) throws {
        self.init(
            value: try decoder.singleValueContainer().decode(Value.self), traits: .plain)
    }
}

/// The property of an unmanaged object. The property of a managed one does not know its object, so
/// encoding it throws `.unsupported`; Realm stops the program. Encode a copy, `Dog(value: dog)`, or
/// write `encode(to:)` yourself. Collections by themselves are encoded, managed or not.
extension Persisted: Encodable where Value: Encodable {
    public func encode(to encoder: any Encoder) throws {
        guard column < 0 else {
            let name = encoder.codingPath.last?.stringValue ?? ""
            throw Realm.Error(
                .unsupported,
                "The property '\(name)' of a managed object can't be encoded. Encode an unmanaged "
                    + "copy, made with init(value:), or write encode(to:) for the class.")
        }
        var container = encoder.singleValueContainer()
        try container.encode(value ?? Value._initial())
    }
}

extension KeyedDecodingContainer {
    /// An optional property, nil if the key is missing.
    public func decode<Wrapped: Decodable>(_ type: Persisted<Wrapped?>.Type, forKey key: Key) throws
        -> Persisted<Wrapped?>
    {
        try decodeIfPresent(type, forKey: key) ?? Persisted(value: nil, traits: .plain)
    }
}
