extension Table {
    /// Takes a key that no row had before.
    package func takeNextKey() -> Int64 {
        let key = root.nextKey
        raiseNextKey(above: key)
        return key
    }

    /// Gives out no key up to this one from now on.
    func raiseNextKey(above key: Int64) {
        if key >= root.nextKey { root.nextKey = key == .max ? key : key + 1 }
    }

    /// Inserts a row whose cells have their defaults. O(log rows), at the end O(1).
    package func insertRow(_ key: Int64) throws(StorageError) {
        let writer = activeWriter()
        guard !root.isEmpty else { return try plant(key, writer) }
        let atFinger = try writer.leafAtFinger(key)
        if atFinger == nil, try beginTail(key, writer) { return }
        let isCurrent = atFinger == nil
        let leaf = if let atFinger { atFinger } else { try writer.descend(&root, to: key) }
        let row = leaf.cluster.lowerBound(key)
        if row < leaf.cluster.rowCount && leaf.cluster.keys[row] == key {
            throw .duplicateRow(key: key)
        }
        if leaf.cluster.rowCount == leaf.cluster.rowCapacity {
            if !isCurrent { try writer.spine.refresh() }
            return try insertIntoFull(leaf, key, at: row, writer)
        }
        try insert(leaf, key, at: row, isSpineCurrent: isCurrent, writer)
    }

    @inline(__always)
    private func insert(
        _ leaf: TableWriter.Leaf, _ key: Int64, at row: Int, isSpineCurrent: Bool,
        _ writer: TableWriter
    ) throws(StorageError) {
        if !isSpineCurrent { try writer.spine.refresh() }
        try leaf.editor.insertRow(at: row, key: key)
        try writer.spine.addRows(&root, 1)
        if writer.isAtEnd && row == leaf.cluster.rowCount { writer.appendedRows &+= 1 }
        raiseNextKey(above: key)
    }

    func activeWriter() -> TableWriter {
        if let writer { return writer }
        let made = TableWriter(space: space)
        writer = made
        return made
    }

    /// The cluster and row of a key, for changing; the spine may need a refresh.
    @inline(__always)
    func standing(at key: Int64, _ writer: TableWriter) throws(StorageError) -> (
        leaf: TableWriter.Leaf, row: Int
    ) {
        if let leaf = try writer.leafAtFinger(key), let row = leaf.cluster.row(of: key) {
            return (leaf, row)
        }
        guard !root.isEmpty else { throw .noSuchRow(key: key) }
        let leaf = try writer.descend(&root, to: key)
        guard let row = leaf.cluster.row(of: key) else { throw .noSuchRow(key: key) }
        return (leaf, row)
    }

    private func plant(_ key: Int64, _ writer: TableWriter) throws(StorageError) {
        let ref = try newTail(key, like: nil, writer)
        writer.leave()
        writer.spine.plant(&root, ref)
        root.count = 1
        raiseNextKey(above: key)
        _ = try writer.descend(&root, to: key)
    }

    // MARK: Full clusters

    private func insertIntoFull(
        _ leaf: TableWriter.Leaf, _ key: Int64, at row: Int, _ writer: TableWriter
    ) throws(StorageError) {
        let count = leaf.cluster.rowCount
        let isEnd = row == count && writer.isAtEnd
        if isEnd, try appendToFull(leaf, key, writer) { return }
        let builder = try ClusterBuilder(columns, [ClusterSource(leaf.cluster)])
        if count < ClusterLimits.rows,
            let shape = builder.grown(rows: count + 1, from: leaf.cluster.rowCapacity, heap: 0)
        {
            let grown = try rebuild(leaf, builder, shape, writer)
            return try insert(grown, key, at: row, isSpineCurrent: true, writer)
        }
        if isEnd {
            try seal(leaf, builder, writer)
            try append(key, like: builder, writer)
        } else if count == 1 {
            try insertBeside(leaf, key, at: row, writer)
        } else {
            try split(leaf, at: max(1, count / 2), writer)
            try insertRow(key)
        }
    }

    /// Inserts a row beside a cluster of one that takes no other: into a cluster of its own. The
    /// spine is current.
    private func insertBeside(
        _ leaf: TableWriter.Leaf, _ key: Int64, at row: Int, _ writer: TableWriter
    ) throws(StorageError) {
        let old = leaf.cluster.keys[0]
        let new = try newTail(key, like: nil, writer)
        try writer.spine.addRows(&root, 1)
        if row == 0 {
            writer.replaceLeaf(&root, by: new)
            try writer.spine.insertLeafRight(&root, Separator(rowKey: old), leaf.ref, rows: 1)
        } else {
            try writer.spine.insertLeafRight(&root, Separator(rowKey: key), new, rows: 1)
        }
        writer.leave()
        raiseNextKey(above: key)
    }

    /// Writes the leaf anew in another shape.
    func rebuild(
        _ leaf: TableWriter.Leaf, _ builder: ClusterBuilder, _ shape: ClusterShape,
        _ writer: TableWriter
    ) throws(StorageError) -> TableWriter.Leaf {
        let (ref, base) = try builder.build(shape, in: space)
        writer.replaceLeaf(&root, by: ref)
        try space.free(leaf.ref)
        return try TableWriter.Leaf(ref, base)
    }

