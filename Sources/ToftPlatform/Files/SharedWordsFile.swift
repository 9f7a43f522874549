internal import CPlatform
internal import Glibc

/// A small file that processes map as `SharedWords`.
///
/// Its blocks are allocated when it is made, so that no store to the mapping can find the disk
/// full. The words stay mapped after this object's end.
package final class SharedWordsFile {
    private let marked: MarkedDescriptor
    private let path: String

    private static let flags = O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK

    /// Takes over an open descriptor; nil if it is not a regular file.
    private init?(descriptor: Int32, path: String) throws(SystemError) {
        var status = stat()
        do throws(SystemError) {
            try checked("fstat", path, platform_fstat(descriptor, &status))
            marked =
                status.st_mode & S_IFMT == S_IFREG
                ? try MarkedDescriptor(descriptor, path: path) : .none
        } catch {
            _ = platform_close(descriptor)
            throw error
        }
        self.path = path
        if marked == .none {
            _ = platform_close(descriptor)
            return nil
        }
    }

    deinit { _ = marked.close() }

    private func descriptor() throws(SystemError) -> Int32 { try marked.check(path) }

    /// Opens an existing file for reading and writing; nil if it does not exist.
    ///
    /// - Throws: `notAFile` for a directory or a symbolic link; errors of opening.
    package static func open(_ path: String) throws(SystemError) -> SharedWordsFile? {
        let descriptor = platform_open(path, O_RDWR | flags, 0)
        switch descriptor {
        case -ENOENT: return nil
        case -ELOOP, -EISDIR: throw .notAFile(path: path, kind: "a directory or a link")
        default:
            let file = try SharedWordsFile(
                descriptor: try checked("open", path, descriptor), path: path)
            guard let file else { throw .notAFile(path: path, kind: "no regular file") }
            return file
        }
    }

    /// Opens a regular file of exactly this size for reading; nil if there is no such file, or it
    /// can't be opened.
    package static func openForReading(_ path: String, byteCount: Int) -> SharedWordsFile? {
        let descriptor = platform_open(path, O_RDONLY | flags, 0)
        guard descriptor >= 0,
            let file = try? SharedWordsFile(descriptor: descriptor, path: path),
            (try? file.size()) == byteCount
        else { return nil }
        return file
    }

    /// Replaces the file of this name by one of zeros with the access rights of `file`.
    package static func create(_ path: String, byteCount: Int, like file: PosixFile)
        throws(SystemError) -> SharedWordsFile?
    {
        try FilePath.remove(path)
        let access = try FileAccess(ofFileAt: file.path)
        _ = try PosixFile.create(path, onAnyFileSystem: true, isDurable: false) {
            created throws(SystemError) in
            try allocate(try created.descriptor(), byteCount, path: path)
            try access?.lend(to: created)
        }
        return try open(path)
    }

    package func size() throws(SystemError) -> Int {
        var status = stat()
        try checked("fstat", path, platform_fstat(try descriptor(), &status))
        return Int(status.st_size)
    }

    /// The first words as they are in the file, 0 beyond its end.
    package func words(count: Int) throws(SystemError) -> [UInt64] {
        var words = [UInt64](repeating: 0, count: count)
        let descriptor = try descriptor()
        let result = words.withUnsafeMutableBytes {
            platform_pread(descriptor, $0.baseAddress, $0.count, 0)
        }
        try checked("pread", path, result)
        return words
    }

    /// Makes the file at least so large, with its blocks allocated.
    package func allocate(_ byteCount: Int) throws(SystemError) {
        try Self.allocate(try descriptor(), byteCount, path: path)
    }

    /// The file's words, which must be there. Stores to them reach all processes.
    package func mapped(byteCount: Int) throws(SystemError) -> SharedWords {
        var error: Int32 = 0
        guard let base = platform_map_shared(try descriptor(), byteCount, &error) else {
            if error == ENOMEM { throw .addressSpaceExhausted }
            throw .failed("mmap", path: path, errno: error)
        }
        let words = SharedWords(mapping: base, byteCount: byteCount)
        // The mapping is written to.
        _ = try descriptor()
        return words
    }

    /// The file's words, for looking only.
    package func mappedForReading(byteCount: Int) throws(SystemError) -> SharedWords {
        guard let base = platform_reserve(byteCount) else { throw .addressSpaceExhausted }
        let words = SharedWords(mapping: base, byteCount: byteCount)
        try checked("mmap", path, platform_map_reading(try descriptor(), base, byteCount, 0))
        return words
    }

    private static func allocate(_ descriptor: Int32, _ byteCount: Int, path: String)
        throws(SystemError)
    {
        try FileSizeLimit.check(UInt64(byteCount), path: path)
        var result: Int32
        repeat {
            result = platform_allocate(descriptor, 0, Int64(byteCount))
        } while result == -EINTR
        if result == -EOPNOTSUPP || result == -ENOSYS {
            return try fill(descriptor, byteCount, path: path)
        }
        try checked("fallocate", path, result)
    }

    /// Allocates by writing, for file systems that cannot allocate otherwise.
    private static func fill(_ descriptor: Int32, _ byteCount: Int, path: String)
        throws(SystemError)
    {
        let zeros = [UInt8](repeating: 0, count: byteCount)
        var done = 0
        while done < zeros.count {
            let count = zeros.withUnsafeBytes { bytes in
                platform_pwrite(
                    descriptor, bytes.baseAddress.map { $0 + done }, zeros.count - done, Int64(done)
                )
            }
            if count == -Int(EINTR) { continue }
            done += try checked("pwrite", path, count)
        }
    }
}
