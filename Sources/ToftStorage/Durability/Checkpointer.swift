internal import Synchronization
internal import ToftPlatform

/// The thread of a store that checkpoints in the background: when enough waits for it, when nothing
/// was committed for a second, and once a second while commits are deferred.
///
/// 1. The thread exists from the first logged commit to `stop`.
/// 2. While nothing waits it sleeps without end; the first commit after that wakes it. While
///    something waits it looks once a second whether the commits have stopped, or deferred ones
///    wait. So a commit makes a system call only when the thread slept, or has to work.
/// 3. Any process may checkpoint the commits of any other: the second one finds nothing to do.
final class Checkpointer: Sendable {
    private let checkpoint: Checkpoint
    private let coordinator: Coordinator
    private let thread = FutexMutex<PlatformThread?>(nil)
    private let hasThread = Atomic<Bool>(false)
    private let call = Call()

    /// The word that the thread sleeps on, and the reason for waking it.
    private final class Call: Sendable {
        static let asleep: UInt32 = 0
        static let watching: UInt32 = 1
        static let due: UInt32 = 2
        static let stopping: UInt32 = 3

        let futex: Futex
        var word: UnsafeMutablePointer<Atomic<UInt32>> { futex.word }

        init() {
            futex = Futex(word: .allocate(capacity: 1), isPrivate: true)
            word.initialize(to: Atomic(Self.asleep))
        }

        deinit { word.deallocate() }
    }

    init(_ checkpoint: Checkpoint) {
        self.checkpoint = checkpoint
        coordinator = checkpoint.coordinator
    }

    /// Notes that something was logged, and the present backlog.
    func note(_ waiting: Coordinator.CheckpointBacklog) {
        if !hasThread.load(ordering: .acquiring) { start() }
        let isDue =
            waiting.bytes > LogLimit.backlogBytes || waiting.effects > LogLimit.backlogEffects
        raise(to: isDue ? Call.due : Call.watching)
    }

    /// Ends the thread, after the checkpoint that it is at, if it is.
    func stop() {
        raise(to: Call.stopping)
        thread.withLock { thread in
            thread?.join()
            thread = nil
        }
    }

    private func raise(to state: UInt32) {
        if call.word.pointee.load(ordering: .relaxed) >= state { return }
        if call.word.pointee.max(state, ordering: .sequentiallyConsistent).oldValue < state {
            call.futex.wake(1)
        }
    }

    private func start() {
        thread.withLock { thread in
            guard thread == nil, call.word.pointee.load(ordering: .relaxed) != Call.stopping else {
                return
            }
            // Without a thread the log is checkpointed when it is full, and at the last close.
            thread = try? PlatformThread(name: "toft-checkpoint") {
                [checkpoint, coordinator, call] in Self.run(checkpoint, coordinator, call)
            }
            hasThread.store(true, ordering: .releasing)
        }
    }

    /// The values that the thread checks once a second.
    private struct Sight {
        var version: Version
        /// Whether the end of the log is not durable.
        var isDeferred: Bool

        init(version: Version, isDeferred: Bool) {
            self.version = version
            self.isDeferred = isDeferred
        }

        init(_ coordinator: Coordinator) {
            let published = coordinator.published
            self.init(
                version: published.version,
                isDeferred: coordinator.durableLog(of: published) < published.log.position)
        }
    }

    private static func run(_ checkpoint: Checkpoint, _ coordinator: Coordinator, _ call: Call) {
        var seen = Sight(version: 0, isDeferred: false)
        while true {
            let state = call.word.pointee.load(ordering: .sequentiallyConsistent)
            let sight = Sight(coordinator)
            switch state {
            case Call.stopping: return
            case Call.asleep: call.futex.wait(while: Call.asleep, nanoseconds: -1)
            case Call.watching
            where sight.version != seen.version && !(sight.isDeferred && seen.isDeferred):
                seen = sight
                call.futex.wait(
                    while: Call.watching, nanoseconds: Int64(LogLimit.idleMilliseconds) * 1_000_000)
            default:
                // A commit from here on calls again.
                guard
                    call.word.pointee.compareExchange(
                        expected: state, desired: Call.asleep, ordering: .sequentiallyConsistent
                    ).exchanged
                else {
                    continue
                }
                // A failed sync has poisoned the database. After another failure the log stays as
                // it is; the next commit calls again.
                do throws(StorageError) {
                    try checkpoint.run()
                } catch {
                    Diagnostics.tell(
                        .error, "A checkpoint of '\(checkpoint.path)' failed: \(error).")
                }
                Diagnostics.deliver()
                seen = Sight(version: 0, isDeferred: false)
            }
        }
    }
}
