/// The inner nodes from a tree's root to the leaf that its writer changes, all of the version being
/// made.
///
/// Invariants:
/// 1. `steps[0..<depth]` lead from the root to the leaf; each holds the reference that its parent
///    holds.
/// 2. Between two calls, the row count of every entry on the path is that of its subtree.
/// 3. After a call that adds or removes nodes the steps no longer describe the tree: descend again.
///
/// One writer uses it; the pointers in it are valid until the current operation ends.
final class TreePath {
    struct Step {
        var ref: Ref
        var base: UnsafeMutableRawPointer
        var slot: Int
    }

    private let pages: PageWriter
    private let leafType: ExtentType
    private let steps: UnsafeMutablePointer<Step>
    private let scratch: ScratchBuffers
    @exclusivity(unchecked) private(set) var depth = 0  // read with every change

    init(pages: PageWriter, leafType: ExtentType, scratch: ScratchBuffers) {
        self.pages = pages
        self.leafType = leafType
        self.scratch = scratch
        steps = .allocate(capacity: InnerLayout.maximumHeight)
    }

    deinit { steps.deallocate() }

    // MARK: Finding a leaf

    /// Clears the path.
    func reset() { depth = 0 }

    /// Makes the nodes that lead to a target editable, and the leaf. Not for empty trees.
    func descend<Target: SearchTarget>(_ root: inout TreeRoot, _ target: inout Target)
        throws(StorageError) -> (
            ref: Ref, base: UnsafeMutableRawPointer
        )
    {
        var ref = try approachLeaf(&root, &target)
        let base = try editLeaf(&root, &ref)
        return (ref, base)
    }

    /// Makes the inner nodes that lead to a target editable, not yet the leaf. Not for empty trees.
    @inline(__always)
    func approachLeaf<Target: SearchTarget>(_ root: inout TreeRoot, _ target: inout Target)
        throws(StorageError) -> Ref
    {
        depth = 0
        var ref = root.ref
        for level in stride(from: root.height, to: 0, by: -1) {
            let child = ref
            let base = try pages.edit(&ref, as: .treeInner)
            if ref != child { replaceLeaf(&root, by: ref) }
            let node = try InnerNode(base, page: ref.page, height: level)
            let slot = try target.child(in: node)
            (steps + depth).initialize(to: Step(ref: ref, base: base, slot: slot))
            depth &+= 1
            ref = node.child(slot)
        }
        return ref
    }

    /// Makes the leaf editable that the path leads to.
    @inline(__always)
    func editLeaf(_ root: inout TreeRoot, _ ref: inout Ref) throws(StorageError)
        -> UnsafeMutableRawPointer
    {
        let clean = ref
        let base = try pages.edit(&ref, as: leafType)
        if ref != clean { replaceLeaf(&root, by: ref) }
        return base
    }

    /// Finds the nodes again in a later operation: their memory may have been released since.
    func refresh() throws(StorageError) {
        for index in 0..<depth {
            var ref = steps[index].ref
            steps[index].base = try pages.edit(&ref, as: .treeInner)
        }
    }

    /// The node above the leaf; nil if the leaf is the root.
    var parent: InnerEditor? { depth > 0 ? editor(depth - 1) : nil }

    /// The leaf's index among the children of `parent`.
    var slot: Int { depth > 0 ? steps[depth - 1].slot : 0 }

    /// Whether no leaf follows.
    var isAtEnd: Bool {
        for index in 0..<depth
        where steps[index].slot != InnerEditor(base: steps[index].base, page: 0).count - 1 {
            return false
        }
        return true
    }

    /// The separator before the leaf right of the current one; nil if there is no such leaf.
    func nextSeparator(_ root: TreeRoot) throws(StorageError) -> Separator? {
        for level in (0..<depth).reversed() {
            let node = try node(level, root)
            if steps[level].slot + 1 < node.count {
                return try node.separator(steps[level].slot + 1)
            }
        }
        return nil
    }

    private func editor(_ level: Int) -> InnerEditor {
        InnerEditor(base: steps[level].base, page: steps[level].ref.page)
    }

    private func node(_ level: Int, _ root: TreeRoot) throws(StorageError) -> InnerNode {
        try InnerNode(steps[level].base, page: steps[level].ref.page, height: root.height - level)
    }

    /// The reference of the leaf's neighbour below the same parent.
    func sibling(_ distance: Int, _ root: TreeRoot) throws(StorageError) -> Ref? {
        guard depth > 0 else { return nil }
        let node = try node(depth - 1, root)
        let index = slot + distance
        return index >= 0 && index < node.count ? node.child(index) : nil
    }

    /// The rows of the leaf.
    func leafRows(_ root: TreeRoot) throws(StorageError) -> UInt64 {
        depth > 0 ? try node(depth - 1, root).rows(slot) : root.count
    }

    /// Leads to the left neighbour below the same parent from now on.
    func stepLeft() {
        if slot > 0 { steps[depth - 1].slot -= 1 }
    }

    // MARK: Changing the tree

