/// Changes a sequence of the version being made.
///
/// It moves elements in their stored form: the blobs of long ones are made and freed by the list,
/// except in `freeAll`.
final class SequenceWriter {
    let reader: SequenceReader
    private let pages: PageWriter
    private let head: TreeHead
    private let scratch: ScratchBuffers
    private let path: TreePath

    init(_ reader: SequenceReader, pages: PageWriter, scratch: ScratchBuffers) {
        self.reader = reader
        self.pages = pages
        self.scratch = scratch
        head = reader.head
        path = TreePath(pages: pages, leafType: .sequenceLeaf, scratch: scratch)
    }

    private var root: TreeRoot { head.root }

    /// Fills an empty sequence with the elements of a block that fits into one leaf.
    func fill(from block: ElementBlock, kind: ElementKind) throws(StorageError) {
        setKind(kind)
        let (ref, base) = try pages.allocate(.sequenceLeaf, pageCount: 1)
        var writer = try ElementWriter(
            base + SequenceLeafLayout.block, capacity: SequenceLeafLayout.room, kind: kind,
            count: block.count, page: block.page)
        try writer.append(0..<block.count, of: block)
        path.createRootLeaf(&head.root, ref)
        head.root.count = UInt64(block.count)
    }

    /// Sets the type of the elements. If they become nullable, a leaf stays as it is until one of
    /// its elements changes.
    func setKind(_ kind: ElementKind) {
        head.root.flags =
            UInt16(kind.type.rawValue)
            | (kind.isNullable ? UInt16(TreeRootLayout.elementNullableFlag) : 0)
    }

    /// Inserts an element before `index`, or at the end.
    func insert(_ element: Element, at index: Int) throws(StorageError) {
        try splice(index, removing: 0, inserting: element)
    }

    /// Replaces the element at an index.
    func replace(at index: Int, with element: Element) throws(StorageError) {
        try splice(index, removing: 1, inserting: element)
    }

    /// Removes the element at an index.
    func remove(at index: Int) throws(StorageError) {
        try splice(index, removing: 1, inserting: nil)
    }

    private func splice(_ index: Int, removing removed: Int, inserting element: Element?)
        throws(StorageError)
    {
        guard index >= 0, index + removed <= reader.count, !root.isEmpty else {
            throw .indexOutOfRange(index: index, count: reader.count)
        }
        var target = PositionTarget(remaining: UInt64(index))
        let (ref, base) = try path.descend(&head.root, &target)
        let old = try SequenceReader.block(base, ref, try reader.kind())
        guard target.remaining + UInt64(removed) <= UInt64(old.count) else {
            throw .corrupt(page: ref.page, reason: "a leaf holds fewer elements than are counted")
        }
        let position = Int(target.remaining)
        let change = (element == nil ? 0 : 1) - removed
        try path.addRows(&head.root, change)
        if old.count + change == 0 {
            try path.removeLeaf(&head.root)
            return try pages.free(ref)
        }
        if spliceInPlace(base, old, position, removed, element) { return }
        let edited = try compose(
            old, position, removed, element, in: scratch.leaf, page: ref.page)
        if edited.length <= SequenceLeafLayout.room {
            base.store(edited.base, count: edited.length, at: SequenceLeafLayout.block)
        } else {
            try split(edited, atEnd: position == old.count, old, base)
        }
        if change < 0 { try mergeSmall(ref, base) }
    }

    /// Elements of fixed width that cannot be null need no new block.
    private func spliceInPlace(
        _ base: UnsafeMutableRawPointer, _ old: ElementBlock, _ position: Int, _ removed: Int,
        _ element: Element?
    ) -> Bool {
        guard let width = old.kind.type.elementWidth, !old.kind.isNullable,
            case .cell(let cell) = element ?? .cell(.null)
        else { return false }
        if element != nil, case .null = cell { return false }
        let count = old.count + (element == nil ? 0 : 1) - removed
        let size = old.kind.blockSize(count: count, heapBytes: 0)
        guard size <= SequenceLeafLayout.room, count >= old.count else { return false }
        let block = base + SequenceLeafLayout.block
        let values = ElementLayout.values + position * width
        if count > old.count {
            block.move(from: values, to: values + width, count: (old.count - position) * width)
        }
        ElementWriter.store(cell, of: old.kind.type, in: block, at: position)
        block.storeUInt16(count, at: ElementLayout.count)
        block.storeUInt32(size, at: ElementLayout.length)
        return true
    }

