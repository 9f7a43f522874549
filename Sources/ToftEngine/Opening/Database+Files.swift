package import ToftModel
package import ToftStorage

extension Database {
    /// Compacts a file that nobody has open, in this process or another. Returns its sizes in bytes
    /// before and after; nil, without a change, if somebody has it open. O(file).
    ///
    /// - Parameter minimumVersion: as in `Configuration`.
    package static func compact(
        _ path: String, encryptionKey: EncryptionKey? = nil, minimumVersion: UInt64? = nil,
        sharing: StoreConfiguration.Sharing = .processes
    ) throws(EngineError) -> (before: UInt64, after: UInt64)? {
        try storage { () throws(StorageError) in
            try Store.compact(
                path, encryptionKey: encryptionKey, minimumVersion: Version(minimumVersion ?? 0),
                sharing: sharing)
        }
    }

    /// Encrypts a file that nobody has open with another key; nil means no encryption. O(file).
    ///
    /// - Parameter minimumVersion: as in `Configuration`.
    /// - Throws: `alreadyOpen`, without a change, if somebody has it open; `keyRequired`,
    ///   `wrongKey`, `notEncrypted` if `old` is not its key...
    package static func changeKey(
        of path: String, from old: EncryptionKey?, to new: EncryptionKey?,
        minimumVersion: UInt64? = nil, sharing: StoreConfiguration.Sharing = .processes
    ) throws(EngineError) {
        let isDone = try storage { () throws(StorageError) in
            try Store.changeKey(
                of: path, from: old, to: new, minimumVersion: Version(minimumVersion ?? 0),
                sharing: sharing)
        }
        if !isDone {
            throw EngineError(
                .alreadyOpen,
                "'\(path)' is open, so its key can't be changed. Close it in all processes first.",
                detail: path)
        }
    }

    /// Deletes a database that nobody has open, in this process or another, also a damaged one; its
    /// lock file stays. False if it does not exist.
    ///
    /// - Throws: `alreadyOpen`; `notADatabase`, but not for an empty file, which is deleted;
    ///   `permissionDenied`, `isDirectory`...
    package static func delete(_ path: String) throws(EngineError) -> Bool {
        let deleted: Bool?
        do throws(EngineError) {
            deleted = try storage { () throws(StorageError) in try Store.delete(path) }
        } catch  where error.code == .notADatabase {
            throw EngineError(
                error.code,
                error.message + " So it was not deleted: remove it as any file, if it is to go.",
                detail: error.detail, number: error.number)
        }
        guard let wasThere = deleted else {
            throw EngineError(
                .alreadyOpen,
                "'\(path)' can't be deleted, as it is open here or in another process: close it "
                    + "everywhere first.")
        }
        return wasThere
    }

    /// The schema version of a file, which is not opened for writing and may be open elsewhere.
    package static func schemaVersion(of path: String, encryptionKey: EncryptionKey? = nil)
        throws(EngineError) -> UInt64
    {
        var configuration = Configuration(location: .file(path: path), mode: .readOnly)
        configuration.sharing = .whereItCan
        configuration.encryptionKey = encryptionKey
        let session = try Session.open(configuration)
        let version = try session.schemaVersion
        try session.close()
        return version
    }

    /// Reads the remaining content of a damaged file into a new one; see `Salvage`. Nothing is
    /// written to the damaged file. O(file).
    ///
    /// - Parameter newKey: the new file's key; nil for a plain file.
    /// - Parameter keeps: gets the report before the new file has its name; false discards the new
    ///   file.
    /// - Throws: `alreadyOpen` if a process has the damaged file open for writing; `fileExists`;
    ///   `corrupt` if the schema is lost; `keyRequired`, `wrongKey`, `notEncrypted`;
    ///   `interrupted`...
    package static func salvage(
        _ path: String, to newPath: String, encryptionKey: EncryptionKey? = nil,
        newKey: EncryptionKey? = nil, usesMapping: Bool = true,
        keeps: (SalvageReport) -> Bool = { _ in true }
    ) throws(EngineError) -> SalvageReport {
        let file = try storage { () throws(StorageError) in
            try SalvageSource.open(path, encryptionKey: encryptionKey, usesMapping: usesMapping)
        }
        guard try storage({ () throws(StorageError) in try !file.isInUse() }) else {
            throw EngineError(
                .alreadyOpen,
                "'\(path)' is open: close it everywhere first, or salvage a copy of it.")
        }
        var outcome: Result<SalvageReport, ModelError>?
        do throws(StorageError) {
            try Store.make(newPath, encryptionKey: newKey) { store in
                outcome = Result { () throws(ModelError) in
                    let report = try Salvage.run(file, into: store)
                    if keeps(report) { return report }
                    throw .storage(.interrupted)
                }
                if case .success? = outcome { return true }
                return false
            }
        } catch {
            if case .failure(let failure)? = outcome { throw EngineError(failure) }
            throw EngineError(error)
        }
        guard case .success(let report)? = outcome else { throw EngineError(StorageError.closed) }
        return report
    }
}
