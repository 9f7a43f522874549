// Tests: FileLocks.swift, ForkGuard.swift
internal import Glibc
internal import Synchronization
import Testing
@testable import ToftStorage
@testable import ToftPlatform
internal import ToftTestKit

/// The reports of closing, and the files that it leaves.
struct CloseTests {
    /// A database on a disk that can fail, with one durable commit.
    private struct Database {
        let disk: FragileFile
        let file: FaultFile
        let store: Store

        init(_ after: FragileFile.AfterFailure = .cacheKeepsThem) throws {
            let ground = MemoryFile(name: "ground")
            try Store.format(ground)
            disk = try FragileFile(content: ground.content(), afterFailure: after)
            file = FaultFile(disk)
            store = try Store.open(on: file, coordinator: try Coordinator.inMemory())
            try Self.put(0, in: store)
        }

        static func put(_ number: UInt8, in store: Store, _ durability: Durability = .immediate)
            throws
        {
            let transaction = try store.beginWrite()
            if try !transaction.view.hasTree(Content.directory) {
                _ = try transaction.createOrderedTree()
            }
            try [number].withUnsafeBytes { bytes throws in
                try transaction.treePut(Content.directory, bytes, bytes, derived: false)
            }
            _ = try transaction.commit(durability)
        }

        func put(_ number: UInt8, _ durability: Durability = .immediate) throws {
            try Self.put(number, in: store, durability)
        }

        /// Every operation from now on, but for the first `count`, fails until `repair`.
        func breakDisk(after count: Int = 0) {
            let error = SystemError.io(operation: "fdatasync", path: "<test>", errno: EIO)
            file.plan(
                FaultFile.Fault(index: count, isLasting: true, error: error),
                after: file.operations.count)
        }

        /// The numbers that a database with this content holds, after it was checked.
        static func numbers(on file: any StorageFile) throws -> [UInt8] {
            let store = try Store.open(on: file, coordinator: try Coordinator.inMemory())
            let report = try store.check()
            #expect(report.isSound, "\(report.problems)")
            let snapshot = try store.beginRead()
            defer { snapshot.release() }
            let tree = try snapshot.orderedTree(Content.directory)
            return try (0..<10).filter { number in
                try [UInt8(number)].withUnsafeBytes { try tree.value(forKey: $0) != nil }
            }
        }
    }

