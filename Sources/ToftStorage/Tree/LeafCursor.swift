/// A position among the leaves of a tree, for reading in either direction. Good until the snapshot
/// is released or the tree changes.
final class LeafCursor {
    private struct Step {
        var node: InnerNode
        var slot: Int
    }

    private let pages: PageReader
    private let root: TreeRoot
    private let leafType: ExtentType
    private let steps: UnsafeMutablePointer<Step>
    /// The leaf at the cursor; nil before the first seek and beyond either end.
    private(set) var base: UnsafeRawPointer?

    init(pages: PageReader, root: TreeRoot, leafType: ExtentType) {
        self.pages = pages
        self.root = root
        self.leafType = leafType
        steps = .allocate(capacity: max(1, root.height))
    }

    deinit { steps.deallocate() }

    /// Goes to the leaf at the end of a search; false in an empty tree.
    func seek<Target: SearchTarget>(_ target: inout Target) throws(StorageError) -> Bool {
        guard !root.isEmpty else { return clear() }
        try descend(from: 0, ref: root.ref, &target)
        return true
    }

    /// Moves to the next leaf; false after the last one, and the cursor has no position.
    @inline(__always)
    func next() throws(StorageError) -> Bool {
        guard base != nil, root.height > 0 else { return clear() }
        let step = steps + (root.height &- 1)
        let slot = step.pointee.slot &+ 1
        guard slot < step.pointee.node.count else { return try self.step(1) }
        step.pointee.slot = slot
        base = try pages.view(step.pointee.node.child(slot), as: leafType)
        return true
    }

    /// Moves to the previous leaf; false before the first one, and the cursor has no position.
    func previous() throws(StorageError) -> Bool { try step(-1) }

    /// The reference of the leaf at the cursor; `.nowhere` without a position.
    var ref: Ref {
        if let (node, slot) = parent { return node.child(slot) }
        return base == nil ? .nowhere : root.ref
    }

    /// The parent of the leaf at the cursor, and the leaf's slot in it; nil without a position, and
    /// if the leaf is the root.
    @inline(__always)
    var parent: (node: InnerNode, slot: Int)? {
        guard root.height > 0, base != nil else { return nil }
        let step = steps + (root.height &- 1)
        return (step.pointee.node, step.pointee.slot)
    }

    /// Decrypts the next leaves below the same parent, unless they are. Returns the number of
    /// leaves that it has checked.
    func decryptAhead(_ count: Int) -> Int {
        guard root.height > 0, base != nil else { return 0 }
        let step = steps[root.height - 1]
        let slots = step.slot + 1..<min(step.slot + 1 + count, step.node.count)
        let refs = slots.lazy.map { step.node.child($0) }.filter { !self.pages.isAdmitted($0) }
        if refs.first != nil { pages.admitAhead(Array(refs), as: leafType) }
        return slots.count
    }

    private func step(_ distance: Int) throws(StorageError) -> Bool {
        guard base != nil else { return false }
        var level = root.height
        while level > 0 {
            level -= 1
            let slot = steps[level].slot + distance
            guard slot >= 0 && slot < steps[level].node.count else { continue }
            steps[level].slot = slot
            var target = EdgeTarget(isLast: distance < 0)
            try descend(from: level + 1, ref: steps[level].node.child(slot), &target)
            return true
        }
        return clear()
    }

    private func descend<Target: SearchTarget>(
        from depth: Int, ref start: Ref, _ target: inout Target
    )
        throws(StorageError)
    {
        var ref = start
        for depth in depth..<root.height {
            let node = try InnerNode(
                try pages.view(ref, as: .treeInner), page: ref.page, height: root.height - depth)
            let slot = try target.child(in: node)
            (steps + depth).initialize(to: Step(node: node, slot: slot))
            ref = node.child(slot)
            if depth == root.height - 1 {
                target.fetch(ref, in: pages.cache, child: slot, of: node)
            }
        }
        base = try pages.view(ref, as: leafType)
    }

    private func clear() -> Bool {
        base = nil
        return false
    }
}

/// Towards the first or the last leaf.
struct EdgeTarget: SearchTarget {
    let isLast: Bool

    func child(in node: InnerNode) -> Int { isLast ? node.count - 1 : 0 }
}
