/// An open tree: its root and, for a table, its columns.
///
/// `@unchecked Sendable`: that of a committed version never changes; that of the version being made
/// is changed and read by the thread of the write transaction alone.
final class TreeHead: @unchecked Sendable {
    @exclusivity(unchecked) var root: TreeRoot  // read in every look-up
    /// In the order of their ids.
    @exclusivity(unchecked) var columns: [Column]  // read with every cell
    /// The root in the catalog; nil if the catalog has no entry.
    var rootInCatalog: TreeRoot?

    /// A new tree: empty, and not in the catalog yet.
    init(kind: TreeKind, columns: [Column] = []) {
        root = TreeRoot(kind: kind)
        self.columns = columns.sorted { $0.id < $1.id }
    }

    /// A tree that begins at `root`.
    init(root: TreeRoot, columns: [Column] = []) {
        self.root = root
        self.columns = columns
        rootInCatalog = root
    }

    /// Decodes an entry of the catalog: a root, then, for a table, its columns. `page` names the
    /// catalog in an error.
    convenience init(decoding entry: UnsafeRawBufferPointer, page: PageNumber) throws(StorageError)
    {
        let root = try TreeRoot(decoding: entry, page: page)
        var columns: [Column] = []
        if root.kind == .table {
            columns = try Column.decodeAll(
                UnsafeRawBufferPointer(rebasing: entry[TreeRoot.size...]))
        }
        self.init(root: root, columns: columns.sorted { $0.id < $1.id })
    }

    /// The entry of the catalog.
    var encoded: [UInt8] {
        var bytes = [UInt8](repeating: 0, count: TreeRoot.size)
        bytes.withUnsafeMutableBytes { buffer in
            if let base = buffer.baseAddress { root.encode(to: base) }
        }
        return root.kind == .table ? bytes + Column.encodeAll(columns) : bytes
    }
}
