// Tests: InstanceTemplate.swift, Map+Persistable.swift, ModelClass.swift, ObjectMemory.swift,
// Persistable.swift, Persistable+Optional.swift, Promotion.swift, StoredField.swift
import Foundation
import RealmSwift
import Testing
import ToftEngine
import ToftModel
import ToftTestKit

@testable import Toft

/// A class with every way in which an object leads to values and to others.
class Rack: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var text: String
    @Persisted var data: Data?
    @Persisted var any: AnyRealmValue
    @Persisted var next: Rack?
    @Persisted var label: Sticker?
    @Persisted var shelves: List<Rack>
    @Persisted var labels: MutableSet<Sticker>
    @Persisted var named: Map<String, Sticker?>
    @Persisted var texts: List<String>
    @Persisted var textSet: MutableSet<String>
    @Persisted var textMap: Map<String, String>
    @Persisted var anys: List<AnyRealmValue>
    @Persisted var anySet: MutableSet<AnyRealmValue>
    @Persisted var anyMap: Map<String, AnyRealmValue>
    @Persisted var box: Carton?
    @Persisted var boxes: List<Carton>
    @Persisted var boxMap: Map<String, Carton?>

    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// A class whose objects are not a `Rack` to the database.
final class DerivedRack: Rack {}

final class Sticker: Object {
    @Persisted var text: String
    @Persisted var any: AnyRealmValue

    override class func shouldIncludeInDefaultSchema() -> Bool { false }

    convenience init(_ text: String) {
        self.init()
        self.text = text
    }

    convenience init(_ any: AnyRealmValue) {
        self.init()
        self.any = any
    }
}

final class Carton: EmbeddedObject {
    @Persisted var text: String
    @Persisted var any: AnyRealmValue
    @Persisted var label: Sticker?
    @Persisted var inner: Carton?
    @Persisted var inners: List<Carton>

    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

final class Coupon: Object {
    @Persisted(primaryKey: true, autoIncrement: true) var number: Int
    @Persisted var next: Coupon?

    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// A class that the realms of these tests lack.
final class UnknownThing: Object {
    @Persisted var text: String

    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private let classes: [ObjectBase.Type] = [
    Rack.self, DerivedRack.self, Sticker.self, Carton.self, Coupon.self,
]
private let long = String(repeating: "x", count: Limits.valueBytes + 1)

@Suite("What a refused call leaves")
struct RefusedCallTests {
    /// All that a realm has, as text.
    private func content(of realm: Realm) throws -> String {
        let engine = realm.session.engine
        var lines: [String] = []
        for owner in engine.schema.visibleClasses {
            let keys = try engine.results(of: owner.id)
            for index in 0..<(try keys.count) {
                guard case .link(let ref) = try keys.value(at: index),
                    let object = try engine.object(ref)
                else { continue }
                for property in owner.visibleProperties where property.type != .linkingObjects {
                    let value: String
                    if property.collection == .none {
                        value = "\(try object.value(property.id))"
                    } else {
                        let all = try object.collection(property.id, property.collection)
                        let keys =
                            property.collection == .dictionary ? try all.entryKeys() : []
                        value = "\(keys) \(try all.values())"
                    }
                    lines.append("\(owner.name) \(ref.key) \(property.name) \(value.suffix(400))")
                }
            }
        }
        return lines.joined(separator: "\n")
    }

    private static func elements(of collection: some RealmCollection) -> [Any] {
        collection.map { $0 as Any }
    }

