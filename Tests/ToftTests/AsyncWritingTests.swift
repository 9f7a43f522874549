// Tests: Realm+AsyncWriting.swift, Realm+Writing.swift
import Foundation
import RealmSwift
import Synchronization
import Testing

@testable import Toft

@Suite("Writes that are asked for and happen soon")
struct AsyncWritingTests {
    /// Another thread that holds the write lock of a realm until it may release it.
    private final class OtherWriter: Sendable {
        private let isWriting = DispatchSemaphore(value: 0)
        private let mayEnd = DispatchSemaphore(value: 0)
        private let hasEnded = DispatchSemaphore(value: 0)

        init(_ configuration: Realm.Configuration) {
            Thread { [self] in
                try? Realm(configuration: configuration).write {
                    isWriting.signal()
                    mayEnd.wait()
                }
                hasEnded.signal()
            }.start()
            isWriting.wait()
        }

        func end() {
            mayEnd.signal()
            hasEnded.wait()
        }
    }

    @Test
    func `A block may commit itself, now or with a word afterwards, or leave it`() throws {
        try LoopThread.run { loop in
            let realm = try Realm(configuration: TestRealm.inMemory())
            let log = Box<[String]>([])
            try loop.inside {
                realm.beginAsyncWrite {
                    realm.add(Dog("Rex"))
                    realm.commitAsyncWrite { error in
                        #expect(error == nil && !realm.isInWriteTransaction)
                        log.value.append("told")
                    }
                    log.value.append("committed \(realm.objects(Dog.self).count)")
                }
                realm.beginAsyncWrite {
                    realm.add(Dog("Lost"))
                    log.value.append("left")
                }
                realm.beginAsyncWrite {
                    realm.add(Dog("Fido"))
                    try? realm.commitWrite()
                    log.value.append("done")
                }
                let forgotten = realm.beginAsyncWrite { log.value.append("never") }
                try realm.cancelAsyncWrite(forgotten)
                #expect(realm.isPerformingAsynchronousWriteOperations)
            }
            loop.wait { log.value.count == 4 }
            loop.rest()
            #expect(log.value.filter { $0 != "told" } == ["committed 1", "left", "done"])
            #expect(log.value.count == 4 && !realm.isPerformingAsynchronousWriteOperations)
            #expect(realm.objects(Dog.self).map(\.name) == ["Rex", "Fido"])
            try loop.inside {
                realm.beginWrite()
                realm.add(Dog("Bello"))
                let silent = realm.commitAsyncWrite(allowGrouping: true) { _ in
                    log.value.append("never")
                }
                try realm.cancelAsyncWrite(silent)
                realm.beginWrite()
                realm.commitAsyncWrite()
            }
            loop.rest()
            #expect(log.value.count == 4 && realm.objects(Dog.self).count == 3)
            expectError(.notInTransaction) { realm.commitAsyncWrite() }
        }
    }

