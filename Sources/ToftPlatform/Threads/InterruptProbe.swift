internal import Synchronization

/// Counts the requests to end pending operations. Any thread.
package final class InterruptCounter: Sendable {
    fileprivate let count = Atomic<UInt64>(0)

    package init() {}

    /// Ends pending operations.
    package func interrupt() { count.add(1, ordering: .relaxed) }
}

/// Whether a thread's operation is to end: checked from time to time by long operations.
package struct InterruptProbe {
    private let counter: InterruptCounter?
    private let before: UInt64
    private let word: UnsafePointer<UInt32>?

    /// A probe that never ends anything: for operations that can't be interrupted.
    package static var never: InterruptProbe { InterruptProbe() }

    private init() {
        counter = nil
        before = 0
        word = nil
    }

    /// Returns true once the counter is interrupted from now on.
    package init(_ counter: InterruptCounter) {
        self.counter = counter
        before = counter.count.load(ordering: .relaxed)
        word = nil
    }

    /// Returns true once the counter is interrupted, including earlier interruptions.
    package init(sinceMade counter: InterruptCounter) {
        self.counter = counter
        before = 0
        word = nil
    }

    /// Says yes while the word is not 0, which any thread or signal handler may change.
    package init(_ word: UnsafePointer<UInt32>) {
        counter = nil
        before = 0
        self.word = word
    }

    package var isInterrupted: Bool {
        if let word {
            let atomic = UnsafeRawPointer(word).assumingMemoryBound(to: Atomic<UInt32>.self)
            if atomic.pointee.load(ordering: .relaxed) != 0 { return true }
        }
        guard let counter else { return false }
        return counter.count.load(ordering: .relaxed) != before
    }

    /// A thread's state for interruptions.
    package final class Thread {
        fileprivate var probe: InterruptProbe?
        /// Whether an operation that cannot throw has ended too early, so that its result is void.
        package var hasEndedEarly: Bool { hasEnded }
        @exclusivity(unchecked) fileprivate var hasEnded = false  // read for every batch of a query

        /// For loops that cannot throw: whether to end, with any result.
        package func endsEarly() -> Bool {
            if probe?.isInterrupted == true { hasEnded = true }
            return hasEnded
        }
    }

    private static let local = ThreadLocal<Thread>()

    /// The state of the calling thread.
    package static var thread: Thread { local.value { Thread() } }

    /// The one that the calling thread has been given.
    package static var current: InterruptProbe? { thread.probe }

    /// Gives the probe to the calling thread while the body runs.
    package func watching<Result, Failure: Error>(_ body: () throws(Failure) -> Result)
        throws(Failure) -> Result
    {
        let thread = Self.thread
        let (outer, hadEnded) = (thread.probe, thread.hasEnded)
        thread.probe = self
        thread.hasEnded = false
        defer {
            thread.probe = outer
            thread.hasEnded = hadEnded
        }
        return try body()
    }
}
