internal import CToft
internal import Synchronization
internal import ToftEngine
internal import ToftPlatform

/// What the library keeps for a thread that calls it: who it is, and its last failure.
///
/// The identity is never used twice in a process, and the thread of a forked child gets a new one:
/// its upper bits say in which process, counted from the first, the thread was seen.
final class CallingThread {
    private(set) var identity: UInt64
    private var generation: UInt64
    private(set) var failure: EngineError?
    private var failureTexts: FailureTexts?
    /// The owners of the realms that were opened here.
    private var owners: [HandleOwner] = []

    private static let local = ThreadLocal<CallingThread>()
    private static let identities = Atomic<UInt64>(0)

    static var current: CallingThread {
        let thread = local.value(orMake: CallingThread.init)
        if thread.generation != ForkGuard.generation { thread.continueInChild() }
        return thread
    }

    /// The identity of the thread that asks.
    static var currentIdentity: UInt64 {
        local.ask(orMake: CallingThread.init) { thread in
            if thread.generation != ForkGuard.generation { thread.continueInChild() }
            return thread.identity
        }
    }

    private init() {
        generation = ForkGuard.generation
        identity = Self.nextIdentity()
    }

    private static func nextIdentity() -> UInt64 {
        ForkGuard.generation << 40 | identities.add(1, ordering: .relaxed).newValue
    }

    /// The same thread after a fork. What it owned stays the parent's: it is kept for ever, for its
    /// end would touch the parent's locks.
    private func continueInChild() {
        generation = ForkGuard.generation
        identity = Self.nextIdentity()
        for owner in owners { _ = Unmanaged.passRetained(owner) }
        owners = []
        forgetFailure()
    }

    deinit {
        for owner in owners { owner.threadHasEnded() }
    }

    /// Whether an identity was given out before this process was forked.
    static func isFromParent(_ identity: UInt64) -> Bool {
        identity >> 40 != ForkGuard.generation
    }

    /// Whether this process was forked from one that had used the library. The runtime's locks may
    /// then be in any state, and know this thread by its number in the parent, so nothing is opened
    /// here.
    static var isForked: Bool { ForkGuard.generation > 1 }

    func adopt(_ owner: HandleOwner) {
        owners.removeAll { $0.isDone }
        owners.append(owner)
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
    var texts: (message: toft_string, detail: toft_string) {
        let texts =
            failureTexts
            ?? FailureTexts(message: failure?.message ?? "", detail: failure?.detail ?? "")
        failureTexts = texts
        return (texts.message.string, texts.detail.string)
    }

    private struct FailureTexts {
        let message: CString
        let detail: CString

        init(message: String, detail: String) {
            self.message = CString(message)
            self.detail = CString(detail)
        }
    }
}
