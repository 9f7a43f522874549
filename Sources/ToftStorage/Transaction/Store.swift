internal import Synchronization
package import ToftPlatform

/// The options for opening a store.
package struct StoreConfiguration: Sendable {
    package enum Location: Sendable, Hashable {
        case file(path: String)
        /// Shared by name within the process; it ends with the last handle.
        case memory(name: String)
    }

    /// The processes that may have the file open at the same time.
    package enum Sharing: Sendable {
        /// Any processes. On a file system without reliable locks and shared memory, only a file on
        /// a read-only mount is opened, for reading.
        case processes
        /// `processes`, but if the file system can't, a reader reads without coordination: nobody
        /// must write meanwhile, as a page that they have changed looks damaged.
        case whereItCan
        /// This process alone, on any file system. Locks keep others out; without locks the caller
        /// vouches for it.
        case none
    }

    package var location: Location
    package var isReadOnly = false
    /// Whether a file that is missing is made.
    package var createsFile = true
    package var sharing = Sharing.processes
    /// True if pages are read through a mapping, false if they are read into memory of this
    /// process, see `PageCache`. A file that this process has open already keeps its mode.
    package var usesMapping = true
    /// The key of an encrypted file; nil for a plain one.
    package var encryptionKey: EncryptionKey?
    /// The version that the file must have at least, or a later one; 0: any. With one, a file that
    /// is missing is not made.
    package var minimumVersion: Version = 0
    /// The wait for another process that is opening, closing or recovering the file.
    package var attachTimeoutMilliseconds = 60_000
    /// Bytes of changed leaves that a transaction keeps in memory.
    package var dirtyLimit = StoreLimit.dirtyBytes
    /// A database that a missing file is made a copy of, in every mode.
    package var seedPath: String?
    /// Decides, if nobody else has the file open, whether to compact it before it is used; gets its
    /// bytes and the part of them in use. It must not open databases.
    package var compacts: (@Sendable (_ total: UInt64, _ used: UInt64) -> Bool)?
    /// Pages of the log's first segment; 0: no log, and every commit is a checkpoint-commit.
    package var firstLogPages = LogLimit.firstPages

    package init(location: Location) {
        self.location = location
    }

    /// Whether a file that is missing, or empty, becomes a new database.
    var makesFile: Bool { createsFile && !isReadOnly && minimumVersion == 0 }
}

