// Tests: ThreadSafeReference.swift
import Foundation
import RealmSwift
import Synchronization
import Testing

@testable import Toft

@Suite("Threads and queues")
struct ThreadTests {
    @Test
    func `One thread gets one instance, another thread another`() throws {
        let configuration = TestRealm.inMemory()
        let realm = try Realm(configuration: configuration)
        #expect(try Realm(configuration: configuration) == realm)
        let mine = ObjectIdentifier(realm.session)
        let other = try elsewhere {
            ObjectIdentifier(try Realm(configuration: configuration).session)
        }
        #expect(other != mine)
    }

    @Test
    func `A realm belongs to its thread: used on another one it is misuse, and gives nothing`()
        throws
    {
        let realm = try Realm(configuration: TestRealm.inMemory())
        let person = Person(1, "Ada")
        try realm.write { realm.add(person) }
        let people = realm.objects(Person.self)
        let things = Box((realm, person, people))
        try elsewhere {
            let (realm, person, people) = things.value
            expectError(.wrongThread) { _ = person.name }
            expectError(.wrongThread) { _ = person.dogs.count }
            expectError(.wrongThread) { _ = people.count }
            expectError(.wrongThread) { _ = realm.objects(Dog.self) }
            expectError(.wrongThread) { realm.beginWrite() }
            expectError(.wrongThread) { _ = realm.refresh() }
        }
        #expect(person.name == "Ada")
    }

    @Test
    func `An unmanaged object may go anywhere`() throws {
        let person = Box(Person(1, "Ada"))
        try elsewhere { person.value.name = "Ben" }
        #expect(person.value.name == "Ben")
    }

    @Test
    func `A thread stays at its version until it refreshes`() throws {
        let configuration = TestRealm.inMemory()
        let realm = try Realm(configuration: configuration)
        let dogs = realm.objects(Dog.self)
        #expect(dogs.isEmpty)
        try elsewhere {
            let realm = try Realm(configuration: configuration)
            try realm.write { realm.add(Dog("Rex")) }
        }
        #expect(dogs.isEmpty)
        #expect(realm.refresh())
        #expect(dogs.count == 1)
        #expect(!realm.refresh())
    }

    @Test
    func `A reference moves a realm that is older, and no other`() throws {
        let configuration = TestRealm.inMemory()
        let realm = try Realm(configuration: configuration)
        let rex = Dog("Rex")
        try realm.write { realm.add(rex) }
        let reference = Shared(ThreadSafeReference(to: rex))
        let (isOpen, isDeleted) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let outcome = Shared<[Bool]>([])
        let hasEnded = DispatchSemaphore(value: 0)
        Thread {
            if let realm = try? Realm(configuration: configuration) {
                isOpen.signal()
                isDeleted.wait()
                // It has been deleted since, in a version that this realm does not show yet.
                let dog = realm.resolve(reference.current)
                outcome.change { $0.append(dog?.name == "Rex") }
                realm.refresh()
                outcome.change { $0.append(dog?.isInvalidated == true) }
            }
            hasEnded.signal()
        }.start()
        isOpen.wait()
        try realm.write { realm.delete(rex) }
        isDeleted.signal()
        hasEnded.wait()
        #expect(outcome.current == [true, true])
        let fido = Dog("Fido")
        let inside = try realm.write { () -> ThreadSafeReference<Dog> in
            realm.add(fido)
            return ThreadSafeReference(to: fido)
        }
        try elsewhere {
            let realm = try Realm(configuration: configuration)
            #expect(realm.resolve(inside)?.name == "Fido")
        }
    }

