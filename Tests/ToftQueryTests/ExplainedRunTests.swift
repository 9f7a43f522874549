// Tests: BoundQuery+Run.swift, Execution.swift, Explanation.swift, QueryAnswer.swift,
// QueryBase.swift, Trace.swift
import Testing
import ToftModel
import ToftTestKit

@testable import ToftEngine
@testable import ToftQuery
@testable import ToftStorage

/// `explain` prints the plan that a run for the same answer has, and what that run read.
@Suite struct ExplainedRunTests {
    private static let count: Int64 = 2_000
    private static let queries = [
        "TRUEPREDICATE", "id == 77", "id == -1", "id IN {1, 2, 3}", "email == 'p5@x'",
        "email == 'nobody'", "email BEGINSWITH 'p19'", "email BEGINSWITH 'p'", "age == 30",
        "age > 95", "age > 5", "age == null", "age IN {1, 2}", "born > T1990:0", "height < 3.5",
        "height > 1990", "name == 'n3'", "name BEGINSWITH[c] 'N'", "age == 30 AND name == 'n0'",
        "id == 77 AND age > 500", "age > 95 OR name == 'n1'", "NOT age > 5",
        "age > 90 SORT(name ASC)", "height > 5 SORT(height DESC)",
        "age > 5 SORT(name ASC, id DESC)",
        "age > 5 DISTINCT(name)", "age > 5 SORT(height ASC) LIMIT(7)", "age > 5 LIMIT(3)",
        "age > 5 OFFSET(1900)", "height > 5 SORT(name ASC) LIMIT(100) FILTER(age > 50)",
    ]
    private static let answers: [QueryAnswer] = [
        .keys, .firstKeys(10), .lastKey, .unordered, .count, .exists,
    ]

    private let session: Session
    private let view: ModelView

    init() throws {
        session = try Session.open(
            Configuration(
                location: .memory(name: "explained \(UInt64.random(in: 0 ... .max))"),
                schema: Schema([
                    ClassSchema(
                        "Person",
                        [
                            PropertySchema("id", .int, isPrimaryKey: true),
                            PropertySchema("email", .string, isIndexed: true),
                            PropertySchema("age", .int, isOptional: true, isIndexed: true),
                            PropertySchema("born", .date),
                            PropertySchema("height", .double),
                            PropertySchema("name", .string),
                        ])
                ])))
        let owner = try session.classHandle(named: "Person")
        var ids: [PropertyID] = []
        for name in ["id", "email", "age", "born", "height", "name"] {
            ids.append(try owner.property(named: name).id)
        }
        try session.beginWrite()
        for id in 0..<Self.count {
            let values: [Value] = [
                .int(id), .string("p\(id)@x"), id % 101 == 100 ? .null : .int(id % 101),
                .date(Timestamp(seconds: id, nanoseconds: 0)), .double(Double(id)),
                .string("n\(id % 10)"),
            ]
            try session.create(owner.id, zip(ids, values).map { ($0, $1) })
        }
        try session.commit()
        view = session.view
    }

    private func bound(_ text: String) throws -> BoundQuery {
        try BoundQuery.parse(text, className: "Person", schema: view.schema.stored)
    }

    /// The number before some words of a text; 0 without them.
    private func number(before words: String, in text: String) -> Int {
        guard let range = text.firstRange(of: " " + words) else { return 0 }
        return Int(text[..<range.lowerBound].split { $0 == " " || $0 == "\n" }.last ?? "") ?? 0
    }

    @Test(arguments: queries)
    func `explain prints what a run for an answer reads`(text: String) throws {
        let query = try bound(text)
        let all = try query.keys(in: view)
        for answer in Self.answers {
            var trace = Trace()
            let found = try query.run(for: answer, in: view, of: .all, &trace)
            let explained = try query.explain(for: answer, in: view)
            let last = String(explained.split(separator: "\n").last ?? "")
            let rows = number(before: trace.rows == 1 ? "object" : "objects", in: last)
            #expect(rows == trace.rows, "\(answer): \(explained)")
            let clusters = number(before: trace.clusters == 1 ? "cluster" : "clusters", in: last)
            if trace.skippedClusters == 0 { #expect(clusters == trace.clusters, "\(explained)") }
            #expect(
                explained.hasPrefix("look up") == (trace.indexed != nil), "\(answer): \(explained)")
            if let indexed = trace.indexed {
                #expect(explained.contains(": \(indexed) object"), "\(answer): \(explained)")
                #expect(trace.clusters == 0, "\(answer): \(explained)")
            } else {
                #expect(explained.hasPrefix("scan \(Self.count) objects"), "\(explained)")
            }
            // A filter behind a LIMIT reads objects once more.
            #expect(trace.rows < 2 * Int(Self.count), "\(answer): \(explained)")
            // The answer is right.
            switch answer {
            case .keys, .count, .unordered: #expect(found == all.count, "\(answer): \(explained)")
            case .firstKeys(let count):
                #expect(found >= min(count, all.count) && found <= all.count, "\(explained)")
            case .lastKey where !query.hasOrderings:
                #expect(found == min(1, all.count), "\(explained)")
            case .lastKey: #expect(found == all.count, "\(explained)")
            case .exists: #expect(found == min(1, all.count), "\(explained)")
            }
        }
    }

    @Test func `An equality that an index decides reads no object, whatever the answer`() throws {
        for answer in Self.answers {
            let explained = try bound("email == 'p5@x'").explain(for: answer, in: view)
            #expect(
                explained.hasPrefix(
                    "look up index Person.email, one value: 1 object\nread 0 objects"),
                "\(answer): \(explained)")
        }
    }

    @Test func `The first results and a single one read less than all`() throws {
        func rows(_ answer: QueryAnswer, _ text: String) throws -> Int {
            var trace = Trace()
            _ = try bound(text).run(for: answer, in: view, of: .all, &trace)
            return trace.rows
        }
        for text in ["name == 'n3'", "name BEGINSWITH[c] 'N'"] {
            #expect(try rows(.keys, text) == Int(Self.count))
            #expect(try rows(.firstKeys(10), text) < Int(Self.count) / 2)
            #expect(try rows(.exists, text) < Int(Self.count) / 2)
        }
    }

    @Test func `explain names the answer, and a LIMIT that the first results get`() throws {
        let query = try bound("height > 5 SORT(height DESC)")
        let first = try query.explain(for: .firstKeys(10), in: view)
        #expect(first.contains("sort by height descending\nlimit to 10\n"), "\(first)")
        #expect(first.contains("; the first 10 results in 0."), "\(first)")
        let counted = try query.explain(for: .count, in: view)
        #expect(!counted.contains("sort"), "\(counted)")
        #expect(counted.contains("; counted 1994 results in 0."), "\(counted)")
        let any = try query.explain(for: .exists, in: view)
        #expect(any.contains("; a result in 0."), "\(any)")
    }
}
