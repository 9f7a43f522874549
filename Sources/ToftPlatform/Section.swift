/// How the file is cut for mapping: a head of two meta pages, then sections of equal size. No
/// extent straddles a section.
package enum Section {
    package static let pageSize = 4096
    /// Pages before section 0.
    package static let headPageCount = 2
    /// One page of bitmap (less its header) describes so many pages.
    package static let pageCount = 32_256
    package static let headSize = headPageCount * pageSize
    package static let size = pageCount * pageSize
    /// 16 TiB, which is where ext4 ends too.
    package static let countLimit = 131_072
    /// The largest file.
    package static let fileSizeLimit = UInt64(headSize) + UInt64(countLimit) * UInt64(size)

    /// Where a section begins in the file.
    package static func offset(of index: Int) -> UInt64 {
        UInt64(headSize) + UInt64(index) * UInt64(size)
    }
}
