internal import Glibc
internal import ToftStorage
internal import ToftTestKit

/// The work of a test's child on a database: one line per step, with the error of a failed one.
enum Roles {
    static let tree = Content.directory

    /// Opens, reads, and writes if it may: "ok VALUE", or the error.
    static func open(_ path: String, isReadOnly: Bool) {
        report {
            var configuration = StoreConfiguration(location: .file(path: path))
            configuration.isReadOnly = isReadOnly
            let store = try Store.open(configuration)
            if !isReadOnly { try put(store, "child") }
            return try value(store)
        }
    }

    /// Encrypts a plain file: "ok", or the error.
    static func changeKey(_ path: String) {
        report {
            let key = try EncryptionKey([UInt8](repeating: 1, count: 64))
            return try Store.changeKey(of: path, from: nil, to: key) ? "done" : "in use"
        }
    }

    /// Changes entries all over the tree in one commit: "ok ROUND", or the error.
    static func scatterOnce(_ path: String, round: Int) {
        report {
            let store = try Store.open(StoreConfiguration(location: .file(path: path)))
            let transaction = try store.beginWrite()
            var numbers = Seed(UInt64(round))
            for _ in 0..<200 {
                try withUnsafeBytes(of: numbers.below(5_000).bigEndian) { key throws in
                    try numbers.bytes(200).withUnsafeBytes {
                        try transaction.treePut(tree, key, $0, derived: false)
                    }
                }
            }
            try Array("value".utf8).withUnsafeBytes { key throws in
                try Array("\(round)".utf8).withUnsafeBytes {
                    try transaction.treePut(tree, key, $0, derived: false)
                }
            }
            _ = try transaction.commit()
            return try value(store)
        }
    }

    /// Has the file open, says so, and does one thing for each line of its input... by signals:
    /// SIGTERM ends it.
    static func hold(_ path: String, inTransaction: Bool, poison: Bool) throws {
        alarm(120)
        let store = try Store.open(StoreConfiguration(location: .file(path: path)))
        let snapshot = try store.beginRead()
        let transaction = inTransaction ? try store.beginWrite() : nil
        if poison { store.coordinator.poison() }
        say("holding")
        pause()
        transaction?.rollback()
        snapshot.release()
    }

    /// Changes entries all over the tree in a few commits, says so, and waits to be killed.
    static func scatter(_ path: String, round: Int) throws {
        alarm(120)
        let store = try Store.open(StoreConfiguration(location: .file(path: path)))
        var numbers = Seed(UInt64(round))
        for _ in 0..<20 {
            let transaction = try store.beginWrite()
            for _ in 0..<20 {
                let key = numbers.below(5_000)
                try withUnsafeBytes(of: key.bigEndian) { key throws in
                    try numbers.bytes(200).withUnsafeBytes {
                        try transaction.treePut(tree, key, $0, derived: false)
                    }
                }
            }
            _ = try transaction.commit()
        }
        say("committed")
        pause()
    }

    /// Commits until the limit on the size of files stops it. The signal that comes with it must
    /// not.
    static func grow(_ path: String, limit: Int) {
        var limits = rlimit(rlim_cur: rlim_t(limit), rlim_max: rlim_t(limit))
        setrlimit(__rlimit_resource_t(1), &limits)
        report {
            let store = try Store.open(StoreConfiguration(location: .file(path: path)))
            for number in 0..<10_000 { try put(store, "child", extra: number) }
            return "no limit"
        }
        report { try value(try Store.open(StoreConfiguration(location: .file(path: path)))) }
    }

    /// Opens a second file with this much more address space than the first took.
    static func crowd(_ path: String, bytes: Int) {
        report {
            let store = try Store.open(StoreConfiguration(location: .file(path: path)))
            try put(store, "before")
            let used = try addressSpace()
            var limits = rlimit(rlim_cur: rlim_t(used + bytes), rlim_max: rlim_t(used + bytes))
            setrlimit(__rlimit_resource_t(9), &limits)
            let second = Result {
                try Store.open(StoreConfiguration(location: .file(path: path + "2")))
            }
            try put(store, "child")
            if case .failure(let error) = second { return "\(error)" }
            return "enough"
        }
    }

