import Testing
internal import ToftPlatform
internal import ToftTestKit

@testable import ToftStorage

/// What the last close gives back: the log's pages but the first segment, and free pages.
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

    /// A file of 20,000 entries, in commits that fill the log, of which every fifth is left.
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
}
