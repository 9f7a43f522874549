/// Is called for everything that a check reaches.
protocol TreeVisitor: AnyObject {
    /// An extent of the tree, whose checksums have been verified. Throws if another one was visited
    /// at the same place.
    func visit(_ ref: Ref, as type: ExtentType) throws(StorageError)
    /// A sequence tree that belongs to a list of the table.
    func visit(sequence id: TreeID) throws(StorageError)
}

/// Visits the leaves of one kind of tree.
protocol LeafWalker {
    /// Visits a leaf whose keys must be between the bounds (nil: open); returns its rows.
    mutating func leaf(
        _ ref: Ref, _ base: UnsafeRawPointer, from low: Separator?, below high: Separator?
    ) throws(StorageError) -> UInt64
}

extension TreeRoot {
    /// Walks over all nodes and checks the rules of inner nodes: order, bounds, counts, heights.
    /// Children are reported before parents.
    func check<W: LeafWalker>(
        _ walker: inout W, in pages: PageReader, as leafType: ExtentType, _ visitor: any TreeVisitor
    ) throws(StorageError) {
        guard !isEmpty else {
            if count != 0 { throw .corrupt(page: 0, reason: "an empty tree counts rows") }
            return
        }
        let nodes = NodeCheck(
            pages: pages, leafType: leafType, visitor: visitor, isSequence: kind == .sequence)
        let rows = try nodes.check(ref, height: height, from: nil, below: nil, &walker)
        guard rows == count else {
            throw .corrupt(page: ref.page, reason: "a tree counts \(count) rows and has \(rows)")
        }
    }

    /// Calls `body` for every leaf, and frees the inner nodes after it.
    func freeNodes(in pages: PageWriter, _ freeLeaf: (Ref) throws(StorageError) -> Void)
        throws(StorageError)
    {
        if !isEmpty { try freeNode(ref, height, pages, freeLeaf) }
    }

    private func freeNode(
        _ ref: Ref, _ height: Int, _ pages: PageWriter,
        _ freeLeaf: (Ref) throws(StorageError) -> Void
    ) throws(StorageError) {
        guard height > 0 else { return try freeLeaf(ref) }
        let node = try InnerNode(
            try pages.view(ref, as: .treeInner), page: ref.page, height: height)
        for index in 0..<node.count { try freeNode(node.child(index), height - 1, pages, freeLeaf) }
        try pages.free(ref)
    }
}

/// The recursion of a check: as deep as the tree is high.
private struct NodeCheck {
    let pages: PageReader
    let leafType: ExtentType
    let visitor: any TreeVisitor
    let isSequence: Bool

    func check<W: LeafWalker>(
        _ ref: Ref, height: Int, from low: Separator?, below high: Separator?, _ walker: inout W
    ) throws(StorageError) -> UInt64 {
        try CurrentCall.checkInterruption()
        let type = height > 0 ? ExtentType.treeInner : leafType
        let base = try pages.view(ref, as: type)
        try pages.verify(ref, base, 0..<Int(ref.pageCount) * Page.size)
        let rows =
            height > 0
            ? try checkInner(ref, base, height, low, high, &walker)
            : try walker.leaf(ref, base, from: low, below: high)
        guard rows > 0 else { throw .corrupt(page: ref.page, reason: "a node is empty") }
        try visitor.visit(ref, as: type)
        pages.leave(ref)
        return rows
    }

    private func checkInner<W: LeafWalker>(
        _ ref: Ref, _ base: UnsafeRawPointer, _ height: Int, _ low: Separator?, _ high: Separator?,
        _ walker: inout W
    ) throws(StorageError) -> UInt64 {
        let node = try InnerNode(base, page: ref.page, height: height)
        try node.check(isSequence: isSequence)
        var sum: UInt64 = 0
        for index in 0..<node.count {
            let from = index > 0 ? try node.separator(index) : low
            let below = index + 1 < node.count ? try node.separator(index + 1) : high
            guard isSequence || isAscending(from, below) else {
                throw .corrupt(page: ref.page, reason: "separators are out of order")
            }
            let child = node.child(index)
            let rows = try check(
                child, height: height - 1, from: isSequence ? nil : from,
                below: isSequence ? nil : below, &walker)
            guard rows == node.rows(index) else {
                throw .corrupt(
                    page: ref.page,
                    reason: "an inner node counts \(node.rows(index)) rows where there are \(rows)")
            }
            sum &+= rows
        }
        return sum
    }

    private func isAscending(_ low: Separator?, _ high: Separator?) -> Bool {
        guard let low, let high else { return true }
        return low.compare(high) < 0
    }
}
