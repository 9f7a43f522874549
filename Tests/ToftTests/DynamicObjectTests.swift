// Tests: DynamicObject.swift, DynamicCheck.swift
import Foundation
import RealmSwift
import Testing

@testable import Toft

@Suite("Classes that are known by their names")
struct DynamicObjectTests {
    /// A file with Ada, who leads Ben and has a dog and a house, and a realm of it that declares no
    /// class.
    private func withFile(_ body: (Realm, Realm.Configuration) throws -> Void) throws {
        try TestRealm.withFolder { folder in
            let url = folder.appendingPathComponent("test.realm")
            do {
                let types = [
                    Person.self, Dog.self, Library.self, Book.self, Resident.self, House.self,
                ]
                let realm = try Realm(
                    configuration: Realm.Configuration(fileURL: url, objectTypes: types))
                let (ada, ben) = (Person(1, "Ada", age: 60), Person(2, "Ben"))
                ada.dogs.append(Dog("Rex", age: 3))
                ben.boss = ada
                let library = Library(1)
                library.ints.insert(objectsIn: [3, 1])
                library.counts["a"] = 5
                library.maybeNotes.updateValue(nil, forKey: "n")
                library.books.insert(Book("Emma"))
                library.shelf["top"] = library.books[0]
                let house = House("Elm")
                house.annex = House("annex")
                try realm.write { realm.add([ada, ben, library, Resident(1, house)]) }
            }
            let configuration = Realm.Configuration(fileURL: url, objectTypes: [])
            let realm = try Realm(configuration: configuration)
            try body(realm, configuration)
            try TestRealm.check(realm)
        }
    }

    @Test
    func `A realm that declares no class reads those of the file by name`() throws {
        try withFile { realm, _ in
            let people = realm.dynamicObjects("Person")
            #expect(people.count == 2 && people.map { $0.name as? String } == ["Ada", "Ben"])
            let ada = try #require(realm.dynamicObject(ofType: "Person", forPrimaryKey: 1))
            #expect(ada["age"] as? Int == 60 && ada.nickname == nil && ada == people[0])
            #expect((people[1].boss as? DynamicObject)?.isSameObject(as: ada) == true)
            #expect(ada.dynamicList("dogs").map { $0.age as? Int } == [3])
            #expect((ada.reports as? LinkingObjects<DynamicObject>)?.count == 1)
            #expect(ada.value(forKeyPath: "name") as? String == "Ada")
            #expect(people.filter("age > 50 AND ANY dogs.name == 'Rex'").count == 1)
            #expect(people.sorted(byKeyPath: "age").map { $0["id"] as? Int } == [2, 1])
            let library = try #require(realm.dynamicObjects("Library").first)
            #expect((library.ints as? MutableSet<Int>)?.map { $0 } == [1, 3])
            #expect((library.counts as? Map<String, Int>)?["a"] == 5)
            #expect((library.maybeNotes as? Map<String, String?>)?.count == 1)
            #expect(library.dynamicMutableSet("books").map { $0.title as? String } == ["Emma"])
            #expect(library.dynamicMap("shelf")["top"]??.title as? String == "Emma")
            let resident = try #require(realm.dynamicObjects("Resident").first)
            let house = try #require(resident.house as? DynamicObject)
            #expect((house.annex as? DynamicObject)?.street as? String == "annex")
            #expect(ada.description.contains("name = Ada"))
            expectError(.noSuchProperty) { _ = ada.nmae }
            expectError(.noSuchClass) { _ = realm.dynamicObjects("Persn") }
            expectError(.typeMismatch) { _ = ada.dynamicList("name") }
        }
    }

