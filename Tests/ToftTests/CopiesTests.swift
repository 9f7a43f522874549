// Tests: Realm+Files.swift
import Foundation
import RealmSwift
import Synchronization
import Testing

@testable import Toft

@Suite("Copies, sizes and compaction")
struct CopiesTests {
    /// Lets go of everything that a block made.
    @inline(never)
    private func autoreleased(_ block: () throws -> Void) throws { try block() }

    private func fill(_ realm: Realm, _ count: Int) throws {
        try realm.write {
            for number in 0..<count { realm.add(Person(number, "Person \(number)")) }
        }
    }

    private func thin(_ realm: Realm) throws {
        try realm.write {
            for person in Array(realm.objects(Person.self)) where person.id % 5 != 0 {
                realm.delete(person)
            }
        }
    }

    private func configuration(_ url: URL) -> Realm.Configuration {
        Realm.Configuration(fileURL: url, objectTypes: [Person.self, Dog.self])
    }

    private func size(_ url: URL) throws -> Int {
        try FileManager.default.attributesOfItem(atPath: url.path)[.size] as? Int ?? -1
    }

    @Test
    func `A copy holds what the realm shows, and is shorter`() throws {
        try TestRealm.withFile { realm, url in
            try fill(realm, 3_000)
            try thin(realm)
            let copy = url.deletingLastPathComponent().appendingPathComponent("copy.realm")
            try realm.writeCopy(toFile: copy)
            expectError(.fileExists) { try realm.writeCopy(toFile: copy) }
            let missing = url.deletingLastPathComponent().appendingPathComponent("none/a.realm")
            expectError(.fileNotFound) { try realm.writeCopy(toFile: missing) }
            realm.beginWrite()
            expectError(.alreadyInTransaction) {
                try realm.writeCopy(toFile: url.appendingPathExtension("b"))
            }
            realm.cancelWrite()
            #expect(try size(copy) < size(url))
            let copied = try Realm(configuration: configuration(copy))
            #expect(copied.objects(Person.self).count == 600)
            #expect(copied.object(ofType: Person.self, forPrimaryKey: 5)?.name == "Person 5")
            try TestRealm.check(copied)
            let names = try FileManager.default.contentsOfDirectory(
                atPath: url.deletingLastPathComponent().path)
            #expect(!names.contains { $0.hasSuffix(".new") })
        }
    }

    @Test
    func `A database in memory is written to a file`() throws {
        try TestRealm.withFolder { folder in
            let realm = try Realm(configuration: TestRealm.inMemory())
            try fill(realm, 10)
            let url = folder.appendingPathComponent("a.realm")
            try realm.writeCopy(toFile: url)
            let copied = try Realm(configuration: configuration(url))
            #expect(copied.objects(Person.self).count == 10)
            try TestRealm.check(copied)
        }
    }

    @Test
    func `A launch asks whether to compact, and who has a file open keeps it as it is`() throws {
        try TestRealm.withFolder { folder in
            let url = folder.appendingPathComponent("a.realm")
            let asked = Mutex<[(Int, Int)]>([])
            var asking = configuration(url)
            asking.shouldCompactOnLaunch = { total, used in
                asked.withLock { $0.append((total, used)) }
                return true
            }
            try autoreleased {
                let realm = try Realm(configuration: configuration(url))
                try fill(realm, 2_000)
                try thin(realm)
                #expect(try Realm.compact(configuration(url)) == nil)
                withExtendedLifetime(realm) {}
            }
            let closed = try size(url)
            try autoreleased {
                let realm = try Realm(configuration: asking)
                #expect(realm.objects(Person.self).count == 400)
                try TestRealm.check(realm)
            }
            let (total, used) = asked.withLock { $0.first ?? (0, 0) }
            #expect(total == closed && used > 0 && used <= total)
            let sizes = try #require(try Realm.compact(configuration(url)))
            #expect(sizes.after <= sizes.before)
            #expect(try sizes.after == size(url))
        }
    }

    @Test func `A configuration that is read-only neither compacts a file nor changes its key`()
        throws
    {
        try TestRealm.withFolder { folder in
            let url = folder.appendingPathComponent("a.realm")
            try autoreleased {
                let realm = try Realm(configuration: configuration(url))
                try fill(realm, 200)
                try TestRealm.check(realm)
            }
            let content = try Data(contentsOf: url)
            var reading = configuration(url)
            reading.readOnly = true
            expectError(.readOnly) { try Realm.compact(reading) }
            expectError(.readOnly) {
                try Realm.changeKey(of: reading, to: Data(repeating: 7, count: 64))
            }
            #expect(try Data(contentsOf: url) == content)
        }
    }

