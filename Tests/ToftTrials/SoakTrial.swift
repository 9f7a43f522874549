// Tests: FreeSpace.swift
internal import Glibc
internal import ToftPlatform
internal import ToftStorage
internal import ToftTestKit

/// Commits for a long time to the same 1,000 objects, without a reader, with one that stays, and
/// with many that come and go. The file must not grow with the number of commits, and neither must
/// the memory, the descriptors and the mappings of the process.
enum SoakTrial {
    private static let objects = 1_000
    private static let slack: UInt64 = 4 << 20

    static func run(commits: Int, seed: UInt64 = 1) throws -> Bool {
        print("soak, seed \(seed)")
        let start = MonotonicClock.nanoseconds
        var problems: [String] = []
        for (name, phase) in [
            ("no reader", { try withoutReaders(commits / 4, seed) }),
            ("one reader", { try withOneReader(commits / 2, seed) }),
            ("many readers", { try withManyReaders(commits / 4, seed) }),
            ("readers up to the limit", { try upToTheLimit(seed) }),
        ] as [(String, () throws -> Void)] {
            do { try phase() } catch {
                problems.append("\(name): \(error)")
            }
        }
        for problem in problems { print("VIOLATION \(problem)") }
        let seconds = (MonotonicClock.nanoseconds - start) / 1_000_000_000
        print("soak \(commits) commits (\(problems.count) bad), \(seconds) s")
        return problems.isEmpty
    }

    /// A database of 1,000 objects and an index.
    private final class Scene {
        let store: Store
        private let table: TreeID
        private let index: TreeID
        private var numbers: Seed

        init(_ store: Store, _ seed: UInt64) throws {
            self.store = store
            numbers = Seed(seed)
            let transaction = try store.beginWrite()
            table = try transaction.createTable(columns: [
                Column(id: 1, type: .int64, isNullable: false),
                Column(id: 2, type: .bytes, isNullable: false),
            ])
            index = try transaction.createOrderedTree()
            for _ in 0..<objects {
                let key = try transaction.takeKey(table)
                try transaction.rowInsert(table, key, derived: false)
                try change(transaction, key)
            }
            _ = try transaction.commit()
        }

        func commit() throws {
            let transaction = try store.beginWrite()
            let rows = try transaction.view.table(table)
            try change(transaction, try rows.key(atRank: numbers.below(objects)))
            _ = try transaction.commit(numbers.chance(5) ? .immediate : .deferred)
        }

        private func change(_ transaction: WriteTransaction, _ key: Int64) throws {
            let number = Int64(numbers.below(1 << 40))
            try transaction.cellSet(table, key, 1, .int64(number), derived: false)
            try numbers.bytes(60 + numbers.below(60)).withUnsafeBytes {
                try transaction.cellSet(table, key, 2, .bytes($0), derived: false)
            }
            try withUnsafeBytes(of: key.bigEndian) { key throws in
                try withUnsafeBytes(of: number.bigEndian) {
                    try transaction.treePut(index, key, $0, derived: true)
                }
            }
        }

        /// Bytes of the file without its log, and of the newest version's pages.
        func sizes() throws -> (file: UInt64, live: UInt64) {
            let facts = try store.facts()
            let report = try store.check()
            guard report.isSound else { throw Failure("unsound: \(report.problems.prefix(2))") }
            return (facts.fileSize - facts.logSize, report.usedPages * 4096 - facts.logSize)
        }
    }

    private static func withScene(_ seed: UInt64, _ body: (Scene) throws -> Void) throws {
        try withTemporaryDatabase { database in
            try body(try Scene(try database.open(), seed))
        }
    }

    private static func withoutReaders(_ commits: Int, _ seed: UInt64) throws {
        try withScene(seed) { scene in
            for _ in 0..<commits / 2 { try scene.commit() }
            let middle = try scene.sizes()
            let process = ProcessUse()
            for _ in 0..<commits / 2 { try scene.commit() }
            let end = try scene.sizes()
            print("no reader: file \(middle.file), then \(end.file), live \(end.live) bytes")
            guard end.file <= end.live * 3 / 2 + slack else { throw Failure("\(end)") }
            guard end.file <= middle.file + (256 << 10) else { throw Failure("it grows") }
            try process.expectNoMore()
        }
    }

    private static func withOneReader(_ commits: Int, _ seed: UInt64) throws {
        try withScene(seed) { scene in
            for _ in 0..<200 { try scene.commit() }
            let before = try scene.sizes()
            let reader = try scene.store.beginRead()
            for _ in 0..<commits / 2 { try scene.commit() }
            let early = try scene.sizes()
            for _ in 0..<commits / 2 { try scene.commit() }
            let late = try scene.sizes()
            try expectReleased(scene, before, "one reader", early, late) { reader.release() }
        }
    }