    @Test(arguments: FragileFile.AfterFailure.allCases)
    func `Deferred commits that can't be synced at the last close have an unknown outcome`(
        _ after: FragileFile.AfterFailure
    ) throws {
        let database = try Database(after)
        try database.put(1, .deferred)
        database.breakDisk()
        #expect {
            try database.store.close()
        } throws: {
            if case StorageError.commitOutcomeUnknown = $0 { true } else { false }
        }
        database.file.repair()
        #expect(try [[0], [0, 1]].contains(Database.numbers(on: WrappedFile(database.disk))))
        #expect(
            try [[0], [0, 1]].contains(
                Database.numbers(on: try MemoryFile(content: database.disk.device))))
    }

    @Test func `Deferred commits whose sync failed before the close are reported by it`() throws {
        let database = try Database()
        try database.put(1, .deferred)
        // A write transaction requests the file's size first, which is not a sync.
        database.breakDisk(after: 1)
        #expect(throws: StorageError.self) { try database.store.flush() }
        database.file.repair()
        #expect {
            try database.store.close()
        } throws: {
            if case StorageError.commitOutcomeUnknown = $0 { true } else { false }
        }
        #expect(try Database.numbers(on: WrappedFile(database.disk)).first == 0)
    }

    @Test func `When all is durable, close names the call that could not mark the file`() throws {
        let database = try Database()
        try database.put(1)
        database.breakDisk()
        #expect(
            throws: StorageError.io(operation: "fdatasync", path: "<test>", errno: EIO)
        ) { try database.store.close() }
        database.file.repair()
        #expect(
            try Database.numbers(on: try MemoryFile(content: database.disk.device)) == [0, 1])
    }

    @Test func `After a failed sync that was reported the close says so once more`() throws {
        let database = try Database()
        database.breakDisk()
        #expect(throws: StorageError.self) { try database.put(1) }
        let isPoisoned = database.store.coordinator.isPoisoned
        database.file.repair()
        if isPoisoned {
            #expect(throws: StorageError.poisoned) { try database.store.close() }
        } else {
            try database.store.close()
        }
        #expect(throws: StorageError.closed) { try database.put(2) }
        #expect(throws: StorageError.closed) { _ = try database.store.beginRead() }
        try database.store.close()
    }

    @Test
    func `While a version is read, close makes deferred commits durable and the file stays open`()
        throws
    {
        let database = try Database()
        let snapshot = try database.store.beginRead()
        try database.put(1, .deferred)
        try database.store.close()
        #expect(!database.store.isClosed)
        #expect(
            try Database.numbers(on: try MemoryFile(content: database.disk.device)) == [0, 1])
        #expect(try snapshot.hasTree(Content.directory))
        snapshot.release()
    }

    @Test func `While a version is read, close reports what it could not make durable`() throws {
        let database = try Database()
        let snapshot = try database.store.beginRead()
        try database.put(1, .deferred)
        database.breakDisk()
        #expect {
            try database.store.close()
        } throws: {
            if case StorageError.commitOutcomeUnknown = $0 { true } else { false }
        }
        snapshot.release()
        database.file.repair()
        #expect(
            try [[0], [0, 1]].contains(
                Database.numbers(on: try MemoryFile(content: database.disk.device))))
    }

    @Test func `The last of those who opened a file leaves it, and it is clean`() throws {
        try withTemporaryDirectory { directory in
            let configuration = StoreConfiguration(location: .file(path: directory + "/a.toft"))
            let first = try Store.open(configuration)
            let second = try Store.open(configuration)
            #expect(first === second)
            try Database.put(1, in: first)
            try first.close()
            try Database.put(2, in: second)
            try second.close()
            #expect(first.isClosed)
            #expect(throws: StorageError.closed) { try Database.put(3, in: second) }
            let file = try PosixFile.open(directory + "/a.toft", forWriting: false)
            #expect(
                try MetaPage.newest(fromDevice: false, of: DataFile(file))?.meta.isClosedCleanly
                    == true)
            #expect(try FileLocks(file: file).firstHeldByOthers(in: 0..<Int64.max - 1) == nil)
            let third = try Store.open(configuration)
            #expect(third !== first)
            try Database.put(3, in: third)
            #expect(try third.check().isSound)
            try third.close()
        }
    }

    /// Each opening synced the file, which takes milliseconds, even if nothing was written.
    @Test func `A file that was closed cleanly is opened, read and closed without a sync`() throws {
        let database = try Database()
        try database.store.close()
        let file = FaultFile(database.disk)
        #expect(try Database.numbers(on: file) == [0])
        let changing: Set<FaultFile.Operation> = [.write, .writeDurably, .sync, .grow, .truncate]
        func changes() -> [FaultFile.Operation] { file.operations.filter(changing.contains) }
        #expect(changes().isEmpty, "\(changes())")
        let store = try Store.open(on: file, coordinator: try Coordinator.inMemory())
        let transaction = try store.beginWrite()
        transaction.rollback()
        #expect(changes() == [.sync], "what was read is certainly on the disk then")
        try Database.put(1, in: store)
        #expect(changes().count > 1)
        try store.close()
        #expect(try Database.numbers(on: file) == [0, 1])
    }

    @Test func `A file opens at once while another one waits for its attach lock`() throws {
        try withTemporaryDirectory { directory in
            let held = StoreConfiguration(location: .file(path: directory + "/held.toft"))
            let free = StoreConfiguration(location: .file(path: directory + "/free.toft"))
            for configuration in [held, free] {
                let store = try Store.open(configuration)
                try Database.put(1, in: store)
                try store.close()
            }
            // Another process that recovers the file holds this byte.
            let other = try PosixFile.open(directory + "/held.toft", forWriting: true)
            let locks = FileLocks(file: other)
            #expect(try locks.takeExclusive(LockByte.attach))
            let opened = Mutex<[ObjectIdentifier]>([])
            let waiting = try (0..<2).map { _ in
                try PlatformThread(name: "opens") {
                    guard let store = try? Store.open(held) else { return }
                    opened.withLock { $0.append(ObjectIdentifier(store)) }
                    usleep(200_000)
                    try? store.close()
                }
            }
            usleep(300_000)
            let start = MonotonicClock.nanoseconds
            for _ in 0..<20 {
                let store = try Store.open(free)
                try Database.put(2, in: store)
                try store.close()
            }
            #expect(opened.withLock { $0.isEmpty })
            #expect(MonotonicClock.nanoseconds - start < 20_000_000_000)
            locks.release(LockByte.attach)
            for thread in waiting { thread.join() }
            // Both have waited for the one attach, and share its store.
            #expect(opened.withLock { $0.count } == 2)
            #expect(opened.withLock { Set($0).count } == 1)
            #expect(try Store.open(free).check().isSound)
        }
    }

    @Test(arguments: [0, 1, 4, 4096])
    func `A table of descriptors takes as many as it has room for, and says so at the next`(
        _ limit: Int
    ) {
        let table = DescriptorTable(limit: limit)
        for descriptor in 0..<limit { #expect(table.add(UInt64(descriptor + 1))) }
        #expect(!table.add(9_999))
        if limit > 0 {
            table.remove(UInt64(limit))
            #expect(table.add(9_999))
            #expect(!table.add(10_000))
        }
        var found: [UInt64] = []
        table.takeAll { found.append($0) }
        #expect(found.count == limit)
        #expect(found.contains(9_999) == (limit > 0))
        #expect(limit == 0 || table.add(1))
    }
}
