/// Layouts of the nodes of trees. Every node is an extent of one page.
///
/// Inner node, equal in all trees; the heap contains the parts of separator keys beyond their first
/// eight bytes:
///
/// `height` is 1 directly above the leaves. Entry i holds the keys from its separator up to the
/// next one; the first entry's separator is always empty, since the node's own separator is in its
/// parent. Sequence trees leave all separators empty.
enum InnerLayout {
    static let height = ExtentHeader.size
    static let count = height + 2
    static let heapLow = count + 2
    static let garbage = heapLow + 2
    static let entries = garbage + 2

    static let entryRef = 0
    static let entryRows = entryRef + Ref.size
    static let entryPrefix = entryRows + 8
    static let entryTailOffset = entryPrefix + 8
    static let entryKeyLength = entryTailOffset + 2
    static let entrySize = entryKeyLength + 2 + 4

    /// Bytes for entries and heap.
    static let room = Page.size - entries
    /// No tree is higher; a root with a greater height is damaged.
    static let maximumHeight = 64

    /// The offset of a child's reference.
    @inline(__always)
    static func childRef(_ index: Int) -> Int { entries &+ index &* entrySize &+ entryRef }
}

/// Leaf of an ordered tree: slots in key order grow up, the heap of keys and values grows down. The
/// common prefix of all keys is stored once at the page's end; before it, a part that most of them
/// share near their ends: the middle.
///
/// A key is the shared bytes, then its suffix: the key's own bytes, with the middle among them or
/// not. The last hint is the first four bytes of the last slot: with those of the first slot it
/// gives a search its starting point, and nothing more depends on it. A slot is its hint, then its
/// cell: the distance from the page's end to its heap bytes (12 bits), and the number of one of the
/// leaf's forms (4); 15 means that its form precedes its heap bytes.
enum OrderedLeafLayout {
    static let count = ExtentHeader.size
    static let heapLow = count + 2
    static let garbage = heapLow + 2
    static let sharedLength = garbage + 2
    static let middleLength = sharedLength + 2
    static let formCount = middleLength + 2
    static let lastHint = formCount + 2
    static let forms = lastHint + 4
    static let slots = forms + formLimit * formSize

    static let slotHint = 0
    static let slotCell = slotHint + 4
    static let slotSize = slotCell + 2

    static let formShift = 12
    static let offsetMask = 1 << formShift - 1
    static let formSize = 4
    /// Most forms of a leaf; in a cell it means that the form is in the heap.
    static let formLimit = 15

    /// A form: the length of the key's own bytes, that of the value, and 1 plus the number of own
    /// bytes behind the middle; 0 if the key does not have the middle.
    static let valueShift = 10
    static let endShift = valueShift + 10
    static let lengthMask = 1 << 10 - 1
    /// The length of a value that is the reference of a blob.
    static let blobLength = lengthMask

    /// Bytes of a suffix within its slot.
    static let hintSize = 4
    /// Bytes of a middle.
    static let shortestMiddle = 4
    static let longestMiddle = 64
    /// Bytes of a key behind the middle.
    static let longestEnd = 15
    /// Bytes for slots and heap.
    static let room = Page.size - slots
}

/// A key of the insert buffer: the tree that an entry belongs to, then the entry's own key. The
/// entries of a tree are therefore together, in the order of their keys.
enum BufferKeyLayout {
    static let idLength = 0
    static let id = idLength + 1
    static let longestID = 8
}

/// Leaf of a sequence tree: one element block (see `ElementLayout`) after the extent header.
enum SequenceLeafLayout {
    static let block = ExtentHeader.size
    static let room = Page.size - block
}

/// A tree's root as the catalog keeps it.
///
/// `flags` of a sequence: the element type in the low byte, 0x100 if elements may be null.
enum TreeRootLayout {
    static let kind = 0
    static let height = kind + 1
    static let flags = height + 1
    static let count = flags + 2 + 4
    static let nextKey = count + 8
    static let ref = nextKey + 8
    static let size = ref + Ref.size

    static let elementTypeMask = 0xFF
    static let elementNullableFlag = 0x100
}

/// Limits of the lengths of keys and values.
enum TreeLimits {
    /// Bytes of a key of an ordered tree.
    static let key = 512
    /// Most bytes of a value or list element within its leaf; longer ones have a blob.
    static let inlineValue = 1_022
    /// Bytes of any value.
    static let value = 16 * 1_024 * 1_024 - 1
}

extension ExtentHeader {
    /// Whether an extent is encoded as this build knows: no other encoding of nodes and clusters
    /// exists yet.
    @inline(__always)
    static func isPlain(_ base: UnsafeRawPointer) -> Bool { base.uint8(at: encoding) == Int(plain) }
}
