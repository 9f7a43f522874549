/// The grid of the file: 4 KiB pages, two meta pages, then regions of pages that one bitmap page
/// describes.
package enum Page {
    package static let size = 4096
    /// Pages 0 and 1 are metas.
    static let firstData: PageNumber = 2
    /// One bitmap page, less its header, describes this many pages; an extent never straddles two
    /// regions.
    package static let perRegion = (size - bitmapHeaderSize) * 8
    static let bitmapHeaderSize = 64

    /// The region of a data page; the caller has checked that it is one.
    @inline(__always)
    static func region(of page: PageNumber) -> Int { Int((page &- firstData) / UInt64(perRegion)) }

    /// The page's index within its region.
    @inline(__always)
    static func indexInRegion(_ page: PageNumber) -> Int {
        Int((page &- firstData) % UInt64(perRegion))
    }

    /// True if `count` pages, at least one, from `page` on are data pages of one region.
    static func isRun(_ page: PageNumber, count: UInt32) -> Bool {
        page >= firstData && page.rawValue < ExtentLimit.filePages && count > 0
            && Int(count) <= perRegion - indexInRegion(page)
    }

    static func first(ofRegion region: Int) -> PageNumber {
        firstData + UInt64(region) * UInt64(perRegion)
    }
}

/// Limits of extents, related in one place.
enum ExtentLimit {
    /// Pages of an extent that carries a table of its pages' checksums.
    package static let pages = 128
    /// Bytes of the longest value.
    static let blobBytes = 16 * 1024 * 1024
    /// Pages of the longest blob.
    static let blobPages = (blobBytes + ExtentHeader.size + Page.size - 1) / Page.size
    /// Regions of the largest file (1.29 TiB): the directory of regions is one extent.
    static let regions = (pages * Page.size - 2 * Page.size) / RegionEntry.size
    /// Pages of the largest file.
    static let filePages = Page.first(ofRegion: regions).rawValue
}

/// One entry of the directory of regions: the position of the region's bitmap and the number of its
/// free pages.
enum RegionEntry {
    static let bitmap = 0
    static let freePages = bitmap + Ref.size
    static let reserved = freePages + 4
    static let size = reserved + 4
}

/// The first 32 bytes of every extent.
///
/// The table of checksums (8 bytes a page) exists in extents of several pages, except blobs, which
/// are verified whole.
enum ExtentHeader {
    static let type = 0
    static let encoding = type + 1
    static let flags = encoding + 1
    static let pageCount = flags + 2
    static let page = pageCount + 4
    static let birth = page + 8
    static let payloadLength = birth + 8
    static let payloadOffset = payloadLength + 4
    package static let size = payloadOffset + 4
    /// Bytes of one entry of the table of checksums.
    static let checksumSize = 8
    /// `encoding`: cells and entries as they are. 1 and up are reserved for column encodings and
    /// ciphers.
    static let plain: UInt8 = 0

    /// Offset of an extent's payload.
    package static func payloadStart(_ type: ExtentType, pageCount: Int) -> Int {
        type == .blob ? size : size + checksumSize * (pageCount - 1)
    }

    static func write(
        to base: UnsafeMutableRawPointer, type: ExtentType, pageCount: Int, page: PageNumber,
        birth: Version
    ) {
        base.storeBytes(of: type.rawValue, toByteOffset: self.type, as: UInt8.self)
        base.storeBytes(of: plain, toByteOffset: encoding, as: UInt8.self)
        base.storeBytes(of: 0, toByteOffset: flags, as: UInt16.self)
        base.storeUInt32(pageCount, at: self.pageCount)
        base.storeUInt32(payloadStart(type, pageCount: pageCount), at: payloadOffset)
        base.storeBytes(of: 0, toByteOffset: payloadLength, as: UInt32.self)
        write(base, page: page, birth: birth)
    }

    /// Writes the place and the birth version of a copy of an extent.
    static func write(_ base: UnsafeMutableRawPointer, page: PageNumber, birth: Version) {
        base.storeUInt64(page, at: self.page)
        base.storeUInt64(birth, at: self.birth)
    }

    static func setPayloadLength(_ length: Int, of base: UnsafeMutableRawPointer) {
        base.storeUInt32(length, at: payloadLength)
    }

    /// The page that an extent says it begins at.
    @inline(__always)
    static func page(of base: UnsafeRawPointer) -> PageNumber { base.uint64(at: page) }

    static func payloadLength(of base: UnsafeRawPointer) -> Int {
        base.uint32(at: payloadLength)
    }
}
