/// How the delta hands entries on: whole leaves leave a level, in key order, and their entries go to leaf after leaf of another tree.
extension OrderedTree {
    /// Takes the leaf out to which `start` leads, and gives its entries to `body`, which may change every tree but this one. Not for empty trees.
    /// Returns where the leaf right of it begins; empty where it was the last.
    func takeLeaf(at start: [UInt8], _ body: (OrderedEntry) throws(StorageError) -> Void) throws(StorageError) -> [UInt8] {
        place = nil
        let spine = writer()
        let (ref, base) = try start.withBytes { key throws(StorageError) in
            var route = KeyRoute(key: Separator(key: key))
            return try spine.descend(&root, &route)
        }
        let leaf = try OrderedLeaf(base, page: ref.page)
        for index in 0..<leaf.count { try body(try leaf.whole(index, in: spine.keyScratch)) }
        let next = try spine.nextKey(root)
        try spine.addRows(&root, -leaf.count)
        try spine.removeLeaf(&root)
        try space.free(ref)
        return next ?? []
    }

    /// Adds an entry that is new and stands behind the one added before. `leavePlace` ends the row, and any other change of this tree.
    func insertAscending(_ key: UnsafeRawBufferPointer, _ stored: UnsafeRawBufferPointer) throws(StorageError) {
        let spine = writer()
        let (ref, base) = try findPlace(for: key, spine)
        let leaf = try OrderedLeaf(base, page: ref.page)
        let (index, found) = try leaf.search(key)
        guard !found else { throw .corrupt(page: ref.page, reason: "an entry lies in two places") }
        try spine.addRows(&root, 1)
        try insert(OrderedEntry(key: key, stored: stored, isBlob: false), at: index, leaf, OrderedLeafEditor(base: base, page: ref.page), spine)
    }

    /// The leaf that a key goes to: where the last one went, or found from the root.
    private func findPlace(for key: UnsafeRawBufferPointer, _ spine: Spine) throws(StorageError) -> (ref: Ref, base: UnsafeMutableRawPointer) {
        if let place, place.reaches(key) { return (place.ref, place.base) }
        if root.isEmpty { try plantLeaf(spine) }
        var route = KeyRoute(key: Separator(key: key))
        let (ref, base) = try spine.descend(&root, &route)
        place = AscendingPlace(ref: ref, base: base, end: try spine.nextKey(root))
        return (ref, base)
    }

    /// Forgets where the last entry went.
    func leavePlace() { place = nil }
}

/// A leaf that the writer's spine leads to, and where the one right of it begins.
struct AscendingPlace {
    let ref: Ref
    let base: UnsafeMutableRawPointer
    let end: [UInt8]?

    /// Whether a key that is not before the leaf's first goes there.
    func reaches(_ key: UnsafeRawBufferPointer) -> Bool {
        guard let end else { return true }
        return end.withUnsafeBytes { end in Separator(key: key).compare(Separator(key: end)) < 0 }
    }
}
