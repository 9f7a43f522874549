internal import Synchronization

/// Messages about the library's work, for a program's log.
///
/// 1. Without a listener `tell` costs one load and builds no text.
/// 2. A message stays with the thread on which it arose until no lock is held: an API delivers it
///    at the end of the thread's outermost call, the library's own threads after their work.
/// 3. While a listener runs on a thread, no call begins there (`ThreadMark.refused`), and its own
///    messages are dropped.
/// 4. A forked child has no listener.
package enum Diagnostics {
    /// The importance of a message; a listener gets those up to its own level.
    package enum Level: UInt32, Sendable {
        case off, fatal, error, warn, info, detail, debug, trace
    }

    /// Gets a message, on the thread on which it arose.
    package typealias Listener = @Sendable (Level, String) -> Void

    private final class Queue {
        var messages: [(Level, String)] = []
        var isDelivering = false
    }

    private static let threshold = Atomic<UInt32>(0)
    private static let listener = ProcessWide<Listener?> { nil }
    private static let local = ThreadLocal<Queue>()
    /// Messages that a thread keeps; more are dropped.
    private static let limit = 100

    /// Sets the listener and its level. The previous listener may still be running on another
    /// thread.
    package static func listen(upTo level: Level, _ new: Listener?) {
        threshold.store(0, ordering: .sequentiallyConsistent)
        // The old one ends outside of the lock.
        let old = listener.withLock { listener in
            defer { listener = new }
            return listener
        }
        threshold.store(new == nil ? 0 : level.rawValue, ordering: .sequentiallyConsistent)
        withExtendedLifetime(old) {}
    }

    /// True if a listener wants messages of a level.
    package static func isTold(_ level: Level) -> Bool {
        level.rawValue <= threshold.load(ordering: .relaxed)
    }

    /// Keeps a message for the listener, if there is one for its level.
    package static func tell(_ level: Level, _ text: @autoclosure () -> String) {
        guard isTold(level) else { return }
        keep(level, text())
    }

    @inline(never)
    private static func keep(_ level: Level, _ text: String) {
        let queue = local.value { Queue() }
        guard queue.messages.count < limit, !queue.isDelivering else { return }
        queue.messages.append((level, text))
        ThreadMark.current.leaveSomething()
    }

    /// Gives the listener the calling thread's messages. No lock may be held.
    package static func deliver() {
        guard let queue = local.existing, !queue.messages.isEmpty, !queue.isDelivering else {
            return
        }
        defer { queue.messages = [] }
        guard let listener = listener.withLock({ $0 }) else { return }
        queue.isDelivering = true
        ThreadMark.current.refusingCalls {
            for (level, text) in queue.messages { listener(level, text) }
        }
        queue.isDelivering = false
    }

    /// A span of time, for a message: "12 ms".
    package static func since(_ start: Int64) -> String {
        "\((MonotonicClock.nanoseconds - start) / 1_000_000) ms"
    }
}
