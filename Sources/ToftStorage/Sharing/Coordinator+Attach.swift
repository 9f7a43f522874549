internal import Synchronization
package import ToftPlatform

extension Coordinator {
    /// Joins the processes that have the file open, or becomes the first: see `isFirst`. The file
    /// must be open for writing.
    ///
    /// - Throws: `replaced` if the file's path names another file by now, or no file;
    ///   `incompatibleProcess`; `lockTimeout` when another process opens or recovers the file for
    ///   longer than the timeout; `permissionDenied` when the lock file can't be made;
    ///   `unsupportedFileSystem` without locks.
    package static func attach(_ file: PosixFile, timeoutMilliseconds: Int = 60_000)
        throws(StorageError) -> Coordinator
    {
        let living = try system(file.anchored())
        let locks = FileLocks(file: living)
        let deadline = Deadline(timeoutMilliseconds: timeoutMilliseconds)
        let probe = InterruptProbe.current
        var backoff = Backoff()
        // Shorter than the timeout, so that callers who wait in slices get the error, too.
        let patience = min(mostPatience, timeoutMilliseconds / 2)
        var endOfPatience: Deadline?
        while true {
            if try system(locks.takeExclusive(LockByte.attach)) {
                return try releasing(locks) { () throws(StorageError) in
                    try begin(file, living)
                }
            }
            if try system(locks.takeShared(LockByte.attach)) {
                switch try releasing(
                    locks, { () throws(StorageError) in try LockFile.openShared(for: file) })
                {
                case .words(let words):
                    Failpoint.reach(.joined)
                    return try releasing(locks) { () throws(StorageError) in
                        try Coordinator(
                            words: words, file: file, living: living,
                            role: .participant(join(words, locks)), isFirst: false)
                    }
                case .unusable(let reason):
                    // Perhaps the first has just died, or several check at once: then one of us is
                    // about to be the first.
                    locks.release(LockByte.attach)
                    let end = endOfPatience ?? Deadline(timeoutMilliseconds: patience)
                    if end.hasPassed { throw .incompatibleProcess(reason) }
                    endOfPatience = end
                }
            } else {
                if try system(locks.isHeldByOthers(LockByte.alone)) {
                    throw .incompatibleProcess("it has the file for itself alone")
                }
                endOfPatience = nil
            }
            if deadline.hasPassed { throw .lockTimeout }
            if let probe, probe.isInterrupted { throw .interrupted }
            backoff.pause()
        }
    }

    /// Milliseconds for which unusable shared state is checked again.
    private static let mostPatience = 2_000

    /// For a process that has the file for itself: the words are its own, and there is no lock
    /// file. If the file system has locks, they keep others out. The caller recovers, as the first.
    ///
    /// - Throws: `incompatibleProcess` if another process has the file open; `replaced`...
    package static func alone(_ file: PosixFile, timeoutMilliseconds: Int = 60_000)
        throws(StorageError) -> Coordinator
    {
        let living = try system(file.anchored())
        let words = SharedWords(byteCount: LockFileLayout.size)
        guard let isTaken = try takeAlone(FileLocks(file: living), timeoutMilliseconds) else {
            return try Coordinator(
                words: words, file: nil, living: nil, role: .participant(join(words, nil)),
                isFirst: true, isAlone: true)
        }
        guard isTaken else {
            throw .incompatibleProcess("it has the file open, which this one wants for itself")
        }
        try expectNamed(file)
        return try Coordinator(
            words: words, file: file, living: living,
            role: .participant(join(words, FileLocks(file: living))), isFirst: true, isAlone: true)
    }

    /// Whether nobody else has the file open, so that nobody can open it from now on. Nil without
    /// locks.
    private static func takeAlone(_ locks: FileLocks, _ timeoutMilliseconds: Int)
        throws(StorageError) -> Bool?
    {
        // A process that is just closing it holds it for a moment.
        let deadline = Deadline(timeoutMilliseconds: min(mostPatience, timeoutMilliseconds))
        var backoff = Backoff()
        while true {
            do throws(SystemError) {
                if try locks.takeExclusive(LockByte.attach) {
                    return try locks.takeExclusive(LockByte.alone)
                }
            } catch .unsupportedFileSystem {
                return nil
            } catch {
                throw StorageError(error)
            }
            if deadline.hasPassed { return false }
            backoff.pause()
        }
    }