    /// The changed block, in scratch memory of two pages: it may be too long for a leaf.
    private func compose(
        _ old: ElementBlock, _ position: Int, _ removed: Int, _ element: Element?,
        in scratch: UnsafeMutableRawPointer, page: PageNumber
    )
        throws(StorageError) -> ElementBlock
    {
        try ElementEdit(replacing: position..<position + removed, with: element).apply(
            to: old, kind: try reader.kind(), in: scratch, capacity: ScratchBuffers.leafSize)
    }

    private func split(
        _ edited: ElementBlock, atEnd: Bool, _ old: ElementBlock, _ base: UnsafeMutableRawPointer
    ) throws(StorageError) {
        // A full leaf whose elements become nullable has no room for their bitmap.
        let cut =
            atEnd && old.kind == edited.kind ? edited.count - 1 : try middle(of: edited)
        let (rightRef, rightBase) = try pages.allocate(.sequenceLeaf, pageCount: 1)
        try write(edited, 0..<cut, to: base)
        try write(edited, cut..<edited.count, to: rightBase)
        try path.insertLeafRight(&head.root, .lowest, rightRef, rows: UInt64(edited.count - cut))
    }

    private func write(_ block: ElementBlock, _ range: Range<Int>, to leaf: UnsafeMutableRawPointer)
        throws(StorageError)
    {
        var writer = try ElementWriter(
            leaf + SequenceLeafLayout.block, capacity: SequenceLeafLayout.room, kind: block.kind,
            count: range.count, page: block.page)
        try writer.append(range, of: block)
    }

    private func middle(of block: ElementBlock) throws(StorageError) -> Int {
        guard block.kind.type == .bytes else { return block.count / 2 }
        var sum = 0
        for index in 0..<block.count {
            sum += try block.element(index).heapBytes + ElementLayout.slotSize
            if sum * 2 >= block.length { return min(max(1, index + 1), block.count - 1) }
        }
        return block.count / 2
    }

    /// Merges a leaf that fell below a quarter with a neighbour, if both fit into three quarters of
    /// one.
    private func mergeSmall(_ ref: Ref, _ base: UnsafeMutableRawPointer)
        throws(StorageError)
    {
        let leaf = try SequenceReader.block(base, ref, try reader.kind())
        guard leaf.length < SequenceLeafLayout.room / 4 else { return }
        if let rightRef = try path.sibling(1, root), let right = try neighbour(rightRef, leaf) {
            try merge(leaf, right, into: base)
            try path.removeLeafRight(&head.root)
            try pages.free(rightRef)
        } else if var leftRef = try path.sibling(-1, root), try neighbour(leftRef, leaf) != nil {
            path.stepLeft()
            let leftBase = try pages.edit(&leftRef, as: .sequenceLeaf)
            path.replaceLeaf(&head.root, by: leftRef)
            try merge(try SequenceReader.block(leftBase, leftRef, leaf.kind), leaf, into: leftBase)
            try path.removeLeafRight(&head.root)
            try pages.free(ref)
        }
    }

    private func neighbour(_ ref: Ref, _ leaf: ElementBlock) throws(StorageError) -> ElementBlock? {
        let block = try SequenceReader.block(
            try pages.view(ref, as: .sequenceLeaf), ref, try reader.kind())
        return block.length + leaf.length <= SequenceLeafLayout.room * 3 / 4 ? block : nil
    }

    private func merge(
        _ left: ElementBlock, _ right: ElementBlock, into base: UnsafeMutableRawPointer
    ) throws(StorageError) {
        let count = left.count + right.count
        var writer = try ElementWriter(
            scratch.leaf, capacity: SequenceLeafLayout.room, kind: try reader.kind(), count: count,
            page: left.page)
        try writer.append(0..<left.count, of: left)
        try writer.append(0..<right.count, of: right)
        base.store(scratch.leaf, count: writer.length, at: SequenceLeafLayout.block)
    }

    /// Frees every extent of the sequence, blobs included. It is empty afterwards. O(elements).
    func freeAll() throws(StorageError) {
        guard !root.isEmpty else { return }
        let kind = try reader.kind()
        try root.freeNodes(in: pages) { (ref) throws(StorageError) in
            let block = try SequenceReader.block(
                try pages.view(ref, as: .sequenceLeaf), ref, kind)
            try block.freeBlobs(in: pages)
            try pages.free(ref)
        }
        head.root.ref = .nowhere
        head.root.height = 0
        head.root.count = 0
    }
}

extension ElementBlock {
    /// Frees the blobs of all elements.
    func freeBlobs(in pages: PageWriter) throws(StorageError) {
        guard kind.type == .bytes else { return }
        for index in 0..<count {
            if case .blob(let bytes) = try element(index), let ref = bytes.baseAddress {
                try pages.free(Ref(decoding: ref))
            }
        }
    }
}
