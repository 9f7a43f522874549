// Tests: Statistics.swift
import Testing
import ToftEngine
import ToftModel
import ToftTestKit
@testable import ToftStudio

@Suite struct StatisticsTests {
    let database: ShownDatabase

    init() throws {
        database = try ShownDatabase()
        _ = try database.page.ask(file: "open")
    }

    private func statistics(_ property: String, query: JSONValue = .null) throws -> JSONValue {
        _ = try database.page.ask(
            file: "view", [("view", .integer(1)), ("class", .text("Person")), ("query", query)])
        return try database.page.ask(
            "statistics", [("view", .integer(1)), ("property", .text(property))])
    }

    @Test func `The statistics of a column are those of plain arithmetic`() throws {
        var seed = Seed(9)
        var ages: [Int64?] = []
        try database.write {
            for number in 0..<500 {
                let age = seed.chance(10) ? nil : Int64(seed.below(80))
                ages.append(age)
                try database.addPerson(Int64(number), age: age)
            }
        }
        _ = database.page.event("committed")
        let found = try statistics("age"), present = ages.compactMap { $0 }
        #expect(try found.count("count") == 500)
        #expect(try found.count("nulls") == 500 - present.count)
        #expect(try found.count("distinct") == Set(present).count)
        #expect(try found.integer("least") == present.min())
        #expect(try found.integer("greatest") == present.max())
        #expect(try found.integer("sum") == present.reduce(0, +))
        let bins = try found.list("bins").compactMap { bin -> Int64? in
            if case .list(let parts) = bin { parts.last?.number } else { nil }
        }
        #expect(bins.reduce(0, +) == Int64(present.count))
        let counts = Dictionary(grouping: present) { $0 }.mapValues(\.count)
        let most = counts.values.max()
        guard case .list(let top)? = try found.list("top").first else {
            Issue.record("no value is the most frequent")
            return
        }
        #expect(top.last?.number == most.map(Int64.init))
        // Of the objects that a query leaves.
        let few = try statistics("age", query: .text("age < 10"))
        #expect(try few.count("count") == present.count { $0 < 10 })
        try database.page.expectSound()
    }

    @Test func `Every kind of property has statistics, of no objects and of one, too`() throws {
        let names = try database.session.classHandle(named: "Person").visibleProperties.map(\.name)
        for name in names { #expect(try statistics(name).count("count") == 0, "\(name)") }
        try database.write { try database.addPerson(1) }
        _ = database.page.event("committed")
        for name in names { #expect(try statistics(name).count("count") == 1, "\(name)") }
        for property in try database.session.classHandle(named: "Value").visibleProperties {
            _ = try database.page.ask(
                file: "view", [("view", .integer(2)), ("class", .text("Value"))])
            let found = try database.page.ask(
                "statistics", [("view", .integer(2)), ("property", .text(property.name))])
            #expect(try found.count("count") == 0)
        }
        try database.page.expectSound()
    }

    @Test func `A sum beyond 64 bits is left out, and the rest is there`() throws {
        try database.write {
            for number in 0..<2 { try database.addPerson(Int64(number), age: .max) }
        }
        _ = database.page.event("committed")
        let found = try statistics("age")
        #expect(found.member("sum") == nil)
        #expect(found.member("average") != nil)
        #expect(try found.text("greatest") == "\(Int64.max)")
        try database.page.expectSound()
    }
}
