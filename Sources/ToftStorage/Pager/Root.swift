/// The content of the root extent.
struct Root {
    var version: Version
    var previousVersion: Version
    var catalog: TreeRoot
    var directory: Ref
    /// Page 0 without batches.
    var batchList: Ref
    var nextTreeID: TreeID
    var pageCount: UInt64
    var recordBytes: UInt64
    /// The content of the bitmaps, for commits that find no suitable run in the list.
    var bitmapSupply: FreeSpace.Supply

    init(reading ref: Ref, in pages: PageReader) throws(StorageError) {
        let base = try pages.view(ref, as: .root)
        version = base.uint64(at: RootLayout.version)
        previousVersion = base.uint64(at: RootLayout.previousVersion)
        catalog = try TreeRoot(
            decoding: UnsafeRawBufferPointer(
                start: base + RootLayout.catalog, count: TreeRoot.size), page: ref.page)
        directory = Ref(decoding: base + RootLayout.directory)
        batchList = Ref(decoding: base + RootLayout.batchList)
        nextTreeID = base.uint64(at: RootLayout.nextTreeID)
        pageCount = base.uint64(at: RootLayout.pageCount)
        recordBytes = base.uint64(at: RootLayout.recordBytes)
        bitmapSupply = FreeSpace.Supply(rawValue: base.uint64(at: RootLayout.flags))
        guard version <= pages.version, previousVersion <= version, catalog.kind == .ordered,
            nextTreeID >= SystemTree.firstUser, nextTreeID < .limit,
            pageCount > Page.firstData.rawValue, pageCount <= ExtentLimit.filePages
        else { throw .corrupt(page: ref.page, reason: "a root contradicts itself") }
    }

    init(
        version: Version, previousVersion: Version, catalog: TreeRoot, directory: Ref,
        batchList: Ref
    ) {
        self.version = version
        self.previousVersion = previousVersion
        self.catalog = catalog
        self.directory = directory
        self.batchList = batchList
        nextTreeID = SystemTree.firstUser
        pageCount = 0
        recordBytes = 0
        bitmapSupply = []
    }

    /// Writes the fields; `RootPayload` writes the part after them.
    func write(to base: UnsafeMutableRawPointer) {
        base.storeUInt64(version, at: RootLayout.version)
        base.storeUInt64(previousVersion, at: RootLayout.previousVersion)
        catalog.encode(to: base + RootLayout.catalog)
        directory.encode(to: base + RootLayout.directory)
        batchList.encode(to: base + RootLayout.batchList)
        base.storeUInt64(nextTreeID, at: RootLayout.nextTreeID)
        base.storeUInt64(pageCount, at: RootLayout.pageCount)
        base.storeUInt64(recordBytes, at: RootLayout.recordBytes)
        base.storeUInt64(bitmapSupply.rawValue, at: RootLayout.flags)
    }
}
