// Tests: PredicateFormat.swift
import Foundation
import Testing
import ToftTestKit

@testable import Toft

/// Every example of the page about the query language, given to `filter`.
@Suite struct QueryLanguageTests {
    final class LanguageCity: Object {
        @Persisted var name = ""
        @Persisted var size = 0
    }

    final class LanguageDog: Object {
        @Persisted var name = ""
        @Persisted var age = 0
    }

    final class LanguagePerson: Object {
        @Persisted(primaryKey: true) var id = 0
        @Persisted var name = ""
        @Persisted var age = 0
        @Persisted var height: Double?
        @Persisted var price = Decimal128(0)
        @Persisted var nickname: String?
        @Persisted var active = false
        @Persisted var born = Date()
        @Persisted var boss: LanguagePerson?
        @Persisted var city: LanguageCity?
        @Persisted var dogs: List<LanguageDog>
        @Persisted var scores: List<Int>
        @Persisted var tags: MutableSet<String>
        @Persisted var marks: Map<String, Int>
        @Persisted var value: AnyRealmValue
    }

    final class LanguageStreet: Object {
        @Persisted var größe = 0
        @Persisted var nächste: LanguageStreet?
        @Persisted var fullName = ""

        override class func propertiesMapping() -> [String: String] { ["fullName": "voller-Name"] }
    }

    private struct Example {
        var query: String
        var answer: String
        var arguments: [Any] = []
    }

    private static var examples: [Example] {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let page = root.appendingPathComponent("Sources/Toft/Toft.docc/QueryLanguage.md")
        let text = (try? String(contentsOf: page, encoding: .utf8)) ?? ""
        let blocks = text.components(separatedBy: "```query\n").dropFirst().map {
            $0.components(separatedBy: "```")[0]
        }
        return blocks.joined().split(separator: "\n").map { line in
            let parts = line.components(separatedBy: "=>")
            let query = parts.dropLast().joined(separator: "=>")
            let halves = query.components(separatedBy: " with ")
            var example = Example(
                query: halves[0].trimmingCharacters(in: .whitespaces).replacing(
                    "Person", with: "LanguagePerson"),
                answer: (parts.last ?? "").trimmingCharacters(in: .whitespaces))
            if halves.count > 1 {
                let given = halves[1].trimmingCharacters(in: CharacterSet(charactersIn: " {}"))
                let values = given.components(separatedBy: ", ").map { value -> Any in
                    Int(value).map { $0 as Any }
                        ?? value.trimmingCharacters(in: CharacterSet(charactersIn: "'"))
                }
                example.arguments =
                    halves[1].contains("{") && !halves[1].contains("'")
                    ? [values] : values
            }
            return example
        }
    }

    /// The objects of the page.
    private func people() throws -> Results<LanguagePerson> {
        let realm = try Realm(
            configuration: Realm.Configuration(
                inMemoryIdentifier: "language \(UInt64.random(in: 0 ... .max))",
                objectTypes: [LanguagePerson.self, LanguageDog.self, LanguageCity.self]))
        func day(_ seconds: Double) -> Date { Date(timeIntervalSince1970: seconds) }
        try realm.write {
            let rex = realm.create(LanguageDog.self, value: ["name": "Rex", "age": 3])
            let fido = realm.create(LanguageDog.self, value: ["name": "Fido", "age": 9])
            let bonn = realm.create(LanguageCity.self, value: ["name": "Bonn", "size": 300])
            let cologne = realm.create(LanguageCity.self, value: ["name": "Köln", "size": 1000])
            let people = (1...4).map { id -> LanguagePerson in
                let person = LanguagePerson()
                person.id = id
                person.name = ["Ann", "Bob", "Zoë", "Émile"][id - 1]
                person.age = [40, 25, 18, 25][id - 1]
                person.height = [1.7, nil, .nan, 1.9][id - 1]
                person.price = ["9.99", "0.1", "0.30", "-1"][id - 1]
                person.nickname = ["annie", nil, "Z", nil][id - 1]
                person.active = id % 2 == 1
                // 1980-01-01, 2000-06-15, 2007-12-31, 1999-02-28
                person.born = day([315_532_800, 961_027_200, 1_199_059_200, 920_160_000][id - 1])
                realm.add(person)
                person.city = [bonn, cologne, nil, bonn][id - 1]
                person.dogs.append(objectsIn: [[rex, fido], [rex], [], [fido]][id - 1])
                person.scores.append(objectsIn: [[3, 5, 8], [], [5], [3]][id - 1])
                person.tags.insert(objectsIn: [["a", "b"], [], ["b"], ["c"]][id - 1])
                return person
            }
            people[1].boss = people[0]
            people[2].boss = people[1]
            people[3].boss = people[0]
            people[0].marks["math"] = 1
            people[0].marks["art"] = 2
            people[2].marks["math"] = 3
            people[0].value = .int(5)
            people[1].value = .string("five")
            people[2].value = .fromArray([.int(1), .int(2)])
        }
        return realm.objects(LanguagePerson.self)
    }

