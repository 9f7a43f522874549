internal import ToftPlatform
internal import ToftModel
package import ToftStorage

/// One observer.
///
/// 1. The handler is called on the session's thread only, and never once `stop` has returned there.
/// 2. `stop` may come from any thread; a call that is under way on the session's thread then ends
///    in its own time.
/// 3. The handler is released outside every lock: its release may run the caller's code.
final class Observation: Sendable {
    /// `@unchecked Sendable`: the closure is called on the session's thread alone.
    private struct Handler: @unchecked Sendable {
        let call: NotificationHandler
    }

    private struct State {
        /// Nil once it has been stopped.
        var handler: Handler?
        /// The version of its last notification: a token that is kept pins no version.
        var basis: ObservedVersion?
        var isInitialDue: Bool
    }

    let subject: Subject
    /// The key paths whose changes it is notified of; nil for all that the subject reaches.
    let paths: WatchedPaths?
    private let state: FutexMutex<State>

    /// - Parameter callsInitially: whether the first call of results and lists comes without a
    ///   change.
    init(
        _ subject: Subject, watching paths: WatchedPaths?, from basis: ObservedVersion,
        callsInitially: Bool = true, handler: @escaping NotificationHandler
    ) {
        self.subject = subject
        self.paths = paths
        let handler = Handler(call: handler)
        state = FutexMutex(
            State(
                handler: handler, basis: basis,
                isInitialDue: callsInitially && subject.hasInitialCall))
    }

    var isInitialDue: Bool { state.withLock { $0.isInitialDue && $0.handler != nil } }
    /// True if it is to be notified of changes: it has had its first call, if there is one.
    var isFollowing: Bool { state.withLock { !$0.isInitialDue && $0.handler != nil } }
    /// Nil once it has been stopped.
    var basis: ObservedVersion? { state.withLock { $0.basis } }
    /// True if it is to be notified of changes and is at an earlier version.
    func isFollowing(before version: Version) -> Bool {
        state.withLock { state in
            guard !state.isInitialDue, let basis = state.basis else { return false }
            return basis.version < version
        }
    }

    /// Moves the observer to the version of its notification, or to one that needs no notification.
    func move(to basis: ObservedVersion) {
        let old = state.withLock { state -> ObservedVersion? in
            guard state.handler != nil else { return nil }
            defer { state.basis = basis }
            return state.basis
        }
        withExtendedLifetime(old) {}
    }

    /// Calls the handler, on the session's thread. False if the observation has been stopped.
    func call(_ notification: ChangeNotification) -> Bool {
        let handler = state.withLock { state in
            state.isInitialDue = false
            return state.handler
        }
        guard let handler else { return false }
        handler.call(notification)
        if notification.isLast { stop() }
        return true
    }

    /// Ends the observation. Any thread, any number of times.
    func stop() {
        let ended = state.withLock { state in
            defer {
                state.handler = nil
                state.basis = nil
            }
            return (state.handler, state.basis)
        }
        withExtendedLifetime(ended) {}
    }
}

extension Token {
    /// Moves the observer over one version without a call, if it is directly before it.
    func skip(from old: ModelView, to new: ModelView) {
        guard observation.isFollowing, observation.basis?.version == old.version else { return }
        observation.move(to: ObservedVersion(view: new))
    }
}

/// A running observation. Ends with `stop` or with the last reference.
package final class Token: Sendable {
    fileprivate let observation: Observation
    /// That of the session.
    let channel: Channel

    init(_ observation: Observation, in channel: Channel) {
        self.observation = observation
        self.channel = channel
    }

    deinit { stop() }

    /// The version that the observer has been notified of, or need not be; nil once it has been
    /// stopped.
    package var version: Version? { observation.basis?.version }

    /// Ends the observation: on the session's thread no call follows. Any thread, any number of
    /// times.
    package func stop() {
        guard channel.isOfThisProcess else { return }
        observation.stop()
        channel.remove(observation)
    }
}
