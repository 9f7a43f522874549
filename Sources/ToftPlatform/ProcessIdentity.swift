internal import CPlatform
internal import Glibc

/// A process, told apart from later ones with the same number.
package struct ProcessIdentity: Equatable, Sendable {
    package var pid: UInt64
    /// Ticks after boot; 0 where /proc does not say.
    package var startTime: UInt64
    /// Processes of other namespaces have numbers that mean nothing here.
    package var pidNamespace: UInt64
    package var bootID: (UInt64, UInt64)

    package init(
        pid: UInt64, startTime: UInt64, pidNamespace: UInt64, bootID: (UInt64, UInt64)
    ) {
        self.pid = pid
        self.startTime = startTime
        self.pidNamespace = pidNamespace
        self.bootID = bootID
    }

    package static func == (left: ProcessIdentity, right: ProcessIdentity) -> Bool {
        left.pid == right.pid && left.startTime == right.startTime && left.isComparable(with: right)
    }

    /// This process.
    package static func current() -> ProcessIdentity {
        let pid = UInt64(getpid())
        let namespace = (try? FilePath.identity(of: "/proc/self/ns/pid"))?.inode ?? 0
        return ProcessIdentity(
            pid: pid, startTime: startTime(of: pid) ?? 0, pidNamespace: namespace,
            bootID: currentBootID())
    }

    /// This process where no other is there to be told apart from: without what only /proc says,
    /// which takes longer than all else that a database in memory needs.
    package static func alone() -> ProcessIdentity {
        ProcessIdentity(pid: UInt64(getpid()), startTime: 0, pidNamespace: 0, bootID: (0, 0))
    }

    /// Whether it is certain that the process has ended. Where anything is unclear it counts as
    /// alive.
    package func hasEnded(seenBy observer: ProcessIdentity) -> Bool {
        guard pid != 0, pid <= Int32.max, isComparable(with: observer) else { return false }
        if platform_signal_probe(Int32(pid)) == -ESRCH { return true }
        guard startTime != 0, let now = Self.startTime(of: pid) else { return false }
        return now != startTime
    }

    private func isComparable(with other: ProcessIdentity) -> Bool {
        pidNamespace == other.pidNamespace && bootID == other.bootID
    }

    /// Field 22 of /proc/PID/stat, counted behind the name in parentheses, which may hold anything.
    private static func startTime(of pid: UInt64) -> UInt64? {
        guard let text = smallFile("/proc/\(pid)/stat"),
            let name = text.lastIndex(of: UInt8(ascii: ")"))
        else { return nil }
        let fields = text[(name + 1)...].split(separator: UInt8(ascii: " "))
        return fields.count > 19 ? UInt64(String(decoding: fields[19], as: UTF8.self)) : nil
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
