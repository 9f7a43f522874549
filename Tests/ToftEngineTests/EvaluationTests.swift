// Tests: Toft/Results.swift, Results+Elements.swift
import Testing
import ToftModel
import ToftStorage
import ToftTestKit
@testable import ToftEngine

/// The number and the extent of evaluations of results.
@Suite struct EvaluationTests {
    /// People whose name is one of ten.
    private func family(_ count: Int64 = 50) throws -> TestDatabase {
        let database = try TestDatabase()
        try database.write { () throws(EngineError) in
            for id in 0..<count { try database.addPerson(id, name: "n\(id % 10)", age: id) }
        }
        return database
    }

    /// The number of evaluations that `body` causes.
    private func evaluations(_ results: Results, _ body: () throws -> Void) throws -> Int {
        let before = results.evaluations
        try body()
        _ = try results.count
        _ = try results.key(at: 0)
        return results.evaluations - before
    }

    private func addDog(_ name: String, _ database: TestDatabase) throws(EngineError) {
        try database.write { () throws(EngineError) in
            _ = try database.session.create(
                try database.dog, [(try database.property("name", of: "Dog"), .string(name))])
        }
    }

    // MARK: Moves

    @Test(arguments: [false, true])
    func `Results stay where nothing that they read has changed`(isObserved: Bool) throws {
        let database = try family()
        let other = try database.other()
        let found = try database.people().filter("name == 'n3'")
        let token = isObserved ? try found.observe { _ in } : nil
        defer { token?.stop() }
        _ = try evaluations(found) {}
        #expect(found.evaluations > 0)
        #expect(try evaluations(found) { try database.session.refresh() } == 0)
        // Another class, and a property that the query does not read, by the own session, by
        // another one, and both.
        #expect(try evaluations(found) { try addDog("Rex", database) } == 0)
        for writer in [database, other] {
            let changed = try evaluations(found) {
                try addDog("Max", other)
                try writer.write { () throws(EngineError) in
                    try writer.findPerson(3).set(try writer.property("age"), Value.int(99))
                }
                try database.session.refresh()
            }
            #expect(changed == 0)
        }
        let emptied = try evaluations(found) {
            try database.session.beginWrite()
            try database.session.commit()
        }
        #expect(emptied == 0)
        try database.expectSound()
    }

    @Test func `Results are worked out again once something that they read has changed`() throws {
        let database = try family()
        let other = try database.other()
        let found = try database.people().filter("name == 'n3'")
        for (number, writer) in [database, other].enumerated() {
            _ = try found.key(at: 0)
            let changed = try evaluations(found) {
                try writer.write { () throws(EngineError) in
                    try writer.setName("n3", of: try writer.findPerson(Int64(number)))
                }
                try database.session.refresh()
            }
            #expect(changed > 0)
            #expect(try found.count == 6 + number)
        }
        let created = try evaluations(found) {
            try other.write { () throws(EngineError) in _ = try other.addPerson(100, name: "n3") }
            try database.session.refresh()
        }
        #expect(created > 0)
        #expect(try found.count == 8)
        try database.expectSound()
    }

    @Test func `A deletion elsewhere leaves results as they are, also when it is taken back`()
        throws
    {
        let database = try family()
        for name in ["Rex", "Max"] { try addDog(name, database) }
        let dogs = try database.session.results(of: try database.dog)
        let found = try database.people().filter("name == 'n3'")
        _ = try evaluations(found) {}
        let deleted = try evaluations(found) {
            try database.write { () throws(EngineError) in try dogs.object(at: 0).delete() }
        }
        #expect(deleted == 0)
        let cancelled = try evaluations(found) {
            try database.session.beginWrite()
            try database.people().deleteAll()
            try database.session.cancel()
        }
        #expect(cancelled == 0)
        try database.session.beginWrite()
        try database.findPerson(13).delete()
        #expect(try found.count == 4)
        try database.session.cancel()
        #expect(try found.count == 5)
        #expect(try found.keys().count == 5)
        try database.expectSound()
    }

