internal import ToftSync

/// Plays cases of steps: what replicas do, push and pull.
struct StepPlay {
    private let vocabulary: Vocabulary
    private var server: VectorServer
    private var backup: VectorServer?
    private var replicas: [Int64: Replica<MemoryTables>] = [:]
    private var views: [Int64: View] = [:]
    /// Replicas whose next batch is complete, as what they ask for has changed.
    private var complete: Set<Int64> = []
    private var results: [OrderedJSON] = []

    private static let now: Int64 = 1_000_000

    init(_ vocabulary: Vocabulary) {
        self.vocabulary = vocabulary
        server = VectorServer(vocabulary.schema)
    }

    mutating func run(_ json: OrderedJSON, _ result: inout CaseResult) throws {
        for step in json["steps"]?.array ?? [] { try self.step(step) }
        for (place, wanted) in json["expect"]?.members ?? [] {
            guard let tables = tables(place) else { throw JSONError("no replica \(place)") }
            expect(place, wanted, tables, &result)
        }
        if let expected = json["results"] { result.compare("results", expected, .array(results)) }
        if json["rest"]?.bool ?? true { expectRest(&result) }
        if let outcome = json["outcome"] { expectOutcome(outcome, &result) }
        for (place, tables) in allTables {
            for problem in tables.check() { result.differences.append("\(place): \(problem)") }
        }
    }

    // MARK: Steps

    private mutating func step(_ step: OrderedJSON) throws {
        guard let (what, argument) = step.members?.first else { throw JSONError("an empty step") }
        switch what {
        case "at":
            let number = try number(argument)
            var replica = replica(number)
            for op in step["do"]?.array ?? [] { try act(op.array ?? [], &replica) }
            replica.commit(at: step["time"]?.int ?? replica.newestTime + 1)
            replicas[number] = replica
        case "push": push(try number(argument))
        case "pull": pull(try number(argument))
        case "sync":
            push(try number(argument))
            pull(try number(argument))
        case "queries":
            let number = try number(step["of"] ?? .null)
            replicas[number] = replica(number)
            views[number] = try view(argument)
            complete.insert(number)
        case "forget":
            let floor =
                argument.string == "floor" ? replicas.values.map(\.floor).min() : server.head
            server.change { $0.store.forget(through: floor ?? 0) }
        case "trim": server.change { $0.store.trimLog(through: $0.store.head) }
        case "backup":
            server.change { $0.safe = $0.store.head }
            backup = server
        case "restore":
            guard var restored = backup else { throw JSONError("no backup") }
            let epoch = server.resolver.epoch + 1
            restored.change { $0.epoch = epoch }
            server = restored
            for number in replicas.keys {
                let last = server.resolver.store.lastNumber(of: ReplicaNumber(UInt32(number)))
                replicas[number]?.rewind(epoch: epoch, head: server.head, last: last)
            }
        default: throw JSONError("no step \(what)")
        }
    }

    private func number(_ json: OrderedJSON) throws -> Int64 {
        guard let number = json.int, UInt32(exactly: number) != nil else {
            throw JSONError("no replica: \(json.canonical)")
        }
        return number
    }

    private func replica(_ number: Int64) -> Replica<MemoryTables> {
        replicas[number]
            ?? Replica(ReplicaNumber(UInt32(number)), MemoryTables(vocabulary.schema))
    }

    private mutating func push(_ number: Int64) {
        let replica = replica(number)
        replicas[number] = replica
        for changeset in replica.pending {
            let name =
                switch server.push(changeset, now: Self.now) {
                case .accepted: "accepted"
                case .refused: "rejected"
                case .copy: "copy"
                case .gap: "gap"
                }
            results.append(.string(name))
        }
    }

    private mutating func pull(_ number: Int64) {
        var replica = replica(number)
        let isWhole = replica.needsAll || complete.contains(number)
        complete.remove(number)
        replica.receive(
            server.batch(
                .init(
                    replica.number, from: isWhole ? nil : replica.cursor, view: views[number])))
        replicas[number] = replica
    }

