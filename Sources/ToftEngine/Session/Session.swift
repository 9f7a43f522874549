internal import ToftPlatform
package import ToftModel
package import ToftQuery
package import ToftStorage

/// One thread's view of one version of a database, and its open objects in it.
///
/// 1. Handles and results made of it refer to it, and never contain a pointer into the file: they
///    show the session's position, within a write transaction with the changes made so far.
/// 2. Each part has rules of its own, which its type states.
/// 3. The variables with `@exclusivity(unchecked)` are read in every call.
package final class Session {
    package let identity: SessionIdentity
    @exclusivity(unchecked) private(set) var state = SessionState.open
    @exclusivity(unchecked) private var position: Position
    /// Nil outside of a write transaction.
    @exclusivity(unchecked) private(set) var write: WriteScope?
    @exclusivity(unchecked) var readers = ReaderCache()
    @exclusivity(unchecked) var observation = ObservationScope()

    init(
        database: Database, options: SessionOptions, at base: ModelView,
        isFrozen: Bool = false, isOfMigration: Bool = false,
        interruption: Interruption = Interruption()
    ) {
        identity = SessionIdentity(
            options, at: base, isFrozen: isFrozen, isOfMigration: isOfMigration,
            interruption: interruption)
        position = Position(database, at: base)
    }

    deinit {
        guard isOpen else { return }
        end(as: .closed)
        leaveUnasked()
    }

    /// Leaves the database without reporting a failure, as `close` would.
    private func leaveUnasked() {
        do throws(EngineError) {
            try database.leave()
        } catch {
            Diagnostics.tell(
                .warn, "'\(database.path)' was released and not closed well: \(error.message)")
        }
    }

    // MARK: Its parts

    package var options: SessionOptions { identity.options }
    package var interruption: Interruption { identity.interruption }
    @inlinable package var isFrozen: Bool { identity.isFrozen }
    @inlinable package var epoch: UnsafeMutablePointer<SessionEpoch> { identity.epoch }
    package var isOpen: Bool { state.isOpen }
    package var database: Database { position.database }
    /// Names that queries use for paths: see `setAlias`.
    package internal(set) var aliases: KeyPathAliases {
        get { position.aliases }
        set { position.aliases = newValue }
    }
    /// The session's version.
    var base: ModelView { position.base }
    var transaction: ModelTransaction? { write?.transaction }
    var channel: Channel? { observation.channel }

    // MARK: Use

    /// Throws unless the session may be used on this thread.
    @inline(__always)
    package func check() throws(EngineError) {
        guard state.isOpen else { throw closed }
        try identity.check()
    }

    /// The error for calls after the end.
    private var closed: EngineError {
        EngineError(
            .closed,
            state == .invalidated
                ? "The realm has been invalidated, and with it what was got from it before. Get it "
                    + "from the realm again."
                : "The realm has been closed. Open the database again.")
    }

    /// The view to read from: the session's version, or its write transaction.
    var view: ModelView { write?.transaction.view ?? position.base }

    /// The classes and properties that the session sees.
    package var schema: ModelSchema { view.schema }

    /// The session's version; within a write transaction, the one that it began with.
    package var version: Version {
        get throws(EngineError) {
            try check()
            return base.snapshot.version
        }
    }

    package var isReadOnly: Bool { options.isReadOnly || database.store.isReadOnly }

    // MARK: Moving

    /// Moves to a version.
    /// - Parameter isNoted: whether the counters have the version's changes.
    func move(to view: ModelView, isNoted: Bool = false) {
        if view !== base {
            position.move(to: view, isNoted: isNoted)
            identity.show(view)
            readers = ReaderCache()
            identity.advanceEpoch()
        }
        channel?.sessionMoved(to: view)
    }

    /// Notes a change whose reach is not known.
    func noteEverything() {
        identity.advanceEpoch()
        position.counters.noteEverything()
    }

    /// Marks the counters stale; the transaction's record says what changed.
    func noteUnread() {
        identity.advanceEpoch()
        position.counters.noteUnread()
    }

    func noteCreation(of owner: ClassHandle) {
        position.counters.noteCreation(of: owner.id)
    }

    func noteSet(_ property: PropertyHandle) {
        // An owned target may have been deleted.
        if property.ownsTargets { return position.counters.noteUnread() }
        position.counters.noteSet(PropertyRef(property))
    }

    /// The last change of the results' dependencies. Threads that share a frozen session may ask:
    /// nothing ever changes there.
    func lastChange(of watched: Dependencies) -> UInt64 {
        if isFrozen { return 1 }
        if position.counters.hasUnread { readRecord() }
        return position.counters.last(of: watched)
    }

    /// A number that grows with each change that the session sees.
    package var stampOfEverything: UInt64 { position.counters.now }

    /// Counts the changes in the unread part of the write transaction's record.
    private func readRecord() {
        guard position.counters.areInUse, let changes = write?.unreadChanges() else {
            return position.counters.noteEverything()
        }
        position.counters.note(changes)
    }

    /// The state that it shows now.
    var mark: SessionMark {
        SessionMark(
            schema: schema, version: base.version,
            writing: transaction.map { (position.transactionNumber, $0.recordEnd) })
    }

    /// The keys of the objects of a class that were created, deleted or had one of some properties
    /// set since `mark`, ascending, each once. Nil if the records do not say, or have more than
    /// `limit` changes.
    func touchedKeys(
        of classID: ClassID, reading watched: Dependencies, since mark: SessionMark,
        atMost limit: Int
    ) throws(EngineError) -> [Int64]? {
        guard mark.schema === schema, let owner = schema.anyClass(id: classID),
            mark.writing.map({ $0.number > position.cancelledNumber }) ?? true
        else { return nil }
        var touched = TouchedKeys(owner, reading: watched, limit: limit)
        if let write, mark.writing?.number == position.transactionNumber {
            let record = mark.writing?.record
            guard try write.add(since: record, to: &touched, on: base.version) else { return nil }
        } else {
            guard try add(commitsSince: mark.version, to: &touched) else { return nil }
            if let write, try !write.add(since: nil, to: &touched, on: base.version) { return nil }
        }
        return touched.sorted
    }

    /// Adds the objects that the commits since a version have touched.
    private func add(commitsSince version: Version, to touched: inout TouchedKeys)
        throws(EngineError) -> Bool
    {
        let records = try storage { () throws(StorageError) in
            try base.snapshot.records(after: version, atMost: VersionChanges.mostRecordBytes)
        }
        return records?.allSatisfy { $0.forEach { touched.add($0) } } ?? false
    }

    // MARK: The write transaction

    func enterTransaction(_ entered: ModelTransaction, _ phase: WriteScope.Phase) {
        write = WriteScope(entered, phase)
        identity.shared.withLock { $0.isWriting = true }
        position.enterTransaction()
        database.noteWriteBegun(by: identity.owner)
    }

    /// The session's transaction has begun with the state that the session shows.
    func noteBeginning() {
        identity.advanceEpoch()
        if let transaction { position.noteBeginning(on: transaction.baseVersion) }
    }

    /// Its transaction may end from now on.
    func finishBeginning() { write?.phase = .open }

    /// The session is no longer in its transaction; the caller ends that.
    func leaveTransaction() {
        write = nil
        identity.shared.withLock { $0.isWriting = false }
        database.noteWriteEnded(by: identity.owner)
    }

    /// The transaction has ended, and the session shows the state before it.
    func noteCancellation() {
        identity.advanceEpoch()
        position.noteCancellation()
    }

    /// The transaction has been committed. Returns whether all its changes were counted.
    func noteCommit() -> Bool { position.counters.commitTransaction() }

    /// Enters a transaction of the opening of the file, for a handler, which can end neither the
    /// transaction nor the session.
    func beginHandler(in transaction: ModelTransaction) {
        enterTransaction(transaction, .beginning)
        state = .inHandler
    }

    /// Closes the session that a handler had.
    func endHandler() {
        if state == .inHandler { state = .open }
        try? close()
    }

    // MARK: The end

    /// Ends the session: a write transaction is cancelled, observations end, everything made of it
    /// is `closed`. The last session of the process makes all that was committed durable and closes
    /// the file; to release the last one instead does the same, but reports no failure.
    ///
    /// Whatever is thrown but `closed`, `wrongThread`, `usedAfterFork` and `insideCallback`, the
    /// session has ended.
    ///
    /// - Throws: the errors of `Store.close`: `commitOutcomeUnknown`, `poisoned`, `io`...;
    ///   `insideCallback` for a session that a handler of the opening has.
    /// - Parameter isInvalidation: whether the realm continues with another session.
    package func close(isInvalidation: Bool = false) throws(EngineError) {
        try check()
        guard state != .inHandler else {
            throw EngineError(
                .insideCallback,
                "Can't close this realm: it belongs to the opening of the file, which closes it "
                    + "when the callback has returned.")
        }
        end(as: isInvalidation ? .invalidated : .closed)
        let closing = database
        position.leave()
        try closing.leave()
    }

    private func end(as end: SessionState) {
        state = end
        readers = ReaderCache()
        identity.advanceEpoch()
        // A forked child has none of the parent's other threads, but any locks that they held.
        guard (try? database.store.checkProcess()) != nil else { return }
        identity.show(nil)
        position.counters.noteEverything()
        if let transaction {
            leaveTransaction()
            transaction.rollback()
        }
        if let channel {
            database.notifier.remove(channel)
            channel.close()
        }
        observation.channel = nil
    }
}
