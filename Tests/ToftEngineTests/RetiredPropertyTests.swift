// Tests: StoredSchema+Retired.swift
import Foundation
import Testing
import ToftModel
import ToftStorage
import ToftTestKit
@testable import ToftEngine

/// Notes with a property of every kind, which migrations remove or replace.
private enum Notes {
    static let secret = "TOPSECRET"
    static let count = 2_000
    static let id = PropertySchema("id", .int, isPrimaryKey: true)
    static let part = ClassSchema(
        "Part", isEmbedded: true,
        [PropertySchema("name", .string), .link("note", to: "Note"), .links("inner", to: "Inner")])
    static let inner = ClassSchema("Inner", isEmbedded: true, [PropertySchema("name", .string)])
    static let full = [
        ClassSchema(
            "Note",
            [
                id, PropertySchema("text", .string, isIndexed: true),
                PropertySchema("texts", .string, collection: .list),
                PropertySchema("words", .string, collection: .dictionary),
                PropertySchema("any", .mixed, isOptional: true), .link("next", to: "Note"),
                .link("part", to: "Part"), .links("parts", to: "Part"),
                .linkingObjects("before", from: "Note", "next"),
            ]), part, inner,
    ]

    static func open(_ file: String, _ version: Int, _ classes: [ClassSchema]) throws(EngineError)
        -> Session
    {
        var configuration = Configuration(
            location: .file(path: file), schema: Schema(classes), schemaVersion: UInt64(version))
        configuration.migration = { _ in }
        return try Session.open(configuration)
    }

    static func fill(_ file: String) throws -> Session {
        let session = try open(file, 1, full)
        let note = try session.classHandle(named: "Note")
        func property(_ name: String, _ owner: ClassHandle? = nil) throws -> PropertyID {
            try (owner ?? note).property(named: name).id
        }
        let part = try session.classHandle(named: "Part")
        try session.beginWrite()
        var last: ObjectHandle?
        for index in 0..<count {
            let length = index % 100 == 0 ? 6_000 : 500
            let text = Value.string(secret + "\(index)" + String(repeating: "x", count: length))
            var values = [
                (try property("id"), Value.int(Int64(index))), (try property("text"), text),
            ]
            if let last {
                values.append((try property("next"), .link(last.ref)))
                values.append((try property("any"), .link(last.ref)))
            }
            let made = try session.create(note.id, values)
            last = made
            guard index % 10 == 0 else { continue }
            let texts = try made.collection(try property("texts"), .list)
            for _ in 0..<(index % 500 == 0 ? 300 : 1) { try texts.append(text) }
            let child = try made.setEmbedded(
                try property("part"),
                [(try property("name", part), text), (try property("note", part), .link(made.ref))])
            _ = try child.collection(try property("inner", part), .list).insertEmbedded([], at: 0)
            let parts = try made.collection(try property("parts"), .list)
            _ = try parts.insertEmbedded([(try property("name", part), text)], at: 0)
        }
        try session.commit()
        return session
    }
}

extension Session {
    fileprivate var liveSize: UInt64 {
        get throws { try database.store.facts().liveSize }
    }

    fileprivate func names(of className: String) throws -> [String] {
        try classHandle(named: className).properties.map(\.name)
    }

    fileprivate func expectSound() throws {
        #expect(try checkEverything().problems == [])
    }
}

/// Properties that migrations remove and replace are erased from the file.
@Suite struct RetiredPropertyTests {
    @Test func `What a migration removes is in no page that is used, and in no copy`() throws {
        try withTemporaryDatabase { file in
            let old = try Notes.fill(file.path)
            let before = try old.liveSize
            let notes = try old.results(of: old.classHandle(named: "Note").id)
            let session = try Notes.open(file.path, 2, [ClassSchema("Note", [Notes.id])])
            try session.expectSound()
            #expect(try session.names(of: "Note") == ["id"])
            #expect(try session.count(of: session.classHandle(named: "Note").id) == Notes.count)
            #expect(try session.liveSize < before / 10)
            // A reader of the previous version has all of it.
            let text = try old.classHandle(named: "Note").property(named: "text").id
            guard case .string(let value) = try notes.object(at: 100).value(text) else {
                Issue.record("no text")
                return
            }
            #expect(value.hasPrefix(Notes.secret))
            try old.expectSound()
            try session.writeCopy(to: file.path + ".copy")
            let copy = try Data(contentsOf: URL(fileURLWithPath: file.path + ".copy"))
            #expect(copy.range(of: Data(Notes.secret.utf8)) == nil)
        }
    }

