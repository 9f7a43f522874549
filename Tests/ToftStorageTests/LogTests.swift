// Tests: Checkpoint.swift, Array+Bytes.swift, Commit.swift, CommitGroup.swift,
// ElementBlock+Check.swift, InnerNode+Check.swift, InterprocessLock.swift, LogAppend.swift,
// LogContent.swift, LogRing.swift, MetaPage+Confirmation.swift, MetaPage.swift,
// MonotonicClock.swift, OrderedLeaf+Check.swift, PublishedVersion.swift, Record.swift,
// Recovery.swift, SharedWords.swift, Store+Log.swift, UndoLog.swift, WriteTransaction.swift,
// Writer.swift
import Foundation
import Synchronization
import Testing
import ToftTestKit

import ToftPlatform
@testable import ToftStorage

/// Small commits go through the log. The crash trials try everywhere the cases that are shown here
/// for one process and a disk that loses unsynced bytes.
@Suite struct LogTests {
    /// A database on a disk below a page cache: after a power failure, `device` is the remaining
    /// content.
    private struct Database {
        let file: FragileFile
        let store: Store
        let tree: TreeID

        init(content: [UInt8]? = nil, firstLogPages: UInt64 = 4) throws {
            file = try FragileFile(
                content: try content ?? Self.empty(), afterFailure: .cacheKeepsThem)
            store = try Store.open(
                on: file, coordinator: Coordinator.inMemory(), firstLogPages: firstLogPages)
            if content == nil {
                let transaction = try store.beginWrite()
                tree = try transaction.createOrderedTree()
                _ = try transaction.commit()
            } else {
                tree = SystemTree.firstUser
            }
        }

        private static func empty() throws -> [UInt8] {
            let file = MemoryFile()
            try Store.format(file)
            return try file.content()
        }

        @discardableResult
        func put(_ key: Int, _ durability: Durability = .immediate) throws -> Version {
            let transaction = try store.beginWrite()
            try withUnsafeBytes(of: key.bigEndian) { bytes in
                try transaction.treePut(tree, bytes, bytes, derived: false)
            }
            return try transaction.commit(durability)
        }

        func keys() throws -> [Int] {
            let snapshot = try store.beginRead()
            defer { snapshot.release() }
            var keys: [Int] = []
            let cursor = try snapshot.orderedTree(tree).cursor()
            var isThere = try cursor.seekFirst()
            while isThere {
                keys.append(Int(bigEndian: cursor.key.loadUnaligned(as: Int.self)))
                isThere = try cursor.next()
            }
            return keys
        }

        func afterPowerLoss() throws -> Database { try Database(content: file.device) }

        func expectSound() throws { #expect(try store.check().problems.isEmpty) }

        /// The bytes of the log's frames, oldest segment first.
        var logOffset: Int { Int(store.coordinator.log.segments[0].page.byteOffset) }
    }

    @Test func `A logged commit syncs nothing and is there after power loss`() throws {
        let database = try Database()
        let durable = database.store.coordinator.durableVersion
        for key in 1...20 { try database.put(key) }
        #expect(database.store.coordinator.durableVersion == durable, "a commit went the long way")
        let found = try database.afterPowerLoss()
        #expect(try found.keys() == Array(1...20))
        try found.expectSound()
        try found.put(21)
        #expect(try found.afterPowerLoss().keys() == Array(1...21))
    }

    @Test func `Deferred commits are seen at once and durable with the next that is`() throws {
        let database = try Database()
        try database.put(1)
        for key in 2...5 { try database.put(key, .deferred) }
        #expect(try database.keys() == [1, 2, 3, 4, 5])
        #expect(try database.afterPowerLoss().keys() == [1], "nothing made them durable")
        try database.put(6)
        #expect(try database.afterPowerLoss().keys() == [1, 2, 3, 4, 5, 6])
        for key in 7...9 { try database.put(key, .deferred) }
        try database.store.flush()
        #expect(try database.afterPowerLoss().keys() == Array(1...9))
        try database.put(10, .deferred)
        try database.store.checkpoint()
        let found = try database.afterPowerLoss()
        #expect(try found.keys() == Array(1...10))
        try found.expectSound()
    }

