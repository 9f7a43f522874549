// Tests: Realm+Actors.swift, RealmSession.swift
import Foundation
import RealmSwift
import Testing

@testable import Toft

@Suite("Realms of actors, and writing with async and await")
struct ActorTests {
    /// An app's actor, as the documentation of Realm has it.
    actor Kennel {
        var realm: Realm!
        var events: [String] = []
        var token: NotificationToken?
        var tokens: [NotificationToken] = []

        init(_ configuration: Realm.Configuration) async throws {
            realm = try await Realm(configuration: configuration, actor: self)
        }

        var names: [String] { realm.objects(Dog.self).map(\.name) }

        @discardableResult
        func add(_ name: String) async throws -> Int {
            try await realm.asyncWrite {
                realm.add(Dog(name))
                return realm.objects(Dog.self).count
            }
        }

        func rename(_ reference: ThreadSafeReference<Dog>, _ name: String) async throws {
            let dog = try #require(realm.resolve(reference))
            try await realm.asyncWrite { dog.name = name }
        }

        func reference() throws -> ThreadSafeReference<Dog> {
            ThreadSafeReference(to: try #require(realm.objects(Dog.self).first))
        }

        func isSame() async throws -> Bool {
            let other = try await Realm.open(configuration: realm.configuration)
            await Task.yield()
            return other == realm
        }

        func note(_ event: String) { events.append(event) }
        func keep(_ token: NotificationToken) { self.token = token }
        func endObserving() {
            token?.invalidate()
            tokens = []
        }
        func check() throws { try TestRealm.check(realm) }

        func wait(for count: Int) async -> [String] {
            for _ in 0..<1000 where events.count < count {
                try? await Task.sleep(for: .milliseconds(5))
            }
            return events
        }

        func observeHere() async {
            token = await realm.objects(Dog.self).observe(on: self) { kennel, change in
                switch change {
                case .initial(let dogs): kennel.note("initial \(dogs.count)")
                case .update(let dogs, let gone, let come, let changed):
                    kennel.note("\(dogs.count) -\(gone) +\(come) *\(changed)")
                case .error: kennel.note("error")
                }
            }
        }

        /// A realm that has been used in an actor, for code outside of it to misuse.
        nonisolated(unsafe) var leaked: Realm?
        func leak() { leaked = realm }
    }

    private func withKennel(_ body: (Kennel, Realm.Configuration) async throws -> Void) async throws
    {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "toft-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let configuration = Realm.Configuration(
            fileURL: folder.appendingPathComponent("test.realm"))
        let kennel = try await Kennel(configuration)
        try await body(kennel, configuration)
        try await kennel.check()
    }

    // MARK: Opening

    @Test func `A realm belongs to an actor, whichever thread that runs on`() async throws {
        try await withKennel { kennel, _ in
            #expect(try await kennel.add("Rex") == 1)
            try await Task.sleep(for: .milliseconds(2))
            #expect(try await kennel.add("Fido") == 2)
            #expect(await kennel.names == ["Rex", "Fido"])
            #expect(try await kennel.isSame(), "opened again it is the same instance")
        }
    }

    @Test func `Outside of its actor a realm is misuse, and stops nothing`() async throws {
        try await withKennel { kennel, configuration in
            await kennel.leak()
            try elsewhere {
                expectError(.wrongThread) { kennel.leaked?.objects(Dog.self).count }
                expectError(.wrongThread) { try kennel.leaked?.write {} }
            }
            let other = try await Kennel(configuration)
            #expect(await other.names.isEmpty)
        }
    }

    @MainActor @Test func `The main actor has a realm`() async throws {
        let configuration = TestRealm.inMemory()
        let realm = try await Realm(configuration: configuration)
        let same = try await Realm(configuration: configuration, actor: MainActor.shared)
        await Task.yield()
        #expect(realm == same)
        try realm.write { realm.add(Dog("Rex")) }
        let opened = try await Realm.open(configuration: configuration)
        #expect(opened.objects(Dog.self).count == 1)
        try TestRealm.check(realm)
    }

