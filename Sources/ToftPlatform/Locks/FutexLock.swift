public import Synchronization

/// A lock in one word. 0: free. 1: held. 2: held, and a thread may sleep.
///
/// Source: U. Drepper, "Futexes are tricky", the third mutex.
@usableFromInline
enum FutexLock {
    @usableFromInline typealias Word = UnsafeMutablePointer<Atomic<UInt32>>

    /// Turns of a loop before a thread sleeps: some 100 ns.
    private static let spins = 40

    /// Waits as long as it takes.
    @inlinable @inline(__always)
    static func lock(_ word: Word) {
        if !tryLock(word) { wait(word) }
    }

    /// False if a thread has it.
    @inlinable @inline(__always)
    static func tryLock(_ word: Word) -> Bool {
        word.pointee.compareExchange(expected: 0, desired: 1, ordering: .acquiring).exchanged
    }

    @inlinable @inline(__always)
    static func unlock(_ word: Word) {
        if word.pointee.exchange(0, ordering: .releasing) == 2 { wake(word) }
    }

    @usableFromInline @inline(never)
    static func wait(_ word: Word) { _ = wait(word, until: Deadline(timeoutMilliseconds: nil)) }

    /// False if the deadline passed first.
    static func wait(_ word: Word, until deadline: Deadline) -> Bool {
        for _ in 0..<spins where word.pointee.load(ordering: .relaxed) == 0 && tryLock(word) {
            return true
        }
        while word.pointee.exchange(2, ordering: .acquiring) != 0 {
            if deadline.hasPassed { return false }
            Futex(word: word, isPrivate: true).wait(
                while: 2, nanoseconds: deadline.isNever ? -1 : deadline.remainingNanoseconds())
        }
        return true
    }

    @usableFromInline @inline(never)
    static func wake(_ word: Word) { Futex(word: word, isPrivate: true).wake(1) }
}

/// A lock of this process that can be waited for with a deadline, and released by another thread
/// than the one that took it.
///
/// `@unchecked Sendable`: its word is atomic.
package final class ThreadLock: @unchecked Sendable {
    private let word: FutexLock.Word

    package init() {
        word = .allocate(capacity: 1)
        word.initialize(to: Atomic(0))
    }

    deinit { word.deallocate() }

    /// False if the deadline passed first.
    package func lock(until deadline: Deadline) -> Bool {
        FutexLock.tryLock(word) || FutexLock.wait(word, until: deadline)
    }

    /// False if a thread has it.
    package func tryLock() -> Bool { FutexLock.tryLock(word) }

    package func unlock() { FutexLock.unlock(word) }
}