    @Test func `Every example of the page has the answer that stands beside it`() throws {
        let people = try people()
        let examples = Self.examples
        #expect(examples.count > 140)
        // A wrong query is misuse; the tests of Python ask for the messages.
        for example in examples where !example.answer.hasPrefix("error:") {
            let found = people.filter(example.query, all: example.arguments).map(\.id)
            let expected = example.answer.split { !$0.isNumber }.compactMap { Int($0) }
            #expect(Array(found) == expected, "\(example.query)")
        }
    }

    @Test func `Names hold letters beyond ASCII`() throws {
        try TestRealm.with([LanguageStreet.self]) { realm in
            try realm.write {
                let last = LanguageStreet()
                (last.größe, last.fullName) = (3, "Lange Straße")
                let first = LanguageStreet()
                (first.größe, first.nächste) = (5, last)
                realm.add(first)
            }
            let streets = realm.objects(LanguageStreet.self)
            #expect(streets.filter("größe > 4 AND nächste.größe == 3").count == 1)
            #expect(streets.filter("nächste.fullName CONTAINS %@", "Straße").count == 1)
            let found = streets.where { $0.größe > 4 && $0.nächste.fullName == "Lange Straße" }
            #expect(found.count == 1)
            let sorted = streets.sorted(byKeyPath: "größe", ascending: false)
            #expect(Array(sorted.map(\.größe)) == [5, 3])
        }
    }

    @Test func `Formats of Cocoa's predicates are taken as they are written`() throws {
        let people = try people()
        func ids(_ format: String, _ arguments: Any...) -> [Int] {
            Array(people.filter(format, all: arguments).map(\.id))
        }
        let ann = try #require(people.first)
        #expect(ids("age > %d AND name BEGINSWITH[cd] %@", 20, "e") == [4])
        #expect(ids("%K == %@", "boss.name", "Ann") == [2, 4])
        #expect(ids("%K.@count == %ld", "dogs", 1) == [2, 4])
        #expect(ids("ANY %K > %@", "scores", 4) == [1, 3])
        #expect(ids("name ==[c] 'bob' && boss != nil") == [2])
        #expect(ids("SELF == %@", ann) == [1])
        #expect(ids("SELF IN %@", [ann]) == [1])
        #expect(ids("boss = %@ or boss = NULL", ann) == [1, 2, 4])
        #expect(ids("age BETWEEN %@", [18, 25]) == [2, 3, 4])
        #expect(ids("age BETWEEN {18, 25} And active <> YES") == [2, 4])
        #expect(ids("age IN %@", [18, 40]) == [1, 3])
        #expect(ids("active == NO") == [2, 4])
        #expect(ids("NOT (name IN {'Ann', 'Bob'})") == [3, 4])
        #expect(ids("scores.@avg > 4.9") == [1, 3])
        #expect(ids("scores CONTAINS %@", 5) == [1, 3])
        #expect(ids("SUBQUERY(dogs, $dog, $dog.name LIKE 'F*').@count == 1") == [1, 4])
        #expect(ids("name MATCHES %@", "[AB]\\w+") == [1, 2])
        #expect(ids("born < %@", Date(timeIntervalSince1970: 0x3000_0000)) == [1])
        #expect(ids("TRUEPREDICATE") == [1, 2, 3, 4])
    }

