internal import ToftModel
package import ToftStorage

extension Session {
    /// Opens a database on the calling thread. The session stands at the newest version. What the
    /// schema has and the file lacks is added to the file, in a transaction of its own; what only
    /// the file has stays there, unseen.
    package static func open(_ configuration: Configuration) throws(EngineError) -> Session {
        try open(in: try Database.open(configuration), configuration)
    }

    /// Opens a session on a store that the caller has opened, on a disk of its own: the way in for
    /// tests. The location that the configuration names is not looked at.
    package static func open(on store: Store, _ configuration: Configuration) throws(EngineError)
        -> Session
    {
        try open(in: Database.of(store), configuration)
    }

    private static func open(in database: Database, _ configuration: Configuration)
        throws(EngineError) -> Session
    {
        let timeout = configuration.writeTimeoutMilliseconds ?? -1
        let base = try model { () throws(ModelError) in
            let schema = try ModelSchema.open(
                database.store, declared: configuration.schema,
                version: configuration.schemaVersion,
                isReadOnly: configuration.mode == .readOnly, timeoutMilliseconds: timeout)
            let snapshot = try stored { () throws(StorageError) in try database.store.beginRead() }
            return try ModelView(snapshot, declared: configuration.schema, previous: schema)
        }
        return Session(database: database, configuration: configuration, at: base)
    }
}
