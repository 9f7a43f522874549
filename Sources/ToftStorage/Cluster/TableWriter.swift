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
        memory = .allocate(byteCount: 3 * Page.size + 64, alignment: 16)
    }

    deinit { memory.deallocate() }

    /// Makes ready for another transaction.
    func rest() {
        leave()
        spine.leave()
        appendedRows = 0
        plan.cluster = 0
    }

    /// Room for the block of a list that is being changed: the longest that lies in a cluster, and
    /// an element.
    static let blockCapacity = Page.size

    /// For bytes on their way to a cell's heap: a page.
    var scratch: UnsafeMutableRawPointer { memory }
    /// For two elements of lists that are being changed, each at most as long as lies in a block.
    var elements: UnsafeMutableRawPointer { memory + Page.size }
    /// For the changed block of a list.
    var blocks: UnsafeMutableRawPointer { memory + 2 * Page.size }
    /// For a block without elements.
    var emptyBlock: UnsafeMutableRawPointer { memory + 3 * Page.size }

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
