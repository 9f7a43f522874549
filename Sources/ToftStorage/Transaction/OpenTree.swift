/// A tree that a snapshot has opened.
struct OpenTree {
    enum Tree {
        case table(Table)
        case ordered(OrderedTree)
        case sequence(SequenceTree)
    }

    let tree: Tree
    /// What the catalog says of it; nil where it is new.
    private(set) var committedRoot: TreeRoot?

    /// A tree that the catalog does not know yet.
    init(_ tree: Tree) { self.tree = tree }

    /// Decodes an entry of the catalog: a tree root, then, for a table, its columns.
    init(decoding entry: UnsafeRawBufferPointer, id: UInt64, in snapshot: Snapshot)
        throws(StorageError)
    {
        let page = snapshot.catalog.root.ref.page
        let root = try TreeRoot(decoding: entry, page: page)
        // Pages that the transaction has added count, too: the file's size knows them.
        var isPossible = root.fits(in: snapshot.root.pageCount)
        if !isPossible {
            isPossible = root.fits(in: try snapshot.space.file.size() / UInt64(Page.size))
        }
        guard isPossible else {
            throw .corrupt(
                page: page, reason: "tree \(id) counts \(root.count), more than the file can hold")
        }
        switch root.kind {
        case .ordered:
            tree = .ordered(
                OrderedTree(
                    space: snapshot.space, root: root, share: try snapshot.deltaShare(of: id)))
        case .sequence:
            tree = .sequence(SequenceTree(space: snapshot.space, root: root))
        case .table:
            let columns = try Column.decodeAll(
                UnsafeRawBufferPointer(rebasing: entry[TreeRoot.size...]))
            tree = .table(
                Table(space: snapshot.space, root: root, columns: columns, owner: snapshot))
        }
        committedRoot = root
    }

    /// Where the tree begins now.
    private(set) var root: TreeRoot {
        get {
            switch tree {
            case .table(let tree): tree.root
            case .ordered(let tree): tree.root
            case .sequence(let tree): tree.root
            }
        }
        nonmutating set {
            switch tree {
            case .table(let tree): tree.root = newValue
            case .ordered(let tree): tree.root = newValue
            case .sequence(let tree): tree.root = newValue
            }
        }
    }

    /// Whether the catalog says something else of it than `root`.
    var hasMoved: Bool { root != committedRoot }

    /// Settles everything below the root. Returns the entry of the catalog.
    mutating func settle(in space: PageSpace) throws(StorageError) -> [UInt8] {
        if !root.isEmpty { root.ref.checksum = try space.settle(root.ref) }
        committedRoot = root
        var bytes = [UInt8](repeating: 0, count: TreeRoot.size)
        bytes.withUnsafeMutableBytes { buffer in
            if let base = buffer.baseAddress { root.encode(to: base) }
        }
        if case .table(let table) = tree { bytes += Column.encodeAll(table.columns) }
        return bytes
    }

    /// Forgets where the transaction that has ended stood.
    func rest() {
        switch tree {
        case .table(let tree): tree.rest()
        case .ordered(let tree): tree.rest()
        case .sequence(let tree): tree.rest()
        }
    }
}
