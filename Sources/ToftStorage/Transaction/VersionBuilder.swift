internal import ToftPlatform

/// Turns a transaction's changes into the extents of a version: records, checksums, free space and
/// a root: step 3 of a commit. Nothing reaches the file before `flush`.
struct VersionBuilder {
    private let transaction: WriteTransaction
    private let pages: PageWriter

    init(_ transaction: WriteTransaction) {
        self.transaction = transaction
        pages = transaction.pages
        // Pages that serve this version alone are freed by the next commit.
        pages.freeSpace?.lifetime = .short
    }

    /// The version, all of whose extents are in memory or were spilled. `total` counts the bytes of
    /// all records ever, with the newest one.
    func build(_ record: [UInt8], total: UInt64) throws(StorageError) -> PublishedVersion {
        try pages.giveBackKept()
        // 3a. The record, if it is not in the root.
        try keepRecordOfBase(total: total)
        let recordOfRoot = record.count <= RootPayload.longestRecord ? record : []
        if recordOfRoot.isEmpty { try keep(record, of: pages.version) }
        try dropOldRecords(total: total)
        Failpoint.reach(.recordKept)
        // 3b. Checksums, bottom up, from the leaves to the catalog.
        let catalog = try transaction.trees.catalog.writeRoots(
            all: transaction.isStructureChanged)
        // 3c. Free space relocates its own pages.
        try pages.free(transaction.base.root)
        let (rootRef, rootBase) = try pages.allocate(.root, pageCount: 1)
        guard let freeSpace = pages.freeSpace else { throw .readOnly }
        let (directory, batchList) = try freeSpace.finish(
            replacing: transaction.baseRoot,
            runLimit: RootPayload.runLimit(besides: recordOfRoot.count), in: pages)
        // 3d. The root names them all.
        var root = Root(
            version: pages.version, previousVersion: transaction.baseVersion, catalog: catalog,
            directory: directory, batchList: batchList)
        root.nextTreeID = transaction.trees.catalog.nextTreeID
        root.pageCount = freeSpace.filePages
        root.recordBytes = total
        root.bitmapSupply = freeSpace.bitmapSupply
        root.write(to: rootBase)
        try RootPayload.write(freeSpace.runsOfRoot, recordOfRoot, to: rootBase)
        var published = PublishedVersion(
            version: pages.version, root: rootRef, fileSize: root.pageCount * UInt64(Page.size),
            log: transaction.base.log,
            durableLog: transaction.base.durableLog)
        published.root.digest = try pages.finalizeChecksums(rootRef)
        return published
    }

    // MARK: Records

    /// Puts a record into its tree.
    func keep(_ record: [UInt8], of version: Version) throws(StorageError) {
        try record.withBytes { bytes throws(StorageError) in try keep(bytes, of: version) }
    }

    private func keep(_ record: UnsafeRawBufferPointer, of version: Version) throws(StorageError) {
        // For a reader a leaf full of records stays: in a run of short-lived pages it would break
        // the run up.
        if transaction.store.oldestPin < transaction.baseVersion {
            pages.freeSpace?.lifetime = .long
        }
        defer { pages.freeSpace?.lifetime = .short }
        try transaction.trees.ensureSystemTree(SystemTree.records)
        let tree = try transaction.trees.orderedTree(SystemTree.records)
        try TreeKey.with(version) { key throws(StorageError) in _ = try tree.put(key, record) }
    }

    /// Moves the record in the root of the last version into its tree, if a reader still needs it.
    private func keepRecordOfBase(total: UInt64) throws(StorageError) {
        guard
            let record = try RootPayload.record(
                of: transaction.base.root, in: pages.reader)
        else { return }
        let version = try RecordHeader.version(record)
        if try isNeeded(record, of: version, total: total) { try keep(record, of: version) }
    }

    /// Deletes records that no reader needs.
    private func dropOldRecords(total: UInt64) throws(StorageError) {
        guard try transaction.trees.catalog.reader.contains(SystemTree.records) else { return }
        let tree = try transaction.trees.orderedTree(SystemTree.records)
        for _ in 0..<StoreLimit.recordsDroppedPerCommit {
            let cursor = try tree.reader.cursor()
            guard try cursor.seekFirst(), let version: Version = TreeKey.number(cursor.key),
                version != pages.version,
                try !isNeeded(cursor.value, of: version, total: total)
            else { return }
            _ = try TreeKey.with(version) { key throws(StorageError) in try tree.delete(key) }
        }
    }

    /// A record is needed while some reader's version is older, but beyond the quota observers
    /// compare snapshots instead.
    private func isNeeded(_ record: UnsafeRawBufferPointer, of version: Version, total: UInt64)
        throws(StorageError) -> Bool
    {
        let written = try RecordHeader.recordBytes(record)
        let limit = StoreLimit.recordBytes(filePages: transaction.baseRoot.pageCount)
        return version > transaction.store.oldestPin && total &- written <= limit
    }
}

/// Limits of a store, in one place.
package enum StoreLimit {
    /// Memory that a transaction's changed leaves may take before they are written to their pages:
    /// with inner nodes, records and bitmaps, the bound on a transaction's memory.
    package static let dirtyBytes = 48 * 1024 * 1024
    /// Bytes of records that are kept for observers that fell behind: an eighth of the file, from
    /// 256 KiB to 16 MiB. To compare two snapshots of a small file costs less than to read more.
    static func recordBytes(filePages: UInt64) -> UInt64 {
        min(max(filePages / 8 * UInt64(Page.size), 256 * 1024), 16 * 1024 * 1024)
    }
    static let recordsDroppedPerCommit = 64
    /// Versions that recovery skips, so that it reuses no version that a dead writer claimed: more
    /// than any process rolls back in a row.
    static let versionsSkippedByRecovery: UInt64 = 1 << 20
}

enum RecordHeader {
    /// Bytes of all records up to and with this one.
    static func recordBytes(_ value: UnsafeRawBufferPointer) throws(StorageError) -> UInt64 {
        try word(RecordLayout.recordBytes, of: value)
    }

    static func version(_ value: UnsafeRawBufferPointer) throws(StorageError) -> Version {
        Version(try word(RecordLayout.version, of: value))
    }

    private static func word(_ offset: Int, of value: UnsafeRawBufferPointer) throws(StorageError)
        -> UInt64
    {
        guard value.count >= RecordLayout.effects else {
            throw .corrupt(page: 0, reason: "a commit record is too short")
        }
        return UInt64(littleEndian: value.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
}
