/// How a file comes to a published version: made anew, opened after all had closed it, or taken over from a writer that died.
///
/// 1. Only the first to attach recovers, under the exclusive attach lock; nobody else sees the file meanwhile.
/// 2. What the page cache holds may never have reached the disk (a sync failed, and the kernel then calls the pages clean): metas are read from
///    the device, after a sync of what is still dirty.
/// 3. An unclean file gets a new meta, in the other slot and with a version above all that a dead writer may have claimed, before anything is
///    published.
/// 4. The newest valid meta counts. If its root is damaged the file is damaged: an older version is never taken silently.
enum Recovery {
    // MARK: A new file

    /// Writes version 1, an empty database.
    static func format(_ file: any StorageFile) throws(StorageError) {
        try file.grow(to: UInt64(16 * Page.size))
        let freeSpace = try FreeSpace(file: file)
        let space = PageSpace(file: file, sections: Sections(file: file), version: 1, freeSpace: freeSpace)
        let (rootRef, rootBase) = try space.allocate(.root, pageCount: 1)
        var (directory, freedList) = try freeSpace.finish(replacing: nil, nil, in: space)
        directory.checksum = try space.settle(directory)
        freedList.checksum = try space.settle(freedList)
        var root = Root(version: 1, previousVersion: 0, catalog: TreeRoot(kind: .ordered), directory: directory, freedList: freedList)
        root.pageCount = try file.size() / UInt64(Page.size)
        root.write(to: rootBase)
        var meta = Meta(
            databaseID: (try RandomBytes.uint64(), try RandomBytes.uint64()), replicaID: try RandomBytes.uint64(), version: 1, root: rootRef,
            pageCount: root.pageCount, identity: try file.identity())
        meta.root.checksum = try space.settle(rootRef)
        meta.isClosedCleanly = true
        try space.flush()
        try file.sync()
        try MetaPage.write(meta, slot: meta.slot, to: file)
    }

    // MARK: Opening

    /// Finds the version to publish. The caller holds the exclusive attach lock.
    static func recover(_ file: any StorageFile, isReadOnly: Bool) throws(StorageError) -> Meta {
        if !isReadOnly { try file.sync() }
        guard var meta = try MetaPage.newest(fromDevice: !isReadOnly && !Probe.makes(.recoveryTrustsTheCache), of: file) else {
            throw .corrupt(page: 0, reason: "neither meta page is valid")
        }
        let cached = try MetaPage.newest(fromDevice: false, of: file)
        try checkPresent(meta, file)
        Probe.reach(.recoveryRead)
        let isCopy = try meta.identity != file.identity()
        if meta.isClosedCleanly && cached == meta {
            meta.identity = try file.identity()
            return meta
        }
        if isCopy { try checkWhole(meta, file) }
        meta.identity = try file.identity()
        if isReadOnly { return meta }
        return try renew(meta, above: max(meta.version, cached?.version ?? 0), file)
    }

    private static func checkPresent(_ meta: Meta, _ file: any StorageFile) throws(StorageError) {
        let size = try file.size()
        guard meta.pageCount <= size / UInt64(Page.size) else {
            throw .corrupt(page: size / UInt64(Page.size), reason: "the file is truncated: it has \(size) of \(meta.pageCount * UInt64(Page.size)) bytes")
        }
        let space = PageSpace(file: file, sections: Sections(file: file), version: meta.version)
        _ = try Root(reading: meta.root, in: space)
    }

    /// A copy of a file that was open may hold pages of several versions: believe nothing before all has been read.
    private static func checkWhole(_ meta: Meta, _ file: any StorageFile) throws(StorageError) {
        let coordinator = try Coordinator.inMemory()
        let published = PublishedVersion(version: meta.version, root: meta.root, fileSize: meta.pageCount * UInt64(Page.size))
        try coordinator.open(published: published)
        let store = Store(file: file, coordinator: coordinator, template: meta, isReadOnly: true, dirtyLimit: 0, leavesFile: false)
        let report = try store.check()
        if let problem = report.problems.first {
            throw .corrupt(page: 0, reason: "the file is a copy of a database that was open while it was copied, and it is not whole: \(problem)")
        }
    }

    private static func renew(_ meta: Meta, above highest: UInt64, _ file: any StorageFile) throws(StorageError) -> Meta {
        var renewed = meta
        renewed.version = highest + StoreLimit.versionsSkippedByRecovery
        if renewed.slot == meta.slot { renewed.version += 1 }
        renewed.isClosedCleanly = false
        try MetaPage.write(renewed, slot: Probe.makes(.recoveryOverwritesItsMeta) ? meta.slot : renewed.slot, to: file)
        Probe.reach(.recoveryRenewed)
        return renewed
    }

    // MARK: A dead writer

    /// Takes over from a writer that died. Its meta, if it got that far, may or may not be durable: sync, then adopt it.
    static func takeOver(_ store: Store) throws(StorageError) {
        try store.coordinator.lockCheckpoint()
        defer { store.coordinator.unlockCheckpoint() }
        Probe.reach(.takeoverBegun)
        let published = store.coordinator.published
        guard let meta = try MetaPage.newest(fromDevice: false, of: store.file), meta.version > published.version else { return }
        do {
            try store.file.sync()
        } catch {
            store.coordinator.poison()
            throw .poisoned
        }
        Probe.reach(.takeoverSynced)
        let adopted = PublishedVersion(version: meta.version, root: meta.root, fileSize: meta.pageCount * UInt64(Page.size))
        store.coordinator.claimVersions(upTo: meta.version)
        store.coordinator.durableVersion = meta.version
        store.coordinator.publish(adopted)
        Probe.reach(.takeoverPublished)
        store.coordinator.wake()
    }

    // MARK: The last close

    /// Marks the file as closed cleanly. The caller holds the exclusive attach lock. What fails is left to the next opening's recovery.
    static func markClean(_ store: Store) {
        guard !store.isReadOnly, !store.coordinator.isPoisoned,
            let meta = try? MetaPage.newest(fromDevice: false, of: store.file), !meta.isClosedCleanly
        else { return }
        var clean = meta
        clean.version = max(meta.version, store.coordinator.published.version) + 1
        if clean.slot == meta.slot { clean.version += 1 }
        clean.isClosedCleanly = true
        try? MetaPage.write(clean, slot: clean.slot, to: store.file)
        Probe.reach(.cleanWritten)
    }

    /// Leaves the file, with the clean mark if nobody else is left.
    static func close(_ store: Store) {
        store.coordinator.detach { markClean(store) }
        try? store.file.close()
    }
}
