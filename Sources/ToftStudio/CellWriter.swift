internal import ToftEngine
internal import ToftModel
internal import ToftStorage

/// Makes the cells of the page's table: JSON that the type of the column explains.
///
/// | type | cell |
/// |---|---|
/// | bool, number | itself; an int beyond 2^53 and a double that is not finite as a text |
/// | string | a text; a long one in a table as `{"s": its beginning, "n": its bytes}` |
/// | data | `{"n": its bytes, "h": the first ones in hexadecimal digits}` |
/// | date, uuid, objectId, decimal128 | a text |
/// | link | `{"c": class, "k": key, "t": what names the object to people}` |
/// | list, set, inverse link | `{"n": elements, "p": cells of the first ones}` |
/// | dictionary | the same; each of `p` is a key and a cell |
/// | mixed | `{"t": the type, "v": the cell}` |
struct CellWriter {
    /// Parts of a value that a cell has at most.
    struct Limits {
        var elements: Int
        var text: Int
        var bytes: Int

        static let table = Limits(elements: 3, text: 200, bytes: 16)
        static let detail = Limits(elements: 100, text: 1 << 20, bytes: 256)
    }

    let session: Session
    let limits: Limits

    /// The cell of a property of an object.
    func cell(of property: PropertyHandle, in object: ObjectHandle) throws(EngineError) -> JSONValue
    {
        if property.type == .linkingObjects {
            let links = try object.linkingObjects(property.id)
            return try many(count: try links.count) { index throws(EngineError) in
                try cell(try links.value(at: index))
            }
        }
        if property.isCollection {
            return try cell(of: try object.collection(property.id, property.collection))
        }
        if property.type == .mixed { return try cell(mixed: try object.live(property.id)) }
        return try cell(try object.value(property.id))
    }

    /// The cell of one element of a collection.
    func cell(at index: Int, of collection: CollectionHandle) throws(EngineError) -> JSONValue {
        collection.property.type == .mixed
            ? try cell(mixed: try collection.live(at: index))
            : try cell(try collection.value(at: index))
    }

    private func cell(of collection: CollectionHandle) throws(EngineError) -> JSONValue {
        try many(count: try collection.count) { index throws(EngineError) in
            let element = try cell(at: index, of: collection)
            guard collection.kind == .dictionary else { return element }
            return .list([.text(try collection.entryKey(at: index)), element])
        }
    }

    private func many(
        count: Int, _ element: (Int) throws(EngineError) -> JSONValue
    ) throws(EngineError) -> JSONValue {
        var first: [JSONValue] = []
        for index in 0..<min(count, limits.elements) { first.append(try element(index)) }
        return .object([("n", .count(count)), ("p", .list(first))])
    }

    private func cell(mixed value: LiveValue) throws(EngineError) -> JSONValue {
        switch value {
        case .value(.null): .null
        case .value(let value):
            .object([("t", .text(value.typeName)), ("v", try cell(value))])
        case .collection(let collection):
            .object([("t", .text(collection.kind.name)), ("v", try cell(of: collection))])
        }
    }

    /// The cell of a value whose type the column says.
    func cell(_ value: Value) throws(EngineError) -> JSONValue {
        switch value {
        case .null: .null
        case .bool(let value): .bool(value)
        case .int(let value): Self.cell(value)
        case .float(let value): .double(Double("\(value)") ?? Double(value))
        case .double(let value): .double(value)
        case .string(let value): cell(value)
        case .data(let bytes):
            .object([
                ("n", .count(bytes.count)), ("h", .text(Self.digits(bytes.prefix(limits.bytes)))),
            ])
        case .date(let value): .text(value.text)
        case .link(let ref): try cell(linkTo: ref)
        case .uuid(let bytes): .text(bytes.uuidText)
        case .objectId(let bytes): .text(bytes.objectIdText)
        case .decimal(let value): .text(value.description)
        case .list(let values):
            try many(count: values.count) { index throws(EngineError) in
                try cell(mixed: .value(values[index]))
            }
        case .dictionary(let entries):
            try many(count: entries.count) { index throws(EngineError) in
                let entry = entries[index]
                return .list([.text(entry.key), try cell(mixed: .value(entry.value))])
            }
        }
    }

    /// JavaScript's numbers are exact up to 2^53.
    private static func cell(_ value: Int64) -> JSONValue {
        value.magnitude < 1 << 53 ? .integer(value) : .text("\(value)")
    }

    private func cell(_ text: String) -> JSONValue {
        guard text.utf8.count > limits.text else { return .text(text) }
        return .object([
            ("s", .text(String(text.unicodeScalars.prefix(limits.text)))),
            ("n", .count(text.utf8.count)),
        ])
    }

    static func digits(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        for byte in bytes { text += [digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
        return String(decoding: text, as: UTF8.self)
    }

    // MARK: Links

    private func cell(linkTo ref: ObjectRef) throws(EngineError) -> JSONValue {
        guard let owner = session.schema.anyClass(id: ref.classID), !owner.isHidden else {
            return .object([("k", .integer(ref.key))])
        }
        let label = try label(of: session.handle(ref.key, owner), owner)
        return .object([
            ("c", .text(owner.name)), ("k", .integer(ref.key)), ("t", .text(label)),
        ])
    }

    /// A short text that names an object to people: its primary key, otherwise its first text,
    /// otherwise the number of its key. An embedded object is known by its first values.
    func label(of object: ObjectHandle, _ owner: ClassHandle) throws(EngineError) -> String {
        if owner.isEmbedded { return try summary(of: object, owner) }
        var name = owner.primaryKey
        if name == nil {
            name = owner.visibleProperties.first { $0.type == .string && !$0.isCollection }
        }
        guard let name else { return "#\(object.ref.key)" }
        let value = try object.value(name.id)
        if value.isNull { return "#\(object.ref.key)" }
        return Self.plain(value)
    }

    private func summary(of object: ObjectHandle, _ owner: ClassHandle) throws(EngineError)
        -> String
    {
        var parts: [String] = []
        for property in owner.visibleProperties
        where parts.count < 3 && !property.isCollection && property.isStored
            && !property.type.canLink
        {
            let value = try object.value(property.id)
            if !value.isNull { parts.append("\(property.name): \(Self.plain(value))") }
        }
        return parts.joined(separator: ", ")
    }

    private static func plain(_ value: Value) -> String {
        switch value {
        case .string(let text): String(text.unicodeScalars.prefix(60))
        case .uuid(let bytes): bytes.uuidText
        case .objectId(let bytes): bytes.objectIdText
        case .date(let date): date.text
        default: value.description
        }
    }
}

extension Value {
    /// The name of the type of a mixed value.
    fileprivate var typeName: String {
        switch self {
        case .null: "null"
        case .bool: PropertyType.bool.name
        case .int: PropertyType.int.name
        case .float: PropertyType.float.name
        case .double: PropertyType.double.name
        case .string: PropertyType.string.name
        case .data: PropertyType.data.name
        case .date: PropertyType.date.name
        case .link: PropertyType.link.name
        case .uuid: PropertyType.uuid.name
        case .objectId: PropertyType.objectId.name
        case .decimal: PropertyType.decimal128.name
        case .list: CollectionKind.list.name
        case .dictionary: CollectionKind.dictionary.name
        }
    }
}
