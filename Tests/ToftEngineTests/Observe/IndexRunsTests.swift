// Tests: IndexRanges.swift, Dependencies.swift
import Testing
import ToftTestKit
@testable import ToftEngine

@Suite struct IndexRunsTests {
    @Test func `Neighbouring indices become one run`() {
        let runs = IndexRanges([5, 1, 2, 3, 9, 2])
        #expect(runs.runs == [1..<4, 5..<6, 9..<10])
        #expect(runs.count == 5)
        #expect(Array(runs) == [1, 2, 3, 5, 9])
    }

    @Test func `A run that touches or overlaps the last one extends it`() {
        var runs = IndexRanges(0..<3)
        runs.append(3..<5)
        runs.append(4..<6)
        runs.append(8..<8)
        #expect(runs.runs == [0..<6])
    }

    @Test(arguments: 0..<50 as Range<UInt64>) func `Subtraction agrees with a plain set`(
        number: UInt64
    ) {
        var seed = Seed(number)
        let one = Set((0..<30).map { _ in seed.below(40) })
        let other = Set((0..<seed.below(30)).map { _ in seed.below(40) })
        #expect(
            IndexRanges(one).subtracting(IndexRanges(other)) == IndexRanges(one.subtracting(other)),
            "seed \(number)")
    }

    @Test func `Membership and counts agree with a plain set`() {
        var seed = Seed(7)
        let plain = Set((0..<60).map { _ in seed.below(100) })
        let runs = IndexRanges(plain)
        for index in 0..<101 {
            #expect(runs.contains(index) == plain.contains(index))
            #expect(runs.count(below: index) == plain.count { $0 < index })
        }
    }
}
