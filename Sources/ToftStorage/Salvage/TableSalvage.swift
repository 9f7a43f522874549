/// Rows of one cluster that a salvage found.
package struct SalvagedCluster {
    /// The source of rows.
    package enum Origin: Sendable {
        /// The newest version that can be read.
        case newest
        /// An older version: they may have been changed or erased since.
        case older
        /// A cluster that no reference leads to, which agrees with itself.
        case loose
    }

    private let reader: SalvageReader
    private let ref: Ref
    /// The columns of its table.
    private let head: TreeHead
    /// The rows that are taken, in ascending order.
    package let rows: [Int]
    package let origin: Origin

    fileprivate init(
        _ ref: Ref, of head: TreeHead, in reader: SalvageReader, rows: [Int], _ origin: Origin
    ) {
        self.ref = ref
        self.head = head
        self.reader = reader
        self.rows = rows
        self.origin = origin
    }

    /// Reads it. Valid until another cluster is opened.
    package func open() throws(StorageError) -> OpenCluster {
        try reader.cluster(ref, of: head)
    }
}

/// A table that is salvaged.
package struct SalvagedTable {
    package let id: TreeID
    /// The columns, if the catalog does not have them.
    let columns: [Column]
    package fileprivate(set) var clusters: [SalvagedCluster] = []
    /// Number of rows of the newest version; nil if it is unknown.
    package fileprivate(set) var rowCount: Int?
    /// Ranges of keys whose rows the newest version has and which can't be read there.
    fileprivate var holes = [WholeNodes.allKeys]
    /// The holes after the newest version had been read: a loose cluster may belong there, even if
    /// an older version has filled them since.
    fileprivate var lost = [WholeNodes.allKeys]
    /// Keys of rows that were found in the holes.
    fileprivate var filled: Set<Int64> = []

    package init(id: TreeID, columns: [Column]) {
        self.id = id
        self.columns = columns
    }

    fileprivate func isInHole(_ key: Int64) -> Bool { holes.contains { $0.contains(key) } }
}