    /// A coordinator for reading only, which writes nothing and never waits. `newestDurable`
    /// reads the newest valid meta from the file.
    ///
    /// - Parameter isAlone: whether nobody writes meanwhile: then nothing is pinned.
    package static func readOnly(
        _ file: PosixFile, isAlone: Bool = false,
        newestDurable: @escaping @Sendable () throws(StorageError) -> PublishedVersion
    ) throws(StorageError) -> Coordinator {
        guard !isAlone else {
            let pins = ReadOnlyAttachments(
                locks: nil, participants: { nil },
                newest: { () throws(StorageError) in
                    Pin(published: try newestDurable(), isRecovered: false)
                })
            return Coordinator(
                words: SharedWords(byteCount: LockFileLayout.size), file: nil, living: nil,
                role: .readOnly(pins), isFirst: true, isAlone: true)
        }
        // Its locks are pins alone.
        try system(file.anchor())
        let locks = FileLocks(file: file)
        let participants = ParticipantWords(file: file, locks: locks)
        let pins = ReadOnlyAttachments(
            locks: locks,
            participants: { () throws(StorageError) in
                if case .words(let words) = try participants.found() { return words }
                return nil
            },
            newest: { () throws(StorageError) in
                switch try participants.found() {
                case .none: return Pin(published: try newestDurable(), isRecovered: false)
                case .words(let words):
                    if let published = ParticipantWords.published(words) {
                        return Pin(published: published)
                    }
                case .unreadable: break
                }
                return Pin(published: try newestDurable())
            })
        return Coordinator(
            words: SharedWords(byteCount: LockFileLayout.size), file: file, living: file,
            role: .readOnly(pins), isFirst: true)
    }

    /// Runs the body with the attach lock of a file that nobody can be attached to, as it is not a
    /// database; waits for others that do the same.
    ///
    /// - Throws: `replaced` if another file has the name by then; `lockTimeout`, `interrupted`.
    static func withAttachLock(
        of file: PosixFile, timeoutMilliseconds: Int?, _ body: () throws(StorageError) -> Void
    ) throws(StorageError) {
        let locks = FileLocks(file: file)
        let deadline = Deadline(timeoutMilliseconds: timeoutMilliseconds)
        let probe = InterruptProbe.current
        var backoff = Backoff()
        while try !system(locks.takeExclusive(LockByte.attach)) {
            if deadline.hasPassed { throw .lockTimeout }
            if let probe, probe.isInterrupted { throw .interrupted }
            backoff.pause()
        }
        defer { locks.release(LockByte.attach) }
        try expectNamed(file)
        try body()
    }

    private static func begin(_ file: PosixFile, _ living: PosixFile) throws(StorageError)
        -> Coordinator
    {
        try expectNamed(file)
        Failpoint.reach(.attachTaken)
        let (words, abandoned) = try LockFile.rebuild(for: file)
        return try Coordinator(
            words: words, file: file, living: living,
            role: .participant(join(words, FileLocks(file: living))), isFirst: true,
            abandoned: abandoned)
    }

    /// Throws if somebody has deleted or replaced the file while this process waited for the lock.
    private static func expectNamed(_ file: PosixFile) throws(StorageError) {
        let named = try system(FileIdentity.ofFile(at: file.path))
        if try system(file.identity()) != named { throw .replaced(path: file.path) }
    }

    private static func join(_ words: SharedWords, _ locks: FileLocks?) throws(StorageError)
        -> ReaderTable
    {
        try ReaderTable(words: words, processes: ProcessTable(words: words, locks: locks))
    }

    /// Gives the attach lock back if the body throws.
    private static func releasing<Result>(
        _ locks: FileLocks, _ body: () throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        do throws(StorageError) {
            return try body()
        } catch {
            locks.release(LockByte.attach)
            throw error
        }
    }
}

/// Pauses between attempts, longer and longer, not all alike.
private struct Backoff {
    private var pauses = 0

    mutating func pause() {
        pauses = min(pauses + 1, 10)
        let jitter = (try? RandomBytes.uint64()) ?? 0
        Futex.sleep(nanoseconds: Int64(pauses) * 1_000_000 + Int64(jitter % 1_000_000))
    }
}

/// The words of participants, as a read-only attachment sees them: searched again until they exist.
private final class ParticipantWords: Sendable {
    enum Found {
        /// Nobody has the file open who may write, but perhaps one who recovers it, or closes it as
        /// the last: the attach lock is his alone.
        case none
        case words(SharedWords)
        /// There are participants, but their lock file can't be read.
        case unreadable
    }

    private let file: PosixFile
    private let locks: FileLocks
    private let words = FutexMutex<SharedWords?>(nil)

    init(file: PosixFile, locks: FileLocks) {
        self.file = file
        self.locks = locks
    }

    func found() throws(StorageError) -> Found {
        guard try system(locks.isShared(LockByte.attach)) else { return .none }
        return words.withLock { words in
            if let known = words, !LockFile.isOpen(known) { words = nil }
            if words == nil { words = try? LockFile.openForReading(for: file) }
            guard let words else { return .unreadable }
            return LockFile.isOpen(words) ? .words(words) : .none
        }
    }

    /// The newest version of the participants; nil if it can't be known.
    static func published(_ words: SharedWords) -> PublishedVersion? {
        var latest = VersionRing(words: words).latest().published
        latest.durableLog = max(
            latest.durableLog,
            LogPosition(words.word(LockFileLayout.flushedLog).pointee.load(ordering: .relaxed)))
        return latest.version == 0 ? nil : latest
    }
}
