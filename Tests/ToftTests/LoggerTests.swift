// Tests: Logger.swift, AsymmetricFence.swift, Diagnostics.swift, ProcessWide.swift,
// ThreadMark.swift
import Foundation
import RealmSwift
import Synchronization
import Testing

import ToftPlatform
@testable import Toft

/// One after the other: the process has one logger.
@Suite("The log", .serialized)
struct LoggerTests {
    private typealias Message = (level: LogLevel, text: String)

    private final class Messages: Sendable {
        let all = Mutex<[Message]>([])
    }

    /// The messages while a body ran, with this text: other tests run meanwhile.
    private func told(upTo level: LogLevel, of text: String, _ body: () throws -> Void) rethrows
        -> [Message]
    {
        let messages = Messages(), before = Logger.shared
        defer { Logger.shared = before }
        Logger.shared = Logger(level: level) { level, text in
            messages.all.withLock { $0.append((level, text)) }
        }
        try body()
        return messages.all.withLock { $0 }.filter { $0.text.contains(text) }
    }

    @Test
    func `Nothing is told until a program asks for it`() {
        #expect(Logger.shared.level == .off)
    }

    private class TellingBase: Object {
        dynamic var forgotten = ""
        dynamic var owner: Dog?
        let formatter = DateFormatter()

        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    private final class Telling: TellingBase {
        @Persisted var id: Int
    }

    private final class Nothing: Projection<Dog> {
        var title = ""
    }

    @Test
    func `Variables that look as stored ones did once are told, each class once`() throws {
        let types = [Telling.self, Dog.self, Person.self] as [ObjectBase.Type]
        for count in [1, 0] {
            let told = try told(upTo: .warn, of: "Telling") {
                try TestRealm.with(types) { realm in
                    #expect(realm.objects(Telling.self).isEmpty)
                }
            }
            #expect(told.count == count)
            for message in told {
                #expect(message.level == .warn)
                #expect(
                    message.text.hasPrefix(
                        "Class 'Telling' does not store 'forgotten', 'owner': a variable"))
            }
        }
        let projection = try told(upTo: .warn, of: "The projection 'Nothing' projects nothing") {
            try TestRealm.with { realm in
                _ = realm.objects(Nothing.self).count
                Diagnostics.deliver()
            }
        }
        #expect(projection.count == 1)
    }

    /// A name that was changed without a migration: the values are out of sight.
    @Test
    func `An opening tells what it hides, as a warning where it may have a new name`() throws {
        enum Old {
            final class Note: Object {
                @Persisted var title: String
                @Persisted var weight: Double
                override class func shouldIncludeInDefaultSchema() -> Bool { false }
            }
        }
        enum New {
            final class Note: Object {
                @Persisted var heading: String
                override class func shouldIncludeInDefaultSchema() -> Bool { false }
            }
        }
        try TestRealm.withFolder { folder in
            let url = folder.appendingPathComponent("renamed.realm")
            func open(_ type: ObjectBase.Type, _ version: UInt64, _ block: MigrationBlock? = nil)
                throws
            {
                let realm = try Realm(
                    configuration: Realm.Configuration(
                        fileURL: url, schemaVersion: version, migrationBlock: block,
                        objectTypes: [type]))
                try TestRealm.check(realm)
                try realm.close()
            }
            try open(Old.Note.self, 1)
            let asked =
                "'\(url.path)': property 'Note.title' is hidden, its values stay. Did you rename "
                + "it to 'heading'? Rename it in a migration then."
            let lost = "'\(url.path)': property 'Note.weight' is hidden, its values stay."
            let told = try told(upTo: .info, of: "property") { try open(New.Note.self, 1) }
            #expect(told.map(\.text) == [asked, lost] && told.map(\.level) == [.warn, .info])
            // The next opening changes nothing.
            let again = try self.told(upTo: .info, of: "property") { try open(New.Note.self, 1) }
            #expect(again.isEmpty)
            let removed = try self.told(upTo: .info, of: "property") {
                try open(New.Note.self, 2) { _, _ in }
            }
            #expect(removed.count == 2 && removed[0].text.contains("is removed with its values"))
        }
    }

    @Test
    func `A recovery is told, an opening and each checkpoint to those who want more`() throws {
        try TestRealm.withFolder { folder in
            let url = folder.appendingPathComponent("open.realm")
            let copy = folder.appendingPathComponent("left.realm")
            let types: [ObjectBase.Type] = [Dog.self, Person.self]
            let realm = try Realm(
                configuration: Realm.Configuration(fileURL: url, objectTypes: types))
            try realm.write { realm.add(Dog("Rex")) }
            // The file after a crash of the machine.
            try FileManager.default.copyItem(at: url, to: copy)
            try realm.close()
            let configuration = Realm.Configuration(fileURL: copy, objectTypes: types)
            let first = try told(upTo: .info, of: copy.path) {
                let realm = try Realm(configuration: configuration)
                #expect(realm.objects(Dog.self).count == 1)
                try TestRealm.check(realm)
                try realm.close()
            }
            #expect(first.map(\.level) == [.info])
            #expect(first.first?.text.contains("Recovered") == true)
            let second = try told(upTo: .all, of: copy.path) {
                try Realm(configuration: configuration).close()
            }
            #expect(second.map(\.level).first == .detail)
            #expect(
                second.allSatisfy { $0.level.rawValue <= LogLevel.debug.rawValue })
        }
    }

    @Test
    func `Misuse is told, and the level changes at once`() throws {
        try TestRealm.withFolder { folder in
            let url = folder.appendingPathComponent("a.realm")
            let realm = try Realm(
                configuration: Realm.Configuration(fileURL: url, objectTypes: [PlainWord.self]))
            try TestRealm.check(realm)
            try realm.close()
            let count = told(upTo: .all, of: "closed:") {
                expectError(.closed) { realm.beginWrite() }
                expectError(.closed) { try realm.write {} }
                let logger = Logger.shared
                logger.level = .error
                expectError(.closed) { realm.beginWrite() }
                logger.level = .warn
                expectError(.closed) { realm.beginWrite() }
                logger.level = .off
                expectError(.closed) { realm.beginWrite() }
            }.filter { $0.level == .warn }.count
            // Beginning and reporting, at most; other tests close realms, too.
            #expect(count >= 3)
        }
    }

    @Test
    func `A logger may use realms`() throws {
        let configuration = TestRealm.inMemory([PlainWord.self])
        let realm = try Realm(configuration: configuration)
        let before = Logger.shared, messages = Messages()
        defer { Logger.shared = before }
        Logger.shared = Logger(level: .warn) { level, message in
            guard message.hasPrefix("wrongRealm"),
                let realm = try? Realm(configuration: configuration)
            else { return }
            messages.all.withLock { $0.append((level, "\(realm.objects(PlainWord.self).count)")) }
        }
        try realm.write { realm.create(PlainWord.self) }
        try TestRealm.with([PlainWord.self]) { other in
            let word = try #require(realm.objects(PlainWord.self).first)
            try other.write { expectError(.wrongRealm) { other.delete(word) } }
        }
        #expect(messages.all.withLock { $0.map(\.text) }.contains("1"))
        try TestRealm.check(realm)
    }
}
