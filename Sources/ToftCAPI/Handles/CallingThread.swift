internal import CToft
internal import Synchronization
internal import ToftEngine
internal import ToftPlatform

/// The library's state for a calling thread: its identity and its last failure.
///
/// The identity is never used twice in a process, and the thread of a forked child gets a new one:
/// its upper bits say in which process, counted from the first, the thread was seen.
final class CallingThread {
    private(set) var identity: UInt64
    private var generation: UInt64
    /// Holds `generation`, in this process alone.
    private let word = ForkGuard.word
    private(set) var failure: EngineError?
    private var failureTexts: FailureTexts?
    /// The owners of the realms that were opened here and are confined to this thread.
    private var owners: [HandleOwner] = []
    /// The owners confined to the caller that calls under way on this thread have entered.
    private var entered: [HandleOwner] = []
    let mark = ThreadMark.current

    private static let local = ThreadLocal<CallingThread>()
    private static let identities = Atomic<UInt64>(0)

    static var current: CallingThread {
        let thread = local.value(orMake: CallingThread.init)
        if thread.generation != ForkGuard.generation { thread.continueInChild() }
        return thread
    }

    /// The identity of the calling thread.
    static var currentIdentity: UInt64 {
        local.ask(orMake: CallingThread.init) { thread in
            if thread.generation != thread.word.pointee { thread.continueInChild() }
            return thread.identity
        }
    }

    // MARK: Calls

    /// A call that is under way on a thread.
    struct Call {
        /// The thread's, which keeps it as long as it lives.
        fileprivate let mark: Unmanaged<ThreadMark>
        /// The call that the thread was inside before.
        fileprivate let outer: UInt

        /// Whether it may not begin, as a log callback runs on the thread; then it does not end.
        @inline(__always)
        var isRefused: Bool { outer == ThreadMark.refused }

        /// The call ends.
        @inline(never)
        func leave() {
            if mark._withUnsafeGuaranteedRef({ $0.leave(outer) }) { endWhatWasLeft() }
        }
    }

    /// A call begins on this thread.
    /// - Parameter what: the object that it uses, see `ThreadMark`.
    @inline(never)
    static func enterCall(_ what: UInt) -> Call {
        local.ask(orMake: CallingThread.init) { thread in
            Call(mark: Unmanaged.passUnretained(thread.mark), outer: thread.mark.enter(what))
        }
    }

    /// Work that is done once in a process, before the first call, because another thread may fork
    /// during it.
    static func prepare() {
        _ = current
        _ = HandleTable.shared.count
    }

    /// The call that is under way has resolved a handle of this thread.
    @inline(__always)
    static func isCurrent(_ identity: UInt64, using owner: UInt) -> Bool {
        local.ask(orMake: CallingThread.init) { thread in
            if thread.generation != thread.word.pointee { thread.continueInChild() }
            guard thread.identity == identity else { return false }
            thread.mark.resolve(owner)
            return true
        }
    }

    /// Marks the current call as using objects of an owner without a thread.
    static func use(_ owner: HandleOwner) { current.mark.resolve(owner.address) }

    /// Ends the objects that other threads released while this one was inside a call, and delivers
    /// the messages of the call.
    @inline(never)
    private static func endWhatWasLeft() {
        let thread = current
        for owner in thread.owners { owner.emptyIfNeeded() }
        Diagnostics.deliver()
    }

    private init() {
        generation = ForkGuard.generation
        identity = Self.nextIdentity()
    }

    private static func nextIdentity() -> UInt64 {
        ForkGuard.generation << 40 | identities.add(1, ordering: .relaxed).newValue
    }

    /// Gives the thread a new identity after a fork. The parent's objects are never released, as
    /// their end would touch the parent's locks.
    private func continueInChild() {
        generation = ForkGuard.generation
        identity = Self.nextIdentity()
        for owner in owners + entered { _ = Unmanaged.passRetained(owner) }
        owners = []
        entered = []
        forgetFailure()
    }

    deinit {
        // A forked child that has made no call has its parent's owners still.
        if generation != ForkGuard.generation { continueInChild() }
        for owner in owners { owner.threadHasEnded() }
    }

    /// The identity of an owner that is confined to its caller instead of a thread.
    static var anyIdentity: UInt64 { ForkGuard.generation << 40 }

    static func isAny(_ identity: UInt64) -> Bool { identity & (1 << 40 - 1) == 0 }

    /// Whether an identity is from before this process was forked.
    static func isFromParent(_ identity: UInt64) -> Bool {
        identity >> 40 != ForkGuard.generation
    }

    func adopt(_ owner: HandleOwner) {
        owners.removeAll { $0.isDone }
        owners.append(owner)
    }

    /// Number of owners that the current calls on this thread have entered.
    @inline(never)
    static var currentDepth: Int { current.entered.count }

    func noteEntered(_ owner: HandleOwner) { entered.append(owner) }

    /// Leaves the owners that were entered since there were `depth` of them.
    @inline(never)
    static func leave(to depth: Int) {
        let thread = current
        while thread.entered.count > depth { thread.entered.removeLast().leave() }
    }

    func fail(_ error: EngineError) {
        failure = error
        failureTexts = nil
    }

    func forgetFailure() {
        failure = nil
        failureTexts = nil
    }

    /// The last failure's texts, as C sees them: valid until the next `fail` or `forgetFailure`.
    var texts: FailureTexts {
        let texts = failureTexts ?? FailureTexts(failure)
        failureTexts = texts
        return texts
    }
}

/// The texts of a failure for C; empty without a failure.
final class FailureTexts: Sendable {
    let message: CString
    let detail: CString

    init(_ failure: EngineError?) {
        message = CString(failure?.message ?? "")
        detail = CString(failure?.detail ?? "")
    }
}

@c(platform_library_loaded)
public func libraryLoaded() { CallingThread.prepare() }
