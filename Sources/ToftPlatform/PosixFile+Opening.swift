internal import CPlatform
internal import Glibc

extension PosixFile {
    /// Opens an existing file.
    ///
    /// - Throws: `fileNotFound`, `isDirectory`, `permissionDenied`, `readOnly` (a file system
    ///   mounted so), `notAFile` (a device, a pipe), `unsupportedFileSystem`, `fileTooLarge`
    ///   (beyond this process's limit) or `io` (a loop of symbolic links...).
    package static func open(
        _ path: String, forWriting: Bool, allowingNetworkFileSystem: Bool = false
    ) throws(SystemError) -> PosixFile {
        guard !path.isEmpty, !path.utf8.contains(0) else { throw .fileNotFound(path: path) }
        // Not blocking: opening a pipe without a writer must not wait before it is refused.
        let flags = (forWriting ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NOCTTY | O_NONBLOCK
        let descriptor = try checked("open", path, platform_open(path, flags, 0))
        do throws(SystemError) {
            try checkKind(of: descriptor, path: path)
            if !allowingNetworkFileSystem { try checkFileSystem(of: descriptor, path: path) }
        } catch {
            _ = platform_close(descriptor)
            throw error
        }
        let file = try PosixFile(
            descriptor: descriptor, path: (try? FilePath.resolved(path)) ?? path,
            isWritable: forWriting)
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

    static func checkFileSystem(of descriptor: Int32, path: String) throws(SystemError) {
        let magic = try checked("fstatfs", path, platform_file_system_magic(descriptor))
        if let name = FileSystemKind.remoteName(magic: UInt32(truncatingIfNeeded: magic)) {
            throw .unsupportedFileSystem(path: path, name: name)
        }
    }
}

/// File systems by the number that `statfs` gives them.
package enum FileSystemKind {
    /// The name of a file system on which locks and shared memory cannot be trusted between
    /// machines; nil for all others.
    package static func remoteName(magic: UInt32) -> String? { remoteNames[magic] }

    private static let remoteNames: [UInt32: String] = [
        0x6969: "NFS", 0xFF53_4D42: "CIFS", 0x517B: "SMB", 0xFE53_4D42: "SMB2", 0x0102_1997: "9p",
        0x6573_5546: "FUSE",
        0x5346_414F: "AFS", 0x6B41_4653: "AFS", 0x00C3_6400: "Ceph", 0x7375_7245: "Coda",
        0x0BD0_0BD0: "Lustre", 0x1983_0326: "BeeGFS",
        0x786F_4256: "VirtualBox shared folder", 0x4750_4653: "GPFS", 0x0116_1970: "GFS2",
        0x7461_636F: "OCFS2",
    ]
}
