import Foundation
import RealmSwift
import Testing

@testable import Toft

/// Ages were texts and are numbers; the name is called fullName; a person has a number.
private enum Old {
    final class Person: Object {
        @Persisted var name: String
        @Persisted var age: String
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }
    final class Dog: Object {
        @Persisted var name: String
        @Persisted var owner: Person?
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }
}

private enum New {
    final class Person: Object {
        @Persisted(primaryKey: true) var id: Int
        @Persisted(indexed: true) var fullName: String
        @Persisted var age: Int
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }
    final class Dog: Object {
        @Persisted var name: String
        @Persisted var owner: Person?
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }
    final class Cat: Object {
        @Persisted var name: String
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }
}

@Suite("Migrations")
struct MigrationTests {
    private func withOldFile(_ body: (URL) throws -> Void) throws {
        try TestRealm.withFolder { folder in
            let url = folder.appendingPathComponent("a.realm")
            try autoreleased {
                let realm = try Realm(configuration: old(url))
                try realm.write {
                    let ada = Old.Person(value: ["name": "Ada", "age": "36"])
                    realm.add(ada)
                    realm.add(Old.Person(value: ["name": "Bob", "age": "seven"]))
                    realm.add(Old.Dog(value: ["name": "Rex", "owner": ada]))
                }
            }
            try body(url)
        }
    }

    private func autoreleased(_ block: () throws -> Void) throws {
        try block()
    }

    private func old(_ url: URL) -> Realm.Configuration {
        Realm.Configuration(
            fileURL: url, schemaVersion: 1, objectTypes: [Old.Person.self, Old.Dog.self])
    }

    private func new(_ url: URL, _ block: MigrationBlock?) -> Realm.Configuration {
        Realm.Configuration(
            fileURL: url, schemaVersion: 2, migrationBlock: block,
            objectTypes: [New.Person.self, New.Dog.self, New.Cat.self])
    }

    @Sendable private static func migrate(_ migration: Migration, _ oldVersion: UInt64) {
        if oldVersion < 2 {
            migration.renameProperty(onType: "Person", from: "name", to: "fullName")
            var next = 100
            migration.enumerateObjects(ofType: "Person") { oldObject, newObject in
                let age = oldObject?["age"] as? String ?? ""
                newObject?["age"] = Int(age) ?? -1
                newObject?["id"] = next
                next += 1
            }
        }
    }

    private func expectOld(_ url: URL) throws {
        try autoreleased {
            let realm = try Realm(configuration: old(url))
            #expect(
                realm.objects(Old.Person.self).map { "\($0.name) \($0.age)" } == [
                    "Ada 36", "Bob seven",
                ])
            #expect(realm.objects(Old.Dog.self).first?.owner?.name == "Ada")
            try TestRealm.check(realm)
        }
    }

    @Test
    func `A block renames, converts and numbers, and links stay`() throws {
        try withOldFile { url in
            #expect(try schemaVersionAtURL(url) == 1)
            let realm = try Realm(configuration: new(url, Self.migrate))
            let people = realm.objects(New.Person.self)
            #expect(
                people.map { "\($0.id) \($0.fullName) \($0.age)" } == ["100 Ada 36", "101 Bob -1"])
            #expect(realm.object(ofType: New.Person.self, forPrimaryKey: 101)?.fullName == "Bob")
            #expect(realm.objects(New.Dog.self).first?.owner?.id == 100)
            #expect(people.where { $0.fullName == "Bob" }.count == 1)
            #expect(try schemaVersionAtURL(url) == 2)
            try TestRealm.check(realm)
        }
    }

    @Test
    func `Objects are created and deleted, classes emptied, schemas shown`() throws {
        try withOldFile { url in
            let realm = try Realm(
                configuration: new(url) { migration, oldVersion in
                    Self.migrate(migration, oldVersion)
                    #expect(oldVersion == 1)
                    #expect(
                        migration.oldSchema.objectSchema.map(\.className).sorted() == [
                            "Dog", "Person",
                        ])
                    #expect(migration.newSchema["Cat"] != nil)
                    #expect(migration.oldSchema["Person"]?["name"]?.type == .string)
                    let tom = migration.create("Cat", value: ["name": "Tom"])
                    migration.create("Cat", value: ["name": "Kit"])
                    #expect(tom.name as? String == "Tom")
                    var names: [String] = []
                    migration.enumerateObjects(ofType: "Cat") { oldObject, newObject in
                        #expect(oldObject == nil)
                        names.append(newObject?["name"] as? String ?? "")
                    }
                    #expect(names == ["Tom", "Kit"])
                    migration.enumerateObjects(ofType: "Person") { oldObject, newObject in
                        guard oldObject?["name"] as? String == "Bob", let newObject else { return }
                        migration.delete(newObject)
                    }
                    #expect(migration.deleteData(forType: "Dog"))
                    #expect(!migration.deleteData(forType: "Cow"))
                })
            #expect(realm.objects(New.Person.self).map(\.fullName) == ["Ada"])
            #expect(realm.objects(New.Cat.self).count == 2)
            #expect(realm.objects(New.Dog.self).isEmpty)
            try TestRealm.check(realm)
        }
    }

    @Test
    func `What the block throws, and misuse in it, leaves the file as it was`() throws {
        struct Enough: Error {}
        try withOldFile { url in
            #expect(throws: Enough.self) {
                _ = try Realm(
                    configuration: new(url) { migration, oldVersion in
                        Self.migrate(migration, oldVersion)
                        throw Enough()
                    })
            }
            try expectOld(url)
            expectError(.invalidArgument) {
                try Realm(
                    configuration: new(url) { migration, oldVersion in
                        Self.migrate(migration, oldVersion)
                        migration.renameProperty(onType: "Person", from: "nom", to: "fullName")
                    })
            }
            expectError(.duplicatePrimaryKey) {
                try Realm(configuration: new(url) { _, _ in })
            }
            try expectOld(url)
        }
    }

    @Test
    func `Without a block, or with one that is not due, nothing is migrated`() throws {
        try withOldFile { url in
            expectError(.schemaMismatch) { try Realm(configuration: new(url, nil)) }
            try expectOld(url)
            var configuration = old(url)
            configuration.migrationBlock = { _, _ in Issue.record("called") }
            try autoreleased { _ = try Realm(configuration: configuration) }
            configuration.fileURL = url.appendingPathExtension("new")
            try autoreleased { _ = try Realm(configuration: configuration) }
            #expect(try schemaVersionAtURL(url.appendingPathExtension("new")) == 1)
            expectError(.fileNotFound) { try schemaVersionAtURL(url.appendingPathExtension("no")) }
        }
    }

    @Test
    func `A migration is performed by itself while nobody has the file open`() throws {
        try withOldFile { url in
            try autoreleased {
                let realm = try Realm(configuration: old(url))
                expectError(.alreadyOpen) {
                    try Realm.performMigration(for: new(url, Self.migrate))
                }
                #expect(!realm.isEmpty)
            }
            try Realm.performMigration(for: new(url, Self.migrate))
            #expect(try schemaVersionAtURL(url) == 2)
        }
    }
}
