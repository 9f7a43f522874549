// Tests: ClassBinding.swift, ClusterCache.swift, ClusterCacheSlot.swift, ClusterWindow.swift,
// ColumnPointer.swift, LinkingObjects.swift, ObjectBase.swift, ObjectContext.swift,
// ObjectDescription.swift, Realm.swift, RowCursor.swift
import Foundation
import RealmSwift
import Testing

@testable import Toft

final class Petal: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var text: String
    @Persisted var number: Int?
    @Persisted var any: AnyRealmValue
    @Persisted var next: Petal?
    @Persisted var leaves: List<Petal>
    @Persisted var texts: List<String>
    @Persisted var set: MutableSet<Petal>
    @Persisted var tags: MutableSet<String>
    @Persisted var map: Map<String, Petal?>
    @Persisted var values: Map<String, AnyRealmValue>
    @Persisted var vein: Veinlet?
    @Persisted var veins: List<Veinlet>
    @Persisted var veinMap: Map<String, Veinlet?>
    @Persisted(originProperty: "next") var before: LinkingObjects<Petal>

    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

final class Veinlet: EmbeddedObject {
    @Persisted var text: String

    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

final class PetalProjection: Projection<Petal> {
    @Projected(\Petal.text) var word
}

/// The values read from a realm: a test does something to it, and then uses all of them.
private struct Subject {
    let realm: Realm?
    let leaf: Petal
    let all: Results<Petal>?
    let leaves: List<Petal>
    let texts: List<String>
    let set: MutableSet<Petal>
    let tags: MutableSet<String>
    let map: Map<String, Petal?>
    let values: Map<String, AnyRealmValue>
    let veins: List<Veinlet>
    let vein: Veinlet?
    let before: LinkingObjects<Petal>

    init(_ leaf: Petal, _ all: Results<Petal>? = nil) {
        realm = leaf.realm
        self.leaf = leaf
        self.all = all
        (leaves, texts, set, tags) = (leaf.leaves, leaf.texts, leaf.set, leaf.tags)
        (map, values, veins, vein) = (leaf.map, leaf.values, leaf.veins, leaf.vein)
        before = leaf.before
    }

    typealias Use = (name: String, run: () -> Void)

    /// Questions that any thread may ask.
    var questions: [Use] {
        [
            ("isInvalidated", { _ = leaf.isInvalidated }), ("realm", { _ = leaf.realm?.isFrozen }),
            ("objectSchema", { _ = leaf.objectSchema.className }),
            ("isFrozen", { _ = leaf.isFrozen }), ("description", { _ = leaf.description }),
            ("list.isInvalidated", { _ = leaves.isInvalidated }),
            ("set.isInvalidated", { _ = set.isInvalidated }),
            ("map.isInvalidated", { _ = map.isInvalidated }),
            ("results.isInvalidated", { _ = all?.isInvalidated }),
            ("backlinks.isInvalidated", { _ = before.isInvalidated }),
            ("list.realm", { _ = leaves.realm?.configuration.readOnly }),
            ("realm.isEmpty", { _ = realm?.isEmpty }), ("version", { _ = realm?.version }),
            ("schema", { _ = realm?.schema.objectSchema.count }),
            ("isInWriteTransaction", { _ = realm?.isInWriteTransaction }),
            ("autorefresh", { _ = realm?.autorefresh }),
        ]
    }

