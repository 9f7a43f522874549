// Tests: Toft/Migration.swift
import Foundation
import RealmSwift
import Testing

@testable import Toft

// An app in six versions. 1: ages are texts. 2: they are numbers, and people have a number of
// points. 3: the name is called fullName, and indexed. 4: people have an id. 5: a note is required,
// and an address is embedded. 6: notes are removed, and dogs have friends.
private class HiddenObject: Object {
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
private class HiddenPart: EmbeddedObject {
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private enum V1 {
    final class Person: HiddenObject {
        @Persisted var name: String
        @Persisted var age: String
        @Persisted var note: String?
        @Persisted var dogs: List<Dog>
    }
    final class Dog: HiddenObject { @Persisted var name: String }
}

private enum V2 {
    final class Person: HiddenObject {
        @Persisted var name: String
        @Persisted var age: Int
        @Persisted var points = 10
        @Persisted var note: String?
        @Persisted var dogs: List<Dog>
    }
    final class Dog: HiddenObject { @Persisted var name: String }
}

private enum V3 {
    final class Person: HiddenObject {
        @Persisted(indexed: true) var fullName: String
        @Persisted var age: Int
        @Persisted var points = 10
        @Persisted var note: String?
        @Persisted var dogs: List<Dog>
    }
    final class Dog: HiddenObject { @Persisted var name: String }
}

private enum V4 {
    final class Person: HiddenObject {
        @Persisted(primaryKey: true) var id: UUID
        @Persisted(indexed: true) var fullName: String
        @Persisted var age: Int
        @Persisted var points = 10
        @Persisted var note: String?
        @Persisted var dogs: List<Dog>
    }
    final class Dog: HiddenObject { @Persisted var name: String }
}

private enum V5 {
    final class Person: HiddenObject {
        @Persisted(primaryKey: true) var id: UUID
        @Persisted(indexed: true) var fullName: String
        @Persisted var age: Int
        @Persisted var points = 10
        @Persisted var note: String
        @Persisted var dogs: List<Dog>
        @Persisted var address: Address?
    }
    final class Dog: HiddenObject { @Persisted var name: String }
    final class Address: HiddenPart { @Persisted var city: String }
}

private enum V6 {
    final class Person: HiddenObject {
        @Persisted(primaryKey: true) var id: UUID
        @Persisted(indexed: true) var fullName: String
        @Persisted var age: Int
        @Persisted var points = 10
        @Persisted var dogs: List<Dog>
        @Persisted var address: Address?
    }
    final class Dog: HiddenObject {
        @Persisted var name: String
        @Persisted var friends: MutableSet<Dog>
        @Persisted(originProperty: "dogs") var owners: LinkingObjects<Person>
    }
    final class Address: HiddenPart { @Persisted var city: String }
}

@Suite("A history of migrations")
struct MigrationHistoryTests {
    private static let types: [[ObjectBase.Type]] = [
        [V1.Person.self, V1.Dog.self], [V2.Person.self, V2.Dog.self],
        [V3.Person.self, V3.Dog.self], [V4.Person.self, V4.Dog.self],
        [V5.Person.self, V5.Dog.self, V5.Address.self],
        [V6.Person.self, V6.Dog.self, V6.Address.self],
    ]

    /// The one block of the app, from every version to the requested one.
    private static func configuration(_ url: URL, _ version: Int) -> Realm.Configuration {
        Realm.Configuration(
            fileURL: url, schemaVersion: UInt64(version),
            migrationBlock: { migration, old in
                if old < 3, version >= 3 {
                    migration.renameProperty(onType: "Person", from: "name", to: "fullName")
                }
                migration.enumerateObjects(ofType: "Person") { oldObject, newObject in
                    if old < 2 { newObject?["age"] = Int(oldObject?["age"] as? String ?? "") ?? -1 }
                    if old < 5, version == 5 {
                        newObject?["note"] = oldObject?["note"] as? String ?? "none"
                    }
                }
            }, objectTypes: types[version - 1])
    }

    /// Ada, 36, with the dogs Rex and Kim; Bob, whose age is not known.
    private func make(_ url: URL, _ version: Int) throws {
        let realm = try Realm(configuration: Self.configuration(url, version))
        let name = version < 3 ? "name" : "fullName"
        try realm.write {
            let dogs = ["Rex", "Kim"].map { realm.dynamicCreate("Dog", value: ["name": $0]) }
            let people = [
                [name: "Ada", "age": version == 1 ? "36" : 36, "dogs": dogs],
                [name: "Bob", "age": version == 1 ? "?" : -1],
            ]
            for (number, person) in people.enumerated() {
                let given = version < 4 ? person : person.merging(["id": UUID()]) { $1 }
                let made = realm.dynamicCreate("Person", value: given)
                if version > 1 { made["points"] = number == 0 ? 10 : 20 }
            }
        }
    }

    @Test(arguments: 1...6)
    func `A file of each version opens with the newest classes`(_ version: Int) throws {
        try TestRealm.withFolder { folder in
            let url = folder.appendingPathComponent("a.realm")
            try make(url, version)
            #expect(try schemaVersionAtURL(url) == version)
            let realm = try Realm(configuration: Self.configuration(url, 6))
            let people = realm.objects(V6.Person.self)
            // Points came with version 2.
            let expected = version == 1 ? [10, 10] : [10, 20]
            #expect(people.map(\.points) == expected)
            #expect(people.map { "\($0.fullName) \($0.age)" } == ["Ada 36", "Bob -1"])
            #expect(Set(people.map(\.id)).count == 2)
            #expect(people.where { $0.fullName == "Bob" }.count == 1)
            #expect(realm.object(ofType: V6.Person.self, forPrimaryKey: people[1].id) == people[1])
            #expect(people[0].dogs.map(\.name) == ["Rex", "Kim"])
            #expect(realm.objects(V6.Dog.self).map(\.owners.count) == [1, 1])
            try realm.write {
                people[0].dogs[0].friends.insert(people[0].dogs[1])
                people[1].address = V6.Address(value: ["city": "Oslo"])
            }
            #expect(try schemaVersionAtURL(url) == 6)
            try TestRealm.check(realm)
        }
    }

    @Test
    func `A file goes through every version, and its objects stay themselves`() throws {
        try TestRealm.withFolder { folder in
            let url = folder.appendingPathComponent("a.realm")
            try make(url, 1)
            var ids: [UUID] = []
            for version in 2...6 {
                let realm = try Realm(configuration: Self.configuration(url, version))
                if version == 4 { ids = realm.objects(V4.Person.self).map(\.id) }
                if version == 5 {
                    #expect(realm.objects(V5.Person.self).map(\.note) == ["none", "none"])
                }
                if version == 6 { #expect(realm.objects(V6.Person.self).map(\.id) == ids) }
                try TestRealm.check(realm)
                realm.invalidate()
                try realm.session.close()
            }
            #expect(Set(ids).count == 2)
        }
    }
}
