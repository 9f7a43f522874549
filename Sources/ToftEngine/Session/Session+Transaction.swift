package import ToftModel
package import ToftStorage

extension Session {
    /// Whether a write transaction of the session is open.
    package var isWriting: Bool { transaction != nil }

    /// Begins a write transaction: waits for other writers, moves to the newest version and, if
    /// that is another, calls the observers that are due; they run inside the transaction.
    /// - Parameters:
    ///   - timeoutMilliseconds: how long to wait, if not as long as the configuration says; 0: not
    ///     at all.
    ///   - tellsOwnCommits: whether observers are called, too, that only the session's own commits
    ///     have made due: then a commit may skip them.
    package func beginWrite(timeoutMilliseconds: Int? = nil, tellsOwnCommits: Bool = false)
        throws(EngineError)
    {
        try check()
        guard transaction == nil else {
            throw EngineError(
                .alreadyInTransaction,
                "The realm is already in a write transaction. Commit or cancel it first.")
        }
        try requireThawed()
        guard !isReadOnly else {
            throw EngineError(
                .readOnly,
                "Can't write to '\(database.path)': the realm was opened for reading only, or "
                    + "the file can't be written. Open it for writing.")
        }
        try checkNotWritingOnThisThread()
        let prepared = try beginTransaction(
            timeoutMilliseconds ?? options.writeTimeoutMilliseconds ?? -1, tellsOwnCommits)
        guard let prepared else { return }
        defer { finishBeginning() }
        deliver(prepared)
    }

    /// A transaction of another session or a migration on this thread would never end while this
    /// session waits for it.
    func checkNotWritingOnThisThread() throws(EngineError) {
        guard !database.mustNotWait(options.confinement) else { throw .writingOnThisThread }
    }

    /// Takes the write lock. Returns the notifications to deliver.
    private func beginTransaction(_ timeout: Int, _ tellsOwnCommits: Bool) throws(EngineError)
        -> NotificationPackage?
    {
        let writing = try interruption.waiting(timeout) { timeout throws(StorageError) in
            try database.store.beginWrite(timeoutMilliseconds: timeout)
        }
        do throws(EngineError) {
            try checkActiveVersions()
            // Nobody commits while we hold the lock: the newest version is the one that the
            // transaction builds on. With commits in groups it may be on its way to the disk:
            // without observers the session need not wait to see it, the transaction does.
            if channel?.hasObservers == true {
                try storage { () throws(StorageError) in try writing.waitForBase() }
            }
            let view = writing.baseVersion == base.snapshot.version ? base : try newestView()
            let entered = try model { () throws(ModelError) in
                try ModelTransaction(writing, after: view, buffer: database.takeWriteBuffer())
            }
            let prepared = view === base && !tellsOwnCommits ? nil : moveForward(to: view)
            enterTransaction(entered, prepared == nil ? .open : .beginning)
            noteBeginning()
            return prepared
        } catch {
            writing.rollback()
            throw error
        }
    }

    /// Refuses to write if earlier versions that are still read would let the file grow.
    private func checkActiveVersions() throws(EngineError) {
        guard let limit = options.maximumActiveVersions else { return }
        let count = database.store.activeVersions
        guard UInt64(count) > limit else { return }
        throw EngineError(
            .tooManyReaders,
            "There are \(count) versions that are still read or newest, and the limit is \(limit). "
                + "Refresh or close the realms that read old ones, or release frozen ones.",
            number: Int64(count))
    }

    /// Commits: when it returns, the session shows the transaction's version, which everyone may
    /// see; it is on disk, unless its durability is deferred. The session's own observers of the
    /// whole database are called at once, the others with the next dispatch or refresh. Returns the
    /// version.
    /// - Parameter tokens: observations of the session that are not notified of it; those that have
    ///   not been notified of an earlier commit yet are notified of both.
    @discardableResult
    package func commit(_ durability: Durability = .immediate, skipping tokens: [Token] = [])
        throws(EngineError) -> Version
    {
        try check()
        let ending = try endingTransaction("commit")
        let committed: (version: Version, snapshot: Snapshot?)
        do throws(ModelError) {
            committed = try ending.commit(durability)
            if let buffer = ending.reusableBuffer { database.giveBack(buffer) }
        } catch {
            forgetTransaction()
            throw EngineError(error)
        }
        guard committed.version != base.snapshot.version,
            let view = committed.snapshot.flatMap({ try? ending.committedView($0) })
        else {
            // Nothing was changed; or the version that was made can't be pinned now, and the
            // session finds it when it next moves.
            forgetTransaction()
            return committed.version
        }
        for token in tokens { token.skip(from: base, to: view) }
        let calls = adoptOwnCommit(view)
        channel?.rearm()
        tellOwnCommit(calls)
        return committed.version
    }

    /// Cancels: everything is as it was at `beginWrite`.
    package func cancel() throws(EngineError) {
        try check()
        let ending = try endingTransaction("cancel")
        ending.rollback()
        forgetTransaction()
    }

