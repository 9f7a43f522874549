internal import ToftStorage

/// One object for each thread, so that a session can tell whether it is on its own. Unlike the system's thread ids, never used twice while
/// somebody holds it.
final class ThreadMark: Sendable {
    private static let local = ThreadLocal<ThreadMark>()

    /// The calling thread's.
    static var current: ThreadMark { local.value(orMake: ThreadMark.init) }

    /// Whether a mark is the calling thread's.
    static func isCurrent(_ mark: ThreadMark) -> Bool { local.isCurrent(mark) }
}
