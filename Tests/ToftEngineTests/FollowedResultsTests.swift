// Tests: Results+Changes.swift, BoundQuery+Merge.swift
import Testing
import ToftModel
import ToftStorage
import ToftTestKit
@testable import ToftEngine

/// Results that were evaluated follow later changes, without another scan of all objects.
@Suite struct FollowedResultsTests {
    private func family(_ count: Int64) throws -> TestDatabase {
        let database = try TestDatabase()
        try database.write { () throws(EngineError) in
            for id in 0..<count {
                try database.addPerson(id, name: "n\(id % 10)", age: id * 7 % 100)
            }
        }
        return database
    }

    /// Results with all their keys, and the number of their evaluations.
    private func worked(_ query: String, _ database: TestDatabase) throws -> (Results, Int) {
        let results = try database.people().filter(query)
        _ = try results.keys()
        return (results, results.evaluations)
    }

    private func fresh(_ query: String, _ database: TestDatabase) throws -> [Int64] {
        try database.people().filter(query).keys()
    }

    @Test(arguments: [
        "age < 50", "age < 50 SORT(name DESC, age ASC)", "TRUEPREDICATE SORT(age ASC)",
    ])
    func `What others commit is followed`(query: String) throws {
        let database = try family(3_000)
        let other = try database.other()
        let (results, evaluations) = try worked(query, database)
        for step in 0..<20 as Range<Int64> {
            try other.write { () throws(EngineError) in
                try other.findPerson(step * 30).set(try other.property("age"), Value.int(step))
                try other.findPerson(step * 40 + 1).delete()
                try other.addPerson(10_000 + step, name: "n\(step)", age: step * 5)
            }
            try database.session.refresh()
            #expect(try results.keys() == fresh(query, database))
            #expect(try results.count == fresh(query, database).count)
        }
        #expect(results.evaluations == evaluations)
        try database.expectSound()
    }

    @Test(arguments: ["age < 50", "age < 50 SORT(name DESC)", "TRUEPREDICATE"])
    func `Changes of the own transaction are followed, and what it cancels is not kept`(
        query: String
    ) throws {
        let database = try family(3_000)
        let (results, evaluations) = try worked(query, database)
        let before = try results.keys()
        try database.session.beginWrite()
        for step in 0..<20 as Range<Int64> {
            try database.findPerson(step * 30).set(try database.property("age"), Value.int(99))
            #expect(try results.keys() == fresh(query, database))
            try database.addPerson(10_000 + step, name: "n\(step)", age: step)
            #expect(try results.keys() == fresh(query, database))
            try database.findPerson(10_000 + step / 2).delete()
            #expect(try results.keys() == fresh(query, database))
            if step.isMultiple(of: 2) { try database.addPerson(10_000 + step / 2, age: 1) }
        }
        #expect(results.evaluations == evaluations)
        try database.session.cancel()
        #expect(try results.keys() == before)
        #expect(results.evaluations == evaluations + 1)
        try database.expectSound()
    }

    @Test func `A deletion in the own transaction leaves results of other classes alone`() throws {
        let database = try family(100)
        try database.write { () throws(EngineError) in
            for name in ["Rex", "Max"] {
                _ = try database.session.create(
                    try database.dog, [(try database.property("name", of: "Dog"), .string(name))])
            }
        }
        let dogs = try database.session.results(of: try database.dog).filter(
            "SUBQUERY(owners, $o, $o.age > 3).@count == 0")
        #expect(try dogs.keys().count == 2)
        let evaluations = dogs.evaluations
        let strangers = try database.session.results(of: try database.dog).filter("name != ''")
        #expect(try strangers.keys().count == 2)
        let known = strangers.evaluations
        try database.session.beginWrite()
        for id in 0..<10 as Range<Int64> {
            try database.findPerson(id).delete()
            #expect(try strangers.count == 2)
            #expect(try dogs.count == 2)
        }
        #expect(strangers.evaluations == known)
        #expect(dogs.evaluations > evaluations)
        try database.session.commit()
        #expect(try strangers.keys().count == 2)
        #expect(strangers.evaluations == known)
        try database.expectSound()
    }

