internal import ToftPlatform

/// The pins of read-only openers. They write nothing, not even a lock file (they may not be allowed
/// to), so the kernel keeps their pins: a shared lock on the version's byte of the data file.
///
/// To pin: read which version is the newest, lock its byte, check that it is still the newest. A
/// writer publishes, then queries the kernel. So either the reader sees the new version, or the
/// writer sees the lock. A killed reader's locks end with it.
final class ReadOnlyAttachments: Sendable {
    /// Nil if nobody writes meanwhile.
    private let locks: FileLocks?
    /// The version that would be pinned now.
    private let newest: @Sendable () throws(StorageError) -> Pin
    /// The words of the participants; nil without participants.
    let participants: @Sendable () throws(StorageError) -> SharedWords?
    private let counts = FutexMutex<[Version: Int]>([:])

    init(
        locks: FileLocks?,
        participants: @escaping @Sendable () throws(StorageError) -> SharedWords?,
        newest: @escaping @Sendable () throws(StorageError) -> Pin
    ) {
        self.locks = locks
        self.participants = participants
        self.newest = newest
    }

    func latest() throws(StorageError) -> Pin { try newest() }

    func pinLatest() throws(StorageError) -> Pin {
        try counts.withLock { counts throws(StorageError) in
            while true {
                let pin = try newest()
                let version = pin.published.version
                if let count = counts[version] {
                    counts[version] = count + 1
                    return pin
                }
                let byte = LockByte.readOnlyPin(version)
                if let locks, try !system(locks.takeShared(byte)) { throw .tooManyReaders }
                do throws(StorageError) {
                    if try newest().published.version == version {
                        counts[version] = 1
                        return pin
                    }
                } catch {
                    locks?.release(byte)
                    throw error
                }
                locks?.release(byte)
            }
        }
    }

    func unpin(_ version: Version) {
        counts.withLock { counts in
            guard let count = counts[version] else { return }
            counts[version] = count > 1 ? count - 1 : nil
            if count == 1 { locks?.release(LockByte.readOnlyPin(version)) }
        }
    }

    func leave() {
        counts.withLock { counts in
            for version in counts.keys { locks?.release(LockByte.readOnlyPin(version)) }
            counts = [:]
        }
    }

    /// The versions that this process has pinned as a read-only attachment.
    var own: [Version] { counts.withLock { Array($0.keys) } }

    /// The versions that read-only attachments, of all processes, have pinned.
    static func versions(_ locks: FileLocks) throws(StorageError) -> [Version] {
        var versions: [Version] = []
        var ranges = [LockByte.readOnlyPins]
        while let range = ranges.popLast() {
            guard !range.isEmpty, let found = try system(locks.firstHeldByOthers(in: range)) else {
                continue
            }
            let held = found.clamped(to: range)
            // A lock of ours covers one byte. Were it more, its first version is the one that holds
            // up everything.
            versions.append(LockByte.pinnedVersion(held.lowerBound))
            ranges.append(range.lowerBound..<held.lowerBound)
            ranges.append(held.upperBound..<range.upperBound)
        }
        return versions
    }
}
