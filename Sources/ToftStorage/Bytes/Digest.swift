/// The digest of a child's bytes in its parent: a checksum of 64 bits, or a MAC of 128 bits in an
/// encrypted file.
package struct Digest: Equatable, Sendable {
    package var low: UInt64
    package var high: UInt64

    package init(low: UInt64, high: UInt64 = 0) {
        self.low = low
        self.high = high
    }

    /// Bytes of an encoded digest.
    static let size = 16
    static let none = Digest(low: 0)

    init(decoding bytes: UnsafeRawPointer) {
        self.init(low: bytes.uint64(at: 0), high: bytes.uint64(at: 8))
    }

    func encode(to bytes: UnsafeMutableRawPointer) {
        bytes.storeUInt64(low, at: 0)
        bytes.storeUInt64(high, at: 8)
    }

    /// Compares two digests in a time that does not depend on their difference.
    @inline(never)
    func matches(_ other: Digest) -> Bool { (low ^ other.low) | (high ^ other.high) == 0 }
}

/// The part of an encrypted file's meta that concerns its key.
struct KeyHeader: Equatable, Sendable {
    /// Random, made with the file: no two files have the same keys.
    var fileID: Digest
    /// Tells the right key from others.
    var keyCheck: Digest
}
