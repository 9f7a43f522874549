internal import Glibc
import Testing
internal import ToftTestKit

@testable import ToftStorage

/// Recoveries beside a read-only attachment: what it looks at stays, and the file does not grow
/// with their number.
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
            #expect(StoreCheck.run(reader).problems.filter { !$0.contains("lost") } == [])
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
}