    var readings: [Use] {
        [
            ("text", { _ = leaf.text }), ("number", { _ = leaf.number }), ("any", { _ = leaf.any }),
            ("next", { _ = leaf.next?.text }), ("vein", { _ = leaf.vein?.text }),
            ("vein.text", { _ = vein?.text }), ("subscript[key]", { _ = leaf["text"] }),
            ("keyPath", { _ = leaf.value(forKeyPath: "next.text") }),
            ("==", { _ = leaf == Petal() }), ("hash", { _ = leaf.hashValue }),
            ("isSameObject", { _ = leaf.isSameObject(as: leaf) }),
            ("leaves.count", { _ = leaves.count }), ("leaves[0]", { _ = leaves[0] }),
            ("leaf.leaves", { _ = leaf.leaves.first }), ("for leaves", { for _ in leaves {} }),
            ("texts", { _ = Array(texts) }), ("texts.index", { _ = texts.index(of: "a") }),
            ("leaves.index", { _ = leaves.index(of: leaf) }),
            ("leaves.filter", { _ = leaves.filter("id > 0").count }),
            ("leaves.where", { _ = leaves.where { $0.id > 0 }.count }),
            ("leaves.sorted", { _ = leaves.sorted(byKeyPath: "id").first }),
            ("leaves.max", { _ = leaves.max(of: \.id) as Int? }),
            ("leaves.sum", { _ = leaves.sum(of: \.id) }),
            ("leaves.description", { _ = leaves.description }),
            ("leaves.value", { _ = leaves.value(forKeyPath: "@avg.id") }),
            ("set.count", { _ = set.count }), ("set.contains", { _ = set.contains(leaf) }),
            ("set[0]", { _ = set[0] }), ("for tags", { for _ in tags {} }),
            ("tags.isSubset", { _ = tags.isSubset(of: tags) }),
            ("map.count", { _ = map.count }), ("map[a]", { _ = map["a"] }),
            ("map.keys", { _ = map.keys }), ("map.values", { _ = map.values }),
            ("for map", { for _ in map {} }), ("map.filter", { _ = map.filter("id > 0").count }),
            ("values[a]", { _ = values["a"] }), ("for values", { for _ in values {} }),
            ("veins[0]", { _ = veins[0] }), ("before", { _ = before.count }),
            ("before[0]", { _ = before[0] }), ("freeze", { _ = leaf.freeze() }),
            ("thaw", { _ = leaf.thaw() }), ("list.freeze", { _ = leaves.freeze() }),
            ("reference", { _ = ThreadSafeReference(to: leaf) }),
            ("results.count", { _ = all?.count }), ("results[0]", { _ = all?[0] }),
            ("results.first", { _ = all?.first }), ("results.last", { _ = all?.last }),
            ("for results", { if let all { for _ in all.filter("id >= 0") {} } }),
            ("results.distinct", { _ = all?.distinct(by: ["text"]).count }),
            ("results.groups", { _ = all?.groups(by: "text") }),
            ("results.sectioned", { _ = all?.sectioned(by: \.text).count }),
            ("objects", { _ = realm?.objects(Petal.self).count }),
            ("object", { _ = realm?.object(ofType: Petal.self, forPrimaryKey: 1) }),
            ("dynamicObjects", { _ = realm?.dynamicObjects("Petal").first?["text"] }),
            ("refresh", { _ = realm?.refresh() }),
        ] + moreReadings + collectionReadings + mapReadings
    }

    private var moreReadings: [Use] {
        [
            ("value(forKey:)", { _ = leaf.value(forKey: "next") }),
            ("dynamicList", { _ = leaf.dynamicList("leaves").first }),
            ("dynamicMutableSet", { _ = leaf.dynamicMutableSet("set").first }),
            ("dynamicMap", { _ = leaf.dynamicMap("map")["a"] }),
            ("isEqual", { _ = leaf.isEqual(leaf) }), ("list.isEqual", { _ = leaves.isEqual(1) }),
            ("set.isEqual", { _ = set.isEqual(tags) }), ("map.isEqual", { _ = map.isEqual(map) }),
            ("dynamicObject", { _ = leaf.any.dynamicObject }),
            ("projectTo", { _ = Array(leaves.projectTo.text) }),
            ("projected.index", { _ = leaves.projectTo.text.index(matching: "id > 0") }),
            ("projection", { _ = PetalProjection(projecting: leaf).word }),
            ("projection.freeze", { _ = PetalProjection(projecting: leaf).freeze() }),
            ("projections", { _ = realm?.objects(PetalProjection.self).first?.word }),
            ("realm.freeze", { _ = realm?.freeze().objects(Petal.self).count }),
            ("realm.thaw", { _ = realm?.thaw().objects(Petal.self).count }),
            ("freeze(_:)", { _ = realm?.freeze(leaves) }), ("thaw(_:)", { _ = realm?.thaw(leaf) }),
            (
                "dynamicObject(ofType:)",
                {
                    _ = realm?.dynamicObject(ofType: "Petal", forPrimaryKey: 1)
                }
            ),
            ("sizes", { Self.reporting { _ = try realm?.sizes() } }),
            ("versionPins", { Self.reporting { _ = try realm?.versionPins() } }),
            ("check", { Self.reporting { _ = try realm?.check() } }),
        ]
    }

