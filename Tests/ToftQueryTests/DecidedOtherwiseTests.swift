// Tests: Binder+Comparison.swift
import Testing
import ToftEngine
import ToftModel
import ToftStorage

@testable import ToftQuery

/// Queries that Realm answers oddly and Toft otherwise, each with answers computed by hand.
@Suite struct DecidedOtherwiseTests {
    /// Five people: 1 Ann (boss 2), 2 Bob, 3 'it's' (boss 1), 4 'a*b', 5 'aXb'.
    private let session: Session

    init() throws {
        let schema = Schema([
            ClassSchema(
                "Person",
                [
                    PropertySchema("id", .int, isPrimaryKey: true), PropertySchema("name", .string),
                    PropertySchema("nickname", .string, isOptional: true),
                    PropertySchema("age", .int),
                    PropertySchema("height", .double, isOptional: true),
                    PropertySchema("born", .date),
                    .link("boss", to: "Person"), PropertySchema("ints", .int, collection: .list),
                    .links("friends", to: "Person"),
                ])
        ])
        session = try Session.open(
            Configuration(
                location: .memory(name: "decided \(UInt64.random(in: 0...UInt64.max))"),
                schema: schema))
        let owner = try session.classHandle(named: "Person")
        try session.beginWrite()
        typealias Row = (
            name: String, nickname: Value, age: Int64, height: Value, born: Int64, ints: [Int64]
        )
        let rows: [Row] =
            [
                ("Ann", .string("annie"), 18, .double(.nan), 0, [1, 2]),
                ("Bob", .null, 10, .double(1.5), -3_000_000_000, [2, 1]),
                ("it's", .string("b"), .max, .null, 1_577_836_800, []),
                ("a*b", .string("c"), 31, .double(42), 0, [1, 2, 3]),
                ("aXb", .null, 0, .double(-1), 0, [3]),
            ]
        for (index, row) in rows.enumerated() {
            let object = try session.create(
                owner.id,
                [
                    (try property("id"), .int(Int64(index + 1))),
                    (try property("name"), .string(row.name)),
                    (try property("nickname"), row.nickname),
                    (try property("age"), .int(row.age)), (try property("height"), row.height),
                    (try property("born"), .date(Timestamp(seconds: row.born, nanoseconds: 0))),
                ])
            for value in row.ints { try object.list(try property("ints")).append(.int(value)) }
        }
        try person(1).set(try property("boss"), Value.link(try person(2).ref))
        try person(3).set(try property("boss"), Value.link(try person(1).ref))
        for friend in [2, 3] {
            try person(1).list(try property("friends")).append(.link(try person(Int64(friend)).ref))
        }
        try session.commit()
    }

    private func property(_ name: String) throws -> PropertyID {
        try session.classHandle(named: "Person").property(named: name).id
    }

    private func person(_ id: Int64) throws -> ObjectHandle {
        let owner = try session.classHandle(named: "Person")
        return try #require(try session.find(Value.int(id), in: owner.id))
    }

    private func ids(_ query: String, _ arguments: [QueryArgument] = []) throws -> [Int64] {
        let owner = try session.classHandle(named: "Person")
        let id = try owner.property(named: "id").id
        let results = try session.results(of: owner.id).filter(query, arguments: arguments)
        return try (0..<(try results.count)).compactMap {
            if case .int(let value) = try results.object(at: $0).value(id) { value } else { nil }
        }
    }

    @Test func `A date without a time is told how it is written`() throws {
        #expect(throws: (any Error).self) { try ids("born == 1980-01-01") }
        do { _ = try ids("born == 1980-01-01") } catch {
            let message = (error as? EngineError)?.message
            #expect(message?.contains("Write 1980-01-01@00:00:00.") == true)
        }
    }

    private func code(_ query: String) -> ErrorCode? {
        do {
            _ = try ids(query)
            return nil
        } catch {
            return (error as? EngineError)?.code
        }
    }

