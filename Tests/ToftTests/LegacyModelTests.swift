// Tests: LegacyProperty.swift, RealmProperty.swift, SharedNames.swift, StoredField.swift
import Foundation
import RealmSwift
import Testing

@testable import Toft

enum LegacyMood: Int, RealmEnum { case calm, wild = 7 }

/// A class as it was written before there was `@Persisted`.
final class LegacyDog: Object {
    let age = RealmOptional<Int>()
    let weight = RealmProperty<Double?>()
    let anything = RealmProperty<AnyRealmValue>()
    let mood = RealmOptional<LegacyMood>()
    let isKind = RealmOptional<Bool>(true)
    let names = List<String>()
    let friends = List<LegacyDog>()
    let tags = MutableSet<Int>()
    let scores = Map<String, Int>()
    let pals = Map<String, LegacyDog?>()
    let fans = LinkingObjects(fromType: LegacyDog.self, property: "friends")
    let forgotten = List<Int>()

    override class func ignoredProperties() -> [String] { ["forgotten"] }
    override class func indexedProperties() -> [String] { ["age"] }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// A class in which both spellings are mixed, and whose primary key is a box.
final class LegacyKennel: Object {
    let id = RealmOptional<Int>()
    let dogs = List<LegacyDog>()
    @Persisted var name: String

    override class func primaryKey() -> String? { "id" }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

final class LegacyCoded: Object, Codable {
    // The compiler decodes no `let` that has a value.
    var number = RealmOptional<Int>()
    var text = RealmProperty<Double?>()
    var list = List<Int>()

    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite("Classes without @Persisted")
struct LegacyModelTests {
    private static let types: [ObjectBase.Type] = [
        LegacyDog.self, LegacyKennel.self, LegacyCoded.self,
    ]

    @Test
    func `Boxes, collections and linking objects are properties in their order`() throws {
        let schema = try #require(LegacyDog.sharedSchema())
        #expect(
            schema.properties.map(\.name) == [
                "age", "weight", "anything", "mood", "isKind", "names", "friends", "tags", "scores",
                "pals", "fans",
            ])
        let age = try #require(schema["age"])
        #expect(age.type == .int && age.isOptional && age.isIndexed)
        #expect(schema["names"]?.isArray == true && schema["tags"]?.isSet == true)
        #expect(schema["pals"]?.isMap == true && schema["fans"]?.type == .linkingObjects)
        #expect(schema["anything"]?.type == .any && schema["mood"]?.type == .int)
        #expect(LegacyKennel.sharedSchema()?.primaryKeyProperty?.name == "id")
    }

    @Test
    func `The values of an object are kept, and shown by each of its instances`() throws {
        try TestRealm.with(Self.types) { realm in
            let rex = LegacyDog()
            #expect(rex.isKind.value == true && rex.age.value == nil && rex.fans.isEmpty)
            rex.age.value = 3
            rex.mood.value = .wild
            rex.anything.value = "bone"
            rex.names.append("Rex")
            rex.friends.append(rex)
            rex.tags.insert(4)
            rex.scores["a"] = 1
            rex.pals["me"] = rex
            let names = rex.names
            try realm.write { realm.add(rex) }
            let other = try #require(realm.objects(LegacyDog.self).first)
            for dog in [rex, other] {
                #expect(dog.age.value == 3 && dog.mood.value == .wild && dog.weight.value == nil)
                #expect(dog.anything.value == "bone" && Array(dog.names) == ["Rex"])
                #expect(dog.friends[0].age.value == 3 && Array(dog.tags) == [4])
                #expect(dog.scores["a"] == 1 && dog.pals["me"]??.isKind.value == true)
                #expect(dog.fans.count == 1 && dog.fans[0].isSameObject(as: rex))
            }
            try realm.write {
                other.age.value = nil
                other.weight.value = 2.5
                names.append("King")
                other.tags.removeAll()
            }
            #expect(rex.age.value == nil && rex.weight.value == 2.5 && other.names[1] == "King")
            #expect(rex.tags.isEmpty)
            expectError(.notInTransaction) { rex.age.value = 4 }
            let frozen = rex.freeze()
            try realm.write { realm.delete(rex) }
            #expect(frozen.weight.value == 2.5 && frozen.names.count == 2 && frozen.fans.count == 1)
            #expect(names.isInvalidated && other.isInvalidated)
            expectError(.objectDeleted) { _ = other.weight.value }
        }
    }

