// Tests: Checkpointer.swift, ProcessIdentity.swift, StorageError.swift,
// StorageError+Description.swift, Store.swift
internal import Glibc
import Testing
internal import ToftPlatform
internal import ToftStorage
internal import ToftTestKit

/// The output of a program that ends with an error.
private func words(_ error: StorageError) -> [String] { ["\(error)"] }

/// The output of `stat` for a file.
private func facts(_ format: String, _ path: String) throws -> [String] {
    try ChildProcess("stat", ["-c", format, path]).lines()
}

/// Influences of the environment on a database: permissions, disks that are full or read-only,
/// other names, limits, forks.
@Suite(.serialized) struct EnvironmentTests {
    private static let isRoot = geteuid() == 0

    /// A database with the value "parent", closed.
    private func withClosedDatabase(_ body: (String, String) throws -> Void) throws {
        try withTemporaryDirectory { directory in
            chmod(directory, 0o777)
            let path = directory + "/a.toft"
            try put(path, "parent")
            try body(directory, path)
        }
    }

    private func put(_ path: String, _ text: String) throws {
        try write(try Store.open(StoreConfiguration(location: .file(path: path))), text)
    }

    private func write(_ store: Store, _ text: String, bytes: Int = 0) throws {
        let transaction = try store.beginWrite(timeoutMilliseconds: 5_000)
        if try !transaction.view.hasTree(Content.directory) {
            _ = try transaction.createOrderedTree()
        }
        for (key, value) in [
            ("value", Array(text.utf8)), ("weight", [UInt8](repeating: 1, count: bytes)),
        ] {
            try Array(key.utf8).withUnsafeBytes { key throws in
                try value.withUnsafeBytes { value throws in
                    try transaction.treePut(Content.directory, key, value, derived: false)
                }
            }
        }
        _ = try transaction.commit()
    }

    private func value(_ store: Store) throws -> String? {
        let snapshot = try store.beginRead()
        defer { snapshot.release() }
        return try value(in: snapshot)
    }

    private func value(in snapshot: Snapshot) throws -> String? {
        try Array("value".utf8).withUnsafeBytes { key throws in
            try snapshot.orderedTree(Content.directory).value(forKey: key).map {
                String(decoding: $0, as: UTF8.self)
            }
        }
    }

    private func child(_ arguments: String...) throws -> [String] {
        try ChildProcess(try TrialsProgram.path(), arguments).lines()
    }

    /// The commands as a user who owns nothing.
    private func stranger(_ arguments: String...) throws -> [String] {
        try ChildProcess(
            "setpriv",
            ["--reuid=65534", "--regid=65534", "--clear-groups", try TrialsProgram.path()]
                + arguments
        ).lines()
    }

    private func expectSound(_ path: String) throws {
        let report = try Store.open(StoreConfiguration(location: .file(path: path))).check()
        #expect(report.isSound, "\(report.problems)")
    }

    // MARK: Permissions

    @Test(.enabled(if: isRoot))
    func `Who may not read gets permissionDenied, who may only read can read, and creates nothing`()
        throws
    {
        try withClosedDatabase { directory, path throws in
            unlink(path + ".lock")
            #expect(try stranger("open", path, "rw") == words(.permissionDenied(path: path)))
            #expect(try stranger("open", path, "ro") == words(.permissionDenied(path: path)))
            chmod(path, 0o644)
            #expect(try stranger("open", path, "rw") == words(.permissionDenied(path: path)))
            #expect(try stranger("open", path, "ro") == ["ok parent"])
            #expect(TemporaryDirectory.names(in: directory) == ["a.toft"])
            let store = try Store.open(StoreConfiguration(location: .file(path: path)))
            try write(store, "newer")
            #expect(try stranger("open", path, "ro") == ["ok newer"])
            chmod(path + ".lock", 0o600)
            #expect(try stranger("open", path, "ro") == ["ok newer"])
        }
    }

