internal import ToftPlatform

/// Numbers of versions, and what else is counted up for ever.
enum Version {
    /// No file comes near it: what reaches it is damaged. So what is below may be added to.
    static let limit: UInt64 = 1 << 62
}

/// A meta page whose magic, checksum, format and features have been checked. The only way to one
/// from bytes is `init(validating:)`.
struct Meta: Equatable {
    var databaseID: (UInt64, UInt64)
    var replicaID: UInt64
    var replicaCounter: UInt64
    var version: UInt64
    var root: Ref
    var pageCount: UInt64
    var isClosedCleanly: Bool
    var identity: FileIdentity
    /// Where the log lies. Its salt is 0 where none is open.
    var logMap = LogMap.none
    /// Where the log stands after this version.
    var log = LogPoint.start

    static func == (left: Meta, right: Meta) -> Bool {
        left.databaseID == right.databaseID && left.version == right.version
            && left.root == right.root
            && left.pageCount == right.pageCount && left.isClosedCleanly == right.isClosedCleanly
            && left.logMap == right.logMap
            && left.log == right.log
    }

    init(
        databaseID: (UInt64, UInt64), replicaID: UInt64, version: UInt64, root: Ref,
        pageCount: UInt64, identity: FileIdentity
    ) {
        self.databaseID = databaseID
        self.replicaID = replicaID
        replicaCounter = 0
        self.version = version
        self.root = root
        self.pageCount = pageCount
        isClosedCleanly = false
        self.identity = identity
    }