    /// It waited for itself.
    @Test
    func `To open the file again where an opening asks or tells is an error at once`() throws {
        try TestRealm.withFolder { folder in
            let url = folder.appendingPathComponent("a.realm")
            final class Note: Object {
                @Persisted var text: String
                override class func shouldIncludeInDefaultSchema() -> Bool { false }
            }
            final class IndexedNote: Object {
                @Persisted(indexed: true) var text: String
                override class func shouldIncludeInDefaultSchema() -> Bool { false }
                override class func _realmObjectName() -> String? { "Note" }
            }
            @Sendable func configuration(_ type: ObjectBase.Type) -> Realm.Configuration {
                Realm.Configuration(fileURL: url, objectTypes: [type])
            }
            do {
                let realm = try Realm(configuration: configuration(Note.self))
                try realm.write {
                    for number in 0..<3_000 { realm.add(Note(value: ["text": "\(number)"])) }
                }
            }
            var asking = configuration(Note.self)
            asking.shouldCompactOnLaunch = { _, _ in
                for readOnly in [false, true] {
                    var again = Realm.Configuration(fileURL: url, objectTypes: [])
                    again.readOnly = readOnly
                    expectError(.insideCallback) { try Realm(configuration: again) }
                }
                let plain = configuration(Note.self)
                expectError(.alreadyOpen) { try Realm.deleteFiles(for: plain) }
                #expect((try? Realm.compact(plain)) == nil)
                return true
            }
            do { try TestRealm.check(try Realm(configuration: asking)) }
            var telling = configuration(IndexedNote.self)
            let calls = Atomic(0)
            telling.progress = { _, _ in
                guard calls.wrappingAdd(1, ordering: .relaxed).newValue == 1 else { return }
                let again = configuration(IndexedNote.self)
                expectError(.alreadyInTransaction) { try Realm(configuration: again) }
            }
            let realm = try Realm(configuration: telling)
            #expect(calls.load(ordering: .relaxed) > 0)
            #expect(realm.objects(IndexedNote.self).count == 3_000)
            try TestRealm.check(realm)
        }
    }

    @Test
    func `Old versions are told with what they hold, and a limit refuses to write`() throws {
        try TestRealm.withFolder { folder in
            var limited = configuration(folder.appendingPathComponent("a.realm"))
            limited.maximumNumberOfActiveVersions = 2
            let realm = try Realm(configuration: limited)
            try fill(realm, 2_000)
            var frozen: Realm? = realm.freeze()
            let old = try realm.versionPins().map(\.version)
            try thin(realm)
            realm.refresh()
            let pins = try realm.versionPins()
            let pin = try #require(pins.first)
            #expect(old.contains(pin.version) && pin.held > 0)
            #expect(pin.processID == Int(getpid()))
            let age = try #require(pin.age)
            #expect(age > 0 && age < 600)
            let sizes = try realm.sizes()
            #expect(sizes.held >= pin.held)
            #expect(sizes.file == sizes.live + sizes.free + sizes.held + sizes.log)
            var second: Realm? = realm.freeze()
            try realm.write { realm.add(Dog("Rex")) }
            expectError(.tooManyReaders) { try realm.write { realm.add(Dog("Fido")) } }
            #expect(frozen?.objects(Person.self).count == 2_000)
            #expect(second?.objects(Dog.self).count == 0)
            frozen = nil
            second = nil
            try realm.write { realm.add(Dog("Fido")) }
            #expect(realm.objects(Dog.self).count == 2)
            try TestRealm.check(realm)
        }
    }

    @Test
    func `A copy for another configuration has its file and its key`() throws {
        try TestRealm.withFolder { folder in
            let realm = try Realm(configuration: configuration(folder.appending(path: "a.realm")))
            try fill(realm, 20)
            var other = configuration(folder.appending(path: "b.realm"))
            other.encryptionKey = Data((0..<64).map { UInt8($0) })
            try realm.writeCopy(configuration: other)
            expectError(.fileExists) { try realm.writeCopy(configuration: other) }
            try autoreleased {
                let copied = try Realm(configuration: other)
                #expect(copied.objects(Person.self).count == 20)
                try TestRealm.check(copied)
            }
            other.encryptionKey = nil
            expectError(.keyRequired) { _ = try Realm(configuration: other) }
            let memory = Realm.Configuration(inMemoryIdentifier: "no file")
            expectError(.invalidArgument) { try realm.writeCopy(configuration: memory) }
        }
    }

    @Test
    func `A file is compacted in steps while others read it, and observers hear nothing`() throws {
        try LoopThread.run { loop in
            try TestRealm.withFolder { folder in
                let url = folder.appendingPathComponent("a.realm")
                let realm = try Realm(configuration: configuration(url))
                try fill(realm, 20_000)
                var frozen: Realm? = realm.freeze()
                try thin(realm)
                let left = realm.objects(Person.self).count
                let calls = Box(0)
                let token = try loop.inside {
                    realm.objects(Person.self).observe { change in
                        if case .update = change { calls.value += 1 }
                    }
                }
                let before = try size(url)
                while try realm.compactStep(movingAtMost: 1 << 18).hasMore {}
                let held = try realm.compactStep()
                #expect(held.held > 0 && held.moved == 0)
                #expect(frozen?.objects(Person.self).count == 20_000)
                expectError(.readOnly) { try frozen?.compactStep() }
                frozen = nil
                while try realm.compactStep(movingAtMost: 1 << 18).hasMore {}
                // On a busy machine the notifier may still read an earlier version.
                let patience = Date(timeIntervalSinceNow: 60)
                while try realm.compactStep(movingAtMost: 0).held > 0, patience > Date() {
                    usleep(1_000)
                }
                while try realm.compactStep(movingAtMost: 1 << 18).hasMore {}
                let last = try realm.compactStep(movingAtMost: 0)
                #expect(last.held == 0 && last.before == last.after)
                #expect(try size(url) < before / 2)
                realm.refresh()
                loop.rest()
                #expect(calls.value == 0)
                #expect(realm.objects(Person.self).count == left)
                token.invalidate()
                try realm.write { expectError(.alreadyInTransaction) { try realm.compactStep() } }
                try TestRealm.check(realm)
            }
        }
    }
}
