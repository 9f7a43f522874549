internal import ToftSync

extension Vocabulary {
    /// A changeset as the random runs have it.
    func changeset(_ json: OrderedJSON) throws -> Changeset {
        guard let replica = json["r"]?.int, let number = json["q"]?.int,
            let base = json["base"]?.int,
            let time = json["t"]?.int
        else { throw JSONError("no changeset") }
        return Changeset(
            ReplicaNumber(UInt32(clamping: replica)), UInt64(clamping: number),
            base: UInt64(clamping: base), time: time,
            try (json["ops"]?.array ?? []).map { try op($0.array ?? []) })
    }

    private func op(_ parts: [OrderedJSON]) throws -> Op {
        guard parts.count > 1, let what = parts[0].string else { throw JSONError("no op") }
        if what == "create" || what == "delete" {
            let object = try object(parts[1])
            if what == "delete" {
                return .delete(
                    object,
                    along: try (parts.count > 2 ? parts[2].array ?? [] : []).map(self.object))
            }
            return .create(
                object,
                try (parts.count > 2 ? parts[2].members ?? [] : []).map { name, pair in
                    let property = try property(object.type, name)
                    guard let pair = pair.array, pair.count == 2 else {
                        throw JSONError("no value of \(name)")
                    }
                    let isExplicit = pair[1].bool ?? (pair[1].int != 0)
                    return Given(
                        property.number, try whole(pair[0], property), isExplicit: isExplicit)
                })
        }
        let path = try path(parts[1])
        func part(_ index: Int) -> OrderedJSON { index < parts.count ? parts[index] : .null }
        func neighbours() throws -> Neighbours {
            Neighbours(try part(2).string.map(element), try part(3).string.map(element))
        }
        switch what {
        case "put": return .put(path, try content(part(2), at: path))
        case "add": return .add(path, part(2).int ?? 0)
        case "insert":
            guard let property = schema.slot(path)?.property else { throw JSONError("no list") }
            return .insert(path, try neighbours(), try node(part(4), property))
        case "move": return .move(path, try neighbours())
        case "remove": return .remove(path)
        case "clear": return .clear(path)
        case "nested":
            let id = CollectionID(UInt64(bitPattern: part(2).int ?? 0))
            return .nested(path, id, try edit(part(3), part(4)))
        default: throw JSONError("no op \(what)")
        }
    }
}

/// Plays changesets in the server's order, and compares each entry and what there is in the end.
func playEntries(
    _ json: OrderedJSON, _ vocabulary: Vocabulary, _ result: inout CaseResult
) throws {
    var resolver = Resolver(MemoryStore(vocabulary.schema), .ofVectors)
    resolver.validator = { _, content in
        content == .value(.text("BAD")) ? "the text is bad" : nil
    }
    for (index, entry) in (json["entries"]?.array ?? []).enumerated() {
        let place = "entry \(index + 1)"
        let changeset = try throughBytes(vocabulary.changeset(entry))
        let outcome = resolver.push(changeset, now: 1 << 60)
        guard resolver.store.head == UInt64(index + 1) else {
            result.differences.append("\(place): not resolved: \(outcome)")
            return
        }
        let logged = resolver.store.entry(UInt64(index + 1))
        let refused = logged.refusal.map { OrderedJSON.string($0.reason.name) } ?? .null
        result.compare("\(place), refused", entry["refused"] ?? .null, refused)
        result.compareSets(
            "\(place), facts for all", entry["facts"] ?? .null,
            .array(logged.shown.map(vocabulary.json)))
        result.compareSets(
            "\(place), facts for the author", entry["author"] ?? .null,
            .array(logged.told.map(vocabulary.json)))
    }
    if let final = json["final"] {
        result.compareSets("final state", final, vocabulary.state(resolver.store.tables))
    }
    for problem in resolver.store.tables.check() { result.differences.append(problem) }
}

/// Plays what replicas commit and receive, and compares what they show after each batch.
func playReplicas(
    _ json: OrderedJSON, _ vocabulary: Vocabulary, _ result: inout CaseResult
) throws {
    for (name, events) in json["replicas"]?.members ?? [] {
        let number = ReplicaNumber(UInt32(name) ?? 0)
        var replica = Replica(number, MemoryTables(vocabulary.schema))
        for (index, event) in (events.array ?? []).enumerated() {
            let place = "replica \(name), event \(index)"
            if let commit = event["commit"] {
                let expected = try throughBytes(vocabulary.changeset(commit))
                for op in expected.ops where !replica.perform(op) {
                    result.differences.append("\(place): an op is not done: \(op)")
                }
                let made = replica.commit(at: expected.time)
                if made != expected {
                    result.differences.append("\(place): the changeset is another one")
                }
                continue
            }
            let batch = Batch(
                from: UInt64(clamping: event["from"]?.int ?? 0),
                through: UInt64(clamping: event["to"]?.int ?? 0),
                answered: UInt64(clamping: event["answered"]?.int ?? 0),
                facts: try (event["facts"]?.array ?? []).map { fact in
                    guard let pair = fact.array, pair.count == 2 else { throw JSONError("no fact") }
                    let path = try vocabulary.path(pair[0])
                    return Fact(path, try vocabulary.content(pair[1], at: path))
                }, isComplete: event["complete"]?.bool ?? false)
            if !replica.receive(try throughBytes(batch)) {
                result.differences.append("\(place): the batch is refused")
            }
            if let shown = event["shown"] {
                result.compareSets("\(place), shown", shown, vocabulary.state(replica.store))
            }
        }
        for problem in replica.store.check() {
            result.differences.append("replica \(name): \(problem)")
        }
    }
}

/// The changeset as it comes out of its bytes.
private func throughBytes(_ changeset: Changeset) throws -> Changeset {
    let decoded = try Changeset(decoding: changeset.encoded, of: changeset.replica)
    if decoded != changeset { throw JSONError("the bytes of a changeset say something else") }
    return decoded
}

/// The batch with facts as they come out of their bytes.
private func throughBytes(_ batch: Batch) throws -> Batch {
    let decoded = try Fact.decoded(Fact.encoded(batch.facts))
    if decoded != batch.facts { throw JSONError("the bytes of facts say something else") }
    var batch = batch
    batch.facts = decoded
    return batch
}