    @Test func `Results that hang on others, or are cut, are worked out again`() throws {
        let database = try family(3_000)
        for query in ["boss.age < 50", "age < 50 LIMIT(20)", "age < 50 DISTINCT(name)"] {
            let (results, evaluations) = try worked(query, database)
            try database.write { () throws(EngineError) in
                try database.findPerson(0).set(try database.property("age"), Value.int(99))
            }
            #expect(try results.keys() == fresh(query, database))
            #expect(results.evaluations > evaluations)
            try database.write { () throws(EngineError) in
                try database.findPerson(0).set(try database.property("age"), Value.int(0))
            }
        }
        try database.expectSound()
    }

    // MARK: Any way

    private static let queries = [
        "age < 50", "age < 50 SORT(age DESC)", "TRUEPREDICATE SORT(name ASC, age DESC)",
        "TRUEPREDICATE", "name != 'n3' OR TRUEPREDICATE",
        "notes.@count > 0", "ANY notes == 'b' SORT(age ASC)", "age == 7 OR name == 'n3'",
        "boss.age < 30", "reports.@count > 0", "dogs.@count > 0", "age > 20 LIMIT(30)",
        "age > 3 SORT(age ASC) SORT(name ASC)", "boss == nil SORT(age ASC)", "age == 7",
    ]

    /// Two sessions change people at random, in transactions that are committed or cancelled; the
    /// results of each always equal those of a new query.
    @Test(arguments: 1...6 as ClosedRange<UInt64>)
    func `Results are what a new query gives, whatever happened`(number: UInt64) throws {
        var seed = Seed(number)
        let database = try family(number.isMultiple(of: 3) ? 2_000 : 300)
        let sessions = [database, try database.other()]
        let results = try sessions.map { session in
            try Self.queries.map { try session.people().filter($0) }
        }
        func compare(_ index: Int) throws {
            for (query, live) in zip(Self.queries, results[index]) where seed.chance(60) {
                let expected = try fresh(query, sessions[index])
                switch seed.below(4) {
                case 0: #expect(try live.count == expected.count, "\(query) \(seed)")
                case 1 where !expected.isEmpty:
                    #expect(try live.key(at: 0) == expected[0], "\(query) \(seed)")
                default: #expect(try live.keys() == expected, "\(query) \(seed)")
                }
            }
        }
        for _ in 0..<40 {
            let index = seed.below(2)
            let writer = sessions[index]
            try writer.session.beginWrite()
            for _ in 0...seed.below(seed.chance(10) ? 60 : 4) {
                try change(writer, &seed)
                if seed.chance(30) { try compare(index) }
            }
            if seed.chance(25) {
                try writer.session.cancel()
            } else {
                try writer.session.commit()
            }
            try compare(index)
            if seed.chance(50) {
                try sessions[1 - index].session.refresh()
                try compare(1 - index)
            }
        }
        try database.expectSound()
    }

    private func change(_ database: TestDatabase, _ seed: inout Seed) throws {
        let everyone = try database.people()
        let count = try everyone.count
        let person = try everyone.object(at: seed.below(count))
        switch seed.below(count > 50 ? 10 : 2) {
        case 0: try database.addPerson(Int64(seed.next() >> 20), name: "n\(seed.below(10))", age: 3)
        case 1:
            let made = try database.addPerson(Int64(seed.next() >> 20), age: Int64(seed.below(100)))
            if seed.chance(50) { try made.delete() }
        case 2: try person.delete()
        case 3: try database.setName("n\(seed.below(10))", of: person)
        case 4, 5:
            try person.set(try database.property("age"), Value.int(Int64(seed.below(100))))
        case 6:
            let boss = try everyone.object(at: seed.below(count)).ref
            try person.set(try database.property("boss"), Value.link(boss))
        case 7:
            let notes = try person.list(try database.property("notes"))
            if seed.chance(70) {
                try notes.append(Value.string(seed.chance(50) ? "a" : "b"))
            } else {
                try notes.clear()
            }
        case 8:
            let dog = try database.session.create(
                try database.dog, [(try database.property("name", of: "Dog"), .string("Rex"))])
            try person.list(try database.property("dogs")).append(Value.link(dog.ref))
        default:
            let age = Int64(seed.below(100))
            let few = try database.people().filter("age == \(age)")
            if seed.chance(50) {
                _ = try few.addAll(1, to: try database.property("age"))
            } else if try few.count < 20 {
                try few.deleteAll()
            }
        }
    }
}
