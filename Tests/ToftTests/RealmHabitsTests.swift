// Tests: Toft/Aggregates.swift, EarlierSpellings.swift, List+Offsets.swift,
// NotificationToken.swift, Object+KeyValue.swift, RealmSwift.swift, SortDescriptor.swift
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
            // The right message.
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

    @Test(arguments: [false, true])
    func `Lists, sets and maps are summed up in a realm and out of one`(_ isManaged: Bool) throws {
        try TestRealm.with { realm in
            let person = Person(1, "Ada")
            person.dogs.append(objectsIn: [Dog("Rex", age: 3), Dog("Fido", age: 6)])
            let one = Everything()
            one.ints.append(objectsIn: [3, 1, 2])
            one.maybeInts.append(objectsIn: [nil, 4])
            one.doubles.append(objectsIn: [0.5, .nan])
            one.dates.append(objectsIn: [.distantFuture, .distantPast])
            let library = Library(1)
            library.ints.insert(objectsIn: [5, 7])
            library.counts["a"] = 2
            library.counts["b"] = 6
            library.shelf["x"] = Book("X", pages: 30)
            library.shelf["gone"] = .some(nil)
            if isManaged {
                try realm.write {
                    realm.add(person)
                    realm.add(one)
                    realm.add(library)
                }
            }
            #expect(one.ints.min() == 1 && one.ints.max() == 3 && one.ints.sum() == 6)
            #expect(one.ints.average() == 2.0 && one.doubles.sum() == 0.5)
            #expect(one.maybeInts.sum(ofProperty: "self") == 4)
            #expect(one.dates.min() == .distantPast && one.int8s.min() == nil)
            #expect(person.dogs.sum(ofProperty: "age") == 9 && person.dogs.max(of: \.age) == 6)
            #expect(person.dogs.average(of: \.age) == 4.5 && person.dogs.min(of: \.age) == 3)
            #expect(library.ints.sum() == 12 && library.counts.sum() == 8)
            #expect(library.counts.max() == 6 && library.shelf.sum(of: \.pages) == 30)
            #expect(AnyRealmCollection(one.ints).sum() == 6)
            let total: Int = person.dogs.sum(ofProperty: "age")
            #expect(total == 9)
            expectError(.noSuchProperty) { () -> Int? in person.dogs.min(ofProperty: "wings") }
            expectError(.unsupportedAggregate) { () -> Int? in person.dogs.min(ofProperty: "name") }
            expectError(.overflow) {
                one.ints.realm == nil
                    ? List<Int>([.max, 1]).sum()
                    : try realm.write {
                        one.ints.append(.max)
                        return one.ints.sum()
                    }
            }
        }
    }

    @Test
    func `What is in no realm equals nothing that is in one`() throws {
        try TestRealm.with { realm in
            let (ada, rex) = (Person(1, "Ada"), Dog("Rex"))
            ada.dogs.append(rex)
            try realm.write { realm.add(ada) }
            let people = realm.objects(Person.self)
            let stranger = Dog("Rex")
            #expect(people.filter("ANY dogs == %@", stranger).isEmpty)
            #expect(people.filter("ANY dogs == %@", rex).count == 1)
            #expect(people.filter("%@ IN dogs", stranger).isEmpty)
            #expect(people.filter("boss == %@", Person(9, "Zoe")).isEmpty)
            #expect(people.filter("boss != %@", Person(9, "Zoe")).count == 1)
            #expect(people.where { $0.dogs.contains(stranger) }.isEmpty)
            #expect(people.where { $0.dogs.containsAny(in: [stranger, rex]) }.count == 1)
            #expect(people.where { $0.boss == Person(9, "Zoe") }.isEmpty)
            #expect(people.where { $0 == ada }.count == 1)
            #expect(people.where { $0 != Person(2, "Ben") }.count == 1)
            #expect(people.where { $0.in([ada, Person(2, "Ben")]) }.count == 1)
            let dogs = realm.objects(Dog.self)
            try realm.write { realm.delete(rex) }
            #expect(people.where { $0.dogs.contains(rex) }.isEmpty && dogs.isEmpty)
        }
    }

    @Test
    func `An object of another realm is no argument`() throws {
        try TestRealm.with { realm in
            try TestRealm.with { other in
                let (rex, stranger) = (Dog("Rex"), Dog("Rex"))
                let ada = Person(1, "Ada")
                ada.dogs.append(rex)
                try realm.write { realm.add(ada) }
                try other.write { other.add(stranger) }
                let people = realm.objects(Person.self)
                expectError(.wrongRealm) { people.filter("ANY dogs == %@", stranger) }
                expectError(.wrongRealm) { people.filter("ANY dogs IN %@", [rex, stranger]) }
                expectError(.wrongRealm) { people.where { $0.dogs.contains(stranger) } }
                expectError(.wrongRealm) { people.index(matching: { $0.dogs.contains(stranger) }) }
                #expect(people.where { $0.dogs.contains(rex.freeze()) }.count == 1)
                #expect(people.freeze().filter("ANY dogs == %@", rex).count == 1)
            }
        }
    }

    @Test(arguments: [false, true])
    func `A path by its name goes on beyond collections, and sums them up`(_ isManaged: Bool) throws
    {
        try TestRealm.with { realm in
            let (ada, ben) = (Person(1, "Ada", age: 30), Person(2, "Ben", age: 50))
            ada.boss = ben
            ada.dogs.append(objectsIn: [Dog("Rex", age: 3), Dog("Fido", age: 6), Dog("Rex")])
            let people: any RealmCollection
            if isManaged {
                try realm.write { realm.add(ada) }
                people = realm.objects(Person.self).sorted(by: \.id)
            } else {
                people = List([ada, ben])
            }
            #expect(people.value(forKeyPath: "@count") as? Int == 2)
            #expect(people.value(forKeyPath: "@sum.age") as? Int == 80)
            #expect(people.value(forKeyPath: "@avg.age") as? Double == 40)
            #expect(people.value(forKeyPath: "@max.boss.age") as? Int == 50)
            #expect(people.value(forKeyPath: "name") as? [String] == ["Ada", "Ben"])
            #expect(people.value(forKeyPath: "@unionOfObjects.boss.name") as? [String] == ["Ben"])
            let dogs = people.value(forKeyPath: "@distinctUnionOfArrays.dogs") as? [Dog]
            #expect(dogs?.map(\.name) == ["Rex", "Fido", "Rex"])
            #expect(ada.value(forKeyPath: "dogs.@min.age") as? Int == 1)
            #expect(ada.value(forKeyPath: "dogs.@count") as? Int == 3)
            let names = ada.value(forKeyPath: "dogs.@distinctUnionOfObjects.name") as? [String]
            #expect(names == ["Rex", "Fido"])
            expectError(.noSuchProperty) { people.value(forKeyPath: "@median.age") }
            if isManaged { realm.beginWrite() }
            people.setValue(60, forKeyPath: "boss.age")
            if isManaged { try realm.commitWrite() }
            #expect(ben.age == 60)
        }
    }

    @Test
    func `A pool of what is released later is only a block here`() throws {
        #expect(autoreleasepool { 3 } == 3)
        #expect(throws: Realm.Error.self) { try autoreleasepool { throw Realm.Error(.fail) } }
    }

    @Test
    func `Lists of values are asked no questions, in Swift neither`() throws {
        try TestRealm.with { realm in
            let one = Everything()
            try realm.write { realm.add(one) }
            expectError(.typeMismatch) { one.ints.where { $0 > 3 } }
            expectError(.typeMismatch) { one.ints.index(matching: { $0 == 7 }) }
        }
    }

    @Test
    func `A write without changes is told to the realm's observers`() throws {
        try LoopThread.run { loop in
            let realm = try Realm(configuration: TestRealm.inMemory())
            let calls = Box(0)
            let token = try loop.inside { realm.observe { _, _ in calls.value += 1 } }
            try realm.write {}
            #expect(calls.value == 1)
            realm.beginWrite()
            try realm.commitWrite(withoutNotifying: [token])
            #expect(calls.value == 1)
            try realm.write { realm.add(Dog("Rex")) }
            #expect(calls.value == 2)
            let nested = try loop.inside {
                realm.observe { _, realm in try? realm.write {} }
            }
            try realm.write {}
            #expect(calls.value == 3)
            token.invalidate()
            try realm.write {}
            #expect(calls.value == 3)
            nested.invalidate()
        }
    }

    @Test
    func `Types are named as in Realm`() {
        func name<Wrapped: OptionalProtocol>(_ type: Wrapped.Type) -> String {
            "\(Wrapped.Wrapped.self)"
        }
        func isSortable(_ type: Any.Type) -> Bool { type is any SortableType.Type }
        #expect(name(Int?.self) == "Int" && isSortable(String.self) && !isSortable(Dog.self))
        let types: [ObjectBase.Type] = [Dog.self, Person.self]
        #expect(types.map { $0.className() } == ["Dog", "Person"])
        #expect(Person.sharedSchema()?.primaryKeyProperty?.name == "id")
        let (one, other) = (NotificationToken(), NotificationToken())
        #expect(Set([one, other, one]).count == 2)
    }

    @Test
    func `Objects, collections and schemas are written as Realm writes them`() throws {
        try TestRealm.with { realm in
            let person = Person(1, "Ada")
            person.dogs.append(objectsIn: [Dog("Rex", age: 3), Dog("Fido")])
            let lines = person.description.split(separator: "\n").map(String.init)
            #expect(
                lines[0] == "Person {" && lines[1] == "\tid = 1;" && lines[2] == "\tname = Ada;")
            #expect(lines.contains("\tnickname = (null);"))
            let list = try #require(lines.firstIndex { $0.hasPrefix("\tdogs = List<Dog> <0x") })
            #expect(lines[list].hasSuffix("> (") && lines[list + 1] == "\t\t[0] Dog {")
            #expect(lines[list + 2] == "\t\t\tname = Rex;" && lines[list + 4] == "\t\t},")
            #expect(Array(lines.suffix(3)) == ["\t\t}", "\t);", "}"])
            #expect(
                List<Int>(Array(0..<102)).description.hasSuffix(
                    "[99] 99\n\t... 2 objects skipped.\n)"))
            #expect(List<Int>().description.hasSuffix("> (\n\n)"))
            #expect(realm.objects(Dog.self).description.hasPrefix("Results<Dog> <0x"))
            #expect(
                realm.schema["Dog"]?["name"]?.description == """
                    name {
                    \ttype = string;
                    \tcolumnName = name;
                    \tindexed = NO;
                    \tisPrimary = NO;
                    \tarray = NO;
                    \tset = NO;
                    \tdictionary = NO;
                    \toptional = NO;
                    }
                    """)
            #expect(
                realm.schema.description.contains(
                    "\tDog {\n\t\tname {\n\t\t\ttype = string;\n"))
            #expect(
                realm.schema["Person"]?["dogs"]?.description.contains(
                    "\ttype = object;\n\tobjectClassName = Dog;\n") == true)
            #expect(
                SortDescriptor(keyPath: "age").description
                    == "SortDescriptor(keyPath: age, direction: ascending)")
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

    @Test
    func `A date that is no time is told, and does not stop the program`() throws {
        try TestRealm.with { realm in
            let never = Date(timeIntervalSince1970: .nan)
            let far = Date(timeIntervalSince1970: 1e300)
            for value in [never, far, [never], ["when": never]] as [Any] {
                try realm.write {
                    expectError(.typeMismatch) { realm.create(Dog.self, value: ["age": value]) }
                    expectError(.typeMismatch) {
                        realm.dynamicCreate("Dog", value: ["age": value])
                    }
                }
            }
            let everything = Everything()
            everything.date = never
            everything.dates.append(far)
            #expect(everything.description.contains("date = nan seconds from 2001;"))
        }
    }

    @Test
    func `A number that would lose its value is refused`() throws {
        let object = Everything()
        let refused: [(String, Any)] = [
            ("float", 1e300), ("float", 16_777_217), ("float", NSNumber(value: 16_777_217)),
            ("maybeFloat", 1e300), ("floats", [16_777_217]), ("double", 9_007_199_254_740_993),
            ("double", NSNumber(value: 9_007_199_254_740_993)), ("doubles", [UInt64.max]),
        ]
        for (name, value) in refused {
            expectError(.typeMismatch) { object.setValue(value, forKey: name) }
        }
        // A fraction has no exact value in either type, and is rounded as it is written.
        object.setValue(0.1, forKey: "float")
        object.setValue(Double.infinity, forKey: "maybeFloat")
        #expect(object.float == 0.1 && object.maybeFloat == .infinity)
        object.setValue(16_777_216, forKey: "float")
        object.setValue(NSNumber(value: 0.1), forKey: "double")
        #expect(object.float == 16_777_216 && object.double == 0.1)
        object.setValue(UInt64(1) << 63, forKey: "double")
        #expect(object.double == 0x1p63)
    }
}
