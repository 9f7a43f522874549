// Tests: RealmFile.swift, ChainedPages.swift, ClusterTree.swift, Database+RealmImport.swift,
// FileBytes.swift, LeafReader.swift, LeafReader+Collections.swift, MixedLeaf.swift,
// OldTable.swift, Realm+RealmFiles.swift, RealmFileError.swift, RealmImport.swift,
// RealmImportReport.swift, RealmImportSchema.swift, RealmTable.swift, RealmValue.swift,
// SchemaReader.swift, Node.swift

import Dispatch
import Foundation
import RealmSwift
import Synchronization
import Testing

@Suite("Realm's own files")
struct RealmFileTests {
    private static func file(_ name: String) -> URL {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("RealmFiles/\(name).realm")
    }

    @Test
    func `A Realm file is imported, and opens with the classes that the app has`() throws {
        try TestRealm.withFolder { folder in
            let new = folder.appendingPathComponent("new.realm")
            var last: (done: Int, total: Int)?
            let report = try Realm.importRealmFile(
                Self.file("v20-swift-embedded"), to: new
            ) { last = ($0, $1) }
            #expect(report.format == 20)
            #expect(report.classes.first { $0.name == "Person" }?.objects == 3)
            #expect(last.map { $0.done <= $0.total } ?? true)
            expectError(.fileExists) {
                try Realm.importRealmFile(Self.file("v20-swift-embedded"), to: new)
            }
            let realm = try Realm(
                configuration: Realm.Configuration(
                    fileURL: new, schemaVersion: report.schemaVersion ?? 0, objectTypes: []))
            #expect(realm.isEmpty == false)
            try TestRealm.check(realm)
        }
    }

    @Test
    func `An encrypted Realm file needs its key, and other files are refused`() throws {
        try TestRealm.withFolder { folder in
            let new = folder.appendingPathComponent("new.realm")
            let encrypted = Self.file("streaming-encrypted")
            expectError(.notADatabase) { try Realm.importRealmFile(encrypted, to: new) }
            expectError(.wrongKey) {
                try Realm.importRealmFile(
                    encrypted, to: new, encryptionKey: Data(repeating: 7, count: 64))
            }
            let other = folder.appendingPathComponent("other.realm")
            try Data("no Realm file, though as long as the header of one".utf8).write(to: other)
            expectError(.notADatabase) { try Realm.importRealmFile(other, to: new) }
            expectError(.fileNotFound) {
                try Realm.importRealmFile(folder.appendingPathComponent("missing"), to: new)
            }
            #expect(!FileManager.default.fileExists(atPath: new.path))
            let key = Data((0..<64).map { UInt8(truncatingIfNeeded: 3 * $0 + 1) })
            let plain = try Realm.importRealmFile(Self.file("streaming"), to: new)
            let second = folder.appendingPathComponent("second.realm")
            let report = try Realm.importRealmFile(
                encrypted, to: second, encryptionKey: key,
                newEncryptionKey: Data(repeating: 5, count: 64))
            #expect(report == plain)
            let realm = try Realm(
                configuration: Realm.Configuration(
                    fileURL: second, encryptionKey: Data(repeating: 5, count: 64),
                    schemaVersion: report.schemaVersion ?? 0, objectTypes: []))
            try TestRealm.check(realm)
        }
    }

    /// A copy of a Realm file in the place of an app's own, and the configuration that imports it.
    private static func app(_ name: String, in folder: URL) throws -> Realm.Configuration {
        let file = folder.appendingPathComponent("app.realm")
        try Data(contentsOf: Self.file(name)).write(to: file)
        var configuration = Realm.Configuration(fileURL: file, objectTypes: [])
        configuration.importsRealmFile = true
        return configuration
    }

