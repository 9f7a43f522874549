internal import Synchronization
internal import ToftPlatform

/// An ordered tree: bytes to bytes, keys in the order of unsigned bytes, each key once.
///
/// Any thread may read a tree of a committed version. Bytes that are handed out borrow from the
/// pages: until the snapshot is released, in a write transaction until its next change.
package final class TreeReader: Sendable {
    let pages: PageReader
    let head: TreeHead
    /// Entries that wait in the insert buffer; nil in the trees of the engine itself.
    let buffered: BufferedEntries?
    /// A `LeafMap`, retained, or 0.
    private let map = Atomic<UInt>(0)
    /// Look-ups that went through the inner nodes, up to `lookUpsBeforeMap`.
    private let lookUps = Atomic<Int>(0)
    /// Number of lookups that repay the cost of a map.
    static let lookUpsBeforeMap = 1_000

    init(pages: PageReader, head: TreeHead, buffered: BufferedEntries? = nil) {
        self.pages = pages
        self.head = head
        self.buffered = buffered
    }

    deinit { leafMap?.release() }

    /// The root of the tree.
    @inline(__always)
    var root: TreeRoot { head.root }

    /// Number of entries in the tree itself.
    var ownCount: Int { Int(clamping: root.count) }

    /// Entries of the tree. O(log entries of the insert buffer).
    package var count: Int {
        get throws(StorageError) { ownCount + (try buffered?.count ?? 0) }
    }

    // MARK: Look-ups

    /// The value of a key; nil if the tree does not have it. O(log entries).
    package func value(forKey key: UnsafeRawBufferPointer) throws(StorageError)
        -> UnsafeRawBufferPointer?
    {
        guard let leaf = try leaf(of: key) else { return try buffered?.value(forKey: key) }
        guard let (stored, isBlob) = try leaf.value(of: key) else {
            return try buffered?.value(forKey: key)
        }
        return try whole(stored, isBlob: isBlob)
    }

    /// Whether the tree holds a key. O(log entries).
    package func contains(_ key: UnsafeRawBufferPointer) throws(StorageError) -> Bool {
        if try isOwn(key) { return true }
        return try buffered?.value(forKey: key) != nil
    }

    /// True if a key is in the tree itself.
    func isOwn(_ key: UnsafeRawBufferPointer) throws(StorageError) -> Bool {
        try leaf(of: key)?.search(key).found ?? false
    }

    /// The leaf that has a key or would have it; nil in an empty tree.
    @inline(__always)
    private func leaf(of key: UnsafeRawBufferPointer) throws(StorageError) -> OrderedLeaf? {
        if let leafMap, let base = leafMap.borrow({ $0.leaf(of: key) }) {
            return try OrderedLeaf(base, page: ExtentHeader.page(of: base))
        }
        return root.isEmpty ? nil : try descend(to: key)
    }

    @inline(__always)
    var leafMap: Unmanaged<LeafMap>? {
        UnsafeRawPointer(bitPattern: map.load(ordering: .acquiring)).map { .fromOpaque($0) }
    }

    /// The leaf that the inner nodes lead to.
    @inline(never)
    private func descend(to key: UnsafeRawBufferPointer) throws(StorageError) -> OrderedLeaf {
        var target = KeyTarget(key: Separator(key: key))
        let (ref, base) = try root.leaf(&target, in: pages, as: .orderedLeaf)
        let leaf = try OrderedLeaf(base, page: ref.page)
        if let leafMap {
            leafMap.borrow { $0.note(leaf, of: key) }
        } else {
            countLookUp()
        }
        return leaf
    }

    /// Makes the map once it pays. A tree that is being changed has no map, nor has one that is
    /// scanned once.
    private func countLookUp() {
        let count = lookUps.load(ordering: .relaxed)
        guard count < Self.lookUpsBeforeMap else { return }
        lookUps.store(count + 1, ordering: .relaxed)
        guard count + 1 == Self.lookUpsBeforeMap, !pages.hasWorkingExtents,
            pages.cache.mode != .scan,
            let made = try? LeafMap(of: root, in: pages)
        else { return }
        let word = Unmanaged.passRetained(made)
        let bits = UInt(bitPattern: word.toOpaque())
        if !map.compareExchange(expected: 0, desired: bits, ordering: .acquiringAndReleasing)
            .exchanged
        {
            word.release()
        }
    }

    /// The value of an entry, from its blob if it has one.
    func value(of entry: OrderedLeaf.Entry) throws(StorageError) -> UnsafeRawBufferPointer {
        try whole(entry.stored, isBlob: entry.isBlob)
    }

    private func whole(_ stored: UnsafeRawBufferPointer, isBlob: Bool) throws(StorageError)
        -> UnsafeRawBufferPointer
    {
        guard isBlob, let reference = stored.baseAddress else { return stored }
        return try pages.blob(Ref(decoding: reference))
    }

    /// Number of keys before `key`. O(log entries).
    package func rank(of key: UnsafeRawBufferPointer) throws(StorageError) -> Int {
        try ownRank(of: key) + (try buffered?.rank(of: key) ?? 0)
    }

    private func ownRank(of key: UnsafeRawBufferPointer) throws(StorageError) -> Int {
        guard !root.isEmpty else { return 0 }
        var target = KeyTarget(key: Separator(key: key))
        let (ref, base, before) = try root.rankedLeaf(&target, in: pages, as: .orderedLeaf)
        let index = try OrderedLeaf(base, page: ref.page).search(key).index
        return Int(clamping: before) &+ index
    }

    // MARK: Cursors

    /// A cursor without a position.
    package func cursor() throws(StorageError) -> TreeCursor {
        try cursor(buffered?.levels)
    }

    /// Calls `body` with each entry whose key begins with `prefix`, in order, until it returns
    /// false. Key and value are good until it returns. O(log entries + those found).
    ///
    /// Trees are walked side by side only if several may have such entries.
    package func forEachStoredEntry(
        withPrefix prefix: UnsafeRawBufferPointer,
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer)
            throws(StorageError) -> Bool
    ) throws(StorageError) {
        let levels = try buffered?.levels(within: prefix) ?? []
        guard let buffered, let level = levels.first else {
            return try forEachOwnEntry(withPrefix: prefix, body)
        }
        if levels.count == 1, try !mayHold(prefix: prefix) {
            let start = buffered.prefix
            return try start.with(prefix) { prefix throws(StorageError) in
                try level.forEachOwnEntry(withPrefix: prefix) { key, value throws(StorageError) in
                    try body(UnsafeRawBufferPointer(rebasing: key[start.prefixCount...]), value)
                }
            }
        }
        let cursor = try cursor(levels)
        try cursor.seek(prefix)
        try cursor.forEachEntry(withPrefix: prefix, body)
    }

    /// Calls `body` with the entries in the tree itself.
    ///
    /// No cursor is made if all are in one leaf, as a few usually are.
    private func forEachOwnEntry(
        withPrefix prefix: UnsafeRawBufferPointer,
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer)
            throws(StorageError) -> Bool
    ) throws(StorageError) {
        guard let (leaf, first) = try place(of: prefix) else { return }
        try withUnsafeTemporaryAllocation(byteCount: OrderedLeafRewrite.keySize, alignment: 8) {
            memory throws(StorageError) in
            guard let memory = memory.baseAddress else { throw .addressSpaceExhausted }
            var last: UnsafeRawBufferPointer?
            for index in first..<leaf.count {
                let entry = try leaf.entry(index)
                let key = leaf.key(of: entry, in: memory)
                guard key.hasPrefix(prefix), try body(key, try value(of: entry)) else { return }
                last = key
            }
            let cursor = TreeCursor(LeafEntryCursor(tree: self), merged: nil)
            if let last { try cursor.seek(after: last) } else { try cursor.seek(prefix) }
            try cursor.forEachEntry(withPrefix: prefix, body)
        }
    }

    /// The leaf that has a key or would have it, and its first entry that is not before the key;
    /// nil in an empty tree.
    private func place(of key: UnsafeRawBufferPointer) throws(StorageError) -> (
        leaf: OrderedLeaf, index: Int
    )? {
        guard let leaf = try leaf(of: key) else { return nil }
        return (leaf, try leaf.search(key).index)
    }

    private func cursor(_ levels: [TreeReader]?) throws(StorageError) -> TreeCursor {
        let own = LeafEntryCursor(tree: self)
        guard let buffered, let levels, !levels.isEmpty else { return TreeCursor(own, merged: nil) }
        var children = [PrefixCursor(own, prefix: nil)]
        for level in levels {
            children.append(PrefixCursor(LeafEntryCursor(tree: level), prefix: buffered.prefix))
        }
        return TreeCursor(own, merged: MergingCursor(children))
    }

    /// Whether the tree itself may hold keys that begin with `prefix`: false is certain.
    func mayHold(prefix: UnsafeRawBufferPointer) throws(StorageError) -> Bool {
        guard let leaf = try leaf(of: prefix) else { return false }
        let (index, found) = try leaf.search(prefix)
        if found { return true }
        guard index < leaf.count else { return try !isLast(leaf) }
        guard leaf.mayBegin(index, with: prefix) else { return false }
        let entry = try leaf.entry(index)
        return withUnsafeTemporaryAllocation(byteCount: OrderedLeafRewrite.keySize, alignment: 8) {
            memory in
            guard let base = memory.baseAddress else { return true }
            return leaf.key(of: entry, in: base).hasPrefix(prefix)
        }
    }

    /// True if no leaf is behind this one. O(height).
    private func isLast(_ leaf: OrderedLeaf) throws(StorageError) -> Bool {
        var target = EdgeTarget(isLast: true)
        return try root.leaf(&target, in: pages, as: .orderedLeaf).base == leaf.base
    }

    // MARK: The check

    /// Checks every node, entry and blob: order, bounds, counts, checksums. Reports each extent to
    /// `visitor`; throws at the first damage. O(entries).
    func check(_ visitor: any TreeVisitor) throws(StorageError) {
        var walker = OrderedLeafWalker(pages: pages, visitor: visitor)
        try root.check(&walker, in: pages, as: .orderedLeaf, visitor)
    }
}