    @Test func `A failed opening throws, and a cancelled one says that it was`() async throws {
        let missing = Realm.Configuration(
            fileURL: URL(fileURLWithPath: "/nowhere/none.realm"), readOnly: true)
        do {
            _ = try await Kennel(missing)
            Issue.record("a file that is not there was opened")
        } catch {
            #expect((error as? Realm.Error)?.code == .fileNotFound)
        }
        let configuration = TestRealm.inMemory()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            _ = try await Kennel(configuration)
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    // MARK: Writing

    @Test
    func `While another thread writes the actor does other work, and the writes keep their order`()
        async throws
    {
        try await withKennel { kennel, configuration in
            let begun = DispatchSemaphore(value: 0)
            let mayEnd = DispatchSemaphore(value: 0)
            Thread {
                try? openHere(configuration).write {
                    begun.signal()
                    mayEnd.wait()
                }
            }.start()
            _ = await Task.detached { waitFor(begun) }.value
            let writes = (0..<5).map { number in
                Task {
                    try await Task.sleep(for: .milliseconds(20 * number))
                    try await kennel.add("dog \(number)")
                }
            }
            for _ in 0..<40 {
                try await Task.sleep(for: .milliseconds(5))
                #expect(await kennel.names.isEmpty, "the actor is free")
            }
            mayEnd.signal()
            for write in writes { _ = try await write.value }
            #expect(await kennel.names == (0..<5).map { "dog \($0)" })
        }
    }

    @Test func `A write that throws or is cancelled leaves nothing, and the next one goes on`()
        async throws
    {
        struct Refused: Error {}
        try await withKennel { kennel, configuration in
            await #expect(throws: Refused.self) { try await kennel.tryToAdd("Rex", Refused()) }
            let begun = DispatchSemaphore(value: 0)
            let mayEnd = DispatchSemaphore(value: 0)
            Thread {
                try? openHere(configuration).write {
                    begun.signal()
                    mayEnd.wait()
                }
            }.start()
            _ = await Task.detached { waitFor(begun) }.value
            let write = Task { try await kennel.add("Tom") }
            try await Task.sleep(for: .milliseconds(20))
            write.cancel()
            await #expect(throws: CancellationError.self) { try await write.value }
            mayEnd.signal()
            try await kennel.add("Fido")
            #expect(await kennel.names == ["Fido"])
            #expect(await kennel.isAwaitingNothing)
        }
    }

    @Test func `A refresh shows what others have committed`() async throws {
        try await withKennel { kennel, configuration in
            try elsewhere {
                let realm = try Realm(configuration: configuration)
                try realm.write { realm.add(Dog("Rex")) }
            }
            // It may have advanced by itself.
            _ = await kennel.refreshed()
            #expect(await kennel.names == ["Rex"])
            #expect(await !kennel.refreshed(), "there is nothing newer")
        }
    }

    // MARK: Between actors

    @Test func `References go from actor to actor, and a variable finds the realm of the actor`()
        async throws
    {
        try await withKennel { kennel, configuration in
            try await kennel.add("Rex")
            let other = try await Kennel(configuration)
            try await other.rename(try await kennel.reference(), "Max")
            _ = await kennel.refreshed()
            #expect(await kennel.names == ["Max"])
            let kept = try await kennel.kept()
            #expect(await other.name(kept) == "Max")
            #expect(try await kennel.thawsFrozen())
        }
    }

    @Test func `Observers are called on the actor, also for what belongs elsewhere`() async throws {
        try await withKennel { kennel, configuration in
            await kennel.observeHere()
            #expect(await kennel.wait(for: 1) == ["initial 0"])
            try await kennel.add("Rex")
            #expect(await kennel.wait(for: 2).last == "1 -[] +[0] *[]")
            let other = try await Kennel(configuration)
            try await other.observeFirst(on: kennel)
            try await other.add("Tom")
            #expect(await kennel.wait(for: 3).last == "2 -[] +[1] *[]")
            try await other.rename(try await kennel.reference(), "Max")
            let events = await kennel.wait(for: 5).suffix(2).sorted()
            #expect(events == ["2 -[] +[] *[0]", "changed [\"name\"] Max"])
            await kennel.endObserving()
            try await other.add("Bob")
            try await Task.sleep(for: .milliseconds(50))
            #expect(await kennel.events.count == 5)
            await other.endObserving()
        }
    }

    @Test func `Maps, sections and projections are observed on an actor`() async throws {
        try await withKennel { kennel, _ in
            try await kennel.add("Rex")
            try await kennel.observeKinds()
            #expect(await kennel.wait(for: 2).sorted() == ["map 0", "sections 1"])
            try await kennel.changeKinds()
            let events = await kennel.wait(for: 5).suffix(3).sorted()
            #expect(events == ["map +[\"a\"]", "projection Max", "sections [0] [0]"])
            await kennel.endObserving()
        }
    }
}

extension ActorTests {
    @Test
    func `asyncWrite waits for the transaction of another task, not for its own`() async throws {
        let kennel = try await Kennel(TestRealm.inMemory())
        try await kennel.addInTwoTasks()
        #expect(await kennel.names == ["Rex", "Max"])
        #expect(await kennel.codeOfNestedWrite() == .alreadyInTransaction)
        try await kennel.check()
    }
}

extension ActorTests.Kennel {
    /// A transaction that spans a suspension, and a write that is requested meanwhile.
    func addInTwoTasks() async throws {
        realm.beginWrite()
        realm.add(Dog("Rex"))
        async let other = add("Max")
        for _ in 0..<1000 where isAwaitingNothing { try await Task.sleep(for: .milliseconds(1)) }
        try await Task.sleep(for: .milliseconds(10))
        try realm.commitWrite()
        #expect(try await other == 2)
    }

