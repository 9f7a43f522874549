package import ToftPlatform

/// A file that may be damaged, and the versions of it that can still be read. Nothing is written to
/// it, and no lock file is laid beside it.
///
/// 1. Extents of a version are verified by the checksums of their references, from its root down.
/// 2. A root or a cluster that no reference leads to is *loose*: found by reading every page. Only
///    its own bytes show that it is intact.
/// 3. A page that some reference led to and that was refused is never used as a loose one.
/// 4. The MAC that decrypts an extent of an encrypted file is in its parent. It is found again from
///    the header, see `Cipher.Finder`, and then proves that the bytes are right.
///
/// One thread uses it. It must not be written to meanwhile.
package final class SalvageSource {
    let cache: PageCache
    private var file: DataFile { cache.file }
    /// The file again, if other processes can open it.
    private let locked: (any StorageFile)?
    /// The versions whose roots can be read, newest first: those that the metas and the log lead
    /// to, and behind them those whose roots are loose.
    private var versions: [Snapshot] = []
    private var hasLooseVersions = false
    /// True if a meta page is invalid: a loose root may then be the newest.
    private var hasLostMeta = false
    /// Whether a newer version than those that can be read was committed, or may have been.
    package private(set) var isNewestLost = false
    /// Pages that do not match a reference to them.
    private(set) var refused: Set<PageNumber> = []
    /// The damage that was found, in plain words; at most `problemLimit`.
    package private(set) var problems: [String] = []
    /// Most problems that are reported.
    private static let problemLimit = 20
    /// Most loose roots that are used.
    private static let looseRootLimit = 64

    /// Opens a file for reading.
    ///
    /// - Throws: `notADatabase`, also if both metas are lost and nothing else identifies a
    ///   database; `unsupportedFormat`; `keyRequired`, `wrongKey`, `notEncrypted`; `corrupt` if a
    ///   key is given and no meta page says whose it is; `fileNotFound`, `permissionDenied`...
    package static func open(
        _ path: String, encryptionKey: EncryptionKey? = nil, usesMapping: Bool = true
    ) throws(StorageError) -> SalvageSource {
        let file = try system(
            PosixFile.open(path, forWriting: false, onAnyFileSystem: true))
        do throws(StorageError) {
            var foreign: StorageError?
            do throws(StorageError) {
                try ForeignFile.refuse(file)
            } catch {
                // Both metas may be lost.
                guard case .notADatabase = error else { throw error }
                foreign = error
            }
            let cipher = try Cipher.of(file, encryptionKey)
            let damaged = try SalvageSource(file, isBuffered: !usesMapping, cipher)
            let isLostKey = encryptionKey != nil && cipher == nil
            guard foreign != nil || isLostKey else { return damaged }
            let isPlain = try damaged.version(at: 0) != nil
            if let foreign, !isPlain, try !damaged.hasLogFrame() { throw foreign }
            guard isLostKey else { return damaged }
            if isPlain { throw .notEncrypted(path: file.path) }
            throw .corrupt(
                page: 0, reason: "both meta pages are lost, and an encrypted file needs one")
        } catch {
            try? file.close()
            throw error
        }
    }

    /// Opens a file that the caller has opened.
    package convenience init(_ file: any StorageFile, encryptionKey: EncryptionKey? = nil)
        throws(StorageError)
    {
        try self.init(file, isBuffered: false, try Cipher.of(file, encryptionKey))
    }

    /// Memory that may be filled with pages that are not mapped, before reading begins with other.
    private static let cacheLimit: Int = {
        #if DEBUG || TOFT_TRIALS
        // The files of tests are short.
        128 << 10
        #else
        PageCache.defaultLimit
        #endif
    }()

    /// Reads the metas and the log.
    private init(_ file: any StorageFile, isBuffered: Bool, _ cipher: Cipher?) throws(StorageError)
    {
        cache = PageCache(
            DataFile(file, cipher: cipher),
            isBuffered || cipher != nil ? .buffered(limit: Self.cacheLimit) : .mapped)
        locked = file.hasLocks ? file : nil
        let metas = try metas().sorted { $0.version > $1.version }
        for meta in metas {
            let known = (problems: problems, refused: refused)
            let isBehindAnother = !versions.isEmpty
            try add(meta)
            // The pages of an older version may be in use again: that is not damage.
            if isBehindAnother { (problems, refused) = known }
        }
        versions.sort { $0.version > $1.version }
        let newest = metas.reduce(0) { max($0, $1.version) }
        if hasLostMeta { try addLooseVersions() }
        isNewestLost = versions.first.map { $0.version < newest || metas.isEmpty } ?? true
    }

    deinit { try? file.close() }

    /// Whether a process has the file open for writing: its pages may change at any moment.
    package func isInUse() throws(StorageError) -> Bool {
        guard let locked else { return false }
        return try system(FileLocks(file: locked).isHeldByOthers(LockByte.attach))
    }

    /// Whether some page has a frame of a log, whose header is plain in every database. O(file).
    private func hasLogFrame() throws(StorageError) -> Bool {
        var isFound = false
        try forEachPage { _, bytes in
            for offset in stride(from: 0, to: Page.size, by: LogLayout.unit) where !isFound {
                isFound = LogFrame(header: bytes + offset, room: .max) != nil
            }
        }
        return isFound
    }

    // MARK: Versions

    /// A version, counted from the newest one; nil after the last.
    package func version(at index: Int) throws(StorageError) -> Snapshot? {
        if index >= versions.count { try addLooseVersions() }
        return index < versions.count ? versions[index] : nil
    }

    /// The valid metas.
    private func metas() throws(StorageError) -> [Meta] {
        var metas: [Meta] = []
        for slot: PageNumber in [0, 1] {
            do throws(StorageError) {
                if let meta = try MetaPage.read(slot: slot, fromDevice: false, of: file) {
                    if !metas.contains(meta) { metas.append(meta) }
                } else {
                    hasLostMeta = true
                    note("meta page \(slot): its magic or its checksum is wrong")
                }
            } catch {
                switch error {
                case .unsupportedFormat, .keyRequired: throw error
                default: try error.requireDamage()
                }
                hasLostMeta = true
                note("meta page \(slot): \(error)")
            }
        }
        guard metas.isEmpty else { return metas }
        do throws(StorageError) { try MetaPage.refuseLaterFormat(of: file) } catch {
            if case .unsupportedFormat = error { throw error }
        }
        return metas
    }

    /// Adds the versions in the log behind a meta, and the meta's own.
    private func add(_ meta: Meta) throws(StorageError) {
        try attempt("the log of version \(meta.version)") { () throws(StorageError) in
            let log = try LogContent(
                of: meta.logMap, databaseID: meta.databaseID, fromDevice: false, of: file)
            let (records, damage) = log.readableRecords(after: meta)
            if let damage { note("the log of version \(meta.version): \(damage)") }
            if let replayed = try replay(records, after: meta) {
                versions.append(
                    try Snapshot(store: try Store.aside(meta, cache), replayed: replayed, pin: nil))
            }
        }
        do throws(StorageError) {
            versions.append(
                try Snapshot(
                    store: try Store.aside(meta, cache), published: PublishedVersion(meta), pin: nil
                )
            )
        } catch {
            try error.requireDamage()
            refuse(meta.root.page)
            note("the root of version \(meta.version): \(error)")
        }
    }

    /// The version with as many log records as can be replayed; nil if there are no such records. A
    /// record that changes damaged data ends the replay.
    private func replay(_ records: [CommitRecord], after meta: Meta) throws(StorageError)
        -> ReplayedVersion?
    {
        var low = 0, high = records.count
        var best: ReplayedVersion?
        // The first attempt takes all, each further one halves the unknown part.
        var count = high
        while count > low {
            try CurrentCall.checkInterruption()
            let version = records[count - 1].version
            do throws(StorageError) {
                guard version > meta.version else {
                    throw .corrupt(page: meta.root.page, reason: "a commit is older than its base")
                }
                best = try ReplayedVersion(
                    Array(records[..<count]), after: meta, as: version, of: cache, pins: [],
                    besides: UnlistedVersions(
                        lifetime: meta.version..<version, newest: nil, pins: []),
                    dirtyLimit: .max, isPrivate: true)
                low = count
            } catch {
                try error.requireDamage()
                note("commit \(version) of the log: \(error)")
                high = count - 1
            }
            count = (low + high + 1) / 2
        }
        return best
    }

    /// Adds the roots that no valid meta names and that name their catalog rightly. One that is
    /// newer than both metas was never committed.
    private func addLooseVersions() throws(StorageError) {
        guard !hasLooseVersions else { return }
        hasLooseVersions = true
        let known = Set(versions.map(\.rootRef.page))
        let limit = hasLostMeta ? Version.limit : versions.first?.version ?? .limit
        let identity = try file.identity()
        let pageCount = max(Page.firstData.rawValue + 1, try file.size() / UInt64(Page.size))
        let roots = try looseExtents(.root).filter {
            !known.contains($0.page) && $0.birth < limit
        }
        for root in roots.prefix(Self.looseRootLimit) {
            let meta = Meta(
                databaseID: (0, 0), replicaID: 0, version: root.birth,
                root: try sealed(root), pageCount: pageCount, identity: identity)
            let store = try Store.aside(meta, cache)
            guard
                let snapshot = try unlessDamaged({ () throws(StorageError) in
                    try Snapshot(store: store, published: PublishedVersion(meta), pin: nil)
                }), snapshot.root.version == root.birth, try hasCatalog(snapshot)
            else { continue }
            versions.append(snapshot)
        }
        versions.sort { $0.version > $1.version }
    }

    private func hasCatalog(_ snapshot: Snapshot) throws(StorageError) -> Bool {
        let root = snapshot.root.catalog
        if root.isEmpty { return true }
        let type: ExtentType = root.height > 0 ? .treeInner : .orderedLeaf
        return try unlessDamaged { () throws(StorageError) in
            _ = try snapshot.pages.view(root.ref, as: type)
        } != nil
    }

    // MARK: Loose extents

    /// Pages that are read at once.
    private static let pieceSize = 256

    /// The extents of a type, also freed ones, whose header names its own page and that no
    /// reference refused; the newest first. O(file).
    func looseExtents(_ type: ExtentType) throws(StorageError) -> [Ref] {
        let finder = try file.cipher?.finder()
        var found: [Ref] = []
        try forEachPage { page, bytes in
            let header =
                finder.map { $0.extent(type, page, bytes) } ?? Self.header(bytes, page, type)
            if let header, !refused.contains(page) { found.append(header) }
        }
        found.sort { $0.birth > $1.birth }
        return found
    }

    /// Calls `body` with the bytes of every page that can be read, as they are in the file.
    private func forEachPage(_ body: (PageNumber, UnsafeRawPointer) -> Void) throws(StorageError) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Self.pieceSize * Page.size, alignment: Page.size)
        defer { buffer.deallocate() }
        let end = PageNumber(ofByte: try file.size())
        var page = Page.firstData, step = Self.pieceSize
        while page < end {
            try CurrentCall.checkInterruption()
            let count = Int(min(UInt64(step), end - page))
            let piece = UnsafeMutableRawBufferPointer(rebasing: buffer[..<(count * Page.size)])
            if (try? file.read(into: piece, at: page.byteOffset)) == nil {
                // The surroundings of a page that the device refuses are read page by page.
                if count == 1 { page += 1 }
                step = 1
                continue
            }
            if let base = buffer.baseAddress {
                for index in 0..<count {
                    body(page + UInt64(index), UnsafeRawPointer(base + index * Page.size))
                }
            }
            page += UInt64(count)
            if page.rawValue % UInt64(Self.pieceSize) == 0 { step = Self.pieceSize }
        }
    }

    /// The reference in the header of an extent, without its checksum; nil if it is another one.
    private static func header(
        _ base: UnsafeRawPointer, _ page: PageNumber, _ type: ExtentType
    ) -> Ref? {
        let count = base.uint32(at: ExtentHeader.pageCount)
        let birth: Version = base.uint64(at: ExtentHeader.birth)
        guard base.uint8(at: ExtentHeader.type) == Int(type.rawValue),
            base.uint64(at: ExtentHeader.page) == page, birth > 0, birth < .limit,
            (1...ExtentLimit.pages).contains(count)
        else { return nil }
        return Ref(
            page: page, birth: birth, checksum: 0,
            pageCount: UInt32(truncatingIfNeeded: count))
    }

    /// The reference of a loose extent with the checksum that its first page has.
    func sealed(_ ref: Ref) throws(StorageError) -> Ref {
        if file.cipher != nil { return ref }
        let buffer = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Page.size, alignment: Page.size)
        defer { buffer.deallocate() }
        try file.read(into: buffer, at: ref.page.byteOffset)
        var sealed = ref
        if let base = buffer.baseAddress {
            sealed.checksum = Checksum.of(UnsafeRawPointer(base), count: Page.size)
        }
        return sealed
    }

    /// Calls `body` with every entry of the loose leaves of ordered trees, the newest leaves first;
    /// the value is nil if it is long and lost. O(file).
    package func forEachLooseEntry(
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer?) -> Void
    ) throws(StorageError) {
        var pages = PageReader(cache.reopened(), version: .limit)
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: OrderedLeafRewrite.keySize, alignment: 8)
        defer { memory.deallocate() }
        for ref in try looseExtents(.orderedLeaf) {
            if pages.cache.isFull { pages = PageReader(cache.reopened(), version: .limit) }
            _ = try unlessDamaged { () throws(StorageError) in
                let leaf = try OrderedLeaf(
                    try pages.view(try sealed(ref), as: .orderedLeaf), page: ref.page)
                try leaf.check()
                for index in 0..<leaf.count {
                    let entry = try leaf.entry(index)
                    var value: UnsafeRawBufferPointer? = entry.stored
                    if let blob = entry.blob {
                        value = try unlessDamaged { () throws(StorageError) in
                            try pages.blob(blob)
                        }
                    }
                    body(leaf.key(of: entry, in: memory), value)
                }
            }
        }
    }

    /// Notes which nodes of an ordered tree of a version are damaged, so that they are not used as
    /// loose ones.
    package func refuseDamage(ofTree id: TreeID, in version: Snapshot) throws(StorageError) {
        let head = try unlessDamaged { () throws(StorageError) in try version.catalog.readAgain(id)
        }
        for root in [version.root.catalog, head?.root] {
            guard let root, root.kind == .ordered else { continue }
            var walk = WholeNodes(pages: version.pages, leafType: .orderedLeaf)
            try walk.run(root)
            for page in walk.refused { refuse(page) }
        }
    }

    // MARK: Problems

    func refuse(_ page: PageNumber) { refused.insert(page) }

    package func note(_ problem: String) {
        if problems.count < Self.problemLimit { problems.append(problem) }
    }

    private func attempt(_ what: String, _ step: () throws(StorageError) -> Void)
        throws(StorageError)
    {
        do throws(StorageError) {
            try step()
        } catch {
            try error.requireDamage()
            note("\(what): \(error)")
        }
    }
}
