internal import ToftPlatform

extension Store {
    /// Deletes a database that nobody has open, in this process or another, and makes that durable.
    /// Its lock file stays. Nil, without a change, if somebody has it open; false if it does not
    /// exist.
    ///
    /// A damaged database is deleted too, and so is an empty file, which holds nothing.
    ///
    /// - Throws: `notADatabase` for any other file.
    package static func delete(_ path: String) throws(StorageError) -> Bool? {
        while true {
            do throws(StorageError) {
                return try deleteOnce(path)
            } catch .replaced {
                // Another file has the name now, which somebody may have open.
                continue
            }
        }
    }

    private static func deleteOnce(_ path: String) throws(StorageError) -> Bool? {
        let file: PosixFile
        do throws(SystemError) {
            file = try PosixFile.open(path, forWriting: true)
        } catch .fileNotFound {
            return false
        } catch { throw StorageError(error) }
        defer { try? file.close() }
        try refuseForeign(file)
        let locks = FileLocks(file: file)
        // Whoever opens it waits for this lock, or holds it together with others.
        guard try system(locks.takeExclusive(LockByte.attach)),
            try system(locks.firstHeldByOthers(in: LockByte.readOnlyPins)) == nil
        else { return nil }
        guard let named = try system(FileIdentity.ofFile(at: file.path)) else { return false }
        if named != (try system(file.identity())) { throw .replaced(path: file.path) }
        try system(FilePath.remove(file.path))
        try system(FilePath.syncDirectory(FilePath.directory(of: file.path)))
        return true
    }

    /// Refuses a file that is not a database. O(1), but O(file) if both of its metas are invalid: a
    /// damaged database is then recognised by a root.
    private static func refuseForeign(_ file: PosixFile) throws(StorageError) {
        guard try system(file.size()) > 0 else { return }
        do throws(StorageError) {
            try ForeignFile.refuse(file)
        } catch .corrupt {
            // It is truncated.
        } catch .notADatabase {
            do throws(StorageError) { _ = try SalvageSource.open(file.path) } catch .corrupt {}
        }
    }
}
