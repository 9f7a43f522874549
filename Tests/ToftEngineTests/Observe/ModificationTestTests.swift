// Tests: DeepChangeChecker.swift, LinkMap.swift
import Testing
import ToftTestKit
import ToftModel
@testable import ToftEngine

/// Links held in memory.
private struct Graph: LinkReading {
    var targets: [Link: [Int64: [Int64]]] = [:]

    func forEachSource(of target: Int64, through link: Link, _ body: (Int64) -> Bool)
        throws(EngineError)
    {
        for (source, linked) in targets[link] ?? [:] where linked.contains(target) {
            guard body(source) else { return }
        }
    }

    func forEachTarget(of source: Int64, through link: Link, _ body: (Int64) -> Bool)
        throws(EngineError)
    {
        for target in targets[link]?[source] ?? [] {
            guard body(target) else { return }
        }
    }
}

@Suite struct ModificationTestTests {
    /// A chain 1 -> 2 -> ... -> 9 of one class.
    private func chain() -> (Graph, LinkMap, Link) {
        let link = Link(source: 1, property: 5, target: 1, isCollection: false)
        var graph = Graph()
        for key in 1..<9 as Range<Int64> { graph.targets[link, default: [:]][key] = [key + 1] }
        return (graph, LinkMap([link]), link)
    }

    private func modifiedRows(
        _ graph: Graph, _ links: LinkMap, _ modified: [ClassID: IndexRanges], of classID: ClassID,
        in keys: Range<Int64>, budget: Int
    )
        throws -> Set<Int64>
    {
        let test = try DeepChangeChecker(
            of: classID, modified: modified, links: links, reader: graph, budget: budget)
        var rows: Set<Int64> = []
        for key in keys where try test.isModified(key) { rows.insert(key) }
        return rows
    }

    @Test(arguments: [0, 1000])
    func `A row is modified when something up to three links away is, not four`(budget: Int) throws
    {
        let (graph, links, _) = chain()
        let rows = try modifiedRows(graph, links, [1: [7]], of: 1, in: 1..<10, budget: budget)
        #expect(rows == [4, 5, 6, 7])
    }

    @Test(arguments: [0, 1000]) func `A cycle of links ends`(budget: Int) throws {
        var (graph, links, link) = chain()
        graph.targets[link, default: [:]][9] = [1]
        let rows = try modifiedRows(graph, links, [1: [1]], of: 1, in: 1..<10, budget: budget)
        #expect(rows == [1, 9, 8, 7])
    }

    @Test func `What no row can reach costs nothing`() throws {
        let (graph, links, _) = chain()
        let test = try DeepChangeChecker(
            of: 1, modified: [2: [1, 2, 3]], links: links, reader: graph, budget: 0)
        #expect(test.isEmpty)
    }

    @Test(arguments: 0..<100 as Range<UInt64>) func `Both ways find the same rows in random graphs`(
        number: UInt64
    ) throws {
        var seed = Seed(number)
        let links = (0..<1 + seed.below(6)).map { property in
            Link(
                source: ClassID(seed.below(3)), property: PropertyID(property),
                target: ClassID(seed.below(3)), isCollection: seed.below(2) == 0)
        }
        var graph = Graph()
        for link in links {
            for _ in 0..<seed.below(40) {
                graph.targets[link, default: [:]][Int64(seed.below(20)), default: []].append(
                    Int64(seed.below(20)))
            }
        }
        var modified: [ClassID: IndexRanges] = [:]
        for classID in 0..<3 as Range<ClassID> {
            modified[classID] = IndexRanges((0..<seed.below(3)).map { _ in seed.below(20) })
        }
        let map = LinkMap(links)
        for classID in 0..<3 as Range<ClassID> {
            let backwards = try modifiedRows(
                graph, map, modified, of: classID, in: 0..<20, budget: 1_000_000)
            let forwards = try modifiedRows(
                graph, map, modified, of: classID, in: 0..<20, budget: -1)
            let expected = Set(
                (0..<20 as Range<Int64>).filter { reaches(graph, links, modified, classID, $0, 3) })
            #expect(backwards == expected, "seed \(number)")
            #expect(forwards == expected, "seed \(number)")
        }
    }

    private func reaches(
        _ graph: Graph, _ links: [Link], _ modified: [ClassID: IndexRanges], _ classID: ClassID,
        _ key: Int64, _ left: Int
    ) -> Bool {
        if modified[classID]?.contains(Int(key)) == true { return true }
        guard left > 0 else { return false }
        return links.contains { link in
            link.source == classID
                && (graph.targets[link]?[key] ?? []).contains {
                    reaches(graph, links, modified, link.target, $0, left - 1)
                }
        }
    }
}
