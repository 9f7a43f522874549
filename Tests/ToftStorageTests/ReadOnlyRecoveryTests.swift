// Tests: ReadOnlyAttachments.swift
internal import Glibc
import Testing
internal import ToftPlatform
internal import ToftTestKit

@testable import ToftStorage

/// Recoveries beside a read-only attachment: the pages that it reads stay, and the file does not
/// grow with their number.
@Suite(.serialized) struct ReadOnlyRecoveryTests {
    private let tree = Content.directory

    /// A database with a tree of 5,000 entries of 200 bytes.
    private func fill(_ path: String) throws {
        let store = try Store.open(StoreConfiguration(location: .file(path: path)))
        let transaction = try store.beginWrite()
        #expect(try transaction.createOrderedTree() == tree)
        let value = [UInt8](repeating: 9, count: 200)
        for key in 0..<5_000 {
            try withUnsafeBytes(of: key.bigEndian) { key throws in
                try value.withUnsafeBytes {
                    try transaction.treePut(tree, key, $0, derived: false)
                }
            }
        }
        _ = try transaction.commit()
    }

    private func readOnlyStore(_ path: String) throws -> Store {
        var configuration = StoreConfiguration(location: .file(path: path))
        configuration.isReadOnly = true
        return try Store.open(configuration)
    }

    /// Another process recovers the file and commits; then `look` runs, and the process is killed.
    private func commitAndDie(_ path: String, _ round: Int, _ look: () throws -> Void) throws {
        let child = try ChildProcess(TrialsProgram.path(), ["scatter", path, "\(round)"])
        #expect(child.line() == "committed")
        try look()
        child.kill(SIGKILL)
        child.awaitEnd()
    }

    @Test func `A version that was never checkpointed stays as it is beside two recoveries`() throws
    {
        try withTemporaryDirectory { directory throws in
            let path = directory + "/test.toft"
            try fill(path)
            let store = try readOnlyStore(path)
            var pinned: Snapshot?
            try commitAndDie(path, 0) { pinned = try store.beginRead() }
            let reader = try #require(pinned)
            let meta = try #require(try MetaPage.newest(fromDevice: false, of: store.file)?.meta)
            #expect(reader.version > meta.version, "the trial checkpointed too early")
            for round in 1..<4 { try commitAndDie(path, round) {} }
            #expect(try StoreCheck.run(reader).problems.filter { !$0.contains("lost") } == [])
            #expect(try reader.orderedTree(tree).count == 5_000)
            reader.release()
            #expect(try store.check().problems == [])
        }
    }

    @Test func `A hundred recoveries beside a reader that follows do not make the file grow`()
        throws
    {
        try withTemporaryDirectory { directory throws in
            let path = directory + "/test.toft"
            try fill(path)
            let store = try readOnlyStore(path)
            var pinned: Snapshot?
            var early: UInt64 = 0
            for round in 0..<100 {
                try commitAndDie(path, round) {
                    pinned?.release()
                    pinned = try store.beginRead()
                }
                if round == 10 { early = try store.file.size() }
            }
            let size = try store.file.size()
            print("a file of \(early) bytes after 10 recoveries has \(size) after 100")
            #expect(size <= early + early / 2)
            #expect(try #require(pinned).orderedTree(tree).count == 5_000)
            pinned?.release()
            #expect(try store.check().problems == [])
        }
    }

    /// A file whose last process died after a commit that no checkpoint has; `store` is a read-only
    /// attachment that has seen it. Returns the version that it saw.
    private func abandoned(_ path: String, _ store: Store) throws -> [[UInt8]] {
        var seen: [[UInt8]]?
        try commitAndDie(path, 0) { seen = try content(store) }
        return try #require(seen)
    }

    /// All values of the tree, in the newest version.
    private func content(_ store: Store) throws -> [[UInt8]] {
        let reader = try store.beginRead()
        defer { reader.release() }
        let cursor = try reader.orderedTree(tree).cursor()
        var values: [[UInt8]] = []
        var isThere = try cursor.seekFirst()
        while isThere {
            values.append(Array(try cursor.value))
            isThere = try cursor.next()
        }
        return values
    }

    @Test func `While the first recovers, read-only attachments see what was committed`() throws {
        try withTemporaryDirectory { directory throws in
            let path = directory + "/test.toft"
            try fill(path)
            let early = try readOnlyStore(path)
            let committed = try abandoned(path, early)
            let file = try PosixFile.open(path, forWriting: true)
            // The words of the dead process are still there, and say that they are in use.
            #expect(try FileLocks(file: file).takeExclusive(LockByte.attach))
            #expect(try content(early) == committed)
            FileLocks(file: file).release(LockByte.attach)
            // The lock file was made again; nothing is recovered yet.
            let coordinator = try Coordinator.attach(file)
            #expect(coordinator.isFirst)
            #expect(try content(early) == committed)
            coordinator.detach {}
            try file.close()
            // As long as it lives a process has one store of a file, which is `early`.
            let child = try ChildProcess(TrialsProgram.path(), ["scatter", path, "1"])
            #expect(child.line() == "committed")
            #expect(try content(early) != committed)
            child.kill(SIGKILL)
            child.awaitEnd()
            #expect(try early.check().problems == [])
        }
    }

    @Test func `A version that the disk has lost stays as it is for a reader beside a recovery`()
        throws
    {
        try withTemporaryDirectory { directory throws in
            let path = directory + "/test.toft"
            try fill(path)
            let store = try readOnlyStore(path)
            var pinned: Snapshot?
            try commitAndDie(path, 0) { pinned = try store.beginRead() }
            let reader = try #require(pinned)
            // The file after a failed sync: the log is lost, without a trace.
            let meta = try #require(try MetaPage.newest(fromDevice: false, of: store.file)?.meta)
            let file = try PosixFile.open(path, forWriting: true)
            for segment in meta.logMap.segments {
                let zeros = [UInt8](repeating: 0, count: Int(segment.pageCount) * Page.size)
                try zeros.withUnsafeBytes {
                    try file.write($0, at: segment.page.rawValue * UInt64(Page.size))
                }
            }
            try file.close()
            for round in 1..<4 { try commitAndDie(path, round) {} }
            #expect(try StoreCheck.run(reader).problems.filter { !$0.contains("lost") } == [])
            #expect(try reader.orderedTree(tree).count == 5_000)
            reader.release()
            #expect(try store.check().problems == [])
        }
    }
}
