/// A version that was made again from a durable one and the log behind it: in memory, until
/// somebody flushes it.
///
/// When it has been made nothing changes it, so any thread may read it.
final class ReplayedVersion: @unchecked Sendable {
    let published: PublishedVersion
    private let transaction: WriteTransaction
    let space: PageSpace

    /// Replays records. `pins` are versions that read-only attachments still look at. Private
    /// versions never touch the file, so they may be made without the right to write.
    init(
        _ records: [CommitRecord], after meta: Meta, as version: UInt64, of file: MappedFile,
        pins: [UInt64], besides unlisted: UnlistedVersions? = nil, dirtyLimit: Int,
        isPrivate: Bool = false
    ) throws(StorageError) {
        let store = try Store.aside(meta, file, dirtyLimit: isPrivate ? .max : dirtyLimit)
        transaction = try WriteTransaction(
            store: store, published: PublishedVersion(meta), version: version,
            pins: Set(pins + [meta.version]).sorted(), besides: unlisted, isPrivate: isPrivate)
        space = transaction.space
        try Replay.apply(records, to: transaction)
        let builder = VersionBuilder(transaction)
        guard let last = records.last else {
            throw .corrupt(page: 0, reason: "there is nothing to replay")
        }
        for record in records.dropLast() { try builder.keep(record.bytes, of: record.version) }
        let total = try last.bytes.withBytes { bytes throws(StorageError) in
            try RecordHeader.recordBytes(bytes)
        }
        published = try builder.build(last.bytes, total: total)
    }

    /// Writes the version's extents to the file.
    func flush() throws(StorageError) {
        try space.flush()
    }
}
