// Tests: Aggregation.swift, Grouping.swift, Results+Aggregates.swift, Results+Groups.swift
import Testing
import ToftModel
import ToftStorage
import ToftTestKit
@testable import ToftEngine

@Suite struct AggregateTests {
    private static let schema = Schema([
        ClassSchema(
            "Number",
            [
                PropertySchema("int", .int, isOptional: true), PropertySchema("float", .float),
                PropertySchema("double", .double, isOptional: true),
                PropertySchema("date", .date), PropertySchema("text", .string),
                PropertySchema("ints", .int, collection: .list),
            ])
    ])

    private func open() throws(EngineError) -> (
        Session, ClassID, (String) throws(EngineError) -> PropertyID
    ) {
        let session = try Session.open(
            Configuration(
                location: .memory(name: "numbers \(UInt64.random(in: 0 ... .max))"),
                schema: Self.schema))
        let owner = try session.classHandle(named: "Number")
        return (
            session, owner.id,
            { name throws(EngineError) in
                try model { () throws(ModelError) in try owner.property(named: name).id }
            }
        )
    }

    @Test
    func
        `Aggregates of columns agree with plain arithmetic, in any order`()
        throws
    {
        var seed = Seed(1)
        let (session, id, property) = try open()
        var rows: [(int: Int64?, float: Float, double: Double?, date: Timestamp)] = []
        try session.beginWrite()
        for index in 0..<700 {
            let row: (Int64?, Float, Double?, Timestamp) = (
                seed.chance(30) ? nil : Int64(seed.below(1000)) - 500, Float(seed.below(100)) / 4,
                seed.chance(20) ? nil : Double(seed.below(1000)) / 8,
                Timestamp(seconds: Int64(seed.below(5)), nanoseconds: Int32(index))
            )
            rows.append(row)
            try session.create(
                id,
                [
                    (try property("int"), row.0.map(Value.int) ?? .null),
                    (try property("float"), .float(row.1)),
                    (try property("double"), row.2.map(Value.double) ?? .null),
                    (try property("date"), .date(row.3)),
                ])
        }
        try session.commit()
        let (ints, doubles) = (rows.compactMap(\.int), rows.compactMap(\.double))
        for results in [try session.results(of: id), try session.results(of: id).snapshot()] {
            func value(_ aggregate: Aggregate, _ name: String) throws -> Value {
                try results.aggregate(aggregate, of: property(name))
            }
            #expect(try value(.sum, "int") == .int(ints.reduce(0, +)))
            #expect(try value(.minimum, "int") == ints.min().map(Value.int))
            #expect(try value(.maximum, "int") == ints.max().map(Value.int))
            #expect(
                try value(.average, "int")
                    == .double(Double(ints.reduce(0, +)) / Double(ints.count)))
            #expect(try value(.sum, "double") == .double(doubles.reduce(0, +)))
            #expect(try value(.maximum, "double") == doubles.max().map(Value.double))
            #expect(try value(.minimum, "float") == rows.map(\.float).min().map(Value.float))
            #expect(try value(.sum, "float") == .double(rows.reduce(0) { $0 + Double($1.float) }))
            #expect(try value(.minimum, "date") == rows.map(\.date).min().map(Value.date))
            #expect(
                code { () throws(EngineError) in
                    _ = try results.aggregate(.sum, of: property("date"))
                } == .unsupportedAggregate)
            #expect(
                code { () throws(EngineError) in
                    _ = try results.aggregate(.maximum, of: property("text"))
                } == .unsupportedAggregate)
            #expect(
                code { () throws(EngineError) in
                    _ = try results.aggregate(.maximum, of: property("ints"))
                } == .unsupportedAggregate)
            #expect(
                code { () throws(EngineError) in _ = try results.aggregate(.maximum, of: 99) }
                    == .noSuchProperty)
            #expect(
                code { () throws(EngineError) in _ = try results.aggregate(.maximum, of: nil) }
                    == .noSuchProperty)
        }
    }

    @Test
    func
        `Of nothing the sum is zero and the rest null; NaN does not count`()
        throws
    {
        let (session, id, property) = try open()
        let results = try session.results(of: id)
        #expect(try results.aggregate(.sum, of: property("int")) == .int(0))
        #expect(try results.aggregate(.sum, of: property("double")) == .double(0))
        for aggregate in [Aggregate.minimum, .maximum, .average] {
            #expect(try results.aggregate(aggregate, of: property("int")) == .null)
        }
        try session.beginWrite()
        for value in [Int64.max, 1] {
            try session.create(
                id, [(try property("int"), .int(value)), (try property("double"), .double(.nan))])
        }
        try session.commit()
        #expect {
            try results.aggregate(.sum, of: property("int"))
        } throws: {
            ($0 as? EngineError)?.code == .overflow
        }
        #expect(try results.aggregate(.average, of: property("int")) == .double(0x1p62))
        #expect(try results.aggregate(.maximum, of: property("double")) == .null)
    }

    @Test func `Lists of values have aggregates of their own, in snapshots too`() throws {
        let (session, id, property) = try open()
        try session.beginWrite()
        let list = try session.create(id).list(try property("ints"))
        for value in [5, 1, 9] as [Int64] { try list.append(Value.int(value)) }
        try session.commit()
        for results in [
            try list.results(), try list.results().sorted(by: [("self", true)]),
            try list.results().snapshot(),
        ] {
            #expect(try results.aggregate(.sum, of: nil) == .int(15))
            #expect(try results.aggregate(.maximum, of: nil) == .int(9))
            #expect(try results.aggregate(.average, of: nil) == .double(5))
        }
    }
}
