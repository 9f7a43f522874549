// Tests: Resolver.swift, Replica.swift, Resolver+Lists.swift, View.swift
import Foundation
import SyncVectors
import Testing

/// Cases whose outcome was written by hand, and random runs of the rules' first, executable form.
@Suite struct VectorTests {
    private func results(_ name: String) throws -> [CaseResult] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        let file = folder.appending(path: "Fixtures/\(name)")
        return play(try OrderedJSON(parsing: try String(contentsOf: file, encoding: .utf8)))
    }

    @Test(arguments: [("vectors.json", 107), ("changesets.json", 281), ("replicas.json", 60)])
    func `Each case of the vectors comes out as expected`(file: String, count: Int) throws {
        let results = try results(file)
        #expect(results.count == count)
        for result in results where !result.differences.isEmpty {
            Issue.record("\(file), \(result.name): \(result.differences.prefix(3))")
        }
    }

    @Test func `A case that expects something else fails`() throws {
        let steps = """
            [{"name": "one", "steps": [{"at": 1, "do": [["create", ["A", "k"], {"v": 1}]]},
            {"sync": 1}], "expect": {"server": {"A k": {"v": 2}}}}]
            """
        let entries = """
            [{"seed": 1, "entries": [{"r": 1, "q": 1, "base": 0, "t": 1, "refused": null,
            "ops": [["create", ["A", "k"], {"v": [1, 1]}]], "facts": [[["A", "k"]]],
            "author": []}], "final": [[["A", "k"], {"v": 1, "n": 0}]]}]
            """
        let replicas = """
            [{"seed": 1, "replicas": {"1": [{"from": 0, "to": 1, "answered": 0, "complete": false,
            "facts": [[[["A", "k"]], {"v": 1, "n": 5}]], "shown": [[["A", "k"], {"v": 1}]]}]}}]
            """
        for text in [steps, entries, replicas] {
            let result = try #require(play(try OrderedJSON(parsing: text)).first)
            #expect(result.differences.count == 1)
        }
    }
}
