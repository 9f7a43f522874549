internal import ToftStorage

/// What a transaction has noted and not yet brought where it belongs: erased objects, values and
/// entries.
///
/// Whoever changes objects in any order would visit a page for each of them, and bring it back into
/// memory once it has left it. Noted and sorted, the changes of one page are made together.
///
/// 1. Nobody may see that something waits: whoever reads through the transaction's view either asks
///    here first, or has what matters to it brought.
/// 2. What is brought for a reader keeps in memory what may have been lent out before.
/// 3. The commit brings the rest: erased objects first, as their entries come from that.
///
/// It belongs to the thread of the transaction.
package final class PendingChanges: @unchecked Sendable {
    /// How much may wait.
    struct Limits {
        /// Bytes of entries of all trees, far below four gigabytes.
        var entryBytes = 24 << 20
        /// Values of a class.
        var cells = 1 << 17
        /// Erased objects of all classes.
        var erases = 1 << 19

        static let usual = Limits()
    }

    private let schema: ModelSchema
    let entries: PendingEntries
    let cells: PendingCells
    let erases: PendingErases
    private weak var writing: WriteTransaction?
    /// The object that was last seen to be there.
    @exclusivity(unchecked) private var known: (position: Int, key: Int64) = (-1, 0)
    /// The keys that the transaction has given to new objects, by the position of the class; empty
    /// where one of the class was erased since.
    @exclusivity(unchecked) private var new: ContiguousArray<Range<Int64>>

    /// Room for the classes of a schema; for no transaction yet.
    init(_ schema: ModelSchema, limits: Limits) {
        self.schema = schema
        new = ContiguousArray(repeating: 0..<0, count: schema.classes.count)
        entries = PendingEntries(slotCount: schema.slotCount, limit: limits.entryBytes)
        cells = PendingCells(schema, limit: limits.cells)
        erases = PendingErases(schema, entries: entries, limit: limits.erases)
    }

    /// Whether it was made for a schema.
    func suits(_ schema: ModelSchema) -> Bool { self.schema === schema }

    /// Has a transaction bring everything before it commits; what the one before had is brought.
    func serve(_ transaction: WriteTransaction) {
        writing = transaction
        entries.writing = transaction
        cells.writing = transaction
        erases.writing = transaction
        known = (-1, 0)
        for position in new.indices { new[position] = 0..<0 }
        let earlier = transaction.beforeCommit
        transaction.beforeCommit = { () throws(StorageError) in
            try earlier?()
            try self.bringAll()
        }
    }

    /// Whether the user has changed something that waits.
    var holdsUserChanges: Bool { !erases.isEmpty || !cells.isEmpty }

    // MARK: The object in hand

    /// Remembers that an object is there: who has found one often asks for it again at once.
    @inline(__always)
    func know(_ key: Int64, _ owner: ClassHandle) { known = (owner.position, key) }

    /// Whether an object is known to be there.
    @inline(__always)
    func isKnown(_ key: Int64, _ owner: ClassHandle) -> Bool {
        known.key == key && known.position == owner.position
    }

    /// Remembers that the transaction has made an object.
    @inline(__always)
    func knowNew(_ key: Int64, _ owner: ClassHandle) {
        know(key, owner)
        let range = new[owner.position]
        new[owner.position] = range.upperBound == key ? range.lowerBound..<key + 1 : key..<key + 1
    }

    /// Whether an object of a class is surely there because the transaction has made it.
    @inline(__always)
    func isNew(_ key: Int64, _ position: Int) -> Bool { new[position].contains(key) }

    /// Notes that an object that is there is erased.
    func erase(_ key: Int64, _ owner: ClassHandle) throws(ModelError) {
        known = (-1, 0)
        new[owner.position] = 0..<0
        try erases.note(key, owner)
    }

    // MARK: Bringing

    private func bringAll() throws(StorageError) {
        try erases.bring()
        try cells.bringAll()
        try entries.bringAll()
    }

    // MARK: For readers

    /// Makes the rows of a class what they are to be; those of others too, where objects were
    /// erased.
    @inline(__always)
    func bringRows(_ position: Int) throws(StorageError) {
        if !erases.isEmpty || cells.wait(position) {
            try forReader { () throws(StorageError) in
                try erases.bring()
                try cells.bring(position)
            }
        }
    }

    /// Makes a tree what it is to be.
    @inline(__always)
    func bringEntries(_ slot: Int) throws(StorageError) {
        if !erases.isEmpty || entries.wait(slot) {
            try forReader { () throws(StorageError) in
                try erases.bring()
                try entries.bring(slot)
            }
        }
    }

    /// Makes the values of fixed width of a class what they are to be.
    @inline(__always)
    func bringCells(_ position: Int) throws(StorageError) {
        if cells.wait(position) {
            try forReader { () throws(StorageError) in try cells.bring(position) }
        }
    }

    /// Brings everything.
    func bringAllForReader() throws(StorageError) {
        try forReader { () throws(StorageError) in try bringAll() }
    }

    private func forReader(_ body: () throws(StorageError) -> Void) throws(StorageError) {
        guard let writing else { throw .closed }
        try writing.changeForReader(body)
    }
}
