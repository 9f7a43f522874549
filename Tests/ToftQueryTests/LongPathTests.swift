// Tests: PathExpander.swift, FarTestNode.swift, PathExpander+Counts.swift
import Testing
import ToftEngine
import ToftModel
import ToftStorage
import ToftTestKit

@testable import ToftQuery

/// Paths of several steps with many ways to the same objects: compared with a walk of all ways if
/// they are few, and fast if they are too many to walk.
@Suite struct LongPathTests {
    /// Twelve objects with random links among them.
    private struct World {
        let session: Session
        let node: ClassID
        /// The targets of each step from each object.
        var links: [String: [[Int]]] = [:]
        var values: [[Int]] = []

        static let count = 12

        init(_ random: inout Seed) throws {
            session = try Session.open(
                Configuration(
                    location: .memory(name: "paths \(UInt64.random(in: 0 ... .max))"),
                    schema: Schema([
                        ClassSchema(
                            "Node",
                            [
                                PropertySchema("id", .int, isPrimaryKey: true),
                                .links("next", to: "Node"), .link("one", to: "Node"),
                                PropertySchema("values", .int, collection: .list),
                                PropertySchema("mixed", .mixed, isOptional: true),
                            ])
                    ])))
            node = try session.classHandle(named: "Node").id
            draw(&random)
            try store()
        }

        private mutating func draw(_ random: inout Seed) {
            let all = 0..<Self.count
            let next = all.map { _ in (0..<random.below(4)).map { _ in random.below(Self.count) } }
            let one = all.map { _ in random.chance(70) ? [random.below(Self.count)] : [] }
            let back = all.map { target in
                all.flatMap { origin in next[origin].filter { $0 == target }.map { _ in origin } }
            }
            links = ["next": next, "one": one, "@links.Node.next": back]
            values = all.map { _ in
                random.chance(50) ? [] : (0...random.below(2)).map { _ in random.below(3) }
            }
        }

        private func store() throws {
            try session.beginWrite()
            let owner = try session.classHandle(named: "Node")
            func property(_ name: String) throws -> PropertyID {
                try owner.property(named: name).id
            }
            let made = try (0..<Self.count).map {
                try session.create(node, [(try property("id"), .int(Int64($0)))])
            }
            for (index, object) in made.enumerated() {
                for next in links["next"]![index] {
                    try object.list(try property("next")).append(.link(made[next].ref))
                }
                for one in links["one"]![index] {
                    try object.set(try property("one"), Value.link(made[one].ref))
                }
                for value in values[index] {
                    try object.list(try property("values")).append(.int(Int64(value)))
                }
                try object.set(
                    try property("mixed"),
                    .list(links["next"]![index].map { Value.link(made[$0].ref) } + [.int(1)]))
            }
            try session.commit()
        }

        func ids(_ query: String) throws -> [Int] {
            try session.results(of: node).filter(query).keys().map(Int.init)
        }

        /// All ends of a path from an object, one for each way, in order.
        func ends(of path: [String], from origin: Int) -> [Int] {
            path.reduce([origin]) { objects, step in objects.flatMap { links[step]![$0] } }
        }
    }

    @Test func `Long paths have the answers of a walk of all ways`() throws {
        let seed = UInt64.random(in: 0...UInt64(UInt32.max))
        print("long paths, seed \(seed)")
        var random = Seed(seed)
        for _ in 0..<6 {
            let world = try World(&random)
            for _ in 0..<60 {
                let path = (0..<1 + random.below(6)).map { _ in
                    random.one(of: ["next", "next", "@links.Node.next", "one"])
                }
                try check(
                    path + [random.one(of: ["next", "@links.Node.next"])], world, &random, seed)
            }
        }
    }

