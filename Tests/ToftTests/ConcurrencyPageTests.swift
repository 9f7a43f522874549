// Tests: ChangeSequence.swift
import Foundation
import Observation
import RealmSwift
import Testing

// No `@testable`: the code of the page about concurrency, as an app has it.

struct DogInfo: Sendable {
    let name: String
    let age: Int
}

actor Kennel {
    private var realm: Realm!

    init(_ configuration: Realm.Configuration) async throws {
        realm = try await Realm(configuration: configuration, actor: self)
    }

    func add(_ info: DogInfo) async throws {
        try await realm.asyncWrite {
            _ = realm.create(Dog.self, value: ["name": info.name, "age": info.age])
        }
    }

    func all() -> [DogInfo] {
        realm.objects(Dog.self).map { DogInfo(name: $0.name, age: $0.age) }
    }
}

@MainActor
func namesOfDogs(in realm: Realm, upTo limit: Int) async -> [String] {
    var names: [String] = []
    for await change in realm.objects(Dog.self).changes {
        switch change {
        case .initial(let dogs), .update(let dogs, _, _, _): names = dogs.map(\.name)
        case .error: break
        }
        if names.count >= limit { break }
    }
    return names
}

@MainActor
func readNames(of realm: Realm, onChange: @escaping @Sendable () -> Void) -> [String] {
    withObservationTracking {
        realm.objects(Dog.self).map(\.name)
    } onChange: {
        onChange()
    }
}

func dog(named name: String, in configuration: Realm.Configuration) throws -> DogInfo? {
    let realm = try Realm(configuration: configuration)
    return realm.objects(Dog.self).where { $0.name == name }.first
        .map { DogInfo(name: $0.name, age: $0.age) }
}

func addDog(_ info: DogInfo, in configuration: Realm.Configuration) throws {
    let realm = try Realm(configuration: configuration)
    try realm.write { _ = realm.create(Dog.self, value: ["name": info.name, "age": info.age]) }
}

func handle(_ names: [String], _ configuration: Realm.Configuration) async throws -> [DogInfo] {
    try await withThrowingTaskGroup(of: DogInfo?.self) { group in
        for name in names { group.addTask { try dog(named: name, in: configuration) } }
        return try await group.reduce(into: []) { found, dog in if let dog { found.append(dog) } }
    }
}

private final class QueueExecutor: SerialExecutor {
    private let queue = DispatchQueue(label: "queue-executor")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}

/// An actor that runs on a queue of its own.
private actor QueueActor {
    private let executor = QueueExecutor()
    private var realm: Realm!

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    func open(_ configuration: Realm.Configuration) async throws {
        realm = try await Realm(configuration: configuration, actor: self)
    }

    func add(_ name: String) async throws -> Int {
        try await realm.asyncWrite { _ = realm.create(Dog.self, value: ["name": name]) }
        return realm.objects(Dog.self).count
    }
}

@globalActor
private actor Storage {
    static let shared = Storage()
}

@Suite("The page about Swift 6 compiles, and does what it says")
struct ConcurrencyPageTests {
    @Test
    func `Each block of the page is in this file`() throws {
        let source = try String(contentsOfFile: #filePath, encoding: .utf8)
        let blocks = try PageCode(page: "Concurrency").blocks
        #expect(blocks.count >= 5)
        for block in blocks { #expect(PageCode.has(block, in: source), "\(block)") }
    }

    @Test
    func `An actor keeps dogs, whatever its executor`() async throws {
        let configuration = TestRealm.inMemory([Dog.self, Person.self])
        let kennel = try await Kennel(configuration), other = QueueActor()
        try await other.open(configuration)
        async let first: Void = kennel.add(DogInfo(name: "Rex", age: 3))
        async let second = other.add("Max")
        _ = try await (first, second)
        #expect(try await other.add("Tim") == 3)
        try await kennel.add(DogInfo(name: "Ben", age: 1))
        #expect(await Set(kennel.all().map(\.name)) == ["Rex", "Max", "Tim", "Ben"])
    }

    @Test
    @Storage
    func `A global actor of an app's own has a realm`() async throws {
        let configuration = TestRealm.inMemory([Dog.self, Person.self])
        let realm = try await Realm(configuration: configuration, actor: Storage.shared)
        try await realm.asyncWrite { _ = realm.create(Dog.self, value: ["name": "Rex"]) }
        #expect(realm.objects(Dog.self).count == 1)
        let same = try await Realm.open(configuration: configuration)
        #expect(same == realm)
    }

    @Test
    @MainActor
    func `Changes and reads are told on the main actor`() async throws {
        let configuration = TestRealm.inMemory([Dog.self, Person.self])
        let realm = try await Realm(configuration: configuration)
        let told = Shared(0)
        #expect(readNames(of: realm) { told.change { $0 += 1 } } == [])
        let writer = Task.detached {
            for name in ["Rex", "Max"] {
                try addDog(DogInfo(name: name, age: 1), in: configuration)
            }
        }
        #expect(await namesOfDogs(in: realm, upTo: 2) == ["Rex", "Max"])
        try await writer.value
        #expect(told.current == 1)
    }

    @Test
    func `Each task of a server has a realm of its own`() async throws {
        let configuration = TestRealm.inMemory([Dog.self, Person.self])
        let kept = try await Kennel(configuration)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                group.addTask {
                    try addDog(DogInfo(name: "\(number)", age: number), in: configuration)
                }
            }
            try await group.waitForAll()
        }
        let found = try await handle((0..<30).map { "\($0)" }, configuration)
        #expect(found.count == 20 && found.map(\.age).reduce(0, +) == 190)
        // One that is opened now shows the newest version.
        #expect(try await Kennel(configuration).all().count == 20)
        _ = kept
    }

    @Test
    func `What is Sendable crosses`() async throws {
        let configuration = TestRealm.inMemory([Dog.self, Person.self])
        let kept = try await Kennel(configuration)
        try addDog(DogInfo(name: "Rex", age: 1), in: configuration)
        func crosses<Value: Sendable>(_ value: Value) {}
        crosses(configuration)
        crosses(Realm.Error(.diskFull))
        crosses(Realm.UpdatePolicy.all)
        crosses(Realm.Notification.didChange)
        crosses(ObjectId.generate())
        crosses(Decimal128(1))
        #expect(try await Kennel(configuration).all().count == 1)
        _ = kept
    }
}