    /// An unmanaged object and all that it leads to, as text.
    private func content(of object: ObjectBase) -> String {
        var seen: [ObjectBase] = [], lines: [String] = []
        func visit(_ any: Any?) {
            switch any.flattened {
            case let object as ObjectBase:
                guard !seen.contains(where: { $0 === object }) else { return }
                seen.append(object)
                lines.append("\(type(of: object)) \(object.realm == nil) \(object.isInvalidated)")
                // Managed objects are compared with the realm.
                guard object.realm == nil else { return }
                for property in ModelClass.of(type(of: object)).properties {
                    lines.append(property.name)
                    visit(property.value(in: object))
                }
            case let mixed as AnyRealmValue: visit(mixed.content)
            case let map as any DescribedMap:
                lines.append("map")
                for entry in map.anyEntries {
                    lines.append(entry.key)
                    visit(entry.value)
                }
            case let data as Data: lines.append("\(data.count)")
            case let text as String: lines.append(String(text.suffix(400)))
            case let elements as any RealmCollection:
                lines.append("\(elements.realm == nil)")
                for element in Self.elements(of: elements) { visit(element) }
            case let value: lines.append("\(String(describing: value))")
            }
        }
        visit(object)
        return lines.joined(separator: "\n")
    }

    /// Expects a call to be misuse, and the realm and the given objects to be unchanged.
    private func expectRefusal(
        of realm: Realm, giving given: [ObjectBase] = [], _ codes: [Realm.Error.Code]? = nil,
        at what: String = "", _ call: () throws -> Void,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let before = try content(of: realm), objects = given.map(content(of:))
        do {
            try Realm.attempt(call)
            Issue.record("nothing was refused: \(what)", sourceLocation: sourceLocation)
        } catch let error as Realm.Error {
            #expect(
                codes?.contains(error.code) != false, "\(error) \(what)",
                sourceLocation: sourceLocation)
        }
        let after = try content(of: realm)
        #expect(after == before, "\(what)", sourceLocation: sourceLocation)
        #expect(given.map(content(of:)) == objects, "\(what)", sourceLocation: sourceLocation)
    }

    // MARK: One case after the other

    @Test
    func `A value that is too deep or too long, in an object or beyond it, leaves nothing`() throws
    {
        var deep: AnyRealmValue = 1
        for _ in 0...Limits.nestedCollections { deep = [deep] }
        let bad: Any = deep
        try TestRealm.with(classes) { realm in
            let makers: [(Rack) -> Void] = [
                { $0.any = deep }, { $0.label = Sticker(deep) },
                { $0.next = Rack(value: ["id": 8, "any": bad]) },
                { $0.shelves.append(Rack(value: ["id": 8, "any": bad])) },
                { $0.labels.insert(Sticker(deep)) }, { $0.named["a"] = Sticker(deep) },
                { $0.anys.append(objectsIn: [1, deep]) }, { $0.anyMap["a"] = deep },
                { $0.any = .object(Sticker(deep)) },
                { $0.any = [.object(Sticker("b")), "c", deep] },
                { $0.any = ["a": ["b": .object(Sticker(deep))]] },
                { $0.box = Carton(value: ["any": bad]) },
                { $0.box = Carton(value: ["inner": ["inner": ["any": bad]]]) },
                { $0.boxes.append(Carton(value: ["label": Sticker(deep)])) },
                { $0.boxMap["a"] = Carton(value: ["any": bad]) },
                // Few of these, which take their time.
                { $0.texts.append(objectsIn: ["a", long]) }, { $0.textMap[long] = "a" },
                { $0.label = Sticker(.data(Data(count: Limits.valueBytes + 1))) },
            ]
            try realm.write {
                let there = Rack(value: ["id": 1, "text": "there", "label": Sticker("its")])
                there.boxes.append(Carton(value: ["text": "kept"]))
                there.texts.append("kept")
                realm.add(there)
                for (number, make) in makers.enumerated() {
                    let rack = Rack(value: ["id": 7, "label": Sticker("new")])
                    rack.texts.append("one")
                    rack.box = Carton(value: ["text": "two"])
                    make(rack)
                    var calls: [() -> Void] = [
                        { realm.add(rack) }, { there.next = rack },
                        { there.shelves.append(objectsIn: [there, rack]) },
                        { there.anyMap["new"] = ["a": [.object(rack)]] },
                    ]
                    if number >= 15 { calls = Array(calls.prefix(1)) }
                    for call in calls {
                        try expectRefusal(
                            of: realm, giving: [rack], [.valueTooLong], at: "\(number)", call)
                    }
                    rack.id = 1
                    for update in [Realm.UpdatePolicy.modified, .all] {
                        let calls: [() -> Void] = [
                            { realm.add(rack, update: update) },
                            { realm.create(Rack.self, value: rack, update: update) },
                        ]
                        for call in calls.prefix(number < 15 ? 2 : 1) {
                            try expectRefusal(
                                of: realm, giving: [rack], [.valueTooLong],
                                at: "\(number) \(update)", call)
                        }
                    }
                }
            }
        }
    }

