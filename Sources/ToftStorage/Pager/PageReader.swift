internal import Synchronization

/// The pages of one version. Any thread, no locks.
///
/// The reader of a committed version never changes. The reader of the version that a write
/// transaction is making sees the extents in `working`, too, and belongs to its thread.
///
/// A pointer that it hands out is valid until the snapshot is released; in a write transaction,
/// until the next change.
final class PageReader: Sendable {
    /// The version without a `working` one.
    private let committedVersion: Version
    let cache: PageCache
    /// The extents of the version being made; nil in a committed version.
    private let working: WorkingExtents?

    /// The pages of a committed version.
    init(_ cache: PageCache, version: Version) {
        cache.beginReading()
        self.cache = cache
        committedVersion = version
        working = nil
    }

    /// The pages of the version that is made in `working`, and of those before it. Nothing may be
    /// read before `begin`.
    init(_ cache: PageCache, working: WorkingExtents) {
        self.cache = cache
        committedVersion = 0
        self.working = working
    }

    /// The pages of `other` in other memory; extents of the version in progress are shared.
    init(_ cache: PageCache, again other: PageReader) {
        self.cache = cache
        committedVersion = other.committedVersion
        working = other.working
        if working?.isReading ?? true { cache.beginReading() }
    }

    deinit {
        if working?.isReading ?? true { cache.endReading() }
    }

    /// Begins to read for a version that is made. Idempotent.
    func begin() {
        guard let working, !working.isReading else { return }
        cache.beginReading()
        working.isReading = true
    }

    /// Ends that: nothing may be read until the next `begin`. Idempotent.
    func end() {
        guard let working, working.isReading else { return }
        working.isReading = false
        cache.endReading()
    }

    /// Whether some of the version is in memory and not in the file.
    var hasWorkingExtents: Bool { working != nil }

    /// The version that is read.
    var version: Version { working?.version ?? committedVersion }

    /// The first byte of an extent, whose first page (of a blob, every page) is verified and whose
    /// header matches the reference.
    ///
    /// - Throws: `corrupt`, `io`.
    @inline(__always)
    func view(_ ref: Ref, as type: ExtentType) throws(StorageError) -> UnsafeRawPointer {
        if let working, ref.birth == working.version { return try viewWorking(ref, as: type) }
        let count = try Self.checkedCount(ref, as: type)
        let (base, verified) = try cache.locate(ref.page, count: count)
        if verified[0].load(ordering: .acquiring) != ref.birth.rawValue {
            try verifyFirst(ref, type, count)
        }
        try Self.checkHeader(base, ref, type)
        return base
    }

    /// Whether the first page of an extent is verified.
    @inline(__always)
    func isAdmitted(_ ref: Ref) -> Bool {
        cache.located(ref.page)?.word.pointee.load(ordering: .acquiring) == ref.birth.rawValue
    }

    /// Reads extents of an encrypted file that `view` will need, on several threads. `view` reports
    /// damage to one.
    func admitAhead(_ refs: [Ref], as type: ExtentType) {
        let version = version
        cache.admitAhead(
            refs.filter {
                $0.birth != 0 && $0.birth <= version
                    && (working == nil || $0.birth != working?.version)
            }, as: type)
    }

    /// Verifies the pages that hold `range`, byte offsets from the extent's start. The first page
    /// is verified by `view`.
    @inline(__always)
    func verify(_ ref: Ref, _ base: UnsafeRawPointer, _ range: Range<Int>)
        throws(StorageError)
    {
        guard range.lowerBound >= 0, range.upperBound <= Int(ref.pageCount) &* Page.size else {
            throw .corrupt(page: ref.page, reason: "an offset leaves its extent")
        }
        if range.upperBound <= Page.size || range.isEmpty { return }
        if let working, ref.birth == working.version { return }
        let first = max(1, range.lowerBound / Page.size)
        let last = (range.upperBound &- 1) / Page.size
        if let verified = cache.located(ref.page, further: last)?.word {
            var page = first
            while verified[page].load(ordering: .acquiring) == ref.birth.rawValue {
                if page == last { return }
                page &+= 1
            }
        }
        try verifyFurther(ref, base, first...last)
    }

