// Tests: ByteReader.swift, ByteWriter.swift, ValueCoding.swift, OpCoding.swift, Adoption.swift,
// SyncValue.swift, Identity.swift
import Testing
import ToftSync
import ToftTestKit

/// One text of bytes for one value, and nothing else is taken.
@Suite struct EncodingTests {
    private let a = Lab.object("a")

    private func changeset(_ ops: Op...) -> Changeset {
        Changeset(ReplicaNumber(3), 7, base: 5, time: -1, ops)
    }

    private func roundTrip(_ changeset: Changeset) throws -> Changeset {
        try Changeset(decoding: changeset.encoded, of: changeset.replica)
    }

    static let values: [SyncValue] = [
        .null, .bool(true), .bool(false), .int(0), .int(-1), .int(.max), .int(.min),
        .float(0), .float(-0.0), .float(.infinity), .float(.nan), .float(.leastNonzeroMagnitude),
        .double(0), .double(-0.0), .double(-.infinity), .double(.nan),
        .double(.greatestFiniteMagnitude), .text(""), .text("\u{0}é\u{1F600}"),
        .text(Text(String(repeating: "x", count: 70_000))), .data([]), .data([0, 255]),
        .date(seconds: 0, nanoseconds: 0), .date(seconds: .max, nanoseconds: 999_999_999),
        .date(seconds: .min, nanoseconds: -999_999_999), .date(seconds: 0, nanoseconds: -1),
        .link(ObjectID(ClassNumber(.max), .null)), .link(Lab.object("é")),
        .link(ObjectID(Lab.note, .made(MadeID(ReplicaNumber(.max), .max)))),
        .link(ObjectID(Lab.note, .uuid(Bytes16(high: 1, low: .max)))),
        .link(ObjectID(Lab.note, .objectID(Bytes12(high: .max, low: 1)))),
        .decimal(Bytes16(high: 2, low: 3)), .objectID(Bytes12(high: 4, low: 5)),
        .uuid(Bytes16(high: .max, low: 0)),
        .list(CollectionID(.max), [.null, .dictionary(CollectionID(0), [])]),
        .dictionary(
            CollectionID(1),
            [NestedEntry("", .null), NestedEntry("a", .list(CollectionID(2), []))]),
    ]