    @Test
    func `A dictionary with a bad value deep inside of it creates and changes nothing`() throws {
        var deep: Any = 1
        for _ in 0...Limits.nestedCollections { deep = [deep] }
        try TestRealm.with(classes) { realm in
            let values: [[String: Any]] = [
                ["textMap": ["a.b": "c"]], ["textMap": ["a": "b", "$c": "d"]],
                ["box": ["inner": ["any": ["a": ["b.c": 1]]]]],
                ["shelves": [["id": 8], ["id": 9, "anyMap": ["x.y": 1]]]],
                ["label": ["text": "new"], "boxes": [["text": "a"], ["any": deep]]],
                ["next": ["id": 8, "next": ["id": 9, "named": ["ok": ["any": deep]]]]],
                ["label": ["text": "new"], "shelves": [["id": "no number"]]],
            ]
            try realm.write {
                let there = Rack(value: ["id": 1, "text": "there", "box": ["text": "kept"]])
                realm.add(there)
                for value in values {
                    var new = value
                    (new["id"], new["text"]) = (7, "new")
                    try expectRefusal(of: realm) { realm.create(Rack.self, value: new) }
                    new["id"] = 1
                    for update in [Realm.UpdatePolicy.modified, .all] {
                        try expectRefusal(of: realm) {
                            realm.create(Rack.self, value: new, update: update)
                        }
                    }
                    for (name, part) in value {
                        guard value.count == 1 else { continue }
                        try expectRefusal(of: realm) { there.setValue(part, forKey: name) }
                    }
                }
            }
        }
    }

    @Test
    func `What can't be linked to leaves nothing of what links to it`() throws {
        let other = try Realm(configuration: TestRealm.inMemory(classes))
        let foreign = Rack(value: ["id": 3]), foreignLabel = Sticker("foreign")
        try other.write {
            other.add(foreign)
            other.add(foreignLabel)
        }
        try TestRealm.with(classes) { realm in
            let there = Rack(value: ["id": 1]), gone = Rack(value: ["id": 2])
            there.box = Carton(value: ["text": "owned"])
            try realm.write {
                realm.add(there)
                realm.add(gone)
            }
            let owned = try #require(there.box), frozen = there.freeze()
            try realm.write {
                realm.delete(gone)
                let derived = DerivedRack(value: ["id": 4])
                let twice = Carton(value: ["text": "twice"])
                let makers: [(Rack) -> Void] = [
                    { $0.next = foreign }, { $0.shelves.append(foreign) },
                    { $0.any = .object(foreign) }, { $0.any = ["a": [.object(foreign)]] },
                    { $0.named["a"] = foreignLabel }, { $0.labels.insert(foreignLabel) },
                    { $0.box = Carton(value: ["label": foreignLabel]) },
                    { $0.next = gone }, { $0.next = frozen }, { $0.next = derived },
                    { $0.shelves.append(derived) }, { $0.any = .object(UnknownThing()) },
                    { $0.box = owned }, { $0.boxes.append(owned) }, { $0.boxMap["a"] = owned },
                    {
                        $0.box = twice; $0.boxes.append(twice)
                    },
                    { $0.boxes.append(objectsIn: [twice, twice]) },
                    { $0.next = Rack(value: ["id": 1]) }, { $0.next = Rack(value: ["id": 7]) },
                    { $0.anySet.insert([1, 2]) },
                ]
                for (number, make) in makers.enumerated() {
                    let shelf = Rack(value: ["id": 7, "text": "new", "label": Sticker("new")])
                    shelf.shelves.append(Rack(value: ["id": 8]))
                    make(shelf)
                    try expectRefusal(of: realm, giving: [shelf], at: "\(number)") {
                        realm.add(shelf)
                    }
                    try expectRefusal(of: realm, giving: [shelf], at: "\(number)") {
                        there.shelves.insert(shelf, at: 0)
                    }
                    try expectRefusal(of: realm, giving: [shelf], at: "\(number)") {
                        there.any = [.object(shelf)]
                    }
                }
            }
        }
        try TestRealm.check(other)
    }

