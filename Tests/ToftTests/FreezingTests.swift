// Tests: Realm+Freezing.swift
import Foundation
import RealmSwift
import Synchronization
import Testing

@testable import Toft

@Suite("Frozen, everything stays as it was, on any thread")
struct FreezingTests {
    /// Ada with her dogs Rex and Fido, in a file.
    private func withAda(_ body: (Realm, Person) throws -> Void) throws {
        try TestRealm.withFile { realm, _ in
            let ada = Person(1, "Ada", age: 36)
            ada.nickname = "Countess"
            ada.dogs.append(objectsIn: [Dog("Rex", age: 3), Dog("Fido", age: 5)])
            try realm.write { realm.add(ada) }
            try body(realm, ada)
        }
    }

    /// Another thread changes and deletes the objects that the test began with.
    private func overturn(_ realm: Realm) throws {
        let configuration = realm.configuration
        try elsewhere {
            let realm = try Realm(configuration: configuration)
            try realm.write {
                let ada = try #require(realm.object(ofType: Person.self, forPrimaryKey: 1))
                ada.name = "Grace"
                ada.dogs[0].name = "Bello"
                ada.dogs.remove(at: 1)
                realm.add(Person(2, "Ben"))
            }
        }
        realm.refresh()
    }

    @Test
    func
        `Objects, lists, results and linking objects show what was, while live ones move on`()
        throws
    {
        try withAda { realm, ada in
            let frozen = (
                ada: ada.freeze(), dogs: ada.dogs.freeze(),
                people: realm.objects(Person.self).freeze(), owners: ada.dogs[0].owners.freeze()
            )
            let old = realm.objects(Dog.self).where { $0.age > 3 }.sorted(by: \.name).freeze()
            try overturn(realm)
            #expect(
                ada.name == "Grace" && ada.dogs.map(\.name) == ["Bello"]
                    && realm.objects(Person.self).count == 2)

            #expect(
                frozen.ada.isFrozen && frozen.dogs.isFrozen && frozen.people.isFrozen
                    && frozen.owners.isFrozen && old.isFrozen)
            #expect(
                !ada.isFrozen && !ada.dogs.isFrozen && !realm.objects(Person.self).isFrozen
                    && !realm.isFrozen)
            #expect(
                frozen.ada.name == "Ada" && frozen.ada.age == 36
                    && frozen.ada.nickname == "Countess" && frozen.ada.boss == nil)
            #expect(
                frozen.ada.dogs.map(\.name) == ["Rex", "Fido"] && frozen.dogs.map(\.age) == [3, 5])
            #expect(
                frozen.people.map(\.name) == ["Ada"] && frozen.owners.first?.name == "Ada"
                    && old.map(\.name) == ["Fido"])
            #expect(
                frozen.people.where { $0.dogs.name == "Rex" }.count == 1
                    && frozen.people.first?.dogs.isFrozen == true)
            #expect(frozen.dogs.sum(of: \.age) == 8 && frozen.dogs.index(of: frozen.dogs[1]) == 1)
            #expect(frozen.ada.realm?.isFrozen == true)
        }
    }

    @Test
    func `A property of every type reads the same frozen`() throws {
        try TestRealm.with { realm in
            let live = Everything()
            (live.bool, live.int, live.float, live.double, live.string) = (
                true, -7, 1.5, 2.5, "text"
            )
            (live.data, live.date) = (Data([1, 2, 3]), Date(timeIntervalSince1970: 1e9 + 0.25))
            (live.maybeInt, live.maybeString, live.maybeDouble) = (8, "perhaps", 0.5)
            live.ints.append(objectsIn: [1, 2])
            live.maybeStrings.append(objectsIn: ["a", nil])
            try realm.write {
                realm.add(live)
                live.maybeObject = live
            }
            let frozen = live.freeze()
            for property in live.objectSchema.properties
            where !property.isArray && property.type != .object {
                #expect(
                    "\(frozen.value(forKey: property.name) as Any)"
                        == "\(live.value(forKey: property.name) as Any)", "\(property.name)")
            }
            #expect(frozen.maybeObject == frozen && frozen.maybeObject?.maybeObject?.int == -7)
            #expect(Array(frozen.ints) == [1, 2] && Array(frozen.maybeStrings) == ["a", nil])
        }
    }

    @Test
    func `Many threads read the same frozen instances at once, while others write`() throws {
        try withAda { realm, ada in
            try realm.write {
                for number in 0..<1_000 { realm.add(Dog("dog \(number % 10)", age: number)) }
            }
            let shared = Box(
                (
                    realm.freeze(), ada.freeze(),
                    realm.objects(Dog.self).where { $0.age >= 500 }.sorted(
                        by: \.age, ascending: false
                    ).freeze(), ada.dogs.freeze()
                ))
            let configuration = realm.configuration
            let sums = Shared<[Int]>([])
            DispatchQueue.concurrentPerform(iterations: 8) { iteration in
                if iteration % 4 == 0 {
                    try? elsewhere {
                        let realm = try Realm(configuration: configuration)
                        for _ in 0..<20 {
                            try realm.write {
                                realm.objects(Dog.self).setValue("changed", forKey: "name")
                            }
                        }
                    }
                    return
                }
                let (realm, ada, dogs, list) = shared.value
                for _ in 0..<20 {
                    let sum =
                        dogs.reduce(0) { $0 + $1.age } + dogs.count
                        + realm.objects(Dog.self).where { $0.name == "dog 3" }.count
                    let names =
                        ada.name + ada.dogs.map(\.name).joined() + list[1].name
                        + (list[0].owners.first?.nickname ?? "")
                    sums.change { $0.append(names == "AdaRexFidoFidoCountess" ? sum : -1) }
                }
            }
            #expect(
                sums.current == Array(repeating: (500..<1_000).reduce(0, +) + 500 + 100, count: 120)
            )
            realm.refresh()
            #expect(Set(realm.objects(Dog.self).map(\.name)) == ["changed"])
        }
    }

    @Test
    func `Thawing gives the live twin of the thread that thaws; nil when it has been deleted`()
        throws
    {
        try withAda { realm, ada in
            let frozen = Box(
                (
                    realm: realm.freeze(), ada: ada.freeze(), rex: ada.dogs[0].freeze(),
                    fido: ada.dogs[1].freeze(), list: ada.dogs.freeze()
                ))
            #expect(
                frozen.value.realm.thaw() == realm
                    && frozen.value.ada.thaw()?.isSameObject(as: ada) == true)
            #expect(ada.thaw() === ada)
            try realm.write { realm.delete(ada.dogs[1]) }
            try elsewhere {
                let (realm, ada, rex, fido, list) = frozen.value
                let live = try #require(ada.thaw())
                #expect(!live.isFrozen && live.dogs.count == 1 && list.thaw()?.count == 1)
                #expect(fido.thaw() == nil && fido.name == "Fido" && !fido.isInvalidated)
                let thawed = realm.thaw()
                try thawed.write { rex.thaw()?.name = "Bello" }
                #expect(thawed == live.realm && rex.name == "Rex" && rex.thaw()?.name == "Bello")
            }
            try realm.write { realm.delete(ada) }
            #expect(
                frozen.value.ada.thaw() == nil && frozen.value.list.thaw() == nil
                    && frozen.value.list.count == 2)
        }
    }

    @Test
    func `What is thawed is never older than what was frozen, and on a queue it is the queue's`()
        throws
    {
        let configuration = TestRealm.inMemory()
        let queue = DispatchQueue(label: "frozen")
        let dog = Box<Dog?>(nil)
        try LoopThread.run { _ in
            let realm = try Realm(configuration: configuration)
            #expect(realm.objects(Dog.self).isEmpty)
            try queue.sync {
                let realm = try Realm(configuration: configuration, queue: queue)
                let rex = Dog("Rex")
                try realm.write { realm.add(rex) }
                dog.value = rex.freeze()
            }
            #expect(dog.value?.thaw()?.realm == realm && realm.objects(Dog.self).count == 1)
            try queue.sync {
                let own = try Realm(configuration: configuration, queue: queue)
                #expect(dog.value?.thaw()?.realm == own)
            }
        }
    }

    @Test
    func `Frozen twice at one version it is the same realm, and its objects are equal`() throws {
        try withAda { realm, ada in
            let (first, second) = (realm.freeze(), realm.freeze())
            #expect(first == second && first.freeze() == first && first != realm)
            #expect(
                ada.dogs[0].freeze() == ada.dogs[0].freeze()
                    && Set([ada.dogs[0].freeze(), ada.dogs[0].freeze()]).count == 1)
            #expect(first.version == realm.version && !first.refresh() && !first.autorefresh)
            try realm.write { ada.age += 1 }
            #expect(realm.freeze() != first && realm.freeze() == realm.freeze())
            #expect(ada.freeze() != first.objects(Person.self)[0])
        }
    }

    @Test
    func `A frozen realm pins its version until the last that came from it is gone`() throws {
        try withAda { realm, ada in
            var frozen: Person? = ada.freeze()
            let version = realm.version
            for _ in 0..<5 { try realm.write { ada.age += 1 } }
            #expect(try TestRealm.oldestPinnedVersion(realm) == version)
            #expect(frozen?.age == 36)
            frozen = nil
            #expect(try TestRealm.oldestPinnedVersion(realm) == realm.version)
        }
    }

    @Test
    func `In a write transaction, frozen is what was before it; what was made in it can't be`()
        throws
    {
        try withAda { realm, ada in
            try realm.write {
                ada.age = 50
                #expect(ada.freeze().age == 36 && realm.freeze().objects(Dog.self).count == 2)
                let ben = Person(2, "Ben")
                realm.add(ben)
                expectError(.noSuchObject) { _ = ben.freeze() }
                expectError(.noSuchObject) { _ = ben.dogs.freeze() }
                #expect(realm.objects(Person.self).freeze().count == 1)
            }
            #expect(ada.freeze().age == 50)
        }
    }

    @Test
    func `Changing, observing or moving frozen objects is misuse`() throws {
        try withAda { realm, ada in
            let (frozen, list, people, whole) = (
                ada.freeze(), ada.dogs.freeze(), realm.objects(Person.self).freeze(), realm.freeze()
            )
            expectError(.readOnly) { frozen.age = 1 }
            expectError(.readOnly) { frozen.boss = nil }
            expectError(.readOnly) {
                frozen.dogs = List(); list.append(Dog("Tom"))
            }
            expectError(.readOnly) { list.removeAll() }
            expectError(.readOnly) { try whole.write {} }
            expectError(.readOnly) { whole.add(Dog("Tom")) }
            expectError(.readOnly) { whole.delete(frozen) }
            expectError(.readOnly) { whole.delete(people) }
            expectError(.readOnly) { whole.invalidate() }
            expectError(.readOnly) { whole.autorefresh = true }
            let queue = DispatchQueue(label: "never")
            expectError(.observationUnavailable) {
                _ = frozen.observe(on: queue) { (_: ObjectChange<Person>) in }
            }
            expectError(.observationUnavailable) { _ = people.observe(on: queue) { _ in } }
            expectError(.observationUnavailable) { _ = list.observe { _ in } }
            expectError(.observationUnavailable) { _ = whole.observe { _, _ in } }
            try realm.write {
                expectError(.wrongRealm) { realm.delete(frozen) }
                expectError(.wrongRealm) { ada.boss = frozen }
            }
            #expect(frozen.age == 36 && list.count == 2 && ada.boss == nil)

            expectError(.invalidArgument) { _ = Dog("Tom").freeze() }
            expectError(.invalidArgument) { _ = Dog("Tom").thaw() }
            expectError(.invalidArgument) { _ = List<Int>().freeze() }
            let rex = ada.dogs[0]
            try realm.write { realm.delete(rex) }
            expectError(.objectDeleted) { _ = rex.freeze() }
        }
    }

    /// Values that several threads use.
    final class Kennel: @unchecked Sendable {
        @ThreadSafe var favourite: Dog?
        @ThreadSafe var dogs: Results<Dog>?

        init() {}
    }

    @Test
    func `A ThreadSafe variable gives every thread its own instance, any number of times`() throws {
        try withAda { realm, ada in
            let kennel = Kennel()
            #expect(kennel.favourite == nil)
            kennel.favourite = ada.dogs[0]
            kennel.dogs = realm.objects(Dog.self)
            for age in 10..<12 {
                try elsewhere {
                    let dog = try #require(kennel.favourite)
                    try dog.realm?.write { dog.age = age }
                    #expect(kennel.dogs?.count == 2)
                }
                #expect(kennel.favourite?.age == age)
            }
            try realm.write { realm.delete(ada.dogs[0]) }
            #expect(kennel.favourite == nil)
            expectError(.invalidArgument) { kennel.favourite = Dog("Tom") }
        }
    }
}
