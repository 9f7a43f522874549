// Tests: Toft/Configuration.swift
import Foundation
import RealmSwift
import Testing

@testable import Toft

@Suite("Encrypted files")
struct EncryptionTests {
    private let key = Data((0..<64).map { UInt8($0) })
    private let other = Data((1..<65).map { UInt8($0) })

    private func configuration(_ url: URL, _ key: Data?) -> Realm.Configuration {
        Realm.Configuration(
            fileURL: url, encryptionKey: key, objectTypes: [Person.self, Dog.self])
    }

    /// A folder of its own, and the file of a realm of 200 people in it.
    private func withFile(_ key: Data?, _ body: (URL) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appendingPathComponent("people.realm")
        try autoreleased {
            let realm = try Realm(configuration: configuration(url, key))
            try realm.write {
                for number in 0..<200 { realm.add(Person(number, "Somebody \(number)")) }
            }
        }
        try body(url)
    }

    /// Lets go of everything that a block made.
    @inline(never)
    private func autoreleased(_ block: () throws -> Void) throws { try block() }

    private func expectWhole(_ url: URL, _ key: Data?) throws {
        try autoreleased {
            let realm = try Realm(configuration: configuration(url, key))
            #expect(realm.objects(Person.self).count == 200)
            #expect(realm.object(ofType: Person.self, forPrimaryKey: 7)?.name == "Somebody 7")
            try TestRealm.check(realm)
        }
    }

    @Test
    func `An encrypted file is opened with its key alone`() throws {
        try withFile(key) { url in
            expectError(.wrongKey) { _ = try Realm(configuration: configuration(url, other)) }
            expectError(.keyRequired) { _ = try Realm(configuration: configuration(url, nil)) }
            try expectWhole(url, key)
            #expect(try schemaVersionAtURL(url, encryptionKey: key) == 0)
            expectError(.keyRequired) { _ = try schemaVersionAtURL(url) }
            let bytes = try Data(contentsOf: url)
            #expect(bytes.range(of: Data("Somebody".utf8)) == nil)
            let image = NSMutableData(data: bytes)
            for page in 2..<image.length / 4_096 {
                image.mutableBytes.storeBytes(
                    of: 0x5A, toByteOffset: page * 4_096 + 99, as: UInt8.self)
            }
            try Data(referencing: image).write(to: url)
            expectError(.corrupt) { _ = try Realm(configuration: configuration(url, key)) }
        }
        try withFile(nil) { url in
            expectError(.notEncrypted) { _ = try Realm(configuration: configuration(url, key)) }
        }
    }

    @Test(arguments: [0, 1, 63, 65])
    func `A key has 64 bytes`(size: Int) throws {
        try withFile(nil) { url in
            let missing = url.appendingPathExtension("missing")
            let short = Data(repeating: 7, count: size)
            expectError(.invalidArgument) {
                _ = try Realm(configuration: configuration(missing, short))
            }
            #expect(!FileManager.default.fileExists(atPath: missing.path))
        }
    }

    @Test
    func `A database in memory has no key`() throws {
        expectError(.invalidArgument) {
            _ = try Realm(
                configuration: Realm.Configuration(
                    inMemoryIdentifier: "secret", encryptionKey: key, objectTypes: [Person.self]))
        }
    }

    @Test
    func `One thread opens a file with one key`() throws {
        try withFile(key) { url in
            let realm = try Realm(configuration: configuration(url, key))
            expectError(.configurationMismatch) {
                _ = try Realm(configuration: configuration(url, other))
            }
            #expect(try Realm(configuration: configuration(url, key)) == realm)
        }
    }

    @Test
    func `A copy is encrypted with its own key, or not at all`() throws {
        for source in [nil, key] {
            try withFile(source) { url in
                for (index, target) in [nil, key, other].enumerated() {
                    let copy = url.appendingPathExtension("\(index)")
                    try autoreleased {
                        let realm = try Realm(configuration: configuration(url, source))
                        try realm.writeCopy(toFile: copy, encryptionKey: target)
                    }
                    try expectWhole(copy, target)
                }
            }
        }
    }

    @Test
    func `The key of a file is changed when nobody has it open`() throws {
        try withFile(nil) { url in
            try autoreleased {
                let realm = try Realm(configuration: configuration(url, nil))
                expectError(.alreadyOpen) {
                    try Realm.changeKey(of: configuration(url, nil), to: key)
                }
                #expect(realm.objects(Person.self).count == 200)
            }
            let steps = [nil, key, other, nil]
            for (old, new) in zip(steps, steps.dropFirst()) {
                try Realm.changeKey(of: configuration(url, old), to: new)
                try expectWhole(url, new)
                let isReadable =
                    try Data(contentsOf: url).range(of: Data("Somebody".utf8)) != nil
                #expect(isReadable == (new == nil))
            }
            expectError(.notEncrypted) {
                try Realm.changeKey(of: configuration(url, key), to: other)
            }
        }
    }

