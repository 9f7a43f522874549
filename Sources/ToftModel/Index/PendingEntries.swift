internal import ToftStorage

/// Entries of primary keys, indexes and backlinks that a transaction has made and that have not
/// reached their trees yet.
///
/// Objects come in any order, and so do their entries: each would visit a leaf of its own. Kept
/// back and sorted, those of one leaf go there together. Whoever reads a tree through the
/// transaction's view has its entries brought there first; a look-up of one key asks here before it
/// asks the tree.
///
/// It belongs to the thread of the transaction.
final class PendingEntries: @unchecked Sendable {
    /// What is known of a key.
    enum Finding {
        /// The tree has the answer.
        case unknown
        case removed
        case value(UInt64, length: Int)
    }

    private let limit: Int
    weak var writing: WriteTransaction?
    private let buffers: UnsafeMutableBufferPointer<EntryBuffer>
    private let trees: UnsafeMutableBufferPointer<UInt64>
    private let state = UnsafeMutablePointer<Int>.allocate(capacity: 1)
    /// Whether entries are noted beyond the limit.
    @exclusivity(unchecked) private var isPatient = false
    /// Room for two keys, of `KeyBytes.capacity` each.
    private let keyRoom = UnsafeMutableRawPointer.allocate(
        byteCount: 2 * KeyBytes.capacity, alignment: 16)

    /// Room for the trees of a schema's slots.
    init(slotCount: Int, limit: Int = PendingChanges.Limits.usual.entryBytes) {
        self.limit = limit
        buffers = .allocate(capacity: slotCount)
        trees = .allocate(capacity: slotCount)
        for slot in buffers.indices { buffers.initializeElement(at: slot, to: EntryBuffer()) }
        trees.initialize(repeating: 0)
        state.initialize(to: 0)
    }

    deinit {
        for buffer in buffers { buffer.deallocate() }
        buffers.deallocate()
        trees.deallocate()
        state.deallocate()
        keyRoom.deallocate()
    }

    /// An empty key in the first room.
    var firstKey: KeyBytes { KeyBytes(keyRoom) }
    /// An empty key in the second room.
    var secondKey: KeyBytes { KeyBytes(keyRoom + KeyBytes.capacity) }

    // MARK: Noting

    /// Notes an entry. `isNew`: nobody has put one with this key before, or it was removed again.
    @inline(__always)
    func put(
        _ slot: Int, tree: UInt64, _ key: UnsafeRawBufferPointer, _ value: UInt64 = 0,
        length: Int = 0, isNew: Bool = true
    ) throws(ModelError) {
        let before = buffers[slot].size
        buffers[slot].put(key, value, length: length, isNew: isNew)
        try note(slot, tree, grownBy: buffers[slot].size &- before)
    }

    func remove(_ slot: Int, tree: UInt64, _ key: UnsafeRawBufferPointer) throws(ModelError) {
        let before = buffers[slot].size
        guard buffers[slot].remove(key) else { throw .inconsistent(PendingEntries.missing) }
        try note(slot, tree, grownBy: buffers[slot].size &- before)
    }

    static let missing = "an entry that leads to an object is missing"

    @inline(__always)
    private func note(_ slot: Int, _ tree: UInt64, grownBy bytes: Int) throws(ModelError) {
        trees[slot] = tree
        state.pointee &+= bytes
        if state.pointee > limit, !isPatient {
            try stored { () throws(StorageError) in try bringAll() }
        }
    }

    /// Runs what notes entries of values that it borrows: none is brought before it has ended.
    func patiently(_ body: () throws(ModelError) -> Void) throws(ModelError) {
        do {
            isPatient = true
            defer { isPatient = false }
            try body()
        }
        if state.pointee > limit { try stored { () throws(StorageError) in try bringAll() } }
    }

    /// What is known of a key of a tree.
    @inline(__always)
    func find(_ slot: Int, _ key: UnsafeRawBufferPointer) -> Finding {
        guard let entry = buffers[slot].find(key) else { return .unknown }
        return entry.isRemoval ? .removed : .value(entry.value, length: Int(entry.valueLength))
    }

    // MARK: Bringing

    /// Whether entries of a tree wait.
    @inline(__always)
    func wait(_ slot: Int) -> Bool { buffers[slot].count > 0 }

    /// Brings the entries of one tree there.
    @inline(__always)
    func bring(_ slot: Int) throws(StorageError) {
        if buffers[slot].count > 0 { try bringSome(slot) }
    }

    /// Brings all entries to their trees.
    func bringAll() throws(StorageError) {
        for slot in buffers.indices { try bring(slot) }
    }

    private func bringSome(_ slot: Int) throws(StorageError) {
        guard let writing else { throw .closed }
        let id = trees[slot], tree = try writing.view.orderedTree(id)
        let size = buffers[slot].size
        defer {
            buffers[slot].removeAll()
            state.pointee &-= size
        }
        let buffer = buffers[slot]
        let place = tree.place(forNew: buffer.count)
        try buffer.forEachInOrder { entry throws(StorageError) in
            if entry.isRemoval {
                try PendingEntries.bringRemoval(entry, buffer.key(entry), to: tree, id, writing)
            } else {
                try PendingEntries.bring(
                    entry, buffer.key(entry), to: tree, id, entry.isNew ? place : .wherever, writing
                )
            }
        }
    }

    private static func bringRemoval(
        _ entry: EntryBuffer.Entry, _ key: UnsafeRawBufferPointer, to tree: OrderedTree,
        _ id: UInt64, _ writing: WriteTransaction
    ) throws(StorageError) {
        let wasThere = try writing.treeDelete(tree, id: id, key, derived: true)
        if entry.isInTree, !wasThere { throw .corrupt(page: 0, reason: missing) }
    }

    private static func bring(
        _ entry: EntryBuffer.Entry, _ key: UnsafeRawBufferPointer, to tree: OrderedTree,
        _ id: UInt64, _ place: EntryPlace,
        _ writing: WriteTransaction
    ) throws(StorageError) {
        var value = entry.value
        let result: Result<Void, StorageError> = withUnsafeBytes(of: &value) { bytes in
            let value = UnsafeRawBufferPointer(rebasing: bytes[..<Int(entry.valueLength)])
            do throws(StorageError) {
                return .success(
                    try writing.treePut(tree, id: id, key, value, derived: true, to: place))
            } catch {
                return .failure(error)
            }
        }
        try result.get()
    }
}
