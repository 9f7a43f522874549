// Tests: Base64.swift, CSV.swift, JSONParser.swift, JSONValue.swift, MemberNames.swift,
// Numeral.swift, ObjectLines.swift, ObjectText.swift, ObjectToJSON.swift, ObjectsFromJSON.swift,
// Realm+Exchange.swift, RealmCollection+Exchange.swift, TextFile.swift, Timestamp+Text.swift,
// Value+JSON.swift
import Foundation
import RealmSwift
import Testing

@testable import Toft

/// An error of an app's own.
private struct Stop: Error {}

final class Trip: Object {
    @Persisted var to: City?

    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite("Objects in files: JSON lines and comma-separated values")
struct ExchangeTests {
    /// A realm with all classes of the tests, and a folder for files.
    private func with(_ body: (Realm, URL) throws -> Void) throws {
        try TestRealm.withFolder { folder in
            try TestRealm.with([
                Everything.self, Library.self, Book.self, Setting.self, Person.self, Dog.self,
                Resident.self, House.self, City.self, Ticket.self, Parcel.self, Numbered.self,
                Cat.self, Trip.self,
            ]) { try body($0, folder) }
        }
    }

    /// A file with a text.
    private func file(_ text: String, in folder: URL, _ name: String = "a.txt") throws -> URL {
        let url = folder.appendingPathComponent(name)
        try Data(text.utf8).write(to: url)
        return url
    }

    /// The call fails, and its error begins with a place and names the fault.
    private func expect(
        _ code: Realm.Error.Code, _ place: String, _ told: String, _ call: () throws -> Int
    ) throws {
        let error = try #require(throws: Realm.Error.self) { _ = try call() }
        #expect(error.code == code, "\(error)")
        #expect(error.message.hasPrefix(place), "\(error)")
        #expect(error.message.contains(told), "\(error)")
    }

    private func text(_ url: URL) throws -> String {
        String(decoding: try Data(contentsOf: url), as: UTF8.self)
    }

    private func names(in folder: URL) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    /// Fills a realm with values at the limits of their types.
    private func fill(_ realm: Realm) throws {
        let word = "a\0\"\u{E9},\r\n\u{1F434}\u{2028}"
        try realm.write {
            let thing = Everything()
            (thing.bool, thing.int, thing.int8, thing.float) = (true, .min, .min, -0.1)
            (thing.double, thing.string, thing.data) = (.nan, word, Data([0, 0xFF]))
            thing.date = Date(timeIntervalSince1970: -1.515625)
            (thing.maybeBool, thing.maybeInt, thing.maybeFloat) = (false, .max, .infinity)
            (thing.maybeDouble, thing.maybeString, thing.maybeData) = (-0.0, "", Data())
            thing.maybeDate = .distantPast
            thing.doubles.append(objectsIn: [0.1, -.infinity, .nan])
            thing.strings.append(objectsIn: [word, "", " "])
            thing.maybeStrings.append(objectsIn: [nil, "", "x"])
            thing.datas.append(Data(0...255))
            let later = Everything()
            realm.add([thing, later])
            thing.maybeObject = later
            thing.objects.append(objectsIn: [later, thing, later])

            let library = Library(1)
            library.doubles.insert(objectsIn: [1.5, -0.0, .infinity])
            library.tags.insert(objectsIn: ["", word])
            library.uuids.insert(UUID())
            library.objectIds.insert(.generate())
            library.decimals.insert(objectsIn: ["1.50", "-7"])
            library.maybeInts.insert(objectsIn: [nil, 0])
            library.books.insert(objectsIn: [Book("a"), Book("b")])
            library.counts[word] = .max
            library.maybeNotes.updateValue(nil, forKey: "none")
            library.prices["x"] = "0.10"
            library.dueDates[""] = Date(timeIntervalSince1970: 0.5)
            library.shelf["first"] = Book("c")
            library.shelf.updateValue(nil, forKey: "gone")
            realm.add(library)

            let one = Setting("one", [1, 2.0, ["k": .data(Data([1]))], .none, "x"])
            let two = Setting("two", .object(one))
            realm.add([one, two])
            one.history.append(objectsIn: [
                .float(1.5), .double(2), .date(Date(timeIntervalSince1970: 1)), .uuid(UUID()),
                .objectId(.generate()), .decimal128("3.0"), .object(two), .bool(true), [],
            ])
            one.choices.insert(objectsIn: [1, "1", .none, .object(two)])
            one.parts["list"] = [.object(two), [.object(one)]]

            let ann = Resident(1, House("Main"), earlier: [House("Old"), House("")])
            let ben = Resident(2)
            realm.add([ann, ben])
            ann.house?.annex = House("Inner, \"back\"")
            ann.house?.annex?.landlord = ben
            ann.house?.rooms.append(House("Room"))
            (ann.friend, ben.friend) = (ben, ann)
        }
    }

