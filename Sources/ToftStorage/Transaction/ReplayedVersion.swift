/// A version that was made again from a durable one and the log behind it. Any thread may read it.
struct ReplayedVersion: Sendable {
    let published: PublishedVersion
    let pages: PageReader

    /// Replays records, and writes the version's extents to the file; `isPrivate`: keeps them in
    /// memory and never touches the file, so that it needs no right to write. `pins` are versions
    /// that read-only attachments still read. Without records the version has the content of
    /// `meta`, but does not touch unlisted versions.
    init(
        _ records: [CommitRecord], after meta: Meta, as version: Version, of cache: PageCache,
        pins: [Version], besides unlisted: UnlistedVersions? = nil, dirtyLimit: Int,
        isPrivate: Bool = false
    ) throws(StorageError) {
        let store = try Store.aside(meta, cache, dirtyLimit: isPrivate ? .max : dirtyLimit)
        let transaction = try WriteTransaction(
            replayingIn: store, published: PublishedVersion(meta), version: version,
            pins: Set(pins + [meta.version]).sorted(), besides: unlisted, isPrivate: isPrivate)
        pages = transaction.pages.reader
        try Replay.apply(records, to: transaction)
        let builder = VersionBuilder(transaction)
        for record in records.dropLast() { try builder.keep(record.bytes, of: record.version) }
        if let last = records.last {
            let total = try last.bytes.withBytes { bytes throws(StorageError) in
                try RecordHeader.recordBytes(bytes)
            }
            published = try builder.build(last.bytes, total: total)
        } else {
            let (record, total) = transaction.finishRecord()
            published = try builder.build(record, total: total)
        }
        if !isPrivate { try transaction.pages.flush() }
    }
}

extension ReplayedVersion {
    /// The log behind the newest meta, replayed in memory; nil if it is empty or the newest meta is
    /// another one. `pins`: the earlier versions that the process reads.
    static func behind(_ version: Version, of cache: PageCache, pins: [Version])
        throws(StorageError) -> ReplayedVersion?
    {
        guard let meta = try MetaPage.newest(fromDevice: false, of: cache.file)?.meta,
            meta.version == version, !meta.isClosedCleanly
        else { return nil }
        let records: [CommitRecord]
        do throws(StorageError) {
            records = try LogContent(
                of: meta.logMap, databaseID: meta.databaseID, fromDevice: false, of: cache.file
            ).records(after: meta)
        } catch {
            // Unless somebody has recovered the file meanwhile.
            if try MetaPage.isNewest(meta, cache.file) { throw error }
            return nil
        }
        guard let last = records.last else { return nil }
        guard last.version > version else {
            throw .corrupt(
                page: meta.logMap.segments.first?.page ?? 0,
                reason: "the log has a commit of version \(last.version) behind version \(version)")
        }
        return try ReplayedVersion(
            records, after: meta, as: last.version, of: cache, pins: pins,
            // It must not hide a page of the file that others may use meanwhile.
            besides: UnlistedVersions(
                lifetime: meta.version..<last.version, newest: nil, pins: []),
            dirtyLimit: .max, isPrivate: true)
    }
}
