internal import ToftPlatform
internal import ToftModel
package import ToftStorage

extension Session {
    /// Opens a database on the calling thread. The session shows the newest version. Parts of the
    /// schema that the file lacks are added to the file, in a transaction of its own; parts that
    /// only the file has stay there, unseen. A file of an older version is migrated before.
    package static func open(_ configuration: Configuration) throws(EngineError) -> Session {
        try configuration.checkOptions()
        do throws(EngineError) {
            return try openOnce(configuration)
        } catch  where error.code == .schemaMismatch && configuration.deletesIfMigrationNeeded {
            guard case .file(let path) = configuration.location else { throw error }
            _ = try Database.delete(path)
            var anew = configuration
            anew.mode = .readWrite
            anew.minimumVersion = nil
            return try openOnce(anew)
        }
    }

    private static func openOnce(_ configuration: Configuration) throws(EngineError) -> Session {
        guard let probe = configuration.probe else {
            return try open(in: try Database.open(configuration.store), configuration)
        }
        return try probe.watching { () throws(EngineError) in
            try open(in: try Database.open(configuration.store), configuration, probe)
        }
    }

    /// Opens a session on a store that the caller has opened, on a disk of its own: for tests. The
    /// location in the configuration is ignored, and the caller closes its own handle of the store.
    package static func open(on store: Store, _ configuration: Configuration) throws(EngineError)
        -> Session
    {
        let database = Database.of(store)
        database.join()
        return try open(in: database, configuration)
    }

    /// Another session of the same database with the same schema, at the newest version, on the
    /// calling thread. It writes nothing, and works even if another process has made optional a
    /// property that the session declared as required since it was opened.
    /// - Parameter interruption: ends its waits and queries.
    package func another(
        _ options: SessionOptions, interruption: Interruption = Interruption()
    ) throws(EngineError) -> Session {
        try check()
        database.join()
        do throws(EngineError) {
            return Session(
                database: database, options: options, at: try newestView(),
                interruption: interruption)
        } catch {
            try? database.leave()
            throw error
        }
    }

    /// Opens a session that leaves the database when it ends, or now if it cannot be opened.
    private static func open(
        in database: Database, _ configuration: Configuration, _ probe: InterruptProbe? = nil
    ) throws(EngineError) -> Session {
        do throws(EngineError) {
            return Session(
                database: database, options: configuration.options,
                at: try newest(of: database, configuration, probe))
        } catch  where error.code == .lockTimeout && database.mustNotWait(configuration.confinement)
        {
            try? database.leave()
            throw .writingOnThisThread
        } catch {
            try? database.leave()
            throw error
        }
    }

    private static func newest(
        of database: Database, _ configuration: Configuration, _ probe: InterruptProbe?
    ) throws(EngineError) -> ModelView {
        let timeout =
            database.mustNotWait(configuration.confinement)
            ? 0 : configuration.writeTimeoutMilliseconds ?? -1
        try Migration.runIfDue(in: database, configuration, timeout, probe)
        try Initialization.runIfDue(in: database, configuration, timeout, probe)
        guard let probe else { return try newest(of: database, configuration, timeout) }
        return try Interruption.waiting(timeout, probe) { slice throws(EngineError) in
            try newest(of: database, configuration, slice)
        }
    }

    private static func newest(
        of database: Database, _ configuration: Configuration, _ timeout: Int
    ) throws(EngineError) -> ModelView {
        try model { () throws(ModelError) in
            let schema = try ModelSchema.open(
                database.store, declared: configuration.schema,
                version: configuration.schemaVersion,
                isReadOnly: configuration.mode == .readOnly,
                showsHidden: configuration.showsHidden, known: database.knownSchemas,
                timeoutMilliseconds: timeout, calls: database.noting(configuration.schemaCalls))
            if !configuration.showsHidden { database.remember(schema) }
            let snapshot = try stored { () throws(StorageError) in try database.store.beginRead() }
            return try ModelView(snapshot, declared: configuration.schema, previous: schema)
        }
    }
}
