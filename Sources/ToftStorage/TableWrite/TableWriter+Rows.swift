extension TableWriter {
    /// Takes a key that no row had before.
    func takeNextKey() -> Int64 {
        let key = root.nextKey
        raiseNextKey(above: key)
        return key
    }

    /// Gives out no key up to this one from now on.
    func raiseNextKey(above key: Int64) {
        if key >= root.nextKey { head.root.nextKey = key == .max ? key : key + 1 }
    }

    /// Inserts a row whose cells have their defaults. O(log rows), at the end O(1).
    func insertRow(_ key: Int64) throws(StorageError) {
        guard !root.isEmpty else { return try createFirstCluster(key) }
        let atFinger = try leafAtHint(key)
        if atFinger == nil, try beginTail(key) { return }
        let isCurrent = atFinger == nil
        let leaf = if let atFinger { atFinger } else { try descend(to: key) }
        let row = leaf.cluster.lowerBound(key)
        if row < leaf.cluster.rowCount && leaf.cluster.keys[row] == key {
            throw .duplicateRow(key: key)
        }
        if leaf.cluster.rowCount == leaf.cluster.rowCapacity || !takesNullRow(leaf)
            || !leaf.cluster.takesKey(key, at: row)
        {
            if !isCurrent { try path.refresh() }
            return try insertIntoFull(leaf, key, at: row)
        }
        try insert(leaf, key, at: row, isPathCurrent: isCurrent)
    }

    /// Whether a new row of a cluster is null in every column that became nullable. A cluster of
    /// before that is written anew like a full one.
    @inline(__always)
    private func takesNullRow(_ leaf: Leaf) -> Bool {
        for column in columns where column.wasRequired {
            guard let slice = try? leaf.cluster.slice(ofColumn: column), slice.geometry.isNullable
            else { return false }
        }
        return true
    }

    @inline(__always)
    private func insert(
        _ leaf: Leaf, _ key: Int64, at row: Int, isPathCurrent: Bool
    ) throws(StorageError) {
        if !isPathCurrent { try path.refresh() }
        try leaf.editor.insertRow(at: row, key: key)
        try path.addRows(&head.root, 1)
        if isAtEnd && row == leaf.cluster.rowCount { appendedRows &+= 1 }
        raiseNextKey(above: key)
    }

    /// The cluster and row of a key, for changing. The path may need a refresh.
    @inline(__always)
    func locateForWrite(_ key: Int64) throws(StorageError) -> (
        leaf: Leaf, row: Int
    ) {
        if let leaf = try leafAtHint(key), let row = leaf.cluster.row(of: key) {
            return (leaf, row)
        }
        guard !root.isEmpty else { throw .noSuchRow(key: key) }
        let leaf = try descend(to: key)
        guard let row = leaf.cluster.row(of: key) else { throw .noSuchRow(key: key) }
        return (leaf, row)
    }

    private func createFirstCluster(_ key: Int64) throws(StorageError) {
        let ref = try newTail(key, like: nil)
        forgetHint()
        path.createRootLeaf(&head.root, ref)
        head.root.count = 1
        raiseNextKey(above: key)
        _ = try descend(to: key)
    }

    // MARK: Full clusters

    private func insertIntoFull(
        _ leaf: Leaf, _ key: Int64, at row: Int
    ) throws(StorageError) {
        let count = leaf.cluster.rowCount
        let isEnd = row == count && isAtEnd
        if isEnd, try appendToFull(leaf, key) { return }
        let builder = try ClusterBuilder(
            columns, [ClusterSource(leaf.cluster)], expecting: key)
        if count < ClusterLimits.rows, !(isEnd && builder.isFull),
            let shape = builder.grown(rows: count + 1, from: leaf.cluster.rowCapacity, heap: 0)
        {
            let grown = try rebuild(leaf, builder, shape)
            return try insert(grown, key, at: row, isPathCurrent: true)
        }
        if isEnd {
            if let full = try builder.fillingPages() {
                try split(leaf, at: full.rowCount, full: full, like: builder)
                return try insertRow(key)
            }
            try seal(leaf, builder)
            try append(key, like: builder)
        } else if count == 1 {
            try insertBeside(leaf, key, at: row)
        } else {
            try split(leaf, at: max(1, count / 2))
            try insertRow(key)
        }
    }

    /// Inserts a row beside a cluster of one that takes no other: into a cluster of its own. The
    /// path is current.
    private func insertBeside(_ leaf: Leaf, _ key: Int64, at row: Int) throws(StorageError) {
        let old = leaf.cluster.keys[0]
        let new = try newTail(key, like: nil)
        try path.addRows(&head.root, 1)
        if row == 0 {
            replaceLeaf(by: new)
            try path.insertLeafRight(&head.root, Separator(rowKey: old), leaf.ref, rows: 1)
        } else {
            try path.insertLeafRight(&head.root, Separator(rowKey: key), new, rows: 1)
        }
        forgetHint()
        raiseNextKey(above: key)
    }

    /// Writes the leaf anew in another shape.
    func rebuild(
        _ leaf: Leaf, _ builder: ClusterBuilder, _ shape: ClusterShape
    ) throws(StorageError) -> Leaf {
        let (ref, base) = try build(builder, shape)
        replaceLeaf(by: ref)
        try pages.free(leaf.ref)
        return try Leaf(ref, base)
    }

    /// Divides a cluster: rows from `cut` on go to a new one on its right. At the end of the table
    /// the left part is sealed. The path is current.
    ///
    /// - Parameters:
    ///   - full: the left part, if it was made already.
    ///   - model: the whole cluster, if rows are appended to it: columns of the new one are as
    ///     wide.
    func split(
        _ leaf: Leaf, at cut: Int, full: ClusterBuilder? = nil, like model: ClusterBuilder? = nil
    ) throws(StorageError) {
        let count = leaf.cluster.rowCount
        let left = if let full { full } else { try part(of: leaf.cluster, 0..<cut) }
        let right = try part(of: leaf.cluster, cut..<count, like: model)
        let separator = Separator(rowKey: leaf.cluster.keys[cut])
        let isAppending = isAtEnd && (cut == count - 1 || model != nil)
        let isBulk = isAppending && appendedRows >= ClusterLimits.rows / 2
        let (rightRef, _) = try build(right, isBulk ? right.first(like: left) : right.loose)
        _ = try rebuild(leaf, left, isAppending ? left.sealed : left.loose)
        try path.insertLeafRight(&head.root, separator, rightRef, rows: UInt64(count - cut))
        forgetHint()
    }

    /// Some rows of a cluster. Columns that it lacks are left out if they would make the part too
    /// large: a part with fewer rows takes them in.
    func part(
        of cluster: ClusterPage, _ rows: Range<Int>..., like model: ClusterBuilder? = nil
    ) throws(StorageError) -> ClusterBuilder {
        let sources = rows.map { ClusterSource(cluster: cluster, rows: $0) }
        let whole = try ClusterBuilder(columns, sources, like: model)
        if whole.fits(whole.sealed) { return whole }
        return try ClusterBuilder(
            columns.filter { cluster.index(ofColumn: $0.id) != nil }, sources)
    }

    // MARK: Erasing

    /// Erases a row, its long values and its lists. O(log rows).
    func eraseRow(_ key: Int64) throws(StorageError) {
        let (leaf, row) = try locateForErase(key)
        try path.refresh()
        for column in columns where column.hasHeap {
            if let slice = try leaf.cluster.slice(ofColumn: column) {
                try freeContents(leaf.cluster, slice, row, column)
            }
        }
        try path.addRows(&head.root, -1)
        if leaf.cluster.rowCount == 1 {
            try path.removeLeaf(&head.root)
            forgetHint()
            return try pages.free(leaf.ref)
        }
        let rest: Leaf
        if leaf.cluster.canErase(row) {
            try leaf.editor.eraseRow(at: row)
            rest = try Leaf(leaf.ref, leaf.base)
        } else {
            rest = try writeWithout(row, leaf)
        }
        if rest.cluster.rowCount < ClusterLimits.rows / 4 { try rebalance(rest) }
    }

    /// The cluster and row of a key, for erasing it. A cluster that will be written anew is not
    /// copied before.
    private func locateForErase(_ key: Int64) throws(StorageError) -> (leaf: Leaf, row: Int) {
        guard !root.isEmpty, try leafAtHint(key) == nil, let leaf = try descendToReplace(key),
            leaf.cluster.rowCount > 1, let row = leaf.cluster.row(of: key),
            !leaf.cluster.canErase(row)
        else { return try locateForWrite(key) }
        return (leaf, row)
    }

    /// Writes a cluster anew without one of its rows, which leaves a gap between the keys.
    private func writeWithout(_ row: Int, _ leaf: Leaf) throws(StorageError) -> Leaf {
        let builder = try part(
            of: leaf.cluster, 0..<row, row + 1..<leaf.cluster.rowCount)
        return try rebuild(leaf, builder, isAtEnd ? builder.loose : builder.sealed)
    }

    /// Joins a cluster that has become small with a neighbour, or releases capacity that it no
    /// longer needs. The path is current.
    private func rebalance(_ leaf: Leaf) throws(StorageError) {
        if try merge(leaf, distance: 1) { return }
        if try merge(leaf, distance: -1) { return }
        guard leaf.cluster.rowCount * 4 == leaf.cluster.rowCapacity else { return }
        let builder = try ClusterBuilder(columns, [ClusterSource(leaf.cluster)])
        guard builder.fits(builder.loose) else { return }
        _ = try rebuild(leaf, builder, builder.loose)
    }

    /// Merges a cluster and its neighbour below the same parent into one, if that leaves room.
    private func merge(_ leaf: Leaf, distance: Int)
        throws(StorageError) -> Bool
    {
        guard let ref = try path.sibling(distance, root) else { return false }
        let other = try verifiedCluster(ref)
        guard other.rowCount + leaf.cluster.rowCount <= ClusterLimits.rows * 3 / 4 else {
            return false
        }
        let pair = distance > 0 ? [leaf.cluster, other] : [other, leaf.cluster]
        let builder = try ClusterBuilder(columns, [ClusterSource(pair[0]), ClusterSource(pair[1])])
        guard builder.pages(builder.loose) * Page.size <= ClusterLimits.bytes * 3 / 4 else {
            return false
        }
        let (joined, _) = try build(builder, builder.loose)
        if distance < 0 { path.stepLeft() }
        replaceLeaf(by: joined)
        try path.removeLeafRight(&head.root)
        forgetHint()
        try pages.free(leaf.ref)
        try pages.free(ref)
        return true
    }

    /// A cluster all of whose pages are verified.
    func verifiedCluster(_ ref: Ref) throws(StorageError) -> ClusterPage {
        let base = try pages.view(ref, as: .cluster)
        try pages.reader.verify(ref, base, 0..<Int(ref.pageCount) * Page.size)
        return try ClusterPage(base, page: ref.page, pageCount: ref.pageCount)
    }

    /// Frees all that a cell has outside its cluster.
    func freeContents(_ cluster: ClusterPage, _ slice: ColumnSlice, _ row: Int, _ column: Column)
        throws(StorageError)
    {
        let cell = slice.heapCell(row)
        if cell.isExternal { return try freeExternal(cluster, slice, row) }
        guard column.elementType == .bytes, cell.raw != 0 else { return }
        try cluster.block(cell, slice, column.elementKind).freeBlobs(in: pages)
    }

    /// Frees the blob of a cell, or the sequence tree of its list.
    func freeExternal(_ cluster: ClusterPage, _ slice: ColumnSlice, _ row: Int)
        throws(StorageError)
    {
        let cell = slice.heapCell(row)
        guard cell.isExternal else { return }
        let bytes = try cluster.heapBytes(cell)
        if slice.geometry.type == .bytes {
            return try pages.free(try Ref(blob: bytes, page: cluster.page))
        }
        try sequences.drop(try TableReader.sequenceID(bytes, cluster.page))
    }

    /// Calls `body` for every cluster in key order, all of its pages verified.
    func forEachLeaf(_ body: (ClusterPage) throws(StorageError) -> Void) throws(StorageError) {
        let cursor = LeafCursor(pages: pages.reader, root: root, leafType: .cluster)
        var target = EdgeTarget(isLast: false)
        var isThere = try cursor.seek(&target)
        while isThere {
            try body(try verifiedCluster(cursor.ref))
            isThere = try cursor.next()
        }
    }

    /// Frees all that the cells of a column have outside their cluster.
    func freeContents(_ cluster: ClusterPage, _ column: Column) throws(StorageError) {
        guard let slice = try cluster.slice(ofColumn: column) else { return }
        for row in 0..<cluster.rowCount { try freeContents(cluster, slice, row, column) }
    }

    /// Frees every extent of the table, its long values and its lists. It has no rows afterwards;
    /// keys are still never used again.
    func freeAll() throws(StorageError) {
        reset()
        try root.freeNodes(in: pages) { (ref) throws(StorageError) in
            let cluster = try verifiedCluster(ref)
            for column in columns where column.hasHeap { try freeContents(cluster, column) }
            try pages.free(ref)
        }
        head.root.ref = .nowhere
        head.root.height = 0
        head.root.count = 0
    }
}
