// Tests: SequenceDifference.swift, SortedKeys.swift
import Testing
import ToftTestKit
@testable import ToftEngine

@Suite struct SequenceDifferenceTests {
    private func difference(_ old: [Int64], _ new: [Int64], modified: Set<Int64> = []) throws
        -> CollectionChange
    {
        try SequenceDifference.between(old, new) { modified.contains($0) }
    }

    @Test func `Equal sequences have no difference`() throws {
        #expect(try difference([3, 1, 2], [3, 1, 2]).isEmpty)
        #expect(try difference([], []).isEmpty)
    }

    @Test func `Unsorted results are merged in key order`() throws {
        let change = try difference([1, 3, 5, 7], [1, 2, 5, 8, 9], modified: [5, 9])
        #expect(change.deletions == [1, 3])
        #expect(change.insertions == [1, 3, 4])
        #expect(change.modifications == [2])
        #expect(change.modificationsNew == [2])
    }

    @Test
    func
        `A row that changes its index is a deletion and an insertion`()
        throws
    {
        let change = try difference([10, 9, 8, 7], [8, 10, 9, 7], modified: [8])
        #expect(change.deletions == [2])
        #expect(change.insertions == [0])
        #expect(change.modifications.isEmpty)
        #expect(change.moves.isEmpty)
    }

    @Test func `Of two neighbours that change places, the one that was changed moves`() throws {
        let upper = try difference([4, 3], [3, 4], modified: [3])
        #expect((upper.deletions, upper.insertions) == ([1], [0]))
        let lower = try difference([4, 3], [3, 4], modified: [4])
        #expect((lower.deletions, lower.insertions) == ([0], [1]))
    }

    @Test func `A key that occurs several times is matched occurrence by occurrence`() throws {
        let change = try difference([1, 2, 1, 3], [1, 1, 1, 3], modified: [1])
        #expect(change.deletions.count == 1)
        #expect(change.insertions.count == 1)
        var replay = Replay<Int64>([1, 2, 1, 3])
        replay.apply(change, current: [1, 1, 1, 3])
        #expect(replay.elements == [1, 1, 1, 3])
    }

    @Test(arguments: 0..<300 as Range<UInt64>)
    func `Replaying a random difference gives the new sequence with as few edits as possible`(
        number: UInt64
    ) throws {
        var seed = Seed(number)
        let width = 1 + seed.below(12)
        let old = Array((0..<Int64(width)).shuffled(using: &seed).prefix(seed.below(width + 1)))
        let new = Array((0..<Int64(width)).shuffled(using: &seed).prefix(seed.below(width + 1)))
        let modified = Set((0..<Int64(width)).filter { _ in seed.below(3) == 0 })
        let change = try difference(old, new, modified: modified)
        var replay = Replay(old)
        replay.apply(change, current: new)
        #expect(replay.elements == new, "seed \(number)")
        let stayed = old.count - change.deletions.count
        #expect(stayed == longestCommonSubsequence(old, new), "seed \(number)")
        #expect(
            zip(change.modifications, change.modificationsNew).allSatisfy {
                old[$0] == new[$1] && modified.contains(new[$1])
            })
        #expect(change.modifications.count == change.modificationsNew.count)
    }

    private func longestCommonSubsequence(_ one: [Int64], _ other: [Int64]) -> Int {
        var lengths = [[Int]](
            repeating: [Int](repeating: 0, count: other.count + 1), count: one.count + 1)
        for i in one.indices {
            for j in other.indices {
                lengths[i + 1][j + 1] =
                    one[i] == other[j]
                    ? lengths[i][j] + 1 : max(lengths[i][j + 1], lengths[i + 1][j])
            }
        }
        return lengths[one.count][other.count]
    }
}
