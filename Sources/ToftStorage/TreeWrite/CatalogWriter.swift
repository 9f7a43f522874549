/// Changes the catalog of the version being made.
final class CatalogWriter {
    let reader: Catalog
    private let pages: PageWriter
    private let tree: TreeWriter
    /// The id of the next tree that is made. Ids are never used again.
    var nextTreeID: TreeID

    init(_ reader: Catalog, pages: PageWriter, scratch: ScratchBuffers, nextTreeID: TreeID) {
        self.reader = reader
        self.pages = pages
        self.nextTreeID = nextTreeID
        tree = TreeWriter(reader.tree, pages: pages, scratch: scratch)
    }

    /// Forgets the position of the last change, between two transactions.
    func reset() { tree.reset() }

    /// Adds a new tree and returns its id.
    func add(_ head: TreeHead) -> TreeID {
        defer { nextTreeID += 1 }
        reader.add(head, nextTreeID)
        return nextTreeID
    }

    /// Forgets a tree whose extents are freed.
    func remove(_ id: TreeID) throws(StorageError) {
        reader.remove(id)
        _ = try TreeKey.with(id) { key throws(StorageError) in try tree.delete(key) }
    }

    /// Computes the checksums of every tree that changed and writes its root into the catalog;
    /// `all`: even if only columns may have changed. Returns the catalog's root.
    func writeRoots(all: Bool) throws(StorageError) -> TreeRoot {
        for (id, head) in reader.changedHeads(all: all) {
            if !head.root.isEmpty {
                head.root.ref.digest = try pages.finalizeChecksums(head.root.ref)
            }
            head.rootInCatalog = head.root
            let entry = head.encoded
            try TreeKey.with(id) { key throws(StorageError) in
                if let old = try reader.tree.value(forKey: key), old.elementsEqual(entry) { return }
                try entry.withBytes { bytes throws(StorageError) in _ = try tree.put(key, bytes) }
            }
        }
        let head = reader.tree.head
        if !head.root.isEmpty {
            head.root.ref.digest = try pages.finalizeChecksums(head.root.ref)
        }
        return head.root
    }
}