    /// Commits until the address space is used up: a commit that returned is seen by the process
    /// that made it.
    static func squeeze(_ path: String) {
        report {
            let store = try Store.open(StoreConfiguration(location: .file(path: path)))
            try put(store, "0")
            let limit = rlim_t(try addressSpace() + (20 << 20))
            var limits = rlimit(rlim_cur: limit, rlim_max: limit)
            setrlimit(__rlimit_resource_t(9), &limits)
            var last = "0"
            do {
                for number in 1...2_000 {
                    let transaction = try store.beginWrite(timeoutMilliseconds: 10_000)
                    let key = Array("extra \(number)".utf8)
                    let value = [UInt8](repeating: 7, count: 200_000)
                    try key.withUnsafeBytes { key throws in
                        try value.withUnsafeBytes { value throws in
                            try transaction.treePut(tree, key, value, derived: false)
                        }
                    }
                    try Array("value".utf8).withUnsafeBytes { key throws in
                        try Array("\(number)".utf8).withUnsafeBytes { value throws in
                            try transaction.treePut(tree, key, value, derived: false)
                        }
                    }
                    let (version, snapshot) = try transaction.commitAndRead()
                    guard let snapshot, snapshot.version == version else {
                        return "committed \(number), and does not show it"
                    }
                    snapshot.release()
                    last = "\(number)"
                }
                return "no limit"
            } catch {
                say("\(error)")
            }
            let shown = try value(store)
            return shown == "ok \(last)" ? "shows the last of \(last)" : "\(shown), not \(last)"
        }
    }

    private static func addressSpace() throws -> Int {
        let file = Glibc.open("/proc/self/statm", O_RDONLY)
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 64)
        guard read(file, &bytes, 64) > 0,
            let pages = Int(String(decoding: bytes.prefix { $0 != 32 }, as: UTF8.self))
        else { throw Failure("no /proc") }
        return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
    }

    /// Forks: the child's old handles are of no use, new ones are; the parent continues.
    static func fork(_ path: String) throws {
        let store = try Store.open(StoreConfiguration(location: .file(path: path)))
        let snapshot = try store.beginRead()
        let child = try forkNow(through: "fork")
        if child == 0 {
            report {
                do {
                    _ = try store.beginRead()
                    return "read after fork"
                } catch StorageError.usedAfterFork {}
                do {
                    _ = try store.beginWrite()
                    return "written after fork"
                } catch StorageError.usedAfterFork {}
                snapshot.release()
                try put(
                    try Store.open(StoreConfiguration(location: .file(path: path))), "grandchild")
                return "child ok"
            }
            exit(0)
        }
        var status: Int32 = 0
        waitpid(child, &status, 0)
        report {
            guard status == 0 else { return "the child ended with \(status)" }
            let before = try value(store)
            try put(store, "parent")
            return try "\(before) then \(value(store))"
        }
        withExtendedLifetime(snapshot) {}
    }

    /// Leaves an idle child behind and waits to be killed in a transaction. Without `fork`'s
    /// handlers the child keeps the descriptors.
    static func orphan(_ path: String, through call: String) throws {
        alarm(60)
        let store = try Store.open(StoreConfiguration(location: .file(path: path)))
        let snapshot = try store.beginRead()
        let transaction = call == "fork" ? try store.beginWrite() : nil
        let child = try forkNow(through: call)
        if child == 0 {
            close(1)
            sleep(50)
            _exit(0)
        }
        say("\(child)")
        sleep(50)
        withExtendedLifetime((snapshot, transaction)) {}
    }

    private static func forkNow(through call: String) throws -> pid_t {
        typealias Fork = @convention(c) () -> pid_t
        typealias Syscall = @convention(c) (Int, Int, Int, Int, Int, Int) -> Int
        let name = call == "fork" ? "fork" : "syscall"
        guard let symbol = dlsym(nil, name) else { throw Failure("no \(name)") }
        if call == "fork" { return unsafeBitCast(symbol, to: Fork.self)() }
        #if arch(x86_64)
        let clone = 56
        #else
        let clone = 220
        #endif
        return pid_t(unsafeBitCast(symbol, to: Syscall.self)(clone, Int(SIGCHLD), 0, 0, 0, 0))
    }

    // MARK: Content

    static func put(_ store: Store, _ text: String, extra: Int? = nil) throws {
        let transaction = try store.beginWrite(timeoutMilliseconds: 10_000)
        if try !transaction.view.hasTree(tree) { _ = try transaction.createOrderedTree() }
        var entries = [("value", Array(text.utf8))]
        if let extra { entries.append(("extra \(extra)", [UInt8](repeating: 7, count: 900))) }
        for (key, value) in entries {
            try Array(key.utf8).withUnsafeBytes { key throws in
                try value.withUnsafeBytes { value throws in
                    try transaction.treePut(tree, key, value, derived: false)
                }
            }
        }
        _ = try transaction.commit()
    }

    static func value(_ store: Store) throws -> String {
        let snapshot = try store.beginRead()
        defer { snapshot.release() }
        guard try snapshot.hasTree(tree) else { return "ok" }
        return try Array("value".utf8).withUnsafeBytes { key throws in
            let value = try snapshot.orderedTree(tree).value(forKey: key)
            return "ok " + (value.map { String(decoding: $0, as: UTF8.self) } ?? "nothing")
        }
    }

    private static func report(_ body: () throws -> String) {
        do { say(try body()) } catch { say("\(error)") }
    }

    /// Prints at once: nothing may be lost, and nothing printed twice, whatever happens to the
    /// process.
    private static func say(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = write(1, bytes, bytes.count)
    }
}
