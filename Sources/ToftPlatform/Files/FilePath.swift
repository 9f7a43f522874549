internal import CPlatform
internal import Glibc

/// Paths as the storage level needs them: text in, text out.
package enum FilePath {
    /// The directory part: "." for a bare name, "/" for the root.
    package static func directory(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == path.utf8.startIndex ? "/" : String(path[..<slash])
    }

    /// The part after the last slash.
    package static func name(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return path }
        return String(path[path.utf8.index(after: slash)...])
    }

    package static func joining(_ directory: String, _ name: String) -> String {
        directory.utf8.last == UInt8(ascii: "/") ? directory + name : directory + "/" + name
    }

    /// The absolute path without symbolic links. The file itself need not exist, but its directory
    /// must. A dangling link is followed, so that a new file is created under the link's target.
    package static func resolved(_ path: String) throws(SystemError) -> String {
        guard !path.isEmpty, !path.utf8.contains(0) else { throw .fileNotFound(path: path) }
        var path = path
        for _ in 0..<linkLimit {
            if let whole = try realPath(path) { return whole }
            guard let target = linkTarget(path) else { return try resolvedInDirectory(path) }
            path =
                target.utf8.first == UInt8(ascii: "/")
                ? target : joining(directory(of: path), target)
        }
        throw .io(operation: "realpath", path: path, errno: ELOOP)
    }

    /// The identity of the file that a path names now.
    package static func identity(of path: String) throws(SystemError) -> FileIdentity {
        var status = stat()
        try checked("stat", path, platform_stat(path, &status))
        return FileIdentity(status)
    }

    /// Gives a file a second name. False: it has the name already.
    /// - Throws: `fileExists` if another file has it.
    package static func link(_ path: String, _ second: String) throws(SystemError) -> Bool {
        let result = platform_link(path, second)
        if result == -EEXIST, try identity(of: path) == identity(of: second) { return false }
        try checked("link", second, result)
        return true
    }

    /// Gives a file another name, in the place of what has that.
    package static func move(_ path: String, to name: String) throws(SystemError) {
        try checked("rename", path, platform_rename(path, name))
    }

    /// Removes a name, if it exists.
    package static func remove(_ path: String) throws(SystemError) {
        let result = platform_unlink(path)
        if result != -ENOENT { try checked("unlink", path, result) }
    }

    /// Makes names created, renamed or removed in a directory durable.
    package static func syncDirectory(_ directory: String) throws(SystemError) {
        let descriptor = try checked(
            "open", directory, platform_open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0))
        defer { _ = platform_close(descriptor) }
        let result = platform_sync(descriptor)
        Failpoint.reach(.directorySynced)
        // Some file systems cannot sync a directory and report that.
        if result != -EINVAL { try checked("fsync", directory, result) }
    }

    /// The names in a directory.
    static func names(in directory: String) throws(SystemError) -> [String] {
        guard let stream = opendir(directory) else {
            throw .failed("opendir", path: directory, errno: errno)
        }
        defer { closedir(stream) }
        guard let nameOffset = MemoryLayout<dirent>.offset(of: \.d_name) else { return [] }
        var names: [String] = []
        while let entry = readdir(stream) {
            // The entry is as long as its name requires, not as long as its type: nothing behind
            // the name may be read.
            let name = String(
                cString: UnsafeRawPointer(entry).advanced(by: nameOffset)
                    .assumingMemoryBound(to: CChar.self))
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    private static let linkLimit = 40

    /// Nil: it does not exist.
    private static func realPath(_ path: String) throws(SystemError) -> String? {
        guard let whole = realpath(path, nil) else {
            if errno == ENOENT { return nil }
            throw .failed("realpath", path: path, errno: errno)
        }
        defer { free(whole) }
        return String(cString: whole)
    }

    private static func linkTarget(_ path: String) -> String? {
        withUnsafeTemporaryAllocation(byteCount: Int(PATH_MAX), alignment: 1) { buffer in
            let count = platform_readlink(path, buffer.baseAddress, buffer.count)
            return count > 0 ? String(decoding: buffer.prefix(count), as: UTF8.self) : nil
        }
    }

    private static func resolvedInDirectory(_ path: String) throws(SystemError) -> String {
        let name = name(of: path)
        guard !name.isEmpty, let directory = try realPath(directory(of: path)) else {
            throw .fileNotFound(path: path)
        }
        return joining(directory, name)
    }
}

extension FileIdentity {
    /// The identity of the file that a path names now; nil if it names no file.
    package static func ofFile(at path: String) throws(SystemError) -> FileIdentity? {
        do throws(SystemError) {
            return try FilePath.identity(of: path)
        } catch .fileNotFound {
            return nil
        }
    }

    init(_ status: stat) {
        self.init(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    }
}
