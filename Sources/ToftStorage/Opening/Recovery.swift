internal import ToftPlatform

/// Brings a file to a published version: created anew, opened after all had closed it, or taken
/// over from a writer that died.
///
/// 1. Only the first to attach recovers, under the exclusive attach lock; no participant sees the
///    file meanwhile.
/// 2. The page cache may hold bytes that never reached the disk (a sync failed, and the kernel then
///    calls the pages clean): metas and log are read from the device, after a sync of the dirty
///    pages. A file that was closed cleanly needs no recovery to be read, so there the first write
///    transaction does that (`confirm`): all but that last meta was synced before it was written.
/// 3. The newest valid meta counts, with the log behind it. If its root is damaged the file is
///    damaged, and so it is if the log proves that something durable is missing: an older version
///    is never taken silently.
/// 4. The recovered version is made durable by a sync and a new meta, in the other slot, with a
///    version above all that a dead writer may have claimed and a log that begins anew with another
///    salt. Only then is anything published. A recovery that dies itself has changed nothing that
///    the next one reads.
enum Recovery {
    // MARK: A new file

    /// Writes version 1, an empty database.
    static func format(_ cache: PageCache) throws(StorageError) {
        try cache.file.grow(to: UInt64(16 * Page.size))
        let freeSpace = try FreeSpace(file: cache.file)
        let pages = PageWriter(cache, .all)
        pages.begin(1)
        pages.freeSpace = freeSpace
        let (rootRef, rootBase) = try pages.allocate(.root, pageCount: 1)
        let (directory, batchList) = try freeSpace.finish(
            replacing: nil, runLimit: RootPayload.runLimit(besides: 0), in: pages)
        var root = Root(
            version: 1, previousVersion: 0, catalog: TreeRoot(kind: .ordered), directory: directory,
            batchList: batchList)
        root.pageCount = try cache.file.size() / UInt64(Page.size)
        root.write(to: rootBase)
        try RootPayload.write(freeSpace.runsOfRoot, [], to: rootBase)
        var meta = Meta(
            databaseID: (try system(RandomBytes.uint64()), try system(RandomBytes.uint64())),
            replicaID: try system(RandomBytes.uint64()), version: 1, root: rootRef,
            pageCount: root.pageCount, identity: try cache.file.identity())
        meta.root.digest = try pages.finalizeChecksums(rootRef)
        meta.isClosedCleanly = true
        try pages.flush()
        try cache.file.sync()
        try MetaPage.write(meta, slot: 0, to: cache.file)
    }

    // MARK: Opening

