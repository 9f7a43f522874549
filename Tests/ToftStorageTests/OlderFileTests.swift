// Tests: Store+Open.swift
import Testing
internal import ToftPlatform
internal import ToftTestKit

@testable import ToftStorage

/// Files that somebody has replaced by older ones: who has kept the version that he saw last finds
/// out.
@Suite struct OlderFileTests {
    private static let tree = SystemTree.firstUser

    private static func key(_ seed: UInt8 = 1) throws -> EncryptionKey {
        try EncryptionKey((0..<64).map { seed &+ UInt8($0) })
    }

    private static func configuration(_ path: String, _ key: EncryptionKey?, _ minimum: Version)
        -> StoreConfiguration
    {
        var configuration = StoreConfiguration(location: .file(path: path))
        configuration.encryptionKey = key
        configuration.minimumVersion = minimum
        return configuration
    }

    /// Sets one entry; the version of the commit.
    @discardableResult
    private static func commit(
        _ store: Store, _ text: String, _ durability: Durability = .immediate
    )
        throws -> Version
    {
        let transaction = try store.beginWrite()
        if try !transaction.view.hasTree(tree) { _ = try transaction.createOrderedTree() }
        try Array(text.utf8).withUnsafeBytes { text throws in
            try transaction.treePut(tree, text, text, derived: false)
        }
        return try transaction.commit(durability)
    }

    private static func put(_ bytes: [UInt8], at path: String) throws {
        let file = try PosixFile.open(path, forWriting: true)
        defer { try? file.close() }
        try file.truncate(to: UInt64(bytes.count))
        try bytes.withUnsafeBytes { try file.write($0, at: 0) }
    }

    /// A file as it was at several moments, and the version that it showed then: open, after a
    /// commit that is in its log alone and one that is in its meta; and closed.
    private static func history(_ path: String, _ key: EncryptionKey?) throws
        -> [(image: [UInt8], version: Version)]
    {
        var history: [(image: [UInt8], version: Version)] = []
        for round in 0..<4 {
            let store = try Store.open(configuration(path, key, 0))
            for number in 0..<3 {
                let version = try commit(store, "\(round) \(number)")
                if number == 1 { try store.checkpoint() }
                history.append((try PosixFile.bytes(of: path), version))
            }
            try store.close()
            history.append((try PosixFile.bytes(of: path), history[history.count - 1].version))
        }
        return history
    }

