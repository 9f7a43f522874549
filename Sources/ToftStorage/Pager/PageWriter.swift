internal import ToftPlatform

/// The pages of the version being made: copies an extent at its first change, edits the copy in
/// memory, and never changes a page that another version can reach.
///
/// A store has one, which serves one write transaction after the other. `spill` runs only between
/// operations, so a pointer is valid until the next one.
final class PageWriter {
    /// The extents that the transaction reads: its own and those of the version that it builds on.
    let reader: PageReader
    let working: WorkingExtents
    let cache: PageCache
    private let rules: ExtentRules
    /// Whether nothing of the version may reach the file.
    private let isPrivate: Bool
    /// Nil between two transactions.
    var freeSpace: FreeSpace?
    /// Extents of this version that are already written to their pages, by page.
    private(set) var spilled: [PageNumber: Spilled] = [:]
    /// Whether the transaction is so large that its leaves are sorted before.
    private var isLarge = false
    /// Runs of pages that were spilled, and freed while borrowed bytes are kept: reused only after
    /// that, since borrowed bytes may be in them.
    private var held: [(page: PageNumber, count: Int)] = []

    struct Spilled {
        var digest: Digest
        var pageCount: Int32
        var type: ExtentType
    }

    init(_ cache: PageCache, _ rules: ExtentRules, isPrivate: Bool = false) {
        self.cache = cache
        self.rules = rules
        self.isPrivate = isPrivate
        working = WorkingExtents(version: 0)
        reader = PageReader(cache, working: working)
    }

    /// The version being made: every extent born in it may be edited.
    var version: Version { working.version }

    /// Extents of this version.
    var extentCount: Int { working.extents.count + spilled.count }

    /// Begins a version. `reset` has ended the one before.
    func begin(_ version: Version) {
        reader.begin()
        working.version = version
    }

    /// Forgets all that belonged to a version, after its commit or its rollback.
    func reset() {
        freeSpace = nil
        spilled = [:]
        isLarge = false
        held = []
        working.digests = [:]
        working.extents.removeAll()
        reader.end()
    }

    @inline(__always)
    func view(_ ref: Ref, as type: ExtentType) throws(StorageError) -> UnsafeRawPointer {
        try reader.view(ref, as: type)
    }

    // MARK: Extents

    /// Memory in which an extent may be changed. A clean extent is copied to another page first,
    /// and `ref` then names that page; so is a spilled one, while borrowed bytes are kept.
    func edit(_ ref: inout Ref, as type: ExtentType) throws(StorageError)
        -> UnsafeMutableRawPointer
    {
        if let base = try editInPlace(ref, as: type) { return base }
        let source = try reader.view(ref, as: type)
        let size = Int(ref.pageCount) * Page.size
        try reader.verify(ref, source, 0..<size)
        let copy = try allocatePages(Int(ref.pageCount), insteadOf: ref.birth)
        let base = working.extents.insert(
            copy.page, pageCount: Int(ref.pageCount), type: type, isZeroed: false)
        base.copyMemory(from: source, byteCount: size)
        ExtentHeader.write(base, page: copy.page, birth: copy.birth)
        try free(ref)
        ref = copy
        return base
    }

    /// Memory for changing an extent in place; nil if it has to move.
    @inline(__always)
    func editInPlace(_ ref: Ref, as type: ExtentType) throws(StorageError)
        -> UnsafeMutableRawPointer?
    {
        guard ref.birth == version else { return nil }
        if let extent = working.extents.find(ref.page), extent.type == type,
            extent.pageCount == ref.pageCount
        {
            return extent.base
        }
        return working.extents.isKeeping ? nil : try reload(ref, as: type)
    }

    /// A new extent, zeroed except for its header.
    func allocate(_ type: ExtentType, pageCount: Int) throws(StorageError) -> (
        Ref, UnsafeMutableRawPointer
    ) {
        let ref = try allocatePages(pageCount)
        let base = working.extents.insert(ref.page, pageCount: pageCount, type: type)
        ExtentHeader.write(
            to: base, type: type, pageCount: pageCount, page: ref.page, birth: version)
        return (ref, base)
    }

    /// Frees an extent: at once if it is of this version, otherwise when no version that can reach
    /// it is pinned any more.
    func free(_ ref: Ref) throws(StorageError) {
        guard let freeSpace else { throw .readOnly }
        // Not every extent is read before it is freed.
        guard Page.isRun(ref.page, count: ref.pageCount), ref.birth <= version else {
            throw .corrupt(page: ref.page, reason: "a reference names \(ref.pageCount) pages there")
        }
        if ref.birth == version {
            working.extents.remove(ref.page)
            let isSpilled = spilled.removeValue(forKey: ref.page) != nil
            if isSpilled, working.extents.isKeeping {
                return held.append((ref.page, Int(ref.pageCount)))
            }
            try freeSpace.release(ref.page, count: Int(ref.pageCount), in: self)
        } else {
            freeSpace.addFreed(
                page: ref.page, count: ref.pageCount, birth: ref.birth, death: version)
        }
    }