    private func check(
        _ path: [String], _ world: World, _ random: inout Seed, _ seed: UInt64
    ) throws {
        let all = Array(0..<World.count)
        let ends = all.map { world.ends(of: path, from: $0) }
        guard ends.allSatisfy({ $0.count < 20_000 }) else { return }
        let text = path.joined(separator: ".")
        let least = random.below(World.count)
        let count = random.one(of: ends.map { $0.filter { $0 < least }.count })
        let values = ends.map { $0.flatMap { world.values[$0] } }
        func expect(_ query: String, _ isExpected: (Int) -> Bool) throws {
            #expect(try world.ids(query) == all.filter(isExpected), "\(query) (seed \(seed))")
        }
        try expect("SUBQUERY(\(text), $x, $x.id < \(least)).@count == \(count)") {
            ends[$0].filter { $0 < least }.count == count
        }
        try expect("SUBQUERY(\(text), $x, $x.id < SELF.id).@count > \(count)") { origin in
            ends[origin].filter { $0 < origin }.count > count
        }
        try expect("ANY \(text).values == 2") { values[$0].contains(2) }
        try expect("ALL \(text).values < 2") { values[$0].allSatisfy { $0 < 2 } }
        try expect("NONE \(text).values == 1") { !values[$0].contains(1) }
        try expect("\(text).id == \(least)") { ends[$0].contains(least) }
        try expect("ALL \(text).id >= \(least)") { ends[$0].allSatisfy { $0 >= least } }
        try expect("NONE \(text).id > \(least)") { ends[$0].allSatisfy { $0 <= least } }
        try expect("1 + \(text).id * 2 == \(2 * least + 1)") { ends[$0].contains(least) }
        try expect("\(text).id == SELF.id") { ends[$0].contains($0) }
        let ones = ends.map { $0.flatMap { world.links["one"]![$0] } }
        try expect("\(text).one.id == \(least)") { ones[$0].contains(least) }
        try expect("ALL \(text).one.id < \(least)") { ones[$0].allSatisfy { $0 < least } }
        try expect("\(text).values.@count == 2") {
            ends[$0].contains { world.values[$0].count == 2 }
        }
        try expect("ALL \(text).values.@sum < 2") {
            ends[$0].allSatisfy { world.values[$0].reduce(0, +) < 2 }
        }
        try expect("\(text).mixed[*] == 1") { !ends[$0].isEmpty }
        try expect("NOT ALL \(text).id < \(least) AND id > 2 OR \(text).values == 0") { origin in
            !ends[origin].allSatisfy { $0 < least } && origin > 2 || values[origin].contains(0)
        }
        try expect("SUBQUERY(next, $n, $n.\(text).id == \(least)).@count > 0") { origin in
            world.links["next"]![origin].contains { ends[$0].contains(least) }
        }
        try expect("SUBQUERY(next, $n, SELF.\(text).id == $n.id).@count > 0") { origin in
            world.links["next"]![origin].contains { ends[origin].contains($0) }
        }
        for list in [random.one(of: values), [1], []] where list.count < 100 {
            let literal = "{\(list.map(String.init).joined(separator: ", "))}"
            try expect("\(text).values == \(literal)") { values[$0] == list }
            try expect("\(text).values != \(literal)") { values[$0] != list }
        }
        let list = random.one(of: ends)
        guard list.count < 100 else { return }
        let literal = "{\(list.map(String.init).joined(separator: ", "))}"
        try expect("\(text).id == \(literal)") { ends[$0] == list }
        try expect("\(text).id + SELF.id == \(literal)") { origin in
            ends[origin].map { $0 + origin } == list
        }
    }

    /// Each pair of steps multiplied the time of a subquery's count and of a whole list.
    @Test func `Paths with more ways than anybody can walk are answered at once`() throws {
        var random = Seed(7)
        let world = try World(&random)
        let steps = Array(repeating: "next.@links.Node.next", count: 15).joined(separator: ".")
        let some = (0..<World.count).filter { !world.links["next"]![$0].isEmpty }
        #expect(try world.ids("SUBQUERY(\(steps), $x, $x.id < 0).@count == 0").count == 12)
        #expect(try world.ids("SUBQUERY(\(steps), $x, $x.id >= 0).@count > 0") == some)
        #expect(try world.ids("\(steps).values == {1, 2}") == [])
        #expect(try world.ids("\(steps).id != {0}").count == 12)
        #expect(try world.ids("\(steps).id == {}").count == 12 - some.count)
        let mixed = "mixed" + String(repeating: "[*].mixed", count: 31)
        #expect(try world.ids("ANY \(mixed)[*] == 99") == [])
        #expect(try world.ids("\(mixed)[*] == {1, 2}") == [])
        #expect(try world.ids("\(mixed)[0] == {}").count <= 12)
    }
}
