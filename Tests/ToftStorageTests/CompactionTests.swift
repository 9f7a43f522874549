// Tests: Compaction.swift, CompactionStep.swift, Coordinator+Log.swift, CurrentCall.swift,
// ExtentMove.swift, InsertBufferReader.swift, LongValues.swift
import Testing
internal import ToftPlatform
internal import ToftTestKit

@testable import ToftStorage

/// The space that the last close releases: the log's pages but the first segment, and free pages.
@Suite struct CompactionTests {
    private let tree = Content.directory

    private func value(_ key: Int) -> [UInt8] { [UInt8](repeating: UInt8(key & 0xFF), count: 300) }

    private func put(_ keys: some Sequence<Int>, in store: Store) throws {
        let transaction = try store.beginWrite()
        if try !transaction.view.hasTree(tree) { _ = try transaction.createOrderedTree() }
        for key in keys {
            try withUnsafeBytes(of: key.bigEndian) { bytes throws in
                try value(key).withUnsafeBytes {
                    try transaction.treePut(tree, bytes, $0, derived: false)
                }
            }
        }
        _ = try transaction.commit()
    }

    private func delete(_ keys: some Sequence<Int>, in store: Store) throws {
        let transaction = try store.beginWrite()
        for key in keys {
            _ = try withUnsafeBytes(of: key.bigEndian) {
                try transaction.treeDelete(tree, $0, derived: false)
            }
        }
        _ = try transaction.commit()
    }

    /// The keys that a file holds, each with its value, after the file was checked.
    private func keys(_ store: Store) throws -> [Int] {
        let report = try store.check()
        #expect(report.isSound, "\(report.problems)")
        let snapshot = try store.beginRead()
        defer { snapshot.release() }
        let cursor = try snapshot.orderedTree(tree).cursor()
        var keys: [Int] = []
        var isThere = try cursor.seekFirst()
        while isThere {
            let key = Int(UInt64(bigEndian: cursor.key.loadUnaligned(as: UInt64.self)))
            #expect(try cursor.value.elementsEqual(value(key)))
            keys.append(key)
            isThere = try cursor.next()
        }
        return keys
    }

    private func size(_ path: String) throws -> UInt64 {
        let file = try PosixFile.open(path, forWriting: false)
        defer { try? file.close() }
        return try file.size()
    }

    /// A file of 20,000 entries, in commits that fill the log; every fifth entry is left.
    private func leaveHoles(_ store: Store) throws {
        for start in stride(from: 0, to: 20_000, by: 500) {
            try put(start..<start + 500, in: store)
        }
        for part in 0..<4 {
            try delete((0..<20_000).filter { $0 % 5 != 0 && $0 % 4 == part }, in: store)
        }
        #expect(store.coordinator.log.segments.count > 1)
    }

    private let left = Array(stride(from: 0, to: 20_000, by: 5))

    @Test func `The last close moves what lies behind free pages, and the file gets shorter`()
        throws
    {
        try withTemporaryDatabase { database in
            let store = try database.open()
            try leaveHoles(store)
            let before = try size(database.path)
            try store.close()
            let after = try size(database.path)
            #expect(after < before / 3, "\(before) bytes became \(after)")
            let again = try database.open()
            #expect(try keys(again) == left)
            #expect(try again.file.size() == after)
            #expect(again.coordinator.log.segments.count == 1)
            try put(1..<2, in: again)
            try again.close()
            #expect(try size(database.path) >= after, "a little free space is not worth the work")
            let last = try database.open()
            #expect(try keys(last) == (left + [1]).sorted())
            try last.close()
        }
    }

    @Test func `While a read-only opener reads, nothing is given back`() throws {
        try withTemporaryDatabase { database in
            let store = try database.open()
            try leaveHoles(store)
            var configuration = database.configuration
            configuration.isReadOnly = true
            let child = try PosixFile.open(database.path, forWriting: false)
            defer { try? child.close() }
            let locks = FileLocks(file: child)
            let version = store.latestVersion
            #expect(try locks.takeShared(LockByte.readOnlyPin(version)))
            let before = try size(database.path)
            try store.close()
            #expect(try size(database.path) == before)
            locks.release(LockByte.readOnlyPin(version))
            let again = try database.open()
            #expect(try keys(again) == left)
            try put(1..<2, in: again)
            try again.close()
            #expect(try size(database.path) < before / 3)
        }
    }

