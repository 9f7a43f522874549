// Tests: Realm+Writing.swift
import Foundation
import RealmSwift
import Testing

@testable import Toft

@Suite("Writing")
struct WritingTests {
    @Test
    func `Adding makes the instance itself live`() throws {
        try TestRealm.with { realm in
            let person = Person(1, "Ada", age: 36)
            try realm.write { realm.add(person) }
            #expect(person.realm == realm)
            #expect(person.age == 36)
            try realm.write { person.age += 1 }
            #expect(realm.object(ofType: Person.self, forPrimaryKey: 1)?.age == 37)
        }
    }

    @Test
    func `Counters add up, and one that would overflow stays as it was`() throws {
        try TestRealm.withFile { realm, _ in
            let one = Everything()
            one.increment(\.int, by: 5)
            try realm.write {
                realm.add(one)
                one.increment(\.int)
                one.increment(\.int, by: -8)
                one.increment(\.int8, by: 127)
                one.int64 = .max
            }
            #expect(one.int == -2 && one.int8 == 127)
            for step in [
                { one.increment(\.int8) }, { one.increment(\.int64) },
                { one.increment(\.int64, by: .max) },
            ] {
                let error = #expect(throws: Realm.Error.self) {
                    try realm.write { try Realm.attempt(step) }
                }
                #expect(error?.code == .overflow)
            }
            #expect(one.int8 == 127 && one.int64 == .max)
            let outside = #expect(throws: Realm.Error.self) {
                try Realm.attempt { one.increment(\.int) }
            }
            #expect(outside?.code == .notInTransaction && one.int == -2)
        }
    }

    /// In one transaction, so that all of it is read before it has reached the file's pages.
    @Test
    func `What is changed object by object is read back at once, by each way to an object`()
        throws
    {
        try TestRealm.withFile { realm, _ in
            try realm.write {
                for id in 0..<600 { realm.add(Person(id, "P\(id)", age: id)) }
            }
            var ages = Dictionary(uniqueKeysWithValues: (0..<600).map { ($0, $0) })
            let people = realm.objects(Person.self)
            try realm.write {
                for id in (0..<600).reversed() {
                    guard let person = realm.object(ofType: Person.self, forPrimaryKey: id) else {
                        Issue.record("person \(id) is gone")
                        continue
                    }
                    person.age += 1
                    person.nickname = "N\(person.age)"
                    person.dogs.append(Dog("Rex \(id)"))
                    person.boss = realm.object(ofType: Person.self, forPrimaryKey: (id + 1) % 600)
                    ages[id] = id + 1
                    #expect(person.age == id + 1 && person.nickname == "N\(id + 1)")
                    #expect(person.dogs.count == 1 && person.boss?.id == (id + 1) % 600)
                }
                for person in people where person.id % 7 == 0 {
                    person.age += 1
                    ages[person.id]? += 1
                    #expect(person.age == ages[person.id])
                }
                for index in stride(from: 0, to: 600, by: 11) {
                    people[index].age += 1
                    people[index].name = "index \(index)"
                    ages[people[index].id]? += 1
                    #expect(people[index].name == "index \(index)")
                }
                realm.delete(people[5])
                ages[5] = nil
                #expect(realm.object(ofType: Person.self, forPrimaryKey: 4)?.boss == nil)
                var seen = 0
                for person in people {
                    person.age += 0
                    #expect(person.age == ages[person.id])
                    seen += 1
                }
                #expect(seen == 599)
            }
            for person in people {
                #expect(person.age == ages[person.id])
                #expect(person.dogs.first?.name == "Rex \(person.id)")
            }
        }
    }

    /// The values of each type, and nil, are read while others wait.
    @Test
    func `Every type is read as it was set in the same transaction`() throws {
        try TestRealm.with { realm in
            let one = Everything(), other = Everything()
            let moment = Date(timeIntervalSince1970: 1_700_000_000.123456)
            try realm.write {
                realm.add([one, other])
                one.bool = true; one.int = .min; one.int8 = -8; one.float = 1.5
                one.double = -2.25; one.string = "Žluťoučký 🐴"; one.data = Data([0, 1, 255])
                one.date = moment; one.maybeInt = 3; one.maybeString = "x"; one.maybeDate = moment
                one.maybeObject = other; one.maybeBool = true; one.maybeDouble = 0.5
                #expect(one.bool && one.int == .min && one.int8 == -8 && one.float == 1.5)
                #expect(one.double == -2.25 && one.string == "Žluťoučký 🐴")
                #expect(one.data == Data([0, 1, 255]) && one.date == moment)
                #expect(one.maybeInt == 3 && one.maybeString == "x" && one.maybeDate == moment)
                #expect(one.maybeObject?.isSameObject(as: other) == true)
                #expect(one.maybeBool == true)
                #expect(one.maybeDouble == 0.5 && one.maybeFloat == nil && one.maybeData == nil)
                one.maybeInt = nil; one.maybeString = nil; one.maybeDate = nil
                one.maybeObject = nil
                #expect(one.maybeInt == nil && one.maybeString == nil && one.maybeDate == nil)
                #expect(one.maybeObject == nil && other.int == 0 && other.string == "")
            }
        }
    }

    @Test
    func `Every type is kept and comes back as it was`() throws {
        let moment = Date(timeIntervalSince1970: 1_700_000_000.123456)
        try TestRealm.withFile { realm, _ in
            let one = Everything()
            one.bool = true; one.int = .min; one.int8 = -8; one.int16 = 16; one.int32 = -32;
            one.int64 = .max
            one.float = 1.5; one.double = -2.25; one.string = "Žluťoučký kůň 🐴";
            one.data = Data([0, 1, 255]); one.date = moment
            one.maybeBool = false; one.maybeInt = 0; one.maybeString = ""; one.maybeData = Data();
            one.maybeDate = .distantPast
            one.maybeDouble = .infinity; one.maybeFloat = -0.0; one.maybeInt8 = 1;
            one.maybeInt16 = 2; one.maybeInt32 = 3; one.maybeInt64 = 4
            one.maybeObject = one
            one.bools.append(objectsIn: [true, false]); one.ints.append(objectsIn: [1, -1]);
            one.int8s.append(7); one.floats.append(0.5)
            one.doubles.append(.pi); one.strings.append(objectsIn: ["", "x"]);
            one.datas.append(Data([9])); one.dates.append(moment)
            one.objects.append(one); one.maybeInts.append(objectsIn: [1, nil, 3]);
            one.maybeStrings.append(objectsIn: [nil, "y"])
            try realm.write { realm.add(one) }

            let read = try #require(realm.objects(Everything.self).first)
            #expect(read !== one)
            #expect(
                read.bool && read.int == .min && read.int8 == -8 && read.int16 == 16
                    && read.int32 == -32 && read.int64 == .max)
            #expect(
                read.float == 1.5 && read.double == -2.25
                    && read.string == "Žluťoučký kůň 🐴"
                    && read.data == Data([0, 1, 255]))
            #expect(read.date == moment)
            #expect(
                read.maybeBool == false && read.maybeInt == 0 && read.maybeString == ""
                    && read.maybeData == Data())
            #expect(
                read.maybeDate == .distantPast && read.maybeDouble == .infinity
                    && read.maybeFloat == 0)
            #expect(
                read.maybeInt8 == 1 && read.maybeInt16 == 2 && read.maybeInt32 == 3
                    && read.maybeInt64 == 4)
            #expect(read.maybeObject?.isSameObject(as: one) == true)
            #expect(
                Array(read.bools) == [true, false] && Array(read.ints) == [1, -1]
                    && Array(read.int8s) == [7])
            #expect(
                Array(read.floats) == [0.5] && Array(read.doubles) == [.pi]
                    && Array(read.strings) == ["", "x"])
            #expect(Array(read.datas) == [Data([9])] && Array(read.dates) == [moment])
            #expect(read.objects.first?.isSameObject(as: read) == true)
            #expect(
                Array(read.maybeInts) == [1, nil, 3] && Array(read.maybeStrings) == [nil, "y"])

            try realm.write {
                read.maybeBool = nil; read.maybeInt = nil; read.maybeString = nil;
                read.maybeData = nil; read.maybeDate = nil
                read.maybeDouble = nil; read.maybeFloat = nil; read.maybeObject = nil
            }
            #expect(
                one.maybeBool == nil && one.maybeInt == nil && one.maybeString == nil
                    && one.maybeData == nil && one.maybeDate == nil)
            #expect(one.maybeDouble == nil && one.maybeFloat == nil && one.maybeObject == nil)
        }
    }

    @Test
    func `Adding brings along what is linked, through circles, each once`() throws {
        try TestRealm.with { realm in
            let (ada, ben) = (Person(1, "Ada"), Person(2, "Ben"))
            ada.boss = ben
            ben.boss = ada
            let rex = Dog("Rex")
            ada.dogs.append(objectsIn: [rex, Dog("Fido"), rex])
            ben.dogs.append(rex)
            try realm.write { realm.add(ada) }
            #expect(realm.objects(Person.self).count == 2)
            #expect(realm.objects(Dog.self).count == 2)
            #expect(ada.boss?.boss?.isSameObject(as: ada) == true)
            #expect(ada.dogs.map(\.name) == ["Rex", "Fido", "Rex"])
            #expect(rex.owners.map(\.name).sorted() == ["Ada", "Ada", "Ben"])
            #expect(ada.reports.first?.name == "Ben")
        }
    }

    @Test
    func `A chain of objects is added however long it is`() throws {
        try TestRealm.with([Household.self, Door.self, Person.self, Dog.self]) { realm in
            let first = Household()
            var last = first
            for _ in 0..<20_000 {
                let next = Household()
                last.neighbour = next
                last = next
            }
            try realm.write { realm.add(first) }
            #expect(realm.objects(Household.self).count == 20_001)
            #expect(first.neighbour?.neighbour?.realm == realm && last.neighbour == nil)
        }
    }

    @Test
    func `The list that the app holds becomes the managed one`() throws {
        try TestRealm.with { realm in
            let person = Person(1, "Ada")
            let dogs = person.dogs
            dogs.append(Dog("Rex"))
            try realm.write {
                realm.add(person)
                dogs.append(Dog("Fido"))
            }
            #expect(person.dogs === dogs)
            #expect(dogs.realm == realm)
            #expect(realm.objects(Dog.self).count == 2)
        }
    }

    @Test
    func `Adding again does nothing; adding what another realm has is misuse`() throws {
        try TestRealm.with { realm in
            let person = Person(1, "Ada")
            try realm.write {
                realm.add(person)
                realm.add(person)
            }
            #expect(realm.objects(Person.self).count == 1)
            try TestRealm.with { other in
                expectError(.wrongRealm) { try other.write { other.add(person) } }
                let copy = try other.write { other.create(Person.self, value: person) }
                #expect(copy.name == "Ada" && copy.realm == other)
            }
        }
    }

    @Test
    func `A second object with the same key is misuse, and stays unmanaged`() throws {
        try TestRealm.with { realm in
            let second = Person(1, "Ben")
            try realm.write { realm.add(Person(1, "Ada")) }
            expectError(.duplicatePrimaryKey) { try realm.write { realm.add(second) } }
            #expect(second.realm == nil)
            #expect(second.name == "Ben")
            #expect(realm.objects(Person.self).count == 1)
        }
    }

    @Test(arguments: [Realm.UpdatePolicy.modified, .all])
    func `Updating by key sets what is given and leaves the rest`(_ policy: Realm.UpdatePolicy)
        throws
    {
        try TestRealm.with { realm in
            try realm.write {
                realm.create(
                    Person.self,
                    value: [
                        "id": 1, "name": "Ada", "age": 36, "nickname": "A",
                        "dogs": [["name": "Rex"]],
                    ] as [String: Any])
            }
            let updated = try realm.write {
                realm.create(
                    Person.self,
                    value: ["id": 1, "age": 37, "nickname": NSNull()] as [String: Any],
                    update: policy)
            }
            #expect(updated.name == "Ada" && updated.age == 37 && updated.nickname == nil)
            #expect(updated.dogs.map(\.name) == ["Rex"])
            try realm.write { realm.add(Person(1, "Grace", age: 50), update: policy) }
            #expect(updated.name == "Grace" && updated.age == 50 && updated.dogs.isEmpty)
            #expect(realm.objects(Person.self).count == 1)
        }
    }

    @Test
    func `Updating goes down to linked objects with keys`() throws {
        try TestRealm.with { realm in
            try realm.write {
                realm.create(
                    Person.self,
                    value: ["id": 1, "name": "Ada", "boss": ["id": 2, "name": "Ben"]]
                        as [String: Any])
                realm.create(
                    Person.self, value: ["id": 1, "boss": ["id": 2, "age": 60]] as [String: Any],
                    update: .modified)
            }
            #expect(realm.objects(Person.self).count == 2)
            #expect(realm.object(ofType: Person.self, forPrimaryKey: 1)?.boss?.age == 60)
            #expect(realm.object(ofType: Person.self, forPrimaryKey: 2)?.name == "Ben")
        }
    }

    @Test
    func `A class without key can't be updated by it`() throws {
        try TestRealm.with { realm in
            expectError(.missingPrimaryKey) {
                try realm.write { realm.add(Dog("Rex"), update: .all) }
            }
            expectError(.missingPrimaryKey) {
                try realm.write {
                    realm.create(Dog.self, value: ["name": "Rex"], update: .modified)
                }
            }
        }
    }

    @Test
    func `A key may be nil, which is a key like another`() throws {
        try TestRealm.with { realm in
            try realm.write {
                realm.create(City.self, value: ["code": nil, "population": 1] as [String: Any?])
                realm.create(City.self, value: ["code": "", "population": 2] as [String: Any])
            }
            #expect(realm.object(ofType: City.self, forPrimaryKey: nil as String?)?.population == 1)
            #expect(realm.object(ofType: City.self, forPrimaryKey: "")?.population == 2)
            #expect(realm.object(ofType: City.self, forPrimaryKey: "x") == nil)
        }
    }

    @Test
    func `Creating links managed objects of the realm and copies nothing of them`() throws {
        try TestRealm.with { realm in
            try realm.write {
                let boss = realm.create(
                    Person.self, value: ["id": 1, "name": "Ada"] as [String: Any])
                realm.create(
                    Person.self, value: ["id": 2, "name": "Ben", "boss": boss] as [String: Any])
            }
            #expect(realm.objects(Person.self).count == 2)
            #expect(realm.object(ofType: Person.self, forPrimaryKey: 2)?.boss?.name == "Ada")
        }
    }

    @Test
    func `Deleting an object empties links to it and invalidates its instances`() throws {
        try TestRealm.with { realm in
            let (ada, ben) = (Person(1, "Ada"), Person(2, "Ben"))
            ben.boss = ada
            ben.dogs.append(objectsIn: [Dog("Rex"), Dog("Fido")])
            try realm.write { realm.add([ada, ben]) }
            let rex = ben.dogs[0]
            let dogs = ben.dogs
            try realm.write {
                realm.delete(ada)
                realm.delete(rex)
            }
            #expect(ada.isInvalidated && rex.isInvalidated && !ben.isInvalidated)
            #expect(ben.boss == nil)
            #expect(ben.dogs.map(\.name) == ["Fido"])
            expectError(.objectDeleted) { _ = ada.name }
            expectError(.objectDeleted) { try realm.write { ada.name = "x" } }
            try realm.write { realm.delete(ben.dogs) }
            #expect(ben.dogs.isEmpty && realm.objects(Dog.self).isEmpty)
            try realm.write { realm.delete(realm.objects(Person.self)) }
            #expect(dogs.isInvalidated)
            #expect(realm.isEmpty)
        }
    }

    @Test
    func `Deleting all leaves other classes of the file alone`() throws {
        try TestRealm.withFile { realm, url in
            try realm.write {
                realm.add(Person(1, "Ada"))
                realm.add(Dog("Rex"))
            }
            let narrow = try Realm(
                configuration: Realm.Configuration(fileURL: url, objectTypes: [City.self]))
            try narrow.write {
                narrow.add(City(value: ["code": "B"]))
                narrow.deleteAll()
            }
            realm.refresh()
            #expect(realm.objects(Dog.self).count == 1)
            try realm.write { realm.deleteAll() }
            #expect(realm.isEmpty)
        }
    }

    @Test
    func `A block that throws changes nothing; a returned value comes through`() throws {
        struct Stop: Error {}
        try TestRealm.with { realm in
            let person = Person(1, "Ada")
            do {
                try realm.write {
                    realm.add(person)
                    throw Stop()
                }
                Issue.record("committed")
            } catch is Stop {}
            #expect(!realm.isInWriteTransaction)
            #expect(person.isInvalidated)
            #expect(realm.isEmpty)
            let name = try realm.write {
                realm.create(Person.self, value: ["id": 1, "name": "Ben"] as [String: Any]).name
            }
            #expect(name == "Ben")
            #expect(person.isInvalidated)
        }
    }

    @Test
    func `Transactions by hand: begin, cancel, commit`() throws {
        try TestRealm.with { realm in
            realm.beginWrite()
            realm.add(Dog("Rex"))
            #expect(realm.objects(Dog.self).count == 1)
            realm.cancelWrite()
            #expect(realm.objects(Dog.self).isEmpty)
            realm.beginWrite()
            realm.add(Dog("Fido"))
            try realm.commitWrite()
            #expect(realm.objects(Dog.self).first?.name == "Fido")
        }
    }

    @Test
    func `The key of a managed object never changes`() throws {
        try TestRealm.with { realm in
            let person = Person(1, "Ada")
            try realm.write { realm.add(person) }
            expectError(.primaryKeyChange) { try realm.write { person.id = 2 } }
            #expect(person.id == 1)
        }
    }

    @Test
    func `Same row, same object: by key it is equal, without key it is the same`() throws {
        try TestRealm.with { realm in
            try realm.write {
                realm.add(Person(1, "Ada"))
                realm.add(Dog("Rex"))
            }
            let people = realm.objects(Person.self)
            #expect(people[0] == people[0] && people[0] !== people[0])
            #expect(people[0].hashValue == people[0].hashValue)
            let dogs = realm.objects(Dog.self)
            #expect(dogs[0] != dogs[0])
            #expect(dogs[0].isSameObject(as: dogs[0]))
        }
    }

    @Test
    func `An object stays in sets and dictionaries when it is added`() throws {
        try TestRealm.with { realm in
            let ada = Person(1, "Ada"), rex = Dog("Rex")
            var visits: [Object: Int] = [ada: 1, rex: 2]
            let before = (ada.hashValue, rex.hashValue)
            try realm.write {
                realm.add(ada)
                realm.add(rex)
            }
            #expect(before == (ada.hashValue, rex.hashValue))
            #expect(visits[ada] == 1 && visits[rex] == 2)
            // Another instance of the same row is equal if the class has a key.
            let found = try #require(realm.object(ofType: Person.self, forPrimaryKey: 1))
            #expect(found !== ada && found == ada && found.hashValue == ada.hashValue)
            visits[found] = 3
            #expect(visits.count == 2 && visits[ada] == 3)
            try realm.write { realm.delete(ada) }
            #expect(visits[ada] == 3 && visits[found] == 3)
        }
    }

    @Test
    func `What is refused leaves nothing of it behind`() throws {
        try TestRealm.with { realm in
            try realm.write { realm.add(Person(1, "Ada")) }
            let boss = Person(5, "Eve"), child = Person(4, "Dan")
            child.dogs.append(Dog("Rex"))
            child.boss = boss
            boss.boss = Person(1, "another Ada")
            try realm.write {
                expectError(.duplicatePrimaryKey) { realm.add(child) }
                boss.boss = Person(4, "another Dan")
                expectError(.duplicatePrimaryKey) { realm.add(child) }
                expectError(.typeMismatch) {
                    realm.create(
                        Person.self,
                        value: ["id": 6, "boss": ["id": 7], "dogs": [["name": "a"], ["age": "b"]]])
                }
                expectError(.duplicatePrimaryKey) {
                    realm.create(
                        Person.self, value: ["id": 6, "boss": ["id": 7, "boss": ["id": 1]]])
                }
            }
            #expect(realm.objects(Person.self).map(\.id) == [1])
            #expect(realm.objects(Dog.self).isEmpty)
            #expect(child.realm == nil && boss.realm == nil && child.dogs.map(\.name) == ["Rex"])
            // Without the wrong value it is accepted.
            boss.boss = child
            try realm.write { realm.add(child) }
            #expect(realm.objects(Person.self).count == 3 && boss.boss == child)
        }
    }
}