    /// Adds to the rows of the leaf and of all above it.
    @inline(__always)
    func addRows(_ root: inout TreeRoot, _ delta: Int) throws(StorageError) {
        let (count, overflow) = Int64(bitPattern: root.count).addingReportingOverflow(Int64(delta))
        guard !overflow, count >= 0 else {
            throw .corrupt(page: root.ref.page, reason: "a row count is wrong")
        }
        for index in 0..<depth { try editor(index).addRows(steps[index].slot, delta) }
        root.count = UInt64(count)
    }

    /// The leaf's extent was replaced by another one.
    func replaceLeaf(_ root: inout TreeRoot, by ref: Ref) {
        if depth > 0 { editor(depth - 1).setChild(slot, ref) } else { root.ref = ref }
    }

    /// Makes a leaf the whole of an empty tree.
    func createRootLeaf(_ root: inout TreeRoot, _ ref: Ref) {
        depth = 0
        root.ref = ref
        root.height = 0
    }

    /// Adds a leaf to the right of the current one, which it was split from: `rows` of its rows
    /// went over.
    func insertLeafRight(_ root: inout TreeRoot, _ separator: Separator, _ ref: Ref, rows: UInt64)
        throws(StorageError)
    {
        try insertRight(of: depth - 1, &root, separator, ref, rows)
    }

    /// Moves the separator at a distance of 0 or 1 from the leaf: the leaf behind it then has
    /// `rows` of the rows of both neighbours. False if it does not fit into their parent.
    func moveSeparator(at distance: Int, _ separator: Separator, rows: UInt64, _ root: TreeRoot)
        throws(StorageError) -> Bool
    {
        let editor = editor(depth - 1)
        let node = try node(depth - 1, root)
        let right = slot + distance
        let used = node.usedBytes - node.size(right) + InnerLayout.entrySize
        guard used + separator.tailLength <= InnerLayout.room else { return false }
        let (total, overflow) = node.rows(right - 1).addingReportingOverflow(node.rows(right))
        let ref = node.child(right)
        editor.remove(at: right)
        guard !overflow, rows <= total,
            try editor.insert(at: right, separator, ref, rows: rows, scratch: scratch.node)
        else { throw .corrupt(page: editor.page, reason: "an inner node contradicts itself") }
        editor.setRows(right - 1, total - rows)
        return true
    }

    /// The extent of a neighbour below the same parent was replaced by another one.
    func setSibling(_ distance: Int, _ ref: Ref) {
        editor(depth - 1).setChild(slot + distance, ref)
    }

    /// Adds `ref` right of the step's child. The ancestors' counts already hold the rows of both
    /// together.
    private func insertRight(
        of level: Int, _ root: inout TreeRoot, _ separator: Separator, _ ref: Ref, _ rows: UInt64
    ) throws(StorageError) {
        guard level >= 0 else { return try growRoot(&root, separator, ref, rows) }
        let editor = editor(level)
        let slot = steps[level].slot
        let count = editor.count
        let total = try node(level, root).rows(slot)
        guard rows <= total else {
            throw .corrupt(page: editor.page, reason: "a row count is wrong")
        }
        editor.setRows(slot, total - rows)
        if try editor.insert(at: slot + 1, separator, ref, rows: rows, scratch: scratch.node) {
            return
        }

        let height = root.height - level
        let (rightRef, rightBase) = try pages.allocate(.treeInner, pageCount: 1)
        let right = InnerEditor.create(in: rightBase, page: rightRef.page, height: height)
        var promoted = separator
        if slot + 1 == count {
            guard try right.insert(at: 0, .lowest, ref, rows: rows, scratch: scratch.node) else {
                throw .corrupt(page: editor.page, reason: "an inner node is full")
            }
        } else {
            promoted = try splitNode(level, root, into: right, adding: separator, ref, rows)
        }
        let rightNode = try InnerNode(rightBase, page: rightRef.page, height: height)
        try insertRight(
            of: level - 1, &root, promoted, rightRef, rightNode.rows(before: rightNode.count))
    }

    /// Moves the upper half of a full node to `right` and adds the new entry to one of them;
    /// returns the separator between the two, whose tail is in scratch memory.
    private func splitNode(
        _ level: Int, _ root: TreeRoot, into right: InnerEditor, adding separator: Separator,
        _ ref: Ref, _ rows: UInt64
    )
        throws(StorageError) -> Separator
    {
        let left = editor(level)
        let index = steps[level].slot + 1
        let height = left.height
        scratch.node.store(left.base, count: Page.size, at: 0)
        let old = try InnerNode(scratch.node, page: left.page, height: height)
        let cut = middle(of: old)
        try right.append(cut..<old.count, of: old, first: .lowest)
        _ = InnerEditor.create(in: left.base, page: left.page, height: height)
        try left.append(0..<cut, of: old)
        let promoted = copied(try old.separator(cut), level)
        let (target, position) = index <= cut ? (left, index) : (right, index - cut)
        guard try target.insert(at: position, separator, ref, rows: rows, scratch: scratch.node)
        else {
            throw .corrupt(page: left.page, reason: "an inner node is full")
        }
        return promoted
    }

