internal import ToftPlatform

extension StorageError: CustomStringConvertible {
    /// The fault, in plain words that follow a colon, for reports of damage and the log.
    package var description: String {
        switch self {
        case .io(let operation, let path, let errno):
            "the system call \(operation) failed\(path.isEmpty ? "" : " on '\(path)'") with error "
                + "\(errno) (\(SystemError.meaning(of: errno)))"
        case .fileNotFound(let path): "there is no file '\(path)'"
        case .fileExists(let path): "there is already something at '\(path)'"
        case .permissionDenied(let path): "permission denied for '\(path)'"
        case .accessNotKept(let path, let what): "a new '\(path)' would not have \(what)"
        case .isDirectory(let path): "'\(path)' is a directory"
        case .notADatabase(let path, let what): "'\(path)' looks like \(what)"
        case .emptyFile(let path): "'\(path)' is an empty file"
        case .unsupportedFormat(_, let found, let feature): "it needs \(feature) (format \(found))"
        case .invalidKey(let length): "a key has 64 bytes, not \(length)"
        case .keyRequired: "it is encrypted, and no key was given"
        case .wrongKey: "it is encrypted with another key"
        case .notEncrypted: "it is not encrypted, and a key was given"
        case .versionTooLow(_, let found, let minimum):
            "it is at version \(found), and must be at \(minimum) or later"
        case .cipherMissing(let library): "the system has no \(library)"
        case .corrupt(let page, let reason): "page \(page): \(reason)"
        case .invalidPage(let page, let kind, let reason):
            "page \(page) (\(kind)) can't be read as it was to be written: \(reason)"
        case .fileTruncated(_, let size, let needed):
            "the file has \(size) of \(needed) bytes that were committed"
        case .incompatibleProcess(let reason): "another process can't be joined: \(reason)"
        case .diskFull(let path): "no space is left for '\(path)'"
        case .fileTooLarge(let path): "'\(path)' can't grow any more"
        case .addressSpaceExhausted: "the process has no address space left"
        case .poisoned: "an earlier sync of the file failed"
        case .commitOutcomeUnknown(let version): "a sync of version \(version) failed"
        case .readOnly: "it is open for reading only"
        case .readOnlyFileSystem(let path): "'\(path)' is on a read-only file system"
        case .openingHere(let path): "'\(path)' is being opened on this thread"
        case .tooManyReaders: "too many realms read the file at once"
        case .tooManyFreedRuns: "older versions keep more pages than the file can list"
        case .usedAfterFork: "it was opened before fork()"
        case .closed: "it has been closed"
        case .descriptorLost(let path): "the program has closed the descriptor of '\(path)'"
        case .tooManyFiles(let path): "too many files are open for '\(path)'"
        case .lockTimeout: "another transaction holds the write lock"
        case .interrupted: "it was interrupted"
        case .keyTooLong(let length, let limit): "a key has \(length) bytes, the limit is \(limit)"
        case .valueTooLong(let length, let limit):
            "a value has \(length) bytes, the limit is \(limit)"
        case .noSuchTree(let tree): "there is no tree \(tree)"
        case .noSuchRow(let key): "there is no row \(key)"
        case .duplicateRow(let key): "there is a row \(key) already"
        case .noSuchColumn(let column): "there is no column \(column)"
        case .indexOutOfRange(let index, let count): "there is no element \(index) of \(count)"
        case .typeMismatch(let what): what
        case .replaced(let path): "'\(path)' is another file now"
        case .sharedAlready(let path): "'\(path)' is open for others to share"
        case .unsupportedFileSystem(let path, let name): "'\(path)' is on \(name)"
        }
    }
}
