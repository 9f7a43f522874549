/// Compares the newest meta with the log.
extension MetaPage {
    /// Makes sure that the meta of a file that was closed cleanly, and has not been written to
    /// since, is on the disk. The caller has the write lock, or is alone with the file.
    static func confirm(_ file: DataFile, _ coordinator: Coordinator) throws(StorageError) {
        guard let (meta, slot) = try newest(fromDevice: false, of: file) else {
            throw .noMeta
        }
        guard meta.isClosedCleanly else { return }
        try coordinator.orPoison { () throws(StorageError) in try file.sync() }
        guard try newest(fromDevice: true, of: file)?.meta != meta else {
            return try checkNewest(meta, slot, fromDevice: true, file)
        }
        // Its own write failed, after all else was synced.
        try coordinator.orPoison { () throws(StorageError) in
            try write(meta, slot: slot, to: file)
        }
    }

    /// A clean meta lists a log that is not read any more. That log knows the metas that were
    /// written after the log began anew.
    static func checkNewest(
        _ meta: Meta, _ slot: PageNumber, fromDevice: Bool, _ file: DataFile
    ) throws(StorageError) {
        guard meta.isClosedCleanly else { return }
        let isTwice =
            try read(slot: other(than: slot), fromDevice: fromDevice, of: file)
            == meta
        for segment in try segments(of: meta, isTwice: isTwice, file) {
            let map = LogRing(salt: 0, base: 0, segments: [segment])
            try LogContent(
                of: map, databaseID: meta.databaseID, evenIfClosed: true, fromDevice: fromDevice,
                of: file
            ).expectNoCheckpoint(after: meta.version)
        }
    }

    /// Possible places of a log that began after a clean meta.
    private static func segments(
        of meta: Meta, isTwice: Bool, _ file: DataFile
    ) throws(StorageError) -> [LogSegment] {
        // Both pages agree: not even damage to one of them has to be feared, only that both are
        // old. A later log begins with a marker in the first page, and each of its rounds with a
        // frame that names a newer checkpoint.
        if isTwice {
            return meta.logMap.segments.prefix(1).map { LogSegment(page: $0.page, pageCount: 1) }
        }
        if !meta.logMap.segments.isEmpty { return meta.logMap.segments }
        // The first meta of a new file, which had no log: if the file has grown since, a log may be
        // anywhere.
        let pages = try file.size() / UInt64(Page.size)
        guard pages > meta.pageCount else { return [] }
        return stride(
            from: Page.firstData.rawValue, to: pages, by: Int(LogLimit.grownPages)
        ).map {
            LogSegment(page: PageNumber($0), pageCount: min(LogLimit.grownPages, pages - $0))
        }
    }

    static func isNewest(_ meta: Meta, _ file: DataFile) throws(StorageError) -> Bool {
        try newest(fromDevice: false, of: file)?.meta == meta
    }
}
