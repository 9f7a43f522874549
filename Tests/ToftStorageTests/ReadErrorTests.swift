// Tests: Meta.swift, DataFile.swift, FilledPages.swift, PageCache+Reading.swift,
// PageCache+Writing.swift, PageCache.swift, RegionMap.swift
import Glibc
internal import Synchronization
import Testing
import ToftPlatform
import ToftTestKit

@testable import ToftStorage

/// The errors of readers when the device fails, or another program truncates the file: an error,
/// never a signal.
@Suite struct ReadErrorTests {
    private static let tree = SystemTree.firstUser

    /// Keys 0 ..< count, each with a value of 100 bytes, on leaves all over the file.
    private static func fill(_ store: Store, count: Int) throws {
        let transaction = try store.beginWrite()
        _ = try transaction.createOrderedTree()
        for key in 0..<count { try put(key, UInt8(truncatingIfNeeded: key), transaction) }
        _ = try transaction.commit()
    }

    private static func put(_ key: Int, _ byte: UInt8, _ transaction: WriteTransaction) throws {
        try withUnsafeBytes(of: key.bigEndian) { key throws in
            try [UInt8](repeating: byte, count: 100).withUnsafeBytes { value throws in
                try transaction.treePut(tree, key, value, derived: false)
            }
        }
    }

    private static func value(_ key: Int, _ snapshot: Snapshot) throws -> UInt8? {
        try withUnsafeBytes(of: key.bigEndian) { key throws in
            let tree = try snapshot.orderedTree(tree)
            let value = try tree.value(forKey: key)
            #expect(value == nil || value?.count == 100)
            return value?.first
        }
    }

    private static func content(of fileAt: String, _ isBuffered: Bool) throws -> Store {
        var configuration = StoreConfiguration(location: .file(path: fileAt))
        configuration.usesMapping = !isBuffered
        return try Store.open(configuration)
    }

    @Test(arguments: [false, true])
    func `Every read that the device refuses is an error, and can be repeated`(isBuffered: Bool)
        throws
    {
        let disk = MemoryFile(name: "refused")
        try Store.format(disk)
        do {
            let store = try Store.open(
                on: WrappedFile(disk), coordinator: Coordinator.inMemory())
            try Self.fill(store, count: 5_000)
        }
        let faults = FaultFile(disk)
        let store = try Store.open(
            on: faults, coordinator: Coordinator.inMemory(), isBuffered: isBuffered)
        var refused = 0
        for key in 0..<5_000 {
            let snapshot = try store.beginRead()
            faults.plan(
                FaultFile.Fault(
                    index: 0, isLasting: true,
                    error: .io(operation: "read", path: "", errno: EIO)),
                after: faults.operations.count)
            var found: UInt8?
            do {
                found = try Self.value(key, snapshot)
                faults.repair()
            } catch StorageError.io(_, _, errno: EIO) {
                refused += 1
                faults.repair()
                found = try Self.value(key, snapshot)
            }
            #expect(found == UInt8(truncatingIfNeeded: key))
            snapshot.release()
        }
        // About 40 entries to a leaf; where pages are mapped, many leaves are read at once.
        #expect(refused > (isBuffered ? 100 : 2))
        #expect(try store.check().isSound)
    }

