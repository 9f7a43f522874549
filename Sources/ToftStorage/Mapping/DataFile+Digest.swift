extension DataFile {
    /// Finishes an extent that is about to be written, and returns its digest for the parent: in an
    /// encrypted file the MAC of all of it. In a plain one it fills the table of checksums and
    /// returns that of the first page; for a long value, which has no table, that of all pages.
    func digest(
        of base: UnsafeMutableRawPointer, _ type: ExtentType, page: PageNumber, birth: Version,
        pageCount: Int
    ) -> Digest {
        if let cipher {
            return cipher.digest(of: base, type, page: page, birth: birth, pageCount: pageCount)
        }
        if type == .blob { return Digest(low: Checksum.of(base, count: pageCount * Page.size)) }
        for page in 1..<max(1, pageCount) {
            let checksum = Checksum.of(
                UnsafeRawPointer(base + page * Page.size), count: Page.size)
            base.storeUInt64(
                checksum, at: ExtentHeader.size + (page - 1) * ExtentHeader.checksumSize)
        }
        return Digest(low: Checksum.of(UnsafeRawPointer(base), count: Page.size))
    }
}
