#if Terminal
import Foundation
import ToftEngine

/// A command's inputs besides databases: files, pipes and standard input.
enum Input {
    /// All bytes of a file, or of a pipe. Files are mapped.
    /// - Parameters:
    ///   - path: `-` for standard input.
    ///   - what: the input's name in errors, with an article; empty if the file's name is enough.
    static func bytes(of path: String, _ what: String = "") throws -> Data {
        let descriptor = path == "-" ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw error(errno, path, what) }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw error(errno, path, what) }
        if status.st_mode & S_IFMT == S_IFREG, path != "-",
            let mapped = try? Data(contentsOf: URL(fileURLWithPath: path), options: .mappedIfSafe)
        {
            return mapped
        }
        return try rest(of: file, path, what)
    }

    private static func rest(of file: FileHandle, _ path: String, _ what: String) throws -> Data {
        var data = Data(), piece = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(file.fileDescriptor, &piece, piece.count)
            if count == 0 { return data }
            if count > 0 {
                data.append(contentsOf: piece[..<count])
            } else if errno != EINTR {
                throw error(errno, path, what)
            }
        }
    }

    private static func error(_ number: Int32, _ path: String, _ what: String) -> EngineError {
        let code: ErrorCode =
            switch number {
            case ENOENT, ENOTDIR: .fileNotFound
            case EACCES, EPERM: .permissionDenied
            case EISDIR: .isDirectory
            default: .fileAccess
            }
        let name = what.isEmpty ? "'\(path)'" : "\(what) '\(path)'"
        return EngineError(
            code, "Can't read \(name): \(String(cString: strerror(number))).", detail: "",
            number: Int64(number))
    }
}
#endif
