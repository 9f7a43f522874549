/// Appending rows at the end of a table.
///
/// A commit copies, hashes and writes each cluster that it changes. The cluster that small
/// transactions append to, the tail, therefore stays small: a page, or a few rows if they are long.
///
/// 1. A full tail is moved into the cluster before it, while that has room, or stays as it is; a
///    new tail begins.
/// 2. A last cluster that is larger, as many rows at once leave it, is not copied for a row: a tail
///    begins beside it.
/// 3. A transaction that appends many rows moves the tail that it began with into the cluster
///    before, and continues there as long as that can grow.
///
/// A cluster with the most rows loses those in a last page that is hardly filled: they begin the
/// next one.
extension TableWriter {
    /// Begins a tail if the key belongs at the end of the table and the last cluster is too large
    /// to be copied for it. Otherwise the path no longer leads to the hint.
    func beginTail(_ key: Int64) throws(StorageError) -> Bool {
        guard key >= root.nextKey else { return false }
        let last = try approachEnd()
        guard last.birth != pages.version, last.pageCount > 1,
            try path.leafRows(root) > ClusterLimits.tailRows
        else { return false }
        try append(key, like: nil)
        return true
    }

    /// Appends a row to a full last cluster, after making room in a tail or in the cluster before;
    /// false if it is to grow like any other. The path is current.
    func appendToFull(_ leaf: Leaf, _ key: Int64)
        throws(StorageError) -> Bool
    {
        let count = leaf.cluster.rowCount
        if isAppendingMany {
            let moved = try moveRows(leaf, keeping: 0) {
                $0.grown(rows: $0.rowCount + 1, from: $0.rowCount, heap: 0) ?? $0.sealed
            }
            if moved > 0 { try insertRow(key) }
            return moved > 0
        }
        let builder = try ClusterBuilder(
            columns, [ClusterSource(leaf.cluster)], expecting: key)
        if let shape = builder.tail(rows: count + 1, from: leaf.cluster.rowCapacity, heap: 0) {
            _ = try rebuild(leaf, builder, shape)
            try insertRow(key)
            return true
        }
        let moved = try moveRows(leaf, keeping: 0) { $0.sealed }
        if moved == 0 { try seal(leaf, builder) }
        if moved > 0 && moved < count {
            try insertRow(key)
        } else {
            _ = try approachEnd()
            try append(key, like: nil)
        }
        return true
    }

    /// Makes room for `heap` more bytes or a wider integer in the last row, if this transaction
    /// appended it; false if its cluster is to grow like any other. The path is current.
    func makeRoomInTail(
        _ leaf: Leaf, heap: Int, _ widening: ClusterBuilder.Widening?
    ) throws(StorageError) -> Bool {
        guard appendedRows > 0, !isAppendingMany else { return false }
        let builder = try builder(of: leaf, widening)
        if let shape = builder.tail(
            rows: leaf.cluster.rowCount, from: leaf.cluster.rowCapacity, heap: heap)
        {
            _ = try rebuild(leaf, builder, shape)
            return true
        }
        guard leaf.cluster.rowCount > 1 else { return false }
        if try moveRows(leaf, keeping: 1, shape: { $0.sealed }) == 0 {
            try split(leaf, at: leaf.cluster.rowCount - 1)
        }
        return true
    }