    @Test func `A commit of which the record is long tells the classes apart`() throws {
        let database = try family()
        try addDog("Rex", database)
        let other = try database.other()
        let people = try database.people().filter("name == 'n3'")
        let dogs = try database.session.results(of: try database.dog).filter("name == 'Rex'")
        _ = try evaluations(people) {}
        _ = try evaluations(dogs) {}
        /// A list that is long enough to be stored beside its object.
        func grow() throws {
            try other.write { () throws(EngineError) in
                let notes = try other.findPerson(1).list(try other.property("notes"))
                for number in 0..<2_000 {
                    try notes.append(Value.string("\(number) " + String(repeating: "x", count: 60)))
                }
            }
            try database.session.refresh()
        }
        let notes = try database.findPerson(1).list(try database.property("notes")).results()
            .sorted(by: [("self", true)])
        for round in 1...3 {
            #expect(try evaluations(dogs) { try grow() } == 0)
            #expect(try notes.count == 2_000 * round)
            #expect(try notes.values().count == 2_000 * round)
        }
        // An element is replaced, and much is written into another object of the class.
        let first = try notes.value(at: 0)
        try other.write { () throws(EngineError) in
            for id in 2..<50 as Range<Int64> {
                try other.setName(String(repeating: "m", count: 3_000), of: other.findPerson(id))
            }
            let list = try other.findPerson(1).list(try other.property("notes"))
            try list.set(Value.string("!"), at: 1_000)
        }
        try database.session.refresh()
        #expect(try notes.value(at: 0) != first)
        try database.expectSound()
    }

    // MARK: The first of them

    @Test func `The first object is found without the others`() throws {
        let database = try family(6_000)
        let found = try database.people().filter("name == 'n3'")
        #expect(try !found.isEmpty)
        #expect(try found.key(at: 0) == 3)
        #expect(!found.isEvaluated)
        #expect(found.evaluations == 1)
        #expect(try database.people().filter("name == 'none'").isEmpty)
        #expect(try database.people().filter("name == 'n3'").offset(by: 600).isEmpty)
        #expect(
            code { () throws(EngineError) in
                _ = try database.people().filter("name == 'none'").key(at: 0)
            } == .indexOutOfRange)
    }

    @Test(arguments: ["name == 'n3'", "age >= 10", "name == 'n3' SORT(age DESC)", "age == 5"])
    func `A loop over the indices works results out a few times`(query: String) throws {
        let database = try family(6_000)
        let found = try database.people().filter(query)
        let expected = try database.people().filter(query).keys()
        var keys: [Int64] = []
        for index in expected.indices { keys.append(try found.key(at: index)) }
        #expect(keys == expected)
        #expect(found.evaluations <= 3)
        #expect(try found.count == expected.count)
        #expect(found.evaluations <= 3)
        let backwards = try database.people().filter(query)
        for index in expected.indices.reversed() {
            #expect(try backwards.key(at: index) == expected[index])
        }
        #expect(backwards.evaluations <= 2)
    }

    @Test func `Few results are all known once they have been looked for`() throws {
        let database = try family(6_000)
        let found = try database.people().filter("name == 'n3' AND age < 100")
        #expect(try found.key(at: 5) == 53)
        #expect(try found.count == 10)
        #expect(try found.keys().count == 10)
        #expect(found.evaluations == 1)
    }

    @Test func `The first is another one after a change`() throws {
        let database = try family(6_000)
        let found = try database.people().filter("name == 'n3'")
        for id in [3, 13, 23] as [Int64] {
            #expect(try found.key(at: 0) == id)
            try database.session.beginWrite()
            try database.setName("else", of: try database.findPerson(id))
            #expect(try found.key(at: 0) == id + 10)
            try database.session.cancel()
            #expect(try found.key(at: 0) == id)
            try database.write { () throws(EngineError) in try database.findPerson(id).delete() }
            #expect(try !found.isEmpty)
        }
        #expect(try found.key(at: 0) == 33)
        #expect(!found.isEvaluated)
        try database.expectSound()
    }
}
