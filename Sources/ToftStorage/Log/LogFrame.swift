/// One frame of the log whose header and payload have been checked. The only way to one from bytes
/// is `init(validating:)`.
struct LogFrame {
    enum Kind: UInt32 {
        case record = 1
        case marker = 2
    }

    var kind: Kind
    var salt: UInt64
    var version: Version
    var previousVersion: Version
    /// The log before this frame.
    var before: LogEnd
    var durablePosition: LogPosition
    var durableCheckpoint: Version
    /// Header and payload.
    var length: UInt64
    /// The frame's own hash, which the next one names.
    var hash: UInt64

    /// Bytes that a frame with such a payload takes in the log.
    ///
    /// - Parameter payload: bytes of it in the frame; in an encrypted file, `sealedLength`.
    static func paddedLength(payload: Int) -> UInt64 {
        let unit = UInt64(LogLayout.unit)
        return (UInt64(LogLayout.payload + payload) + unit - 1) / unit * unit
    }

    /// Bytes of a payload in a frame; in an encrypted file they include its MAC, which precedes it.
    static func sealedLength(payload: Int, _ cipher: Cipher?) -> Int {
        payload + (cipher == nil ? 0 : Digest.size)
    }

    /// The log behind this frame.
    var after: LogEnd {
        LogEnd(
            position: before.position + Self.paddedLength(payload: Int(length) - LogLayout.payload),
            sequence: before.sequence + 1, hash: hash)
    }

    // MARK: Reading

    /// Reads the header at `base`, with `room` bytes available; nil if it is not a frame's. The
    /// payload is not read.
    init?(header base: UnsafeRawPointer, room: Int) {
        guard room >= LogLayout.payload else { return nil }
        guard base.uint32(at: LogLayout.magic) == Int(LogLayout.magicWord),
            let kind = Kind(rawValue: UInt32(truncatingIfNeeded: base.uint32(at: LogLayout.kind))),
            Checksum.of(base, count: LogLayout.hash) == base.uint64(at: LogLayout.hash)
        else { return nil }
        self.kind = kind
        salt = base.uint64(at: LogLayout.salt)
        length = base.uint64(at: LogLayout.length)
        guard length >= LogLayout.payload, length <= room else { return nil }
        version = base.uint64(at: LogLayout.version)
        previousVersion = base.uint64(at: LogLayout.previousVersion)
        before = LogEnd(
            position: base.uint64(at: LogLayout.position),
            sequence: base.uint64(at: LogLayout.sequence),
            hash: base.uint64(at: LogLayout.previousHash))
        durablePosition = base.uint64(at: LogLayout.durablePosition)
        durableCheckpoint = base.uint64(at: LogLayout.durableCheckpoint)
        hash = base.uint64(at: LogLayout.hash)
        guard version < .limit, before.position < .limit, before.sequence < LogEnd.sequenceLimit
        else { return nil }
    }

    /// The frame at `base`, payload and all.
    init?(validating base: UnsafeRawPointer, room: Int, salt: UInt64) {
        guard room >= LogLayout.payload, base.uint64(at: LogLayout.salt) == salt else { return nil }
        self.init(header: base, room: room)
        let payload = UnsafeRawBufferPointer(
            start: base + LogLayout.payload, count: Int(length) - LogLayout.payload)
        guard
            base.uint64(at: LogLayout.payloadChecksum)
                == Checksum.of(payload)
        else {
            return nil
        }
    }

    /// The payload of the existing and validated frame at `base`, decrypted in an encrypted file.
    ///
    /// - Throws: `corrupt` if the frame was not written with the key of the file.
    func payload(at base: UnsafeRawPointer, _ cipher: Cipher?) throws(StorageError) -> [UInt8] {
        let payload = UnsafeRawBufferPointer(
            start: base + LogLayout.payload, count: Int(length) - LogLayout.payload)
        guard let cipher else { return Array(payload) }
        return try cipher.open(payload, of: Self.authenticated(base))
    }

    /// The part of a header that is authenticated with the payload.
    private static func authenticated(_ base: UnsafeRawPointer) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: base, count: LogLayout.payloadChecksum)
    }

    // MARK: Writing

    /// Makes the bytes of a frame, padded with zeros.
    init(
        _ kind: Kind, version: Version, previousVersion: Version, before: LogEnd,
        durablePosition: LogPosition, durableCheckpoint: Version,
        salt: UInt64, payload: [UInt8], cipher: Cipher? = nil, into bytes: inout [UInt8]
    ) throws(StorageError) {
        self.kind = kind
        self.salt = salt
        self.version = version
        self.previousVersion = previousVersion
        self.before = before
        self.durablePosition = durablePosition
        self.durableCheckpoint = durableCheckpoint
        let sealedLength = Self.sealedLength(payload: payload.count, cipher)
        length = UInt64(LogLayout.payload + sealedLength)
        hash = 0
        let start = bytes.count
        let end = start + Int(Self.paddedLength(payload: sealedLength))
        bytes.reserveCapacity(end)
        bytes.append(
            contentsOf: repeatElement(0, count: LogLayout.payload + sealedLength - payload.count))
        bytes.append(contentsOf: payload)
        bytes.append(contentsOf: repeatElement(0, count: end - bytes.count))
        let length = length
        let result: Result<UInt64, StorageError> = bytes.withUnsafeMutableBytes { buffer in
            guard let header = buffer.baseAddress.map({ $0 + start }) else { return .success(0) }
            header.storeUInt32(Int(LogLayout.magicWord), at: LogLayout.magic)
            header.storeUInt32(Int(kind.rawValue), at: LogLayout.kind)
            header.storeUInt64(length, at: LogLayout.length)
            header.storeUInt64(salt, at: LogLayout.salt)
            header.storeUInt64(before.position, at: LogLayout.position)
            header.storeUInt64(before.sequence, at: LogLayout.sequence)
            header.storeUInt64(version, at: LogLayout.version)
            header.storeUInt64(previousVersion, at: LogLayout.previousVersion)
            header.storeUInt64(before.hash, at: LogLayout.previousHash)
            header.storeUInt64(durablePosition, at: LogLayout.durablePosition)
            header.storeUInt64(durableCheckpoint, at: LogLayout.durableCheckpoint)
            let payload = UnsafeMutableRawBufferPointer(
                start: header + LogLayout.payload, count: sealedLength)
            do throws(StorageError) {
                try cipher?.seal(payload, of: Self.authenticated(header.reading))
            } catch {
                return .failure(error)
            }
            let checksum = Checksum.of(UnsafeRawBufferPointer(payload))
            header.storeUInt64(checksum, at: LogLayout.payloadChecksum)
            let hash = Checksum.of(header.reading, count: LogLayout.hash)
            header.storeUInt64(hash, at: LogLayout.hash)
            return .success(hash)
        }
        hash = try result.get()
    }
}
