/// The insert buffer: new entries of large ordered trees that have not reached them yet.
///
/// Primary keys, e-mail addresses and targets of links come in no order: a thousand new entries of
/// a tree with a million would rewrite a thousand of its leaves. They gather here instead, in trees
/// keyed (tree, key), until many of them go to the same leaf.
///
/// 1. An entry is in its tree or in one level of the buffer, never in two of them. So no entry
///    hides another, a removed entry needs no mark, counts add up, and any entry may move on at any
///    time.
/// 2. A lookup searches the tree first and the levels if it finds nothing there; a cursor walks
///    through all of them side by side.
/// 3. Only entries that their writer knows to be new enter a level, and only if they would be
///    thinly spread in their tree: large batches and those of small trees go directly to the tree.
///    The larger the batch, the later the level that it enters.
/// 4. A level above its limit passes entries, in key order from the last position, to the next
///    level, each some times larger, or to the trees: the last level passes all, the others those
///    that are dense enough for their tree already.
/// 5. One commit hands on few entries, of one level: the levels take turns. Only a level far above
///    its limit passes the excess at once, by whole leaves.
/// 6. A file at rest gives a tree all its entries here, if they are many beside those it has.
/// 7. The place of an entry is no part of the data: the commit record has trees, keys and values,
///    not moves.
///
/// The first level is one leaf: all that one new object adds to its indexes is one changed page.
/// Each level after it is several times larger, because one alone would be rewritten by each
/// transaction nearly as widely as the trees themselves: with 3,000 entries a transaction and
/// 25,000 leaves one level costs about 1,300 pages a transaction at best, three about 400. Buffers
/// in the inner nodes of each tree cost more than that, as a thousand entries reach every node
/// above the leaves.
final class InsertBuffer {
    let policy: InsertBufferPolicy
    private let reader: InsertBufferReader
    private let catalog: Catalog
    private let pages: PageWriter
    private let levels: [TreeWriter]
    private var isChanged = false

    /// The buffer of `catalog`'s version, which has all its levels.
    init(
        in catalog: Catalog, pages: PageWriter, scratch: ScratchBuffers, policy: InsertBufferPolicy
    ) throws(StorageError) {
        self.catalog = catalog
        self.pages = pages
        self.policy = policy
        reader = try catalog.insertBuffer()
        levels = reader.levels.compactMap { level in
            level.map { TreeWriter($0, pages: pages, scratch: scratch) }
        }
    }

    /// Forgets the positions of the last changes, between two transactions.
    func reset() {
        for level in levels { level.reset() }
        isChanged = false
    }

    /// The entries of one tree.
    func entries(of tree: TreeID) -> BufferedEntryWriter {
        BufferedEntryWriter(self, reading: BufferedEntries(reader, tree: tree))
    }

    /// Adds a new entry to a level; false if the level has the key already.
    fileprivate func insert(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, into level: Int
    ) throws(StorageError) -> Bool {
        isChanged = true
        return try put(key, value, into: min(level, levels.count - 1))
    }

    private func put(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, into level: Int
    ) throws(StorageError) -> Bool {
        if levels[level].reader.head.rootInCatalog == nil {
            catalog.add(
                levels[level].reader.head, SystemTree.insertBuffer[level])
        }
        return try levels[level].putOwn(key, value)
    }

    /// Deletes an entry; false if no level has it.
    fileprivate func delete(_ key: UnsafeRawBufferPointer) throws(StorageError) -> Bool {
        for level in levels where level.reader.ownCount > 0 {
            if try level.delete(key) { return true }
        }
        return false
    }

    // MARK: Compaction

    /// Moves on the entries above the limits, before a commit. `positions`: the key from which each
    /// level continues. `dirtyLimit`: bytes of extents above which leaves are spilled. `tree` gives
    /// the writer of a tree.
    func compact(
        from positions: inout [[UInt8]], dirtyLimit: Int,
        _ tree: (TreeID) throws(StorageError) -> TreeWriter
    ) throws(StorageError) {
        guard isChanged else { return }
        isChanged = false
        for level in levels.indices {
            while count(level) > policy.hardLimit(level) {
                try compact(level, atMost: .max, &positions[level], tree)
                try pages.spill(limit: dirtyLimit)
            }
        }
        if let level = levels.indices.first(where: { count($0) > policy.limits[$0] }) {
            try compact(level, atMost: policy.compactionBatch, &positions[level], tree)
            try pages.spill(limit: dirtyLimit)
        }
    }

