internal import ToftPlatform
package import ToftModel
internal import ToftStorage

/// The move of a file from an older schema version to that of a configuration, in one transaction,
/// before the session of the configuration is opened.
///
/// 1. It belongs to the thread that opens, for the time of the handler: afterwards `old` and `new`
///    are closed.
/// 2. An error of the handler leaves the file as it was.
/// 3. Objects have the same keys in `old` and in `new`.
package final class Migration {
    /// Changes values, or says why not.
    package typealias Handler = @Sendable (Migration) throws(EngineError) -> Void

    /// The database as it was, with all classes that it has; frozen, for one thread at a time. Its
    /// `refresh` releases the memory of its pages.
    package let old: Session
    package var oldVersion: UInt64 { schema.oldVersion }
    package let newVersion: UInt64
    private let options: SessionOptions
    private var schema: SchemaMigration
    private let writing: WriteTransaction
    /// The future state of the database; nil until it is first needed.
    private var session: Session?
    /// Number of active calls of `enumerate`.
    private var enumerations = 0

    /// Migrates the file if its version is lower than the configuration's, or throws if it can't be
    /// written.
    static func runIfDue(
        in database: Database, _ configuration: Configuration, _ timeout: Int,
        _ probe: InterruptProbe?
    ) throws(EngineError) {
        guard configuration.migration != nil, configuration.schema != nil,
            let version = configuration.schemaVersion, try isDue(in: database, version)
        else { return }
        guard configuration.mode != .readOnly, !database.store.isReadOnly else {
            throw EngineError(
                .schemaMismatch,
                "The file has to be migrated to schema version \(version), and it is read-only. "
                    + "Open it once for writing with this migration, or read it with the classes "
                    + "and the version that it has.")
        }
        let writing = try begin(in: database, timeout, probe)
        defer { writing.rollback() }
        let before = try model { () throws(ModelError) in try StoredSchema.read(writing.view) }
        guard try run(in: database, writing, configuration) else { return }
        let after = try model { () throws(ModelError) in try StoredSchema.read(writing.view) }
        _ = try storage { () throws(StorageError) in try writing.commit() }
        if let declared = configuration.schema {
            ModelSchema.tellLosses(from: before, to: after, declared, in: database.path)
        }
    }

    /// The changes that opening a file with a configuration would make to its schema, and every
    /// error that it would throw: everything is done, the migration too, in a transaction that is
    /// rolled back. The file stays as it was, though it may have grown.
    package static func dryRun(_ configuration: Configuration) throws(EngineError)
        -> [SchemaDifference]
    {
        try configuration.checkOptions()
        guard let declared = configuration.schema else {
            throw EngineError(.invalidArgument, "A dry run needs the schema to open the file with.")
        }
        guard configuration.mode != .readOnly else {
            let session = try Session.open(configuration)
            let found = try model { () throws(ModelError) in
                try StoredSchema.read(session.base.snapshot)
            }
            try session.close()
            return found.differences(to: found, seenBy: declared)
        }
        var existing = configuration
        existing.mode = .existing
        existing.compacts = nil
        guard let probe = existing.probe else { return try dryRun(existing, declared) }
        return try probe.watching { () throws(EngineError) in try dryRun(existing, declared) }
    }

    private static func dryRun(_ configuration: Configuration, _ declared: Schema)
        throws(EngineError) -> [SchemaDifference]
    {
        let database = try Database.open(configuration.store)
        do throws(EngineError) {
            let differences = try dryRun(in: database, configuration, declared)
            try database.leave()
            return differences
        } catch {
            try? database.leave()
            throw error
        }
    }

    private static func dryRun(
        in database: Database, _ configuration: Configuration, _ declared: Schema
    ) throws(EngineError) -> [SchemaDifference] {
        guard !database.mustNotWait(configuration.confinement) else { throw .writingOnThisThread }
        let writing = try begin(
            in: database, configuration.writeTimeoutMilliseconds ?? -1, configuration.probe)
        defer { writing.rollback() }
        let before = try model { () throws(ModelError) in try StoredSchema.read(writing.view) }
        let hasRun = try run(in: database, writing, configuration)
        return try model { () throws(ModelError) in
            if !hasRun {
                _ = try ModelSchema.add(
                    declared, version: configuration.schemaVersion, in: writing,
                    calls: database.noting(configuration.schemaCalls))
            }
            let after = try StoredSchema.read(writing.view)
            return before.differences(to: after, seenBy: declared)
        }
    }

    static func begin(
        in database: Database, _ timeout: Int, _ probe: InterruptProbe?
    ) throws(EngineError) -> WriteTransaction {
        let begin = { (slice: Int) throws(EngineError) in
            try storage { () throws(StorageError) in
                try database.store.beginWrite(timeoutMilliseconds: slice)
            }
        }
        guard let probe else { return try begin(timeout) }
        return try Interruption.waiting(timeout, probe, begin)
    }

    /// Migrates in a write transaction that the caller ends. False if nothing is due: the lock
    /// excludes others, and one of them may have migrated.
    private static func run(
        in database: Database, _ writing: WriteTransaction, _ configuration: Configuration
    ) throws(EngineError) -> Bool {
        guard let handler = configuration.migration, let declared = configuration.schema,
            let version = configuration.schemaVersion,
            try model({ () throws(ModelError) in
                try SchemaMigration.isDue(in: writing.view, to: version)
            })
        else { return false }
        let migration = try Migration(
            database, writing, configuration, declared: declared, version: version)
        defer { migration.end() }
        // A handler that opens the database once more on this thread gets an error, no deadlock.
        let thread = ThreadToken.current
        database.noteWriteBegun(by: thread, isHandler: true)
        defer { database.noteWriteEnded(by: thread) }
        try handler(migration)
        try migration.finish()
        return true
    }

    private static func isDue(in database: Database, _ version: UInt64) throws(EngineError) -> Bool
    {
        let snapshot = try storage { () throws(StorageError) in try database.store.beginRead() }
        defer { snapshot.release() }
        return try model { () throws(ModelError) in
            try SchemaMigration.isDue(in: snapshot, to: version)
        }
    }

    private init(
        _ database: Database, _ writing: WriteTransaction, _ given: Configuration,
        declared: Schema, version: UInt64
    ) throws(EngineError) {
        var options = given.options
        self.options = options
        self.writing = writing
        newVersion = version
        schema = try model { () throws(ModelError) in
            try SchemaMigration(
                writing, to: declared, version: version, calls: given.schemaCalls)
        }
        options.confinement = .caller
        try storage { () throws(StorageError) in try writing.waitForBase() }
        let snapshot = try storage { () throws(StorageError) in try database.store.beginRead() }
        let view = try model { () throws(ModelError) in try ModelView(snapshot) }
        database.join()
        old = Session(
            database: database, options: options, at: view, isFrozen: true,
            isOfMigration: true)
    }

    // MARK: The handler's side

    /// The future state of the database, in a write transaction that the migration ends. A primary
    /// key that changes is a plain property here.
    package func new() throws(EngineError) -> Session {
        if let session { return session }
        let buffer = old.database.takeWriteBuffer()
        let transaction = try model { () throws(ModelError) in try schema.begin(buffer) }
        old.database.join()
        let made = Session(
            database: old.database, options: options, at: old.base)
        made.beginHandler(in: transaction)
        session = made
        return made
    }

    /// Gives a class of the file the name that it is to have. Before anything else.
    package func renameClass(_ oldName: String, to newName: String) throws(EngineError) {
        guard session == nil else {
            throw EngineError(
                .invalidArgument,
                "Cannot rename class '\(oldName)' to '\(newName)' here: rename classes before the "
                    + "new realm is used.")
        }
        try model { () throws(ModelError) in try schema.renameClass(oldName, to: newName) }
    }

    /// Gives a property of the file its future name. Not while `enumerate` calls its body, which
    /// would be called again for each object.
    package func renameProperty(_ className: String, _ oldName: String, to newName: String)
        throws(EngineError)
    {
        guard enumerations == 0 else {
            throw EngineError(
                .invalidArgument,
                "Cannot rename property '\(className).\(oldName)' to '\(newName)' inside "
                    + "enumerateObjects: rename it once, before or after.")
        }
        try change { transaction throws(ModelError) in
            try schema.renameProperty(className, oldName, to: newName, transaction)
        }
    }

    /// Deletes all objects of a class, and the class if it is not declared any more. False if the
    /// file has no class of this name.
    @discardableResult
    package func deleteData(_ className: String) throws(EngineError) -> Bool {
        var wasThere = false
        try change { transaction throws(ModelError) in
            let deleted = try schema.deleteData(className, transaction)
            wasThere = deleted.wasThere
            return deleted.next
        }
        return wasThere
    }

    private func change(
        _ body: (ModelTransaction) throws(ModelError) -> ModelTransaction
    ) throws(EngineError) {
        let session = try new()
        let transaction = try session.writing()
        let next = try model { () throws(ModelError) in try body(transaction) }
        if next !== transaction { session.enterTransaction(next, .beginning) }
        session.noteEverything()
    }

    /// Calls `body` with each object of a class: its old state, and its new one unless it has been
    /// deleted meanwhile. The old object's borrowed bytes are valid until the next one. For a class
    /// that is new, with those that the migration has created.
    package func enumerate(
        _ className: String, _ body: (ObjectHandle?, ObjectHandle?) throws(EngineError) -> Void
    ) throws(EngineError) {
        let session = try new()
        enumerations += 1
        defer { enumerations -= 1 }
        let now = try? session.classHandle(named: className)
        guard let was = oldClass(className, now) else {
            guard let now else { throw EngineError(ModelError.noSuchClass(className)) }
            let results = try session.results(of: now.id)
            for index in 0..<(try results.count) { try body(nil, try results.object(at: index)) }
            return
        }
        let results = try old.results(of: was.id)
        for index in 0..<(try results.count) {
            try old.giveBackMemory()
            let before = try results.object(at: index)
            guard now != nil else {
                try body(before, nil)
                continue
            }
            if let after = try session.object(before.ref) { try body(before, after) }
        }
    }

    /// The class as it was, of the name that it has now or had.
    private func oldClass(_ name: String, _ now: ClassHandle?) -> ClassHandle? {
        if let now { return old.schema.visibleClasses.first { $0.id == now.id } }
        return try? old.classHandle(named: name)
    }

    // MARK: The end

    private func finish() throws(EngineError) {
        let session = try new()
        let transaction = try session.writing()
        try model { () throws(ModelError) in try schema.finish(transaction) }
        session.leaveTransaction()
    }

    /// Closes the handler's sessions.
    private func end() {
        session?.endHandler()
        try? old.close()
    }
}
