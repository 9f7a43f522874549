/// Writes the extents of a version into another file, at their own places, encrypted for that one.
/// Children come before their parents, which get the children's new references.
///
/// It keeps one extent of each level in memory.
struct Transcript {
    private let snapshot: Snapshot
    private let cache: PageCache
    private var pages: PageReader { snapshot.pages }

    init(_ snapshot: Snapshot, _ cache: PageCache) {
        self.snapshot = snapshot
        self.cache = cache
    }

    /// Writes all of the version. Returns its root there. O(version).
    func root() throws(StorageError) -> Ref {
        var root = snapshot.root
        root.catalog.ref = try tree(root.catalog, isCatalog: true)
        root.directory = try list(
            root.directory, .regionDirectory,
            count: try FreeSpaceReader.regions(root.directory, in: pages).count,
            size: RegionEntry.size, offset: RegionEntry.bitmap, of: .bitmap)
        if root.batchList != .nowhere {
            root.batchList = try list(
                root.batchList, .batchList,
                count: try FreeSpaceReader.batches(root.batchList, in: pages).count,
                size: FreedBatchLayout.size, offset: FreedBatchLayout.ref, of: .freedBatch)
        }
        let copy = try copy(snapshot.rootRef, .root)
        root.write(to: copy.base)
        return try write(copy)
    }

    // MARK: Trees

    /// The topmost node of a tree.
    private func tree(_ root: TreeRoot, isCatalog: Bool = false) throws(StorageError) -> Ref {
        if root.isEmpty { return root.ref }
        return try node(root.ref, root.height, root.kind.leafType, isCatalog: isCatalog)
    }

    private func node(_ ref: Ref, _ height: Int, _ leafType: ExtentType, isCatalog: Bool)
        throws(StorageError) -> Ref
    {
        try CurrentCall.checkInterruption()
        let copy = try copy(ref, height > 0 ? .treeInner : leafType)
        if height > 0 {
            let inner = try InnerNode(copy.base, page: ref.page, height: height)
            let editor = InnerEditor(base: copy.base, page: ref.page)
            for index in 0..<inner.count {
                let child = try node(
                    inner.child(index), height - 1, leafType, isCatalog: isCatalog)
                editor.setChild(index, child)
            }
        } else {
            for offset in try LongValues.references(in: copy.base, of: ref, leafType) {
                let value = try self.copy(
                    Ref(decoding: UnsafeRawPointer(copy.base + offset)), .blob)
                if isCatalog { try entry(value.base + ExtentHeader.size, on: ref.page) }
                try write(value).encode(to: copy.base + offset)
            }
            if isCatalog { try entries(of: copy.base, on: ref.page) }
        }
        return try write(copy)
    }

    /// The trees whose roots are in a leaf of the catalog.
    private func entries(of base: UnsafeMutableRawPointer, on page: PageNumber)
        throws(StorageError)
    {
        let leaf = try OrderedLeaf(base, page: page)
        for index in 0..<leaf.count {
            let found = try leaf.entry(index)
            guard !found.isBlob, let start = found.stored.baseAddress else { continue }
            guard found.stored.count >= TreeRoot.size else {
                throw .corrupt(page: page, reason: "a tree root is cut short")
            }
            try entry(base + (start - UnsafeRawPointer(base)), on: page)
        }
    }

    /// The tree of one entry of the catalog, which begins with its root.
    private func entry(_ base: UnsafeMutableRawPointer, on page: PageNumber) throws(StorageError) {
        var root = try TreeRoot(
            decoding: UnsafeRawBufferPointer(start: base, count: TreeRoot.size), page: page)
        root.ref = try tree(root)
        root.encode(to: base)
    }

    // MARK: Free space

    /// A list of free space with the extents that its entries name. Their number was checked.
    private func list(
        _ ref: Ref, _ type: ExtentType, count: Int, size: Int, offset: Int, of child: ExtentType
    ) throws(StorageError) -> Ref {
        let copy = try copy(ref, type)
        var place =
            copy.base + ExtentHeader.payloadStart(type, pageCount: Int(ref.pageCount)) + offset
        for _ in 0..<count {
            try write(try self.copy(Ref(decoding: UnsafeRawPointer(place)), child)).encode(
                to: place)
            place += size
        }
        return try write(copy)
    }

    // MARK: Extents

    /// An extent in memory that may be changed.
    private final class Copy {
        let ref: Ref
        let type: ExtentType
        let base: UnsafeMutableRawPointer

        init(_ ref: Ref, _ type: ExtentType, of source: UnsafeRawPointer, byteCount: Int) {
            self.ref = ref
            self.type = type
            base = .allocate(byteCount: byteCount, alignment: Page.size)
            base.copyMemory(from: source, byteCount: byteCount)
        }

        deinit { base.deallocate() }
    }

    @inline(never)
    private func copy(_ ref: Ref, _ type: ExtentType) throws(StorageError) -> Copy {
        let source = try pages.view(ref, as: type)
        let byteCount = Int(ref.pageCount) * Page.size
        // Every page of a blob is verified when it is viewed.
        if type != .blob { try pages.verify(ref, source, 0..<byteCount) }
        let copy = Copy(ref, type, of: source, byteCount: byteCount)
        pages.leave(ref)
        return copy
    }

    /// Writes a copy, which ends it, and returns its new reference.
    @inline(never)
    private func write(_ copy: Copy) throws(StorageError) -> Ref {
        var ref = copy.ref
        let count = Int(ref.pageCount)
        ref.digest = cache.file.digest(
            of: copy.base, copy.type, page: ref.page, birth: ref.birth, pageCount: count)
        try cache.file.cipher?.encrypt(copy.base, to: copy.base, pageCount: count, ref.digest)
        try cache.write(
            UnsafeRawBufferPointer(start: copy.base, count: count * Page.size),
            at: ref.page.byteOffset)
        return ref
    }
}
