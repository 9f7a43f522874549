/// A table's writing side: the way to the cluster where it last stood (the finger), so that
/// consecutive changes do not descend again.
///
/// Invariant: while `finger` is set, the spine leads to it, and all of both is this transaction's
/// own. Whatever changes the nodes of the tree, other than exchanging the finger's own extent,
/// clears it.
final class TableWriter {
    let spine: Spine
    @exclusivity(unchecked) private(set) var finger = Ref.nowhere
    /// Whether no cluster follows the finger's.
    @exclusivity(unchecked) private(set) var isAtEnd = false
    /// Rows appended by this transaction: whoever appends many gets larger clusters at once.
    @exclusivity(unchecked) var appendedRows = 0
    /// Whether large clusters pay, which whoever appends a row later has to copy or to leave.
    var isAppendingMany: Bool { appendedRows >= 2 * ClusterLimits.tailRows }

    /// Where the values of the row go that is being inserted whole.
    @exclusivity(unchecked) var plan = RowPlan()

    private let memory: UnsafeMutableRawPointer

    init(space: PageSpace) {
        spine = Spine(space: space, leafType: .cluster)
        memory = .allocate(byteCount: TableScratch.size, alignment: 16)
    }

    deinit { memory.deallocate() }

    /// Makes ready for another transaction.
    func rest() {
        leave()
        spine.leave()
        appendedRows = 0
        plan.cluster = 0
    }

    /// For bytes on their way to a cell's heap, the longest that a cell can name.
    var scratch: UnsafeMutableRawPointer { memory + TableScratch.cell }
    /// Bytes of one cell that may lie in a cluster which is about to be written anew, copied to
    /// `scratch`: at most `TableScratch.cellSize`.
    func keep(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        if let source = bytes.baseAddress { scratch.store(source, count: bytes.count, at: 0) }
        return UnsafeRawBufferPointer(start: scratch, count: bytes.count)
    }

    /// For the element of a list that is being inserted, moved or exchanged.
    var element: UnsafeMutableRawPointer { memory + TableScratch.element }
    /// For the other of two elements that are being exchanged.
    var otherElement: UnsafeMutableRawPointer { memory + TableScratch.otherElement }
    /// For the id of a list's sequence tree. Not shared: a list moves to a tree while elements are
    /// kept in the memory above.
    var sequenceID: UnsafeMutableRawPointer { memory + TableScratch.sequenceID }
    /// For the changed block of a list.
    var blocks: UnsafeMutableRawPointer { memory + TableScratch.block }
    /// For a block without elements.
    var emptyBlock: UnsafeMutableRawPointer { memory + TableScratch.emptyBlock }

    /// A cluster that may be changed.
    struct Leaf {
        var ref: Ref
        var base: UnsafeMutableRawPointer
        var cluster: ClusterPage

        init(_ ref: Ref, _ base: UnsafeMutableRawPointer) throws(StorageError) {
            self.ref = ref
            self.base = base
            cluster = try ClusterPage(base, page: ref.page, pageCount: ref.pageCount)
        }

        var editor: ClusterEditor { ClusterEditor(base: base, cluster: cluster) }
    }

    /// The finger's cluster, where it is the place of a key: between its first and last key, or at
    /// the end of the table.
    @inline(__always)
    func leafAtFinger(_ key: Int64) throws(StorageError) -> Leaf? {
        guard finger.page != 0 else { return nil }
        var ref = finger
        let leaf = try Leaf(ref, try spine.space.edit(&ref, as: .cluster))
        let keys = leaf.cluster.keys
        guard ref == finger, key >= keys[0], isAtEnd || key <= keys[leaf.cluster.rowCount &- 1]
        else { return nil }
        return leaf
    }

    /// Goes to the cluster that is the place of a key.
    func descend(_ root: inout TreeRoot, to key: Int64) throws(StorageError) -> Leaf {
        leave()
        var route = RowRoute(key)
        let (ref, base) = try spine.descend(&root, &route)
        let leaf = try Leaf(ref, base)
        finger = ref
        isAtEnd = spine.isAtEnd
        return leaf
    }

    /// Makes the nodes above the last cluster our own; the finger is nowhere.
    func approachEnd(_ root: inout TreeRoot) throws(StorageError) -> Ref {
        leave()
        var route = EdgeRoute(isLast: true)
        return try spine.approach(&root, &route)
    }

    /// The finger's extent was exchanged.
    func replaceLeaf(_ root: inout TreeRoot, by ref: Ref) {
        spine.replaceLeaf(&root, by: ref)
        finger = ref
    }

    /// Forgets the finger.
    func leave() {
        finger = .nowhere
        isAtEnd = false
    }
}

/// How a `TableWriter` divides its scratch memory: parts that do not overlap, each as large as the
/// longest that the limits allow.
enum TableScratch {
    static let cell = 0
    static let cellSize = ClusterLayout.cellLengthMask & ~7
    static let element = cell + cellSize
    /// An element that lies in a block: a short value, or the reference of a blob.
    static let elementSize = max(TreeLimits.inlineValue, Ref.size.roundedUpToEight)
    static let otherElement = element + elementSize
    static let sequenceID = otherElement + elementSize
    static let block = sequenceID + ClusterLayout.sequenceIDSize
    /// The longest block that a cell can name, with one more element.
    static let blockSize = (cellSize + ElementLayout.slotSize + elementSize).roundedUpToEight
    static let emptyBlock = block + blockSize
    static let size = emptyBlock + ElementLayout.values
}
