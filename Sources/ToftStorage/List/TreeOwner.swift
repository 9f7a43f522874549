/// Who keeps the roots of sequence trees: a snapshot, or a transaction's view. Lists that outgrow
/// their cluster have such a tree each.
package protocol TreeOwner: AnyObject {
    /// Makes an empty sequence tree and returns its id. Throws where nothing may be written.
    func newSequence() throws(StorageError) -> UInt64
    /// The sequence tree with an id: the same object at each call, whose root the transaction
    /// keeps.
    func sequence(_ id: UInt64) throws(StorageError) -> SequenceTree
    /// Frees a sequence tree and all that it holds.
    func dropSequence(_ id: UInt64) throws(StorageError)
}