/// Finds the rows of tables in a damaged file.
///
/// 1. The newest version's own, wherever its nodes are whole. A range of keys that they do not
///    cover is a hole.
/// 2. For the holes, older versions, from the newest to the oldest. A version that can read a hole
///    wholly closes it.
/// 3. Before each of them the loose clusters that were born after it: they can only belong to the
///    lost part. If the newest version's free space can be read, the pages of such a cluster are in
///    use. It belongs to the one table whose columns are the cluster's; if two have such columns it
///    is left out.
/// 4. If a version newer than the newest readable one was lost, the whole of each table is a hole
///    at first.
/// 5. No key is taken twice.
package final class TableSalvage {
    private let file: SalvageSource
    package private(set) var tables: [SalvagedTable]
    /// The loose clusters, the newest last; nil until the search.
    private var loose: [Ref]?
    /// By their versions.
    private var readers: [ObjectIdentifier: SalvageReader] = [:]
    private var looseReader: SalvageReader?
    /// The pages that the newest version has in use, by region; nil if it is lost, or its free
    /// space can't be read.
    private var used: [Bitmap]?
    private var isNewestLost = true
    /// The clusters that the newest version leads to.
    private var reached: Set<PageNumber> = []

    package init(_ file: SalvageSource, _ tables: [SalvagedTable]) {
        self.file = file
        self.tables = tables
    }

    /// Finds everything. O(file).
    ///
    /// - Throws: `interrupted`, `io`...
    package func run() throws(StorageError) {
        guard let newest = try file.version(at: 0) else { return try takeLoose(after: 0, nil) }
        if file.isNewestLost { try takeLoose(after: newest.version, newest) }
        // Without newer clusters, nothing newer was lost.
        isNewestLost = tables.contains { !$0.clusters.isEmpty }
        for index in tables.indices {
            try read(index, in: newest, isNewestLost ? .older : .newest)
        }
        var next = 1
        while hasHoles, let version = try file.version(at: next) {
            try takeLoose(after: version.version, newest)
            for index in tables.indices { try read(index, in: version, .older) }
            next += 1
        }
        if hasHoles { try takeLoose(after: 0, newest) }
        for index in tables.indices { tables[index].filled = [] }
    }

    private var hasHoles: Bool { tables.contains { !$0.holes.isEmpty } }

    // MARK: Versions

    /// Takes the rows of a version that are in the holes of a table. Its damaged nodes are the new
    /// holes.
    private func read(_ index: Int, in version: Snapshot, _ origin: SalvagedCluster.Origin)
        throws(StorageError)
    {
        guard !tables[index].holes.isEmpty else { return }
        let head: TreeHead
        do throws(StorageError) {
            head = try version.catalog.readAgain(tables[index].id)
            guard head.root.kind == .table else { throw .noSuchTree(tables[index].id) }
        } catch {
            try error.requireDamage()
            // An older version need not have it.
            if origin == .newest { note(error, tables[index].id, version) }
            return
        }
        if origin == .newest { tables[index].rowCount = Int(clamping: head.root.count) }
        let reader = readers[ObjectIdentifier(version)] ?? SalvageReader(version)
        readers[ObjectIdentifier(version)] = reader
        var nodes = WholeNodes(pages: version.pages, leafType: .cluster)
        nodes.looksAtLeaves = false
        nodes.wanted = tables[index].holes
        try nodes.run(head.root)
        for (ref, range) in nodes.leaves {
            do throws(StorageError) {
                let cluster = try reader.cluster(ref, of: head).leaf.cluster
                try Self.checkKeys(cluster, range)
                if origin == .newest { reached.insert(ref.page) }
                take(ref, cluster, of: head, in: reader, index, origin)
            } catch {
                try error.requireDamage()
                nodes.giveUp(ref.page, range, error)
            }
        }
        if let problem = nodes.problem { note(problem, tables[index].id, version) }
        for page in nodes.refused { file.refuse(page) }
        tables[index].holes = nodes.holes
        if origin == .newest { tables[index].lost = nodes.holes }
    }

    private func note(_ error: StorageError, _ id: TreeID, _ version: Snapshot) {
        file.note("table \(id) in version \(version.version): \(error)")
    }

    private static func checkKeys(_ cluster: ClusterPage, _ range: ClosedRange<Int64>)
        throws(StorageError)
    {
        let keys = cluster.keys
        for row in 0..<cluster.rowCount {
            guard range.contains(keys[row]), row == 0 || keys[row - 1] < keys[row] else {
                throw .corrupt(page: cluster.page, reason: "keys are out of order")
            }
        }
    }

    /// Takes the rows of a cluster that are in the holes and were not found before.
    private func take(
        _ ref: Ref, _ cluster: ClusterPage, of head: TreeHead, in reader: SalvageReader,
        _ index: Int, _ origin: SalvagedCluster.Origin
    ) {
        var rows: [Int] = []
        for row in 0..<cluster.rowCount {
            let key = cluster.keys[row]
            if origin == .newest
                || tables[index].isInHole(key) && tables[index].filled.insert(key).inserted
            {
                rows.append(row)
            }
        }
        guard !rows.isEmpty else { return }
        tables[index].clusters.append(
            SalvagedCluster(ref, of: head, in: reader, rows: rows, origin))
    }

    // MARK: Loose clusters

    /// Takes the loose clusters that were born after a version.
    private func takeLoose(after version: Version, _ newest: Snapshot?) throws(StorageError) {
        if loose == nil {
            loose = try file.looseExtents(.cluster).reversed()
        }
        if let newest, !isNewestLost, used == nil {
            used = try unlessDamaged { () throws(StorageError) in
                try FreeSpaceReader.unusedPages(of: newest.rootRef, pins: [], in: newest.pages)
            }
        }
        // Loose extents have no checksum to be remembered by, so they are read separately.
        let reader = looseReader ?? SalvageReader(looseIn: file.cache, catalog: newest?.catalog)
        looseReader = reader
        while let ref = loose?.last, ref.birth > version {
            loose?.removeLast()
            try CurrentCall.checkInterruption()
            guard isInUse(ref), !reached.contains(ref.page), !file.refused.contains(ref.page),
                let (sealed, cluster) = try unlessDamaged({ () throws(StorageError) in
                    let sealed = try file.sealed(ref)
                    return (sealed, try whole(sealed, in: reader))
                }), let index = owner(of: cluster)
            else { continue }
            let head = try unlessDamaged { () throws(StorageError) in
                try newest?.catalog.readAgain(tables[index].id)
            }?.flatMap { $0.root.kind == .table ? $0 : nil }
            take(
                sealed, cluster,
                of: head ?? TreeHead(kind: .table, columns: tables[index].columns), in: reader,
                index, .loose)
        }
    }

    private func isInUse(_ ref: Ref) -> Bool {
        guard let used else { return true }
        let region = Page.region(of: ref.page), first = Page.indexInRegion(ref.page)
        guard region < used.count, first + Int(ref.pageCount) <= Page.perRegion else {
            return false
        }
        return (first..<first + Int(ref.pageCount)).allSatisfy { used[region].isUsed($0) }
    }

    /// A cluster all of whose bytes agree with each other.
    private func whole(_ ref: Ref, in reader: SalvageReader) throws(StorageError) -> ClusterPage {
        let cluster = try reader.wholeCluster(ref, of: TreeHead(kind: .table)).leaf.cluster
        try Self.checkKeys(cluster, WholeNodes.allKeys)
        return cluster
    }

    /// The one table that a loose cluster can belong to. If the pages in use are unknown, it may
    /// also be an old cluster of a table that has lost nothing.
    private func owner(of cluster: ClusterPage) -> Int? {
        let keys = cluster.keys[0]...cluster.keys[cluster.rowCount - 1]
        var possible = tables.indices.filter { index in
            used == nil || tables[index].lost.contains { $0.overlaps(keys) }
        }
        possible = possible.filter { fits(cluster, tables[$0].columns) }
        let exact = possible.filter { tables[$0].columns.count == cluster.columnCount }
        let owners = exact.isEmpty ? possible : exact
        guard let owner = owners.first, owners.count == 1 else {
            if owners.count > 1 {
                file.note("the cluster at page \(cluster.page) may belong to several classes")
            }
            return nil
        }
        return tables[owner].holes.contains { $0.overlaps(keys) } ? owner : nil
    }

    /// Whether a table has every column of a cluster.
    private func fits(_ cluster: ClusterPage, _ columns: [Column]) -> Bool {
        var found = 0
        for column in columns {
            guard let index = cluster.index(ofColumn: column.id) else { continue }
            guard let slice = try? cluster.slice(index), slice.geometry.type == column.type,
                column.isNullable || !slice.geometry.isNullable
            else { return false }
            found += 1
        }
        return found == cluster.columnCount
    }
}