    @Test func `A log that is full is checkpointed and grows`() throws {
        let database = try Database(firstLogPages: 1)
        let first = database.store.coordinator.log.capacity
        for key in 0..<300 {
            try database.put(key)
            if key % 37 == 0 {
                let found = try database.afterPowerLoss()
                #expect(try found.keys() == Array(0...key))
                try found.expectSound()
            }
        }
        #expect(database.store.coordinator.log.capacity > first)
        #expect(database.store.coordinator.log.capacity <= LogLimit.grownPages * UInt64(Page.size))
        try database.expectSound()
    }

    @Test func `The ring goes round as long as checkpoints keep up`() throws {
        let database = try Database(firstLogPages: 4)
        let capacity = database.store.coordinator.log.capacity
        for key in 0..<400 {
            try database.put(key, key % 3 == 0 ? .immediate : .deferred)
            if key % 10 == 9 { #expect(try database.store.checkpoint()) }
        }
        #expect(database.store.coordinator.log.capacity == capacity)
        #expect(database.store.coordinator.published.log.position.rawValue > 5 * capacity)
        let found = try database.afterPowerLoss()
        #expect(try found.keys() == Array(0..<400))
        try found.expectSound()
    }

    @Test func `A checkpoint that finds nothing new writes nothing`() throws {
        let database = try Database()
        #expect(try !database.store.checkpoint())
        try database.put(1)
        #expect(try database.store.checkpoint())
        #expect(try !database.store.checkpoint())
    }

    @Test func `A hole in the log is damage and not an older version`() throws {
        let database = try Database()
        for key in 1...9 { try database.put(key) }
        var content = database.file.device
        // The frames are a sector or two long; the second record's is behind the marker and the
        // first.
        let second = try #require(
            stride(from: database.logOffset, to: content.count, by: LogLayout.unit).filter {
                offset in
                content.withUnsafeBytes {
                    $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
                } == LogLayout.magicWord
            }.dropFirst(3).first)
        content[second + 100] ^= 1
        #expect { try Database(content: content) } throws: { error in
            guard case StorageError.corrupt(_, let reason) = error else { return false }
            return reason.contains("commits are lost")
        }
    }

    /// The number of small frames that still fit into the last segment.
    private static func room(_ database: Database) throws -> Int {
        let coordinator = database.store.coordinator
        let location = coordinator.log.location(of: coordinator.published.log.position)
        return try Int(#require(location).room) / LogLayout.unit
    }

    @Test(arguments: [1, 2, 3])
    func `The record of a writer that died is not believed where the next had no room behind it`(
        room: Int
    ) throws {
        let database = try Database(firstLogPages: 4)
        var keys: [Int] = []
        func put(_ key: Int, bytes: Int = 8) throws {
            let transaction = try database.store.beginWrite()
            try withUnsafeBytes(of: key.bigEndian) { name in
                try [UInt8](repeating: 7, count: bytes).withUnsafeBytes { value in
                    try transaction.treePut(database.tree, name, value, derived: false)
                }
            }
            _ = try transaction.commit()
            keys.append(key)
        }
        while try Self.room(database) > room { try put(keys.count) }
        try database.store.checkpoint()
        // The last thing that the writer does is to write its record.
        let dying = try database.store.beginWrite()
        try withUnsafeBytes(of: 200.bigEndian) { bytes in
            try dying.treePut(database.tree, bytes, bytes, derived: false)
        }
        let record = dying.record.pointee.finish(
            version: dying.version, previousVersion: dying.baseVersion,
            recordBytes: dying.baseRoot.recordBytes)
        let frame = try #require(try LogAppend(record, of: dying))
        try frame.write(to: database.store.file)
        dying.rollback()
        // The next frame is longer than the rest of the segment.
        try put(keys.count, bytes: room * LogLayout.unit)
        try database.file.sync()
        #expect(try database.afterPowerLoss().keys() == keys)
        for _ in 0..<3 { try put(keys.count) }
        let found = try database.afterPowerLoss()
        #expect(try found.keys() == keys)
        try found.expectSound()
    }

    @Test func `The marker of a dead checkpoint-commit is not taken for the next one's`() throws {
        let database = try Database()
        try database.put(1)
        let coordinator = database.store.coordinator
        // Its meta was adopted, and then replaced by that of the next one.
        var adopted = coordinator.published
        adopted.version = coordinator.claimVersion()
        let marker = try #require(
            try LogAppend(
                markerOf: adopted, previousVersion: coordinator.published.version,
                map: coordinator.log, nil))
        try marker.write(to: database.store.file)
        // The next one syncs that marker, and not its own.
        let transaction = try database.store.beginWrite()
        _ = try transaction.createOrderedTree()
        _ = try transaction.commit()
        let found = try database.afterPowerLoss()
        #expect(try found.keys() == [1])
        try found.expectSound()
    }