    @Test
    func `A place that is not there leaves unmanaged objects unmanaged`() throws {
        var deep: AnyRealmValue = 1
        for _ in 0...Limits.nestedCollections { deep = [deep] }
        try TestRealm.with(classes) { realm in
            let there = Rack(value: ["id": 1]), gone = Rack(value: ["id": 2])
            there.boxes.append(Carton(value: ["text": "kept"]))
            there.any = ["list"]
            try realm.write {
                realm.add(there)
                realm.add(gone)
            }
            try realm.write {
                let list = try #require(there.any.listValue), dead = gone.shelves
                let deadMap = gone.named, deadSet = gone.labels
                realm.delete(gone)
                let shelf = Rack(value: ["id": 7]), label = Sticker("new"), crate = Carton()
                let calls: [() -> Void] = [
                    { there.shelves.insert(shelf, at: 1) }, { there.shelves[0] = shelf },
                    { there.shelves.replaceSubrange(0..<1, with: [shelf]) },
                    { there.shelves.insert(contentsOf: [shelf, shelf], at: -1) },
                    { there.boxes.insert(crate, at: 2) }, { there.boxes[1] = crate },
                    { there.boxes.replaceSubrange(1..<2, with: [crate]) },
                    { there.boxMap["a.b"] = crate }, { there.named["$a"] = label },
                    { there.anyMap["a.b"] = .object(shelf) }, { list[1] = .object(shelf) },
                    { list.insert(.object(shelf), at: 3) }, { dead.append(shelf) },
                    { deadMap["a"] = label }, { deadSet.insert(label) }, { gone.next = shelf },
                    { gone.any = .object(shelf) }, { gone.box = crate },
                    { there.textSet.insert(objectsIn: ["a", "b", long]) },
                    { there.textMap = ["a": "b", "c": long] as Map },
                    { there.anys = [1, deep] as List },
                    { there.anys.append(objectsIn: [1, deep]) },
                    { there.anys.replaceSubrange(0..<0, with: [1, deep]) },
                    { there.anySet = [1, [2]] as MutableSet },
                    { there.anySet.insert(objectsIn: [1, [2]]) },
                ]
                for (number, call) in calls.enumerated() {
                    try expectRefusal(
                        of: realm, giving: [shelf, label, crate], at: "\(number)", call)
                }
                there.shelves.append(shelf)
                there.named["a"] = label
                there.boxes.append(crate)
                #expect(shelf.realm == realm && label.realm == realm && crate.realm == realm)
            }
        }
    }

