package import ToftModel
internal import ToftStorage

extension Value {
    /// The value of a property, or one of many, as JSON gives it; not of a link or a mixed one.
    /// - Throws: `typeMismatch`.
    package init(_ json: JSONValue, for property: PropertyHandle) throws(EngineError) {
        guard let value = Value(json, of: property.type) else {
            throw EngineError(
                .typeMismatch,
                "'\(property.className).\(property.name)' is \(property.typeName) and cannot be "
                    + "\(json.kind)\(Self.detail(json)). \(Self.form(of: property.type, json))")
        }
        self = value
    }

    /// A hint at the form that JSON has for a type, for another form.
    static func form(of type: PropertyType, _ json: JSONValue) -> String {
        switch type {
        case .bool: "It takes true or false."
        case .int: "It takes a number that is whole and has 64 bits."
        case .float: "It takes a number in the range of 32 bits, or \"nan\", \"inf\" or \"-inf\"."
        case .double: "It takes a number in the range of 64 bits, or \"nan\", \"inf\" or \"-inf\"."
        case .string: "It takes a text."
        case .data: "It takes a text in base64."
        case .date: "It takes a text in ISO 8601, as 2026-11-22T08:30:00Z\(problem(ofDate: json))."
        case .uuid: "It takes a text of 8-4-4-4-12 hexadecimal digits."
        case .objectId: "It takes a text of 24 hexadecimal digits."
        case .decimal128: "It takes a number of at most 34 digits, or a text of one."
        case .link, .linkingObjects, .mixed: ""
        }
    }

    private static func problem(ofDate json: JSONValue) -> String {
        guard case .text(let text) = json else { return "" }
        do throws(Timestamp.Problem) {
            _ = try Timestamp(parsing: text)
            return ""
        } catch {
            return ": \(error.text)"
        }
    }

    private static func detail(_ json: JSONValue) -> String {
        switch json {
        case .text, .integer, .double, .numeral: ": \(json.shown)"
        default: ""
        }
    }

    /// The value of a type; nil for JSON of another one.
    package init?(_ json: JSONValue, of type: PropertyType) {
        switch (type, json) {
        case (_, .null): self = .null
        case (.bool, .bool(let value)): self = .bool(value)
        case (.int, .integer(let value)): self = .int(value)
        case (.int, .numeral(let number)) where number.isZero: self = .int(0)  // -0
        case (.float, .integer(let value)): self = .float(Float(value))
        case (.double, .integer(let value)): self = .double(Double(value))
        case (.decimal128, .integer(let value)): self = .decimal(Decimal128(value))
        case (.float, .double(let value)): self = .float(Float(value))
        case (.double, .double(let value)): self = .double(value)
        case (.float, .numeral(let number)):
            guard let float = number.float else { return nil }
            self = .float(float)
        case (.double, .numeral(let number)):
            guard let double = number.double else { return nil }
            self = .double(double)
        case (.decimal128, .numeral(let number)):
            guard let decimal = number.decimal else { return nil }
            self = .decimal(decimal)
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
            case .date: (try? Timestamp(parsing: text)).map { .date($0) }
            case .uuid: FixedBytes(uuidText: text).map { .uuid($0) }
            case .objectId: FixedBytes(objectIdText: text).map { .objectId($0) }
            case .decimal128: Decimal128(exactly: text).map { .decimal($0) }
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
        default: nil
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
