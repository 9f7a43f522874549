internal import ToftPlatform

/// A sequence: list elements by position, in blocks of one page each below counted inner nodes. For
/// lists too long for their cluster.
///
/// It moves elements as they are stored: making and freeing the blobs of long ones is the list's
/// business, but for `freeAll`. The same rules for threads, borrowed bytes and errors as in
/// `OrderedTree`.
package final class SequenceTree: @unchecked Sendable {
    let space: PageSpace
    /// Where the tree begins; the transaction writes it to the catalog.
    @exclusivity(unchecked) package var root: TreeRoot
    @exclusivity(unchecked) private var spine: Spine?

    package init(space: PageSpace, root: TreeRoot) {
        self.space = space
        self.root = root
    }

    /// Elements of the sequence.
    package var count: Int { Int(clamping: root.count) }

    /// What the elements are.
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

    /// The block that holds the element at an index, and where in it.
    func block(at index: Int) throws(StorageError) -> (block: ElementBlock, index: Int) {
        guard index >= 0, index < count, !root.isEmpty else {
            throw .indexOutOfRange(index: index, count: count)
        }
        var route = PositionRoute(remaining: UInt64(index))
        let (ref, base) = try root.leaf(&route, in: space, as: .sequenceLeaf)
        let block = try Self.block(base, ref, try kind())
        guard route.remaining < UInt64(block.count) else {
            throw .corrupt(page: ref.page, reason: "a leaf holds fewer elements than are counted")
        }
        return (block, Int(route.remaining))
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
        let cursor = LeafCursor(space: space, root: root, leafType: .sequenceLeaf)
        let kind = try kind()
        var route = EdgeRoute(isLast: false)
        var isThere = try cursor.seek(&route)
        while isThere, let base = cursor.base {
            guard try body(try Self.block(base, cursor.ref, kind)) else { return }
            isThere = try cursor.next()
        }
    }

    // MARK: Writing

    /// Fills an empty sequence with the elements of a block that fits into one leaf.
    func fill(from block: ElementBlock, kind: ElementKind) throws(StorageError) {
        root.flags =
            UInt16(kind.type.rawValue)
            | (kind.isNullable ? UInt16(TreeRootLayout.elementNullableFlag) : 0)
        let (ref, base) = try space.allocate(.sequenceLeaf, pageCount: 1)
        var writer = try ElementWriter(
            base + SequenceLeafLayout.block, capacity: SequenceLeafLayout.room, kind: kind,
            count: block.count, page: block.page)
        try writer.append(0..<block.count, of: block)
        self.writer().plant(&root, ref)
        root.count = UInt64(block.count)
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

    /// Forgets where the transaction that has ended stood.
    func rest() {
        spine?.leave()
    }

    private func writer() -> Spine {
        if let spine { return spine }
        let made = Spine(space: space, leafType: .sequenceLeaf)
        spine = made
        return made
    }

    private func splice(_ index: Int, removing removed: Int, inserting element: Element?)
        throws(StorageError)
    {
        guard index >= 0, index + removed <= count, !root.isEmpty else {
            throw .indexOutOfRange(index: index, count: count)
        }
        let spine = writer()
        var route = PositionRoute(remaining: UInt64(index))
        let (ref, base) = try spine.descend(&root, &route)
        let old = try Self.block(base, ref, try kind())
        guard route.remaining + UInt64(removed) <= UInt64(old.count) else {
            throw .corrupt(page: ref.page, reason: "a leaf holds fewer elements than are counted")
        }
        let place = Int(route.remaining)
        let change = (element == nil ? 0 : 1) - removed
        try spine.addRows(&root, change)
        if old.count + change == 0 {
            try spine.removeLeaf(&root)
            return try space.free(ref)
        }
        if spliceInPlace(base, old, place, removed, element) { return }
        let edited = try compose(
            old, place, removed, element, in: spine.leafScratch, page: ref.page)
        if edited.length <= SequenceLeafLayout.room {
            base.store(edited.base, count: edited.length, at: SequenceLeafLayout.block)
        } else {
            try split(edited, atEnd: place == old.count, base, spine)
        }
        if change < 0 { try mergeSmall(ref, base, spine) }
    }

    /// Elements of fixed width that cannot be null need no new block.
    private func spliceInPlace(
        _ base: UnsafeMutableRawPointer, _ old: ElementBlock, _ place: Int, _ removed: Int,
        _ element: Element?
    ) -> Bool {
        guard let width = old.kind.type.elementWidth, !old.kind.isNullable,
            case .cell(let cell) = element ?? .cell(.null)
        else { return false }
        let count = old.count + (element == nil ? 0 : 1) - removed
        let size = old.kind.blockSize(count: count, heapBytes: 0)
        guard size <= SequenceLeafLayout.room, count >= old.count else { return false }
        let block = base + SequenceLeafLayout.block
        let values = ElementLayout.values + place * width
        if count > old.count {
            block.move(from: values, to: values + width, count: (old.count - place) * width)
        }
        ElementWriter.store(cell, in: block, at: place)
        block.storeUInt16(count, at: ElementLayout.count)
        block.storeUInt32(size, at: ElementLayout.length)
        return true
    }

    /// The block as it shall be, in scratch memory: it may be too long for a leaf.
    private func compose(
        _ old: ElementBlock, _ place: Int, _ removed: Int, _ element: Element?,
        in scratch: UnsafeMutableRawPointer, page: UInt64
    )
        throws(StorageError) -> ElementBlock
    {
        try ElementEdit(replacing: place..<place + removed, with: element).apply(
            to: old, kind: old.kind, in: scratch, capacity: SpineScratch.blockSize)
    }

    private func split(
        _ edited: ElementBlock, atEnd: Bool, _ base: UnsafeMutableRawPointer, _ spine: Spine
    ) throws(StorageError) {
        let cut = atEnd ? edited.count - 1 : try middle(of: edited)
        let (rightRef, rightBase) = try space.allocate(.sequenceLeaf, pageCount: 1)
        let lost = Probe.makes(.elementLostInSplit) ? 1 : 0
        try write(edited, 0..<cut - lost, to: base)
        try write(edited, cut..<edited.count, to: rightBase)
        try spine.insertLeafRight(&root, .lowest, rightRef, rows: UInt64(edited.count - cut))
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

    /// Pours a leaf that fell below a quarter together with a neighbour, where both fit into three
    /// quarters of one.
    private func mergeSmall(_ ref: Ref, _ base: UnsafeMutableRawPointer, _ spine: Spine)
        throws(StorageError)
    {
        let leaf = try Self.block(base, ref, try kind())
        guard leaf.length < SequenceLeafLayout.room / 4 else { return }
        if let rightRef = try spine.sibling(1, root), let right = try neighbour(rightRef, leaf) {
            try pour(leaf, right, into: base, spine)
            try spine.removeLeafRight(&root)
            try space.free(rightRef)
        } else if var leftRef = try spine.sibling(-1, root), try neighbour(leftRef, leaf) != nil {
            spine.stepLeft()
            let leftBase = try space.edit(&leftRef, as: .sequenceLeaf)
            spine.replaceLeaf(&root, by: leftRef)
            try pour(try Self.block(leftBase, leftRef, leaf.kind), leaf, into: leftBase, spine)
            try spine.removeLeafRight(&root)
            try space.free(ref)
        }
    }

    private func neighbour(_ ref: Ref, _ leaf: ElementBlock) throws(StorageError) -> ElementBlock? {
        let block = try Self.block(try space.view(ref, as: .sequenceLeaf), ref, try kind())
        return block.length + leaf.length <= SequenceLeafLayout.room * 3 / 4 ? block : nil
    }

    private func pour(
        _ left: ElementBlock, _ right: ElementBlock, into base: UnsafeMutableRawPointer,
        _ spine: Spine
    ) throws(StorageError) {
        let lost = Probe.makes(.elementLostInMerge) ? 1 : 0
        let count = left.count + right.count - lost
        var writer = try ElementWriter(
            spine.leafScratch, capacity: SequenceLeafLayout.room, kind: try kind(), count: count,
            page: left.page)
        try writer.append(0..<left.count, of: left)
        try writer.append(0..<right.count - lost, of: right)
        base.store(spine.leafScratch, count: writer.length, at: SequenceLeafLayout.block)
    }
}
