// Tests: Replica.swift, Replica+Facts.swift, Replica+Writes.swift, Owners.swift, Op.swift,
// Batch.swift, View.swift, Resolver.swift, Resolver+Authority.swift, Resolver+Objects.swift,
// Resolver+Values.swift, Resolver+Lists.swift, Resolver+Batches.swift, MemoryTables.swift,
// Tables.swift, Notes.swift, Text.swift, Path.swift, Content.swift
import Testing
import ToftSync

/// The rules as stories of two or three devices.
@Suite struct RuleTests {
    private let a = Lab.object("a")
    private let b = Lab.object("b")

    /// Two replicas that both know objects `a` and `b`.
    private func lab(_ count: Int = 2, _ given: [Given] = []) -> Lab {
        var lab = Lab(count)
        lab.write(0, at: 1, .create(b, []), .create(a, given))
        lab.settle()
        return lab
    }

    private func put(_ object: ObjectID, _ property: PropertyNumber, _ value: SyncValue) -> Op {
        .put(Path(object, property), .value(value))
    }

    @Test func `The later of two writes wins, whichever arrives last`() {
        for order in [[0, 1], [1, 0]] {
            var lab = lab()
            lab.write(0, at: 50, put(a, Lab.title, "early"))
            lab.write(1, at: 60, put(a, Lab.title, "late"))
            for replica in order { lab.push(replica) }
            lab.settle()
            #expect(lab.value(Path(a, Lab.title)) == "late")
            #expect(lab.problems.isEmpty)
        }
    }

    @Test func `A write wins over one that its author knew, though its clock is slow`() {
        var lab = lab()
        lab.write(0, at: 5000, put(a, Lab.title, "first"))
        lab.settle()
        lab.write(1, at: 7, put(a, Lab.title, "second"))
        lab.settle()
        #expect(lab.value(Path(a, Lab.title)) == "second")
    }

    @Test func `A clock that is hours ahead wins by a second at most`() {
        var lab = lab()
        lab.write(0, at: lab.now + 10_000_000, put(a, Lab.title, "from tomorrow"))
        lab.push(0)
        lab.now += 2000
        lab.write(1, at: lab.now, put(a, Lab.title, "now"))
        lab.push(1)
        lab.settle()
        #expect(lab.value(Path(a, Lab.title)) == "now")
    }

    @Test func `An own write shows until it is answered, whatever the others do`() {
        var lab = lab()
        lab.write(0, at: 10, put(a, Lab.title, "mine"))
        lab.write(1, at: 20, put(a, Lab.title, "theirs"))
        lab.sync(1)
        lab.pull(0)
        #expect(lab.value(Path(a, Lab.title), at: 0) == "mine")
        lab.sync(0)
        #expect(lab.value(Path(a, Lab.title), at: 0) == "theirs")
    }

    @Test func `All adds count, on top of a write that comes meanwhile`() {
        var lab = lab(3)
        lab.write(0, .add(Path(a, Lab.count), 5))
        lab.write(1, .add(Path(a, Lab.count), 7))
        lab.write(2, put(a, Lab.count, 100))
        lab.sync(2)
        lab.pull(0)
        #expect(lab.value(Path(a, Lab.count), at: 0) == 105)
        lab.settle()
        #expect(lab.value(Path(a, Lab.count)) == 112)
        #expect(lab.problems.isEmpty)
    }

    @Test func `An add that would overflow is dropped, and shows as dropped`() {
        var lab = lab()
        lab.write(0, put(a, Lab.count, .int(.max - 10)))
        lab.settle()
        lab.write(0, .add(Path(a, Lab.count), 8))
        lab.write(1, .add(Path(a, Lab.count), 8))
        lab.sync(0)
        lab.pull(1)
        #expect(lab.value(Path(a, Lab.count), at: 1) == .int(.max - 2))
        lab.settle()
        #expect(lab.value(Path(a, Lab.count)) == .int(.max - 2))
        #expect(lab.problems.isEmpty)
    }

    @Test func `An add that would overflow locally is not done`() {
        var lab = lab()
        lab.write(0, put(a, Lab.count, .int(.max)))
        for property in [Lab.count, Lab.title] {
            let isDone = lab.replicas[0].perform(.add(Path(a, property), 1))
            #expect(!isDone)
        }
        let changeset = lab.replicas[0].commit(at: 9)
        #expect(changeset == nil)
    }