    /// The entry that begins the second half of a node, by bytes.
    private func middle(of node: InnerNode) -> Int {
        let half = node.usedBytes / 2
        var sum = 0
        for index in 0..<node.count {
            sum += node.size(index)
            if sum >= half { return min(max(index, 1), node.count - 1) }
        }
        return max(1, node.count - 1)
    }

    /// Copies a separator's tail to scratch memory: a level's own to another part than the one that
    /// it got from below.
    private func copied(_ separator: Separator, _ level: Int) -> Separator {
        guard let tail = separator.tail else { return separator }
        let copy = scratch.separators + (level & 1) * ScratchBuffers.separatorSize
        copy.copyMemory(from: tail, byteCount: separator.tailLength)
        return Separator(prefix: separator.prefix, length: separator.length, tail: copy)
    }

    private func growRoot(
        _ root: inout TreeRoot, _ separator: Separator, _ ref: Ref, _ rows: UInt64
    ) throws(StorageError) {
        guard root.height < InnerLayout.maximumHeight, rows <= root.count else {
            throw .corrupt(page: root.ref.page, reason: "a tree is too high")
        }
        let (newRef, newBase) = try pages.allocate(.treeInner, pageCount: 1)
        let node = InnerEditor.create(in: newBase, page: newRef.page, height: root.height + 1)
        guard
            try node.insert(
                at: 0, .lowest, root.ref, rows: root.count - rows, scratch: scratch.node),
            try node.insert(at: 1, separator, ref, rows: rows, scratch: scratch.node)
        else { throw .corrupt(page: root.ref.page, reason: "a root does not fit") }
        root.ref = newRef
        root.height += 1
    }

    /// Takes the leaf out of the tree; its rows have left the counts already. The leaf's extent is
    /// the caller's to free.
    func removeLeaf(_ root: inout TreeRoot) throws(StorageError) {
        try removeEntry(level: depth - 1, slot: slot, &root)
    }

    /// Takes the leaf right of the current one out of the tree; its rows are now in the current
    /// one.
    func removeLeafRight(_ root: inout TreeRoot) throws(StorageError) {
        let bottom = editor(depth - 1)
        let node = try node(depth - 1, root)
        guard slot + 1 < node.count else { return }
        try bottom.addRows(slot, Int(truncatingIfNeeded: node.rows(slot + 1)))
        try removeEntry(level: depth - 1, slot: slot + 1, &root)
    }

    private func removeEntry(level: Int, slot: Int, _ root: inout TreeRoot) throws(StorageError) {
        guard level >= 0 else {
            root.ref = .nowhere
            root.height = 0
            return
        }
        let editor = editor(level)
        editor.remove(at: slot)
        if editor.count == 0 {
            try pages.free(steps[level].ref)
            return try removeEntry(
                level: level - 1, slot: level > 0 ? steps[level - 1].slot : 0, &root)
        }
        if level == 0 { return try lowerRoot(&root) }
        try mergeSmall(level, &root)
    }

    /// Drops roots with a single child.
    private func lowerRoot(_ root: inout TreeRoot) throws(StorageError) {
        while root.height > 0 {
            let node = try InnerNode(
                try pages.view(root.ref, as: .treeInner), page: root.ref.page, height: root.height)
            guard node.count == 1 else { return }
            let child = node.child(0)
            try pages.free(root.ref)
            root.ref = child
            root.height -= 1
        }
    }

    /// Merges a node that fell below a quarter with a neighbour, if both fit into three quarters of
    /// one.
    private func mergeSmall(_ level: Int, _ root: inout TreeRoot) throws(StorageError) {
        let own = try node(level, root)
        let parent = try node(level - 1, root)
        let slot = steps[level - 1].slot
        guard own.usedBytes < InnerLayout.room / 4, parent.count > 1 else { return }
        let left = slot > 0 ? slot - 1 : slot
        let height = root.height - level
        var leftRef = parent.child(left)
        let rightRef = parent.child(left + 1)
        let separator = copied(try parent.separator(left + 1), level)
        let right = try InnerNode(
            try pages.view(rightRef, as: .treeInner), page: rightRef.page, height: height)
        let leftView = try InnerNode(
            try pages.view(leftRef, as: .treeInner), page: leftRef.page, height: height)
        guard
            leftView.usedBytes + right.usedBytes + separator.tailLength <= InnerLayout.room * 3 / 4
        else { return }

        let leftBase = try pages.edit(&leftRef, as: .treeInner)
        scratch.node.store(leftBase, count: Page.size, at: 0)
        let old = try InnerNode(scratch.node, page: leftRef.page, height: height)
        let joined = InnerEditor.create(in: leftBase, page: leftRef.page, height: height)
        try joined.append(0..<old.count, of: old)
        try joined.append(0..<right.count, of: right, first: separator)
        try pages.free(rightRef)
        let above = editor(level - 1)
        above.setChild(left, leftRef)
        try above.addRows(left, Int(truncatingIfNeeded: parent.rows(left + 1)))
        try removeEntry(level: level - 1, slot: left + 1, &root)
    }
}
