// Tests: RecordReader.swift, Store+Deletion.swift
import Testing

import ToftPlatform
@testable import ToftStorage

/// Transactions and snapshots of a store, on a file in memory, with ordered trees as the contents.
@Suite struct StoreTests {
    private static func store(dirtyLimit: Int = StoreLimit.dirtyBytes) throws -> Store {
        let file = MemoryFile(name: "test")
        try Store.format(file)
        return try Store.open(on: file, coordinator: Coordinator.inMemory(), dirtyLimit: dirtyLimit)
    }

    private static func expectSound(_ store: Store, _ comment: Comment? = nil) throws {
        let report = try store.check()
        #expect(report.problems.isEmpty, comment)
    }

    private static func put(
        _ key: String, _ value: [UInt8], _ tree: TreeID, _ transaction: WriteTransaction
    ) throws {
        try Array(key.utf8).withUnsafeBytes { key in
            try value.withUnsafeBytes { value in
                try transaction.treePut(tree, key, value, derived: false)
            }
        }
    }

    private static func contents(_ tree: TreeID, of snapshot: Snapshot) throws -> [String: [UInt8]]
    {
        var contents: [String: [UInt8]] = [:]
        let cursor = try snapshot.orderedTree(tree).cursor()
        var isThere = try cursor.seekFirst()
        while isThere {
            contents[String(decoding: cursor.key, as: UTF8.self)] = Array(try cursor.value)
            isThere = try cursor.next()
        }
        return contents
    }

    @Test func `What is committed is there and what is rolled back is not`() throws {
        let store = try Self.store()
        var transaction = try store.beginWrite()
        let tree = try transaction.createOrderedTree()
        try Self.put("a", [1], tree, transaction)
        let first = try transaction.commit()

        transaction = try store.beginWrite()
        try Self.put("a", [2], tree, transaction)
        try Self.put("b", [3], tree, transaction)
        #expect(try Self.contents(tree, of: transaction.view) == ["a": [2], "b": [3]])
        transaction.rollback()

        let snapshot = try store.beginRead()
        #expect(snapshot.version == first)
        #expect(try Self.contents(tree, of: snapshot) == ["a": [1]])
        try Self.expectSound(store)
    }

    @Test func `A transaction without changes makes no version`() throws {
        let store = try Self.store()
        let before = store.latestVersion
        #expect(try store.beginWrite().commit() == before)
        #expect(store.latestVersion == before)
    }

    @Test func `A snapshot stays as it was while others commit`() throws {
        let store = try Self.store()
        var transaction = try store.beginWrite()
        let tree = try transaction.createOrderedTree()
        for index in 0..<2000 {
            try Self.put("key \(index)", [UInt8](repeating: 7, count: 20), tree, transaction)
        }
        _ = try transaction.commit()
        let pinned = try store.beginRead()
        let before = try Self.contents(tree, of: pinned)

        for round in 0..<100 {
            transaction = try store.beginWrite()
            for index in 0..<20 {
                try Self.put(
                    "key \((index * 97 + round * 31) % 2000)", [UInt8(round)], tree, transaction)
            }
            _ = try transaction.commit()
        }
        #expect(try Self.contents(tree, of: pinned) == before)
        try Self.expectSound(store, "with a pinned snapshot")
        pinned.release()
        let size = try store.file.size()
        for round in 0..<100 {
            transaction = try store.beginWrite()
            for index in 0..<20 {
                try Self.put(
                    "key \((index * 97 + round * 31) % 2000)", [UInt8(round)], tree, transaction)
            }
            _ = try transaction.commit()
        }
        #expect(try store.file.size() == size, "what the snapshot held is reused")
        try Self.expectSound(store)
    }

    @Test(arguments: [1, 2, 3]) func `Random transactions agree with a dictionary`(seed: UInt64)
        throws
    {
        var random = SplitMix(seed: seed)
        let store = try Self.store(dirtyLimit: seed == 2 ? 0 : StoreLimit.dirtyBytes)
        var transaction = try store.beginWrite()
        let tree = try transaction.createOrderedTree()
        _ = try transaction.commit()
        var model: [String: [UInt8]] = [:]
        for _ in 0..<60 {
            transaction = try store.beginWrite()
            var changed = model
            for _ in 0..<Int(random.next() % 60) {
                let key = "k\(random.next() % 300)"
                if random.next() % 3 == 0 {
                    _ = try Array(key.utf8).withUnsafeBytes {
                        try transaction.treeDelete(tree, $0, derived: false)
                    }
                    changed[key] = nil
                } else {
                    let value = [UInt8](
                        repeating: UInt8(truncatingIfNeeded: random.next()),
                        count: Int(random.next() % 12) == 0 ? 5000 : 30)
                    try Self.put(key, value, tree, transaction)
                    changed[key] = value
                }
            }
            if random.next() % 4 == 0 {
                transaction.rollback()
            } else {
                _ = try transaction.commit()
                model = changed
            }
            let snapshot = try store.beginRead()
            #expect(try Self.contents(tree, of: snapshot) == model, "seed \(seed)")
            try Self.expectSound(store, "seed \(seed)")
        }
    }

    @Test func `A copy of the bytes has what was committed`() throws {
        let file = MemoryFile(name: "first")
        try Store.format(file)
        let store = try Store.open(on: file, coordinator: Coordinator.inMemory())
        let transaction = try store.beginWrite()
        let tree = try transaction.createOrderedTree()
        try Self.put("a", [1], tree, transaction)
        let version = try transaction.commit()

        let copy = MemoryFile(name: "copy")
        let bytes = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Int(try file.size()), alignment: 16)
        defer { bytes.deallocate() }
        try file.read(into: bytes, at: 0)
        try copy.write(UnsafeRawBufferPointer(bytes), at: 0)
        let again = try Store.open(on: copy, coordinator: Coordinator.inMemory())
        #expect(
            again.latestVersion > version,
            "recovery skips versions that a dead writer may have claimed")
        #expect(try Self.contents(tree, of: again.beginRead()) == ["a": [1]])
        try Self.expectSound(again)
    }

    @Test func `Records tell what each commit did`() throws {
        let store = try Self.store()
        let start = try store.beginRead()
        var transaction = try store.beginWrite()
        let tree = try transaction.createOrderedTree()
        try Self.put("a", [1], tree, transaction)
        let first = try transaction.commit()
        transaction = try store.beginWrite()
        try Self.put("b", [1], tree, transaction)
        let second = try transaction.commit()
        let records = try #require(try store.beginRead().records(after: start.version))
        #expect(records.map(\.version) == [first, second])
        var kinds: [Effect.Kind] = []
        for record in records { record.forEach { kinds.append($0.kind) } }
        #expect(kinds == [.treeCreate, .treePut, .treePut])
        #expect(try store.beginRead().records(after: second)?.isEmpty == true)
    }
}