    @Test(.enabled(if: isRoot))
    func `A read-only directory keeps writers out unless the lock file is there already`() throws {
        try withClosedDatabase { directory, path throws in
            chmod(path, 0o666)
            chmod(directory, 0o555)
            unlink(path + ".lock")
            let resolved = try FilePath.resolved(directory)
            #expect(try stranger("open", path, "rw") == words(.permissionDenied(path: resolved)))
            #expect(
                try stranger("open", directory + "/new.toft", "rw") == [
                    "\(StorageError.permissionDenied(path: resolved))"
                ])
            #expect(try stranger("open", path, "ro") == ["ok parent"])
            try put(path, "parent")
            #expect(try stranger("open", path, "rw") == ["ok child"])
        }
    }

    // MARK: Disks

    @Test(.enabled(if: isRoot)) func `A full disk fails a commit, and leaves what was there`()
        throws
    {
        try withMount("size=1400k") { directory throws in
            let path = directory + "/a.toft"
            let store = try Store.open(StoreConfiguration(location: .file(path: path)))
            try write(store, "first")
            #expect(throws: StorageError.diskFull(path: path)) {
                try write(store, "too much", bytes: 1_500_000)
            }
            #expect(try value(store) == "first")
            try write(store, "second")
            #expect(try value(store) == "second")
            try expectSound(path)
        }
    }

    @Test(.enabled(if: isRoot)) func `On a full disk nothing is made, and nothing is left behind`()
        throws
    {
        try withMount("size=1600k") { directory throws in
            let filler = directory + "/filler"
            fill(filler, 17)
            #expect(
                try child("open", directory + "/a.toft", "rw").first?.hasPrefix("no space is left")
                    == true)
            #expect(TemporaryDirectory.names(in: directory) == ["filler"])
            // Room for the file, but not for its lock file.
            empty(filler)
            fill(filler, 14)
            #expect(
                try child("open", directory + "/a.toft", "rw").first?.hasPrefix("no space is left")
                    == true)
            #expect(TemporaryDirectory.names(in: directory).sorted() == ["a.toft", "filler"])
            empty(filler)
            #expect(try child("open", directory + "/a.toft", "rw") == ["ok child"])
        }
    }

    /// Writes 100,000 bytes `count` times, or as often as there is room.
    private func fill(_ path: String, _ count: Int) {
        let file = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
        let bytes = [UInt8](repeating: 1, count: 100_000)
        for _ in 0..<count { _ = Glibc.write(file, bytes, bytes.count) }
        close(file)
    }

    /// Gives the room of a file back. Deleting it would not, while a process that another test has
    /// forked meanwhile has it open too.
    private func empty(_ path: String) {
        #expect(truncate(path, 0) == 0)
    }

    @Test(.enabled(if: isRoot)) func `A read-only file system can be read`() throws {
        try withMount("size=4m") { directory throws in
            let path = directory + "/a.toft"
            #expect(try child("open", path, "rw") == ["ok child"])
            #expect(try ChildProcess("mount", ["-o", "remount,ro", directory]).wait() == 0)
            #expect(
                try child("open", path, "rw")
                    .first?.hasSuffix("read-only file system") == true)
            #expect(try child("open", path, "ro") == ["ok child"])
        }
    }

    private func withMount(_ options: String, _ body: (String) throws -> Void) throws {
        try withTemporaryDirectory { directory in
            let directory = try FilePath.resolved(directory)
            guard
                try ChildProcess("mount", ["-t", "tmpfs", "-o", options, "tmpfs", directory]).wait()
                    == 0
            else {
                print("not tested: tmpfs can't be mounted here")
                return
            }
            defer { _ = try? ChildProcess("umount", ["-l", directory]).wait() }
            try body(directory)
        }
    }

    @Test func `A limit on the size of files is an error, not a signal`() throws {
        try withClosedDatabase { _, path throws in
            let lines = try child("grow", path, "600000")
            #expect(lines == ["\(StorageError.fileTooLarge(path: path))", "ok child"])
            try expectSound(path)
        }
    }

    @Test func `Too little address space is an error, and what is open goes on`() throws {
        try withClosedDatabase { _, path throws in
            #expect(try child("crowd", path, "60000000") == words(.addressSpaceExhausted))
        }
    }

    /// A realm of the image of a container: the file is in the lower layer, and the first write
    /// copies it up. The mapping of a reader stayed with the lower file, which made intact pages
    /// look damaged.
    @Test(.enabled(if: isRoot))
    func `A reader of a file in a lower layer follows a writer that has it copied up`() throws {
        try withOverlay { path throws in
            var reading = StoreConfiguration(location: .file(path: path))
            reading.isReadOnly = true
            for name in ["mapped", "buffered"] {
                reading.usesMapping = name == "mapped"
                let store = try Store.open(reading)
                let before = try store.beginRead()
                defer { before.release() }
                let old = try value(store)
                for round in 1...5 {
                    #expect(try child("scatter-once", path, "\(round)") == ["ok \(round)"])
                    #expect(try value(store) == "\(round)", "\(name)")
                    #expect(try Store.open(reading) === store)
                    #expect(try store.check().isSound)
                }
                #expect(try value(in: before) == old, "a version that is being read stays")
                let latest = try store.beginRead()
                defer { latest.release() }
                try latest.writeCopy(to: path + ".\(name)")
                try expectSound(path + ".\(name)")
            }
        }
    }

    /// Makes a file in the lower layer of an overlay that has not been written to since.
    private func withOverlay(_ body: (String) throws -> Void) throws {
        try withMount("size=64m") { directory throws in
            for name in ["lower", "upper", "work", "merged"] {
                mkdir(directory + "/" + name, 0o700)
            }
            try put(directory + "/lower/a.toft", "parent")
            let merged = directory + "/merged"
            let options =
                "lowerdir=\(directory)/lower,upperdir=\(directory)/upper,workdir=\(directory)/work"
            guard
                try ChildProcess("mount", ["-t", "overlay", "-o", options, "overlay", merged])
                    .wait() == 0
            else {
                print("not tested: an overlay can't be mounted here")
                return
            }
            defer { _ = try? ChildProcess("umount", ["-l", merged]).wait() }
            try body(merged + "/a.toft")
        }
    }

    // MARK: Names

    @Test
    func
        `Other spellings lead to the same store, a foreign hard link is refused`()
        throws
    {
        try withClosedDatabase { directory, path throws in
            symlink("a.toft", directory + "/link.toft")
            let store = try Store.open(StoreConfiguration(location: .file(path: path)))
            #expect(
                try Store.open(StoreConfiguration(location: .file(path: directory + "/link.toft")))
                    === store)
            #expect(
                try Store.open(StoreConfiguration(location: .file(path: directory + "/./a.toft")))
                    === store)
            #expect(try child("open", directory + "/link.toft", "rw") == ["ok child"])
            link(path, directory + "/hard.toft")
            #expect(
                try child("open", directory + "/hard.toft", "rw").first?.hasPrefix(
                    "another process can't be joined") == true)
        }
    }

    @Test func `A file that was replaced or moved away is not written`() throws {
        try withClosedDatabase { directory, path throws in
            let store = try Store.open(StoreConfiguration(location: .file(path: path)))
            rename(path, directory + "/moved.toft")
            try put(path, "another file")
            #expect(throws: StorageError.replaced(path: store.path)) { try write(store, "lost") }
            #expect(try value(store) == "parent")
        }
    }

    @Test func `A file that was deleted is not written, and can still be read`() throws {
        try withClosedDatabase { _, path throws in
            let store = try Store.open(StoreConfiguration(location: .file(path: path)))
            unlink(path)
            #expect(throws: StorageError.replaced(path: store.path)) { try write(store, "lost") }
            #expect(try value(store) == "parent")
        }
    }

    @Test
    func `A commit that its own process could not map fails, and leaves the version before`()
        throws
    {
        try withClosedDatabase { _, path throws in
            let lines = try child("squeeze", path)
            #expect(lines.first == "\(StorageError.addressSpaceExhausted)")
            #expect(lines.dropFirst().first?.hasPrefix("shows the last of ") == true)
            try expectSound(path)
        }
    }

    @Test func `Without its lock file a database in use can't be joined, and afterwards it can`()
        throws
    {
        try withClosedDatabase { _, path throws in
            do {
                let store = try Store.open(StoreConfiguration(location: .file(path: path)))
                unlink(path + ".lock")
                #expect(
                    try child("open", path, "rw").first?.hasPrefix(
                        "another process can't be joined") == true)
                try write(store, "still here")
            }
            #expect(try child("open", path, "rw") == ["ok child"])
        }
    }

    // MARK: Other processes

    @Test
    func
        `A stopped writer holds others up until their timeout`()
        throws
    {
        try withClosedDatabase { _, path throws in
            let store = try Store.open(StoreConfiguration(location: .file(path: path)))
            let holder = try ChildProcess(try TrialsProgram.path(), ["hold", path, "write"])
            #expect(holder.line() == "holding")
            holder.kill(SIGSTOP)
            #expect(throws: StorageError.lockTimeout) {
                try store.beginWrite(timeoutMilliseconds: 50)
            }
            #expect(try value(store) == "parent")
            holder.kill(SIGKILL)
            #expect(holder.wait() == -SIGKILL)
            try write(store, "mine")
        }
    }

    @Test func `Pins of another process keep a version, and go with it`() throws {
        try withClosedDatabase { _, path throws in
            let store = try Store.open(StoreConfiguration(location: .file(path: path)))
            let version = store.latestVersion
            let holder = try ChildProcess(try TrialsProgram.path(), ["hold", path, "read"])
            #expect(holder.line() == "holding")
            try write(store, "newer")
            #expect(try store.coordinator.pinnedVersions() == [version])
            holder.kill(SIGKILL)
            _ = holder.wait()
            #expect(try store.coordinator.pinnedVersions() == [])
        }
    }

    /// The start of a process differs between time namespaces, and after a restore from
    /// a checkpoint: a living reader counted as dead, and its pages were used again.
    @Test(.enabled(if: isRoot))
    func `A reader in another time namespace is alive as long as it holds its lock`() throws {
        try withClosedDatabase { _, path throws in
            let store = try Store.open(StoreConfiguration(location: .file(path: path)))
            let version = store.latestVersion
            let holder = try ChildProcess(
                "unshare",
                [
                    "--time", "--boottime", "100000", "--fork", "--kill-child",
                    try TrialsProgram.path(), "hold", path, "read",
                ])
            guard holder.line() == "holding" else {
                print("not tested: there are no time namespaces here")
                return
            }
            try write(store, "newer")
            #expect(try store.coordinator.pinnedVersions() == [version])
            holder.kill(SIGKILL)
            _ = holder.wait()
        }
    }

    @Test func `What a number says of a process counts for those who see the same numbers`() {
        var ended = ProcessIdentity.current()
        // No process has the greatest number that there is.
        ended.pid = UInt64(Int32.max)
        let me = ProcessIdentity.current()
        #expect(me.pidNamespace != 0)
        #expect(ended.hasEnded(seenBy: me))
        #expect(!me.hasEnded(seenBy: me))
        for change in [
            { $0.pidNamespace = 7 }, { $0.pidNamespace = 0 }, { $0.bootID = (1, 2) },
            { $0.bootID = (0, 0) }, { $0.pid = 0 },
        ] as [(inout ProcessIdentity) -> Void] {
            var other = ended
            change(&other)
            #expect(!other.hasEnded(seenBy: me))
        }
        var unknown = me
        unknown.pidNamespace = 0
        ended.pidNamespace = 0
        #expect(!ended.hasEnded(seenBy: unknown), "neither knows its namespace")
    }

    // MARK: Alone

    @Test func `Who has a file for itself keeps all others out, and leaves no lock file`() throws {
        try withClosedDatabase { directory, path throws in
            unlink(path + ".lock")
            var alone = StoreConfiguration(location: .file(path: path))
            alone.sharing = .none
            do {
                let store = try Store.open(alone)
                try write(store, "alone")
                #expect(
                    try child("open", path, "rw")
                        == words(.incompatibleProcess("it has the file for itself alone")))
                #expect(try Store.open(StoreConfiguration(location: .file(path: path))) === store)
                #expect(TemporaryDirectory.names(in: directory) == ["a.toft"])
                try store.close()
                try store.close()
            }
            #expect(try child("open", path, "rw") == ["ok child"])
            do {
                let holder = try ChildProcess(try TrialsProgram.path(), ["hold", path, "read"])
                #expect(holder.line() == "holding")
                alone.attachTimeoutMilliseconds = 20
                #expect(throws: StorageError.self) { try Store.open(alone) }
                holder.kill(SIGKILL)
                _ = holder.wait()
            }
            let shared = try Store.open(StoreConfiguration(location: .file(path: path)))
            #expect(throws: StorageError.sharedAlready(path: shared.path)) { try Store.open(alone) }
            #expect(try value(shared) == "child")
            try shared.close()
            // A process that dies leaves a file that is recovered.
            let last = try Store.open(alone)
            #expect(try value(last) == "child")
            try write(last, "alone again")
            try last.close()
            try expectSound(path)
        }
    }

    // MARK: Replacing

    /// Earlier, a new file took the place of the old one without its access control list, whose
    /// mask became the permissions of the group.
    @Test func `A file that gets another key keeps who may read it`() throws {
        try withClosedDatabase { _, path throws in
            chmod(path, 0o640)
            func list(of path: String) -> [String] {
                (try? ChildProcess("getfacl", ["-cnp", path]).lines()) ?? []
            }
            let hasLists =
                (try? ChildProcess("setfacl", ["-m", "g::-,u:65534:rw", path]).wait()) == 0
            if !hasLists { print("not tested in full: no access control lists here") }
            let key = try EncryptionKey([UInt8](repeating: 1, count: 64))
            for (old, new) in [(nil, key), (key, nil)] as [(EncryptionKey?, EncryptionKey?)] {
                let before = try facts("%i", path), rights = list(of: path)
                let access = try facts("%f %u %g", path)
                #expect(try Store.changeKey(of: path, from: old, to: new))
                #expect(try facts("%i", path) != before)
                #expect(try facts("%f %u %g", path) == access)
                #expect(list(of: path) == rights)
            }
            // Users of the file may use its lock file.
            unlink(path + ".lock")
            try Store.open(StoreConfiguration(location: .file(path: path))).close()
            #expect(list(of: path + ".lock") == list(of: path))
            #expect(try facts("%a", path + ".lock") == [hasLists ? "660" : "640"])
        }
    }

    @Test(.enabled(if: isRoot))
    func `Who can't give the new file the owner of the old one is refused`() throws {
        try withClosedDatabase { directory, path throws in
            chown(path, 1, 65_534)
            chmod(path, 0o660)
            unlink(path + ".lock")
            chmod(directory, 0o777)
            let refused = try stranger("change-key", path)
            #expect(refused == words(.accessNotKept(path: path, what: "its owner")))
            #expect(try facts("%u %a", path) == ["1 660"])
            #expect(TemporaryDirectory.names(in: directory).filter { $0.hasPrefix(".") } == [])
        }
    }

    @Test func `A failed sync stops writing in all processes until the last has left`() throws {
        try withClosedDatabase { _, path throws in
            let holder: ChildProcess
            do {
                let store = try Store.open(StoreConfiguration(location: .file(path: path)))
                holder = try ChildProcess(try TrialsProgram.path(), ["hold", path, "poison"])
                #expect(holder.line() == "holding")
                #expect(throws: StorageError.poisoned) { try write(store, "lost") }
                #expect(try value(store) == "parent")
            }
            #expect(try child("open", path, "rw") == words(.poisoned))
            holder.kill(SIGKILL)
            _ = holder.wait()
            #expect(try child("open", path, "rw") == ["ok child"])
        }
    }

    // MARK: Forks

    @Test
    func
        `After a fork the child's inherited handles are errors`()
        throws
    {
        try withClosedDatabase { _, path throws in
            #expect(try child("fork", path) == ["child ok", "ok grandchild then ok parent"])
            try expectSound(path)
        }
    }

    @Test(arguments: ["fork", "clone"]) func `A child that lives on keeps nothing of a dead parent`(
        call: String
    ) throws {
        try withClosedDatabase { _, path throws in
            let store = try Store.open(StoreConfiguration(location: .file(path: path)))
            let parent = try ChildProcess(try TrialsProgram.path(), ["orphan", path, call])
            let orphan = try #require(parent.line().flatMap { Int32($0) })
            defer { kill(orphan, SIGKILL) }
            try withExtendedLifetime(parent) {
                if call == "clone" { try write(store, "newer") }
                #expect(try store.coordinator.pinnedVersions().count == 1)
                parent.kill(SIGKILL)
                _ = parent.wait()
                try write(store, "mine")
                #expect(try store.coordinator.pinnedVersions() == [])
            }
        }
    }
}
