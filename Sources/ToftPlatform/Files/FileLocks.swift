internal import CPlatform
internal import Glibc

/// Locks of an open file description on single bytes of a file. They belong to the descriptor, not
/// to a thread or process: another descriptor of the same file in the same process conflicts with
/// them as another process does.
package struct FileLocks: Sendable {
    private let file: any StorageFile

    package init(file: any StorageFile) { self.file = file }

    /// Whether the locks are still held: they end with the descriptor.
    package var isIntact: Bool { (try? file.checkDescriptor()) != nil }

    /// Takes a byte for this descriptor alone, or turns its shared lock into an exclusive one.
    /// False if others hold it.
    package func takeExclusive(_ byte: Int64) throws(SystemError) -> Bool {
        try set(Int32(platform_lock_exclusive), byte)
    }

    /// Takes a byte together with others, or turns an exclusive lock into a shared one. False if
    /// another holds it exclusively.
    package func takeShared(_ byte: Int64) throws(SystemError) -> Bool {
        try set(Int32(platform_lock_shared), byte)
    }

    package func release(_ byte: Int64) { _ = try? set(Int32(platform_lock_none), byte) }

    /// Whether another descriptor holds a lock on the byte.
    package func isHeldByOthers(_ byte: Int64) throws(SystemError) -> Bool {
        try firstHeldByOthers(in: byte..<byte + 1) != nil
    }

    /// Whether other descriptors hold a lock on the byte that they share, or could share.
    package func isShared(_ byte: Int64) throws(SystemError) -> Bool {
        var found: (Int64, Int64) = (0, 0)
        return try check(platform_find_lock(file.lockDescriptor(), byte, 1, &found.0, &found.1))
            == Int32(platform_lock_shared)
    }

    /// Some range within `range` that another descriptor holds a lock on.
    package func firstHeldByOthers(in range: Range<Int64>) throws(SystemError) -> Range<Int64>? {
        var start: Int64 = 0
        var count: Int64 = 0
        let result = platform_find_lock(
            try file.lockDescriptor(), range.lowerBound, Int64(range.count), &start, &count)
        guard try check(result) != Int32(platform_lock_none) else { return nil }
        let (end, overflow) = start.addingReportingOverflow(count)
        return start..<(count == 0 || overflow ? .max : end)
    }

    private func set(_ kind: Int32, _ byte: Int64) throws(SystemError) -> Bool {
        let descriptor = try file.lockDescriptor()
        var result: Int32
        repeat { result = platform_lock(descriptor, kind, byte, 1) } while result == -EINTR
        if result == -EAGAIN { return false }
        try check(result)
        return true
    }

    @discardableResult
    private func check(_ result: Int32) throws(SystemError) -> Int32 {
        if Self.isMissing(result) {
            throw .unsupportedFileSystem(path: file.path, name: "one without file locks")
        }
        return try checked("fcntl", file.path, result)
    }

    /// Whether the result of a call says that the file system has no locks.
    static func isMissing(_ result: Int32) -> Bool {
        result == -ENOLCK || result == -ENOSYS || result == -EOPNOTSUPP || result == -EINVAL
    }
}
