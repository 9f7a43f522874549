// Tests: Toft/Query.swift, KeyPathNames.swift, PredicateFormat.swift, QueryNode.swift,
// QueryValue.swift, RealmCollection.swift, Toft/Results.swift
import Foundation
import RealmSwift
import Testing

@testable import Toft

@Suite("Queries")
struct QueryTests {
    /// Five people: Ada leads Ben and Cem, Ben leads Dan; Eva leads no one.
    private func withPeople(_ body: (Realm, Results<Person>) throws -> Void) throws {
        try TestRealm.with { realm in
            try realm.write {
                let ada = Person(
                    value: [
                        "id": 1, "name": "Ada", "age": 60, "nickname": "Boss",
                        "dogs": [["Rex", 3], ["Fido", 5]],
                    ] as [String: Any])
                let ben = Person(
                    value: ["id": 2, "name": "Ben", "age": 40, "boss": ada, "dogs": [["Tom", 8]]]
                        as [String: Any])
                let cem = Person(
                    value: ["id": 3, "name": "Cem", "age": 40, "boss": ada, "nickname": "cem"]
                        as [String: Any])
                let dan = Person(
                    value: ["id": 4, "name": "Dan", "age": 25, "boss": ben, "dogs": [["Rex", 1]]]
                        as [String: Any])
                let eva = Person(value: ["id": 5, "name": "Eva", "age": 33] as [String: Any])
                realm.add([ada, ben, cem, dan, eva])
            }
            try body(realm, realm.objects(Person.self))
        }
    }

    // Functions and not #expect: closures within the macro can get the symbol of another closure
    // around it (Swift 6.3).

    private func expect(
        _ people: Results<Person>, _ names: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let found = people.map { $0.name }.joined(separator: " ")
        #expect(found == names, sourceLocation: sourceLocation)
    }

    private func expect(
        _ all: Results<Everything>, _ ints: [Int], sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let found = Array(all.map { $0.int })
        #expect(found == ints, sourceLocation: sourceLocation)
    }

    private func expect(
        _ dogs: Results<Dog>, _ ages: [Int], sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let found = Array(dogs.map { $0.age })
        #expect(found == ages, sourceLocation: sourceLocation)
    }

    @Test
    func `Texts with arguments in both spellings`() throws {
        try withPeople { _, people in
            expect(people.filter("age > 30 AND name BEGINSWITH[c] 'a'"), "Ada")
            expect(people.filter("age == $0 AND name != $1", 40, "Ben"), "Cem")
            expect(people.filter("age == %@ AND name != %@", 40, "Ben"), "Cem")
            expect(people.filter("%K >= %d", "age", 40), "Ada Ben Cem")
            expect(people.filter("name IN %@", ["Dan", "Eva", "Zoe"]), "Dan Eva")
            expect(people.filter("nickname == nil"), "Ben Dan Eva")
            expect(people.filter("boss.name == 'Ada'"), "Ben Cem")
            expect(people.filter("ANY dogs.age > 4"), "Ada Ben")
            expect(people.filter("dogs.@count == 0 AND name LIKE '*%*'"), "")
            expect(people.filter("age BETWEEN {25, 40} SORT(name DESC) LIMIT(2)"), "Eva Dan")
        }
    }

    @Test
    func `An object is an argument, too; an unmanaged one equals none`() throws {
        try withPeople { realm, people in
            let ada = try #require(realm.object(ofType: Person.self, forPrimaryKey: 1))
            expect(people.filter("boss == %@", ada), "Ben Cem")
            expect(people.where { $0.boss == ada }, "Ben Cem")
            expect(people.where { $0.boss == nil }, "Ada Eva")
        }
    }

