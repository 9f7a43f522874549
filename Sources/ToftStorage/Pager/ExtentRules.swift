/// Rules of the layers above for the bytes of extents, by type, which a writer of pages applies.
struct ExtentRules: Sendable {
    /// Puts the entries of a leaf in order, if many are not. Any thread, while no other uses the
    /// extent.
    let defragment: @Sendable (DirtyPages.Extent) -> Void
    #if DEBUG || TOFT_TRIALS
    /// Decodes an extent of a transaction as its reader will. Throws `invalidPage` if that refuses
    /// it.
    let check: @Sendable (DirtyPages.Extent, PageReader) throws(StorageError) -> Void
    #endif
}
