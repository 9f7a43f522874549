internal import CToft
internal import Synchronization
internal import ToftEngine
internal import ToftStorage

/// What the library keeps for a thread that calls it: who it is, and its last failure.
///
/// The identity is never used twice in a process, and a forked child's threads get new ones: its upper bits say in which process, counted
/// from the first, the thread was first seen.
final class CallingThread {
    let identity: UInt64
    let generation: UInt64
    private(set) var failure: EngineError?
    private var failureTexts: FailureTexts?
    /// The owners of the realms that were opened here.
    private var owners: [HandleOwner] = []

    private static let local = ThreadLocal<CallingThread>()
    private static let identities = Atomic<UInt64>(0)

    static var current: CallingThread {
        let thread = local.value(orMake: CallingThread.init)
        return thread.generation == ForkGuard.generation ? thread : local.replace(with: CallingThread())
    }

    private init() {
        generation = ForkGuard.generation
        identity = generation << 40 | Self.identities.add(1, ordering: .relaxed).newValue
    }

    deinit {
        for owner in owners { owner.threadHasEnded() }
    }

    /// Whether an identity was given out before this process was forked.
    static func isFromParent(_ identity: UInt64) -> Bool {
        identity >> 40 != ForkGuard.generation
    }

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
        let texts = failureTexts ?? FailureTexts(message: failure?.message ?? "", detail: failure?.detail ?? "")
        failureTexts = texts
        return (texts.message.string, texts.detail.string)
    }

    private struct FailureTexts {
        let message: ForeignText
        let detail: ForeignText

        init(message: String, detail: String) {
            self.message = ForeignText(message)
            self.detail = ForeignText(detail)
        }
    }
}

