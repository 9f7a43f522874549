internal import Glibc

/// Failures of calls of the operating system: one case for each errno that callers act on; the
/// others carry the call's name.
package enum SystemError: Error, Sendable, Equatable {
    /// A failed system call: its name, its path and its errno.
    case io(operation: String, path: String, errno: Int32)
    case fileNotFound(path: String)
    case permissionDenied(path: String)
    /// The name for a new file is taken.
    case fileExists(path: String)
    /// A file can't be replaced, as the new one would not get this of the old one: "its group".
    case accessNotKept(path: String, what: String)
    case isDirectory(path: String)
    /// The path names something that is not a regular file; `kind` is its kind ("a named pipe").
    case notAFile(path: String, kind: String)
    /// The file has no byte at this offset.
    case fileEnds(path: String, offset: UInt64)
    case diskFull(path: String)
    case fileTooLarge(path: String)
    case addressSpaceExhausted
    /// The file was opened for reading only.
    case readOnly
    /// The file system of the file can't be written to.
    case readOnlyFileSystem(path: String)
    case closed
    /// The program has closed the file's descriptor, whose number may be another file's now.
    case descriptorLost(path: String)
    /// The process has as many files open as `ForkGuard` can know.
    case tooManyFiles(path: String)
    /// Locks and shared memory do not hold on this file system.
    case unsupportedFileSystem(path: String, name: String)

    /// The errno of a name, or a path, that is too long.
    package static var nameTooLong: Int32 { ENAMETOOLONG }
    /// The errno of memory that nothing is behind: of a mapping beyond the end of its file.
    package static var badAddress: Int32 { EFAULT }
    package static var fileSystemIsReadOnly: Int32 { EROFS }

    /// The error for a failed call.
    static func failed(_ operation: String, path: String, errno code: Int32) -> SystemError {
        switch code {
        case ENOENT, ENOTDIR: .fileNotFound(path: path)
        case EEXIST: .fileExists(path: path)
        case EACCES, EPERM: .permissionDenied(path: path)
        case EISDIR: .isDirectory(path: path)
        case ENOSPC, EDQUOT: .diskFull(path: path)
        case EFBIG: .fileTooLarge(path: path)
        case EROFS: .readOnlyFileSystem(path: path)
        case EBADF: .descriptorLost(path: path)
        default: .io(operation: operation, path: path, errno: code)
        }
    }
}

/// Turns the kernel's `-errno` into a thrown error; passes results on.
@discardableResult
func checked<Result: SignedInteger>(_ operation: String, _ path: String, _ result: Result)
    throws(SystemError) -> Result
{
    guard result < 0 else { return result }
    throw .failed(operation, path: path, errno: Int32(truncatingIfNeeded: -result))
}
