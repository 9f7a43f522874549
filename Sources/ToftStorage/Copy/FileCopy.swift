package import ToftPlatform

/// Writes the version of a snapshot to a file of its own, which holds the same and no free space.
///
/// 1. The pages that the version uses are copied to their old places while others write: they do
///    not change as long as the version is pinned. The gaps between them take no space. If one of
///    the files is encrypted, extents are copied one by one, and every reference gets the digest of
///    its child's copy.
/// 2. Both metas are written, of a file that was closed cleanly.
/// 3. The file is compacted.
/// 4. Everything in it is read back and checked.
///
/// `PosixFile.create` syncs the file before it gives it its name, which must not be taken.
struct FileCopy {
    private let snapshot: Snapshot
    private let cache: PageCache
    /// Bytes of one write at most.
    private static let pieceSize = 64 * 1024

    static func write(_ snapshot: Snapshot, to cache: PageCache) throws(StorageError) {
        let copy = FileCopy(snapshot: snapshot, cache: cache)
        let meta = try copy.copyPages()
        let compacted = try Compaction.run(
            .whole, cache, try copy.coordinator(meta), meta, dirtyLimit: StoreLimit.dirtyBytes,
            keeping: 0)
        try CurrentCall.checkInterruption()
        let report = try Store.aside(compacted, cache.reopened()).check()
        if let error = report.deviceError { throw error }
        if let problem = report.problems.first {
            throw .corrupt(
                page: 0,
                reason: "the copy is not whole, as the database is damaged: \(problem)")
        }
    }

    private func coordinator(_ meta: Meta) throws(StorageError) -> Coordinator {
        let coordinator = try Coordinator.inMemory()
        try coordinator.open(published: PublishedVersion(meta))
        return coordinator
    }

    private func copyPages() throws(StorageError) -> Meta {
        let used = try FreeSpaceReader.unusedPages(
            of: snapshot.rootRef, pins: [], in: snapshot.pages)
        // A segment that the log got later does not belong to this version.
        let segments = try snapshot.store.logSegments(of: snapshot).segments.filter { segment in
            let region = Page.region(of: segment.page)
            return region < used.count && used[region].isUsed(Page.indexInRegion(segment.page))
        }
        let isPlain = cache.file.cipher == nil && snapshot.store.file.cipher == nil
        try cache.file.truncate(to: snapshot.root.pageCount * UInt64(Page.size))
        for (region, bitmap) in used.enumerated() {
            let first = Page.first(ofRegion: region)
            for run in bitmap.usedRuns(in: 0..<bitmap.usedEnd) {
                let start = first + UInt64(run.lowerBound)
                if segments.contains(where: { $0.page == start && $0.pageCount == run.count }) {
                    continue
                }
                if isPlain { try copy(start.byteOffset, byteCount: run.count * Page.size) }
            }
        }
        if isPlain {
            for extent in snapshot.pages.extentsInMemory() {
                try cache.write(
                    UnsafeRawBufferPointer(
                        start: extent.base, count: Int(extent.pageCount) * Page.size),
                    at: extent.page.byteOffset)
            }
        }
        var meta = Meta(
            databaseID: (try system(RandomBytes.uint64()), try system(RandomBytes.uint64())),
            replicaID: try system(RandomBytes.uint64()), version: snapshot.version,
            root: isPlain
                ? snapshot.rootRef : try Transcript(snapshot.forScan(), cache).root(),
            pageCount: snapshot.root.pageCount,
            identity: try cache.file.identity())
        meta.isClosedCleanly = true
        meta.logMap.segments = segments
        for slot: PageNumber in [0, 1] { try MetaPage.write(meta, slot: slot, to: cache.file) }
        return meta
    }

    /// Copies bytes of the file; bytes beyond its end are in memory.
    private func copy(_ start: UInt64, byteCount: Int) throws(StorageError) {
        let source = snapshot.store.file
        let buffer = UnsafeMutableRawBufferPointer.allocate(
            byteCount: min(byteCount, Self.pieceSize), alignment: Page.size)
        defer { buffer.deallocate() }
        var offset = start
        let end = min(start + UInt64(byteCount), try source.size())
        while offset < end {
            try CurrentCall.checkInterruption()
            let piece = UnsafeMutableRawBufferPointer(
                rebasing: buffer[..<Int(min(UInt64(buffer.count), end - offset))])
            try source.read(into: piece, at: offset)
            try cache.write(UnsafeRawBufferPointer(piece), at: offset)
            offset += UInt64(piece.count)
        }
    }
}

extension Snapshot {
    /// Writes the version to a new file, without free space; others may write meanwhile. Checked
    /// and durable when it returns; after an error the file does not exist. O(file).
    ///
    /// Not for the snapshot of a write transaction.
    ///
    /// - Parameter path: the new file. A dangling link is followed.
    /// - Parameter encryptionKey: the new file's key; nil for a plain file.
    /// - Parameter isReplacing: the new file takes the place of the one at `path`, which nobody may
    ///   have open but the caller.
    /// - Throws: `fileExists`; `fileNotFound` if the directory is missing; `permissionDenied`,
    ///   `diskFull`, `io`...; `corrupt` if the database is damaged; `interrupted`.
    package func writeCopy(
        to path: String, encryptionKey: EncryptionKey? = nil, isReplacing: Bool = false,
        onAnyFileSystem: Bool = true
    ) throws(StorageError) {
        try NewFile.write(
            to: path, isReplacing: isReplacing, onAnyFileSystem: onAnyFileSystem
        ) { file throws(StorageError) in try writeCopy(to: file, encryptionKey: encryptionKey) }
    }

    /// Writes the version to an empty file, which the caller syncs.
    package func writeCopy(to file: any StorageFile, encryptionKey: EncryptionKey?)
        throws(StorageError)
    {
        let cipher = try Cipher.ofNewFile(encryptionKey)
        try FileCopy.write(
            self, to: PageCache(DataFile(file, cipher: cipher), cipher == nil ? .mapped : .scan))
    }
}

/// A file that has its name only when all that it is to hold is durable.
enum NewFile {
    /// - Parameter path: must not be taken, unless the file there is replaced. A link that leads to
    ///   nothing is followed.
    /// - Throws: `fileExists`; `fileNotFound` if the directory is missing; the errors of `write`.
    static func write(
        to path: String, isReplacing: Bool = false, onAnyFileSystem: Bool,
        _ write: (PosixFile) throws(StorageError) -> Void
    ) throws(StorageError) {
        if !isReplacing, try system(FileIdentity.ofFile(at: path)) != nil {
            throw .fileExists(path: path)
        }
        try LockFile.expectPlace(besides: path)
        var failure: StorageError?
        let isCreated: Bool
        do throws(SystemError) {
            isCreated = try PosixFile.create(
                path, onAnyFileSystem: onAnyFileSystem, isReplacing: isReplacing
            ) { file throws(SystemError) in
                do throws(StorageError) {
                    try write(file)
                } catch {
                    failure = error
                    // Any error ends the creation; `failure` says which.
                    throw .closed
                }
            }
        } catch {
            throw failure ?? StorageError(error)
        }
        if !isCreated { throw .fileExists(path: path) }
    }
}