/// An open database file: one for each file in a process, however many open it.
///
/// Any thread may call anything. Snapshots keep their store alive.
package final class Store: Sendable {
    let cache: PageCache
    var file: DataFile { cache.file }
    package let coordinator: Coordinator
    /// The file's path, or the name in angle brackets of an in-memory database.
    package var path: String { file.path }
    package let isReadOnly: Bool
    /// Bytes of changed pages that a transaction keeps in memory.
    package let dirtyLimit: Int
    /// Whether this process has the file for itself.
    var isAlone: Bool { coordinator.isAlone }
    /// The part that all metas of this file share.
    let template: Meta
    let firstLogPages: UInt64
    let group: CommitGroup
    /// Makes logged commits durable as checkpoints in the background; nil if the caller does it, or
    /// nothing is logged.
    let checkpointer: Checkpointer?
    /// For a read-only opener: the log behind the newest meta, if no process has recovered it.
    private let replayedVersion = FutexMutex<(meta: Version, version: ReplayedVersion?)>((0, nil))
    /// Whether the store leaves the file at its end; not so while recovery reads a file through
    /// one.
    private let closing: (@Sendable (Store) throws(StorageError) -> Void)?
    private var leavesFile: Bool { closing != nil }
    private let generation = ForkGuard.generation
    /// Whether the newest version is certainly on the disk, so that others may be built upon it.
    private let isConfirmed = Atomic<Bool>(false)
    /// Number of openers that have not closed it; nil when the last of them has left the file.
    private let handles = FutexMutex<Int?>(1)
    private let writer = FutexMutex(WriterState())
    /// The state of the insert buffer.
    package let insertBuffer: FutexMutex<InsertBufferState> = FutexMutex(InsertBufferState())

    private struct WriterState {
        /// Nil while a transaction uses it, and before the first.
        var writer: Writer?
        var oldestPin: Version = 0
        /// Versions that some reader had pinned when the present writer began, and the newest.
        var activeVersions = 0
        /// For each table the highest key that a transaction took and then did not commit: a
        /// caller may still hold a link to it.
        var abandonedKeys: [TreeID: Int64] = [:]
    }

    init(
        cache: PageCache, coordinator: Coordinator, template: Meta, isReadOnly: Bool,
        dirtyLimit: Int, firstLogPages: UInt64 = 0,
        checkpointsItself: Bool = false,
        closing: (@Sendable (Store) throws(StorageError) -> Void)?
    ) {
        self.closing = closing
        self.firstLogPages = firstLogPages
        group = CommitGroup(file: cache.file, coordinator: coordinator)
        checkpointer =
            checkpointsItself
            ? Checkpointer(
                Checkpoint(file: cache.file, coordinator: coordinator, template: template))
            : nil
        self.cache = cache
        self.coordinator = coordinator
        self.template = template
        self.isReadOnly = isReadOnly
        self.dirtyLimit = dirtyLimit
    }

    deinit {
        guard leavesFile else { return }
        if ForkGuard.generation == generation {
            checkpointer?.stop()
            // A failure can't be reported here; `close` reports it.
            if !isClosed { try? leave() }
        }
        try? file.close()
    }

    /// A store that only reads one version of a file, beside other stores of it.
    static func aside(_ meta: Meta, _ cache: PageCache, dirtyLimit: Int = 0) throws(StorageError)
        -> Store
    {
        let coordinator = try Coordinator.inMemory()
        try coordinator.open(published: PublishedVersion(meta))
        return Store(
            cache: cache, coordinator: coordinator, template: meta, isReadOnly: true,
            dirtyLimit: dirtyLimit, closing: nil)
    }

    /// Declares the records of commits up to a version unnecessary.
    func forgetRecords(upTo version: Version) { writer.withLock { $0.oldestPin = version } }

    // MARK: Closing

    /// Counts one more opener of the store. False when the file has been left.
    package func addHandle() -> Bool {
        handles.withLock { handles in
            guard let count = handles else { return false }
            handles = count + 1
            return true
        }
    }

    /// Ends the use of the store by one of its openers, whose write transactions have ended. The
    /// last of them makes all commits durable and leaves the file, which is marked as closed
    /// cleanly when no other process has it open. While a version is still read, the file is left
    /// with the last reference to the store, and a failure of that is reported to nobody: all
    /// commits are durable by then.
    ///
    /// Whatever is thrown, the store is closed. Any thread; waits for a checkpoint that is under
    /// way, never for a writer.
    ///
    /// - Throws: `commitOutcomeUnknown` when deferred commits could not be made durable, now or in
    ///   the background before; `poisoned` after a failed sync that was reported already; another
    ///   error (`io`, `diskFull`...) when all commits are durable, but the file could not be marked
    ///   as closed cleanly: the next opening recovers it.
    package func close() throws(StorageError) {
        try checkProcess()
        enum Step { case othersUseIt, versionsAreRead, leave }
        let step = handles.withLock { handles -> Step in
            guard let count = handles else { return .othersUseIt }
            handles = max(0, count - 1)
            if count > 1 || !leavesFile { return .othersUseIt }
            // A checkpoint of the background pins a version as long as it has its lock.
            let isLocked = checkpointer != nil && (try? coordinator.lockCheckpoint()) != nil
            defer { if isLocked { coordinator.unlockCheckpoint() } }
            guard coordinator.endReading() else { return .versionsAreRead }
            handles = nil
            return .leave
        }
        switch step {
        case .othersUseIt: return
        case .versionsAreRead: try syncDeferred()
        case .leave:
            checkpointer?.stop()
            try leave()
        }
    }

    /// Whether `close` has left the file.
    package var isClosed: Bool { handles.withLock { $0 == nil } }

    private func leave() throws(StorageError) {
        var failure: StorageError?
        do throws(StorageError) { try syncDeferred() } catch { failure = error }
        coordinator.detach {
            do throws(StorageError) {
                try closing?(self)
            } catch .descriptorLost {
                // The commits exist, and the next opening recovers them.
            } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
    }

    /// Makes deferred commits durable, without the write lock: the log has them, and a sync of the
    /// file covers the log.
    private func syncDeferred() throws(StorageError) {
        guard !isReadOnly, usesLog, coordinator.isOpen else { return }
        let published = coordinator.published
        guard published.version > coordinator.durableVersion,
            coordinator.durableLog(of: published) < published.log.position
        else { return }
        do throws(StorageError) {
            if coordinator.isPoisoned { throw .poisoned }
            try coordinator.orPoison { () throws(StorageError) in try file.sync() }
        } catch {
            throw .commitOutcomeUnknown(version: published.version)
        }
    }

    // MARK: Reading

    /// The newest version that readers may see.
    package var latestVersion: Version { coordinator.published.version }

    /// - Throws: `versionTooLow` if the newest version is an older one; errors of reading.
    package func expect(atLeast minimum: Version) throws(StorageError) {
        guard minimum > 0 else { return }
        let snapshot = try beginRead()
        defer { snapshot.release() }
        try snapshot.version.expect(atLeast: minimum, in: path)
    }

    /// Pins the newest version.
    package func beginRead() throws(StorageError) -> Snapshot {
        try checkProcess()
        while true {
            let pin = try coordinator.pinLatest()
            do {
                try file.checkPresent(pin.published.fileSize)
                if let snapshot = try snapshot(pinned: pin) { return snapshot }
            } catch {
                coordinator.unpin(pin)
                // A compaction may have published a version since, and cut the file to it.
                if case .fileTruncated = error,
                    coordinator.published.version > pin.published.version
                {
                    continue
                }
                throw error
            }
            coordinator.unpin(pin)
        }
    }

    /// Nil if another process has meanwhile recovered a file that was not closed cleanly.
    func snapshot(pinned pin: Pin) throws(StorageError) -> Snapshot? {
        guard isReadOnly, leavesFile, !pin.isRecovered else {
            return try Snapshot(store: self, published: pin.published, pin: pin)
        }
        let replayed = try replayed(behind: pin.published.version)
        guard try coordinator.isNewest(pin) else { return nil }
        if let replayed { return try Snapshot(store: self, replayed: replayed, pin: pin) }
        return try Snapshot(store: self, published: pin.published, pin: pin)
    }

    /// The log's replay after a version that was not recovered: the newest version for a read-only
    /// opener.
    private func replayed(behind version: Version) throws(StorageError) -> ReplayedVersion? {
        try replayedVersion.withLock { (known) throws(StorageError) -> ReplayedVersion? in
            if known.meta != version {
                let replayed = try ReplayedVersion.behind(
                    version, of: cache, pins: coordinator.ownReadOnlyPins)
                known = (version, replayed)
            }
            return known.version
        }
    }

    /// Sleeps until a version after `version` is published, by any process, or the time is over.
    /// True if there is one.
    package func waitForChange(after version: Version, timeoutMilliseconds: Int) -> Bool {
        coordinator.waitForVersion(after: version, timeoutMilliseconds: timeoutMilliseconds)
    }

    /// Counts wake-ups, see `Coordinator.wakeCount`.
    package var wakeCount: UInt32 { coordinator.wakeCount }

    /// Like `waitForChange`, for a caller that sampled `wakeCount` before it looked; also returns
    /// on `wake`. Waits without a limit.
    package func sleep(after version: Version, since seen: UInt32) {
        _ = coordinator.waitForVersion(after: version, since: seen, timeoutMilliseconds: -1)
    }

    /// Wakes all that wait for a change, in any process.
    package func wake() {
        coordinator.wake()
    }

    /// Throws in a forked child: its parent's handles are not its own.
    package func checkProcess() throws(StorageError) {
        guard ForkGuard.generation == generation else { throw .usedAfterFork }
    }

    // MARK: Writing

    /// Begins the write transaction, after those of other threads and processes. Waits at most
    /// `timeoutMilliseconds` (negative: without a limit).
    package func beginWrite(timeoutMilliseconds: Int = -1) throws(StorageError) -> WriteTransaction
    {
        try beginWrite(timeoutMilliseconds, with: nil)
    }

    /// Begins a write transaction with a writer of its own; nil: with the store's.
    func beginWrite(_ timeoutMilliseconds: Int, with writer: Writer?) throws(StorageError)
        -> WriteTransaction
    {
        try checkProcess()
        guard !isReadOnly else { throw .readOnly }
        var previousOwnerDied = try coordinator.lockWriter(timeoutMilliseconds: timeoutMilliseconds)
        if coordinator.isWriterWanted { previousOwnerDied = try passWriterOn(timeoutMilliseconds) }
        do {
            if coordinator.isPoisoned { throw StorageError.poisoned }
            try checkNotReplaced()
            if previousOwnerDied {
                try takeOver()
                coordinator.finishTakeover()
            }
            if !isConfirmed.load(ordering: .relaxed) {
                try file.checkPresent(coordinator.published.fileSize)
                try MetaPage.confirm(file, coordinator)
                isConfirmed.store(true, ordering: .relaxed)
            }
            let ahead = group.ahead
            let visible = coordinator.published
            let published = ahead.newest ?? visible
            try file.checkPresent(visible.fileSize)
            let pins = try pins(visible.version, ahead.beingWritten)
            Failpoint.reach(.transactionBegun)
            return try WriteTransaction(
                store: self, with: writer, published: published,
                version: coordinator.claimVersion(), pins: pins)
        } catch let error as StorageError {
            endWrite()
            throw error
        } catch {
            endWrite()
            throw .closed
        }
    }

    /// The versions whose pages stay, ascending, each once.
    ///
    /// They are read in this order: the visible version (by the caller), the checkpoint's, the
    /// durable one, the readers', the durable one again. A reader that pins after the visible
    /// version was read pins that version, or a later one of this process's group, which is in the
    /// list too. A read-only opener that can't read the lock file pins the version of the newest
    /// meta: if it does so after the readers were read, that is one of the two durable versions or
    /// the checkpoint's. A checkpoint makes its version the durable one before it releases its pin
    /// and its word: if those are missing when they are read, the durable version, read last, is
    /// the checkpoint's. In the reverse order, both would be missed.
    private func pins(_ visible: Version, _ beingWritten: Version?) throws(StorageError)
        -> [Version]
    {
        Failpoint.reach(.pinsBegun)
        let checkpoint = coordinator.checkpointVersion
        let durableBefore = coordinator.durableVersion
        let readers = try coordinator.pinnedVersions()
        let oldest = readers.first ?? visible
        let active = readers.count + (readers.last == visible ? 0 : 1)
        writer.withLock {
            $0.oldestPin = oldest
            $0.activeVersions = active
        }
        let durable = coordinator.durableVersion
        var pins = readers
        for pin in [visible, beingWritten ?? 0, checkpoint, durableBefore, durable]
        where pin != 0 {
            let index = FreeSpace.index(ofPinFrom: pin, in: pins)
            if index == pins.count || pins[index] != pin { pins.insert(pin, at: index) }
        }
        return pins
    }

    /// Gives the write lock back: to the next thread of this process only, as long as its group of
    /// commits is not written.
    func endWrite() {
        if group.isIdle { return coordinator.unlockWriter() }
        coordinator.handWriterOn()
        coordinator.unlockWriterIfKept { group.isIdle }
    }

    /// Waits until a commit of a group is durable and published.
    func finishGroup(_ version: Version) throws(StorageError) {
        defer { coordinator.unlockWriterIfKept { group.isIdle } }
        if version > coordinator.published.version { try group.finish(version) }
    }

    /// Lets another process have its turn, when this one has kept the write lock for a group of
    /// commits.
    private func passWriterOn(_ timeoutMilliseconds: Int) throws(StorageError) -> Bool {
        do throws(StorageError) {
            try group.drain()
        } catch {
            endWrite()
            throw error
        }
        return try coordinator.passWriterOn(timeoutMilliseconds: timeoutMilliseconds)
    }

    /// Pins a version that the caller has just committed and that is not published yet, or is the
    /// newest. The caller has the write lock.
    func read(_ published: PublishedVersion) throws(StorageError) -> Snapshot {
        let pin = try coordinator.pin(published)
        do throws(StorageError) {
            return try Snapshot(store: self, published: published, pin: pin)
        } catch {
            coordinator.unpin(pin)
            throw error
        }
    }

    /// Lends the writer to a transaction, which has the write lock.
    func takeWriter() -> Writer {
        let writer = writer.withLock { state in
            defer { state.writer = nil }
            return state.writer
        }
        return writer ?? Writer(for: self)
    }

    /// Takes the writer back from a transaction, which still has the write lock.
    func giveBack(_ returned: Writer) {
        writer.withLock { $0.writer = returned }
    }

    /// The oldest version that some reader has pinned, as the present writer found it.
    var oldestPin: Version { writer.withLock { $0.oldestPin } }

    /// Number of versions when the present writer began: those that some reader, of any process,
    /// had pinned, and the newest.
    package var activeVersions: Int { writer.withLock { $0.activeVersions } }

    /// Keys that no row has or will have, by table, see `WriterState`.
    var abandonedKeys: [TreeID: Int64] { writer.withLock { $0.abandonedKeys } }

    func abandon(_ keys: [TreeID: Int64]) {
        writer.withLock { $0.abandonedKeys.merge(keys, uniquingKeysWith: max) }
    }

    /// Whether a path names this file.
    package func isFile(at path: String) -> Bool {
        guard file.hasLocks, let found = try? FileIdentity.ofFile(at: path) else {
            return false
        }
        return found == template.identity
    }

    /// Whether the program has left the file's descriptors alone. Every call finds out, too.
    var isIntact: Bool {
        (try? file.checkDescriptor()) != nil && (try? coordinator.checkLocks()) != nil
    }

    /// Refuses to write into a file that its path no longer names: the data would be lost with the
    /// last handle.
    private func checkNotReplaced() throws(StorageError) {
        guard file.hasLocks else { return }
        if try system(FileIdentity.ofFile(at: file.path)) != template.identity {
            throw .replaced(path: file.path)
        }
    }
}

extension Version {
    /// - Throws: `versionTooLow` if it is lower.
    func expect(atLeast minimum: Version, in path: String) throws(StorageError) {
        if self < minimum { throw .versionTooLow(path: path, found: self, minimum: minimum) }
    }
}
