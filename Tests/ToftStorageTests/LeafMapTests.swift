// Tests: LeafMap.swift, LeafCursor.swift, Separator.swift, TreeReader.swift
import Testing
@testable import ToftStorage

/// A tree with many lookups finds the same as before.
@Suite struct LeafMapTests {
    enum Keys: CaseIterable {
        /// Eight bytes, few of them not shared.
        case numbers
        /// Eight bytes far from each other.
        case spread
        /// More than eight shared bytes, then a number in letters.
        case addresses
        /// Few different bytes: each is the beginning of others, many have zeros at the end.
        case short
        /// The first bytes distinguish only few of them.
        case alike
        /// Nearly all are close together, some far away.
        case lumps
    }

    private func key(_ keys: Keys, _ number: Int, _ random: inout SeededGenerator) -> [UInt8] {
        switch keys {
        case .numbers: Self.bytes(UInt64(number) + 1 << 63)
        case .spread: Self.bytes(random.next())
        case .addresses: Array("someone.else+\(number * 7)@example.org".utf8)
        case .short: (0..<random.below(14)).map { _ in UInt8(random.below(3)) }
        case .alike: Array("the same beginning \(number % 3)".utf8) + random.bytes(12)
        case .lumps: Self.bytes(number % 50 == 0 ? random.next() : 1 << 40 + UInt64(number))
        }
    }

    private static func bytes(_ number: UInt64) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }

    /// A committed tree of its own, without a map, and its content.
    private func tree(_ keys: Keys, count: Int, seed: UInt64) throws -> (
        tree: TreeReader, model: [[UInt8]: [UInt8]]
    ) {
        print("leaf map, \(keys), seed \(seed)")
        let workshop = try TreeWorkshop()
        var random = SeededGenerator(seed: seed)
        var model: [[UInt8]: [UInt8]] = [:]
        for number in 0..<count {
            model[key(keys, number, &random)] = Array("value \(number)".utf8)
        }
        let tree = workshop.tree()
        for (key, value) in model {
            try with(key) { key in _ = try with(value) { try tree.put(key, $0) } }
        }
        let root = try workshop.commit(tree.root)
        let pages = PageReader(workshop.pages.cache, version: 1)
        return (TreeReader(pages: pages, head: TreeHead(root: root)), model)
    }

    /// Looks up a key, and the keys that begin with it.
    private func expect(
        _ key: [UInt8], _ tree: TreeReader, _ model: [[UInt8]: [UInt8]], _ sorted: [[UInt8]]
    ) throws {
        let found = try with(key) { try tree.value(forKey: $0).map(Array.init) }
        #expect(found == model[key], "key \(key)")
        #expect(try with(key) { try tree.contains($0) } == (model[key] != nil))
        var first: [UInt8]?
        try with(key) { prefix in
            try tree.forEachStoredEntry(withPrefix: prefix) { key, _ in
                first = Array(key)
                return false
            }
        }
        let place = sorted.partitioningIndex { !$0.lexicographicallyPrecedes(key) }
        let next = place < sorted.count && sorted[place].starts(with: key) ? sorted[place] : nil
        #expect(first == next, "prefix \(key)")
    }

    /// The key, and others beside it.
    private func neighbours(_ key: [UInt8]) -> [[UInt8]] {
        var all = [key, key + [0], key + [255]]
        guard let last = key.last else { return all }
        all.append(Array(key.dropLast()))
        all.append(key.dropLast() + [last &+ 1])
        all.append(key.dropLast() + [last &- 1])
        all.append([key[0] &+ 1] + key.dropFirst())
        return all
    }

    @Test(arguments: Keys.allCases, [1, 2] as [UInt64])
    func `Every key is found, and no other`(keys: Keys, seed: UInt64) throws {
        let (tree, model) = try tree(keys, count: 3_000, seed: seed)
        let sorted = model.keys.sorted { $0.lexicographicallyPrecedes($1) }
        var random = SeededGenerator(seed: seed)
        for turn in 0..<TreeReader.lookUpsBeforeMap {
            #expect(tree.leafMap == nil, "after \(turn) look-ups")
            let key = sorted[random.below(sorted.count)]
            #expect(try with(key) { try tree.value(forKey: $0).map(Array.init) } == model[key])
        }
        #expect(tree.leafMap != nil)
        // Twice: the second time the leaves are known.
        for _ in 0..<2 {
            for key in sorted.shuffled(using: &random) {
                for key in neighbours(key) { try expect(key, tree, model, sorted) }
            }
        }
        for key in [[], [0], [255], [UInt8](repeating: 255, count: 20)] {
            try expect(key, tree, model, sorted)
        }
        try tree.check(VisitedExtents())
    }

    @Test func `Threads that ask together find the same`() async throws {
        let (tree, model) = try tree(.addresses, count: 6_000, seed: 3)
        let missed = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    var missed = 0
                    for (key, value) in model {
                        let found = try with(key) { try tree.value(forKey: $0).map(Array.init) }
                        missed += found == value ? 0 : 1
                    }
                    return missed
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(missed == 0)
        #expect(tree.leafMap != nil)
        try tree.check(VisitedExtents())
    }

    @Test func `A tree of too few or too many leaves has no map`() throws {
        let (tree, _) = try tree(.numbers, count: 6_000, seed: 4)
        var leaves = 0
        let cursor = LeafCursor(pages: tree.pages, root: tree.root, leafType: .orderedLeaf)
        var target = KeyTarget(key: .lowest)
        var isThere = try cursor.seek(&target)
        while isThere {
            leaves += 1
            isThere = try cursor.next()
        }
        #expect(leaves > 3)
        for (most, has) in [(leaves - 1, false), (leaves, true), (leaves + 1, true)] {
            let map = try LeafMap(of: tree.root, in: tree.pages, mostLeaves: most)
            #expect((map != nil) == has, "\(leaves) leaves, at most \(most)")
        }
        for (count, has) in [(100, false), (6_000, true)] {
            let (tree, model) = try self.tree(.numbers, count: count, seed: 5)
            let key = try #require(model.keys.first)
            for _ in 0..<2 * TreeReader.lookUpsBeforeMap {
                #expect(try with(key) { try tree.value(forKey: $0) } != nil)
            }
            #expect((tree.leafMap != nil) == has)
        }
    }

    @Test func `A tree that is being changed shows each change`() throws {
        let workshop = try TreeWorkshop(), tree = workshop.tree()
        for number in 0..<3_000 as Range<UInt64> {
            let key = Self.bytes(number * 3)
            _ = try with(key) { try tree.put($0, $0) }
            let one = Self.bytes(number / 2 * 3), other = Self.bytes(number / 2 * 3 + 1)
            #expect(try with(one) { try tree.value(forKey: $0) } != nil)
            #expect(try with(other) { try tree.value(forKey: $0) } == nil)
        }
        try tree.check(VisitedExtents())
    }
}

extension Array {
    /// The first place whose element and those behind it satisfy a condition.
    fileprivate func partitioningIndex(_ belongsInSecond: (Element) -> Bool) -> Int {
        var low = 0, high = count
        while low < high {
            let middle = (low + high) / 2
            if belongsInSecond(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
