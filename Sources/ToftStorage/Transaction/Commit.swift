internal import ToftPlatform

/// The time at which a commit becomes durable.
package enum Durability: Sendable {
    /// Durable when `commit` returns.
    case immediate
    /// Durable when `commit` returns; commits of several threads of a process share one write.
    case group
    /// Visible at once, durable with the next commit that is, with `flush`, or after about a
    /// second. A crash of the process loses nothing; a crash of the machine may lose the last of
    /// them, never one without all behind it.
    case deferred
}

/// A commit, in the steps of the page on commits. It takes one of two ways, which leave the same
/// kind of version behind.
///
/// - `logged`: small transactions. The extents are written, unsynced; the record becomes durable by
///   one write to the log.
/// - `checkpointCommit`: bulk transactions, changes of structure, a full log or backlog, and the
///   first commit after the file was closed cleanly. The extents are synced, then a meta names the
///   version.
///
/// Steps 1 and 2 are over when it begins: `Store.beginWrite` took the write lock and claimed the
/// version, and `PageWriter` has copied the changed extents.
///
/// Every step before the first durable write can fail and leave the last version as it was. A sync
/// that fails poisons the database for all processes, because it must not be tried again.
struct Commit {
    private let transaction: WriteTransaction
    private let store: Store
    private let pages: PageWriter
    private let builder: VersionBuilder

    init(_ transaction: WriteTransaction) {
        self.transaction = transaction
        store = transaction.store
        pages = transaction.pages
        builder = VersionBuilder(transaction)
    }

    func run(_ durability: Durability) throws(StorageError) -> PublishedVersion {
        // A checkpoint may have failed since the transaction began.
        if store.coordinator.isPoisoned { throw .poisoned }
        let (record, total) = transaction.finishRecord()
        if let frame = try LogAppend(record, of: transaction) {
            return try logged(frame, record, total, durability)
        }
        if store.usesLog { return try checkpointCommit(record, total) }
        return try checkpointWithoutLog(record, total)
    }

    // MARK: The logged commit

    private func logged(
        _ frame: LogAppend, _ record: [UInt8], _ total: UInt64, _ durability: Durability
    ) throws(StorageError) -> PublishedVersion {
        // 3. The record joins the version; checksums are computed from the leaves up to the root.
        var version = try builder.build(record, total: total)
        // 4. The extents are written, not synced: other processes see them through the page cache.
        try pages.flush()
        try mapRoot(of: version)
        try Failpoint.pass(.pagesWritten)
        version.log = frame.after
        store.noteLogged(
            effects: transaction.record.pointee.effectCount,
            bytes: UInt64(pages.working.extents.bytes))
        if durability == .deferred && store.group.isIdle {
            // 5. The record is appended to the log; a later durable write of the log covers it.
            try frame.write(to: store.file)
            try store.file.checkDescriptor()
            try Failpoint.pass(.logWritten)
            // 6. The version is published.
            CommitGroup.publish(version, store.coordinator)
        } else {
            // 5 and 6, for all commits that wait: `finish` has the first of their threads lead, and
            // the leader calls `appendAndPublish`. With `group` durability that is done after the
            // write lock was given to the next thread.
            store.group.add(frame, version)
            if durability != .group { try store.group.finish(version.version) }
        }
        return version
    }

    // MARK: The checkpoint-commit

    private func checkpointCommit(_ record: [UInt8], _ total: UInt64) throws(StorageError)
        -> PublishedVersion
    {
        try store.coordinator.lockCheckpoint()
        defer { store.coordinator.unlockCheckpoint() }
        // The base version is published, and the state that a dead checkpoint left in doubt is
        // settled.
        try store.group.drain()
        guard try Checkpoint(store).adoptInDoubt() else {
            throw .corrupt(page: 0, reason: "a meta page is newer than the newest version")
        }
        var (log, added) = try nextLog()
        if log.segments != store.coordinator.log.segments || log.salt == 0 {
            log.base = transaction.base.log.position
        }
        if log.salt == 0 { log.salt = try LogRing.newSalt(of: store.template.databaseID) }
        // 3. The record joins the version; checksums are computed from the leaves up to the root.
        var version = try builder.build(record, total: total)
        // 4. The extents are written, and a new segment of the log as zeros. Then the sync.
        try pages.flush()
        try mapRoot(of: version)
        if let added { try store.file.clear(added.page, count: added.pageCount) }
        try Failpoint.pass(.pagesWritten)
        try orPoison { () throws(StorageError) in try store.file.sync() }
        try Failpoint.pass(.pagesSynced)
        // 5. The meta is written, durably. A marker in the log follows, for the chain of records to
        //    pass through: the next durable write of the log covers it.
        try orPoison { () throws(StorageError) in try store.writeMeta(version, log: log) }
        try Failpoint.pass(.metaWritten)
        store.coordinator.setLog(log, tail: version.log.position)
        store.coordinator.setDurable(version.version, logTail: version.log.position)
        store.coordinator.removeFromBacklog(store.coordinator.backlog)
        try Failpoint.pass(.durableStored)
        version.durableLog = version.log.position
        let marker = try? LogAppend(
            markerOf: version, previousVersion: transaction.baseVersion, map: log,
            store.file.cipher)
        if let marker, (try? marker.write(to: store.file)) != nil { version.log = marker.after }
        try Failpoint.pass(.markerWritten)
        // 6. The version is published.
        CommitGroup.publish(version, store.coordinator)
        cutFile(to: version)
        return version
    }