    @Test func `Integers of all Swift's types are arguments where 64 bits hold them`() throws {
        let people = try people()
        let huge = UInt64(Int64.max) + 1
        #expect(people.filter("age < %@", UInt64(Int64.max)).count == 4)
        #expect(people.filter("age == %@ OR age == %@", UInt8(40), Int128(18)).count == 2)
        for argument in [UInt64.max, huge, NSNumber(value: huge), Int128.max] as [Any] {
            expectError(.invalidQueryArgument) { people.filter("age < %@", argument).count }
            expectError(.invalidQueryArgument) { people.filter("age IN %@", [argument]).count }
            expectError(.typeMismatch) { LanguagePerson(value: ["value": argument]) }
        }
        let realm = try #require(people.realm)
        try realm.write {
            realm.create(LanguagePerson.self, value: ["id": -1])
            expectError(.typeMismatch) {
                realm.create(LanguagePerson.self, value: ["id": 9, "value": UInt64.max])
            }
        }
        expectError(.invalidQueryArgument) {
            realm.object(ofType: LanguagePerson.self, forPrimaryKey: UInt64.max)
        }
        #expect(realm.object(ofType: LanguagePerson.self, forPrimaryKey: UInt64(4))?.id == 4)
    }

    @Test func `0 and 1 are truth values beside one in formats of Cocoa's predicates`() throws {
        let people = try people()
        func ids(_ format: String, _ arguments: Any...) -> [Int] {
            Array(people.filter(format, all: arguments).map(\.id))
        }
        #expect(ids("active == 1") == [1, 3] && ids("active == 0") == [2, 4])
        #expect(ids("0 != active") == [1, 3] && ids("active IN {0}") == [2, 4])
        // The second time the parsed query is known.
        for _ in 0..<3 {
            #expect(ids("active == %d", 1) == [1, 3] && ids("active == %d", 0) == [2, 4])
        }
        #expect(ids("active == %@", NSNumber(value: true)) == [1, 3])
        #expect(ids("active == %@", NSNumber(value: false)) == [2, 4])
        #expect(ids("active == %@", NSNumber(value: 1)) == [1, 3])
        #expect(people.index(matching: "active == 0") == 1)
        expectError(.queryTypeMismatch) { people.filter("active == 2").count }
        expectError(.queryTypeMismatch) { people.filter("active == 1.0").count }
        expectError(.queryTypeMismatch) {
            people.filter("age == %@", NSNumber(value: true)).count
        }
    }

    @Test func `A mark that combines with a quote hides no placeholder`() throws {
        let people = try people()
        #expect(people.filter("name != '\u{FE0F}x' AND id == %d", 1).count == 1)
        #expect(people.filter("NOT name CONTAINS '\u{301}x' AND id == %d", 1).count == 1)
    }

    @Test func `Cocoa's words for keys and values, and SELF before a name, are known`() throws {
        let people = try people()
        func ids(_ format: String) -> [Int] { Array(people.filter(format).map(\.id)) }
        #expect(ids("marks.@allKeys == 'math'") == [1, 3])
        #expect(ids("ANY marks.@allValues > 2") == [3])
        #expect(ids("SELF.name == 'Bob'") == [2] && ids("ANY SELF.dogs.age > 8") == [1, 4])
        // Without SELF the name would be of the inner object.
        #expect(ids("SUBQUERY(dogs, $d, $d.age < SELF.age).@count == 2") == [1])
        #expect(ids("SUBQUERY(dogs, $d, $d.age < age).@count == 0") == [1, 2, 3, 4])
        #expect(ids("name == 'SELF.name' OR name == '@allKeys'") == [])
    }
}
