/// The content of an extent. Raw values are format.
package enum ExtentType: UInt8, Sendable {
    case meta = 1
    case root = 2
    case regionDirectory = 3
    case bitmap = 4
    case batchList = 5
    case freedBatch = 6
    case treeInner = 7
    case orderedLeaf = 8
    case sequenceLeaf = 9
    case cluster = 10
    case blob = 11

    /// Whether it is a leaf of a tree.
    var isLeaf: Bool { self == .orderedLeaf || self == .sequenceLeaf || self == .cluster }
}

/// A parent's reference to an extent: its page, the version of its birth and the digest of its
/// bytes.
///
/// `(page, birth)` names one content for ever, so a verified extent need not be verified again.
/// While an extent is being written its `checksum` is 0; the commit computes it.
package struct Ref: Hashable, Sendable {
    package var page: PageNumber
    package var birth: Version
    package var checksum: UInt64
    /// The other half of a 128-bit MAC; 0 in plain files.
    var checksumHigh: UInt64
    package var pageCount: UInt32

    package init(
        page: PageNumber, birth: Version, checksum: UInt64, checksumHigh: UInt64 = 0,
        pageCount: UInt32
    ) {
        self.page = page
        self.birth = birth
        self.checksum = checksum
        self.checksumHigh = checksumHigh
        self.pageCount = pageCount
    }
}

extension Ref {
    /// The digest that the extent's bytes are compared with: the checksum, or the MAC of an
    /// encrypted file.
    var digest: Digest {
        get { Digest(low: checksum, high: checksumHigh) }
        set {
            checksum = newValue.low
            checksumHigh = newValue.high
        }
    }

    /// Bytes of an encoded reference.
    package static let size = 40

    /// Reads a reference; the caller has checked that `size` bytes exist. Its values are unchecked
    /// until an extent is viewed through it.
    package init(decoding bytes: UnsafeRawPointer) {
        page = bytes.uint64(at: 0)
        birth = bytes.uint64(at: 8)
        checksum = bytes.uint64(at: 16)
        checksumHigh = bytes.uint64(at: 24)
        pageCount = UInt32(truncatingIfNeeded: bytes.uint32(at: 32))
    }

    /// Reads nothing but the birth version of a reference.
    static func birth(decoding bytes: UnsafeRawPointer) -> Version {
        bytes.uint64(at: 8)
    }

    /// Writes the reference into `size` bytes.
    package func encode(to bytes: UnsafeMutableRawPointer) {
        bytes.storeUInt64(page, at: 0)
        bytes.storeUInt64(birth, at: 8)
        bytes.storeUInt64(checksum, at: 16)
        bytes.storeUInt64(checksumHigh, at: 24)
        bytes.storeUInt32(Int(pageCount), at: 32)
        bytes.storeUInt32(0, at: 36)
    }
}

extension Ref {
    /// The reference to an extent that was viewed, without its digest.
    @inline(__always)
    init(viewed base: UnsafeRawPointer) {
        self.init(
            page: ExtentHeader.page(of: base), birth: base.uint64(at: ExtentHeader.birth),
            checksum: 0,
            pageCount: UInt32(truncatingIfNeeded: base.uint32(at: ExtentHeader.pageCount)))
    }

    /// The reference in a cell or an element whose value is in a blob. `page` names the extent of
    /// `bytes` in an error.
    init(blob bytes: UnsafeRawBufferPointer, page: PageNumber) throws(StorageError) {
        guard let base = bytes.baseAddress, bytes.count == Ref.size else {
            throw .corrupt(page: page, reason: "a reference of the wrong size")
        }
        self.init(decoding: base)
    }
}