    /// Ends the keeping of borrowed bytes: their memory and pages are reused.
    @inline(__always)
    func giveBackKept() throws(StorageError) {
        working.extents.giveBackKept()
        try releaseHeld()
    }

    private func releaseHeld() throws(StorageError) {
        guard !held.isEmpty, let freeSpace else { return }
        let runs = held
        held = []
        for run in runs { try freeSpace.release(run.page, count: run.count, in: self) }
    }

    private func allocatePages(_ count: Int, insteadOf birth: Version = 0) throws(StorageError)
        -> Ref
    {
        guard let freeSpace else { throw .readOnly }
        let page = try freeSpace.allocate(
            count, freeSpace.expectedLifetime(after: birth, in: version), in: self)
        return Ref(page: page, birth: version, checksum: 0, pageCount: UInt32(count))
    }

    /// Brings a spilled extent back into memory.
    private func reload(_ ref: Ref, as type: ExtentType) throws(StorageError)
        -> UnsafeMutableRawPointer
    {
        let source = try reader.view(ref, as: type)
        let base = working.extents.insert(
            ref.page, pageCount: Int(ref.pageCount), type: type, isZeroed: false)
        base.copyMemory(from: source, byteCount: Int(ref.pageCount) * Page.size)
        spilled.removeValue(forKey: ref.page)
        return base
    }

    /// Writes a long value to pages of its own, at once.
    ///
    /// - Throws: `valueTooLong`, `diskFull`, `io`.
    func writeBlob(_ bytes: UnsafeRawBufferPointer) throws(StorageError) -> Ref {
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
        ref.digest = digest(of: base, .blob, page: ref.page, pageCount: pageCount)
        if isPrivate {
            working.extents.insert(ref.page, pageCount: pageCount, type: .blob).copyMemory(
                from: base, byteCount: size)
            return ref
        }
        try cache.file.cipher?.encrypt(base, to: base, pageCount: pageCount, ref.digest)
        try cache.write(UnsafeRawBufferPointer(buffer), at: ref.page.byteOffset)
        spilled[ref.page] = Spilled(
            digest: ref.digest, pageCount: Int32(truncatingIfNeeded: pageCount), type: .blob)
        return ref
    }

    /// Copies a long value to other pages, and frees those that it had.
    func moveBlob(_ ref: Ref) throws(StorageError) -> Ref {
        let moved = try writeBlob(try reader.blob(ref))
        reader.leave(ref)
        try free(ref)
        return moved
    }

    // MARK: To the file

    /// Bytes of extents from which on several threads work on them.
    private static let sharedSize = 1 << 20

    /// Computes the digest of an extent of this version, after those of its children, and returns
    /// it. An inner node's level must be below `limit`: if a damaged file names the version that is
    /// being made, its nodes may form a cycle.
    func finalizeChecksums(_ ref: Ref, below limit: Int = InnerLayout.maximumHeight + 1)
        throws(StorageError) -> Digest
    {
        if ref.birth != version { return ref.digest }
        if let done = spilled[ref.page] { return done.digest }
        guard let extent = working.extents.find(ref.page) else {
            throw .corrupt(page: ref.page, reason: "an extent of this transaction is lost")
        }
        if extent.type == .treeInner { try finalizeChildren(of: extent, below: limit) }
        return finalize(extent)
    }

    private func finalizeChildren(of extent: DirtyPages.Extent, below limit: Int)
        throws(StorageError)
    {
        let height = UnsafeRawPointer(extent.base).uint8(at: InnerLayout.height)
        guard height < limit else {
            throw .corrupt(page: extent.page, reason: "an inner node's level is too high")
        }
        let count = UnsafeRawPointer(extent.base).uint16(at: InnerLayout.count)
        guard InnerLayout.entries + count * InnerLayout.entrySize <= Page.size else {
            throw .corrupt(page: extent.page, reason: "an inner node contradicts itself")
        }
        var leaves: [DirtyPages.Extent] = [], places: [UnsafeMutableRawPointer] = []
        for index in 0..<count {
            let encoded = extent.base + InnerLayout.childRef(index)
            guard Ref.birth(decoding: encoded) == version else { continue }
            var child = Ref(decoding: encoded)
            if cache.file.cipher != nil, spilled[child.page] == nil,
                let leaf = working.extents.find(child.page), leaf.type.isLeaf
            {
                leaves.append(leaf)
                places.append(encoded)
                continue
            }
            child.digest = try finalizeChecksums(child, below: height)
            child.encode(to: encoded)
        }
        for (place, digest) in zip(places, finalize(leaves)) {
            var child = Ref(decoding: place)
            child.digest = digest
            child.encode(to: place)
        }
    }