    @Test func `A delete wins over a write, and an object made again is another one`() {
        var lab = lab(3)
        lab.write(0, .delete(a, along: []), .create(a, [Given(Lab.title, .value("new"))]))
        lab.write(1, at: 900, put(a, Lab.title, "of the old one"))
        lab.sync(0)
        lab.settle()
        #expect(lab.value(Path(a, Lab.title)) == "new")
        lab.write(2, .delete(a, along: []))
        lab.write(1, at: 9000, put(a, Lab.title, "too late"))
        lab.sync(2)
        lab.settle()
        #expect(!lab.server.store.contains(a))
        #expect(lab.problems.isEmpty)
    }

    @Test func `The same key made twice is one object, and defaults give way`() {
        var lab = Lab(2)
        lab.write(
            0, at: 10,
            .create(a, [Given(Lab.title, .value("set")), Given(Lab.count, .value(1))]))
        lab.write(
            1, at: 20,
            .create(
                a,
                [
                    Given(Lab.title, .value("default"), isExplicit: false),
                    Given(Lab.code, .value("c")),
                ]))
        lab.settle()
        #expect(lab.value(Path(a, Lab.title)) == "set")
        #expect(lab.value(Path(a, Lab.code)) == "c")
        #expect(lab.value(Path(a, Lab.count)) == 1)
        #expect(lab.problems.isEmpty)
    }

    @Test func `The second object with a unique value is refused whole, and undone`() {
        var lab = lab()
        lab.write(0, put(a, Lab.code, "x"))
        lab.write(1, put(b, Lab.code, "x"), put(b, Lab.title, "also gone"))
        lab.push(0)
        let outcome = lab.push(1)
        guard case .refused(let refusal) = outcome.first else {
            Issue.record("\(outcome)")
            return
        }
        #expect(refusal.reason == .unique)
        lab.settle()
        #expect(lab.value(Path(b, Lab.title), at: 1) == .null)
        #expect(lab.problems.isEmpty)
    }

    @Test func `Two objects may swap a unique value in one transaction`() {
        var lab = lab()
        lab.write(0, put(a, Lab.code, "x"), put(b, Lab.code, "y"))
        lab.settle()
        lab.write(1, put(a, Lab.code, "y"), put(b, Lab.code, "x"))
        let outcome = lab.push(1)
        #expect(outcome == [.accepted])
        lab.settle()
        #expect(lab.problems.isEmpty)
    }

    @Test func `A delete takes along what the server's links lead to`() {
        var lab = lab()
        lab.write(0, put(a, Lab.owner, .link(b)))
        lab.sync(0)
        lab.write(1, .delete(a, along: []))
        lab.settle()
        #expect(lab.server.store.tables.objects.isEmpty)
        #expect(lab.problems.isEmpty)
    }

    @Test func `A link that denies the delete of its target refuses it`() {
        var lab = lab()
        lab.write(0, put(a, Lab.guarded, .link(b)))
        lab.sync(0)
        lab.write(1, .delete(b, along: []), put(a, Lab.title, "also gone"))
        let outcome = lab.push(1)
        guard case .refused(let refusal) = outcome.first else {
            Issue.record("\(outcome)")
            return
        }
        #expect(refusal.reason == .deny)
        lab.settle()
        #expect(lab.server.store.contains(b))
        #expect(lab.value(Path(a, Lab.title)) == .null)
        #expect(lab.problems.isEmpty)
        let isDeleted = lab.replicas[1].delete(b)
        #expect(!isDeleted)
    }

    @Test func `A link to what went is null, in a mixed value and an embedded object, too`() {
        var lab = lab()
        let nested = SyncValue.list(CollectionID(7), [.int(1), .link(b)])
        lab.write(
            0, put(a, Lab.friend, .link(b)), put(a, Lab.anything, nested),
            .put(
                Path(a, Lab.detail),
                .node(.fields(Fields(ascending: [.init(Lab.target, .value(.link(b)))])))))
        lab.replicas[0].insert(.value(.link(b)), in: Path(a, Lab.friends), at: 0)
        lab.write(0)
        lab.write(1, .delete(b, along: []))
        lab.sync(0)
        lab.settle()
        #expect(lab.value(Path(a, Lab.friend)) == .null)
        #expect(lab.value(Path(a, Lab.anything)) == .list(CollectionID(7), [.int(1), .null]))
        #expect(lab.value(Path(a, Lab.detail) + .property(Lab.target)) == .null)
        #expect(lab.server.store.content(at: Path(a, Lab.friends))?.node?.list?.isEmpty == true)
        #expect(lab.problems.isEmpty)
    }

    @Test func `A replaced embedded object does not get changes of the old one`() {
        var lab = lab()
        func part(_ name: SyncValue) -> Content {
            .node(.fields(Fields(ascending: [.init(Lab.name, .value(name))])))
        }
        let name = Path(a, Lab.detail) + .property(Lab.name)
        lab.write(0, .put(Path(a, Lab.detail), part("old")))
        lab.settle()
        lab.write(0, at: 50, .put(Path(a, Lab.detail), part("new")))
        lab.write(1, at: 90, .put(name, .value("edited")))
        lab.sync(0)
        lab.settle()
        #expect(lab.value(name) == "new")
        #expect(lab.problems.isEmpty)
    }

