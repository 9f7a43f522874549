internal import Synchronization
internal import ToftPlatform

/// The pages that one snapshot or one write transaction sees.
///
/// A reading space is immutable and may be used by any thread. A writing space belongs to the
/// thread of its transaction: it copies an extent at its first change, edits the copy in memory,
/// and never touches a page that another version can reach.
///
/// Pointers that it hands out stay valid until the snapshot is released; in a write transaction,
/// until its next operation (`spill` runs only between operations).
package final class PageSpace: @unchecked Sendable {
    /// The version seen; while writing, the version being made: every extent born in it is ours.
    @exclusivity(unchecked) package private(set) var version: UInt64
    package let isWritable: Bool
    /// Whether nothing of it may reach the file.
    private let isPrivate: Bool
    /// Between two transactions, when nothing may be read.
    private var isResting = false
    let file: MappedFile
    /// Extents in memory. Behind a pointer, as the runtime guards each access to a class's own
    /// variable; this one is read in every operation.
    let dirty: UnsafeMutablePointer<DirtyTable>
    /// Checksums of extents of ours that are already written to their pages.
    var spilled: [UInt64: Spilled] = [:]
    var freeSpace: FreeSpace?

    struct Spilled {
        var checksum: UInt64
        var pageCount: Int32
        var type: ExtentType
    }

    /// A reading space.
    init(file: MappedFile, version: UInt64) {
        file.beginReading()
        self.file = file
        self.version = version
        isWritable = false
        isPrivate = false
        dirty = .allocate(capacity: 1)
        dirty.initialize(to: DirtyTable(capacity: 1))
    }

    /// A writing space.
    init(
        file: MappedFile, version: UInt64, freeSpace: FreeSpace, isPrivate: Bool = false
    ) {
        file.beginReading()
        self.isPrivate = isPrivate
        self.file = file
        self.version = version
        self.freeSpace = freeSpace
        isWritable = true
        dirty = .allocate(capacity: 1)
        dirty.initialize(to: DirtyTable())
    }

    /// Lets go of all that belonged to a version which was flushed and whose transaction has ended.
    func rest() {
        file.endReading()
        isResting = true
        freeSpace = nil
        spilled = [:]
        dirty.pointee.removeAll()
    }

    /// Begins another version, after a rest.
    func begin(_ version: UInt64, _ freeSpace: FreeSpace) {
        file.beginReading()
        isResting = false
        self.version = version
        self.freeSpace = freeSpace
    }

    deinit {
        if !isResting { file.endReading() }
        dirty.deinitialize(count: 1)
        dirty.deallocate()
    }

    // MARK: Reading

    /// The first byte of an extent, whose first page (of a blob, every page) is verified and whose
    /// header is what the reference says.
    @inline(__always)
    package func view(_ ref: Ref, as type: ExtentType) throws(StorageError) -> UnsafeRawPointer {
        if isWritable && ref.birth == version {
            return try viewOurs(ref, as: type)
        }
        let count = try Self.checkedCount(ref, as: type)
        let (base, verified) = try file.locate(ref.page, count: count)
        if verified[0].load(ordering: .acquiring) != ref.birth {
            try verifyFirst(ref, type, base, count)
        }
        try Self.checkHeader(base, ref, type)
        return base
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
        if range.upperBound <= Page.size || (isWritable && ref.birth == version) { return }
        try verifyFurther(
            ref, base, max(1, range.lowerBound / Page.size)...((range.upperBound - 1) / Page.size))
    }

    private func verifyFurther(_ ref: Ref, _ base: UnsafeRawPointer, _ pages: ClosedRange<Int>)
        throws(StorageError)
    {
        guard Int(ref.pageCount) <= ExtentLimit.pages else { return }
        let (_, verified) = try file.locate(ref.page, count: Int(ref.pageCount))
        var page = pages.lowerBound
        while page <= pages.upperBound {
            if verified[page].load(ordering: .acquiring) == ref.birth {
                page += 1
                continue
            }
            var end = page + 1
            while end <= pages.upperBound, verified[end].load(ordering: .relaxed) != ref.birth {
                end += 1
            }
            let run = page..<end
            try file.admit(ref.page + UInt64(page), count: run.count, birth: ref.birth) {
                () throws(StorageError) in
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

    private func viewOurs(_ ref: Ref, as type: ExtentType) throws(StorageError) -> UnsafeRawPointer
    {
        if let extent = dirty.pointee.find(ref.page) {
            guard extent.type == type, extent.pageCount == ref.pageCount else {
                throw .corrupt(
                    page: ref.page,
                    reason: "an extent of this transaction has another type than its reference says"
                )
            }
            return UnsafeRawPointer(extent.base)
        }
        let count = try Self.checkedCount(ref, as: type)
        let (base, verified) = try file.locate(ref.page, count: count)
        if verified[0].load(ordering: .relaxed) != ref.birth {
            // What was spilled was written by this transaction.
            try file.admit(ref.page, count: count, birth: ref.birth) {}
        }
        try Self.checkHeader(base, ref, type)
        return base
    }

    private static func checkedCount(_ ref: Ref, as type: ExtentType) throws(StorageError) -> Int {
        let limit = type == .blob ? ExtentLimit.blobPages : ExtentLimit.pages
        guard ref.pageCount >= 1, ref.pageCount <= limit else {
            throw .corrupt(page: ref.page, reason: "a reference names \(ref.pageCount) pages")
        }
        return Int(ref.pageCount)
    }

    private func verifyFirst(
        _ ref: Ref, _ type: ExtentType, _ base: UnsafeRawPointer, _ count: Int
    ) throws(StorageError) {
        guard ref.birth != 0, ref.birth <= version else {
            throw .corrupt(
                page: ref.page,
                reason: "it was born in version \(ref.birth), after version \(version)")
        }
        let pages = type == .blob ? count : 1
        try file.admit(ref.page, count: pages, birth: ref.birth) { () throws(StorageError) in
            guard
                Checksum.of(base, count: pages * Page.size) == ref.checksum
                    || Probe.makes(.checksumNotCompared)
            else {
                throw .corrupt(page: ref.page, reason: "its checksum differs from its parent's")
            }
        }
    }

    @inline(__always)
    static func checkHeader(_ base: UnsafeRawPointer, _ ref: Ref, _ type: ExtentType)
        throws(StorageError)
    {
        guard base.load(fromByteOffset: ExtentHeader.type, as: UInt8.self) == type.rawValue,
            UInt32(
                littleEndian: base.loadUnaligned(
                    fromByteOffset: ExtentHeader.pageCount, as: UInt32.self)) == ref.pageCount,
            UInt64(
                littleEndian: base.loadUnaligned(fromByteOffset: ExtentHeader.page, as: UInt64.self)
            ) == ref.page,
            UInt64(
                littleEndian: base.loadUnaligned(
                    fromByteOffset: ExtentHeader.birth, as: UInt64.self)) == ref.birth
        else {
            throw .corrupt(page: ref.page, reason: "its header differs from its parent's reference")
        }
    }

    // MARK: Writing

    /// Memory in which an extent may be changed. A clean extent is copied to a new place first, and
    /// `ref` then names that place.
    package func edit(_ ref: inout Ref, as type: ExtentType) throws(StorageError)
        -> UnsafeMutableRawPointer
    {
        if ref.birth == version {
            if let extent = dirty.pointee.find(ref.page), extent.type == type,
                extent.pageCount == ref.pageCount
            {
                return extent.base
            }
            return try reload(ref, as: type)
        }
        let source = try view(ref, as: type)
        let size = Int(ref.pageCount) * Page.size
        try verify(ref, source, 0..<size)
        let copy = try allocatePages(Int(ref.pageCount), insteadOf: ref.birth)
        let base = dirty.pointee.insert(
            copy.page, pageCount: Int(ref.pageCount), type: type, isZeroed: false)
        base.copyMemory(from: source, byteCount: size)
        ExtentHeader.place(base, page: copy.page, birth: copy.birth)
        try free(ref)
        ref = copy
        return base
    }

    /// A new extent: zeroed but for its header.
    package func allocate(_ type: ExtentType, pageCount: Int) throws(StorageError) -> (
        Ref, UnsafeMutableRawPointer
    ) {
        let ref = try allocatePages(pageCount)
        let base = dirty.pointee.insert(ref.page, pageCount: pageCount, type: type)
        ExtentHeader.write(
            to: base, type: type, pageCount: pageCount, page: ref.page, birth: version)
        return (ref, base)
    }

    /// Gives an extent up: at once if it is ours, else when no version that can reach it is pinned
    /// any more.
    package func free(_ ref: Ref) throws(StorageError) {
        guard let freeSpace else { throw .readOnly }
        // Not every extent is looked at before it is given up.
        guard Page.isRun(ref.page, count: ref.pageCount), ref.birth <= version else {
            throw .corrupt(page: ref.page, reason: "a reference names \(ref.pageCount) pages there")
        }
        if ref.birth == version || Probe.makes(.pageReusedTooEarly) {
            dirty.pointee.remove(ref.page)
            spilled.removeValue(forKey: ref.page)
            try freeSpace.release(ref.page, count: Int(ref.pageCount), in: self)
        } else {
            freeSpace.addFreed(
                page: ref.page, count: ref.pageCount, birth: ref.birth, death: version)
        }
    }

    private func allocatePages(_ count: Int, insteadOf birth: UInt64 = 0) throws(StorageError)
        -> Ref
    {
        guard let freeSpace else { throw .readOnly }
        let page = try freeSpace.allocate(
            count, freeSpace.expectedLifetime(after: birth, in: version), in: self)
        return Ref(page: page, birth: version, checksum: 0, pageCount: UInt32(count))
    }

    private func reload(_ ref: Ref, as type: ExtentType) throws(StorageError)
        -> UnsafeMutableRawPointer
    {
        let source = try viewOurs(ref, as: type)
        let base = dirty.pointee.insert(
            ref.page, pageCount: Int(ref.pageCount), type: type, isZeroed: false)
        base.copyMemory(from: source, byteCount: Int(ref.pageCount) * Page.size)
        spilled.removeValue(forKey: ref.page)
        return base
    }

    // MARK: Long values

    /// Writes a long value to pages of its own, at once.
    package func writeBlob(_ bytes: UnsafeRawBufferPointer) throws(StorageError) -> Ref {
        guard bytes.count <= ExtentLimit.blobBytes else {
            throw .valueTooLong(length: bytes.count, limit: ExtentLimit.blobBytes)
        }
        let pageCount = (ExtentHeader.size + bytes.count + Page.size - 1) / Page.size
        var ref = try allocatePages(pageCount)
        let size = pageCount * Page.size
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
        defer { buffer.deallocate() }
        guard let base = buffer.baseAddress else { throw .addressSpaceExhausted }
        ExtentHeader.write(
            to: base, type: .blob, pageCount: pageCount, page: ref.page, birth: version)
        ExtentHeader.setPayloadLength(bytes.count, of: base)
        if let source = bytes.baseAddress {
            (base + ExtentHeader.size).copyMemory(from: source, byteCount: bytes.count)
        }
        let used = ExtentHeader.size + bytes.count
        (base + used).initializeMemory(as: UInt8.self, repeating: 0, count: size - used)
        ref.checksum = Checksum.of(base, count: size)
        if isPrivate {
            dirty.pointee.insert(ref.page, pageCount: pageCount, type: .blob).copyMemory(
                from: base, byteCount: size)
            return ref
        }
        try file.write(UnsafeRawBufferPointer(buffer), at: ref.page * UInt64(Page.size))
        spilled[ref.page] = Spilled(
            checksum: ref.checksum, pageCount: Int32(truncatingIfNeeded: pageCount), type: .blob)
        return ref
    }

    /// The bytes of a long value.
    package func blob(_ ref: Ref) throws(StorageError) -> UnsafeRawBufferPointer {
        let base = try view(ref, as: .blob)
        let length = ExtentHeader.payloadLength(of: base)
        guard length <= Int(ref.pageCount) * Page.size - ExtentHeader.size else {
            throw .corrupt(page: ref.page, reason: "a long value is longer than its pages")
        }
        return UnsafeRawBufferPointer(start: base + ExtentHeader.size, count: length)
    }
}
