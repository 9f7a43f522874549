// Tests: AnyRealmCollection.swift, Observations.swift, RealmSession+Delivery.swift,
// RealmSession+Open.swift, Scheduler.swift
import Foundation
import RealmSwift
import Testing

@testable import Toft

@Suite("Collections whose kind is hidden")
struct AnyCollectionTests {
    private func withDogs(_ body: (Realm, Person) throws -> Void) throws {
        try TestRealm.with { realm in
            let ada = Person(1, "Ada")
            ada.dogs.append(objectsIn: [Dog("Rex", age: 3), Dog("Max", age: 1)])
            try realm.write { realm.add(ada) }
            try body(realm, ada)
        }
    }

    @Test
    func `A collection whose kind is hidden does all that the kinds have in common`() throws {
        try withDogs { realm, ada in
            let library = Library(1)
            try realm.write {
                realm.add(library)
                library.ints.insert(objectsIn: [3, 1])
            }
            var dogs = AnyRealmCollection(ada.dogs)
            #expect(dogs.map(\.name) == ["Rex", "Max"] && dogs.count == 2)
            #expect(dogs == AnyRealmCollection(ada.dogs))
            #expect(dogs != AnyRealmCollection(realm.objects(Dog.self)))
            #expect(AnyRealmCollection(dogs) == dogs)
            #expect(dogs.filter("age > 2").map(\.name) == ["Rex"])
            #expect(dogs.where { $0.age < 2 }.map(\.name) == ["Max"])
            #expect(dogs.sorted(byKeyPath: "name").map(\.name) == ["Max", "Rex"])
            #expect(dogs.sum(of: \.age) == 4 && dogs.index(of: ada.dogs[1]) == 1)
            #expect(dogs.realm == realm && !dogs.isFrozen && dogs.last?.name == "Max")
            dogs = AnyRealmCollection(realm.objects(Dog.self).sorted(by: \.age))
            #expect(dogs.map(\.age) == [1, 3])
            try realm.write { dogs.setValue(7, forKey: "age") }
            #expect(ada.dogs.map(\.age) == [7, 7])
            let owners = AnyRealmCollection(ada.dogs[0].owners)
            #expect(owners.map(\.name) == ["Ada"])
            let numbers = AnyRealmCollection(library.ints)
            #expect(numbers.map { $0 } == [1, 3] && numbers.max() == 3)
            expectError(.indexOutOfRange) { numbers[2] }
        }
    }

    @Test
    func `It is frozen, thawed and carried as what it hides`() throws {
        try withDogs { realm, ada in
            let dogs = AnyRealmCollection(ada.dogs)
            let frozen = dogs.freeze()
            try realm.write { ada.dogs.append(Dog("Tim")) }
            #expect(frozen.count == 2 && frozen.isFrozen && dogs.count == 3)
            #expect(frozen.thaw()?.count == 3)
            let reference = ThreadSafeReference(to: dogs)
            #expect(realm.resolve(reference)?.map(\.name) == ["Rex", "Max", "Tim"])
            try realm.write { realm.delete(ada) }
            #expect(dogs.isInvalidated && !frozen.isInvalidated)
        }
    }

    @Test
    func `An unmanaged list within it has elements and no queries`() throws {
        let list = List<Int>()
        list.append(objectsIn: [1, 2])
        let hidden = AnyRealmCollection(list)
        #expect(Array(hidden) == [1, 2] && hidden.realm == nil && hidden.index(of: 2) == 1)
        list.append(3)
        #expect(hidden.count == 3)
        expectError(.unsupported) { hidden.sorted() }
        expectError(.unsupported) { hidden.observe { _ in } }
    }

    @Test
    func `Its observers are told as those of what it hides, to the end`() throws {
        let configuration = TestRealm.inMemory()
        try LoopThread.run { loop in
            let realm = try Realm(configuration: configuration)
            let ada = Person(1, "Ada")
            try realm.write { realm.add(ada) }
            let log = ObservationTests.Log()
            let dogs = AnyRealmCollection(ada.dogs)
            let token = try loop.inside { dogs.observe { log.add($0) } }
            loop.wait { log.events.count == 1 }
            try realm.write { ada.dogs.append(objectsIn: [Dog("Rex"), Dog("Max")]) }
            loop.wait { log.events.count == 2 }
            try realm.write { realm.delete(ada) }
            loop.wait { log.events.count == 3 }
            #expect(
                log.events == [
                    .initial(0), .update(deletions: [], insertions: [0, 1], modifications: []),
                    .update(deletions: [0, 1], insertions: [], modifications: []),
                ])
            token.invalidate()
        }
    }
}
