internal import ToftPlatform

extension Store {
    /// Takes over from a writer that died. Its meta, if it got that far, may or may not be durable:
    /// sync, then adopt it. A frame of the log that it did not live to publish is void, and gets
    /// overwritten.
    func takeOver() throws(StorageError) {
        Diagnostics.tell(
            .warn,
            "A process died in a write transaction of '\(path)', which is rolled back.")
        try coordinator.lockCheckpoint()
        defer { coordinator.unlockCheckpoint() }
        Failpoint.reach(.takeoverBegun)
        let published = coordinator.published
        guard let meta = try MetaPage.newest(fromDevice: false, of: file)?.meta,
            meta.version > published.version
        else { return }
        try coordinator.orPoison { () throws(StorageError) in try file.sync() }
        Failpoint.reach(.takeoverSynced)
        coordinator.claimVersions(upTo: meta.version)
        coordinator.setLog(meta.logMap, tail: meta.log.position)
        coordinator.setDurable(meta.version, logTail: meta.log.position)
        coordinator.publish(PublishedVersion(meta))
        Failpoint.reach(.takeoverPublished)
        coordinator.wake()
    }
}
