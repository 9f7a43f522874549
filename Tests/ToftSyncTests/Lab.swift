import ToftSync

/// A server and replicas in memory, with a class that has a property of each kind.
struct Lab {
    static let item = ClassNumber(1)
    static let part = ClassNumber(2)
    static let note = ClassNumber(3)

    static let title = PropertyNumber(1)
    static let count = PropertyNumber(2)
    static let friend = PropertyNumber(3)
    static let owner = PropertyNumber(4)
    static let guarded = PropertyNumber(5)
    static let words = PropertyNumber(6)
    static let friends = PropertyNumber(7)
    static let tags = PropertyNumber(8)
    static let facts = PropertyNumber(9)
    static let detail = PropertyNumber(10)
    static let anything = PropertyNumber(11)
    static let code = PropertyNumber(12)
    static let parts = PropertyNumber(13)

    // Of an embedded part.
    static let name = PropertyNumber(1)
    static let inner = PropertyNumber(2)
    static let lines = PropertyNumber(3)
    static let target = PropertyNumber(4)

    static let schema: Schema = Schema([
        ClassSchema(
            "Item", item, .keyed,
            [
                PropertySchema("title", title, .text),
                PropertySchema("count", count, .int, initial: .int(0)),
                PropertySchema("friend", friend, .link, target: item),
                PropertySchema("owner", owner, .link, target: item, deleteRule: .cascade),
                PropertySchema("guarded", guarded, .link, target: item, deleteRule: .deny),
                PropertySchema("words", words, .text, in: .list),
                PropertySchema("friends", friends, .link, in: .list, target: item),
                PropertySchema("tags", tags, .int, in: .set),
                PropertySchema("facts", facts, .text, in: .dictionary),
                PropertySchema("detail", detail, .embedded, target: part),
                PropertySchema("anything", anything, .mixed),
                PropertySchema("code", code, .text),
                PropertySchema("parts", parts, .embedded, in: .list, target: part),
            ], uniques: [[code]]),
        ClassSchema(
            "Part", part, .embedded,
            [
                PropertySchema("name", name, .text),
                PropertySchema("inner", inner, .embedded, target: part),
                PropertySchema("lines", lines, .text, in: .list),
                PropertySchema("target", target, .link, target: item),
            ]),
        ClassSchema("Note", note, .unkeyed, [PropertySchema("title", title, .text)]),
    ])

    var server: Resolver<MemoryStore> = Resolver(MemoryStore(Lab.schema))
    var replicas: [Replica<MemoryTables>]
    var views: [Int: View] = [:]
    var now: Int64 = 1_000_000

    init(_ count: Int = 2) {
        replicas = (1...count).map {
            Replica(ReplicaNumber(UInt32($0)), MemoryTables(Self.schema))
        }
    }

    static func object(_ key: Text) -> ObjectID { ObjectID(item, .text(key)) }

    /// Does ops in one transaction of a replica, at a time of its clock.
    mutating func write(_ replica: Int, at time: Int64? = nil, _ ops: Op...) {
        for op in ops { replicas[replica].perform(op) }
        replicas[replica].commit(at: time ?? replicas[replica].newestTime + 1)
    }

    /// Sends all that a replica has, and what it has to hear.
    mutating func sync(_ replica: Int) {
        push(replica)
        pull(replica)
    }

    @discardableResult
    mutating func push(_ replica: Int) -> [Resolver<MemoryStore>.Outcome] {
        replicas[replica].pending.map { server.push($0, now: now) }
    }

    mutating func pull(_ replica: Int) {
        let one = replicas[replica]
        let from = one.needsAll ? nil : one.cursor
        replicas[replica].receive(
            server.batch(
                .init(one.number, from: from, view: views[replica]), through: server.store.head,
                now: server.store.tables))
    }

    /// All hear all, twice: what the last had to say the first have not heard in the first round.
    mutating func settle() {
        for _ in 0..<2 {
            for replica in replicas.indices { sync(replica) }
        }
    }

    /// Problems of the tables, and differences between server and replicas at rest.
    var problems: [String] {
        var problems = server.store.tables.check()
        for (index, replica) in replicas.enumerated() {
            problems += replica.store.check()
            if !replica.pending.isEmpty { problems.append("replica \(index) has more to send") }
            if views[index] == nil, replica.store.objects != server.store.tables.objects {
                problems.append("replica \(index) differs from the server")
            }
        }
        return problems
    }

    func value(_ path: Path, at replica: Int? = nil) -> SyncValue? {
        let content =
            replica.map { replicas[$0].store.content(at: path) }
            ?? server.store.content(at: path)
        return content?.node?.value
    }

    /// The texts of a list.
    func words(_ object: ObjectID, at replica: Int? = nil) -> [String] {
        let path = Path(object, Self.words)
        let content =
            replica.map { replicas[$0].store.content(at: path) }
            ?? server.store.content(at: path)
        guard let list = content?.node?.list else { return [] }
        return list.order.map {
            if case .value(.text(let text)) = list.node($0) { text.string } else { "?" }
        }
    }
}

extension SyncValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
    public init(stringLiteral text: String) { self = .text(Text(text)) }
    public init(integerLiteral value: Int64) { self = .int(value) }
}
