/// How the delta hands entries on: whole leaves leave a level, in key order.
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
        let next = try spine.nextSeparator(root)?.bytes
        try spine.addRows(&root, -leaf.count)
        try spine.removeLeaf(&root)
        try space.free(ref)
        return next ?? []
    }
}
