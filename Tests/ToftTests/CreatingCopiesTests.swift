// Tests: Addition.swift
import Foundation
import RealmSwift
import Testing

@testable import Toft

/// Links, collections and values that may hold objects.
final class Household: Object {
    @Persisted var name: String
    @Persisted var owner: Person?
    @Persisted var pets: List<Dog>
    @Persisted var guests: MutableSet<Dog>
    @Persisted var rooms: Map<String, Dog?>
    @Persisted var treasure: AnyRealmValue
    @Persisted var tags: List<String>
    @Persisted var door: Door?
    @Persisted var windows: List<Door>
    @Persisted var neighbour: Household?
}

final class Door: EmbeddedObject {
    @Persisted var color: String
    @Persisted var keeper: Dog?

    convenience init(_ color: String, _ keeper: Dog? = nil) {
        self.init()
        self.color = color
        self.keeper = keeper
    }
}

@Suite("create copies what it is given, add takes it in")
struct CreatingCopiesTests {
    private let types = [Household.self, Door.self, Person.self, Dog.self]

    private func home() -> Household {
        let home = Household()
        home.name = "Elm"
        home.owner = Person(1, "Ada")
        home.pets.append(objectsIn: [Dog("Rex"), Dog("Fido")])
        home.guests.insert(Dog("Guest"))
        home.rooms["attic"] = Dog("Attic")
        home.treasure = .list([.object(Dog("Gold")), 3])
        home.tags.append("old")
        home.door = Door("red", Dog("Guard"))
        home.windows.append(Door("blue"))
        return home
    }

    @Test
    func `Unmanaged objects in a value stay unmanaged, and new ones are made like them`() throws {
        try TestRealm.with(types) { realm in
            let rex = Dog("Rex", age: 3)
            let door = Door("red")
            let made = try realm.write {
                realm.create(
                    Household.self,
                    value: [
                        "owner": Person(1, "Ada"), "pets": [rex, rex], "door": door,
                        "windows": [door], "rooms": ["attic": rex],
                    ] as [String: Any])
            }
            #expect(rex.realm == nil && door.realm == nil && rex.age == 3)
            #expect(made.pets.map(\.age) == [3, 3] && made.rooms["attic"]??.age == 3)
            #expect(made.door?.color == "red" && made.windows.map(\.color) == ["red"])
            // One for each place, as in Realm.
            #expect(realm.objects(Dog.self).count == 3)
            rex.age = 4
            #expect(made.pets[0].age == 3)
        }
    }

    @Test
    func `A copy of an unmanaged object copies what it links to`() throws {
        try TestRealm.with(types) { realm in
            let home = home()
            let made = try realm.write { realm.create(Household.self, value: home) }
            #expect(home.realm == nil && home.owner?.realm == nil && home.pets[0].realm == nil)
            #expect(home.door?.realm == nil && home.tags.realm == nil)
            #expect(made.owner?.name == "Ada" && made.pets.map(\.name) == ["Rex", "Fido"])
            #expect(made.door?.keeper?.name == "Guard" && Array(made.tags) == ["old"])
            try realm.write {
                realm.delete(realm.objects(Person.self))
                realm.add(home)
            }
            #expect(home.realm == realm && realm.objects(Household.self).count == 2)
        }
    }

    @Test
    func `An object of another realm is copied with all that it links to`() throws {
        try TestRealm.with(types) { realm in
            try TestRealm.with(types) { other in
                let home = home()
                try other.write { other.add(home) }
                for source in [home, home.freeze()] {
                    let made = try realm.write {
                        realm.create(Household.self, value: source)
                    }
                    #expect(made.realm == realm && made.owner?.realm == realm)
                    #expect(made.owner?.name == "Ada" && made.pets.map(\.name) == ["Rex", "Fido"])
                    #expect(made.guests.map(\.name) == ["Guest"] && made.tags[0] == "old")
                    #expect(made.rooms["attic"]??.name == "Attic")
                    #expect(made.treasure.listValue?[0].object(Dog.self)?.name == "Gold")
                    #expect(made.treasure.listValue?[1].intValue == 3)
                    #expect(made.door?.color == "red" && made.door?.keeper?.name == "Guard")
                    #expect(made.windows.map(\.color) == ["blue"])
                    try realm.write { realm.delete(realm.objects(Person.self)) }
                }
                #expect(home.realm == other && other.objects(Dog.self).count == 6)
                #expect(realm.objects(Dog.self).count == 12)
            }
        }
    }

    @Test
    func `A copy of objects with keys updates those that are there`() throws {
        try TestRealm.with(types) { realm in
            try TestRealm.with(types) { other in
                let (ada, ben) = (Person(1, "Ada"), Person(2, "Ben"))
                ada.boss = ben
                ben.boss = ada
                try other.write { other.add(ada) }
                try realm.write { realm.add(Person(2, "Bob", age: 60)) }
                try realm.write {
                    expectError(.duplicatePrimaryKey) { realm.create(Person.self, value: ada) }
                }
                let made = try realm.write {
                    realm.create(Person.self, value: ada, update: .modified)
                }
                #expect(made.boss?.name == "Ben" && made.boss?.age == 18)
                #expect(made.boss?.boss?.isSameObject(as: made) == true)
                #expect(realm.objects(Person.self).count == 2)
            }
        }
    }