    @Test func `A list within an embedded object within another merges as any list`() {
        var lab = lab()
        let inner = Fields(ascending: [.init(Lab.name, .value("inner"))])
        let outer = Fields(ascending: [.init(Lab.inner, .fields(inner))])
        lab.write(0, .put(Path(a, Lab.detail), .node(.fields(outer))))
        lab.settle()
        let lines = Path(
            a, [.property(Lab.detail), .property(Lab.inner), .property(Lab.lines)])
        for (replica, words) in [(0, ["1", "2"]), (1, ["3", "4"])] {
            for (index, word) in words.enumerated() {
                lab.replicas[replica].insert(.value(.text(Text(word))), in: lines, at: index)
            }
            lab.write(replica, at: Int64(100 + replica))
        }
        lab.settle()
        let list = lab.server.store.content(at: lines)?.node?.list
        #expect(
            list?.order.map { list?.node($0) } == ["1", "2", "3", "4"].map { .value(.text($0)) })
        #expect(lab.problems.isEmpty)
    }

    @Test func `What one typed stays together, forwards and backwards`() {
        for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2]] {
            var lab = lab(3)
            for (replica, isBackwards) in [(0, false), (1, true), (2, false)] {
                for number in 0..<3 {
                    lab.replicas[replica].insert(
                        .value(.text(Text("\(replica)\(number)"))), in: Path(a, Lab.words),
                        at: isBackwards ? 0 : number)
                    lab.write(replica, at: Int64(100 * replica + number + 10))
                }
            }
            for replica in order { lab.push(replica) }
            lab.settle()
            #expect(
                lab.words(a) == ["00", "01", "02", "12", "11", "10", "20", "21", "22"])
            #expect(lab.problems.isEmpty)
        }
    }

    @Test func `Of two moves the later counts, and a removed element stays removed`() {
        var lab = lab()
        for (index, word) in ["x", "y", "z"].enumerated() {
            lab.replicas[0].insert(.value(.text(Text(word))), in: Path(a, Lab.words), at: index)
        }
        lab.write(0)
        lab.settle()
        let list = lab.replicas[0].store.content(at: Path(a, Lab.words))?.node?.list
        let ids = list?.order.map(\.id) ?? []
        let x = Path(a, Lab.words) + .element(ids[0])
        lab.replicas[0].move(x, to: 2)
        lab.write(0, at: 100)
        lab.replicas[1].move(x, to: 1)
        lab.write(1, at: 200)
        lab.settle()
        #expect(lab.words(a) == ["y", "x", "z"])
        lab.write(0, .remove(x))
        lab.write(1, at: 900, .put(x + .value, .value("X")))
        lab.replicas[1].move(x, to: 2)
        lab.write(1)
        lab.settle()
        #expect(lab.words(a) == ["y", "z"])
        #expect(lab.problems.isEmpty)
    }

    @Test func `A clear takes what its author knew, and leaves what came meanwhile`() {
        var lab = lab()
        lab.replicas[0].insert(.value("known"), in: Path(a, Lab.words), at: 0)
        lab.write(0, .put(Path(a, Lab.tags) + .member(1), .member))
        lab.settle()
        lab.write(0, .clear(Path(a, Lab.words)), .clear(Path(a, Lab.tags)))
        lab.replicas[1].insert(.value("meanwhile"), in: Path(a, Lab.words), at: 1)
        lab.write(1, .put(Path(a, Lab.tags) + .member(2), .member))
        lab.sync(1)
        lab.settle()
        #expect(lab.words(a) == ["meanwhile"])
        #expect(lab.server.store.content(at: Path(a, Lab.tags)) == .node(.set([2])))
        #expect(lab.problems.isEmpty)
    }

    @Test func `An edit within a mixed value follows its collection, not its place`() {
        var lab = lab()
        let id = CollectionID(5)
        lab.write(0, put(a, Lab.anything, .dictionary(id, [])))
        lab.settle()
        lab.write(0, put(a, Lab.anything, .dictionary(CollectionID(6), [])))
        lab.write(1, at: 900, .nested(Path(a, Lab.anything), id, .entry("k", 1)))
        lab.sync(0)
        lab.settle()
        #expect(lab.value(Path(a, Lab.anything)) == .dictionary(CollectionID(6), []))
        lab.write(0, .nested(Path(a, Lab.anything), CollectionID(6), .entry("x", 1)))
        lab.write(1, .nested(Path(a, Lab.anything), CollectionID(6), .entry("y", 2)))
        lab.settle()
        #expect(
            lab.value(Path(a, Lab.anything))
                == .dictionary(
                    CollectionID(6), [NestedEntry("x", 1), NestedEntry("y", 2)]))
        #expect(lab.problems.isEmpty)
    }

    @Test func `Texts that only Unicode calls equal are two keys`() {
        var lab = lab()
        lab.write(
            0, .put(Path(a, Lab.facts) + .key("\u{E9}"), .value("one")),
            .put(Path(a, Lab.facts) + .key("e\u{301}"), .value("two")))
        lab.settle()
        guard
            case .node(.dictionary(let entries)) = lab.server.store.content(
                at: Path(a, Lab.facts))
        else {
            Issue.record("no dictionary")
            return
        }
        #expect(entries.count == 2)
        #expect(lab.problems.isEmpty)
    }

    @Test func `A restored server gets again what it lost`() {
        var lab = lab()
        let backup = lab.server
        lab.server.safe = 1
        lab.write(0, put(a, Lab.title, "after the backup"))
        lab.settle()
        #expect(lab.replicas[0].kept.count == 1)
        lab.server = backup
        lab.server.epoch = 1
        for index in lab.replicas.indices {
            lab.replicas[index].rewind(
                epoch: 1, head: backup.store.head,
                last: backup.store.lastNumber(of: lab.replicas[index].number))
        }
        lab.settle()
        #expect(lab.value(Path(a, Lab.title)) == "after the backup")
        #expect(lab.problems.isEmpty)
    }

    @Test func `A batch that does not follow is not applied`() {
        var lab = lab()
        lab.write(0, put(a, Lab.title, "x"))
        lab.push(0)
        let head = lab.server.store.head
        let cursor = lab.replicas[1].cursor
        var batch = lab.server.batch(
            .init(lab.replicas[1].number, from: cursor), through: head,
            now: lab.server.store.tables)
        for (from, epoch, isApplied) in [
            (cursor + 1, 0, false), (cursor, 9, false), (cursor, 0, true), (cursor, 0, false),
        ] as [(UInt64, UInt32, Bool)] {
            batch.from = from
            batch.epoch = epoch
            let done = lab.replicas[1].receive(batch)
            #expect(done == isApplied, "from \(from), epoch \(epoch)")
        }
    }

    @Test func `Who is behind the log gets all there is`() {
        var lab = lab()
        lab.write(0, .delete(b, along: []), put(a, Lab.title, "x"))
        lab.sync(0)
        lab.server.store.forget(through: lab.server.store.head)
        lab.server.store.trimLog(through: lab.server.store.head)
        lab.write(0, put(a, Lab.count, 3))
        lab.settle()
        #expect(lab.problems.isEmpty)
        #expect(lab.value(Path(a, Lab.count), at: 1) == 3)
    }

    @Test func `A replica of a part sees objects come and go, with the links to them`() {
        var lab = Lab(2)
        lab.views[1] = View { _, fields in fields[Lab.title] == .value("seen") }
        lab.write(0, .create(b, []), .create(a, []))
        lab.write(0, put(a, Lab.title, "seen"), put(a, Lab.friend, .link(b)))
        lab.replicas[0].insert(.value(.link(b)), in: Path(a, Lab.friends), at: 0)
        lab.write(0)
        lab.settle()
        #expect(lab.replicas[1].store.contains(a))
        #expect(!lab.replicas[1].store.contains(b))
        #expect(lab.value(Path(a, Lab.friend), at: 1) == .null)
        lab.write(0, put(b, Lab.title, "seen"))
        lab.settle()
        #expect(lab.value(Path(a, Lab.friend), at: 1) == .link(b))
        let list = lab.replicas[1].store.content(at: Path(a, Lab.friends))?.node?.list
        #expect(list?.count == 1)
        lab.write(0, put(b, Lab.title, "hidden"))
        lab.settle()
        #expect(!lab.replicas[1].store.contains(b))
        #expect(lab.problems.isEmpty)
    }

    @Test func `A replica keeps values of properties that others have added`() {
        var lab = lab()
        let later = PropertySchema("later", PropertyNumber(90), .int)
        lab.write(0, .addProperty(Lab.item, later))
        lab.write(0, put(a, later.number, 7))
        lab.settle()
        #expect(lab.value(Path(a, later.number), at: 1) == 7)
        #expect(lab.value(Path(b, later.number), at: 1) == .null)
        // Its app declares the property, too, later.
        lab.write(1, .addProperty(Lab.item, later))
        lab.settle()
        #expect(lab.value(Path(a, later.number), at: 1) == 7)
        #expect(lab.problems.isEmpty)
    }
}