    @Test func `The embedded objects of a property that is removed or replaced go with it`() throws
    {
        try withTemporaryDatabase { file in
            try Notes.fill(file.path).close()
            var note = ClassSchema("Note", [Notes.id, .links("parts", to: "Part")])
            let session = try Notes.open(file.path, 2, [note, Notes.part, Notes.inner])
            let (part, inner) = (
                try session.classHandle(named: "Part").id,
                try session.classHandle(named: "Inner").id
            )
            // The objects of `part` are deleted, with their contents; those of `parts` exist.
            #expect(try session.count(of: part) == Notes.count / 10)
            #expect(try session.count(of: inner) == 0)
            try session.expectSound()
            note.properties[1] = .link("parts", to: "Part")
            let next = try Notes.open(file.path, 3, [note, Notes.part, Notes.inner])
            #expect(try next.count(of: part) == 0)
            try next.expectSound()
        }
    }

    @Test func `A property may be replaced and come back as often as one likes`() throws {
        try withTemporaryDatabase { file in
            try Notes.fill(file.path).close()
            var sizes: [UInt64] = [], ids: Set<PropertyID> = []
            for version in 2...40 {
                let type: PropertyType = version % 2 == 0 ? .data : .string
                let note = ClassSchema("Note", [Notes.id, PropertySchema("text", type)])
                let session = try Notes.open(file.path, version, [note])
                #expect(try session.names(of: "Note") == ["id", "text"])
                ids.insert(try session.classHandle(named: "Note").property(named: "text").id)
                sizes.append(try session.liveSize)
                if version % 10 == 0 { try session.expectSound() }
                try session.close()
            }
            // No id was given out twice.
            #expect(ids.count == 39)
            #expect(try #require(sizes.last) <= sizes[1] + 65_536)
        }
    }

    @Test func `A class that is deleted leaves the file, and its id is not given out again`() throws
    {
        try withTemporaryDatabase { file in
            let old = try Notes.fill(file.path)
            let (id, before) = (try old.classHandle(named: "Note").id, try old.liveSize)
            try old.close()
            var configuration = Configuration(
                location: .file(path: file.path),
                schema: Schema([ClassSchema("Other", [PropertySchema("name", .string)])]),
                schemaVersion: 2)
            configuration.migration = { migration throws(EngineError) in
                for name in ["Note", "Part", "Inner"] { try migration.deleteData(name) }
            }
            let changes = try Migration.dryRun(configuration).map(\.description)
            #expect(changes.contains("class 'Note' is deleted with its objects"))
            let session = try Session.open(configuration)
            #expect(session.schema.classes.map(\.name) == ["Other"])
            #expect(try session.liveSize < before / 10)
            try session.expectSound()
            configuration.schema = Schema(Notes.full)
            let again = try Session.open(configuration)
            #expect(try again.classHandle(named: "Note").id > id)
            #expect(try again.count(of: again.classHandle(named: "Note").id) == 0)
            try again.expectSound()
        }
    }

