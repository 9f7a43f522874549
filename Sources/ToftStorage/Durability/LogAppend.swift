internal import ToftPlatform

/// A frame to be appended to the log: its place, and the way it is written.
struct LogAppend {
    let map: LogRing
    let frame: LogFrame
    let bytes: [UInt8]
    /// The log is durable up to here; later frames were deferred.
    let durable: LogPosition
    /// The log's end so far. A frame may begin later, if a segment had no room for it.
    let end: LogPosition

    /// The log behind the frame.
    var after: LogEnd { frame.after }

    init(
        map: LogRing, frame: LogFrame, bytes: [UInt8], durable: LogPosition, end: LogPosition
    ) {
        self.map = map
        self.frame = frame
        self.bytes = bytes
        self.durable = durable
        self.end = end
    }

    /// The marker of a checkpoint-commit whose meta is durable.
    init?(
        markerOf published: PublishedVersion, previousVersion: Version, map: LogRing,
        _ cipher: Cipher?
    ) throws(StorageError) {
        guard let start = map.start(of: UInt64(LogLayout.unit), from: published.log.position) else {
            return nil
        }
        self.map = map
        durable = published.log.position
        end = published.log.position
        var bytes: [UInt8] = []
        frame = try LogFrame(
            .marker, version: published.version, previousVersion: previousVersion,
            before: LogEnd(
                position: start, sequence: published.log.sequence, hash: published.log.hash),
            durablePosition: durable,
            durableCheckpoint: published.version, salt: map.salt, payload: [],
            cipher: cipher, into: &bytes)
        self.bytes = bytes
    }

    /// Writes the frame, visible to others; it becomes durable with a later one.
    func write(to file: DataFile) throws(StorageError) {
        guard let location = map.location(of: frame.before.position) else {
            throw .corrupt(page: 0, reason: "the log has no room for a frame")
        }
        try bytes.withBytes { bytes throws(StorageError) in
            try file.write(bytes, at: location.offset)
        }
    }

    /// Writes consecutive frames durably, after the deferred ones before them: oldest first, and
    /// adjacent ones at once.
    static func writeDurably(_ frames: [LogAppend], to file: DataFile) throws(StorageError) {
        guard let first = frames.first,
            let start = first.map.location(of: first.frame.before.position)
        else { return }
        let deferred = UnsyncedTail(
            map: first.map, from: first.durable,
            to: first.end)
        var bytes = try deferred.rewrite(to: file, upTo: start.offset)
        var offset = start.offset - UInt64(bytes.count)
        for frame in frames {
            guard let location = frame.map.location(of: frame.frame.before.position) else {
                continue
            }
            if location.offset != offset + UInt64(bytes.count) {
                try bytes.withBytes { bytes throws(StorageError) in
                    try file.writeDurably(bytes, at: offset)
                }
                bytes = []
                offset = location.offset
            }
            bytes += frame.bytes
        }
        try bytes.withBytes { bytes throws(StorageError) in try file.writeDurably(bytes, at: offset)
        }
    }
}

#if DEBUG || TOFT_TRIALS
extension LogAppend {
    /// Reads a frame back as a recovery will.
    static func checkBeforeWrite(_ bytes: [UInt8], salt: UInt64, _ cipher: Cipher?)
        throws(StorageError)
    {
        let isSound = try bytes.withBytes { bytes throws(StorageError) -> Bool in
            guard let base = bytes.baseAddress,
                let frame = LogFrame(validating: base, room: bytes.count, salt: salt)
            else { return false }
            if frame.kind == .marker { return true }
            return try frame.payload(at: base, cipher).withBytes { bytes throws(StorageError) in
                try CommitRecord(validating: bytes).forEach { _ in }
            }
        }
        if !isSound {
            throw .invalidPage(page: 0, kind: "log frame", reason: "its own reader refuses it")
        }
    }
}
#endif

/// The end of the log that was written but is not durable.
struct UnsyncedTail {
    let map: LogRing
    let from: LogPosition
    let to: LogPosition

    /// Writes it once more, durably, oldest first. A last piece that ends at file offset `joint` is
    /// returned instead, to be written together with the bytes that follow there.
    @discardableResult
    func rewrite(to file: DataFile, upTo joint: UInt64? = nil) throws(StorageError)
        -> [UInt8]
    {
        var position = from
        while position < to, let location = map.location(of: position) {
            let count = Int(min(location.room, to - position, 1 << 20))
            var piece = [UInt8](repeating: 0, count: count)
            let result: Result<Void, StorageError> = piece.withUnsafeMutableBytes { bytes in
                Result { () throws(StorageError) in try file.read(into: bytes, at: location.offset)
                }
            }
            try result.get()
            position += UInt64(count)
            if position == to, location.offset + UInt64(count) == joint { return piece }
            try piece.withBytes { bytes throws(StorageError) in
                try file.writeDurably(bytes, at: location.offset)
            }
        }
        return []
    }
}