    @Test
    func `Embedded objects that are too deep replace nothing`() throws {
        func chain(_ depth: Int) -> Carton {
            var crate = Carton(value: ["text": "deepest"])
            for _ in 1..<depth {
                let outer = Carton()
                outer.inner = crate
                crate = outer
            }
            return crate
        }
        try TestRealm.with(classes) { realm in
            let there = Rack(value: ["id": 1, "box": ["text": "kept", "inner": ["text": "in"]]])
            there.boxMap["a"] = Carton(value: ["text": "kept"])
            try realm.write {
                realm.add(there)
                let limit = Limits.nestedEmbeddedObjects, deep = chain(limit + 1)
                let calls: [() -> Void] = [
                    { there.box = deep }, { there.boxes.append(deep) },
                    { there.boxMap["a"] = deep },
                    { there.boxes.append(objectsIn: [Carton(), deep]) },
                    { there.boxMap = ["a": Carton(), "b": deep] as Map },
                    { there.box?.inner = chain(limit) }, { there.box?.inners.append(chain(limit)) },
                    { realm.create(Rack.self, value: ["id": 2, "box": deep]) },
                    { realm.create(Rack.self, value: ["id": 1, "box": deep], update: .modified) },
                    { realm.create(Rack.self, value: ["id": 1, "boxes": [deep]], update: .all) },
                ]
                for (number, call) in calls.enumerated() {
                    try expectRefusal(
                        of: realm, giving: [deep], [.valueTooLong], at: "\(number)", call)
                }
                there.box?.inner = chain(limit - 1)
                there.boxes.append(chain(limit))
            }
        }
    }

    @Test
    func `Counted keys that run out, or meet one that is given, leave nothing`() throws {
        try TestRealm.with(classes) { realm in
            try realm.write {
                realm.add(Coupon(value: ["number": 4]))
                let first = Coupon(), second = Coupon(value: ["number": 5])
                first.next = second
                try expectRefusal(of: realm, giving: [first], [.duplicatePrimaryKey]) {
                    realm.add(first)
                }
                realm.add(Coupon(value: ["number": Int.max - 1]))
                let third = Coupon()
                third.next = Coupon()
                try expectRefusal(of: realm, giving: [third], [.overflow]) { realm.add(third) }
                third.next = nil
                realm.add(third)
                #expect(third.number == Int.max)
            }
        }
    }

    @Test
    func `Objects that are known by name are made with all that is in them, or not`() throws {
        var deep: Any = 1
        for _ in 0...Limits.nestedCollections { deep = [deep] }
        try TestRealm.with(classes) { realm in
            let values: [[String: Any]] = [
                ["label": ["any": deep]], ["next": ["id": 8, "anys": ["a", deep]]],
                ["shelves": [["id": 8], ["id": 9, "any": deep]]],
                ["box": ["inner": ["any": deep]]], ["boxes": [["text": "a"], ["any": deep]]],
                ["boxMap": ["a": ["text": "a"], "b.c": ["text": "a"]]],
                ["textMap": ["a": "b", "c.d": "e"]], ["anySet": ["a", ["b"]]],
                ["named": ["a": ["text": "b"], "$c": ["text": "d"]]], ["label": ["id": 1]],
                ["next": ["text": "no key"]], ["anys": [1, ["a.b": 1]]],
                ["next": ["id": 7, "text": "as the outer one"]],
            ]
            try realm.write {
                realm.add(
                    Rack(value: ["id": 1, "label": Sticker("kept"), "box": ["text": "kept"]]))
                let there = try #require(
                    realm.dynamicObject(ofType: "Rack", forPrimaryKey: 1))
                for (number, value) in values.enumerated() {
                    var new = value
                    (new["id"], new["text"]) = (7, "new")
                    try expectRefusal(of: realm, at: "\(number)") {
                        realm.dynamicCreate("Rack", value: new)
                    }
                    guard number < values.count - 1 else { break }
                    new["id"] = 1
                    try expectRefusal(of: realm, at: "\(number)") {
                        realm.dynamicCreate("Rack", value: new, update: .modified)
                    }
                    for (name, part) in value {
                        try expectRefusal(of: realm, at: "\(number)") {
                            there.setValue(part, forKey: name)
                        }
                    }
                }
            }
        }
    }

    // MARK: At random

    /// Builds graphs of unmanaged objects, sound ones and such that have one thing in them that is
    /// refused.
    private struct Builder {
        var seed: Seed
        let there: [Rack]
        let foreign: Rack
        let gone: Rack
        let owned: Carton
        /// Whether the next place that can take it gets the refused value.
        var isPoisoned = false
        private(set) var poison = ""
        /// The number of objects that may come.
        private var budget = 14