    private var collectionReadings: [Use] {
        [
            ("objects(at:)", { _ = leaves.objects(at: [0]) }),
            ("index(matching:)", { _ = leaves.index(matching: "id == 1") }),
            ("index(matching) in Swift", { _ = leaves.index(matching: { $0.id == 1 }) }),
            ("value(forKey:) of all", { _ = leaves.value(forKey: "text") }),
            ("union", { _ = leaves.value(forKeyPath: "@unionOfArrays.texts") }),
            ("distinct(by:)", { _ = leaves.distinct(by: ["text"]).count }),
            ("distinct", { _ = texts.distinct().count }),
            ("sorted", { _ = texts.sorted(ascending: false).first }),
            ("sorted(by:)", { _ = leaves.sorted(by: \.text).first }),
            ("limited", { _ = leaves.limited(to: 1).count }),
            ("offset", { _ = leaves.offset(by: 1).count }),
            ("min", { _ = leaves.min(of: \.id) }), ("avg", { _ = leaves.average(of: \.id) }),
            ("min(ofProperty:)", { _ = leaves.min(ofProperty: "id") as Int? }),
            ("max(ofProperty:)", { _ = leaves.max(ofProperty: "id") as Int? }),
            ("sum(ofProperty:)", { _ = leaves.sum(ofProperty: "id") as Int }),
            ("average(ofProperty:)", { _ = leaves.average(ofProperty: "id") as Double? }),
            (
                "sectioned by a block",
                {
                    _ = leaves.sectioned(by: { $0.text }, sortDescriptors: ["text"]).allKeys
                }
            ),
            ("section", { _ = leaves.sectioned(by: \.text).first?.count }),
            ("any collection", { _ = AnyRealmCollection(leaves).first }),
            ("set.intersects", { _ = tags.intersects(tags) }),
            ("results.thaw", { _ = all?.thaw()?.count }), ("query", { _ = all?.query }),
            ("explain", { _ = all?.explain() }), ("last", { _ = leaves.last }),
            ("isEmpty", { _ = leaves.isEmpty && set.isEmpty && before.isEmpty }),
        ]
    }

    private var mapReadings: [Use] {
        [
            ("map.object", { _ = map.object(forKey: "a") }),
            ("map.value", { _ = map.value(forKey: "a") }),
            ("map.keyPath", { _ = map.value(forKeyPath: "@max.id") }),
            ("map.contains", { _ = map.contains { key, _ in key == "a" } }),
            ("map.where", { _ = map.where { $0.id > 0 }.count }),
            ("map.sorted", { _ = map.sorted(byKeyPath: "id").count }),
            ("map.distinct", { _ = map.distinct(by: ["id"]).count }),
            ("map.max", { _ = map.max(of: \.id) }), ("map.sum", { _ = map.sum(of: \.id) }),
            ("map.min", { _ = map.min(of: \.id) }), ("map.average", { _ = map.average(of: \.id) }),
            ("map.first", { _ = map[map.startIndex] }), ("map.isEmpty", { _ = map.isEmpty }),
            ("map.freeze", { _ = map.freeze() }), ("map.description", { _ = map.description }),
        ]
    }

    /// Calls that throw: the error is that of `attempt`.
    private static func reporting(_ call: () throws -> Void) {
        Misuse.reporting(call)
    }