    /// Notes that an extent is not used any more. Releases its memory if that belongs to one walk.
    func leave(_ ref: Ref) {
        if cache.mode == .scan { cache.release(ref) }
    }

    /// The bytes of a long value.
    func blob(_ ref: Ref) throws(StorageError) -> UnsafeRawBufferPointer {
        try Self.payload(of: try view(ref, as: .blob), ref)
    }

    private static func payload(of base: UnsafeRawPointer, _ ref: Ref) throws(StorageError)
        -> UnsafeRawBufferPointer
    {
        let length = ExtentHeader.payloadLength(of: base)
        guard length <= Int(ref.pageCount) * Page.size - ExtentHeader.size else {
            throw .corrupt(page: ref.page, reason: "a long value is longer than its pages")
        }
        return UnsafeRawBufferPointer(start: base + ExtentHeader.size, count: length)
    }

    /// Calls `body` with the bytes of a long value, which must not keep them. If memory is full,
    /// that of an encrypted file does not keep them either.
    func withBlob<Value>(_ ref: Ref, _ body: (UnsafeRawBufferPointer) -> Value)
        throws(StorageError) -> Value
    {
        guard cache.file.cipher != nil, working == nil, cache.isFull else {
            return body(try blob(ref))
        }
        return try withBlobAside(ref, body)
    }

    @inline(never)
    private func withBlobAside<Value>(_ ref: Ref, _ body: (UnsafeRawBufferPointer) -> Value)
        throws(StorageError) -> Value
    {
        let count = try Self.checkedCount(ref, as: .blob)
        let known = try cache.locate(ref.page, count: count).word[0].load(ordering: .acquiring)
        guard let cipher = cache.file.cipher, known != ref.birth.rawValue else {
            return body(try blob(ref))
        }
        try checkBirth(ref)
        let buffer = UnsafeMutableRawPointer.allocate(
            byteCount: count * Page.size, alignment: Page.size)
        defer { buffer.deallocate() }
        try cache.file.read(ref.page, count: count, into: buffer)
        try cipher.decrypt(buffer, ref, .blob)
        try Self.checkHeader(buffer, ref, .blob)
        return body(try Self.payload(of: buffer, ref))
    }

    @inline(never)
    private func verifyFurther(_ ref: Ref, _ base: UnsafeRawPointer, _ pages: ClosedRange<Int>)
        throws(StorageError)
    {
        guard Int(ref.pageCount) <= ExtentLimit.pages else { return }
        let (_, verified) = try cache.locate(ref.page, count: Int(ref.pageCount))
        var page = pages.lowerBound
        while page <= pages.upperBound {
            if verified[page].load(ordering: .acquiring) == ref.birth.rawValue {
                page += 1
                continue
            }
            var end = page + 1
            while end <= pages.upperBound,
                verified[end].load(ordering: .relaxed) != ref.birth.rawValue
            {
                end += 1
            }
            let run = page..<end
            try cache.admit(ref.page + UInt64(page), count: run.count, birth: ref.birth) {
                _ throws(StorageError) in
                // All of an encrypted extent was verified with its first page.
                if cache.file.cipher != nil {
                    throw .corrupt(page: ref.page, reason: "another extent is in its pages")
                }
                for page in run { try Self.check(page, of: ref, base) }
            }
            page = end
        }
    }

    /// Compares a further page of an extent with the table of checksums in its first one.
    private static func check(_ page: Int, of ref: Ref, _ base: UnsafeRawPointer)
        throws(StorageError)
    {
        let entry = ExtentHeader.size + (page - 1) * ExtentHeader.checksumSize
        guard
            Checksum.of(base + page * Page.size, count: Page.size) == base.uint64(at: entry)
        else {
            throw .corrupt(
                page: ref.page + UInt64(page),
                reason: "its checksum differs from its extent's table")
        }
    }

