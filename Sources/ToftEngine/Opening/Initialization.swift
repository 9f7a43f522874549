internal import ToftPlatform
internal import ToftModel
internal import ToftStorage

/// The first content of a database, in the transaction that gives it its classes.
///
/// 1. It is due if no program has given the database classes yet. If several programs open it at
///    the same moment, the first one with the write lock does it; the others wait for the lock.
/// 2. An error of the handler leaves the database as it was, without classes: it is due again.
package enum Initialization {
    /// Gives a session, in a write transaction that ends after it, its first objects.
    package typealias Handler = @Sendable (Session) throws(EngineError) -> Void

    /// Initializes the database if that is due.
    static func runIfDue(
        in database: Database, _ configuration: Configuration, _ timeout: Int,
        _ probe: InterruptProbe?
    ) throws(EngineError) {
        guard configuration.initialize != nil, configuration.mode != .readOnly,
            !database.store.isReadOnly, try isDue(in: database)
        else { return }
        let writing = try Migration.begin(in: database, timeout, probe)
        defer { writing.rollback() }
        guard let transaction = try run(in: database, writing, configuration) else { return }
        let committed = try model { () throws(ModelError) in try transaction.commit() }
        committed.snapshot?.release()
    }

    private static func isDue(in database: Database) throws(EngineError) -> Bool {
        let snapshot = try storage { () throws(StorageError) in try database.store.beginRead() }
        defer { snapshot.release() }
        return try model { () throws(ModelError) in try ModelSchema.isMissing(in: snapshot) }
    }

    /// Initializes the database in a write transaction that the caller ends. Nil if that is not
    /// due: the lock excludes others, and one of them may have done it.
    private static func run(
        in database: Database, _ writing: WriteTransaction, _ configuration: Configuration
    ) throws(EngineError) -> ModelTransaction? {
        guard let handler = configuration.initialize, let declared = configuration.schema,
            !declared.classes.isEmpty,
            try model({ () throws(ModelError) in try ModelSchema.isMissing(in: writing.view) })
        else { return nil }
        let transaction = try model { () throws(ModelError) in
            try ModelTransaction(
                writing, adding: declared, version: configuration.schemaVersion,
                calls: configuration.schemaCalls, buffer: database.takeWriteBuffer())
        }
        var options = configuration.options
        options.confinement = .caller
        try storage { () throws(StorageError) in try writing.waitForBase() }
        let base = try storage { () throws(StorageError) in try database.store.beginRead() }
        let view = try model { () throws(ModelError) in
            try ModelView(base, declared: declared)
        }
        database.join()
        let session = Session(database: database, options: options, at: view)
        session.beginHandler(in: transaction)
        defer { session.endHandler() }
        // A handler that opens the database once more on this thread gets an error, no deadlock.
        let thread = ThreadToken.current
        database.noteWriteBegun(by: thread, isHandler: true)
        defer { database.noteWriteEnded(by: thread) }
        try handler(session)
        _ = try session.writing()
        session.leaveTransaction()
        return transaction
    }
}
