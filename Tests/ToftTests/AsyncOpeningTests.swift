// Tests: Realm+AsyncOpening.swift
import Foundation
import RealmSwift
import Synchronization
import Testing

@testable import Toft

@Suite("Opening in the background")
struct AsyncOpeningTests {
    private let queue = DispatchQueue(label: "toft.test.opening")

    /// The arguments of a callback.
    private final class Outcome: Sendable {
        let isOver = DispatchSemaphore(value: 0)
        let counts = Mutex<[Int]>([])
        let errors = Mutex<[Realm.Error.Code]>([])
        let progress = Mutex<[Realm.Progress]>([])

        func note(_ result: Result<Realm, any Error>, _ body: (Realm) -> Int) {
            switch result {
            case .success(let realm): counts.withLock { $0.append(body(realm)) }
            case .failure(let error):
                errors.withLock { $0.append((error as? Realm.Error)?.code ?? .internalError) }
            }
            isOver.signal()
        }
    }

    @Test
    func `A realm comes to its queue, and lives there`() throws {
        let configuration = TestRealm.inMemory([PlainWord.self])
        let realm = try Realm(configuration: configuration)
        try realm.write { realm.create(PlainWord.self) }
        let outcome = Outcome()
        Realm.asyncOpen(configuration: configuration, callbackQueue: queue) { result in
            outcome.note(result) { realm in
                _ = try? realm.write { realm.create(PlainWord.self) }
                return realm.objects(PlainWord.self).count
            }
        }
        #expect(outcome.isOver.wait(timeout: .now() + 20) == .success)
        #expect(outcome.counts.withLock { $0 } == [2])
        try TestRealm.check(realm)
    }

    @Test
    func `A failure comes to the queue, too`() throws {
        try TestRealm.withFolder { folder in
            let outcome = Outcome()
            let configuration = Realm.Configuration(
                fileURL: folder.appendingPathComponent("none.realm"), readOnly: true,
                objectTypes: [PlainWord.self])
            Realm.asyncOpen(configuration: configuration, callbackQueue: queue) { result in
                outcome.note(result) { _ in 0 }
            }
            #expect(outcome.isOver.wait(timeout: .now() + 20) == .success)
            #expect(outcome.errors.withLock { $0 } == [.fileNotFound])
        }
    }

    @Test
    func `The building of an index is told, and ends when the task is cancelled`() throws {
        try TestRealm.withFolder { folder in
            let url = folder.appendingPathComponent("words.realm")
            let plain = Realm.Configuration(fileURL: url, objectTypes: [PlainWord.self])
            let indexed = Realm.Configuration(fileURL: url, objectTypes: [IndexedWord.self])
            let realm = try Realm(configuration: plain)
            try realm.write {
                for number in 0..<5000 {
                    realm.create(PlainWord.self, value: ["number": number])
                }
            }
            // It waits for the writer, so that the task is cancelled before it builds.
            let outcome = Outcome()
            realm.beginWrite()
            let cancelled = Realm.asyncOpen(configuration: indexed, callbackQueue: queue) {
                outcome.note($0) { _ in 0 }
            }
            cancelled.cancel()
            realm.cancelWrite()
            realm.beginWrite()
            let task = Realm.asyncOpen(configuration: indexed, callbackQueue: queue) {
                outcome.note($0) { $0.objects(IndexedWord.self).where { $0.number == 7 }.count }
            }
            task.addProgressNotification(queue: queue) { progress in
                outcome.progress.withLock { $0.append(progress) }
            }
            realm.cancelWrite()
            #expect(outcome.isOver.wait(timeout: .now() + 20) == .success)
            queue.sync {}
            #expect(outcome.counts.withLock { $0 } == [1])
            #expect(outcome.errors.withLock { $0 } == [])
            let last = try #require(outcome.progress.withLock { $0.last })
            #expect(last.done == 5000 && last.total == 5000 && last.fraction == 1)
            try TestRealm.check(realm)
        }
    }
}