    func codeOfNestedWrite() async -> Realm.Error.Code? {
        realm.beginWrite()
        defer { realm.cancelWrite() }
        do {
            try await realm.asyncWrite {}
            return nil
        } catch {
            return (error as? Realm.Error)?.code
        }
    }

    func tryToAdd(_ name: String, _ error: any Error) async throws {
        try await realm.asyncWrite {
            realm.add(Dog(name))
            throw error
        }
    }

    var isAwaitingNothing: Bool { realm.session.waitingTasks.isEmpty }

    func refreshed() async -> Bool { await realm.asyncRefresh() }

    func kept() throws -> KeptDog {
        KeptDog(dog: try #require(realm.objects(Dog.self).first))
    }

    func name(_ kept: KeptDog) async -> String? {
        let dog = kept.dog
        await Task.yield()
        return dog?.realm == realm ? dog?.name : nil
    }

    func thawsFrozen() async throws -> Bool {
        let frozen = try #require(realm.objects(Dog.self).first).freeze()
        await Task.yield()
        return try #require(frozen.thaw()).realm == realm
    }

    func observeFirst(on kennel: ActorTests.Kennel) async throws {
        let dog = try #require(realm.objects(Dog.self).first)
        token = await dog.observe(keyPaths: [\Dog.name], on: kennel) {
            kennel, change in
            if case .change(let dog, let changes) = change {
                kennel.note("changed \(changes.map(\.name)) \(dog.name)")
            }
        }
    }

    func observeKinds() async throws {
        let holder = try await realm.asyncWrite { realm.create(ActorMap.self) }
        let dogs = realm.objects(Dog.self)
        tokens = [
            await holder.numbers.observe(on: self) { kennel, change in
                if case .initial(let map) = change { kennel.note("map \(map.count)") }
                if case .update(_, _, let come, _) = change { kennel.note("map +\(come)") }
            },
            await dogs.sectioned(by: \.age).observe(on: self) { kennel, change in
                if case .initial(let all) = change { kennel.note("sections \(all.count)") }
                if case .update(_, _, _, _, let new, let old) = change {
                    kennel.note("sections \(Array(new)) \(Array(old))")
                }
            },
            await DogView(projecting: dogs[0]).observe(on: self) { kennel, change in
                if case .change(let view, _) = change { kennel.note("projection \(view.title)") }
            },
        ]
    }

    func changeKinds() async throws {
        try await realm.asyncWrite {
            realm.objects(ActorMap.self)[0].numbers["a"] = 1
            realm.objects(Dog.self)[0].name = "Max"
            realm.objects(Dog.self)[0].age = 7
        }
    }
}

final class ActorMap: Object {
    @Persisted var numbers: Map<String, Int>
}

final class DogView: Projection<Dog> {
    @Projected(\Dog.name) var title
}

/// Values that a thread or an actor keeps for others.
final class KeptDog: @unchecked Sendable {
    @ThreadSafe var dog: Dog?
    init(dog: Dog) { self.dog = dog }
}

/// Opens on a thread, from code that is not async.
func openHere(_ configuration: Realm.Configuration) throws -> Realm {
    try Realm(configuration: configuration)
}

private func waitFor(_ semaphore: DispatchSemaphore) { semaphore.wait() }
