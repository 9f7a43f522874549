// Tests: ToftEngine/Configuration.swift, Database.swift, Database+Files.swift,
// EngineError+Model.swift, Initialization.swift, Notifier.swift, SchemaDifference.swift,
// Session+Database.swift, SessionOptions.swift, ThreadToken.swift
import Foundation
import Testing
import ToftModel
import ToftPlatform
import ToftStorage
import ToftTestKit
@testable import ToftEngine

/// The changes that an opening would make, reported without making them.
@Suite struct DryRunTests {
    private static let person = ClassSchema(
        "Person",
        [
            PropertySchema("name", .string), PropertySchema("age", .string),
            PropertySchema("note", .string, isOptional: true), .link("dog", to: "Dog"),
        ])
    private static let dog = ClassSchema("Dog", [PropertySchema("name", .string, isIndexed: true)])
    private static let part = ClassSchema(
        "Part", isEmbedded: true, [PropertySchema("name", .string)])

    private static func configuration(
        _ path: String, _ classes: [ClassSchema], _ version: UInt64? = nil,
        _ migration: Migration.Handler? = nil
    ) -> Configuration {
        var configuration = Configuration(
            location: .file(path: path), schema: Schema(classes), schemaVersion: version)
        configuration.migration = migration
        return configuration
    }

    /// Two people of the same name, in a file of version 1.
    private static func withFile(_ body: (String) throws -> Void) throws {
        try withTemporaryDatabase { file in
            let session = try Session.open(configuration(file.path, [person, dog, part], 1))
            try session.beginWrite()
            let owner = try session.classHandle(named: "Person")
            let name = try model { () throws(ModelError) in try owner.property(named: "name").id }
            for _ in 0..<2 { try session.create(owner.id, [(name, .string("Ada"))]) }
            try session.commit()
            try session.close()
            let before = try StoredSchema.read(of: file.path)
            try body(file.path)
            #expect(try StoredSchema.read(of: file.path) == before)
            let after = try Session.open(Configuration(location: .file(path: file.path)))
            #expect(try after.count(of: owner.id) == 2)
            #expect(try after.checkEverything().problems == [])
        }
    }

    private static func changes(
        _ path: String, _ classes: [ClassSchema], _ version: UInt64? = nil,
        _ migration: Migration.Handler? = nil
    ) throws(EngineError) -> [String] {
        try Migration.dryRun(configuration(path, classes, version, migration)).map(\.description)
    }

    @Test func `A file that fits would not change`() throws {
        try Self.withFile { path in
            let changes = try Self.changes(path, [Self.person, Self.dog, Self.part], 1)
            #expect(changes == [])
        }
    }

    @Test func `What a program does not declare is told, whatever the version`() throws {
        try Self.withFile { path in
            let hidden = [
                "class 'Person' is hidden, its objects stay",
                "class 'Part' is hidden, its objects stay",
            ]
            for version in [nil, 1, 2] as [UInt64?] {
                let found = try Self.changes(path, [Self.dog], version)
                #expect(found == hidden)
            }
            let migrated = try Self.changes(path, [Self.dog], 2) { _ in }
            #expect(migrated == hidden)
            var reading = Self.configuration(path, [Self.dog])
            reading.mode = .readOnly
            #expect(try Migration.dryRun(reading).map(\.description) == hidden)
        }
    }