        init(_ seed: Seed, there: [Rack], foreign: Rack, gone: Rack, owned: Carton) {
            (self.seed, self.there, self.foreign) = (seed, there, foreign)
            (self.gone, self.owned) = (gone, owned)
        }

        private mutating func takesPoison(_ name: String) -> Bool {
            guard isPoisoned, seed.chance(12) else { return false }
            isPoisoned = false
            poison = name
            return true
        }

        mutating func text() -> String {
            seed.one(of: ["", "a", "é", "some text"])
        }

        private func deep() -> AnyRealmValue {
            var value: AnyRealmValue = 1
            for _ in 0...Limits.nestedCollections { value = [value] }
            return value
        }

        mutating func mixed(_ depth: Int = 0) -> AnyRealmValue {
            if takesPoison("deep mixed") { return deep() }
            if takesPoison("unknown class") { return .object(UnknownThing()) }
            switch seed.below(depth > 2 ? 4 : 7) {
            case 0: return .none
            case 1: return .int(seed.below(9))
            case 2: return .string(text())
            case 3: return .object(sticker())
            case 4: return .list(List((0..<seed.below(3)).map { _ in mixed(depth + 1) }))
            case 5:
                let map = Map<String, AnyRealmValue>()
                for number in 0..<seed.below(3) { map["k\(number)"] = mixed(depth + 1) }
                return .dictionary(map)
            default: return .object(link(depth + 2))
            }
        }

        mutating func sticker() -> Sticker { Sticker(text()) }

        mutating func carton(_ depth: Int = 0) -> Carton {
            if takesPoison("owned") { return owned }
            budget -= 1
            let carton = Carton()
            carton.text = text()
            carton.any = mixed(2)
            if seed.chance(30) { carton.label = sticker() }
            if budget > 0, seed.chance(40) { carton.inner = self.carton(depth + 1) }
            if budget > 0 {
                for _ in 0..<seed.below(3) { carton.inners.append(self.carton(depth + 1)) }
            }
            if takesPoison("too deep") {
                var deep = Carton()
                for _ in 0..<Limits.nestedEmbeddedObjects {
                    let outer = Carton()
                    outer.inner = deep
                    deep = outer
                }
                carton.inner = deep
            }
            return carton
        }

        mutating func link(_ depth: Int) -> Rack {
            if takesPoison("foreign") { return foreign }
            if takesPoison("gone") { return gone }
            if takesPoison("derived") { return DerivedRack(value: ["id": 900 + seed.below(50)]) }
            return budget < 1 || seed.chance(30) ? seed.one(of: there) : rack(depth + 1)
        }

        mutating func rack(_ depth: Int = 0) -> Rack {
            budget -= 1
            let rack = Rack()
            rack.id = 1_000 + Int(seed.next() % 1_000_000_000)
            rack.text = text()
            if seed.chance(30) { rack.data = Data(seed.bytes(5)) }
            rack.any = mixed(depth + 1)
            if budget > 0 {
                if seed.chance(40) { rack.next = link(depth) }
                for _ in 0..<seed.below(3) { rack.shelves.append(link(depth)) }
            }
            if seed.chance(40) { rack.label = sticker() }
            for _ in 0..<seed.below(3) { rack.labels.insert(sticker()) }
            for number in 0..<seed.below(3) { rack.named["n\(number)"] = sticker() }
            for _ in 0..<seed.below(3) { rack.texts.append(text()) }
            for _ in 0..<seed.below(3) { rack.textSet.insert(text()) }
            for number in 0..<seed.below(3) { rack.textMap["t\(number)"] = text() }
            if takesPoison("deep in a list") { rack.anys.append(objectsIn: [1, deep()]) }
            for _ in 0..<seed.below(3) { rack.anys.append(mixed(depth + 1)) }
            for number in 0..<seed.below(3) { rack.anyMap["a\(number)"] = mixed(depth + 1) }
            if takesPoison("list in a set") { rack.anySet.insert([1]) }
            if budget > 0, seed.chance(50) { rack.box = carton() }
            guard budget > 0 else { return rack }
            for _ in 0..<seed.below(3) { rack.boxes.append(carton()) }
            for number in 0..<seed.below(3) { rack.boxMap["b\(number)"] = carton() }
            return rack
        }
    }

