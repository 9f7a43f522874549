internal import ToftSync
internal import ToftTestKit

/// An invariant that does not hold.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// The titles that a client wants to see.
typealias Query = Set<SyncValue>

/// One client: its replica, and what is on the way from and to it.
struct Client {
    enum Message {
        case changeset([UInt8])
        case query(Query)
    }

    var replica: Replica<MemoryTables>
    var skew: Int64
    /// Whether it is away for longer than the server remembers.
    var isAway: Bool
    let isPartial: Bool
    /// The query that it wants, that of the last batch sent, and that of its state.
    var wanted: Query?
    var told: Query?
    var shown: Query?
    var up: [Message] = []
    var down: [(Batch, Query?)] = []
    /// The entry up to which the server has sent on this connection; nil: all is needed.
    var sent: UInt64?
    var sentNumber: UInt64 = 0
}

/// A server, clients and a network, in one thread.
struct World {
    let schedule: Schedule
    var server: Resolver<MemoryStore>
    /// The tables after each entry.
    var states: [MemoryTables]
    /// All that was pushed, by entry.
    var history: [Changeset] = []
    var clients: [Client]
    var now: Int64 = 1_000_000
    var backup: (server: Resolver<MemoryStore>, states: [MemoryTables], history: [Changeset])?
    var wasRestored = false
    /// How often something happened that not every run tries.
    var counts: [String: Int] = [:]

    init(_ schedule: Schedule) {
        self.schedule = schedule
        server = Resolver(MemoryStore(Classes.schema))
        server.validator = { _, content in content == .value(.text("BAD")) ? "bad" : nil }
        states = [server.store.tables]
        var dice = Seed(schedule.seed ^ 0xC11E)
        clients = (1...schedule.clients).map { number in
            let isPartial = dice.chance(schedule.profile.partial)
            let query = isPartial ? Self.query(&dice) : nil
            return Client(
                replica: Replica(
                    ReplicaNumber(UInt32(number)), MemoryTables(Classes.schema)),
                skew: dice.one(of: [0, 0, -3000, 300, 9_000_000]),
                isAway: dice.chance(schedule.profile.away), isPartial: isPartial, wanted: query,
                told: nil, shown: nil)
        }
    }

    static func query(_ dice: inout Seed) -> Query {
        dice.one(of: [["d"], ["x"], ["d", "x"], ["x", "y"]] as [[Text]]).reduce(into: []) {
            $0.insert(.text($1))
        }
    }

    static func view(_ query: Query?) -> View? {
        query.map { query in
            View { _, fields in fields[Classes.title]?.value.map(query.contains) ?? false }
        }
    }

    // MARK: Events

    mutating func run() throws(Failure) {
        for event in schedule.events { try happen(event) }
        try comeToRest()
    }

    private mutating func happen(_ event: Event) throws(Failure) {
        var dice = Seed(event.dice)
        let client = event.client
        now += Int64(dice.below(300))
        switch event.kind {
        case .write: write(client, dice)
        case .send: send(client, &dice, most: dice.one(of: [1, 2, 99]))
        case .serve: try serve(client)
        case .tell: tell(client, &dice)
        case .hear: try hear(client)
        case .connect: connect(client, &dice)
        case .flipQuery:
            if clients[client].isPartial { clients[client].up.append(.query(Self.query(&dice))) }
        case .jumpClock:
            clients[client].skew = dice.one(of: [-40_000_000, -500, 0, 500, 40_000_000])
        case .forget: forget(&dice)
        case .backUp:
            server.safe = server.store.head
            backup = (server, states, history)
        case .restore: restore(&dice)
        case .addProperty: addProperty(client)
        }
    }

    private mutating func write(_ client: Int, _ dice: Seed) {
        var user = User(
            replica: clients[client].replica, dice: dice, profile: schedule.profile,
            isPartial: clients[client].isPartial)
        user.transaction()
        clients[client].replica = user.replica
        clients[client].replica.commit(at: now + clients[client].skew)
    }

    /// Clients that update add the same property to their files, each by itself.
    private mutating func addProperty(_ client: Int) {
        let property = PropertySchema("later", PropertyNumber(90), .int)
        if clients[client].replica.store.schema[Classes.note]?[property.number] != nil { return }
        clients[client].replica.perform(.addProperty(Classes.note, property))
        clients[client].replica.commit(at: now)
    }

    private mutating func send(_ client: Int, _ dice: inout Seed, most: Int) {
        var most = most
        for changeset in clients[client].replica.pending
        where changeset.number > clients[client].sentNumber && most > 0 {
            let bytes = changeset.encoded
            for _ in 0..<(dice.chance(10) ? 2 : 1) { clients[client].up.append(.changeset(bytes)) }
            clients[client].sentNumber = changeset.number
            most -= 1
        }
    }