    private func write(_ realm: Realm, to folder: URL) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        func write<Model: Object>(_ type: Model.Type, _ count: Int) throws {
            let objects = realm.objects(type)
            let lines = folder.appendingPathComponent("\(type).jsonl")
            let table = folder.appendingPathComponent("\(type).csv")
            #expect(try objects.writeJSONLines(to: lines) == count)
            #expect(try objects.writeCSV(to: table) == count)
        }
        try write(Book.self, 3)
        try write(Everything.self, 2)
        try write(Library.self, 1)
        try write(Setting.self, 2)
        try write(Resident.self, 2)
    }

    @Test
    func `Objects of every type are read back as they were written`() throws {
        try with { realm, folder in
            try fill(realm)
            // Links to objects without primary key are read with their objects only.
            try realm.write {
                let library = realm.objects(Library.self).first
                library?.books.removeAll()
                library?.shelf["first"] = .some(nil)
            }
            let given = folder.appendingPathComponent("given")
            try write(realm, to: given)
            for ending in ["jsonl", "csv"] {
                try with { copy, _ in
                    func read<Model: Object>(_ type: Model.Type, _ count: Int) throws {
                        let url = given.appendingPathComponent("\(type).\(ending)")
                        try copy.write {
                            let found =
                                ending == "csv"
                                ? try copy.readCSV(of: type, from: url)
                                : try copy.readJSONLines(of: type, from: url)
                            #expect(found == count)
                        }
                    }
                    try read(Book.self, 3)
                    try read(Everything.self, 2)
                    try read(Library.self, 1)
                    try read(Setting.self, 2)
                    try read(Resident.self, 2)
                    let again = folder.appendingPathComponent("again-\(ending)")
                    try write(copy, to: again)
                    for name in try names(in: given) {
                        let url = given.appendingPathComponent(name)
                        #expect(
                            try text(again.appendingPathComponent(name)) == text(url), "\(name)")
                    }
                    let thing = copy.objects(Everything.self).first
                    #expect(thing?.int == .min && thing?.double.isNaN == true)
                    #expect(thing?.maybeDate == .distantPast && thing?.objects.count == 3)
                    #expect(thing?.maybeDouble?.sign == .minus)
                    let ann = copy.object(ofType: Resident.self, forPrimaryKey: 1)
                    #expect(ann?.house?.annex?.landlord?.id == 2)
                    #expect(ann?.house?.residents.count == 1)
                }
            }
        }
    }

    @Test
    func `The lines are those of the terminal and of Python`() throws {
        try with { realm, folder in
            try realm.write {
                let ann = Person(1, "Ann, \"A\"")
                ann.dogs.append(Dog("Rex", age: 3))
                realm.add(ann)
                realm.add(Person(2, ""))
                ann.boss = ann
            }
            let url = folder.appendingPathComponent("a")
            #expect(try realm.objects(Person.self).writeJSONLines(to: url) == 2)
            #expect(
                try text(url) == """
                    {"id":1,"name":"Ann, \\"A\\"","age":18,"nickname":null,"boss":1,"dogs":[0]}
                    {"id":2,"name":"","age":18,"nickname":null,"boss":null,"dogs":[]}

                    """)
            #expect(try realm.objects(Person.self).writeCSV(to: url) == 2)
            #expect(
                try text(url) == "id,name,age,nickname,boss,dogs\r\n"
                    + "1,\"Ann, \"\"A\"\"\",18,,1,[0]\r\n2,\"\",18,,,[]\r\n")
            #expect(try realm.objects(Dog.self).writeCSV(to: url) == 1)
            #expect(try text(url) == "_key,name,age\r\n0,Rex,3\r\n")
            let dogs = try #require(realm.objects(Person.self).first?.dogs)
            #expect(try dogs.writeJSONLines(to: url) == 1)
            #expect(try text(url) == "{\"_key\":0,\"name\":\"Rex\",\"age\":3}\n")
        }
    }

    @Test
    func `Objects stand in the place of links, as deep as is asked for, each once in a line`()
        throws
    {
        try with { realm, folder in
            try realm.write {
                let (ann, bob) = (Person(1, "Ann"), Person(2, "Bob"))
                bob.dogs.append(Dog("Rex", age: 3))
                realm.add([ann, bob])
                (ann.boss, bob.boss) = (bob, ann)
            }
            let people = realm.objects(Person.self).where { $0.id == 1 }
            let url = folder.appendingPathComponent("a")
            func ann(boss: String) -> String {
                "{\"id\":1,\"name\":\"Ann\",\"age\":18,\"nickname\":null,\"boss\":\(boss),"
                    + "\"dogs\":[]}\n"
            }
            func bob(dogs: String) -> String {
                "{\"id\":2,\"name\":\"Bob\",\"age\":18,\"nickname\":null,\"boss\":1,"
                    + "\"dogs\":[\(dogs)]}"
            }
            let deep = ann(boss: bob(dogs: "{\"_key\":0,\"name\":\"Rex\",\"age\":3}"))
            for (depth, expected) in [
                (0, ann(boss: "2")), (1, ann(boss: bob(dogs: "0"))), (2, deep), (99, deep),
                (100, deep),
            ] {
                #expect(try people.writeJSONLines(to: url, depth: depth) == 1)
                #expect(try text(url) == expected, "depth \(depth)")
            }
            for depth in [-1, 101, Int.min, Int.max] {
                expectError(.invalidArgument) { try people.writeJSONLines(to: url, depth: depth) }
            }
            #expect(try text(url) == deep)
            try TestRealm.with([Person.self, Dog.self]) { other in
                try other.write { try other.readJSONLines(of: Person.self, from: url) }
                let ann = try #require(other.object(ofType: Person.self, forPrimaryKey: 1))
                #expect(ann.boss?.dogs.first?.name == "Rex")
                #expect(ann.boss?.boss?.isSameObject(as: ann) == true)
            }
        }
    }

    @Test
    func `Classes that are known by their names are written and read like others`() throws {
        try with { realm, folder in
            try realm.write { realm.create(Ticket.self, value: ["number": 7, "title": "t"]) }
            let url = folder.appendingPathComponent("a")
            let tickets = realm.dynamicObjects("SupportTicket")
            #expect(try tickets.writeJSONLines(to: url) == 1)
            #expect(try text(url) == "{\"number\":7,\"ticket_title\":\"t\"}\n")
            let table = try file("number,ticket_title\n8,u\n", in: folder, "b")
            try realm.write {
                realm.delete(tickets)
                #expect(try realm.readJSONLines(ofType: "SupportTicket", from: url) == 1)
                #expect(try realm.readCSV(ofType: "SupportTicket", from: table) == 1)
                try realm.readJSONLines(ofType: "SupportTicket", from: url, update: .modified)
            }
            #expect(realm.objects(Ticket.self).map(\.title) == ["t", "u"])
            expectError(.notInTransaction) {
                try realm.readCSV(ofType: "SupportTicket", from: table)
            }
            try realm.write {
                expectError(.noSuchClass) {
                    try realm.readJSONLines(ofType: "Ticket", from: url)
                }
                expectError(.duplicatePrimaryKey) {
                    try realm.readJSONLines(ofType: "SupportTicket", from: url)
                }
                expectError(.missingPrimaryKey) {
                    try realm.readCSV(ofType: "Dog", from: table, update: .all)
                }
                expectError(.embeddedObject) {
                    try realm.readJSONLines(ofType: "House", from: try file("{}", in: folder))
                }
            }
            #expect(realm.objects(Ticket.self).count == 2)
        }
    }

    @Test
    func `Properties have the names that the file has for them`() throws {
        try with { realm, folder in
            try realm.write { realm.create(Ticket.self, value: ["number": 7, "title": "t"]) }
            let url = folder.appendingPathComponent("a")
            try realm.objects(Ticket.self).writeJSONLines(to: url)
            #expect(try text(url) == "{\"number\":7,\"ticket_title\":\"t\"}\n")
            try realm.objects(Ticket.self).writeCSV(to: url, properties: [\.title])
            #expect(try text(url) == "ticket_title\r\nt\r\n")
            try realm.write {
                let table = try file("number,title\n8,u\n", in: folder)
                try realm.readCSV(of: Ticket.self, from: table)
                let lines = try file("{\"number\":9,\"ticket_title\":\"v\"}", in: folder)
                try realm.readJSONLines(of: Ticket.self, from: lines)
            }
            #expect(realm.objects(Ticket.self).map(\.title) == ["t", "u", "v"])
        }
    }

    @Test
    func `Comma-separated values have the properties that are named`() throws {
        try with { realm, folder in
            try realm.write { realm.add(Person(1, "Ann")) }
            let people = realm.objects(Person.self), url = folder.appendingPathComponent("a")
            try people.writeCSV(to: url, properties: ["name", "id"])
            #expect(try text(url) == "name,id\r\nAnn,1\r\n")
            try people.writeCSV(to: url, properties: [\.age, \.boss])
            #expect(try text(url) == "age,boss\r\n18,\r\n")
            for wrong in ["nope", "reports"] {
                expectError(.noSuchProperty) { try people.writeCSV(to: url, properties: [wrong]) }
            }
            expectError(.noSuchProperty) {
                try people.writeCSV(to: url, properties: [\.isSelected])
            }
            expectError(.invalidArgument) {
                try people.writeCSV(to: url, properties: ["age", "age"])
            }
            #expect(try text(url) == "age,boss\r\n18,\r\n")
        }
    }

    @Test
    func `Links lead to what comes later, and to objects without primary key`() throws {
        try with { realm, folder in
            let count = 10_000
            var lines = (0..<count).map { "{\"id\":\($0),\"boss\":\(count - 1 - $0)}" }
            try realm.write {
                let url = try file(lines.joined(separator: "\n"), in: folder)
                #expect(try realm.readJSONLines(of: Person.self, from: url) == count)
                lines = [
                    "{\"_key\":50,\"maybeObject\":7,\"objects\":[50,7,{\"int\":3}]}",
                    "{\"_key\":7}",
                ]
                let things = try file(lines.joined(separator: "\n"), in: folder)
                #expect(try realm.readJSONLines(of: Everything.self, from: things) == 2)
                let later = "{\"id\":1,\"house\":{\"landlord\":2}}\n{\"id\":2}"
                let houses = try file(later, in: folder)
                #expect(try realm.readJSONLines(of: Resident.self, from: houses) == 2)
                // A link that waits for a later line is deleted with its owner.
                let changed = """
                    {"id":3,"house":{"landlord":4}}
                    {"id":3,"house":null}
                    {"id":4}
                    """
                let gone = try file(changed, in: folder)
                #expect(try realm.readJSONLines(of: Resident.self, from: gone, update: .all) == 3)
            }
            #expect(realm.objects(Person.self).allSatisfy { $0.boss?.id == count - 1 - $0.id })
            let things = realm.objects(Everything.self)
            #expect(things.count == 3 && things.first?.objects.last?.int == 3)
            #expect(things.first?.objects.first?.isSameObject(as: things[0]) == true)
            let ann = realm.object(ofType: Resident.self, forPrimaryKey: 1)
            #expect(ann?.house?.landlord?.id == 2)
            #expect(realm.object(ofType: Resident.self, forPrimaryKey: 3)?.house == nil)
        }
    }

    @Test
    func `Lines may end as on Windows, be empty, and be longer than what is read at once`() throws {
        try with { realm, folder in
            let long = String(repeating: "\u{E9}", count: 100_000)
            let lines = "\u{FEFF}{\"id\":1}\r\n\r\n\n{\"id\":2,\"name\":\"\(long)\"}\r\n{\"id\":3}"
            let table =
                "\u{FEFF}id,name,nickname,age\r\n\r\n11,\"\(long)\",\"\",1\n"
                + "12,\"say \"\"a\nb\"\"\",,2\r\n13,,\"x,y\",3"
            try realm.write {
                let url = try file(lines, in: folder)
                #expect(try realm.readJSONLines(of: Person.self, from: url) == 3)
                #expect(try realm.readCSV(of: Person.self, from: try file(table, in: folder)) == 3)
                let one = try file("nickname\n\nb\n", in: folder)
                expectError(.missingPrimaryKey) { try realm.readCSV(of: Person.self, from: one) }
                let words = try file("string\n\nb\n\"\"\n", in: folder)
                #expect(try realm.readCSV(of: Everything.self, from: words) == 3)
            }
            let people = realm.objects(Person.self).sorted(byKeyPath: "id")
            #expect(people.map(\.id) == [1, 2, 3, 11, 12, 13])
            #expect(people[1].name == long && people[3].name == long)
            #expect(people[3].nickname == "" && people[4].nickname == nil)
            #expect(people[4].name == "say \"a\nb\"" && people[5].nickname == "x,y")
        }
    }

    @Test
    func `A text comes back byte for byte, whatever its marks join with`() throws {
        let words = [
            "a\"\u{301}b", "\"\u{301}", "\u{600}\"", "\",\"\u{FE0F}", ",\u{301}", "a\r\n\u{301}",
            "\u{FEFF}a", "\u{FEFF}", "\u{E9}\"", "e\u{301}", "\r", "\u{1F469}\u{200D}\"",
            "\\\u{301}",
        ]
        try with { realm, folder in
            try realm.write {
                for (id, word) in words.enumerated() { realm.add(Person(id, word)) }
            }
            let people = realm.objects(Person.self).sorted(byKeyPath: "id")
            let table = folder.appendingPathComponent("a.csv")
            let lines = folder.appendingPathComponent("a.jsonl")
            #expect(try people.writeCSV(to: table, properties: ["name", "id"]) == words.count)
            #expect(try people.writeJSONLines(to: lines) == words.count)
            for url in [table, lines] {
                try realm.write {
                    realm.delete(people)
                    let count =
                        url == table
                        ? try realm.readCSV(of: Person.self, from: url)
                        : try realm.readJSONLines(of: Person.self, from: url)
                    #expect(count == words.count)
                }
                #expect(people.map { Array($0.name.utf8) } == words.map { Array($0.utf8) })
            }
        }
    }

    @Test
    func `Numbers are exact in their properties, or refused by line and name`() throws {
        let digits = "1234567890123456789012345678901234"
        try with { realm, folder in
            let settings = """
                {"name":"wide","value":18446744073709551615}
                {"name":"low","value":[-9223372036854775809]}
                {"name":"long","value":\(digits)}
                {"name":"int","value":2.0}
                {"name":"double","value":1e20}
                """
            let prices = "{\"id\":1,\"prices\":{\"a\":19.99,\"b\":\(digits),\"c\":\"1.50\"}}"
            try realm.write {
                let url = try file(settings, in: folder)
                #expect(try realm.readJSONLines(of: Setting.self, from: url) == 5)
                try realm.readJSONLines(of: Library.self, from: try file(prices, in: folder))
            }
            let values = realm.objects(Setting.self).map(\.value)
            let wide: Decimal128 = "18446744073709551615"
            #expect(values[0] == .decimal128(wide))
            #expect(values[0].decimal128Value?.description == "18446744073709551615")
            #expect(
                values[1].listValue?.first?.decimal128Value?.description == "-9223372036854775809")
            #expect(values[2].decimal128Value?.description == digits)
            #expect(values[3] == .int(2) && values[4] == .double(1e20))
            let library = try #require(realm.objects(Library.self).first)
            #expect(library.prices["a"]?.description == "19.99")
            #expect(library.prices["b"]?.description == digits)
            realm.beginWrite()
            for (line, type, name) in [
                ("{\"name\":\"x\",\"value\":\(digits)5}", Setting.self, "'Setting.value'"),
                ("{\"name\":\"x\",\"value\":1e400}", Setting.self, "'Setting.value'"),
                ("{\"id\":2,\"prices\":{\"a\":\(digits)5}}", Library.self, "'Library.prices'"),
                (
                    "{\"id\":2,\"prices\":{\"a\":\"0.\(digits)5\"}}", Library.self,
                    "'Library.prices'"
                ),
                ("{\"id\":2,\"doubles\":[1e-400]}", Library.self, "'Library.doubles'"),
            ] as [(String, Object.Type, String)] {
                let url = try file("\n" + line, in: folder)
                try expect(.typeMismatch, "Line 2 of '\(url.path)': ", name) {
                    try realm.readJSONLines(ofType: "\(type)", from: url)
                }
            }
            realm.cancelWrite()
        }
    }

    @Test
    func `An empty file has no objects, and names no properties`() throws {
        try with { realm, folder in
            for empty in ["", "\n\r\n\n", "\u{FEFF}"] {
                let url = try file(empty, in: folder)
                realm.beginWrite()
                #expect(try realm.readJSONLines(of: Person.self, from: url) == 0)
                expectError(.invalidArgument) { try realm.readCSV(of: Person.self, from: url) }
                realm.cancelWrite()
            }
            let url = folder.appendingPathComponent("none")
            let people = realm.objects(Person.self)
            #expect(try people.writeJSONLines(to: url) == 0)
            #expect(try text(url) == "")
            #expect(try people.writeCSV(to: url) == 0)
            let count = try realm.write { try realm.readCSV(of: Person.self, from: url) }
            #expect(count == 0)
        }
    }

    @Test(arguments: [
        ("{bad}", Realm.Error.Code.invalidArgument, "byte 1"),
        ("[1]", .typeMismatch, "a list"),
        ("{\"id\":\"x\"}", .typeMismatch, "Person.id"),
        ("{\"id\":1.5}", .typeMismatch, "1.5"),
        ("{\"id\":9,\"nope\":1}", .noSuchProperty, "'nope'. Leave it out, or declare it."),
        ("{\"id\":9,\"age\":1,\"age\":2}", .invalidArgument, "twice"),
        ("{\"id\":9,\"name\":null}", .nullNotAllowed, "Person.name"),
        ("{\"id\":9,\"boss\":77}", .noSuchObject, "77"),
        ("{\"id\":9,\"dogs\":[77]}", .missingPrimaryKey, "Person.dogs"),
        ("{\"id\":9,\"reports\":[]}", .noSuchProperty, "reports"),
        ("{\"id\":1}", .duplicatePrimaryKey, "'update: .all'"),
        ("{\"name\":\"a\"}", .missingPrimaryKey, "Person"),
        ("{\"id\":9,\"name\":\"\\ud800\"}", .invalidArgument, "Line 3"),
    ])
    func `A wrong line is told, nothing of its file stays, and the transaction goes on`(
        _ wrong: String, _ code: Realm.Error.Code, _ told: String
    ) throws {
        try with { realm, folder in
            try realm.write { realm.add(Person(1, "Ann")) }
            let lines = """
                {"id":2,"boss":1,"dogs":[{"name":"Rex"}]}

                \(wrong)
                {"id":3,"boss":2}
                """
            let url = try file(lines, in: folder)
            realm.beginWrite()
            realm.add(Person(5, "before"))
            try expect(code, "Line 3 of '\(url.path)': ", told) {
                try realm.readJSONLines(of: Person.self, from: url)
            }
            #expect(realm.objects(Person.self).map(\.id) == [1, 5])
            #expect(realm.objects(Dog.self).isEmpty)
            realm.add(Person(6, "after"))
            try realm.commitWrite()
            #expect(realm.objects(Person.self).map(\.id) == [1, 5, 6])
        }
    }

    @Test(arguments: [
        ("id,nope\n2,3\n", 1, Realm.Error.Code.noSuchProperty, "'nope'. Leave it out"),
        ("id,id\n2,3\n", 1, .invalidArgument, "Two fields"),
        ("id,name\n2,a\n3\n", 3, .invalidArgument, "1 fields"),
        ("id,name\n2,\"\n\n\"\n3,\"a\"b\n", 5, .invalidArgument, "last quote"),
        ("id,name\n2,a\n3,5\" b\"\n", 3, .invalidArgument, "Field 2"),
        ("id,name\n2,a\nx,b\n", 3, .typeMismatch, "Person.id"),
        ("id,dogs\n2,[]\n3,[\n", 3, .invalidArgument, "Person.dogs"),
        ("id,boss\n2,\n3,77\n", 3, .noSuchObject, "77"),
        ("id,age\n2,3\n4,\n", 3, .nullNotAllowed, "Person.age"),
    ])
    func `A wrong record is told by its line, and nothing of its file stays`(
        _ table: String, _ line: Int, _ code: Realm.Error.Code, _ told: String
    ) throws {
        try with { realm, folder in
            let url = try file(table, in: folder)
            realm.beginWrite()
            try expect(code, "Line \(line) of '\(url.path)': ", told) {
                try realm.readCSV(of: Person.self, from: url)
            }
            #expect(realm.objects(Person.self).isEmpty)
            realm.add(Person(6, "after"))
            try realm.commitWrite()
        }
    }

    @Test
    func `What is there already is an error, or is changed`() throws {
        try with { realm, folder in
            let old = Person(1, "Ann", age: 7)
            try realm.write { realm.add(old) }
            let url = try file("{\"id\":1,\"name\":\"Eve\"}\n{\"id\":2}\n", in: folder)
            realm.beginWrite()
            expectError(.duplicatePrimaryKey) {
                try realm.readJSONLines(of: Person.self, from: url)
            }
            #expect(try realm.readJSONLines(of: Person.self, from: url, update: .modified) == 2)
            #expect(old.name == "Eve" && old.age == 7 && realm.objects(Person.self).count == 2)
            let table = try file("id,name\n1,Ida\n", in: folder)
            #expect(try realm.readCSV(of: Person.self, from: table, update: .all) == 1)
            #expect(old.name == "Ida" && old.age == 7)
            expectError(.missingPrimaryKey) {
                try realm.readJSONLines(of: Dog.self, from: url, update: .all)
            }
            // Updates of earlier lines are undone.
            let wrong = try file("id,name\n1,Zoe\n3,x\n4\n", in: folder)
            expectError(.invalidArgument) {
                try realm.readCSV(of: Person.self, from: wrong, update: .all)
            }
            #expect(old.name == "Ida" && realm.objects(Person.self).count == 2)
            try realm.commitWrite()
        }
    }

    @Test(arguments: [Realm.UpdatePolicy.all, .modified])
    func `A file that is refused leaves what its lines before would change`(
        _ update: Realm.UpdatePolicy
    ) throws {
        try with { realm, folder in
            let boss = Person(2, "Ben")
            try realm.write {
                realm.add(Person(1, "Ann"))
                realm.add(boss)
                boss.boss = realm.object(ofType: Person.self, forPrimaryKey: 1)
            }
            let lines = """
                {"id":2,"name":"new","boss":3,"dogs":[{"name":"Rex"}]}
                {"id":3,"name":"made"}
                {"id":1,"name":5}
                """
            let url = try file(lines, in: folder)
            try realm.write {
                expectError(.typeMismatch) {
                    try realm.readJSONLines(of: Person.self, from: url, update: update)
                }
                #expect(boss.name == "Ben" && boss.boss?.id == 1 && boss.dogs.isEmpty)
            }
            #expect(realm.objects(Person.self).map(\.id).sorted() == [1, 2])
            #expect(realm.objects(Dog.self).isEmpty)
        }
    }

    @Test
    func `A new object has the defaults of its class where the line says nothing`() throws {
        try with { realm, folder in
            try realm.write {
                let people = try file("{\"id\":1}\n{\"id\":2,\"age\":3}", in: folder)
                try realm.readJSONLines(of: Person.self, from: people)
                let cats = try file("name,mood\nTom,wild\nTim,calm\n", in: folder)
                try realm.readCSV(of: Cat.self, from: cats)
                let houses = try file("{\"id\":1,\"house\":{\"street\":\"a\"}}", in: folder)
                try realm.readJSONLines(of: Resident.self, from: houses)
                let again = try file("{\"id\":2,\"name\":\"Ben\"}", in: folder)
                try realm.readJSONLines(of: Person.self, from: again, update: .all)
                let numbers = try file("{}\n{}", in: folder)
                try realm.readJSONLines(of: Numbered.self, from: numbers)
            }
            #expect(realm.objects(Person.self).map(\.age) == [18, 3])
            #expect(realm.objects(Cat.self).map(\.rank) == [.expert, .expert])
            #expect(realm.objects(Resident.self).first?.house?.floor == 1)
            #expect(realm.objects(Numbered.self).count == 2)
        }
    }

    @Test
    func `Progress tells how many are done, and what it throws ends the call`() throws {
        try with { realm, folder in
            try realm.write { for id in 1...3 { realm.add(Person(id, "\(id)")) } }
            let people = realm.objects(Person.self), url = folder.appendingPathComponent("a")
            var seen: [[Int]] = []
            try people.writeCSV(to: url) { seen.append([$0, $1]) }
            #expect(seen == [[1, 3], [2, 3], [3, 3]])
            let before = try text(url)
            #expect(throws: Stop.self) {
                try people.writeJSONLines(to: url) { done, _ in if done == 2 { throw Stop() } }
            }
            #expect(try text(url) == before)
            let other = folder.appendingPathComponent("other")
            #expect(throws: Stop.self) {
                try people.writeJSONLines(to: other) { _, _ in throw Stop() }
            }
            #expect(try names(in: folder) == ["a"])

            try people.writeJSONLines(to: other)
            try realm.write { realm.deleteAll() }
            realm.beginWrite()
            for (read, source) in [
                (realm.readCSV(of:from:update:progress:), url),
                (realm.readJSONLines(of:from:update:progress:), other),
            ] {
                seen = []
                #expect(throws: Stop.self) {
                    _ = try read(Person.self, source, .error) { done, total in
                        seen.append([done, total])
                        if done == 2 { throw Stop() }
                    }
                }
                #expect(seen == [[1, 3], [2, 3]] && people.isEmpty)
            }
            seen = []
            #expect(try realm.readCSV(of: Person.self, from: url) { seen.append([$0, $1]) } == 3)
            #expect(seen == [[1, 3], [2, 3], [3, 3]] && people.count == 3)
            try realm.commitWrite()
        }
    }

    @Test
    func `Objects that go while others are written are left out`() throws {
        try with { realm, folder in
            let url = folder.appendingPathComponent("a")
            realm.beginWrite()
            for id in 1...3 { realm.add(Person(id, "\(id)")) }
            let adults = realm.objects(Person.self).filter("age >= 18")
            let count = try adults.writeCSV(to: url, properties: ["id"]) { done, total in
                #expect(total == 3)
                guard done == 1 else { return }
                realm.object(ofType: Person.self, forPrimaryKey: 2).map { realm.delete($0) }
                realm.add(Person(4, "late"))
            }
            #expect(count == 2)
            #expect(try text(url) == "id\r\n1\r\n3\r\n")
            realm.cancelWrite()
        }
    }

    @Test
    func `An observer writes what it hears of`() throws {
        try TestRealm.withFolder { folder in
            try LoopThread.run { loop in
                let realm = try Realm(configuration: TestRealm.inMemory([Person.self, Dog.self]))
                let url = folder.appendingPathComponent("a"), people = realm.objects(Person.self)
                let counts = Box<[Int]>([])
                let token = try loop.inside {
                    people.observe { _ in
                        let count = try? people.writeCSV(to: url, properties: ["id"])
                        counts.value.append(count ?? -1)
                    }
                }
                loop.wait { counts.value == [0] }
                try realm.write { for id in 1...2 { realm.add(Person(id, "\(id)")) } }
                loop.wait { counts.value == [0, 2] }
                token.invalidate()
                #expect(counts.value == [0, 2])
                #expect(try text(url) == "id\r\n1\r\n2\r\n")
                try TestRealm.check(realm)
            }
        }
    }

    @Test
    func `A file that can't be used is an error that says why`() throws {
        try with { realm, folder in
            let missing = folder.appendingPathComponent("none/a")
            let people = realm.objects(Person.self)
            realm.beginWrite()
            let device = URL(fileURLWithPath: "/dev/null")
            for (url, reading, writing) in [
                (missing, Realm.Error.Code.fileNotFound, Realm.Error.Code.fileNotFound),
                (folder, .isDirectory, .isDirectory), (device, .fileAccess, .fileAccess),
                (try #require(URL(string: "http://a/b")), .invalidArgument, .invalidArgument),
            ] {
                expectError(reading) { try realm.readJSONLines(of: Person.self, from: url) }
                expectError(reading) { try realm.readCSV(of: Person.self, from: url) }
                expectError(writing) { try people.writeJSONLines(to: url) }
                expectError(writing) { try people.writeCSV(to: url) }
            }
            realm.cancelWrite()
            #expect(try names(in: folder) == [])
        }
        try TestRealm.withFile { realm, url in
            expectError(.fileExists) { try realm.objects(Person.self).writeCSV(to: url) }
            let link = url.deletingLastPathComponent().appendingPathComponent("link")
            try FileManager.default.createSymbolicLink(at: link, withDestinationURL: url)
            expectError(.fileExists) { try realm.objects(Person.self).writeCSV(to: link) }
        }
    }

    @Test
    func `A file is replaced where a link leads to it, and keeps its mode`() throws {
        try with { realm, folder in
            let url = try file("old", in: folder)
            let link = folder.appendingPathComponent("link")
            try FileManager.default.createSymbolicLink(at: link, withDestinationURL: url)
            let mode: [FileAttributeKey: Any] = [.posixPermissions: 0o640]
            try FileManager.default.setAttributes(mode, ofItemAtPath: url.path)
            try realm.objects(Dog.self).writeCSV(to: link)
            #expect(try text(url) == "_key,name,age\r\n")
            let found = try FileManager.default.attributesOfItem(atPath: url.path)
            #expect(found[.posixPermissions] as? Int == 0o640)
            #expect(try names(in: folder) == ["a.txt", "link"])
        }
    }

    @Test
    func `What is frozen is written on any thread, and read into no realm`() throws {
        try with { realm, folder in
            try realm.write { for id in 1...2 { realm.add(Person(id, "\(id)")) } }
            let frozen = realm.objects(Person.self).filter("id > 1").freeze()
            try realm.write { realm.deleteAll() }
            let url = folder.appendingPathComponent("a")
            nonisolated(unsafe) let shared = frozen
            let count = try elsewhere { try shared.writeCSV(to: url, properties: ["id"]) }
            #expect(count == 1)
            #expect(try text(url) == "id\r\n2\r\n")
            expectError(.readOnly) { try realm.freeze().readCSV(of: Person.self, from: url) }
        }
    }

    @Test
    func `Reading needs a write transaction, and writing objects of a realm`() throws {
        try with { realm, folder in
            let url = try file("{\"id\":1}", in: folder)
            // Thrown, and no misuse: without `attempt`.
            for read in [
                realm.readJSONLines(of:from:update:progress:),
                realm.readCSV(of:from:update:progress:),
            ] {
                #expect(throws: Realm.Error.self) {
                    _ = try read(Person.self, url, .error, nil)
                }
            }
            expectError(.notInTransaction) { try realm.readJSONLines(of: Person.self, from: url) }
            expectError(.noSuchClass) {
                realm.beginWrite()
                defer { realm.cancelWrite() }
                return try realm.readJSONLines(of: Hidden.self, from: url)
            }
            let alone = List<Dog>()
            expectError(.invalidArgument) { try alone.writeCSV(to: url) }
            let people = realm.objects(Person.self)
            realm.invalidate()
            expectError(.collectionInvalidated) { try people.writeCSV(to: url) }
            #expect(try text(url) == "{\"id\":1}")
        }
    }

    @Test
    func `A link to the object whose key is nil is one in JSON, and an error in a field`() throws {
        try with { realm, folder in
            try realm.write { realm.create(Trip.self, value: ["to": City()]) }
            let url = folder.appendingPathComponent("a"), trips = realm.objects(Trip.self)
            try trips.writeJSONLines(to: url)
            #expect(try text(url) == "{\"_key\":0,\"to\":{\"$class\":\"City\",\"$link\":null}}\n")
            expectError(.missingPrimaryKey) { try trips.writeCSV(to: url) }
            try realm.write {
                #expect(try realm.readJSONLines(of: Trip.self, from: url) == 1)
                try realm.objects(City.self).writeCSV(to: url)
                #expect(try text(url) == "code,population\r\n,0\r\n")
                #expect(try realm.readCSV(of: City.self, from: url, update: .modified) == 1)
            }
            #expect(realm.objects(City.self).count == 1)
            #expect(trips.count == 2 && trips[1].to?.isSameObject(as: trips[0].to) == true)
        }
    }
}
