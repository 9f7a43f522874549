// Tests: ChangeSequence.swift, TrackedReads.swift, ResultsWatch.swift
import Foundation
import Observation
import RealmSwift
import Testing

@testable import Toft

/// Counts how often what was tracked is told to have changed.
private final class Calls: @unchecked Sendable {
    private let count = Shared(0)
    var current: Int { count.current }

    func track<Result>(_ body: () -> Result) -> Result {
        withObservationTracking(body) { [count] in count.change { $0 += 1 } }
    }
}

@Suite("What Observation sees of objects, collections and results")
struct TrackingTests {
    private static func configuration() -> Realm.Configuration {
        var configuration = TestRealm.inMemory()
        configuration.tracksReads = true
        return configuration
    }

    private static func people(_ realm: Realm) throws -> (Person, Person) {
        try realm.write {
            let (ada, ben) = (Person(1, "Ada", age: 60), Person(2, "Ben", age: 30))
            realm.add([ada, ben])
            ada.dogs.append(Dog("Rex"))
            return (ada, ben)
        }
    }

    /// Reads what a body reads, makes changes, and tells after which of them it was told.
    private static func told(
        _ realm: Realm, _ body: () -> Void, _ changes: [() -> Void]
    ) throws -> [Int] {
        let calls = Calls()
        var told: [Int] = []
        calls.track(body)
        for (index, change) in changes.enumerated() {
            let before = calls.current
            try realm.write(change)
            guard calls.current > before else { continue }
            told.append(index)
            calls.track(body)
        }
        return told
    }

    @Test
    func `A property is told when its own object's changes, once for each tracking`() throws {
        try LoopThread.run { loop in
            let realm = try Realm(configuration: Self.configuration())
            let (ada, ben) = try Self.people(realm)
            try loop.inside {
                let told = try Self.told(
                    realm, { _ = (ada.name, ada.boss?.age) },
                    [
                        { ada.age = 61 }, { ben.name = "Benjamin" }, { ada.name = "Ada" },
                        { ada.name = "Grace" }, { ada.boss = ben }, { ben.age = 31 },
                        { ada.boss = nil }, { ben.age = 32 }, { ada.nickname = "G" },
                    ])
                #expect(told == [3, 4, 5, 6])
                let calls = Calls()
                calls.track { _ = ada.name }
                try realm.write { ada.name = "A" }
                try realm.write { ada.name = "B" }
                #expect(calls.current == 1)
                calls.track { _ = ada.name }
                realm.beginWrite()
                ada.name = "C"
                realm.cancelWrite()
                #expect(calls.current == 1)
                try realm.write { realm.delete(ada) }
                #expect(calls.current == 2)
            }
            try TestRealm.check(realm)
        }
    }

    @Test
    func `Results and collections are told when their elements come and go`() throws {
        try LoopThread.run { loop in
            let realm = try Realm(configuration: Self.configuration())
            let (ada, ben) = try Self.people(realm)
            try loop.inside {
                let adults = try Self.told(
                    realm,
                    { _ = realm.objects(Person.self).where { $0.age > 40 }.count },
                    [{ ben.age = 50 }, { ben.name = "B" }, { realm.add(Person(3, "Cleo")) }])
                #expect(adults == [0, 2])
                let dogs = try Self.told(
                    realm, { for dog in ada.dogs { _ = dog.name } },
                    [
                        { ada.dogs[0].name = "Max" }, { ada.dogs[0].age = 9 },
                        { ada.dogs.append(Dog("Fido")) }, { ben.age = 51 },
                    ])
                #expect(dogs == [0, 2])
                let count = try Self.told(
                    realm, { _ = ada.dogs.count }, [{ ada.dogs.removeLast() }, { ada.age = 1 }])
                #expect(count == [0])
                let sum = try Self.told(
                    realm, { _ = realm.objects(Person.self).sum(of: \.age) as Int },
                    [{ ada.age = 2 }])
                #expect(sum == [0])
                let backlinks = try Self.told(
                    realm, { _ = ben.reports.isEmpty }, [{ ada.boss = ben }, { ada.age = 3 }])
                #expect(backlinks == [0])
            }
            try TestRealm.check(realm)
        }
    }

    @Test
    func `Maps, sets, mixed values and sections are tracked, too`() throws {
        try LoopThread.run { loop in
            let realm = try Realm(configuration: Self.configuration())
            let (ada, ben) = try Self.people(realm)
            let library = try realm.write { realm.create(Library.self) }
            try loop.inside {
                let map = try Self.told(
                    realm, { _ = library.counts["a"] },
                    [{ library.counts["a"] = 1 }, { library.tags.insert("x") }])
                #expect(map == [0])
                let set = try Self.told(
                    realm, { _ = library.tags.contains("x") },
                    [{ library.counts["a"] = 2 }, { library.tags.remove("x") }])
                #expect(set == [1])
                let sections = try Self.told(
                    realm, { _ = realm.objects(Person.self).sectioned(by: \.name).allKeys },
                    [{ ben.age = 3 }, { ada.name = "Zoe" }])
                #expect(sections == [1])
                let dynamic = realm.dynamicObjects("Person")
                let named = try Self.told(
                    realm, { _ = dynamic[0]["name"] }, [{ ada.age = 9 }, { ada.name = "Eve" }])
                #expect(named == [1])
            }
            try TestRealm.check(realm)
        }
    }

