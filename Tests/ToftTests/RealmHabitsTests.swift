import Foundation
import RealmSwift
import Testing

@testable import Toft

@Suite("What programs for RealmSwift do, they may go on doing")
struct RealmHabitsTests {
    @Test
    func `A class may be named twice`() throws {
        try TestRealm.with([Dog.self, Person.self, Dog.self]) { realm in
            #expect(realm.schema.objectSchema.count == 2)
        }
    }

    @Test
    func `A nil property is nil by its name`() throws {
        try TestRealm.with { realm in
            let person = Person(1, "Ada")
            for _ in 0..<2 {
                #expect(person.value(forKey: "nickname") == nil && person["boss"] == nil)
                #expect(person.value(forKeyPath: "boss.name") == nil)
                if person["nickname"] != nil { Issue.record("nil is a value") }
                try realm.write { realm.add(person) }
            }
            try realm.write {
                person.setValue(Person(2, "Bob"), forKey: "boss")
                person.setValue("Rob", forKeyPath: "boss.nickname")
                person.setValue("Lady", forKeyPath: "nickname")
                person.setValue("nobody", forKeyPath: "boss.boss.name")
                expectError(.typeMismatch) { person.setValue(1, forKeyPath: "name.length") }
                expectError(.noSuchProperty) { person.setValue(1, forKeyPath: "boss.wings") }
            }
            #expect(person.boss?.nickname == "Rob" && person.nickname == "Lady")
            #expect(person["nickname"] as? String == "Lady")
        }
    }

    @Test
    func `An array gives the first properties, and no more than there are`() throws {
        try TestRealm.with { realm in
            try realm.write {
                let ada = realm.create(Person.self, value: [7, "Ada"] as [Any])
                #expect(ada.id == 7 && ada.name == "Ada" && ada.age == 18 && ada.boss == nil)
                #expect(realm.create(Dog.self, value: [Any]()).name == "")
            }
            #expect(Dog(value: ["Rex"]).name == "Rex")
            expectError(.invalidArgument) { Dog(value: ["Rex", 3, 4] as [Any]) }
            #expect(realm.objects(Dog.self).count == 1)
        }
    }

    @Test(arguments: [false, true])
    func `Parts of lists are set, moved and taken out`(_ isManaged: Bool) throws {
        try TestRealm.with { realm in
            let one = Everything()
            if isManaged { try realm.write { realm.add(one) } }
            let ints = one.ints
            func change(_ body: () -> Void) throws {
                if isManaged { try realm.write(body) } else { body() }
            }
            try change {
                ints.append(objectsIn: 0..<6)
                ints[1..<5] = ints[0..<2]
            }
            #expect(Array(ints) == [0, 0, 1, 5] && Array(ints[1..<3]) == [0, 1])
            try change {
                ints.removeSubrange(...0)
                ints.replaceSubrange(1..., with: [7, 8, 9])
                ints.removeSubrange(4...)
            }
            #expect(Array(ints) == [0, 7, 8, 9])
        }
    }

    @Test
    func `Elements move before another and go by their indices`() throws {
        try TestRealm.with { realm in
            let one = Everything()
            try realm.write {
                realm.add(one)
                one.ints.append(objectsIn: 0..<6)
                one.ints.move(fromOffsets: [0, 1, 5], toOffset: 4)
                #expect(Array(one.ints) == [2, 3, 0, 1, 5, 4])
                one.ints.move(fromOffsets: [0], toOffset: 6)
                #expect(Array(one.ints) == [3, 0, 1, 5, 4, 2])
                one.ints.remove(atOffsets: [0, 2, 5])
                #expect(Array(one.ints) == [0, 5, 4])
                for wrong in [-1, 4] {
                    expectError(.indexOutOfRange) { one.ints.removeFirst(wrong) }
                    expectError(.indexOutOfRange) { one.ints.removeLast(wrong) }
                }
                one.ints.removeFirst(1)
                one.ints.removeLast(0)
                one.ints.removeLast(2)
            }
            #expect(one.ints.isEmpty)
        }
    }

    @Test
    func `Errors are caught by Realm's names and say what is wrong`() throws {
        let missing = Realm.Configuration(
            fileURL: URL(fileURLWithPath: "/nowhere/x.realm"), readOnly: true)
        do {
            _ = try Realm(configuration: missing)
            Issue.record("it was opened")
        } catch Realm.Error.fileNotFound {
            // As it should be.
        }
        let error: any Error = Realm.Error(.diskFull, "No space is left.")
        #expect(error.localizedDescription == "No space is left.")
        let plain: any Error = Realm.Error(.fileExists)
        #expect(plain.localizedDescription == "fileExists" && "\(plain)" == "fileExists")
    }

    @Test
    func `Queries compare elements of lists, and texts with other properties`() throws {
        try TestRealm.with { realm in
            try realm.write {
                for (id, name, nickname) in [(1, "Ada", "ad"), (2, "Bob", "b*"), (3, "Eve", "ve")] {
                    realm.create(
                        Person.self,
                        value: ["id": id, "name": name, "nickname": nickname] as [String: Any])
                    let one = realm.create(Everything.self, value: ["int": id])
                    one.ints.append(objectsIn: [id, 10 * id])
                    one.bools.append(id == 2)
                }
            }
            func people(_ condition: (Query<Person>) -> Query<Bool>) -> [Int] {
                realm.objects(Person.self).where(condition).map(\.id)
            }
            func lists(_ condition: (Query<Everything>) -> Query<Bool>) -> [Int] {
                realm.objects(Everything.self).where(condition).map(\.int)
            }
            #expect(people { $0.name.ends(with: $0.nickname) } == [3])
            #expect(
                people { $0.name.starts(with: $0.nickname, options: [.caseInsensitive]) } == [1])
            #expect(people { $0.name.contains($0.nickname) } == [3])
            #expect(people { $0.name.like($0.nickname, options: [.caseInsensitive]) } == [2])
            #expect(people { $0.name.equals($0.name) && !$0.name.notEquals($0.name) } == [1, 2, 3])
            #expect(people { $0.name.like("b*", caseInsensitive: true) } == [2])
            #expect(people { $0.name.like("b*", caseInsensitive: false) } == [])
            #expect(lists { $0.ints == 20 } == [2] && lists { $0.bools == true } == [2])
            #expect(lists { $0.ints > 10 } == [2, 3] && lists { $0.ints >= 30 } == [3])
            #expect(lists { $0.ints < 2 } == [1] && lists { $0.ints <= 2 } == [1, 2])
            #expect(lists { $0.bools != false } == [2])
        }
    }

    @Test
    func `Schemas and properties are compared`() throws {
        try TestRealm.with([Dog.self, Person.self]) { realm in
            #expect(realm.schema == realm.schema)
            let name = try #require(realm.schema["Dog"]?["name"])
            #expect(name == realm.schema["Dog"]?["name"] && name != realm.schema["Person"]?["name"])
        }
    }

    @Test
    func `What is read only is not deleted for its classes`() throws {
        try TestRealm.withFolder { folder in
            let url = folder.appendingPathComponent("test.realm")
            let types = [Dog.self, Person.self]
            func make() throws {
                _ = try Realm(
                    configuration: Realm.Configuration(fileURL: url, objectTypes: types))
            }
            try make()
            expectError(.invalidArgument) {
                try Realm(
                    configuration: Realm.Configuration(
                        fileURL: url, readOnly: true, deleteRealmIfMigrationNeeded: true,
                        objectTypes: types))
            }
        }
    }
}