    @Test
    func `Queries, sorting and key paths name them`() throws {
        try TestRealm.with(Self.types) { realm in
            try realm.write {
                for number in 1...3 {
                    let dog = LegacyDog()
                    dog.age.value = number
                    dog.names.append("dog \(number)")
                    realm.add(dog)
                    dog.friends.append(objectsIn: realm.objects(LegacyDog.self))
                }
            }
            let dogs = realm.objects(LegacyDog.self)
            #expect(dogs.filter("age > 1 AND ANY names == 'dog 2'").count == 1)
            #expect(dogs.where { $0.names.contains("dog 3") }.first?.age.value == 3)
            #expect(dogs.where { $0.friends.names.contains("dog 3") }.count == 1)
            #expect(dogs.where { $0.friends.count > 1 }.count == 2)
            #expect(dogs.where { $0.age > 1 && $0.weight == nil }.count == 2)
            #expect(dogs.sorted(byKeyPath: "age", ascending: false).first?.age.value == 3)
            #expect(dogs.max(ofProperty: "age") as Int? == 3)
            #expect(KeyPathNames.name(of: \LegacyDog.friends[0].names) == "friends.names")
            #expect(KeyPathNames.name(of: \LegacyDog.age.value) == "age")
            #expect(KeyPathNames.name(of: \LegacyDog.pals["a"]) == "pals")
            #expect(KeyPathNames.name(of: \LegacyDog.fans) == "fans")
        }
    }

    @Test
    func `Values by name, dictionaries and updates reach them`() throws {
        try TestRealm.with(Self.types) { realm in
            let dog = LegacyDog(value: ["age": 7, "names": ["a"], "scores": ["z": 2], "tags": [1]])
            #expect(dog["age"] as? Int == 7 && dog.scores["z"] == 2 && dog.tags.contains(1))
            try realm.write {
                let kennel = realm.create(
                    LegacyKennel.self,
                    value: ["id": 4, "name": "k", "dogs": [["age": 1], dog]] as [String: Any])
                #expect(kennel.dogs.count == 2 && kennel.dogs[1].age.value == 7)
                kennel.dogs[1].setValue(nil, forKey: "age")
                kennel.dogs[1]["names"] = ["p", "q"]
                #expect(Array(kennel.dogs[1].names) == ["p", "q"])
                #expect(kennel.dogs[1].age.value == nil)
                realm.create(
                    LegacyKennel.self, value: ["id": 4, "dogs": [["age": 8]]] as [String: Any],
                    update: .modified)
                #expect(kennel.dogs.count == 1 && kennel.dogs[0].age.value == 8)
                #expect(kennel.name == "k")
            }
            let found = realm.object(ofType: LegacyKennel.self, forPrimaryKey: 4)
            #expect(found?.id.value == 4 && found?.description.contains("id = 4") == true)
            let other = LegacyKennel()
            other.id.value = 4
            expectError(.duplicatePrimaryKey) { try realm.write { realm.add(other) } }
        }
    }

    @Test
    func `Boxes are equal, sorted and coded as what they hold`() throws {
        #expect(RealmOptional(3) == RealmOptional(3) && RealmOptional<Int>() < RealmOptional(1))
        #expect(RealmProperty<Int?>() != RealmProperty(1) && "\(RealmOptional(2))" == "2")
        let json = #"{"number":3,"list":[1,2]}"#
        let object = try JSONDecoder().decode(LegacyCoded.self, from: Data(json.utf8))
        #expect(object.number.value == 3 && object.text.value == nil && object.list.count == 2)
        try TestRealm.with(Self.types) { realm in
            try realm.write { realm.add(object) }
            let data = try JSONEncoder().encode(object)
            #expect(try JSONDecoder().decode(LegacyCoded.self, from: data).number.value == 3)
        }
    }
}

class SharedA: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var first: String
    override class func _realmObjectName() -> String? { "SharedName" }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class SharedB: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted(indexed: true) var given: String
    @Persisted var extra = 5
    override class func _realmObjectName() -> String? { "SharedName" }
    override class func propertiesMapping() -> [String: String] { ["given": "first"] }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Another class of that name, which can't be one with it. In the default schema on purpose.
class SharedC: Object {
    @Persisted(primaryKey: true) var id: String
    override class func _realmObjectName() -> String? { "SharedOther" }
}

class SharedD: Object {
    @Persisted(primaryKey: true) var id: Int
    override class func _realmObjectName() -> String? { "SharedOther" }
}

private final class Spaced: Object {
    @Persisted var first: String
    @Persisted var age: Int