    /// - Parameter other: an object to link to.
    func changes(_ other: Petal) -> [Use] {
        [
            ("text =", { leaf.text = "x" }), ("number = nil", { leaf.number = nil }),
            ("any =", { leaf.any = .object(other) }), ("any = list", { leaf.any = [1, "a"] }),
            ("next =", { leaf.next = other }), ("vein =", { leaf.vein = Veinlet() }),
            ("vein.text =", { vein?.text = "x" }),
            ("setValue", { leaf.setValue(3, forKey: "number") }),
            ("leaves =", { leaf.leaves = [other] as List }),
            ("tags =", { leaf.tags = ["x"] as MutableSet }),
            ("map =", { leaf.map = ["x": other] as Map }),
            ("append", { leaves.append(other) }), ("insert", { leaves.insert(other, at: 0) }),
            ("leaves[0] =", { leaves[0] = other }), ("remove", { leaves.remove(at: 0) }),
            ("move", { texts.move(from: 0, to: 0) }), ("swapAt", { texts.swapAt(0, 0) }),
            ("removeAll", { texts.removeAll() }), ("removeLast", { texts.removeLast() }),
            ("replaceSubrange", { leaves.replaceSubrange(0..<1, with: [other]) }),
            ("leaves.setValue", { leaves.setValue("x", forKey: "text") }),
            ("set.insert", { set.insert(other) }), ("set.remove", { set.remove(other) }),
            ("tags.formUnion", { tags.formUnion(["x", "y"]) }),
            ("tags.subtract", { tags.subtract(["x"]) }),
            ("map[x] =", { map["x"] = other }),
            ("map.removeObject", { map.removeObject(for: "x") }),
            ("values[x] =", { values["x"] = .object(other) }),
            ("veins.append", { veins.append(Veinlet()) }), ("veins[0] =", { veins[0] = Veinlet() }),
            ("veinMap[x] =", { leaf.veinMap["x"] = Veinlet() }),
            ("add", { realm?.add(other) }), ("add new", { realm?.add(Petal(value: ["id": 77])) }),
            ("create", { realm?.create(Petal.self, value: ["id": 78, "next": other]) }),
            ("update", { realm?.create(Petal.self, value: other, update: .modified) }),
            ("dynamicCreate", { realm?.dynamicCreate("Petal", value: ["id": 79]) }),
            ("delete list", { realm?.delete(leaves) }),
            ("delete results", { if let all { realm?.delete(all.filter("id > 1000")) } }),
            ("increment", { leaf.increment(\.id, by: 0) }),
            ("setValue(forKeyPath:)", { leaf.setValue("x", forKeyPath: "next.text") }),
            ("subscript =", { leaf["text"] = "x" }),
            ("append(objectsIn:)", { leaves.append(objectsIn: [other]) }),
            ("removeFirst", { texts.removeFirst() }),
            ("replace", { leaves.replace(index: 0, object: other) }),
            ("removeSubrange", { texts.removeSubrange(0..<1) }),
            ("remove(atOffsets:)", { texts.remove(atOffsets: [0]) }),
            ("move(fromOffsets:)", { texts.move(fromOffsets: [0], toOffset: 0) }),
            ("set.removeAll", { tags.removeAll() }),
            ("formIntersection", { tags.formIntersection(["y"]) }),
            ("insert(objectsIn:)", { set.insert(objectsIn: [other]) }),
            ("map.updateValue", { map.updateValue(other, forKey: "y") }),
            ("map.setValue", { values.setValue(1, forKey: "z") }),
            ("map.merge", { values.merge(["m": 1] as Map) { $1 } }),
            ("map.removeAll", { values.removeAll() }),
            ("delete set", { realm?.delete(set) }), ("delete map", { realm?.delete(map) }),
            ("delete sequence", { realm?.delete([leaf]) }),
            ("projection =", { PetalProjection(projecting: leaf).word = "x" }),
            ("delete", { realm?.delete(leaf) }), ("deleteAll", { realm?.deleteAll() }),
        ]
    }
}

@Suite("Every call on what can't be used")
struct UseMatrixTests {
    /// Runs a body with a realm that has objects which lead to each other.
    private func withSubject(_ body: (Realm, Subject) throws -> Void) throws {
        try TestRealm.with([Petal.self, Veinlet.self]) { realm in
            let leaf = Petal(value: ["id": 1, "text": "one", "vein": ["text": "v"]])
            try realm.write {
                realm.add(leaf)
                leaf.next = leaf
                leaf.leaves.append(leaf)
                leaf.texts.append("a")
                leaf.set.insert(leaf)
                leaf.tags.insert("a")
                leaf.map["a"] = leaf
                leaf.values["a"] = ["b": 1]
                leaf.veins.append(Veinlet())
            }
            try body(realm, Subject(leaf, realm.objects(Petal.self)))
        }
    }

