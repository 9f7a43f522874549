internal import CPlatform
internal import Glibc

/// Everything that grants access to a file, and its metadata: owner, group, mode, access control
/// list and extended attributes.
struct FileAccess {
    private let owner: UInt32
    private let group: UInt32
    private let mode: UInt32
    /// In the system's encoding; nil if the mode says everything.
    private let list: [UInt8]?
    private let attributes: [(name: String, value: [UInt8])]

    private static let listName = "system.posix_acl_access"
    /// The system's attributes that describe the content; the new file has its own.
    private static let kept = ["user.", "trusted.", "security.selinux", "security.SMACK64"]

    /// Nil if the file does not exist.
    init?(ofFileAt path: String) throws(SystemError) {
        var status = stat()
        let result = platform_stat(path, &status)
        if result == -ENOENT { return nil }
        try checked("stat", path, result)
        owner = status.st_uid
        group = status.st_gid
        mode = status.st_mode & 0o7777
        list = try Self.attribute(Self.listName, of: path)
        var attributes: [(name: String, value: [UInt8])] = []
        for name in try Self.names(of: path) where Self.kept.contains(where: name.hasPrefix) {
            if let value = try Self.attribute(name, of: path) { attributes.append((name, value)) }
        }
        self.attributes = attributes
    }

    /// Gives all of it to another file, which takes the place of the one at `path`.
    ///
    /// - Throws: `accessNotKept` if the process lacks the permission.
    func give(to file: PosixFile, path: String) throws(SystemError) {
        let descriptor = try file.descriptor()
        func expect(_ what: String, _ result: Int32) throws(SystemError) {
            if result < 0 { throw .accessNotKept(path: path, what: what) }
        }
        let status = try file.status()
        if status.st_uid != owner {
            try expect("its owner", platform_fchown(descriptor, owner, group))
        } else if status.st_gid != group {
            try expect("its group", platform_fchown(descriptor, owner, group))
        }
        try expect("its access control list", setList(of: descriptor))
        try expect("its mode", platform_fchmod(descriptor, mode))
        for (name, value) in attributes
        where try Self.value({ platform_attribute(descriptor, name, $0, $1) }) != value {
            try expect(
                "its attribute \(name)",
                platform_set_attribute(descriptor, name, value, value.count))
        }
    }

    /// Gives those who may read or write the file the same rights to another one, as far as this
    /// process may; nobody else gets any.
    func lend(to file: PosixFile) throws(SystemError) {
        let descriptor = try file.descriptor()
        var mode = mode & 0o666
        if platform_fchown(descriptor, owner, group) < 0,
            platform_fchown(descriptor, .max, group) < 0
        {
            mode &= 0o606
        }
        // With an access control list, the mode's group bits are the upper limit of what it grants.
        if setList(of: descriptor) < 0 { mode &= 0o606 }
        _ = platform_fchmod(descriptor, mode)
    }

    /// Sets the list, or removes the one that a directory may have given the file.
    private func setList(of descriptor: Int32) -> Int32 {
        if let list {
            return platform_set_attribute(descriptor, Self.listName, list, list.count)
        }
        let result = platform_remove_attribute(descriptor, Self.listName)
        return result == -ENODATA || result == -EOPNOTSUPP ? 0 : result
    }

    private static func names(of path: String) throws(SystemError) -> [String] {
        let list = try value { names, size in
            platform_list_attributes(path, names?.assumingMemoryBound(to: CChar.self), size)
        }
        return (list ?? []).split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
    }

    private static func attribute(_ name: String, of path: String) throws(SystemError) -> [UInt8]? {
        try value { platform_attribute_at(path, name, $0, $1) }
    }

    /// The result of a call that first reports its size; nil if the attribute does not exist.
    private static func value(_ call: (UnsafeMutableRawPointer?, Int) -> Int) throws(SystemError)
        -> [UInt8]?
    {
        while true {
            let size = call(nil, 0)
            if size == -Int(ENODATA) || size == -Int(EOPNOTSUPP) || size == -Int(ENOSYS) {
                return nil
            }
            var bytes = [UInt8](repeating: 0, count: try checked("getxattr", "", size))
            if bytes.isEmpty { return [] }
            let count = bytes.withUnsafeMutableBytes { call($0.baseAddress, $0.count) }
            // It has grown since.
            if count == -Int(ERANGE) { continue }
            return Array(bytes.prefix(try checked("getxattr", "", count)))
        }
    }
}
