// Tests: Object+Observation.swift
import Foundation
import RealmSwift
import Synchronization
import Testing

@testable import Toft

@Suite("Observing with key paths, and what properties held")
struct KeyPathObservationTests {
    typealias Log = ObservationTests.Log

    /// Ada, her report Ben, and her dogs Rex and Fido, in a file.
    private func withOffice(_ body: @escaping @Sendable (LoopThread, Realm) throws -> Void) throws {
        try TestRealm.withFolder { folder in
            let configuration = Realm.Configuration(
                fileURL: folder.appendingPathComponent("office.realm"))
            try LoopThread.run { loop in
                let realm = try Realm(configuration: configuration)
                let (ada, ben) = (Person(1, "Ada"), Person(2, "Ben"))
                ben.boss = ada
                ada.dogs.append(objectsIn: [Dog("Rex"), Dog("Fido")])
                try realm.write { realm.add([ada, ben]) }
                try body(loop, realm)
                try TestRealm.check(realm)
            }
        }
    }

    /// Commits on another thread.
    private func commit(_ realm: Realm, _ change: @escaping @Sendable (Realm) throws -> Void) throws
    {
        let configuration = realm.configuration
        try elsewhere {
            let realm = try Realm(configuration: configuration)
            try realm.write { try change(realm) }
        }
    }

