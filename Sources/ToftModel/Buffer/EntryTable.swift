internal import ToftPlatform
internal import ToftStorage

/// Added and removed entries of one ordered tree that wait to be written: found by key through a
/// hash table, given to the tree as a sorted batch.
///
/// `bytes` holds the keys side by side. `table` holds for each hash the number of an entry plus
/// one, or 0. For one thread; the owner frees it with `deallocate`.
struct EntryTable {
    /// Sixteen bytes, because there are many.
    struct Entry {
        /// Up to 8 bytes in the order of memory; undefined for a removal.
        var value: UInt64
        var offset: UInt32 = 0
        var length: UInt16
        var valueLength: UInt8
        private var flags: UInt8

        /// An entry that is added. `isNew`: the caller knows that its tree does not hold the key.
        init(keyLength: Int, value: UInt64, valueLength: UInt8, isNew: Bool) {
            self.value = value
            self.valueLength = valueLength
            length = UInt16(truncatingIfNeeded: keyLength)
            flags = isNew ? 4 : 0
        }

        /// An entry that is removed without having been added here: its tree must hold the key.
        init(removedKeyLength: Int) {
            self.init(keyLength: removedKeyLength, value: 0, valueLength: 0, isNew: false)
            flags = 3
        }

        var isRemoval: Bool {
            get { flags & 1 != 0 }
            set { flags = newValue ? flags | 1 : flags & ~1 }
        }

        /// Whether the tree must hold the key.
        var isInTree: Bool { flags & 2 != 0 }
        /// Whether the tree is known not to hold the key.
        var isNew: Bool { flags & 4 != 0 }
    }

    private(set) var count = 0
    private var entries: UnsafeMutablePointer<Entry>
    private var entryCapacity = 16
    private var bytes: UnsafeMutableRawPointer
    private var byteCount = 0
    private var byteCapacity = 1_024
    private var table: UnsafeMutablePointer<UInt32>
    private var tableCapacity = 32

    init() {
        entries = .allocate(capacity: entryCapacity)
        bytes = .allocate(byteCount: byteCapacity, alignment: 16)
        table = .allocate(capacity: tableCapacity)
        table.initialize(repeating: 0, count: tableCapacity)
    }

    func deallocate() {
        entries.deallocate()
        bytes.deallocate()
        table.deallocate()
    }

    /// Bytes that the entries take.
    var size: Int { byteCount &+ count &* (MemoryLayout<Entry>.stride &+ 8) }

