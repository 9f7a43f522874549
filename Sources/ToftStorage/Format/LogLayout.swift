/// The log: a ring of segments inside the file, in which small commits become durable by one write.
/// The meta lists the segments.
///
/// A position counts the bytes that were ever logged under one salt; the ring begins at the log's
/// base, so position p is at (p - base) modulo its capacity. A frame begins at a multiple of 512
/// bytes and is within one segment: if the rest of a segment is too short, the next frame begins
/// the next one.
///
/// A marker is the frame of a checkpoint-commit: the chain passes through it, and it proves that
/// the commit's meta was durable.
enum LogLayout {
    static let magic = 0
    static let kind = magic + 4
    static let length = kind + 4
    static let salt = length + 8
    static let position = salt + 8
    static let sequence = position + 8
    static let version = sequence + 8
    static let previousVersion = version + 8
    static let previousHash = previousVersion + 8
    static let durablePosition = previousHash + 8
    static let durableCheckpoint = durablePosition + 8
    static let payloadChecksum = durableCheckpoint + 8
    static let hash = payloadChecksum + 8
    static let payload = hash + 8

    static let magicWord: UInt32 = 0x474F_4C54
    /// Frames begin at multiples of this: a disk writes that much whole.
    package static let unit = 512

    /// Each field with its name on the format page, for the test that compares the page with the
    /// code.
    package static let fields: [(name: String, offset: Int)] = [
        ("magic", magic), ("kind", kind), ("length", length), ("salt", salt),
        ("position", position), ("sequence", sequence),
        ("version", version), ("previous version", previousVersion),
        ("previous hash", previousHash),
        ("durable position", durablePosition), ("durable checkpoint", durableCheckpoint),
        ("payload checksum", payloadChecksum),
        ("hash", hash), ("payload", payload),
    ]
}
