// Tests: OpCheck.swift, Resolver+Schema.swift, SyncSchema.swift, MemoryStore.swift,
// Resolver.swift
import Testing
import ToftSync

/// Changesets of a faulty or hostile replica are refused, and leave nothing behind.
@Suite struct HostileTests {
    private let a = Lab.object("a")

    private func reason(_ ops: Op...) -> RefusalReason? {
        var lab = Lab(1)
        lab.write(0, .create(a, []))
        lab.settle()
        let before = lab.server.store.tables.objects
        let changeset = Changeset(ReplicaNumber(1), 2, base: 1, time: 5, ops)
        guard case .refused(let refusal) = lab.server.push(changeset, now: 10) else { return nil }
        #expect(lab.server.store.tables.objects == before)
        #expect(lab.server.store.tables.check().isEmpty)
        return refusal.reason
    }

    @Test func `An id in the name of another replica is refused`() {
        let foreign = MadeID(ReplicaNumber(2), 1)
        #expect(reason(.create(ObjectID(Lab.note, .made(foreign)), [])) == .badChangeset)
        let element = Path(a, Lab.words) + .element(foreign)
        #expect(reason(.insert(element, Neighbours(nil, nil), .value("x"))) == .badChangeset)
        let list = Node.list(ElementList([(foreign, .value("x"))]))
        #expect(
            reason(.create(Lab.object("n"), [Given(Lab.words, list)])) == .badChangeset)
    }

    @Test func `A value of another type is refused`() {
        for (property, value) in [
            (Lab.title, SyncValue.int(1)), (Lab.count, "x"), (Lab.friend, "x"),
            (Lab.friend, .link(ObjectID(Lab.note, .int(1)))), (Lab.detail, .int(1)),
        ] {
            #expect(
                reason(.put(Path(a, property), .value(value))) == .badChangeset,
                "\(property), \(value)")
        }
    }

    @Test func `A path that the classes do not have is refused`() {
        let id = MadeID(ReplicaNumber(1), 1)
        for path in [
            Path(ObjectID(ClassNumber(99), .int(1)), Lab.title), Path(a, PropertyNumber(99)),
            Path(a, Lab.title) + .key("x"), Path(a, Lab.words) + .key("x"),
            Path(a, Lab.words) + .element(id), Path(a, Lab.words) + .element(id) + .label,
            Path(a, Lab.tags), Path(a), Path(a, Lab.title) + .value,
            Path(a, Lab.anything) + .nested(CollectionID(1), nil),
        ] {
            #expect(reason(.put(path, .value(.null))) == .badChangeset, "\(path)")
            #expect(reason(.nested(path, CollectionID(1), .elements([]))) == .badChangeset)
        }
        #expect(reason(.clear(Path(a, Lab.title))) == .badChangeset)
        #expect(reason(.put(Path(a, Lab.title), .absent)) == .badChangeset)
        #expect(reason(.put(Path(a, Lab.title), .member)) == .badChangeset)
    }

    @Test func `A base that the server has not reached is refused`() {
        var lab = Lab(1)
        let changeset = Changeset(ReplicaNumber(1), 1, base: 1, time: 5, [.create(a, [])])
        guard case .refused(let refusal) = lab.server.push(changeset, now: 10) else {
            Issue.record("accepted")
            return
        }
        #expect(refusal.reason == .badChangeset)
    }

    @Test func `Times at the ends of the numbers do not trap`() {
        var lab = Lab(1)
        for (number, time) in [Int64.max, .min, .max, 0].enumerated() {
            let changeset = Changeset(
                ReplicaNumber(1), UInt64(number + 1), base: 0, time: time,
                [.create(a, []), .put(Path(a, Lab.title), .value(.text(Text("\(number)"))))])
            let outcome = lab.server.push(changeset, now: .max)
            #expect(outcome == .accepted)
        }
        #expect(lab.value(Path(a, Lab.title)) == "3")
        lab.pull(0)
        lab.write(0, at: .min, .put(Path(a, Lab.title), .value("x")))
        #expect(lab.replicas[0].newestTime == .max)
    }

    @Test func `Edits that nest mixed values ever deeper are refused at the limit`() {
        var lab = Lab(1)
        let path = Path(a, Lab.anything)
        var value = SyncValue.null
        for number in 1..<60 { value = .list(CollectionID(UInt64(number)), [value]) }
        lab.write(0, .create(a, [Given(Lab.anything, .value(value))]))
        lab.settle()
        var inner = SyncValue.null
        for number in 100..<150 { inner = .list(CollectionID(UInt64(number)), [inner]) }
        let changeset = Changeset(
            ReplicaNumber(1), 2, base: 1, time: 5,
            [.nested(path, CollectionID(1), .elements([inner]))])
        guard case .refused(let refusal) = lab.server.push(changeset, now: 10) else {
            Issue.record("accepted")
            return
        }
        #expect(refusal.reason == .badChangeset)
        #expect(lab.value(path) == value)
    }

    @Test func `A class or property that is another one here is a conflict of schemas`() {
        let other = PropertySchema("title", Lab.title, .int)
        #expect(reason(.addProperty(Lab.item, other)) == .schemaConflict)
        #expect(
            reason(.addClass(ClassSchema("Item", Lab.item, .embedded))) == .schemaConflict)
        let same = PropertySchema("title", Lab.title, .text)
        #expect(reason(.addProperty(Lab.item, same)) == nil)
        let loose = PropertySchema("loose", PropertyNumber(50), .embedded)
        #expect(reason(.addProperty(Lab.item, loose)) == .badChangeset)
    }

    @Test func `A refused changeset takes its classes back`() {
        var lab = Lab(1)
        let type = ClassSchema(
            "New", ClassNumber(9), .keyed, [PropertySchema("x", PropertyNumber(1), .int)])
        let object = ObjectID(ClassNumber(9), .int(1))
        let bad = Op.put(Path(object, PropertyNumber(1)), .value("x"))
        let good = Op.put(Path(object, PropertyNumber(1)), .value(1))
        for (number, op) in [bad, good].enumerated() {
            lab.server.push(
                Changeset(
                    ReplicaNumber(1), UInt64(number + 1), base: 0, time: 1,
                    [.addClass(type), .create(object, []), op]), now: 1)
            #expect(lab.server.store.contains(object) == (number == 1))
            #expect((lab.server.store.schema[ClassNumber(9)] != nil) == (number == 1))
        }
    }

    @Test func `Copies and gaps change nothing`() {
        var lab = Lab(1)
        let first = Changeset(ReplicaNumber(1), 1, base: 0, time: 1, [.create(a, [])])
        var third = first
        third.number = 3
        let outcomes = [first, first, third].map { lab.server.push($0, now: 1) }
        #expect(outcomes == [.accepted, .copy, .gap])
        #expect(lab.server.store.head == 1)
    }
}