    @Test
    func `Queries in Swift: comparisons, texts, ranges, and, or, not`() throws {
        try withPeople { _, people in
            expect(people.where { $0.age > 33 && $0.name.starts(with: "A") }, "Ada")
            expect(people.where { $0.age >= 40 || $0.name == "Eva" }, "Ada Ben Cem Eva")
            expect(people.where { !($0.age == 40) }, "Ada Dan Eva")
            expect(people.where { $0.age != 40 && $0.age < 60 }, "Dan Eva")
            expect(people.where { $0.age <= 33 }, "Dan Eva")
            expect(people.where { $0.age.contains(25..<40) }, "Dan Eva")
            expect(people.where { $0.age.contains(25...40) }, "Ben Cem Dan Eva")
            expect(people.where { $0.age.in([25, 60]) }, "Ada Dan")
            expect(
                people.where { $0.name.contains("A", options: [.caseInsensitive]) }, "Ada Dan Eva")
            expect(people.where { $0.name.ends(with: "n") }, "Ben Dan")
            expect(people.where { $0.name.like("?a*") }, "Dan")
            expect(people.where { $0.name.equals("EVA", options: [.caseInsensitive]) }, "Eva")
            expect(people.where { $0.nickname == nil }, "Ben Dan Eva")
            expect(people.where { $0.nickname == "cem" }, "Cem")
            expect(people.where { $0.nickname.contains("e") }, "Cem")
        }
    }

    @Test
    func `Queries in Swift go through links, lists and linking objects`() throws {
        try withPeople { realm, people in
            expect(people.where { $0.boss.name == "Ada" }, "Ben Cem")
            expect(people.where { $0.boss.boss.name == "Ada" }, "Dan")
            expect(people.where { $0.dogs.name == "Rex" }, "Ada Dan")
            expect(people.where { $0.dogs.count == 2 }, "Ada")
            expect(people.where { $0.dogs.age.max > 4 }, "Ada Ben")
            expect(people.where { $0.dogs.age.sum == 8 }, "Ada Ben")
            expect(people.where { $0.dogs.age.avg == 4 }, "Ada")
            expect(people.where { ($0.dogs.age > 2).count == 2 }, "Ada")
            expect(people.where { ($0.dogs.age > 2 && $0.dogs.name == "Rex").count == 1 }, "Ada")
            expect(people.where { $0.reports.count == 2 }, "Ada")
            expect(people.where { $0.reports.age < 30 }, "Ben")
            let tom = try #require(realm.objects(Dog.self).where { $0.name == "Tom" }.first)
            expect(people.where { $0.dogs.contains(tom) }, "Ben")
            let dogs = realm.objects(Dog.self).where { $0.owners.name == "Dan" }
            expect(dogs, [1])
        }
    }

    @Test
    func `Lists of values can be asked, too`() throws {
        try TestRealm.with { realm in
            try realm.write {
                for index in 1...3 {
                    realm.create(
                        Everything.self,
                        value: [
                            "int": index, "bool": index == 2, "ints": Array(0..<index),
                            "strings": ["s\(index)"],
                        ] as [String: Any])
                }
            }
            let all = realm.objects(Everything.self)
            expect(all.where { $0.ints.contains(1) }, [2, 3])
            expect(all.where { $0.ints.containsAny(in: [2, 9]) }, [3])
            expect(all.where { $0.ints.max == 1 }, [2])
            expect(all.where { $0.ints.contains(0...1) }, [1, 2])
            expect(all.where { $0.strings.contains("s1") }, [1])
            expect(all.where { $0.bool }, [2])
            expect(all.where { !$0.bool && $0.int > 1 }, [3])
        }
    }

    @Test
    func `Filters chain, and sort by one or several key paths, over links as well`() throws {
        try withPeople { _, people in
            expect(people.sorted(byKeyPath: "name", ascending: false), "Eva Dan Cem Ben Ada")
            expect(people.sorted(by: \.age), "Dan Eva Ben Cem Ada")
            expect(
                people.sorted(by: [SortDescriptor(keyPath: "age", ascending: false), "name"]),
                "Ada Ben Cem Eva Dan")
            expect(
                people.filter("boss != nil").sorted(byKeyPath: "boss.name", ascending: false),
                "Dan Ben Cem")
            expect(
                people.where { $0.boss != nil }.sorted(by: [
                    SortDescriptor(keyPath: \Person.boss?.age)
                ]), "Dan Ben Cem")
            expect(people.where { $0.age > 30 }.filter("name < 'C'").sorted(by: \.age), "Ben Ada")
            expect(people.distinct(by: ["age"]), "Ada Ben Dan Eva")
            expect(people.distinct(by: [\Person.age]), "Ada Ben Dan Eva")
        }
    }

