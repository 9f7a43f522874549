internal import CPlatform
internal import Glibc

extension PosixFile {
    /// Opens an existing file.
    ///
    /// - Throws: `fileNotFound`, `isDirectory`, `permissionDenied`, `readOnly` (a file system
    ///   mounted so), `notAFile` (a device, a pipe), `unsupportedFileSystem`, `fileTooLarge`
    ///   (beyond this process's limit) or `io` (a loop of symbolic links...).
    /// - Parameter onAnyFileSystem: also opens it on a file system on which processes can't share a
    ///   file. A file that nobody can write, because of how it is mounted, can be read on any file
    ///   system.
    package static func open(
        _ path: String, forWriting: Bool, onAnyFileSystem: Bool = false
    ) throws(SystemError) -> PosixFile {
        guard !path.isEmpty, !path.utf8.contains(0) else { throw .fileNotFound(path: path) }
        // Not blocking: opening a pipe without a writer must not wait before it is refused.
        let flags = (forWriting ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NOCTTY | O_NONBLOCK
        let descriptor = try checked("open", path, platform_open(path, flags, 0))
        let unsharable: String?
        do throws(SystemError) {
            try checkKind(of: descriptor, path: path)
            unsharable = try unsharableFileSystem(of: descriptor, path: path)
            if let unsharable, !onAnyFileSystem,
                forWriting || platform_is_mounted_read_only(descriptor) == 0
            {
                throw SystemError.unsupportedFileSystem(path: path, name: unsharable)
            }
        } catch {
            _ = platform_close(descriptor)
            throw error
        }
        let file = try PosixFile(
            descriptor: descriptor, path: (try? FilePath.resolved(path)) ?? path,
            isWritable: forWriting, canBeShared: unsharable == nil)
        if forWriting { try FileSizeLimit.check(try file.size(), path: path) }
        return file
    }

    private static func checkKind(of descriptor: Int32, path: String) throws(SystemError) {
        var status = stat()
        try checked("fstat", path, platform_fstat(descriptor, &status))
        switch status.st_mode & S_IFMT {
        case S_IFREG: return
        case S_IFDIR: throw .isDirectory(path: path)
        case S_IFIFO: throw .notAFile(path: path, kind: "a named pipe")
        default: throw .notAFile(path: path, kind: "a device")
        }
    }

    /// The name of a file system on which processes can't share a file; nil for all others.
    static func unsharableFileSystem(of descriptor: Int32, path: String) throws(SystemError)
        -> String?
    {
        let magic = try checked("fstatfs", path, platform_file_system_magic(descriptor))
        return FileSystemKind.unsharableName(magic: UInt32(truncatingIfNeeded: magic))
    }
}

/// File systems by the number that `statfs` gives them.
enum FileSystemKind {
    /// The name of a file system whose locks and shared memory cannot be trusted, because machines
    /// share it or a program implements it; nil for all others.
    static func unsharableName(magic: UInt32) -> String? { unsharableNames[magic] }

    private static let unsharableNames: [UInt32: String] = [
        0x6969: "NFS", 0xFF53_4D42: "CIFS", 0x517B: "SMB", 0xFE53_4D42: "SMB2", 0x0102_1997: "9p",
        0x6573_5546: "FUSE",
        0x5346_414F: "AFS", 0x6B41_4653: "AFS", 0x00C3_6400: "Ceph", 0x7375_7245: "Coda",
        0x0BD0_0BD0: "Lustre", 0x1983_0326: "BeeGFS",
        0x786F_4256: "VirtualBox shared folder", 0x4750_4653: "GPFS", 0x0116_1970: "GFS2",
        0x7461_636F: "OCFS2",
    ]
}
