internal import Synchronization
internal import ToftPlatform

/// A lock among all threads of all processes that have a file open: the write lock, and the
/// checkpoint lock.
///
/// 1. A thread first takes the lock of its process, then, for the process, a byte of the data file.
///    The kernel releases the byte when the process dies, so no death can block the others.
/// 2. `phase` is idle, or says that an owner is at work. A process that gets the byte and finds the
///    phase not idle knows that the last owner died; the phase then is `takeover` until the new one
///    says that it is done, so an heir that dies, or fails, leaves the duty to the next.
/// 3. Sleepers wait for `turn` to change, and look again from time to time: a death changes no
///    word. They say that they sleep in `sleepers`; `unlock` makes a system call only then, and
///    wakes one. One that slept says it again, since others may sleep still.
/// 4. A process that releases the lock while others sleep, and wants it again at once, sleeps
///    first: otherwise it would always be faster.
/// 5. The thread that unlocks need not be the one that locked.
/// 6. The byte ends with its descriptor, even if the program closes that: to the others the owner
///    has then died.
/// 7. A process may keep the byte when a thread releases the lock (`handOn`): its other threads
///    then take turns, until one finds that the byte can be released, or that another process wants
///    it.
final class InterprocessLock: Sendable {
    private enum Phase {
        static let idle: UInt64 = 0
        static let working: UInt64 = 1
        static let takeover: UInt64 = 2
    }

    private let words: SharedWords
    private let offset: Int
    /// Nil if no other process can have the file open.
    private let locks: FileLocks?
    private let byte: Int64
    private let threads = ThreadLock()
    /// When this process last gave the lock to a sleeper, and the count of acquisitions then.
    /// Guarded by `threads`.
    private let courtesy = FutexMutex<(acquisitions: UInt64, end: Deadline)?>(nil)

    /// Whether the process has the byte though no thread may have the lock. Changed only by the
    /// owner of `threads`.
    private let keepsByte = Atomic<Bool>(false)

    private static let courtesyMilliseconds = 2
    private static let firstLookNanoseconds: Int64 = 2_000_000
    private static let lastLookNanoseconds: Int64 = 32_000_000

    init(words: SharedWords, offset: Int, locks: FileLocks?, byte: Int64) {
        self.words = words
        self.offset = offset
        self.locks = locks
        self.byte = byte
    }

    private var phase: UnsafeMutablePointer<Atomic<UInt64>> {
        words.word(offset + LockFileLayout.Lock.phase)
    }
    private var acquisitions: UnsafeMutablePointer<Atomic<UInt64>> {
        words.word(offset + LockFileLayout.Lock.acquisitions)
    }
    private var turn: Futex { words.futex(offset + LockFileLayout.Lock.turn) }
    private var sleepers: UnsafeMutablePointer<Atomic<UInt32>> {
        words.futex(offset + LockFileLayout.Lock.sleepers).word
    }

    /// Returns whether the last owner died at work, so that its work has to be taken over;
    /// `finishTakeover` then confirms that.
    func lock(until deadline: Deadline) throws(StorageError) -> Bool {
        guard threads.lock(until: deadline) else { throw .lockTimeout }
        if isKept { return false }
        do throws(StorageError) {
            if let locks { try takeByte(locks, until: deadline) }
        } catch {
            threads.unlock()
            throw error
        }
        return begin()
    }

    /// Notes that the byte was taken. Returns whether the last owner died at work.
    private func begin() -> Bool {
        acquisitions.pointee.add(1, ordering: .relaxed)
        let ownerDied = phase.pointee.load(ordering: .acquiring) != Phase.idle
        phase.pointee.store(
            ownerDied ? Phase.takeover : Phase.working, ordering: .sequentiallyConsistent)
        return ownerDied
    }

    func finishTakeover() {
        phase.pointee.store(Phase.working, ordering: .releasing)
    }

    var isKept: Bool { keepsByte.load(ordering: .relaxed) }

    /// Whether another process sleeps until it gets the byte.
    var isWanted: Bool { sleepers.pointee.load(ordering: .sequentiallyConsistent) != 0 }

    /// Gives the lock to the next thread of this process, which keeps the byte.
    func handOn() {
        keepsByte.store(true, ordering: .relaxed)
        threads.unlock()
    }

    /// Gives a kept byte back, unless a thread has the lock (which then will) or more is to be
    /// done.
    func unlockIfKept(_ isDone: () -> Bool) {
        // Another thread that looked meanwhile has found this one here: it looks again.
        while isKept, isDone(), threads.tryLock() {
            if isKept && isDone() { return unlock() }
            threads.unlock()
        }
    }

    /// Passes the byte to a process that waits, and takes it again. Returns the result of `lock`.
    /// If it throws, the caller no longer has the lock.
    func passOn(until deadline: Deadline) throws(StorageError) -> Bool {
        guard let locks else { return false }
        release()
        do throws(StorageError) {
            try takeByte(locks, until: deadline)
        } catch {
            threads.unlock()
            throw error
        }
        return begin()
    }

    func unlock() {
        release()
        threads.unlock()
    }

    private func release() {
        keepsByte.store(false, ordering: .relaxed)
        // If the byte was lost, another process may have the lock and is cleaning up after this
        // one.
        guard locks?.isIntact ?? true else { return }
        if phase.pointee.load(ordering: .relaxed) != Phase.takeover {
            phase.pointee.store(Phase.idle, ordering: .releasing)
        }
        guard let locks else { return }
        let count = acquisitions.pointee.load(ordering: .relaxed)
        locks.release(byte)
        turn.word.pointee.add(1, ordering: .sequentiallyConsistent)
        let somebodySleeps = sleepers.pointee.exchange(0, ordering: .sequentiallyConsistent) != 0
        if somebodySleeps { turn.wake(1) }
        courtesy.withLock {
            $0 =
                somebodySleeps
                ? (count, Deadline(timeoutMilliseconds: Self.courtesyMilliseconds)) : nil
        }
    }

    private func takeByte(_ locks: FileLocks, until deadline: Deadline) throws(StorageError) {
        var hasSlept = giveWay()
        var look = Self.firstLookNanoseconds
        while true {
            let seen = turn.word.pointee.load(ordering: .sequentiallyConsistent)
            if try system(locks.takeExclusive(byte)) { break }
            sleepers.pointee.store(1, ordering: .sequentiallyConsistent)
            // Given back between the two: its owner may not have seen that we are about to sleep.
            if try system(locks.takeExclusive(byte)) { break }
            if deadline.hasPassed { throw .lockTimeout }
            turn.wait(while: seen, nanoseconds: deadline.remainingNanoseconds(atMost: look))
            look = min(look * 2, Self.lastLookNanoseconds)
            hasSlept = true
        }
        if hasSlept { sleepers.pointee.store(1, ordering: .sequentiallyConsistent) }
    }

    /// Sleeps for a moment if another process was promised the next turn and has not had it.
    /// Returns whether it slept.
    private func giveWay() -> Bool {
        let promise = courtesy.withLock { promise in
            defer { promise = nil }
            return promise
        }
        guard let promise, !promise.end.hasPassed else { return false }
        let seen = turn.word.pointee.load(ordering: .sequentiallyConsistent)
        guard acquisitions.pointee.load(ordering: .relaxed) == promise.acquisitions else {
            return false
        }
        sleepers.pointee.store(1, ordering: .sequentiallyConsistent)
        turn.wait(while: seen, nanoseconds: promise.end.remainingNanoseconds())
        return true
    }
}