    /// The extents that are in memory and not in the file, in the order of their pages: those of a
    /// version that was replayed into memory.
    func extentsInMemory() -> [DirtyPages.Extent] { working?.extents.sorted { _ in true } ?? [] }

    /// An extent of the version being made: in memory, or spilled to its pages, which nobody else
    /// can have changed.
    @inline(never)
    private func viewWorking(_ ref: Ref, as type: ExtentType) throws(StorageError)
        -> UnsafeRawPointer
    {
        if let extent = working?.extents.find(ref.page) {
            guard extent.type == type, extent.pageCount == ref.pageCount else {
                throw .corrupt(
                    page: ref.page,
                    reason: "an extent of this transaction has another type than its reference says"
                )
            }
            return UnsafeRawPointer(extent.base)
        }
        let count = try Self.checkedCount(ref, as: type)
        let (base, verified) = try cache.locate(ref.page, count: count)
        if verified[0].load(ordering: .relaxed) != ref.birth.rawValue {
            // A spilled extent was written by this transaction.
            try cache.admit(ref.page, count: count, birth: ref.birth) {
                bytes throws(StorageError) in
                guard let cipher = cache.file.cipher, let working else { return }
                var ref = ref
                ref.digest = working.digests[ref.page] ?? .none
                try cipher.decrypt(bytes, ref, type)
            }
        }
        try Self.checkHeader(base, ref, type)
        return base
    }

    @inline(__always)
    private static func checkedCount(_ ref: Ref, as type: ExtentType) throws(StorageError) -> Int {
        let isBlob = if case .blob = type { true } else { false }
        let limit = isBlob ? ExtentLimit.blobPages : ExtentLimit.pages
        guard ref.pageCount >= 1, ref.pageCount <= limit else {
            throw .corrupt(page: ref.page, reason: "a reference names \(ref.pageCount) pages")
        }
        return Int(ref.pageCount)
    }

    @inline(never)
    private func verifyFirst(_ ref: Ref, _ type: ExtentType, _ count: Int) throws(StorageError) {
        try checkBirth(ref)
        let pages = type == .blob || cache.file.cipher != nil ? count : 1
        try cache.admit(ref.page, count: pages, birth: ref.birth) { bytes throws(StorageError) in
            if let cipher = cache.file.cipher { return try cipher.decrypt(bytes, ref, type) }
            guard Checksum.of(bytes, count: pages * Page.size) == ref.checksum else {
                throw .corrupt(page: ref.page, reason: "its checksum differs from its parent's")
            }
        }
    }

    private func checkBirth(_ ref: Ref) throws(StorageError) {
        guard ref.birth != 0, ref.birth <= version else {
            throw .corrupt(
                page: ref.page,
                reason: "it was born in version \(ref.birth), after version \(version)")
        }
    }

    @inline(__always)
    static func checkHeader(_ base: UnsafeRawPointer, _ ref: Ref, _ type: ExtentType)
        throws(StorageError)
    {
        guard base.uint8(at: ExtentHeader.type) == Int(type.rawValue),
            base.uint32(at: ExtentHeader.pageCount) == Int(ref.pageCount),
            base.uint64(at: ExtentHeader.page) == ref.page,
            base.uint64(at: ExtentHeader.birth) == ref.birth
        else {
            throw .corrupt(page: ref.page, reason: "its header differs from its parent's reference")
        }
    }
}

/// The extents of the version being made that are in memory.
///
/// `@unchecked Sendable`: it is changed by the thread of the write transaction alone, and read by
/// that thread; those of a version replayed into memory are not changed once they are shared.
final class WorkingExtents: @unchecked Sendable {
    /// The version being made.
    @exclusivity(unchecked) var version: Version  // read in every operation
    @exclusivity(unchecked) var extents = DirtyPages()  // read in every operation
    /// In an encrypted file: the MACs of finished and written extents.
    @exclusivity(unchecked) var digests: [PageNumber: Digest] = [:]  // of spilled extents
    /// True if the file knows that pages are being read.
    fileprivate var isReading = false

    init(version: Version) { self.version = version }
}