    @Test
    func `The first elements, and those behind them, are live results`() throws {
        try withPeople { realm, people in
            let named = people.sorted(by: \.name, ascending: false)
            expect(named.limited(to: 2), "Eva Dan")
            expect(named.offset(by: 2), "Cem Ben Ada")
            let page = named.offset(by: 1).limited(to: 2)
            expect(page, "Dan Cem")
            expect(page.sorted(by: \.age, ascending: false), "Cem Dan")
            expect(page.filter("age < 40"), "Dan")
            expect(people.limited(to: 4).offset(by: 3), "Dan")
            #expect(page.sum(of: \.age) == 65 && page.index(of: people[2]) == 1)
            #expect(page.query == "TRUEPREDICATE SORT(name DESC) OFFSET(1) LIMIT(2)")
            for (limit, names) in [(0, ""), (1, "Ada"), (4, "Ada Ben Cem Dan")] {
                expect(people.limited(to: limit), names)
            }
            expect(people.limited(to: 5), "Ada Ben Cem Dan Eva")
            expect(people.limited(to: .max), "Ada Ben Cem Dan Eva")
            expect(people.offset(by: 4), "Eva")
            expect(people.offset(by: 5), "")
            expect(people.offset(by: .max), "")
            expectError(.invalidArgument) { people.limited(to: -1).count }
            expectError(.invalidArgument) { people.offset(by: -1).count }
            let frozen = page.freeze()
            try realm.write { realm.delete(people.filter("name == 'Dan'")) }
            expect(page, "Cem Ben")
            expect(frozen, "Dan Cem")
            let ada = try #require(people.first)
            #expect(ada.dogs.offset(by: 1).map(\.name) == ["Fido"])
            #expect(ada.dogs.limited(to: 1).map(\.name) == ["Rex"])
            #expect(ada.reports.limited(to: 1).map(\.name) == ["Ben"])
            expectError(.unsupported) { List<Dog>().limited(to: 1).count }
        }
    }

