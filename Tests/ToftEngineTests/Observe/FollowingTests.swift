// Tests: ResultsDefinition+Following.swift
import Testing
import ToftTestKit
@testable import ToftEngine

@Suite struct FollowingTests {
    @Test(arguments: 1...200 as ClosedRange<UInt64>)
    func `Replacing keys agrees with doing it one by one`(number: UInt64) {
        var seed = Seed(number)
        let keys = (0..<40 as Range<Int64>).filter { _ in seed.chance(50) }
        let lost = keys.filter { _ in seed.chance(20) }
        let gained = (0..<45 as Range<Int64>).filter { !keys.contains($0) && seed.chance(20) }
        let expected = (keys.filter { !lost.contains($0) } + gained).sorted()
        #expect(keys.replacing(lost, by: gained) == expected, "\(seed)")
    }

    @Test func `Keys that stay the same stay the same array`() {
        let keys: [Int64] = [1, 5, 9]
        #expect(keys.replacing([], by: []).isSame(as: keys))
        #expect(!keys.replacing([5], by: [5]).isSame(as: keys))
    }

    @Test(arguments: 1...100 as ClosedRange<UInt64>)
    func `Looking modified rows up tells the same as asking every row`(number: UInt64) throws {
        var seed = Seed(number)
        let old = (0..<60 as Range<Int64>).filter { _ in seed.chance(60) }
        let new = seed.chance(30) ? old : (0..<60 as Range<Int64>).filter { _ in seed.chance(60) }
        let modified = (0..<60 as Range<Int64>).filter { _ in seed.chance(10) }
        let asked = try SequenceDifference.between(old, new) { modified.contains($0) }
        let looked = try SequenceDifference.betweenAscending(old, new, modified: modified)
        #expect(asked == looked, "\(seed)")
    }
}