    @Test
    func `Circles close in the copy`() throws {
        try TestRealm.with(types) { realm in
            let (elm, oak) = (Household(), Household())
            elm.neighbour = oak
            oak.neighbour = elm
            (elm.name, oak.name) = ("Elm", "Oak")
            let made = try realm.write { realm.create(Household.self, value: elm) }
            #expect(made.neighbour?.name == "Oak")
            #expect(made.neighbour?.neighbour?.isSameObject(as: made) == true)
            #expect(realm.objects(Household.self).count == 2 && oak.realm == nil)
        }
    }

    @Test
    func `A chain of objects is copied however long it is`() throws {
        try TestRealm.with(types) { realm in
            let first = Household()
            var last = first
            for number in 1...20_000 {
                let next = Household()
                next.name = "\(number)"
                // Each has its dog twice, and both copies stay apart.
                if number % 4_000 == 0 { next.pets.append(objectsIn: [Dog("Rex"), Dog("Rex")]) }
                if number % 5_000 == 0 { next.door = Door("red", Dog("Guard")) }
                last.neighbour = next
                last = next
            }
            last.neighbour = first
            let made = try realm.write { realm.create(Household.self, value: first) }
            #expect(realm.objects(Household.self).count == 20_001 && first.realm == nil)
            #expect(realm.objects(Dog.self).count == 14)
            var copy = made
            for _ in 0..<20_000 { copy = try #require(copy.neighbour) }
            #expect(copy.name == "20000" && copy.door?.keeper?.name == "Guard")
            #expect(copy.neighbour?.isSameObject(as: made) == true)
            // Otherwise the chain would be freed at once, which takes a stack of its length.
            var rest: Household? = first
            while let each = rest {
                rest = each.neighbour
                each.neighbour = nil
            }
        }
    }

    @Test
    func `Who is met twice on two ways is copied twice, and with a key once`() throws {
        try TestRealm.with(types) { realm in
            let (elm, oak, ash) = (Household(), Household(), Household())
            let rex = Dog("Rex"), ada = Person(1, "Ada")
            (elm.neighbour, oak.neighbour, ash.neighbour) = (oak, ash, oak)
            (elm.owner, oak.owner, ash.owner) = (ada, ada, ada)
            elm.pets.append(objectsIn: [rex, rex])
            ash.pets.append(rex)
            ada.boss = ada
            let made = try realm.write { realm.create(Household.self, value: elm) }
            #expect(realm.objects(Household.self).count == 3)
            #expect(realm.objects(Person.self).count == 1 && realm.objects(Dog.self).count == 3)
            let copy = try #require(made.neighbour)
            #expect(copy.neighbour?.neighbour?.isSameObject(as: copy) == true)
            #expect(made.owner?.boss?.isSameObject(as: copy.owner) == true)
            (oak.neighbour, ada.boss) = (nil, nil)
        }
    }

    @Test
    func `Objects of the realm are linked to, and deleted ones are no template`() throws {
        try TestRealm.with(types) { realm in
            let rex = Dog("Rex")
            let made = try realm.write {
                realm.add(rex)
                return realm.create(Household.self, value: ["pets": [rex]])
            }
            #expect(made.pets[0].isSameObject(as: rex))
            try realm.write {
                realm.delete(rex)
                expectError(.objectDeleted) { realm.create(Dog.self, value: rex) }
                expectError(.objectDeleted) {
                    realm.create(Household.self, value: ["pets": [rex]])
                }
            }
            expectError(.objectDeleted) { Dog(value: rex) }
        }
    }

    @Test
    func `An update reaches objects with keys beyond one that has none`() throws {
        try TestRealm.with([Garden.self] + types) { realm in
            let top = Garden()
            top.household = Household()
            top.household?.owner = Person(1, "Ada", age: 31)
            try realm.write { realm.add(Person(1, "Ada", age: 30)) }
            try realm.write { realm.add(top, update: .modified) }
            #expect(realm.objects(Person.self).map(\.age) == [31])
        }
    }

    @Test
    func `Dictionaries within one another are taken to a depth, and refused beyond it`() throws {
        func chain(_ count: Int) -> [String: Any] {
            var person: [String: Any] = ["id": 1]
            for id in 2..<count + 1 { person = ["id": id, "boss": person] }
            return person
        }
        try TestRealm.with([Person.self, Dog.self]) { realm in
            // Of which time and stack grow with the depth and not with its square.
            let start = ContinuousClock.now
            try realm.write { realm.create(Person.self, value: chain(500), update: .all) }
            #expect(realm.objects(Person.self).count == 500)
            #expect(ContinuousClock.now - start < .seconds(2))
            try realm.write {
                expectError(.invalidArgument) {
                    realm.create(Person.self, value: chain(502), update: .all)
                }
                expectError(.invalidArgument) { _ = Person(value: chain(3_000)) }
                expectError(.invalidArgument) {
                    realm.dynamicCreate("Person", value: chain(3_000), update: .all)
                }
            }
            #expect(realm.objects(Person.self).count == 500)
        }
    }
}

final class Garden: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var household: Household?
}
