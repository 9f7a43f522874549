// Tests: Toft/Configuration.swift, DefaultValues.swift
import Foundation
import RealmSwift
import Testing

@testable import Toft

@Suite("Opening")
struct ConfigurationTests {
    private func configuration(_ url: URL, readOnly: Bool = false, schemaVersion: UInt64 = 0)
        -> Realm.Configuration
    {
        Realm.Configuration(fileURL: url, readOnly: readOnly, schemaVersion: schemaVersion)
    }

    @Test
    func `A file keeps what was written, for the next who opens it`() throws {
        try TestRealm.withFolder { folder in
            let url = folder.appendingPathComponent("a.realm")
            try autoreleased {
                let realm = try Realm(fileURL: url)
                try realm.write { realm.add(Person(1, "Ada")) }
            }
            #expect(Realm.fileExists(for: configuration(url)))
            let realm = try Realm(fileURL: url)
            #expect(realm.object(ofType: Person.self, forPrimaryKey: 1)?.name == "Ada")
            try TestRealm.check(realm)
        }
    }

    @Test
    func `A file that is for one process alone has no lock file, and is shared afterwards`()
        throws
    {
        try TestRealm.withFolder { folder in
            var alone = configuration(folder.appendingPathComponent("a.realm"))
            alone.isExclusive = true
            try autoreleased {
                let realm = try Realm(configuration: alone)
                try realm.write { realm.add(Dog("Rex")) }
                let other = try Realm(configuration: alone)
                #expect(other.objects(Dog.self).count == 1)
                #expect(
                    try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a.realm"])
            }
            var shared = alone
            shared.isExclusive = false
            let realm = try Realm(configuration: shared)
            #expect { try Realm(configuration: alone) } throws: { error in
                (error as? Realm.Error)?.code == .configurationMismatch
            }
            try TestRealm.check(realm)
        }
    }

    @Test
    func `A database in memory lives as long as somebody has it, shared by its name`() throws {
        let configuration = TestRealm.inMemory()
        try autoreleased {
            let realm = try Realm(configuration: configuration)
            try realm.write { realm.add(Dog("Rex")) }
            let count = try elsewhere {
                try Realm(configuration: configuration).objects(Dog.self).count
            }
            #expect(count == 1)
        }
        #expect(try Realm(configuration: configuration).isEmpty)
    }

    @Test
    func `The default file lies in the data folder of the user, under the program's name`() throws {
        let url = try #require(Realm.Configuration.defaultFileURL)
        #expect(url.lastPathComponent == "default.realm")
        #expect(
            url.deletingLastPathComponent().lastPathComponent == ProcessInfo.processInfo.processName
        )
    }

    @Test
    func `Realm() makes its folder and opens the default file, which can be another`() async {
        await #expect(processExitsWith: .success) {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
                "toft-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            setenv("XDG_DATA_HOME", folder.path, 1)
            guard let url = Realm.Configuration.defaultFileURL, url.path.hasPrefix(folder.path)
            else { exit(1) }
            let realm = try Realm(configuration: Realm.Configuration(fileURL: url))
            try realm.write { realm.add(Dog("Rex")) }
            guard FileManager.default.fileExists(atPath: url.path) else { exit(2) }
            Realm.Configuration.defaultConfiguration = Realm.Configuration(
                inMemoryIdentifier: "default")
            let other = try Realm()
            guard other.isEmpty, other.configuration.inMemoryIdentifier == "default" else {
                exit(3)
            }
        }
    }

    /// Another file beside the default one, as an app with several users has it.
    @Test
    func `Folders below that of the default file are made, no others`() async {
        await #expect(processExitsWith: .success) {
            let files = FileManager.default
            let folder = files.temporaryDirectory.appendingPathComponent(
                "toft-\(UUID().uuidString)")
            defer { try? files.removeItem(at: folder) }
            setenv("XDG_DATA_HOME", folder.appendingPathComponent("data").path, 1)
            var configuration = Realm.Configuration()
            guard let home = configuration.fileURL?.deletingLastPathComponent() else { exit(1) }
            configuration.fileURL = home.appendingPathComponent("users/alice.realm")
            var reading = configuration
            reading.readOnly = true
            guard (try? Realm(configuration: reading)) == nil,
                !files.fileExists(atPath: home.path)
            else { exit(2) }
            let realm = try Realm(configuration: configuration)
            try realm.write { realm.add(Dog("Rex")) }
            Realm.Configuration.defaultConfiguration = Realm.Configuration(
                fileURL: home.appendingPathComponent("bob.realm"))
            _ = try Realm()
            configuration.fileURL = folder.appendingPathComponent("elsewhere/a.realm")
            do {
                _ = try Realm(configuration: configuration)
                exit(3)
            } catch Realm.Error.fileNotFound {}
        }
    }

    @Test
    func `A file without a byte becomes a realm`() throws {
        try TestRealm.withFolder { folder in
            let url = folder.appendingPathComponent("a.realm")
            try Data().write(to: url)
            do {
                _ = try Realm(configuration: configuration(url, readOnly: true))
                Issue.record("opened")
            } catch {
                #expect((error as? Realm.Error)?.code == .notADatabase)
                #expect("\(error)".contains("is an empty file"))
            }
            try autoreleased {
                let realm = try Realm(fileURL: url)
                try realm.write { realm.add(Dog("Rex")) }
                try TestRealm.check(realm)
            }
            // As a seed's copy, too.
            let copy = folder.appendingPathComponent("b.realm")
            try Data().write(to: copy)
            let realm = try Realm(
                configuration: Realm.Configuration(fileURL: copy, seedFilePath: url))
            #expect(realm.objects(Dog.self).count == 1)
        }
    }

    /// A file that comes with an app, which has got another class since.
    @Test
    func `A read-only file shows classes and properties that it lacks as empty`() throws {
        enum Old {
            final class Note: Object {
                @Persisted var text: String
                override class func shouldIncludeInDefaultSchema() -> Bool { false }
            }
        }
        enum New {
            final class Note: Object {
                @Persisted var text: String
                @Persisted(indexed: true) var stars: Int
                @Persisted var due: Date?
                @Persisted var tags: List<String>
                @Persisted var scores: Map<String, Int>
                @Persisted var folder: Folder?
                override class func shouldIncludeInDefaultSchema() -> Bool { false }
            }
            final class Folder: Object {
                @Persisted(primaryKey: true) var name: String
                @Persisted(originProperty: "folder") var notes: LinkingObjects<Note>
                override class func shouldIncludeInDefaultSchema() -> Bool { false }
            }
        }
        try TestRealm.withFolder { folder in
            let url = folder.appendingPathComponent("a.realm")
            try autoreleased {
                let realm = try Realm(
                    configuration: Realm.Configuration(fileURL: url, objectTypes: [Old.Note.self]))
                try realm.write { for _ in 0..<300 { realm.add(Old.Note(value: ["text": "x"])) } }
            }
            let realm = try Realm(
                configuration: Realm.Configuration(
                    fileURL: url, readOnly: true, objectTypes: [New.Note.self, New.Folder.self]))
            let notes = realm.objects(New.Note.self)
            #expect(notes.count == 300 && realm.objects(New.Folder.self).isEmpty)
            #expect(realm.object(ofType: New.Folder.self, forPrimaryKey: "a") == nil)
            #expect(
                notes.allSatisfy {
                    $0.text == "x" && $0.stars == 0 && $0.due == nil && $0.tags.isEmpty
                        && $0.scores.isEmpty && $0.folder == nil
                })
            #expect(notes.where { $0.stars == 0 && $0.folder == nil }.count == 300)
            #expect(notes.sum(of: \.stars) == 0 && notes.sorted(by: \.stars).count == 300)
            let frozen = realm.freeze()
            #expect(frozen.objects(New.Note.self).first?.stars == 0)
            try TestRealm.check(realm)
        }
    }

    @Test
    func `Setting a file clears the name in memory, and the other way round`() {
        var configuration = Realm.Configuration(inMemoryIdentifier: "x")
        #expect(configuration.fileURL == nil)
        configuration.fileURL = URL(fileURLWithPath: "/tmp/x.realm")
        #expect(configuration.inMemoryIdentifier == nil)
        configuration.inMemoryIdentifier = "y"
        #expect(configuration.fileURL == nil)
        expectError(.invalidArgument) {
            try Realm(configuration: Realm.Configuration(fileURL: nil))
        }
    }

    @Test
    func `A read-only realm reads, and writes nothing`() throws {
        try TestRealm.withFolder { folder in
            let url = folder.appendingPathComponent("a.realm")
            expectError(.fileNotFound) {
                try Realm(configuration: configuration(url, readOnly: true))
            }
            try autoreleased {
                let realm = try Realm(fileURL: url)
                try realm.write { realm.add(Person(1, "Ada")) }
            }
            let realm = try Realm(configuration: configuration(url, readOnly: true))
            #expect(realm.objects(Person.self).count == 1)
            expectError(.readOnly) { try realm.write {} }
            expectError(.configurationMismatch) { try Realm(fileURL: url) }
        }
    }

    @Test
    func `A realm that is open says how another configuration differs from its own`() throws {
        try TestRealm.withFile { realm, url in
            func message(_ change: (inout Realm.Configuration) -> Void) -> String {
                var configuration = realm.configuration
                change(&configuration)
                do {
                    _ = try Realm(configuration: configuration)
                    return ""
                } catch {
                    return "\(error)"
                }
            }
            let key = message { $0.encryptionKey = Data(repeating: 1, count: 64) }
            #expect(
                key.hasSuffix("open here without an encryptionKey, which this configuration has."))
            let version = message { $0.schemaVersion = 3 }
            #expect(version.hasSuffix("open here with schemaVersion 0, not 3."))
            let readOnly = message { $0.readOnly = true }
            #expect(
                readOnly.hasSuffix("open here for writing, and this configuration is read-only."))
        }
    }

    @Test
    func `The error of a path that leads nowhere names that path`() throws {
        try TestRealm.withFolder { folder in
            let url = folder.appendingPathComponent("missing/a.realm")
            do {
                _ = try Realm(fileURL: url)
                Issue.record("no error")
            } catch {
                #expect("\(error)".contains("'\(url.path)'"), "\(error)")
            }
        }
    }

    @Test
    func `Files that are none, folders, and paths that lead nowhere are told apart`() throws {
        try TestRealm.withFolder { folder in
            let text = folder.appendingPathComponent("text.realm")
            try Data("This is a text and no database, however long it may become.".utf8).write(
                to: text)
            expectError(.notADatabase) { try Realm(fileURL: text) }
            #expect(try Data(contentsOf: text).starts(with: Data("This is a text".utf8)))
            expectError(.isDirectory) { try Realm(fileURL: folder) }
            expectError(.fileNotFound) {
                try Realm(fileURL: folder.appendingPathComponent("missing/a.realm"))
            }
        }
    }

    /// The path of another URL was taken for one of this machine.
    @Test
    func `A URL that names no file is refused, and nothing is made`() throws {
        try TestRealm.withFolder { folder in
            let elsewhere = URL(string: "https://example.org" + folder.path + "/a.realm")
            let web = try #require(elsewhere), url = folder.appendingPathComponent("b.realm")
            let wrong = Realm.Configuration(fileURL: web, objectTypes: [Dog.self])
            expectError(.invalidArgument) { try Realm(configuration: wrong) }
            expectError(.invalidArgument) { try Realm.dryRun(of: wrong) }
            expectError(.invalidArgument) { try Realm.deleteFiles(for: wrong) }
            expectError(.invalidArgument) { try Realm.compact(wrong) }
            expectError(.invalidArgument) { try Realm.changeKey(of: wrong, to: nil) }
            expectError(.invalidArgument) { try Realm.performMigration(for: wrong) }
            expectError(.invalidArgument) { try schemaVersionAtURL(web) }
            #expect(!Realm.fileExists(for: wrong))
            var seeded = Realm.Configuration(fileURL: url, objectTypes: [Dog.self])
            seeded.seedFilePath = web
            expectError(.invalidArgument) { try Realm(configuration: seeded) }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
            let realm = try Realm(configuration: configuration(url))
            expectError(.invalidArgument) { try realm.writeCopy(toFile: web) }
            expectError(.invalidArgument) { try Realm.salvage(web, to: url) }
            expectError(.invalidArgument) { try Realm.salvage(url, to: web) }
            // A path without a scheme is one.
            let plain = try #require(URL(string: folder.path + "/c.realm"))
            try realm.writeCopy(toFile: plain)
            #expect(Realm.fileExists(for: configuration(plain)))
        }
    }

    @Test
    func `A file of a later format is refused`() throws {
        try TestRealm.withFolder { folder in
            let url = folder.appendingPathComponent("a.realm")
            try autoreleased { _ = try Realm(configuration: configuration(url)) }
            let content = try Data(contentsOf: url)
            var later = content
            for page in [0, 1] { later[page * 4096 + 8] = 99 }
            try later.write(to: url)
            expectError(.unsupportedFormat) { try Realm(configuration: configuration(url)) }
            #expect(try Data(contentsOf: url) == later)
            try content.write(to: url)
            try TestRealm.check(try Realm(configuration: configuration(url)))
        }
    }

    @Test
    func `A file of a higher schema version is refused`() throws {
        try TestRealm.withFolder { folder in
            let url = folder.appendingPathComponent("a.realm")
            try autoreleased { _ = try Realm(configuration: configuration(url, schemaVersion: 3)) }
            expectError(.schemaVersionTooLow) {
                try Realm(configuration: configuration(url, schemaVersion: 2))
            }
            _ = try Realm(configuration: configuration(url, schemaVersion: 3))
        }
    }

    @Test
    func `A class that changed so that data would be lost is refused, or the file is made anew`()
        throws
    {
        enum Old {
            final class Note: Object {
                @Persisted var text: String
                override class func shouldIncludeInDefaultSchema() -> Bool { false }
            }
        }
        enum New {
            final class Note: Object {
                @Persisted var text: Int
                override class func shouldIncludeInDefaultSchema() -> Bool { false }
            }
        }
        try TestRealm.withFolder { folder in
            let url = folder.appendingPathComponent("a.realm")
            try autoreleased {
                let realm = try Realm(
                    configuration: Realm.Configuration(fileURL: url, objectTypes: [Old.Note.self]))
                try realm.write { realm.add(Old.Note(value: ["text": "x"])) }
            }
            expectError(.schemaMismatch) {
                try Realm(
                    configuration: Realm.Configuration(fileURL: url, objectTypes: [New.Note.self]))
            }
            let realm = try Realm(
                configuration: Realm.Configuration(
                    fileURL: url, deleteRealmIfMigrationNeeded: true, objectTypes: [New.Note.self]))
            #expect(realm.isEmpty)
        }
    }

    @Test
    func `New properties and classes are added to a file, with their values empty`() throws {
        enum Old {
            final class Note: Object {
                @Persisted var text: String
                override class func shouldIncludeInDefaultSchema() -> Bool { false }
            }
        }
        enum New {
            final class Note: Object {
                @Persisted(indexed: true) var text: String
                @Persisted var stars: Int
                @Persisted var tags: List<String>
                override class func shouldIncludeInDefaultSchema() -> Bool { false }
            }
        }
        try TestRealm.withFolder { folder in
            let url = folder.appendingPathComponent("a.realm")
            try autoreleased {
                let realm = try Realm(
                    configuration: Realm.Configuration(fileURL: url, objectTypes: [Old.Note.self]))
                try realm.write { realm.add(Old.Note(value: ["text": "x"])) }
            }
            let realm = try Realm(
                configuration: Realm.Configuration(
                    fileURL: url, objectTypes: [New.Note.self, Dog.self, Person.self]))
            let note = try #require(realm.objects(New.Note.self).first)
            #expect(note.text == "x" && note.stars == 0 && note.tags.isEmpty)
            try realm.write { note.tags.append("new") }
            try TestRealm.check(realm)
        }
    }

    @Test
    func `A seed file comes to its place when there is no file yet`() throws {
        try TestRealm.withFolder { folder in
            let (seed, url) = (
                folder.appendingPathComponent("seed.realm"),
                folder.appendingPathComponent("a.realm")
            )
            try autoreleased {
                let realm = try Realm(fileURL: seed)
                try realm.write { realm.add(Dog("Rex")) }
            }
            let realm = try Realm(
                configuration: Realm.Configuration(fileURL: url, seedFilePath: seed))
            #expect(realm.objects(Dog.self).count == 1)
        }
    }

    @Test
    func `Files can be deleted once nobody has them open`() throws {
        try TestRealm.withFolder { folder in
            let url = folder.appendingPathComponent("a.realm")
            #expect(try !Realm.deleteFiles(for: configuration(url)))
            try autoreleased {
                let realm = try Realm(fileURL: url)
                expectError(.alreadyOpen) { try Realm.deleteFiles(for: configuration(url)) }
                withExtendedLifetime(realm) {}
            }
            #expect(try Realm.deleteFiles(for: configuration(url)))
            #expect(!Realm.fileExists(for: configuration(url)))
        }
    }

    /// Lets go of everything that a block made.
    @inline(never)
    private func autoreleased(_ block: () throws -> Void) throws {
        try block()
    }
}
