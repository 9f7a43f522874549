/// Changes a table of the version being made. A caller's mistake throws before anything has
/// changed; after any other error the transaction must be rolled back.
///
/// It remembers the cluster of the last change, so that consecutive changes do not descend again.
///
/// Invariant: while `insertHint` is set, the path leads to it, and all of both is of this version.
/// Whatever changes the nodes of the tree, other than exchanging the hint's own extent, clears it.
final class TableWriter {
    /// The table as it is now.
    let reader: TableReader
    let pages: PageWriter
    let head: TreeHead
    let path: TreePath
    let scratch: ScratchBuffers
    let sequences: SequenceWriters
    /// The cluster of the last change; otherwise `.nowhere`. Compared with every row.
    @exclusivity(unchecked) private(set) var insertHint = Ref.nowhere
    /// Whether no cluster follows the hint. Read with every row.
    @exclusivity(unchecked) private(set) var isAtEnd = false
    /// Rows appended by this transaction: for many, clusters get larger at once. Counts every row.
    @exclusivity(unchecked) var appendedRows = 0
    /// The positions of the values of a row that is being inserted whole. Used with every value.
    @exclusivity(unchecked) var rowPlan = RowPlan()

    /// A writer of a table that `reader` reads through the reader of `pages`.
    init(
        _ reader: TableReader, pages: PageWriter, scratch: ScratchBuffers,
        sequences: SequenceWriters
    ) {
        self.reader = reader
        self.pages = pages
        self.scratch = scratch
        self.sequences = sequences
        head = reader.head
        path = TreePath(pages: pages, leafType: .cluster, scratch: scratch)
    }

    @inline(__always)
    var root: TreeRoot { head.root }

    @inline(__always)
    var columns: [Column] { head.columns }

    /// Whether large clusters pay, although a later append has to copy them or start another.
    var isAppendingMany: Bool { appendedRows >= 2 * ClusterLimits.tailRows }

    /// Forgets the state of the last transaction.
    func reset() {
        forgetHint()
        path.reset()
        appendedRows = 0
    }

    /// Writes a cluster.
    func build(_ builder: ClusterBuilder, _ shape: ClusterShape) throws(StorageError) -> (
        ref: Ref, base: UnsafeMutableRawPointer
    ) {
        rowPlan.cluster = 0
        return try builder.build(shape, in: pages)
    }

    // MARK: Finding a cluster

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

    /// The hint's cluster if a key belongs into it: between its first and last key, or at the end
    /// of the table.
    @inline(__always)
    func leafAtHint(_ key: Int64) throws(StorageError) -> Leaf? {
        guard insertHint.page != 0, let base = try pages.editInPlace(insertHint, as: .cluster)
        else { return nil }
        let leaf = try Leaf(insertHint, base)
        let keys = leaf.cluster.keys
        guard key >= keys[0],
            isAtEnd || key <= keys[leaf.cluster.rowCount &- 1]
        else { return nil }
        return leaf
    }

    /// The cluster that a key belongs to, found from the root; it becomes the hint.
    func descend(to key: Int64) throws(StorageError) -> Leaf {
        forgetHint()
        var target = RowTarget(key)
        let (ref, base) = try path.descend(&head.root, &target)
        let leaf = try Leaf(ref, base)
        insertHint = ref
        isAtEnd = path.isAtEnd
        return leaf
    }

    /// The cluster that a key belongs to, to be replaced rather than changed. The path is current.
    /// Nil if it is of this version.
    func descendToReplace(_ key: Int64) throws(StorageError) -> Leaf? {
        forgetHint()
        var target = RowTarget(key)
        let ref = try path.approachLeaf(&head.root, &target)
        guard ref.birth != pages.version else { return nil }
        let cluster = try verifiedCluster(ref)
        isAtEnd = path.isAtEnd
        return try Leaf(ref, UnsafeMutableRawPointer(mutating: cluster.base))
    }

    /// Makes the nodes above the last cluster editable, without a hint.
    func approachEnd() throws(StorageError) -> Ref {
        forgetHint()
        var target = EdgeTarget(isLast: true)
        return try path.approachLeaf(&head.root, &target)
    }

    /// The hint's extent was exchanged.
    func replaceLeaf(by ref: Ref) {
        path.replaceLeaf(&head.root, by: ref)
        insertHint = ref
    }

    func forgetHint() {
        insertHint = .nowhere
        isAtEnd = false
        rowPlan.cluster = 0
    }

    /// The elements of a list that is too long for its cluster, whose id `bytes` hold.
    func sequence(_ bytes: UnsafeRawBufferPointer, _ page: PageNumber, _ kind: ElementKind)
        throws(StorageError) -> SequenceWriter
    {
        let sequence = try sequences.writer(try TableReader.sequenceID(bytes, page))
        guard try sequence.reader.kind().fits(kind) else {
            throw .corrupt(page: page, reason: "a list's elements are not of its column's type")
        }
        sequence.setKind(kind)
        return sequence
    }
}
