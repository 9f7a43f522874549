// Tests: FileCopy.swift, DataFile+Digest.swift, LeafPrefetch.swift, ReadAhead.swift,
// StorageError+System.swift, Store+Make.swift, StoreFacts.swift, TableReader.swift,
// Transcript.swift, VersionBuilder.swift
import Testing
internal import ToftPlatform
internal import ToftTestKit

@testable import ToftStorage

/// Copies of an open database, and files that are compacted while no process has them open.
@Suite struct FileCopyTests {
    private let tree = Content.directory
    private let table: TreeID = 17

    private func long(_ key: Int) -> [UInt8] {
        [UInt8](repeating: UInt8(key & 0xFF), count: 3_000 + key % 7 * 9_000)
    }

    /// Rows with texts, long values and lists of both, an entry of an ordered tree for each, in
    /// commits of 50.
    private func fill(_ store: Store, _ keys: Range<Int>) throws {
        for start in stride(from: keys.lowerBound, to: keys.upperBound, by: 50) {
            let transaction = try store.beginWrite()
            if try !transaction.view.hasTree(tree) {
                _ = try transaction.createOrderedTree()
                _ = try transaction.createTable(columns: [
                    Column(id: 1, type: .bytes, isNullable: false),
                    Column(id: 2, type: .list, isNullable: false, elementType: .bytes),
                ])
            }
            for key in start..<min(start + 50, keys.upperBound) {
                try withUnsafeBytes(of: key.bigEndian) { bytes throws in
                    try long(key).withUnsafeBytes {
                        try transaction.treePut(tree, bytes, $0, derived: false)
                    }
                }
                let row = try transaction.takeKey(table)
                try transaction.rowInsert(table, row, derived: false)
                let value = key % 3 == 0 ? long(key) : Array("row \(key)".utf8)
                try value.withUnsafeBytes {
                    try transaction.cellSet(table, row, 1, .bytes($0), derived: false)
                    for index in 0..<(key % 40 == 0 ? 60 : key % 4) {
                        try transaction.listInsert(
                            table, row, 2, at: index, .bytes($0), derived: false)
                    }
                }
            }
            _ = try transaction.commit()
        }
    }

    /// Erases all rows and entries but every fifth.
    private func thin(_ store: Store, _ count: Int) throws {
        for part in 0..<4 {
            let transaction = try store.beginWrite()
            for key in 0..<count where key % 5 != 0 && key % 4 == part {
                _ = try withUnsafeBytes(of: key.bigEndian) {
                    try transaction.treeDelete(tree, $0, derived: false)
                }
                try transaction.rowErase(table, Int64(key), derived: false)
            }
            _ = try transaction.commit()
        }
    }

    /// The content of a version, as text.
    private func content(_ snapshot: Snapshot) throws -> [String] {
        var found: [String] = []
        let cursor = try snapshot.orderedTree(tree).cursor()
        var isThere = try cursor.seekFirst()
        while isThere {
            let value = try cursor.value
            found.append("\(cursor.key.last ?? 0): \(value.count) of \(value.first ?? 0)")
            isThere = try cursor.next()
        }
        let rows = try snapshot.table(table)
        for key in 0..<rows.root.nextKey where try rows.contains(key) {
            guard case .bytes(let bytes) = try rows.cell(key, 1) else { continue }
            let count = try rows.listCount(key, 2)
            var sum = 0
            for index in 0..<count {
                if case .bytes(let element) = try rows.list(key, 2).cell(at: index) {
                    sum += element.count + Int(element.first ?? 0)
                }
            }
            found.append("row \(key): \(bytes.count) of \(bytes.first ?? 0), \(count) sum \(sum)")
        }
        found.append("next \(rows.root.nextKey)")
        return found
    }

    private func content(of path: String) throws -> [String] {
        var configuration = StoreConfiguration(location: .file(path: path))
        configuration.isReadOnly = true
        let store = try Store.open(configuration)
        let report = try store.check()
        #expect(report.isSound, "\(report.problems.prefix(3))")
        let snapshot = try store.beginRead()
        defer { snapshot.release() }
        return try content(snapshot)
    }

    private func size(_ path: String) throws -> UInt64 {
        let file = try PosixFile.open(path, forWriting: false)
        defer { try? file.close() }
        return try file.size()
    }