    private mutating func serve(_ client: Int) throws(Failure) {
        guard !clients[client].up.isEmpty else { return }
        switch clients[client].up.removeFirst() {
        case .query(let query): clients[client].wanted = query
        case .changeset(let bytes):
            let changeset: Changeset
            do {
                changeset = try Changeset(decoding: bytes, of: clients[client].replica.number)
            } catch { throw Failure("a changeset can't be decoded: \(error)") }
            let outcome = server.push(changeset, now: now)
            if outcome == .copy || outcome == .gap { return }
            states.append(server.store.tables)
            history.append(changeset)
            try checkAnswer(changeset, outcome)
        }
    }

    /// A refused changeset leaves no trace, and each entry tells its author of all that it owned.
    private mutating func checkAnswer(
        _ changeset: Changeset, _ outcome: Resolver<MemoryStore>.Outcome
    ) throws(Failure) {
        let entry = server.store.entry(server.store.head)
        if case .refused = outcome {
            counts["refused", default: 0] += 1
            let before = states[states.count - 2]
            if before.objects != states[states.count - 1].objects {
                throw Failure("a refused changeset left a trace")
            }
        }
        let said = Set(entry.shown).union(entry.told)
        var untold: Path?
        for op in changeset.ops {
            var along: [ObjectID] = []
            if case .delete(_, let others) = op { along = others }
            op.eachOwned(server.store.schema) { path in
                // Nothing is to be told of what is gone on both sides.
                if along.contains(path.object), !server.store.contains(path.object) { return }
                let isTold = (0...path.steps.count).contains {
                    said.contains(Path(path.object, path.steps[..<$0]))
                }
                if !isTold { untold = path }
            }
        }
        if let untold { throw Failure("the author is not told of \(untold)") }
    }

    private mutating func tell(_ client: Int, _ dice: inout Seed, toHead: Bool = false) {
        let one = clients[client]
        let head = server.store.head
        let isRequery = one.told != one.wanted
        let from = isRequery ? nil : one.sent
        var through = head
        if !toHead, let from, from >= server.store.logStart {
            through = from + UInt64(dice.below(Int(head - min(from, head)) + 1))
        }
        if through == one.sent, !isRequery { return }
        var request = Resolver<MemoryStore>.Request(
            one.replica.number, from: from, view: Self.view(one.wanted))
        request.isCoarse = dice.chance(20)
        let before = dice.chance(70) ? from.map { states[Int($0)] } : nil
        var batch = server.batch(
            request, through: through, now: states[Int(through)], before: before)
        if dice.chance(30), let facts = try? Fact.decoded(Fact.encoded(batch.facts)) {
            batch.facts = facts
        }
        clients[client].told = one.wanted
        clients[client].sent = through
        clients[client].down.append((batch, one.wanted))
        if dice.chance(10) {
            let place = dice.below(clients[client].down.count)
            clients[client].down.insert((batch, one.wanted), at: place)
        }
    }

    private mutating func hear(_ client: Int) throws(Failure) {
        guard !clients[client].down.isEmpty else { return }
        let (batch, query) = clients[client].down.removeFirst()
        guard clients[client].replica.receive(batch) else { return }
        clients[client].shown = query
        try checkReplica(client)
    }

    private mutating func connect(_ client: Int, _ dice: inout Seed) {
        var one = clients[client]
        one.up = []
        one.down = []
        let last = server.store.lastNumber(of: one.replica.number)
        if one.replica.epoch != server.epoch {
            one.replica.rewind(epoch: server.epoch, head: server.store.head, last: last)
        }
        one.sent = one.replica.needsAll ? nil : one.replica.cursor
        one.sentNumber = dice.chance(50) ? 0 : last
        one.told = one.shown
        clients[client] = one
    }

    private mutating func forget(_ dice: inout Seed) {
        let live = clients.filter { !$0.isAway }
        let floor = live.map(\.replica.floor).reduce(server.store.head, min)
        server.store.forget(through: floor)
        if dice.chance(50) {
            counts["trimmed", default: 0] += 1
            server.store.trimLog(through: live.map { $0.sent ?? 0 }.reduce(floor, min))
        }
    }

    private mutating func restore(_ dice: inout Seed) {
        guard let backup else { return }
        let epoch = server.epoch + 1
        (server, states, history) = backup
        server.epoch = epoch
        wasRestored = true
        counts["restored", default: 0] += 1
        for client in clients.indices { connect(client, &dice) }
    }

    // MARK: Rest

    private mutating func comeToRest() throws(Failure) {
        var dice = Seed(schedule.seed ^ 0xE57)
        for _ in 0..<4 {
            for client in clients.indices {
                connect(client, &dice)
                send(client, &dice, most: .max)
                while !clients[client].up.isEmpty { try serve(client) }
            }
            for client in clients.indices {
                tell(client, &dice, toHead: true)
                while !clients[client].down.isEmpty { try hear(client) }
            }
        }
        try checkRest()
    }
}