    @inline(__always)
    private func key(_ entry: Entry) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: bytes + Int(entry.offset), count: Int(entry.length))
    }

    // MARK: Look-up

    /// The entry with a key; nil if nothing is buffered for it.
    @inline(__always)
    func find(_ key: UnsafeRawBufferPointer) -> Entry? {
        guard count > 0 else { return nil }
        let number = table[bucket(of: key)]
        return number == 0 ? nil : entries[Int(number) &- 1]
    }

    /// The bucket of `table` that has a key, or the free one for it.
    @inline(__always)
    private func bucket(of key: UnsafeRawBufferPointer) -> Int {
        var bucket = Int(truncatingIfNeeded: Self.hash(key)) & (tableCapacity &- 1)
        while table[bucket] != 0 {
            if self.key(entries[Int(table[bucket]) &- 1]).isSame(as: key) { return bucket }
            bucket = (bucket &+ 1) & (tableCapacity &- 1)
        }
        return bucket
    }

    /// Only for this table: never stored.
    @inline(__always)
    private static func hash(_ key: UnsafeRawBufferPointer) -> UInt64 {
        var hash = UInt64(truncatingIfNeeded: key.count) &* 0x9E37_79B9_7F4A_7C15, offset = 0
        while offset &+ 8 < key.count {
            hash = mix(hash ^ key.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            offset &+= 8
        }
        if key.count >= 8 {
            let last = key.loadUnaligned(fromByteOffset: key.count &- 8, as: UInt64.self)
            hash = mix(hash ^ last)
        } else {
            var last: UInt64 = 0
            for byte in key { last = last << 8 | UInt64(byte) }
            hash = mix(hash ^ last)
        }
        return hash ^ (hash >> 29)
    }

    @inline(__always)
    private static func mix(_ value: UInt64) -> UInt64 {
        let product = value.multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
        return product.high ^ product.low
    }

    // MARK: Changes

    /// Adds an entry with up to 8 bytes of value, or gives the entry with this key another value.
    /// `isNew`: its tree does not hold the key, unless the key was removed here before.
    @inline(__always)
    mutating func add(_ key: UnsafeRawBufferPointer, _ value: UInt64, length: Int, isNew: Bool) {
        let bucket = bucket(of: key), number = table[bucket]
        let length = UInt8(truncatingIfNeeded: length)
        guard number > 0 else {
            return append(
                key, Entry(keyLength: key.count, value: value, valueLength: length, isNew: isNew),
                at: bucket)
        }
        entries[Int(number) &- 1].value = value
        entries[Int(number) &- 1].valueLength = length
        entries[Int(number) &- 1].isRemoval = false
    }

    /// Removes an entry. False if it has been removed before.
    mutating func remove(_ key: UnsafeRawBufferPointer) -> Bool {
        let bucket = bucket(of: key), number = table[bucket]
        guard number > 0 else {
            append(key, Entry(removedKeyLength: key.count), at: bucket)
            return true
        }
        let wasThere = !entries[Int(number) &- 1].isRemoval
        entries[Int(number) &- 1].isRemoval = true
        return wasThere
    }

    /// Forgets everything; the memory stays.
    mutating func removeAll() {
        if count < tableCapacity / 16 {
            for number in 0..<count { forget(number) }
        } else {
            table.update(repeating: 0, count: tableCapacity)
        }
        count = 0
        byteCount = 0
    }

    /// Frees the bucket of an entry; those of others are then found by their number alone.
    private func forget(_ number: Int) {
        let hash = Self.hash(key(entries[number])), wanted = UInt32(truncatingIfNeeded: number &+ 1)
        var bucket = Int(truncatingIfNeeded: hash) & (tableCapacity &- 1)
        while table[bucket] != wanted { bucket = (bucket &+ 1) & (tableCapacity &- 1) }
        table[bucket] = 0
    }

    private mutating func append(
        _ key: UnsafeRawBufferPointer, _ entry: Entry, at bucket: Int
    ) {
        var entry = entry
        entry.offset = UInt32(truncatingIfNeeded: byteCount)
        if byteCount &+ key.count > byteCapacity { growBytes(key.count) }
        UnsafeMutableRawBufferPointer(start: bytes + byteCount, count: key.count).copyMemory(
            from: key)
        byteCount &+= key.count
        if count == entryCapacity { growEntries() }
        (entries + count).initialize(to: entry)
        count &+= 1
        table[bucket] = UInt32(truncatingIfNeeded: count)
        if count &* 2 > tableCapacity { growTable() }
    }

    private mutating func growBytes(_ more: Int) {
        byteCapacity = max(byteCapacity * 2, byteCount + more)
        let grown = UnsafeMutableRawPointer.allocate(byteCount: byteCapacity, alignment: 16)
        grown.copyMemory(from: bytes, byteCount: byteCount)
        bytes.deallocate()
        bytes = grown
    }

    private mutating func growEntries() {
        entryCapacity *= 2
        let grown = UnsafeMutablePointer<Entry>.allocate(capacity: entryCapacity)
        grown.moveInitialize(from: entries, count: count)
        entries.deallocate()
        entries = grown
    }

    private mutating func growTable() {
        table.deallocate()
        tableCapacity *= 4
        table = .allocate(capacity: tableCapacity)
        table.initialize(repeating: 0, count: tableCapacity)
        for index in 0..<count {
            var bucket =
                Int(truncatingIfNeeded: Self.hash(key(entries[index]))) & (tableCapacity &- 1)
            while table[bucket] != 0 { bucket = (bucket &+ 1) & (tableCapacity &- 1) }
            table[bucket] = UInt32(truncatingIfNeeded: index &+ 1)
        }
    }

    // MARK: In order

    /// Writes everything to the tree, in the order of the keys. O(entries * log entries of the
    /// tree).
    func write(to batch: EntryBatch) throws(ModelError) {
        let order = sorted()
        for position in order.items.indices {
            fetch(behind: position, order.items)
            do throws(StorageError) {
                let entry = entries + Int(order.items[position].index)
                guard try !write(entry, to: batch) else { continue }
            } catch { throw .storage(error) }
            throw .inconsistent("an entry that leads to an object is missing")
        }
    }

    /// Prefetches an entry that comes soon, and the key of an earlier one: in the order of the keys
    /// neither is near the previous one.
    @inline(__always)
    private func fetch(behind position: Int, _ items: UnsafeMutableBufferPointer<RadixSort.Item>) {
        let distance = 8
        guard position &+ 2 &* distance < count else { return }
        UnsafeRawPointer(entries + Int(items[position &+ 2 &* distance].index)).prefetch()
        let next = entries[Int(items[position &+ distance].index)]
        UnsafeRawPointer(bytes + Int(next.offset)).prefetch()
    }

    /// False if the tree lacks an entry that it must have.
    @inline(__always)
    private func write(_ pointer: UnsafePointer<Entry>, to batch: EntryBatch) throws(StorageError)
        -> Bool
    {
        let entry = pointer.pointee, key = key(entry)
        guard !entry.isRemoval else {
            // An entry that was new and was removed again never reaches the tree.
            if entry.isNew { return true }
            return try batch.delete(key) || !entry.isInTree
        }
        // The value is the first field of the entry.
        let value = UnsafeRawBufferPointer(start: pointer, count: Int(entry.valueLength))
        if entry.isNew { try batch.insert(key, value) } else { try batch.put(key, value) }
        return true
    }

    /// By the 8 bytes in which the keys differ first; few keys are alike in these.
    private func sorted() -> RadixSort {
        let skipped = commonPrefix()
        var order = RadixSort(count: count) {
            RadixSort.Item(
                head: head(entries[$0], after: skipped), index: UInt32(truncatingIfNeeded: $0))
        }
        order.sort()
        var start = 0
        while start < count {
            var end = start + 1
            while end < count, order.items[end].head == order.items[start].head { end += 1 }
            if end - start > 1 {
                sortWhole(UnsafeMutableBufferPointer(rebasing: order.items[start..<end]))
            }
            start = end
        }
        return order
    }

    private func sortWhole(_ items: UnsafeMutableBufferPointer<RadixSort.Item>) {
        var items = items
        items.sort { key(entries[Int($0.index)]).isBefore(key(entries[Int($1.index)])) }
    }

    /// The number of bytes that all keys share at the beginning.
    private func commonPrefix() -> Int {
        guard count > 0 else { return 0 }
        let first = key(entries[0])
        var common = first.count
        for index in 1..<count where common > 0 {
            let other = key(entries[index])
            var length = 0
            let limit = min(common, other.count)
            while length < limit, first[length] == other[length] { length &+= 1 }
            common = length
        }
        return common
    }

    private func head(_ entry: Entry, after skipped: Int) -> UInt64 {
        let rest = Int(entry.length) &- skipped, start = bytes + (Int(entry.offset) &+ skipped)
        if rest >= 8 { return UInt64(bigEndian: start.loadUnaligned(as: UInt64.self)) }
        var head: UInt64 = 0
        for index in 0..<rest {
            head |=
                UInt64(start.load(fromByteOffset: index, as: UInt8.self))
                << UInt64(56 &- 8 &* index)
        }
        return head
    }
}
