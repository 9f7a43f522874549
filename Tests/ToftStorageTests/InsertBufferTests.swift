// Tests: InsertBuffer.swift, BufferKey.swift, Catalog.swift, CatalogWriter.swift,
// DirtyPages.swift, InsertBuffer+Check.swift, InsertBufferPolicy.swift, LeafEntryCursor.swift,
// MergingCursor.swift, OrderedLeaf.swift, OrderedLeafEditor.swift, OrderedLeafForms.swift,
// SequenceWriters.swift, SortedBatches.swift, TreeCursor.swift, TreePath.swift, TreeWriter.swift,
// TreeWriters.swift
import Synchronization
import Testing
import ToftTestKit

import ToftPlatform
@testable import ToftStorage

/// Trees whose new entries wait in the insert buffer, against plain dictionaries.
@Suite struct InsertBufferTests {
    /// An insert buffer so small that entries move on all the time.
    private static func store(dirtyLimit: Int = StoreLimit.dirtyBytes) throws -> Store {
        let file = MemoryFile(name: "insert-buffer")
        try Store.format(file)
        return tight(
            try Store.open(on: file, coordinator: Coordinator.inMemory(), dirtyLimit: dirtyLimit))
    }

    private static func tight(_ store: Store) -> Store {
        store.insertBuffer.withLock { state in
            state.policy.limits = [10, 40, 120, 300, 900]
            state.policy.compactionBatch = 8
            state.policy.smallestTree = 0
            state.policy.treeToBatchRatio = 1
            state.policy.treeToShareRatio = 1
        }
        return store
    }

    @Test(arguments: [1, 0], [StoreLimit.dirtyBytes, 0])
    func `Random entries are found wherever they lie`(given: UInt64, dirtyLimit: Int) throws {
        var seed = given == 0 ? Seed.random() : Seed(given)
        let first = try Self.store(dirtyLimit: dirtyLimit)
        var store = first
        var model = Model()
        for _ in 0..<25 {
            let transaction = try store.beginWrite()
            var changed = model
            try changed.change(transaction, &seed)
            try changed.compare(transaction.view, &seed)
            if seed.chance(20) {
                transaction.rollback()
            } else {
                _ = try transaction.commit()
                model = changed
            }
            if seed.chance(20) { store = Self.tight(first.twin()) }
            try model.compare(try store.beginRead(), &seed)
            #expect(try store.check().problems == [], "\(seed)")
        }
        #expect(
            try store.beginRead().hasTree(try #require(SystemTree.insertBuffer.last)),
            "\(seed): no entry came to the last level")
    }

    @Test func `Dropped trees leave nothing in the insert buffer`() throws {
        let store = try Self.store()
        let transaction = try store.beginWrite()
        let first = try transaction.createOrderedTree(),
            second = try transaction.createOrderedTree()
        for number in 0..<2_000 {
            try TreeKey.with(TreeID(UInt64(number))) { key throws(StorageError) in
                for id in [first, second] {
                    try transaction.insert(
                        key, key, in: transaction.trees.orderedTree(id), id: id, bufferLevel: 0,
                        derived: true)
                }
            }
        }
        _ = try transaction.commit()
        let next = try store.beginWrite()
        try next.dropTree(first)
        _ = try next.commit()
        #expect(try store.check().problems == [])
        #expect(try store.beginRead().orderedTree(second).count == 2_000)
    }

    @Test func `New entries of a large tree rewrite few pages`() throws {
        let store = try Store.open(
            StoreConfiguration(location: .memory(name: "insert-buffer-large")))
        var seed = Seed(1)
        var transaction = try store.beginWrite()
        let id = try transaction.createOrderedTree()
        for number in 0..<30_000 {
            try TreeKey.with(TreeID(UInt64(number) << 32)) { key throws(StorageError) in
                try transaction.treePut(id, key, key, derived: true)
            }
        }
        _ = try transaction.commit()

        func pages(level: (TreeWriter) -> Int?) throws -> Int {
            transaction = try store.beginWrite()
            defer { transaction.rollback() }
            let tree = try transaction.trees.orderedTree(id)
            for _ in 0..<200 {
                let number = UInt64(seed.below(30_000)) << 32 | UInt64(seed.below(1 << 30) + 1)
                try TreeKey.with(TreeID(number)) { key throws(StorageError) in
                    try transaction.insert(
                        key, key, in: tree, id: id, bufferLevel: level(tree), derived: true)
                }
            }
            return transaction.pages.working.extents.bytes / Page.size
        }
        #expect(try pages { _ in nil } > 100)
        #expect(try pages { $0.bufferLevel(forBatchOf: 200) } < 10)
        transaction = try store.beginWrite()
        #expect(try transaction.trees.orderedTree(id).bufferLevel(forBatchOf: 30_000) == nil)
        transaction.rollback()
        #expect(try store.check().problems == [])
    }

