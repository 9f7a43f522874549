internal import ToftModel
internal import ToftPlatform
internal import ToftStorage

/// Between one session and the notifier: the session's observers, and the package that waits for
/// the session.
///
/// 1. There is at most one package. While it waits no other is prepared, so a session that does not
///    dispatch costs nothing.
/// 2. A package begins at the positions of the session's observers. Whenever the session moves by
///    itself, `generation` grows: the waiting package is dropped, and so is one that is being
///    prepared.
/// 3. The flag is set while a package with something to do waits, or a first call is due; it is
///    set and cleared while the lock is held, so that it never says more than that.
/// 4. No work is done and no handler called while the lock is held.
/// 5. After the flag has been set the wake handler is called, on the thread that set it.
final class Channel: Sendable {
    private struct State {
        var observations: [Observation] = []
        /// The session's version; nil once the channel is closed, which a token may outlive.
        var view: ModelView?
        var generation: UInt64 = 0
        var prepared: NotificationPackage?
        var wakeHandler: (@Sendable () -> Void)?

        func isBehind(_ version: Version) -> Bool {
            guard let view, prepared == nil else { return false }
            return view.version < version
                || observations.contains { $0.isFollowing(before: version) }
        }

        var hasWork: Bool { prepared != nil || observations.contains(where: \.isInitialDue) }
    }

    let flag: EventFlag
    private let state: FutexMutex<State>
    private let process = ForkGuard.generation

    /// False in a forked child: the notifier may have held the lock.
    var isOfThisProcess: Bool { ForkGuard.generation == process }

    init(at view: ModelView) throws(EngineError) {
        do throws(SystemError) {
            flag = try EventFlag()
        } catch {
            throw EngineError(
                .observationUnavailable,
                "The event descriptor that observation needs could not be made: "
                    + "\(EngineError(error).message)",
                number: max(1, EngineError(error).number))
        }
        state = FutexMutex(State(view: view))
    }
}

// MARK: The session's side

extension Channel {
    var observations: [Observation] { state.withLock { $0.observations } }

    var hasObservers: Bool { state.withLock { !$0.observations.isEmpty } }

    func add(_ observation: Observation) {
        signal { state in
            state.observations.append(observation)
            return observation.isInitialDue
        }
    }

    /// Has a handler called whenever the flag is set: on any thread.
    func setWakeHandler(_ handler: @escaping @Sendable () -> Void) {
        state.withLock { $0.wakeHandler = handler }
    }

    /// Sets the flag if a change of the state requires it.
    private func signal(if change: (inout State) -> Bool) {
        let handler = state.withLock { state -> (@Sendable () -> Void)? in
            guard change(&state) else { return nil }
            flag.set()
            return state.wakeHandler
        }
        handler?()
    }

    /// Clears the flag if its work is done, or need not be done any more.
    func clearIfIdle() {
        state.withLock { if !$0.hasWork { flag.clear() } }
    }

    /// Any thread.
    func remove(_ observation: Observation) {
        let removed = state.withLock { state -> Observation? in
            guard let index = state.observations.firstIndex(where: { $0 === observation }) else {
                return nil
            }
            defer { if !state.hasWork { flag.clear() } }
            return state.observations.remove(at: index)
        }
        withExtendedLifetime(removed) {}
    }

    /// Takes the waiting package.
    func take() -> NotificationPackage? {
        state.withLock { state in
            flag.clear()
            defer { state.prepared = nil }
            return state.prepared
        }
    }

    /// Sets the flag if there is something to do, after a time in which the session could not do
    /// it.
    func rearm() {
        signal { $0.hasWork }
    }

    /// The session has moved to another version, by itself or by a package.
    func sessionMoved(to view: ModelView) {
        let dropped = state.withLock { state -> NotificationPackage? in
            guard state.view != nil else { return nil }
            state.view = view
            state.generation += 1
            guard let dropped = state.prepared else { return nil }
            state.prepared = nil
            if !state.hasWork { flag.clear() }
            return dropped
        }
        withExtendedLifetime(dropped) {}
    }

    /// Ends all observations.
    func close() {
        let ended = state.withLock { state in
            defer { state = State(view: nil, generation: state.generation + 1) }
            return state
        }
        for observation in ended.observations { observation.stop() }
    }
}

// MARK: The notifier's side

extension Channel {
    /// True if observers, or the session itself, are at an earlier version and nothing waits for
    /// them.
    func isBehind(_ version: Version) -> Bool {
        state.withLock { $0.isBehind(version) }
    }

    /// Computes the notifications up to a snapshot, and leaves them for the session.
    func prepare(_ snapshot: Snapshot) {
        let work = state.withLock { state in
            state.view.flatMap { view in
                state.isBehind(snapshot.version)
                    ? (state.observations.filter(\.isFollowing), view, state.generation) : nil
            }
        }
        guard let (observations, view, generation) = work else { return }
        let prepared: NotificationPackage
        do throws(ModelError) {
            prepared = NotificationPackage.prepare(
                observations, to: try ModelView(snapshot, previous: view.schema))
        } catch {
            prepared = .failure(EngineError(error), for: observations, at: view)
        }
        hand(over: prepared, generation: generation)
    }

    /// Notifies the observers that no more notifications can follow.
    func fail(_ error: EngineError) {
        let work = state.withLock { state in
            state.view.map { (state.observations.filter(\.isFollowing), $0, state.generation) }
        }
        guard let (observations, view, generation) = work, !observations.isEmpty else { return }
        hand(over: .failure(error, for: observations, at: view), generation: generation)
    }

    private func hand(over prepared: NotificationPackage, generation: UInt64) {
        signal { state in
            guard state.generation == generation, let view = state.view else { return false }
            if !prepared.hasCalls, prepared.version == view.version {
                // The session is at that version already and no handler is due.
                for item in prepared.items { item.observation.move(to: item.basis) }
                return false
            }
            state.prepared = prepared
            return true
        }
    }
}
