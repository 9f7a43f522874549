internal import Dispatch
internal import Foundation
internal import Synchronization

/// Gets a session called on its own thread or queue, from any other.
protocol Scheduler: AnyObject, Sendable {
    /// Has `RealmSession.deliver` called soon. Calls that come before it happens are one.
    func schedule()
    /// Ends it, on the session's thread.
    func stop()
}

/// The target of a scheduler's calls. `@unchecked Sendable`: it is used on the session's own thread
/// alone.
final class DeliveryTarget: @unchecked Sendable {
    private weak var session: RealmSession?

    init(_ session: RealmSession) {
        self.session = session
    }

    func deliver() {
        session?.deliver()
    }
}

extension SessionCache {
    /// Has the realms of this thread follow new versions once its run loop runs, if it ever does:
    /// they were opened outside of it.
    func followInLoop() {
        guard !waitsForLoop else { return }
        waitsForLoop = true
        RunLoop.current.perform {
            let cache = SessionCache.of(nil)
            cache.waitsForLoop = false
            for session in cache.open where session.scheduler == nil { session.follow() }
        }
    }
}

/// For a serial queue, the main queue among them, or an actor.
final class PlaceScheduler: Scheduler {
    private let place: Place
    private let target: DeliveryTarget
    private let isScheduled = Atomic(false)

    init(_ place: Place, _ target: DeliveryTarget) {
        self.place = place
        self.target = target
    }

    func schedule() {
        guard !isScheduled.exchange(true, ordering: .acquiringAndReleasing) else { return }
        place.run { [self] in
            isScheduled.store(false, ordering: .releasing)
            target.deliver()
        }
    }

    func stop() {}
}

/// For a thread with a run loop. A timer of the far future wakes it when another thread makes its
/// time now; `perform` does not on Linux.
///
/// `@unchecked Sendable`: setting the time of a timer is allowed on any thread.
final class RunLoopScheduler: Scheduler, @unchecked Sendable {
    private let timer: Timer

    /// Centuries.
    private static let never: TimeInterval = 1e10

    /// On the thread of the session.
    init(_ target: DeliveryTarget) {
        timer = Timer(fire: .distantFuture, interval: Self.never, repeats: true) { _ in
            target.deliver()
        }
        RunLoop.current.add(timer, forMode: .common)
    }

    func schedule() {
        timer.fireDate = Date()
    }

    func stop() {
        timer.invalidate()
    }
}