    @Test func `One new entry after the other costs few pages each`() throws {
        let store = try Store.open(
            StoreConfiguration(location: .memory(name: "insert-buffer-one-by-one")))
        var seed = Seed(1)
        let first = try store.beginWrite()
        let id = try first.createOrderedTree()
        for number in 0..<20_000 {
            try TreeKey.with(TreeID(UInt64(number) << 32)) { key throws(StorageError) in
                try first.treePut(id, key, key, derived: true)
            }
        }
        _ = try first.commit()

        var pages: [Int] = []
        for _ in 0..<3_000 {
            let transaction = try store.beginWrite()
            let batch = try transaction.entryBatch(of: id, count: 1, derived: true)
            let number = UInt64(seed.below(20_000)) << 32 | UInt64(seed.below(1 << 30) + 1)
            try TreeKey.with(TreeID(number)) { key throws(StorageError) in
                try batch.insert(key, key)
            }
            try transaction.compactInsertBuffer()
            pages.append(transaction.pages.working.extents.bytes / Page.size)
            _ = try transaction.commit()
        }
        pages.sort()
        #expect(pages[pages.count / 2] == 1, "an ordinary commit")
        #expect(pages[pages.count * 99 / 100] <= 16, "one of a hundred")
        let snapshot = try store.beginRead()
        for (level, most) in [(0, 80 + 42), (1, 1_024 + 160)] {
            let id = SystemTree.insertBuffer[level]
            let count = try InsertBufferReader.level(id, in: snapshot.catalog)?.count ?? 0
            #expect(count > 0 && count <= most, "level \(level)")
        }
        #expect(try snapshot.orderedTree(id).count == 23_000)
        #expect(try store.check().problems == [])
    }

    // MARK: Damage

    @Test func `The check finds entries that lie in two places`() throws {
        try expectProblem("lies elsewhere, too") { transaction, id, key in
            let tree = try transaction.trees.orderedTree(id)
            try tree.insert(key, key, bufferLevel: nil)
            try tree.insert(key, key, bufferLevel: 0)
        }
        try expectProblem("lies elsewhere, too") { transaction, id, key in
            for level in [0, 1] {
                try BufferKey(tree: id).with(key) { key throws(StorageError) in
                    try Self.put(key, level, transaction)
                }
            }
        }
    }

    @Test func `The check finds entries of no tree`() throws {
        try expectProblem("which is not there") { transaction, id, key in
            try BufferKey(tree: id + 1).with(key) { key throws(StorageError) in
                try Self.put(key, 0, transaction)
            }
        }
        for head in [[UInt8](), [0], [9], [1], [2, 0, 16], [1, 3]] {
            try expectProblem("names no tree") { transaction, _, _ in
                try head.withBytes { key throws(StorageError) in try Self.put(key, 0, transaction) }
            }
        }
    }

    private static func put(
        _ key: UnsafeRawBufferPointer, _ level: Int, _ transaction: WriteTransaction
    ) throws(StorageError) {
        for id in SystemTree.insertBuffer[...level] { try transaction.trees.ensureSystemTree(id) }
        try transaction.trees.orderedTree(SystemTree.insertBuffer[level]).put(key, key)
    }

    private func expectProblem(
        _ words: String, _ damage: (WriteTransaction, TreeID, UnsafeRawBufferPointer) throws -> Void
    ) throws {
        let store = try Self.store()
        let transaction = try store.beginWrite()
        let id = try transaction.createOrderedTree()
        try with(Array("key".utf8)) { try damage(transaction, id, $0) }
        _ = try transaction.commit()
        let problems = try store.check().problems
        #expect(problems.contains { $0.contains(words) }, "\(problems)")
    }

    @Test func `Keys of the delta say their tree`() throws {
        for id in [16, 255, 256, 65_535, 65_536, TreeID.max] {
            let key = BufferKey(tree: id)
            try with(Array("abc".utf8)) { own in
                try key.with(own) { whole throws(StorageError) in
                    #expect(BufferKey.split(whole)?.tree == id)
                    #expect(key.rest(of: whole).map(Array.init) == Array("abc".utf8))
                    #expect(BufferKey(tree: TreeID(id.rawValue - 1)).rest(of: whole) == nil)
                    try key.withEnd { end throws(StorageError) in
                        #expect(Array(whole).lexicographicallyPrecedes(Array(end)))
                        #expect(key.rest(of: end) == nil)
                    }
                }
            }
        }
    }
}

/// The content of some trees.
private struct Model {
    private var trees: [TreeID: [[UInt8]: [UInt8]]] = [:]

    mutating func change(_ transaction: WriteTransaction, _ seed: inout Seed) throws {
        while trees.count < 3 { trees[try transaction.createOrderedTree()] = [:] }
        for _ in 0..<3 {
            guard let id = seed.pick(trees.keys.sorted()) else { return }
            if seed.chance(3) {
                try transaction.dropTree(id)
                trees[id] = nil
                return
            }
            let known = keys(of: id)
            for _ in 0..<seed.below(250) { try changeOne(id, known, transaction, &seed) }
        }
    }

