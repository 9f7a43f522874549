internal import ToftModel
internal import ToftPlatform
internal import ToftStorage

/// The part of a session that stays from its opening to its end. Any thread may read it.
///
/// 1. All calls are made on the session's own thread, or one after the other if it is confined to
///    the caller. Its last reference may be released on any thread.
/// 2. A frozen session never moves, and any thread may use it: see `frozen`. A migration's frozen
///    session belongs to one thread, which may make it release memory: see `refresh`.
package struct SessionIdentity: ~Copyable {
    package let options: SessionOptions
    /// Ends the waits of the session for other writers and its queries.
    package let interruption: Interruption
    /// Whether it shows one version for ever.
    package let isFrozen: Bool
    /// Whether it is the frozen one of a migration, which one thread at a time uses.
    let isOfMigration: Bool
    let owner: ThreadToken?
    /// `owner` without a reference count, for `check`.
    private let ownerToken: Unmanaged<ThreadToken>?
    /// The session's epoch: compare it before you use a kept pointer.
    package let epoch: UnsafeMutablePointer<SessionEpoch>
    /// The part of its position that other threads see.
    let shared: FutexMutex<SharedView>

    init(
        _ options: SessionOptions, at base: ModelView, isFrozen: Bool, isOfMigration: Bool,
        interruption: Interruption
    ) {
        self.options = options
        self.interruption = interruption
        self.isFrozen = isFrozen
        self.isOfMigration = isOfMigration
        owner = options.confinement == .thread ? ThreadToken.current : nil
        ownerToken = owner.map { .passUnretained($0) }
        epoch = .allocate(capacity: 1)
        epoch.initialize(to: SessionEpoch())
        shared = FutexMutex(SharedView(view: base))
    }

    deinit { epoch.deallocate() }

    /// Throws unless the session may be used on this thread.
    @inline(__always)
    func check() throws(EngineError) {
        if let ownerToken, !ThreadToken.isCurrent(ownerToken) {
            throw EngineError(
                .wrongThread,
                "Realm accessed from incorrect thread. Open one on each thread that needs it.")
        }
        guard epoch.pointee.word.pointee == epoch.pointee.generation else {
            throw EngineError(StorageError.usedAfterFork)
        }
    }

    /// Something changes that may affect reads, or their addresses.
    @inline(__always)
    func advanceEpoch() { epoch.pointee.number += 1 }

    /// Shows another version to other threads; nil: the session has ended.
    func show(_ view: ModelView?) {
        let old = shared.withLock { shared in
            defer { shared.view = view }
            return shared.view
        }
        withExtendedLifetime(old) {}
    }
}

/// The part of a position that other threads see: changed with its lock, on the session's thread.
struct SharedView {
    /// The session's version; nil after its end.
    var view: ModelView?
    /// Whether a write transaction is open.
    var isWriting = false
}

/// Whether a session can be used.
enum SessionState {
    case open
    /// A handler of the opening of the file has the session, and the opening closes it.
    case inHandler
    case closed
    /// It was closed because the realm continues with another session.
    case invalidated

    @inline(__always)
    var isOpen: Bool { self == .open || self == .inHandler }
}
