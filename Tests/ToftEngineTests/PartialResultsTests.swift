// Tests: KeyIterator.swift, Results+Rows.swift, ToftEngine/Results.swift
import Testing
import ToftModel
import ToftPlatform
import ToftStorage
import ToftTestKit
@testable import ToftEngine

/// The objects that are read when only some results are needed.
///
/// A pass gives all that it finds in a cluster at once. If every tenth object is a result, it has
/// read ten times as many objects as it found.
@Suite struct PartialResultsTests {
    /// People whose name is one of ten, all with person 0 as their boss; person 0 has as many dogs,
    /// named likewise.
    private func family(_ count: Int64) throws -> TestDatabase {
        let database = try TestDatabase()
        try database.write { () throws(EngineError) in
            let boss = try database.property("boss")
            let name = try database.property("name", of: "Dog")
            let first = try database.addPerson(0, name: "n0", age: 0)
            let dogs = try first.list(try database.property("dogs"))
            for id in 0..<count {
                if id > 0 {
                    try database.addPerson(id, name: "n\(id % 10)", age: id)
                        .set(boss, Value.link(first.ref))
                }
                let dog = try database.session.create(
                    try database.dog, [(name, .string("n\(id % 10)"))])
                try dogs.append(Value.link(dog.ref))
            }
        }
        return database
    }

    /// All people, those that person 0 is the boss of, and person 0's dogs.
    private func bases(_ database: TestDatabase) throws(EngineError) -> [Results] {
        let first = try database.findPerson(0)
        return [
            try database.people(),
            try first.linkingObjects(try database.property("reports")),
            try first.list(try database.property("dogs")).results(),
        ]
    }

    /// The number of rows from `first` on when they are read in blocks; at most one is wanted.
    private func rowCount(_ results: Results, from first: Int) throws(EngineError) -> Int {
        var count = 0
        try results.forEachRows(of: first..<first + 1) { cluster, _ in
            count += cluster == nil ? 0 : 1
        }
        return count
    }

    private func all(_ walk: KeyIterator) throws -> [Int64] {
        var walk = walk
        var keys: [Int64] = []
        while let run = try walk.nextRun() { keys += run }
        return keys
    }

    @Test func `A loop that ends at its first object looks at one cluster`() throws {
        let database = try family(20_000)
        for base in try bases(database) {
            let found = try base.filter("name CONTAINS 'n3'")
            var walk = try found.walk()
            let first = try #require(try walk.nextRun())
            #expect(!first.isEmpty && first.count < 100)
            #expect(!found.isEvaluated)
            let second = try #require(try walk.nextRun())
            #expect(second.count < 500)
            #expect(!found.isEvaluated)
            // The rest. The results include all that the loop has found.
            let all = try first + second + self.all(walk)
            #expect(all.count == 2_000)
            #expect(try found.keys() == all)
            #expect(found.evaluations == 1)
        }
    }

