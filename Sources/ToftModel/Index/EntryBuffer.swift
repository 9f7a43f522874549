/// New and removed entries of one tree on their way there: a hash table for look-ups, sorted when
/// the tree takes them.
///
/// Keys lie one behind the other in `bytes`; `table` holds for each hash the number of an entry and
/// one more, 0 where there is none. One thread; freed by `deallocate`.
struct EntryBuffer {
    /// Sixteen bytes, as there are many.
    struct Entry {
        /// Up to 8 bytes, as they lie in memory; meaningless for a removal.
        var value: UInt64
        var offset: UInt32 = 0
        var length: UInt16
        var valueLength: UInt8
        private var flags: UInt8

        /// An entry that is put. `isNew`: its tree is known not to hold the key.
        init(keyLength: Int, value: UInt64, valueLength: UInt8, isNew: Bool) {
            self.value = value
            self.valueLength = valueLength
            length = UInt16(truncatingIfNeeded: keyLength)
            flags = isNew ? 4 : 0
        }

        /// One that is removed without having been put before: its tree must hold the key.
        init(removedKeyLength: Int) {
            self.init(keyLength: removedKeyLength, value: 0, valueLength: 0, isNew: false)
            flags = 3
        }

        var isRemoval: Bool {
            get { flags & 1 != 0 }
            set { flags = newValue ? flags | 1 : flags & ~1 }
        }

        var isInTree: Bool { flags & 2 != 0 }
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

    /// The key of an entry.
    @inline(__always)
    func key(_ entry: Entry) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: bytes + Int(entry.offset), count: Int(entry.length))
    }

    // MARK: Looking up

    /// The entry with a key, nil where nothing is known of it.
    @inline(__always)
    func find(_ key: UnsafeRawBufferPointer) -> Entry? {
        guard count > 0 else { return nil }
        let number = table[place(of: key)]
        return number == 0 ? nil : entries[Int(number) &- 1]
    }

    /// Where in `table` a key is, or would be.
    @inline(__always)
    private func place(of key: UnsafeRawBufferPointer) -> Int {
        var place = Int(truncatingIfNeeded: Self.hash(key)) & (tableCapacity &- 1)
        while table[place] != 0 {
            if self.key(entries[Int(table[place]) &- 1]).isSame(as: key) { return place }
            place = (place &+ 1) & (tableCapacity &- 1)
        }
        return place
    }

    /// Only for this table: never stored.
    @inline(__always)
    private static func hash(_ key: UnsafeRawBufferPointer) -> UInt64 {
        var hash = UInt64(truncatingIfNeeded: key.count) &* 0x9E37_79B9_7F4A_7C15, offset = 0
        while offset &+ 8 <= key.count {
            hash = mix(hash ^ key.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            offset &+= 8
        }
        while offset < key.count {
            hash = mix(hash ^ UInt64(key[offset]))
            offset &+= 1
        }
        return hash ^ (hash >> 29)
    }

    @inline(__always)
    private static func mix(_ value: UInt64) -> UInt64 {
        let product = value.multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
        return product.high ^ product.low
    }

    // MARK: Changing

    /// Notes an entry with up to 8 bytes of value. `isNew`: its tree does not hold the key, unless
    /// it is removed here.
    @inline(__always)
    mutating func put(_ key: UnsafeRawBufferPointer, _ value: UInt64, length: Int, isNew: Bool) {
        let place = place(of: key), number = table[place]
        let length = UInt8(truncatingIfNeeded: length)
        guard number > 0 else {
            return add(
                key, Entry(keyLength: key.count, value: value, valueLength: length, isNew: isNew),
                at: place)
        }
        entries[Int(number) &- 1].value = value
        entries[Int(number) &- 1].valueLength = length
        entries[Int(number) &- 1].isRemoval = false
    }

    /// Notes that an entry goes. False where it has gone already.
    mutating func remove(_ key: UnsafeRawBufferPointer) -> Bool {
        let place = place(of: key), number = table[place]
        guard number > 0 else {
            add(key, Entry(removedKeyLength: key.count), at: place)
            return true
        }
        let wasThere = !entries[Int(number) &- 1].isRemoval
        entries[Int(number) &- 1].isRemoval = true
        return wasThere
    }

    /// Forgets everything; the memory stays.
    mutating func removeAll() {
        table.update(repeating: 0, count: tableCapacity)
        count = 0
        byteCount = 0
    }

    private mutating func add(_ key: UnsafeRawBufferPointer, _ entry: Entry, at place: Int) {
        var entry = entry
        entry.offset = UInt32(truncatingIfNeeded: byteCount)
        if byteCount &+ key.count > byteCapacity { growBytes(key.count) }
        UnsafeMutableRawBufferPointer(start: bytes + byteCount, count: key.count).copyMemory(
            from: key)
        byteCount &+= key.count
        if count == entryCapacity { growEntries() }
        (entries + count).initialize(to: entry)
        count &+= 1
        table[place] = UInt32(truncatingIfNeeded: count)
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
            var place =
                Int(truncatingIfNeeded: Self.hash(key(entries[index]))) & (tableCapacity &- 1)
            while table[place] != 0 { place = (place &+ 1) & (tableCapacity &- 1) }
            table[place] = UInt32(truncatingIfNeeded: index &+ 1)
        }
    }

    // MARK: In order

    /// Calls `body` with each entry in the order of the keys.
    func forEachInOrder<Failure>(_ body: (Entry) throws(Failure) -> Void) throws(Failure) {
        guard count > 1 else { return count == 1 ? try body(entries[0]) : () }
        let skipped = commonPrefix()
        // By the 8 bytes in which keys differ first; few are alike in these.
        var order = KeyOrder(count: count) {
            KeyOrder.Item(
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
            for place in start..<end { try body(entries[Int(order.items[place].index)]) }
            start = end
        }
    }

    private func sortWhole(_ items: UnsafeMutableBufferPointer<KeyOrder.Item>) {
        var items = items
        items.sort { key(entries[Int($0.index)]).isBefore(key(entries[Int($1.index)])) }
    }

    /// How many bytes all keys begin with alike.
    private func commonPrefix() -> Int {
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
