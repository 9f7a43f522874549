package import ToftEngine
internal import ToftPlatform
internal import ToftStorage

/// A file of text that is being written. It gets its name when it is complete: after an error, or a
/// crash, an older file at the path is unchanged.
package struct TextFile {
    private let file: PosixFile
    private var waiting: [UInt8] = []
    private var offset: UInt64 = 0

    /// Bytes that are gathered.
    private static let capacity = 65_536

    private init(_ file: PosixFile) { self.file = file }

    /// Writes a file. It replaces an existing file, with its owner and mode.
    /// - Parameters:
    ///   - session: the file of its database is not replaced.
    ///   - body: writes the text; its errors are thrown.
    /// - Throws: `EngineError`: `isDirectory`, `fileNotFound`, `permissionDenied`, `diskFull`...
    package static func create(
        _ path: String, from session: Session, _ body: (inout TextFile) throws -> Void
    ) throws {
        try system { () throws(SystemError) in try checkReplaceable(path) }
        if let identity = try? FilePath.identity(of: path),
            identity == (try? FilePath.identity(of: session.database.path))
        {
            throw EngineError(
                .fileExists, "'\(path)' is the database itself. Give another path.", detail: path)
        }
        var failure: (any Error)?
        do throws(SystemError) {
            _ = try PosixFile.create(path, onAnyFileSystem: true, isReplacing: true) {
                file throws(SystemError) in
                do {
                    var text = TextFile(file)
                    try body(&text)
                    try text.flush()
                } catch {
                    failure = error
                    throw .closed
                }
            }
        } catch {
            throw failure ?? EngineError(file: error)
        }
    }

    /// Adds text at the end.
    package mutating func write(_ text: String) throws(EngineError) {
        waiting += text.utf8
        if waiting.count >= Self.capacity { try flush() }
    }

    private mutating func flush() throws(EngineError) {
        let (file, offset) = (file, offset)
        try system { () throws(SystemError) in
            try waiting.withUnsafeBytes { bytes in
                Result { () throws(SystemError) in try file.write(bytes, at: offset) }
            }.get()
        }
        self.offset += UInt64(waiting.count)
        waiting.removeAll(keepingCapacity: true)
    }

    /// Throws unless there is nothing, or a file that may be written.
    private static func checkReplaceable(_ path: String) throws(SystemError) {
        do throws(SystemError) {
            try PosixFile.open(path, forWriting: true, onAnyFileSystem: true).close()
        } catch .fileNotFound {
        }
    }
}

extension ObjectLines {
    /// The lines of a file.
    /// - Throws: `fileNotFound`, `isDirectory`, `permissionDenied`, `fileAccess`.
    package init(path: String, hint: @escaping Hint) throws(EngineError) {
        let (file, size) = try system { () throws(SystemError) in
            let file = try PosixFile.open(
                path, forWriting: false, onAnyFileSystem: true)
            return (file, Int(clamping: try file.size()))
        }
        self.init(
            path: path,
            pieces: { offset throws(EngineError) in
                try system { () throws(SystemError) in
                    try file.bytes(at: offset, atMost: size - offset)
                }
            }, hint: hint)
    }
}

/// Bytes of one read.
private let pieceSize = 65_536

extension PosixFile {
    fileprivate func bytes(at offset: Int, atMost limit: Int) throws(SystemError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: min(pieceSize, max(0, limit)))
        let result = bytes.withUnsafeMutableBytes { buffer in
            Result { () throws(SystemError) in try read(into: buffer, at: UInt64(offset)) }
        }
        try result.get()
        return bytes
    }
}

/// Calls the system: its errors become the engine's, for files that are not databases.
private func system<Result>(_ call: () throws(SystemError) -> Result) throws(EngineError)
    -> Result
{
    do throws(SystemError) {
        return try call()
    } catch {
        throw EngineError(file: error)
    }
}

extension EngineError {
    fileprivate init(file error: SystemError) {
        switch error {
        case .notAFile(let path, let kind):
            self.init(
                .fileAccess, "'\(path)' is \(kind). Give the path of a file.", detail: kind)
        case .fileEnds(let path, _):
            self.init(
                .fileAccess, "'\(path)' became shorter while it was read. Read it again.",
                detail: path)
        case .permissionDenied(let path):
            self.init(
                .permissionDenied,
                "Permission denied for '\(path)'. Change its permissions, or give another path.",
                detail: path)
        default: self.init(StorageError(error))
        }
    }
}
