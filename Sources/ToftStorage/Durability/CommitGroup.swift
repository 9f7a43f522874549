internal import Synchronization
internal import ToftPlatform

/// The logged commits of this process that wait for one durable write, and the threads that wait
/// for them.
///
/// 1. A commit joins under the write lock, its extents written. Its version may then be built upon,
///    by threads of this process only: it is not published, so the process keeps the write lock's
///    byte until the group is empty.
/// 2. A thread that waits and finds no leader leads: it does steps 5 and 6 of `Commit` for all that
///    have joined, by one durable write, and wakes the others. Meanwhile further commits
///    join; the next leader takes them all.
/// 3. If the write fails, the database is poisoned, and the outcome of every commit of the group is
///    unknown.
/// 4. An immediate commit is a group of its own (and of the commits that joined before), written
///    before its write lock is released.
final class CommitGroup: Sendable {
    private struct State {
        var frames: [LogAppend] = []
        /// The newest version of the frames; nil when all are published.
        var newest: PublishedVersion?
        /// The version that the leader is about to publish, while one writes.
        var beingWritten: Version?
        var isWriting: Bool { beingWritten != nil }
        /// Whether a thread sleeps until the write that is under way has ended.
        var hasSleepers = false
        /// The newest version that was published.
        var published: Version = 0
        var hasFailed = false
    }

    private let file: DataFile
    private let coordinator: Coordinator
    private let state = FutexMutex(State())
    /// Counts the writes that have ended.
    private let turn = Turn()

    private final class Turn: Sendable {
        let futex: Futex
        var word: UnsafeMutablePointer<Atomic<UInt32>> { futex.word }

        init() {
            futex = Futex(word: .allocate(capacity: 1), isPrivate: true)
            word.initialize(to: Atomic(0))
        }

        deinit { word.deallocate() }
    }

    init(file: DataFile, coordinator: Coordinator) {
        self.file = file
        self.coordinator = coordinator
    }

    /// The newest version that is not published yet: the base of this process's next transaction.
    var newest: PublishedVersion? { state.withLock { $0.newest } }

    /// The newest version of the group, and the one being written: readers may see that at any
    /// moment, so the next transaction counts it as pinned.
    var ahead: (newest: PublishedVersion?, beingWritten: Version?) {
        state.withLock { ($0.newest, $0.beingWritten) }
    }

    /// Whether every commit that joined was published.
    var isIdle: Bool { state.withLock { $0.newest == nil && !$0.isWriting } }

    /// Joins a commit. The caller has the write lock.
    func add(_ frame: LogAppend, _ version: PublishedVersion) {
        state.withLock { state in
            state.frames.append(frame)
            state.newest = version
        }
    }

    /// Returns when a version that joined is durable and published.
    ///
    /// - Throws: `commitOutcomeUnknown` after a failed write.
    func finish(_ version: Version) throws(StorageError) {
        while true {
            switch step(version) {
            case .done: return
            case .failed: throw .commitOutcomeUnknown(version: version)
            case .wait(let seen):
                turn.futex.wait(while: seen, nanoseconds: -1)
            case .lead(let frames, let newest): lead(frames, newest)
            }
        }
    }

    /// Returns when everything that joined so far is published, for a caller that builds on it.
    ///
    /// - Throws: `poisoned` if it failed. Threads that wait for their own commits get their own
    ///   errors.
    func drain() throws(StorageError) {
        guard let newest else { return }
        do throws(StorageError) {
            try finish(newest.version)
        } catch {
            throw .poisoned
        }
    }

    private enum Step {
        case done
        case failed
        case wait(UInt32)
        case lead([LogAppend], PublishedVersion)
    }

    private func step(_ version: Version) -> Step {
        let seen = turn.word.pointee.load(ordering: .sequentiallyConsistent)
        return state.withLock { state in
            if state.published >= version { return .done }
            if state.hasFailed { return .failed }
            guard !state.isWriting, let newest = state.newest else {
                state.hasSleepers = true
                return .wait(seen)
            }
            state.beingWritten = newest.version
            defer { state.frames = [] }
            return .lead(state.frames, newest)
        }
    }

    private func lead(_ frames: [LogAppend], _ newest: PublishedVersion) {
        let isWritten =
            (try? Self.appendAndPublish(frames, newest, to: file, coordinator)) != nil
        let hasSleepers = state.withLock { state in
            state.beingWritten = nil
            state.hasFailed = !isWritten
            if isWritten { state.published = newest.version }
            if state.newest?.version == newest.version || !isWritten { state.newest = nil }
            defer { state.hasSleepers = false }
            return state.hasSleepers
        }
        turn.word.pointee.add(1, ordering: .sequentiallyConsistent)
        if hasSleepers { turn.futex.wake(.max) }
    }

    /// Steps 5 and 6 of the commits of a group, or of one alone, by the thread that leads the
    /// group; it need not have the write lock.
    ///
    /// - Parameter newest: the version of the last frame.
    /// - Throws: after an error the outcome of all of them is unknown.
    static func appendAndPublish(
        _ frames: [LogAppend], _ newest: PublishedVersion, to file: DataFile,
        _ coordinator: Coordinator
    ) throws(StorageError) {
        // 5. The records are appended to the log, durably.
        try coordinator.orPoison { () throws(StorageError) in
            try LogAppend.writeDurably(frames, to: file)
        }
        try Failpoint.pass(.logWritten)
        // 6. The newest version is published, and with it those before.
        var version = newest
        version.durableLog = newest.log.position
        publish(version, coordinator)
    }

    static func publish(_ version: PublishedVersion, _ coordinator: Coordinator) {
        coordinator.publish(version)
        Failpoint.reach(.published)
        coordinator.wake()
    }
}
