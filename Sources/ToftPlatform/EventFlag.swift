internal import CPlatform
internal import Glibc

/// A flag that any event loop can wait for: its descriptor is readable while it is set. Any thread
/// may set and clear it.
package final class EventFlag: Sendable {
    /// To be polled for reading, never read or written by others.
    package let fileDescriptor: Int32
    private let generation = ForkGuard.generation

    package init() throws(SystemError) {
        fileDescriptor = try checked("eventfd", "", platform_eventfd())
    }

    package func set() {
        var one: UInt64 = 1
        _ = platform_write(fileDescriptor, &one, 8)
    }

    /// Returns whether it was set.
    @discardableResult
    package func clear() -> Bool {
        var count: UInt64 = 0
        return platform_read(fileDescriptor, &count, 8) == 8
    }

    /// Waits until it is set, without clearing it; nil waits for ever. Returns whether it is set.
    package func wait(timeoutMilliseconds: Int?) -> Bool {
        let deadline = Deadline(timeoutMilliseconds: timeoutMilliseconds)
        while true {
            let left =
                deadline.isNever
                ? -1
                : Int32(
                    (deadline.remainingNanoseconds(atMost: 86_400_000_000_000) + 999_999)
                        / 1_000_000)
            let result = platform_poll_reading(fileDescriptor, left)
            if result > 0 { return true }
            if deadline.hasPassed || (result < 0 && result != -EINTR) { return false }
        }
    }

    deinit {
        if generation == ForkGuard.generation { _ = platform_close(fileDescriptor) }
    }
}
