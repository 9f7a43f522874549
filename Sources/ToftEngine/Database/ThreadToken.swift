internal import ToftPlatform

/// One object for each thread, so that a session can check that it is called on its own. Unlike the
/// system's thread ids, never used twice while it is referenced.
final class ThreadToken: Sendable {
    private static let local = ThreadLocal<ThreadToken>()

    /// The calling thread's.
    static var current: ThreadToken { local.value(orMake: ThreadToken.init) }

    /// Whether a token is the calling thread's.
    static func isCurrent(_ token: Unmanaged<ThreadToken>) -> Bool { local.isCurrent(token) }
}