    private static func withManyReaders(_ commits: Int, _ seed: UInt64) throws {
        try withScene(seed) { scene in
            for _ in 0..<200 { try scene.commit() }
            let before = try scene.sizes()
            var numbers = Seed(seed)
            var readers: [Snapshot] = []
            var early: (file: UInt64, live: UInt64) = (0, 0)
            for number in 0..<commits {
                if number % 10 == 0 { readers.append(try scene.store.beginRead()) }
                if readers.count > 8 {
                    readers.remove(at: numbers.below(readers.count)).release()
                }
                try scene.commit()
                if number == commits / 2 { early = try scene.sizes() }
            }
            let late = try scene.sizes()
            try expectReleased(scene, before, "many readers", early, late, copies: 8) {
                for reader in readers { reader.release() }
            }
        }
    }

    /// Growth beside readers: a copy of the data for each, however many commits there are. The
    /// pages that they kept are free ten commits after their end.
    private static func expectReleased(
        _ scene: Scene, _ before: (file: UInt64, live: UInt64), _ name: String,
        _ early: (file: UInt64, live: UInt64), _ late: (file: UInt64, live: UInt64),
        copies: UInt64 = 1, _ release: () -> Void
    ) throws {
        let kept = try scene.store.check().pinnedFreePages
        release()
        try scene.store.checkpoint()
        for _ in 0..<10 { try scene.commit() }
        let left = try scene.store.check().pinnedFreePages
        print(
            "\(name): file \(before.file), \(early.file) after half of it, then \(late.file), live "
                + "\(before.live) bytes; kept pages \(kept), then \(left)")
        // Records for observers, pages kept by the durable version, 1 MiB that is reserved for
        // later commits, and the step of 256 KiB in which a file grows.
        let allowed = before.live * copies + (3 << 19)
        guard late.file <= before.file + allowed else { throw Failure("it grew too much") }
        guard late.file <= early.file + (512 << 10) else { throw Failure("it grows") }
        guard left <= 100 else { throw Failure("\(left) pages stay") }
    }

    /// The greatest number of versions that the table holds is pinned, and commits continue.
    private static func upToTheLimit(_ seed: UInt64) throws {
        let file = MemoryFile(name: "limit")
        try Store.format(file)
        let store = try Store.open(on: file, coordinator: try Coordinator.inMemory())
        let scene = try Scene(store, seed)
        var readers: [Snapshot] = []
        let limit = LockFileLayout.pinLimit
        while readers.count < limit - 1 {
            readers.append(try store.beginRead())
            try scene.commit()
        }
        readers.append(try store.beginRead())
        for _ in 0..<3 { try scene.commit() }
        do {
            readers.append(try store.beginRead())
            throw Failure("\(readers.count) versions are pinned")
        } catch StorageError.tooManyReaders {}
        readers.removeFirst().release()
        readers.append(try store.beginRead())
        guard readers.count == limit else { throw Failure("\(readers.count) readers") }
        let kept = try StoreCheck.run(readers[limit - 1])
        guard kept.isSound else { throw Failure("unsound: \(kept.problems.prefix(2))") }
        for reader in readers { reader.release() }
        try store.checkpoint()
        for _ in 0..<10 { try scene.commit() }
        let report = try store.check()
        print(
            "\(limit) readers: \(kept.pinnedFreePages) pages kept, then \(report.pinnedFreePages)")
        // The batches themselves wait for the next checkpoint.
        guard report.isSound, report.pinnedFreePages < kept.pinnedFreePages / 100 else {
            throw Failure("\(report.pinnedFreePages) pages stay, \(report.problems.prefix(2))")
        }
    }
}

/// The resources that the process uses, for a comparison later.
private struct ProcessUse {
    private let memory = Self.pages("/proc/self/statm")
    private let descriptors = Self.entries("/proc/self/fd")
    private let mappings = Self.lines("/proc/self/maps")

    func expectNoMore() throws {
        let now = ProcessUse()
        guard now.memory <= memory + 4_096 else {
            throw Failure("resident pages: \(memory), then \(now.memory)")
        }
        guard now.descriptors <= descriptors, now.mappings <= mappings + 8 else {
            throw Failure(
                "descriptors \(descriptors), then \(now.descriptors); mappings \(mappings), then "
                    + "\(now.mappings)")
        }
    }

    private static func text(_ path: String) -> String {
        guard let file = fopen(path, "r") else { return "" }
        defer { fclose(file) }
        var text: [UInt8] = []
        while case let byte = getc(file), byte != EOF {
            text.append(UInt8(truncatingIfNeeded: byte))
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The second number: resident pages.
    private static func pages(_ path: String) -> Int {
        let words = text(path).split(separator: " ")
        return words.count > 1 ? Int(words[1]) ?? 0 : 0
    }

    private static func lines(_ path: String) -> Int { text(path).split(separator: "\n").count }

    private static func entries(_ path: String) -> Int {
        guard let folder = opendir(path) else { return 0 }
        defer { closedir(folder) }
        var count = 0
        while readdir(folder) != nil { count += 1 }
        return count
    }
}
