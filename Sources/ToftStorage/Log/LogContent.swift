/// The frames of a log, read whole: for recovery, and for readers of a file that was not
/// recovered.
struct LogContent {
    private let map: LogRing
    private let databaseID: (UInt64, UInt64)
    private let cipher: Cipher?
    /// The bytes of the segments, one after the other.
    private let bytes: [UInt8]

    /// Reads the log; that of a file which was closed cleanly is empty, unless its earlier content
    /// is requested.
    init(
        of map: LogRing, databaseID: (UInt64, UInt64), evenIfClosed: Bool = false, fromDevice: Bool,
        of file: DataFile
    ) throws(StorageError) {
        self.map = map
        self.databaseID = databaseID
        cipher = file.cipher
        guard map.salt != 0 || evenIfClosed else {
            bytes = []
            return
        }
        var bytes = [UInt8](repeating: 0, count: Int(map.capacity))
        var start = 0
        for segment in map.segments {
            let end = start + Int(segment.byteCount)
            let result: Result<Void, StorageError> = bytes.withUnsafeMutableBytes { all in
                Result { () throws(StorageError) in
                    let part = UnsafeMutableRawBufferPointer(rebasing: all[start..<end])
                    if fromDevice {
                        try file.readFromDevice(into: part, at: segment.page.byteOffset)
                    } else {
                        try file.read(into: part, at: segment.page.byteOffset)
                    }
                }
            }
            try result.get()
            start = end
        }
        self.bytes = bytes
    }

    /// The records of the commits behind a meta, oldest first: up to the first frame that does not
    /// follow.
    ///
    /// - Throws: `corrupt` if a frame proves that durable bytes are missing: of the log, or a newer
    ///   meta. A missing last frame looks like one that was never written whole.
    func records(after meta: Meta) throws(StorageError) -> [CommitRecord] {
        let (records, point, damage) = chain(after: meta)
        if let damage { throw damage }
        // A lost meta may have begun the log anew, with another salt.
        try expectNoCheckpoint(after: meta.version)
        try forEachHeader { frame throws(StorageError) in
            if frame.salt == map.salt, frame.durablePosition > point.position, isInPlace(frame) {
                throw .corrupt(
                    page: page(of: point.position),
                    reason:
                        "the log ends at position \(point.position), but was durable up to "
                        + "\(frame.durablePosition): commits are lost"
                )
            }
        }
        return records
    }

    /// The records of a log that may be damaged, up to the damage, and the error.
    func readableRecords(after meta: Meta) -> (records: [CommitRecord], damage: StorageError?) {
        do throws(StorageError) {
            return (try records(after: meta), nil)
        } catch {
            return (chain(after: meta).records, error)
        }
    }

    /// The records behind a meta, the end of the last one, and the damage that ends them, if any.
    private func chain(after meta: Meta) -> (
        records: [CommitRecord], end: LogEnd, damage: StorageError?
    ) {
        var records: [CommitRecord] = []
        var point = meta.log
        var version = meta.version
        do throws(StorageError) {
            while let frame = next(after: point, version) {
                if frame.kind == .record {
                    records.append(try record(of: frame))
                    version = frame.version
                } else {
                    if cipher != nil { _ = try payload(of: frame) }
                    if frame.version != version { throw Self.lostMeta(frame.version) }
                }
                point = frame.after
            }
        } catch {
            return (records, point, error)
        }
        return (records, point, nil)
    }

    /// Looks for proof, in frames of any log of this database, that a later meta was durable.
    func expectNoCheckpoint(after version: Version) throws(StorageError) {
        try forEachHeader { frame throws(StorageError) in
            if frame.durableCheckpoint > version, LogRing.isSalt(frame.salt, of: databaseID) {
                throw Self.lostMeta(frame.durableCheckpoint)
            }
        }
    }

    /// The highest version that any frame names.
    func highestVersion() -> Version {
        var highest: Version = 0
        forEachHeader { frame in
            if frame.salt == map.salt { highest = max(highest, frame.version) }
        }
        return highest
    }

    private static func lostMeta(_ version: Version) -> StorageError {
        .corrupt(
            page: 0,
            reason: "the log knows a checkpoint of version \(version), but no meta page holds it")
    }

    // MARK: Frames

    /// The next frame: of several, that of the highest version. A writer that died may have left an
    /// unpublished one. The next frame begins at the same position and overwrites it; but if it had
    /// no room there and begins a later segment, both exist.
    private func next(after point: LogEnd, _ version: Version) -> LogFrame? {
        var newest: LogFrame?
        // A frame without room at the end of a segment begins a later one, perhaps behind one that
        // is too short.
        var position = point.position
        for _ in 0...map.segments.count {
            if let frame = frame(at: position, after: point, version),
                frame.version > newest?.version ?? 0
            {
                newest = frame
            }
            guard let location = map.location(of: position) else { break }
            position += location.room
        }
        return newest
    }

    private func frame(at position: LogPosition, after point: LogEnd, _ version: Version)
        -> LogFrame?
    {
        guard let location = map.location(of: position), capacity > 0 else { return nil }
        let offset = Int((position - map.base) % capacity)
        return bytes.withUnsafeBytes { bytes -> LogFrame? in
            // The payload is long: a frame that does not follow is known by its header.
            guard let base = bytes.baseAddress.map({ $0 + offset }),
                let frame = LogFrame(header: base, room: Int(location.room)),
                frame.before.position == position, frame.before.sequence == point.sequence,
                frame.before.hash == point.hash,
                // A marker of an earlier version is void: its writer died before it published, and
                // the next checkpoint-commit died before it wrote its own.
                frame.kind == .marker
                    ? frame.version >= version : frame.previousVersion == version
            else { return nil }
            return LogFrame(validating: base, room: Int(location.room), salt: map.salt)
        }
    }

    private var capacity: UInt64 { UInt64(bytes.count) }

    private func record(of frame: LogFrame) throws(StorageError) -> CommitRecord {
        try payload(of: frame).withBytes { bytes throws(StorageError) in
            try CommitRecord(validating: bytes)
        }
    }

    private func payload(of frame: LogFrame) throws(StorageError) -> [UInt8] {
        let start = Int((frame.before.position - map.base) % capacity)
        return try bytes.withBytes { bytes throws(StorageError) in
            guard let base = bytes.baseAddress else { return [] }
            return try frame.payload(at: base + start, cipher)
        }
    }

    private func forEachHeader<Failure>(_ body: (LogFrame) throws(Failure) -> Void)
        throws(Failure)
    {
        var start = 0
        for segment in map.segments where start < bytes.count {
            let end = start + Int(segment.byteCount)
            for offset in stride(from: start, to: end, by: LogLayout.unit) {
                let frame = bytes.withUnsafeBytes { bytes in
                    bytes.baseAddress.flatMap {
                        LogFrame(header: $0 + offset, room: .max)
                    }
                }
                if let frame { try body(frame) }
            }
            start = end
        }
    }

    /// True if a frame is at the place of its position: not so in remains from before the ring got
    /// its present segments.
    private func isInPlace(_ frame: LogFrame) -> Bool { frame.before.position >= map.base }

    private func page(of position: LogPosition) -> PageNumber {
        PageNumber(ofByte: map.location(of: position)?.offset ?? 0)
    }
}
