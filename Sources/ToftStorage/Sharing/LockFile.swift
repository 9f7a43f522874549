internal import Synchronization
internal import ToftPlatform

/// The file `NAME.lock` beside the data file: made, rebuilt, checked and mapped. The coordinator
/// decides the rights of each process.
///
/// Its blocks are allocated when it is made, so that no store to the mapping can find the disk
/// full. It stays when everybody has left.
enum LockFile {
    static func path(for file: PosixFile) -> String { path(ofFileAt: file.path) }

    private static func path(ofFileAt path: String) -> String { path + ".lock" }

    /// Throws if the lock file of a file that is about to be made could not exist: its name would
    /// be too long, or something else has it. Otherwise the file would exist and nobody could open
    /// it.
    static func expectPlace(besides path: String) throws(StorageError) {
        let path = Self.path(ofFileAt: try system(FilePath.resolved(path)))
        if let lockFile = try open(path) { _ = try header(of: lockFile, path) }
    }

    /// Moves what another library has as its lock file out of the way, beside the new name of the
    /// file.
    /// - Returns: whether there was such a file.
    static func makePlace(besides path: String, movingTo kept: String) throws(StorageError) -> Bool
    {
        do throws(StorageError) {
            try expectPlace(besides: path)
            return false
        } catch .incompatibleProcess {
            try system(FilePath.move(Self.path(ofFileAt: path), to: Self.path(ofFileAt: kept)))
            return true
        }
    }

    /// Moves it back.
    static func moveBack(to path: String, from kept: String) throws(StorageError) {
        try system(FilePath.move(Self.path(ofFileAt: kept), to: Self.path(ofFileAt: path)))
    }

    /// Rebuilds the words, all zero except the header; state `building`. Needs the exclusive attach
    /// lock.
    ///
    /// A lock file of another data file may be in use by processes that have that one open (it was
    /// moved away while open): it is replaced, not changed.
    ///
    /// - Returns: also the newest version of the processes that had the file open before, if they
    ///   died. It stays in the new words until another is published, so a first that dies as well
    ///   does not lose it.
    static func rebuild(for file: PosixFile) throws(StorageError) -> (
        words: SharedWords, abandoned: PublishedVersion?
    ) {
        let identity = try system(file.identity())
        let lockFile: SharedWordsFile
        if let existing = try openExisting(for: file, identity) {
            try system(existing.allocate(LockFileLayout.size))
            lockFile = existing
        } else {
            lockFile = try create(for: file)
        }
        let words = try system(lockFile.mapped(byteCount: LockFileLayout.size))
        let abandoned = abandonedVersion(words, identity)
        words.word(LockFileLayout.state).pointee.store(0, ordering: .sequentiallyConsistent)
        words.clear()
        if let abandoned { VersionRing(words: words).publish(abandoned) }
        store(LockFileLayout.magicWord, LockFileLayout.magic, words)
        store(LockFileLayout.currentLayout, LockFileLayout.layoutVersion, words)
        store(identity.device, LockFileLayout.device, words)
        store(identity.inode, LockFileLayout.inode, words)
        store(try system(RandomBytes.uint64()), LockFileLayout.stamp, words)
        words.word(LockFileLayout.state).pointee.store(
            LockFileLayout.State.building, ordering: .sequentiallyConsistent)
        return (words, abandoned)
    }

    private static func abandonedVersion(_ words: SharedWords, _ identity: FileIdentity)
        -> PublishedVersion?
    {
        let state = load(LockFileLayout.state, words)
        guard load(LockFileLayout.magic, words) == LockFileLayout.magicWord,
            load(LockFileLayout.layoutVersion, words) == LockFileLayout.currentLayout,
            load(LockFileLayout.device, words) == identity.device,
            load(LockFileLayout.inode, words) == identity.inode,
            state == LockFileLayout.State.open || state == LockFileLayout.State.building
        else { return nil }
        let published = VersionRing(words: words).latest().published
        return published.version == 0 ? nil : published
    }

    enum Shared {
        case words(SharedWords)
        /// Not to be used, and why.
        case unusable(String)
    }

