/// The entries of a leaf or of two, with at most one more among those of the first, on their way to
/// new leaves. Whole keys are put together in memory of the writer; the leaves they come from are
/// not those that are written.
struct OrderedLeafRewrite {
    private let first: OrderedLeaf
    private let second: OrderedLeaf?
    private let entry: OrderedEntry?
    private let index: Int
    let count: Int
    /// Memory for two whole keys.
    private let keys: UnsafeMutableRawPointer

    /// A leaf with a new entry before `index`, and the leaf that follows if that is given.
    init(
        _ leaf: OrderedLeaf, inserting entry: OrderedEntry, at index: Int,
        before next: OrderedLeaf? = nil, keys: UnsafeMutableRawPointer
    ) {
        (first, second, self.entry, self.index, self.keys) = (leaf, next, entry, index, keys)
        count = leaf.count + 1 + (next?.count ?? 0)
    }

    /// Two leaves, one after the other.
    init(_ left: OrderedLeaf, _ right: OrderedLeaf, keys: UnsafeMutableRawPointer) {
        (first, second, entry, index, self.keys) = (left, right, nil, .max, keys)
        count = left.count + right.count
    }

    /// Bytes of memory for one whole key.
    static let keySize = TreeLimits.key + 8

    /// An entry with its whole key, which is good until the next call with the same `buffer`, 0 or
    /// 1.
    func whole(_ position: Int, buffer: Int = 0) throws(StorageError) -> OrderedEntry {
        if let entry, position == index { return entry }
        let memory = keys + buffer * Self.keySize
        let (leaf, slot) = location(position)
        return try leaf.whole(slot, in: memory)
    }

    /// Writes a range of the entries, not empty, to a leaf.
    func write(_ range: Range<Int>, to base: UnsafeMutableRawPointer, page: PageNumber)
        throws(StorageError)
    {
        let shared = try sharedBytes(range)
        let low = try whole(range.lowerBound)
        let editor = OrderedLeafEditor.create(
            in: base, page: page, shared: UnsafeRawBufferPointer(rebasing: low.key[..<shared]))
        for position in range {
            if let (old, more) = try unchanged(position, sharing: shared) {
                try editor.append(old.suffix.dropping(more), old.stored, old.isBlob)
            } else {
                try editor.append(try whole(position))
            }
        }
    }

    /// An entry as it lies in its leaf, where its key shares no less from now on, and how much
    /// more.
    @inline(__always)
    private func unchanged(_ position: Int, sharing shared: Int) throws(StorageError) -> (
        OrderedLeaf.Entry, sharingMore: Int
    )? {
        guard position != index else { return nil }
        let (leaf, slot) = location(position)
        let more = shared - leaf.shared.count
        guard more >= 0 else { return nil }
        let old = try leaf.entry(slot)
        return old.suffix.length >= more ? (old, more) : nil
    }

    /// Where an entry that is not the new one lies.
    @inline(__always)
    private func location(_ position: Int) -> (leaf: OrderedLeaf, slot: Int) {
        let old = position < index ? position : position - 1
        if let second, old >= first.count { return (second, old - first.count) }
        return (first, old)
    }

    /// Bytes that an entry would take in a leaf that shares so much.
    @inline(__always)
    private func size(_ position: Int, sharing shared: Int) throws(StorageError) -> Int {
        if let entry, position == index { return entry.size(shared: shared) }
        let (leaf, slot) = location(position)
        return try leaf.entry(slot).size(sharingFewer: leaf.shared.count - shared)
    }

    /// How many bytes to share: all that can be, unless what the old leaf shared takes less room.
    /// What is divided then always fits.
    private func sharedBytes(_ range: Range<Int>) throws(StorageError) -> Int {
        let most = try whole(range.lowerBound, buffer: 0).sharedBytes(
            with: try whole(range.upperBound - 1, buffer: 1))
        let least = min(first.shared.count, most)
        guard second == nil, range.count > 1, most > least,
            most < least + 2 * OrderedLeafLayout.hintSize
        else { return most }
        var saved = least - most
        for position in range {
            saved += try size(position, sharing: least) - size(position, sharing: most)
        }
        return saved >= 0 ? most : least
    }

    /// Bytes that all entries would take in one leaf.
    func usedBytes() throws(StorageError) -> Int {
        guard count > 0 else { return 0 }
        let shared = try whole(0, buffer: 0).sharedBytes(with: try whole(count - 1, buffer: 1))
        var sum = shared + (entry?.size(shared: shared) ?? 0)
        sum += try first.usedBytes(sharingFewer: first.shared.count - shared) - shared
        if let second {
            sum += try second.usedBytes(sharingFewer: second.shared.count - shared) - shared
        }
        return sum
    }

    /// How many of the entries stay left so that both sides weigh about the same. All keys begin
    /// with the first leaf's shared bytes.
    func middle() throws(StorageError) -> Int {
        let shared = first.shared.count
        var total = 0
        for position in 0..<count { total += try size(position, sharing: shared) }
        var left = 0
        for position in 0..<count {
            let size = try size(position, sharing: shared)
            if 2 * left + size >= total { return max(1, position) }
            left += size
        }
        return count - 1
    }

    /// Where the entries of both leaves are to be cut so that two or three parts weigh about the
    /// same: the first cut and the last, which are one for two parts. Nil where they do not fit.
    /// All keys begin with what both leaves share.
    func cuts(into parts: Int) throws(StorageError) -> (first: Int, last: Int)? {
        guard let second else { return nil }
        let shared = commonPrefix(first.shared, second.shared)
        // What a leaf shares beyond that costs less than this more than it saves.
        let room = OrderedLeafLayout.room - shared - 2 * OrderedLeafLayout.hintSize
        var total = 0
        for position in 0..<count { total += try size(position, sharing: shared) }
        var (sum, start, firstCut) = (0, 0, 0)
        for position in 0..<count {
            sum += try size(position, sharing: shared)
            let isSecond = firstCut > 0
            guard sum * parts >= (isSecond ? 2 : 1) * total else { continue }
            let cut = position + 1
            guard cut < count, sum - start <= room else { return nil }
            if parts == 2 || isSecond {
                guard total - sum <= room else { return nil }
                return (isSecond ? firstCut : cut, cut)
            }
            (firstCut, start) = (cut, sum)
        }
        return nil
    }

    /// The shortest key that stands after the entry before `cut` and not after the one at it.
    func separator(at cut: Int) throws(StorageError) -> Separator {
        let low = try whole(cut - 1, buffer: 0).key
        let high = try whole(cut, buffer: 1).key
        return Separator(
            key: UnsafeRawBufferPointer(
                rebasing: high[..<min(commonPrefix(low, high) + 1, high.count)]))
    }
}
