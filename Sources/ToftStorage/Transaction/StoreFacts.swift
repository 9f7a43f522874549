/// Facts about an open database, sizes in bytes.
package struct StoreFacts: Sendable {
    /// The newest version.
    package var version: UInt64
    /// The oldest version that a reader, in any process, has pinned; the newest if there is none.
    package var oldestPinnedVersion: UInt64
    package var fileSize: UInt64
    /// Of it: free for reuse.
    package var freeSize: UInt64
}

extension Store {
    /// Looks the facts up. O(regions of the file).
    package func facts() throws(StorageError) -> StoreFacts {
        let oldest = try coordinator.pinnedVersions().first
        let snapshot = try beginRead()
        defer { snapshot.release() }
        return try facts(of: snapshot, oldestPinned: oldest)
    }

    private func facts(of snapshot: Snapshot, oldestPinned: UInt64?) throws(StorageError) -> StoreFacts {
        let size = try file.size()
        let pages = size / UInt64(Page.size)
        var free: UInt64 = 0
        for (index, region) in try FreeSpaceReader.regions(snapshot.root.directory, in: snapshot.space).enumerated() {
            let end = Page.first(ofRegion: index + 1)
            let beyond = end > pages ? min(end - pages, UInt64(Page.perRegion)) : 0
            free += UInt64(region.freePages) - min(beyond, UInt64(region.freePages))
        }
        return StoreFacts(
            version: snapshot.version, oldestPinnedVersion: min(oldestPinned ?? snapshot.version, snapshot.version), fileSize: size,
            freeSize: free * UInt64(Page.size))
    }
}
