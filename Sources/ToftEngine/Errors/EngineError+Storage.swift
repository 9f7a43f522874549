internal import ToftPlatform
package import ToftStorage

extension EngineError {
    init(_ error: SystemError) { self.init(StorageError(error)) }

    /// A storage failure, as the caller sees it. Total: a new storage error does not compile until
    /// it has a case here.
    package init(_ error: StorageError) {
        switch error {
        case .io(let operation, let path, SystemError.nameTooLong):
            self.init(
                .fileAccess,
                "'\(path)' is too long: a name has at most 255 bytes, a path 4,095, and the lock "
                    + "file beside the database has '.lock' at the end. Give a shorter name.",
                detail: "\(operation) \(path): name too long",
                number: Int64(SystemError.nameTooLong))
        case .io(let operation, let path, let errno):
            let place = path.isEmpty ? "" : " on '\(path)'"
            self.init(
                .fileAccess,
                "The system call \(operation) failed\(place): \(SystemError.meaning(of: errno)) "
                    + "(error \(errno)). \(SystemError.remedy(for: errno, of: operation))",
                detail: "\(operation) \(path): errno \(errno)", number: Int64(errno))
        case .fileNotFound(let path):
            self.init(
                .fileNotFound, "There is no file '\(path)', or a directory on its path is missing.",
                detail: path)
        case .fileExists(let path):
            self.init(
                .fileExists,
                "There is already something at '\(path)', which was not touched. Give another "
                    + "path, or remove it.",
                detail: path)
        case .permissionDenied(let path):
            self.init(
                .permissionDenied,
                "Permission denied for '\(path)'. Toft must be able to read the file and, unless "
                    + "it is opened read-only, to write it and its directory.",
                detail: path)
        case .accessNotKept(let path, let what):
            self.init(
                .permissionDenied,
                "'\(path)' is as it was: a new file would take its place, and this process may not "
                    + "give that \(what). Do it as the owner of the file, or as root.",
                detail: "\(path): \(what)")
        case .isDirectory(let path):
            self.init(
                .isDirectory, "'\(path)' is a directory. Give the path of a file.", detail: path)
        case .notADatabase(let path, let what):
            self.init(
                .notADatabase, "'\(path)' is not a Toft database: it looks like \(what).",
                detail: what)
        case .emptyFile(let path):
            self.init(
                .notADatabase,
                "'\(path)' is an empty file, which holds no database. An opening for writing that "
                    + "may make files makes one of it.",
                detail: "an empty file")
        case .unsupportedFormat(let path, let found, let feature):
            let advice =
                found < MetaLayout.currentFormat
                ? "Export it with the version that wrote it, and import that."
                : "Open it with a newer one."
            self.init(
                .unsupportedFormat,
                "'\(path)' needs \(feature) (format \(found)), which this version of Toft does "
                    + "not have. \(advice)",
                detail: feature, number: Int64(found))
        case .invalidKey(let length):
            self.init(
                .invalidArgument,
                "An encryption key must have exactly \(EncryptionKey.size) bytes; this one has "
                    + "\(length).",
                number: Int64(clamping: length))
        case .keyRequired(let path):
            self.init(
                .keyRequired, "'\(path)' is encrypted. Open it with its key.", detail: path)
        case .wrongKey(let path):
            self.init(
                .wrongKey,
                "'\(path)' is encrypted with another key. Open it with the key that it was "
                    + "written with.",
                detail: path)
        case .notEncrypted(let path):
            self.init(
                .notEncrypted,
                "'\(path)' is not encrypted. Open it without a key, or encrypt it first.",
                detail: path)
        case .versionTooLow(let path, let found, let minimum):
            self.init(
                .versionTooLow,
                "'\(path)' is at version \(found), and must be at \(minimum) or later: an older "
                    + "file was put in its place, or it has lost its last commits. Restore a newer "
                    + "one, or open it without a minimum version to accept it.",
                detail: path, number: Int64(clamping: found.rawValue))
        case .cipherMissing(let library):
            self.init(
                .unsupported,
                "Encryption needs OpenSSL 3, and the system has no \(library). Install it "
                    + "(Debian and Ubuntu: libssl3).",
                detail: library)
        case .corrupt(let page, let reason):
            self.init(
                .corrupt,
                "The database is damaged at page \(page): \(reason). Restore it from a backup, or "
                    + "save its readable content to a new file with 'toftdb salvage'.",
                detail: reason, number: Int64(clamping: page.rawValue))
        case .invalidPage(let page, let kind, let reason):
            self.init(
                .internalError,
                "Toft was about to write page \(page) (\(kind)) in a form that it cannot read: "
                    + "\(reason). The transaction was not committed. Please report this.",
                detail: reason, number: Int64(clamping: page.rawValue))
        case .fileTruncated(let path, let size, let needed):
            self.init(
                .corrupt,
                "The file '\(path)' was truncated: it has \(size) of \(needed) bytes that were "
                    + "committed. Restore it from a backup.",
                detail: path, number: Int64(clamping: size))
        case .incompatibleProcess(let reason):
            self.init(
                .incompatibleProcess,
                "Another process uses this database in a way that can't be joined: \(reason).",
                detail: reason)
        case .diskFull(let path):
            self.init(
                .diskFull,
                "No space left for '\(path)', on its disk or in the user's quota. Nothing was "
                    + "changed; free some space and try again.",
                detail: path)
        case .fileTooLarge(let path):
            self.init(
                .fileTooLarge, "'\(path)' would grow beyond what the file system or Toft allows.",
                detail: path)
        case .addressSpaceExhausted:
            self.init(
                .addressSpaceExhausted,
                "The process has no address space left to map the database. Close other databases "
                    + "or raise the limit."
            )
        case .poisoned:
            self.init(
                .poisoned,
                "An earlier sync of this file failed, so nothing more is written to it. Close it "
                    + "in all processes, check the disk, open it again."
            )
        case .commitOutcomeUnknown(let version):
            self.init(
                .commitOutcomeUnknown,
                "The disk reported an error while version \(version) was synced, or the program "
                    + "closed the file's descriptor meanwhile: whether it exists will be known "
                    + "when the file is opened again.",
                number: Int64(clamping: version.rawValue))
        case .readOnly:
            self.init(
                .readOnly,
                "Can't write: the database was opened for reading only. Open it for writing.")
        case .readOnlyFileSystem(let path):
            self.init(
                .readOnly,
                "Can't write '\(path)': it is on a file system that is read-only. Open it for "
                    + "reading only, or use a place that can be written to.",
                detail: path, number: Int64(SystemError.fileSystemIsReadOnly))
        case .openingHere(let path):
            self.init(
                .insideCallback,
                "'\(path)' is being opened on this thread, which waits for the callback: it can't "
                    + "be opened again there. Return from the callback first.",
                detail: path)
        case .tooManyReaders:
            self.init(.tooManyReaders, "Too many realms read this file at once. Close some.")
        case .tooManyFreedRuns:
            self.init(
                .tooManyReaders,
                "Older versions that are still being read keep more pages than the file can list. "
                    + "Close the realms that read them, and try again.")
        case .usedAfterFork:
            self.init(
                .usedAfterFork,
                "The database was opened before fork() and can't be used in the child process. "
                    + "Open it again there."
            )
        case .closed:
            self.init(.closed, "The database has been closed.")
        case .descriptorLost(let path):
            self.init(
                .fileAccess,
                "The descriptor of '\(path)' was closed by the program, which did not open it (as "
                    + "a daemon does that closes all that it finds), and may be another file's "
                    + "now. Nothing was written to that, and the transaction is not committed. "
                    + "Close the database and open it again, behind whatever closes descriptors.",
                detail: "\(path): its descriptor was closed",
                number: Int64(SystemError.badDescriptor))
        case .tooManyFiles(let path):
            self.init(
                .fileAccess,
                "'\(path)' can't be opened, as a process has at most \(ForkGuard.fileLimit) "
                    + "databases open at once. Close some.",
                detail: "\(path): too many databases are open",
                number: Int64(SystemError.tooManyOpenFiles))
        case .interrupted: self = .interrupted
        case .lockTimeout:
            self.init(
                .lockTimeout,
                "Another transaction holds the write lock. Try again later or wait longer.")
        case .keyTooLong(let length, let limit):
            self.init(
                .valueTooLong, "A key of \(length) bytes is too long: the limit is \(limit).",
                number: Int64(clamping: length))
        case .valueTooLong(let length, let limit):
            self.init(
                .valueTooLong, "A value of \(length) bytes is too long: the limit is \(limit).",
                number: Int64(clamping: length))
        case .noSuchTree(let tree):
            self.init(
                .internalError, "The database has no tree \(tree), which its schema names.",
                number: Int64(clamping: tree.rawValue))
        case .noSuchRow(let key):
            self.init(.objectDeleted, "The object with key \(key) has been deleted.", number: key)
        case .duplicateRow(let key):
            self.init(.internalError, "A row with key \(key) exists already.", number: key)
        case .noSuchColumn(let column):
            self.init(.noSuchProperty, "There is no column \(column).", number: Int64(column))
        case .indexOutOfRange(let index, let count):
            self.init(outOfRange: index, count: count)
        case .typeMismatch(let what):
            self.init(.typeMismatch, what)
        case .replaced(let path):
            self.init(
                .fileReplaced,
                "'\(path)' was deleted or moved while it was open, or another file was put in its "
                    + "place. Nothing was written; close it in all processes and open it again.",
                detail: path)
        case .sharedAlready(let path):
            self.init(
                .configurationMismatch,
                "'\(path)' is open in this process already, where others may share it, so it can't "
                    + "be opened for this process alone (exclusive). Open it so everywhere, or "
                    + "nowhere.",
                detail: path)
        case .unsupportedFileSystem(let path, let name):
            self.init(
                .unsupported,
                "'\(path)' is on a file system (\(name)) on which processes can't share a "
                    + "database: their locks and shared memory do not work there. Open it "
                    + "for this process alone (exclusive), or move it to a local disk.",
                detail: name)
        }
    }

    /// An index beyond the end of a list or of results.
    package init(outOfRange index: Int, count: Int) {
        self.init(
            .indexOutOfRange, "Index \(index) is out of bounds: there are \(count) elements.",
            number: Int64(clamping: index))
    }
}

/// Runs calls of the storage and throws their error as the engine's.
@inline(__always)
package func storage<Result: ~Copyable>(_ body: () throws(StorageError) -> Result)
    throws(EngineError)
    -> Result
{
    do { return try body() } catch { throw EngineError(error) }
}
