internal import ToftStorage

/// Changes that a write transaction has accepted and not yet written to tables and trees: values,
/// index entries and deletes.
///
/// A caller changes objects in any order. Written at once, each change would copy a page of its
/// own, or read one back that has left memory. Buffered and sorted, the changes of one page are
/// written together.
///
/// 1. Values and the elements of collections are buffered, except long ones. They are buffered only
///    for an existing row. Changes of one value are written in the order in which they were made.
/// 2. All entries of primary keys, indexes, unique constraints and backlinks wait.
/// 3. A deleted object waits with its row and its entries. Until the flush a link to it reads as
///    null and its primary key is not found. A link that is set meanwhile to something else stays.
/// 4. A flush writes values first, then deletes (they read the rows, and add entries), then
///    entries.
/// 5. Readers see no difference: see `UnflushedChanges`.
///
/// The database keeps one buffer and lends it to one transaction after the other, between `begin`
/// and `end`.
///
/// `@unchecked Sendable`: between the two it belongs to the thread of the transaction.
/// `@exclusivity(unchecked)`: these variables are used with every change.
package final class WriteBuffer: @unchecked Sendable {
    /// Limits of the buffer; more is flushed.
    struct Limits {
        /// Bytes of the entries of all trees, far below four gigabytes.
        var entryBytes: Int
        /// Changes of the rows of one class, and bytes of the texts and the data among them.
        var values: Int
        var valueBytes: Int
        /// Deleted objects of all classes.
        var deletes: Int
    }

    /// The buffered changes to the rows of one class.
    private struct ClassChanges {
        var rows = RowChanges()
        var deleted: Set<Int64> = []
        /// The keys of `deleted` that are deleted because their owner is.
        var cascaded: Set<Int64> = []
        /// Keys that the transaction has created side by side; empty once one of the class was
        /// deleted.
        var created: Range<Int64> = 0..<0
        /// The key counter, once it was needed.
        var counter: Int64?
        /// Whether the counter has changed and is not written.
        var isCounterDirty = false
    }

    /// The buffered changes to one tree. `tree` is its id, set with the first entry.
    private struct TreeChanges {
        var entries = EntryTable()
        var tree: TreeID = 0
    }

    private let limits: Limits
    /// By the position of the class in the schema.
    @exclusivity(unchecked) private var classes = UnsafeMutableBufferPointer<ClassChanges>(
        start: nil, count: 0)
    /// By the slot of the tree in the schema.
    @exclusivity(unchecked) private var trees = UnsafeMutableBufferPointer<TreeChanges>(
        start: nil, count: 0)
    @exclusivity(unchecked) private var entryBytes = 0
    @exclusivity(unchecked) private var deleteCount = 0
    /// The hashes of values of unique constraints that objects have got.
    @exclusivity(unchecked) var touched: [(constraint: UniqueConstraint, hash: UInt64)] = []
    @exclusivity(unchecked) private var lastVerifiedObject: (position: Int, key: Int64) = (-1, 0)
    /// The transaction that has the buffer, and its schema.
    @exclusivity(unchecked) private var borrower:
        (transaction: WriteTransaction, schema: ModelSchema)?
    /// Room for two keys, of `KeyBytes.capacity` each.
    private let keyRoom = UnsafeMutableRawPointer.allocate(
        byteCount: 2 * KeyBytes.capacity, alignment: 16)

    /// An empty buffer.
    /// - Parameter dirtyLimit: bytes of changed pages that stay in memory.
    package convenience init(dirtyLimit: Int = StoreLimit.dirtyBytes) {
        self.init(limits: Limits(dirtyLimit: dirtyLimit))
    }

    init(limits: Limits) { self.limits = limits }

    deinit {
        for position in classes.indices { classes[position].rows.deallocate() }
        classes.deinitialize()
        classes.deallocate()
        for index in trees.indices { trees[index].entries.deallocate() }
        trees.deallocate()
        keyRoom.deallocate()
    }

    // MARK: Borrowing

    /// Lends the empty buffer to a transaction.
    func begin(_ transaction: WriteTransaction, _ schema: ModelSchema) {
        if schema.classes.count > classes.count { growClasses(schema.classes.count) }
        if schema.slotCount > trees.count { growTrees(schema.slotCount) }
        borrower = (transaction, schema)
        forgetObjects()
    }

    /// Ends the transaction's use of the buffer and drops remaining changes; the memory stays.
    func end() {
        guard borrower != nil else { return }
        borrower = nil
        if !touched.isEmpty { touched = [] }
        drop()
    }

    /// Drops the buffered changes, and all knowledge of objects: the transaction returns to the
    /// state with an empty buffer.
    func discard() {
        drop()
        forgetObjects()
    }

    private func drop() {
        for position in classes.indices {
            classes[position].rows.removeAll()
            removeDeletes(position)
        }
        deleteCount = 0
        for slot in trees.indices { removeEntries(slot) }
    }

    private func forgetObjects() {
        lastVerifiedObject = (-1, 0)
        for position in classes.indices {
            classes[position].created = 0..<0
            classes[position].counter = nil
            classes[position].isCounterDirty = false
        }
    }

    private func growClasses(_ count: Int) {
        let grown = UnsafeMutableBufferPointer<ClassChanges>.allocate(capacity: count)
        _ = grown.moveInitialize(fromContentsOf: classes)
        for position in classes.count..<count {
            grown.initializeElement(at: position, to: ClassChanges())
        }
        classes.deallocate()
        classes = grown
    }

    private func growTrees(_ count: Int) {
        let grown = UnsafeMutableBufferPointer<TreeChanges>.allocate(capacity: count)
        _ = grown.moveInitialize(fromContentsOf: trees)
        for slot in trees.count..<count { grown.initializeElement(at: slot, to: TreeChanges()) }
        trees.deallocate()
        trees = grown
    }

    // MARK: Objects

    /// Whether user data waits.
    var holdsUserChanges: Bool {
        deleteCount > 0 || classes.contains { $0.rows.count > 0 }
    }

    /// Remembers that the transaction has created an object.
    @inline(__always)
    func noteCreated(_ key: Int64, _ owner: ClassHandle) {
        noteVerified(key, owner.position)
        let range = classes[owner.position].created
        classes[owner.position].created =
            range.upperBound == key ? range.lowerBound..<key + 1 : key..<key + 1
    }

    /// Whether the transaction is known to have created an object that still exists.
    @inline(__always)
    func isCreated(_ key: Int64, _ position: Int) -> Bool {
        classes[position].created.contains(key)
    }

    /// Adds the delete of an object that exists; `derived`: because its owner is deleted, or no
    /// longer leads to it.
    func addDelete(_ key: Int64, _ owner: ClassHandle, derived: Bool) throws(ModelError) {
        lastVerifiedObject = (-1, 0)
        classes[owner.position].created = 0..<0
        classes[owner.position].deleted.insert(key)
        if derived { classes[owner.position].cascaded.insert(key) }
        deleteCount += 1
        if deleteCount >= limits.deletes { try flushDeletes() }
    }

    /// Writes the deletes, and before them the values of all classes.
    func flushDeletes() throws(ModelError) {
        if deleteCount > 0 { try writeDeletes() }
    }

    private func writeDeletes() throws(ModelError) {
        for position in classes.indices { try writeValues(position) }
        let (transaction, schema) = try borrowed()
        let deleted = ContiguousArray(classes.map(\.deleted))
        let cascaded = ContiguousArray(classes.map(\.cascaded))
        for position in classes.indices { removeDeletes(position) }
        deleteCount = 0
        var pass = BulkDelete(
            schema: schema, writing: transaction, buffer: self, deleted: deleted,
            cascaded: cascaded)
        try pass.run()
    }

    private func removeDeletes(_ position: Int) {
        if !classes[position].deleted.isEmpty { classes[position].deleted = [] }
        if !classes[position].cascaded.isEmpty { classes[position].cascaded = [] }
    }

    private func borrowed() throws(ModelError) -> (
        transaction: WriteTransaction, schema: ModelSchema
    ) {
        guard let borrower else { throw .storage(.closed) }
        return borrower
    }

    // MARK: Key counters

    /// The greatest primary key that an object of a class has had: see `KeyCounter`.
    func counter(_ owner: ClassHandle) throws(ModelError) -> Int64 {
        if let counter = classes[owner.position].counter { return counter }
        let counter = try KeyCounter.read(owner.id, in: try borrowed().transaction.view)
        classes[owner.position].counter = counter
        return counter
    }

    /// Moves the counter of a class to a primary key that an object got, if that is greater.
    func moveCounter(_ owner: ClassHandle, to key: Cell) throws(ModelError) {
        guard case .int64(let key) = key, try counter(owner) < key else { return }
        classes[owner.position].counter = key
        classes[owner.position].isCounterDirty = true
    }

    private func writeCounter(_ position: Int) throws(ModelError) {
        guard classes[position].isCounterDirty, let counter = classes[position].counter else {
            return
        }
        let (transaction, schema) = try borrowed()
        try KeyCounter.write(counter, schema.classes[position].id, in: transaction)
        classes[position].isCounterDirty = false
    }

    // MARK: Values

    /// Adds the new value of a property, for a row that exists. An integer has got it by adding
    /// `amount`.
    @inline(__always)
    func add(
        _ cell: Cell, to key: Int64, _ property: PropertyHandle, adding amount: Int64? = nil
    ) throws(ModelError) {
        let position = property.classPosition
        if cell.isLong { return try writeLong(.set, property.column, 0, cell, key, position) }
        classes[position].rows.set(key, property.column, cell, adding: amount)
        if isFull(position) { try writeValues(position) }
    }

    /// Adds a change of a collection, or with its column of a dictionary's keys, for a row that
    /// exists. `cell` is the element, of a move and a swap the other index.
    func add(
        _ kind: RowChange.Kind, of column: UInt32, at index: Int, _ cell: Cell, to key: Int64,
        _ property: PropertyHandle
    ) throws(ModelError) {
        let position = property.classPosition
        if cell.isLong { return try writeLong(kind, column, index, cell, key, position) }
        classes[position].rows.edit(kind, key, column, at: index, cell)
        if isFull(position) { try writeValues(position) }
    }

    /// Writes a long value at once, after the buffered changes of its place.
    @inline(never)
    private func writeLong(
        _ kind: RowChange.Kind, _ column: UInt32, _ index: Int, _ cell: Cell, _ key: Int64,
        _ position: Int
    ) throws(ModelError) {
        try writeValue(key, column, position)
        try write(
            RowChange(key: key, cell: cell, kind: kind, column: column, number: index),
            to: try borrowed().schema.classes[position].table)
    }

    @inline(__always)
    private func isFull(_ position: Int) -> Bool {
        classes[position].rows.count >= limits.values
            || classes[position].rows.byteCount >= limits.valueBytes
    }

    @inline(__always)
    private func writeValues(_ position: Int) throws(ModelError) {
        if classes[position].rows.count > 0 { try writeSomeValues(position) }
    }

    private func writeSomeValues(_ position: Int) throws(ModelError) {
        let table = try borrowed().schema.classes[position].table
        defer { classes[position].rows.removeAll() }
        let rows = classes[position].rows
        var order = RadixSort(count: rows.count) {
            RadixSort.Item(
                head: RadixSort.head(rows[$0].key), index: UInt32(truncatingIfNeeded: $0))
        }
        if !rows.isInOrder { order.sort() }
        let distance = 8
        for place in order.items.indices {
            if place &+ distance < order.items.count {
                rows.fetch(Int(order.items[place &+ distance].index))
            }
            try write(rows[Int(order.items[place].index)], to: table)
        }
    }

    /// Writes the buffered changes of one column of a row.
    private func writeValue(_ key: Int64, _ column: UInt32, _ position: Int) throws(ModelError) {
        let table = try borrowed().schema.classes[position].table
        for change in classes[position].rows.take(key, column) { try write(change, to: table) }
    }

    @inline(__always)
    private func write(_ change: RowChange, to table: TreeID) throws(ModelError) {
        let transaction = try borrowed().transaction
        let key = change.key, column = change.column, index = change.number
        do throws(StorageError) {
            switch change.kind {
            case .set: try transaction.cellSet(table, key, column, change.cell, derived: false)
            case .add:
                try transaction.cellSet(
                    table, key, column, change.cell, adding: Int64(index), derived: false)
            case .listInsert:
                try transaction.listInsert(
                    table, key, column, at: index, change.cell, derived: false)
            case .listSet:
                try transaction.listSet(table, key, column, at: index, change.cell, derived: false)
            case .listErase:
                try transaction.listErase(table, key, column, at: index, derived: false)
            case .listMove:
                try transaction.listMove(table, key, column, from: index, to: change.otherIndex)
            case .listSwap:
                try transaction.listSwap(table, key, column, index, change.otherIndex)
            case .listClear: try transaction.listClear(table, key, column, derived: false)
            case .written: break
            }
        } catch { throw .storage(error) }
    }

    // MARK: Entries

    /// An empty key in the first room.
    var firstKey: KeyBytes { KeyBytes(keyRoom) }
    /// An empty key in the second room.
    var secondKey: KeyBytes { KeyBytes(keyRoom + KeyBytes.capacity) }

    /// Adds an entry with up to 8 bytes of value, or gives the entry with this key another value.
    /// `isNew`: the tree does not hold the key, unless its removal was added before.
    @inline(__always)
    func addEntry(
        _ slot: Int, tree: TreeID, _ key: UnsafeRawBufferPointer, _ value: UInt64 = 0,
        length: Int = 0, isNew: Bool = true
    ) {
        let before = trees[slot].entries.size
        trees[slot].entries.add(key, value, length: length, isNew: isNew)
        trees[slot].tree = tree
        entryBytes &+= trees[slot].entries.size &- before
    }

    /// Adds the removal of an entry that exists.
    func addRemoval(_ slot: Int, tree: TreeID, _ key: UnsafeRawBufferPointer) throws(ModelError) {
        let before = trees[slot].entries.size
        guard trees[slot].entries.remove(key) else {
            throw .inconsistent("an entry that leads to an object is missing")
        }
        trees[slot].tree = tree
        entryBytes &+= trees[slot].entries.size &- before
    }

    /// Flushes all entries if they take more bytes than the limit. Adding an entry never flushes by
    /// itself: its caller may still hold memory of a page.
    @inline(__always)
    func flushExcessEntries() throws(ModelError) {
        if entryBytes > limits.entryBytes { try flushAllEntries() }
    }

    private func flushAllEntries() throws(ModelError) {
        for slot in trees.indices { try writeEntries(slot) }
    }

    /// Writes the entries of one tree.
    @inline(__always)
    func writeEntries(_ slot: Int) throws(ModelError) {
        if trees[slot].entries.count > 0 { try writeSomeEntries(slot) }
    }

    private func writeSomeEntries(_ slot: Int) throws(ModelError) {
        let (transaction, _) = try borrowed()
        defer { removeEntries(slot) }
        let entries = trees[slot].entries, tree = trees[slot].tree
        try entries.write(
            to: try stored { () throws(StorageError) in
                try transaction.entryBatch(of: tree, count: entries.count, derived: true)
            })
    }

    private func removeEntries(_ slot: Int) {
        guard trees[slot].entries.count > 0 else { return }
        entryBytes &-= trees[slot].entries.size
        trees[slot].entries.removeAll()
    }

    // MARK: Flush

    /// Writes everything to its tables and trees.
    func flush() throws(ModelError) {
        for position in classes.indices { try writeValues(position) }
        try flushDeletes()
        for position in classes.indices { try writeCounter(position) }
        try flushAllEntries()
    }

    /// Writes the values and deletes of all classes, for a reader.
    func flushAllRows() throws(ModelError) {
        guard holdsUserChanges else { return }
        try forReader { () throws(ModelError) in
            try flushDeletes()
            for position in classes.indices { try writeValues(position) }
        }
    }

    private func forReader(_ body: () throws(ModelError) -> Void) throws(ModelError) {
        try borrowed().transaction.changeForReader(body)
    }
}

