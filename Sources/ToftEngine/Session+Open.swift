internal import ToftModel
internal import ToftStorage

extension Session {
    /// Opens a database on the calling thread. The session stands at the newest version. What the
    /// schema has and the file lacks is added to the file, in a transaction of its own; what only
    /// the file has stays there, unseen.
    package static func open(_ configuration: Configuration) throws(EngineError) -> Session {
        let database = try Database.open(configuration)
        do throws(EngineError) {
            return Session(
                database: database, configuration: configuration,
                at: try newest(of: database, configuration))
        } catch {
            try? database.leave()
            throw error
        }
    }

    private static func newest(of database: Database, _ configuration: Configuration)
        throws(EngineError) -> ModelView
    {
        let timeout = configuration.writeTimeoutMilliseconds ?? -1
        return try model { () throws(ModelError) in
            let schema = try ModelSchema.open(
                database.store, declared: configuration.schema,
                version: configuration.schemaVersion,
                isReadOnly: configuration.mode == .readOnly, timeoutMilliseconds: timeout)
            let snapshot = try stored { () throws(StorageError) in try database.store.beginRead() }
            return try ModelView(snapshot, declared: configuration.schema, previous: schema)
        }
    }
}
