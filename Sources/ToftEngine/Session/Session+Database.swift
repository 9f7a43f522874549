package import ToftModel
internal import ToftQuery
package import ToftStorage

/// The result of a check of a whole version.
package struct CheckFindings: Sendable {
    /// In plain words, one each. Empty: all is well.
    package var problems: [String]
    package var pageCount: Int
    package var objectCount: Int
}

extension Session {
    /// Gives a path a name in queries on a class in the session, or in sessions frozen from it from
    /// now on. Nil removes it. A property of the same name comes first. The path is resolved when
    /// it is used.
    package func setAlias(_ name: String, of id: ClassID, to path: String?) throws(EngineError) {
        try check()
        guard !isFrozen else {
            throw EngineError(.readOnly, "A frozen realm is shared by threads: set aliases before.")
        }
        let owner = try classHandle(id)
        guard !name.isEmpty, path?.isEmpty != true else {
            throw EngineError(.invalidArgument, "An alias needs a name and a path.")
        }
        aliases.set(name, of: owner.id, to: path)
    }

    /// Facts about the database: the newest version, the oldest pinned one, sizes in bytes.
    package func facts() throws(EngineError) -> StoreFacts {
        try check()
        return try storage { () throws(StorageError) in try database.store.facts() }
    }

    /// - Throws: `versionTooLow` if the newest version of the database is an older one.
    package func expect(atLeast minimumVersion: UInt64) throws(EngineError) {
        try check()
        try storage { () throws(StorageError) in
            try database.store.expect(atLeast: Version(minimumVersion))
        }
    }

    /// The versions that are read, by which processes, ascending.
    package func versionPins() throws(EngineError) -> [VersionPin] {
        try check()
        return try storage { () throws(StorageError) in try database.store.versionPins() }
    }

    /// Writes the session's version to a new file, compacted, while others write. O(file).
    ///
    /// - Throws: `fileExists`; `alreadyInTransaction` inside a write transaction...
    package func writeCopy(to path: String, encryptionKey: EncryptionKey? = nil)
        throws(EngineError)
    {
        try check()
        guard transaction == nil else {
            throw EngineError(
                .alreadyInTransaction,
                "Can't write a copy inside a write transaction. Commit or cancel it first.")
        }
        try interruption.watching { () throws(EngineError) in
            try storage { () throws(StorageError) in
                try base.snapshot.writeCopy(to: path, encryptionKey: encryptionKey)
            }
        }
    }

    /// The schema version that callers count, in the session's version.
    package var schemaVersion: UInt64 {
        get throws(EngineError) {
            try check()
            return view.schema.stored.version
        }
    }

    /// The greatest auto-incremented key that an object of a class has had; nil if keys are not
    /// counted.
    package func keyCounter(of id: ClassID) throws(EngineError) -> Int64? {
        let owner = try classHandle(id)
        return try model { () throws(ModelError) in try base.keyCounter(of: owner) }
    }

    /// Writes. Has the auto-incremented keys of a class go on after this one, unless they are
    /// beyond it.
    package func moveKeyCounter(of id: ClassID, to key: Int64) throws(EngineError) {
        let owner = try classHandle(id), transaction = try writing()
        try model { () throws(ModelError) in try transaction.moveKeyCounter(of: owner, to: key) }
    }

    /// Reads everything in the session's version and checks it: structure, order, checksums, free
    /// space, then objects, indexes and links. Damage is a finding, not an error.
    package func checkEverything() throws(EngineError) -> CheckFindings {
        try check()
        return try interruption.watching { () throws(EngineError) in
            try everythingFound()
        }
    }

    private func everythingFound() throws(EngineError) -> CheckFindings {
        let report = try storage { () throws(StorageError) in try StoreCheck.run(base.snapshot) }
        var findings = CheckFindings(
            problems: report.problems, pageCount: Int(clamping: report.usedPages), objectCount: 0)
        findings.problems += try model { () throws(ModelError) in try ModelCheck.run(base) }
        for owner in base.schema.classes { findings.objectCount += (try? base.count(owner)) ?? 0 }
        return findings
    }
}

// MARK: Files

extension Session {
    /// Makes every commit so far durable, of any session and any process. Returns at once if all
    /// are; otherwise waits for other writers.
    package func flush() throws(EngineError) {
        try check()
        guard transaction == nil else {
            throw EngineError(
                .alreadyInTransaction,
                "Can't flush inside a write transaction. Commit or cancel it first.")
        }
        guard !isReadOnly else {
            throw EngineError(
                .readOnly,
                "Can't flush '\(database.path)': the realm was opened for reading only, or "
                    + "the file can't be written. Open it for writing.")
        }
        try checkNotWritingOnThisThread()
        try interruption.waiting(options.writeTimeoutMilliseconds ?? -1) {
            timeout throws(StorageError) in
            try database.store.flush(timeoutMilliseconds: timeout)
        }
    }

    /// Moves at most `byteCount` bytes from the end of the file to free space before them, as a
    /// commit that changes no object, and releases free space at the end; see `Store.compactStep`.
    /// The session moves to the newest version before and after it, so that it pins no old one.
    package func compactStep(movingAtMost byteCount: UInt64) throws(EngineError) -> CompactionStep {
        try check()
        guard transaction == nil else {
            throw EngineError(
                .alreadyInTransaction,
                "Can't compact inside a write transaction. Commit or cancel it first.")
        }
        try requireThawed()
        guard !isReadOnly else {
            throw EngineError(
                .readOnly,
                "Can't compact '\(database.path)': the realm was opened for reading only, or "
                    + "the file can't be written. Open it for writing.")
        }
        try checkNotWritingOnThisThread()
        try refresh()
        let step = try interruption.watching { () throws(EngineError) in
            try interruption.waiting(options.writeTimeoutMilliseconds ?? -1) {
                timeout throws(StorageError) in
                try database.store.compactStep(
                    movingAtMost: byteCount, timeoutMilliseconds: timeout)
            }
        }
        try refresh()
        return step
    }
}

// MARK: Freezing

extension Session {
    /// A session that always shows this one's version: within a write transaction, the one that it
    /// began with. The version is pinned until the last reference is released.
    ///
    /// It and everything made of it may be used by any number of threads at once: nothing moves it,
    /// and reading leaves behind only guarded state. It can't write, observe or move, and sharing
    /// it does not close it.
    package func frozen() throws(EngineError) -> Session {
        try check()
        if isFrozen, !identity.isOfMigration { return self }
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
