/// List elements by position, in blocks of one page each below counted inner nodes: for lists too
/// long for their cluster. Threads and borrowed bytes follow the rules of `TreeReader`.
struct SequenceReader {
    let pages: PageReader
    let head: TreeHead

    var root: TreeRoot { head.root }

    /// Elements of the sequence.
    var count: Int { Int(clamping: root.count) }

    /// The type of the elements.
    func kind() throws(StorageError) -> ElementKind {
        guard
            let type = ColumnType(
                rawValue: UInt8(
                    truncatingIfNeeded: Int(root.flags) & TreeRootLayout.elementTypeMask)),
            type != .list
        else {
            throw .corrupt(page: root.ref.page, reason: "a sequence of unknown elements")
        }
        return ElementKind(
            type: type, isNullable: Int(root.flags) & TreeRootLayout.elementNullableFlag != 0)
    }

    // MARK: Reading

    /// The block with the element at an index, and the element's position in it.
    func block(at index: Int) throws(StorageError) -> (block: ElementBlock, index: Int) {
        guard index >= 0, index < count, !root.isEmpty else {
            throw .indexOutOfRange(index: index, count: count)
        }
        var target = PositionTarget(remaining: UInt64(index))
        let (ref, base) = try root.leaf(&target, in: pages, as: .sequenceLeaf)
        let block = try Self.block(base, ref, try kind())
        guard target.remaining < UInt64(block.count) else {
            throw .corrupt(page: ref.page, reason: "a leaf holds fewer elements than are counted")
        }
        return (block, Int(target.remaining))
    }

    static func block(_ base: UnsafeRawPointer, _ ref: Ref, _ kind: ElementKind)
        throws(StorageError) -> ElementBlock
    {
        guard ExtentHeader.isPlain(base) else {
            throw .corrupt(page: ref.page, reason: "a leaf of unknown encoding")
        }
        return try ElementBlock(
            base + SequenceLeafLayout.block, available: SequenceLeafLayout.room, kind: kind,
            page: ref.page)
    }

    /// Calls `body` for each block in order until it returns false.
    func forEachBlock(_ body: (ElementBlock) throws(StorageError) -> Bool) throws(StorageError) {
        let cursor = LeafCursor(pages: pages, root: root, leafType: .sequenceLeaf)
        let kind = try kind()
        var target = EdgeTarget(isLast: false)
        var isThere = try cursor.seek(&target)
        while isThere, let base = cursor.base {
            guard try body(try Self.block(base, cursor.ref, kind)) else { return }
            isThere = try cursor.next()
        }
    }

    // MARK: The check

    /// Checks every node, element and blob. Reports each extent to `visitor`; throws at the first
    /// damage. O(elements).
    func check(_ visitor: any TreeVisitor) throws(StorageError) {
        guard !root.isEmpty else { return }
        var walker = SequenceLeafWalker(pages: pages, visitor: visitor, kind: try kind())
        try root.check(&walker, in: pages, as: .sequenceLeaf, visitor)
    }
}

extension Catalog {
    /// The elements of the list with this id.
    func sequence(_ id: TreeID) throws(StorageError) -> SequenceReader {
        SequenceReader(pages: pages, head: try head(id, .sequence))
    }
}

extension ElementBlock {
    /// Checks every element, and reports the blobs.
    func check(in pages: PageReader, _ visitor: any TreeVisitor) throws(StorageError) {
        try check()
        guard kind.type == .bytes else { return }
        for index in 0..<count {
            guard case .blob(let bytes) = try element(index), let base = bytes.baseAddress else {
                continue
            }
            let ref = Ref(decoding: base)
            _ = try pages.blob(ref)
            pages.leave(ref)
            try visitor.visit(ref, as: .blob)
        }
    }
}

private struct SequenceLeafWalker: LeafWalker {
    let pages: PageReader
    let visitor: any TreeVisitor
    let kind: ElementKind

    func leaf(_ ref: Ref, _ base: UnsafeRawPointer, from low: Separator?, below high: Separator?)
        throws(StorageError) -> UInt64
    {
        let block = try SequenceReader.block(base, ref, kind)
        try block.check(in: pages, visitor)
        return UInt64(block.count)
    }
}
