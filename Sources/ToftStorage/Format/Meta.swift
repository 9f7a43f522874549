internal import ToftPlatform

/// A meta page whose magic, checksum, format and features have been checked. The only way to one
/// from bytes is `init(validating:)`.
struct Meta: Equatable {
    var databaseID: (UInt64, UInt64)
    var replicaID: UInt64
    var replicaCounter: UInt64
    var version: Version
    var root: Ref
    var pageCount: UInt64
    var isClosedCleanly: Bool
    var identity: FileIdentity
    /// Nil in a plain file.
    var key: KeyHeader?
    /// The MAC of an encrypted file's meta; `MetaPage` has compared it.
    var authentication = Digest.none
    /// The place of the log. Its salt is 0 if no log is open.
    var logMap = LogRing.none
    /// The end of the log after this version.
    var log = LogEnd.start

    static func == (left: Meta, right: Meta) -> Bool {
        left.databaseID == right.databaseID && left.version == right.version
            && left.root == right.root
            && left.pageCount == right.pageCount && left.isClosedCleanly == right.isClosedCleanly
            && left.logMap == right.logMap
            && left.log == right.log
    }

    init(
        databaseID: (UInt64, UInt64), replicaID: UInt64, version: Version, root: Ref,
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

    /// The format of a page that begins like a meta; nil for other pages.
    static func format(of page: UnsafeRawBufferPointer) -> UInt32? {
        guard page.count == Page.size, let base = page.baseAddress,
            MetaLayout.magicBytes.indices.allSatisfy({
                page[MetaLayout.magic + $0] == MetaLayout.magicBytes[$0]
            })
        else { return nil }
        return UInt32(truncatingIfNeeded: base.uint32(at: MetaLayout.formatVersion))
    }

    /// Nil if the page is not a valid meta. Throws if it is a valid one that this build must not
    /// touch.
    init?(validating page: UnsafeRawBufferPointer, in slot: PageNumber, path: String)
        throws(StorageError)
    {
        guard page.count == Page.size, let base = page.baseAddress,
            let format = Self.format(of: page)
        else { return nil }
        guard Checksum.of(base, count: MetaLayout.checksum) == base.uint64(at: MetaLayout.checksum)
        else {
            return nil
        }
        guard format == MetaLayout.currentFormat else {
            throw .unsupportedFormat(path: path, found: format, feature: "format version \(format)")
        }
        let features = base.uint64(at: MetaLayout.incompatibleFeatures)
        guard features & ~MetaLayout.encrypted == 0 else {
            throw .unsupportedFormat(
                path: path, found: format, feature: "features 0x" + String(features, radix: 16))
        }
        guard base.uint32(at: MetaLayout.pageSize) == Page.size else { return nil }
        databaseID = (
            base.uint64(at: MetaLayout.databaseID), base.uint64(at: MetaLayout.databaseID + 8)
        )
        replicaID = base.uint64(at: MetaLayout.replicaID)
        replicaCounter = base.uint64(at: MetaLayout.replicaCounter)
        version = base.uint64(at: MetaLayout.version)
        root = Ref(decoding: base + MetaLayout.root)
        pageCount = base.uint64(at: MetaLayout.pageCount)
        isClosedCleanly = base.uint64(at: MetaLayout.flags) & MetaLayout.closedCleanly != 0
        identity = FileIdentity(
            device: base.uint64(at: MetaLayout.device), inode: base.uint64(at: MetaLayout.inode))
        if features & MetaLayout.encrypted != 0 {
            let cipher = base.uint32(at: MetaLayout.cipher)
            guard cipher == MetaLayout.currentCipher else {
                throw .unsupportedFormat(path: path, found: format, feature: "cipher \(cipher)")
            }
            key = KeyHeader(
                fileID: Digest(decoding: base + MetaLayout.keySalt),
                keyCheck: Digest(decoding: base + MetaLayout.keyCheck))
            authentication = Digest(decoding: base + MetaLayout.authentication)
        }
        log = LogEnd(
            position: base.uint64(at: MetaLayout.logPosition),
            sequence: base.uint64(at: MetaLayout.logSequence),
            hash: base.uint64(at: MetaLayout.logHash))
        guard version > 0, version < Version.limit, pageCount > Page.firstData.rawValue,
            pageCount <= ExtentLimit.filePages, log.sequence < LogEnd.sequenceLimit
        else { throw .corrupt(page: slot, reason: "a meta contradicts itself") }
        let count = base.uint32(at: MetaLayout.logSegmentCount)
        guard count <= MetaLayout.logSegmentLimit else {
            throw .corrupt(page: slot, reason: "a meta lists \(count) log segments")
        }
        let segments = (0..<count).map { index in
            let offset = MetaLayout.logSegments + index * MetaLayout.logSegmentSize
            return LogSegment(page: base.uint64(at: offset), pageCount: base.uint64(at: offset + 8))
        }
        logMap = LogRing(
            salt: base.uint64(at: MetaLayout.logSalt), base: base.uint64(at: MetaLayout.logBase),
            segments: segments)
        try logMap.check(pageCount: pageCount, position: log.position)
    }

    /// The bytes of a page that its MAC is made of.
    static func authenticated(_ page: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: page.prefix(MetaLayout.authentication))
    }