    @Test func `A copy holds its version and no free space, whatever is written meanwhile`() throws
    {
        try withTemporaryDatabase { database in
            let store = try database.open()
            try fill(store, 0..<600)
            try thin(store, 600)
            let snapshot = try store.beginRead()
            let held = try content(snapshot)
            try fill(store, 600..<700)
            let copy = database.directory + "/copy.toft"
            try snapshot.writeCopy(to: copy)
            #expect(throws: StorageError.fileExists(path: copy)) {
                try snapshot.writeCopy(to: copy)
            }
            snapshot.release()
            #expect(try content(of: copy) == held)
            let copied = try Store.open(StoreConfiguration(location: .file(path: copy)))
            let facts = try copied.facts()
            #expect(facts.freeSize <= facts.fileSize / 20 + 20 * 4_096, "\(facts)")
            try fill(copied, 700..<750)
            let report = try copied.check()
            #expect(report.isSound, "\(report.problems.prefix(3))")
            try copied.close()
            #expect(throws: StorageError.fileNotFound(path: "/nowhere/copy.toft")) {
                let now = try store.beginRead()
                defer { now.release() }
                try now.writeCopy(to: "/nowhere/copy.toft")
            }
            try store.close()
        }
    }

    @Test func `A copy of a copy is as long`() throws {
        try withTemporaryDatabase { database in
            let store = try database.open()
            try fill(store, 0..<300)
            try thin(store, 300)
            var sizes: [UInt64] = []
            var source = store
            for name in ["one", "two"] {
                let path = database.directory + "/" + name
                let snapshot = try source.beginRead()
                try snapshot.writeCopy(to: path)
                snapshot.release()
                try source.close()
                source = try Store.open(StoreConfiguration(location: .file(path: path)))
                sizes.append(try size(path))
            }
            try source.close()
            #expect(sizes[1] <= sizes[0] + 16 * 4_096, "\(sizes)")
        }
    }

    @Test func `A file that nobody has open is compacted in its place`() throws {
        try withTemporaryDatabase { database in
            let store = try database.open()
            try fill(store, 0..<600)
            try thin(store, 600)
            let snapshot = try store.beginRead()
            let held = try content(snapshot)
            snapshot.release()
            #expect(try Store.compact(database.path) == nil, "somebody has it open")
            try store.close()
            let closed = try size(database.path)
            let sizes = try #require(try Store.compact(database.path))
            #expect(sizes.before == closed)
            #expect(try sizes.after == size(database.path))
            #expect(sizes.after < closed, "\(sizes)")
            #expect(try content(of: database.path) == held)
            let again = try #require(try Store.compact(database.path))
            #expect(again.after <= sizes.after, "\(sizes) and then \(again)")
            #expect(try content(of: database.path) == held)
            let store2 = try database.open()
            try fill(store2, 600..<650)
            try store2.close()
        }
    }

    @Test func `An opening asks whether to compact, with the sizes`() throws {
        try withTemporaryDatabase { database in
            let store = try database.open()
            try fill(store, 0..<300)
            try store.close()
            let asked = FutexMutex<[(UInt64, UInt64)]>([])
            var configuration = database.configuration
            configuration.compacts = { total, used in
                asked.withLock { $0.append((total, used)) }
                return false
            }
            let opened = try Store.open(configuration)
            let again = try Store.open(configuration)
            let found = asked.withLock { $0 }
            #expect(found.count == 1)
            #expect(try found[0].0 == size(database.path))
            #expect(found[0].1 > 0 && found[0].1 <= found[0].0)
            try again.close()
            try opened.close()
        }
    }

    @Test func `An opening that makes the file does not ask whether to compact it`() throws {
        try withTemporaryDatabase { database in
            let asked = FutexMutex(0)
            var configuration = database.configuration
            configuration.compacts = { _, _ in
                asked.withLock { $0 += 1 }
                return true
            }
            let store = try Store.open(configuration)
            try fill(store, 0..<10)
            try store.close()
            let seeded = database.directory + "/seeded.toft"
            configuration.seedPath = database.path
            configuration.location = .file(path: seeded)
            try Store.open(configuration).close()
            #expect(asked.withLock { $0 } == 0)
            try Store.open(configuration).close()
            #expect(asked.withLock { $0 } == 1)
        }
    }

    @Test func `A missing file is made a copy of its seed`() throws {
        try withTemporaryDatabase { database in
            let store = try database.open()
            try fill(store, 0..<100)
            try store.close()
            var configuration = StoreConfiguration(
                location: .file(path: database.directory + "/new.toft"))
            configuration.seedPath = database.path
            let held = try content(of: database.path)
            let made = try Store.open(configuration)
            try made.close()
            #expect(try content(of: database.directory + "/new.toft") == held)
            configuration.seedPath = database.directory + "/none"
            configuration.location = .file(path: database.directory + "/other.toft")
            #expect(throws: StorageError.fileNotFound(path: database.directory + "/none")) {
                try Store.open(configuration)
            }
        }
    }

    @Test func `What only the log has is in the copy of a file that is only read`() throws {
        try withTemporaryDatabase { database in
            let store = try database.open()
            try fill(store, 0..<100)
            try fill(store, 100..<101)
            let image = try PosixFile.open(database.path, forWriting: false)
            let bytes = UnsafeMutableRawBufferPointer.allocate(
                byteCount: Int(try image.size()), alignment: 4_096)
            defer { bytes.deallocate() }
            try image.read(into: bytes, at: 0)
            try image.close()
            let crashed = database.directory + "/crashed.toft"
            _ = try PosixFile.create(crashed) { file throws(SystemError) in
                try file.grow(to: UInt64(bytes.count))
                try file.write(UnsafeRawBufferPointer(bytes), at: 0)
            }
            var configuration = StoreConfiguration(location: .file(path: crashed))
            configuration.isReadOnly = true
            let reader = try Store.open(configuration)
            let snapshot = try reader.beginRead()
            #expect(!snapshot.pages.extentsInMemory().isEmpty)
            try snapshot.writeCopy(to: database.directory + "/copy.toft")
            #expect(try content(of: database.directory + "/copy.toft") == content(snapshot))
            snapshot.release()
            try reader.close()
            try store.close()
        }
    }

    @Test func `A copy whose disk fails, or a source that is damaged, leaves no file`() throws {
        try withTemporaryDatabase { database in
            let store = try database.open()
            try fill(store, 0..<100)
            try store.checkpoint()
            let snapshot = try store.beginRead()
            defer { snapshot.release() }
            let target = FaultFile(MemoryFile(name: "target"))
            try FileCopy.write(snapshot, to: PageCache(DataFile(target)))
            let count = target.operations.count
            for index in stride(from: 0, to: count, by: max(1, count / 15)) {
                let file = FaultFile(MemoryFile(name: "target"))
                file.plan(
                    FaultFile.Fault(
                        index: index, isLasting: true, error: .diskFull(path: "<target>")),
                    after: 0)
                #expect(throws: StorageError.self) {
                    try FileCopy.write(snapshot, to: PageCache(DataFile(file)))
                }
            }
            try store.close()
        }
    }

    @Test func `A compaction whose disk fails leaves a file that holds everything`() throws {
        try withTemporaryDatabase { database in
            let store = try database.open()
            try fill(store, 0..<200)
            try thin(store, 200)
            try store.close()
            let held = try content(of: database.path)
            let posix = try PosixFile.open(database.path, forWriting: false)
            var bytes = [UInt8](repeating: 0, count: Int(try posix.size()))
            try bytes.withUnsafeMutableBytes { try posix.read(into: $0, at: 0) }
            try posix.close()
            func compact(_ file: FaultFile) throws {
                let cache = PageCache(DataFile(file))
                let meta = try #require(
                    try MetaPage.newest(fromDevice: false, of: cache.file)?.meta)
                let coordinator = try Coordinator.inMemory()
                try coordinator.open(published: PublishedVersion(meta))
                try Compaction.run(
                    .whole, cache, coordinator, meta, dirtyLimit: StoreLimit.dirtyBytes)
            }
            let whole = FaultFile(try MemoryFile(content: bytes))
            try compact(whole)
            let count = whole.operations.count
            for index in stride(from: 0, to: count, by: max(1, count / 40)) {
                let file = FaultFile(try MemoryFile(content: bytes))
                let error = SystemError.io(operation: "write", path: "<test>", errno: 5)
                file.plan(
                    FaultFile.Fault(index: index, isLasting: true, error: error), after: 0)
                try? compact(file)
                file.repair()
                let again = try Store.open(
                    on: WrappedFile(file), coordinator: try Coordinator.inMemory())
                #expect(try again.check().isSound, "after the failure of call \(index)")
                let snapshot = try again.beginRead()
                #expect(try content(snapshot) == held, "after the failure of call \(index)")
                snapshot.release()
                try again.close()
            }
        }
    }

    @Test func `Versions that are read are listed with what they hold`() throws {
        try withTemporaryDatabase { database in
            let store = try database.open()
            try fill(store, 0..<200)
            let old = try store.beginRead()
            try thin(store, 200)
            try store.checkpoint()
            try fill(store, 200..<210)
            let pins = try store.versionPins()
            let pin = try #require(pins.first { $0.version == old.version })
            #expect(pin.heldSize > 400_000, "\(pins)")
            #expect(pin.processID == ProcessIdentity.current().pid)
            let age = try #require(pin.age)
            #expect(try #require(try store.versionPins().first?.age) >= age && age > 0)
            let facts = try store.facts()
            #expect(facts.heldSize >= pin.heldSize)
            #expect(facts.liveSize < facts.fileSize - facts.heldSize)
            old.release()
            #expect(try store.versionPins().allSatisfy { $0.version != pin.version })
            try fill(store, 210..<211)
            #expect(try store.facts().heldSize < pin.heldSize)
            try store.close()
        }
    }
}
