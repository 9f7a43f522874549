// Tests: PosixFile.swift
internal import ToftPlatform
internal import ToftStorage
internal import ToftTestKit

/// Behaviour that only a real file shows: system calls that write less than requested, and the
/// order in which a file gets its name.
enum FileTrials {
    static func run() throws -> Bool {
        #if TOFT_TRIALS
        let problems = try [
            shortWrites(), creation(), lostRecord(), lostMeta(), damagedCopy(), silentParticipant(),
        ].compactMap { $0 }
        for problem in problems { print("VIOLATION \(problem)") }
        print("cases 6\nfiles: 6 cases (\(problems.count) bad)")
        return problems.isEmpty
        #else
        print("files: needs a build with -D TOFT_TRIALS")
        return true
        #endif
    }

    #if TOFT_TRIALS
    /// A kernel may write a part only; the rest has to follow.
    private static func shortWrites() throws -> String? {
        Failpoint.writeLimit = 1_000
        defer { Failpoint.writeLimit = .max }
        return try withTemporaryDirectory { directory in
            let path = directory + "/short.toft"
            do {
                try autoreleased {
                    try Ledger.create(
                        in: try Store.open(StoreConfiguration(location: .file(path: path))))
                }
                let store = try Store.open(StoreConfiguration(location: .file(path: path)))
                let report = try store.check()
                let snapshot = try store.beginRead()
                defer { snapshot.release() }
                let sum = try Ledger.Copy(snapshot).sum
                return report.isSound && sum == Ledger.sum
                    ? nil : "short writes: \(report.problems.prefix(2)), sum \(sum)"
            } catch {
                return "short writes: \(error)"
            }
        }
    }

    /// A process that lost the lock that proves its life counts as dead, even if a process with its
    /// number lives.
    private static func silentParticipant() throws -> String? {
        try withTemporaryDirectory { directory in
            let path = directory + "/silent.toft"
            try autoreleased {
                try Ledger.create(
                    in: try Store.open(StoreConfiguration(location: .file(path: path))))
            }
            func version(_ number: UInt64) -> PublishedVersion {
                PublishedVersion(
                    version: Version(number),
                    root: Ref(
                        page: PageNumber(number), birth: Version(number), checksum: 0,
                        pageCount: 1),
                    fileSize: 65_536)
            }
            let first = try Coordinator.attach(try PosixFile.open(path, forWriting: true))
            defer { first.detach {} }
            try first.open(published: version(1))
            let file = try PosixFile.open(path, forWriting: true)
            let second = try Coordinator.attach(file)
            _ = try second.pinLatest()
            first.publish(version(2))
            guard try first.pinnedVersions() == [1] else {
                return "a participant's pin is not seen"
            }
            try second.living?.close()
            try file.close()
            return try first.pinnedVersions().isEmpty
                ? nil : "the pin of a participant that is gone stays"
        }
    }

    /// A database's bytes on its disk after three commits, each of them durable by its record; it
    /// was not closed.
    private static func unclosed(checkpointing: Bool = false) throws -> [UInt8] {
        let database = try RecordedDatabase()
        var numbers = Seed(1)
        try database.commit { edit in
            let tree = try edit.makeTree()
            for key in UInt8(0)..<200 { try edit.put(tree, [key], numbers.bytes(100)) }
            let still = try edit.makeTree()
            for key in UInt8(0)..<200 { try edit.put(still, [key], marked) }
        }
        if checkpointing {
            // The version of the older meta stays whole.
            try database.pin()
            try database.put(&numbers)
            try database.checkpoint()
        }
        for _ in 0..<3 { try database.put(&numbers) }
        return try database.file.content()
    }

    /// Values of a tree that no commit touches again.
    private static let marked = [UInt8](repeating: 0x5A, count: 100)

    /// The offsets of the log's frames.
    private static func frames(in content: [UInt8]) -> [Int] {
        stride(from: 0, to: content.count, by: 512).filter {
            Array(content[$0..<$0 + 4]) == Array("TLOG".utf8)
        }
    }

    private static func isRefused(_ content: [UInt8]) throws -> Bool {
        do {
            _ = try Store.open(
                on: try MemoryFile(content: content), coordinator: try Coordinator.inMemory())
            return false
        } catch StorageError.corrupt {
            return true
        }
    }

    /// A disk that loses a record which was durable, and keeps a later one: no older version is
    /// taken for the newest.
    private static func lostRecord() throws -> String? {
        var content = try unclosed()
        let frames = frames(in: content)
        guard frames.count >= 4 else {
            return "a lost record: there are only \(frames.count) frames"
        }
        let lost = frames[frames.count - 3]
        content.replaceSubrange(lost..<lost + 512, with: repeatElement(0, count: 512))
        return try isRefused(content)
            ? nil : "a record that was durable is lost, and nobody says so"
    }

    /// Loses a meta that was durable, of the same file.
    private static func lostMeta() throws -> String? {
        var content = try unclosed(checkpointing: true)
        func version(_ slot: Int) -> UInt64 {
            content.withUnsafeBytes {
                $0.loadUnaligned(fromByteOffset: slot * 4096 + 64, as: UInt64.self)
            }
        }
        let newest = version(0) > version(1) ? 0 : 1
        content.replaceSubrange(
            newest * 4096..<newest * 4096 + 4096, with: repeatElement(0, count: 4096))
        return try isRefused(content) ? nil : "a meta that was durable is lost, and nobody says so"
    }

    /// A copy of a file that was open may be a mixture: it is read whole before it is believed.
    private static func damagedCopy() throws -> String? {
        let content = try unclosed()
        let pages = (2..<content.count / 4096).filter {
            content[$0 * 4096..<$0 * 4096 + 4096].count { $0 == 0x5A } > 1_000
        }
        for page in pages {
            var damaged = content
            guard let place = damaged[(page * 4096)...].firstIndex(of: 0x5A) else { continue }
            damaged[place] ^= 1
            guard try isRefused(damaged) else {
                return "a copy with a damaged page \(page) was believed"
            }
        }
        return pages.isEmpty ? "no page to damage" : nil
    }

    private static func autoreleased(_ body: () throws -> Void) throws { try body() }

    /// Content, sync, name, sync of the directory: in this order, or a power failure leaves half a
    /// file under the name, or no file.
    private static func creation() throws -> String? {
        try withTemporaryDirectory { directory in
            let order = MomentList()
            Failpoint.observer = { order.append($0) }
            defer { Failpoint.observer = nil }
            _ = try Store.open(StoreConfiguration(location: .file(path: directory + "/new.toft")))
            let wanted: [Failpoint] = [
                .creationWritten, .creationSynced, .creationNamed, .directorySynced,
                .creationDurable,
            ]
            let found = Array(order.moments.prefix(wanted.count))
            return found == wanted ? nil : "a file was created in the order \(found)"
        }
    }
    #endif
}
