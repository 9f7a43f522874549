// Tests: OrderedLeaf.swift
import Testing
@testable import ToftStorage

@Suite struct OrderedTreeTests {
    private let workshop: TreeWorkshop

    init() throws { workshop = try TreeWorkshop() }

    private func makeTree() -> TreeWriter { workshop.tree() }

    private func bytes(_ number: Int) -> [UInt8] {
        withUnsafeBytes(of: UInt64(number).bigEndian) { Array($0) }
    }

    @Test func `An empty tree has no extent, no entry and no cursor position`() throws {
        let tree = makeTree()
        #expect(try tree.root.isEmpty && tree.count == 0)
        #expect(try with([1]) { try tree.value(forKey: $0) } == nil)
        #expect(try tree.cursor().seekFirst() == false)
        #expect(try tree.cursor().seekLast() == false)
        try tree.check(VisitedExtents())
    }

    @Test func `Keys in ascending order fill their leaves`() throws {
        let tree = makeTree()
        for number in 0..<20_000 { try with(bytes(number)) { _ = try tree.put($0, $0) } }
        let visited = VisitedExtents()
        try tree.check(visited)
        #expect(try tree.count == 20_000)
        #expect(visited.pages.count < 20_000 * 23 / 4_000)
        for number in stride(from: 0, to: 20_000, by: 37) {
            #expect(try with(bytes(number)) { try tree.rank(of: $0) } == number)
        }
    }

    @Test func `Keys in random order leave less than three tenths of their leaves empty`() throws {
        let tree = makeTree()
        var random = SeededGenerator(seed: 1)
        for number in (0..<20_000).shuffled(using: &random) {
            try with(bytes(number)) { _ = try tree.put($0, $0) }
        }
        let visited = VisitedExtents()
        try tree.check(visited)
        #expect(try tree.count == 20_000)
        #expect(visited.pages.count < 20_000 * 16 * 10 / 7 / OrderedLeafLayout.room)
        for number in 0..<20_000 {
            #expect(try with(bytes(number)) { try tree.rank(of: $0) } == number)
        }
    }

    @Test func `What stands behind all keys is known not to be there, whatever leaf it is`() throws
    {
        let tree = makeTree()
        for number in 0..<20_000 { try with(bytes(number)) { _ = try tree.put($0, $0) } }
        let reader = tree.reader
        for number in [0, 1, 9_999, 19_998, 19_999] {
            #expect(try with(bytes(number)) { try reader.mayHold(prefix: $0) })
        }
        for number in [20_000, 20_001, 1 << 40] {
            #expect(try with(bytes(number)) { try !reader.mayHold(prefix: $0) })
        }
        #expect(try with([]) { try reader.mayHold(prefix: $0) })
    }

