/// The structure of a tree.
package enum TreeKind: UInt8, Sendable {
    case ordered = 1
    case table = 2
    case sequence = 3

    /// The type of the leaves.
    var leafType: ExtentType {
        switch self {
        case .ordered: .orderedLeaf
        case .table: .cluster
        case .sequence: .sequenceLeaf
        }
    }
}

/// The root of a tree, as stored in the catalog.
struct TreeRoot: Hashable, Sendable {
    var kind: TreeKind
    /// Levels of inner nodes above the leaves.
    var height: Int
    /// Meaning depends on the kind.
    var flags: UInt16
    /// Entries, rows or elements.
    var count: UInt64
    /// The key that the next new row gets at least; never falls. 0 but in tables.
    var nextKey: Int64
    /// The topmost node; page 0 (never a node) while the tree is empty.
    var ref: Ref

    /// An empty tree: no extent.
    init(kind: TreeKind) {
        self.kind = kind
        height = 0
        flags = 0
        count = 0
        nextKey = 0
        ref = .nowhere
    }

    /// Whether the tree has no node at all.
    var isEmpty: Bool { ref.page == 0 }
}

extension TreeRoot {
    /// Bytes of an encoded root.
    static let size = TreeRootLayout.size

    /// Reads a root from the catalog. `page` is named in errors.
    init(decoding bytes: UnsafeRawBufferPointer, page: PageNumber) throws(StorageError) {
        guard let base = bytes.baseAddress, bytes.count >= TreeRootLayout.size else {
            throw .corrupt(page: page, reason: "a tree root is cut short")
        }
        guard
            let kind = TreeKind(
                rawValue: UInt8(truncatingIfNeeded: base.uint8(at: TreeRootLayout.kind)))
        else {
            throw .corrupt(page: page, reason: "unknown kind of tree")
        }
        self.kind = kind
        height = base.uint8(at: TreeRootLayout.height)
        flags = UInt16(truncatingIfNeeded: base.uint16(at: TreeRootLayout.flags))
        count = base.uint64(at: TreeRootLayout.count)
        nextKey = base.int64(at: TreeRootLayout.nextKey)
        ref = Ref(decoding: base + TreeRootLayout.ref)
        guard height <= InnerLayout.maximumHeight, count <= UInt64(Int64.max), nextKey >= 0,
            !isEmpty || (count == 0 && height == 0)
        else {
            throw .corrupt(page: page, reason: "a tree root contradicts itself")
        }
    }

    /// True if a file of `pageCount` pages can have as many rows or entries as the root says:
    /// memory is reserved for it.
    func fits(in pageCount: UInt64) -> Bool {
        // The shortest element of a list takes a byte.
        let limit = kind == .table ? ClusterLimits.rows : Page.size
        let (most, overflow) = pageCount.multipliedReportingOverflow(by: UInt64(limit))
        return overflow || count <= most
    }

    /// Writes the root into `size` bytes.
    func encode(to bytes: UnsafeMutableRawPointer) {
        bytes.clear(at: 0, count: TreeRootLayout.size)
        bytes.storeUInt8(Int(kind.rawValue), at: TreeRootLayout.kind)
        bytes.storeUInt8(height, at: TreeRootLayout.height)
        bytes.storeUInt16(Int(flags), at: TreeRootLayout.flags)
        bytes.storeUInt64(count, at: TreeRootLayout.count)
        bytes.storeInt64(nextKey, at: TreeRootLayout.nextKey)
        ref.encode(to: bytes + TreeRootLayout.ref)
    }
}

extension Ref {
    /// The reference of nothing: page 0 is never a node.
    static let nowhere = Ref(page: 0, birth: 0, checksum: 0, pageCount: 0)
}
