// Tests: Toft/Migration.swift, Realm+DryRun.swift
import Foundation
import RealmSwift
import Synchronization
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

    /// A file that a process and the one that it starts both know.
    private static func sharedFile(_ process: pid_t) -> URL {
        FileManager.default.temporaryDirectory.appendingPathComponent("killed-\(process).realm")
    }

    @Test
    func `A process that is killed in a migration leaves the file as it was`() async throws {
        let url = Self.sharedFile(getpid())
        defer {
            for name in [url.path, url.path + ".lock"] {
                try? FileManager.default.removeItem(atPath: name)
            }
        }
        try autoreleased {
            let realm = try Realm(configuration: old(url))
            try realm.write {
                for number in 0..<500 {
                    realm.add(Old.Person(value: ["name": "Person \(number)", "age": "\(number)"]))
                }
            }
        }
        await #expect(processExitsWith: .signal(SIGKILL)) {
            let block: MigrationBlock = { migration, _ in
                var left = 400
                migration.enumerateObjects(ofType: "Person") { before, after in
                    after?["id"] = left
                    left -= 1
                    if left == 0 { kill(getpid(), SIGKILL) }
                }
            }
            let configuration = Realm.Configuration(
                fileURL: MigrationTests.sharedFile(getppid()), schemaVersion: 2,
                migrationBlock: block, objectTypes: [New.Person.self, New.Dog.self])
            _ = try Realm(configuration: configuration)
        }
        try autoreleased {
            let realm = try Realm(configuration: old(url))
            let people = realm.objects(Old.Person.self)
            #expect(people.count == 500)
            #expect(people.allSatisfy { $0.name == "Person \($0.age)" })
            try TestRealm.check(realm)
        }
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
    func `To open the file again in the block is an error at once`() throws {
        struct Enough: Error {}
        try withOldFile { url in
            let inner = new(url) { _, _ in Issue.record("called") }
            #expect(throws: Enough.self) {
                _ = try Realm(
                    configuration: new(url) { migration, oldVersion in
                        Self.migrate(migration, oldVersion)
                        expectError(.alreadyInTransaction) { try Realm(configuration: inner) }
                        throw Enough()
                    })
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

    private enum Later {
        enum Level: Int, PersistableEnum { case low = 3, high = 4 }

        final class Person: Object {
            @Persisted var name: String
            @Persisted var age: String
            @Persisted var points = 7
            @Persisted(indexed: true) var code = UUID().uuidString
            @Persisted var token: UUID
            @Persisted var since: Date
            @Persisted var level: Level
            @Persisted var rank: Level = .high
            @Persisted var weight: Double? = 1.5
            @Persisted var anything = AnyRealmValue.string("x")
            @Persisted var missing: Int?
            @Persisted var zero: Int
            @Persisted var boss: Person?
            @Persisted var tags: List<String>
            override class func shouldIncludeInDefaultSchema() -> Bool { false }
            override class func propertiesMapping() -> [String: String] { ["points": "score"] }
        }
    }

    @Test(arguments: [true, false])
    func `Objects get the defaults of new properties, as new objects do`(_ migrates: Bool) throws {
        try withOldFile { url in
            let start = Date(timeIntervalSinceNow: -1)
            let realm = try Realm(
                configuration: Realm.Configuration(
                    fileURL: url, schemaVersion: migrates ? 2 : 1,
                    migrationBlock: { migration, _ in
                        migration.enumerateObjects(ofType: "Person") { oldObject, newObject in
                            #expect(newObject?["points"] as? Int == 7)
                            if oldObject?["name"] as? String == "Bob" { newObject?["points"] = 8 }
                        }
                    }, objectTypes: [Later.Person.self]))
            let people = realm.objects(Later.Person.self)
            #expect(people.map(\.name) == ["Ada", "Bob"])
            #expect(people.map(\.points) == [7, migrates ? 8 : 7])
            #expect(people[0].code != people[1].code && people[0].code.count == 36)
            #expect(people[0].token != people[1].token)
            #expect(people.allSatisfy { $0.since > start && $0.since <= Date() })
            #expect(people.map(\.level) == [.low, .low] && people.map(\.rank) == [.high, .high])
            #expect(people.map(\.weight) == [1.5, 1.5])
            #expect(people.map(\.anything) == [.string("x"), .string("x")])
            #expect(people.allSatisfy { $0.missing == nil && $0.zero == 0 && $0.boss == nil })
            #expect(people.allSatisfy { $0.tags.isEmpty })
            let code = people[1].code
            #expect(people.where { $0.code == code }.map(\.name) == ["Bob"])
            try TestRealm.check(realm)
        }
    }

    private enum Turns {
        static let given = Mutex<[Int?]>([])

        static func next() -> Int? {
            given.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        }

        final class Person: Object {
            @Persisted var name: String
            @Persisted var turn: Int? = Turns.next()
            override class func shouldIncludeInDefaultSchema() -> Bool { false }
        }
    }

    @Test
    func `A default that is nil for one object is asked for the others`() throws {
        try withOldFile { url in
            // The class examines an instance, once.
            _ = ModelClass.of(Turns.Person.self)
            Turns.given.withLock { $0 = [nil, 5] }
            let realm = try Realm(
                configuration: Realm.Configuration(
                    fileURL: url, schemaVersion: 1, objectTypes: [Turns.Person.self]))
            #expect(realm.objects(Turns.Person.self).map(\.turn) == [nil, 5])
            try TestRealm.check(realm)
        }
    }

    @Test
    func `A dry run tells what an opening would change and changes nothing`() throws {
        struct Enough: Error {}
        try withOldFile { url in
            #expect(try Realm.dryRun(of: old(url)) == [])
            let changes = try Realm.dryRun(of: new(url, Self.migrate))
            #expect(
                changes.map(\.description) == [
                    "class 'Person' has the primary key 'id'",
                    "property 'Person.fullName' has a new name, it was 'name'",
                    "property 'Person.fullName' is indexed",
                    "property 'Person.id' is added: int",
                    "property 'Person.age' is int, was string",
                    "class 'Cat' is added",
                ])
            #expect(changes.map(\.kind).last == .classAdded)
            #expect(changes[1].className == "Person" && changes[1].propertyName == "fullName")
            expectError(.schemaMismatch) { try Realm.dryRun(of: new(url, nil)) }
            expectError(.duplicatePrimaryKey) { try Realm.dryRun(of: new(url) { _, _ in }) }
            #expect(throws: Enough.self) {
                try Realm.dryRun(of: new(url) { _, _ in throw Enough() })
            }
            #expect(try schemaVersionAtURL(url) == 1)
            try expectOld(url)
            let missing = url.appendingPathExtension("no")
            expectError(.fileNotFound) { try Realm.dryRun(of: old(missing)) }
        }
    }

    @Test
    func `A migration tells how far its indexes and defaults are`() throws {
        try withOldFile { url in
            let told = Mutex<[Int]>([])
            var configuration = new(url, Self.migrate)
            configuration.progress = { done, total in
                #expect(done <= total)
                told.withLock { $0.append(total) }
            }
            try autoreleased { _ = try Realm(configuration: configuration) }
            #expect(told.withLock { !$0.isEmpty })
        }
    }

    /// Dogs are embedded in their owner; a dog without one has a kennel.
    private enum Embedded {
        final class Dog: EmbeddedObject {
            @Persisted var name: String
            override class func shouldIncludeInDefaultSchema() -> Bool { false }
        }
        final class Person: Object {
            @Persisted var name: String
            @Persisted var age: String
            @Persisted var dogs: List<Dog>
            override class func shouldIncludeInDefaultSchema() -> Bool { false }
        }
    }

    private func embedded(_ url: URL, _ block: MigrationBlock?) -> Realm.Configuration {
        Realm.Configuration(
            fileURL: url, schemaVersion: 2, migrationBlock: block,
            objectTypes: [Embedded.Dog.self, Embedded.Person.self])
    }

    @Test
    func `A class becomes embedded in a block that gives each object an owner`() throws {
        try withOldFile { url in
            expectError(.schemaMismatch) {
                var configuration = embedded(url, nil)
                configuration.schemaVersion = 1
                return try Realm(configuration: configuration)
            }
            // Rex has no owner that the new classes know.
            expectError(.schemaMismatch) { try Realm(configuration: embedded(url) { _, _ in }) }
            try expectOld(url)
            let migrate: MigrationBlock = { migration, _ in
                migration.create("Dog", value: ["name": "Lost"])
                var dogs: [String: [MigrationObject]] = [:]
                migration.enumerateObjects(ofType: "Dog") { oldDog, newDog in
                    guard let newDog, let oldDog else { return }
                    let owner = oldDog["owner"] as? MigrationObject
                    dogs[owner?["name"] as? String ?? "", default: []].append(newDog)
                }
                migration.enumerateObjects(ofType: "Person") { _, newPerson in
                    let name = newPerson?["name"] as? String ?? ""
                    for dog in dogs[name] ?? [] { newPerson?.dynamicList("dogs").append(dog) }
                }
            }
            // The dog that was created has no owner.
            expectError(.schemaMismatch) { try Realm(configuration: embedded(url, migrate)) }
            try expectOld(url)
            try autoreleased {
                var configuration = embedded(url, migrate)
                configuration.automaticallyHandleBacklinksInMigrations = true
                let told = try Realm.dryRun(of: configuration).map(\.description)
                #expect(told.contains("class 'Dog' is embedded"))
                let realm = try Realm(configuration: configuration)
                let ada = try #require(realm.objects(Embedded.Person.self).first)
                #expect(ada.dogs.map(\.name) == ["Rex"])
                #expect(realm.schema["Dog"]?.isEmbedded == true)
                try realm.write {
                    ada.dogs.append(Embedded.Dog(value: ["name": "Fido"]))
                    #expect(realm.dynamicObjects("Dog").count == 2)
                    realm.delete(ada)
                    #expect(realm.dynamicObjects("Dog").count == 0)
                }
                try TestRealm.check(realm)
            }
        }
    }

    @Test
    func `An object with several owners is copied where that is wanted`() throws {
        enum Free {
            final class Dog: Object {
                @Persisted var name: String
                override class func shouldIncludeInDefaultSchema() -> Bool { false }
            }
            final class Person: Object {
                @Persisted var name: String
                @Persisted var age: String
                @Persisted var dogs: List<Dog>
                override class func shouldIncludeInDefaultSchema() -> Bool { false }
            }
        }
        func free(_ url: URL, _ version: UInt64) -> Realm.Configuration {
            Realm.Configuration(
                fileURL: url, schemaVersion: version,
                objectTypes: [Free.Dog.self, Free.Person.self])
        }
        try TestRealm.withFolder { folder in
            let url = folder.appendingPathComponent("a.realm")
            try autoreleased {
                let realm = try Realm(configuration: free(url, 1))
                try realm.write {
                    let rex = Free.Dog(value: ["name": "Rex"])
                    for name in ["Ada", "Bob"] {
                        let dogs = name == "Ada" ? [rex, rex] : [rex]
                        realm.add(
                            Free.Person(value: ["name": name, "age": "7", "dogs": dogs]))
                    }
                    realm.create(Free.Dog.self, value: ["name": "Lost"])
                }
            }
            expectError(.schemaMismatch) { try Realm(configuration: embedded(url, nil)) }
            // No block is needed, but the higher version is.
            try autoreleased {
                var configuration = embedded(url, nil)
                configuration.automaticallyHandleBacklinksInMigrations = true
                let realm = try Realm(configuration: configuration)
                let people = realm.objects(Embedded.Person.self)
                #expect(people.map { $0.dogs.map(\.name) } == [["Rex", "Rex"], ["Rex"]])
                try realm.write { people[0].dogs[0].name = "Max" }
                #expect(people.map { $0.dogs.map(\.name) } == [["Max", "Rex"], ["Rex"]])
                #expect(realm.dynamicObjects("Dog").count == 3)
                try TestRealm.check(realm)
            }
            // And back: the dogs stay, and can be shared.
            try autoreleased {
                let realm = try Realm(configuration: free(url, 3))
                let people = realm.objects(Free.Person.self)
                try realm.write {
                    people[1].dogs.append(people[0].dogs[0])
                    realm.delete(people[0])
                }
                #expect(realm.objects(Free.Dog.self).map(\.name).sorted() == ["Max", "Rex", "Rex"])
                #expect(people[0].dogs.map(\.name) == ["Rex", "Max"])
                try TestRealm.check(realm)
            }
        }
    }

    @Test
    func `What a migration leaves out is gone, and comes back empty`() throws {
        enum Short {
            final class Person: Object {
                @Persisted var name: String
                override class func shouldIncludeInDefaultSchema() -> Bool { false }
            }
        }
        try withOldFile { url in
            try autoreleased {
                _ = try Realm(
                    configuration: Realm.Configuration(
                        fileURL: url, schemaVersion: 2, migrationBlock: { _, _ in },
                        objectTypes: [Short.Person.self]))
            }
            var again = old(url)
            again.schemaVersion = 3
            let realm = try Realm(configuration: again)
            #expect(
                realm.objects(Old.Person.self).map { "\($0.name) '\($0.age)'" } == [
                    "Ada ''", "Bob ''",
                ])
            try TestRealm.check(realm)
        }
    }

    @Test
    func `A class that is not declared any more stays until its data is deleted`() throws {
        try withOldFile { url in
            func open(_ version: UInt64, _ types: [ObjectBase.Type], deleting gone: String? = nil)
                throws -> Realm
            {
                try Realm(
                    configuration: Realm.Configuration(
                        fileURL: url, schemaVersion: version,
                        migrationBlock: { migration, _ in
                            if let gone { #expect(migration.deleteData(forType: gone)) }
                        }, objectTypes: types))
            }
            try autoreleased { _ = try open(2, [Old.Person.self]) }
            try autoreleased {
                let realm = try open(3, [Old.Person.self, Old.Dog.self])
                #expect(realm.objects(Old.Dog.self).first?.owner?.name == "Ada")
                try TestRealm.check(realm)
            }
            try autoreleased { _ = try open(4, [Old.Person.self], deleting: "Dog") }
            let realm = try open(5, [Old.Person.self, Old.Dog.self])
            #expect(realm.objects(Old.Dog.self).isEmpty)
            #expect(realm.objects(Old.Person.self).count == 2)
            try TestRealm.check(realm)
        }
    }

    @Test
    func `An optional property that becomes required is a new one`() throws {
        enum Loose {
            final class Note: Object {
                @Persisted var text: String?
                override class func shouldIncludeInDefaultSchema() -> Bool { false }
            }
        }
        enum Strict {
            final class Note: Object {
                @Persisted var text: String
                override class func shouldIncludeInDefaultSchema() -> Bool { false }
            }
        }
        try TestRealm.withFolder { folder in
            let url = folder.appendingPathComponent("a.realm")
            func open(_ version: UInt64, _ type: ObjectBase.Type, _ block: MigrationBlock? = nil)
                throws -> Realm
            {
                try Realm(
                    configuration: Realm.Configuration(
                        fileURL: url, schemaVersion: version, migrationBlock: block,
                        objectTypes: [type]))
            }
            try autoreleased {
                let realm = try open(1, Loose.Note.self)
                try realm.write { realm.add(Loose.Note(value: ["text": "kept"])) }
            }
            #expect(throws: Realm.Error.self) { try open(2, Strict.Note.self) }
            try autoreleased {
                let realm = try open(1, Loose.Note.self)
                #expect(realm.objects(Loose.Note.self).first?.text == "kept")
            }
            let realm = try open(2, Strict.Note.self) { _, _ in }
            #expect(realm.objects(Strict.Note.self).map(\.text) == [""])
            try TestRealm.check(realm)
        }
    }

    @Test
    func `A property can be renamed by a name for the meantime`() throws {
        try withOldFile { url in
            let realm = try Realm(
                configuration: new(url) { migration, oldVersion in
                    migration.renameProperty(onType: "Person", from: "name", to: "title")
                    migration.renameProperty(onType: "Person", from: "title", to: "fullName")
                    var next = 0
                    migration.enumerateObjects(ofType: "Person") { _, newObject in
                        newObject?["id"] = next
                        next += 1
                    }
                })
            #expect(realm.objects(New.Person.self).map(\.fullName) == ["Ada", "Bob"])
            try TestRealm.check(realm)
        }
    }

    @Test
    func `A class is renamed with its objects and links`() throws {
        enum Renamed {
            final class Human: Object {
                @Persisted var name: String
                override class func shouldIncludeInDefaultSchema() -> Bool { false }
            }
            final class Dog: Object {
                @Persisted var name: String
                @Persisted var owner: Human?
                override class func shouldIncludeInDefaultSchema() -> Bool { false }
            }
        }
        func configuration(_ url: URL, _ block: @escaping MigrationBlock) -> Realm.Configuration {
            Realm.Configuration(
                fileURL: url, schemaVersion: 2, migrationBlock: block,
                objectTypes: [Renamed.Human.self, Renamed.Dog.self])
        }
        try withOldFile { url in
            expectError(.invalidArgument) {
                try Realm(
                    configuration: configuration(url) { migration, _ in
                        migration.enumerateObjects(ofType: "Dog") { _, _ in }
                        migration.renameClass(from: "Person", to: "Human")
                    })
            }
            try expectOld(url)
            let realm = try Realm(
                configuration: configuration(url) { migration, _ in
                    migration.renameClass(from: "Person", to: "Human")
                    #expect(migration.newSchema["Human"] != nil)
                    migration.enumerateObjects(ofType: "Human") { oldObject, newObject in
                        #expect(oldObject?["name"] as? String == newObject?["name"] as? String)
                    }
                })
            #expect(realm.objects(Renamed.Human.self).map(\.name) == ["Ada", "Bob"])
            #expect(realm.objects(Renamed.Dog.self).first?.owner?.name == "Ada")
            try TestRealm.check(realm)
        }
    }

    @Test
    func `A realm with the old classes stays where it is and says what to do`() throws {
        try withOldFile { url in
            let realm = try Realm(configuration: old(url))
            let people = realm.objects(Old.Person.self)
            #expect(people.count == 2)
            let moved = Result {
                try elsewhere { try Realm(configuration: new(url, Self.migrate)).isEmpty }
            }
            #expect(try moved.get() == false)
            expectError(.schemaMismatch) { try realm.write {} }
            #expect(people.map(\.age) == ["36", "seven"])
        }
    }

    @Test
    func `A file that is open elsewhere is not deleted for its classes`() throws {
        try withOldFile { url in
            let realm = try Realm(configuration: old(url))
            var configuration = new(url, nil)
            configuration.deleteRealmIfMigrationNeeded = true
            let refused = Result {
                try elsewhere { [configuration] in try Realm(configuration: configuration).isEmpty }
            }
            #expect(throws: Realm.Error.self) { try refused.get() }
            #expect(realm.objects(Old.Person.self).count == 2)
            configuration.readOnly = true
            configuration.schemaVersion = 1
            let both = Result {
                try elsewhere { [configuration] in try Realm(configuration: configuration).isEmpty }
            }
            #expect(throws: Realm.Error.self) { try both.get() }
        }
    }

    @Test
    func `An object that a migration creates has the defaults of its class`() throws {
        try TestRealm.withFolder { folder in
            let url = folder.appendingPathComponent("cats.realm")
            let types: [ObjectBase.Type] = [Cat.self]
            do {
                let configuration = Realm.Configuration(fileURL: url, objectTypes: types)
                let realm = try Realm(configuration: configuration)
                try realm.write { realm.add(Cat("Tom", .wild, .novice)) }
            }
            let realm = try Realm(
                configuration: Realm.Configuration(
                    fileURL: url, schemaVersion: 1,
                    migrationBlock: { migration, _ in
                        // The friend exists: a property that is not given stays.
                        let tom = ["name": "Tom"]
                        migration.create("Cat", value: ["name": "Kim", "friend": tom])
                        migration.create("Cat", value: ["name": "Lea", "rank": 10])
                    }, objectTypes: types))
            let cats = realm.objects(Cat.self).sorted(byKeyPath: "name")
            #expect(cats.map(\.name) == ["Kim", "Lea", "Tom"])
            #expect(cats.map(\.rank) == [.expert, .master, .novice])
            #expect(cats.map(\.mood) == [.calm, .calm, .wild])
        }
    }
}
