/// Failures of the storage. ToftEngine maps each case to one public error.
package enum StorageError: Error, Sendable, Equatable {
    /// A failed system call: its name, its path and its errno.
    case io(operation: String, path: String, errno: Int32)
    case fileNotFound(path: String)
    /// The file already exists.
    case fileExists(path: String)
    case permissionDenied(path: String)
    /// A file can't be replaced, as the new one would not get this of the old one: "its group".
    case accessNotKept(path: String, what: String)
    case isDirectory(path: String)
    /// The file is not a Toft database; `what` is its apparent kind ("a Realm file", "an SQLite
    /// database", "empty"...).
    case notADatabase(path: String, what: String)
    /// A file without a byte, in which no database was made yet.
    case emptyFile(path: String)
    /// The file is a Toft database of another format version or needs a feature this build does not
    /// have.
    case unsupportedFormat(path: String, found: UInt32, feature: String)
    /// A key is not 64 bytes long.
    case invalidKey(length: Int)
    /// The file is encrypted, and no key was given.
    case keyRequired(path: String)
    /// The file is encrypted with another key.
    case wrongKey(path: String)
    /// A key was given, and the file is not encrypted.
    case notEncrypted(path: String)
    /// The newest version of the file is older than the caller has seen it.
    case versionTooLow(path: String, found: Version, minimum: Version)
    /// The system has no library for encryption, which has this name.
    case cipherMissing(library: String)
    /// Bytes of the file are damaged.
    case corrupt(page: PageNumber, reason: String)
    /// A page that was about to be written is one that its own reader refuses: a defect of this
    /// build. Nothing of the version was published.
    case invalidPage(page: PageNumber, kind: String, reason: String)
    /// The file has become shorter than its committed size: `size` of `needed` bytes.
    case fileTruncated(path: String, size: UInt64, needed: UInt64)
    /// The lock file is of another layout, or another process uses the file in a way that cannot be
    /// joined.
    case incompatibleProcess(String)
    case diskFull(path: String)
    case fileTooLarge(path: String)
    case addressSpaceExhausted
    /// A sync failed in some process; nothing can be written until all have closed the file.
    case poisoned
    /// A sync failed in this commit: whether the version is on disk is unknown until the file is
    /// reopened.
    case commitOutcomeUnknown(version: Version)
    /// Opened for reading only.
    case readOnly
    /// The file system of the file can't be written to.
    case readOnlyFileSystem(path: String)
    /// The calling thread is opening the file, and a callback of that opens it again.
    case openingHere(path: String)
    case tooManyReaders
    /// Pinned versions keep more freed runs than a root can list.
    case tooManyFreedRuns
    case usedAfterFork
    case closed
    /// The program has closed the file's descriptor, whose number may be another file's now.
    case descriptorLost(path: String)
    /// The process has as many files open as a process can.
    case tooManyFiles(path: String)
    case lockTimeout
    /// The operation was interrupted: see `InterruptProbe`.
    case interrupted
    case keyTooLong(length: Int, limit: Int)
    case valueTooLong(length: Int, limit: Int)
    case noSuchTree(TreeID)
    case noSuchRow(key: Int64)
    case duplicateRow(key: Int64)
    case noSuchColumn(UInt32)
    case indexOutOfRange(index: Int, count: Int)
    case typeMismatch(String)
    /// The path names another file than the one that is open.
    case replaced(path: String)
    /// The file was to be opened for this process alone, and is open in it for others to share.
    case sharedAlready(path: String)
    /// Locks and shared memory do not hold on this file system, which is named.
    case unsupportedFileSystem(path: String, name: String)
}

extension StorageError {
    /// Whether it may come in the middle of a change; the others come before anything has changed.
    var mayLeaveHalf: Bool {
        switch self {
        case .io, .corrupt, .invalidPage, .fileTruncated, .diskFull, .fileTooLarge,
            .addressSpaceExhausted, .poisoned, .tooManyFreedRuns, .descriptorLost:
            true
        default: false
        }
    }

    /// Whether it does not mean damage to the file: the process has no memory left, or was
    /// interrupted.
    private var isOfProcess: Bool {
        switch self {
        case .addressSpaceExhausted, .interrupted, .usedAfterFork, .closed, .descriptorLost: true
        default: false
        }
    }

    /// Throws the error unless it means damage to the file.
    package func requireDamage() throws(StorageError) {
        if isOfProcess { throw self }
    }
}

/// The result of `body`; nil if the file is damaged there.
///
/// - Throws: errors that do not mean damage, such as `addressSpaceExhausted` and `interrupted`.
func unlessDamaged<Result>(_ body: () throws(StorageError) -> Result)
    throws(StorageError) -> Result?
{
    do throws(StorageError) {
        return try body()
    } catch {
        try error.requireDamage()
        return nil
    }
}