    /// Class -> all objects, or those with one of some values of property `s`.
    private func view(_ json: OrderedJSON) throws -> View {
        var seen: [ClassNumber: Set<SyncValue>?] = [:]
        for (name, values) in json.members ?? [] {
            let type = name == "A" ? Vocabulary.keyed : Vocabulary.unkeyed
            seen[type] = .some(try values.array.map { Set(try $0.map(vocabulary.value)) })
        }
        let property = try [Vocabulary.keyed, Vocabulary.unkeyed].reduce(into: [:]) {
            $0[$1] = try vocabulary.property($1, "s").number
        }
        return View { [seen] object, fields in
            guard let values = seen[object.type] else { return false }
            guard let values else { return true }
            return property[object.type].flatMap { fields[$0]?.value }
                .map(values.contains) ?? false
        }
    }

    // MARK: What a user does

    private func act(_ op: [OrderedJSON], _ replica: inout Replica<MemoryTables>) throws {
        guard op.count > 1, let what = op[0].string else { throw JSONError("no op") }
        if what == "create" { return try create(op, &replica) }
        let object = try vocabulary.object(op[1])
        if what == "delete" {
            replica.delete(object)
            return
        }
        guard op.count > 2, let name = op[2].string else { throw JSONError("no property") }
        let property = try vocabulary.property(object.type, name)
        let path = Path(object, property.number)
        let rest = op[3...]
        let ids = replica.store.content(at: path)?.node?.list?.order.map(\.id) ?? []
        func element(_ json: OrderedJSON?) throws -> Path {
            guard let index = json?.int.map({ $0 < 0 ? Int($0) + ids.count : Int($0) }),
                ids.indices.contains(index)
            else { throw JSONError("no index: \(json?.canonical ?? "nothing")") }
            return path + .element(ids[index])
        }
        let isDone: Bool
        switch what {
        case "put", "add":
            var target = path
            var keys = rest.dropLast()
            if property.collection == .list, let first = keys.first, first.int != nil {
                target = try element(first) + .value
                keys = keys.dropFirst()
                for key in keys {
                    let inner = try vocabulary.property(
                        Vocabulary.embedded, key.string ?? key.canonical)
                    target = target + .property(inner.number)
                }
            } else {
                target.steps += try vocabulary.userSteps(keys, property)
            }
            let last = rest.last ?? .null
            isDone = replica.perform(
                what == "add"
                    ? .add(target, last.int ?? 0)
                    : .put(target, try vocabulary.content(last, at: target)))
        case "insert":
            let node = try vocabulary.node(rest.last ?? .null, property)
            isDone = replica.insert(node, in: path, at: Int(rest.first?.int ?? 0)) != nil
        case "move":
            isDone = replica.move(try element(rest.first), to: Int(rest.last?.int ?? 0))
        case "remove": isDone = replica.perform(.remove(try element(rest.first)))
        case "clear": isDone = replica.perform(.clear(path))
        case "nested":
            guard rest.count == 3, let id = rest[3].int else { throw JSONError("no edit") }
            let edit = try vocabulary.edit(rest[4], rest[5])
            isDone = replica.perform(.nested(path, CollectionID(UInt64(bitPattern: id)), edit))
        default: throw JSONError("no op \(what)")
        }
        if !isDone { throw JSONError("the replica did not do \(OrderedJSON.array(op).canonical)") }
    }

    private func create(_ op: [OrderedJSON], _ replica: inout Replica<MemoryTables>) throws {
        let isKeyed = op[1].array?.first?.string == "A"
        let object =
            isKeyed
            ? try vocabulary.object(op[1]) : ObjectID(Vocabulary.unkeyed, .made(replica.makeID()))
        let defaults = op.count > 3 ? op[3].members ?? [] : []
        var values = (op.count > 2 ? op[2].members ?? [] : []).map {
            (name: $0.key, value: $0.value, isExplicit: true)
        }
        for (name, value) in defaults {
            if let index = values.firstIndex(where: { $0.name == name }) {
                values[index] = (name, value, false)
            } else {
                values.append((name, value, false))
            }
        }
        let given = try values.map { name, value, isExplicit in
            let property = try vocabulary.property(object.type, name)
            let node: Node
            switch property.collection {
            case .list:
                node = .list(
                    ElementList(
                        try (value.array ?? []).map {
                            (replica.makeID(), try vocabulary.node($0, property))
                        }))
            case .set: node = .set(Set(try (value.array ?? []).map(vocabulary.value)))
            default: node = try vocabulary.whole(value, property)
            }
            return Given(property.number, node, isExplicit: isExplicit)
        }
        guard replica.perform(.create(object, given)) else {
            throw JSONError("the replica did not make \(op[1].canonical)")
        }
    }