    @Test(arguments: values) func `A value comes back as it was`(value: SyncValue) throws {
        var writer = ByteWriter()
        writer.value(value)
        var reader = ByteReader(writer.bytes)
        let decoded = try reader.value()
        #expect(decoded == value)
        #expect(reader.isAtEnd)
        for count in writer.bytes.indices where count < 200 {
            #expect(throws: DecodingError.self) {
                var reader = ByteReader(Array(writer.bytes[..<count]))
                _ = try reader.value()
            }
        }
    }

    @Test func `Ops of all kinds come back as they were`() throws {
        let one = MadeID(ReplicaNumber(3), 1)
        let two = MadeID(ReplicaNumber(3), 2)
        let words = Path(a, Lab.words)
        let part = Node.fields(Fields(ascending: [.init(Lab.name, .value("n"))]))
        let all = changeset(
            .create(
                a,
                [
                    Given(Lab.title, .value("t"), isExplicit: false),
                    Given(Lab.words, .list(ElementList([(one, .value("x")), (two, .null)]))),
                    Given(Lab.tags, .set([1, 2, 300])),
                    Given(Lab.facts, .dictionary(["b": .value("x"), "a": .null])),
                    Given(Lab.detail, part),
                ]),
            .put(Path(a, Lab.title), .value("u")), .put(Path(a, Lab.title), .value("v")),
            .put(Path(Lab.object("b"), Lab.title), .value("w")),
            .put(Path(a, Lab.tags) + .member(4), .member),
            .put(Path(a, Lab.tags) + .member(5), .absent),
            .put(Path(a, Lab.facts) + .key("k"), .absent),
            .put(Path(a, Lab.detail) + .property(Lab.inner) + .property(Lab.name), .value("x")),
            .add(Path(a, Lab.count), -5),
            .insert(words + .element(one), Neighbours(nil, two), .value("x")),
            .insert(words + .element(two), Neighbours(one, nil), .value("y")),
            .move(words + .element(one), Neighbours(two, nil)),
            .put(words + .element(one) + .value, .value("z")), .remove(words + .element(one)),
            .clear(words), .nested(Path(a, Lab.anything), CollectionID(9), .entry("k", nil)),
            .nested(Path(a, Lab.anything), CollectionID(9), .entry("k", .null)),
            .nested(Path(a, Lab.anything), CollectionID(9), .elements([1, "x"])),
            .delete(a, along: [Lab.object("b"), ObjectID(Lab.note, .made(one))]),
            .addClass(Lab.schema[Lab.item] ?? ClassSchema("", Lab.item, .keyed)),
            .addProperty(
                Lab.item,
                PropertySchema(
                    "p", PropertyNumber(77), .int, in: .list, isOptional: false,
                    initial: .int(3))))
        #expect(try roundTrip(all) == all)
    }

    @Test func `Own ids get the number that the server has given`() {
        func changeset(_ replica: UInt32) -> Changeset {
            let own = MadeID(ReplicaNumber(replica), 1)
            let note = ObjectID(Lab.note, .made(own))
            let other = MadeID(ReplicaNumber(8), 1)
            let words = Path(a, Lab.words)
            let list = SyncValue.list(CollectionID(1), [.link(note)])
            return Changeset(
                ReplicaNumber(replica), 1, base: 0, time: 0,
                [
                    .create(note, []),
                    .create(a, [Given(Lab.words, .list(ElementList([(own, .value("x"))])))]),
                    .put(Path(a, Lab.friend), .value(.link(note))),
                    .insert(words + .element(own), Neighbours(other, own), .value(list)),
                    .move(words + .element(other), Neighbours(own, nil)),
                    .nested(Path(a, Lab.anything), CollectionID(1), .entry("k", .link(note))),
                    .nested(Path(a, Lab.anything), CollectionID(1), .elements([.link(note)])),
                    .put(Path(note, Lab.tags) + .member(.link(note)), .member),
                    .delete(note, along: [note, a]),
                ])
        }
        #expect(changeset(0).adopted(by: ReplicaNumber(5)) == changeset(5))
    }

    @Test func `One put takes few bytes`() {
        let bytes = changeset(.put(Path(ObjectID(Lab.item, .int(1)), Lab.count), .value(7))).encoded
        #expect(bytes.count < 16)
        let put = Op.put(Path(ObjectID(Lab.item, .int(1)), Lab.count), .value(7))
        let more = changeset(put, put)
        #expect(more.encoded.count - bytes.count == 3)
    }

    @Test func `Facts come back as they were`() throws {
        let id = MadeID(ReplicaNumber(1), 9)
        let list = ElementList([(id, .value("x")), (MadeID(ReplicaNumber(2), 1), .null)])
        let facts = [
            Fact(Path(a), .absent),
            Fact(
                Path(a),
                .node(
                    .fields(
                        Fields(ascending: [
                            .init(Lab.title, .null), .init(Lab.words, .list(list)),
                            .init(Lab.tags, .set([])),
                        ])))),
            Fact(Path(a, Lab.words) + .element(id), .element(Label(-3), .value("x"))),
            Fact(Path(a, Lab.words) + .element(id) + .label, .label(Label(.min))),
            Fact(Path(a, Lab.tags) + .member(1), .member),
        ]
        #expect(try Fact.decoded(Fact.encoded(facts)) == facts)
    }

    @Test(arguments: [
        ([2, 0x80, 0x00], DecodingError.notCanonical),  // a longer form of 0
        ([2] + Array(repeating: 0xFF, count: 10), .tooLong),
        ([1, 2], .notCanonical), ([3, 1, 0, 0xC0, 0x7F], .notCanonical),
        ([5, 1, 0xFF], .notUTF8), ([5, 200, 1], .endsTooEarly), ([9], .unknownKind(9)),
        ([17], .unknownKind(17)), ([6, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F], .endsTooEarly),
        ([7, 2, 1], .notCanonical),  // seconds and nanoseconds of two signs
        ([14] + Array(repeating: 0, count: 8) + [0xFF, 0x7F], .endsTooEarly),
        ([15] + Array(repeating: 0, count: 8) + [2, 1, 98, 0, 1, 97, 0], .notCanonical),
        ([15] + Array(repeating: 0, count: 8) + [2, 1, 97, 0, 1, 97, 0], .notCanonical),
    ])
    func `Bytes that are not canonical are refused`(bytes: [UInt8], error: DecodingError) {
        #expect(throws: error) {
            var reader = ByteReader(bytes)
            _ = try reader.value()
        }
    }

    @Test func `Values nested deeper than a hundred are refused, not followed`() {
        let level: [UInt8] = [14] + Array(repeating: 0, count: 8) + [1]
        for (count, isRefused) in [(100, false), (101, true), (100_000, true)] {
            let bytes = Array(repeatElement(level, count: count).joined()) + [0]
            var reader = ByteReader(bytes)
            do {
                _ = try reader.value()
                #expect(!isRefused)
            } catch {
                #expect(isRefused && error == .nestedTooDeep)
            }
        }
        let embedded = Array(repeatElement([16, 1, 1] as [UInt8], count: 100_000).joined()) + [0]
        #expect(throws: DecodingError.nestedTooDeep) {
            try Fact.decoded([1, 14, 1, 0, 1] + embedded)
        }
    }

    @Test func `Bytes with faults give an error or exactly the value that has them`() throws {
        var seed = Seed.random()
        var samples = [[UInt8]](), facts = [[UInt8]]()
        var lab = Lab(2)
        for number in 0..<40 {
            let object = Lab.object(Text("\(seed.below(3))"))
            lab.write(
                0, .create(object, [Given(Lab.facts, .dictionary(["k": .value("v")]))]),
                .put(Path(object, Lab.anything), .value(seed.one(of: Self.values))),
                .put(Path(object, Lab.tags) + .member(.int(Int64(number))), .member))
            lab.replicas[0].insert(.value("x"), in: Path(object, Lab.words), at: 0)
            lab.write(0)
        }
        samples = lab.replicas[0].pending.map(\.encoded).filter { $0.count < 1000 }
        lab.push(0)
        facts.append(
            Fact.encoded(
                lab.server.batch(
                    .init(ReplicaNumber(2), from: nil), through: lab.server.store.head,
                    now: lab.server.store.tables
                ).facts))
        var accepted = 0
        for _ in 0..<20_000 {
            var bytes = seed.chance(20) ? facts[0] : seed.one(of: samples)
            for _ in 0...seed.below(3) {
                switch seed.below(4) {
                case 0: bytes = Array(bytes.prefix(seed.below(bytes.count + 1)))
                case 1: bytes.append(UInt8(seed.below(256)))
                case 2 where !bytes.isEmpty: bytes[seed.below(bytes.count)] = UInt8(seed.below(256))
                default: bytes.insert(UInt8(seed.below(256)), at: seed.below(bytes.count + 1))
                }
            }
            if let changeset = try? Changeset(decoding: bytes, of: ReplicaNumber(1)) {
                accepted += 1
                #expect(changeset.encoded == bytes, "\(seed)")
                // A server may get it, and must answer.
                lab.server.push(
                    Changeset(
                        ReplicaNumber(9), lab.server.store.lastNumber(of: ReplicaNumber(9)) + 1,
                        base: 0, time: 0, changeset.ops), now: 0)
            }
            if let some = try? Fact.decoded(bytes) {
                #expect(Fact.encoded(some) == bytes, "\(seed)")
                var replica = lab.replicas[1]
                replica.receive(
                    Batch(from: 0, through: 1, answered: 0, facts: some, isComplete: false))
            }
        }
        #expect(accepted > 100, "\(seed): too few were taken to try what follows")
        #expect(lab.server.store.tables.check().isEmpty, "\(seed)")
    }
}