    @Test(arguments: [false, true])
    func `A file that is truncated under an open store is an error`(isBuffered: Bool) throws {
        try withTemporaryDirectory { directory throws in
            let path = directory + "/truncated.toft"
            do { try Self.fill(try Self.content(of: path, false), count: 5_000) }
            let store = try Self.content(of: path, isBuffered)
            let size = try store.file.size()
            let before = try store.beginRead()
            #expect(try Self.value(0, before) == 0)
            truncate(path, 3 * 4_096)
            let truncated = StorageError.fileTruncated(
                path: store.path, size: 3 * 4_096, needed: size)
            // A version that is open: pages read before stay, unread pages are an error. A mapping
            // has lost the pages that were read, which no call can report.
            if isBuffered {
                #expect(try Self.value(0, before) == 0)
                #expect {
                    for key in 1..<5_000 where try Self.value(key, before) == nil {}
                } throws: { error in
                    guard case StorageError.fileTruncated = error else { return false }
                    return true
                }
            }
            // Nothing begins on such a file.
            #expect(throws: truncated) { try store.beginRead() }
            #expect(throws: truncated) { try store.beginWrite() }
            before.release()
        }
    }

    @Test func `A buffered store reads what its own and other stores commit, over reused pages`()
        throws
    {
        let disk = MemoryFile(name: "reused")
        try Store.format(disk)
        let store = try Store.open(
            on: WrappedFile(disk), coordinator: Coordinator.inMemory(), isBuffered: true)
        let other = store.twin()
        try Self.fill(store, count: 2_000)
        var seed = Seed.random()
        print("Pages that are reused: \(seed)")
        var expected = (0..<2_000).map { UInt8(truncatingIfNeeded: $0) }
        var held: [(snapshot: Snapshot, expected: [UInt8])] = []
        for _ in 0..<60 {
            let writer = Bool.random(using: &seed) ? store : other
            let transaction = try writer.beginWrite()
            for _ in 0..<Int.random(in: 1...200, using: &seed) {
                let key = Int.random(in: 0..<2_000, using: &seed)
                expected[key] = UInt8.random(in: 0...255, using: &seed)
                try Self.put(key, expected[key], transaction)
            }
            _ = try transaction.commit()
            for reader in [store, other] {
                held.append((try reader.beginRead(), expected))
            }
            if held.count > 6 {
                for (snapshot, _) in held.prefix(4) { snapshot.release() }
                held.removeFirst(4)
            }
            for (snapshot, expected) in held {
                for key in 0..<2_000 {
                    let found = try Self.value(key, snapshot)
                    if found != expected[key] {
                        Issue.record("key \(key) of version \(snapshot.version)")
                    }
                }
            }
        }
        held.forEach { $0.snapshot.release() }
        #expect(try store.check().isSound)
    }

    @Test func `A buffered file gives its memory back with its last reader`() throws {
        let disk = MemoryFile(name: "memory")
        try Store.format(disk)
        do {
            let store = try Store.open(
                on: WrappedFile(disk), coordinator: Coordinator.inMemory())
            try Self.fill(store, count: 5_000)
        }
        let cache = PageCache(DataFile(disk), .buffered(limit: 100 * Page.size))
        let meta = try #require(try MetaPage.newest(fromDevice: false, of: cache.file)?.meta)
        func read(_ pages: Int) throws -> Int {
            let space = PageReader(cache, version: meta.version)
            let root = try Root(reading: meta.root, in: space)
            _ = root
            var page = Page.firstData
            while cache.filledPages < pages, page.rawValue < meta.pageCount {
                try cache.admit(page, count: 1, birth: 1) { _ in }
                page += 1
            }
            return cache.filledPages
        }
        #expect(try read(100) == 100)
        #expect(cache.filledPages == 100, "no more than is kept")
        #expect(try read(101) == 101)
        #expect(cache.filledPages == 0)
        #expect(try read(5) == 5)
    }

    @Test func `A block of memory that is half filled counts as a whole, and goes with the others`()
        throws
    {
        let pages = 1_600, blockPages = Reservation.blockSize / Page.size
        let disk = MemoryFile(name: "blocks")
        try disk.grow(to: UInt64(pages * Page.size))
        for page in 0..<pages {
            try [UInt8](repeating: UInt8(page % 251), count: Page.size).withUnsafeBytes {
                try disk.write($0, at: UInt64(page * Page.size))
            }
        }
        let cache = PageCache(DataFile(disk), .buffered(limit: 100 * Page.size))
        for _ in 0..<2 {
            cache.beginReading()
            for (number, page) in (2..<pages).enumerated() {
                try cache.admit(PageNumber(UInt64(page)), count: 1, birth: 1) { _ in }
                let filled = cache.filledPages
                if number < blockPages / 2 - 1 { #expect(filled == number + 1) }
                // Half a block that is not filled at most, and the bytes before the first.
                #expect(filled > number && filled <= number + 1 + blockPages / 2)
            }
            for page in 2..<pages {
                let (base, verified) = try cache.locate(PageNumber(UInt64(page)), count: 1)
                #expect(verified[0].load(ordering: .relaxed) == 1)
                #expect(base.load(fromByteOffset: 4_095, as: UInt8.self) == UInt8(page % 251))
            }
            cache.endReading()
            #expect(cache.filledPages == 0)
        }
    }

    @Test func `Pages that are written and read again take their memory once`() throws {
        let disk = MemoryFile(name: "again")
        try disk.grow(to: UInt64(100 * Page.size))
        let cache = PageCache(DataFile(disk), .buffered())
        try cache.admit(2, count: 3, birth: 1) { _ in }
        #expect(cache.filledPages == 3)
        let bytes = [UInt8](repeating: 7, count: 2 * Page.size)
        try bytes.withUnsafeBytes { try cache.write($0, at: UInt64(4 * Page.size)) }
        let (base, verified) = try cache.locate(4, count: 1)
        #expect(verified[0].load(ordering: .relaxed) != 1, "to be read again")
        try cache.admit(3, count: 3, birth: 2) { _ in }
        #expect(cache.filledPages == 4)
        #expect(base.loadUnaligned(as: UInt8.self) == 7)
        // An error leaves pages that are read once more, into the same memory.
        #expect(throws: StorageError.self) {
            try cache.admit(2, count: 5, birth: 3) { _ throws(StorageError) in
                throw .corrupt(page: 2, reason: "test")
            }
        }
        try cache.admit(2, count: 5, birth: 3) { _ in }
        #expect(cache.filledPages == 5)
    }

    @Test func `A file that is cut while its size is asked for is mapped up to where it ends`()
        throws
    {
        for (count, isThere) in [(57, true), (58, true), (59, false)] {
            let disk = MemoryFile(name: "cut")
            try disk.grow(to: UInt64(100 * Page.size))
            let cache = PageCache(DataFile(CutFile(disk, pages: 60)))
            if isThere {
                try cache.admit(2, count: count, birth: 1) { _ in }
            } else {
                #expect(throws: StorageError.self) {
                    try cache.admit(2, count: count, birth: 1) { _ in }
                }
            }
            // The bytes that follow do not exist, and are not touched.
            #expect(throws: StorageError.self) { try cache.admit(60, count: 1, birth: 1) { _ in } }
        }
    }

    /// On a file system of layers a mapping may stay with the lower file. A page that was read
    /// through the descriptor then lies in the place of the mapped one, and must not hide what the
    /// process writes later.
    @Test func `A page that took the place of a mapped one is read as it was written last`() throws
    {
        let file = MemoryFile(name: "upper"), lower = MemoryFile(name: "lower")
        for disk in [file, lower] { try disk.grow(to: UInt64(100 * Page.size)) }
        func fill(_ byte: UInt8, _ write: (UnsafeRawBufferPointer) throws -> Void)
            throws
        {
            try [UInt8](repeating: byte, count: Page.size).withUnsafeBytes(write)
        }
        try fill(1) { try file.write($0, at: PageNumber(5).byteOffset) }
        let cache = PageCache(DataFile(LayeredFile(file, mapping: lower)))
        try cache.admit(5, count: 1, birth: 1) { bytes throws(StorageError) in
            guard bytes.load(as: UInt8.self) == 1 else {
                throw .corrupt(page: 5, reason: "the lower file")
            }
        }
        #expect(cache.forSnapshot() !== cache, "new snapshots have another mapping")
        // The page that was replaced, and one that the mapping never shows.
        for page: PageNumber in [5, 9] {
            try fill(2) { bytes in
                try cache.write(bytes, at: page.byteOffset)
                cache.noteWritten(
                    page, count: 1, birth: 2, from: try #require(bytes.baseAddress))
            }
            let (base, verified) = try cache.locate(page, count: 1)
            #expect(verified[0].load(ordering: .relaxed) == 2)
            #expect(base.load(as: UInt8.self) == 2, "page \(page)")
        }
    }

    @Test func `Snapshots that follow each other do not keep all in memory that was ever read`()
        throws
    {
        let disk = MemoryFile(name: "generations")
        try disk.grow(to: UInt64(100 * Page.size))
        let cache = PageCache(DataFile(disk), .buffered(limit: 50 * Page.size))
        #expect(cache.forSnapshot() === cache)
        var space: PageReader? = PageReader(cache, version: 1)
        try cache.admit(2, count: 50, birth: 1) { _ in }
        #expect(cache.forSnapshot() === cache)
        try cache.admit(52, count: 1, birth: 1) { _ in }
        let second = cache.forSnapshot()
        #expect(second !== cache && second.filledPages == 0)
        #expect(cache.forSnapshot() === second)
        let next = PageReader(second, version: 1)
        try second.admit(2, count: 51, birth: 1) { _ in }
        #expect(cache.forSnapshot() !== second)
        // With its last snapshot the first memory is empty, and is used again.
        space = nil
        #expect(cache.filledPages == 0 && cache.forSnapshot() === cache)
        withExtendedLifetime((space, next)) {}
    }
}
