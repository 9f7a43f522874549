package import ToftPlatform

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
