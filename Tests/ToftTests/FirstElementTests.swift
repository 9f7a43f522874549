// Tests: CollectionCore.swift, InstanceRecycler.swift, ObjectIterator.swift
import Testing

@testable import Toft
@testable import ToftEngine

/// The cost of the first element of unevaluated results.
@Suite struct FirstElementTests {
    @Test func `The first element is found without the others`() throws {
        try TestRealm.with { realm in
            try realm.write {
                for id in 0..<500 { realm.add(Person(id, "n\(id % 10)", age: id)) }
            }
            let found = realm.objects(Person.self).filter("name CONTAINS 'n3'")
            let engine = try #require(found._core()).results
            #expect(!found.isEmpty)
            #expect(found.first?.id == 3)
            #expect(!engine.isComplete)
            #expect(engine.evaluations == 1)
            let hidden = AnyRealmCollection(realm.objects(Person.self).filter("age > 100"))
            #expect(!hidden.isEmpty)
            #expect(hidden.first?.id == 101)
            #expect(try #require(try hidden._core()).results.isComplete == false)

            let none = realm.objects(Person.self).filter("name == 'x'")
            #expect(none.isEmpty)
            #expect(none.first == nil)
            #expect(none.last == nil)
            let latest = realm.objects(Person.self).filter("name CONTAINS 'n3'")
            #expect(latest.last?.id == 493)
            #expect(try #require(latest._core()).results.isComplete == false)
            #expect(realm.objects(Person.self).last?.id == 499)
            #expect(
                realm.objects(Person.self).where { $0.age < 7 }.sorted(byKeyPath: "id").last?.id
                    == 6)
            #expect(found.last?.id == 493)
            #expect(found.map(\.id) == Array(stride(from: 3, to: 500, by: 10)))
        }
    }
}