    /// A database of some leaves, all changed by the log behind the newest checkpoint.
    private static func changed(_ more: Int) throws -> Database {
        let database = try Database(firstLogPages: 64)
        for key in 0..<400 { try database.put(key) }
        for key in 0..<more {
            try database.store.checkpoint()
            try database.put(400 + key)
        }
        try database.store.checkpoint()
        let transaction = try database.store.beginWrite()
        for key in 0..<400 {
            try withUnsafeBytes(of: key.bigEndian) { name in
                try [UInt8](repeating: 7, count: 100).withUnsafeBytes { value in
                    try transaction.treePut(database.tree, name, value, derived: false)
                }
            }
        }
        _ = try transaction.commit()
        return database
    }

    @Test(arguments: [0, 1])
    func `A recovered file is compacted without the meta that a torn one would need`(
        more: Int
    ) throws {
        let database = try Self.changed(more)
        let keys = try database.keys()
        for whole in 0..<8 {
            let disk = try TornMetaFile(content: database.file.device, after: whole, prefix: 2048)
            let cache = PageCache(DataFile(disk))
            // The first opening, if it is to compact.
            let recovered = try? Recovery.recover(
                cache, readOnlyPins: [], dirtyLimit: StoreLimit.dirtyBytes)
            if let recovered {
                let coordinator = try Coordinator.inMemory()
                coordinator.claimVersions(upTo: recovered.version)
                _ = try? Compaction.run(
                    .whole, cache, coordinator, recovered, dirtyLimit: StoreLimit.dirtyBytes)
            }
            let left = try #require(
                try MetaPage.newest(fromDevice: false, of: cache.file)?.meta)
            #expect(left.version >= recovered?.version ?? 0, "pages of older ones are in use again")
            let found = try Database(content: try disk.base.content())
            #expect(try found.keys() == keys, "after \(whole) metas")
            try found.expectSound()
        }
    }

    @Test func `Two metas that are torn do not make one that is whole`() throws {
        let database = try Self.changed(0)
        try database.store.checkpoint()
        let keys = try database.keys()
        // The last meta lacks its beginning, which that of a recovery has in common with it.
        var content = database.file.device
        let slot = try #require(
            try MetaPage.newest(fromDevice: false, of: database.store.file)?.slot)
        for index in 0..<16 { content[Int(slot.byteOffset) + index] = 0 }
        for whole in 0..<3 {
            let disk = try TornMetaFile(content: content, after: whole, prefix: 16)
            _ = try? Store.open(on: disk, coordinator: Coordinator.inMemory(), firstLogPages: 64)
            let found = try Database(content: try disk.base.content())
            #expect(try found.keys() == keys, "after \(whole) metas")
            try found.expectSound()
        }
    }

    @Test(arguments: [1, 2])
    func `A lock that was kept is given back though two look at the same moment`(
        moment: Int
    ) throws {
        let lock = InterprocessLock(
            words: SharedWords(byteCount: LockFileLayout.size),
            offset: LockFileLayout.writerLock, locks: nil, byte: LockByte.writer)
        _ = try lock.lock(until: Deadline(timeoutMilliseconds: 0))
        lock.handOn()
        var looks = 0
        lock.unlockIfKept {
            looks += 1
            guard looks == moment else { return true }
            // The work ends behind this check; its thread finds this one here.
            lock.unlockIfKept { true }
            return false
        }
        #expect(!lock.isKept)
    }

    @Test func `A meta that is gone is missed by the log`() throws {
        let database = try Database()
        try database.put(1)
        try database.store.checkpoint()
        try database.put(2)
        var content = database.file.device
        let newest = try #require(
            try MetaPage.newest(fromDevice: false, of: DataFile(database.file)))
        content[Int(newest.slot.byteOffset) + 100] ^= 1
        #expect { try Database(content: content) } throws: { error in
            guard case StorageError.corrupt(_, let reason) = error else { return false }
            return reason.contains("no meta page holds it")
        }
    }

    @Test func `A meta that is gone is missed even if the other says that all was closed`() throws {
        let closed = try Database()
        for key in 1...3 { try closed.put(key) }
        try Recovery.markClean(closed.store)
        let database = try Database(content: closed.file.device)
        // The first commit writes a meta, the ones behind it know that it is durable.
        for key in 4...6 { try database.put(key) }
        var content = database.file.device
        let newest = try #require(
            try MetaPage.newest(fromDevice: false, of: DataFile(database.file)))
        try #require(
            try MetaPage.read(
                slot: MetaPage.other(than: newest.slot), fromDevice: false,
                of: DataFile(database.file))?
                .isClosedCleanly == true)
        content[Int(newest.slot.byteOffset) + 100] ^= 1
        #expect { try Database(content: content) } throws: { error in
            guard case StorageError.corrupt(_, let reason) = error else { return false }
            return reason.contains("no meta page holds it")
        }
        // A meta that never became whole is not a loss: nothing was ever built on it.
        var torn = closed.file.device
        let clean = try #require(
            try MetaPage.newest(fromDevice: false, of: DataFile(closed.file)))
        let start = Int(MetaPage.other(than: clean.slot).byteOffset)
        for offset in 0..<Page.size { torn[start + offset] = 0xA5 }
        #expect(try Database(content: torn).keys() == Array(1...3))
    }

    @Test func `The last frame may be torn and the one before it stays`() throws {
        let database = try Database()
        for key in 1...4 { try database.put(key) }
        let end = try #require(
            database.store.coordinator.log.location(
                of: database.store.coordinator.published.log.position)
        ).offset
        var content = database.file.device
        for offset in (Int(end) - 412)..<Int(end) { content[offset] = 0xFF }
        let found = try Database(content: content)
        #expect(try found.keys() == [1, 2, 3])
        try found.expectSound()
    }

    @Test func `A transaction that was open when a checkpoint failed is not committed`() throws {
        let database = try Database()
        try database.put(1)
        let transaction = try database.store.beginWrite()
        try withUnsafeBytes(of: 2.bigEndian) {
            try transaction.treePut(database.tree, $0, $0, derived: false)
        }
        database.store.coordinator.poison()
        #expect(throws: StorageError.poisoned) { try transaction.commit() }
        #expect(throws: StorageError.poisoned) { try database.put(3) }
        #expect(try database.keys() == [1])
        #expect(try database.afterPowerLoss().keys() == [1])
    }

    @Test func `A file that was closed cleanly has no log and opens it with the first commit`()
        throws
    {
        var database: Database? = try Database()
        for key in 1...4 { try database?.put(key) }
        let file = try #require(database?.file)
        database = nil
        let meta = try #require(try MetaPage.newest(fromDevice: false, of: DataFile(file))?.meta)
        #expect(meta.isClosedCleanly)
        #expect(meta.logMap.salt == 0)
        #expect(!meta.logMap.segments.isEmpty)
        let again = try Database(content: file.device)
        try again.put(5)
        let durable = again.store.coordinator.durableVersion
        try again.put(6)
        #expect(again.store.coordinator.durableVersion == durable, "the second commit is logged")
        #expect(try again.afterPowerLoss().keys() == Array(1...6))
    }

    @Test func `A failed log write poisons and what was durable stays`() throws {
        let file = try FragileFile(
            content: try Database().file.device, afterFailure: .cacheKeepsThem)
        let faults = FaultFile(file)
        let store = try Store.open(
            on: faults, coordinator: Coordinator.inMemory(), firstLogPages: 4)
        func put(_ key: Int) throws {
            let transaction = try store.beginWrite()
            try withUnsafeBytes(of: key.bigEndian) {
                try transaction.treePut(SystemTree.firstUser, $0, $0, derived: false)
            }
            _ = try transaction.commit()
        }
        try put(1)
        try put(2)
        // Each operation of a commit fails in turn: up to the write of the record that is a
        // rollback, then the outcome is unknown.
        var failed = 0
        var index = 0
        for _ in 0..<200 {
            let planned = faults.operations.count + index
            faults.plan(
                FaultFile.Fault(
                    index: index, isLasting: false,
                    error: .io(operation: "write", path: "", errno: 5)),
                after: faults.operations.count)
            do {
                try put(3)
                // Reading ahead failed, which is of no consequence; the next time it is not needed.
                if faults.operations[planned] == .populate { continue }
                Issue.record("nothing failed at operation \(index)")
            } catch StorageError.commitOutcomeUnknown {
                break
            } catch StorageError.io {
                failed += 1
            }
            index += 1
        }
        #expect((1..<99).contains(failed))
        faults.repair()
        #expect(throws: StorageError.poisoned) { try put(4) }
        let found = try Database(content: file.device)
        let keys = try found.keys()
        #expect(keys == [1, 2] || keys == [1, 2, 3])
    }

    @Test func `Threads that commit in a group lose nothing and see what they committed`() throws {
        try withTemporaryDirectory { directory throws in
            let path = directory + "/group.toft"
            let store = try Store.open(StoreConfiguration(location: .file(path: path)))
            var transaction = try store.beginWrite()
            let tree = try transaction.createOrderedTree()
            _ = try transaction.commit()
            let failures = Mutex<[String]>([])
            let threads = try (0..<4).map { thread in
                try PlatformThread(name: "writer \(thread)") {
                    do {
                        for round in 0..<100 {
                            let transaction = try store.beginWrite()
                            try withUnsafeBytes(of: (thread * 1000 + round).bigEndian) {
                                try transaction.treePut(tree, $0, $0, derived: false)
                            }
                            let durability: Durability =
                                round % 10 == 7 ? .deferred : round % 10 == 8 ? .immediate : .group
                            if round % 10 == 9 {
                                transaction.rollback()
                                continue
                            }
                            let (version, snapshot) = try transaction.commitAndRead(durability)
                            #expect(snapshot?.version == version)
                            #expect(store.latestVersion >= version)
                        }
                    } catch {
                        failures.withLock { $0.append("thread \(thread): \(error)") }
                    }
                }
            }
            for thread in threads { thread.join() }
            #expect(failures.withLock { $0 } == [])
            let snapshot = try store.beginRead()
            #expect(try snapshot.orderedTree(tree).count == 360)
            #expect(try store.check().problems == [])
            transaction = try store.beginWrite(timeoutMilliseconds: 1_000)
            transaction.rollback()
        }
    }

    /// The fault: while the first commit of a group was being written, two more joined; the last
    /// took pages that the middle one had freed, of the version that became visible at that moment.
    @Test func `A version that is being written keeps its pages though nobody can have pinned it`()
        throws
    {
        let memory = MemoryFile()
        try Store.format(memory)
        let file = SlowFile(memory)
        let store = try Store.open(on: file, coordinator: Coordinator.inMemory())
        var transaction = try store.beginWrite()
        let tree = try transaction.createOrderedTree()
        _ = try transaction.commit()
        func begin(_ key: Int) throws -> WriteTransaction {
            let transaction = try store.beginWrite()
            try withUnsafeBytes(of: key.bigEndian) {
                try transaction.treePut(tree, $0, $0, derived: false)
            }
            return transaction
        }
        try Self.put(1...5, tree, of: store)
        file.meanwhile = {
            for key in 7...9 {
                let next = try begin(key)
                _ = try Commit(next).run(.group)
                next.rollback()
            }
        }
        transaction = try begin(6)
        let version = try transaction.commit(.group)
        #expect(file.failure == nil)
        let snapshot = try store.beginRead()
        #expect(snapshot.version == version, "the others must not be visible yet")
        #expect(try snapshot.orderedTree(tree).count == 6)
        #expect(try StoreCheck.run(snapshot).problems == [])
        snapshot.release()
        try store.group.drain()
        transaction = try store.beginWrite(timeoutMilliseconds: 1_000)
        transaction.rollback()
        #expect(try Self.count(store) == 9)
        #expect(try store.check().problems == [])
    }

    // MARK: Files

    private static func put(
        _ keys: ClosedRange<Int>, _ tree: TreeID, of store: Store,
        _ durability: Durability = .immediate
    ) throws {
        for key in keys {
            let transaction = try store.beginWrite()
            try withUnsafeBytes(of: key.bigEndian) {
                try transaction.treePut(tree, $0, $0, derived: false)
            }
            _ = try transaction.commit(durability)
        }
    }

    private static func count(_ store: Store) throws -> Int {
        let snapshot = try store.beginRead()
        defer { snapshot.release() }
        return try snapshot.orderedTree(SystemTree.firstUser).count
    }

    @Test func `Who may only read sees what the log of an unclean file holds and writes nothing`()
        throws
    {
        try withTemporaryDirectory { directory throws in
            let store = try Store.open(
                StoreConfiguration(location: .file(path: directory + "/open.toft")))
            let transaction = try store.beginWrite()
            let tree = try transaction.createOrderedTree()
            _ = try transaction.commit()
            try Self.put(1...50, tree, of: store)
            // The file after a power failure: as it is, and open nowhere.
            let left = directory + "/left.toft"
            let bytes = try Data(contentsOf: URL(fileURLWithPath: directory + "/open.toft"))
            try bytes.write(to: URL(fileURLWithPath: left))

            var configuration = StoreConfiguration(location: .file(path: left))
            configuration.isReadOnly = true
            let reader = try Store.open(configuration)
            #expect(try Self.count(reader) == 50)
            #expect(try reader.check().problems == [])
            #expect(try Data(contentsOf: URL(fileURLWithPath: left)) == bytes)
            #expect(
                TemporaryDirectory.names(in: directory).sorted() == [
                    "left.toft", "open.toft", "open.toft.lock",
                ])

            // While it reads, another process recovers the file and continues: the pages that it
            // reads stay.
            let pinned = try reader.beginRead()
            #expect(
                try ChildProcess(TrialsProgram.path(), ["open", left, "rw"]).lines() == ["ok child"]
            )
            #expect(try pinned.orderedTree(tree).count == 50)
            pinned.release()
            #expect(try Self.count(reader) == 51)
            #expect(try reader.check().problems == [])
            #expect(try Self.count(store) == 50)
        }
    }

    @Test func `A second after the last commit the thread makes a checkpoint`() throws {
        try withTemporaryDirectory { directory throws in
            let store = try Store.open(
                StoreConfiguration(location: .file(path: directory + "/a.toft")))
            let transaction = try store.beginWrite()
            let tree = try transaction.createOrderedTree()
            _ = try transaction.commit()
            try Self.put(1...5, tree, of: store, .deferred)
            let newest = store.latestVersion
            #expect(store.coordinator.durableVersion < newest)
            let deadline = Deadline(timeoutMilliseconds: 20_000)
            while store.coordinator.durableVersion < newest && !deadline.hasPassed {
                Thread.sleep(forTimeInterval: 0.02)
            }
            #expect(store.coordinator.durableVersion == newest)
            #expect(try Self.count(store) == 5)
            #expect(try store.check().problems == [])
        }
    }

    @Test func `A stream of deferred commits becomes durable as it goes on`() throws {
        try withTemporaryDirectory { directory throws in
            let store = try Store.open(
                StoreConfiguration(location: .file(path: directory + "/a.toft")))
            let transaction = try store.beginWrite()
            let tree = try transaction.createOrderedTree()
            _ = try transaction.commit()
            let first = store.latestVersion
            let deadline = Deadline(timeoutMilliseconds: 20_000)
            var key = 0
            while store.coordinator.durableVersion <= first && !deadline.hasPassed {
                key += 1
                try Self.put(key...key, tree, of: store, .deferred)
                Thread.sleep(forTimeInterval: 0.05)
            }
            #expect(store.coordinator.durableVersion > first)
            #expect(try Self.count(store) == key)
            #expect(try store.check().problems == [])
        }
    }
}
