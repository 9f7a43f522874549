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
    private let file: MappedFile
    /// Bytes of one write at most.
    private static let pieceSize = 64 * 1024

    static func write(_ snapshot: Snapshot, to file: MappedFile) throws(StorageError) {
        let copy = FileCopy(snapshot: snapshot, file: file)
        let meta = try copy.copyPages()
        let compacted = try Compaction.run(
            .whole, file, try copy.coordinator(meta), meta, dirtyLimit: StoreLimit.dirtyBytes,
            keeping: 0)
        try CurrentCall.checkInterruption()
        let report = try Store.aside(compacted, file.reopened()).check()
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
        let isPlain = file.cipher == nil && snapshot.store.file.cipher == nil
        try file.truncate(to: snapshot.root.pageCount * UInt64(Page.size))
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
                try file.write(
                    UnsafeRawBufferPointer(
                        start: extent.base, count: Int(extent.pageCount) * Page.size),
                    at: extent.page.byteOffset)
            }
        }
        var meta = Meta(
            databaseID: (try system(RandomBytes.uint64()), try system(RandomBytes.uint64())),
            replicaID: try system(RandomBytes.uint64()), version: snapshot.version,
            root: isPlain
                ? snapshot.rootRef : try Transcript(snapshot.forOneWalk(), file).root(),
            pageCount: snapshot.root.pageCount,
            identity: try file.identity())
        meta.isClosedCleanly = true
        meta.logMap.segments = segments
        for slot: PageNumber in [0, 1] { try MetaPage.write(meta, slot: slot, to: file) }
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
            try file.write(UnsafeRawBufferPointer(piece), at: offset)
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
        let cipher = try Store.newCipher(encryptionKey)
        try FileCopy.write(
            self, to: MappedFile(file, cipher: cipher, isOfOneWalk: cipher != nil))
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

extension Store {
    /// Makes a new file of an empty database, which `fill` gives its content. It is durable and
    /// closed when this returns; after an error, or if `fill` returns false, it does not exist.
    ///
    /// - Parameter encryptionKey: the new file's key; nil for a plain file.
    /// - Throws: as `Snapshot.writeCopy`; `closed` if `fill` returns false.
    package static func make(
        _ path: String, encryptionKey: EncryptionKey?, _ fill: (Store) -> Bool
    ) throws(StorageError) {
        try NewFile.write(to: path, onAnyFileSystem: true) {
            file throws(StorageError) in
            try make(file, encryptionKey, fill)
        }
    }

    /// Makes a new file in the place of another kind of file, which keeps a second name, and so
    /// does the lock file that it has. Whoever else does it at the same moment waits. After an
    /// error the file is what it was.
    ///
    /// - Parameters:
    ///   - path: of the file. A link is followed.
    ///   - identity: of the file that is meant.
    ///   - kept: a name that the file has from then on, in a directory of the same file system.
    ///   - encryptionKey: of the new file; nil: it is plain.
    /// - Throws: `replaced` if somebody else was faster; `fileExists` if another file has the name
    ///   `kept`; otherwise as `make`.
    package static func replace(
        _ path: String, of identity: FileIdentity, keeping kept: String,
        encryptionKey: EncryptionKey?, _ fill: (Store) -> Bool
    ) throws(StorageError) {
        let path = try system(FilePath.resolved(path))
        let old = try system(PosixFile.open(path, forWriting: true))
        defer { try? old.close() }
        try Coordinator.withAttachLock(of: old, timeoutMilliseconds: nil) {
            () throws(StorageError) in
            guard try system(old.identity()) == identity else { throw .replaced(path: path) }
            let isNew = try system(FilePath.link(path, kept))
            var isMoved = false
            do throws(StorageError) {
                isMoved = try LockFile.makePlace(besides: path, movingTo: kept)
                try NewFile.write(to: path, isReplacing: true, onAnyFileSystem: false) {
                    file throws(StorageError) in
                    try make(file, encryptionKey, fill)
                }
            } catch {
                if isMoved { try? LockFile.moveBack(to: path, from: kept) }
                if isNew { try? FilePath.remove(kept) }
                throw error
            }
        }
    }

    /// Makes an empty database of an empty file, and lets `fill` give it its content.
    private static func make(
        _ file: PosixFile, _ encryptionKey: EncryptionKey?, _ fill: (Store) -> Bool
    ) throws(StorageError) {
        try format(file, encryptionKey: encryptionKey)
        // The store closes its own descriptor.
        let file = try system(
            PosixFile.open(file.path, forWriting: true, onAnyFileSystem: true))
        let store = try open(
            on: file, coordinator: try Coordinator.inMemory(), firstLogPages: 0,
            encryptionKey: encryptionKey)
        guard fill(store) else { throw .closed }
        try store.close()
    }
}