private struct OrderedLeafWalker: LeafWalker {
    let pages: PageReader
    let visitor: any TreeVisitor

    func leaf(_ ref: Ref, _ base: UnsafeRawPointer, from low: Separator?, below high: Separator?)
        throws(StorageError) -> UInt64
    {
        let leaf = try OrderedLeaf(base, page: ref.page)
        try leaf.check()
        // Its keys ascend, so only the first and the last have to be tested.
        let keys = UnsafeMutableRawPointer.allocate(
            byteCount: 2 * OrderedLeafRewrite.keySize, alignment: 8)
        defer { keys.deallocate() }
        let first = Separator(key: leaf.key(of: try leaf.entry(0), in: keys))
        let last = Separator(
            key: leaf.key(
                of: try leaf.entry(leaf.count - 1), in: keys + OrderedLeafRewrite.keySize))
        guard low.map({ $0.compare(first) <= 0 }) ?? true,
            high.map({ last.compare($0) < 0 }) ?? true
        else {
            throw .corrupt(
                page: ref.page, reason: "the keys of a leaf are outside its separators")
        }
        for index in 0..<leaf.count {
            if let blob = try leaf.entry(index).blob { try check(blob) }
        }
        return UInt64(leaf.count)
    }

    private func check(_ blob: Ref) throws(StorageError) {
        guard try pages.blob(blob).count > TreeLimits.inlineValue else {
            throw .corrupt(page: blob.page, reason: "a blob is too short to be one")
        }
        pages.leave(blob)
        try visitor.visit(blob, as: .blob)
    }
}