    @Test
    func `Results report only modifications that a key path names, also through links and lists`()
        throws
    {
        try withOffice { loop, realm in
            let people = realm.objects(Person.self)
            let logs = (0..<6).map { _ in Log() }
            let tokens = try loop.inside {
                [
                    people.observe(keyPaths: ["age"]) { logs[0].add($0) },
                    people.observe(keyPaths: [\.age]) { logs[1].add($0) },
                    people.observe(keyPaths: ["dogs.name", "boss.name"]) { logs[2].add($0) },
                    people.observe(keyPaths: [\.dogs[0].name, \.boss?.name]) { logs[3].add($0) },
                    people.observe(keyPaths: [\.reports.first?.nickname]) { logs[4].add($0) },
                    people.observe(keyPaths: []) { logs[5].add($0) },
                ]
            }
            loop.wait { logs.allSatisfy { $0.events.count == 1 } }
            /// The observers' notifications of a commit; nil for those that are not called.
            func told(_ change: @escaping @Sendable (Realm) throws -> Void) throws
                -> [ObservationTests.Event?]
            {
                let before = logs.map(\.events.count)
                try self.commit(realm, change)
                loop.rest()
                return zip(logs, before).map { $0.events.count > $1 ? $0.events.last : nil }
            }
            func modified(_ rows: Int...) -> ObservationTests.Event {
                .update(deletions: [], insertions: [], modifications: rows)
            }
            #expect(
                try told { $0.objects(Person.self)[1].age = 40 } == [
                    modified(1), modified(1), nil, nil, nil, nil,
                ])
            #expect(
                try told { $0.objects(Dog.self)[1].name = "Bello" } == [
                    nil, nil, modified(0), modified(0), nil, nil,
                ])
            #expect(try told { $0.objects(Dog.self)[1].age = 9 } == Array(repeating: nil, count: 6))
            #expect(
                try told { $0.objects(Person.self)[0].name = "Grace" } == [
                    nil, nil, modified(1), modified(1), nil, nil,
                ])
            #expect(
                try told { $0.objects(Person.self)[1].nickname = "B" } == [
                    nil, nil, nil, nil, modified(0), nil,
                ])
            let insertion = ObservationTests.Event.update(
                deletions: [], insertions: [2], modifications: [])
            #expect(try told { $0.add(Person(3, "Cleo")) } == Array(repeating: insertion, count: 6))
            tokens.forEach { $0.invalidate() }
        }
    }

    @Test
    func `A list reports what paths of its elements name; an object the property that changed`()
        throws
    {
        try withOffice { loop, realm in
            let ada = try #require(realm.object(ofType: Person.self, forPrimaryKey: 1))
            let log = Log()
            let names = Box<[String]>([])
            let tokens = try loop.inside {
                [
                    ada.dogs.observe(keyPaths: ["name"]) { log.add($0) },
                    ada.observe(keyPaths: [\Person.dogs[0].age, \Person.nickname]) {
                        (change: ObjectChange<Person>) in
                        guard case .change(_, let properties) = change else {
                            return names.value.append("deleted")
                        }
                        names.value += properties.map(\.name)
                    },
                ]
            }
            loop.wait { log.events.count == 1 }
            try commit(realm) { $0.objects(Dog.self)[0].age = 5 }
            loop.wait { names.value.count == 1 }
            loop.rest()
            #expect(names.value == ["dogs"] && log.events == [.initial(2)])
            try commit(realm) {
                $0.objects(Dog.self)[0].name = "Bello"
                $0.objects(Person.self)[0].age = 99
            }
            loop.wait { log.events.count == 2 }
            loop.rest()
            #expect(names.value == ["dogs"])
            #expect(log.events.last == .update(deletions: [], insertions: [], modifications: [0]))
            try commit(realm) { $0.delete($0.objects(Person.self)) }
            loop.wait { names.value.count == 2 }
            #expect(names.value == ["dogs", "deleted"])
            withExtendedLifetime(tokens) {}
        }
    }

    @Test
    func `An object tells what its properties held and hold, whoever changed them`() throws {
        try withOffice { loop, realm in
            let ben = try #require(realm.object(ofType: Person.self, forPrimaryKey: 2))
            let changes = Box<[PropertyChange]>([])
            let isOver = Box(false)
            let token = try loop.inside {
                ben.observe { (change: ObjectChange<Person>) in
                    switch change {
                    case .change(_, let properties): changes.value = properties
                    case .deleted: isOver.value = true
                    case .error(let error): Issue.record(error)
                    }
                }
            }
            func changed(_ name: String) -> PropertyChange? {
                changes.value.first { $0.name == name }
            }
            try commit(realm) { realm in
                let ben = try #require(realm.object(ofType: Person.self, forPrimaryKey: 2))
                ben.age = 40
                ben.nickname = "B"
                ben.boss = nil
                ben.dogs.append(Dog("Tom"))
            }
            loop.wait { !changes.value.isEmpty }
            #expect(changes.value.map(\.name) == ["age", "nickname", "boss", "dogs"])
            #expect(
                changed("age")?.oldValue as? Int == 18 && changed("age")?.newValue as? Int == 40)
            #expect(
                changed("nickname")?.oldValue == nil
                    && changed("nickname")?.newValue as? String == "B")
            #expect(
                (changed("boss")?.oldValue as? Person)?.name == "Ada"
                    && changed("boss")?.newValue == nil)
            #expect(changed("dogs")?.oldValue == nil && changed("dogs")?.newValue == nil)

            changes.value = []
            try realm.write { ben.nickname = nil }
            loop.wait { !changes.value.isEmpty }
            #expect(
                changed("nickname")?.oldValue as? String == "B"
                    && changed("nickname")?.newValue == nil)

            // Two commits before the run loop comes around: the old values are those before both.
            changes.value = []
            try realm.write { ben.age = 41 }
            try realm.write { ben.age = 42 }
            loop.wait { !changes.value.isEmpty }
            #expect(
                changed("age")?.oldValue as? Int == 40 && changed("age")?.newValue as? Int == 42)

            try commit(realm) { $0.delete($0.objects(Person.self).where { $0.id == 2 }) }
            loop.wait { isOver.value }
            #expect(isOver.value && ben.isInvalidated)
            withExtendedLifetime(token) {}
        }
    }

    @Test
    func `Old values are enum cases, and nil where the object linked to is gone`() throws {
        let configuration = TestRealm.inMemory([Cat.self])
        try LoopThread.run { loop in
            let realm = try Realm(configuration: configuration)
            let tom = Cat("Tom", .calm, .novice)
            tom.friend = Cat("Felix", .wild, .master)
            try realm.write { realm.add(tom) }
            let changes = Box<[PropertyChange]>([])
            let token = try loop.inside {
                tom.observe { (change: ObjectChange<Cat>) in
                    if case .change(_, let properties) = change { changes.value = properties }
                }
            }
            try elsewhere {
                let realm = try Realm(configuration: configuration)
                try realm.write {
                    realm.object(ofType: Cat.self, forPrimaryKey: "Tom")?.mood = .wild
                    realm.delete(realm.objects(Cat.self).where { $0.name == "Felix" })
                }
            }
            loop.wait { !changes.value.isEmpty }
            #expect(changes.value.map(\.name) == ["mood", "friend"])
            #expect(
                changes.value.first?.oldValue as? Mood == .calm
                    && changes.value.first?.newValue as? Mood == .wild)
            #expect(changes.value.last?.oldValue == nil)
            try TestRealm.check(realm)
            withExtendedLifetime(token) {}
        }
    }

    @Test
    func `On a queue, key paths go along; a wrong one is the mistake of who observes`() throws {
        let realm = try Realm(configuration: TestRealm.inMemory())
        let dog = Dog("Rex")
        try realm.write { realm.add(dog) }
        let queue = DispatchQueue(label: "paths")
        let log = Shared<[String]>([])
        let token = realm.objects(Dog.self).observe(keyPaths: ["name"], on: queue) { change in
            switch change {
            case .initial: log.change { $0.append("initial") }
            case .update(let dogs, _, _, let modifications):
                log.change { $0.append("\(modifications) \(dogs[0].name)") }
            case .error(let error): log.change { $0.append("\(error)") }
            }
        }
        func wait(for count: Int) {
            for _ in 0..<500 where log.current.count < count { Thread.sleep(forTimeInterval: 0.01) }
        }
        wait(for: 1)
        try realm.write { dog.age = 7 }
        Thread.sleep(forTimeInterval: 0.1)
        try realm.write { dog.name = "Bello" }
        wait(for: 2)
        #expect(log.current == ["initial", "[0] Bello"])
        token.invalidate()
        expectError(.noSuchProperty) {
            _ = realm.objects(Dog.self).observe(keyPaths: ["nam"], on: queue) { _ in }
        }
        expectError(.invalidArgument) {
            _ = dog.observe(keyPaths: ["name.length"], on: queue) { (_: ObjectChange<Dog>) in }
        }
    }
}
