/// Facts about an open database, sizes in bytes.
package struct StoreFacts: Sendable {
    /// The newest version.
    package var version: Version
    /// The oldest version that a reader, in any process, has pinned; otherwise the newest.
    package var oldestPinnedVersion: Version
    package var fileSize: UInt64
    /// Of it: free for reuse.
    package var freeSize: UInt64
    /// Of it: freed, but some version that is read needs it, or the newest checkpoint.
    package var heldSize: UInt64
    /// Of it: the log.
    package var logSize: UInt64
    /// The version of the newest checkpoint: later commits are in the log.
    package var checkpointVersion: Version
    /// Bytes of the log that a crash of the machine may lose: deferred commits. 0: every commit is
    /// durable.
    package var deferredSize: UInt64
}

/// A version that a process reads.
package struct VersionPin: Sendable, Equatable {
    package var version: Version
    /// Nil for another process that has the file open for reading only: the kernel does not name
    /// it.
    package var processID: UInt64?
    /// Bytes that the version needs and the newest one does not.
    package var heldSize: UInt64
    /// Nanoseconds since the process pinned it; nil if unknown, for a process that has the file
    /// open for reading only, even this one.
    package var age: Int64?
}

extension StoreFacts {
    /// Bytes of the file that belong to the newest version.
    package var liveSize: UInt64 {
        fileSize - min(fileSize, freeSize + heldSize + logSize)
    }
}

extension Store {
    /// Looks the facts up. O(regions of the file + freed runs).
    package func facts() throws(StorageError) -> StoreFacts {
        let oldest = try coordinator.pinnedVersions().first
        let checkpoint =
            isReadOnly
            ? try MetaPage.newest(fromDevice: false, of: file)?.meta.version ?? 0
            : coordinator.durableVersion
        let deferred = deferredSize(after: checkpoint)
        let snapshot = try beginRead()
        defer { snapshot.release() }
        let freed = try snapshot.freedRuns()
        let pins = try coordinator.pins().map(\.version) + [checkpoint]
        let held = freed.reduce(0) { sum, run in
            pins.contains { run.birth <= $0 && $0 < run.death } ? sum + run.size : sum
        }
        return StoreFacts(
            version: snapshot.version,
            oldestPinnedVersion: min(oldest ?? snapshot.version, snapshot.version),
            fileSize: try file.size(),
            freeSize: try freeSize(of: snapshot) + freed.reduce(0) { $0 + $1.size } - held,
            heldSize: held,
            logSize: try logSegments().reduce(0) { $0 + $1.byteCount },
            checkpointVersion: min(checkpoint, snapshot.version), deferredSize: deferred)
    }

    /// The versions that are read, ascending, once for each process that reads them. O(freed runs +
    /// pins).
    package func versionPins() throws(StorageError) -> [VersionPin] {
        try checkProcess()
        let found = try coordinator.pins()
        let snapshot = try beginRead()
        defer { snapshot.release() }
        let freed = try snapshot.freedRuns()
        var pins: [VersionPin] = []
        for pin in found {
            if let last = pins.last, last.version == pin.version {
                pins.append(
                    VersionPin(
                        version: pin.version, processID: pin.processID, heldSize: last.heldSize,
                        age: pin.age))
                continue
            }
            let held = freed.reduce(0) { sum, run in
                run.birth <= pin.version && pin.version < run.death ? sum + run.size : sum
            }
            pins.append(
                VersionPin(
                    version: pin.version, processID: pin.processID, heldSize: held, age: pin.age))
        }
        return pins
    }

    private func deferredSize(after checkpoint: Version) -> UInt64 {
        let published = coordinator.published
        return published.version > checkpoint
            ? published.log.position - coordinator.durableLog(of: published) : 0
    }

    private func freeSize(of snapshot: Snapshot) throws(StorageError) -> UInt64 {
        let size = try file.size()
        let pages = size / UInt64(Page.size)
        var free = try RootPayload.runs(of: snapshot.rootRef, in: snapshot.pages).reduce(0) {
            $0 + ($1.isReclaimable ? UInt64($1.count) : 0)
        }
        for (index, region) in try FreeSpaceReader.regions(
            snapshot.root.directory, in: snapshot.pages
        ).enumerated() {
            let end = Page.first(ofRegion: index + 1).rawValue
            let beyond = end > pages ? min(end - pages, UInt64(Page.perRegion)) : 0
            free += UInt64(region.freePages) - min(beyond, UInt64(region.freePages))
        }
        return free * UInt64(Page.size)
    }
}

extension FreeSpace.Run {
    /// In bytes.
    fileprivate var size: UInt64 { UInt64(count) * UInt64(Page.size) }
}
