internal import ToftModel
internal import ToftStorage

extension Value {
    /// The value of a property, or one of many, as JSON gives it; not of a link or a mixed one.
    /// - Throws: `typeMismatch`.
    init(_ json: JSONValue, for property: PropertyHandle) throws(EngineError) {
        guard let value = Value(json, of: property.type) else {
            throw EngineError(
                .typeMismatch,
                "'\(property.className).\(property.name)' is \(property.typeName) and cannot be "
                    + "\(json.kind)\(Self.detail(json)). Ints are whole and have 64 bits; "
                    + "dates are ISO 8601 texts, data base64, uuids 8-4-4-4-12 and object ids 24 "
                    + "hexadecimal digits, decimals texts of a number.")
        }
        self = value
    }

    private static func detail(_ json: JSONValue) -> String {
        switch json {
        case .text, .integer, .double: ": \(json.shown)"
        default: ""
        }
    }

    /// The value of a type; nil for what is none of it.
    init?(_ json: JSONValue, of type: PropertyType) {
        switch (type, json) {
        case (_, .null): self = .null
        case (.bool, .bool(let value)): self = .bool(value)
        case (.int, .integer(let value)): self = .int(value)
        case (.int, .double(let value)) where value == 0: self = .int(0)  // -0
        case (.float, .integer(let value)): self = .float(Float(value))
        case (.float, .double(let value)):
            let number = Float(value)
            guard number.isFinite else { return nil }
            self = .float(number)
        case (.double, .double(let value)): self = .double(value)
        case (.double, .integer(let value)): self = .double(Double(value))
        case (.decimal128, .integer(let value)): self = .decimal(Decimal128(value))
        case (_, .text(let text)):
            guard let value = Value(text, of: type) else { return nil }
            self = value
        default: return nil
        }
    }

    private init?(_ text: String, of type: PropertyType) {
        let value: Value? =
            switch type {
            case .float: Self.notFinite(text).map { .float(Float($0)) }
            case .double: Self.notFinite(text).map { .double($0) }
            case .string: .string(text)
            case .data: Base64.bytes(text).map { .data($0) }
            case .date: Timestamp(text: text).map { .date($0) }
            case .uuid: FixedBytes(uuidText: text).map { .uuid($0) }
            case .objectId: FixedBytes(objectIdText: text).map { .objectId($0) }
            case .decimal128: Decimal128(text).map { .decimal($0) }
            case .bool, .int, .link, .linkingObjects, .mixed: nil
            }
        guard let value else { return nil }
        self = value
    }

    private static func notFinite(_ text: String) -> Double? {
        switch text {
        case "nan": .nan
        case "inf": .infinity
        case "-inf": -.infinity
        // As earlier versions wrote one with a sign or a payload.
        case "-nan", "snan", "-snan": .nan
        default:
            ["nan(0x", "-nan(0x", "snan(0x", "-snan(0x"].contains { text.hasPrefix($0) }
                ? .nan : nil
        }
    }

    /// The type of a mixed value by the name of its one member.
    static func type(ofTag tag: String) -> PropertyType? {
        switch tag {
        case "$double": .double
        case "$float": .float
        case "$data": .data
        case "$date": .date
        case "$uuid": .uuid
        case "$objectId": .objectId
        case "$decimal": .decimal128
        default: nil
        }
    }
}
