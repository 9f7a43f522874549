internal import CPlatform
internal import Glibc
internal import Synchronization

/// The file `NAME.lock` beside the data file: made, rebuilt, checked and mapped. Who may do which
/// when is the coordinator's affair.
///
/// Its blocks are allocated when it is made, so that no store to the mapping can find the disk
/// full. It stays when everybody has left.
enum LockFile {
    static func path(for file: PosixFile) -> String { file.path + ".lock" }

    /// Makes the words anew, all zero but for the header; state `building`. Needs the exclusive
    /// attach lock.
    ///
    /// A lock file of another data file may be in use by those who have that one open (it was moved
    /// away under them): it is not touched but replaced.
    static func rebuild(for file: PosixFile) throws(StorageError) -> SharedWords {
        let path = path(for: file)
        let identity = try file.identity()
        let words: SharedWords
        if let descriptor = try openExisting(path, for: identity) {
            defer { _ = platform_close(descriptor) }
            try allocate(descriptor, path: path)
            words = try SharedWords(mapping: descriptor, path: path)
        } else {
            words = try create(path, for: file)
        }
        words.word(LockFileLayout.state).pointee.store(0, ordering: .sequentiallyConsistent)
        words.clear()
        store(LockFileLayout.magicWord, LockFileLayout.magic, words)
        store(LockFileLayout.currentLayout, LockFileLayout.layoutVersion, words)
        store(identity.device, LockFileLayout.device, words)
        store(identity.inode, LockFileLayout.inode, words)
        store(try RandomBytes.uint64(), LockFileLayout.stamp, words)
        words.word(LockFileLayout.state).pointee.store(
            LockFileLayout.State.building, ordering: .sequentiallyConsistent)
        return words
    }

    enum Shared {
        case words(SharedWords)
        /// Not to be used, and why.
        case unusable(String)
    }

    /// The words that the members of a file share. Needs the shared attach lock.
    static func openShared(for file: PosixFile) throws(StorageError) -> Shared {
        let path = path(for: file)
        let descriptor = platform_open(path, openFlags, 0)
        if descriptor == -ENOENT {
            return .unusable(
                "'\(file.path)' is open in another process under another name, or its lock file "
                    + "'\(path)' was removed"
            )
        }
        try checked("open", path, descriptor)
        defer { _ = platform_close(descriptor) }
        var status = stat()
        try checked("fstat", path, platform_fstat(descriptor, &status))
        guard status.st_size >= LockFileLayout.size else {
            return .unusable("its lock file '\(path)' is too short")
        }
        let words = try SharedWords(mapping: descriptor, path: path)
        if let problem = try problem(of: words, for: file) {
            return .unusable("its lock file '\(path)' \(problem)")
        }
        return .words(words)
    }

    /// The same for a guest, which cannot hold the attach lock, and knows only that somebody does.
    /// Nil: not usable now.
    static func openForReading(for file: PosixFile) throws(StorageError) -> SharedWords? {
        let descriptor = platform_open(
            path(for: file), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0)
        guard descriptor >= 0 else { return nil }
        defer { _ = platform_close(descriptor) }
        var status = stat()
        guard platform_fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            status.st_size == LockFileLayout.size
        else { return nil }
        let words = try SharedWords(readingFrom: descriptor, path: path(for: file))
        return try problem(of: words, for: file) == nil ? words : nil
    }

    static func isOpen(_ words: SharedWords) -> Bool {
        load(LockFileLayout.state, words) == LockFileLayout.State.open
    }

    // MARK: Parts

    private static let openFlags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK

    private static func problem(of words: SharedWords, for file: PosixFile) throws(StorageError)
        -> String?
    {
        let state = words.word(LockFileLayout.state).pointee.load(ordering: .sequentiallyConsistent)
        guard load(LockFileLayout.magic, words) == LockFileLayout.magicWord else {
            return "is not one"
        }
        let layout = load(LockFileLayout.layoutVersion, words)
        guard layout == LockFileLayout.currentLayout else {
            return
                "is of another version of Toft (layout \(layout), here "
                + "\(LockFileLayout.currentLayout))"
        }
        let identity = try file.identity()
        guard load(LockFileLayout.device, words) == identity.device,
            load(LockFileLayout.inode, words) == identity.inode
        else {
            return "belongs to another file"
        }
        return state == LockFileLayout.State.open ? nil : "is not in use"
    }

