internal import Glibc

extension StorageError {
    /// The error for a failed system call: the errno that callers can act on by case, the rest with
    /// the call's name.
    static func failed(_ operation: String, path: String, errno code: Int32) -> StorageError {
        switch code {
        case ENOENT: .fileNotFound(path: path)
        case EACCES, EPERM: .permissionDenied(path: path)
        case EISDIR: .isDirectory(path: path)
        case ENOSPC, EDQUOT: .diskFull(path: path)
        case EFBIG: .fileTooLarge(path: path)
        case EROFS: .readOnly
        case EBADF: .closed
        default: .io(operation: operation, path: path, errno: code)
        }
    }
}

/// Turns the kernel's `-errno` into a thrown error; passes results on.
@discardableResult
func checked<Result: SignedInteger>(_ operation: String, _ path: String, _ result: Result)
    throws(StorageError) -> Result
{
    guard result < 0 else { return result }
    throw .failed(operation, path: path, errno: Int32(truncatingIfNeeded: -result))
}
