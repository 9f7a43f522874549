internal import Synchronization
internal import ToftPlatform

/// The realms of this process whose write transactions are open: so that a failure in a call that
/// can't throw, of whatever it is called, finds the transaction around it. A realm that nothing
/// else refers to stays as long: its thread's cache keeps it, or that of queues and actors.
enum OpenWrites {
    /// `@unchecked Sendable`: other threads read only a session's constants.
    private struct Entry: @unchecked Sendable {
        weak var session: RealmSession?
    }

    private static let entries = Mutex<[Entry]>([])

    /// Notes that a transaction is open.
    static func add(_ session: RealmSession) {
        SessionCache.of(session).keep(session)
        entries.withLock { entries in
            entries.removeAll { $0.session == nil || $0.session === session }
            entries.append(Entry(session: session))
        }
    }

    /// Notes that a transaction has ended.
    static func remove(_ session: RealmSession) {
        entries.withLock { $0.removeAll { $0.session == nil || $0.session === session } }
        SessionCache.of(session).letGo(session)
    }

    /// The sessions whose writes the running code is in.
    static var here: [RealmSession] {
        entries.withLock { $0.compactMap(\.session) }.filter(\.isHere)
    }
}
