// Tests: Map.swift
import Foundation
import RealmSwift
import Testing

@testable import Toft

class Landlord: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var houses: Map<String, House?>

    convenience init(_ id: Int, _ houses: [String: House?] = [:]) {
        self.init()
        self.id = id
        for (key, house) in houses { self.houses[key] = house }
    }

    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite("Maps of embedded objects")
struct EmbeddedMapTests {
    static let types: [ObjectBase.Type] = [Landlord.self, Resident.self, House.self]

    /// The number of houses in the database, owned or not.
    func houses(_ realm: Realm) -> Int { TestRealm.count("House", in: realm) }

    @Test
    func `A map owns its values and deletes what it loses`() throws {
        try TestRealm.with(Self.types) { realm in
            let ann = Landlord(1, ["a": House("Ash"), "b": House("Birch"), "n": nil])
            let ash = try #require(ann.houses["a"] ?? nil), map = ann.houses
            #expect(map.realm == nil && map.count == 3)
            try realm.write { realm.add(ann) }
            #expect(map.realm == realm && ash.realm == realm)
            #expect(map.keys == ["a", "b", "n"] && houses(realm) == 2)
            #expect(map["n"] == .some(nil))
            try realm.write {
                map["a"] = ash
                #expect(!ash.isInvalidated)
                ash.street = "Ash St"
                #expect((map["a"] ?? nil)?.street == "Ash St")
                let oak = House("Oak")
                map["a"] = oak
                #expect(ash.isInvalidated && oak.realm == realm)
                map["n"] = House("new")
                #expect(houses(realm) == 3)
                map.updateValue(nil, forKey: "n")
                #expect(map["n"] == .some(nil) && houses(realm) == 2)
                map.removeObject(for: "b")
                #expect(houses(realm) == 1)
                map.setValue(["street": "by name"], forKey: "c")
                map.merge([("a", House("merged"))]) { old, new in old ?? new }
                #expect(map.values.map { $0?.street } == ["Oak", "by name", nil])
                ann.houses = map
                #expect(map.count == 3)
                realm.delete(oak)
                #expect(map["a"] == .some(nil))
                realm.delete(map)
                #expect(map.keys == ["a", "c", "n"] && houses(realm) == 0)
                map["c"] = House("c")
                map.removeAll()
                #expect(map.isEmpty && houses(realm) == 0)
            }
        }
    }

    @Test
    func `Deleting the owner deletes the values, and what lives in them`() throws {
        try TestRealm.with(Self.types) { realm in
            let house = House("a")
            house.rooms.append(House("room"))
            let ann = Landlord(1, ["a": house])
            try realm.write { realm.add(ann) }
            #expect(houses(realm) == 2)
            try realm.write { realm.delete(ann) }
            #expect(houses(realm) == 0 && house.isInvalidated)
        }
    }

    @Test
    func `A value has one owner, and a refused change changes nothing`() throws {
        try TestRealm.with(Self.types) { realm in
            let ann = Landlord(1, ["a": House("Ash")]), bob = Landlord(2, ["b": House("Birch")])
            try realm.write { realm.add([ann, bob]) }
            let ash = try #require(ann.houses["a"] ?? nil)
            try realm.write {
                expectError(.embeddedObject) { bob.houses["b"] = ash }
                expectError(.embeddedObject) { ann.houses["other"] = ash }
                expectError(.embeddedObject) { bob.houses = ann.houses }
                let twice = House("twice")
                expectError(.embeddedObject) {
                    bob.houses = Map(dictionaryLiteral: ("x", twice), ("y", twice))
                }
                expectError(.embeddedObject) { realm.add(Landlord(3, ["a": ash])) }
                expectError(.invalidArgument) { bob.houses["a.b"] = House("x") }
                #expect(bob.houses.map { $0.value?.street } == ["Birch"])
                // Copies are other objects.
                bob.houses["a"] = House(value: ash)
                ann.houses = Map(dictionaryLiteral: ("new", House("New")), ("nil", nil))
                #expect(ash.isInvalidated)
                #expect(ann.houses.keys == ["new", "nil"])
                realm.add(Landlord(value: ["id": 4, "houses": bob.houses] as [String: Any]))
            }
            #expect(
                realm.object(ofType: Landlord.self, forPrimaryKey: 4)?.houses.values
                    .map { $0?.street } == ["Ash", "Birch"])
            #expect(houses(realm) == 5)
            expectError(.notInTransaction) { ann.houses["x"] = House("x") }
        }
    }

    @Test
    func `Dictionaries give values; an update edits them in place, or replaces them`() throws {
        try TestRealm.with(Self.types) { realm in
            try realm.write {
                let ann = realm.create(
                    Landlord.self,
                    value: [
                        "id": 1,
                        "houses": ["a": ["street": "Ash", "floor": 7], "b": House("Birch")]
                            as [String: Any],
                    ] as [String: Any])
                let ash = try #require(ann.houses["a"] ?? nil)
                let birch = try #require(ann.houses["b"] ?? nil)
                realm.create(
                    Landlord.self,
                    value: [
                        "id": 1, "houses": ["a": ["street": "Ash 2"], "c": nil] as [String: Any?],
                    ] as [String: Any], update: .modified)
                #expect(ash.street == "Ash 2" && ash.floor == 7 && birch.isInvalidated)
                #expect(ann.houses.keys == ["a", "c"])
                realm.create(
                    Landlord.self,
                    value: ["id": 1, "houses": ["a": ["street": "new"]]] as [String: Any],
                    update: .all)
                #expect(ash.isInvalidated && (ann.houses["a"] ?? nil)?.floor == 1)
                let copy = Landlord(value: ann)
                #expect(copy.houses.realm == nil && copy.houses.count == 1)
                realm.add(copy, update: .modified)
                #expect(ann.houses.values.map { $0?.street } == ["new"])
            }
            #expect(houses(realm) == 1)
        }
    }

    @Test
    func `Queries and observers see the values`() throws {
        let configuration = TestRealm.inMemory(Self.types)
        try LoopThread.run { loop in
            let realm = try Realm(configuration: configuration)
            let ann = Landlord(1, ["a": House("Ash"), "b": House("Birch")])
            try realm.write { realm.add([ann, Landlord(2, ["a": House("Oak")]), Landlord(3)]) }
            let all = realm.objects(Landlord.self)
            #expect(all.filter("houses['a'].street == 'Oak'").map(\.id) == [2])
            #expect(all.where { $0.houses.count == 2 }.map(\.id) == [1])
            #expect(ann.houses.filter("street == 'Birch'").count == 1)
            var changes: [[String]] = []
            let token = try loop.inside {
                ann.houses.observe { change in
                    if case .update(_, let deletions, let insertions, let modifications) = change {
                        changes.append(deletions + insertions + modifications)
                    }
                }
            }
            try realm.write {
                ann.houses["a"]??.street = "x"
                ann.houses["c"] = House("c")
            }
            loop.wait { changes.count == 1 }
            #expect(changes.first.map { Set($0) } == ["a", "c"])
            let frozen = ann.freeze()
            try realm.write { realm.delete(ann) }
            #expect((frozen.houses["c"] ?? nil)?.street == "c")
            token.invalidate()
            try TestRealm.check(realm)
        }
    }
}