    @Test
    func `Its schema is that of the file`() throws {
        try withFile { realm, _ in
            #expect(
                realm.schema.objectSchema.map(\.className).sorted() == [
                    "Book", "Dog", "House", "Library", "Person", "Resident",
                ])
            let person = try #require(realm.schema["Person"])
            #expect(person.primaryKeyProperty?.name == "id" && person["name"]?.isIndexed == true)
            #expect(person["dogs"]?.isArray == true && person["dogs"]?.objectClassName == "Dog")
            #expect(person["nickname"]?.isOptional == true && person["age"]?.type == .int)
            #expect(realm.schema["House"]?.isEmbedded == true && !person.isEmbedded)
            #expect(realm.dynamicObjects("Dog")[0].objectSchema.className == "Dog")
        }
    }

    @Test
    func `Objects are created, changed and deleted by names`() throws {
        try withFile { realm, _ in
            let ada = try #require(realm.dynamicObject(ofType: "Person", forPrimaryKey: 1))
            expectError(.notInTransaction) { ada.age = 5 }
            try realm.write {
                ada.age = Int8(61)
                ada["nickname"] = "Boss"
                ada.boss = realm.dynamicObject(ofType: "Person", forPrimaryKey: 2)
                let dogs = ada.dynamicList("dogs")
                dogs.append(realm.dynamicCreate("Dog", value: ["name": "Max"]))
                #expect(dogs.map { $0.name as? String } == ["Rex", "Max"])
                ada.dogs = [dogs[1], ["name": "Tim", "age": 2]] as [Any]
                let cem = realm.dynamicCreate(
                    "Person", value: ["id": 3, "name": "Cem", "boss": ["id": 1]] as [String: Any])
                #expect((cem.boss as? DynamicObject)?.name as? String == "Ada")
                let library = realm.dynamicCreate(
                    "Library",
                    value: [
                        "id": 2, "ints": [7, 5], "counts": ["x": 1], "ratios": ["r": 2],
                        "shelf": ["a": ["title": "Persuasion"], "b": nil] as [String: Any?],
                    ] as [String: Any])
                #expect((library.ints as? MutableSet<Int>)?.map { $0 } == [5, 7])
                #expect((library.ratios as? Map<String, Float>)?["r"] == 2)
                #expect(library.dynamicMap("shelf").count == 2)
                let resident = realm.dynamicObjects("Resident")[0]
                resident.house = ["street": "Oak", "rooms": [["street": "r"]]] as [String: Any]
                #expect(realm.dynamicObjects("House").count == 2)
                expectError(.typeMismatch) { ada.age = "old" }
                expectError(.duplicatePrimaryKey) {
                    realm.dynamicCreate("Person", value: ["id": 3])
                }
                realm.dynamicCreate("Person", value: ["id": 3, "age": 4], update: .modified)
                #expect(cem.age as? Int == 4 && cem.name as? String == "Cem")
                realm.delete(cem)
                #expect(cem.isInvalidated)
            }
            #expect(ada.age as? Int == 61 && ada.nickname as? String == "Boss")
            #expect(ada.dynamicList("dogs").map { $0.name as? String } == ["Max", "Tim"])
            try realm.write { realm.deleteAll() }
            #expect(realm.dynamicObjects("Person").isEmpty && realm.dynamicObjects("House").isEmpty)
        }
    }

    @Test
    func `They are frozen and carried as others are`() throws {
        try withFile { realm, _ in
            let ada = realm.dynamicObjects("Person")[0]
            let (frozen, all) = (ada.freeze(), realm.dynamicObjects("Person").freeze())
            try realm.write { ada.age = 70 }
            #expect(frozen.age as? Int == 60 && all[0].age as? Int == 60)
            #expect(frozen.thaw()?.age as? Int == 70 && all.thaw()?[0].age as? Int == 70)
            #expect(frozen.dynamicList("dogs").first?.name as? String == "Rex")
            let reference = ThreadSafeReference(to: ada)
            #expect(realm.resolve(reference)?.isSameObject(as: ada) == true)
        }
    }

    @Test
    func `A realm that declares classes has those by name too`() throws {
        try TestRealm.with([Hidden.self]) { realm in
            try realm.write { realm.dynamicCreate("Hidden", value: ["text": "x"]) }
            #expect(realm.dynamicObjects("Hidden")[0].text as? String == "x")
            #expect(realm.objects(Hidden.self).map(\.text) == ["x"])
            expectError(.noSuchClass) { _ = realm.dynamicObjects("Person") }
        }
    }

    @Test
    func `Observers of them are told as of others`() throws {
        let configuration = TestRealm.inMemory([Person.self, Dog.self])
        try LoopThread.run { loop in
            let realm = try Realm(configuration: configuration)
            try realm.write { realm.add(Person(1, "Ada", age: 60)) }
            let people = realm.dynamicObjects("Person")
            let log = ObservationTests.Log()
            var told: [String] = []
            let tokens = try loop.inside {
                [
                    people.observe { log.add($0) },
                    people[0].observe { (change: ObjectChange<DynamicObject>) in
                        guard case .change(let ada, let properties) = change else { return }
                        let names = properties.map(\.name)
                        told = names + ["\(properties[0].newValue ?? 0)", "\(ada.age ?? 0)"]
                    },
                ]
            }
            loop.wait { log.events.count == 1 }
            try realm.write { people[0].age = 61 }
            loop.wait { log.events.count == 2 && !told.isEmpty }
            #expect(
                log.events.last == .update(deletions: [], insertions: [], modifications: [0]))
            #expect(told == ["age", "61", "61"])
            tokens.forEach { $0.invalidate() }
        }
    }
}
