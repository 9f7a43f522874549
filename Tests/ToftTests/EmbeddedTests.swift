// Tests: ClassDiscovery.swift
import Foundation
import RealmSwift
import Testing

@testable import Toft

class Resident: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var house: House?
    @Persisted var earlier: List<House>
    @Persisted var friend: Resident?

    convenience init(_ id: Int, _ house: House? = nil, earlier: [House] = []) {
        self.init()
        self.id = id
        self.house = house
        self.earlier.append(objectsIn: earlier)
    }

    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class House: EmbeddedObject {
    @Persisted(indexed: true) var street: String
    @Persisted var floor = 1
    @Persisted var landlord: Resident?
    @Persisted var annex: House?
    @Persisted var rooms: List<House>
    @Persisted(originProperty: "house") var residents: LinkingObjects<Resident>

    convenience init(_ street: String) {
        self.init()
        self.street = street
    }

    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite("Embedded objects live in one owner")
struct EmbeddedTests {
    static let types: [ObjectBase.Type] = [Resident.self, House.self]

    /// The number of houses in the database, owned or not.
    func houses(_ realm: Realm) -> Int { TestRealm.count("House", in: realm) }

    @Test
    func `A hundred houses may be within one another`() throws {
        func nested(_ count: Int) -> House {
            var outer = House("\(count)")
            for number in stride(from: count - 1, to: 0, by: -1) {
                let house = House("\(number)")
                house.annex = outer
                outer = house
            }
            return outer
        }
        try TestRealm.with(Self.types) { realm in
            let ann = Resident(1, nested(100))
            try realm.write { realm.add(ann) }
            #expect(houses(realm) == 100)
            realm.beginWrite()
            expectError(.valueTooLong) { realm.add(Resident(2, nested(101))) }
            expectError(.valueTooLong) {
                realm.create(Resident.self, value: Resident(3, nested(101)))
            }
            realm.cancelWrite()
            #expect(houses(realm) == 100)
            try TestRealm.check(realm)
        }
    }

    @Test
    func `A house is assigned, replaced and set to nil`() throws {
        try TestRealm.with(Self.types) { realm in
            let ann = Resident(1, House("Elm"))
            try realm.write { realm.add(ann) }
            let elm = try #require(ann.house)
            #expect(elm.street == "Elm")
            #expect(elm.realm == realm)
            #expect(elm.residents.map(\.id) == [1])
            try realm.write {
                elm.street = "Elm St"
                #expect(ann.house?.street == "Elm St")
                let oak = House("Oak")
                ann.house = oak
                #expect(oak.realm == realm)
                #expect(elm.isInvalidated)
                #expect(ann.house?.isSameObject(as: oak) == true)
                // Its present value stays.
                ann.house = oak
                #expect(!oak.isInvalidated)
            }
            #expect(houses(realm) == 1)
            #expect(elm.description == "[invalid object]")
            try realm.write { ann.house = nil }
            #expect(ann.house == nil)
            #expect(houses(realm) == 0)
        }
    }

    @Test
    func `A list owns its elements and deletes what it loses`() throws {
        try TestRealm.with(Self.types) { realm in
            let ann = Resident(1, earlier: [House("a"), House("b"), House("c")])
            try realm.write { realm.add(ann) }
            let list = ann.earlier
            try realm.write {
                list.append(House("d"))
                list.insert(House("e"), at: 0)
                list.move(from: 0, to: 4)
                list.swapAt(0, 1)
                #expect(list.map(\.street) == ["b", "a", "c", "d", "e"])
                #expect(houses(realm) == 5)
                let first = list[0]
                list[0] = first
                #expect(!first.isInvalidated)
                list[0] = House("B")
                #expect(first.isInvalidated)
                list.remove(at: 1)
                list.replaceSubrange(1..<3, with: [House("x")])
                #expect(list.map(\.street) == ["B", "x", "e"])
                #expect(houses(realm) == 3)
                ann.earlier = list
                #expect(list.count == 3)
                realm.delete(list[0])
                #expect(list.map(\.street) == ["x", "e"])
                realm.delete(list)
                #expect(houses(realm) == 0)
                list.append(objectsIn: [House("y"), House("z")])
                list.removeAll()
            }
            #expect(houses(realm) == 0)
        }
    }

    @Test
    func `What only an embedded object refers to goes once it is added, with its list`() throws {
        try TestRealm.with(Self.types) { realm in
            let ann = Resident(1, House("Elm"))
            var bob: Resident? = Resident(2, earlier: [House("a")])
            ann.house?.landlord = bob
            weak let landlord = bob
            weak let earlier = bob?.earlier
            bob = nil
            #expect(landlord != nil && earlier?.count == 1)
            try realm.write { realm.add(ann) }
            #expect(landlord == nil && earlier == nil)
            #expect(ann.house?.landlord?.earlier.map(\.street) == ["a"])
        }
    }

    @Test
    func `Deleting the owner deletes all that lives in it`() throws {
        try TestRealm.with(Self.types) { realm in
            let ann = Resident(1, House("Elm"), earlier: [House("a")])
            ann.house?.annex = House("annex")
            ann.house?.rooms.append(House("room"))
            ann.house?.landlord = Resident(2)
            try realm.write { realm.add(ann) }
            let room = try #require(ann.house?.rooms.first)
            #expect(houses(realm) == 4)
            #expect(realm.objects(Resident.self).count == 2)
            try realm.write { realm.delete(ann) }
            #expect(room.isInvalidated)
            #expect(houses(realm) == 0)
            #expect(realm.objects(Resident.self).map(\.id) == [2])
        }
    }

    @Test
    func `An embedded object has one owner`() throws {
        try TestRealm.with(Self.types) { realm in
            let ann = Resident(1, House("Elm")), bob = Resident(2)
            try realm.write { realm.add([ann, bob]) }
            let elm = try #require(ann.house)
            try realm.write {
                expectError(.embeddedObject) { bob.house = elm }
                expectError(.embeddedObject) { bob.earlier.append(elm) }
                expectError(.embeddedObject) { bob.earlier.append(objectsIn: [elm]) }
                let twice = House("twice")
                expectError(.embeddedObject) { bob.earlier.append(objectsIn: [twice, twice]) }
                #expect(bob.earlier.isEmpty)
                bob.earlier.append(House("kept"))
                expectError(.embeddedObject) { bob.earlier.replaceSubrange(0..<1, with: [elm]) }
                expectError(.embeddedObject) { bob.earlier[0] = elm }
                #expect(bob.earlier.map(\.street) == ["kept"])
                expectError(.embeddedObject) { realm.add(Resident(3, elm)) }
                // A copy is another object.
                bob.house = House(value: elm)
                #expect(bob.house?.street == "Elm")
                #expect(bob.house?.isSameObject(as: elm) == false)
                let again = House("again")
                again.annex = again
                expectError(.embeddedObject) { bob.house = again }
            }
            expectError(.notInTransaction) { ann.house = House("x") }
            expectError(.notInTransaction) { ann.earlier.append(House("x")) }
        }
    }

    @Test
    func `Nested values become embedded objects`() throws {
        try TestRealm.with(Self.types) { realm in
            let ann = Resident(
                value: ["id": 1, "house": ["street": "Elm", "annex": ["street": "annex"]]])
            #expect(ann.house?.annex?.street == "annex")
            try realm.write {
                realm.add(ann)
                let bob = realm.create(
                    Resident.self,
                    value: [
                        "id": 2,
                        "house": [
                            "street": "Oak", "landlord": ["id": 3], "rooms": [["street": "r"]],
                        ],
                        "earlier": [["street": "a"], House("b")],
                    ] as [String: Any])
                #expect(bob.house?.landlord?.id == 3)
                #expect(bob.house?.rooms.first?.street == "r")
                #expect(bob.earlier.map(\.street) == ["a", "b"])
                // A copy of an object copies its embedded objects.
                let copy = realm.create(Resident.self, value: Resident(value: bob), update: .all)
                #expect(copy.isSameObject(as: bob))
                #expect(bob.house?.street == "Oak")
                bob["house"] = ["street": "by name"]
                #expect(bob.house?.street == "by name")
            }
            #expect(realm.objects(Resident.self).count == 3)
        }
    }

    @Test
    func `An update replaces the embedded object, or edits it in place`() throws {
        try TestRealm.with(Self.types) { realm in
            try realm.write {
                realm.add(Resident(1, House("Elm"), earlier: [House("a"), House("b")]))
                let ann = try #require(realm.object(ofType: Resident.self, forPrimaryKey: 1))
                let elm = try #require(ann.house), first = ann.earlier[0], second = ann.earlier[1]
                elm.floor = 7
                realm.create(
                    Resident.self,
                    value: [
                        "id": 1, "house": ["street": "Elm 2"], "earlier": [["street": "A"]],
                    ] as [String: Any], update: .modified)
                #expect(!elm.isInvalidated)
                #expect(elm.street == "Elm 2")
                #expect(elm.floor == 7)
                #expect(first.street == "A")
                #expect(second.isInvalidated)
                realm.create(
                    Resident.self,
                    value: ["id": 1, "house": ["street": "new"], "earlier": [["street": "n"]]]
                        as [String: Any], update: .all)
                #expect(elm.isInvalidated)
                #expect(first.isInvalidated)
                #expect(ann.house?.floor == 1)
                #expect(ann.earlier.map(\.street) == ["n"])
                realm.create(Resident.self, value: ["id": 1], update: .all)
                #expect(ann.house?.street == "new")
                realm.create(
                    Resident.self, value: ["id": 1, "house": nil] as [String: Any?],
                    update: .modified)
                #expect(ann.house == nil)
            }
            #expect(houses(realm) == 1)
        }
    }

    @Test
    func `Queries, sorts and key paths go through embedded objects`() throws {
        try TestRealm.with(Self.types) { realm in
            try realm.write {
                for (id, street) in ["Oak", "Elm", "Ash"].enumerated() {
                    realm.add(Resident(id, House(street), earlier: [House("old \(street)")]))
                }
                realm.add(Resident(9))
            }
            let people = realm.objects(Resident.self)
            #expect(people.filter("house.street == 'Elm'").map(\.id) == [1])
            #expect(people.where { $0.house.street == "Oak" }.map(\.id) == [0])
            #expect(people.filter("ANY earlier.street ENDSWITH 'Ash'").map(\.id) == [2])
            #expect(people.sorted(byKeyPath: "house.street").map(\.id) == [9, 2, 1, 0])
            #expect(people.filter("earlier.@count == 0").map(\.id) == [9])
            #expect(people[0].earlier.sum(of: \.floor) == 1)
        }
    }

    @Test
    func `Observers of the owner hear of what lives in it`() throws {
        let configuration = TestRealm.inMemory(Self.types)
        try LoopThread.run { loop in
            let realm = try Realm(configuration: configuration)
            let ann = Resident(1, House("Elm"))
            try realm.write { realm.add(ann) }
            let house = try #require(ann.house)
            var changes: [String] = []
            var isDeleted = false
            let tokens = try loop.inside {
                [
                    ann.observe(keyPaths: ["house.street"]) { (change: ObjectChange<Resident>) in
                        if case .change(_, let properties) = change {
                            changes += properties.map(\.name)
                        }
                    },
                    house.observe { (change: ObjectChange<House>) in
                        if case .deleted = change { isDeleted = true }
                    },
                ]
            }
            try realm.write { house.street = "x" }
            loop.wait { changes.count == 1 }
            try realm.write { ann.house = House("y") }
            loop.wait { isDeleted && changes.count == 2 }
            #expect(changes == ["house", "house"])
            #expect(isDeleted)
            for token in tokens { token.invalidate() }
            try TestRealm.check(realm)
        }
    }

    @Test
    func `The schema tells of embedded classes, which are found and stay embedded`() throws {
        #expect(ClassDiscovery.objectTypes().contains { $0 == House.self })
        try TestRealm.withFile(Self.types) { realm, url in
            #expect(realm.schema["House"]?.isEmbedded == true)
            #expect(realm.schema["Resident"]?.isEmbedded == false)
            #expect(House("x").objectSchema.className == "House")
            try realm.write { realm.add(Resident(1, House("Elm"))) }
            let frozen = try #require(realm.object(ofType: Resident.self, forPrimaryKey: 1))
                .freeze()
            try realm.write { realm.deleteAll() }
            #expect(frozen.house?.street == "Elm")
            #expect(houses(realm) == 0)
        }
    }

    @Test
    func `An embedded object that its owner has lost is told to be deleted`() throws {
        try TestRealm.with(Self.types) { realm in
            let ann = Resident(1, House("Elm"), earlier: [House("a"), House("b")])
            try realm.write {
                realm.add(ann)
                let kept = Array(ann.earlier)
                ann.earlier.removeAll()
                expectError(.objectDeleted) { ann.earlier.append(objectsIn: kept) }
                expectError(.objectDeleted) { ann.house = kept[0] }
                #expect(ann.earlier.isEmpty && ann.house?.street == "Elm")
            }
        }
    }

    @Test
    func `An object with a part that has an owner is refused as a whole`() throws {
        try TestRealm.with(Self.types) { realm in
            let ann = Resident(1, House("Elm"))
            try realm.write { realm.add(ann) }
            try realm.write {
                let bob = Resident(2, House("Oak"))
                bob.friend = Resident(3, ann.house)
                expectError(.embeddedObject) { realm.add(bob) }
                #expect(bob.realm == nil && bob.house?.realm == nil)
            }
            #expect(houses(realm) == 1 && realm.objects(Resident.self).count == 1)
        }
    }
}
