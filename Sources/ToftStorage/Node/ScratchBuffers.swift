/// Memory that the writers of a store's trees use within one operation, one after the other.
/// Nothing in it is valid between two operations.
///
/// Each part is an allocation of its own, as large as the longest that the limits allow.
final class ScratchBuffers {
    /// The inner node that is being rewritten.
    let node: UnsafeMutableRawPointer
    /// Two tails of separators on their way up, `separatorSize` bytes each.
    let separators: UnsafeMutableRawPointer
    /// The leaf that is being rewritten: two pages, for a list's block that does not fit into one.
    let leaf: UnsafeMutableRawPointer
    /// A leaf beside it.
    let nextLeaf: UnsafeMutableRawPointer
    /// The entry that is being inserted: key and stored value.
    let entry: UnsafeMutableRawPointer
    /// The reference of that entry's blob.
    let blobRef: UnsafeMutableRawPointer
    /// Notes of a rewrite of leaves.
    let rewrite: UnsafeMutableRawPointer
    /// The whole key of an entry that moves from one tree to another.
    let movingKey: UnsafeMutableRawPointer
    /// Bytes on their way to a cell's heap, the longest that a cell can name.
    let cell: UnsafeMutableRawPointer
    /// The element of a list that is being inserted, moved or exchanged.
    let element: UnsafeMutableRawPointer
    /// The other of two elements that are being exchanged.
    let otherElement: UnsafeMutableRawPointer
    /// The id of a list's sequence. Not shared: a list becomes a sequence while elements are kept.
    let sequenceID: UnsafeMutableRawPointer
    /// The changed block of a list, `blockSize` bytes.
    let block: UnsafeMutableRawPointer
    /// A block without elements.
    let emptyBlock: UnsafeMutableRawPointer

    static let separatorSize = TreeLimits.key
    static let leafSize = 2 * Page.size
    static let entrySize = TreeLimits.key + max(TreeLimits.inlineValue, Ref.size)
    static let cellSize = ClusterLayout.cellLengthMask & ~7
    /// Bytes of an element in a block: a short value, or the reference of a blob.
    static let elementSize = max(TreeLimits.inlineValue, Ref.size.roundedUpToEight)
    /// The longest block that a cell can name, with one more element.
    static let blockSize = (cellSize + ElementLayout.slotSize + elementSize).roundedUpToEight

    private let parts: [UnsafeMutableRawPointer]

    init() {
        var parts: [UnsafeMutableRawPointer] = []
        func part(_ size: Int) -> UnsafeMutableRawPointer {
            parts.append(.allocate(byteCount: size.roundedUpToEight, alignment: 16))
            return parts[parts.count - 1]
        }
        node = part(Page.size)
        separators = part(2 * Self.separatorSize)
        leaf = part(Self.leafSize)
        nextLeaf = part(Page.size)
        entry = part(Self.entrySize)
        blobRef = part(Ref.size)
        rewrite = part(OrderedLeafRewrite.memorySize)
        movingKey = part(OrderedLeafRewrite.keySize)
        cell = part(Self.cellSize)
        element = part(Self.elementSize)
        otherElement = part(Self.elementSize)
        sequenceID = part(ClusterLayout.sequenceIDSize)
        block = part(Self.blockSize)
        emptyBlock = part(ElementLayout.values)
        self.parts = parts
    }

    deinit {
        for part in parts { part.deallocate() }
    }

    /// Copies the bytes of one cell, which may be in a cluster that is about to be rewritten, to
    /// `cell`: at most `cellSize`.
    func keepCell(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        if let source = bytes.baseAddress { cell.store(source, count: bytes.count, at: 0) }
        return UnsafeRawBufferPointer(start: cell, count: bytes.count)
    }
}
