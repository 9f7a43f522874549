internal import Synchronization

/// A lock of this process that can be waited for with a deadline, and given back by another thread
/// than took it.
///
/// 0: free. 1: held. 2: held, and a thread sleeps.
///
/// `@unchecked Sendable`: its word is atomic.
package final class ThreadLock: @unchecked Sendable {
    private let word: UnsafeMutablePointer<Atomic<UInt32>>
    private var futex: Futex { Futex(word: word, isPrivate: true) }

    package init() {
        word = .allocate(capacity: 1)
        word.initialize(to: Atomic(0))
    }

    deinit { word.deallocate() }

    /// A word that is 0 for ever: something to sleep on for a time.
    package static let neverWoken: Futex = {
        let word = UnsafeMutablePointer<Atomic<UInt32>>.allocate(capacity: 1)
        word.initialize(to: Atomic(0))
        return Futex(word: word, isPrivate: true)
    }()

    /// False if the deadline passed first.
    package func lock(until deadline: Deadline) -> Bool {
        if word.pointee.compareExchange(expected: 0, desired: 1, ordering: .acquiring).exchanged {
            return true
        }
        while word.pointee.exchange(2, ordering: .acquiring) != 0 {
            if deadline.hasPassed { return false }
            futex.wait(
                while: 2, nanoseconds: deadline.isNever ? -1 : deadline.remainingNanoseconds())
        }
        return true
    }

    /// False if a thread has it.
    package func tryLock() -> Bool {
        word.pointee.compareExchange(expected: 0, desired: 1, ordering: .acquiring).exchanged
    }

    package func unlock() {
        if word.pointee.exchange(0, ordering: .releasing) == 2 { futex.wake(1) }
    }
}
