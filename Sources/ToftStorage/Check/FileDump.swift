internal import ToftPlatform

/// The contents of a file's pages, read without opening it as a database: for files that cannot be
/// opened.
///
/// It needs no lock, no log replay and no valid meta, reads with read calls alone, changes nothing,
/// and continues behind all damage. Beside a writer it may see a page that is being written.
package struct FileDump: Sendable {
    /// One of the two meta pages.
    package struct MetaPageFacts: Sendable {
        package var slot: Int
        /// Nil if the page holds no valid meta; `problem` then gives the reason.
        package var version: Version?
        package var problem: String?
        package var rootPage: PageNumber = 0
        package var pageCount: UInt64 = 0
        package var isClosedCleanly = false
        package var logPosition: LogPosition = 0
        package var logSegments: [Range<PageNumber>] = []
    }

    /// The root extent that the newest valid meta names.
    package struct RootFacts: Sendable {
        package var page: PageNumber
        package var version: Version
        package var previousVersion: Version
        package var pageCount: UInt64
    }

    /// A tree in the catalog; `kind` is nil if its entry can't be read.
    package struct TreeFacts: Sendable {
        package var id: TreeID
        package var kind: TreeKind?
        package var count: UInt64 = 0
        package var height = 0
        package var page: PageNumber = 0
        package var problem: String?
    }

    /// Number of extents of a type whose header names the page that it is at. Freed extents count
    /// until they are overwritten.
    package struct Use: Sendable {
        package var type: String
        package var extents: UInt64 = 0
        package var pages: UInt64 = 0
    }

    package var path = ""
    package var byteCount: UInt64 = 0
    package var metas: [MetaPageFacts] = []
    package var root: RootFacts?
    /// Versions of commits that the log holds behind the newest meta.
    package var loggedVersions: [Version] = []
    package var trees: [TreeFacts] = []
    package var use: [Use] = []
    /// Pages of zeros, and pages in no extent that was found.
    package var emptyPages: UInt64 = 0
    package var otherPages: UInt64 = 0
    /// Root extents in the file, newest first: starting points if no meta is valid.
    package var rootsFound: [(page: PageNumber, version: Version)] = []
    package var problems: [String] = []

    /// Reads a file. O(file).
    ///
    /// - Throws: only errors of opening and sizing the file, and of the key.
    package static func read(_ path: String, encryptionKey: EncryptionKey? = nil)
        throws(StorageError) -> FileDump
    {
        let opened = try system(
            PosixFile.open(path, forWriting: false, onAnyFileSystem: true))
        let file = DataFile(opened, cipher: try Cipher.of(opened, encryptionKey))
        var dump = FileDump()
        dump.path = path
        dump.byteCount = try file.size()
        let newest = dump.readMetas(file)
        if let newest {
            dump.attempt("the log") { (dump) throws(StorageError) in
                let log = try LogContent(
                    of: newest.logMap, databaseID: newest.databaseID, fromDevice: false, of: file)
                dump.loggedVersions = try log.records(after: newest).map(\.version)
            }
            dump.attempt("the root") { (dump) throws(StorageError) in
                try dump.readRoot(newest, file)
            }
        }
        dump.scan(file)
        return dump
    }

    private mutating func attempt(
        _ what: String, _ step: (inout FileDump) throws(StorageError) -> Void
    ) {
        do throws(StorageError) {
            try step(&self)
        } catch {
            problems.append("\(what): \(error)")
        }
    }

    private mutating func readMetas(_ file: DataFile) -> Meta? {
        var newest: Meta?
        for slot in 0..<2 {
            var facts = MetaPageFacts(slot: slot)
            do throws(StorageError) {
                if let meta = try MetaPage.read(
                    slot: PageNumber(UInt64(slot)), fromDevice: false, of: file)
                {
                    facts.version = meta.version
                    facts.rootPage = meta.root.page
                    facts.pageCount = meta.pageCount
                    facts.isClosedCleanly = meta.isClosedCleanly
                    facts.logPosition = meta.log.position
                    facts.logSegments = meta.logMap.segments.map {
                        $0.page..<$0.page &+ $0.pageCount
                    }
                    if meta.version >= newest?.version ?? 0 { newest = meta }
                } else {
                    facts.problem = "no valid meta: its magic or its checksum is wrong"
                }
            } catch {
                facts.problem = "\(error)"
            }
            metas.append(facts)
        }
        if newest == nil { problems.append("neither meta page is valid") }
        let pages = byteCount / UInt64(Page.size)
        if let newest, newest.pageCount > pages {
            problems.append(
                "the file has \(pages) of the \(newest.pageCount) pages of its newest meta")
        }
        return newest
    }

    private mutating func readRoot(_ meta: Meta, _ file: DataFile) throws(StorageError) {
        let pages = PageReader(PageCache(file, .buffered()), version: meta.version)
        let root = try Root(reading: meta.root, in: pages)
        self.root = RootFacts(
            page: meta.root.page, version: root.version, previousVersion: root.previousVersion,
            pageCount: root.pageCount)
        let cursor = try TreeReader(pages: pages, head: TreeHead(root: root.catalog)).cursor()
        var isThere = try cursor.seekFirst()
        while isThere {
            trees.append(Self.tree(cursor.key, try cursor.value, root.catalog.ref.page))
            isThere = try cursor.next()
        }
    }

    private static func tree(
        _ key: UnsafeRawBufferPointer, _ entry: UnsafeRawBufferPointer, _ catalog: PageNumber
    ) -> TreeFacts {
        guard let id: TreeID = TreeKey.number(key) else {
            return TreeFacts(id: 0, kind: nil, problem: "the catalog has a key that is no tree id")
        }
        do throws(StorageError) {
            let root = try TreeRoot(decoding: entry, page: catalog)
            return TreeFacts(
                id: id, kind: root.kind, count: root.count, height: root.height,
                page: root.ref.page)
        } catch {
            return TreeFacts(id: id, kind: nil, problem: "\(error)")
        }
    }

    /// Pages that are read at once.
    private static let pieceSize = 256
    private static let rootsShown = 8

    private mutating func scan(_ file: DataFile) {
        var uses: [ExtentType: Use] = [:]
        let buffer = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Self.pieceSize * Page.size, alignment: Page.size)
        defer { buffer.deallocate() }
        let fileEnd = PageNumber(ofByte: byteCount)
        var page = Page.firstData
        // The first page behind the extent that was found last.
        var end = page
        while page < fileEnd {
            let count = Int(min(UInt64(Self.pieceSize), fileEnd - page))
            let piece = UnsafeMutableRawBufferPointer(rebasing: buffer[..<(count * Page.size)])
            do throws(StorageError) {
                try file.read(into: piece, at: page.byteOffset)
                for index in 0..<count {
                    note(page + UInt64(index), piece, index * Page.size, &end, &uses)
                }
            } catch {
                problems.append("pages \(page)..<\(page + UInt64(count)): \(error)")
                otherPages += UInt64(count)
            }
            page += UInt64(count)
        }
        use = uses.sorted { $0.key.rawValue < $1.key.rawValue }.map(\.value)
        rootsFound.sort { $0.version > $1.version }
        rootsFound.removeLast(max(0, rootsFound.count - Self.rootsShown))
    }

    private mutating func note(
        _ page: PageNumber, _ piece: UnsafeMutableRawBufferPointer, _ offset: Int,
        _ end: inout PageNumber,
        _ uses: inout [ExtentType: Use]
    ) {
        guard let base = piece.baseAddress.map({ UnsafeRawPointer($0) + offset }) else { return }
        let count = UInt64(base.uint32(at: ExtentHeader.pageCount))
        let type = ExtentType(
            rawValue: UInt8(truncatingIfNeeded: base.uint8(at: ExtentHeader.type)))
        if page >= end, let type, base.uint64(at: ExtentHeader.page) == page,
            (1...UInt64(ExtentLimit.blobPages)).contains(count)
        {
            uses[type, default: Use(type: "\(type)")].extents += 1
            uses[type]?.pages += count
            end = page + count
            if type == .root {
                rootsFound.append((page, base.uint64(at: ExtentHeader.birth)))
            }
        } else if page >= end {
            let bytes = UnsafeRawBufferPointer(start: base, count: Page.size)
            if bytes.allSatisfy({ $0 == 0 }) { emptyPages += 1 } else { otherPages += 1 }
        }
    }
}
