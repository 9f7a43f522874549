package import ToftSync

/// The classes of the vectors, and their values between JSON and the rules.
///
/// Class A has a primary key, B has none, and E is that of all embedded objects: its properties are
/// the names that a file uses.
package struct Vocabulary: Sendable {
    package let schema: Schema
    private let numbers: [ClassNumber: [String: PropertyNumber]]
    private let names: [ClassNumber: [PropertyNumber: String]]

    static let keyed = ClassNumber(1)
    static let unkeyed = ClassNumber(2)
    static let embedded = ClassNumber(3)

    package init(_ file: OrderedJSON = .null) {
        func number(_ properties: [Property]) -> [PropertySchema] {
            properties.enumerated().map { index, property in
                var schema = property.schema
                schema.number = PropertyNumber(UInt32(index + 1))
                return schema
            }
        }
        let inner = Self.keys(of: file).sorted().map { Property($0, .mixed) }
        let types = [
            ClassSchema("A", Self.keyed, .keyed, number(Self.keyedProperties)),
            ClassSchema("B", Self.unkeyed, .unkeyed, number(Self.unkeyedProperties)),
            ClassSchema("E", Self.embedded, .embedded, number(inner)),
        ]
        var numbers: [ClassNumber: [String: PropertyNumber]] = [:]
        var names: [ClassNumber: [PropertyNumber: String]] = [:]
        for type in types {
            for property in type.properties {
                numbers[type.number, default: [:]][property.name.string] = property.number
                names[type.number, default: [:]][property.number] = property.name.string
            }
        }
        self.numbers = numbers
        self.names = names
        var all = types
        all[0].uniques = [[numbers[Self.keyed]?["u"] ?? PropertyNumber(0)]]
        schema = Schema(all)
    }

    private struct Property {
        let schema: PropertySchema

        init(
            _ name: String, _ type: ValueType, _ collection: CollectionType = .single,
            _ rule: DeleteRule = .nullify, initial: SyncValue = .null
        ) {
            schema = PropertySchema(
                Text(name), PropertyNumber(0), type, in: collection,
                target: type == .embedded ? Vocabulary.embedded : nil, deleteRule: rule,
                initial: initial)
        }
    }

    private static let keyedProperties = [
        Property("s", .mixed), Property("v", .mixed), Property("u", .mixed),
        Property("n", .int, initial: .int(0)), Property("ln", .link),
        Property("ow", .link, .single, .cascade), Property("dn", .link, .single, .deny),
        Property("li", .mixed, .list), Property("ll", .link, .list),
        Property("le", .embedded, .list), Property("st", .mixed, .set),
        Property("sl", .link, .set), Property("dc", .mixed, .dictionary),
        Property("dl", .link, .dictionary), Property("de", .embedded, .dictionary),
        Property("em", .embedded), Property("mx", .mixed),
    ]
    private static let unkeyedProperties = [
        Property("s", .mixed), Property("v", .mixed), Property("ln", .link),
        Property("li", .mixed, .list),
    ]

    /// The keys of all objects in a file.
    private static func keys(of json: OrderedJSON) -> Set<String> {
        switch json {
        case .array(let elements): elements.reduce(into: []) { $0.formUnion(keys(of: $1)) }
        case .object(let members):
            members.reduce(into: []) {
                $0.insert($1.key)
                $0.formUnion(keys(of: $1.value))
            }
        case .string(let name) where name.utf8.count < 4: [name]
        default: []
        }
    }

    // MARK: From JSON

    package func object(_ json: OrderedJSON) throws -> ObjectID {
        guard let parts = json.array, parts.count == 2, let name = parts[0].string else {
            throw JSONError("no object: \(json.canonical)")
        }
        let type = name == "A" ? Self.keyed : Self.unkeyed
        switch parts[1] {
        case .string(let key): return ObjectID(type, .text(Text(key)))
        case .int(let key): return ObjectID(type, .int(key))
        case .array(let made) where made.count == 2:
            return ObjectID(type, .made(try id(made[0].int, made[1].int)))
        default: return ObjectID(type, .null)
        }
    }

    private func id(_ replica: Int64?, _ counter: Int64?) throws -> MadeID {
        guard let replica = replica.flatMap(UInt32.init(exactly:)),
            let counter = counter.flatMap(UInt64.init(exactly:))
        else { throw JSONError("no id of an element") }
        return MadeID(ReplicaNumber(replica), counter)
    }

    package func element(_ text: String) throws -> MadeID {
        let parts = text.split(separator: ":").map { Int64($0) }
        guard parts.count == 2 else { throw JSONError("no element: \(text)") }
        return try id(parts[0], parts[1])
    }

    package func value(_ json: OrderedJSON) throws -> SyncValue {
        switch json {
        case .null: return .null
        case .bool(let value): return .bool(value)
        case .int(let value): return .int(value)
        case .double(let value): return .double(value)
        case .string(let value): return .text(Text(value))
        case .array: throw JSONError("a list that is no value: \(json.canonical)")
        case .object:
            if let link = json["link"] { return .link(try object(link)) }
            guard let number = json["id"]?.int else {
                throw JSONError("no value: \(json.canonical)")
            }
            let id = CollectionID(UInt64(bitPattern: number))
            if let elements = json["list"]?.array { return .list(id, try elements.map(value)) }
            let entries = try (json["dict"]?.members ?? []).map {
                NestedEntry(Text($0.key), try value($0.value))
            }
            return .dictionary(id, entries.sorted { $0.key < $1.key })
        }
    }

    /// One value of a property: embedded objects, too.
    package func node(_ json: OrderedJSON, _ property: PropertySchema) throws -> Node {
        guard property.type == .embedded, let members = json.members else {
            return .value(try value(json))
        }
        var fields = Fields()
        for (name, json) in members {
            guard let number = numbers[Self.embedded]?[name] else {
                throw JSONError("no property \(name)")
            }
            fields[number] = .value(try value(json))
        }
        return .fields(fields)
    }

    /// The member that the key of an object names.
    func member(_ name: String) throws -> SyncValue {
        if name.hasPrefix("{\"link\"") { return try value(try OrderedJSON(parsing: name)) }
        switch name {
        case "None": return .null
        case "True": return .bool(true)
        case "False": return .bool(false)
        default: return Int64(name).map(SyncValue.int) ?? .text(Text(name))
        }
    }

    package func property(_ type: ClassNumber, _ name: String) throws -> PropertySchema {
        guard let number = numbers[type]?[name], let property = schema[type]?[number] else {
            throw JSONError("no property \(name)")
        }
        return property
    }

    /// All of a property, as facts and new objects have it. An empty list is `{}` there.
    package func whole(_ json: OrderedJSON, _ property: PropertySchema) throws -> Node {
        switch property.collection {
        case .single: return try node(json, property)
        case .list:
            var list = ElementList()
            for element in json.array ?? [] {
                let (id, held) = try self.element(json: element, property)
                list[id] = held
            }
            return .list(list)
        case .set: return .set(Set(try (json.members ?? []).map { try member($0.key) }))
        case .dictionary:
            return .dictionary(
                try (json.members ?? []).reduce(into: [:]) {
                    $0[Text($1.key)] = try node($1.value, property)
                })
        }
    }

    private func element(
        json: OrderedJSON, _ property: PropertySchema
    ) throws -> (MadeID, ElementList.Held) {
        guard let id = json["element"]?.string, let label = json["label"]?.int,
            let value = json["value"]
        else { throw JSONError("no element: \(json.canonical)") }
        return (
            try element(id), .init(label: Label(label), node: try node(value, property))
        )
    }

    package func path(_ json: OrderedJSON) throws -> Path {
        guard let parts = json.array, let first = parts.first else {
            throw JSONError("no path: \(json.canonical)")
        }
        let object = try object(first)
        guard parts.count > 1, let name = parts[1].string else { return Path(object) }
        let property = try property(object.type, name)
        return Path(
            object, [.property(property.number)] + (try steps(parts.dropFirst(2), property)))
    }

    /// The steps below a property.
    func steps(_ parts: ArraySlice<OrderedJSON>, _ property: PropertySchema) throws -> [Step] {
        guard let first = parts.first else { return [] }
        let rest = parts.dropFirst()
        switch property.collection {
        case .list:
            return [.element(try element(first.string ?? ""))] + (try inner(rest, ofElement: true))
        case .set:
            if let name = first.string, name.hasPrefix("{\"link\"") {
                return [.member(try member(name))]
            }
            return [.member(try value(first))]
        case .dictionary:
            return [.key(Text(first.string ?? first.canonical))] + (try inner(rest))
        case .single: return try inner(parts)
        }
    }

    private func inner(
        _ parts: ArraySlice<OrderedJSON>, ofElement isElement: Bool = false
    ) throws -> [Step] {
        var steps: [Step] = []
        for part in parts {
            switch part.string {
            case "v" where steps.isEmpty && isElement: steps.append(.value)
            case "l" where steps.isEmpty && isElement: steps.append(.label)
            case let name?: steps.append(.property(try property(Self.embedded, name).number))
            case nil: throw JSONError("no step: \(part.canonical)")
            }
        }
        return steps
    }

    /// The content that a path gets or has.
    package func content(_ json: OrderedJSON, at path: Path) throws -> Content {
        if json["absent"] != nil { return .absent }
        guard let slot = schema.slot(path) else {
            var fields = Fields()
            for (name, json) in json.members ?? [] {
                let property = try property(path.object.type, name)
                fields[property.number] = try whole(json, property)
            }
            return .node(.fields(fields))
        }
        switch slot.kind {
        case .collection: return .node(try whole(json, slot.property))
        case .member: return .member
        case .label: return .label(Label(json.int ?? 0))
        case .element:
            // A fact has {"l": label, "v": value}.
            let (label, value) = (json["l"] ?? json["label"], json["v"] ?? json["value"])
            guard let label = label?.int, let value else {
                throw JSONError("no element: \(json.canonical)")
            }
            return .element(Label(label), try node(value, slot.property))
        case .value, .elementValue, .entry: return .node(try node(json, slot.property))
        }
    }

    // MARK: To JSON

    package func json(_ object: ObjectID) -> OrderedJSON {
        let key: OrderedJSON =
            switch object.key {
            case .text(let key): .string(key.string)
            case .int(let key): .int(key)
            case .made(let id):
                .array([.int(Int64(id.replica.rawValue)), .int(Int64(clamping: id.counter))])
            default: .null
            }
        return .array([.string(object.type == Self.keyed ? "A" : "B"), key])
    }

    func json(_ id: MadeID) -> String { "\(id.replica.rawValue):\(id.counter)" }

    package func json(_ value: SyncValue) -> OrderedJSON {
        switch value {
        case .bool(let value): .bool(value)
        case .int(let value): .int(value)
        case .doubleBits(let bits): .double(Double(bitPattern: bits))
        case .text(let text): .string(text.string)
        case .link(let target): .object([("link", json(target))])
        case .list(let id, let elements):
            .object([
                ("id", .int(Int64(bitPattern: id.rawValue))), ("list", .array(elements.map(json))),
            ])
        case .dictionary(let id, let entries):
            .object([
                ("id", .int(Int64(bitPattern: id.rawValue))),
                ("dict", .object(entries.map { ($0.key.string, json($0.value)) })),
            ])
        default: .null
        }
    }

    func name(_ member: SyncValue) -> String {
        switch member {
        case .null: "None"
        case .bool(let value): value ? "True" : "False"
        case .text(let text): text.string
        default: json(member).canonical
        }
    }

    package func json(_ node: Node) -> OrderedJSON {
        switch node {
        case .value(let value): json(value)
        case .fields(let fields):
            .object(fields.all.map { (names[Self.embedded]?[$0.property] ?? "?", json($0.node)) })
        case .list(let list):
            list.isEmpty
                ? .object([])
                : .array(
                    list.order.map {
                        .object([
                            ("element", .string(json($0.id))),
                            ("label", $0.label.isWhole ? .int($0.label.whole) : .null),
                            ("value", json(list.node($0))),
                        ])
                    })
        case .set(let members): .object(members.map { (name($0), .bool(true)) })
        case .dictionary(let entries): .object(entries.map { ($0.string, json($1)) })
        }
    }

    package func json(_ path: Path) -> OrderedJSON {
        var parts = [json(path.object)]
        for (index, step) in path.steps.enumerated() {
            switch step {
            case .property(let number):
                let type = index == 0 ? path.object.type : Self.embedded
                parts.append(.string(names[type]?[number] ?? "?"))
            case .element(let id): parts.append(.string(json(id)))
            case .member(.link(let target)):
                parts.append(.string(OrderedJSON.object([("link", json(target))]).canonical))
            case .member(let member): parts.append(json(member))
            case .key(let key): parts.append(.string(key.string))
            case .value: parts.append(.string("v"))
            case .label: parts.append(.string("l"))
            case .nested: parts.append(.string("nested"))
            }
        }
        return .array(parts)
    }

    /// All objects, without what is null or empty.
    package func state(_ tables: MemoryTables) -> OrderedJSON {
        .array(
            tables.objects.map { object, fields in
                let named = fields.all.compactMap {
                    field -> (key: String, value: OrderedJSON)? in
                    let json = json(field.node)
                    if json.isNull || json.members?.isEmpty == true { return nil }
                    return (names[object.type]?[field.property] ?? "?", json)
                }
                return .array([json(object), .object(named)])
            })
    }

    /// The property as the expectations of a case have it: lists and sets as plain values.
    package func plain(_ node: Node) -> OrderedJSON {
        switch node {
        case .list(let list): .array(list.order.map { json(list.node($0)) })
        case .set(let members): .array(members.map(json))
        default: json(node)
        }
    }
}
