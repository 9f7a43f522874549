internal import Synchronization
internal import ToftEngine

/// Keeps an observation alive: it ends when the token is invalidated or its last reference is
/// released. Any thread.
public final class NotificationToken: Sendable {
    private enum State {
        /// In transit to its queue or actor.
        case waiting
        case running(Token, Keeper)
        case ended
    }

    private let state: Mutex<State>
    /// Begins an observation on an actor.
    private let start = Mutex<Task<Void, Never>?>(nil)

    /// A token of nothing.
    init() {
        state = Mutex(.ended)
    }

    /// - Parameter afterSkip: called after a transaction that skips the observer.
    init(_ token: Token, keeping session: RealmSession, afterSkip: (() -> Void)? = nil) {
        state = Mutex(.running(token, Keeper(session, afterSkip)))
    }

    /// A token of an observation that begins later, on a queue or an actor.
    static func waiting() -> NotificationToken {
        let token = NotificationToken()
        token.state.withLock { $0 = .waiting }
        return token
    }

    /// The observation has begun; it ends at once if the token has been invalidated meanwhile.
    func begin(_ token: Token, keeping session: RealmSession, afterSkip: (() -> Void)?) {
        let keeper = Keeper(session, afterSkip)
        let isLate = state.withLock { state in
            guard case .waiting = state else { return true }
            state = .running(token, keeper)
            return false
        }
        if isLate { token.stop() }
    }

    /// The task that begins the observation on an actor; otherwise nil.
    var beginning: Task<Void, Never>? {
        get { start.withLock { $0 } }
        set { start.withLock { $0 = newValue } }
    }

    /// The token, once the observation has begun.
    func begun() async -> NotificationToken {
        await beginning?.value
        return self
    }

    deinit { invalidate() }

    /// Ends the observation: on the thread, queue or actor of its realm the block is not called
    /// again.
    public func invalidate() {
        let old = state.withLock { state in
            defer { state = .ended }
            return state
        }
        if case .running(let token, _) = old { token.stop() }
    }

    /// To be called after a transaction of `session` that skips the observer, on its thread.
    func skip(in session: RealmSession) {
        guard case .running(let token, let keeper) = state.withLock({ $0 }),
            keeper.session === session, let version = try? session.engine.version,
            token.version == version
        else { return }
        keeper.afterSkip?()
    }

    /// Whether it is of an observation of another realm than that of a session.
    func isOther(than session: RealmSession) -> Bool {
        guard case .running(_, let keeper) = state.withLock({ $0 }) else { return false }
        return keeper.session !== session
    }

    var isEnded: Bool {
        state.withLock { if case .ended = $0 { true } else { false } }
    }

    /// The engine's token of a running observation.
    var engineToken: Token? {
        state.withLock { if case .running(let token, _) = $0 { token } else { nil } }
    }
}

extension NotificationToken: Hashable {
    /// Whether both are one token.
    public static func == (left: NotificationToken, right: NotificationToken) -> Bool {
        left === right
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// Holds the session of an observation. `@unchecked Sendable`: the session is used on its own
/// thread alone; its last reference may be released on any.
private struct Keeper: @unchecked Sendable {
    let session: RealmSession
    let afterSkip: (() -> Void)?

    init(_ session: RealmSession, _ afterSkip: (() -> Void)?) {
        self.session = session
        self.afterSkip = afterSkip
    }
}
