// Tests: Cost.swift, IndexPlan.swift, QueryPlan.swift, ZoneMapFilter.swift
import Testing
import ToftModel
import ToftTestKit

@testable import ToftEngine
@testable import ToftQuery
@testable import ToftStorage

/// Which index serves, what is left of the filter, the order of tests, sorts that are dropped.
@Suite struct PlanTests {
    private let session: Session
    private let view: ModelView
    private let person: ClassID

    init() throws {
        session = try Session.open(
            Configuration(
                location: .memory(name: "plans \(UInt64.random(in: 0 ... .max))"),
                schema: Schema([
                    ClassSchema(
                        "Person",
                        [
                            PropertySchema("id", .int, isPrimaryKey: true),
                            PropertySchema("email", .string, isIndexed: true),
                            PropertySchema("age", .int, isOptional: true, isIndexed: true),
                            PropertySchema("born", .date, isIndexed: true),
                            PropertySchema("height", .double),
                            PropertySchema("name", .string),
                            .links("friends", to: "Person"),
                        ])
                ])))
        person = try session.classHandle(named: "Person").id
        view = session.view
    }

    private func plan(
        _ text: String, for answer: QueryAnswer = .keys, over base: QueryBase = .all
    ) throws -> QueryPlan {
        let query = try BoundQuery.parse(
            text, className: "Person", schema: view.schema.stored)
        return QueryPlan(query, over: base, in: view.schema, for: answer)
    }

    /// The property whose index a plan uses; nil for a scan.
    private func index(_ text: String) throws -> String? {
        guard case .index(let index, _) = try plan(text).access else { return nil }
        return index.property.name
    }

    /// Whether the index of a plan decides; nil for a scan.
    private func decides(_ text: String) throws -> Bool? {
        guard case .index(_, let decides) = try plan(text).access else { return nil }
        return decides
    }

    /// The tests of the first step in their order, as they are explained.
    private func tests(_ text: String) throws -> [String] {
        try plan(text).steps[0].filter.flatMap { predicate in
            if case .and(let parts) = predicate { parts } else { [predicate] }
        }.map(\.explanation)
    }

    private func orderings(_ text: String, for answer: QueryAnswer) throws -> [String] {
        try plan(text, for: answer).steps.compactMap(\.ordering).map {
            switch $0 {
            case .sort: "sort"
            case .distinct: "distinct"
            case .limit(let count): "limit \(count)"
            case .offset(let count): "offset \(count)"
            }
        }
    }

    // MARK: The index

    @Test func `IndexPlan takes a primary key before an index, and that before a range`() throws {
        #expect(try index("age == 5 AND id == 3") == "id")
        #expect(try index("age > 5 AND email == 'x'") == "email")
        #expect(try index("age IN {5, 6} AND born > T10:0") == "age")
        #expect(try index("age IN {5, 6} AND email == 'x'") == "email")
    }

    @Test func `QueryPlan scans without an index that serves`() throws {
        #expect(try index("height > 1") == nil)
        #expect(try index("name == 'x'") == nil)
        #expect(try index("age == 5 OR name == 'x'") == nil)
        #expect(try index("NOT age == 5") == nil)
        #expect(try index("age != 5") == nil)
        #expect(try index("friends.age == 5") == nil)
    }

    @Test func `QueryPlan takes given objects as they are`() throws {
        guard case .given = try plan("id == 3", over: .keys([1])).access else {
            Issue.record("not given")
            return
        }
    }

    @Test func `An index decides equality of one property alone`() throws {
        #expect(try decides("id == 3") == true)
        #expect(try decides("age == null") == true)
        #expect(try decides("email == 'x'") == true)
        #expect(try decides("age IN {5, 6}") == true)
        #expect(try decides("id == 3 AND age == 5") == false)
    }

    @Test func `An index does not decide a range, a prefix or a text that it has in part`() throws {
        #expect(try decides("age > 5") == false)
        #expect(try decides("email BEGINSWITH 'x'") == false)
        let long = String(repeating: "x", count: 300)
        #expect(try decides("email == '\(long)'") == false)
        #expect(try index("email ==[c] 'x'") == nil)
    }

    @Test func `IndexPlan says what it looks up`() throws {
        func description(_ text: String) throws -> String? {
            guard case .index(let index, _) = try plan(text).access else { return nil }
            return index.description
        }
        #expect(try description("id == 3") == "primary key Person.id, one value")
        #expect(try description("age IN {5, 6, 7}") == "index Person.age, 3 values")
        #expect(try description("age > 5") == "index Person.age, a range")
        #expect(try description("email BEGINSWITH 'x'") == "index Person.email, a prefix")
    }

    @Test func `IndexPlan gives up where a scan takes less time`() throws {
        guard case .index(let index, _) = try plan("age > 5").access else { return }
        #expect(try index.candidates(in: view, of: 0) == [])
        let ids = try ["id", "age"].map {
            try session.classHandle(named: "Person").property(named: $0).id
        }
        try session.beginWrite()
        for id in 0..<1_000 as Range<Int64> {
            try session.create(person, [(ids[0], .int(id)), (ids[1], .int(id))])
        }
        try session.commit()
        #expect(try index.candidates(in: session.view, of: 1_000) == nil)
        guard case .index(let few, _) = try plan("age > 950").access else { return }
        #expect(try few.candidates(in: session.view, of: 1_000)?.count == 49)
    }

