internal import Synchronization
internal import ToftStorage

/// The trees that a view has opened, each at a fixed place, so that finding one again is one load. Any thread.
final class TreeSlots: @unchecked Sendable {
    private let tables: UnsafeMutableBufferPointer<AtomicLazyReference<Table>>
    private let trees: UnsafeMutableBufferPointer<AtomicLazyReference<OrderedTree>>

    init(tableCount: Int, treeCount: Int) {
        tables = .allocate(capacity: tableCount)
        trees = .allocate(capacity: treeCount)
        for index in tables.indices { tables.initializeElement(at: index, to: AtomicLazyReference()) }
        for index in trees.indices { trees.initializeElement(at: index, to: AtomicLazyReference()) }
    }

    deinit {
        tables.deinitialize()
        trees.deinitialize()
        tables.deallocate()
        trees.deallocate()
    }

    @inline(__always)
    func table(_ slot: Int, id: UInt64, in snapshot: Snapshot) throws(StorageError) -> Table {
        if let table = tables[slot].load() { return table }
        return tables[slot].storeIfNil(try snapshot.table(id))
    }

    @inline(__always)
    func tree(_ slot: Int, id: UInt64, in snapshot: Snapshot) throws(StorageError) -> OrderedTree {
        if let tree = trees[slot].load() { return tree }
        return trees[slot].storeIfNil(try snapshot.orderedTree(id))
    }
}