    /// Computes the digests of leaves, in their order, on several threads if they have many bytes:
    /// the code of 1 MiB takes 0.8 ms.
    private func finalize(_ leaves: [DirtyPages.Extent]) -> [Digest] {
        guard let cipher = cache.file.cipher, leaves.count > 1,
            leaves.reduce(0, { $0 + $1.size }) >= Self.sharedSize
        else { return leaves.map(finalize) }
        var digests = [Digest](repeating: .none, count: leaves.count)
        let version = version, isLarge = isLarge, rules = rules
        nonisolated(unsafe) let leaves = leaves
        digests.withUnsafeMutableBufferPointer { buffer in
            nonisolated(unsafe) let buffer = buffer
            SharedWork<Never>.run(leaves.count) { index in
                let leaf = leaves[index]
                if isLarge { rules.defragment(leaf) }
                buffer[index] = cipher.digest(
                    of: leaf.base, leaf.type, page: leaf.page, birth: version,
                    pageCount: Int(leaf.pageCount))
            }
        }
        for (leaf, digest) in zip(leaves, digests) { working.digests[leaf.page] = digest }
        return digests
    }

    private func finalize(_ extent: DirtyPages.Extent) -> Digest {
        if isLarge { rules.defragment(extent) }
        return digest(
            of: extent.base, extent.type, page: extent.page, pageCount: Int(extent.pageCount))
    }

    private func digest(
        of base: UnsafeMutableRawPointer, _ type: ExtentType, page: PageNumber, pageCount: Int
    ) -> Digest {
        let digest = cache.file.digest(
            of: base, type, page: page, birth: version, pageCount: pageCount)
        if cache.file.cipher != nil { working.digests[page] = digest }
        return digest
    }

    /// Writes every extent that is still in memory. All have their checksums.
    func flush() throws(StorageError) {
        let extents = working.extents.sorted { _ in true }
        #if DEBUG || TOFT_TRIALS
        for extent in extents { try rules.check(extent, reader) }
        #endif
        guard let cipher = cache.file.cipher else { return try write(extents) }
        var digests = extents.map { working.digests[$0.page] ?? .none }
        try seal(extents, &digests, cipher)
    }

    /// Writes leaves to their pages and releases their memory, when all extents take more than
    /// `limit` bytes. While borrowed bytes are kept, only leaves that are newer than that.
    func spill(limit: Int) throws(StorageError) {
        let isKeeping = working.extents.isKeeping
        if !isKeeping { try giveBackKept() }
        guard working.extents.bytes > limit,
            !isKeeping || working.extents.freshBytes > limit / 2
        else { return }
        isLarge = true
        let leaves =
            isKeeping
            ? working.extents.takeFresh { $0.type.isLeaf }
            : working.extents.sorted { $0.type.isLeaf }
        for (leaf, digest) in zip(leaves, try finalizeAndWrite(leaves)) {
            spilled[leaf.page] = Spilled(
                digest: digest, pageCount: leaf.pageCount, type: leaf.type)
        }
        working.extents.keepMemory(of: limit)
        for leaf in leaves { working.extents.discard(leaf.page) }
        Failpoint.reach(.spilled)
    }

    /// Writes leaves in the order of their pages, and returns their digests.
    private func finalizeAndWrite(_ leaves: [DirtyPages.Extent]) throws(StorageError) -> [Digest] {
        guard let cipher = cache.file.cipher else {
            let digests = finalize(leaves)
            #if DEBUG || TOFT_TRIALS
            for leaf in leaves { try rules.check(leaf, reader) }
            #endif
            try write(leaves)
            return digests
        }
        var digests = [Digest](repeating: .none, count: leaves.count)
        let rules = rules
        #if DEBUG || TOFT_TRIALS
        let reader = reader
        #endif
        try seal(leaves, &digests, cipher) { leaf throws(StorageError) in
            rules.defragment(leaf)
            #if DEBUG || TOFT_TRIALS
            try rules.check(leaf, reader)
            #endif
        }
        for (leaf, digest) in zip(leaves, digests) { working.digests[leaf.page] = digest }
        return digests
    }

    /// Encrypts extents and writes them in the order of their pages.
    ///
    /// - Parameter digests: those of the extents; computed here if they have to be prepared first.
    private func seal(
        _ extents: [DirtyPages.Extent], _ digests: inout [Digest], _ cipher: Cipher,
        after prepare: (@Sendable (DirtyPages.Extent) throws(StorageError) -> Void)? = nil
    ) throws(StorageError) {
        let cache = cache, version = version
        try digests.withUnsafeMutableBufferPointer { digests throws(StorageError) in
            guard let first = digests.baseAddress else { return }
            try SealedWriter(
                cache: cache, cipher: cipher, version: version, extents: extents, digests: first,
                prepare: prepare
            ).write()
        }
    }

    /// Writes extents of a plain file in the order of their pages. They need not be verified when
    /// this process reads them: it has just computed their checksums.
    private func write(_ extents: [DirtyPages.Extent]) throws(StorageError) {
        try cache.write(extents)
        for extent in extents {
            cache.noteWritten(
                extent.page, count: Int(extent.pageCount), birth: version, from: extent.base)
        }
    }
}
