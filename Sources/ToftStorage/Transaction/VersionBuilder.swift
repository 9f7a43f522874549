/// Turns a transaction's changes into the extents of a version: records, checksums, free space and a root. Nothing reaches the file before `flush`.
struct VersionBuilder {
    private let transaction: WriteTransaction
    private let space: PageSpace

    init(_ transaction: WriteTransaction) {
        self.transaction = transaction
        space = transaction.space
        space.freeSpace?.isBookkeeping = true
    }

    /// The version, all of whose extents are in memory or were spilled. `recordBytes` counts the bytes of all records ever.
    func build(recordBytes: UInt64) throws(StorageError) -> PublishedVersion {
        // 1. Checksums, bottom up, from the leaves to the catalog.
        let catalog = try transaction.view.settleTrees(all: transaction.isStructureChanged)
        // 2. Free space finds its own new places.
        try space.free(transaction.base.root)
        let (rootRef, rootBase) = try space.allocate(.root, pageCount: 1)
        guard let freeSpace = space.freeSpace else { throw .readOnly }
        var (directory, freedList) = try freeSpace.finish(
            replacing: transaction.baseRoot.directory, transaction.baseRoot.freedList, in: space)
        directory.checksum = try space.settle(directory)
        freedList.checksum = try space.settle(freedList)
        // 3. The root names them all.
        var root = Root(
            version: space.version, previousVersion: transaction.baseVersion, catalog: catalog, directory: directory, freedList: freedList)
        root.nextTreeID = transaction.view.nextTreeID
        root.pageCount = freeSpace.filePages
        root.recordBytes = recordBytes
        root.write(to: rootBase)
        var published = PublishedVersion(
            version: space.version, root: rootRef, fileSize: root.pageCount * UInt64(Page.size), log: transaction.base.log,
            durableLog: transaction.base.durableLog)
        published.root.checksum = try space.settle(rootRef)
        return published
    }

    /// Puts a record into its tree.
    func keep(_ record: [UInt8], of version: UInt64) throws(StorageError) {
        let tree = try transaction.view.ensureSystemTree(SystemTree.records)
        try TreeKey.with(version) { key throws(StorageError) in
            try record.withBytes { bytes throws(StorageError) in _ = try tree.put(key, bytes) }
        }
    }

    /// Lets go of records that nobody needs: a record is needed while some reader's version is older, but beyond the quota observers
    /// compare snapshots instead.
    func dropOldRecords(total: UInt64) throws(StorageError) {
        let tree = try transaction.view.ensureSystemTree(SystemTree.records)
        let oldestPin = transaction.store.oldestPin
        for _ in 0..<StoreLimit.recordsDroppedPerCommit {
            let cursor = try tree.cursor()
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
    /// Versions that recovery skips, so that none that a dead writer claimed is used again: more than any process rolls back in a row.
    static let versionsSkippedByRecovery: UInt64 = 1 << 20
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
