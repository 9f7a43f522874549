internal import Synchronization
package import ToftPlatform

extension Coordinator {
    /// Joins the processes that have the file open, or becomes the first: see `isFirst`. The file
    /// must be open for writing.
    ///
    /// - Throws: `replaced` where the file's path names another file by now, or none;
    ///   `incompatibleProcess`; `lockTimeout` when another process opens or recovers the
    ///   file for longer than the timeout; `permissionDenied` when the lock file can't be made;
    ///   `unsupportedFileSystem` where there are no locks.
    package static func attach(_ file: PosixFile, timeoutMilliseconds: Int = 60_000)
        throws(StorageError) -> Coordinator
    {
        let living = try system(file.anchored())
        let locks = FileLocks(file: living)
        let deadline = Deadline(timeoutMilliseconds: timeoutMilliseconds)
        let probe = InterruptProbe.current
        var backoff = Backoff()
        // Shorter than the timeout, so that who waits in slices hears of it, too.
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
                    // Perhaps the first has just died, or several look at once: then one of us is
                    // about to be the first.
                    locks.release(LockByte.attach)
                    let end = endOfPatience ?? Deadline(timeoutMilliseconds: patience)
                    if end.hasPassed { throw .incompatibleProcess(reason) }
                    endOfPatience = end
                }
            } else {
                endOfPatience = nil
            }
            if deadline.hasPassed { throw .lockTimeout }
            if let probe, probe.isInterrupted { throw .interrupted }
            backoff.pause()
        }
    }

    /// Milliseconds for which what participants share is looked at again where it can't be used.
    private static let mostPatience = 2_000

    /// A coordinator for reading only, which writes nothing and never waits. `newestDurable`
    /// reads the newest valid meta from the file.
    package static func readOnly(
        _ file: PosixFile,
        newestDurable: @escaping @Sendable () throws(StorageError) -> PublishedVersion
    ) throws(StorageError) -> Coordinator {
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

    private static func begin(_ file: PosixFile, _ living: PosixFile) throws(StorageError)
        -> Coordinator
    {
        // Somebody may have deleted it, or put another file in its place, while this one waited for
        // the lock.
        let named = try system(FileIdentity.ofFile(at: file.path))
        if try system(file.identity()) != named { throw .replaced(path: file.path) }
        Failpoint.reach(.attachTaken)
        let (words, abandoned) = try LockFile.rebuild(for: file)
        return try Coordinator(
            words: words, file: file, living: living,
            role: .participant(join(words, FileLocks(file: living))), isFirst: true,
            abandoned: abandoned)
    }

    private static func join(_ words: SharedWords, _ locks: FileLocks) throws(StorageError)
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

/// The words of participants, seen by a read-only attachment: looked for again as long as none are
/// there.
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

    /// The newest version of the participants; nil where that can't be known.
    static func published(_ words: SharedWords) -> PublishedVersion? {
        var latest = VersionRing(words: words).latest().published
        latest.durableLog = max(
            latest.durableLog,
            LogPosition(words.word(LockFileLayout.flushedLog).pointee.load(ordering: .relaxed)))
        return latest.version == 0 ? nil : latest
    }
}
