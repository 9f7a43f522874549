internal import Synchronization
package import ToftPlatform

/// A version that cannot lose its pages until it is released.
package struct Pin: Sendable {
    package let published: PublishedVersion
    /// False: it is that of a meta, and no process has read the log behind it.
    var isRecovered = true
}

/// The state that the processes with a file open, and the threads of each, share: the writer, the
/// newest version, the versions being read, and whether a sync has failed. One for each open file
/// in a process.
///
/// 1. A **participant** reads and writes. It shares the words of the lock file and holds the attach
///    lock (shared) while it is attached. The lock file is trusted only while a participant is
///    attached: the first to attach holds the attach lock exclusively, rebuilds the lock file,
///    recovers, and calls `open(published:)`, which admits the others. A first that dies before
///    that leaves the attach lock to the next.
/// 2. A **read-only attachment** only reads, and writes nothing at all. It needs no lock file: see
///    `ReadOnlyAttachments`. If there are participants, it reads their words.
/// 3. The coordinator of an **in-memory** database has words of its own, and no locks but those of
///    its process. The coordinator of a process which has a file for itself, **alone**, has words
///    of its own and keeps the attach lock exclusively, if there are locks.
/// 4. A process that finds the attach lock held but the lock file missing, foreign or of another
///    build does not join: `incompatibleProcess`.
/// 5. The last participant to leave gets the attach lock exclusively once more, so that it can
///    close the file cleanly.
/// 6. After a fork the child's coordinator does nothing: every call but `detach` throws
///    `usedAfterFork` or has no effect.
package final class Coordinator: Sendable {
    enum Role {
        case participant(ReaderTable)
        case readOnly(ReadOnlyAttachments)
    }

    let words: SharedWords
    let ring: VersionRing
    let role: Role
    /// The locks that show that the process lives, and the versions that it reads; nil for
    /// in-memory databases.
    let locks: FileLocks?
    /// The file that holds them; the coordinator has its descriptor.
    package let living: PosixFile?
    /// Whether no other process may have the file open.
    let isAlone: Bool
    /// The number that a rebuild changes, if others have mapped the words too.
    let stamp: UInt64
    /// For the first: the newest version of the processes that had the file open before and died.
    /// Its pages exist as long as the machine has not been restarted.
    let abandoned: PublishedVersion?
    private let writerLock: InterprocessLock
    private let checkpointLock: InterprocessLock
    private let isBuilding: Atomic<Bool>
    private let isDetached = Atomic<Bool>(false)
    private let generation = ForkGuard.generation

    /// - Parameter file: its descriptor owns the writers' locks, which end with it; nil for
    ///   in-memory databases.
    /// - Parameter living: the same file, anchored: the pages that a process reads stay as long as
    ///   it lives.
    init(
        words: SharedWords, file: PosixFile?, living: PosixFile?, role: Role, isFirst: Bool,
        isAlone: Bool = false, abandoned: PublishedVersion? = nil
    ) {
        self.abandoned = abandoned
        self.isAlone = isAlone
        self.living = living
        locks = living.map { FileLocks(file: $0) }
        let writing = file.map { FileLocks(file: $0) }
        self.words = words
        self.role = role
        ring = VersionRing(words: words)
        stamp = words.word(LockFileLayout.stamp).pointee.load(ordering: .relaxed)
        writerLock = InterprocessLock(
            words: words, offset: LockFileLayout.writerLock, locks: writing,
            byte: LockByte.writer)
        checkpointLock = InterprocessLock(
            words: words, offset: LockFileLayout.checkpointLock, locks: writing,
            byte: LockByte.checkpoint)
        isBuilding = Atomic(isFirst)
    }

    /// For a database in memory; the caller is the first, and stays alone.
    package static func inMemory() throws(StorageError) -> Coordinator {
        let words = SharedWords(byteCount: LockFileLayout.size)
        let pins = try ReaderTable(words: words, processes: ProcessTable(words: words, locks: nil))
        return Coordinator(
            words: words, file: nil, living: nil, role: .participant(pins), isFirst: true)
    }

    /// Whether the caller must recover the file and then call `open(published:)`. Always so for
    /// read-only attachments and in-memory databases, for whom `open` only says that they are done.
    package var isFirst: Bool { isBuilding.load(ordering: .acquiring) }

    /// True in a forked child.
    @inline(__always)
    var isForeign: Bool { ForkGuard.generation != generation }

    private var isUsable: Bool { !isForeign && !isDetached.load(ordering: .relaxed) }

    private func checkUsable() throws(StorageError) {
        if isForeign { throw .usedAfterFork }
        if isDetached.load(ordering: .relaxed) { throw .closed }
    }

    // MARK: Coming and going

    /// Ends the time as the first: the version that recovery found is published, it counts as
    /// durable, and others may attach.
    package func open(published: PublishedVersion, log: LogRing = .none) throws(StorageError) {
        try checkUsable()
        guard isBuilding.load(ordering: .acquiring) else { return }
        if case .participant = role {
            words.word(LockFileLayout.claimedVersion).pointee.store(
                published.version.rawValue, ordering: .relaxed)
            words.word(LockFileLayout.durableVersion).pointee.store(
                published.version.rawValue, ordering: .relaxed)
            setLog(log, tail: published.log.position)
            ring.publish(published)
            words.word(LockFileLayout.state).pointee.store(
                LockFileLayout.State.open, ordering: .sequentiallyConsistent)
            if let locks, !isAlone, try !system(locks.takeShared(LockByte.attach)) {
                throw .incompatibleProcess("the attach lock was lost")
            }
        }
        isBuilding.store(false, ordering: .releasing)
        Failpoint.reach(.opened)
    }

    /// Leaves. If this was the last participant, `last` runs first, alone with the file.
    /// Idempotent; does nothing in a forked child.
    package func detach(_ last: () -> Void) {
        guard !isForeign, !isDetached.exchange(true, ordering: .acquiringAndReleasing) else {
            return
        }
        switch role {
        case .readOnly(let pins): pins.leave()
        case .participant(let pins):
            pins.leave()
            if let locks { leave(locks, last) } else { last() }
            // Closes all that it still holds after its descriptor was lost.
            try? living?.close()
        }
    }

    /// Throws `descriptorLost` if the program has closed the descriptor of the locks: they are
    /// held, but no other can be acquired.
    func checkLocks() throws(StorageError) {
        if let living { try system(living.checkDescriptor()) }
    }

    private func leave(_ locks: FileLocks, _ last: () -> Void) {
        let wasOpen = !isBuilding.load(ordering: .acquiring)
        if wasOpen, (try? locks.takeExclusive(LockByte.attach)) == true {
            finish(last)
        } else if wasOpen {
            // If two leave at once, neither is alone: the one that returns first closes for both,
            // unless others attached meanwhile.
            locks.release(LockByte.attach)
            if (try? locks.takeExclusive(LockByte.attach)) == true, isSameBuild { finish(last) }
        }
        locks.release(LockByte.attach)
    }

    private func finish(_ last: () -> Void) {
        Failpoint.reach(.leavingLast)
        last()
        words.word(LockFileLayout.state).pointee.store(
            LockFileLayout.State.closed, ordering: .sequentiallyConsistent)
    }

    private var isSameBuild: Bool {
        words.word(LockFileLayout.stamp).pointee.load(ordering: .acquiring) == stamp
            && words.word(LockFileLayout.state).pointee.load(ordering: .acquiring)
                == LockFileLayout.State.open
    }

    deinit { detach {} }

    // MARK: Versions

    /// The newest version that may be read.
    package var published: PublishedVersion {
        if case .readOnly(let pins) = role, let latest = try? pins.latest() {
            return latest.published
        }
        return ring.latest().published
    }

    /// Makes a version visible. Only for the process that holds the byte of the write lock, one
    /// thread at a time.
    package func publish(_ version: PublishedVersion) {
        guard isUsable else { return }
        ring.publish(version)
    }

    /// A version number above all that any writer, also one that died or rolled back, has used.
    func claimVersion() -> Version {
        let word = words.word(LockFileLayout.claimedVersion)
        word.pointee.max(ring.version.rawValue, ordering: .relaxed)
        return Version(word.pointee.add(1, ordering: .sequentiallyConsistent).newValue)
    }

    /// Marks numbers as used.
    func claimVersions(upTo version: Version) {
        words.word(LockFileLayout.claimedVersion).pointee.max(
            version.rawValue, ordering: .sequentiallyConsistent)
    }

    /// The newest version whose meta page was synced.
    package var durableVersion: Version {
        get {
            Version(words.word(LockFileLayout.durableVersion).pointee.load(ordering: .acquiring))
        }
        set {
            words.word(LockFileLayout.durableVersion).pointee.store(
                newValue.rawValue, ordering: .sequentiallyConsistent)
        }
    }

    // MARK: Pins

    /// Pins the newest version.
    ///
    /// - Throws: `tooManyReaders`, when 16,384 versions are pinned, or 1,024 processes are
    ///   attached.
    package func pinLatest() throws(StorageError) -> Pin {
        try checkUsable()
        switch role {
        case .participant(let pins): return Pin(published: try pins.pinLatest())
        case .readOnly(let pins): return try pins.pinLatest()
        }
    }

    /// Pins a version that is certainly still there: the newest, or one that is about to be. Only
    /// for the owner of the write lock.
    func pin(_ published: PublishedVersion) throws(StorageError) -> Pin {
        try checkUsable()
        guard case .participant(let pins) = role else { throw .readOnly }
        try pins.pin(published.version)
        return Pin(published: published)
    }

    package func unpin(_ pin: Pin) {
        guard isUsable else { return }
        switch role {
        case .participant(let pins): pins.unpin(pin.published.version)
        case .readOnly(let pins): pins.unpin(pin.published.version)
        }
    }

    /// Ends reading for this process if it has nothing pinned; false if it has, or if it only
    /// reads. The caller leaves next.
    func endReading() -> Bool {
        guard isUsable, case .participant(let pins) = role else { return false }
        return pins.end()
    }

    /// Whether `open` was called, and `detach` was not.
    var isOpen: Bool { isUsable && !isFirst }

    /// The versions that readers of all processes have pinned, ascending. Pins of dead processes
    /// are released.
    package func pinnedVersions() throws(StorageError) -> [Version] {
        try checkUsable()
        guard case .participant(let pins) = role else { return [] }
        var versions = pins.versions()
        if let locks { versions += try ReadOnlyAttachments.versions(locks) }
        guard versions.count > 1 else { return versions }
        versions.sort()
        var unique = 1
        for version in versions.dropFirst() where version != versions[unique - 1] {
            versions[unique] = version
            unique += 1
        }
        return Array(versions[..<unique])
    }

    /// A pinned version, the process that pinned it, and the nanoseconds since; nil: a process that
    /// only reads, which the kernel does not name, and an unknown time.
    typealias PinFacts = (version: Version, processID: UInt64?, age: Int64?)

    /// The processes with pins and their versions, ascending. Changes nothing.
    func pins() throws(StorageError) -> [PinFacts] {
        try checkUsable()
        var found: [PinFacts]
        switch role {
        case .participant(let pins): found = pins.pins()
        case .readOnly(let pins):
            found = try pins.participants().map { ReaderTable.pins($0, locks) } ?? []
            found += pins.own.map { ($0, ProcessIdentity.current().pid, nil) }
        }
        if let locks { found += try ReadOnlyAttachments.versions(locks).map { ($0, nil, nil) } }
        return found.sorted { ($0.version, $0.processID ?? 0) < ($1.version, $1.processID ?? 0) }
    }

    /// Whether a read-only attachment would pin the same now.
    func isNewest(_ pin: Pin) throws(StorageError) -> Bool {
        guard case .readOnly(let pins) = role else { return true }
        let latest = try pins.latest()
        return latest.published.version == pin.published.version
            && latest.isRecovered == pin.isRecovered
    }

    /// The versions that read-only attachments read; the first to attach needs them before it
    /// recovers.
    func readOnlyPins() throws(StorageError) -> [Version] {
        guard let locks else { return [] }
        return try ReadOnlyAttachments.versions(locks).sorted()
    }

    /// The versions that this process reads as a read-only attachment.
    var ownReadOnlyPins: [Version] {
        if case .readOnly(let pins) = role { pins.own } else { [] }
    }

    // MARK: Locks

    /// Takes the write lock, after other threads and processes, waiting at most
    /// `timeoutMilliseconds` (negative: for ever). Returns whether the last owner died while it had
    /// it: its work has to be taken over before anything is written, and `finishTakeover` confirms
    /// that. Without that before `unlockWriter`, the duty stays with the next owner.
    func lockWriter(timeoutMilliseconds: Int) throws(StorageError) -> Bool {
        try checkUsable()
        if case .readOnly = role { throw .readOnly }
        let ownerDied = try writerLock.lock(
            until: Deadline(
                timeoutMilliseconds: timeoutMilliseconds < 0 ? nil : timeoutMilliseconds))
        Failpoint.reach(.writerTaken)
        return ownerDied || Failpoint.takeOwnersDeath()
    }

    func finishTakeover() { writerLock.finishTakeover() }

    /// May be called by another thread than took it.
    func unlockWriter() {
        Failpoint.reach(.writerLeaving)
        if isUsable { writerLock.unlock() }
    }

    // A process may keep the write lock when one of its threads releases it, for the other threads.

    /// Gives the write lock to the next thread of this process.
    func handWriterOn() {
        if isUsable { writerLock.handOn() }
    }

    /// Releases a kept write lock, if no thread has it and `isDone` returns true.
    func unlockWriterIfKept(_ isDone: () -> Bool) {
        if isUsable { writerLock.unlockIfKept(isDone) }
    }

    /// Whether another process waits for the write lock that this one has kept. The caller has the
    /// lock.
    var isWriterWanted: Bool { writerLock.isKept && writerLock.isWanted }

    /// Passes the write lock to another process, and takes it again: returns the result of
    /// `lockWriter`. If it throws, the caller no longer has the lock.
    func passWriterOn(timeoutMilliseconds: Int) throws(StorageError) -> Bool {
        try writerLock.passOn(
            until: Deadline(
                timeoutMilliseconds: timeoutMilliseconds < 0 ? nil : timeoutMilliseconds))
    }

    /// Takes the checkpoint lock, which a thread may wait for while it has the write lock, but not
    /// vice versa. Returns whether the last owner died while it had it.
    @discardableResult
    func lockCheckpoint() throws(StorageError) -> Bool {
        try checkUsable()
        let ownerDied = try checkpointLock.lock(until: Deadline(timeoutMilliseconds: nil))
        Failpoint.reach(.checkpointTaken)
        if ownerDied { checkpointLock.finishTakeover() }
        return ownerDied
    }

    func unlockCheckpoint() {
        Failpoint.reach(.checkpointLeaving)
        if isUsable { checkpointLock.unlock() }
    }

    // MARK: Poison

    /// Whether a sync has failed, in any process, since the first of them attached.
    package var isPoisoned: Bool {
        words.word(LockFileLayout.poison).pointee.load(ordering: .acquiring) != 0
    }

    /// Stops all writing, in all processes, until the last of them has left.
    package func poison() {
        guard !isForeign else { return }
        words.word(LockFileLayout.poison).pointee.store(1, ordering: .sequentiallyConsistent)
        Diagnostics.tell(
            .error,
            "A sync failed: nothing is written until all processes have closed the file.")
        wake()
    }

    /// Makes something durable. If that fails, the content of the disk is unknown, and it is never
    /// tried again: all writing stops.
    ///
    /// - Throws: `poisoned`; `descriptorLost`, which the other processes do not see.
    func orPoison(_ makeDurable: () throws(StorageError) -> Void) throws(StorageError) {
        do throws(StorageError) {
            try makeDurable()
        } catch {
            if case .descriptorLost = error { throw error }
            poison()
            throw .poisoned
        }
    }

    // MARK: Waiting

    /// Counts calls of `wake`. A caller that samples it before it checks for work misses no call
    /// between the check and the sleep.
    package var wakeCount: UInt32 {
        words.futex(LockFileLayout.signal).word.pointee.load(ordering: .sequentiallyConsistent)
    }

    /// Sleeps until a thread of any process calls `wake`, or the time (negative: for ever) is over;
    /// not at all if a later version exists already, or `wake` was called since `seen` was taken.
    /// Returns whether a later version exists.
    func waitForVersion(
        after version: Version, since seen: UInt32? = nil, timeoutMilliseconds: Int
    ) -> Bool {
        let deadline = Deadline(
            timeoutMilliseconds: timeoutMilliseconds < 0 ? nil : timeoutMilliseconds)
        let seen = seen ?? wakeCount
        if case .readOnly = role {
            return waitByPolling(after: version, since: seen, until: deadline)
        }
        let signal = words.futex(LockFileLayout.signal)
        let sleepers = words.futex(LockFileLayout.signalSleepers).word
        while isUsable, ring.version <= version, !deadline.hasPassed {
            sleepers.pointee.store(1, ordering: .sequentiallyConsistent)
            // Whoever dies between taking the word back and the call wakes nobody.
            signal.wait(
                while: seen, nanoseconds: deadline.remainingNanoseconds(atMost: Self.sleepLimit))
            if signal.word.pointee.load(ordering: .sequentiallyConsistent) != seen { break }
        }
        return ring.version > version
    }

    /// Wakes all that sleep in `waitForVersion`. A system call only if there is one.
    package func wake() {
        guard !isForeign else { return }
        let signal = words.futex(LockFileLayout.signal)
        signal.word.pointee.add(1, ordering: .sequentiallyConsistent)
        if words.futex(LockFileLayout.signalSleepers).word.pointee.exchange(
            0, ordering: .sequentiallyConsistent) != 0
        {
            signal.wake(.max)
        }
    }

    /// A read-only attachment cannot say that it sleeps, so it looks from time to time. `wake`
    /// within its own process reaches it at once.
    private func waitByPolling(after version: Version, since seen: UInt32, until deadline: Deadline)
        -> Bool
    {
        let signal = words.futex(LockFileLayout.signal)
        while isUsable, published.version <= version, !deadline.hasPassed {
            words.futex(LockFileLayout.signalSleepers).word.pointee.store(
                1, ordering: .sequentiallyConsistent)
            signal.wait(
                while: seen,
                nanoseconds: deadline.remainingNanoseconds(atMost: Self.pollNanoseconds))
            if signal.word.pointee.load(ordering: .sequentiallyConsistent) != seen { break }
        }
        return published.version > version
    }

    private static let pollNanoseconds: Int64 = 50_000_000
    private static let sleepLimit: Int64 = 2_000_000_000
}
