// Tests: CopiedElements.swift, ObjectDescription.swift, ThreadSafeReference.swift,
// Toft/Decimal128.swift
import Foundation
import RealmSwift
import Testing

@testable import Toft

private final class Hut: Object {
    @Persisted(originProperty: "hut") var guests: LinkingObjects<Guest>
    @Persisted(primaryKey: true) var number: Int
    @Persisted var door: Door?
    @Persisted var prices: Map<String, Int>
    @Persisted var mixed: List<AnyRealmValue>
    @Persisted var tags: MutableSet<AnyRealmValue>

    final class Door: EmbeddedObject {
        @Persisted var colour: String
    }

    override class func propertiesMapping() -> [String: String] { ["prices": "price_list"] }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private final class Guest: Object {
    @Persisted var name: String
    @Persisted var age: Int?
    @Persisted var isLoud: Bool
    @Persisted var hut: Hut?
    @Persisted var friends: List<Guest>

    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private enum Row {
    final class Seat: EmbeddedObject {
        @Persisted var number: Int
    }
}

private final class GuestCard: Projection<Guest> {
    @Projected(\Guest.name) var title
    @Projected(\Guest.hut?.number) var hut
    @Projected(\Guest.friends.projectTo.name) var friends: ProjectedCollection<String>
}

private let classes = [Hut.self, Hut.Door.self, Guest.self] as [ObjectBase.Type]

@Suite("What Realm's programs see of values, texts, references and collections")
struct RealmBehaviourTests {
    private func guests(_ realm: Realm) throws -> (Guest, Guest) {
        try realm.write {
            let hut = realm.create(Hut.self, value: ["number": 7])
            let ada = realm.create(Guest.self, value: ["name": "Ada", "age": 36, "hut": hut])
            let ben = realm.create(Guest.self, value: ["name": "Ben", "hut": hut])
            ada.friends.append(ben)
            return (ada, ben)
        }
    }

    @Test
    func `Decimals keep their zeros, in literals, in arithmetic and in JSON`() throws {
        let one: Decimal128 = 1.0, less: Decimal128 = -1.0
        #expect("\(one)" == "1.0" && "\(less)" == "-1.0" && one == 1)
        #expect("\(Decimal128("11.11111") * one)" == "11.111110")
        #expect("\(Decimal128("5.555555") + Decimal128("5.555555"))" == "11.111110")
        #expect("\(Decimal128("6.00") / Decimal128("2.0"))" == "3.0")
        #expect("\(Decimal128(value: 2.0))" == "2.0" && "\(Decimal128(number: 4.5))" == "4.5")
        let two = 2.0
        #expect("\(Decimal128(two))" == "2" && "\(Decimal128(number: 3))" == "3")
        #expect("\(Decimal128("1.234567890E+132"))" == "1.234567890E132")
        let coded = try JSONEncoder().encode([Decimal128("1.10"), less, 1.234567890E+132])
        #expect(String(decoding: coded, as: UTF8.self) == #"["1.10","-1.0","1.23456789E132"]"#)
        let decoded = try JSONDecoder().decode(
            [Decimal128].self, from: Data(#"["1.10", -1, 2.5, "1.23456789E132"]"#.utf8))
        #expect(decoded.map(\.description) == ["1.10", "-1", "2.5", "1.23456789E132"])
    }

    @Test
    func `An observer on the thread that changes an object is told the old value`() throws {
        try LoopThread.run { loop in
            let realm = try Realm(configuration: TestRealm.inMemory(classes))
            let (ada, _) = try guests(realm)
            let seen = Box<[String]>([])
            let token = try loop.inside {
                ada.observe { (change: ObjectChange<Guest>) in
                    guard case .change(_, let changes) = change else { return }
                    seen.value += changes.map {
                        "\($0.name): \($0.oldValue ?? "-") -> \($0.newValue ?? "-")"
                    }
                }
            }
            try realm.write { ada.age = 37 }
            loop.wait { !seen.value.isEmpty }
            #expect(seen.value == ["age: 36 -> 37"])
            token.invalidate()
        }
    }

    @Test
    func `A schema lists computed properties last, and both names of a property`() throws {
        try TestRealm.with(classes) { realm in
            let hut = try #require(realm.schema["Hut"])
            #expect(
                hut.properties.map(\.name) == [
                    "number", "door", "prices", "mixed", "tags", "guests",
                ])
            #expect(hut["prices"]?.columnName == "price_list")
            #expect(hut["prices"]?.description.contains("columnName = price_list;") == true)
            #expect(hut["mixed"]?.description.contains("type = mixed;") == true)
            let (ada, _) = try guests(realm)
            let dynamic = try #require(realm.dynamicObjects("Hut").first)
            #expect(dynamic.objectSchema["prices"]?.columnName == "price_list")
            #expect(dynamic.objectSchema.properties.last?.name == "guests")
            #expect(ada.hut?.objectSchema.properties.last?.name == "guests")
        }
    }

    @Test
    func `An embedded class within a class is named after both`() throws {
        #expect(Hut.Door.className() == "Hut_Door" && Row.Seat.className() == "Seat")
        #expect(Guest.className() == "Guest" && House.className() == "House")
        try TestRealm.with(classes) { realm in
            #expect(realm.schema["Hut_Door"]?.isEmbedded == true)
            try realm.write {
                let hut = realm.create(Hut.self, value: ["number": 1, "door": ["colour": "red"]])
                #expect(hut.door?.colour == "red")
            }
        }
    }

    @Test
    func `Collections, maps and projections are written with the words of Realm`() throws {
        try TestRealm.with(classes) { realm in
            let (ada, ben) = try guests(realm)
            let hut = try #require(ada.hut)
            try realm.write {
                hut.prices["bed"] = 20
                hut.mixed.append(.string("a"))
            }
            func text(_ any: Any) -> String {
                "\(any)".replacing(#/<0x[0-9a-f]+>/#, with: "<0x0>")
            }
            #expect(text(hut.prices) == "Map<string, int> <0x0> (\n\t[bed]: 20\n)")
            #expect(text(hut.mixed) == "List<mixed> <0x0> (\n\t[0] a\n)")
            #expect(text(hut.tags) == "MutableSet<mixed> <0x0> (\n\n)")
            #expect(text(Map<String, Guest?>()) == "Map<string, Guest> <0x0> (\n\n)")
            #expect(text(List<Double?>()) == "List<double> <0x0> (\n\n)")
            #expect(text(hut.guests).hasPrefix("LinkingObjects<Guest> <0x0> (\n\t[0] Guest {"))
            let card = GuestCard(projecting: ada)
            #expect(text(card.friends) == "ProjectedCollection<string> <0x0> (\n\t[0] Ben\n)")
            #expect(
                text(card) == """
                    GuestCard <0x0> {
                    \ttitle = Ada;
                    \thut = 7;
                    \tfriends = ProjectedCollection<string> <0x0> (
                    \t\t[0] Ben
                    \t);
                    }
                    """)
            #expect(text(GuestCard(projecting: ben)).contains("\thut = 7;\n"))
            #expect(text(realm.objects(GuestCard.self)).hasPrefix("Results<GuestCard> <0x0> (\n"))
        }
    }

    @Test
    func `Mixed values are summed up and asked for by a key, in memory and in a realm`() throws {
        #expect(List<AnyRealmValue>().sum() == .decimal128(0))
        #expect(MutableSet<AnyRealmValue>().sum() == .decimal128(0))
        #expect(List<AnyRealmValue>().average() == nil && List<AnyRealmValue>().min() == nil)
        try TestRealm.with(classes) { realm in
            let hut = Hut(value: ["number": 1])
            func change(_ body: () -> Void) throws {
                if hut.realm == nil { body() } else { try realm.write(body) }
            }
            for _ in 0..<2 {
                #expect(hut.mixed.sum() == .decimal128(0) && hut.tags.sum() == .decimal128(0))
                try change {
                    hut.mixed.append(objectsIn: [.int(1), .string("x")])
                    hut.tags.insert(.int(4))
                }
                let values = hut.mixed.value(forKey: "self").map { $0 as? AnyRealmValue }
                #expect(
                    values == [.int(1), .string("x")] && hut.tags.value(forKey: "self").count == 1)
                #expect(hut.mixed.sum() == .decimal128(1))
                try change {
                    hut.mixed.removeAll()
                    hut.tags.removeAll()
                }
                if hut.realm == nil { try realm.write { realm.add(hut) } }
            }
        }
    }

    @Test
    func `A collection in memory finds what matches a query`() throws {
        let hut = Hut(value: ["number": 7])
        let list = List<Guest>()
        list.append(objectsIn: ["Ada", "Ben", "Cleo"].map { Guest(value: ["name": $0]) })
        list[1].age = 30
        list[2].age = 30
        list[2].hut = hut
        #expect(list.index(matching: "name == 'Ben'") == 1)
        #expect(list.index(matching: "age == %@", 30) == 1)
        #expect(list.index(matching: "age == nil") == 0)
        #expect(list.index(matching: { $0.hut.number == 7 }) == 2)
        #expect(list.index(matching: { $0.name == "Nobody" }) == nil)
        #expect(List<Guest>().index(matching: "name == 'Ben'") == nil)
        let set = MutableSet<Hut>()
        set.insert(hut)
        set.insert(Hut(value: ["number": 7]))
        #expect(set.index(matching: "number == 7") == 0)
        #expect(AnyRealmCollection(list).index(matching: "age == 30") == 1)
        expectError(.invalidQuery) { list.index(matching: "wings == 2") }
        expectError(.unsupported) { List<Int>([1]).index(matching: "self == 1") }
        #expect(list.allSatisfy { $0.realm == nil } && hut.realm == nil)
    }

    @Test
    func `Classes that are known by their names are made of arrays and of objects`() throws {
        try TestRealm.with(classes) { realm in
            try realm.write {
                let ada = realm.dynamicCreate(
                    "Guest", value: ["Ada", 36, true, [7] as [Any]] as [Any])
                #expect(ada.name as? String == "Ada" && ada["age"] as? Int == 36)
                #expect(ada["isLoud"] as? Bool == true)
                #expect((ada.hut as? DynamicObject)?["number"] as? Int == 7)
                let same = realm.dynamicCreate("Guest", value: ada)
                #expect(same.name as? String == "Ada" && !same.isSameObject(as: ada))
                let ben = realm.dynamicCreate("Guest", value: Guest(value: ["name": "Ben"]))
                #expect(ben.name as? String == "Ben" && ben["isLoud"] as? Bool == false)
                ben["hut"] = [8]
                #expect((ben.hut as? DynamicObject)?["number"] as? Int == 8)
                expectError(.invalidArgument) {
                    realm.dynamicCreate("Guest", value: ["x", 1, true, [1], [], 6] as [Any])
                }
                expectError(.typeMismatch) { realm.dynamicCreate("Guest", value: 5) }
                expectError(.noSuchProperty) { ada["missing"] }
            }
            #expect(realm.objects(Guest.self).count == 3)
        }
    }

    @Test
    func `A reference keeps its version for a realm that has just been opened`() throws {
        let configuration = TestRealm.inMemory(classes)
        let realm = try Realm(configuration: configuration)
        let (ada, ben) = try guests(realm)
        let object = ThreadSafeReference(to: ada), list = ThreadSafeReference(to: ben.friends)
        let results = ThreadSafeReference(to: realm.objects(Guest.self))
        let late = ThreadSafeReference(to: ada)
        let pinned = try TestRealm.oldestPinnedVersion(realm)
        try realm.write { realm.delete(ada) }
        #expect(try TestRealm.oldestPinnedVersion(realm) == pinned)
        try elsewhere {
            let realm = try Realm(configuration: configuration)
            let ada = try #require(realm.resolve(object))
            #expect(!ada.isInvalidated && ada.name == "Ada")
            let guests = try #require(realm.resolve(results))
            #expect(guests.count == 2 && realm.resolve(list)?.count == 0)
            realm.refresh()
            #expect(ada.isInvalidated && guests.count == 1)
        }
        try elsewhere {
            let realm = try Realm(configuration: configuration)
            #expect(realm.objects(Guest.self).count == 1)
            #expect(realm.resolve(late) == nil && late.isInvalidated)
        }
        try TestRealm.check(realm)
        #expect(try TestRealm.oldestPinnedVersion(realm) > pinned)
        expectError(.objectDeleted) { ThreadSafeReference(to: ada) }
    }

    @Test
    func `A reference to what another file has resolves to nil`() throws {
        try TestRealm.with(classes) { realm in
            let (ada, _) = try guests(realm)
            let reference = ThreadSafeReference(to: ada)
            try TestRealm.with(classes) { other in #expect(other.resolve(reference) == nil) }
        }
    }

    @Test
    func `What is thawed shows the version that its realm shows`() throws {
        let configuration = TestRealm.inMemory(classes)
        let realm = try Realm(configuration: configuration)
        let (ada, _) = try guests(realm)
        let frozen = ada.freeze(), all = realm.objects(Guest.self).freeze()
        try elsewhere {
            let realm = try Realm(configuration: configuration)
            try realm.write {
                realm.objects(Guest.self).setValue(50, forKey: "age")
                realm.create(Guest.self)
            }
        }
        #expect(frozen.thaw()?.age == 36 && all.thaw()?.count == 2)
        realm.refresh()
        #expect(frozen.thaw()?.age == 50 && all.thaw()?.count == 3 && all.count == 2)
        try TestRealm.check(realm)
    }

    @Test
    func `A file that was deleted is not there any more`() throws {
        try TestRealm.withFolder { folder in
            let configuration = Realm.Configuration(
                fileURL: folder.appendingPathComponent("a.realm"), objectTypes: classes)
            #expect(!Realm.fileExists(for: configuration))
            do { _ = try Realm(configuration: configuration) }
            #expect(Realm.fileExists(for: configuration))
            #expect(try Realm.deleteFiles(for: configuration))
            #expect(!Realm.fileExists(for: configuration))
            #expect(try !Realm.deleteFiles(for: configuration))
        }
    }

    @Test
    func `Linking objects of one object are equal, whatever they were read through`() throws {
        try TestRealm.with(classes) { realm in
            let (ada, ben) = try guests(realm)
            let one = try #require(ada.hut), other = try #require(ben.hut)
            #expect(one.guests == other.guests && one.guests == one.guests)
            try realm.write { realm.create(Hut.self, value: ["number": 8]) }
            let second = try #require(realm.object(ofType: Hut.self, forPrimaryKey: 8))
            #expect(second.guests != one.guests && one.freeze().guests != one.guests)
            #expect(Hut().guests == Hut().guests)
        }
    }

    @Test
    func `Paths over optional links tell objects apart, and nil is found by a format`() throws {
        try TestRealm.with(classes) { realm in
            _ = try guests(realm)
            try realm.write { realm.create(Guest.self, value: ["name": "Cleo", "age": 3]) }
            let all = realm.objects(Guest.self)
            #expect(all.distinct(by: ["hut.number"]).count == 2)
            #expect(all.distinct(by: [\Guest.hut?.number]).map(\.name) == ["Ada", "Cleo"])
            #expect(all.index(matching: "age == %@", NSNull()) == 1)
            #expect(
                all.index(matching: "age == nil") == 1 && all.index(matching: "age < %d", 9) == 2)
        }
    }

    @Test
    func `An empty write is told to the observers of its realm`() throws {
        try LoopThread.run { loop in
            let realm = try Realm(configuration: TestRealm.inMemory(classes))
            let calls = Box(0)
            let token = try loop.inside { realm.observe { _, _ in calls.value += 1 } }
            try realm.write {}
            #expect(calls.value == 1)
            try loop.inside {
                realm.writeAsync { realm.create(Guest.self) }
                realm.writeAsync { realm.create(Guest.self) }
            }
            loop.wait { calls.value >= 3 }
            loop.rest()
            #expect(calls.value == 3)
            token.invalidate()
        }
    }

    @Test
    func
        `A write that waits fails when its file has been deleted, and the program goes on`()
        throws
    {
        try TestRealm.withFolder { folder in
            try LoopThread.run { loop in
                let configuration = Realm.Configuration(
                    fileURL: folder.appendingPathComponent("a.realm"), objectTypes: classes)
                let realm = try Realm(configuration: configuration)
                let failure = Box<(any Error)?>(nil)
                try loop.inside {
                    realm.writeAsync {
                        realm.create(Guest.self)
                    } onComplete: {
                        failure.value = $0
                    }
                    try FileManager.default.removeItem(at: configuration.fileURL!)
                }
                loop.wait { failure.value != nil }
                #expect(failure.value is Realm.Error)
                #expect(!realm.isInWriteTransaction)
            }
        }
    }

    @Test
    func `Sections tell an observer of key paths nothing of what these don't name`() throws {
        try LoopThread.run { loop in
            let realm = try Realm(configuration: TestRealm.inMemory(classes))
            let (ada, ben) = try guests(realm)
            let sections = realm.objects(Guest.self).sectioned(by: \.name)
            let seen = Box<[String]>([])
            let token = try loop.inside {
                sections.observe(keyPaths: ["age"]) { change in
                    guard case .update(_, _, let came, let changed, let new, _) = change else {
                        return seen.value.append("initial")
                    }
                    seen.value.append("\(came) \(changed) \(Array(new))")
                }
            }
            loop.wait { seen.value.count == 1 }
            try realm.write { ada.isLoud = true }
            loop.rest()
            try realm.write { ben.age = 5 }
            loop.wait { seen.value.count == 2 }
            #expect(seen.value == ["initial", "[] [[1, 0]] []"])
            try realm.write { realm.create(Guest.self, value: ["name": "Bea"]) }
            loop.wait { seen.value.count == 3 }
            #expect(seen.value.last == "[[1, 0]] [] [1]")
            token.invalidate()
            expectError(.noSuchProperty) { sections.observe(keyPaths: ["wings"]) { _ in } }
        }
    }

    @Test(arguments: [false, true])
    func `Ranges and numbers of elements that a list lacks are misuse`(_ isManaged: Bool) throws {
        try TestRealm.with([Everything.self]) { realm in
            let one = Everything()
            if isManaged {
                try realm.write { realm.add(one) }
                realm.beginWrite()
            }
            let list = one.ints, other = List<Int>()
            list.append(objectsIn: 1...5)
            other.append(objectsIn: [9, 8, 7])
            list[1..<4] = other[0..<2]
            #expect(Array(list) == [1, 9, 8, 5])
            for wrong in [-1, 100] {
                expectError(.indexOutOfRange) { list.removeFirst(wrong) }
                expectError(.indexOutOfRange) { list.removeLast(wrong) }
                expectError(.indexOutOfRange) { list.remove(at: wrong) }
                expectError(.indexOutOfRange) { list.insert(1, at: wrong) }
                expectError(.indexOutOfRange) { list[wrong] }
                expectError(.indexOutOfRange) { list[wrong] = 1 }
                expectError(.indexOutOfRange) { list.move(from: wrong, to: 0) }
                expectError(.indexOutOfRange) { list.swapAt(0, wrong) }
            }
            expectError(.indexOutOfRange) { list.replaceSubrange(2..<100, with: [1]) }
            expectError(.indexOutOfRange) { list.removeSubrange(2..<100) }
            expectError(.indexOutOfRange) { List<Int>().removeFirst() }
            expectError(.indexOutOfRange) { List<Int>().removeLast() }
            #expect(Array(list) == [1, 9, 8, 5])
        }
    }
}
