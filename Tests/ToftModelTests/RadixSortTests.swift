// Tests: RadixSort.swift
import Testing
@testable import ToftModel
import ToftTestKit

@Suite struct RadixSortTests {
    @Test(arguments: [0, 1, 2, 200, 257, 5_000])
    func `Items ascend and those with equal heads keep their order`(count: Int) {
        var seed = Seed.random()
        for masks: UInt64 in [.max, 0xFF, 0xFF00_0000_0000_00FF, 3 << 20, 0] {
            let heads = (0..<count).map { _ in seed.next() & masks }
            var order = RadixSort(count: count) {
                RadixSort.Item(head: heads[$0], index: UInt32($0))
            }
            order.sort()
            let expected = heads.indices.sorted {
                heads[$0] != heads[$1] ? heads[$0] < heads[$1] : $0 < $1
            }
            #expect(order.items.map { Int($0.index) } == expected, "\(seed)")
        }
    }

    @Test func `Heads of numbers sort as the numbers do`() {
        let numbers: [Int64] = [.min, -7, -1, 0, 1, 9, .max]
        #expect(numbers.map(RadixSort.head) == numbers.map(RadixSort.head).sorted())
    }
}
