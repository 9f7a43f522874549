// Tests: Realm+Observation.swift
import Foundation
import RealmSwift
import Testing

@testable import Toft

/// Realms go to new versions by themselves wherever something can call them, also without an
/// observer: they stayed at the version that they were opened at.
@Suite("Following by itself, without an observer")
struct AutorefreshTests {
    /// A dog of this age, from another thread.
    private static func commit(_ age: Int, in configuration: Realm.Configuration) throws {
        try elsewhere {
            let realm = try Realm(configuration: configuration)
            try realm.write {
                if let dog = realm.objects(Dog.self).first {
                    dog.age = age
                } else {
                    realm.add(Dog("Rex", age: age))
                }
            }
        }
    }

    /// Asks again and again, without a pause, until it holds.
    private static func wait(until condition: () throws -> Bool) rethrows -> Bool {
        let end = ContinuousClock.now + .seconds(60)
        while try !condition() {
            if ContinuousClock.now > end { return false }
            sched_yield()
        }
        return true
    }

    @Test
    func `On a run loop, where the realm is opened inside it`() throws {
        let configuration = TestRealm.inMemory()
        try LoopThread.run { loop in
            let realm = try loop.inside { try Realm(configuration: configuration) }
            let dogs = realm.objects(Dog.self)
            for age in 1...3 {
                try Self.commit(age, in: configuration)
                #expect(loop.wait { dogs.first?.age == age })
            }
            // The versions that it left are free.
            let oldest = try TestRealm.oldestPinnedVersion(realm)
            #expect(oldest == realm.version)
            try TestRealm.check(realm)
        }
    }

    @Test
    func `On a run loop that begins to run after the realm was opened, again and again`() throws {
        let configuration = TestRealm.inMemory()
        try LoopThread.run { loop in
            let first = try Realm(configuration: configuration)
            let dogs = first.objects(Dog.self)
            try Self.commit(1, in: configuration)
            #expect(dogs.isEmpty)
            #expect(loop.wait { dogs.first?.age == 1 })
            // Between two runs.
            let other = TestRealm.inMemory()
            let second = try Realm(configuration: other)
            try Self.commit(2, in: other)
            #expect(loop.wait { second.objects(Dog.self).first?.age == 2 })
            try TestRealm.check(first)
            try TestRealm.check(second)
        }
    }

    @Test
    func `After the last observer has gone, and after invalidate`() throws {
        let configuration = TestRealm.inMemory()
        try LoopThread.run { loop in
            let realm = try loop.inside { try Realm(configuration: configuration) }
            let calls = Box(0)
            let token = realm.observe { _, _ in calls.value += 1 }
            try Self.commit(1, in: configuration)
            #expect(loop.wait { calls.value == 1 })
            token.invalidate()
            try Self.commit(2, in: configuration)
            #expect(loop.wait { realm.objects(Dog.self).first?.age == 2 })
            try loop.inside { realm.invalidate() }
            try Self.commit(3, in: configuration)
            #expect(loop.wait { realm.objects(Dog.self).first?.age == 3 })
            #expect(calls.value == 1)
            try TestRealm.check(realm)
        }
    }

    @Test
    func `Not while autorefresh is off, and from when it is on again`() throws {
        let configuration = TestRealm.inMemory([Dog.self, Person.self])
        try LoopThread.run { loop in
            var other = configuration
            other.objectTypes = nil
            let realm = try loop.inside { try Realm(configuration: configuration) }
            let following = try loop.inside { try Realm(configuration: other) }
            realm.autorefresh = false
            try Self.commit(1, in: configuration)
            #expect(loop.wait { following.objects(Dog.self).first?.age == 1 })
            #expect(realm.objects(Dog.self).isEmpty)
            realm.autorefresh = true
            #expect(loop.wait { realm.objects(Dog.self).first?.age == 1 })
            try TestRealm.check(realm)
        }
    }

