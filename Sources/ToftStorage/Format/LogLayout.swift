/// The log: a ring of segments inside the file, in which small commits become durable by one write.
/// The meta lists the segments.
///
/// A position counts the bytes that were ever logged under one salt; the ring holds position p at p
/// modulo its capacity. A frame begins at a multiple of 512 bytes and lies in one segment: where
/// the rest of a segment is too short, the next frame begins the next one.
///
/// ```
///   0  magic "TLOG"                4    kind: 1 record, 2 marker    4
///   8  length                      8    of header and payload; zeros follow to the next multiple
///   of 512 16  salt                        8    random, new with every recovery: frames of another
///   salt are none 24  position                    8    of this frame 32  sequence
///   8    one more than the frame before 40  version                     8    that this commit made
///   48  previous version            8    that it builds on 56  previous hash               8
///   the hash of the frame before 64  durable position            8    the log was durable up to
///   here when this frame was written 72  durable checkpoint          8    the newest version whose
///   meta was durable then 80  payload checksum            8    XXH64 of the payload 88  hash
///   8    XXH64 of the bytes before it 96  payload                          the commit record;
///   nothing in a marker
/// ```
/// A marker stands for a checkpoint-commit: the chain passes through it, and it proves that the
/// commit's meta was durable.
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
    /// Frames begin at multiples of this: what a disk writes whole.
    package static let unit = 512

    /// Each field with its name on the format page, for the test that holds the page against the
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