    /// Moves entries of a tree there, and with them the others in the same leaves of a level, until
    /// the version being made has `extentLimit` extents. False if some are left.
    func empty(
        _ id: TreeID, extentLimit: Int, dirtyLimit: Int,
        _ tree: (TreeID) throws(StorageError) -> TreeWriter
    ) throws(StorageError) -> Bool {
        let entries = BufferedEntries(reader, tree: id)
        for level in levels.indices {
            var position = try entries.prefix.with(BufferedEntries.noKey) { Array($0) }
            while try entries.count(level) > 0 {
                guard pages.extentCount < extentLimit else { return false }
                try compact(level, atMost: .max, &position, toTrees: true, tree)
                try pages.spill(limit: dirtyLimit)
            }
        }
        return true
    }

    private func count(_ level: Int) -> Int { levels[level].reader.ownCount }

    /// Moves entries of one leaf of a level, in key order.
    private func compact(
        _ level: Int, atMost count: Int, _ position: inout [UInt8], toTrees: Bool = false,
        _ tree: (TreeID) throws(StorageError) -> TreeWriter
    ) throws(StorageError) {
        var destination = Destination()
        position = try levels[level].takeEntries(atMost: count, from: position) {
            (entry) throws(StorageError) in
            guard let (id, key) = BufferKey.split(entry.key), !entry.isBlob else {
                throw .corrupt(page: 0, reason: "an entry of the insert buffer is malformed")
            }
            if id != destination.id {
                let level = toTrees ? levels.count - 1 : level
                destination = Destination(id: id, tree: try destinationTree(id, level, tree))
            }
            let isNew =
                if let tree = destination.tree {
                    try tree.putOwn(key, entry.stored)
                } else {
                    try put(entry.key, entry.stored, into: level + 1)
                }
            if !isNew {
                throw .corrupt(page: 0, reason: "an entry of tree \(id) is in two levels or trees")
            }
        }
    }

    /// The destination of one tree's entries.
    private struct Destination {
        var id: TreeID = 0
        /// Nil: the next level.
        var tree: TreeWriter?
    }

    /// The tree itself, or nil for the next level.
    private func destinationTree(
        _ id: TreeID, _ level: Int, _ tree: (TreeID) throws(StorageError) -> TreeWriter
    ) throws(StorageError) -> TreeWriter? {
        guard let tree = try? tree(id) else {
            throw .corrupt(
                page: 0, reason: "the insert buffer holds entries of tree \(id), which is not there"
            )
        }
        if level + 1 == levels.count { return tree }
        let share = try BufferedEntries(reader, tree: id).count(level)
        return share * policy.treeToShareRatio >= tree.reader.ownCount ? tree : nil
    }
}

/// The entries of one tree in the insert buffer, for changing, by the tree's own keys.
struct BufferedEntryWriter {
    private let buffer: InsertBuffer
    private let reading: BufferedEntries

    fileprivate init(_ buffer: InsertBuffer, reading: BufferedEntries) {
        self.buffer = buffer
        self.reading = reading
    }

    /// The level for new entries of a batch, if the tree itself has `treeCount`; nil: they go to
    /// the tree.
    func entryLevel(batch: Int, treeCount: Int) -> Int? {
        guard treeCount >= buffer.policy.smallestTree,
            batch < treeCount / buffer.policy.treeToBatchRatio
        else { return nil }
        return buffer.policy.entryLevel(batch: batch)
    }

    /// Inserts a new entry into a level; false if it must go to the tree.
    func insert(_ own: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, into level: Int)
        throws(StorageError) -> Bool
    {
        guard reading.prefix.isFitting(own.count), value.count <= TreeLimits.inlineValue else {
            return false
        }
        _ = try reading.prefix.with(own) { key throws(StorageError) in
            try buffer.insert(key, value, into: level)
        }
        return true
    }

    /// Deletes an entry; false if no level has it.
    func delete(_ own: UnsafeRawBufferPointer) throws(StorageError) -> Bool {
        guard reading.prefix.isFitting(own.count) else { return false }
        return try reading.prefix.with(own) { key throws(StorageError) in try buffer.delete(key) }
    }

    /// Deletes all entries of the tree. O(n log n).
    func deleteAll() throws(StorageError) {
        for level in try reading.levels {
            while let last = try last(in: level) {
                _ = try last.withBytes { key throws(StorageError) in try buffer.delete(key) }
            }
        }
    }

    private func last(in level: TreeReader) throws(StorageError) -> [UInt8]? {
        let cursor = try level.cursor()
        let isThere = try reading.prefix.withEnd { end throws(StorageError) in
            try cursor.seek(before: end)
        }
        return isThere && reading.prefix.rest(of: cursor.key) != nil ? Array(cursor.key) : nil
    }
}
