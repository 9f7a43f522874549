internal import CPlatform
internal import Glibc
internal import Synchronization

/// A flag that any event loop can wait for: its descriptor is readable while it is set. Any thread
/// may set and clear it.
///
/// A program may have closed the descriptor and given its number to another file. The descriptor is
/// therefore marked, and is not written, read or closed after the mark is lost.
package final class EventFlag: Sendable {
    /// To be polled for reading, never read or written by others.
    package let fileDescriptor: Int32
    private let generation = ForkGuard.generation
    /// The mark that `platform_mark` set on the descriptor.
    private let mark: Int32
    private static let lastMark = Atomic<UInt32>(0)

    package init() throws(SystemError) {
        fileDescriptor = try checked("eventfd", "", platform_eventfd())
        let count = Self.lastMark.add(1, ordering: .relaxed).newValue
        _ = platform_set_mark(fileDescriptor, Int32(1 + count % 64))
        mark = platform_mark(fileDescriptor)
    }

    /// Whether the descriptor is still the flag's.
    package var isIntact: Bool { platform_mark(fileDescriptor) == mark }

    package func set() {
        guard isIntact else { return }
        var one: UInt64 = 1
        _ = platform_write(fileDescriptor, &one, 8)
    }

    /// Returns whether it was set.
    @discardableResult
    package func clear() -> Bool {
        guard isIntact else { return false }
        var count: UInt64 = 0
        return platform_read(fileDescriptor, &count, 8) == 8
    }

    /// Waits until it is set, without clearing it; nil waits for ever. Returns whether it is set;
    /// returns at once if the descriptor was lost.
    package func wait(timeoutMilliseconds: Int?) -> Bool {
        let deadline = Deadline(timeoutMilliseconds: timeoutMilliseconds)
        while true {
            guard isIntact else { return false }
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
        if generation == ForkGuard.generation, isIntact { _ = platform_close(fileDescriptor) }
    }
}
