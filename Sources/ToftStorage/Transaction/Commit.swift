/// A checkpoint-commit, told in order. Every step up to the first sync can fail and leave the last version as it was; a failing sync can't be
/// taken back, so it poisons the database for all processes.
struct Commit {
    private let transaction: WriteTransaction
    private let store: Store
    private let space: PageSpace

    init(_ transaction: WriteTransaction) {
        self.transaction = transaction
        store = transaction.store
        space = transaction.space
    }

    func run() throws(StorageError) -> UInt64 {
        space.freeSpace?.isBookkeeping = true
        // 1. The record joins the version that it describes.
        let recordBytes = try keepRecord()
        Probe.reach(.recordKept)
        // 2. Checksums, bottom up, from the leaves to the catalog.
        let catalog = try transaction.view.settleTrees()
        // 3. Free space finds its own new places.
        try space.free(transaction.baseRef)
        let (rootRef, rootBase) = try space.allocate(.root, pageCount: 1)
        guard let freeSpace = space.freeSpace else { throw .readOnly }
        var (directory, freedList) = try freeSpace.finish(
            replacing: transaction.base.directory, transaction.base.freedList, in: space)
        directory.checksum = try space.settle(directory)
        freedList.checksum = try space.settle(freedList)
        // 4. The root names them all.
        var root = Root(
            version: space.version, previousVersion: transaction.baseVersion, catalog: catalog, directory: directory, freedList: freedList)
        root.nextTreeID = transaction.view.nextTreeID
        root.pageCount = freeSpace.filePages
        root.recordBytes = recordBytes
        root.write(to: rootBase)
        var published = PublishedVersion(version: space.version, root: rootRef, fileSize: root.pageCount * UInt64(Page.size))
        published.root.checksum = try space.settle(rootRef)
        // 5. Bytes to the file; nothing that any version can reach is overwritten.
        if Probe.makes(.metaBeforePages) { try store.writeMeta(published, pageCount: root.pageCount, isClosedCleanly: false) }
        try space.flush()
        Probe.reach(.pagesWritten)
        // 6. Sync: from here on the outcome is durable or unknown.
        if !Probe.makes(.noSyncBeforeMeta) { try orPoison { () throws(StorageError) in try store.file.sync() } }
        Probe.reach(.pagesSynced)
        if Probe.makes(.publishedBeforeMeta) { store.coordinator.publish(published) }
        // 7. The idle meta, durably.
        try orPoison { () throws(StorageError) in try store.writeMeta(published, pageCount: root.pageCount, isClosedCleanly: false) }
        Probe.reach(.metaWritten)
        // 8. Now everyone may see it.
        store.coordinator.durableVersion = published.version
        Probe.reach(.durableStored)
        store.coordinator.publish(published)
        Probe.reach(.published)
        store.coordinator.wake()
        return published.version
    }

    private func orPoison(_ step: () throws(StorageError) -> Void) throws(StorageError) {
        do {
            try step()
        } catch {
            if Probe.makes(.syncErrorIgnored) { return }
            if Probe.makes(.syncTriedAgain), (try? step()) != nil { return }
            if !Probe.makes(.poisonForgotten) { store.coordinator.poison() }
            throw .commitOutcomeUnknown(version: space.version)
        }
    }

    /// Puts the record into its tree and lets go of those that nobody needs. Returns the bytes of all records ever.
    private func keepRecord() throws(StorageError) -> UInt64 {
        let value = transaction.record.pointee.finish(
            version: space.version, previousVersion: transaction.baseVersion, recordBytes: transaction.base.recordBytes)
        let tree = try transaction.view.ensureSystemTree(SystemTree.records)
        try TreeKey.with(space.version) { key throws(StorageError) in
            try value.withBytes { bytes throws(StorageError) in _ = try tree.put(key, bytes) }
        }
        let total = transaction.base.recordBytes &+ UInt64(value.count)
        try dropOldRecords(of: tree, total: total)
        return total
    }

    /// A record is needed while some pinned version is older; beyond the quota observers compare snapshots instead.
    private func dropOldRecords(of tree: OrderedTree, total: UInt64) throws(StorageError) {
        let oldestPin = store.oldestPin
        for _ in 0..<StoreLimit.recordsDroppedPerCommit {
            let cursor = tree.cursor()
            guard try cursor.seekFirst(), let version = TreeKey.number(cursor.key), version != space.version else { return }
            let written = try RecordHeader.recordBytes(try cursor.value)
            guard version <= oldestPin || total &- written > StoreLimit.recordBytes else { return }
            _ = try TreeKey.with(version) { key throws(StorageError) in try tree.delete(key) }
        }
    }
}

/// Limits of a store, in one place.
package enum StoreLimit {
    /// Memory that a transaction's changed leaves may take before they are written to their pages: with inner nodes, records and
    /// bitmaps, the bound on a transaction's memory.
    package static let dirtyBytes = 48 * 1024 * 1024
    /// Records that are kept for observers that fell behind.
    package static let recordBytes: UInt64 = 16 * 1024 * 1024
    static let recordsDroppedPerCommit = 64
    /// Versions that recovery skips, so that none that a dead writer claimed is used again.
    static let versionsSkippedByRecovery: UInt64 = 1024
}

enum RecordHeader {
    /// Bytes of all records up to and with this one.
    static func recordBytes(_ value: UnsafeRawBufferPointer) throws(StorageError) -> UInt64 {
        guard value.count >= RecordLayout.effects else {
            throw .corrupt(page: 0, reason: "a commit record is too short")
        }
        return UInt64(littleEndian: value.loadUnaligned(fromByteOffset: RecordLayout.recordBytes, as: UInt64.self))
    }
}
