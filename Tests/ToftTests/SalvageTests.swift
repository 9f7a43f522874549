// Tests: Realm+Files.swift
import Foundation
import RealmSwift
import Testing

@testable import Toft

@Suite("Salvage of damaged files")
struct SalvageTests {
    @Test
    func `What a damaged file still holds is read into a new one`() throws {
        try TestRealm.withFolder { folder in
            let path = folder.appendingPathComponent("a.realm")
            let new = folder.appendingPathComponent("new.realm")
            try autoreleased {
                let realm = try Realm(configuration: configuration(path))
                try realm.write {
                    for number in 0..<2_000 { realm.add(Person(number, "Person \(number)")) }
                }
                expectError(.alreadyOpen) { try Realm.salvage(path, to: new) }
            }
            let whole = try Realm.salvage(path, to: new)
            #expect(whole.isComplete && whole.version > 0)
            #expect(whole.classes.first { $0.name == "Person" }?.objects == 2_000)
            expectError(.fileExists) { try Realm.salvage(path, to: new) }
            var content = try Data(contentsOf: path)
            let clusters = stride(from: 8_192, to: content.count, by: 4_096).filter {
                content[$0] == 10
            }
            content[try #require(clusters.first) + 100] ^= 1
            try content.write(to: path)
            let partly = folder.appendingPathComponent("partly.realm")
            let found = try Realm.salvage(path, to: partly)
            let people = try #require(found.classes.first { $0.name == "Person" })
            #expect(!found.isComplete)
            #expect(people.objects + (people.missing ?? 0) == 2_000)
            #expect((1...256).contains(people.missing ?? 0))
            let realm = try Realm(configuration: configuration(partly))
            #expect(realm.objects(Person.self).count == people.objects)
            #expect(realm.objects(Person.self).allSatisfy { $0.name == "Person \($0.id)" })
            try TestRealm.check(realm)
        }
    }

    @Test
    func `Other files and missing ones are refused`() throws {
        try TestRealm.withFolder { folder in
            let path = folder.appendingPathComponent("a.realm")
            let new = folder.appendingPathComponent("new.realm")
            expectError(.fileNotFound) { try Realm.salvage(path, to: new) }
            try Data("no database, and longer than a page".utf8).write(to: path)
            expectError(.notADatabase) { try Realm.salvage(path, to: new) }
            #expect(!FileManager.default.fileExists(atPath: new.path))
        }
    }

    /// Lets go of everything that a block made.
    @inline(never)
    private func autoreleased(_ block: () throws -> Void) throws { try block() }

    private func configuration(_ url: URL) -> Realm.Configuration {
        Realm.Configuration(fileURL: url, objectTypes: [Person.self, Dog.self])
    }
}