    override class func _realmObjectName() -> String? { "Family Member" }
    override class func propertiesMapping() -> [String: String] { ["first": "first name"] }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite("Classes that share a stored name")
struct SharedNameTests {
    @Test
    func `Two classes are one, each with its own names of properties`() throws {
        try TestRealm.with([SharedA.self, SharedB.self]) { realm in
            try realm.write {
                realm.create(SharedA.self, value: ["id": 1, "first": "Ann"])
                let bob = realm.create(SharedB.self, value: ["id": 2, "given": "Bob"])
                #expect(bob.extra == 5)
            }
            let all = realm.objects(SharedB.self)
            #expect(all.count == 2 && realm.objects(SharedA.self).count == 2)
            #expect(all.filter("given == 'Ann'").first?.given == "Ann")
            #expect(all.where { $0.given == "Bob" }.first?.id == 2)
            #expect(all.sorted(by: \.given).map(\.given) == ["Ann", "Bob"])
            #expect(all.freeze().filter("given == 'Bob'").count == 1)
            #expect(realm.object(ofType: SharedA.self, forPrimaryKey: 2)?.first == "Bob")
        }
    }

    @Test
    func `Stored names may have spaces`() throws {
        try TestRealm.withFile([Spaced.self]) { realm, url in
            try realm.write { realm.create(Spaced.self, value: ["first": "Ann", "age": 3]) }
            let ann = realm.objects(Spaced.self).where { $0.first == "Ann" && $0.age > 2 }
            #expect(ann.count == 1 && realm.schema["Family Member"]?["first"] != nil)
            try elsewhere {
                let realm = try Realm(
                    configuration: Realm.Configuration(fileURL: url, objectTypes: []))
                let all = realm.dynamicObjects("Family Member")
                #expect(all.filter("%K == 'Ann'", "first name").count == 1)
                #expect(all.filter(#"first\ name == 'Ann'"#).count == 1)
                #expect(all.first?["first name"] as? String == "Ann")
            }
        }
    }

    @Test
    func `Classes that contradict each other are an error only where an app names both`() throws {
        _ = try Realm(configuration: TestRealm.inMemory())
        expectError(.invalidSchema) {
            _ = try Realm(configuration: TestRealm.inMemory([SharedC.self, SharedD.self]))
        }
        try TestRealm.with([SharedD.self]) { realm in
            try realm.write { _ = realm.create(SharedD.self, value: ["id": 1]) }
        }
    }
}

@Suite("Write transactions of realms that nobody holds")
struct UnheldWriteTests {
    @Test
    func `A transaction goes on until it is committed or cancelled`() throws {
        try TestRealm.withFolder { folder in
            let configuration = Realm.Configuration(
                fileURL: folder.appendingPathComponent("a.realm"),
                objectTypes: [Dog.self, Person.self])
            func realm() throws -> Realm { try Realm(configuration: configuration) }
            try realm().beginWrite()
            #expect(try realm().isInWriteTransaction)
            try realm().create(Dog.self, value: ["name": "Rex"])
            try realm().commitWrite()
            #expect(try !realm().isInWriteTransaction && realm().objects(Dog.self).count == 1)
            try realm().beginWrite()
            try realm().deleteAll()
            try realm().cancelWrite()
            #expect(try realm().objects(Dog.self).count == 1)
        }
    }

    @Test
    func `A transaction ends with its thread`() throws {
        try TestRealm.withFolder { folder in
            var configuration = Realm.Configuration(
                fileURL: folder.appendingPathComponent("a.realm"),
                objectTypes: [Dog.self, Person.self])
            let box = Box(configuration)
            let thread = Thread { try? Realm(configuration: box.value).beginWrite() }
            thread.start()
            while !thread.isFinished { usleep(1000) }
            configuration.writeTimeout = .seconds(20)
            try Realm(configuration: configuration).write {}
        }
    }
}
