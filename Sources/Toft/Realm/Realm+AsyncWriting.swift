internal import Dispatch
internal import ToftEngine
internal import ToftPlatform

/// Identifies a write of `writeAsync`.
public typealias AsyncTransactionId = UInt32

extension Realm {
    /// Runs the block in a write transaction of its own, soon, on this realm's run loop or queue,
    /// and commits it. Returns at once: while other writers, of any process, hold the lock, the
    /// thread does other work. Such writes happen one after the other in the order of the calls;
    /// the realm lives until the last has happened.
    ///
    /// Differs from Realm: the commit reaches the disk before the block's thread continues, as in
    /// `write`.
    /// - Parameters:
    ///   - durability: when the changes are on disk, if not with the commit. Realm has nothing like
    ///     it.
    ///   - block: makes the changes.
    ///   - onComplete: called after the commit, with the error if it or something in the block
    ///     failed; without it the error goes to `failureHandler` or `misuseHandler`.
    @discardableResult
    public func writeAsync(
        durability: Durability = .immediate, _ block: @escaping () -> Void,
        onComplete: (((any Swift.Error)?) -> Void)? = nil
    ) -> AsyncTransactionId {
        Misuse.reporting {
            try session.requireWritable()
            return session.addWrite(.whole(durability, onComplete), block)
        } ?? 0
    }

    /// Begins a write transaction, soon, on this realm's run loop or queue, and runs the block in
    /// it: `writeAsync` for a block that commits itself, with `commitAsyncWrite` or `commitWrite`.
    /// A transaction that the block leaves open is cancelled.
    @discardableResult
    public func beginAsyncWrite(_ asyncWriteBlock: @escaping () -> Void) -> AsyncTransactionId {
        Misuse.reporting {
            try session.requireWritable()
            return session.addWrite(.open, asyncWriteBlock)
        } ?? 0
    }

    /// Commits the write transaction, and calls a block afterwards on this realm's run loop or
    /// queue.
    ///
    /// Differs from Realm: the commit is on disk when this returns.
    /// - Parameters:
    ///   - allowGrouping: whether commits of several threads may share a durable write, as with
    ///     `Durability.group`.
    ///   - onComplete: called soon, with the error if the commit failed.
    @discardableResult
    public func commitAsyncWrite(
        allowGrouping: Bool = false, _ onComplete: (((any Swift.Error)?) -> Void)? = nil
    ) -> AsyncTransactionId {
        Misuse.reporting {
            try session.verify()
            guard isInWriteTransaction else { throw Realm.Error.notInTransaction }
            if onComplete != nil { try session.requireDelivery() }
            var failure: Realm.Error?
            do { try commitWrite(durability: allowGrouping ? .group : .immediate) } catch {
                failure = Realm.Error(wrapping: error)
            }
            // Without a callback, the failure handler gets it.
            if onComplete == nil, let failure { throw failure }
            return session.addCompletion { onComplete?(failure) }
        } ?? 0
    }

    /// Cancels a write that has not begun; its `onComplete` is not called, nor that of a
    /// `commitAsyncWrite`. A write that has begun is left as it is.
    public func cancelAsyncWrite(_ asyncTransactionId: AsyncTransactionId) throws {
        do throws(EngineError) {
            try session.verify()
            session.removeWrite(asyncTransactionId)
        } catch {
            throw Realm.Error(error)
        }
    }

    /// Whether requested writes are waiting or running.
    public var isPerformingAsynchronousWriteOperations: Bool {
        session.isMakingWrite || !session.waitingWrites.isEmpty || !session.completions.isEmpty
    }
}

/// A write that waits for its turn.
struct WaitingWrite {
    enum Kind {
        /// Committed after the block, then reported to the callback.
        case whole(Realm.Durability, (((any Swift.Error)?) -> Void)?)
        /// The block commits.
        case open
    }

    let id: AsyncTransactionId
    let kind: Kind
    let block: () -> Void
    /// Keeps the realm until it has happened.
    let session: RealmSession
    let since = ContinuousClock.now
}

/// A call that is due for a commit that has happened.
struct WaitingCompletion {
    let id: AsyncTransactionId
    let call: () -> Void
    /// Keeps the realm until then.
    let session: RealmSession
}

extension RealmSession {
    /// The time until the lock is tried again while somebody holds it.
    private static let pause = DispatchTimeInterval.milliseconds(2)

    fileprivate func requireWritable() throws {
        try verify()
        guard !isFrozen else { throw Realm.Error.frozen }
        guard !engine.isReadOnly else {
            throw Realm.Error(.readOnly, "Can't write: the realm was opened read-only.")
        }
        try requireDelivery()
    }

    fileprivate func addWrite(_ kind: WaitingWrite.Kind, _ block: @escaping () -> Void)
        -> AsyncTransactionId
    {
        lastWriteID &+= 1
        waitingWrites.append(
            WaitingWrite(id: lastWriteID, kind: kind, block: block, session: self))
        resumeWrites()
        return lastWriteID
    }

    fileprivate func addCompletion(_ call: @escaping () -> Void) -> AsyncTransactionId {
        lastWriteID &+= 1
        completions.append(WaitingCompletion(id: lastWriteID, call: call, session: self))
        scheduler?.schedule()
        return lastWriteID
    }

    fileprivate func removeWrite(_ id: AsyncTransactionId) {
        waitingWrites.removeAll { $0.id == id }
        completions.removeAll { $0.id == id }
    }

    /// Makes the calls that are due.
    func complete() {
        while let next = completions.first {
            completions.removeFirst()
            next.call()
        }
    }

    /// Sees to it that the writes that wait get their turn. After every transaction, as they do not
    /// begin inside one.
    func resumeWrites() {
        if !waitingWrites.isEmpty { scheduler?.schedule() }
    }

    /// Makes the first of the writes that wait, if no other thread or process is writing. On
    /// the session's thread, from its run loop or queue.
    func makeNextWrite() {
        guard !isWriting, !isMakingWrite, let write = waitingWrites.first else { return }
        var failure: Realm.Error?
        do {
            try beginWrite(timeoutMilliseconds: 0)
        } catch {
            let error = Realm.Error(wrapping: error)
            // Another realm of this thread may be writing: it can continue only if this one does
            // not wait.
            if [.lockTimeout, .alreadyInTransaction].contains(error.code), !isOverdue(write) {
                return tryAgainSoon()
            }
            failure = error
        }
        removeWrite(write.id)
        if failure == nil { failure = run(write) }
        switch write.kind {
        case .whole(_, let onComplete?): onComplete(failure)
        case .whole, .open: if let failure { Misuse.report(failure) }
        }
        resumeWrites()
    }

    /// Runs a block inside the transaction that has begun, and ends that. A transaction that the
    /// block has committed or cancelled itself is left so.
    private func run(_ write: WaitingWrite) -> Realm.Error? {
        isMakingWrite = true
        defer { isMakingWrite = false }
        write.block()
        defer { Diagnostics.deliver() }
        guard isWriting else { return nil }
        let failure = failure
        do {
            switch write.kind {
            case .whole(let durability, _): try commit(durability, withoutNotifying: [])
            case .open: try cancelWrite()
            }
            return failure
        } catch {
            return Realm.Error(wrapping: error)
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