    /// The transaction that is to end, which the session is no longer in.
    private func endingTransaction(_ verb: String) throws(EngineError) -> ModelTransaction {
        guard let write else {
            throw EngineError(
                .notInTransaction,
                "Can't \(verb) a non-existing write transaction. Begin one first.")
        }
        guard write.phase == .open else {
            throw EngineError(
                .insideCallback,
                "Can't \(verb) here: the transaction ends when the callback has returned."
            )
        }
        leaveTransaction()
        return write.transaction
    }

    /// The session shows the state before the transaction that it has left.
    private func forgetTransaction() {
        noteCancellation()
        channel?.rearm()
    }

    /// The transaction that receives a change.
    func writing() throws(EngineError) -> ModelTransaction {
        try check()
        try requireThawed()
        guard let transaction else {
            throw EngineError(
                .notInTransaction,
                "Can't change anything outside of a write transaction. Begin one first.")
        }
        identity.advanceEpoch()
        return transaction
    }

    /// Deletes all objects of some classes, all or nothing.
    package func deleteAll(_ ids: [ClassID]) throws(EngineError) {
        var owners: [ClassHandle] = []
        for id in ids { owners.append(try classHandle(id)) }
        let transaction = try writing()
        try model { () throws(ModelError) in try transaction.eraseAll(owners) }
        noteUnread()
    }

    // MARK: Moving forward

    /// Moves to the newest version and calls the observers that are due. False if the session has
    /// the newest version, within a write transaction, within a handler, and when frozen. If much
    /// has been read into memory, that is released.
    @discardableResult
    package func refresh() throws(EngineError) -> Bool {
        try check()
        guard transaction == nil, observation.depth == 0, !isFrozen else {
            if identity.isOfMigration { try giveBackMemory() }
            return false
        }
        let isNewer = database.store.latestVersion != base.snapshot.version
        let prepared = moveForward(
            to: isNewer || base.snapshot.fillsMemory ? try newestView() : base)
        if let prepared { deliver(prepared) }
        return isNewer
    }

    /// Releases memory with pages of the file, if that is much, and keeps the version: borrowed
    /// bytes may not be used afterwards. Not for sessions that several threads use; does nothing in
    /// a write transaction and within a handler.
    package func giveBackMemory() throws(EngineError) {
        try check()
        guard transaction == nil, observation.depth == 0,
            let view = try model({ () throws(ModelError) in try base.again() })
        else { return }
        move(to: view)
    }

    /// Moves to a version, and computes the observers' notifications on this thread. Within a
    /// handler it computes nothing: the observers keep their positions and are notified when the
    /// session next moves.
    private func moveForward(to view: ModelView) -> NotificationPackage? {
        guard let channel, observation.depth == 0 else {
            move(to: view)
            return nil
        }
        let prepared = NotificationPackage.prepare(
            channel.observations.filter(\.isFollowing), to: view)
        return adopt(prepared)
    }

    /// The newest version as the session sees it.
    func newestView() throws(EngineError) -> ModelView {
        let snapshot = try storage { () throws(StorageError) in try database.store.beginRead() }
        return try model { () throws(ModelError) in try ModelView(snapshot, previous: base.schema) }
    }
}

// MARK: Savepoints

/// States of a write transaction that it can return to: so that a call of many steps is done as a
/// whole or not at all.
extension Session {
    /// Begins a savepoint. Nested ones end in turn, the last one first; the end of the transaction
    /// ends all. O(the transaction's buffered changes); until it ends each change costs a read of
    /// the previous value.
    package func beginSavepoint() throws(EngineError) {
        let transaction = try writing()
        try model { () throws(ModelError) in try transaction.beginSavepoint() }
    }

    /// Ends the last savepoint. `keeping`: changes since then stay; otherwise all are undone:
    /// created objects are deleted, and deleted or replaced ones exist again, as the same objects.
    /// O(changes since).
    package func endSavepoint(keeping: Bool) throws(EngineError) {
        let transaction = try writing()
        defer { if !keeping { noteEverything() } }
        let wasThere = try model { () throws(ModelError) in
            try transaction.endSavepoint(keeping: keeping)
        }
        guard wasThere else {
            throw EngineError(
                .invalidArgument,
                "There is no savepoint to end: it was never begun, or ended with the transaction.")
        }
    }

    /// Does some work of the write transaction as a whole: if it throws, everything is restored.
    package func allOrNothing<Result>(_ work: () throws(EngineError) -> Result)
        throws(EngineError) -> Result
    {
        try beginSavepoint()
        let result: Result
        do throws(EngineError) {
            result = try work()
        } catch {
            // The failure that led here is the one to report. If the file fails meanwhile, the
            // commit will say so.
            try? endSavepoint(keeping: false)
            throw error
        }
        try endSavepoint(keeping: true)
        return result
    }
}
