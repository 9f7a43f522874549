internal import ToftPlatform
internal import ToftStorage

/// A change of one value, or of one collection, that waits for its row.
struct RowChange {
    enum Kind: UInt8 {
        /// Another value, and one with the amount added to an integer.
        case set, add
        case listInsert, listSet, listErase, listMove, listSwap, listClear
        /// It waits no longer.
        case written
    }

    let key: Int64
    /// The value or the element. Of a move and a swap the other index.
    let cell: Cell
    fileprivate(set) var kind: Kind
    /// Whether the collection was emptied, and `size` is all that it has.
    fileprivate(set) var isEmptied = false
    let column: UInt32
    /// The amount that was added to an integer, or the index of the element.
    let number: Int
    /// The number of the previous change of the same value, plus 1; 0 without one.
    fileprivate(set) var previous: UInt32 = 0
    /// Number of elements that the collection has more than its row.
    fileprivate(set) var size: Int32 = 0

    var otherIndex: Int {
        if case .int64(let other) = cell { Int(other) } else { number }
    }
}

/// The changes of the rows of one class that wait, in the order in which they were made, and which
/// of them is the last one of a value.
///
/// `table` holds for each hash of a key and a column the number of the last change plus one, or 0;
/// changes enter it when one is looked up. Bytes are in `chunks`. Removed ones stay in memory until
/// the next change is added, as they may have been lent. For one thread; the owner frees it with
/// `deallocate`.
struct RowChanges {
    /// Bytes of the longest text or data that may wait: longer ones get pages of their own.
    static let longestBytes = 2_048
    private static let chunkSize = 64 << 10

    private(set) var count = 0
    /// Whether the keys ascend.
    private(set) var isInOrder = true
    /// Bytes of texts and data.
    var byteCount: Int { max(0, usedChunks - 1) * Self.chunkSize + usedBytes }

    // Takes no memory until a change is added and looked up: there may be many classes.
    private var changes = UnsafeMutableBufferPointer<RowChange>(start: nil, count: 0)
    private var table = UnsafeMutableBufferPointer<UInt32>(start: nil, count: 0)
    /// Buckets that an empty table may have.
    private static let fewBuckets = 64
    /// Number of changes in the table, and its used buckets.
    private var enteredCount = 0
    private var usedBuckets = 0
    private var chunks: [UnsafeMutableRawPointer] = []
    private var usedChunks = 0
    /// Of the last used chunk.
    private var usedBytes = 0

    func deallocate() {
        changes.deallocate()
        table.deallocate()
        for chunk in chunks { chunk.deallocate() }
    }

    subscript(index: Int) -> RowChange {
        @inline(__always) get { changes[index] }
    }

    /// Prefetches a change that is needed soon.
    @inline(__always)
    func fetch(_ index: Int) {
        if let first = changes.baseAddress { UnsafeRawPointer(first + index).prefetch() }
    }

    // MARK: Adding

    /// Adds the new value of a property.
    @inline(__always)
    mutating func set(_ key: Int64, _ column: UInt32, _ cell: Cell, adding amount: Int64?) {
        append(
            RowChange(
                key: key, cell: kept(cell), kind: amount == nil ? .set : .add, column: column,
                number: Int(amount ?? 0)))
    }

    /// Adds a change of a collection.
    mutating func edit(
        _ kind: RowChange.Kind, _ key: Int64, _ column: UInt32, at index: Int, _ cell: Cell
    ) {
        let last = latest(key, column)
        var change = RowChange(
            key: key, cell: kept(cell), kind: kind, column: column, number: index)
        change.isEmptied = kind == .listClear || last?.isEmptied ?? false
        switch kind {
        case .listClear: change.size = 0
        case .listInsert: change.size = (last?.size ?? 0) &+ 1
        case .listErase: change.size = (last?.size ?? 0) &- 1
        default: change.size = last?.size ?? 0
        }
        append(change)
    }

    @inline(__always)
    private mutating func append(_ change: RowChange) {
        if count == changes.count { grow() }
        if count > 0, changes[count &- 1].key > change.key { isInOrder = false }
        changes.initializeElement(at: count, to: change)
        count &+= 1
    }

    private mutating func grow() {
        let grown = UnsafeMutableBufferPointer<RowChange>.allocate(capacity: max(16, 2 * count))
        _ = grown.moveInitialize(fromContentsOf: changes)
        changes.deallocate()
        changes = grown
    }

    /// A copy of the cell with bytes of its own.
    @inline(__always)
    private mutating func kept(_ cell: Cell) -> Cell {
        guard case .bytes(let bytes) = cell else {
            if count == 0 { forgetBytes() }
            return cell
        }
        return .bytes(kept(bytes))
    }

