// Tests: RealmFile.swift, ChainedPages.swift, ClusterTree.swift, Database+RealmImport.swift,
// FileBytes.swift, LeafReader.swift, LeafReader+Collections.swift, MixedLeaf.swift, Node.swift,
// OldTable.swift, Realm+RealmFiles.swift, RealmFileError.swift, RealmImport.swift,
// RealmImportReport.swift, RealmImportSchema.swift, RealmTable.swift, RealmValue.swift,
// SchemaReader.swift
import Foundation
import RealmSwift
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
    func `An encrypted Realm file needs its key, and what is none is refused`() throws {
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
}
