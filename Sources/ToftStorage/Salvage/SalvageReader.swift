/// Reads clusters of one version, or loose ones, as often as needed. If pages are read into memory,
/// it replaces that when much has been read.
///
/// One thread uses it.
final class SalvageReader {
    /// Nil if the clusters are loose.
    private var snapshot: Snapshot?
    private var pages: PageReader
    private var catalog: Catalog

    init(_ snapshot: Snapshot) {
        self.snapshot = snapshot
        pages = snapshot.pages
        catalog = snapshot.catalog
    }

    /// - Parameter catalog: of long lists; nil if no version is known, and long lists can't be
    ///   found.
    init(looseIn cache: PageCache, catalog: Catalog?) {
        pages = PageReader(cache.reopened(), version: .limit)
        self.catalog =
            catalog ?? Catalog(pages: pages, root: TreeRoot(kind: .ordered), filePages: .max)
    }

    /// A cluster of the table with this head. Valid until another one is read.
    func cluster(_ ref: Ref, of head: TreeHead) throws(StorageError) -> OpenCluster {
        if pages.cache.isFull { try beginAgain() }
        return OpenCluster(
            try TableReader.Leaf(try pages.view(ref, as: .cluster), pages),
            of: TableReader(pages: pages, head: head, catalog: catalog))
    }

    /// A cluster whose bytes are all consistent.
    func wholeCluster(_ ref: Ref, of head: TreeHead) throws(StorageError) -> OpenCluster {
        let found = try cluster(ref, of: head)
        try pages.verify(
            ref, try pages.view(ref, as: .cluster), 0..<Int(ref.pageCount) * Page.size)
        try found.leaf.cluster.check()
        return found
    }

    private func beginAgain() throws(StorageError) {
        guard let last = snapshot else {
            pages = PageReader(pages.cache.reopened(), version: .limit)
            return
        }
        let next = try last.againAlone()
        snapshot = next
        (pages, catalog) = (next.pages, next.catalog)
    }
}

/// A cluster that a salvage reads. Its view lives as long as this.
package struct OpenCluster {
    package let view: ClusterView
    let leaf: TableReader.Leaf
    /// Kept for the view.
    private let table: TableReader

    fileprivate init(_ leaf: TableReader.Leaf, of table: TableReader) {
        view = ClusterView(table: table, leaf: leaf)
        self.leaf = leaf
        self.table = table
    }
}