    @Test
    func `A write transaction is left alone, and what was missed comes after it`() throws {
        let configuration = TestRealm.inMemory()
        try LoopThread.run { loop in
            let realm = try loop.inside { try Realm(configuration: configuration) }
            try Self.commit(1, in: configuration)
            // It advances to the newest version as it begins, and the call that is due finds it so.
            realm.beginWrite()
            try loop.inside {}
            #expect(realm.isInWriteTransaction)
            #expect(realm.objects(Dog.self).first?.age == 1)
            realm.cancelWrite()
            try Self.commit(2, in: configuration)
            #expect(loop.wait { realm.objects(Dog.self).first?.age == 2 })
            try TestRealm.check(realm)
        }
    }

    @Test
    func `On a queue, and for who opens the realm there again`() throws {
        let configuration = TestRealm.inMemory()
        let queue = DispatchQueue(label: "following")
        let box = Box<Realm?>(nil)
        try queue.sync { box.value = try Realm(configuration: configuration, queue: queue) }
        for age in 1...3 {
            try Self.commit(age, in: configuration)
            #expect(
                Self.wait { queue.sync { box.value?.objects(Dog.self).first?.age == age } })
        }
        try queue.sync {
            let again = try Realm(configuration: configuration, queue: queue)
            #expect(again.objects(Dog.self).first?.age == 3)
            try TestRealm.check(again)
            box.value = nil
        }
    }

    @Test @MainActor
    func `For the main actor`() async throws {
        let configuration = TestRealm.inMemory()
        let realm = try await Realm(configuration: configuration)
        for age in 1...3 {
            try Self.commit(age, in: configuration)
            let end = ContinuousClock.now + .seconds(60)
            while realm.objects(Dog.self).first?.age != age, ContinuousClock.now < end {
                await Task.yield()
            }
            #expect(realm.objects(Dog.self).first?.age == age)
        }
        try TestRealm.check(realm)
    }

    /// A realm of its own.
    private actor Kennel {
        private var realm: Realm!

        init(_ configuration: Realm.Configuration) async throws {
            realm = try await Realm(configuration: configuration, actor: self)
        }

        /// Whether the dog gets an age, while other work of the actor may happen.
        func follows(to age: Int) async -> Bool {
            let end = ContinuousClock.now + .seconds(60)
            while realm.objects(Dog.self).first?.age != age, ContinuousClock.now < end {
                await Task.yield()
            }
            return realm.objects(Dog.self).first?.age == age
        }

        func close() throws {
            try TestRealm.check(realm)
            try realm.close()
        }
    }

    @Test
    func `For an actor`() async throws {
        let configuration = TestRealm.inMemory()
        let kennel = try await Kennel(configuration)
        for age in 1...2 {
            try Self.commit(age, in: configuration)
            #expect(await kennel.follows(to: age))
        }
        try await kennel.close()
    }

    /// A file that a process and the one that it starts both know.
    private static func sharedFile(_ process: pid_t) -> Realm.Configuration {
        Realm.Configuration(
            fileURL: FileManager.default.temporaryDirectory.appendingPathComponent(
                "followed-\(process).realm"))
    }

    @Test
    func `What another process commits is followed, too`() async throws {
        let configuration = Self.sharedFile(getpid())
        defer { _ = try? Realm.deleteFiles(for: configuration) }
        let queue = DispatchQueue(label: "followed")
        let box = Box<Realm?>(nil)
        try queue.sync { box.value = try Realm(configuration: configuration, queue: queue) }
        await #expect(processExitsWith: .success) {
            let realm = try Realm(configuration: AutorefreshTests.sharedFile(getppid()))
            try realm.write { realm.add(Dog("Rex", age: 7)) }
            try realm.close()
        }
        #expect(Self.wait { queue.sync { box.value?.objects(Dog.self).first?.age == 7 } })
        try queue.sync {
            if let realm = box.value { try TestRealm.check(realm) }
            try box.value?.close()
            box.value = nil
        }
    }

    @Test
    func `A realm that was closed, or let go, is not called any more`() throws {
        let configuration = TestRealm.inMemory()
        let keeper = try Realm(configuration: configuration)
        let queue = DispatchQueue(label: "closed")
        for round in 0..<50 {
            try queue.sync {
                let realm = try Realm(configuration: configuration, queue: queue)
                try Self.commit(round, in: configuration)
                if round % 2 == 0 { try realm.close() }
            }
        }
        queue.sync {}
        keeper.refresh()
        #expect(keeper.objects(Dog.self).first?.age == 49)
        try TestRealm.check(keeper)
    }
}