    @Test
    func `References carry objects, lists, results and linking objects to another thread, once`()
        throws
    {
        let configuration = TestRealm.inMemory()
        let realm = try Realm(configuration: configuration)
        let person = Person(1, "Ada")
        person.dogs.append(objectsIn: [Dog("Rex"), Dog("Fido")])
        try realm.write { realm.add(person) }
        let object = ThreadSafeReference(to: person)
        let list = ThreadSafeReference(to: person.dogs)
        let results = ThreadSafeReference(to: realm.objects(Dog.self))
        let owners = ThreadSafeReference(to: person.dogs[0].owners)
        try elsewhere {
            let realm = try Realm(configuration: configuration)
            #expect(realm.resolve(object)?.name == "Ada")
            let dogs = try #require(realm.resolve(list))
            #expect(dogs.map(\.name) == ["Rex", "Fido"])
            #expect(realm.resolve(results)?.count == 2)
            #expect(realm.resolve(owners)?.first?.name == "Ada")
            #expect(object.isInvalidated)
            expectError(.invalidArgument) { _ = realm.resolve(object) }
        }
        expectError(.invalidArgument) { _ = ThreadSafeReference(to: Dog("Unmanaged")) }
    }

    @Test
    func `A reference to what was deleted meanwhile resolves to nil`() throws {
        let configuration = TestRealm.inMemory()
        let realm = try Realm(configuration: configuration)
        let person = Person(1, "Ada")
        try realm.write { realm.add(person) }
        let (object, list) = (ThreadSafeReference(to: person), ThreadSafeReference(to: person.dogs))
        try realm.write { realm.delete(person) }
        try elsewhere {
            let realm = try Realm(configuration: configuration)
            #expect(realm.objects(Person.self).isEmpty)
            #expect(realm.resolve(object) == nil)
            #expect(realm.resolve(list) == nil)
        }
    }

    @Test
    func `A realm of a queue is used on the queue, on whatever thread that runs`() throws {
        let configuration = TestRealm.inMemory()
        let queue = DispatchQueue(label: "realm")
        let box = Box<Realm?>(nil)
        try queue.sync {
            let realm = try Realm(configuration: configuration, queue: queue)
            try realm.write { realm.add(Dog("Rex")) }
            box.value = realm
        }
        try elsewhere {
            try queue.sync {
                #expect(box.value?.objects(Dog.self).count == 1)
                let again = try Realm(configuration: configuration, queue: queue)
                #expect(again == box.value)
            }
            expectError(.wrongThread) { _ = box.value?.objects(Dog.self) }
            expectError(.wrongThread) { try Realm(configuration: configuration, queue: queue) }
        }
    }

    @Test
    func `Many threads write in turn, and nothing is lost`() throws {
        let configuration = TestRealm.inMemory()
        let realm = try Realm(configuration: configuration)
        try realm.write { realm.add(Person(1, "Ada", age: 0)) }
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            try? elsewhere {
                let realm = try Realm(configuration: configuration)
                for _ in 0..<25 {
                    try realm.write {
                        realm.object(ofType: Person.self, forPrimaryKey: 1)?.age += 1
                    }
                }
            }
        }
        realm.refresh()
        #expect(realm.object(ofType: Person.self, forPrimaryKey: 1)?.age == 200)
        try TestRealm.check(realm)
    }

    @Test
    func `After invalidate, objects are invalid and results empty, and the realm goes on`() throws {
        try TestRealm.with { realm in
            let person = Person(1, "Ada")
            try realm.write { realm.add(person) }
            let people = realm.objects(Person.self)
            realm.invalidate()
            #expect(person.isInvalidated)
            #expect(people.isEmpty && people.isInvalidated)
            #expect(realm.objects(Person.self).count == 1)
        }
    }

    @Test
    func `On another thread an object is not taken for a deleted one`() throws {
        let realm = try Realm(configuration: TestRealm.inMemory())
        let person = Person(1, "Ada")
        try realm.write { realm.add(person) }
        let there = Box(person)
        try elsewhere {
            #expect(!there.value.isInvalidated)
            let text = try Realm.attempt { there.value.description }
            #expect(text == "[object of another thread, queue or actor]")
        }
        #expect(!person.isInvalidated)
        try realm.write { realm.delete(person) }
        #expect(person.isInvalidated && person.description == "[invalid object]")
    }
}
