internal import ToftSync
internal import ToftTestKit

/// How much one core resolves and applies, in memory.
enum Benchmark {
    private static let objects = 1000
    private static let changesetSize = 100

    static func run() {
        var seed = Seed(1)
        let encoded = changesets(1000, &seed).map(\.encoded)
        let bytes = encoded.reduce(0) { $0 + $1.count }
        var decoded: [Changeset] = []
        measure("ops decoded", encoded.count * changesetSize) {
            decoded = encoded.compactMap {
                try? Changeset(decoding: $0, of: ReplicaNumber(1))
            }
        }
        print("  \(bytes / (encoded.count * changesetSize)) bytes an op")
        var server = Resolver(MemoryStore(Classes.schema))
        measure("ops resolved, changesets of \(changesetSize)", encoded.count * changesetSize) {
            for changeset in decoded { server.push(changeset, now: 1 << 40) }
        }
        let batches = (0..<server.store.head).map { entry in
            server.batch(
                .init(ReplicaNumber(2), from: entry), through: entry + 1, now: server.store.tables)
        }
        let facts = batches.reduce(0) { $0 + $1.facts.count }
        var replica = Replica(ReplicaNumber(2), MemoryTables(Classes.schema))
        measure("facts applied", facts) {
            for batch in batches { replica.receive(batch) }
        }
        precondition(replica.store.objects == server.store.tables.objects)
        let all = server.batch(
            .init(ReplicaNumber(3), from: nil), through: server.store.head,
            now: server.store.tables)
        var fresh = Replica(ReplicaNumber(3), MemoryTables(Classes.schema))
        measure("objects of a first download", all.facts.count) { fresh.receive(all) }
        precondition(fresh.store.objects == server.store.tables.objects)
        var single = Resolver(MemoryStore(Classes.schema))
        let small = decoded.flatMap(\.ops).enumerated().map { index, op in
            Changeset(
                ReplicaNumber(1), UInt64(index + 1), base: UInt64(index), time: Int64(index), [op])
        }
        measure("changesets of one op resolved", small.count) {
            for changeset in small { single.push(changeset, now: 1 << 40) }
        }
    }

    /// One replica's work: it makes objects, then puts, adds, inserts, and edits sets and
    /// dictionaries.
    private static func changesets(_ count: Int, _ seed: inout Seed) -> [Changeset] {
        var replica = Replica(ReplicaNumber(1), MemoryTables(Classes.schema))
        for number in 0..<count {
            for index in 0..<changesetSize {
                let key = (number * changesetSize + index) % objects
                let object = ObjectID(Classes.item, .text(Text("object \(key)")))
                if !replica.store.contains(object) {
                    replica.perform(
                        .create(
                            object,
                            [
                                Given(Classes.title, .value(.text("a title"))),
                                Given(Classes.count, .value(.int(1))),
                                Given(PropertyNumber(13), .dictionary(["k": .value(.int(1))])),
                            ]))
                    continue
                }
                switch seed.below(10) {
                case 0..<5:
                    let text = Text("title \(seed.below(1000))")
                    replica.perform(.put(Path(object, Classes.title), .value(.text(text))))
                case 5: replica.perform(.add(Path(object, Classes.count), 1))
                case 6:
                    let list = Path(object, PropertyNumber(8))
                    let length = replica.store.content(at: list)?.node?.list?.count ?? 0
                    replica.insert(.value(.int(7)), in: list, at: seed.below(length + 1))
                case 7:
                    let member = SyncValue.int(Int64(seed.below(10)))
                    replica.perform(
                        .put(Path(object, PropertyNumber(11)) + .member(member), .member))
                default:
                    let key = Text("k\(seed.below(10))")
                    replica.perform(
                        .put(Path(object, PropertyNumber(13)) + .key(key), .value(.int(3))))
                }
            }
            replica.commit(at: Int64(number))
        }
        return replica.pending
    }

    private static func measure(_ what: String, _ count: Int, _ body: () -> Void) {
        let time = ContinuousClock().measure(body)
        let seconds =
            Double(time.components.seconds) + Double(time.components.attoseconds) * 1e-18
        print("\(what): \(Int(Double(count) / seconds)) a second (\(count))")
    }
}