    private func keys(of id: TreeID) -> [[UInt8]] {
        (trees[id] ?? [:]).keys.sorted { $0.lexicographicallyPrecedes($1) }
    }

    private mutating func changeOne(
        _ id: TreeID, _ known: [[UInt8]], _ transaction: WriteTransaction, _ seed: inout Seed
    ) throws {
        let tree = try transaction.trees.orderedTree(id)
        var key = seed.bytes(1 + seed.below(3)) + Array("key".utf8)
        if seed.chance(1) { key += seed.bytes(505) }
        if seed.chance(25), let some = seed.pick(known) { key = some }
        let wasThere = trees[id]?[key] != nil
        let value = seed.bytes(seed.chance(1) ? 2_000 : seed.below(30))
        try with(key) { key in
            if wasThere, seed.chance(70) {
                #expect(try transaction.treeDelete(id, key, derived: true), "\(seed)")
            } else {
                let level = seed.chance(20) ? nil : seed.below(3)
                try with(value) {
                    if wasThere || seed.chance(30) {
                        try transaction.treePut(id, key, $0, derived: true)
                    } else {
                        try transaction.insert(
                            key, $0, in: tree, id: id, bufferLevel: level, derived: true)
                    }
                }
            }
        }
        trees[id]?[key] = try with(key) {
            try tree.reader.value(forKey: $0).map(Array.init)
        }
        #expect(trees[id]?[key] == nil || trees[id]?[key] == value, "\(seed)")
    }

    func compare(_ snapshot: Snapshot, _ seed: inout Seed) throws {
        for (id, entries) in trees.sorted(by: { $0.key < $1.key }) {
            let tree = try snapshot.orderedTree(id)
            let keys = keys(of: id)
            #expect(try tree.count == keys.count, "\(seed)")
            try compareOrder(tree, keys, entries, "\(seed)")
            for _ in 0..<20 { try compareWalk(tree, keys, &seed) }
            for _ in 0..<20 { try comparePrefix(tree, keys, entries, &seed) }
        }
    }

    private func compareOrder(
        _ tree: TreeReader, _ keys: [[UInt8]], _ entries: [[UInt8]: [UInt8]], _ comment: Comment
    ) throws {
        let cursor = try tree.cursor()
        var found: [[UInt8]] = []
        var isThere = try cursor.seekFirst()
        while isThere {
            found.append(Array(cursor.key))
            #expect(Array(try cursor.value) == entries[Array(cursor.key)], comment)
            isThere = try cursor.next()
        }
        #expect(found == keys, comment)
        isThere = try cursor.seekLast()
        while isThere {
            #expect(Array(cursor.key) == found.popLast(), comment)
            isThere = try cursor.previous()
        }
        #expect(found.isEmpty, comment)
    }

    private func comparePrefix(
        _ tree: TreeReader, _ keys: [[UInt8]], _ entries: [[UInt8]: [UInt8]], _ seed: inout Seed
    ) throws {
        let prefix =
            seed.chance(50)
            ? Array((seed.pick(keys) ?? []).prefix(1 + seed.below(8)))
            : seed.bytes(1 + seed.below(2))
        var found: [[UInt8]] = []
        try with(prefix) { prefix in
            try tree.forEachStoredEntry(withPrefix: prefix) { key, value in
                found.append(Array(key))
                #expect(Array(value) == entries[Array(key)], "\(seed)")
                return true
            }
        }
        #expect(found == keys.filter { $0.starts(with: prefix) }, "\(seed)")
    }

    /// Goes somewhere and walks to and fro.
    private func compareWalk(_ tree: TreeReader, _ keys: [[UInt8]], _ seed: inout Seed) throws {
        let key = seed.chance(50) ? seed.pick(keys) ?? [] : seed.bytes(2)
        let rank = keys.firstIndex { !$0.lexicographicallyPrecedes(key) } ?? keys.count
        let isThere = rank < keys.count && keys[rank] == key
        let cursor = try tree.cursor()
        var place: Int
        switch seed.below(3) {
        case 0: (place, _) = (rank, try with(key) { try cursor.seek($0) })
        case 1:
            (place, _) = (isThere ? rank + 1 : rank, try with(key) { try cursor.seek(after: $0) })
        default: (place, _) = (rank - 1, try with(key) { try cursor.seek(before: $0) })
        }
        #expect(try with(key) { try tree.rank(of: $0) } == rank, "\(seed)")
        #expect(try with(key) { try tree.contains($0) } == isThere, "\(seed)")
        for _ in 0..<12 {
            let isInside = keys.indices.contains(place)
            #expect(cursor.isValid == isInside, "\(seed)")
            guard isInside else { return }
            #expect(Array(cursor.key) == keys[place], "\(seed)")
            if seed.chance(50) {
                place += 1
                _ = try cursor.next()
            } else {
                place -= 1
                _ = try cursor.previous()
            }
        }
    }
}