    /// A program that knows a part of the classes deletes one that an unknown class links to. The
    /// class stayed, empty and without a name, for a link that no class could declare any more.
    @Test func `A deleted class takes the links of classes that are not declared with it`() throws {
        try withTemporaryDatabase { file in
            let dog = ClassSchema("Dog", [.link("owner", to: "Person")])
            let person = ClassSchema(
                "Person", [Notes.id, .linkingObjects("dogs", from: "Dog", "owner")])
            let cat = ClassSchema("Cat", [PropertySchema("name", .string)])
            try Notes.open(file.path, 1, [dog, person, cat]).close()
            var configuration = Configuration(
                location: .file(path: file.path), schema: Schema([cat]), schemaVersion: 2)
            configuration.migration = { migration throws(EngineError) in
                try migration.deleteData("Person")
            }
            let session = try Session.open(configuration)
            #expect(session.schema.classes.map(\.name) == ["Dog", "Cat"])
            try session.expectSound()
            // Both begin again, without a migration.
            configuration.schema = Schema([dog, person, cat])
            configuration.migration = nil
            let again = try Session.open(configuration)
            #expect(try again.names(of: "Dog") == ["owner"])
            #expect(try again.names(of: "Person") == ["id", "dogs"])
            try again.expectSound()
        }
    }

    /// The link is not declared any more, so nothing could be set to null.
    @Test func `A link that a migration removes denies no deletion in it`() throws {
        try withTemporaryDatabase { file in
            var owner = PropertySchema.link("owner", to: "Person")
            owner.deleteRule = .deny
            let person = ClassSchema("Person", [Notes.id])
            let session = try Notes.open(file.path, 1, [ClassSchema("Dog", [owner]), person])
            try session.beginWrite()
            let (dog, ada) = (
                try session.classHandle(named: "Dog"), try session.classHandle(named: "Person")
            )
            let made = try session.create(
                ada.id, [(try ada.property(named: "id").id, Value.int(1))])
            let key = try dog.property(named: "owner").id
            try session.create(dog.id, [(key, Value.link(made.ref))])
            try session.commit()
            try session.close()
            var configuration = Configuration(
                location: .file(path: file.path),
                schema: Schema([ClassSchema("Dog", [PropertySchema("name", .string)])]),
                schemaVersion: 2)
            configuration.migration = { migration throws(EngineError) in
                try migration.deleteData("Person")
            }
            let migrated = try Session.open(configuration)
            #expect(migrated.schema.classes.map(\.name) == ["Dog"])
            #expect(try migrated.count(of: migrated.classHandle(named: "Dog").id) == 1)
            try migrated.expectSound()
        }
    }

    @Test func `An inverse that is not declared goes with the link that it follows`() throws {
        try withTemporaryDatabase { file in
            let name = PropertySchema("name", .string)
            let dog = ClassSchema("Dog", [name, .link("owner", to: "Person")])
            let person = ClassSchema(
                "Person", [name, .linkingObjects("dogs", from: "Dog", "owner")])
            try Notes.open(file.path, 1, [dog, person]).close()
            let session = try Notes.open(file.path, 2, [ClassSchema("Dog", [name])])
            let stored = session.schema.stored
            #expect(stored.classes.map { $0.properties.map(\.name) } == [["name"], ["name"]])
            try session.expectSound()
            let again = try Notes.open(file.path, 3, [dog, person])
            #expect(try again.names(of: "Person") == ["name", "dogs"])
            try again.expectSound()
        }
    }

    @Test func `What a program does not declare stays with its values`() throws {
        try withTemporaryDatabase { file in
            try Notes.fill(file.path).close()
            // Without a migration, whatever the version, and of a class that is not declared.
            let small = [ClassSchema("Note", [Notes.id])]
            for version in [1, 2] {
                try Session.open(
                    Configuration(
                        location: .file(path: file.path), schema: Schema(small),
                        schemaVersion: UInt64(version))
                ).close()
            }
            try Notes.open(file.path, 3, [ClassSchema("Other", [Notes.id])]).close()
            let session = try Notes.open(file.path, 3, Notes.full)
            let part = try session.classHandle(named: "Part").id
            #expect(try session.count(of: part) == Notes.count / 5)
            let found = try session.results(of: session.classHandle(named: "Note").id).filter(
                "text BEGINSWITH '\(Notes.secret)7'")
            #expect(try found.count == 111)
            try session.expectSound()
        }
    }
}