extension WriteBuffer: UnflushedChanges {
    @inline(__always)
    func flushRows(of position: Int) throws(ModelError) {
        guard deleteCount > 0 || classes[position].rows.count > 0 else { return }
        try forReader { () throws(ModelError) in
            try flushDeletes()
            try writeValues(position)
        }
    }

    @inline(__always)
    func flushDeletesForReader() throws(ModelError) {
        if deleteCount > 0 { try forReader { () throws(ModelError) in try flushDeletes() } }
    }

    @inline(__always)
    func flushValue(_ key: Int64, _ column: UInt32, _ position: Int) throws(ModelError) {
        guard classes[position].rows.latest(key, column) != nil else { return }
        try forReader { () throws(ModelError) in try writeValue(key, column, position) }
    }

    @inline(__always)
    func value(_ key: Int64, _ column: UInt32, _ position: Int) -> Cell? {
        classes[position].rows.latest(key, column)?.cell
    }

    @inline(__always)
    func size(_ key: Int64, _ column: UInt32, _ position: Int) -> BufferedSize {
        guard let last = classes[position].rows.latest(key, column) else { return .unchanged }
        return last.isEmptied ? .whole(Int(last.size)) : .difference(Int(last.size))
    }

    @inline(__always)
    func holdsRows(of position: Int) -> Bool {
        deleteCount > 0 || classes[position].rows.count > 0
    }

