package import ToftPlatform

/// The result of a full check.
package struct CheckReport: Sendable {
    package var version: Version = 0
    package var pages: UInt64 = 0
    package var usedPages: UInt64 = 0
    package var freePages: UInt64 = 0
    /// Pages that wait for a pinned version to be released.
    package var pinnedFreePages: UInt64 = 0
    package var trees = 0
    /// The faults, in plain words; empty for an intact file. The check of a version reports at most
    /// 100 faults of its pages, and then the number of the others.
    package var problems: [String] = []
    /// The first error of the device that kept the check from reading.
    var deviceError: StorageError?

    package var isSound: Bool { problems.isEmpty }

    package init() {}
}

/// Walks a version: every checksum, order, count and bound, and that each page of the file is
/// exactly one of used, freed or free.
///
/// It reads everything and changes nothing. Damage becomes a line of the report, and the walk
/// continues if it can.
package struct StoreCheck {
    private let snapshot: Snapshot
    private var report = CheckReport()
    private var visited = PageSet()
    /// Of them: those that no version but earlier ones may need.
    private var freed = PageSet()
    /// The sequence trees of the catalog, and the number of lists that name each.
    private var sequences: [TreeID: Int] = [:]
    /// Pages that follow each other and whose bits say something else than the trees.
    private var wrong: (pages: ClosedRange<PageNumber>, isReached: Bool)?
    /// Number of problems beyond the limit, which are counted only.
    private var untold = 0
    private static let limit = 100

    /// Checks the version of a snapshot. O(file).
    ///
    /// - Throws: errors that do not mean damage: `addressSpaceExhausted`, `interrupted`...
    package static func run(_ snapshot: Snapshot) throws(StorageError) -> CheckReport {
        // The check reports pages that can't be read.
        let walked = try unlessDamaged { () throws(StorageError) in try snapshot.forScan() }
        var check = StoreCheck(walked ?? snapshot)
        try check.run()
        return check.report
    }

    private init(_ snapshot: Snapshot) {
        self.snapshot = snapshot
    }

    private mutating func run() throws(StorageError) {
        report.version = snapshot.version
        report.pages = snapshot.root.pageCount
        visit(snapshot.rootRef, "the root")
        try attempt("the catalog") { (check) throws(StorageError) in try check.walkCatalog() }
        try attempt("the insert buffer") { (check) throws(StorageError) in
            try InsertBufferCheck.run(check.snapshot.catalog)
        }
        try attempt("free space") { (check) throws(StorageError) in try check.walkFreeSpace() }
        if untold > 0 { report.problems.append("and \(untold) more of the kind") }
    }

    private mutating func add(_ problem: String) {
        if report.problems.count < Self.limit {
            report.problems.append(problem)
        } else {
            untold += 1
        }
    }

    private mutating func attempt(
        _ what: String, _ step: (inout StoreCheck) throws(StorageError) -> Void
    ) throws(StorageError) {
        do throws(StorageError) {
            try step(&self)
        } catch {
            try error.requireDamage()
            add("\(what): \(error)")
            if case .io = error { report.deviceError = report.deviceError ?? error }
        }
    }

    /// Whether pages are data pages that the version knows.
    private func isInFile(_ page: PageNumber, _ count: UInt64) -> Bool {
        page >= Page.firstData && count <= report.pages && page <= PageNumber(report.pages - count)
    }

    private mutating func visit(_ ref: Ref, _ what: String) {
        guard isInFile(ref.page, UInt64(ref.pageCount)) else {
            add(
                "\(what) is at page \(ref.page), outside the file of \(report.pages) pages")
            return
        }
        report.usedPages += UInt64(ref.pageCount)
        for index in 0..<UInt64(ref.pageCount) where !visited.insert(ref.page + index) {
            add(
                "page \(ref.page + index) is used twice, the second time by \(what)")
        }
    }

    private mutating func walkCatalog() throws(StorageError) {
        let reached = TreeExtents()
        try snapshot.catalog.tree.check(reached)
        visitAll(reached.refs, "the catalog")
        let cursor = try snapshot.catalog.tree.cursor()
        var isThere = try cursor.seekFirst()
        while isThere {
            if let id: TreeID = TreeKey.number(cursor.key) {
                report.trees += 1
                try attempt("tree \(id)") { (check) throws(StorageError) in try check.walkTree(id) }
            } else {
                add("the catalog has a key that is no tree id")
            }
            isThere = try cursor.next()
        }
        for (id, lists) in sequences.sorted(by: { $0.key < $1.key }) where lists != 1 {
            add("\(lists) lists have the sequence tree \(id)")
        }
    }

    private mutating func walkTree(_ id: TreeID) throws(StorageError) {
        let reached = TreeExtents()
        let catalog = snapshot.catalog
        let pages = snapshot.pages
        let head = try catalog.readAgain(id)
        switch head.root.kind {
        case .table:
            try TableReader(pages: pages, head: head, catalog: catalog).check(reached)
        case .ordered: try TreeReader(pages: pages, head: head).check(reached)
        case .sequence:
            try SequenceReader(pages: pages, head: head).check(reached)
            sequences[id, default: 0] += 0
        }
        for sequence in reached.sequences { sequences[sequence, default: 0] += 1 }
        visitAll(reached.refs, "tree \(id)")
    }

    private mutating func visitAll(_ refs: [Ref], _ what: String) {
        for ref in refs { visit(ref, what) }
    }

    /// Every page is in exactly one state.
    private mutating func walkFreeSpace() throws(StorageError) {
        let pages = snapshot.pages
        visit(snapshot.root.directory, "the directory of regions")
        if snapshot.root.batchList != .nowhere {
            visit(snapshot.root.batchList, "the list of batches")
        }
        var runs = try RootPayload.runs(of: snapshot.rootRef, in: pages)
        for batch in try FreeSpaceReader.batches(snapshot.root.batchList, in: pages) {
            visit(batch.ref, "a batch of freed runs")
            runs += try FreeSpaceReader.batch(batch.ref, in: pages)
        }
        for run in runs { visitFreed(run) }
        let regions = try FreeSpaceReader.regions(snapshot.root.directory, in: pages)
        for region in regions { visit(region.bitmap, "a bitmap") }
        try visitLog(regions.map(\.bitmap))
        for (index, region) in regions.enumerated() {
            let bitmap = Bitmap(page: try pages.view(region.bitmap, as: .bitmap))
            if bitmap.freePages != region.freePages {
                add(
                    "region \(index) has \(bitmap.freePages) free pages, its directory says "
                        + "\(region.freePages)"
                )
            }
            compare(bitmap, region: index)
        }
        tellWrong()
    }

    /// The segments of the log. A version from before the log grew, or moved, knows nothing of the
    /// new ones.
    private mutating func visitLog(_ bitmaps: [Ref]) throws(StorageError) {
        let (segments, newest) = try snapshot.store.logSegments(of: snapshot)
        for segment in segments {
            let region = Page.region(of: segment.page)
            guard region < bitmaps.count else { continue }
            let bitmap = Bitmap(page: try snapshot.pages.view(bitmaps[region], as: .bitmap))
            let isFree =
                !bitmap.isUsed(Page.indexInRegion(segment.page)) || freed.contains(segment.page)
            if isFree && snapshot.version < newest { continue }
            visit(
                Ref(
                    page: segment.page, birth: 0, checksum: 0,
                    pageCount: UInt32(truncatingIfNeeded: segment.pageCount)), "the log")
        }
    }

    private mutating func visitFreed(_ run: FreeSpace.Run) {
        guard run.birth < run.death, run.death <= snapshot.version else {
            add(
                "the freed run at page \(run.page) lived from version \(run.birth) to \(run.death)")
            return
        }
        guard isInFile(run.page, UInt64(run.count)) else {
            add("the freed run at page \(run.page) leaves the file")
            return
        }
        if run.isReclaimable {
            report.freePages += UInt64(run.count)
        } else {
            report.pinnedFreePages += UInt64(run.count)
        }
        for index in 0..<UInt64(run.count) {
            let page = run.page + index
            if !visited.insert(page) { add("page \(page) is freed and used") }
            _ = freed.insert(page)
        }
    }

    private mutating func compare(_ bitmap: Bitmap, region: Int) {
        let first = Page.first(ofRegion: region)
        for index in 0..<BitmapLayout.words {
            let page = first + UInt64(index * 64)
            let reached = visited.word(from: page)
            if bitmap.word(index) != reached { describe(bitmap.word(index), reached, from: page) }
            let end = PageNumber(report.pages)
            let present = end > page ? min(end - page, 64) : 0
            report.freePages += UInt64(
                (~reached & (present == 64 ? .max : 1 << present - 1)).nonzeroBitCount)
        }
    }

    private mutating func describe(_ used: UInt64, _ reached: UInt64, from first: PageNumber) {
        for bit in UInt64(0)..<64 where (used ^ reached) >> bit & 1 == 1 {
            let page = first + bit, isReached = reached >> bit & 1 == 1
            if let wrong, wrong.isReached == isReached, wrong.pages.upperBound + 1 == page {
                self.wrong?.pages = wrong.pages.lowerBound...page
            } else {
                tellWrong()
                wrong = (page...page, isReached)
            }
        }
    }

    private mutating func tellWrong() {
        guard let (pages, isReached) = wrong else { return }
        wrong = nil
        let isOne = pages.lowerBound == pages.upperBound
        let subject =
            isOne
            ? "page \(pages.lowerBound) is"
            : "pages \(pages.lowerBound) to \(pages.upperBound) are"
        add(
            isReached
                ? "\(subject) in use, and \(isOne ? "its bit says" : "their bits say") free"
                : "\(subject) lost: \(isOne ? "its bit says" : "their bits say") used, and nothing "
                    + "sound leads there")
    }
}

/// The extents that the check of a tree reached.
private final class TreeExtents: TreeVisitor {
    private(set) var refs: [Ref] = []
    private(set) var sequences: [TreeID] = []

    func visit(_ ref: Ref, as type: ExtentType) { refs.append(ref) }
    func visit(sequence id: TreeID) { sequences.append(id) }
}

extension Store {
    /// Checks the version of a file's newest meta; other processes may have the file open. O(file).
    package static func checkOfDurableVersion(
        of file: any StorageFile, encryptionKey: EncryptionKey? = nil
    ) throws(StorageError) -> CheckReport {
        let cache = PageCache(DataFile(file, cipher: try Cipher.of(file, encryptionKey)))
        guard let meta = try MetaPage.newest(fromDevice: false, of: cache.file)?.meta else {
            throw .noMeta
        }
        return try aside(meta, cache).check()
    }

    /// Checks the newest version. O(file).
    package func check() throws(StorageError) -> CheckReport {
        let snapshot = try beginRead()
        defer { snapshot.release() }
        return try StoreCheck.run(snapshot)
    }
}
