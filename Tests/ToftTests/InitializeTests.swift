// Tests: Initialization.swift
import Foundation
import RealmSwift
import Testing

@testable import Toft

@Suite("Filling a new database")
struct InitializeTests {
    private struct Refused: Error {}

    private func configuration(
        _ url: URL, _ block: (@Sendable (Realm) throws -> Void)?, key: Data? = nil
    ) -> Realm.Configuration {
        var configuration = Realm.Configuration(
            fileURL: url, encryptionKey: key, schemaVersion: 3,
            objectTypes: [Person.self, Dog.self])
        configuration.initialize = block
        return configuration
    }

    @Sendable private static func addAda(_ realm: Realm) throws {
        let ada = Person(1, "Ada")
        realm.add(ada)
        ada.dogs.append(Dog("Rex"))
    }

    /// Lets go of everything that a block made.
    @inline(never)
    private func autoreleased(_ block: () throws -> Void) throws { try block() }

    @Test(arguments: [nil, Data((0..<64).map { UInt8($0) })])
    func `The first opening fills a file, the next ones find what it put in`(key: Data?) throws {
        try TestRealm.withFolder { folder in
            let url = folder.appendingPathComponent("a.realm")
            for _ in 0..<3 {
                try autoreleased {
                    let realm = try Realm(
                        configuration: configuration(url, Self.addAda, key: key))
                    #expect(!realm.isInWriteTransaction)
                    #expect(realm.objects(Person.self).map(\.name) == ["Ada"])
                    #expect(realm.object(ofType: Person.self, forPrimaryKey: 1)?.dogs.count == 1)
                    try TestRealm.check(realm)
                }
            }
            #expect(try schemaVersionAtURL(url, encryptionKey: key) == 3)
            // A copy is not new, and neither is a file that somebody has opened without the block.
            let copy = folder.appendingPathComponent("copy.realm")
            var seeded = configuration(copy, { _ in throw Refused() }, key: key)
            seeded.seedFilePath = url
            #expect(try Realm(configuration: seeded).objects(Person.self).count == 1)
            let other = folder.appendingPathComponent("other.realm")
            try autoreleased { _ = try Realm(configuration: configuration(other, nil, key: key)) }
            let later = try Realm(configuration: configuration(other, Self.addAda, key: key))
            #expect(later.objects(Person.self).isEmpty)
        }
    }

    @Test
    func `A database in memory is filled once as long as it lives`() throws {
        var configuration = TestRealm.inMemory([Person.self, Dog.self])
        configuration.initialize = Self.addAda
        let realm = try Realm(configuration: configuration)
        #expect(realm.objects(Person.self).count == 1)
        configuration.objectTypes = [Person.self, Dog.self, Hidden.self]
        configuration.initialize = { _ in throw Refused() }
        let second = try Realm(configuration: configuration)
        #expect(second != realm && second.objects(Person.self).count == 1)
        try TestRealm.check(realm)
    }

    @Test
    func `What the block throws leaves no objects, and the next opening begins again`() throws {
        try TestRealm.withFolder { folder in
            let url = folder.appendingPathComponent("a.realm")
            // No closures within the macro: see `expectError`.
            let refusing = configuration(url) { realm in
                try Self.addAda(realm)
                throw Refused()
            }
            do {
                _ = try Realm(configuration: refusing)
                Issue.record("The opening has thrown nothing.")
            } catch is Refused {}
            // Misuse is thrown by the opening as well.
            expectError(.alreadyInTransaction) {
                _ = try Realm(
                    configuration: configuration(url) { realm in
                        try Self.addAda(realm)
                        try realm.write { realm.add(Dog("Fido")) }
                    })
            }
            expectError(.duplicatePrimaryKey) {
                _ = try Realm(
                    configuration: configuration(url) { realm in
                        for _ in 0..<2 { try Self.addAda(realm) }
                    })
            }
            // A block that begins a transaction of its own leaves none on the thread.
            TestRealm.expectNoOpenWrite()
            try autoreleased {
                let empty = try Realm(
                    configuration: Realm.Configuration(fileURL: url, objectTypes: []))
                #expect(empty.schema.objectSchema.isEmpty)
            }
            let realm = try Realm(configuration: configuration(url, Self.addAda))
            #expect(realm.objects(Person.self).count == 1)
            #expect(realm.objects(Dog.self).count == 1)
            try TestRealm.check(realm)
        }
    }

    @Test
    func `Of processes that make a file at the same moment one fills it`() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "toft-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appendingPathComponent("a.realm").path
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    await #expect(processExitsWith: .success) { [path = path as String] in
                        var configuration = Realm.Configuration(
                            fileURL: URL(fileURLWithPath: path),
                            objectTypes: [Person.self, Dog.self])
                        configuration.initialize = { realm in
                            Thread.sleep(forTimeInterval: 0.3)
                            realm.add(Person(realm.objects(Person.self).count, "Ada"))
                        }
                        let people = try Realm(configuration: configuration).objects(Person.self)
                        try #require(people.count == 1)
                    }
                }
            }
        }
        let realm = try openHere(configuration(URL(fileURLWithPath: path), nil))
        #expect(realm.objects(Person.self).map(\.id) == [0])
        try TestRealm.check(realm)
    }
}
