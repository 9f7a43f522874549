internal import ToftPlatform
package import ToftModel
package import ToftQuery
package import ToftStorage

/// One thread's view of one version of a database, and its open objects in it.
///
/// 1. The session shows one version until `refresh`, `dispatch` or `beginWrite` moves it; commits
///    move it to their own.
/// 2. Handles and results made of it refer to it, and never contain a pointer into the file: they
///    show the session's version, within a write transaction with the changes made so far.
/// 3. All calls are made on its own thread, or one after the other if it is confined to the caller.
///    Its last reference may be released on any thread.
/// 4. `counters` counts every change that may affect reads.
/// 5. A frozen session never moves, and any thread may use it: see `frozen`. A migration's frozen
///    session belongs to one thread, which may make it release memory: see `refresh`.
/// 6. The variables with `@exclusivity(unchecked)` are read in every call.
package final class Session {
    /// The session's database; after `close`, an empty one in memory.
    @exclusivity(unchecked) package private(set) var database: Database
    package let options: SessionOptions
    /// Whether it shows one version for ever.
    package let isFrozen: Bool
    /// Whether it is the frozen one of a migration, which one thread at a time uses.
    let isOfMigration: Bool
    let owner: ThreadToken?
    /// `owner` without a reference count, for `check`.
    private let ownerToken: Unmanaged<ThreadToken>?

    /// The session's version. Changed by `move` alone.
    @exclusivity(unchecked) private(set) var base: ModelView
    /// The write transaction, while there is one.
    @exclusivity(unchecked) private(set) var transaction: ModelTransaction?
    /// When each thing changed last, for the results that are open.
    private(set) var counters = ChangeCounters()
    /// The end of the part of the write transaction's record that `counters` has read.
    private var readOfRecord = RecordPosition.start
    /// The number of the write transaction that the session entered last.
    private(set) var transactionNumber: UInt64 = 0
    /// The number of the last transaction that was cancelled, or whose end is unknown.
    private(set) var cancelledNumber: UInt64 = 0
    @exclusivity(unchecked) package private(set) var isOpen = true
    /// Whether it was closed because the realm continues with another one.
    private var isInvalidated = false
    /// Not used in a write transaction, nor when frozen. Empty once the session has moved: it holds
    /// pages of `base`.
    @exclusivity(unchecked) var lastRead = LastRead()
    /// `lastRead` of the classes read before that.
    @exclusivity(unchecked) var readsBefore: [LastRead] = []
    /// Whether the database knows that the session has ended.
    private var hasLeft = false
    /// The session's epoch: compare it before you use a kept pointer.
    package let epoch: UnsafeMutablePointer<SessionEpoch>

    /// Names that queries use for paths: see `setAlias`.
    @exclusivity(unchecked) package internal(set) var aliases = KeyPathAliases()

    /// The part of the session that other threads see.
    let shared: FutexMutex<SharedView>

    /// The session's channel of the notifier, from the first observer on.
    var channel: Channel?
    /// Whether the notifier works for the channel.
    var isServed = false
    /// Ends the waits of the session for other writers and its queries, from any thread.
    package let interruption: Interruption
    /// Number of nested handlers that the session is in.
    var handlerDepth = 0
    /// Whether `beginWrite` is delivering: its transaction may not end before it has returned.
    var isBeginning = false
    /// Whether a migration, or the filling of a new file, has lent the session to its handler, and
    /// closes it afterwards.
    var isLent = false
    /// True while observers of the whole database are being notified of the session's own commit.
    var isTellingOwnCommit = false

    init(
        database: Database, options: SessionOptions, at base: ModelView,
        isFrozen: Bool = false, isOfMigration: Bool = false,
        interruption: Interruption = Interruption()
    ) {
        self.interruption = interruption
        self.isFrozen = isFrozen
        self.isOfMigration = isOfMigration
        self.database = database
        self.options = options
        self.base = base
        shared = FutexMutex(SharedView(view: base))
        owner = options.confinement == .thread ? ThreadToken.current : nil
        ownerToken = owner.map { .passUnretained($0) }
        epoch = .allocate(capacity: 1)
        epoch.initialize(to: SessionEpoch())
    }

    deinit {
        end()
        if !hasLeft { leaveUnasked() }
        epoch.deallocate()
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

    // MARK: Use

    /// Throws unless the session may be used on this thread.
    @inline(__always)
    package func check() throws(EngineError) {
        guard isOpen else { throw closed }
        if let ownerToken, !ThreadToken.isCurrent(ownerToken) {
            throw EngineError(
                .wrongThread,
                "Realm accessed from incorrect thread. Open one on each thread that needs it.")
        }
        guard epoch.pointee.word.pointee == epoch.pointee.generation else {
            throw EngineError(StorageError.usedAfterFork)
        }
    }

    /// The error for calls after the end.
    private var closed: EngineError {
        EngineError(
            .closed,
            isInvalidated
                ? "The realm has been invalidated, and with it what was got from it before. Get it "
                    + "from the realm again."
                : "The realm has been closed. Open the database again.")
    }

    /// The view to read from: the session's version, or its write transaction.
    var view: ModelView { transaction?.view ?? base }

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
    /// - Parameter isNoted: whether `counters` has the version's changes.
    func move(to view: ModelView, isNoted: Bool = false) {
        if view !== base {
            if !isNoted { noteDifference(to: view) }
            base = view
            let old = shared.withLock { shared in
                defer { shared.view = view }
                return shared.view
            }
            withExtendedLifetime(old) {}
            forgetReads()
            epoch.pointee.number += 1
        }
        channel?.sessionMoved(to: view)
    }

    /// Counts a version's changes since the session's.
    private func noteDifference(to view: ModelView) {
        guard view.version != base.version else { return }
        // Without results, nobody reads the counters.
        guard counters.areInUse, let changes = VersionChanges(from: base, to: view) else {
            return counters.noteEverything()
        }
        counters.note(changes)
    }

    private func forgetReads() {
        lastRead = LastRead()
        readsBefore = []
    }

    /// Notes a change whose reach is not known.
    func noteEverything() {
        epoch.pointee.number += 1
        counters.noteEverything()
    }

    /// Marks the counters stale; the transaction's record says what changed.
    func noteUnread() {
        epoch.pointee.number += 1
        counters.noteUnread()
    }

    /// Something is about to be written.
    func noteWriting() {
        epoch.pointee.number += 1
    }

    func noteCreation(of owner: ClassHandle) {
        counters.noteCreation(of: owner.id)
    }

    func noteSet(_ property: PropertyHandle) {
        // An owned target may have been deleted.
        if property.ownsTargets { return counters.noteUnread() }
        counters.noteSet(PropertyRef(property))
    }

    /// The last change of the results' dependencies. Threads that share a frozen session may ask:
    /// nothing ever changes there.
    func lastChange(of watched: Dependencies) -> UInt64 {
        if isFrozen { return 1 }
        if counters.hasUnread { readRecord() }
        return counters.last(of: watched)
    }

    /// Counts the changes in the unread part of the write transaction's record.
    private func readRecord() {
        // A failure to write buffered changes occurs again when the caller reads.
        guard counters.areInUse, let transaction,
            let changes = try? VersionChanges(of: transaction, after: &readOfRecord)
        else { return counters.noteEverything() }
        counters.note(changes)
    }

    // MARK: The write transaction

    /// The session's transaction has begun with the state that the session shows.
    func noteBeginning() {
        epoch.pointee.number += 1
        counters.beginTransaction()
        // It may build on one of a group of commits that nobody sees yet.
        if transaction?.baseVersion != base.version { counters.noteEverything() }
    }

    /// The transaction has ended, and the session shows the state before it.
    func noteCancellation() {
        epoch.pointee.number += 1
        cancelledNumber = transactionNumber
        counters.cancelTransaction()
    }

    /// The transaction has been committed. Returns whether all its changes were counted.
    func noteCommit() -> Bool { counters.commitTransaction() }

    func enterTransaction(_ entered: ModelTransaction) {
        transaction = entered
        shared.withLock { $0.isWriting = true }
        transactionNumber += 1
        readOfRecord = .start
        database.noteWriteBegun(by: owner)
    }

    /// The session is no longer in its transaction; the caller ends that.
    func leaveTransaction() {
        transaction = nil
        shared.withLock { $0.isWriting = false }
        database.noteWriteEnded(by: owner)
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
    ///   `insideCallback` for a session that is lent to a handler.
    /// - Parameter isInvalidation: whether the realm continues with another session.
    package func close(isInvalidation: Bool = false) throws(EngineError) {
        try check()
        guard !isLent else {
            throw EngineError(
                .insideCallback,
                "Can't close this realm: it belongs to the opening of the file, which closes it "
                    + "when the callback has returned.")
        }
        isInvalidated = isInvalidation
        end()
        let closing = database
        // Handles may hold the session for long; they must not hold the file.
        if let nowhere = Database.nowhere {
            base = nowhere.view
            database = nowhere.database
        }
        hasLeft = true
        try closing.leave()
    }

    private func end() {
        guard isOpen else { return }
        isOpen = false
        forgetReads()
        epoch.pointee.number += 1
        // A forked child has none of the parent's other threads, but any locks that they held.
        guard (try? database.store.checkProcess()) != nil else { return }
        let shown = shared.withLock { shared in
            defer { shared.view = nil }
            return shared.view
        }
        withExtendedLifetime(shown) {}
        counters.noteEverything()
        if let transaction {
            leaveTransaction()
            transaction.rollback()
        }
        if let channel {
            database.notifier.remove(channel)
            channel.close()
        }
        channel = nil
    }
}
