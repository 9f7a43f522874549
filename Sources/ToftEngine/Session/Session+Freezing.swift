internal import ToftModel

extension Session {
    /// A session that always shows this one's version: within a write transaction, the one that it
    /// began with. The version is pinned until the last reference is released.
    ///
    /// It and everything made of it may be used by any number of threads at once: nothing moves it,
    /// and reading leaves behind only guarded state. It can't write, observe or move, and sharing
    /// it does not close it.
    package func frozen() throws(EngineError) -> Session {
        try check()
        if isFrozen, !isOfMigration { return self }
        var options = options
        options.confinement = .caller
        database.join()
        let frozen = Session(
            database: database, options: options, at: base, isFrozen: true)
        frozen.aliases = aliases
        return frozen
    }

    /// Goes to the version of a frozen session of the same database, which may be older: for one of
    /// which nothing has been asked yet.
    package func stand(at other: Session) throws(EngineError) {
        try check()
        guard other.database === database, transaction == nil, !isFrozen else { return }
        let snapshot = other.base.snapshot
        move(to: try model { () throws(ModelError) in try ModelView(snapshot, previous: schema) })
        pokeIfBehind()
    }

    /// Throws `readOnly` if the session is frozen.
    func requireThawed() throws(EngineError) {
        guard !isFrozen else {
            throw EngineError(
                .readOnly,
                "Can't write: a frozen realm never changes. Thaw it, and change the result.")
        }
    }
}