    /// A name was changed in the program without a migration that says so: the values were hidden,
    /// and nothing reported it.
    @Test func `Where something new may be what is gone, the question is asked`() throws {
        try Self.withFile { path in
            var person = Self.person
            person.properties[0] = PropertySchema("fullName", .string, isOptional: true)
            person.properties[2] = PropertySchema("my_note", .string, isOptional: true)
            person.properties.append(PropertySchema("size", .int))
            let hound = ClassSchema("Hound", Self.dog.properties)
            person.properties[3].target = "Hound"
            let asked = { (what: String, name: String) in
                "\(what). Did you rename it to '\(name)'? Rename it in a migration then"
            }
            // The link leads to another class, so it is refused without a migration.
            person.properties.remove(at: 3)
            let found = try Self.changes(path, [person, hound, Self.part])
            #expect(
                found == [
                    asked("property 'Person.name' is hidden, its values stay", "fullName"),
                    asked("property 'Person.note' is hidden, its values stay", "my_note"),
                    "property 'Person.dog' is hidden, its values stay",
                    "property 'Person.fullName' is added: optional string",
                    "property 'Person.my_note' is added: optional string",
                    "property 'Person.size' is added: int",
                    asked("class 'Dog' is hidden, its objects stay", "Hound"),
                    "class 'Hound' is added",
                ])
            let migrated = try Self.changes(path, [person, hound, Self.part], 2) { _ in }
            #expect(
                migrated.contains(
                    asked("property 'Person.note' is removed with its values", "my_note")))
            // A program that declares the renaming is not asked for it.
            let renamed = try Self.changes(path, [person, hound, Self.part], 2) {
                migration throws(EngineError) in
                try migration.renameClass("Dog", to: "Hound")
                try migration.renameProperty("Person", "name", to: "fullName")
                try migration.renameProperty("Person", "note", to: "my_note")
            }
            #expect(!renamed.contains { $0.contains("Did you") })
        }
    }

    @Test func `What an opening adds is told`() throws {
        try Self.withFile { path in
            var person = Self.person
            person.properties[0].isOptional = true
            person.properties.append(PropertySchema("id", .int, isIndexed: true))
            var dog = Self.dog
            dog.properties[0].isIndexed = false
            dog.properties.append(.linkingObjects("people", from: "Person", "dog"))
            let cat = ClassSchema("Cat", [PropertySchema("name", .string)])
            let changes = try Self.changes(path, [person, dog, cat])
            #expect(
                changes == [
                    "property 'Person.name' is optional now", "property 'Person.id' is added: int",
                    "property 'Dog.name' is no longer indexed",
                    "property 'Dog.people' is added: inverse link",
                    "class 'Part' is hidden, its objects stay. Did you rename it to 'Cat'? Rename "
                        + "it in a migration then",
                    "class 'Cat' is added",
                ])
        }
    }

    @Test func `What a migration makes is told, and its handler has run`() throws {
        try Self.withFile { path in
            let classes = [
                ClassSchema(
                    "Person",
                    [
                        PropertySchema("id", .int, isPrimaryKey: true),
                        PropertySchema("fullName", .string), PropertySchema("age", .int),
                        .link("dog", to: "Hound"),
                    ], uniques: [["fullName", "age"]]),
                ClassSchema("Hound", Self.dog.properties),
            ]
            let migrate: Migration.Handler = { migration throws(EngineError) in
                try migration.renameClass("Dog", to: "Hound")
                try migration.renameProperty("Person", "name", to: "fullName")
                try migration.deleteData("Part")
                var number: Int64 = 0
                try migration.enumerate("Person") { _, after throws(EngineError) in
                    guard let after else { return }
                    number += 1
                    for name in ["id", "age"] {
                        let id = try model { () throws(ModelError) in
                            try after.owner.property(named: name).id
                        }
                        try after.set(id, Value.int(number))
                    }
                }
            }
            let changes = try Self.changes(path, classes, 2, migrate)
            #expect(
                changes == [
                    "class 'Person' has the primary key 'id'",
                    "class 'Person' has properties that are unique: fullName, age",
                    "property 'Person.fullName' has a new name, it was 'name'",
                    "property 'Person.id' is added: int",
                    "property 'Person.age' is int, was string",
                    "property 'Person.note' is removed with its values",
                    "class 'Hound' has a new name, it was 'Dog'",
                    "class 'Part' is deleted with its objects",
                ])
            // Without its changes of values, as the opening would be.
            #expect(
                code { () throws(EngineError) in _ = try Self.changes(path, classes, 2) { _ in } }
                    == .duplicatePrimaryKey)
        }
    }

    @Test func `What would be refused is refused with the same error`() throws {
        try Self.withFile { path in
            var changed = Self.person
            changed.properties[1].type = .int
            // Embedded objects need owners, which the people have not.
            var embedded = Self.person
            embedded.isEmbedded = true
            var keyed = Self.person
            keyed.properties[0].isPrimaryKey = true
            let nothing: Migration.Handler = { _ in }
            let fail: Migration.Handler = { _ throws(EngineError) in
                throw EngineError(.overflow, "enough")
            }
            let cases: [([ClassSchema], UInt64, Migration.Handler?)] = [
                ([changed, Self.dog], 2, nil), ([changed, Self.dog], 1, nothing),
                ([embedded, Self.dog], 2, nothing), ([embedded, Self.dog], 2, nil),
                ([embedded, Self.dog], 1, nil), ([Self.dog], 0, nil),
                ([keyed, Self.dog], 2, nothing), ([Self.dog], 2, fail),
            ]
            for (classes, version, migration) in cases {
                let expected = code { () throws(EngineError) in
                    _ = try Session.open(Self.configuration(path, classes, version, migration))
                }
                #expect(expected != nil)
                #expect(
                    code { () throws(EngineError) in
                        _ = try Self.changes(path, classes, version, migration)
                    } == expected)
            }
            #expect(
                code { () throws(EngineError) in _ = try Self.changes(path + "x", []) }
                    == .fileNotFound)
            #expect(
                code { () throws(EngineError) in
                    _ = try Migration.dryRun(Configuration(location: .file(path: path)))
                } == .invalidArgument)
        }
    }

    @Test func `Classes that become embedded, or are not any more, are told`() throws {
        try Self.withFile { path in
            var (person, dog, part) = (Self.person, Self.dog, Self.part)
            dog.isEmbedded = true
            part.isEmbedded = false
            let told = ["class 'Dog' is embedded", "class 'Part' is no longer embedded"]
            for migration in [nil, { _ in }] as [Migration.Handler?] {
                let found = try Self.changes(path, [person, dog, part], 2, migration)
                #expect(found == told)
            }
            person.isEmbedded = true
            var configuration = Self.configuration(path, [person, dog, part], 2)
            configuration.handlesBacklinksInMigrations = true
            let found = try Migration.dryRun(configuration).map(\.description)
            #expect(found.first == "class 'Person' is embedded")
        }
    }

    @Test func `With a higher version what is not declared is hidden, and shown again`() throws {
        try withTemporaryDatabase { file in
            let classes = [Self.person, Self.dog]
            try Session.open(Self.configuration(file.path, classes, 1)).close()
            var person = Self.person
            person.properties.remove(at: 2)
            person.properties.remove(at: 2)
            #expect(
                try Self.changes(file.path, [person], 2) == [
                    "property 'Person.note' is hidden, its values stay",
                    "property 'Person.dog' is hidden, its values stay",
                    "class 'Dog' is hidden, its objects stay",
                ])
            try Session.open(Self.configuration(file.path, [person], 2)).close()
            #expect(
                try Self.changes(file.path, classes) == [
                    "property 'Person.note' is shown again", "property 'Person.dog' is shown again",
                    "class 'Dog' is shown again",
                ])
        }
    }
}