    @Test func `A close whose disk fails leaves a file that holds everything`() throws {
        let ground = MemoryFile(name: "ground")
        try Store.format(ground)
        let calls = FaultFile(ground)
        let store = try Store.open(on: calls, coordinator: try Coordinator.inMemory())
        try leaveHoles(store)
        let content = try ground.content()
        let first = calls.operations.count
        try store.close()
        let count = calls.operations.count - first
        #expect(try ground.size() < content.count / 3)
        for index in stride(from: 0, to: count, by: max(1, count / 12)) {
            let file = FaultFile(try MemoryFile(content: content))
            let store = try Store.open(on: file, coordinator: try Coordinator.inMemory())
            let error = SystemError.io(operation: "write", path: "<test>", errno: 5)
            file.plan(
                FaultFile.Fault(index: index, isLasting: true, error: error),
                after: file.operations.count)
            try? store.close()
            file.repair()
            let again = try Store.open(
                on: WrappedFile(file), coordinator: try Coordinator.inMemory())
            #expect(try keys(again) == left, "after the failure of call \(index)")
            try again.close()
        }
    }

    @Test func `A whole compaction leaves nothing in free pages, nor in the log`() throws {
        try withTemporaryDatabase { database in
            /// The number of occurrences of a key's value in the file.
            func count(of key: Int) throws -> Int {
                let file = try PosixFile.open(database.path, forWriting: false)
                defer { try? file.close() }
                var content = [UInt8](repeating: 0, count: Int(try file.size()))
                try content.withUnsafeMutableBytes { try file.read(into: $0, at: 0) }
                var count = 0, length = 0
                for byte in content {
                    length = byte == UInt8(key) ? length + 1 : 0
                    if length == value(key).count { count += 1 }
                }
                return count
            }
            let store = try database.open()
            // Many in one commit are not part of the log, one is.
            try put(0..<3_000, in: store)
            for key in [55, 56] { try delete(CollectionOfOne(key), in: store) }
            try put(CollectionOfOne(56), in: store)
            try delete((0..<3_000).filter { $0 != 55 }, in: store)
            try put([7], in: store)
            try store.close()
            for key in [55, 56, 57] { #expect(try count(of: key) > 0, "\(key)") }
            #expect(try Store.compact(database.path) != nil)
            for key in [55, 56, 57] { #expect(try count(of: key) == 0, "\(key)") }
            let again = try database.open()
            #expect(try keys(again) == [7])
            try again.close()
        }
    }

    // MARK: The insert buffer

    /// Adds entries that wait in the insert buffer.
    private func putAside(_ keys: some Sequence<Int>, in store: Store) throws {
        let transaction = try store.beginWrite()
        for key in keys {
            try withUnsafeBytes(of: key.bigEndian) { bytes throws in
                try value(key).withUnsafeBytes {
                    try transaction.insert(
                        bytes, $0, in: transaction.trees.orderedTree(tree), id: tree,
                        bufferLevel: 0, derived: false)
                }
            }
        }
        _ = try transaction.commit()
    }

    /// The number of waiting entries.
    private func waiting(_ store: Store) throws -> Int {
        let snapshot = try store.beginRead()
        defer { snapshot.release() }
        return try BufferedEntries(snapshot.catalog.insertBuffer(), tree: tree).count
    }

    /// The tree has 12,800 entries; 800 are a sixteenth.
    private let even = Array(stride(from: 0, to: 25_600, by: 2))
    private func odd(_ count: Int) -> [Int] { (0..<count).map { $0 * 32 + 1 } }

    @Test(arguments: [(799, 799), (800, 0), (801, 0)])
    func `The last close gives a tree the entries that wait, where they are a sixteenth`(
        count: Int, left: Int
    ) throws {
        try withTemporaryDatabase { database in
            let store = try database.open()
            try put(even, in: store)
            try putAside(odd(count), in: store)
            #expect(try waiting(store) == count)
            try store.close()
            let again = try database.open()
            #expect(try waiting(again) == left)
            #expect(try keys(again) == (even + odd(count)).sorted())
            try again.close()
            #expect(try Store.compact(database.path) != nil)
            let last = try database.open()
            #expect(try waiting(last) == 0)
            #expect(try keys(last) == (even + odd(count)).sorted())
            try last.close()
        }
    }

    @Test(arguments: [1, 1 << 20, .max] as [UInt64])
    func `Steps give trees the entries that wait, but not beside a reader of an earlier version`(
        byteCount: UInt64
    ) throws {
        try withTemporaryDatabase { database in
            let store = try database.open()
            try put(even, in: store)
            let reader = try store.beginRead()
            try putAside(odd(800), in: store)
            _ = try compact(store, by: byteCount)
            #expect(try waiting(store) == 800)
            reader.release()
            _ = try store.compactStep(movingAtMost: 0)
            #expect(try waiting(store) == 800)
            #expect(try store.compactStep(movingAtMost: byteCount).hasMore)
            // A small step moves a part of them, and those left are fewer than a sixteenth.
            #expect(try waiting(store) < 800)
            #expect(try (waiting(store) == 0) == (byteCount == .max))
            _ = try compact(store, by: byteCount)
            #expect(try keys(store) == (even + odd(800)).sorted())
            try store.close()
        }
    }

    // MARK: In steps, beside others

    /// Makes steps until nothing is left to do, and returns their number.
    private func compact(_ store: Store, by byteCount: UInt64) throws -> Int {
        var steps = 0
        while try store.compactStep(movingAtMost: byteCount).hasMore {
            steps += 1
            try #require(steps < 10_000, "the steps do not end")
        }
        return steps
    }

    @Test(arguments: [1, 256 << 10, 1 << 20, .max] as [UInt64])
    func `Steps move what lies at the end, and each gives back what the one before has moved`(
        byteCount: UInt64
    ) throws {
        try withTemporaryDatabase { database in
            let store = try database.open()
            try leaveHoles(store)
            try store.checkpoint()
            let before = try store.file.size()
            let first = try store.compactStep(movingAtMost: byteCount)
            // If the last checkpoint has left only the log at the end, that moves.
            #expect(first.hasMore && first.heldSize == 0 && first.sizeBefore == before)
            // One extent more at most, and a step of less than 256 KiB counts as that.
            #expect(first.movedSize <= min(max(byteCount, 256 << 10), before) + 65_536)
            let second = try store.compactStep(movingAtMost: byteCount)
            #expect(second.sizeAfter < before)
            #expect(try keys(store) == left)
            _ = try compact(store, by: byteCount)
            let after = try store.file.size()
            #expect(after < before / 3, "\(before) bytes became \(after)")
            #expect(store.coordinator.published.fileSize == after)
            #expect(try keys(store) == left)
            let version = store.latestVersion
            let last = try store.compactStep(movingAtMost: byteCount)
            #expect(last == CompactionStep(sizeBefore: after, sizeAfter: after))
            #expect(store.latestVersion == version, "nothing to do, nothing committed")
            try put(1..<2, in: store)
            try store.close()
            let again = try database.open()
            #expect(try keys(again) == (left + [1]).sorted())
            try again.close()
        }
    }

    @Test func `A step of no bytes only gives back what is free at the end`() throws {
        try withTemporaryDatabase { database in
            let store = try database.open()
            try leaveHoles(store)
            try store.checkpoint()
            let first = try store.compactStep(movingAtMost: .max)
            let step = try store.compactStep(movingAtMost: 0)
            #expect(step.movedSize == 0 && !step.hasMore && step.heldSize == 0)
            #expect(step.sizeAfter < first.sizeAfter)
            #expect(try keys(store) == left)
            try store.close()
        }
    }

    @Test func `What a reader needs stays, is reported, and goes when the reader does`() throws {
        try withTemporaryDatabase { database in
            let store = try database.open()
            try put(0..<20_000, in: store)
            try store.checkpoint()
            let reader = try store.beginRead()
            try delete((0..<20_000).filter { $0 % 5 != 0 }, in: store)
            try store.checkpoint()
            _ = try compact(store, by: 1 << 20)
            let held = try store.compactStep(movingAtMost: 1 << 20)
            #expect(held.heldSize > 1 << 20 && held.sizeAfter == held.sizeBefore && !held.hasMore)
            let cursor = try reader.orderedTree(tree).cursor()
            var count = 0
            var isThere = try cursor.seekFirst()
            while isThere {
                count += 1
                isThere = try cursor.next()
            }
            #expect(count == 20_000)
            #expect(try StoreCheck.run(reader).isSound)
            reader.release()
            _ = try compact(store, by: 1 << 20)
            #expect(try store.file.size() < held.sizeAfter / 2)
            #expect(try keys(store) == left)
            try store.close()
        }
    }

    @Test func `The log moves from the end, and a version from before knows where it was`()
        throws
    {
        try withTemporaryDatabase { database in
            let store = try database.open()
            try put(0..<20_000, in: store)
            // The log grows behind all that.
            for start in stride(from: 20_000, to: 30_000, by: 500) {
                try put(start..<start + 500, in: store)
            }
            #expect(store.coordinator.log.segments.count > 1)
            try delete((0..<30_000).filter { $0 % 5 != 0 || $0 >= 20_000 }, in: store)
            try store.checkpoint()
            let reader = try store.beginRead()
            let before = store.coordinator.log.segments
            _ = try compact(store, by: 1 << 20)
            #expect(store.coordinator.log.segments != before)
            #expect(try StoreCheck.run(reader).isSound)
            try reader.writeCopy(to: database.path + ".copy")
            reader.release()
            _ = try compact(store, by: 1 << 20)
            for start in stride(from: 1, to: 2_000, by: 5) { try put(start..<start + 1, in: store) }
            let wanted = (left + stride(from: 1, to: 2_000, by: 5)).sorted()
            #expect(try keys(store) == wanted)
            try store.close()
            let again = try database.open()
            #expect(try keys(again) == wanted)
            try again.close()
        }
    }

    @Test func `Long values move too, and clusters beside them`() throws {
        try withTemporaryDatabase { database in
            let store = try database.open()
            func fill(_ keys: some Sequence<Int>, _ length: (Int) -> Int) throws {
                let transaction = try store.beginWrite()
                if try !transaction.view.hasTree(tree) {
                    _ = try transaction.createOrderedTree()
                }
                for key in keys {
                    try withUnsafeBytes(of: key.bigEndian) { bytes throws in
                        try [UInt8](repeating: UInt8(key & 0xFF), count: length(key))
                            .withUnsafeBytes {
                                try transaction.treePut(tree, bytes, $0, derived: false)
                            }
                    }
                }
                _ = try transaction.commit()
            }
            for key in 0..<400 { try fill(key..<key + 1) { 20_000 + $0 * 10 } }
            try delete((0..<400).filter { $0 % 4 != 3 }, in: store)
            let before = try store.file.size()
            _ = try compact(store, by: 1 << 18)
            #expect(try store.file.size() < before / 2)
            let report = try store.check()
            #expect(report.isSound, "\(report.problems)")
            let snapshot = try store.beginRead()
            defer { snapshot.release() }
            for key in stride(from: 3, to: 400, by: 4) {
                try withUnsafeBytes(of: key.bigEndian) { bytes throws in
                    let value = try #require(try snapshot.orderedTree(tree).value(forKey: bytes))
                    #expect(value.count == 20_000 + key * 10)
                    #expect(value.allSatisfy { $0 == UInt8(key & 0xFF) })
                }
            }
        }
    }
}
