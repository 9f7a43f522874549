internal import CPlatform
internal import Glibc

// Creation of a file in an order in which no crash leaves half a file under its name:
//
// 1. A temporary file `.NAME.RANDOM.new`, mode 0600, in the same directory; its creator holds a
//    lock on it.
// 2. The content, then a sync.
// 3. It gets its name, unless the name is taken: then the other creator has won, and this file is
//    removed.
// 4. A sync of the directory.
//
// A creator that died left its temporary file without a lock. The next creator or opener of the
// same name removes it.

extension PosixFile {
    /// Creates the file with the content that `write` gives it. False: it existed already (or
    /// another creator was faster), and is untouched. Not durable: a crash may lose it. Replacing:
    /// the new file takes the name, owner, mode and other access rights of the old one; if it
    /// cannot, the old file is left untouched.
    ///
    /// A new file can be read and written by its owner alone, whatever the umask.
    package static func create(
        _ path: String, onAnyFileSystem: Bool = false, isDurable: Bool = true,
        isReplacing: Bool = false,
        write: (PosixFile) throws(SystemError) -> Void
    ) throws(SystemError) -> Bool {
        let path = try FilePath.resolved(path)
        removeLeftovers(of: path)
        for _ in 0..<creationAttempts {
            let (file, temporary) = try createTemporary(for: path)
            do throws(SystemError) {
                if !onAnyFileSystem,
                    let name = try unsharableFileSystem(of: try file.descriptor(), path: path)
                {
                    throw SystemError.unsupportedFileSystem(path: path, name: name)
                }
                if isReplacing, let access = try FileAccess(ofFileAt: path) {
                    try access.give(to: file, path: path)
                }
                try write(file)
                Failpoint.reach(.creationWritten)
                if isDurable { try file.sync() }
                Failpoint.reach(.creationSynced)
                let named = try give(name: path, to: temporary, isReplacing: isReplacing)
                try? file.close()
                switch named {
                case .named:
                    Failpoint.reach(.creationNamed)
                    if isDurable { try FilePath.syncDirectory(FilePath.directory(of: path)) }
                    Failpoint.reach(.creationDurable)
                    return true
                case .taken:
                    try FilePath.remove(temporary)
                    return false
                case .vanished:
                    continue
                }
            } catch {
                try? file.close()
                try? FilePath.remove(temporary)
                throw error
            }
        }
        throw .io(operation: "rename", path: path, errno: ENOENT)
    }

    /// Removes the temporary files of dead creators of this name. Files that cannot be removed
    /// stay.
    package static func removeLeftovers(of path: String) {
        let directory = FilePath.directory(of: path)
        let prefix = temporaryPrefix(for: path)
        guard let names = try? FilePath.names(in: directory) else { return }
        for name in names where name.hasPrefix(prefix) && name.hasSuffix(temporarySuffix) {
            let leftover = FilePath.joining(directory, name)
            let descriptor = platform_open(
                leftover, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0)
            guard descriptor >= 0 else { continue }
            if platform_lock(descriptor, lockExclusive, creatorLock, 1) == 0 {
                _ = platform_unlink(leftover)
            }
            _ = platform_close(descriptor)
        }
    }

    private static let creationAttempts = 16
    private static let temporarySuffix = ".new"
    private static let creatorLock: Int64 = 1 << 62
    private static let lockExclusive = Int32(platform_lock_exclusive)

    private static func temporaryPrefix(for path: String) -> String {
        "." + FilePath.name(of: path).prefix(200) + "."
    }

    private static func createTemporary(for path: String) throws(SystemError) -> (
        PosixFile, String
    ) {
        let directory = FilePath.directory(of: path)
        let name =
            temporaryPrefix(for: path) + String(try RandomBytes.uint64(), radix: 36)
            + temporarySuffix
        let temporary = FilePath.joining(directory, name)
        let result = platform_open(
            temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        if result == -EACCES || result == -EPERM { throw .permissionDenied(path: directory) }
        // The error has the requested name: the caller does not know the other.
        let descriptor = try checked("open", path, result)
        let file = try PosixFile(descriptor: descriptor, path: temporary, isWritable: true)
        let lock = platform_lock(descriptor, lockExclusive, creatorLock, 1)
        // A process that takes us for dead has the lock for a moment and removes the name: noticed
        // when the name is given, and tried again. A file system without locks takes nobody for
        // dead.
        if lock != -EAGAIN && !FileLocks.isMissing(lock) { try checked("lock", path, lock) }
        return (file, temporary)
    }

    private enum Naming { case named, taken, vanished }

    private static func give(name path: String, to temporary: String, isReplacing: Bool)
        throws(SystemError) -> Naming
    {
        var result =
            isReplacing
            ? platform_rename(temporary, path) : platform_rename_exclusive(temporary, path)
        if !isReplacing, result == -EINVAL || result == -ENOSYS {
            result = platform_link(temporary, path)
            if result == 0 { _ = platform_unlink(temporary) }
            // One without hard links, on which nobody shares a file.
            if result == -EPERM || result == -EOPNOTSUPP || result == -ENOSYS {
                result =
                    platform_access(path, F_OK) == 0 ? -EEXIST : platform_rename(temporary, path)
            }
        }
        switch result {
        case -EEXIST: return .taken
        case -ENOENT: return .vanished
        default:
            try checked("rename", path, result)
            return .named
        }
    }
}
