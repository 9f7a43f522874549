// Tests: ListReplay.swift, LongestAscent.swift, ListEdit.swift
import Testing
import ToftTestKit
@testable import ToftEngine

@Suite struct ListReplayTests {
    private func replay(_ count: Int, _ edits: ListEdit...) -> CollectionChange {
        var replay = ListReplay(count: count)
        for edit in edits {
            let fits = replay.apply(edit)
            #expect(fits)
        }
        return replay.change()
    }

    @Test func `An element inserted and erased again leaves no trace`() {
        #expect(replay(5, .insert(2), .erase(2)).isEmpty)
    }

    @Test func `Erasing and inserting at one index is a deletion and an insertion`() {
        let change = replay(5, .erase(2), .insert(2))
        #expect((change.deletions, change.insertions) == ([2], [2]))
    }

    @Test func `A move is reported with both its ends`() {
        let change = replay(5, .move(4, 1))
        #expect((change.deletions, change.insertions) == ([4], [1]))
        #expect(change.moves == [.init(from: 4, to: 1)])
    }

    @Test func `Two moves to the end keep their order`() {
        let change = replay(5, .move(0, 4), .move(0, 4))
        #expect(change.moves == [.init(from: 0, to: 3), .init(from: 1, to: 4)])
    }

    @Test func `A swap is two moves, of neighbours one, and twice is nothing`() {
        #expect(replay(5, .swap(1, 3)).moves == [.init(from: 3, to: 1), .init(from: 1, to: 3)])
        #expect(replay(5, .swap(1, 2)).moves == [.init(from: 2, to: 1)])
        #expect(replay(5, .swap(1, 3), .swap(3, 1)).isEmpty)
        #expect(replay(5, .swap(2, 2)).isEmpty)
    }

    @Test func `A move there and back is nothing`() {
        #expect(replay(5, .move(0, 3), .move(3, 0)).isEmpty)
    }

    @Test func `A moved element that is modified is only a move`() {
        let change = replay(4, .move(0, 3), .set(3))
        #expect(change.moves == [.init(from: 0, to: 3)])
        #expect(change.modifications.isEmpty)
    }

    @Test func `A moved element that is erased is a deletion where it was`() {
        let change = replay(5, .move(0, 3), .erase(3))
        #expect(change.deletions == [0])
        #expect(change.insertions.isEmpty && change.moves.isEmpty)
    }

    @Test func `A new element that is moved or set is an insertion where it ends`() {
        let change = replay(5, .insert(0), .move(0, 4), .set(4))
        #expect(change.insertions == [4])
        #expect(change.deletions.isEmpty && change.moves.isEmpty && change.modifications.isEmpty)
    }

    @Test func `Clearing deletes everything, and refilling takes the flag away`() {
        let cleared = replay(3, .clear)
        #expect(cleared.deletions == [0, 1, 2] && cleared.isCleared)
        let refilled = replay(3, .clear, .insert(0))
        #expect(
            refilled.deletions == [0, 1, 2] && refilled.insertions == [0] && !refilled.isCleared)
        #expect(replay(0, .clear).isEmpty)
    }

    @Test func `What a row links may modify it`() {
        var replay = ListReplay(count: 4)
        for edit in [ListEdit.erase(0), .insert(0), .move(3, 1)] { _ = replay.apply(edit) }
        let change = replay.change { _ in true }
        #expect(change.modifications == [1, 2])
        #expect(change.modificationsNew == [2, 3])
    }

    @Test func `Edits that do not fit the list are refused`() {
        var replay = ListReplay(count: 2)
        for edit in [
            ListEdit.insert(3), .insert(-1), .erase(2), .set(-1), .move(0, 2), .swap(-1, 1),
        ] {
            let fits = replay.apply(edit)
            #expect(!fits)
        }
        #expect(replay.change().isEmpty)
    }

    @Test(arguments: 0..<200 as Range<UInt64>) func `Random edits replayed on a copy give the list`(
        number: UInt64
    ) {
        var seed = Seed(number)
        let old = Array(0..<seed.below(20))
        var list = old
        var replay = ListReplay(count: old.count)
        var fresh = 1000
        for _ in 0..<seed.below(40) {
            let fits = replay.apply(edit(&list, &seed, &fresh))
            #expect(fits, "seed \(number)")
        }
        let change = replay.change()
        var copy = Replay(old)
        copy.apply(change, current: list)
        #expect(copy.elements == list, "seed \(number)")
        #expect(replay.count == list.count)
        for move in change.moves {
            #expect(
                change.deletions.contains(move.from) && change.insertions.contains(move.to),
                "seed \(number)")
            #expect(old[move.from] == list[move.to], "seed \(number)")
        }
    }

    private func edit(_ list: inout [Int], _ seed: inout Seed, _ fresh: inout Int) -> ListEdit {
        fresh += 1
        guard !list.isEmpty, seed.below(30) > 0 else {
            if seed.below(2) == 0 {
                list = []
                return .clear
            }
            list.insert(fresh, at: 0)
            return .insert(0)
        }
        let (one, other) = (seed.below(list.count), seed.below(list.count))
        switch seed.below(4) {
        case 0:
            list.insert(fresh, at: one)
            return .insert(one)
        case 1:
            list.remove(at: one)
            return .erase(one)
        case 2:
            list.insert(list.remove(at: one), at: other)
            return .move(one, other)
        default:
            list.swapAt(one, other)
            return .swap(one, other)
        }
    }

    @Test func `A hundred thousand edits of a long list are cheap`() {
        var seed = Seed(1)
        var replay = ListReplay(count: 1_000_000)
        for _ in 0..<100_000 {
            let index = seed.below(replay.count)
            _ = replay.apply(seed.below(2) == 0 ? .insert(index) : .erase(index))
        }
        let change = replay.change()
        #expect(1_000_000 - change.deletions.count + change.insertions.count == replay.count)
    }
}