    /// Makes the file's newest version durable and returns its meta. The caller holds the exclusive
    /// attach lock.
    ///
    /// - Parameter readOnlyPins: versions that read-only attachments have pinned, ascending.
    /// - Parameter abandoned: the newest version of the processes that had the file open before, if
    ///   known.
    /// - Parameter minimumVersion: the lowest version that the file's content may have; below it,
    ///   nothing is written.
    static func recover(
        _ cache: PageCache, readOnlyPins: [Version], abandoned: PublishedVersion? = nil,
        minimumVersion: Version = 0, dirtyLimit: Int
    ) throws(StorageError) -> Meta {
        let start = MonotonicClock.nanoseconds
        if let meta = try closedCleanly(cache) {
            try meta.version.expect(atLeast: minimumVersion, in: cache.file.path)
            Diagnostics.tell(.detail, "Opened '\(cache.file.path)' at version \(meta.version).")
            return meta
        }
        try cache.file.sync()
        guard
            let (meta, slot) = try MetaPage.newest(
                fromDevice: true, of: cache.file)
        else { throw .noMeta }
        let cached = try MetaPage.newest(fromDevice: false, of: cache.file)?.meta
        var found = try checked(meta, cache)
        try MetaPage.checkNewest(meta, slot, fromDevice: true, cache.file)
        if found.isClosedCleanly && cached == meta {
            try found.version.expect(atLeast: minimumVersion, in: cache.file.path)
            Diagnostics.tell(.detail, "Opened '\(cache.file.path)' at version \(found.version).")
            return found
        }
        Failpoint.reach(.recoveryRead)
        let log = try LogContent(
            of: meta.logMap, databaseID: meta.databaseID, fromDevice: true, of: cache.file)
        let records = try log.records(after: meta)
        // The version that it gets below does not depend on its content.
        try (records.last?.version ?? meta.version).expect(
            atLeast: minimumVersion, in: cache.file.path)
        let version =
            max(meta.version, cached?.version ?? 0, log.highestVersion())
            + StoreLimit.versionsSkippedByRecovery
        guard version < Version.limit else {
            throw .corrupt(
                page: slot, reason: "a meta or the log names a version near the greatest possible")
        }
        // A checkpoint that died may have left a part of its meta, and pages of its version are
        // written over from here on.
        let idle = MetaPage.other(than: slot)
        if try MetaPage.read(slot: idle, fromDevice: true, of: cache.file) == nil {
            try MetaPage.clear(slot: idle, of: cache.file)
        }
        let unlisted = unlisted(after: meta, readOnlyPins, abandoned)
        if records.isEmpty && unlisted == nil {
            found.version = version
        } else {
            let replayed = try ReplayedVersion(
                records, after: found, as: version, of: cache, pins: readOnlyPins,
                besides: unlisted, dirtyLimit: dirtyLimit)
            Failpoint.reach(.recoveryReplayed)
            try cache.file.sync()
            Failpoint.reach(.recoverySynced)
            found.version = version
            found.root = replayed.published.root
            found.pageCount = replayed.published.fileSize / UInt64(Page.size)
        }
        found.isClosedCleanly = false
        found.log = .start
        found.logMap.base = 0
        found.logMap.salt =
            found.logMap.segments.isEmpty ? 0 : try LogRing.newSalt(of: found.databaseID)
        try MetaPage.write(found, slot: idle, to: cache.file)
        Failpoint.reach(.recoveryRenewed)
        Diagnostics.tell(
            .info,
            "Recovered '\(cache.file.path)', which was not closed cleanly: \(records.count) "
                + "commits after version \(meta.version) were replayed in "
                + "\(Diagnostics.since(start)).")
        return found
    }

    /// The newest meta in the page cache, if it says that the file was closed cleanly.
    private static func closedCleanly(_ cache: PageCache) throws(StorageError) -> Meta? {
        let found = try unlessDamaged { () throws(StorageError) -> Meta? in
            guard let (meta, slot) = try MetaPage.newest(fromDevice: false, of: cache.file),
                meta.isClosedCleanly
            else { return nil }
            let found = try checked(meta, cache)
            try MetaPage.checkNewest(meta, slot, fromDevice: false, cache.file)
            return found
        }
        return found ?? nil
    }

    /// The versions after a checkpoint whose pages read-only attachments may read; nil without such
    /// versions.
    private static func unlisted(
        after meta: Meta, _ readOnlyPins: [Version], _ abandoned: PublishedVersion?
    ) -> UnlistedVersions? {
        guard let last = readOnlyPins.last, last > meta.version else { return nil }
        let newest = abandoned.flatMap { $0.version >= last ? $0 : nil }
        return UnlistedVersions(
            lifetime: meta.version + 1..<(newest?.version ?? last) + 1, newest: newest,
            pins: readOnlyPins)
    }

    /// The newest meta, for a process that may write nothing.
    static func look(_ cache: PageCache) throws(StorageError) -> Meta {
        while true {
            guard let (meta, slot) = try MetaPage.newest(fromDevice: false, of: cache.file) else {
                throw .noMeta
            }
            do throws(StorageError) {
                try MetaPage.checkNewest(meta, slot, fromDevice: false, cache.file)
                return try checked(meta, cache)
            } catch {
                // Unless somebody has written a newer one meanwhile.
                if try MetaPage.isNewest(meta, cache.file) { throw error }
            }
        }
    }

