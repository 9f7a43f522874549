// Tests: List.swift
import Foundation
import RealmSwift
import Testing

@testable import Toft

@Suite("Lists and links")
struct ListTests {
    private func withDogs(_ body: (Realm, Person, List<Dog>) throws -> Void) throws {
        try TestRealm.with { realm in
            let ada = Person(1, "Ada")
            ada.dogs.append(objectsIn: [Dog("A"), Dog("B"), Dog("C")])
            try realm.write { realm.add(ada) }
            let person = try #require(realm.object(ofType: Person.self, forPrimaryKey: 1))
            try body(realm, person, person.dogs)
        }
    }

    private func names(_ list: List<Dog>) -> String { list.map { $0.name }.joined() }

    @Test
    func `Every way to change a managed list`() throws {
        try withDogs { realm, _, dogs in
            try realm.write {
                dogs.append(Dog("D"))
                dogs.insert(Dog("E"), at: 0)
                #expect(names(dogs) == "EABCD")
                dogs.remove(at: 1)
                #expect(names(dogs) == "EBCD")
                dogs.move(from: 0, to: 3)
                #expect(names(dogs) == "BCDE")
                dogs.swapAt(0, 3)
                #expect(names(dogs) == "ECDB")
                dogs[1] = dogs[0]
                #expect(names(dogs) == "EEDB")
                dogs.replace(index: 0, object: Dog("F"))
                dogs.replaceSubrange(1..<3, with: [Dog("G"), Dog("H"), Dog("I")])
                #expect(names(dogs) == "FGHIB")
                dogs.removeFirst()
                dogs.removeLast(2)
                #expect(names(dogs) == "GH")
                dogs.insert(contentsOf: [Dog("J"), Dog("K")], at: 1)
                #expect(names(dogs) == "GJKH")
                dogs.removeSubrange(0..<2)
                #expect(names(dogs) == "KH")
                dogs.append(objectsIn: [Dog("L")])
                #expect(dogs.count == 3 && dogs.first?.name == "K" && dogs.last?.name == "L")
                dogs.removeAll()
                #expect(dogs.isEmpty)
            }
            #expect(realm.objects(Dog.self).count > 3)
        }
    }

    @Test
    func `Indices out of range change nothing`() throws {
        try withDogs { realm, _, dogs in
            try realm.write {
                expectError(.indexOutOfRange) { dogs.remove(at: 3) }
                expectError(.indexOutOfRange) { dogs.insert(Dog("X"), at: 4) }
                expectError(.indexOutOfRange) { dogs.move(from: 0, to: 3) }
                expectError(.indexOutOfRange) { dogs[7] = Dog("X") }
                expectError(.indexOutOfRange) { dogs.removeLast(4) }
                expectError(.indexOutOfRange) { dogs.swapAt(-1, 0) }
            }
            #expect(names(dogs) == "ABC")
        }
    }

    @Test
    func `Assigning a list fills it; assigning it to itself leaves it alone`() throws {
        try withDogs { realm, person, dogs in
            try realm.write {
                person.dogs = person.dogs
                #expect(names(dogs) == "ABC")
                let other = List<Dog>()
                other.append(objectsIn: [Dog("X"), dogs[0]])
                person.dogs = other
                #expect(names(dogs) == "XA")
                realm.add(Person(2, "Ben"))
                let ben = realm.object(ofType: Person.self, forPrimaryKey: 2)
                ben?.dogs = dogs
                #expect(ben?.dogs.count == 2)
                ben?.dogs.removeAll()
                #expect(names(dogs) == "XA")
            }
        }
    }

    @Test
    func `An instance gives out one list`() throws {
        try withDogs { realm, person, dogs in
            #expect(person.dogs === dogs)
            let again = try #require(realm.object(ofType: Person.self, forPrimaryKey: 1))
            #expect(again.dogs !== dogs)
            #expect(again.dogs == dogs)
        }
    }

    @Test
    func `A loop goes through the elements that were there when it began`() throws {
        try withDogs { realm, _, dogs in
            try realm.write {
                var seen = ""
                for dog in dogs {
                    if dog.isInvalidated {
                        seen += "-"
                        continue
                    }
                    seen += dog.name
                    dogs.append(Dog(dog.name + "'"))
                    if dog.name == "A" { realm.delete(dogs[1]) }
                }
                #expect(seen == "A-C")
                #expect(names(dogs) == "ACA'C'")
            }
        }
    }

    @Test
    func `Links go one way; the other way is computed at once`() throws {
        try withDogs { realm, person, dogs in
            let dog = dogs[0]
            #expect(dog.owners.count == 1 && dog.owners[0].isSameObject(as: person))
            try realm.write {
                dogs.append(dog)
                #expect(dog.owners.count == 2)
                dogs.removeAll()
                #expect(dog.owners.isEmpty)
            }
        }
    }

    @Test(arguments: 1...4)
    func `A long list keeps its order through random changes`(_ round: Int) throws {
        try TestRealm.withFile { realm, _ in
            var seed = UInt64(round)
            func next(_ limit: Int) -> Int {
                seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return Int(seed >> 33) % max(limit, 1)
            }
            let one = Everything()
            try realm.write { realm.add(one) }
            var model: [String] = []
            for _ in 0..<10 {
                try realm.write {
                    for _ in 0..<60 {
                        switch next(6) {
                        case 0, 1, 2:
                            let (text, index) = (
                                String(repeating: "x", count: next(40)) + "\(next(1000))",
                                next(model.count + 1)
                            )
                            one.strings.insert(text, at: index)
                            model.insert(text, at: index)
                        case 3 where !model.isEmpty:
                            let index = next(model.count)
                            one.strings.remove(at: index)
                            model.remove(at: index)
                        case 4 where !model.isEmpty:
                            let (from, to) = (next(model.count), next(model.count))
                            one.strings.move(from: from, to: to)
                            model.insert(model.remove(at: from), at: to)
                        default:
                            one.strings.append("end")
                            model.append("end")
                        }
                    }
                }
                #expect(Array(one.strings) == model, "round \(round)")
            }
        }
    }

    @Test
    func `Properties of all elements are read and set by name`() throws {
        try withDogs { realm, _, dogs in
            try realm.write { dogs.setValue(9, forKey: "age") }
            let ages = dogs.value(forKey: "age") as? [Int]
            #expect(ages == [9, 9, 9])
        }
    }
}