    /// A commit of a store without a log: a database in memory.
    private func checkpointWithoutLog(_ record: [UInt8], _ total: UInt64) throws(StorageError)
        -> PublishedVersion
    {
        // 3.
        let version = try builder.build(record, total: total)
        // 4.
        try pages.flush()
        try mapRoot(of: version)
        try orPoison { () throws(StorageError) in try store.file.sync() }
        // 5.
        try orPoison { () throws(StorageError) in try store.writeMeta(version, log: .none) }
        store.coordinator.durableVersion = version.version
        // 6.
        CommitGroup.publish(version, store.coordinator)
        cutFile(to: version)
        return version
    }

    /// 7. of a step of a compaction: the file ends with the version, which counts every page that
    ///    it or an earlier version that is read needs. Its meta is durable, and no checkpoint is
    ///    under way. Readers that find the file shorter than their version read a newer one.
    private func cutFile(to version: PublishedVersion) {
        guard transaction.fileEnd != nil, let size = try? store.file.size(),
            size > version.fileSize
        else { return }
        do throws(StorageError) {
            try store.file.truncate(to: version.fileSize)
            Failpoint.reach(.fileTruncated)
        } catch {
            Diagnostics.tell(.detail, "'\(store.path)' keeps its free pages: \(error).")
        }
    }

    /// The log's map from this commit on, and the segment that it gains: the first, or another one
    /// if the log is too short.
    private func nextLog() throws(StorageError) -> (LogRing, added: LogSegment?) {
        var map = store.coordinator.log
        if let end = transaction.fileEnd { return try movedLog(map, before: end) }
        let have = map.capacity / UInt64(Page.size)
        var wanted = have == 0 ? store.firstLogPages : have
        if transaction.isLogTooShort && have > 0 { wanted = max(have * 2, store.firstLogPages) }
        wanted = min(wanted, LogLimit.grownPages)
        guard wanted > have, map.segments.count < LockFileLayout.logSegmentLimit,
            let freeSpace = pages.freeSpace
        else { return (map, nil) }
        let added = LogSegment(
            page: try freeSpace.allocate(Int(wanted - have), .long, in: pages),
            pageCount: wanted - have)
        map.segments.append(added)
        return (map, added)
    }

    /// The log without the segments behind the end of the file; a first one replaces them if there
    /// is no other and there is room. Their pages are free once no version is read that counts them
    /// as in use.
    private func movedLog(_ map: LogRing, before end: PageNumber) throws(StorageError) -> (
        LogRing, added: LogSegment?
    ) {
        var moved = map
        moved.segments.removeAll { $0.page + $0.pageCount > end }
        guard let freeSpace = pages.freeSpace, moved.segments.count < map.segments.count else {
            return (map, nil)
        }
        var added: LogSegment?
        if moved.segments.isEmpty {
            let count = Int(store.firstLogPages)
            guard count > 0, try freeSpace.hasRun(of: count, in: pages) else { return (map, nil) }
            let segment = LogSegment(
                page: try freeSpace.allocate(count, .long, in: pages), pageCount: UInt64(count))
            moved.segments.append(segment)
            added = segment
        }
        for segment in map.segments where !moved.segments.contains(segment) {
            freeSpace.addFreed(
                page: segment.page, count: UInt32(truncatingIfNeeded: segment.pageCount),
                birth: Store.birthOfLog, death: pages.version)
        }
        return (moved, added)
    }

    // MARK: Both

    /// Maps the new root while the commit can still fail cleanly: a process whose address space is
    /// exhausted must not commit a version that it can't read.
    private func mapRoot(of published: PublishedVersion) throws(StorageError) {
        _ = try store.cache.locate(published.root.page, count: 1)
    }

    private func orPoison(_ step: () throws(StorageError) -> Void) throws(StorageError) {
        do {
            try store.coordinator.orPoison(step)
        } catch {
            throw .commitOutcomeUnknown(version: pages.version)
        }
    }
}

extension LogAppend {
    /// The record of a transaction. Nil if it cannot be logged, and has to be a checkpoint-commit.
    init?(_ record: [UInt8], of transaction: WriteTransaction) throws(StorageError) {
        let store = transaction.store
        guard store.usesLog, !transaction.isStructureChanged, transaction.record.pointee.isComplete
        else { return nil }
        let map = store.coordinator.log
        guard map.salt != 0 else { return nil }
        let waiting = store.coordinator.backlog.bytes
        guard waiting <= LogLimit.maximumBacklogBytes else {
            Diagnostics.tell(
                .detail,
                "Checkpoints of '\(store.path)' fell behind: \(waiting) bytes wait, so that a "
                    + "commit makes its own.")
            return nil
        }
        let length = LogFrame.paddedLength(
            payload: LogFrame.sealedLength(payload: record.count, store.file.cipher))
        let base = transaction.base
        guard let start = map.start(of: length, from: base.log.position),
            start + length - store.coordinator.logTail <= map.capacity
        else {
            transaction.isLogTooShort = true
            return nil
        }
        let durable = store.coordinator.durableLog(of: base)
        var bytes: [UInt8] = []
        let frame = try LogFrame(
            .record, version: transaction.version, previousVersion: transaction.baseVersion,
            before: LogEnd(position: start, sequence: base.log.sequence, hash: base.log.hash),
            durablePosition: durable,
            durableCheckpoint: store.coordinator.durableVersion, salt: map.salt, payload: record,
            cipher: store.file.cipher, into: &bytes)
        #if DEBUG || TOFT_TRIALS
        try Self.checkBeforeWrite(bytes, salt: map.salt, store.file.cipher)
        #endif
        self.init(
            map: map, frame: frame, bytes: bytes, durable: durable, end: base.log.position)
    }
}
