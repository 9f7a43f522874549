/// The columns of a table, which change without reading the rows, except for removed ones.
extension TableWriter {
    /// Adds a column; existing rows read its default. O(1).
    func addColumn(_ column: Column) throws(StorageError) {
        guard column.isSound, !columns.contains(where: { $0.id == column.id }) else {
            throw .typeMismatch("column \(column.id) cannot be added")
        }
        guard columns.count < ClusterLimits.columns else {
            throw .valueTooLong(length: columns.count + 1, limit: ClusterLimits.columns)
        }
        head.columns.append(column)
        head.columns.sort { $0.id < $1.id }
        rowPlan.cluster = 0
    }

    /// Makes a column nullable, or the elements of its lists. All values stay; a cluster is written
    /// anew when one of its cells becomes null, or a row comes. O(1).
    func makeNullable(_ id: UInt32) throws(StorageError) {
        guard let index = reader.columnIndex(id) else { throw .noSuchColumn(id) }
        if columns[index].type == .list {
            head.columns[index].elementIsNullable = true
        } else if !columns[index].isNullable {
            head.columns[index].isNullable = true
            head.columns[index].wasRequired = true
        }
        reset()
    }

    /// Removes columns with all their values: rewrites every cluster that has one of them, together
    /// with following ones that are small now, and frees the cells' values outside of the clusters.
    /// O(rows).
    ///
    /// - Parameter dirtyLimit: bytes of extents above which leaves are spilled.
    func removeColumns(_ ids: [UInt32], dirtyLimit: Int = .max)
        throws(StorageError)
    {
        var gone: [Column] = []
        for id in ids { gone.append(try reader.column(id)) }
        head.columns.removeAll { ids.contains($0.id) }
        reset()
        guard !root.isEmpty else { return }
        var next: Int64? = .min
        while let key = next {
            try CurrentCall.checkInterruption()
            next = try removeColumns(gone, atLeafOf: key)
            try pages.spill(limit: dirtyLimit)
        }
        reset()
    }

    /// Removes columns from the cluster that a key belongs to, and from those that are joined with
    /// it. Returns the first key of the next cluster; nil after the last one.
    private func removeColumns(_ gone: [Column], atLeafOf key: Int64)
        throws(StorageError) -> Int64?
    {
        let refs = try leavesToJoin(gone, from: key)
        if !refs.isEmpty {
            var clusters: [ClusterPage] = []
            for ref in refs { clusters.append(try verifiedCluster(ref)) }
            for cluster in clusters {
                for column in gone where column.hasHeap { try freeContents(cluster, column) }
            }
            try writeAnew(refs, clusters, at: key)
        }
        _ = try approach(key)
        return try path.nextSeparator(root)?.rowKey
    }

    /// The cluster that a key belongs to and the following ones below the same parent that fit into
    /// one together. Empty if it has no such column.
    private func leavesToJoin(_ gone: [Column], from key: Int64) throws(StorageError) -> [Ref] {
        let ref = try approach(key)
        let first = try verifiedCluster(ref)
        guard gone.contains(where: { first.index(ofColumn: $0.id) != nil }) else { return [] }
        var refs = [ref], rows = first.rowCount
        while let ref = try path.sibling(refs.count, root) {
            rows += try verifiedCluster(ref).rowCount
            if rows > ClusterLimits.rows { break }
            refs.append(ref)
        }
        while refs.count > 1 {
            let builder = try joined(refs)
            if builder.pages(builder.sealed) * Page.size <= ClusterLimits.bytes * 3 / 4 { break }
            refs.removeLast((refs.count + 1) / 2)
        }
        return refs
    }

    private func joined(_ refs: [Ref]) throws(StorageError) -> ClusterBuilder {
        var sources: [ClusterSource] = []
        for ref in refs { sources.append(ClusterSource(try verifiedCluster(ref))) }
        return try ClusterBuilder(columns, sources)
    }

    /// Writes clusters anew as one, with the table's columns; one alone that does not fit as two.
    private func writeAnew(_ refs: [Ref], _ clusters: [ClusterPage], at key: Int64)
        throws(StorageError)
    {
        let builder =
            refs.count > 1 ? try joined(refs) : try part(of: clusters[0], 0..<clusters[0].rowCount)
        if clusters[0].rowCount > 1, !builder.fits(builder.sealed) {
            return try split(try descend(to: key), at: clusters[0].rowCount / 2)
        }
        let (ref, _) = try build(builder, builder.sealed)
        _ = try approach(key)
        path.replaceLeaf(&head.root, by: ref)
        for _ in refs.dropFirst() {
            try path.removeLeafRight(&head.root)
            _ = try approach(key)
        }
        for ref in refs { try pages.free(ref) }
    }

    /// Leads the path to the cluster that a key belongs to.
    private func approach(_ key: Int64) throws(StorageError) -> Ref {
        forgetHint()
        var target = RowTarget(key)
        return try path.approachLeaf(&head.root, &target)
    }
}
