// Tests: KeyCounter.swift
import Testing
@testable import ToftModel
@testable import ToftStorage
import ToftTestKit

/// Additions to integers: the result, the exact limits, and the content of the commit record.
@Suite struct CounterTests {
    static let page = ClassSchema(
        "Page",
        [
            PropertySchema("id", .int, isPrimaryKey: true), PropertySchema("visits", .int),
            PropertySchema("rank", .int, isIndexed: true),
            PropertySchema("votes", .int, isOptional: true), PropertySchema("title", .string),
            PropertySchema("scores", .int, collection: .list),
        ])

    private func withPage(
        _ body: (ModelDatabase, ClassHandle, _ key: Int64) throws -> Void
    ) throws {
        let database = try ModelDatabase(Self.page)
        var made: (ClassHandle, Int64)?
        try database.write { transaction throws in
            let page = try transaction.view.schema.classHandle(named: "Page")
            let created = try transaction.create(page, [(try page.property(named: "id"), .int(1))])
            made = (page, created.key)
        }
        let (page, key) = try #require(made)
        try body(database, page, key)
        try database.check()
    }

    @Test func `Additions of several transactions add up, indexed or not`() throws {
        try withPage { database, page, key in
            for name in ["visits", "rank"] {
                let property = try page.property(named: name)
                for amount: Int64 in [5, -7, 0, 100] {
                    try database.write { transaction throws in
                        try transaction.add(amount, to: key, property)
                        try transaction.add(1, to: key, property)
                    }
                }
                try database.read { view throws in
                    #expect(try view.value(key, property) == .int(102))
                }
            }
        }
    }

    @Test func `An addition sees what the transaction has set before`() throws {
        try withPage { database, page, key in
            let visits = try page.property(named: "visits")
            try database.write { transaction throws in
                try transaction.set(key, visits, Value.int(40))
                try transaction.add(2, to: key, visits)
                try transaction.set(key, visits, Value.int(1))
                try transaction.add(1, to: key, visits)
            }
            try database.read { view throws in #expect(try view.value(key, visits) == .int(2)) }
        }
    }

    @Test(arguments: [
        (Int64.max - 1, 1, true), (.max, 1, false), (.min + 1, -1, true), (.min, -1, false),
        (-1, .min, false), (0, .min, true), (.max, .min, true),
    ])
    func `A result beyond 64 bits is an error that changes nothing`(
        value: Int64, amount: Int64, fits: Bool
    ) throws {
        try withPage { database, page, key in
            for name in ["visits", "rank"] {
                let property = try page.property(named: name)
                try database.write { transaction throws in
                    try transaction.set(key, property, Value.int(value))
                    guard !fits else { return try transaction.add(amount, to: key, property) }
                    #expect(
                        throws: ModelError.additionOverflow(
                            className: "Page", property: name, value: value, amount: amount)
                    ) { try transaction.add(amount, to: key, property) }
                }
                try database.read { view throws in
                    #expect(
                        try view.value(key, property) == .int(fits ? value &+ amount : value))
                }
            }
        }
    }

    @Test func `What can't be added to is refused`() throws {
        try withPage { database, page, key in
            try database.write { transaction throws in
                for name in ["id", "votes", "title", "scores"] {
                    let property = try page.property(named: name)
                    #expect(throws: ModelError.self) {
                        try transaction.add(1, to: key, property)
                    }
                }
                let visits = try page.property(named: "visits")
                #expect(throws: ModelError.self) { try transaction.add(1, to: key + 1, visits) }
            }
        }
    }

    @Test(arguments: ["visits", "rank"], [Int64(1), -1, 300, .max, .min])
    func `The commit record tells the amount beside the result`(name: String, amount: Int64) throws
    {
        try withPage { database, page, key in
            let property = try page.property(named: name)
            let before = try database.read { $0.snapshot.version }
            try database.write { transaction throws in
                try transaction.add(amount, to: key, property)
                try transaction.set(key, property, Value.int(9))
            }
            try database.read { view throws in
                let record = try #require(try view.snapshot.records(after: before)?.last)
                var amounts: [Int64?] = []
                let isWhole = record.forEach { effect in
                    if effect.kind == .cellSet { amounts.append(record.amountAdded(by: effect)) }
                }
                #expect(isWhole && amounts == [amount, nil])
            }
        }
    }
}