    private typealias Call = (name: String, run: () -> Void)

    /// The ways in which a graph gets into a realm.
    private func calls(_ realm: Realm, _ owner: Rack, _ rack: Rack, _ seed: inout Seed) -> [Call] {
        let update: Realm.UpdatePolicy = seed.chance(50) ? .modified : .all
        return [
            ("add", { realm.add(rack) }), ("update", { realm.add(rack, update: update) }),
            ("next", { owner.next = rack }), ("any", { owner.any = ["a": [.object(rack)]] }),
            ("append", { owner.shelves.append(objectsIn: [owner, rack]) }),
            ("insert", { owner.shelves.insert(rack, at: 0) }),
            ("replace", { owner.shelves.replaceSubrange(0..<owner.shelves.count, with: [rack]) }),
            ("assign", { owner.shelves = [owner, rack] as List }),
            ("anys", { owner.anys.append(.object(rack)) }),
            ("anyMap", { owner.anyMap["x"] = [.object(rack)] }),
            ("setValue", { owner.setValue(rack, forKey: "next") }),
            (
                "create",
                { realm.create(Rack.self, value: ["id": 800, "next": rack], update: update) }
            ),
            ("box", { owner.box = rack.box ?? Carton() }),
            ("boxes", { owner.boxes.append(objectsIn: Array(rack.boxes) + [Carton()]) }),
            ("boxMap", { owner.boxMap = rack.boxMap }), ("texts", { owner.texts = rack.texts }),
            ("textSet", { owner.textSet = rack.textSet }),
            ("textMap", { owner.textMap = rack.textMap }),
            ("labels", { owner.labels = rack.labels }), ("named", { owner.named = rack.named }),
        ]
    }

    @Test
    func `Random calls that are refused leave the realm and what was given as they were`() throws {
        var seed = Seed.random()
        let other = try Realm(configuration: TestRealm.inMemory(classes))
        let foreign = try other.write { other.create(Rack.self, value: ["id": 1]) }
        try TestRealm.with(classes) { realm in
            var there: [Rack] = [], refusals = 0
            let gone = try realm.write { realm.create(Rack.self, value: ["id": 500]) }
            try realm.write {
                there = (0..<4).map { realm.create(Rack.self, value: ["id": $0]) }
                there[0].box = Carton(value: ["text": "owned"])
                realm.delete(gone)
            }
            let owned = try #require(there[0].box)
            try realm.write {
                for round in 0..<120 {
                    var builder = Builder(
                        Seed(seed.next()), there: there, foreign: foreign, gone: gone, owned: owned)
                    builder.isPoisoned = round % 4 != 0
                    let rack = builder.rack()
                    if round % 5 == 0 { rack.id = 2 }
                    let owner = seed.one(of: there)
                    let call = seed.one(of: calls(realm, owner, rack, &seed))
                    let before = try content(of: realm), given = content(of: rack)
                    do {
                        try Realm.attempt(call.run)
                    } catch {
                        refusals += 1
                        let what = "\(seed) round \(round): \(call.name), \(builder.poison)"
                        #expect(try content(of: realm) == before, "\(what): \(error)")
                        #expect(content(of: rack) == given, "\(what): \(error)")
                    }
                    // Objects of other owners are deleted with their owner's box.
                    if owned.isInvalidated { break }
                }
            }
            #expect(refusals > 5, "\(seed)")
        }
    }
}
