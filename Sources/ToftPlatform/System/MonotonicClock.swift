internal import CPlatform
internal import Glibc

/// Monotonic time, for timeouts and rates. Nothing stored depends on it.
package enum MonotonicClock {
    /// Nanoseconds since some moment before this process began.
    package static var nanoseconds: Int64 { platform_monotonic_nanoseconds() }
}

/// The moment a wait has to end. Nil milliseconds: never.
package struct Deadline: Sendable {
    private let nanoseconds: Int64

    package init(timeoutMilliseconds: Int?) {
        guard let milliseconds = timeoutMilliseconds else {
            nanoseconds = .max
            return
        }
        let (span, overflow) = Int64(max(0, milliseconds)).multipliedReportingOverflow(
            by: 1_000_000)
        let (end, tooFar) = MonotonicClock.nanoseconds.addingReportingOverflow(
            overflow ? .max : span)
        nanoseconds = tooFar ? .max : end
    }

    /// The time left, never negative; at most `limit`.
    package func remainingNanoseconds(atMost limit: Int64 = .max) -> Int64 {
        nanoseconds == .max ? limit : min(limit, max(0, nanoseconds - MonotonicClock.nanoseconds))
    }

    package var hasPassed: Bool { nanoseconds != .max && MonotonicClock.nanoseconds >= nanoseconds }
    var isNever: Bool { nanoseconds == .max }
}