extension StoredSchema {
    fileprivate static func read(of path: String) throws -> StoredSchema {
        var configuration = StoreConfiguration(location: .file(path: path))
        configuration.isReadOnly = true
        let store = try Store.open(configuration)
        let snapshot = try store.beginRead()
        defer { snapshot.release() }
        return try read(snapshot)
    }
}

/// Deletion of files, and of those that do not fit at an opening.
@Suite struct FileDeletionTests {
    private func schema(_ type: PropertyType) -> Schema {
        Schema([ClassSchema("Note", [PropertySchema("text", type)])])
    }

    @Test func `A file is deleted when nobody has it open`() throws {
        try withTemporaryDatabase { file in
            #expect(try !Database.delete(file.path + "x"))
            let session = try Session.open(
                Configuration(location: .file(path: file.path), schema: schema(.int)))
            #expect(
                code { () throws(EngineError) in _ = try Database.delete(file.path) }
                    == .alreadyOpen)
            let reader = try Session.open(
                Configuration(location: .file(path: file.path), mode: .readOnly))
            try session.close()
            #expect(
                code { () throws(EngineError) in _ = try Database.delete(file.path) }
                    == .alreadyOpen)
            try reader.close()
            #expect(try Database.delete(file.path))
            #expect(try !Database.delete(file.path))
            try Session.open(Configuration(location: .file(path: file.path), schema: schema(.int)))
                .close()
        }
    }

    @Test func `Only a database is deleted, a damaged one too`() throws {
        try withTemporaryDatabase { file in
            func write(_ bytes: [UInt8]) throws {
                try Data(bytes).write(to: URL(fileURLWithPath: file.path))
            }
            func refusal() -> ErrorCode? {
                code { () throws(EngineError) in _ = try Database.delete(file.path) }
            }
            for foreign in [
                Array("hello".utf8), [UInt8](repeating: 0, count: 50_000),
                Array("SQLite format 3\0".utf8) + [UInt8](repeating: 7, count: 50_000),
            ] {
                try write(foreign)
                #expect(refusal() == .notADatabase)
                let kept = try Data(contentsOf: URL(fileURLWithPath: file.path))
                #expect(Array(kept) == foreign)
            }
            try FileManager.default.removeItem(atPath: file.path)
            let session = try Session.open(
                Configuration(location: .file(path: file.path), schema: schema(.int)))
            try session.close()
            let whole = Array(try Data(contentsOf: URL(fileURLWithPath: file.path)))
            let damaged: [[UInt8]] = [
                whole, Array(whole[..<5_000]),
                // Its first meta is lost; both are.
                [UInt8](repeating: 0, count: 4_096) + whole[4_096...],
                [UInt8](repeating: 0, count: 8_192) + whole[8_192...],
                [],
            ]
            for bytes in damaged {
                try write(bytes)
                #expect(try Database.delete(file.path))
                #expect(try !Database.delete(file.path))
            }
        }
    }

    @Test func `A file that does not fit is made anew where that is wanted and nobody has it open`()
        throws
    {
        try withTemporaryDatabase { file in
            let old = Configuration(
                location: .file(path: file.path), schema: schema(.int), schemaVersion: 3)
            let session = try Session.open(old)
            var new = old
            new.schema = schema(.string)
            new.deletesIfMigrationNeeded = true
            #expect(code { () throws(EngineError) in _ = try Session.open(new) } == .alreadyOpen)
            try session.close()
            new.deletesIfMigrationNeeded = false
            #expect(code { () throws(EngineError) in _ = try Session.open(new) } == .schemaMismatch)
            #expect(try Database.schemaVersion(of: file.path) == 3)
            new.deletesIfMigrationNeeded = true
            new.schemaVersion = 4
            let made = try Session.open(new)
            #expect(try made.schemaVersion == 4)
            #expect(made.schema.visibleClasses.first?.visibleProperties.first?.type == .string)
            #expect(try made.checkEverything().problems == [])
            // A file that fits stays.
            try made.beginWrite()
            try made.create(made.classHandle(named: "Note").id, [])
            try made.commit()
            let again = try Session.open(new)
            #expect(try again.count(of: again.classHandle(named: "Note").id) == 1)
            // A file of a later version is not a mismatch.
            new.schemaVersion = 3
            #expect(
                code { () throws(EngineError) in _ = try Session.open(new) } == .schemaVersionTooLow
            )
        }
    }

    @Test func `Reading only excludes deletion and compaction`() throws {
        try withTemporaryDatabase { file in
            try Session.open(Configuration(location: .file(path: file.path), schema: schema(.int)))
                .close()
            var configuration = Configuration(location: .file(path: file.path), mode: .readOnly)
            try Session.open(configuration).close()
            configuration.deletesIfMigrationNeeded = true
            #expect(
                code { () throws(EngineError) in _ = try Session.open(configuration) }
                    == .invalidArgument)
            configuration.deletesIfMigrationNeeded = false
            configuration.compacts = { _, _ in false }
            #expect(
                code { () throws(EngineError) in _ = try Session.open(configuration) }
                    == .invalidArgument)
        }
    }
}