    // MARK: What is expected

    private var allTables: [(String, MemoryTables)] {
        [("server", server.resolver.store.tables)]
            + replicas.sorted { $0.key < $1.key }.map { ("\($0)", $1.store) }
    }

    private func tables(_ place: String) -> MemoryTables? {
        allTables.first { $0.0 == place }?.1
    }

    private func expect(
        _ place: String, _ wanted: OrderedJSON, _ tables: MemoryTables, _ result: inout CaseResult
    ) {
        var named: [String: Fields] = [:]
        for (object, fields) in tables.objects {
            let key =
                switch object.key {
                case .text(let text): text.string
                case .made(let id): vocabulary.json(id)
                case .int(let value): "\(value)"
                default: "None"
                }
            named["\(object.type == Vocabulary.keyed ? "A" : "B") \(key)"] = fields
        }
        for (name, properties) in wanted.members ?? [] {
            guard let members = properties.members else {
                if named[name] != nil { result.differences.append("\(place): \(name) is there") }
                continue
            }
            guard let fields = named[name] else {
                result.differences.append("\(place): \(name) is not there")
                continue
            }
            let type = name.hasPrefix("A") ? Vocabulary.keyed : Vocabulary.unkeyed
            for (property, value) in members {
                guard let schema = try? vocabulary.property(type, property) else { continue }
                let got = vocabulary.plain(fields[schema.number] ?? .null)
                let where_ = "\(place): \(name) \(property)"
                if schema.collection == .set {
                    result.compareSets(where_, value, got)
                } else {
                    result.compare(where_, value, got)
                }
            }
        }
    }

    private func expectRest(_ result: inout CaseResult) {
        for (number, replica) in replicas.sorted(by: { $0.key < $1.key }) {
            let seen = ViewedTables(server.resolver.store.tables, views[number])
            var objects: [ObjectID: Fields] = [:]
            seen.eachObject { objects[$0] = seen.content(at: Path($0))?.node?.fields }
            if objects != replica.store.objects || !replica.pending.isEmpty {
                result.differences.append("replica \(number) is not at rest")
            }
        }
    }

    private func expectOutcome(_ outcome: OrderedJSON, _ result: inout CaseResult) {
        if let expected = outcome["results"] {
            result.compare("results", expected, .array(results))
        }
        if let expected = outcome["server"] {
            result.compareSets(
                "server", expected, vocabulary.state(server.resolver.store.tables))
        }
        let expected = outcome["replicas"]?.members ?? []
        for (number, state) in expected {
            guard let tables = tables(number) else {
                result.differences.append("no replica \(number)")
                continue
            }
            result.compareSets("replica \(number)", state, vocabulary.state(tables))
        }
        if outcome["replicas"] != nil, expected.count != replicas.count {
            result.differences.append("\(replicas.count) replicas")
        }
    }
}

extension Vocabulary {
    /// Steps as a user names them: members and keys as plain values.
    func userSteps(_ keys: ArraySlice<OrderedJSON>, _ property: PropertySchema) throws -> [Step] {
        guard let first = keys.first else { return [] }
        if property.collection == .set { return [.member(try value(first))] }
        return try steps(keys, property)
    }

    func edit(_ key: OrderedJSON, _ new: OrderedJSON) throws -> NestedEdit {
        guard let key = key.string else { return .elements(try (new.array ?? []).map(value)) }
        return .entry(Text(key), new["absent"] != nil ? nil : try value(new))
    }
}
