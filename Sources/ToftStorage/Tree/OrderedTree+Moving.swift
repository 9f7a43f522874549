internal import ToftPlatform

/// How the delta hands entries on: they leave a level in key order.
extension OrderedTree {
    /// Takes entries out of the leaf to which `start` leads, at most so many and those from `start`
    /// on first, and gives them to `body`, which may change every tree but this one. Not for empty
    /// trees. Returns where to go on; empty after the last entry.
    func takeEntries(
        atMost limit: Int, from start: [UInt8], _ body: (OrderedEntry) throws(StorageError) -> Void
    ) throws(StorageError) -> [UInt8] {
        place = nil
        let spine = writer()
        let (ref, base) = try start.withBytes { key throws(StorageError) in
            var route = KeyRoute(key: Separator(key: key))
            return try spine.descend(&root, &route)
        }
        let leaf = try OrderedLeaf(base, page: ref.page)
        let count = min(leaf.count, limit)
        let first = min(
            try start.withBytes { key throws(StorageError) in try leaf.search(key).index },
            leaf.count - count)
        let lost = Probe.makes(.entryLostOnTheWay) ? 1 : 0
        for index in first..<first + count - lost {
            try body(try leaf.whole(index, in: spine.keyScratch))
        }
        let next =
            try first + count < leaf.count
            ? Array(leaf.whole(first + count, in: spine.keyScratch).key)
            : spine.nextSeparator(root)?.bytes
        try spine.addRows(&root, -count)
        if count == leaf.count {
            try spine.removeLeaf(&root)
            try space.free(ref)
        } else {
            try OrderedLeafEditor(base: base, page: ref.page).remove(first..<first + count)
        }
        return next ?? []
    }
}