    @Test func `Nan equals NaN and is neither less nor greater`() throws {
        #expect(try ids("height == NaN") == [1])
        #expect(try ids("height IN {1.5, NaN}") == [1, 2])
        #expect(try ids("height < 1") == [5])
        #expect(try ids("height > 1") == [2, 4])
        #expect(
            try ids("TRUEPREDICATE SORT(height ASC)") == [3, 1, 5, 2, 4],
            "null, then NaN, then numbers")
    }

    @Test func `An integer beyond 64 bits is compared exactly`() throws {
        #expect(try ids("age == 99999999999999999999") == [])
        #expect(try ids("age < 99999999999999999999") == [1, 2, 3, 4, 5])
        #expect(try ids("age == 9223372036854775807") == [3])
    }

    @Test func `A leading zero means nothing and 0 x is hexadecimal`() throws {
        #expect(try ids("age == 010") == [2])
        #expect(try ids("age == 0x1F") == [4])
    }

    @Test func `Null is not less than any text and matches no text operator`() throws {
        #expect(try ids("nickname < 'b'") == [1])
        #expect(try ids("nickname BEGINSWITH null") == [])
        #expect(try ids("nickname CONTAINS null") == [])
        #expect(try ids("nickname LIKE null") == [2, 5])
    }

    @Test func `A path through a null link is null`() throws {
        #expect(try ids("TRUEPREDICATE SORT(boss.age ASC)") == [2, 4, 5, 1, 3])
        #expect(try ids("TRUEPREDICATE SORT(boss.age DESC)") == [3, 1, 2, 4, 5])
        #expect(try ids("TRUEPREDICATE DISTINCT(boss.age)") == [1, 2, 3])
    }

    @Test func `Lists equal as a whole and IN means any element`() throws {
        #expect(try ids("ints == {1, 2}") == [1])
        #expect(try ids("ints != {1, 2}") == [2, 3, 4, 5])
        #expect(try ids("ints IN {1, 2}") == [1, 2, 4])
    }

    @Test func `Division by zero and overflow are null`() throws {
        #expect(try ids("age / 0 == null") == [1, 2, 3, 4, 5])
        #expect(try ids("age + 1 == null") == [3])
        #expect(try ids("age + 1 < 0") == [])
    }

    @Test func `Ignoring case is honoured in lists`() throws {
        #expect(try ids("name IN[c] {'BOB', 'ANN'}") == [1, 2])
        #expect(try ids("name ==[c] $0", [.value(.string("BOB"))]) == [2])
    }

    @Test func `A date out of range is an error and one before 1900 is not`() throws {
        #expect(code("born == 2019-13-01@00:00:00") == .querySyntax)
        #expect(try ids("born < 1900-01-01@00:00:00") == [2])
        #expect(try ids("born > 2019-12-31@00:00:00") == [3])
    }

    @Test func `Escapes mean what they say`() throws {
        #expect(try ids(#"name == 'it\'s'"#) == [3])
        #expect(try ids(#"name LIKE 'a\*b'"#) == [4])
        #expect(try ids("name LIKE 'a*b'") == [4, 5])
        #expect(try ids("name LIKE '**'") == [1, 2, 3, 4, 5])
    }

    @Test func `A sign is arithmetic and a number is no prefix of a text`() throws {
        #expect(try ids("age+1==19") == [1])
        #expect(code("age == '18abc'") == .queryTypeMismatch)
        #expect(code("age IN {,1}") == .querySyntax)
    }

    @Test func `An element of another numeric type is compared by value`() throws {
        #expect(try ids("height IN {42}") == [4])
        #expect(try ids("age IN {10.0, 1.5}") == [2])
    }

    @Test func `An inner subquery sees the outer variable`() throws {
        #expect(
            try ids(
                "SUBQUERY(friends, $x, SUBQUERY(friends, $y, $y.age < $x.age).@count == 0).@count "
                    + "== 2"
            ) == [1])
    }

    @Test func `What is asked of one object and the plan are told`() throws {
        let owner = try session.classHandle(named: "Person")
        let results = try session.results(of: owner.id).filter(
            "id == 3 AND age > 5 SORT(name DESC) LIMIT(2)")
        let plan = try results.explain()
        #expect(plan.contains("primary key Person.id"))
        #expect(plan.contains("sort by name descending"))
        #expect(plan.contains("limit to 2"))
        #expect(
            try session.results(of: owner.id).filter("age > 5").explain().contains(
                "scan 5 objects of Person"))
    }

    @Test func `A plan tells what was read and what an index decided`() throws {
        let owner = try session.classHandle(named: "Person")
        let all = try session.results(of: owner.id)
        let found = try all.filter("id == 3").explain()
        #expect(found.hasPrefix("look up primary key Person.id, one value: 1 object\n"), "\(found)")
        #expect(!found.contains("filter"), "\(found)")
        #expect(found.contains("1 result in 0."), "\(found)")
        let filtered = try all.filter("id == 3 AND age > 500").explain()
        #expect(filtered.contains("filter id is 3 and age is in 501"), "\(filtered)")
        #expect(filtered.contains("read 1 object; 1 result in 0."), "\(filtered)")
        let scanned = try all.filter("age > 500 OR name == 'x'").explain()
        #expect(scanned.contains("read 5 objects in 1 cluster; 1 result in 0."), "\(scanned)")
        #expect(scanned.hasSuffix(" seconds"))
    }

    @Test func `Conditions are explained in the order in which they are tested`() throws {
        let owner = try session.classHandle(named: "Person")
        let plan = try session.results(of: owner.id).filter(
            "ANY friends.age > 1 AND name == 'a' AND age > 5"
        ).explain()
        let words = ["age is in 6", "name equal 'a'", "friends.age"]
        let found = words.map { plan.firstRange(of: $0)?.lowerBound }
        #expect(!found.contains(nil), "\(plan)")
        #expect(found.compactMap { $0 } == found.compactMap { $0 }.sorted(), "\(plan)")
    }
}
