internal import ToftPlatform

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
}
