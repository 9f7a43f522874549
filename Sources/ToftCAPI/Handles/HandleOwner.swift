internal import CToft
internal import Synchronization
internal import ToftEngine
internal import ToftPlatform

/// The owner of a realm's handles: a thread; the caller, who makes one call at a time; or nobody,
/// as the realm is frozen, and calls may overlap. It keeps the objects of released handles that
/// could not end at once.
///
/// 1. A realm's objects are not made for two threads, so they never end while a thread uses the
///    realm. If the owner is a thread, a release on that thread takes effect at once; a release
///    elsewhere is deferred. Deferred objects end when that thread next moves the realm or makes a
///    handle; when the thread ends; and with the last handle, wherever that is released: at once,
///    or at the end of the call with the realm that the thread is inside (`ThreadMark`). After the
///    thread's end each release takes the deferred objects away, so that two threads never end them
///    at once.
/// 2. With the caller: a call enters the owner and leaves it at its end, and so does a release.
///    A call that finds another thread's call inside is refused, one that finds a release waits for
///    its end. A release that finds another thread inside is buried, and that thread ends the
///    object when it leaves.
final class HandleOwner: Sendable {
    /// Identity of the thread (see `CallingThread`), or the one of any thread.
    let thread: UInt64
    /// Ends the waits of the realm.
    let interruption: Interruption
    /// Of an owner that is confined to the caller: the thread that is inside, or 0.
    private let user = Atomic<UInt64>(0)
    private let hasBuried = Atomic<Bool>(false)
    private let living = Atomic<Int>(0)
    /// The call that the owner's thread is inside; nil without a thread.
    private let mark: ThreadMark?
    private let state = FutexMutex(State())
    private let failure = FutexMutex(Failure())

    private struct State {
        var buried: [Buried] = []
        var threadHasEnded = false
        var isEmptying = false
    }

    /// Whether calls may overlap: objects of a frozen realm allow that, and end wherever their last
    /// reference is released.
    let isShared: Bool

    /// The last failure of a call, and its texts once C has read them.
    private struct Failure {
        var error: EngineError?
        var texts: FailureTexts?
    }

    /// An object on its way from the thread that released it to the one that may end it.
    private struct Buried: @unchecked Sendable {
        let object: Unmanaged<AnyObject>
    }

    private static let callerOwners = Atomic<Bool>(false)

    /// Whether this process has ever had an owner that is confined to the caller.
    @inline(__always)
    static var isAnyConfinedToCaller: Bool { callerOwners.load(ordering: .relaxed) }

    /// - Parameter thread: the calling one; nil for the caller.
    init(thread: CallingThread?, isShared: Bool = false, _ interruption: Interruption) {
        self.isShared = isShared
        self.interruption = interruption
        self.thread = thread?.identity ?? CallingThread.anyIdentity
        mark = thread?.mark
        if thread == nil, !isShared { Self.callerOwners.store(true, ordering: .relaxed) }
    }

    /// The owner's address, which identifies it in comparisons.
    var address: UInt { UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque()) }

    private var isConfinedToCaller: Bool { CallingThread.isAny(thread) }

    /// No handle belongs to this owner any more.
    var isDone: Bool { living.load(ordering: .relaxed) == 0 && !hasBuried.load(ordering: .relaxed) }

    func handleWasMade() {
        living.add(1, ordering: .relaxed)
    }

    /// Takes over the reference that a released handle held. Any thread, inside a call that may use
    /// anything.
    func take(_ object: Unmanaged<AnyObject>, on calling: UInt64) {
        guard !isConfinedToCaller else {
            living.subtract(1, ordering: .relaxed)
            return isShared ? object.release() : end(object, on: calling)
        }
        guard calling == thread else { return takeFromElsewhere(object) }
        let isLast = living.subtract(1, ordering: .acquiringAndReleasing).newValue == 0
        object.release()
        if isLast { emptyIfNeeded() }
    }

    /// Takes an object on another thread than the owner's.
    private func takeFromElsewhere(_ object: Unmanaged<AnyObject>) {
        let threadHasEnded = bury(object)
        let isLast = living.subtract(1, ordering: .acquiringAndReleasing).newValue == 0
        // No handle is left to begin a call with, but one may be under way.
        if threadHasEnded || isLast && mark?.mayUse(address) == false { empty() }
    }

    /// Returns whether the owner's thread has ended.
    private func bury(_ object: Unmanaged<AnyObject>) -> Bool {
        let buried = Buried(object: object)
        return state.withLock { state in
            state.buried.append(buried)
            hasBuried.store(true, ordering: .sequentiallyConsistent)
            return state.threadHasEnded
        }
    }

    /// Ends objects that other threads released. Called on the owner's thread, while nothing of the
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

    /// The deferred objects, to be released outside the lock; nil if there are no such objects or
    /// another call is emptying them.
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

// MARK: Confined to the caller

extension HandleOwner {
    /// Says of the thread that is inside that it is only there for a release.
    private static let isReleasing: UInt64 = 1 << 63

    /// Enters for the call that is under way on this thread, unless an outer one has: it leaves at
    /// its end. Waits for the end of a release, and throws when another thread is inside a call.
    func enter() throws(EngineError) {
        let calling = CallingThread.current
        while true {
            let (isFirst, inside) = enter(as: calling.identity)
            if isFirst { return calling.noteEntered(self) }
            if inside & ~Self.isReleasing == calling.identity { return }
            guard inside & Self.isReleasing != 0 else { throw .overlappingCall }
            Futex.sleep(nanoseconds: 20_000)
        }
    }

    private func enter(as thread: UInt64) -> (isFirst: Bool, inside: UInt64) {
        let (exchanged, original) = user.compareExchange(
            expected: 0, desired: thread, ordering: .sequentiallyConsistent)
        return (exchanged, original)
    }

    /// Ends an object now, or leaves it to the thread that is inside.
    func end(_ object: Unmanaged<AnyObject>, on calling: UInt64) {
        let (isFirst, inside) = enter(as: calling | Self.isReleasing)
        if !isFirst && inside & ~Self.isReleasing != calling {
            _ = bury(object)
            return endBuried(on: calling)
        }
        object.release()
        if isFirst { leave(on: calling) }
    }

    func leave() {
        leave(on: user.load(ordering: .relaxed))
    }

    private func leave(on calling: UInt64) {
        empty()
        user.store(0, ordering: .sequentiallyConsistent)
        endBuried(on: calling)
    }

    /// Ends objects that were deferred while a thread was about to leave; if another is inside,
    /// that one will.
    private func endBuried(on calling: UInt64) {
        while hasBuried.load(ordering: .sequentiallyConsistent)
            && enter(as: calling | Self.isReleasing).isFirst
        {
            empty()
            user.store(0, ordering: .sequentiallyConsistent)
        }
    }

    /// Whether a call on this thread may use the owner's objects.
    func isInUse(on calling: UInt64) -> Bool {
        isShared || thread == calling
            || user.load(ordering: .relaxed) & ~Self.isReleasing == calling
    }
}

// MARK: The last failure

extension HandleOwner {
    func fail(_ error: EngineError) {
        failure.withLock { $0 = Failure(error: error) }
    }

    /// The last failure of a call with the owner's objects; its texts live until the next.
    var lastFailure: (error: EngineError?, texts: FailureTexts) {
        failure.withLock { failure in
            let texts = failure.texts ?? FailureTexts(failure.error)
            failure.texts = texts
            return (failure.error, texts)
        }
    }
}