    @Test
    func `Observers of the first elements hear of those that come in from behind`() throws {
        let configuration = TestRealm.inMemory()
        try LoopThread.run { loop in
            let realm = try Realm(configuration: configuration)
            try realm.write {
                realm.add([Dog("Rex", age: 3), Dog("Fido", age: 5), Dog("Tom", age: 1)])
            }
            let oldest = realm.objects(Dog.self).sorted(by: \.age, ascending: false)
            let log = ObservationTests.Log()
            let token = try loop.inside { oldest.limited(to: 2).observe { log.add($0) } }
            loop.wait { log.events.count == 1 }
            try realm.write { oldest[0].age = 0 }
            loop.wait { log.events.count == 2 }
            #expect(
                log.events == [
                    .initial(2), .update(deletions: [0], insertions: [1], modifications: []),
                ])
            token.invalidate()
        }
    }

    @Test
    func `An alias stands for a path`() throws {
        try withPeople { realm, people in
            try realm.setAlias("chief", of: Person.self, to: "boss.name")
            try realm.setAlias("lead", of: Person.self, to: "boss")
            expect(people.filter("chief == 'Ada'"), "Ben Cem")
            expect(people.filter("%K == %@", "chief", "Ben"), "Dan")
            expect(people.filter("lead.lead.name == 'Ada'"), "Dan")
            expect(people.filter("chief != nil").sorted(byKeyPath: "chief"), "Ben Cem Dan")
            #expect(people.sum(ofProperty: "lead.age") == 160)
            #expect(people.filter("chief == 'Ada'").query == "boss.name == 'Ada'")
            expect(people.freeze().filter("chief == 'Ben'"), "Dan")
            expectError(.readOnly) {
                try realm.freeze().setAlias("chief", of: Person.self, to: "boss")
            }
            expectError(.invalidArgument) { try realm.setAlias("", of: Person.self, to: "boss") }
            expectError(.invalidArgument) { try realm.setAlias("chief", of: Person.self, to: "") }
            // A property of the same name comes first.
            try realm.setAlias("age", of: Person.self, to: "boss.age")
            expect(people.filter("age == 60"), "Ada")
            try realm.setAlias("chief", of: Person.self, to: nil)
            expectError(.invalidQuery) { people.filter("chief == 'Ada'").count }
            // The path is resolved when it is used.
            try realm.setAlias("wrong", of: Person.self, to: "boss.wings")
            expectError(.invalidQuery) { people.filter("wrong == 1").count }
        }
        try TestRealm.with([QueryLanguageTests.LanguageDog.self]) { realm in
            expectError(.noSuchClass) { try realm.setAlias("a", of: Person.self, to: "boss") }
        }
    }

    @Test
    func `Aggregates by name and by key path; nothing has no average`() throws {
        try withPeople { realm, people in
            #expect(people.min(of: \.age) == 25 && people.max(of: \.age) == 60)
            #expect(people.sum(of: \.age) == 198)
            #expect(people.average(of: \.age) == 39.6)
            #expect(people.sum(ofProperty: "age") == 198)
            #expect(people.min(ofProperty: "age") == 25)
            #expect(people.max(ofProperty: "age") == 60)
            #expect(people.average(ofProperty: "age") == 39.6)
            #expect(people.sum(ofProperty: "boss.age") == 160)
            #expect(people.min(of: \.boss?.age) == 40 && people.max(of: \.boss?.age) == 60)
            #expect(people.average(ofProperty: "boss.boss.age") == 60.0)
            let nobody = people.filter("age > 100")
            #expect(nobody.sum(ofProperty: "boss.age") == 0)
            #expect(
                nobody.min(of: \.age) == nil && nobody.sum(of: \.age) == 0
                    && nobody.average(of: \.age) == nil)
            expectError(.unsupportedAggregate) { let _: Int = people.sum(ofProperty: "name") }
            expectError(.noSuchProperty) { let _: Int? = people.max(ofProperty: "wings") }
            expectError(.invalidQuery) { let _: Int? = people.max(ofProperty: "boss.wings") }
            expectError(.invalidQuery) { let _: Int? = people.max(ofProperty: "dogs.age") }
            try realm.write { for person in people { person.age = .max } }
            expectError(.overflow) { let _: Int = people.sum(of: \.age) }
            #expect(people.average(of: \.age) == 0x1p63)
        }
    }

    @Test
    func `Elements are found: by index, by being the same, by a query`() throws {
        try withPeople { realm, people in
            let ben = try #require(realm.object(ofType: Person.self, forPrimaryKey: 2))
            #expect(people.index(of: ben) == 1)
            #expect(people.sorted(by: \.name, ascending: false).index(of: ben) == 3)
            #expect(people.filter("age > 50").index(of: ben) == nil)
            #expect(people.index(of: Person(9, "Zoe")) == nil)
            #expect(people.index(matching: "age == 40") == 1)
            let young = people.firstIndex { $0.age < 30 }
            #expect(young == 3)
            #expect(people.first?.name == "Ada" && people.last?.name == "Eva")
            #expect(people.objects(at: [0, 4]).map(\.name) == ["Ada", "Eva"])
            #expect(people.filter("FALSEPREDICATE").first == nil)
            expectError(.indexOutOfRange) { people[5] }
            expectError(.indexOutOfRange) { people[-1] }
        }
    }

    @Test
    func `Results are live; a loop goes through what was there at its beginning`() throws {
        try withPeople { realm, people in
            let old = people.filter("age >= 40")
            #expect(old.count == 3)
            try realm.write {
                for person in old { person.age = 10 }
                #expect(old.isEmpty)
                for person in people { realm.delete(person) }
                #expect(people.isEmpty)
            }
            #expect(old.isEmpty)
        }
    }

    @Test
    func `Values of a list are sorted, made distinct and summed`() throws {
        try TestRealm.with { realm in
            let one = Everything()
            one.ints.append(objectsIn: [3, 1, 2, 3])
            one.strings.append(objectsIn: ["b", "a"])
            one.doubles.append(objectsIn: [1.5, 2.5])
            try realm.write { realm.add(one) }
            #expect(Array(one.ints.sorted(ascending: false)) == [3, 3, 2, 1])
            #expect(Array(one.ints.distinct()) == [3, 1, 2])
            #expect(
                one.ints.sum() == 9 && one.ints.min() == 1 && one.ints.max() == 3
                    && one.ints.average() == 2.25)
            #expect(one.doubles.sum() == 4)
            #expect(Array(one.strings.sorted()) == ["a", "b"])
            #expect(one.ints.index(of: 2) == 2 && one.ints.index(of: 9) == nil)
        }
    }

    @Test
    func `A list of objects is filtered, sorted and summed in its order`() throws {
        try withPeople { realm, people in
            let ada = try #require(people.first)
            #expect(ada.dogs.filter("age > 4").map(\.name) == ["Fido"])
            expect(ada.dogs.where { $0.name == "Rex" }, [3])
            #expect(ada.dogs.sorted(by: \.name).map(\.name) == ["Fido", "Rex"])
            #expect(ada.dogs.sum(of: \.age) == 8)
            #expect(ada.reports.sorted(by: \.name).map(\.name) == ["Ben", "Cem"])
            #expect(ada.dogs.index(matching: "name == 'Fido'") == 1)
        }
    }

    @Test
    func `Bad queries say what is wrong and where`() throws {
        try withPeople { realm, people in
            expectError(.querySyntax) { people.filter("age >") }
            expectError(.invalidQuery) { people.filter("wings == 2") }
            expectError(.queryTypeMismatch) { people.filter("age == 'x'") }
            expectError(.invalidQueryArgument) { people.filter("age == $0") }
            expectError(.invalidQueryArgument) { people.filter("age == %@ AND name == %@", 1) }
            expectError(.invalidQueryArgument) { people.filter("age == %@ OR age == $0", 1) }
            expectError(.invalidQuery) { people.sorted(byKeyPath: "wings") }
            expectError(.invalidQuery) { people.where { ($0.age > 3).count == 1 } }
            do {
                _ = try Realm.attempt { people.filter("age > 3 AND wings == 2") }
                Issue.record("no error")
            } catch let error as Realm.Error {
                #expect(error.detail.contains("^"))
                #expect(error.number == 12)
            }
        }
    }

    @Test
    func `Inverse properties are parts of paths`() throws {
        try withPeople { _, people in
            expect(people.filter("reports.@count == 2"), "Ada")
            expect(people.filter("ANY reports.age < 30"), "Ben")
            expect(people.filter("boss.reports.name == 'Cem'"), "Ben Cem")
            expect(people.filter("reports.reports.name == 'Dan'"), "Ada")
            expect(people.filter("reports.@max.age == 25"), "Ben")
        }
    }

    @Test
    func `A filter of a filter asks for both`() throws {
        try withPeople { _, people in
            let young = people.filter("age <= 40").filter("boss != nil")
            expect(young, "Ben Cem Dan")
            expect(young.filter("boss.name == %@", "Ada").filter("nickname == nil"), "Ben")
            expect(young.sorted(byKeyPath: "name", ascending: false).filter("age == 40"), "Cem Ben")
        }
    }

    @Test
    func `Queries of any length and nesting end in an answer or an error`() throws {
        try withPeople { _, people in
            for depth in [1, 10, 100] {
                let text =
                    String(repeating: "(", count: depth) + "age == 25"
                    + String(repeating: ")", count: depth)
                expect(people.filter(text), "Dan")
            }
            expectError(.querySyntax) {
                people.filter(String(repeating: "(", count: 100_000) + "age == 25")
            }
            expectError(.querySyntax) { people.filter(String(repeating: "NOT ", count: 100_000)) }
            let long = (0..<2_000).map { "age == \($0 + 26)" }.joined(separator: " OR ")
            expect(people.filter(long), "Ada Ben Cem Eva")
            let text = String(repeating: "a", count: 1_000)
            expect(people.filter("name MATCHES %@", "(a*)*b\(text)"), "")
        }
    }

    @Test
    func `Key paths are named by what they read`() {
        #expect(KeyPathNames.name(of: \Person.age) == "age")
        #expect(KeyPathNames.name(of: \Person.boss?.boss?.name) == "boss.boss.name")
        #expect(KeyPathNames.name(of: \Person.dogs) == "dogs")
        #expect(KeyPathNames.name(of: \Person.reports) == "reports")
        expectError(.noSuchProperty) { KeyPathNames.name(of: \Person.isSelected) }
    }

    @Test
    func `Formats: what is between quotes stays, other percent signs too`() throws {
        #expect(
            try PredicateFormat("a == %@ AND b LIKE '%@*' AND c == %ld", [1, 2]).text
                == "a == $0 AND b LIKE '%@*' AND c == $1")
        #expect(
            try PredicateFormat("%K.@count > 5 AND a == \"\\\"%d\"", ["x"]).text
                == "$K0.@count > 5 AND a == \"\\\"%d\"")
        #expect(try PredicateFormat("a % b == 'x", []).text == "a % b == 'x")
    }

    @Test
    func `An index speeds up equality, membership and beginnings of texts`() throws {
        try withPeople { _, people in
            for (query, step) in [
                ("id == 5", "look up primary key Person.id, one value"),
                ("name == 'Ada'", "look up index Person.name, one value"),
                ("name IN {'Ada', 'Ben'}", "look up index Person.name, 2 values"),
                ("name BEGINSWITH 'A' AND age > 3", "look up index Person.name, a prefix"),
                ("name ==[c] 'ada'", "scan 5 objects of Person"),
                ("name CONTAINS 'da'", "scan 5 objects of Person"),
                ("name != 'Ada'", "scan 5 objects of Person"),
                ("age == 40", "scan 5 objects of Person"),
            ] {
                let plan = people.filter(query).explain()
                #expect(plan.hasPrefix(step), "\(query): \(plan)")
            }
            let built = people.where { $0.name == "Ada" && $0.age > 3 }
            #expect(built.explain().hasPrefix("look up index Person.name, one value"))
            #expect(people.freeze().filter("id == 5").explain().hasPrefix("look up primary key"))
        }
    }

    @Test func `Thousands of alternatives are one test, given as a list or joined by ||`() throws {
        try withPeople { _, people in
            let names = (0..<4_000).map { "nobody \($0)" } + ["Ben", "Eva"]
            expect(people.where { $0.name.in(names) }, "Ben Eva")
            expect(people.where { !$0.name.in(names) }, "Ada Cem Dan")
            expect(people.filter("name IN %@", names), "Ben Eva")
            expect(people.filter("NOT name IN[c] %@", names), "Ada Cem Dan")
            expect(
                people.where { person in
                    names.dropFirst().reduce(person.name == names[0]) { $0 || person.name == $1 }
                }, "Ben Eva")
            expect(
                people.where { person in
                    names.dropFirst().reduce(person.name != names[0]) { $0 && person.name != $1 }
                }, "Ada Cem Dan")
            let ben = try #require(people.first { $0.name == "Ben" })
            expect(people.where { $0.boss.in([ben, nil]) }, "Ada Dan Eva")
            expect(people.where { $0.boss == ben || $0.boss == nil }, "Ada Dan Eva")
        }
    }

    @Test func `A query is text again`() throws {
        try withPeople { _, people in
            #expect(people.query == "TRUEPREDICATE")
            let found = people.where { $0.name == "Ada" || $0.age > 3 }
                .sorted(byKeyPath: "age", ascending: false).filter("name != %@", "it's")
            let text = #"(name == 'Ada' OR age > 3) AND name != 'it\'s' SORT(age DESC)"#
            #expect(found.query == text)
            #expect(people.filter(text).query == text)
            #expect(Array(people.filter(text).map(\.name)) == Array(found.map(\.name)))
        }
    }
}