    /// Runs uses one by one, and expects each to do its work or to be one of some mistakes.
    private func expect(
        _ uses: [Subject.Use], _ codes: Set<Realm.Error.Code>,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        for use in uses {
            do {
                try Realm.attempt(use.run)
            } catch {
                let code = (error as? Realm.Error)?.code
                #expect(
                    code.map { codes.contains($0) } == true, "\(use.name): \(error)",
                    sourceLocation: sourceLocation)
            }
        }
    }

    /// Expects each use to be a mistake.
    private func expectMistakes(
        _ uses: [Subject.Use], _ codes: Set<Realm.Error.Code>,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        expect(uses, codes, sourceLocation: sourceLocation)
        for use in uses {
            #expect(
                throws: Realm.Error.self, "\(use.name)", sourceLocation: sourceLocation
            ) { try Realm.attempt(use.run) }
        }
    }

    @Test
    func `After the object was deleted`() throws {
        try withSubject { realm, subject in
            try realm.write { realm.delete(subject.leaf) }
            let gone: Set<Realm.Error.Code> = [
                .objectDeleted, .collectionInvalidated, .indexOutOfRange,
            ]
            expect(subject.questions, [])
            expect(subject.readings, gone)
            #expect(subject.leaf.isInvalidated && subject.leaves.isInvalidated)
            let other = Petal(value: ["id": 9])
            try realm.write {
                expect(subject.changes(other), gone.union([.duplicatePrimaryKey]))
                expectError(.objectDeleted) { realm.create(Petal.self, value: subject.leaf) }
                realm.cancelWrite()
            }
        }
    }

    @Test
    func `After the realm was invalidated, which the message says`() throws {
        try withSubject { realm, subject in
            realm.invalidate()
            let gone: Set<Realm.Error.Code> = [
                .closed, .objectDeleted, .collectionInvalidated, .indexOutOfRange,
            ]
            expect(subject.questions, [])
            expect(subject.readings, gone)
            #expect(subject.leaf.isInvalidated && subject.leaves.isInvalidated)
            let other = Petal(value: ["id": 9])
            try realm.write {
                expect(subject.changes(other), gone.union([.duplicatePrimaryKey]))
                realm.cancelWrite()
            }
            for use in [{ _ = subject.leaf.text }, { _ = subject.leaves.count }] {
                do { try Realm.attempt(use) } catch let error as Realm.Error {
                    #expect(error.message.contains("invalidated"), "\(error)")
                }
            }
        }
    }

    @Test
    func `After the realm was closed`() throws {
        let realm = try Realm(configuration: TestRealm.inMemory([Petal.self, Veinlet.self]))
        let leaf = Petal(value: ["id": 1])
        try realm.write { realm.add(leaf) }
        let subject = Subject(leaf, realm.objects(Petal.self))
        try realm.close()
        expect(subject.questions, [.closed])
        expect(
            subject.readings,
            [.closed, .objectDeleted, .collectionInvalidated, .indexOutOfRange])
        expectMistakes(
            subject.changes(Petal()).filter { $0.name != "vein.text =" },
            [.closed, .objectDeleted, .collectionInvalidated, .notInTransaction, .indexOutOfRange])
    }

    @Test
    func `Outside of a write transaction nothing changes`() throws {
        try withSubject { realm, subject in
            expect(subject.questions, [])
            expect(subject.readings, [])
            expectMistakes(subject.changes(Petal(value: ["id": 9])), [.notInTransaction])
            #expect(realm.objects(Petal.self).count == 1 && subject.leaf.text == "one")
        }
    }

    @Test
    func `What is frozen never changes`() throws {
        try withSubject { realm, subject in
            let frozen = Subject(
                subject.leaf.freeze(), realm.objects(Petal.self).freeze())
            expect(frozen.questions, [])
            expect(frozen.readings, [])
            expectMistakes(
                frozen.changes(Petal(value: ["id": 9])), [.readOnly, .notInTransaction])
            // Also while the live realm is writing.
            try realm.write {
                expectMistakes(
                    frozen.changes(Petal(value: ["id": 9])), [.readOnly, .notInTransaction])
                #expect(realm.objects(Petal.self).count == 1)
            }
        }
    }

    @Test
    func `What is unmanaged takes changes and asks no queries`() throws {
        let leaf = Petal(value: ["id": 1, "texts": ["a"], "veins": [["text": "v"]]])
        leaf.leaves.append(leaf)
        let subject = Subject(leaf)
        expect(subject.questions, [])
        expect(
            subject.readings,
            [.unsupported, .invalidArgument, .indexOutOfRange, .observationUnavailable])
        expect(subject.changes(Petal(value: ["id": 9])), [.indexOutOfRange])
        leaf.leaves.removeAll()
    }

    @Test
    func `Objects of another realm are no part of this one`() throws {
        try withSubject { _, foreign in
            try withSubject { realm, subject in
                try realm.write {
                    func content() -> String {
                        subject.leaf.description.replacing(#/<0x[0-9a-f]+>/#, with: "")
                    }
                    let before = content()
                    let takesCopies: Set = ["create", "update"]
                    let links = subject.changes(foreign.leaf).filter { use in
                        [
                            "any =", "next =", "leaves =", "map =", "append", "insert",
                            "leaves[0] =",
                            "replaceSubrange", "set.insert", "map[x] =", "values[x] =", "add",
                        ]
                        .contains(use.name) && !takesCopies.contains(use.name)
                    }
                    expectMistakes(links, [.wrongRealm])
                    expectError(.wrongRealm) { realm.delete(foreign.leaf) }
                    expectError(.wrongRealm) { realm.delete(foreign.leaves) }
                    expectError(.wrongRealm) { _ = subject.set.isSubset(of: foreign.set) }
                    #expect(content() == before)
                }
            }
        }
    }

    @Test
    func `On another thread a realm and what is in it answer what may be asked there`() throws {
        try withSubject { realm, subject in
            let box = Box(subject)
            try elsewhere {
                let subject = box.value
                expect(subject.questions, [])
                guard let own = subject.realm else { return }
                #expect(!subject.leaf.isInvalidated && !subject.leaves.isInvalidated)
                #expect(!subject.set.isInvalidated && !subject.map.isInvalidated)
                #expect(subject.all?.isInvalidated == false && !subject.before.isInvalidated)
                #expect(!own.isEmpty && own.version > 0 && own.schema.objectSchema.count == 2)
                expect(subject.readings, [.wrongThread])
                expectMistakes(subject.changes(Petal(value: ["id": 9])), [.wrongThread])
            }
            // Objects that a transaction has created exist there, too.
            try realm.write {
                let new = Box(realm.create(Petal.self, value: ["id": 2]))
                try elsewhere { #expect(!new.value.isInvalidated) }
                realm.delete(subject.leaf)
            }
            try elsewhere {
                #expect(box.value.leaf.isInvalidated && box.value.leaves.isInvalidated)
                #expect(box.value.realm?.isEmpty == false)
            }
            try realm.write { realm.deleteAll() }
            try elsewhere { #expect(box.value.realm?.isEmpty == true) }
            realm.invalidate()
            try elsewhere { #expect(box.value.all?.isInvalidated == true) }
        }
    }

    @Test
    func `Threads ask whether an object is there while its own writes, moves and invalidates`()
        throws
    {
        try TestRealm.with([Petal.self, Veinlet.self]) { realm in
            try realm.write { realm.create(Petal.self, value: ["id": 0]) }
            let asked = Box((realm, realm.objects(Petal.self)[0]))
            let isOver = Shared(false)
            let threads = (0..<2).map { _ in
                Thread {
                    while !isOver.current {
                        _ = asked.value.1.isInvalidated
                        _ = asked.value.0.isEmpty
                    }
                }
            }
            for thread in threads { thread.start() }
            for number in 1..<200 {
                try realm.write { realm.create(Petal.self, value: ["id": number]) }
                if number % 20 == 0 { realm.invalidate() }
            }
            isOver.change { $0 = true }
            for thread in threads { while !thread.isFinished { usleep(1000) } }
            #expect(asked.value.1.isInvalidated)
        }
    }
}

@Suite("Values in memory are equal as those of a database")
struct UnmanagedEqualityTests {
    final class Shelves: Object {
        @Persisted var texts: List<String>
        @Persisted var maybeTexts: List<String?>
        @Persisted var doubles: List<Double>
        @Persisted var floats: List<Float>
        @Persisted var datas: List<Data>
        @Persisted var decimals: List<Decimal128>
        @Persisted var anys: List<AnyRealmValue>
        @Persisted var textSet: MutableSet<String>
        @Persisted var doubleSet: MutableSet<Double>

        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    private static let texts = ["caf\u{e9}", "cafe\u{301}", "", "a", "A", "\u{1F468}\u{200D}"]
    private static let doubles = [0, -0.0, 1, .nan, -.nan, .infinity, 0.1]
    private static var anys: [AnyRealmValue] {
        texts.map { .string($0) } + doubles.map { .double($0) } + [
            1, true, .none, .float(1), .decimal128(1), .decimal128(Decimal128("1.0")), [1, "a"],
            [1, "a"], ["a": 1], [], .data(Data()), .string("1"),
        ]
    }

    private func fill(_ shelves: Shelves) {
        shelves.texts.append(objectsIn: Self.texts)
        shelves.maybeTexts.append(objectsIn: Self.texts + [nil])
        shelves.doubles.append(objectsIn: Self.doubles)
        shelves.floats.append(objectsIn: Self.doubles.map { Float($0) })
        shelves.datas.append(objectsIn: Self.texts.map { Data($0.utf8) })
        shelves.decimals.append(objectsIn: ["1", "1.0", "NaN", "0", "-0", "1E2", "100"])
        shelves.anys.append(objectsIn: Self.anys)
        shelves.textSet.insert(objectsIn: Self.texts)
        shelves.doubleSet.insert(objectsIn: Self.doubles)
    }

    private func found<Element>(_ list: List<Element>, _ values: [Element]) -> [String] {
        values.map {
            let index = list.index(of: $0)
            return "\(String(describing: index)) \(list.contains($0)) "
                + "\(list.firstIndex(of: $0) == index)"
        }
    }

    private func found(_ shelves: Shelves) -> [[String]] {
        [
            found(shelves.texts, Self.texts.reversed() + ["none"]),
            found(shelves.maybeTexts, Self.texts.reversed() + [nil]),
            found(shelves.doubles, Self.doubles.reversed() + [2]),
            found(shelves.floats, Self.doubles.reversed().map { Float($0) }),
            found(shelves.datas, [Data("a".utf8), Data(), Data("b".utf8)]),
            found(shelves.decimals, ["100", "1", "-0", "NaN", "7"]),
            found(shelves.anys, Self.anys.reversed() + [7, ["b"], ["a": 2]]),
            ["\(shelves.textSet.count) \(shelves.doubleSet.count)"],
            Self.texts.map { "\(shelves.textSet.contains($0))" },
            Self.doubles.map { "\(shelves.doubleSet.contains($0))" },
        ]
    }

    @Test
    func `A list and a set find the same in memory and in a realm`() throws {
        try TestRealm.with([Shelves.self]) { realm in
            let shelves = Shelves()
            fill(shelves)
            let unmanaged = found(shelves)
            try realm.write { realm.add(shelves) }
            for (before, after) in zip(unmanaged, found(shelves)) { #expect(before == after) }
        }
    }
}
