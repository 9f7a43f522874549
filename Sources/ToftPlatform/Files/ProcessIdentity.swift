internal import CPlatform
internal import Glibc

/// A process, as identified by another one that wants to know whether it has ended.
///
/// Only its number counts: the time of its start differs between time namespaces, and changes when
/// a process is restored from a checkpoint. A later process with the same number makes an ended one
/// count as alive.
package struct ProcessIdentity: Sendable {
    package var pid: UInt64
    /// Processes of other namespaces have numbers that mean nothing here. 0: /proc does not say.
    package var pidNamespace: UInt64
    package var bootID: (UInt64, UInt64)

    package init(pid: UInt64, pidNamespace: UInt64, bootID: (UInt64, UInt64)) {
        self.pid = pid
        self.pidNamespace = pidNamespace
        self.bootID = bootID
    }

    /// This process.
    package static func current() -> ProcessIdentity {
        let namespace = (try? FilePath.identity(of: "/proc/self/ns/pid"))?.inode ?? 0
        return ProcessIdentity(
            pid: UInt64(getpid()), pidNamespace: namespace, bootID: currentBootID())
    }

    /// This process if no other has to be distinguished from it: without the parts that only /proc
    /// gives, which take longer than the rest of opening a database in memory.
    package static func alone() -> ProcessIdentity {
        ProcessIdentity(pid: UInt64(getpid()), pidNamespace: 0, bootID: (0, 0))
    }

    /// Whether it is certain that the process has ended. In doubt, the process counts as alive.
    package func hasEnded(seenBy observer: ProcessIdentity) -> Bool {
        guard pid != 0, pid <= Int32.max, pidNamespace != 0, bootID != (0, 0),
            pidNamespace == observer.pidNamespace, bootID == observer.bootID
        else { return false }
        return platform_signal_probe(Int32(pid)) == -ESRCH
    }

    private static func currentBootID() -> (UInt64, UInt64) {
        let digits = (smallFile("/proc/sys/kernel/random/boot_id") ?? []).filter {
            $0 != UInt8(ascii: "-") && $0 > 32
        }
        func half(_ range: Range<Int>) -> UInt64 {
            guard digits.count >= range.upperBound else { return 0 }
            return UInt64(String(decoding: digits[range], as: UTF8.self), radix: 16) ?? 0
        }
        return (half(0..<16), half(16..<32))
    }

    private static func smallFile(_ path: String) -> [UInt8]? {
        let descriptor = platform_open(path, O_RDONLY | O_CLOEXEC, 0)
        guard descriptor >= 0 else { return nil }
        defer { _ = platform_close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 2048)
        let count = bytes.withUnsafeMutableBytes {
            platform_read(descriptor, $0.baseAddress, $0.count)
        }
        return count >= 0 ? Array(bytes.prefix(count)) : nil
    }
}