    /// Writes the page, checksum and all.
    ///
    /// - Parameter digest: makes the MAC of an encrypted file's meta, of these bytes.
    func encode(
        to page: UnsafeMutableRawBufferPointer,
        authenticatedBy digest: (UnsafeRawBufferPointer) -> Digest = { _ in .none }
    ) {
        guard page.count == Page.size, let base = page.baseAddress else { return }
        base.initializeMemory(as: UInt8.self, repeating: 0, count: Page.size)
        base.copyMemory(from: MetaLayout.magicBytes, byteCount: MetaLayout.magicBytes.count)
        base.storeUInt32(Int(MetaLayout.currentFormat), at: MetaLayout.formatVersion)
        base.storeUInt32(Page.size, at: MetaLayout.pageSize)
        base.storeUInt64(databaseID.0, at: MetaLayout.databaseID)
        base.storeUInt64(databaseID.1, at: MetaLayout.databaseID + 8)
        base.storeUInt64(replicaID, at: MetaLayout.replicaID)
        base.storeUInt64(replicaCounter, at: MetaLayout.replicaCounter)
        base.storeUInt64(version, at: MetaLayout.version)
        root.encode(to: base + MetaLayout.root)
        base.storeUInt64(pageCount, at: MetaLayout.pageCount)
        base.storeUInt64(isClosedCleanly ? MetaLayout.closedCleanly : 0, at: MetaLayout.flags)
        base.storeUInt64(identity.device, at: MetaLayout.device)
        base.storeUInt64(identity.inode, at: MetaLayout.inode)
        base.storeUInt64(logMap.salt, at: MetaLayout.logSalt)
        base.storeUInt64(logMap.base, at: MetaLayout.logBase)
        base.storeUInt64(log.position, at: MetaLayout.logPosition)
        base.storeUInt64(log.sequence, at: MetaLayout.logSequence)
        base.storeUInt64(log.hash, at: MetaLayout.logHash)
        base.storeUInt32(logMap.segments.count, at: MetaLayout.logSegmentCount)
        for (index, segment) in logMap.segments.prefix(MetaLayout.logSegmentLimit).enumerated() {
            base.storeUInt64(
                segment.page, at: MetaLayout.logSegments + index * MetaLayout.logSegmentSize)
            base.storeUInt64(
                segment.pageCount,
                at: MetaLayout.logSegments + index * MetaLayout.logSegmentSize + 8)
        }
        if let key {
            base.storeUInt64(MetaLayout.encrypted, at: MetaLayout.incompatibleFeatures)
            base.storeUInt32(MetaLayout.currentCipher, at: MetaLayout.cipher)
            key.fileID.encode(to: base + MetaLayout.keySalt)
            key.keyCheck.encode(to: base + MetaLayout.keyCheck)
            digest(Self.authenticated(UnsafeRawBufferPointer(page))).encode(
                to: base + MetaLayout.authentication)
        }
        base.storeUInt64(Checksum.of(base, count: MetaLayout.checksum), at: MetaLayout.checksum)
    }
}
