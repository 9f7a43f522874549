internal import ToftEngine
internal import ToftModel

/// Comma-separated values (RFC 4180), the first record with the names of properties. Nothing
/// between two commas is null, `""` an empty text. Collections, embedded objects and mixed values
/// are JSON.
enum CSV {
    /// A field, and whether it was quoted.
    typealias Field = (text: String, isQuoted: Bool)

    /// The byte between fields, unless a file has another one there.
    static let comma = UInt8(ascii: ",")

    /// The names in the first record.
    static func names(in header: some Sequence<UInt8>, _ delimiter: UInt8) throws(EngineError)
        -> [String]
    {
        let names = try fields(of: header, delimiter).map(\.text)
        for (index, name) in names.enumerated()
        where names[..<index].contains(where: { $0.isSameName(as: name) }) {
            throw EngineError(.invalidArgument, "Two fields are named '\(name)'.")
        }
        return names
    }

    static func wrongCount(_ count: Int, _ named: Int) -> EngineError {
        EngineError(
            .invalidArgument,
            "There are \(count) fields, and the first line names \(named).")
    }

    /// The fields of a record.
    static func fields(of record: some Sequence<UInt8>, _ delimiter: UInt8) throws(EngineError)
        -> [Field]
    {
        var fields: [Field] = []
        var bytes: [UInt8] = []
        var isQuoted = false, isInside = false, isEscape = false
        func add() throws(EngineError) {
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw EngineError(
                    .invalidArgument, "Field \(fields.count + 1) is not valid UTF-8.")
            }
            fields.append((text, isQuoted))
            (bytes, isQuoted, isEscape) = ([], false, false)
        }
        for byte in record {
            if isInside {
                if byte == UInt8(ascii: "\"") {
                    (isInside, isEscape) = (false, true)
                } else {
                    bytes.append(byte)
                }
            } else if byte == delimiter {
                try add()
            } else if byte == UInt8(ascii: "\""), isEscape || bytes.isEmpty {
                // Two quotes within quotes are one quote.
                if isEscape { bytes.append(byte) }
                (isInside, isQuoted, isEscape) = (true, true, false)
            } else if isEscape {
                throw EngineError(
                    .invalidArgument, "Field \(fields.count + 1) continues behind its last quote.")
            } else if byte == UInt8(ascii: "\"") {
                throw EngineError(
                    .invalidArgument,
                    "Field \(fields.count + 1) has a quote and does not begin with one.")
            } else {
                bytes.append(byte)
            }
        }
        guard !isInside else {
            throw EngineError(.invalidArgument, "Field \(fields.count + 1) has no last quote.")
        }
        try add()
        return fields
    }

    /// The field of a property's value, as `ObjectToJSON` makes it.
    /// - Throws: `missingPrimaryKey` for a link to an object whose primary key is null.
    static func field(_ value: JSONValue, of property: PropertyHandle) throws(EngineError)
        -> String
    {
        if property.type == .link, !property.isCollection, !property.ownsTargets,
            case .dictionary = value
        {
            throw EngineError(
                .missingPrimaryKey,
                "'\(property.className).\(property.name)' links to an object whose primary key is "
                    + "null, which a field can't say: export JSON lines, or use `toftdb dump`.")
        }
        return text(value, isMixed: property.type == .mixed)
    }

    private static func text(_ value: JSONValue, isMixed: Bool) -> String {
        switch value {
        case .null: ""
        case .text(let text) where !isMixed: quoted(text)
        case .double(let number) where !isMixed: number.isNaN ? "nan" : "\(number)"
        default: quoted(value.description)
        }
    }

    /// A text as a field.
    static func quoted(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x22 && $0 != 0x2C }
        if isPlain, !text.isEmpty, text.utf8.first != 0x20, text.utf8.last != 0x20,
            text.unicodeScalars.first != "\u{FEFF}"  // a mark that readers of the file leave out
        {
            return text
        }
        // Bytes: to a Character a quote with an accent is another one.
        var bytes: [UInt8] = [0x22]
        for byte in text.utf8 {
            if byte == 0x22 { bytes.append(byte) }
            bytes.append(byte)
        }
        bytes.append(0x22)
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// Makes JSON of records for objects of a class.
struct CSVColumns {
    private let names: [String]
    private let delimiter: UInt8
    private let owner: ClassHandle
    private let session: Session

    /// - Parameters:
    ///   - header: the record with the names of properties.
    ///   - ignoresUnknown: whether there may be other names in it.
    ///   - delimiter: the byte between fields.
    init(
        _ header: some Sequence<UInt8>, of owner: ClassHandle, in session: Session,
        ignoresUnknown: Bool, delimiter: UInt8
    ) throws(EngineError) {
        names = try CSV.names(in: header, delimiter)
        self.delimiter = delimiter
        let unknown = names.first {
            owner.storedProperty(named: $0) == nil && !$0.isSameName(as: owner.keyMember)
        }
        if let unknown, !ignoresUnknown {
            throw EngineError(
                .noSuchProperty, "'\(owner.name)' has no stored property '\(unknown)'.")
        }
        self.owner = owner
        self.session = session
    }

    /// True if an empty line is a record with one null field.
    var isOne: Bool { names.count == 1 }

    func json(_ record: some Sequence<UInt8>) throws(EngineError) -> JSONValue {
        let fields = try CSV.fields(of: record, delimiter)
        guard fields.count == names.count else {
            throw CSV.wrongCount(fields.count, names.count)
        }
        var members: [(key: String, value: JSONValue)] = []
        for (name, field) in zip(names, fields) {
            guard let property = owner.storedProperty(named: name) else {
                members.append((name, Self.value(field.text, .int)))
                continue
            }
            if let value = try self.value(field, property) { members.append((name, value)) }
        }
        return .dictionary(members)
    }

    /// Nil for a field that is left out.
    private func value(_ field: CSV.Field, _ property: PropertyHandle) throws(EngineError)
        -> JSONValue?
    {
        let text = field.text
        if text.isEmpty, !field.isQuoted {
            if property.isCollection { return nil }
            return property.type == .string && !property.isOptional ? .text("") : .null
        }
        if property.isCollection || property.type == .mixed || property.ownsTargets {
            return try Self.json(text, property)
        }
        guard property.type == .link else { return Self.value(text, property.type) }
        guard let target = property.targetClassID,
            let key = try session.classHandle(target).primaryKey
        else { return try Self.json(text, property) }
        return Self.value(text, key.type)
    }

    private static func json(_ text: String, _ property: PropertyHandle) throws(EngineError)
        -> JSONValue
    {
        var text = text
        do throws(EngineError) {
            return try text.withUTF8 { bytes in
                Result { () throws(EngineError) in
                    try JSONParser.value(of: UnsafeRawBufferPointer(bytes))
                }
            }.get()
        } catch {
            throw EngineError(
                error.code, "'\(property.className).\(property.name)': \(error.message)",
                number: error.number)
        }
    }

    /// A text that is not a value of the type stays a text, which is then refused.
    private static func value(_ text: String, _ type: PropertyType) -> JSONValue {
        let value: JSONValue? =
            switch type {
            case .int, .float, .double: JSONValue.field(ofNumber: text)
            case .bool:
                switch text.lowercased() {
                case "true", "1": .bool(true)
                case "false", "0": .bool(false)
                default: nil
                }
            default: nil
            }
        return value ?? .text(text)
    }
}