    @Test
    func `What another thread commits is told when the realm goes to it`() throws {
        try LoopThread.run { loop in
            let configuration = Self.configuration()
            let realm = try Realm(configuration: configuration)
            let (ada, _) = try Self.people(realm)
            let calls = Calls()
            try loop.inside { calls.track { _ = ada.name } }
            try elsewhere {
                let realm = try Realm(configuration: configuration)
                try realm.write { realm.objects(Person.self).setValue("X", forKey: "name") }
            }
            loop.wait { calls.current == 1 }
            #expect(calls.current == 1 && ada.name == "X")
            try loop.inside { calls.track { _ = ada.name } }
            realm.invalidate()
            #expect(calls.current == 2)
        }
    }

    @Test
    @MainActor
    func `A realm of an actor is tracked without being asked to`() async throws {
        let configuration = TestRealm.inMemory()
        let realm = try await Realm(configuration: configuration)
        let (ada, ben) = try Self.people(realm)
        let calls = Calls()
        calls.track { _ = (ada.name, realm.objects(Dog.self).count) }
        try await realm.asyncWrite { ben.age = 5 }
        #expect(calls.current == 0)
        try await realm.asyncWrite { _ = realm.create(Dog.self) }
        #expect(calls.current == 1)
        try TestRealm.check(realm)
    }

    @Test
    func `Untracked, a thread's realm and what is frozen tell nothing`() throws {
        try LoopThread.run { loop in
            let realm = try Realm(configuration: TestRealm.inMemory())
            let (ada, _) = try Self.people(realm)
            let frozen = ada.freeze()
            let calls = Calls()
            try loop.inside { calls.track { _ = (ada.name, frozen.name, Person(3, "x").name) } }
            try realm.write { ada.name = "B" }
            #expect(calls.current == 0)
            try TestRealm.check(realm)
        }
    }
}

@Suite("Changes in a loop of for await")
struct ChangeSequenceTests {
    @Test
    @MainActor
    func `Results, lists, maps and sections give each change once, in order`() async throws {
        let realm = try await Realm(configuration: TestRealm.inMemory())
        let library = try realm.write { realm.create(Library.self) }
        let person = try realm.write { realm.create(Person.self, value: ["id": 1, "name": "Ada"]) }
        var results = realm.objects(Dog.self).changes.makeAsyncIterator()
        var list = person.dogs.changes(keyPaths: ["name"]).makeAsyncIterator()
        var map = library.counts.changes.makeAsyncIterator()
        var sections = realm.objects(Dog.self).sectioned(by: \.name).changes.makeAsyncIterator()
        guard case .initial(let dogs) = await results.next(),
            case .initial = await list.next(), case .initial = await map.next(),
            case .initial = await sections.next()
        else {
            Issue.record("the first change is not the initial one")
            return
        }
        #expect(dogs.isEmpty)
        try await realm.asyncWrite { person.dogs.append(Dog("Rex")) }
        guard case .update(_, _, let came, _) = await results.next(),
            case .update(_, _, let appended, _) = await list.next(),
            case .update(_, _, _, _, let new, _) = await sections.next()
        else {
            Issue.record("an update is missing")
            return
        }
        #expect(came == [0] && appended == [0] && Array(new) == [0])
        try await realm.asyncWrite { person.dogs[0].age = 7 }
        try await realm.asyncWrite { library.counts["a"] = 1 }
        guard case .update(_, _, _, let modified) = await results.next(),
            case .update(_, _, let keys, _) = await map.next()
        else {
            Issue.record("an update is missing")
            return
        }
        #expect(modified == [0] && keys == ["a"])
        try TestRealm.check(realm)
    }

    @Test
    @MainActor
    func `A loop over an object ends when it has been deleted`() async throws {
        let realm = try await Realm(configuration: TestRealm.inMemory())
        let dog = try realm.write { realm.create(Dog.self, value: ["name": "Rex"]) }
        let changes = dog.changes.makeAsyncIterator()
        try await realm.asyncWrite { dog.name = "Max" }
        var seen: [String] = []
        var iterator = changes
        while let change = await iterator.next() {
            switch change {
            case .change(_, let properties):
                seen += properties.map { "\($0.name) = \($0.newValue ?? "nil")" }
                try await realm.asyncWrite { realm.delete(dog) }
            case .deleted: seen.append("deleted")
            case .error(let error): throw error
            }
        }
        #expect(seen == ["name = Max", "deleted"])
        try TestRealm.check(realm)
    }

    @Test
    @MainActor
    func `A loop ends with its task, and the observation with it`() async throws {
        let realm = try await Realm(configuration: TestRealm.inMemory())
        let seen = Shared(0)
        let task = Task { @MainActor in
            for await _ in realm.changes { seen.change { $0 += 1 } }
            return true
        }
        while seen.current < 3 {
            try await realm.asyncWrite { _ = realm.create(Dog.self) }
            await Task.yield()
        }
        task.cancel()
        #expect(await task.value)
        let last = seen.current
        try await realm.asyncWrite { _ = realm.create(Dog.self) }
        await Task.yield()
        #expect(seen.current == last)
        try TestRealm.check(realm)
    }

    @Test
    @MainActor
    func `Where a realm can't be observed its changes are misuse`() async throws {
        let realm = Box(try await Realm(configuration: TestRealm.inMemory()))
        await Task.detached {
            expectError(.wrongThread) { realm.value.changes.makeAsyncIterator() }
        }.value
        try TestRealm.check(realm.value)
    }
}