    @Test
    func `An opening that may imports a Realm file in its place, and keeps the old one`() throws {
        try TestRealm.withFolder { folder in
            var configuration = try Self.app("v20-swift-embedded", in: folder)
            let original = try Data(contentsOf: Self.file("v20-swift-embedded"))
            // Realm's own, which has the name of Toft's.
            let lock = folder.appendingPathComponent("app.realm.lock")
            try Data("the lock file of Realm, of some bytes".utf8).write(to: lock)
            let kept = folder.appendingPathComponent("app.realm.before-import")
            try {
                let realm = try Realm(configuration: configuration)
                #expect(realm.dynamicObjects("Person").count == 3)
                try realm.write { realm.delete(realm.dynamicObjects("Person")[0]) }
                try TestRealm.check(realm)
            }()
            #expect(try Data(contentsOf: kept) == original)
            #expect(FileManager.default.fileExists(atPath: kept.path + ".lock"))
            // Another opening finds a file of Toft.
            try {
                let realm = try Realm(configuration: configuration)
                #expect(realm.dynamicObjects("Person").count == 2)
            }()
            configuration.importsRealmFile = false
            let realm = try Realm(configuration: configuration)
            #expect(realm.dynamicObjects("Person").count == 2)
        }
    }

    @Test
    func `An encrypted Realm file is imported at its opening, with the key of both files`() throws {
        try TestRealm.withFolder { folder in
            var configuration = try Self.app("streaming-encrypted", in: folder)
            configuration.encryptionKey = Data(repeating: 7, count: 64)
            expectError(.notADatabase) { try Realm(configuration: configuration) }
            configuration.encryptionKey = Data(
                (0..<64).map { UInt8(truncatingIfNeeded: 3 * $0 + 1) })
            let realm = try Realm(configuration: configuration)
            #expect(realm.dynamicObjects("Everything").count == 85)
            try TestRealm.check(realm)
        }
    }

    @Test
    func `A Realm file stays as it is where its import is not wanted, or fails`() throws {
        try TestRealm.withFolder { folder in
            var configuration = try Self.app("links", in: folder)
            let file = try #require(configuration.fileURL)
            let kept = folder.appendingPathComponent("app.realm.before-import")
            let original = try Data(contentsOf: file)
            configuration.readOnly = true
            expectError(.notADatabase) { try Realm(configuration: configuration) }
            configuration.readOnly = false
            configuration.importsRealmFile = false
            expectError(.notADatabase) { try Realm(configuration: configuration) }
            configuration.importsRealmFile = true
            try Data("another file".utf8).write(to: kept)
            expectError(.fileExists) { try Realm(configuration: configuration) }
            #expect(try Data(contentsOf: file) == original)
            #expect(try Data(contentsOf: kept) == Data("another file".utf8))
            try FileManager.default.removeItem(at: kept)
            let damaged = original.prefix(original.count - 4096)
            try damaged.write(to: file)
            let lock = Data("the lock file of Realm, of some bytes".utf8)
            try lock.write(to: folder.appendingPathComponent("app.realm.lock"))
            expectError(.corrupt) { try Realm(configuration: configuration) }
            #expect(try Data(contentsOf: file) == damaged)
            #expect(!FileManager.default.fileExists(atPath: kept.path))
            #expect(
                try Data(contentsOf: folder.appendingPathComponent("app.realm.lock")) == lock)
            // A crash left the second name.
            try original.write(to: file)
            try FileManager.default.linkItem(at: file, to: kept)
            let realm = try Realm(configuration: configuration)
            #expect(realm.dynamicObjects("Person").count > 0)
            #expect(try Data(contentsOf: kept) == original)
        }
    }

    @Test
    func `Threads that open one Realm file at the same moment import it once`() throws {
        try TestRealm.withFolder { folder in
            let configuration = try Self.app("v20-swift-embedded", in: folder)
            let counts = Mutex<[Int]>([])
            DispatchQueue.concurrentPerform(iterations: 8) { _ in
                let count = try? Realm(configuration: configuration).dynamicObjects("Person").count
                counts.withLock { $0.append(count ?? -1) }
            }
            #expect(counts.withLock { $0 } == [Int](repeating: 3, count: 8))
            let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(files.filter { $0.hasSuffix(".before-import") }.count == 1)
            #expect(files.filter { $0.hasSuffix(".new") } == [])
        }
    }
}
