// Tests: Toft/Interruption.swift, ToftEngine/Interruption.swift
import Foundation
import RealmSwift
import Synchronization
import Testing

@testable import Toft

/// A class that another app declared before the index was thought of.
final class PlainWord: Object {
    @Persisted var number: Int

    override class func _realmObjectName() -> String? { "Word" }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

final class IndexedWord: Object {
    @Persisted(indexed: true) var number: Int

    override class func _realmObjectName() -> String? { "Word" }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite("What takes long ends when another thread says so")
struct InterruptionTests {
    /// Runs a body while another thread interrupts all the time.
    private func interrupting(_ interruption: Realm.Interruption, _ body: () throws -> Void)
        rethrows
    {
        let isOver = Atomic(false)
        try withExtendedLifetime(isOver) {
            let thread = Thread {
                while !isOver.load(ordering: .relaxed) {
                    interruption.interrupt()
                    usleep(200)
                }
            }
            thread.start()
            defer {
                isOver.store(true, ordering: .relaxed)
                while !thread.isFinished { usleep(1000) }
            }
            try body()
        }
    }

    /// Runs a body while another thread writes.
    private func whileAnotherWrites(
        _ configuration: Realm.Configuration, _ body: () throws -> Void
    ) throws {
        let hasBegun = DispatchSemaphore(value: 0), isOver = DispatchSemaphore(value: 0)
        let thread = Thread {
            let realm = try? Realm(configuration: configuration)
            realm?.beginWrite()
            hasBegun.signal()
            isOver.wait()
            realm?.cancelWrite()
        }
        thread.start()
        hasBegun.wait()
        defer {
            isOver.signal()
            while !thread.isFinished { usleep(1000) }
        }
        try body()
    }

    @Test
    func `A wait for another writer ends; what begins later does not`() throws {
        let configuration = TestRealm.inMemory([PlainWord.self])
        let realm = try Realm(configuration: configuration)
        realm.interruption.interrupt()
        try realm.write { realm.create(PlainWord.self) }
        try whileAnotherWrites(configuration) {
            interrupting(realm.interruption) {
                expectError(.interrupted) { try realm.write {} }
                expectError(.interrupted) { realm.beginWrite() }
            }
        }
        // It is the realm's also after an invalidation.
        let interruption = realm.interruption
        realm.invalidate()
        try whileAnotherWrites(configuration) {
            interrupting(interruption) { expectError(.interrupted) { try realm.write {} } }
        }
        try realm.write { realm.create(PlainWord.self) }
        #expect(realm.objects(PlainWord.self).count == 2)
        try TestRealm.check(realm)
    }

    @Test
    func `A query ends, of a frozen realm too`() throws {
        try TestRealm.with([PlainWord.self]) { realm in
            try realm.write {
                for number in 0..<20_000 {
                    realm.create(PlainWord.self, value: ["number": number])
                }
            }
            for realm in [realm, realm.freeze()] {
                let words = realm.objects(PlainWord.self)
                interrupting(realm.interruption) {
                    // One that comes between two queries ends neither.
                    var wasInterrupted = false
                    for divisor in 2..<2_000 where !wasInterrupted {
                        do {
                            let found = try Realm.attempt {
                                words.filter("number * 3 - 1 > \(divisor)").count
                            }
                            #expect(found > 0)
                        } catch {
                            #expect((error as? Realm.Error)?.code == .interrupted)
                            wasInterrupted = true
                        }
                    }
                    #expect(wasInterrupted)
                }
                #expect(words.filter("number >= 10000").count == 10_000)
            }
        }
    }

    /// A file of words without an index.
    private func withWords(_ count: Int, _ body: (URL) throws -> Void) throws {
        try TestRealm.withFolder { folder in
            let url = folder.appendingPathComponent("words.realm")
            let realm = try Realm(
                configuration: Realm.Configuration(fileURL: url, objectTypes: [PlainWord.self]))
            try realm.write {
                for number in 0..<count {
                    realm.create(PlainWord.self, value: ["number": number])
                }
            }
            try realm.close()
            try body(url)
        }
    }

    @Test
    func `An opening that builds an index tells how far it is and ends when told`() throws {
        try withWords(5000) { url in
            var configuration = Realm.Configuration(fileURL: url, objectTypes: [IndexedWord.self])
            let told = Mutex<[(done: Int, total: Int)]>([])
            let interruption = Realm.Interruption()
            configuration.interruption = interruption
            configuration.progress = { done, total in
                told.withLock { $0.append((done, total)) }
                if done > 1000 { interruption.interrupt() }
            }
            expectError(.interrupted) { try Realm(configuration: configuration) }
            let last = try #require(told.withLock { $0.last })
            #expect(last.done > 1000 && last.done < 5000 && last.total == 5000)
            // Later openings with it end at once; the file is as it was.
            expectError(.interrupted) { try Realm(configuration: configuration) }
            configuration.interruption = Realm.Interruption()
            told.withLock { $0 = [] }
            let realm = try Realm(configuration: configuration)
            let all = told.withLock { $0 }
            #expect(all.last?.done == 5000 && all.last?.total == 5000)
            #expect(zip(all, all.dropFirst()).allSatisfy { $0.done <= $1.done })
            #expect(realm.configuration.interruption == nil && realm.configuration.progress == nil)
            #expect(realm.objects(IndexedWord.self).where { $0.number == 4711 }.count == 1)
            try TestRealm.check(realm)
        }
    }

    @Test
    func `An opening that waits for a writer ends`() throws {
        try withWords(1) { url in
            let plain = Realm.Configuration(fileURL: url, objectTypes: [PlainWord.self])
            var indexed = Realm.Configuration(fileURL: url, objectTypes: [IndexedWord.self])
            let interruption = Realm.Interruption()
            indexed.interruption = interruption
            try whileAnotherWrites(plain) {
                interrupting(interruption) {
                    expectError(.interrupted) { try Realm(configuration: indexed) }
                }
            }
            let realm = try Realm(configuration: plain)
            #expect(realm.objects(PlainWord.self).count == 1)
            try TestRealm.check(realm)
        }
    }
}
