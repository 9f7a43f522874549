internal import ToftPlatform

/// Makes a published version durable by a meta of its own, so that the log before it is no longer
/// needed. Writers go on meanwhile.
///
/// 1. It allocates nothing and changes no page: it writes only a meta.
/// 2. It pins its version by a word that outlives it: if it dies, its meta may be on the disk or
///    not, and the pages of both its version and the durable one stay until the next checkpoint, or
///    checkpoint-commit, has synced that meta and adopted it.
/// 3. It waits for no other lock while it has the checkpoint lock.
struct Checkpoint {
    private let file: DataFile
    let coordinator: Coordinator
    private let template: Meta

    init(file: DataFile, coordinator: Coordinator, template: Meta) {
        self.file = file
        self.coordinator = coordinator
        self.template = template
    }

    var path: String { file.path }

    /// Checkpoints the newest version. False if it is durable already, or has to wait for a writer
    /// that takes over from a dead one.
    @discardableResult
    func run() throws(StorageError) -> Bool {
        let start = MonotonicClock.nanoseconds
        try coordinator.lockCheckpoint()
        defer { coordinator.unlockCheckpoint() }
        if coordinator.isPoisoned { throw .poisoned }
        // 1. The state that a dead predecessor left in doubt is settled.
        guard try adoptInDoubt() else { return false }
        Failpoint.reach(.checkpointAdopted)
        // 2. The version, pinned. Commits from here on wait for the next checkpoint.
        let work = coordinator.backlog
        let pin = try coordinator.pinLatest()
        defer { coordinator.unpin(pin) }
        let published = pin.published
        guard published.version > coordinator.durableVersion else { return false }
        coordinator.checkpointVersion = published.version
        try Failpoint.pass(.checkpointPinned)
        // 3. Its pages, in slices, so that commits need not wait behind all of it; then the sync,
        //    which has little left to do.
        try writeOut(published, work)
        try sync()
        try Failpoint.pass(.checkpointSynced)
        // 4. The meta.
        try coordinator.orPoison { () throws(StorageError) in
            try Self.writeMeta(published, template, log: coordinator.log, to: file)
        }
        try Failpoint.pass(.checkpointMetaWritten)
        coordinator.setDurable(published.version, logTail: published.log.position)
        coordinator.removeFromBacklog(work)
        Diagnostics.tell(
            .debug,
            "Checkpointed '\(file.path)' at version \(published.version) in "
                + "\(Diagnostics.since(start)).")
        return true
    }

    /// Syncs a meta that a dead checkpoint left, and counts it as durable. False if the newest meta
    /// is that of a checkpoint-commit that died before it was published: the process that takes
    /// over from its writer adopts it. The caller has the checkpoint lock.
    func adoptInDoubt() throws(StorageError) -> Bool {
        guard let newest = try MetaPage.newest(fromDevice: false, of: file)?.meta else {
            throw .noMeta
        }
        if newest.version > coordinator.published.version { return false }
        if newest.version > coordinator.durableVersion {
            try sync()
            coordinator.setDurable(newest.version, logTail: newest.log.position)
        }
        return true
    }

    /// Bytes of a slice.
    private static let slice: UInt64 = 1 << 20

    private func writeOut(_ published: PublishedVersion, _ work: Coordinator.CheckpointBacklog)
        throws(StorageError)
    {
        guard work.bytes > Self.slice else { return }
        var offset: UInt64 = 0
        while offset < published.fileSize {
            try coordinator.orPoison { () throws(StorageError) in
                try file.writeOut(offset..<min(offset + Self.slice, published.fileSize))
            }
            offset += Self.slice
        }
    }

    private func sync() throws(StorageError) {
        try coordinator.orPoison { () throws(StorageError) in try file.sync() }
    }

    /// Writes the meta of a version to the idle page, durably.
    static func writeMeta(
        _ published: PublishedVersion, _ template: Meta, log: LogRing,
        isClosedCleanly: Bool = false,
        to file: DataFile
    ) throws(StorageError) {
        var meta = template
        meta.version = published.version
        meta.root = published.root
        meta.pageCount = published.fileSize / UInt64(Page.size)
        meta.isClosedCleanly = isClosedCleanly
        meta.logMap = log
        meta.log = published.log
        try MetaPage.write(meta, slot: try MetaPage.idleSlot(of: file), to: file)
    }
}