    @Test(arguments: [false, true])
    func `An older file is refused as often as it is put back, and is not written to`(
        isEncrypted: Bool
    ) throws {
        let key = isEncrypted ? try Self.key() : nil
        try withTemporaryDirectory { directory in
            let path = directory + "/a.toft"
            let history = try Self.history(path, key)
            let last = try #require(history.last).version
            for (image, version) in history where version < last {
                try Self.put(image, at: path)
                // A recovery gives a file a higher version; a refused opening must not recover it.
                for isReadOnly in [true, false, true, false] {
                    var configuration = Self.configuration(path, key, last)
                    configuration.isReadOnly = isReadOnly
                    do {
                        try Store.open(configuration).close()
                        Issue.record("version \(version) was taken for \(last)")
                    } catch StorageError.versionTooLow(_, let found, let minimum) {
                        #expect(found < last && found >= version && minimum == last)
                    }
                    #expect(throws: StorageError.self) {
                        try Store.compact(path, encryptionKey: key, minimumVersion: last)
                    }
                    #expect(throws: StorageError.self) {
                        try Store.changeKey(
                            of: path, from: key, to: Self.key(9), minimumVersion: last)
                    }
                    #expect(try PosixFile.bytes(of: path) == image)
                }
            }
        }
    }

    @Test(arguments: [false, true])
    func `A file is taken at the version that it was seen at, and refused at the next`(
        isEncrypted: Bool
    ) throws {
        let key = isEncrypted ? try Self.key() : nil
        try withTemporaryDirectory { directory in
            let path = directory + "/a.toft"
            for (image, version) in try Self.history(path, key) {
                try Self.put(image, at: path)
                var reading = Self.configuration(path, key, version)
                reading.isReadOnly = true
                for minimum in [Version(version.rawValue - 1), version] {
                    reading.minimumVersion = minimum
                    try Store.open(reading).close()
                }
                // One that is closed has a version of its own, which shows the same.
                let look = try Store.open(reading)
                let snapshot = try look.beginRead()
                let shown = snapshot.version
                snapshot.release()
                try look.close()
                reading.minimumVersion = shown + 1
                let refused = StorageError.versionTooLow(
                    path: path, found: shown, minimum: shown + 1)
                #expect(throws: refused) { try Store.open(reading) }
                #expect(throws: refused) {
                    try Store.open(Self.configuration(path, key, shown + 1))
                }
                let store = try Store.open(Self.configuration(path, key, shown))
                #expect(try store.check().isSound)
                // A process that joins sees the version that the others have made.
                let next = try Self.commit(store, "next")
                try Store.open(Self.configuration(path, key, next)).close()
                #expect(
                    throws: StorageError.versionTooLow(path: path, found: next, minimum: next + 1)
                ) {
                    try Store.open(Self.configuration(path, key, next + 1))
                }
                #expect(try store.check().isSound)
                try store.close()
            }
        }
    }

    @Test func `A file without its newest meta is refused, whatever is made of the rest`() throws {
        let key = try Self.key()
        try withTemporaryDirectory { directory in
            let path = directory + "/a.toft"
            let store = try Store.open(Self.configuration(path, key, 0))
            // Commits that no log has: each writes a meta.
            for round in 0..<4 {
                try Self.commit(store, "\(round)")
                try store.checkpoint()
            }
            let last = store.latestVersion
            let image = try PosixFile.bytes(of: path)
            try store.close()
            for slot in 0..<2 {
                var damaged = image
                for index in slot * 4_096..<(slot + 1) * 4_096 { damaged[index] = 0 }
                // And without the log, which shows that a meta is missing.
                var cut = damaged
                for start in stride(from: 8_192, to: cut.count, by: 512)
                where Image.half(cut, start) == Int(LogLayout.magicWord) {
                    for index in start..<start + 512 { cut[index] = 0 }
                }
                for each in [damaged, cut] {
                    try Self.put(each, at: path)
                    do {
                        let store = try Store.open(Self.configuration(path, key, last))
                        let snapshot = try store.beginRead()
                        #expect(snapshot.version >= last)
                        snapshot.release()
                        try store.close()
                    } catch StorageError.versionTooLow(_, let found, _) {
                        #expect(found < last)
                        #expect(try PosixFile.bytes(of: path) == each)
                    } catch StorageError.corrupt {
                        #expect(try PosixFile.bytes(of: path) == each)
                    }
                }
            }
        }
    }

    @Test func `A file that must be there is not made, nor copied from a seed`() throws {
        try withTemporaryDirectory { directory in
            let path = directory + "/a.toft"
            let seed = directory + "/seed.toft"
            try Store.open(Self.configuration(seed, nil, 0)).close()
            var configuration = Self.configuration(path, nil, 1)
            for seedPath in [nil, seed] {
                configuration.seedPath = seedPath
                #expect(throws: StorageError.fileNotFound(path: path)) {
                    try Store.open(configuration)
                }
            }
            #expect(!TemporaryDirectory.names(in: directory).contains("a.toft"))
            configuration.minimumVersion = 0
            try Store.open(configuration).close()
            configuration.minimumVersion = 1
            try Store.open(configuration).close()
        }
    }

    @Test func `A compaction, another key and a copy keep the version or have a later one`() throws
    {
        let keys = [nil, try Self.key(1), try Self.key(2)]
        try withTemporaryDirectory { directory in
            let path = directory + "/a.toft"
            let copy = directory + "/copy.toft"
            var key: EncryptionKey?
            var seen: Version = 0
            for round in 0..<9 {
                let store = try Store.open(Self.configuration(path, key, seen))
                try Self.commit(store, "\(round)", .deferred)
                try store.flush()
                let snapshot = try store.beginRead()
                seen = snapshot.version
                if round == 4 {
                    try snapshot.writeCopy(to: copy, encryptionKey: key)
                    try Store.open(Self.configuration(copy, key, seen)).close()
                }
                snapshot.release()
                if round % 2 == 0 { while try store.compactStep(movingAtMost: 1 << 20).hasMore {} }
                try store.close()
                #expect(
                    try Store.compact(path, encryptionKey: key, minimumVersion: seen) != nil)
                let next = keys[(round + 1) % 3]
                #expect(
                    try Store.changeKey(of: path, from: key, to: next, minimumVersion: seen))
                key = next
            }
            let store = try Store.open(Self.configuration(path, key, seen))
            #expect(try store.check().isSound)
            try store.close()
        }
    }
}
