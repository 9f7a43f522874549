internal import ToftPlatform

/// One frame of the log whose header and payload have been checked. The only way to one from bytes
/// is `init(validating:)`.
struct LogFrame {
    enum Kind: UInt32 {
        case record = 1
        case marker = 2
    }

    var kind: Kind
    var version: UInt64
    var previousVersion: UInt64
    /// The log before this frame.
    var before: LogPoint
    var durablePosition: UInt64
    var durableCheckpoint: UInt64
    /// Header and payload.
    var length: UInt64
    /// The frame's own hash, which the next one names.
    var hash: UInt64

    /// Bytes that a frame with such a payload takes in the log.
    static func paddedLength(payload: Int) -> UInt64 {
        let unit = UInt64(LogLayout.unit)
        return (UInt64(LogLayout.payload + payload) + unit - 1) / unit * unit
    }

    /// The log behind this frame.
    var after: LogPoint {
        LogPoint(
            position: before.position + Self.paddedLength(payload: Int(length) - LogLayout.payload),
            sequence: before.sequence + 1, hash: hash)
    }

    // MARK: Reading

    /// What the header at `base` says, of which `room` bytes are there; nil if it is none of this
    /// salt, where one is asked for. The payload is not looked at.
    init?(header base: UnsafeRawPointer, room: Int, salt: UInt64?) {
        guard room >= LogLayout.payload else { return nil }
        func word(_ offset: Int) -> UInt64 {
            UInt64(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
        func half(_ offset: Int) -> UInt32 {
            UInt32(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
        }
        guard half(LogLayout.magic) == LogLayout.magicWord,
            salt == nil || word(LogLayout.salt) == salt,
            let kind = Kind(rawValue: half(LogLayout.kind)),
            Checksum.of(base, count: LogLayout.hash) == word(LogLayout.hash)
        else { return nil }
        self.kind = kind
        length = word(LogLayout.length)
        guard length >= LogLayout.payload, length <= room else { return nil }
        version = word(LogLayout.version)
        previousVersion = word(LogLayout.previousVersion)
        before = LogPoint(
            position: word(LogLayout.position), sequence: word(LogLayout.sequence),
            hash: word(LogLayout.previousHash))
        durablePosition = word(LogLayout.durablePosition)
        durableCheckpoint = word(LogLayout.durableCheckpoint)
        hash = word(LogLayout.hash)
        guard version < Version.limit, before.position < Version.limit,
            before.sequence < Version.limit
        else { return nil }
    }

    /// The frame at `base`, payload and all.
    init?(validating base: UnsafeRawPointer, room: Int, salt: UInt64) {
        self.init(header: base, room: room, salt: salt)
        let payload = UnsafeRawBufferPointer(
            start: base + LogLayout.payload, count: Int(length) - LogLayout.payload)
        guard
            UInt64(
                littleEndian: base.loadUnaligned(
                    fromByteOffset: LogLayout.payloadChecksum, as: UInt64.self))
                == Checksum.of(payload)
                || Probe.makes(.tornRecordBelieved)
        else {
            return nil
        }
    }

    // MARK: Writing

    /// Makes the bytes of a frame, padded with zeros.
    init(
        _ kind: Kind, version: UInt64, previousVersion: UInt64, before: LogPoint,
        durablePosition: UInt64, durableCheckpoint: UInt64,
        salt: UInt64, payload: [UInt8], into bytes: inout [UInt8]
    ) {
        self.kind = kind
        self.version = version
        self.previousVersion = previousVersion
        self.before = before
        self.durablePosition = durablePosition
        self.durableCheckpoint = durableCheckpoint
        length = UInt64(LogLayout.payload + payload.count)
        hash = 0
        let start = bytes.count
        let end = start + Int(Self.paddedLength(payload: payload.count))
        bytes.reserveCapacity(end)
        bytes.append(contentsOf: repeatElement(0, count: LogLayout.payload))
        bytes.append(contentsOf: payload)
        bytes.append(contentsOf: repeatElement(0, count: end - bytes.count))
        let checksum = payload.withUnsafeBytes { Checksum.of($0) }
        let length = length
        hash = bytes.withUnsafeMutableBytes { buffer in
            let header = UnsafeMutableRawBufferPointer(
                rebasing: buffer[start..<(start + LogLayout.payload)])
            func put(_ value: UInt64, _ offset: Int) {
                header.storeBytes(of: value.littleEndian, toByteOffset: offset, as: UInt64.self)
            }
            header.storeBytes(
                of: LogLayout.magicWord.littleEndian, toByteOffset: LogLayout.magic, as: UInt32.self
            )
            header.storeBytes(
                of: kind.rawValue.littleEndian, toByteOffset: LogLayout.kind, as: UInt32.self)
            put(length, LogLayout.length)
            put(salt, LogLayout.salt)
            put(before.position, LogLayout.position)
            put(before.sequence, LogLayout.sequence)
            put(version, LogLayout.version)
            put(previousVersion, LogLayout.previousVersion)
            put(before.hash, LogLayout.previousHash)
            put(durablePosition, LogLayout.durablePosition)
            put(durableCheckpoint, LogLayout.durableCheckpoint)
            put(checksum, LogLayout.payloadChecksum)
            let hash = Checksum.of(UnsafeRawBufferPointer(rebasing: header[..<LogLayout.hash]))
            put(hash, LogLayout.hash)
            return hash
        }
    }
}
