// Tests: QueryCache.swift
import Testing
import ToftModel
import ToftQuery
@testable import ToftEngine

/// Query texts that come again and again, which are parsed once.
@Suite struct QueryCacheTests {
    private func family() throws -> TestDatabase {
        let database = try TestDatabase()
        try database.write { () throws(EngineError) in
            for id in 1...100 as ClosedRange<Int64> {
                try database.addPerson(id, name: "n\(id % 10)", age: id)
            }
        }
        return database
    }

    private func count(
        _ database: TestDatabase, _ text: String, _ arguments: Value...
    ) throws(EngineError) -> Int {
        try database.people().filter(text, arguments: arguments.map(QueryArgument.value)).count
    }

    @Test func `The same text answers for other arguments, in any transaction`() throws {
        let database = try family()
        for age in 0...101 as ClosedRange<Int64> {
            #expect(try count(database, "age == $0", .int(age)) == (1...100 ~= age ? 1 : 0))
            #expect(
                try count(database, "age < $0 AND name == $1", .int(age), .string("n3"))
                    == (1..<max(1, age)).count { $0 % 10 == 3 })
        }
        // Null, then another type, which is an error that leaves nothing behind.
        #expect(try count(database, "age == $0", .null) == 0)
        for _ in 0..<3 {
            #expect(throws: EngineError.self) { try count(database, "age == $0", .string("x")) }
            #expect(throws: EngineError.self) { try count(database, "age == $1", .int(1)) }
        }
        try database.session.beginWrite()
        try database.addPerson(500, age: 50)
        #expect(try count(database, "age == $0", .int(50)) == 2)
        try database.session.cancel()
        #expect(try count(database, "age == $0", .int(50)) == 1)
        try database.expectSound()
    }

    @Test func `An error in a text is the same each time`() throws {
        let database = try family()
        for text in ["age ==", "agee == $0", "age == 'x'", "", "name == 'open", "id == $0 AND"] {
            let messages = (0..<4).map { _ -> String in
                do throws(EngineError) {
                    _ = try count(database, text, .int(1))
                    return "none"
                } catch { return "\(error)" }
            }
            #expect(Set(messages).count == 1, "\(messages)")
            #expect(messages[0] != "none")
        }
    }

    @Test func `Texts that are equal to Unicode, but not byte for byte, stay apart`() throws {
        let database = try family()
        let texts = ["name == 'caf\u{E9}'", "name == 'cafe\u{301}'"]
        try database.write { () throws(EngineError) in
            try database.addPerson(200, name: "caf\u{E9}")
            try database.addPerson(201, name: "cafe\u{301}")
        }
        for _ in 0..<4 {
            for (text, id) in zip(texts, [200, 201] as [Int64]) {
                #expect(try count(database, text) == 1)
                #expect(try count(database, text + " AND id == $0", .int(id)) == 1)
                #expect(try count(database, text + " AND id == $0", .int(401 - id)) == 0)
            }
        }
    }

    @Test func `An alias and another class give the same text another meaning`() throws {
        let database = try family()
        try database.write { () throws(EngineError) in
            try database.session.create(
                try database.dog, [(try database.property("name", of: "Dog"), .string("n1"))])
        }
        let dogs = try database.session.results(of: try database.dog)
        for _ in 0..<4 {
            #expect(try count(database, "name == $0", .string("n1")) == 10)
            #expect(try dogs.filter("name == $0", arguments: [.value(.string("n1"))]).count == 1)
        }
        let other = try database.other()
        try other.session.setAlias("years", of: try other.person, to: "age")
        for _ in 0..<4 {
            #expect(try count(other, "years == $0", .int(7)) == 1)
            #expect(throws: EngineError.self) { try count(database, "years == $0", .int(7)) }
        }
    }

    @Test(arguments: [511, 512, 513])
    func `A text of any length is answered again`(length: Int) throws {
        let database = try family()
        let text = "age == $0" + String(repeating: " ", count: length - 9)
        for _ in 0..<4 { #expect(try count(database, text, .int(5)) == 1) }
    }
}