    @Test
    func `Several processes use an encrypted file`() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appendingPathComponent("people.realm")
        let (path, key) = (url.path, key)
        await withTaskGroup(of: Void.self) { group in
            for first in [0, 1_000, 2_000] {
                group.addTask {
                    await #expect(processExitsWith: .success) {
                        [
                            path = path as String, key = key as Data, first = first as Int
                        ] in
                        let realm = try Realm(
                            configuration: Realm.Configuration(
                                fileURL: URL(fileURLWithPath: path), encryptionKey: key,
                                objectTypes: [Person.self, Dog.self]))
                        var seen = 0
                        for number in first..<first + 100 {
                            try realm.write { realm.add(Person(number, "Somebody \(number)")) }
                            let people = realm.objects(Person.self)
                            try #require(people.count > seen)
                            seen = people.count
                            try #require(people.allSatisfy { $0.name == "Somebody \($0.id)" })
                        }
                    }
                }
            }
        }
        let realm = try openHere(configuration(url, key))
        #expect(realm.objects(Person.self).count == 300)
        try TestRealm.check(realm)
    }

    @Test
    func `What a damaged encrypted file still holds is read into one with another key`() throws {
        try withFile(key) { url in
            let new = url.appendingPathExtension("new")
            expectError(.keyRequired) { try Realm.salvage(url, to: new) }
            expectError(.wrongKey) { try Realm.salvage(url, to: new, encryptionKey: other) }
            expectError(.invalidArgument) {
                try Realm.salvage(url, to: new, encryptionKey: key, newEncryptionKey: Data())
            }
            #expect(!FileManager.default.fileExists(atPath: new.path))
            let whole = try Realm.salvage(
                url, to: new, encryptionKey: key, newEncryptionKey: other)
            #expect(whole.isComplete)
            try expectWhole(new, other)
            let plain = url.appendingPathExtension("plain")
            #expect(try Realm.salvage(new, to: plain, encryptionKey: other).isComplete)
            try expectWhole(plain, nil)
            expectError(.notEncrypted) {
                try Realm.salvage(plain, to: url, encryptionKey: key)
            }
        }
    }

    @Test
    func `A dry run takes the key of its configuration`() throws {
        try withFile(key) { url in
            let changes = try Realm.dryRun(of: configuration(url, key))
            #expect(changes.isEmpty)
            expectError(.keyRequired) { _ = try Realm.dryRun(of: configuration(url, nil)) }
        }
    }

    @Test
    func `An older file in the place of the newest is refused`() throws {
        try withFile(key) { url in
            let old = try Data(contentsOf: url)
            var configuration = configuration(url, key)
            try autoreleased {
                let realm = try Realm(configuration: configuration)
                try realm.write { realm.add(Person(200, "Somebody else")) }
                configuration.minimumVersion = realm.version
                // It is open here, and may be opened once more.
                #expect(try Realm(configuration: configuration) == realm)
                var later = configuration
                later.minimumVersion = realm.version + 1
                expectError(.versionTooLow) { _ = try Realm(configuration: later) }
            }
            try autoreleased {
                let realm = try Realm(configuration: configuration)
                #expect(realm.objects(Person.self).count == 201)
            }
            for _ in 0..<2 {
                try old.write(to: url)
                for readOnly in [true, false] {
                    configuration.readOnly = readOnly
                    expectError(.versionTooLow) { _ = try Realm(configuration: configuration) }
                }
                expectError(.versionTooLow) { try Realm.compact(configuration) }
                expectError(.versionTooLow) { try Realm.changeKey(of: configuration, to: other) }
                #expect(try Data(contentsOf: url) == old)
            }
            // An app that accepts the older one says so.
            configuration.minimumVersion = nil
            try autoreleased {
                let realm = try Realm(configuration: configuration)
                #expect(realm.objects(Person.self).count == 200)
            }
            try Realm.deleteFiles(for: configuration)
            configuration.minimumVersion = 1
            expectError(.fileNotFound) { _ = try Realm(configuration: configuration) }
            #expect(!FileManager.default.fileExists(atPath: url.path))
        }
    }

    @Test
    func `A file that does not fit and is made anew begins at its first version`() throws {
        try withFile(nil) { url in
            var wanted = Realm.Configuration(
                fileURL: url, deleteRealmIfMigrationNeeded: true, objectTypes: [OtherPerson.self])
            wanted.minimumVersion = 3
            try autoreleased {
                let realm = try Realm(configuration: wanted)
                #expect(realm.objects(OtherPerson.self).isEmpty && realm.version < 3)
                try TestRealm.check(realm)
            }
        }
    }

    @Test
    func `An encrypted file is compacted with its key`() throws {
        try withFile(key) { url in
            expectError(.keyRequired) { try Realm.compact(configuration(url, nil)) }
            let sizes = try #require(try Realm.compact(configuration(url, key)))
            #expect(sizes.after <= sizes.before)
            try expectWhole(url, key)
        }
    }
}

/// The class of the tests' people, whose names have become numbers.
private final class OtherPerson: Object {
    @Persisted var name = 0

    override class func _realmObjectName() -> String? { "Person" }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
