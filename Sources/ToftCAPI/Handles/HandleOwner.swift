internal import Synchronization

/// The thread that a realm's handles belong to, and the grave of those that other threads released.
///
/// What belongs to a realm is not made for two threads, so its objects die on the realm's thread: a
/// release there takes effect at once, one elsewhere is buried until that thread next moves the
/// realm, makes a handle or ends. After its end any thread may bury, and the first that does so
/// takes the others' away as well, so that two never do it at once.
final class HandleOwner: Sendable {
    /// Identity of the thread (see `CallingThread`).
    let thread: UInt64
    private let hasBuried = Atomic<Bool>(false)
    private let living = Atomic<Int>(0)
    private let state = Mutex(State())

    private struct State {
        var buried: [Buried] = []
        var threadHasEnded = false
        var isEmptying = false
    }

    /// An object on its way from the thread that released it to the one that may end it.
    private struct Buried: @unchecked Sendable {
        let object: Unmanaged<AnyObject>
    }

    init(thread: UInt64) {
        self.thread = thread
    }

    /// No handle belongs to this owner any more.
    var isDone: Bool { living.load(ordering: .relaxed) == 0 && !hasBuried.load(ordering: .relaxed) }

    func handleWasMade() {
        living.add(1, ordering: .relaxed)
    }

    /// Takes over the reference that a released handle held. Any thread.
    func take(_ object: Unmanaged<AnyObject>, on calling: UInt64) {
        living.subtract(1, ordering: .relaxed)
        if calling == thread { return object.release() }
        let buried = Buried(object: object)
        let threadHasEnded = state.withLock { state in
            state.buried.append(buried)
            hasBuried.store(true, ordering: .relaxed)
            return state.threadHasEnded
        }
        if threadHasEnded { empty() }
    }

    /// Ends what other threads released. On the owner's thread, at a moment when nothing of the
    /// realm is in use.
    @inline(__always)
    func emptyIfNeeded() {
        if hasBuried.load(ordering: .relaxed) { empty() }
    }

    func threadHasEnded() {
        state.withLock { $0.threadHasEnded = true }
        empty()
    }

    private func empty() {
        while let batch = nextBatch() {
            for buried in batch { buried.object.release() }
            state.withLock { $0.isEmptying = false }
        }
    }

    /// What is buried, to be released outside the lock; nil when there is nothing or another call
    /// is at it.
    private func nextBatch() -> [Buried]? {
        state.withLock { state in
            if state.isEmptying { return nil }
            hasBuried.store(false, ordering: .relaxed)
            if state.buried.isEmpty { return nil }
            defer { state.buried = [] }
            state.isEmptying = true
            return state.buried
        }
    }
}