    /// Divides a cluster: rows from `cut` on go to a new one on its right. At the end of the table
    /// the left part is sealed. The spine is current.
    func split(_ leaf: TableWriter.Leaf, at cut: Int, _ writer: TableWriter) throws(StorageError) {
        let count = leaf.cluster.rowCount
        let left = try part(of: leaf.cluster, 0..<cut)
        let right = try part(of: leaf.cluster, cut..<count)
        let separator = Separator(rowKey: leaf.cluster.keys[cut])
        let isAppending = writer.isAtEnd && cut == count - 1
        let isBulk = isAppending && writer.appendedRows >= ClusterLimits.rows / 2
        let (rightRef, _) = try right.build(
            isBulk ? right.first(like: left) : right.loose, in: space)
        _ = try rebuild(leaf, left, isAppending ? left.sealed : left.loose, writer)
        try writer.spine.insertLeafRight(&root, separator, rightRef, rows: UInt64(count - cut))
        writer.leave()
    }

    /// Some rows of a cluster that is divided. Columns that it lacks stay away where they would
    /// make the part too large: one with fewer rows takes them in.
    private func part(of cluster: ClusterPage, _ rows: Range<Int>) throws(StorageError)
        -> ClusterBuilder
    {
        let source = ClusterSource(cluster: cluster, rows: rows)
        let whole = try ClusterBuilder(columns, [source])
        if whole.fits(whole.sealed) { return whole }
        return try ClusterBuilder(
            columns.filter { cluster.index(ofColumn: $0.id) != nil }, [source])
    }

    // MARK: Erasing

    /// Erases a row, its long values and its lists. O(log rows).
    package func eraseRow(_ key: Int64) throws(StorageError) {
        let writer = activeWriter()
        let (leaf, row) = try standing(at: key, writer)
        try writer.spine.refresh()
        for column in columns where column.hasHeap {
            if let slice = try leaf.cluster.slice(ofColumn: column) {
                try freeContents(leaf.cluster, slice, row, column)
            }
        }
        try writer.spine.addRows(&root, -1)
        if leaf.cluster.rowCount == 1 {
            try writer.spine.removeLeaf(&root)
            writer.leave()
            return try space.free(leaf.ref)
        }
        try leaf.editor.eraseRow(at: row)
        if leaf.cluster.rowCount - 1 < ClusterLimits.rows / 4 {
            try tidy(try TableWriter.Leaf(leaf.ref, leaf.base), writer)
        }
    }

    /// Joins a cluster that has become small with a neighbour, or gives up capacity that it no
    /// longer needs. The spine is current.
    private func tidy(_ leaf: TableWriter.Leaf, _ writer: TableWriter) throws(StorageError) {
        if try join(leaf, distance: 1, writer) { return }
        if try join(leaf, distance: -1, writer) { return }
        guard leaf.cluster.rowCount * 4 == leaf.cluster.rowCapacity else { return }
        let builder = try ClusterBuilder(columns, [ClusterSource(leaf.cluster)])
        _ = try rebuild(leaf, builder, builder.loose, writer)
    }

    /// Pours a cluster and its neighbour below the same parent into one, where that leaves room.
    private func join(_ leaf: TableWriter.Leaf, distance: Int, _ writer: TableWriter)
        throws(StorageError) -> Bool
    {
        guard let ref = try writer.spine.sibling(distance, root) else { return false }
        let other = try verifiedCluster(ref)
        guard other.rowCount + leaf.cluster.rowCount <= ClusterLimits.rows * 3 / 4 else {
            return false
        }
        let pair = distance > 0 ? [leaf.cluster, other] : [other, leaf.cluster]
        let builder = try ClusterBuilder(columns, [ClusterSource(pair[0]), ClusterSource(pair[1])])
        guard builder.pages(builder.loose) * Page.size <= ClusterLimits.bytes * 3 / 4 else {
            return false
        }
        let (joined, _) = try builder.build(builder.loose, in: space)
        if distance < 0 { writer.spine.stepLeft() }
        writer.replaceLeaf(&root, by: joined)
        try writer.spine.removeLeafRight(&root)
        writer.leave()
        try space.free(leaf.ref)
        try space.free(ref)
        return true
    }

    /// A cluster all of whose pages are verified.
    func verifiedCluster(_ ref: Ref) throws(StorageError) -> ClusterPage {
        let base = try space.view(ref, as: .cluster)
        try space.verify(ref, base, 0..<Int(ref.pageCount) * Page.size)
        return try ClusterPage(base, page: ref.page, pageCount: ref.pageCount)
    }

    /// Frees all that a cell has outside its cluster.
    func freeContents(_ cluster: ClusterPage, _ slice: ColumnSlice, _ row: Int, _ column: Column)
        throws(StorageError)
    {
        let cell = slice.heapCell(row)
        if cell.isElsewhere { return try freeElsewhere(cluster, slice, row) }
        guard column.elementType == .bytes, cell.raw != 0 else { return }
        try Table.block(try cluster.heapBytes(cell), cluster.page, column.elementKind).freeBlobs(
            in: space)
    }

    /// Frees the blob of a cell, or the sequence tree of its list.
    func freeElsewhere(_ cluster: ClusterPage, _ slice: ColumnSlice, _ row: Int)
        throws(StorageError)
    {
        let cell = slice.heapCell(row)
        guard cell.isElsewhere else { return }
        let bytes = try cluster.heapBytes(cell)
        if slice.geometry.type == .bytes {
            return try space.free(try Table.blobRef(bytes, cluster.page))
        }
        guard let owner else { throw .closed }
        try owner.dropSequence(try Table.sequenceID(bytes, cluster.page))
    }
}
