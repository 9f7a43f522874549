internal import Dispatch
internal import Foundation
internal import ToftEngine
internal import ToftPlatform

extension RealmSession {
    /// Makes the session move to new versions by itself: from now on if a queue, an actor, the main
    /// thread or a running run loop can call it, and on another `Thread` once its run loop runs.
    /// Not on a thread of a pool, on which asking for a run loop makes one; and not in read-only
    /// realms, as a reader has to poll for new versions.
    func follow() {
        guard !isFrozen, !engine.isReadOnly else { return }
        if case .thread = confinement, !Thread.isMainThread {
            guard Thread.current.isExecuting else { return }
            guard RunLoop.current.currentMode != nil else {
                return SessionCache.of(nil).followInLoop()
            }
        }
        do {
            try requireDelivery()
            try engine.follow()
        } catch {
            Diagnostics.tell(.warn, "A realm will not advance to new versions by itself: \(error)")
        }
    }

    /// Makes sure that changes get here: by the queue, the main queue, or the run loop of this
    /// thread, which has to be running.
    func requireDelivery() throws {
        guard scheduler == nil else { return }
        try requireObservable()
        let target = DeliveryTarget(self)
        let made: any Scheduler
        switch confinement {
        case .place(let place):
            made = PlaceScheduler(place, target)
        case .thread where Thread.isMainThread:
            made = PlaceScheduler(Place(.main), target)
        case .thread, .anywhere:
            guard RunLoop.current.currentMode != nil else {
                throw Realm.Error(
                    .observationUnavailable,
                    "Only where a run loop is running can observers be called and later writes be "
                        + "made: this thread's is not. Give a queue, or do it inside the run loop."
                )
            }
            made = RunLoopScheduler(target)
        }
        try engine.setWakeHandler { made.schedule() }
        scheduler = made
    }

    /// Throws for a frozen session.
    func requireObservable() throws {
        guard !isFrozen else {
            throw Realm.Error(
                .observationUnavailable,
                "A frozen realm never changes, so there is nothing to observe. Observe what "
                    + "thaw() gives."
            )
        }
    }

    /// Called by the scheduler: reports commits to their callbacks, makes a write that waits, moves
    /// to the prepared version, and calls the observers that are due.
    func deliver() {
        guard isOpen else { return }
        complete()
        makeNextWrite()
        guard isAutorefreshing else { return tellRefreshRequired() }
        Misuse.reporting { try engine.dispatch() }
    }

    private func tellRefreshRequired() {
        guard !isWriting, engine.isBehind else { return }
        for observer in realmObservers { observer.block(.refreshRequired, Realm(self)) }
    }
}
