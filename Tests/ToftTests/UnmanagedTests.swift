// Tests: Unmanaged+Borrow.swift
import Foundation
import RealmSwift
import Testing

@testable import Toft

@Suite("Unmanaged objects are ordinary objects")
struct UnmanagedTests {
    @Test
    func `A new object has the defaults of its declarations`() {
        let person = Person()
        #expect(person.age == 18)
        #expect(person.name == "")
        #expect(person.nickname == nil)
        #expect(person.boss == nil)
        #expect(person.dogs.isEmpty)
        #expect(person.reports.isEmpty)
        #expect(person.realm == nil)
        #expect(!person.isInvalidated)
    }

    @Test
    func `A date without default is the time of its first look, and stays`() {
        let everything = Everything()
        let first = everything.date
        #expect(abs(first.timeIntervalSinceNow) < 10)
        #expect(everything.date == first)
    }

    @Test
    func `Properties take values, links and lists`() {
        let (boss, person) = (Person(1, "Ada", age: 40), Person(2, "Ben"))
        person.boss = boss
        person.dogs.append(Dog("Rex"))
        person.nickname = "B"
        #expect(person.boss === boss)
        #expect(person.dogs.first?.name == "Rex")
        #expect(person.nickname == "B")
    }

    @Test
    func `An object is made of a dictionary, with links and lists within`() {
        let person = Person(
            value: [
                "id": 7, "name": "Ada", "boss": ["id": 1, "name": "Grace"],
                "dogs": [["name": "Rex", "age": 3], ["name": "Fido"]], "unknown": 5,
            ] as [String: Any])
        #expect(person.id == 7)
        #expect(person.age == 18)
        #expect(person.boss?.name == "Grace")
        #expect(person.dogs.map(\.name) == ["Rex", "Fido"])
        #expect(person.dogs[0].age == 3)
    }

    @Test
    func `An object is made of an array with a value for each property`() {
        #expect(Dog(value: ["Rex", 4] as [Any]).age == 4)
        expectError(.invalidArgument) { _ = Dog(value: ["Rex", 4, 5] as [Any]) }
    }

    @Test
    func `A copy of an object shares its links`() {
        let person = Person(1, "Ada")
        person.boss = Person(2, "Ben")
        let copy = Person(value: person)
        #expect(copy.name == "Ada")
        #expect(copy.boss === person.boss)
        #expect(copy !== person)
    }

    @Test
    func `Values of other types are converted where nothing is lost, and refused where it is`() {
        let everything = Everything(
            value: [
                "int8": 5, "double": 3, "float": 2.5, "int": NSNumber(value: 9),
                "maybeInt": NSNull(),
            ] as [String: Any])
        #expect(everything.int8 == 5)
        #expect(everything.double == 3)
        #expect(everything.float == 2.5)
        #expect(everything.int == 9)
        #expect(everything.maybeInt == nil)
        expectError(.typeMismatch) { _ = Everything(value: ["int8": 1000]) }
        expectError(.typeMismatch) { _ = Everything(value: ["int": "five"]) }
        expectError(.nullNotAllowed) { _ = Everything(value: ["int": NSNull()]) }
    }

    @Test
    func `Properties can be reached by name`() {
        let person = Person(1, "Ada")
        person["age"] = 41
        #expect(person.age == 41)
        #expect(person["name"] as? String == "Ada")
        person.setValue(["name": "Rex"], forKey: "boss")
        #expect(person.value(forKeyPath: "boss.name") as? String == "Rex")
        expectError(.noSuchProperty) { _ = person["wings"] }
    }

    @Test
    func `Unmanaged objects are equal only when they are one`() {
        let person = Person(1, "Ada")
        #expect(person == person)
        #expect(person != Person(1, "Ada"))
        #expect(person.isSameObject(as: person))
        #expect(Set([person, person, Person(1, "Ada")]).count == 2)
    }

    @Test
    func `An unmanaged list is an array that is shared`() {
        let list: List<Int> = [1, 2, 3]
        let other = list
        other.append(4)
        list.insert(0, at: 0)
        #expect(Array(list) == [0, 1, 2, 3, 4])
        list.move(from: 0, to: 4)
        #expect(Array(list) == [1, 2, 3, 4, 0])
        list.swapAt(0, 1)
        list.remove(at: 4)
        #expect(Array(list) == [2, 1, 3, 4])
        list.replaceSubrange(1..<3, with: [9, 9, 9])
        #expect(Array(list) == [2, 9, 9, 9, 4])
        list.removeFirst()
        list.removeLast(2)
        #expect(Array(list) == [9, 9])
        list[0] = 5
        #expect(list.index(of: 5) == 0)
        #expect(list.first == 5 && list.last == 9)
        list.append(objectsIn: list)
        list.insert(contentsOf: list, at: 0)
        list.replaceSubrange(0..<6, with: list)
        #expect(list.count == 10)
        list.removeAll()
        #expect(list.isEmpty && list.first == nil)
        expectError(.indexOutOfRange) { _ = list[0] }
        expectError(.indexOutOfRange) { list.remove(at: -1) }
        expectError(.unsupported) { _ = list.filter("self > 3") }
    }

    @Test
    func `Lists are coded as arrays`() throws {
        let list = try JSONDecoder().decode(List<String>.self, from: Data(#"["a","b"]"#.utf8))
        #expect(Array(list) == ["a", "b"])
        #expect(try JSONEncoder().encode(list) == Data(#"["a","b"]"#.utf8))
    }

    @Test
    func `Objects describe themselves, circles too`() {
        let person = Person(1, "Ada")
        person.boss = person
        person.dogs.append(Dog("Rex"))
        #expect(person.description.contains("name = Ada;"))
        #expect(person.description.contains("[0] Dog {"))
    }
}
