// Tests: OrderedLeafMiddle.swift
import Testing
@testable import ToftStorage

/// A part that most keys of a leaf share near their ends is stored once, and so are repeated
/// lengths.
@Suite struct OrderedLeafMiddleTests {
    private let workshop: TreeWorkshop

    init() throws { workshop = try TreeWorkshop() }

    private func number(_ number: Int) -> [UInt8] {
        withUnsafeBytes(of: UInt32(number).bigEndian) { Array($0) }
    }

    @discardableResult
    private func put(_ key: [UInt8], _ tree: TreeWriter) throws -> Bool {
        try with(key) { try tree.put($0, UnsafeRawBufferPointer(start: nil, count: 0)) }
    }

    private func pages(_ tree: TreeWriter) throws -> Int {
        let visited = VisitedExtents()
        try tree.check(visited)
        return visited.pages.count
    }

    @Test(arguments: [false, true])
    func `A host that all addresses have takes no room in each`(isSorted: Bool) throws {
        let tree = workshop.tree()
        var random = SeededGenerator(seed: 5)
        let order = isSorted ? Array(0..<10_000) : (0..<10_000).shuffled(using: &random)
        func key(_ row: Int) -> [UInt8] {
            Array("user\(100_000 + row)@mail.example.org".utf8) + [0, 0] + number(row * 7)
        }
        for row in order { #expect(try put(key(row), tree)) }
        // Slots of six bytes and four of the row: ten; it was 29.
        #expect(try pages(tree) < 10_000 * 10 * 10 / (isSorted ? 9 : 7) / OrderedLeafLayout.room)
        for row in 0..<10_000 {
            #expect(try with(key(row)) { try tree.rank(of: $0) } == row)
            #expect(try with(key(row)) { try tree.reader.contains($0) })
            var other = key(row)
            other[other.count - 1] ^= 1
            #expect(try with(other) { try !tree.reader.contains($0) })
        }
        for row in order { #expect(try with(key(row)) { try tree.delete($0) }) }
        #expect(workshop.ownPages == 0)
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func `Addresses of several hosts and lengths come and go`(seed: UInt64) throws {
        print("addresses, seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let tree = workshop.tree()
        let hosts = ["", "@a.org", "@example.com", "@mail.example.com", "aaaaaaa", "abababab"]
            .map { Array($0.utf8) }
        var model: [[UInt8]: [UInt8]] = [:]
        for step in 0..<12_000 {
            // The hosts change over time, so that the leaves' middles have to.
            let known = step / 3_000 % 2 == 1 ? model.keys.randomElement(using: &random) : nil
            let last = min(hosts.count, 2 + step / 2_000)
            let key =
                known
                ?? (random.word(seed % 2 == 0 ? 4 : 40)
                    + hosts[random.below(4) == 0 ? random.below(last) : last - 1]
                    + random.bytes(random.below(seed < 4 ? 5 : 18)))
            if known != nil, random.below(10) < 8 {
                #expect(try with(key) { try tree.delete($0) })
                model[key] = nil
            } else {
                let value = random.bytes(random.below(seed < 5 ? 2 : 40))
                #expect(
                    try with(key) { key in try with(value) { try tree.put(key, $0) } }
                        == (model.updateValue(value, forKey: key) == nil))
            }
            if step % 500 == 0 { try tree.check(VisitedExtents()) }
        }
        try compare(tree, model)
        try tree.check(VisitedExtents())
        for key in model.keys.sorted(by: { $0.lexicographicallyPrecedes($1) })
            .shuffled(using: &random)
        {
            #expect(try with(key) { try tree.delete($0) })
        }
        #expect(workshop.ownPages == 0)
    }

    @Test func `A middle is found from 4 bytes on, with up to 15 behind it`() {
        func behind(_ middle: String, _ key: String) -> Int? {
            with(Array(middle.utf8)) { middle in
                with(Array(key.utf8)) { key in
                    guard let start = middle.baseAddress, let bytes = key.baseAddress else {
                        return nil
                    }
                    return bytesBehind(start, middle.count, in: bytes, key.count)
                }
            }
        }
        #expect(behind("@org", "@org") == 0)
        #expect(behind("@org", "@or") == nil)
        #expect(behind("@org", "me@org") == 0)
        #expect(behind("@org", "@org@org!") == 1)
        #expect(behind("@some.org", "me@same.org") == nil)
        for (count, expected) in [(14, 14), (15, 15), (16, nil)] {
            #expect(behind("@org", "me@org" + String(repeating: ".", count: count)) == expected)
        }

        func common(_ left: String, _ right: String) -> String {
            with(Array(left.utf8)) { left in
                with(Array(right.utf8)) { right in
                    String(
                        decoding: commonMiddle(
                            left, ends: OrderedLeafLayout.longestEnd, right), as: UTF8.self)
                }
            }
        }
        #expect(common("me@org1", "you@org22") == "@org")
        #expect(common("me:org1", "you@org22") == "")
        #expect(common("", "you@org22") == "")
        let long = String(repeating: "o", count: 65)
        #expect(common("1" + long, "2" + long).count == 64)
        #expect(common("1@org" + long.prefix(15), "2@org") == "@org")
        #expect(common("1@org" + long.prefix(16), "2@org") == "")
    }
}
