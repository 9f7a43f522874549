internal import ToftEngine
internal import ToftPlatform

extension Realm {
    /// Whether a write transaction of this realm is open. One that a failure has ended is, until
    /// `write` returns, or `commitWrite` or `cancelWrite` is called.
    public var isInWriteTransaction: Bool { session.isWriting }

    /// Runs the block in a write transaction and commits; when the block throws, the transaction is
    /// cancelled. Waits for other writers, of any process. When it returns, the changes are on
    /// disk.
    ///
    /// A failure of the machine in the block (a full disk, a damaged page, an interruption), also
    /// in a call that can't throw, ends the transaction: its changes are discarded, the block's
    /// further changes have no effect, and the failure is thrown here.
    /// - Parameters:
    ///   - tokens: observers of this realm that this transaction skips; one of another realm, also
    ///     of the same file on another thread or queue, is an error.
    ///   - durability: when the changes are on disk, if not at once. Realm has nothing like it.
    ///   - block: makes the changes; an error that it throws cancels them.
    @discardableResult
    public func write<Result>(
        withoutNotifying tokens: [NotificationToken] = [], durability: Durability = .immediate,
        _ block: () throws -> Result
    ) throws -> Result {
        try session.requireOwn(tokens)
        try begin(tellsOwnCommits: !tokens.isEmpty)
        return try finishWrite(tokens, durability, block)
    }

    /// Runs the block in the transaction that has begun and commits.
    func finishWrite<Result>(
        _ tokens: [NotificationToken], _ durability: Durability, _ block: () throws -> Result
    ) throws -> Result {
        let result: Result
        do {
            result = try block()
        } catch {
            let failure = session.failure
            if isInWriteTransaction { cancelWrite() }
            throw failure ?? error
        }
        if isInWriteTransaction {
            try commit(tokens, durability)
        }
        return result
    }

    /// Begins a write transaction. A mistake, such as a transaction that is open already, goes to
    /// `misuseHandler`, as Realm can't throw here either. A failure (of the disk, of a wait for
    /// other writers) is thrown by `commitWrite`, and changes before that have no effect.
    public func beginWrite() {
        do {
            try begin()
        } catch let error as Realm.Error where error.isFailure && Misuse.collector == nil {
            session.failToBegin(error)
        } catch {
            Misuse.report(Realm.Error(wrapping: error))
        }
    }

    private func begin(tellsOwnCommits: Bool = false) throws {
        defer { Diagnostics.deliver() }
        try session.beginWrite(tellsOwnCommits: tellsOwnCommits)
        session.writingTask = RealmSession.currentTask
    }

    /// Commits the write transaction: when it returns, the changes are on disk and every observer
    /// of any process will be notified of them.
    /// - Parameters:
    ///   - tokens: observers of this realm that this transaction skips. One that has not been
    ///     called for an earlier commit yet is notified of both: `write(withoutNotifying:)` calls
    ///     it first.
    ///   - durability: when the changes are on disk, if not at once. Realm has nothing like it.
    public func commitWrite(
        withoutNotifying tokens: [NotificationToken] = [], durability: Durability = .immediate
    ) throws {
        try session.requireOwn(tokens)
        try commit(tokens, durability)
    }

    private func commit(_ tokens: [NotificationToken], _ durability: Durability) throws {
        defer { Diagnostics.deliver() }
        do throws(EngineError) { try session.verify() } catch {
            throw Realm.Error(telling: error)
        }
        defer { session.resumeWrites() }
        try session.commit(durability, withoutNotifying: tokens)
    }

    /// Cancels the write transaction: everything is as it was before. Objects added in it are
    /// invalid.
    public func cancelWrite() {
        Misuse.reporting {
            try session.verify()
            defer { session.resumeWrites() }
            try session.cancelWrite()
        }
    }
}
