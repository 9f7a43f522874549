// Changes that the caller has gathered and sorted: those of one page then reach it together. A
// batch names its tree once; storage decides the level for new entries (see `InsertBuffer`).

extension WriteTransaction {
    /// A batch of changes of an ordered tree, whose keys the caller gives in ascending order.
    ///
    /// - Parameter count: estimated entries of the batch; if they are few for the size of the tree,
    ///   new ones wait in the insert buffer.
    /// - Parameter derived: whether the changes follow from others, see `WriteTransaction`.
    /// - Throws: `noSuchTree`, `closed`.
    package func entryBatch(of tree: TreeID, count: Int, derived: Bool) throws(StorageError)
        -> EntryBatch
    {
        try checkActive()
        return try EntryBatch(self, id: tree, count: count, derived: derived)
    }
}

/// Sorted changes of one ordered tree. Valid until the transaction ends; its thread alone.
package struct EntryBatch {
    private let transaction: WriteTransaction
    private let tree: TreeWriter
    private let id: TreeID
    private let derived: Bool
    /// The level of the insert buffer that new entries enter; nil: the tree itself.
    private let bufferLevel: Int?

    fileprivate init(_ transaction: WriteTransaction, id: TreeID, count: Int, derived: Bool)
        throws(StorageError)
    {
        self.transaction = transaction
        self.id = id
        self.derived = derived
        tree = try transaction.trees.orderedTree(id)
        bufferLevel = tree.bufferLevel(forBatchOf: count)
    }

    /// Inserts an entry whose key the caller knows to be new. O(log entries).
    package func insert(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer)
        throws(StorageError)
    {
        try transaction.insert(
            key, value, in: tree, id: id, bufferLevel: bufferLevel, derived: derived)
    }

    /// Sets the value of a key that may be there. O(log entries).
    package func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer)
        throws(StorageError)
    {
        try transaction.put(key, value, in: tree, id: id, derived: derived)
    }

    /// Deletes an entry; false if it does not exist. O(log entries).
    @discardableResult
    package func delete(_ key: UnsafeRawBufferPointer) throws(StorageError) -> Bool {
        try transaction.delete(key, from: tree, id: id, derived: derived)
    }
}
