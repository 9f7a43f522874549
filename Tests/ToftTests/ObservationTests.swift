// Tests: Changes.swift
import Foundation
import RealmSwift
import Synchronization
import Testing

@testable import Toft

@Suite("Observing")
struct ObservationTests {
    /// The notification of a collection's observer, in short.
    enum Event: Equatable {
        case initial(Int)
        case update(deletions: [Int], insertions: [Int], modifications: [Int])
        case error
    }

    final class Log: @unchecked Sendable {
        var events: [Event] = []

        func add<Collection: RealmCollection>(_ change: RealmCollectionChange<Collection>) {
            switch change {
            case .initial(let collection): events.append(.initial(collection.count))
            case .update(_, let deletions, let insertions, let modifications):
                events.append(
                    .update(
                        deletions: deletions, insertions: insertions, modifications: modifications))
            case .error: events.append(.error)
            }
        }
    }

    @Test
    func `Results tell their first contents, then what other threads commit, on the run loop`()
        throws
    {
        let configuration = TestRealm.inMemory()
        try LoopThread.run { loop in
            let realm = try Realm(configuration: configuration)
            let log = Log()
            let dogs = realm.objects(Dog.self)
            let token = try loop.inside { dogs.observe { log.add($0) } }
            loop.wait { log.events.count == 1 }
            #expect(log.events == [.initial(0)])

            try elsewhere {
                let realm = try Realm(configuration: configuration)
                try realm.write { realm.add([Dog("Rex"), Dog("Fido"), Dog("Tom")]) }
            }
            loop.wait { log.events.count == 2 }
            #expect(
                log.events.last == .update(deletions: [], insertions: [0, 1, 2], modifications: []))
            #expect(dogs.count == 3)

            try elsewhere {
                let realm = try Realm(configuration: configuration)
                try realm.write {
                    realm.objects(Dog.self)[2].age = 9
                    realm.delete(realm.objects(Dog.self)[0])
                }
            }
            loop.wait { log.events.count == 3 }
            #expect(log.events.last == .update(deletions: [0], insertions: [], modifications: [2]))

            token.invalidate()
            try elsewhere {
                let realm = try Realm(configuration: configuration)
                try realm.write { realm.add(Dog("Late")) }
            }
            loop.rest()
            #expect(log.events.count == 3)
            realm.refresh()
            #expect(dogs.count == 3)
            try TestRealm.check(realm)
        }
    }

    @Test
    func `The thread's own commits are told, too, but not to the tokens that they leave out`()
        throws
    {
        let configuration = TestRealm.inMemory()
        try LoopThread.run { loop in
            let realm = try Realm(configuration: configuration)
            let (told, spared) = (Log(), Log())
            let tokens = try loop.inside {
                [
                    realm.objects(Dog.self).observe { told.add($0) },
                    realm.objects(Dog.self).observe { spared.add($0) },
                ]
            }
            loop.wait { told.events.count == 1 && spared.events.count == 1 }
            try realm.write(withoutNotifying: [tokens[1]]) { realm.add(Dog("Rex")) }
            loop.wait { told.events.count == 2 }
            loop.rest()
            #expect(
                told.events == [
                    .initial(0), .update(deletions: [], insertions: [0], modifications: []),
                ])
            #expect(spared.events == [.initial(0)])
            try realm.write { realm.add(Dog("Fido")) }
            loop.wait { spared.events.count == 2 }
            #expect(
                spared.events.last == .update(deletions: [], insertions: [1], modifications: []))
        }
    }

    @Test
    func `A write can't leave out the observers of another realm`() throws {
        let (here, there) = (TestRealm.inMemory(), TestRealm.inMemory())
        try LoopThread.run { loop in
            let (realm, other) = (
                try Realm(configuration: here), try Realm(configuration: there)
            )
            let token = try loop.inside { other.objects(Dog.self).observe { _ in } }
            expectError(.wrongRealm) {
                try realm.write(withoutNotifying: [token]) { realm.add(Dog("Rex")) }
            }
            #expect(realm.objects(Dog.self).isEmpty && !realm.isInWriteTransaction)
            realm.beginWrite()
            expectError(.wrongRealm) { try realm.commitWrite(withoutNotifying: [token]) }
            #expect(realm.isInWriteTransaction)
            realm.cancelWrite()
            token.invalidate()
            // An observer that has ended is not notified.
            try realm.write(withoutNotifying: [token]) { realm.add(Dog("Rex")) }
        }
    }

    @Test
    func `A list reports insertions, moves and its end; an object its properties and its end`()
        throws
    {
        let configuration = TestRealm.inMemory()
        try LoopThread.run { loop in
            let realm = try Realm(configuration: configuration)
            let person = Person(1, "Ada")
            person.dogs.append(objectsIn: [Dog("Rex"), Dog("Fido"), Dog("Tom")])
            try realm.write { realm.add(person) }
            let log = Log()
            let changes = Box<[String]>([])
            let tokens = try loop.inside {
                [
                    person.dogs.observe { log.add($0) },
                    person.observe { (change: ObjectChange<Person>) in
                        switch change {
                        case .change(let person, let properties):
                            changes.value += properties.map {
                                "\(person.id).\($0.name)=\($0.newValue.map { "\($0)" } ?? "")"
                            }
                        case .deleted: changes.value.append("deleted")
                        case .error: changes.value.append("error")
                        }
                    },
                ]
            }
            loop.wait { log.events.count == 1 }
            try elsewhere {
                let realm = try Realm(configuration: configuration)
                let person = try #require(realm.object(ofType: Person.self, forPrimaryKey: 1))
                try realm.write {
                    person.age = 40
                    person.dogs.move(from: 0, to: 2)
                }
            }
            loop.wait { log.events.count == 2 && !changes.value.isEmpty }
            #expect(log.events.last == .update(deletions: [0], insertions: [2], modifications: []))
            #expect(changes.value.sorted() == ["1.age=40", "1.dogs="])
            try elsewhere {
                let realm = try Realm(configuration: configuration)
                try realm.write { realm.delete(realm.objects(Person.self)) }
            }
            loop.wait { log.events.count == 3 && changes.value.last == "deleted" }
            #expect(changes.value.last == "deleted")
            #expect(log.events.count == 3)
            #expect(person.isInvalidated && person.dogs.isInvalidated)
            withExtendedLifetime(tokens) {}
        }
    }

    @Test
    func `A realm tells of every commit: its own at once, others when it moves`() throws {
        let configuration = TestRealm.inMemory()
        try LoopThread.run { loop in
            let realm = try Realm(configuration: configuration)
            let count = Box(0)
            let token = try loop.inside {
                realm.observe { notification, told in
                    #expect(notification == .didChange && told == realm)
                    count.value += 1
                }
            }
            try realm.write { realm.add(Dog("Rex")) }
            #expect(count.value == 1)
            try elsewhere {
                let realm = try Realm(configuration: configuration)
                try realm.write { realm.add(Dog("Fido")) }
            }
            loop.wait { count.value == 2 }
            #expect(count.value == 2)
            #expect(realm.objects(Dog.self).count == 2)
            withExtendedLifetime(token) {}
        }
    }

    @Test
    func `Without autorefresh a realm stays where it is, and is told that there is more`() throws {
        let configuration = TestRealm.inMemory()
        try LoopThread.run { loop in
            let realm = try Realm(configuration: configuration)
            realm.autorefresh = false
            let log = Box<[Realm.Notification]>([])
            let token = try loop.inside {
                realm.observe { notification, _ in log.value.append(notification) }
            }
            try elsewhere {
                let realm = try Realm(configuration: configuration)
                try realm.write { realm.add(Dog("Rex")) }
            }
            loop.wait { !log.value.isEmpty }
            #expect(log.value == [.refreshRequired])
            #expect(realm.objects(Dog.self).isEmpty)
            #expect(realm.refresh())
            #expect(realm.objects(Dog.self).count == 1)
            #expect(log.value == [.refreshRequired, .didChange])
            withExtendedLifetime(token) {}
        }
    }

    @Test
    func `On a queue, what is observed comes from a realm of that queue`() throws {
        let configuration = TestRealm.inMemory()
        let realm = try Realm(configuration: configuration)
        try realm.write { realm.add(Person(1, "Ada")) }
        let queue = DispatchQueue(label: "observer")
        let log = Shared<[String]>([])
        let person = try #require(realm.objects(Person.self).first)
        let tokens = [
            realm.objects(Person.self).observe(on: queue) { change in
                dispatchPrecondition(condition: .onQueue(queue))
                switch change {
                case .initial(let people):
                    log.change { $0.append("initial \(Array(people.map(\.name)))") }
                case .update(let people, _, let insertions, _):
                    log.change { $0.append("\(people.count) people, new \(insertions)") }
                case .error(let error): log.change { $0.append("\(error)") }
                }
            },
            person.observe(on: queue) { (change: ObjectChange<Person>) in
                guard case .change(let person, _) = change else { return }
                log.change { $0.append("age \(person.age)") }
            },
        ]
        func wait(for count: Int) {
            for _ in 0..<500 where log.current.count < count { Thread.sleep(forTimeInterval: 0.01) }
        }
        // Both observations have begun when the queue has come around.
        queue.sync {}
        wait(for: 1)
        #expect(log.current == [#"initial ["Ada"]"#])
        try realm.write {
            realm.add(Person(2, "Ben"))
            person.age = 37
        }
        wait(for: 3)
        #expect(Set(log.current.dropFirst()) == ["2 people, new [1]", "age 37"])
        tokens.forEach { $0.invalidate() }
        try realm.write { person.age = 38 }
        queue.sync {}
        Thread.sleep(forTimeInterval: 0.1)
        #expect(log.current.count == 3)
    }

    @Test
    func `A token that is let go before its queue comes around never begins`() throws {
        let realm = try Realm(configuration: TestRealm.inMemory())
        let queue = DispatchQueue(label: "slow")
        let isCalled = Shared(false)
        queue.suspend()
        var token: NotificationToken? = realm.objects(Dog.self).observe(on: queue) { _ in
            isCalled.change { $0 = true }
        }
        #expect(token != nil)
        token = nil
        queue.resume()
        queue.sync {}
        Thread.sleep(forTimeInterval: 0.1)
        queue.sync {}
        #expect(!isCalled.current)
    }

    @Test
    func `beginWrite tells what it found, inside the transaction`() throws {
        let configuration = TestRealm.inMemory()
        try LoopThread.run { loop in
            let realm = try Realm(configuration: configuration)
            let log = Log()
            let isInside = Box(false)
            let token = try loop.inside {
                realm.objects(Dog.self).observe {
                    log.add($0)
                    isInside.value = realm.isInWriteTransaction
                }
            }
            loop.wait { log.events.count == 1 }
            try elsewhere {
                let realm = try Realm(configuration: configuration)
                try realm.write { realm.add(Dog("Rex")) }
            }
            realm.beginWrite()
            #expect(log.events.count == 2 && isInside.value)
            realm.cancelWrite()
            withExtendedLifetime(token) {}
        }
    }

    @Test
    func `Observers hear what another process commits`() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "toft-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appendingPathComponent("dogs.realm")
        let queue = DispatchQueue(label: "another process")
        let log = Log()
        let token = try queue.sync {
            let realm = try Realm(
                configuration: Realm.Configuration(
                    fileURL: url, objectTypes: [Dog.self, Person.self]),
                queue: queue)
            return realm.objects(Dog.self).observe { log.add($0) }
        }
        func wait(until condition: ([Event]) -> Bool) async throws {
            let end = ContinuousClock.now + .seconds(60)
            while !condition(queue.sync { log.events }), ContinuousClock.now < end {
                try await Task.sleep(for: .milliseconds(10))
            }
        }
        try await wait { !$0.isEmpty }
        let path = url.path
        await #expect(processExitsWith: .success) { [path = path as String] in
            let realm = try Realm(
                configuration: Realm.Configuration(
                    fileURL: URL(fileURLWithPath: path), objectTypes: [Dog.self, Person.self]))
            try realm.write { realm.add([Dog("Rex"), Dog("Fido")]) }
        }
        let all: [Event] = [
            .initial(0), .update(deletions: [], insertions: [0, 1], modifications: []),
        ]
        try await wait { $0.count == 2 }
        #expect(queue.sync { log.events } == all)
        await #expect(processExitsWith: .success) { [path = path as String] in
            let realm = try Realm(
                configuration: Realm.Configuration(
                    fileURL: URL(fileURLWithPath: path), objectTypes: [Dog.self, Person.self]))
            try realm.write {
                realm.objects(Dog.self)[1].age = 9
                realm.delete(realm.objects(Dog.self)[0])
            }
        }
        try await wait { $0.count == 3 }
        #expect(
            queue.sync { log.events } == all + [
                .update(deletions: [0], insertions: [], modifications: [1])
            ])
        token.invalidate()
        try queue.sync {
            try TestRealm.check(
                Realm(
                    configuration: Realm.Configuration(
                        fileURL: url, objectTypes: [Dog.self, Person.self])))
        }
    }

    @Test
    func `Where no run loop is running, observing without a queue is misuse`() throws {
        try elsewhere {
            let realm = try Realm(configuration: TestRealm.inMemory())
            expectError(.observationUnavailable) { _ = realm.objects(Dog.self).observe { _ in } }
            try realm.write { realm.add(Dog("Rex")) }
            expectError(.invalidArgument) {
                _ = Dog("Unmanaged").observe { (_: ObjectChange<Dog>) in }
            }
        }
    }

    @Test
    func `Observing in a transaction that has changed something is misuse`() throws {
        try LoopThread.run { loop in
            let realm = try Realm(configuration: TestRealm.inMemory())
            try loop.inside {
                try realm.write {
                    realm.add(Dog("Rex"))
                    expectError(.observeInTransaction) {
                        _ = realm.objects(Dog.self).observe { _ in }
                    }
                }
                let rex = try #require(realm.objects(Dog.self).first)
                try realm.write {
                    rex.age = 7
                    expectError(.observeInTransaction) {
                        _ = realm.objects(Dog.self).observe { _ in }
                    }
                }
            }
        }
    }
}
