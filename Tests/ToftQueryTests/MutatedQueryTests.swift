// Tests: Parser.swift
import Testing
import ToftEngine
import ToftModel

@testable import ToftQuery

/// Queries that no program would contain: each is answered or refused, and never stops the process.
@Suite struct MutatedQueryTests {
    @Test func `Mutated queries are answered or refused`() throws {
        let seed = UInt64.random(in: 0...UInt64(UInt32.max))
        print("mutated queries, seed \(seed)")
        var random = Mutations(seed: seed)
        let data = try ConformanceData(indexed: true)
        let owner = try data.session.classHandle(named: "Person")
        let all = try data.session.results(of: owner.id)
        var (answered, refused) = (0, 0)
        for _ in 0..<3000 {
            let text = random.mutate(
                Fixtures.rows[Int(random.next() % UInt64(Fixtures.rows.count))].query)
            do {
                _ = try all.filter(
                    text, arguments: [.value(.int(1)), .list([.string("a"), .null])]
                ).count
                answered += 1
            } catch {
                refused += 1
                #expect(!error.message.isEmpty, "\(text) (seed \(seed))")
            }
        }
        print("mutated queries: \(answered) answered, \(refused) refused")
        #expect(answered > 0 && refused > 0)
    }

    @Test func `Nesting without end is an error not an overflow`() throws {
        let data = try ConformanceData(indexed: false)
        let owner = try data.session.classHandle(named: "Person")
        let all = try data.session.results(of: owner.id)
        for text in [
            String(repeating: "(", count: 100_000) + "age == 1",
            String(repeating: "NOT ", count: 100_000) + "age == 1",
            "age == " + String(repeating: "(1 + ", count: 100_000),
            "boss" + String(repeating: ".boss", count: 10_000) + ".age == 1",
            "name MATCHES '" + String(repeating: "(", count: 100_000) + "'",
            "name MATCHES '" + String(repeating: "a{1000}", count: 100_000) + "'",
            "name MATCHES '" + String(repeating: "|", count: 100_000) + "'",
            "TRUEPREDICATE" + String(repeating: " OFFSET(1)", count: 10_000),
            "age IN {" + String(repeating: "1,", count: 100_000) + "1}",
        ] {
            do { _ = try all.filter(text).count } catch { #expect(!error.message.isEmpty) }
        }
    }
}

/// Takes a text, and leaves out, doubles, swaps and inserts.
private struct Mutations {
    private var state: UInt64
    private static let inserts = [
        "(", ")", "'", "\\", "{", "}", "$", "@", "ANY ", "NOT ", " == ", "null", "\u{0}", "é",
        "[c]", ".", "-", "9", "SUBQUERY(", "T1:", "0x",
        " MATCHES '", "(a|b)*", "[a-c]", "{2,}", "OFFSET(", "LIMIT(1)", "SELF", "YES", "['a']",
        "[*]", "[$0]", ".@keys", ".@values", "intDict", "intSet", "SELF.", "{1, 2}",
        String(repeating: " - 1", count: 50), String(repeating: " * age", count: 60),
        String(repeating: ".owners.dogs", count: 20), String(repeating: ".friends.boss", count: 20),
    ]

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state >> 33
    }

    mutating func mutate(_ text: String) -> String {
        var characters = Array(text)
        for _ in 0..<(1 + next() % 4) where !characters.isEmpty {
            let place = Int(next() % UInt64(characters.count))
            switch next() % 4 {
            case 0: characters.remove(at: place)
            case 1: characters.insert(characters[place], at: place)
            case 2: characters.swapAt(place, Int(next() % UInt64(characters.count)))
            default:
                characters.insert(
                    contentsOf: Self.inserts[Int(next() % UInt64(Self.inserts.count))], at: place)
            }
        }
        return String(characters)
    }
}