    @Test func `Keys and values at their limits are kept, longer ones are refused`() throws {
        let tree = makeTree()
        let longest = [UInt8](repeating: 7, count: 512)
        for valueLength in [0, 1, 1_022, 1_023, 5_000, 100_000] {
            let value = [UInt8](repeating: UInt8(valueLength % 251), count: valueLength)
            #expect(
                try with(longest) { key in try with(value) { try tree.put(key, $0) } }
                    == (valueLength == 0))
            #expect(try with(longest) { try tree.value(forKey: $0).map(Array.init) } == value)
            try tree.check(VisitedExtents())
        }
        #expect(throws: StorageError.keyTooLong(length: 513, limit: 512)) {
            try with(longest + [1]) { _ = try tree.put($0, $0) }
        }
        #expect(try tree.count == 1)
        #expect(try with([]) { try tree.put($0, $0) })
        #expect(try with([]) { try tree.value(forKey: $0)?.count } == 0)
        #expect(try with([]) { try tree.delete($0) })
        #expect(try with(longest) { try tree.delete($0) })
        #expect(tree.root.isEmpty)
        #expect(workshop.ownPages == 0)
    }

    @Test(arguments: 1...12 as ClosedRange<UInt64>)
    func `Random edits leave what a sorted dictionary holds`(seed: UInt64) throws {
        print("ordered tree, seed \(seed)")
        var random = SeededGenerator(seed: seed)
        var tree = makeTree()
        var model: [[UInt8]: [UInt8]] = [:]
        let isCommitting = seed % 2 == 0
        let longestKey = [12, 60, 512][random.below(3)]
        let longestValue = [10, 300, 3_000][random.below(3)]
        for step in 0..<6_000 {
            let isShrinking = (step / 1_500) % 2 == 1
            let known = isShrinking ? model.keys.randomElement(using: &random) : nil
            let key = known ?? randomKey(longestKey, &random)
            if random.below(10) < (isShrinking ? 8 : 2) {
                #expect(
                    try with(key) { try tree.delete($0) } == (model.removeValue(forKey: key) != nil)
                )
            } else {
                let value = random.bytes(random.below(longestValue + 1))
                #expect(
                    try with(key) { key in try with(value) { try tree.put(key, $0) } }
                        == (model.updateValue(value, forKey: key) == nil))
            }
            if isCommitting && step % 1_000 == 999 {
                tree = workshop.tree(try workshop.commit(tree.root))
            }
            if step % 700 == 0 { try workshop.spill() }
            if step % 500 == 0 { try tree.check(VisitedExtents()) }
        }
        try compare(tree, model)
        let visited = VisitedExtents()
        try tree.check(visited)
        if !isCommitting { #expect(visited.pages.count == workshop.ownPages) }
        try tree.freeAll()
        #expect(workshop.ownPages == 0)
    }

    private func randomKey(_ longest: Int, _ random: inout SeededGenerator) -> [UInt8] {
        switch random.below(8) {
        case 0: return random.bytes(random.below(longest + 1))
        case 1...3: return random.word(longest)
        default:
            let prefix = [UInt8](
                repeating: UInt8(random.below(3)), count: random.below(3) * (longest / 3))
            return prefix + bytes(random.below(5_000))
        }
    }

    @Test func `Entries of the greatest size split into leaves that hold them`() throws {
        let tree = makeTree()
        var random = SeededGenerator(seed: 3)
        var keys: [[UInt8]] = []
        for step in 0..<600 {
            let shared = [UInt8](repeating: 1, count: [0, 3, 250, 500][random.below(4)])
            let key = shared + random.bytes(step % 3 == 0 ? 512 - shared.count : random.below(12))
            let value = random.bytes(step % 2 == 0 ? 1_022 : random.below(1_023))
            if try with(key, { key in try with(value) { try tree.put(key, $0) } }) {
                keys.append(key)
            }
        }
        try tree.check(VisitedExtents())
        for key in keys.shuffled(using: &random) {
            #expect(try with(key) { try tree.delete($0) })
            if try tree.count % 50 == 0 { try tree.check(VisitedExtents()) }
        }
        #expect(workshop.ownPages == 0)
    }

    @Test func `A large transaction leaves the bytes of its entries in their order`() throws {
        let tree = makeTree()
        var random = SeededGenerator(seed: 11)
        var model: [[UInt8]: [UInt8]] = [:]
        for number in (0..<2_000).shuffled(using: &random) {
            let value = Array("\(number)".utf8)
            model[bytes(number)] = value
            try with(bytes(number)) { key in _ = try with(value) { try tree.put(key, $0) } }
        }
        let before = try stepsBack(in: tree)
        try workshop.spill()
        let after = try stepsBack(in: tree)
        // A leaf where fewer than one of 32 is out of order stays as it is.
        #expect(before > 200 && after <= 2_000 / 32, "\(before), then \(after)")
        try compare(tree, model)
        try tree.check(VisitedExtents())
    }

    /// Number of entries whose bytes are before those of the previous entry in the heap of their
    /// leaf, which grows down.
    private func stepsBack(in tree: TreeWriter) throws -> Int {
        let cursor = try tree.cursor()
        var steps = 0, last: Int?
        var isThere = try cursor.seekFirst()
        while isThere {
            let address = try cursor.value.baseAddress.map(Int.init(bitPattern:))
            if let address, let last, address > last, address - last < Page.size { steps += 1 }
            last = address
            isThere = try cursor.next()
        }
        return steps
    }

    @Test func `What keys begin with is kept once in a leaf`() throws {
        let tree = makeTree()
        let prefix = [UInt8](repeating: 9, count: 400)
        for number in 0..<2_000 {
            try with(prefix + bytes(number)) {
                _ = try tree.put($0, UnsafeRawBufferPointer(start: nil, count: 0))
            }
        }
        let visited = VisitedExtents()
        try tree.check(visited)
        #expect(visited.pages.count < 12)
        for number in 0..<2_000 {
            #expect(try with(prefix + bytes(number)) { try tree.rank(of: $0) } == number)
        }
    }
}

/// A tree has the content of a dictionary, in the order of the keys, from whichever side it is
/// read.
func compare(_ tree: TreeWriter, _ model: [[UInt8]: [UInt8]]) throws {
    let sorted = model.keys.sorted { $0.lexicographicallyPrecedes($1) }
    #expect(try tree.count == sorted.count)
    let cursor = try tree.cursor()
    var found = try cursor.seekFirst()
    for (rank, key) in sorted.enumerated() {
        #expect(found && Array(cursor.key) == key)
        #expect(try Array(cursor.value) == model[key])
        #expect(try with(key) { try tree.rank(of: $0) } == rank)
        #expect(try with(key) { try tree.value(forKey: $0).map(Array.init) } == model[key])
        found = try cursor.next()
    }
    #expect(!found)
    found = try cursor.seekLast()
    for key in sorted.reversed() {
        #expect(found && Array(cursor.key) == key)
        found = try cursor.previous()
    }
    #expect(!found)
    for (index, key) in sorted.enumerated() {
        #expect(try with(key) { try cursor.seek($0) } && Array(cursor.key) == key)
        #expect(try with(key) { try cursor.seek(after: $0) } == (index + 1 < sorted.count))
        if cursor.isValid { #expect(Array(cursor.key) == sorted[index + 1]) }
        #expect(try with(key) { try cursor.seek(before: $0) } == (index > 0))
        if cursor.isValid { #expect(Array(cursor.key) == sorted[index - 1]) }
    }
}
