// Tests: Compiler.swift
internal import ToftEngine
internal import ToftModel
internal import ToftTestKit

/// Random queries against an evaluator that knows nothing of the engine:
/// `ToftTrials differential N [seed]`.
///
/// Each generated condition is a text and a closure over plain values. With and without indexes,
/// inside and outside of a write transaction, with classes that fill a batch of rows, miss it by
/// one, or exceed it by one.
enum DifferentialTrial {
    /// Objects, drawn for each round.
    private static let sizes = [1, 40, 40, 40, 40, 40, 255, 256, 257, 600]
    private static let queriesOfRound = 500

    static func run(queries: Int, seed: UInt64, violationLimit: Int = 5) throws -> Bool {
        print("differential, seed \(seed)")
        var (done, round, found) = (0, UInt64(0), 0)
        var violations: [String] = []
        while done < queries, violations.count < violationLimit {
            found += try self.round(seed &+ round &* 1_000_003, &violations)
            done += queriesOfRound
            round += 1
        }
        for violation in violations { print("VIOLATION \(violation)") }
        print("cases \(done)")
        print(
            "differential: \(done) queries, \(found) objects found, "
                + "\(violations.count) violations")
        if found == 0 { print("VIOLATION nothing was found") }
        return violations.isEmpty && found > 0
    }

    /// Queries of new objects. The result: the number of objects that they found.
    private static func round(_ seed: UInt64, _ violations: inout [String]) throws -> Int {
        var random = Seed(seed)
        let size = random.one(of: sizes)
        let nulls = random.one(of: [0, 20])
        var people = (0..<size).map { Plain(id: $0, size, nulls: nulls, &random) }
        let worlds = [
            try PlainWorld(people, indexed: false), try PlainWorld(people, indexed: true),
        ]
        var found = 0
        for number in 0..<queriesOfRound {
            // A transaction of eight changes, with a query after each.
            let place = number % 32
            if place >= 24 {
                let changed = random.below(size)
                people[changed] = Plain(id: changed, size, nulls: nulls, &random)
                for world in worlds {
                    if place == 24 { try world.session.beginWrite() }
                    try world.set(people[changed])
                }
            }
            let question = PlainQuestion.random(&random)
            let expected = question.answer(PlainData(people))
            found += expected.count
            for (index, world) in worlds.enumerated() {
                do {
                    guard try world.ids(question.text) == expected else {
                        throw Failure("the answer differs")
                    }
                    if number % 4 == index { try checkWays(question.text, world, expected) }
                } catch {
                    violations.append(
                        "\(error): \(question.text) (seed \(seed), query \(number), "
                            + "\(size) objects, \(index == 0 ? "without" : "with") indexes)")
                }
                if place == 31 { try world.session.commit() }
            }
        }
        for world in worlds {
            if world.session.isWriting { try world.session.commit() }
            if let problem = try world.session.checkEverything().problems.first {
                violations.append("seed \(seed): \(problem)")
            }
        }
        return found
    }

    /// The answer piece by piece, its count, and the answer of the query described as text.
    private static func checkWays(_ query: String, _ world: PlainWorld, _ expected: [Int]) throws {
        guard try world.walkedIDs(query) == expected else { throw Failure("the walk differs") }
        guard try world.count(query) == expected.count else { throw Failure("the count differs") }
        let text = try world.description(of: query)
        guard try world.ids(text) == expected else {
            throw Failure("the answer of \(text) differs")
        }
        guard try world.description(of: text) == text else {
            throw Failure("\(text) describes itself differently")
        }
    }
}