    @Test func `The first elements of a class, a list and of backlinks are found alone`() throws {
        let database = try family(20_000)
        for base in try bases(database) {
            let all = try base.filter("name CONTAINS 'n3'").keys()
            let found = try base.filter("name CONTAINS 'n3'")
            #expect(try !found.isEmpty)
            #expect(try found.key(at: 0) == all[0])
            #expect(try found.key(at: 60) == all[60])
            #expect(!found.isEvaluated)
            // All are found by the same pass.
            #expect(try found.keys() == all)
            #expect(found.evaluations == 1)
            #expect(
                code { () throws(EngineError) in _ = try found.key(at: 2_000) } == .indexOutOfRange)
        }
    }

    @Test func `The last element of a class, a list and of backlinks is found alone`() throws {
        let database = try family(20_000)
        for base in try bases(database) {
            let all = try base.filter("name CONTAINS 'n3'").keys()
            let found = try base.filter("name CONTAINS 'n3'")
            #expect(try found.partialLastKey() == all.last)
            #expect(try found.partialLastKey() == all.last)
            #expect(found.evaluations == 1)
            // By its index, when they have been counted.
            let counted = try base.filter("name CONTAINS 'n3'")
            #expect(try counted.key(at: 0) == all[0])
            #expect(try counted.key(at: counted.count - 1) == all.last)
            #expect(try rowCount(counted, from: counted.count - 1) == 1)
            #expect(!counted.isEvaluated)
            #expect(try counted.key(at: 1_998) == all[1_998])
            #expect(try counted.keys() == all)
            #expect(try counted.partialLastKey() == nil, "they are known")
            let none = try base.filter("name == 'x'")
            #expect(try none.partialLastKey() == nil)
            #expect(try none.count == 0)
            #expect(none.evaluations == 1)
        }
    }

    /// 4,096 objects are looked at first, then 65,536.
    @Test func `The last element is found wherever it lies`() throws {
        let places = [1, 4_095, 4_096, 4_097, 69_632]
        let database = try TestDatabase()
        try database.write { () throws(EngineError) in
            for id in 0..<70_000 as Range<Int64> {
                let place = Int(70_000 - id)
                let name = places.contains(place) ? "place \(place)" : "n"
                try database.addPerson(id, name: name, age: id % 9)
            }
        }
        for place in places {
            let found = try database.people().filter("name == 'place \(place)'")
            #expect(try found.partialLastKey() == found.keys()[0], "\(place)")
        }
        let named = try database.people().filter("name == 'place 4097'")
        let aged = try database.people().filter("age == 8")
        try database.write { () throws(EngineError) in
            let last = try aged.partialLastKey()
            try aged.object(at: aged.count - 1).delete()
            #expect(try aged.partialLastKey() == last.map { $0 - 9 })
            try database.setName("gone", of: named.object(at: 0))
            #expect(try named.partialLastKey() == nil)
        }
        try database.expectSound()
    }

    @Test func `The first elements follow what changes`() throws {
        let database = try family(5_000)
        for base in try bases(database) {
            let found = try base.filter("name CONTAINS 'n3'")
            let key = try found.key(at: 0)
            #expect(!found.isEvaluated)
            try database.write { () throws(EngineError) in try found.object(at: 0).delete() }
            #expect(try found.key(at: 0) > key)
            #expect(try found.keys() == base.filter("name == 'n3'").keys())
        }
    }

    @Test func `A loop over frozen results looks at as much as it gives`() throws {
        let database = try family(20_000)
        let frozen = try database.session.frozen()
        let found = try database.people().filter("name CONTAINS 'n3'").resolved(in: frozen)
        var walk = try found.walk()
        #expect(try #require(try walk.nextRun()).count < 100)
        #expect(try all(found.walk()).count == 2_000)
        #expect(found.evaluations == 2)
        // The whole loop has left them to the results.
        #expect(try found.count == 2_000)
        #expect(found.evaluations == 2)
    }

    @Test func `The first, the last and the count of frozen results are found alone`() throws {
        let database = try family(20_000)
        let frozen = try database.session.frozen()
        for base in try bases(database) {
            let live = try base.filter("name CONTAINS 'n3'"), all = try live.keys()
            let counted = try live.resolved(in: frozen)
            #expect(try counted.count == 2_000)
            #expect(try counted.key(at: 1_999) == all.last)
            #expect(!counted.isEvaluated)
            let found = try live.resolved(in: frozen)
            #expect(try found.partialLastKey() == all.last)
            #expect(try !found.isEmpty)
            #expect(try found.key(at: 60) == all[60])
            #expect(!found.isEvaluated)

            // All threads together look for each of it once.
            nonisolated(unsafe) let shared = try live.resolved(in: frozen)
            let threads = try (0..<4).map { number in
                try PlatformThread(name: "reader \(number)") {
                    do {
                        for index in stride(from: number * 300, to: 2_000, by: 97) {
                            #expect(try shared.key(at: index) == all[index])
                        }
                        #expect(try shared.count == 2_000)
                        #expect(try shared.keys() == all)
                        #expect(try self.all(shared.walk()) == all)
                    } catch { Issue.record(error) }
                }
            }
            for thread in threads { thread.join() }
            #expect(shared.evaluations <= 2)
        }
        let sorted = try database.people().filter("TRUEPREDICATE SORT(age DESC)")
            .resolved(in: frozen)
        #expect(try sorted.key(at: 0) == 19_999)
        #expect(!sorted.isEvaluated)
        try frozen.close()
        try database.expectSound()
    }

    @Test func `A loop keeps nothing for the results where something has changed`() throws {
        let database = try family(5_000)
        let found = try database.people().filter("name CONTAINS 'n3'")
        var walk = try found.walk()
        var keys = try #require(try walk.nextRun())
        try database.write { () throws(EngineError) in
            try database.setName("x", of: database.findPerson(4_993))
        }
        keys += try all(walk)
        #expect(keys.count == 500)
        #expect(try found.count == 499)
        #expect(try found.keys().count == 499)
    }

    @Test func `A copy of a walk goes its own way`() throws {
        let database = try family(5_000)
        var walk = try database.people().filter("name CONTAINS 'n3'").walk()
        _ = try walk.nextRun()
        let copy = walk
        let rest = try all(walk)
        #expect(rest.count > 400)
        #expect(try all(copy) == rest)
    }

    @Test func `Random walks give what there was when they began, whatever is written`() throws {
        var seed = Seed.random()
        print("random walks:", seed)
        let database = try family(3_000)
        let queries = [
            "name == 'n3'", "age > 2900", "age < 40 OR name ENDSWITH '7'", "boss.age == 0",
            "reports.@count == 0 AND name != 'n1'", "age >= 0", "name == 'none'", "age == 77",
        ]
        for round in 0..<60 {
            let bases = try bases(database)
            let index = seed.below(3)
            let base = bases[index]
            let query = index == 2 ? "name != 'n\(seed.below(10))'" : seed.pick(queries)!
            let expected = try base.filter(query).keys()
            let found = try base.filter(query)
            if seed.chance(40), !expected.isEmpty {
                let place = seed.below(seed.chance(50) ? 3 : expected.count)
                if place < expected.count {
                    #expect(try found.key(at: place) == expected[place], "\(query), \(seed)")
                }
            }
            if seed.chance(40) {
                let last = try base.filter(query)
                #expect(try last.partialLastKey() == expected.last, "\(query), \(seed)")
            }
            var walk = try found.walk()
            var keys: [Int64] = []
            while let run = try walk.nextRun() {
                keys += run
                guard seed.chance(60) else { continue }
                try database.write { () throws(EngineError) in
                    for _ in 0..<3 {
                        let people = try database.people()
                        let place = 1 + seed.below(try people.count - 1)
                        let person = try people.object(at: place)
                        switch seed.below(3) {
                        case 0: try person.delete()
                        case 1: try database.setName("n\(seed.below(10))", of: person)
                        default:
                            try database.addPerson(
                                Int64(10_000 + round * 1_000 + seed.below(1_000_000) * 100_000),
                                name: "n3", age: 5)
                        }
                    }
                }
            }
            #expect(keys == expected, "\(query), round \(round), \(seed)")
            #expect(try found.keys() == base.filter(query).keys(), "\(query), \(seed)")
        }
        try database.expectSound()
    }
}
