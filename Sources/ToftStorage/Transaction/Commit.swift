internal import ToftPlatform

/// How a commit becomes durable.
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

/// A commit, told in order. It goes one of two ways; both leave the same kind of version behind.
///
/// - A **logged commit**: write the changed extents, unsynced; append one record to the log, by one
///   durable write; publish.
/// - A **checkpoint-commit**: write the changed extents, sync, write the idle meta, sync, publish.
///   The way of bulk transactions, of changes of structure, of a full log and of the first commit
///   after the file was closed cleanly.
///
/// Every step up to the first durable write can fail and leave the last version as it was; a
/// failing sync can't be taken back, so it poisons the database for all processes.
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
        let record = transaction.record.pointee.finish(
            version: pages.version, previousVersion: transaction.baseVersion,
            recordBytes: transaction.baseRoot.recordBytes)
        let total = transaction.baseRoot.recordBytes &+ UInt64(record.count)
        if let frame = try LogAppend(record, of: transaction) {
            return try log(frame, record, total, durability)
        }
        return try checkpoint(record, total)
    }

    // MARK: The logged commit

    private func log(
        _ frame: LogAppend, _ record: [UInt8], _ total: UInt64, _ durability: Durability
    ) throws(StorageError) -> PublishedVersion {
        // 1. The version, and its bytes to the file, where other processes see them through the
        //    page cache.
        var published = try builder.build(record, total: total)
        try pages.flush()
        try mapRoot(of: published)
        try Probe.pass(.pagesWritten)
        published.log = frame.after
        store.noteLogged(
            effects: transaction.record.pointee.effectCount,
            bytes: UInt64(pages.working.extents.bytes))
        // 2. The record: alone, or with those of other threads. From here on the commit is durable
        //    or unknown.
        if durability == .deferred && store.group.isIdle {
            try frame.write(to: store.file)
            try Probe.pass(.logWritten)
            publish(published)
        } else {
            store.group.add(frame, published)
            // 3. Published by whoever writes it; for a group that is after the write lock was given
            //    to the next.
            if durability != .group { try store.group.finish(published.version) }
        }
        return published
    }

    // MARK: The checkpoint-commit

    private func checkpoint(_ record: [UInt8], _ total: UInt64) throws(StorageError)
        -> PublishedVersion
    {
        guard store.usesLog else { return try checkpointWithoutLog(record, total) }
        try store.coordinator.lockCheckpoint()
        defer { store.coordinator.unlockCheckpoint() }
        // 1. What it builds on is published, and what a dead checkpoint left in doubt becomes
        //    certain.
        try store.group.drain()
        guard try Checkpoint(store).adoptInDoubt() else {
            throw .corrupt(page: 0, reason: "a meta page is newer than the newest version")
        }
        // 2. The log may grow, or begin: it is zeros before a meta lists it.
        var (map, added) = try nextLog()
        if added != nil || map.salt == 0 { map.base = transaction.base.log.position }
        if map.salt == 0 { map.salt = try LogMap.newSalt(of: store.template.databaseID) }
        var published = try builder.build(record, total: total)
        try pages.flush()
        try mapRoot(of: published)
        if let added { try clear(added) }
        try Probe.pass(.pagesWritten)
        // 3. Sync, then the meta: durable or unknown.
        try orPoison { () throws(StorageError) in try store.file.sync() }
        try Probe.pass(.pagesSynced)
        try orPoison { () throws(StorageError) in try store.writeMeta(published, log: map) }
        try Probe.pass(.metaWritten)
        store.coordinator.setLog(map, tail: published.log.position)
        store.coordinator.setDurable(published.version, logTail: published.log.position)
        store.coordinator.removeWaiting(store.coordinator.waiting)
        try Probe.pass(.durableStored)
        // 4. A marker, for the chain of records to pass through: the next durable write of the log
        //    covers it.
        published.durableLog = published.log.position
        let marker = LogAppend(
            markerOf: published, previousVersion: transaction.baseVersion, map: map)
        if let marker, (try? marker.write(to: store.file)) != nil { published.log = marker.after }
        try Probe.pass(.markerWritten)
        // 5. Now everyone may see it.
        publish(published)
        return published
    }

    private func checkpointWithoutLog(_ record: [UInt8], _ total: UInt64) throws(StorageError)
        -> PublishedVersion
    {
        let published = try builder.build(record, total: total)
        try pages.flush()
        try mapRoot(of: published)
        try orPoison { () throws(StorageError) in try store.file.sync() }
        try orPoison { () throws(StorageError) in try store.writeMeta(published, log: .none) }
        store.coordinator.durableVersion = published.version
        publish(published)
        return published
    }

    /// The log's map from this commit on, and the segment that it gets new: the first, or another
    /// one where the log is too short.
    private func nextLog() throws(StorageError) -> (LogMap, added: LogSegment?) {
        var map = store.coordinator.log
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

    private func clear(_ segment: LogSegment) throws(StorageError) {
        let piece = [UInt8](repeating: 0, count: 16 * Page.size)
        var offset = segment.page * UInt64(Page.size)
        let end = offset + segment.byteCount
        while offset < end {
            let count = Int(min(end - offset, UInt64(piece.count)))
            try piece.withBytes { bytes throws(StorageError) in
                try store.file.write(UnsafeRawBufferPointer(rebasing: bytes[..<count]), at: offset)
            }
            offset += UInt64(count)
        }
    }

    // MARK: Both

    /// Maps the new root while the commit can still fail cleanly: a process whose address space is
    /// exhausted must not commit what it then can't read.
    private func mapRoot(of published: PublishedVersion) throws(StorageError) {
        _ = try store.file.locate(published.root.page, count: 1)
    }

    private func publish(_ version: PublishedVersion) {
        store.coordinator.publish(version)
        Probe.reach(.published)
        store.coordinator.wake()
    }

    private func orPoison(_ step: () throws(StorageError) -> Void) throws(StorageError) {
        do {
            try store.coordinator.orPoison(step)
        } catch {
            throw .commitOutcomeUnknown(version: pages.version)
        }
    }
}
