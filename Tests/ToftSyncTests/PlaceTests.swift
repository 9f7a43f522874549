// Tests: Label.swift, ElementList.swift, Resolver+Place.swift
import Testing
import ToftSync
import ToftTestKit

/// Labels of elements, with the distances of the product.
@Suite struct PlaceTests {
    private let a = Lab.object("a")

    @Test func `The middle of two labels is exact, however often a gap is halved`() {
        var (low, high) = (Label(-1), Label(0))
        for step in 0..<500 {
            let middle = Label.middle(low, high)
            #expect(low < middle && middle < high)
            #expect(Label.middle(high, low) == middle)
            if step % 3 == 0 { low = middle } else { high = middle }
        }
        #expect(Label.middle(Label(.min), Label(.max)) < Label(0))
        #expect(Label.middle(Label(3), Label(4)) == Label.middle(Label(2), Label(5)))
        #expect(Label.middle(Label(-4), Label(-2)) == Label(-3))
        #expect(Label.middle(Label(2), Label(4)).isWhole)
        #expect(!Label.middle(Label(2), Label(3)).isWhole)
        #expect(Label(.max).moved(by: 1) == Label(.max))
    }

    @Test(arguments: ["front", "back", "after the first", "before the last", "anywhere"])
    func `A thousand elements keep the order in which one replica put them`(place: String) {
        var lab = Lab(2)
        var seed = Seed(7)
        lab.write(0, .create(a, []))
        lab.settle()
        var expected: [String] = []
        for number in 0..<1000 {
            let index =
                switch place {
                case "front": 0
                case "back": expected.count
                case "after the first": min(1, expected.count)
                case "before the last": max(0, expected.count - 1)
                default: seed.below(expected.count + 1)
                }
            expected.insert("\(number)", at: index)
            lab.replicas[0].insert(
                .value(.text(Text("\(number)"))), in: Path(a, Lab.words), at: index)
            if number % 50 == 49 {
                lab.write(0)
                lab.sync(0)
                lab.pull(1)
            }
        }
        lab.settle()
        #expect(lab.words(a) == expected)
        #expect(lab.words(a, at: 1) == expected)
        #expect(lab.problems.isEmpty)
    }

    @Test func `New labels of a crowded place are told to all`() {
        var lab = Lab(2)
        lab.write(0, .create(a, []))
        lab.settle()
        // Each halves the gap before the last one, until there is no room.
        for number in 0..<60 {
            lab.replicas[0].insert(
                .value(.text(Text("\(number)"))), in: Path(a, Lab.words),
                at: max(0, number - 1))
            lab.write(0)
            lab.sync(0)
        }
        lab.settle()
        #expect(lab.problems.isEmpty)
        let entries = (1...lab.server.store.head).map { lab.server.store.entry($0) }
        #expect(
            entries.contains { $0.shown.contains { $0.steps.last == .label } },
            "no place was crowded: the test tries nothing")
    }
}