    private mutating func kept(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        if count == 0 { forgetBytes() }
        if usedChunks == 0 || bytes.count > Self.chunkSize - usedBytes {
            if usedChunks == chunks.count {
                chunks.append(.allocate(byteCount: Self.chunkSize, alignment: 16))
            }
            usedChunks += 1
            usedBytes = 0
        }
        let copy = UnsafeMutableRawBufferPointer(
            start: chunks[usedChunks - 1] + usedBytes, count: bytes.count)
        copy.copyMemory(from: bytes)
        usedBytes += bytes.count
        return UnsafeRawBufferPointer(copy)
    }

    /// The first chunk stays for the bytes to come.
    @inline(__always)
    private mutating func forgetBytes() {
        if usedChunks > 0 { freeChunks() }
    }

    private mutating func freeChunks() {
        #if DEBUG || TOFT_TRIALS
        // A stale read of the old content must be noticed.
        for chunk in chunks {
            chunk.initializeMemory(as: UInt8.self, repeating: 0xDB, count: Self.chunkSize)
        }
        #endif
        while chunks.count > 1 { chunks.removeLast().deallocate() }
        usedChunks = 0
        usedBytes = 0
    }

    // MARK: Finding

    /// The last change of a value or a collection; nil if no change is buffered.
    @inline(__always)
    mutating func latest(_ key: Int64, _ column: UInt32) -> RowChange? {
        guard let number = latestNumber(key, column) else { return nil }
        return changes[number]
    }

    private mutating func latestNumber(_ key: Int64, _ column: UInt32) -> Int? {
        guard count > 0 else { return nil }
        if enteredCount < count { enterAll() }
        let number = Int(table[bucket(key, column)]) &- 1
        return number >= 0 && changes[number].kind != .written ? number : nil
    }

    /// Takes the changes of a value or a collection out, in the order in which they were made.
    mutating func take(_ key: Int64, _ column: UInt32) -> [RowChange] {
        var taken: [RowChange] = []
        var next = latestNumber(key, column)
        while let number = next, changes[number].kind != .written {
            taken.append(changes[number])
            changes[number].kind = .written
            next = changes[number].previous > 0 ? Int(changes[number].previous) - 1 : nil
        }
        taken.reverse()
        return taken
    }

    /// The bucket of a value, or the free one for it.
    @inline(__always)
    private func bucket(_ key: Int64, _ column: UInt32) -> Int {
        var bucket = Int(truncatingIfNeeded: Self.hash(key, column)) & (table.count &- 1)
        while case let number = Int(table[bucket]), number > 0 {
            if changes[number &- 1].key == key, changes[number &- 1].column == column { break }
            bucket = (bucket &+ 1) & (table.count &- 1)
        }
        return bucket
    }

    /// Only for this table: never stored. The columns of a row are neighbours.
    @inline(__always)
    private static func hash(_ key: Int64, _ column: UInt32) -> UInt64 {
        let product = UInt64(bitPattern: key).multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
        return (product.high ^ product.low) &+ UInt64(column)
    }

    private mutating func enterAll() {
        if table.isEmpty { makeTable(Self.fewBuckets) }
        while enteredCount < count {
            let change = changes[enteredCount]
            let bucket = bucket(change.key, change.column)
            if table[bucket] == 0 { usedBuckets += 1 }
            changes[enteredCount].previous = table[bucket]
            enteredCount += 1
            table[bucket] = UInt32(truncatingIfNeeded: enteredCount)
            if usedBuckets * 2 > table.count { growTable() }
        }
    }

    private mutating func growTable() {
        let old = table
        makeTable(old.count * 4)
        for number in old where number > 0 {
            let change = changes[Int(number) - 1]
            table[bucket(change.key, change.column)] = number
        }
        old.deallocate()
    }

    private mutating func makeTable(_ capacity: Int) {
        table = .allocate(capacity: capacity)
        table.initialize(repeating: 0)
    }

    // MARK: Removing

    /// Forgets everything. The bytes stay until the next change is added.
    mutating func removeAll() {
        count = 0
        isInOrder = true
        guard enteredCount > 0 else { return }
        enteredCount = 0
        usedBuckets = 0
        if table.count > Self.fewBuckets {
            // Few changes after many must not pay for the large table.
            table.deallocate()
            makeTable(Self.fewBuckets)
        } else {
            table.update(repeating: 0)
        }
    }
}

extension Cell {
    /// Whether it is too long to wait.
    @inline(__always)
    var isLong: Bool {
        if case .bytes(let bytes) = self { bytes.count > RowChanges.longestBytes } else { false }
    }
}