    /// Nil where the page is no valid meta. Throws where it is a valid one that this build must not
    /// touch.
    init?(validating page: UnsafeRawBufferPointer, path: String) throws(StorageError) {
        guard page.count == Page.size, let base = page.baseAddress,
            MetaLayout.magicBytes.indices.allSatisfy({
                page[MetaLayout.magic + $0] == MetaLayout.magicBytes[$0]
            })
        else { return nil }
        func word(_ offset: Int) -> UInt64 {
            UInt64(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
        guard Checksum.of(base, count: MetaLayout.checksum) == word(MetaLayout.checksum) else {
            return nil
        }
        let format = UInt32(
            littleEndian: base.loadUnaligned(
                fromByteOffset: MetaLayout.formatVersion, as: UInt32.self))
        guard format == MetaLayout.currentFormat else {
            throw .unsupportedFormat(path: path, found: format, feature: "format version \(format)")
        }
        guard word(MetaLayout.incompatibleFeatures) == 0 else {
            throw .unsupportedFormat(
                path: path, found: format,
                feature: "features 0x" + String(word(MetaLayout.incompatibleFeatures), radix: 16))
        }
        guard
            UInt32(
                littleEndian: base.loadUnaligned(
                    fromByteOffset: MetaLayout.pageSize, as: UInt32.self)) == Page.size
        else { return nil }
        databaseID = (word(MetaLayout.databaseID), word(MetaLayout.databaseID + 8))
        replicaID = word(MetaLayout.replicaID)
        replicaCounter = word(MetaLayout.replicaCounter)
        version = word(MetaLayout.version)
        root = Ref(decoding: base + MetaLayout.root)
        pageCount = word(MetaLayout.pageCount)
        isClosedCleanly = word(MetaLayout.flags) & MetaLayout.closedCleanly != 0
        identity = FileIdentity(device: word(MetaLayout.device), inode: word(MetaLayout.inode))
        log = LogPoint(
            position: word(MetaLayout.logPosition), sequence: word(MetaLayout.logSequence),
            hash: word(MetaLayout.logHash))
        guard version > 0, version < Version.limit, pageCount > Page.firstData,
            pageCount <= ExtentLimit.filePages, log.sequence < Version.limit
        else { throw .corrupt(page: version % 2, reason: "a meta contradicts itself") }
        let count = UInt32(
            littleEndian: base.loadUnaligned(
                fromByteOffset: MetaLayout.logSegmentCount, as: UInt32.self))
        guard count <= MetaLayout.logSegmentLimit else {
            throw .corrupt(page: version % 2, reason: "a meta lists \(count) log segments")
        }
        let segments = (0..<Int(count)).map { index in
            let offset = MetaLayout.logSegments + index * MetaLayout.logSegmentSize
            return LogSegment(page: word(offset), pageCount: word(offset + 8))
        }
        logMap = LogMap(
            salt: word(MetaLayout.logSalt), base: word(MetaLayout.logBase), segments: segments)
        try logMap.check(pageCount: pageCount, position: log.position)
    }

    /// Writes the page, checksum and all.
    func encode(to page: UnsafeMutableRawBufferPointer) {
        guard page.count == Page.size, let base = page.baseAddress else { return }
        base.initializeMemory(as: UInt8.self, repeating: 0, count: Page.size)
        func put(_ value: UInt64, _ offset: Int) {
            base.storeBytes(of: value.littleEndian, toByteOffset: offset, as: UInt64.self)
        }
        base.copyMemory(from: MetaLayout.magicBytes, byteCount: MetaLayout.magicBytes.count)
        base.storeBytes(
            of: MetaLayout.currentFormat.littleEndian, toByteOffset: MetaLayout.formatVersion,
            as: UInt32.self)
        base.storeBytes(
            of: UInt32(Page.size).littleEndian, toByteOffset: MetaLayout.pageSize, as: UInt32.self)
        put(databaseID.0, MetaLayout.databaseID)
        put(databaseID.1, MetaLayout.databaseID + 8)
        put(replicaID, MetaLayout.replicaID)
        put(replicaCounter, MetaLayout.replicaCounter)
        put(version, MetaLayout.version)
        root.encode(to: base + MetaLayout.root)
        put(pageCount, MetaLayout.pageCount)
        put(isClosedCleanly ? MetaLayout.closedCleanly : 0, MetaLayout.flags)
        put(identity.device, MetaLayout.device)
        put(identity.inode, MetaLayout.inode)
        put(logMap.salt, MetaLayout.logSalt)
        put(logMap.base, MetaLayout.logBase)
        put(log.position, MetaLayout.logPosition)
        put(log.sequence, MetaLayout.logSequence)
        put(log.hash, MetaLayout.logHash)
        base.storeBytes(
            of: UInt32(truncatingIfNeeded: logMap.segments.count).littleEndian,
            toByteOffset: MetaLayout.logSegmentCount, as: UInt32.self)
        for (index, segment) in logMap.segments.prefix(MetaLayout.logSegmentLimit).enumerated() {
            put(segment.page, MetaLayout.logSegments + index * MetaLayout.logSegmentSize)
            put(segment.pageCount, MetaLayout.logSegments + index * MetaLayout.logSegmentSize + 8)
        }
        put(Checksum.of(base, count: MetaLayout.checksum), MetaLayout.checksum)
    }
}

/// What the root extent says.
struct Root {
    var version: UInt64
    var previousVersion: UInt64
    var catalog: TreeRoot
    var directory: Ref
    /// Page 0 where there are no batches.
    var batchList: Ref
    var nextTreeID: UInt64
    var pageCount: UInt64
    var recordBytes: UInt64
    /// What the bitmaps have, for commits that find nothing of the kind in the list.
    var bitmapSupply: FreeSpace.Supply

    init(reading ref: Ref, in space: PageSpace) throws(StorageError) {
        let base = try space.view(ref, as: .root)
        func word(_ offset: Int) -> UInt64 {
            UInt64(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
        version = word(RootLayout.version)
        previousVersion = word(RootLayout.previousVersion)
        catalog = try TreeRoot(
            decoding: UnsafeRawBufferPointer(
                start: base + RootLayout.catalog, count: TreeRoot.size), page: ref.page)
        directory = Ref(decoding: base + RootLayout.directory)
        batchList = Ref(decoding: base + RootLayout.batchList)
        nextTreeID = word(RootLayout.nextTreeID)
        pageCount = word(RootLayout.pageCount)
        recordBytes = word(RootLayout.recordBytes)
        bitmapSupply = FreeSpace.Supply(rawValue: word(RootLayout.flags))
        guard version <= space.version, previousVersion <= version, catalog.kind == .ordered,
            nextTreeID >= SystemTree.firstUser, nextTreeID < Version.limit,
            pageCount > Page.firstData, pageCount <= ExtentLimit.filePages
        else { throw .corrupt(page: ref.page, reason: "a root contradicts itself") }
    }

    init(
        version: UInt64, previousVersion: UInt64, catalog: TreeRoot, directory: Ref, batchList: Ref
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

    /// Writes the fields; what follows them is `RootTail`'s.
    func write(to base: UnsafeMutableRawPointer) {
        func put(_ value: UInt64, _ offset: Int) {
            base.storeBytes(of: value.littleEndian, toByteOffset: offset, as: UInt64.self)
        }
        put(version, RootLayout.version)
        put(previousVersion, RootLayout.previousVersion)
        catalog.encode(to: base + RootLayout.catalog)
        directory.encode(to: base + RootLayout.directory)
        batchList.encode(to: base + RootLayout.batchList)
        put(nextTreeID, RootLayout.nextTreeID)
        put(pageCount, RootLayout.pageCount)
        put(recordBytes, RootLayout.recordBytes)
        put(bitmapSupply.rawValue, RootLayout.flags)
    }
}