    @Test
    func `They happen in their order on the run loop, and each tells when it is done`() throws {
        try TestRealm.withFolder { folder in
            let configuration = Realm.Configuration(
                fileURL: folder.appendingPathComponent("test.realm"))
            try LoopThread.run { loop in
                let realm = try Realm(configuration: configuration)
                let log = Box<[String]>([])
                try loop.inside {
                    for name in ["Rex", "Fido"] {
                        realm.writeAsync {
                            #expect(
                                realm.isInWriteTransaction
                                    && realm.isPerformingAsynchronousWriteOperations)
                            realm.add(Dog(name))
                            log.value.append(name)
                        } onComplete: { error in
                            #expect(error == nil && !realm.isInWriteTransaction)
                            log.value.append("\(name) done")
                        }
                    }
                    log.value.append("asked")
                    #expect(
                        realm.isPerformingAsynchronousWriteOperations
                            && realm.objects(Dog.self).isEmpty)
                }
                loop.wait { log.value.count == 5 }
                #expect(log.value == ["asked", "Rex", "Rex done", "Fido", "Fido done"])
                #expect(!realm.isPerformingAsynchronousWriteOperations)
                #expect(
                    try elsewhere {
                        try Realm(configuration: configuration).objects(Dog.self).count
                    } == 2)
                try TestRealm.check(realm)
            }
        }
    }

    @Test
    func `While somebody else writes the run loop goes on`() throws {
        let configuration = TestRealm.inMemory()
        try LoopThread.run { loop in
            let realm = try Realm(configuration: configuration)
            let other = OtherWriter(configuration)
            let isDone = Box(false)
            let ticks = Box(0)
            try loop.inside {
                realm.writeAsync {
                    realm.add(Dog("Rex"))
                } onComplete: { _ in
                    isDone.value = true
                }
                RunLoop.current.add(
                    Timer(timeInterval: 0.005, repeats: true) { _ in ticks.value += 1 },
                    forMode: .common)
            }
            loop.wait { ticks.value > 10 }
            #expect(ticks.value > 10 && !isDone.value)
            other.end()
            loop.wait { isDone.value }
            #expect(isDone.value && realm.objects(Dog.self).count == 1)
            try TestRealm.check(realm)
        }
    }

    @Test
    func `One that is cancelled in time never happens`() throws {
        try LoopThread.run { loop in
            let realm = try Realm(configuration: TestRealm.inMemory())
            let isDone = Box(false)
            try loop.inside {
                let id = realm.writeAsync { realm.add(Dog("Never")) }
                realm.writeAsync {
                    realm.add(Dog("Rex"))
                } onComplete: { _ in
                    isDone.value = true
                }
                try realm.cancelAsyncWrite(id)
            }
            loop.wait { isDone.value }
            #expect(realm.objects(Dog.self).map(\.name) == ["Rex"])
        }
    }

    @Test
    func `Asked for inside a transaction, they come after it; what is cancelled stays so`() throws {
        try LoopThread.run { loop in
            let realm = try Realm(configuration: TestRealm.inMemory())
            let isDone = Box(false)
            try loop.inside {
                try realm.write {
                    realm.writeAsync { realm.add(Dog("second")) }
                    realm.writeAsync {
                        realm.add(Dog("cancelled"))
                        realm.cancelWrite()
                    } onComplete: { _ in
                        isDone.value = true
                    }
                    realm.add(Dog("first"))
                }
            }
            loop.wait { isDone.value }
            #expect(realm.objects(Dog.self).map(\.name) == ["first", "second"])
        }
    }

    @Test
    func `On a queue they happen there, also when nobody else holds the realm any more`() throws {
        let configuration = TestRealm.inMemory()
        let keeper = try Realm(configuration: configuration)
        let queue = DispatchQueue(label: "writes")
        let isDone = DispatchSemaphore(value: 0)
        try queue.sync {
            let realm = try Realm(configuration: configuration, queue: queue)
            realm.writeAsync { [unowned session = realm.session] in
                dispatchPrecondition(condition: .onQueue(queue))
                Realm(session).add(Dog("Rex"))
            } onComplete: { error in
                #expect(error == nil)
                isDone.signal()
            }
        }
        #expect(isDone.wait(timeout: .now() + 10) == .success)
        keeper.refresh()
        #expect(keeper.objects(Dog.self).count == 1)
    }

    @Test
    func `A realm that waits for writers only so long tells the write that it was too long`() throws
    {
        var configuration = TestRealm.inMemory()
        configuration.writeTimeout = .milliseconds(30)
        let shared = configuration
        try LoopThread.run { loop in
            let realm = try Realm(configuration: shared)
            let other = OtherWriter(shared)
            let failure = Box<Realm.Error?>(nil)
            _ = try loop.inside {
                realm.writeAsync {
                } onComplete: {
                    failure.value = $0 as? Realm.Error
                }
            }
            loop.wait { failure.value != nil }
            #expect(failure.value?.code == .lockTimeout)
            other.end()
        }
    }

    @Test
    func `Without a run loop, frozen or read-only it is misuse`() throws {
        try TestRealm.withFile([Cat.self]) { realm, url in
            expectError(.readOnly) { realm.freeze().writeAsync {} }
            try elsewhere {
                let writable = try Realm(
                    configuration: Realm.Configuration(fileURL: url, objectTypes: [Cat.self]))
                expectError(.observationUnavailable) { writable.writeAsync {} }
            }
            try elsewhere {
                let readOnly = try Realm(
                    configuration: Realm.Configuration(
                        fileURL: url, readOnly: true, objectTypes: [Cat.self]))
                expectError(.readOnly) { readOnly.writeAsync {} }
            }
        }
    }
}
