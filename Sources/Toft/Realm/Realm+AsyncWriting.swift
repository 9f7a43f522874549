internal import Dispatch
internal import ToftEngine
internal import ToftPlatform

/// Names a write that was asked for with `writeAsync`.
public typealias AsyncTransactionId = UInt32

extension Realm {
    /// Runs the block in a write transaction of its own, soon, on this realm's run loop or queue,
    /// and commits it. Returns at once: while other writers, of any process, hold the lock, the
    /// thread goes on with other work. Such writes happen one after the other in the order in which
    /// they were asked for; the realm lives until the last has happened.
    ///
    /// Differs from Realm: the commit reaches the disk before the block's thread goes on, as in
    /// `write`.
    /// - Parameters:
    ///   - durability: when the changes are on disk, if not with the commit. Realm has nothing like
    ///     it.
    ///   - block: makes the changes.
    ///   - onComplete: called after the commit, with the error if it failed.
    @discardableResult
    public func writeAsync(
        durability: Durability = .immediate, _ block: @escaping () -> Void,
        onComplete: (((any Swift.Error)?) -> Void)? = nil
    ) -> AsyncTransactionId {
        Misuse.reporting {
            try session.verify()
            guard !session.isFrozen else { throw Realm.Error.frozen }
            guard !session.engine.isReadOnly else {
                throw Realm.Error(.readOnly, "Can't write: the realm was opened read-only.")
            }
            try session.requireDelivery()
            return session.addWrite(durability, block, onComplete)
        } ?? 0
    }

    /// Forgets a write that was asked for and has not begun; its `onComplete` is not called. One
    /// that has is left as it is.
    public func cancelAsyncWrite(_ asyncTransactionId: AsyncTransactionId) throws {
        do throws(EngineError) {
            try session.verify()
            session.removeWrite(asyncTransactionId)
        } catch {
            throw Realm.Error(error)
        }
    }

    /// Whether writes that were asked for wait or are happening.
    public var isPerformingAsynchronousWriteOperations: Bool {
        session.isMakingWrite || !session.waitingWrites.isEmpty
    }
}

/// A write that waits for its turn.
struct WaitingWrite {
    let id: AsyncTransactionId
    let durability: Realm.Durability
    let block: () -> Void
    let onComplete: (((any Swift.Error)?) -> Void)?
    /// Keeps the realm until it has happened.
    let session: RealmSession
    let since = ContinuousClock.now
}

extension RealmSession {
    /// How long until the lock is tried again while somebody holds it.
    private static let pause = DispatchTimeInterval.milliseconds(2)

    fileprivate func addWrite(
        _ durability: Realm.Durability, _ block: @escaping () -> Void,
        _ onComplete: (((any Swift.Error)?) -> Void)?
    ) -> AsyncTransactionId {
        lastWriteID &+= 1
        waitingWrites.append(
            WaitingWrite(
                id: lastWriteID, durability: durability, block: block, onComplete: onComplete,
                session: self))
        resumeWrites()
        return lastWriteID
    }

    fileprivate func removeWrite(_ id: AsyncTransactionId) {
        waitingWrites.removeAll { $0.id == id }
    }

    /// Sees to it that the writes that wait get their turn. After every transaction, as they do not
    /// begin inside one.
    func resumeWrites() {
        if !waitingWrites.isEmpty { scheduler?.schedule() }
    }

    /// Makes the first of the writes that wait, if no other thread or process is writing. On
    /// the session's thread, from its run loop or queue.
    func makeNextWrite() {
        guard !engine.isWriting, !isMakingWrite, let write = waitingWrites.first else { return }
        var failure: Realm.Error?
        do throws(EngineError) {
            try engine.beginWrite(timeoutMilliseconds: 0)
        } catch {
            // Another realm of this thread may be writing: it goes on when this one does not wait.
            if [.lockTimeout, .alreadyInTransaction].contains(error.code), !isOverdue(write) {
                return tryAgainSoon()
            }
            failure = Realm.Error(error)
        }
        removeWrite(write.id)
        if failure == nil { failure = commit(write) }
        write.onComplete?(failure)
        resumeWrites()
    }

    /// Runs a block inside the transaction that has begun. What it has committed or cancelled
    /// itself is left so.
    private func commit(_ write: WaitingWrite) -> Realm.Error? {
        isMakingWrite = true
        defer { isMakingWrite = false }
        write.block()
        defer { Diagnostics.deliver() }
        guard engine.isWriting else { return nil }
        do throws(EngineError) {
            try engine.commit(write.durability.stored)
            return nil
        } catch {
            return Realm.Error(telling: error)
        }
    }

    private func isOverdue(_ write: WaitingWrite) -> Bool {
        configuration.writeTimeout.map { ContinuousClock.now - write.since > $0 } ?? false
    }

    private func tryAgainSoon() {
        guard let scheduler else { return }
        DispatchQueue.global().asyncAfter(deadline: .now() + Self.pause) { scheduler.schedule() }
    }
}