    /// Moves rows of the last cluster, as many as fit but not the last `kept`, to the cluster
    /// before it, which `shape` gives a new shape. Returns their number. The path is current; if
    /// rows were moved, there is no hint.
    private func moveRows(
        _ leaf: Leaf, keeping kept: Int,
        shape: (ClusterBuilder) -> ClusterShape
    )
        throws(StorageError) -> Int
    {
        let count = leaf.cluster.rowCount
        guard let ref = try path.sibling(-1, root) else { return 0 }
        let before = try ClusterPage(
            try pages.view(ref, as: .cluster), page: ref.page, pageCount: ref.pageCount)
        let limit = ClusterBuilder.rowsFillingPages(
            ClusterLimits.rows, payload: before.payload(ofRows: ClusterLimits.rows))
        let enough = ClusterBuilder.enoughRows(limit)
        var moved = min(count - kept, limit - before.rowCount)
        guard before.rowCount < enough, moved > 0 else {
            try sealSibling(ref, before)
            return 0
        }
        var joined = try ClusterBuilder(
            columns,
            [
                ClusterSource(try verifiedCluster(ref)),
                ClusterSource(cluster: leaf.cluster, rows: 0..<moved),
            ])
        let isFull = joined.rowCount >= enough || joined.isFull
        if isFull, let full = try joined.fillingPages() {
            moved -= joined.rowCount - full.rowCount
            guard moved > 0 else { return 0 }
            joined = full
        }
        var shape = isFull ? joined.sealed : shape(joined)
        shape.rowCapacity = min(shape.rowCapacity, max(joined.rowCount, limit))
        guard joined.fits(shape) else { return 0 }
        let (joinedRef, _) = try build(joined, shape)
        path.stepLeft()
        replaceLeaf(by: joinedRef)
        try path.removeLeafRight(&head.root)
        _ = try approachEnd()
        if moved < count { try keepRows(from: moved, of: leaf) }
        try pages.free(leaf.ref)
        try pages.free(ref)
        return moved
    }

    /// Releases the spare room in the cluster before the last, if rows were appended to it and no
    /// more are to be. The path is current.
    private func sealSibling(_ ref: Ref, _ cluster: ClusterPage) throws(StorageError) {
        let needed = ClusterBuilder.pages(payload: cluster.payload(ofRows: cluster.rowCount))
        guard needed < Int(ref.pageCount) else { return }
        let builder = try ClusterBuilder(columns, [ClusterSource(try verifiedCluster(ref))])
        guard builder.pages(builder.sealed) < Int(ref.pageCount) else { return }
        let (sealed, _) = try build(builder, builder.sealed)
        path.stepLeft()
        replaceLeaf(by: sealed)
        _ = try approachEnd()
        try pages.free(ref)
    }

    /// Puts the rest of the last cluster behind the one that took its first rows. The path leads to
    /// that.
    private func keepRows(from row: Int, of leaf: Leaf)
        throws(StorageError)
    {
        let rest = try ClusterBuilder(
            columns, [ClusterSource(cluster: leaf.cluster, rows: row..<leaf.cluster.rowCount)])
        let (ref, _) = try build(rest, rest.loose)
        try path.insertLeafRight(
            &head.root, Separator(rowKey: leaf.cluster.keys[row]), ref, rows: UInt64(rest.rowCount))
        forgetHint()
    }

    /// Gives up the room in a cluster behind which no row will be appended any more.
    func seal(_ leaf: Leaf, _ builder: ClusterBuilder)
        throws(StorageError)
    {
        if builder.pages(builder.sealed) < Int(leaf.ref.pageCount) {
            _ = try rebuild(leaf, builder, builder.sealed)
        }
    }

    /// Begins a new cluster at the end of the table, the path's position.
    func append(_ key: Int64, like last: ClusterBuilder?)
        throws(StorageError)
    {
        let ref = try newTail(key, like: last)
        try path.addRows(&head.root, 1)
        try path.insertLeafRight(&head.root, Separator(rowKey: key), ref, rows: 1)
        appendedRows &+= 1
        raiseNextKey(above: key)
        _ = try descend(to: key)
    }

    /// A cluster with one row. A transaction that has appended a large cluster gets one as large as
    /// the last.
    func newTail(_ key: Int64, like last: ClusterBuilder?)
        throws(StorageError) -> Ref
    {
        let isBulk = appendedRows >= ClusterLimits.rows / 2
        let model = isBulk ? last : nil
        let builder = try ClusterBuilder(columns, [], appending: key, like: model)
        return try build(builder, builder.first(like: model)).ref
    }
}
