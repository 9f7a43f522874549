/// What a transaction that was committed leaves for the next one of this process: the trees that it
/// had open, as it committed them. Who builds on that very version need not decode them again.
///
/// It goes from transaction to transaction under the write lock. After a rollback, a failed commit,
/// a change of structure or a commit of another process the next transaction begins without.
final class WriterDesk: @unchecked Sendable {
    /// Trees beyond which nothing is kept: a transaction that opened so many has other worries.
    private static let most = 64

    let space: PageSpace
    let catalog: OrderedTree
    let trees: [UInt64: OpenTree]
    let delta: Delta?

    /// Clears what was for one transaction only. Nil where too much would be kept.
    init?(space: PageSpace, catalog: OrderedTree, trees: [UInt64: OpenTree], delta: Delta?) {
        guard trees.count <= Self.most else { return nil }
        self.space = space
        self.catalog = catalog
        self.trees = trees
        self.delta = delta
        space.rest()
        catalog.rest()
        for tree in trees.values { tree.rest() }
    }

    /// The version that it was left by.
    var version: UInt64 { space.version }

    /// The view that uses it from now on.
    func serve(_ view: Snapshot) {
        delta?.owner = view
        for open in trees.values {
            if case .table(let table) = open.tree { table.owner = view }
        }
    }
}
