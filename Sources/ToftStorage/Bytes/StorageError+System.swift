package import ToftPlatform

extension StorageError {
    package init(_ error: SystemError) {
        self =
            switch error {
            case .io(let operation, let path, let errno):
                .io(operation: operation, path: path, errno: errno)
            case .fileNotFound(let path): .fileNotFound(path: path)
            case .fileExists(let path): .fileExists(path: path)
            case .permissionDenied(let path): .permissionDenied(path: path)
            case .accessNotKept(let path, let what): .accessNotKept(path: path, what: what)
            case .isDirectory(let path): .isDirectory(path: path)
            case .notAFile(let path, let kind): .notADatabase(path: path, what: kind)
            case .fileEnds(_, let offset):
                .corrupt(
                    page: PageNumber(ofByte: offset),
                    reason: "the file ends before the end of this page")
            case .diskFull(let path): .diskFull(path: path)
            case .fileTooLarge(let path): .fileTooLarge(path: path)
            case .addressSpaceExhausted: .addressSpaceExhausted
            case .readOnly: .readOnly
            case .readOnlyFileSystem(let path): .readOnlyFileSystem(path: path)
            case .closed: .closed
            case .descriptorLost(let path): .descriptorLost(path: path)
            case .tooManyFiles(let path): .tooManyFiles(path: path)
            case .unsupportedFileSystem(let path, let name):
                .unsupportedFileSystem(path: path, name: name)
            }
    }
}

/// Calls the system: its errors become the storage's.
@inline(__always) @discardableResult
func system<Result>(_ call: @autoclosure () throws(SystemError) -> Result) throws(StorageError)
    -> Result
{
    do throws(SystemError) {
        return try call()
    } catch {
        throw StorageError(error)
    }
}

extension Failpoint {
    /// A point at which a trial may simulate the death of the process that reaches it: the next
    /// steps are not done, and only the kernel releases its locks and pins.
    @inline(__always)
    static func pass(_ point: Failpoint) throws(StorageError) {
        if dies(at: point) { throw .closed }
    }
}
