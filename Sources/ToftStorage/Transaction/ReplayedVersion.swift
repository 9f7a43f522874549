/// A version that was made again from a durable one and the log behind it. Any thread may read it.
struct ReplayedVersion: Sendable {
    let published: PublishedVersion
    let pages: PageReader

    /// Replays records, and writes the version's extents to the file; `isPrivate`: keeps them in
    /// memory and never touches the file, so that it needs no right to write. `pins` are versions
    /// that read-only attachments still read. Without records the version has the content of
    /// `meta`, but does not touch unlisted versions.
    init(
        _ records: [CommitRecord], after meta: Meta, as version: Version, of file: MappedFile,
        pins: [Version], besides unlisted: UnlistedVersions? = nil, dirtyLimit: Int,
        isPrivate: Bool = false
    ) throws(StorageError) {
        let store = try Store.aside(meta, file, dirtyLimit: isPrivate ? .max : dirtyLimit)
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