    @inline(__always)
    func flushEntries(of slot: Int) throws(ModelError) {
        guard deleteCount > 0 || trees[slot].entries.count > 0 else { return }
        try forReader { () throws(ModelError) in
            try flushDeletes()
            try writeEntries(slot)
        }
    }

    func flushAll() throws(ModelError) {
        try forReader { () throws(ModelError) in try flush() }
    }

    @inline(__always)
    func lookup(_ slot: Int, _ key: UnsafeRawBufferPointer) -> BufferedEntry {
        guard let entry = trees[slot].entries.find(key) else { return .unknown }
        return entry.isRemoval ? .removed : .value(entry.value, length: Int(entry.valueLength))
    }

    @inline(__always)
    func isDeleted(_ key: Int64, _ position: Int) -> Bool {
        deleteCount > 0 && classes[position].deleted.contains(key)
    }

    @inline(__always)
    func deletedCount(_ position: Int) -> Int {
        deleteCount > 0 ? classes[position].deleted.count : 0
    }

    @inline(__always)
    func noteVerified(_ key: Int64, _ position: Int) { lastVerifiedObject = (position, key) }

    @inline(__always)
    func isVerified(_ key: Int64, _ position: Int) -> Bool {
        lastVerifiedObject.key == key && lastVerifiedObject.position == position
    }
}

extension WriteBuffer.Limits {
    /// In proportion to the memory of changed pages: half as much for entries, an eighth for
    /// changes, which have 48 bytes, a sixth for texts.
    init(dirtyLimit: Int = StoreLimit.dirtyBytes) {
        let bytes = min(dirtyLimit, StoreLimit.dirtyBytes)
        self.init(
            entryBytes: bytes / 2, values: bytes / 384, valueBytes: bytes / 6, deletes: bytes / 96)
    }
}
