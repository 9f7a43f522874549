// A store's operations on its log, besides commits.

extension Store {
    /// Whether small commits go through the log.
    var usesLog: Bool { firstLogPages > 0 }

    /// The pages that the log has for itself.
    func logSegments() throws(StorageError) -> [LogSegment] {
        guard !isReadOnly else {
            return try MetaPage.newest(fromDevice: false, of: file)?.meta.logMap.segments ?? []
        }
        // The map changes only under the write lock and the checkpoint lock together.
        try coordinator.lockCheckpoint()
        defer { coordinator.unlockCheckpoint() }
        return coordinator.log.segments
    }

    /// The pages that the log has with the newest meta, and those that it had in a version and has
    /// given up since: an online compaction moves it. `newest` is the version of that meta, which a
    /// writer that died may have written and not published.
    func logSegments(of snapshot: Snapshot) throws(StorageError) -> (
        segments: [LogSegment], newest: Version
    ) {
        // The map changes with a meta only, under the checkpoint lock.
        if !isReadOnly { try coordinator.lockCheckpoint() }
        defer { if !isReadOnly { coordinator.unlockCheckpoint() } }
        guard let meta = try MetaPage.newest(fromDevice: false, of: file)?.meta else {
            throw .noMeta
        }
        let segments = meta.logMap.segments
        guard snapshot.version < meta.version else { return (segments, meta.version) }
        let newest = try isReadOnly ? beginRead() : Store.aside(meta, cache).beginRead()
        defer { newest.release() }
        let givenUp = try newest.freedRuns().filter {
            $0.birth == Self.birthOfLog && $0.death > snapshot.version
        }
        return (
            segments + givenUp.map { LogSegment(page: $0.page, pageCount: UInt64($0.count)) },
            meta.version
        )
    }

    /// The birth version that free space lists for pages that the log has released. No extent is as
    /// old.
    static let birthOfLog: Version = 0

    /// Counts a logged commit's work for the next checkpoint.
    func noteLogged(effects: UInt64, bytes: UInt64) {
        let waiting = coordinator.addToBacklog(
            Coordinator.CheckpointBacklog(effects: effects, bytes: bytes))
        checkpointer?.note(waiting)
    }

    /// Makes every commit that is visible now durable. Returns at once if all are.
    ///
    /// - Throws: `poisoned` when the sync fails, now or before; `lockTimeout`...
    package func flush(timeoutMilliseconds: Int = -1) throws(StorageError) {
        try checkProcess()
        guard !isReadOnly, usesLog else { return }
        let published = coordinator.published
        if coordinator.durableLog(of: published) == published.log.position { return }
        let transaction = try beginWrite(timeoutMilliseconds: timeoutMilliseconds)
        defer { transaction.rollback() }
        try group.drain()
        let end = transaction.base.log.position
        let rest = UnsyncedTail(
            map: coordinator.log, from: coordinator.durableLog(of: transaction.base), to: end)
        try coordinator.orPoison { () throws(StorageError) in try rest.rewrite(to: file) }
        coordinator.setFlushedLog(end)
    }

    /// Makes the newest version durable by a meta, so that the log before it is free for reuse.
    /// Others go on writing. False if there was nothing to do.
    @discardableResult
    package func checkpoint() throws(StorageError) -> Bool {
        try checkProcess()
        guard !isReadOnly, usesLog else { return false }
        return try Checkpoint(self).run()
    }

    /// Writes the meta of a version, durably.
    func writeMeta(_ published: PublishedVersion, log: LogRing) throws(StorageError) {
        try Checkpoint.writeMeta(published, template, log: log, to: file)
    }
}

extension Checkpoint {
    init(_ store: Store) {
        self.init(file: store.file, coordinator: store.coordinator, template: store.template)
    }
}
