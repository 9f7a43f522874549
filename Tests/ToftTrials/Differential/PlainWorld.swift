internal import ToftEngine
internal import ToftModel
internal import ToftQuery
internal import ToftStorage
internal import ToftTestKit

/// The objects of the plain evaluator in a database in memory.
struct PlainWorld {
    static let scalars: [(name: String, type: PropertyType)] = [
        ("i", .int), ("f", .float), ("d", .double), ("m", .decimal128), ("s", .string),
        ("b", .bool), ("t", .date), ("u", .uuid), ("o", .objectId), ("x", .data), ("v", .mixed),
        ("w", .mixed),
    ]

    let session: Session
    private let owner: ClassID
    private var keys: [String: PropertyID] = [:]

    init(_ people: [Plain], indexed: Bool) throws {
        var properties = [PropertySchema("id", .int, isPrimaryKey: true)]
        for (name, type) in Self.scalars {
            var property = PropertySchema(name, type, isOptional: type != .mixed)
            property.isIndexed = indexed && type.canBeIndexed
            properties.append(property)
        }
        properties += [
            .link("boss", to: "P"), .links("rows", to: "P"),
            PropertySchema("ints", .int, collection: .list),
            PropertySchema("words", .string, collection: .set),
            PropertySchema("marks", .int, collection: .dictionary),
            PropertySchema("flags", .bool, collection: .set),
            PropertySchema("kin", .link, collection: .set, target: "P"),
            PropertySchema("things", .mixed, collection: .list),
            PropertySchema("mix", .mixed),
        ]
        session = try Session.open(
            Configuration(
                location: .memory(name: "differential \(UInt64.random(in: 0 ... .max))"),
                schema: Schema([ClassSchema("P", properties)])))
        let found = try session.classHandle(named: "P")
        owner = found.id
        for property in found.visibleProperties { keys[property.name] = property.id }
        try session.beginWrite()
        let id = try key("id")
        for person in people {
            _ = try session.create(owner, [(id, .int(Int64(person.id)))])
        }
        for person in people { try set(person) }
        try session.commit()
    }

    private func key(_ name: String) throws -> PropertyID {
        guard let key = keys[name] else { throw Failure("no property \(name)") }
        return key
    }

    private func object(_ id: Int) throws -> ObjectHandle {
        guard let object = try session.find(Value.int(Int64(id)), in: owner) else {
            throw Failure("no object \(id)")
        }
        return object
    }

    /// Gives an object the values of `person`.
    func set(_ person: Plain) throws {
        let object = try object(person.id)
        for (name, type) in Self.scalars {
            try object.set(try key(name), try value(person.values[name] ?? .null, type))
        }
        let boss = try person.boss.map { Value.link(try self.object($0).ref) } ?? .null
        try object.set(try key("boss"), boss)
        let rows = try object.list(try key("rows"))
        try rows.clear()
        for row in person.rows { try rows.append(Value.link(try self.object(row).ref)) }
        let ints = try object.list(try key("ints"))
        try ints.clear()
        for value in person.ints { try ints.append(try self.value(value, .int)) }
        let words = try object.collection(try key("words"), .set)
        try words.clear()
        for word in person.words { try words.setInsert(Value.string(word)) }
        let marks = try object.collection(try key("marks"), .dictionary)
        try marks.clear()
        for (name, mark) in person.marks {
            try marks.dictionarySet(name, try value(mark, .int))
        }
        let flags = try object.collection(try key("flags"), .set)
        try flags.clear()
        for flag in person.flags { try flags.setInsert(Value.bool(flag)) }
        let kin = try object.collection(try key("kin"), .set)
        try kin.clear()
        for one in person.kin { try kin.setInsert(Value.link(try self.object(one).ref)) }
        let things = try object.list(try key("things"))
        try things.clear()
        for thing in person.things { try things.append(try value(thing, .mixed)) }
        switch person.mix {
        case .one(let one): try object.set(try key("mix"), try value(one, .mixed))
        case .entries(let a, let l):
            var entries = [
                ValueEntry(key: "l", value: .list(try l.map { try value($0, .mixed) }))
            ]
            if let a { entries.append(ValueEntry(key: "a", value: try value(a, .mixed))) }
            try object.set(try key("mix"), .dictionary(entries))
        }
    }

    private func value(_ value: Plainly, _ type: PropertyType) throws -> Value {
        switch (value, type) {
        case (.null, _): .null
        case (.exact(let number, "i"), _): .int(Int64(number.text) ?? 0)
        case (.exact(let number, "d"), _): .double(Double(number.text) ?? .nan)
        case (.exact(let number, _), _): .decimal(Decimal128(number.text) ?? .nan)
        case (.other("k", let number), _): .link(try object(number).ref)
        case (.number(let value), .int): .int(Int64(value))
        case (.number(let value), .float): .float(Float(value))
        case (.number(let value), .decimal128): .decimal(Decimal128(value))
        case (.number(let value), .mixed) where value == value.rounded(): .int(Int64(value))
        case (.number(let value), _): .double(value)
        case (.text(let text), _): .string(text)
        case (.bool(let value), _): .bool(value)
        case (.other("t", let number), _):
            .date(Timestamp(seconds: Int64(number), nanoseconds: 0))
        case (.other("u", let number), _):
            .uuid(FixedBytes(bytes: Array(repeating: 0, count: 15) + [UInt8(number)]))
        case (.other("o", let number), _):
            .objectId(FixedBytes(bytes: Array(repeating: 0, count: 11) + [UInt8(number)]))
        case (.other(_, let number), _): .data(Array("\(number)".utf8))
        }
    }

    /// The answer, and the query as text: of the results and of those filtered once more.
    func ids(_ query: String) throws -> [Int] {
        try session.results(of: owner).filter(query).keys().map(Int.init)
    }

    /// The number of results, requested before anything else.
    func count(_ query: String) throws -> Int {
        try session.results(of: owner).filter(query).count
    }

    /// The answer, found piece by piece.
    func walkedIDs(_ query: String) throws -> [Int] {
        let results = try session.results(of: owner).filter(query)
        let first = try results.isEmpty ? nil : results.key(at: 0)
        var walk = try results.walk()
        var walked: [Int64] = []
        while let run = try walk.nextRun() { walked += run }
        guard first == walked.first else { throw Failure("the first element differs") }
        return walked.map(Int.init)
    }

    func description(of query: String) throws -> String {
        try session.results(of: owner).filter(query).filter("TRUEPREDICATE").query()
    }
}