    // MARK: The filter

    @Test func `QueryPlan tests the cheapest condition first`() throws {
        let found = try tests("ANY friends.age > 1 AND name == 'a' AND height > 5")
        #expect(found.count == 3)
        #expect(found.first?.hasPrefix("height") == true, "\(found)")
        #expect(
            found.last?.hasPrefix("friends.age") == true || found.last?.hasPrefix("ANY") == true)
    }

    @Test func `Conditions of one cost keep their order`() throws {
        #expect(try tests("age > 1 AND id > 2").map { String($0.prefix(3)) } == ["age", "id "])
        #expect(try tests("id > 2 AND age > 1").map { String($0.prefix(3)) } == ["id ", "age"])
    }

    @Test func `A filter moves before a sort, not before a LIMIT`() throws {
        let moved = try plan("age > 1 SORT(name ASC) FILTER(height > 5)")
        #expect(moved.steps.count == 2)
        #expect(moved.steps[1].filter.isEmpty)
        let kept = try plan("age > 1 SORT(name ASC) LIMIT(5) FILTER(height > 5)")
        #expect(kept.steps.count == 3)
        #expect(kept.steps[2].filter.count == 1)
    }

    @Test func `ZoneMapFilter follows from ranges of numbers and dates`() throws {
        #expect(try plan("height > 5").zones.count == 1)
        #expect(try plan("age > 5 AND born < T9:0 AND name == 'x'").zones.count == 2)
        #expect(try plan("age != 5").zones.isEmpty)
        #expect(try plan("age > 5 OR height > 5").zones.isEmpty)
    }

    // MARK: Sorts, and how many objects are needed

    @Test(arguments: [QueryAnswer.count, .exists, .unordered])
    func `A last sort is dropped if the order does not matter`(answer: QueryAnswer) throws {
        #expect(try orderings("age > 1 SORT(name ASC)", for: answer) == [])
        #expect(try orderings("age > 1 SORT(name ASC) SORT(age ASC)", for: answer) == [])
        #expect(
            try orderings("age > 1 SORT(name ASC) DISTINCT(age)", for: answer)
                == ["sort", "distinct"])
    }

    @Test func `A sort before a LIMIT is dropped for a number alone`() throws {
        let text = "age > 1 SORT(name ASC) LIMIT(3)"
        #expect(try orderings(text, for: .count) == ["limit 3"])
        #expect(try orderings(text, for: .exists) == ["limit 3"])
        #expect(try orderings(text, for: .unordered) == ["sort", "limit 3"])
        #expect(try orderings(text, for: .keys) == ["sort", "limit 3"])
        #expect(
            try orderings(text + " FILTER(age > 3)", for: .count) == ["sort", "limit 3"])
    }

    @Test func `The first results of a sorted query are those of a LIMIT`() throws {
        let text = "age > 1 SORT(name ASC)"
        #expect(try orderings(text, for: .firstKeys(7)) == ["sort", "limit 7"])
        #expect(try orderings(text, for: .keys) == ["sort"])
        #expect(try orderings("age > 1", for: .firstKeys(7)) == [])
    }

    @Test func `QueryPlan knows which first sorted results are found by themselves`() throws {
        func finds(_ text: String) throws -> Bool {
            QueryPlan.findsFirstOfSorted(
                try BoundQuery.parse(text, className: "Person", schema: view.schema.stored))
        }
        #expect(try finds("age > 1 SORT(name ASC)"))
        #expect(try !finds("age > 1"))
        #expect(try !finds("age > 1 SORT(name ASC) LIMIT(3)"))
        #expect(try !finds("ANY friends.age > 1 SORT(name ASC)"))
    }

    @Test func `The steps behind one say how many objects they need`() throws {
        #expect(try plan("age > 1 SORT(name ASC) LIMIT(3)").needed(from: 1) == 3)
        #expect(try plan("age > 1 SORT(name ASC) OFFSET(2) LIMIT(3)").needed(from: 1) == 5)
        #expect(try plan("age > 1 SORT(name ASC)").needed(from: 1) == nil)
        #expect(
            try plan("age > 1 SORT(name ASC) LIMIT(3) FILTER(age > 2) LIMIT(1)").needed(from: 1)
                == 3)
        let all = Int.max
        #expect(
            try plan("age > 1 SORT(name ASC) OFFSET(\(all)) LIMIT(\(all))").needed(from: 1) == nil)
    }

    @Test func `Keys are read only to sort them or to make them distinct`() throws {
        #expect(try plan("id == 1 SORT(name ASC)").readsKeys)
        #expect(try plan("id == 1 DISTINCT(name)").readsKeys)
        #expect(try !plan("id == 1 LIMIT(1)").readsKeys)
    }
}