    /// The words that the participants of a file share. Needs the shared attach lock.
    static func openShared(for file: PosixFile) throws(StorageError) -> Shared {
        let path = path(for: file)
        guard let lockFile = try open(path) else {
            return .unusable(
                "'\(file.path)' is open in another process under another name, or its lock file "
                    + "'\(path)' was removed"
            )
        }
        guard try system(lockFile.size()) >= LockFileLayout.size else {
            return .unusable("its lock file '\(path)' is too short")
        }
        let words = try system(lockFile.mapped(byteCount: LockFileLayout.size))
        if let problem = try problem(of: words, for: file) {
            return .unusable("its lock file '\(path)' \(problem)")
        }
        return .words(words)
    }

    /// Opens the lock file for a read-only attachment, which cannot hold the attach lock and only
    /// knows that somebody does. Nil if it can't be read or belongs to another file. `isOpen` says
    /// whether it is in use.
    static func openForReading(for file: PosixFile) throws(StorageError) -> SharedWords? {
        guard
            let lockFile = SharedWordsFile.openForReading(
                path(for: file), byteCount: LockFileLayout.size)
        else { return nil }
        let words = try system(lockFile.mappedForReading(byteCount: LockFileLayout.size))
        return try mismatch(of: words, with: file) == nil ? words : nil
    }

    static func isOpen(_ words: SharedWords) -> Bool {
        words.word(LockFileLayout.state).pointee.load(ordering: .sequentiallyConsistent)
            == LockFileLayout.State.open
    }

    // MARK: Parts

    private static func problem(of words: SharedWords, for file: PosixFile) throws(StorageError)
        -> String?
    {
        let isOpen = isOpen(words)
        if let mismatch = try mismatch(of: words, with: file) { return mismatch }
        return isOpen ? nil : "is not in use"
    }

    private static func mismatch(of words: SharedWords, with file: PosixFile) throws(StorageError)
        -> String?
    {
        guard load(LockFileLayout.magic, words) == LockFileLayout.magicWord else {
            return "is not one"
        }
        let layout = load(LockFileLayout.layoutVersion, words)
        guard layout == LockFileLayout.currentLayout else {
            return
                "is of another version of Toft (layout \(layout), here "
                + "\(LockFileLayout.currentLayout))"
        }
        let identity = try system(file.identity())
        guard load(LockFileLayout.device, words) == identity.device,
            load(LockFileLayout.inode, words) == identity.inode
        else {
            return "belongs to another file"
        }
        return nil
    }

    /// The existing lock file, if it may be rebuilt in place. Throws if something else has its
    /// name.
    private static func openExisting(for file: PosixFile, _ identity: FileIdentity)
        throws(StorageError) -> SharedWordsFile?
    {
        let path = path(for: file)
        guard let lockFile = try open(path) else { return nil }
        let header = try header(of: lockFile, path)
        return header[2] == identity.device && header[3] == identity.inode ? lockFile : nil
    }

    /// The first words of a lock file. Throws if it is not a lock file.
    private static func header(of lockFile: SharedWordsFile, _ path: String) throws(StorageError)
        -> [UInt64]
    {
        let header = try system(lockFile.words(count: 4))
        // A lock file that was never used: empty, or zeros because a crash has lost its content.
        guard header[0] == LockFileLayout.magicWord || (header.allSatisfy { $0 == 0 }) else {
            throw isInTheWay(path)
        }
        return header
    }

    private static func create(for file: PosixFile) throws(StorageError) -> SharedWordsFile {
        let path = path(for: file)
        let created = try system(
            SharedWordsFile.create(path, byteCount: LockFileLayout.size, like: file))
        guard let created else { throw .fileNotFound(path: path) }
        return created
    }

    private static func open(_ path: String) throws(StorageError) -> SharedWordsFile? {
        do throws(SystemError) {
            return try SharedWordsFile.open(path)
        } catch .notAFile {
            throw isInTheWay(path)
        } catch {
            throw StorageError(error)
        }
    }

    private static func isInTheWay(_ path: String) -> StorageError {
        .incompatibleProcess(
            "'\(path)' is in the way, as it is not a lock file: move it, or use another name")
    }

    private static func load(_ offset: Int, _ words: SharedWords) -> UInt64 {
        words.word(offset).pointee.load(ordering: .relaxed)
    }
    private static func store(_ value: UInt64, _ offset: Int, _ words: SharedWords) {
        words.word(offset).pointee.store(value, ordering: .relaxed)
    }
}