    /// The meta of this file, whose root exists; the whole of an unclean copy does.
    private static func checked(_ meta: Meta, _ cache: PageCache) throws(StorageError) -> Meta {
        try checkPresent(meta, cache)
        let identity = try cache.file.identity()
        if meta.identity != identity && !meta.isClosedCleanly {
            try checkWhole(meta, cache)
        }
        var found = meta
        found.identity = identity
        return found
    }

    private static func checkPresent(_ meta: Meta, _ cache: PageCache) throws(StorageError) {
        let size = try cache.file.size()
        guard meta.pageCount <= size / UInt64(Page.size) else {
            throw .corrupt(
                page: PageNumber(ofByte: size),
                reason:
                    "the file is truncated: it has \(size) of "
                    + "\(meta.pageCount * UInt64(Page.size)) bytes"
            )
        }
        let pages = PageReader(cache, version: meta.version)
        let root = try Root(reading: meta.root, in: pages)
        guard root.pageCount <= size / UInt64(Page.size) else {
            throw .corrupt(
                page: meta.root.page,
                reason: "a root counts \(root.pageCount) pages, more than the file has")
        }
    }

    /// A copy of a file that was open may hold pages of several versions: believe nothing before
    /// all has been read.
    private static func checkWhole(_ meta: Meta, _ cache: PageCache) throws(StorageError) {
        let report = try Store.aside(meta, cache).check()
        if let error = report.deviceError { throw error }
        if let problem = report.problems.first {
            throw .corrupt(
                page: 0,
                reason:
                    "the file is a copy of a database that was open while it was copied, and it "
                    + "is not whole: \(problem)"
            )
        }
    }

    // MARK: The last close

    /// Makes everything durable and marks the file as closed cleanly. The caller holds the
    /// exclusive attach lock. After a failure the next opening recovers.
    ///
    /// - Throws: `poisoned` after a failed sync; `corrupt` without a valid meta; `io`...
    static func markClean(_ store: Store) throws(StorageError) {
        guard !store.isReadOnly else { return }
        if store.coordinator.isPoisoned { throw .poisoned }
        guard let newest = try MetaPage.newest(fromDevice: false, of: store.file)?.meta else {
            throw .noMeta
        }
        let published = store.coordinator.published
        if newest.isClosedCleanly && newest.version == published.version {
            // It is closed cleanly whether that succeeds or not.
            if store.usesLog {
                try? Compaction.cut(store.file, store.coordinator, behindEndOf: newest)
            }
            return
        }
        var clean = newest.version > published.version ? PublishedVersion(newest) : published
        store.coordinator.claimVersions(upTo: clean.version)
        clean.version = store.coordinator.claimVersion()
        clean.log = .start
        var log = newest.version > published.version ? newest.logMap : store.coordinator.log
        log.salt = 0
        log.base = 0
        try store.file.sync()
        // To both pages, one after the other: damage to one of them then loses nothing, and damage
        // to both shows.
        for _ in 0..<2 {
            try Checkpoint.writeMeta(
                clean, store.template, log: log, isClosedCleanly: true, to: store.file)
        }
        Failpoint.reach(.cleanWritten)
        if store.usesLog { compact(store, clean) }
    }

    /// Releases the unused parts of the file. It is closed cleanly whether that succeeds or not.
    private static func compact(_ store: Store, _ clean: PublishedVersion) {
        do throws(StorageError) {
            store.coordinator.ring.publish(clean)
            guard let meta = try MetaPage.newest(fromDevice: false, of: store.file)?.meta else {
                throw .noMeta
            }
            try Compaction.run(
                .little, store.cache, store.coordinator, meta, dirtyLimit: store.dirtyLimit)
        } catch {
            Diagnostics.tell(
                .detail, "'\(store.path)' keeps its free pages: \(error).")
        }
    }
}
