internal import ToftStorage

/// The changes of a transaction that have not reached their tables and trees yet, as the
/// transaction's view sees them.
///
/// No reader may notice buffered changes. Before it reads, a view either looks a change up here or
/// flushes the rows or entries that it is about to read. A flush keeps lent pages in memory. All
/// calls are made on the thread of the transaction.
protocol UnflushedChanges: AnyObject, Sendable {
    /// Flushes the values of a class, and deletes of all classes.
    func flushRows(of position: Int) throws(ModelError)
    /// Flushes deletes of all classes, and if there are any all values.
    func flushDeletesForReader() throws(ModelError)
    /// Flushes the buffered changes of one column of a row.
    func flushValue(_ key: Int64, _ column: UInt32, _ position: Int) throws(ModelError)
    /// Flushes the entries of one tree, and deletes of all classes.
    func flushEntries(of slot: Int) throws(ModelError)
    /// Flushes everything.
    func flushAll() throws(ModelError)

    /// The buffered value of a column; nil if the row has the answer.
    func value(_ key: Int64, _ column: UInt32, _ position: Int) -> Cell?
    /// The number of elements of a column that holds a collection.
    func size(_ key: Int64, _ column: UInt32, _ position: Int) -> BufferedSize
    /// Whether values of a class wait, or deletes.
    func holdsRows(of position: Int) -> Bool

    /// The buffered entry with a key.
    func lookup(_ slot: Int, _ key: UnsafeRawBufferPointer) -> BufferedEntry

    /// Whether an object was deleted whose row is still there.
    func isDeleted(_ key: Int64, _ position: Int) -> Bool
    /// The number of deleted objects of a class whose rows are still there.
    func deletedCount(_ position: Int) -> Int

    /// Remembers that an object exists: a caller that has found one often reads it next.
    func noteVerified(_ key: Int64, _ position: Int)
    /// Whether the object is the one that was verified last.
    func isVerified(_ key: Int64, _ position: Int) -> Bool
}

/// The buffered change to a key of an ordered tree.
enum BufferedEntry {
    /// Nothing: the tree has the answer.
    case unknown
    case removed
    /// The value as 0 to 8 bytes in the order of memory, and their number.
    case value(UInt64, length: Int)
}

/// The number of elements of a collection whose changes are buffered.
enum BufferedSize {
    /// No change: the row has the answer.
    case unchanged
    /// The difference from the row's size.
    case difference(Int)
    case whole(Int)
}
