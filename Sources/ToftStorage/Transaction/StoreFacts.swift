/// Facts about an open database, sizes in bytes.
package struct StoreFacts: Sendable {
    /// The newest version.
    package var version: Version
    /// The oldest version that a reader, in any process, has pinned; the newest if there is none.
    package var oldestPinnedVersion: Version
    package var fileSize: UInt64
    /// Of it: free for reuse.
    package var freeSize: UInt64
    /// Of it: the log.
    package var logSize: UInt64
    /// The version of the newest checkpoint: what was committed since is in the log.
    package var checkpointVersion: Version
    /// Bytes of the log that a crash of the machine may lose: deferred commits. 0: every commit is
    /// durable.
    package var deferredSize: UInt64
}

extension Store {
    /// Looks the facts up. O(regions of the file).
    package func facts() throws(StorageError) -> StoreFacts {
        let oldest = try coordinator.pinnedVersions().first
        let checkpoint =
            isReadOnly
            ? try MetaPage.newest(fromDevice: false, of: file)?.meta.version ?? 0
            : coordinator.durableVersion
        let deferred = deferredSize(after: checkpoint)
        let snapshot = try beginRead()
        defer { snapshot.release() }
        return StoreFacts(
            version: snapshot.version,
            oldestPinnedVersion: min(oldest ?? snapshot.version, snapshot.version),
            fileSize: try file.size(),
            freeSize: try freeSize(of: snapshot),
            logSize: try logSegments().reduce(0) { $0 + $1.byteCount },
            checkpointVersion: min(checkpoint, snapshot.version), deferredSize: deferred)
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
