// Tests: WriteTransaction.swift
import Glibc
import Testing
import ToftPlatform
import ToftTestKit

@testable import ToftStorage

@Suite struct FailedChangeTests {
    private static let count = 3_000

    private static func put(_ key: Int, size: Int, _ transaction: WriteTransaction) throws {
        let value = [UInt8](repeating: 7, count: size)
        try withUnsafeBytes(of: key.bigEndian) { key throws in
            try value.withUnsafeBytes { value throws in
                try transaction.treePut(SystemTree.firstUser, key, value, derived: false)
            }
        }
    }

    /// A file with values of 60 bytes.
    private static func content() throws -> [UInt8] {
        let disk = MemoryFile(name: "failing")
        try Store.format(disk)
        let store = try Store.open(on: WrappedFile(disk), coordinator: Coordinator.inMemory())
        let transaction = try store.beginWrite()
        _ = try transaction.createOrderedTree()
        for key in 0..<count { try put(key, size: 60, transaction) }
        _ = try transaction.commit()
        try store.close()
        return try disk.content()
    }

    /// The sizes of the values, in the order of their keys.
    private static func sizes(_ store: Store) throws -> [Int] {
        let snapshot = try store.beginRead()
        defer { snapshot.release() }
        let cursor = try snapshot.orderedTree(SystemTree.firstUser).cursor()
        var sizes: [Int] = []
        var isThere = try cursor.seekFirst()
        while isThere {
            sizes.append(try cursor.value.count)
            isThere = try cursor.next()
        }
        return sizes
    }

    /// Changes values until a change fails; returns the sizes at that point, nil without a failure.
    private static func change(_ transaction: WriteTransaction) -> [Int]? {
        var sizes = [Int](repeating: 60, count: count)
        for key in stride(from: 0, to: count, by: 40) {
            guard (try? put(key, size: 5_000, transaction)) != nil else { return sizes }
            sizes[key] = 5_000
        }
        return nil
    }

    private static func commits(_ transaction: WriteTransaction) throws -> Bool {
        do {
            _ = try transaction.commit()
            return true
        } catch StorageError.io {
            return false
        }
    }

    /// A failure before a change has begun (its tree could not be opened) lets the transaction
    /// continue; one in the middle does not.
    @Test func `A transaction in which a change has failed halfway is not committed`() throws {
        let content = try Self.content()
        let error = SystemError.io(operation: "any", path: "", errno: EIO)
        var refused = 0
        for index in 0..<80 {
            let faults = FaultFile(try MemoryFile(content: content))
            let store = try Store.open(on: faults, coordinator: Coordinator.inMemory())
            let transaction = try store.beginWrite()
            faults.plan(
                FaultFile.Fault(index: index, isLasting: false, error: error),
                after: faults.operations.count)
            var expected = [Int](repeating: 60, count: Self.count)
            if let changed = Self.change(transaction) {
                faults.repair()
                if try Self.commits(transaction) { expected = changed } else { refused += 1 }
            } else {
                transaction.rollback()
            }
            faults.repair()
            let found = try Self.sizes(store)
            #expect(found == expected, "operation \(index)")
            let next = try store.beginWrite()
            try Self.put(2, size: 62, next)
            _ = try next.commit()
            #expect(try store.check().problems == [])
        }
        #expect(refused > 3)
    }

    @Test func `A mistake of the caller leaves the transaction as it was`() throws {
        let file = try MemoryFile(content: Self.content())
        let store = try Store.open(on: WrappedFile(file), coordinator: Coordinator.inMemory())
        let transaction = try store.beginWrite()
        let key = [UInt8](repeating: 1, count: 2_000)
        #expect(throws: StorageError.self) {
            try key.withUnsafeBytes { key throws in
                try transaction.treePut(SystemTree.firstUser, key, key, derived: false)
            }
        }
        try Self.put(1, size: 61, transaction)
        _ = try transaction.commit()
        #expect(try Self.sizes(store)[1] == 61)
        #expect(try store.check().problems == [])
    }
}