    /// The lock file that is there, if it may be rebuilt in place. Throws if something else has its
    /// name.
    private static func openExisting(_ path: String, for identity: FileIdentity)
        throws(StorageError) -> Int32?
    {
        let descriptor = platform_open(path, openFlags, 0)
        if descriptor == -ENOENT { return nil }
        if descriptor == -ELOOP || descriptor == -EISDIR {
            throw .incompatibleProcess("'\(path)' is in the way: it is not a lock file")
        }
        try checked("open", path, descriptor)
        do throws(StorageError) {
            if try isOurs(descriptor, path, identity) { return descriptor }
        } catch {
            _ = platform_close(descriptor)
            throw error
        }
        _ = platform_close(descriptor)
        return nil
    }

    private static func isOurs(_ descriptor: Int32, _ path: String, _ identity: FileIdentity)
        throws(StorageError) -> Bool
    {
        var header = [UInt64](repeating: 0, count: 4)
        let count = header.withUnsafeMutableBytes {
            platform_pread(descriptor, $0.baseAddress, $0.count, 0)
        }
        try checked("pread", path, count)
        // Empty, or zeros where a crash has lost what was written: a lock file that never was.
        guard header[0] == LockFileLayout.magicWord || (header.allSatisfy { $0 == 0 }) else {
            throw .incompatibleProcess("'\(path)' is in the way: it is not a lock file")
        }
        return header[2] == identity.device && header[3] == identity.inode
    }

    private static func create(_ path: String, for file: PosixFile) throws(StorageError)
        -> SharedWords
    {
        try FilePath.remove(path)
        let status = try file.status()
        _ = try PosixFile.create(path, allowingNetworkFileSystem: true, isDurable: false) {
            lockFile throws(StorageError) in
            try allocate(lockFile.descriptor, path: path)
            // Whoever may use the data file may use this.
            _ = platform_fchown(lockFile.descriptor, status.st_uid, status.st_gid)
            _ = platform_fchmod(lockFile.descriptor, status.st_mode & 0o666)
        }
        let descriptor = try checked("open", path, platform_open(path, openFlags, 0))
        defer { _ = platform_close(descriptor) }
        return try SharedWords(mapping: descriptor, path: path)
    }

    private static func allocate(_ descriptor: Int32, path: String) throws(StorageError) {
        try FileSizeLimit.check(UInt64(LockFileLayout.size), path: path)
        var result: Int32
        repeat {
            result = platform_allocate(descriptor, 0, Int64(LockFileLayout.size))
        } while result == -EINTR
        if result == -EOPNOTSUPP || result == -ENOSYS { return try fill(descriptor, path: path) }
        try checked("fallocate", path, result)
    }

    /// Allocates by writing, where the file system cannot otherwise.
    private static func fill(_ descriptor: Int32, path: String) throws(StorageError) {
        let zeros = [UInt8](repeating: 0, count: LockFileLayout.size)
        var done = 0
        while done < zeros.count {
            let count = zeros.withUnsafeBytes { bytes in
                platform_pwrite(
                    descriptor, bytes.baseAddress.map { $0 + done }, zeros.count - done, Int64(done)
                )
            }
            if count == -Int(EINTR) { continue }
            done += try checked("pwrite", path, count)
        }
    }

    private static func load(_ offset: Int, _ words: SharedWords) -> UInt64 {
        words.word(offset).pointee.load(ordering: .relaxed)
    }
    private static func store(_ value: UInt64, _ offset: Int, _ words: SharedWords) {
        words.word(offset).pointee.store(value, ordering: .relaxed)
    }
}
