/// An ordered tree: bytes to bytes, keys in the order of unsigned bytes, each key once.
///
/// Readers may use one object from any thread; a writer's object belongs to its transaction. Bytes that are handed out borrow from the
/// pages: until the snapshot is released, in a write transaction until the tree's next change. A caller's mistake throws before anything has
/// changed; after any other error the transaction must be rolled back.
package final class OrderedTree: @unchecked Sendable {
    package let space: PageSpace
    /// Where the tree begins; the transaction writes it to the catalog.
    @exclusivity(unchecked) package var root: TreeRoot
    @exclusivity(unchecked) private var spine: Spine?

    package init(space: PageSpace, root: TreeRoot) {
        self.space = space
        self.root = root
    }

    /// Entries of the tree.
    package var count: Int { Int(clamping: root.count) }

    // MARK: Reading

    /// The value of a key; nil where there is none.
    package func value(forKey key: UnsafeRawBufferPointer) throws(StorageError) -> UnsafeRawBufferPointer? {
        guard let entry = try entry(forKey: key) else { return nil }
        return try value(of: entry)
    }

    /// Whether the tree holds a key.
    package func contains(_ key: UnsafeRawBufferPointer) throws(StorageError) -> Bool { try entry(forKey: key) != nil }

    private func entry(forKey key: UnsafeRawBufferPointer) throws(StorageError) -> OrderedLeaf.Entry? {
        guard !root.isEmpty else { return nil }
        var route = KeyRoute(key: Separator(key: key))
        let (ref, base) = try root.leaf(&route, in: space, as: .orderedLeaf)
        let leaf = try OrderedLeaf(base, page: ref.page)
        let (index, found) = try leaf.search(key)
        return found ? try leaf.entry(index) : nil
    }

    /// The value of an entry, from its blob where it has one.
    func value(of entry: OrderedLeaf.Entry) throws(StorageError) -> UnsafeRawBufferPointer {
        guard entry.isBlob, let stored = entry.stored.baseAddress else { return entry.stored }
        return try space.blob(Ref(decoding: stored))
    }

    /// How many keys are before `key`.
    package func rank(of key: UnsafeRawBufferPointer) throws(StorageError) -> Int {
        guard !root.isEmpty else { return 0 }
        var route = KeyRoute(key: Separator(key: key))
        let (ref, base, before) = try root.rankedLeaf(&route, in: space, as: .orderedLeaf)
        let index = try OrderedLeaf(base, page: ref.page).search(key).index
        return Int(clamping: before) &+ index
    }

    /// A cursor that stands nowhere yet.
    package func cursor() -> OrderedCursor { OrderedCursor(tree: self) }

    // MARK: Writing

    /// Sets the value of a key; true where the key is new.
    @discardableResult
    package func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(StorageError) -> Bool {
        guard key.count <= TreeLimits.key else { throw .keyTooLong(length: key.count, limit: TreeLimits.key) }
        guard value.count <= TreeLimits.value else { throw .valueTooLong(length: value.count, limit: TreeLimits.value) }
        guard value.count > TreeLimits.inlineValue else { return try put(key, stored: value, isBlob: false) }
        let encoded = writer().leafScratch + Page.size * 3 / 2
        try space.writeBlob(value).encode(to: encoded)
        return try put(key, stored: UnsafeRawBufferPointer(start: encoded, count: Ref.size), isBlob: true)
    }

    private func put(_ key: UnsafeRawBufferPointer, stored: UnsafeRawBufferPointer, isBlob: Bool) throws(StorageError) -> Bool {
        let spine = writer()
        let new = OrderedLeaf.Entry(key: key, stored: stored, isBlob: isBlob)
        if root.isEmpty { try plantLeaf(spine) }
        var route = KeyRoute(key: Separator(key: key))
        let (ref, base) = try spine.descend(&root, &route)
        let leaf = try OrderedLeaf(base, page: ref.page)
        let editor = OrderedLeafEditor(base: base, page: ref.page)
        let (index, found) = try leaf.search(key)
        if !found {
            try spine.addRows(&root, 1)
            try insert(new, at: index, editor, spine)
            return true
        }
        let old = try leaf.entry(index)
        try freeBlob(of: old)
        if old.stored.count == stored.count && old.isBlob == isBlob {
            editor.overwrite(old, with: stored)
        } else {
            editor.remove(at: index, old)
            try insert(new, at: index, editor, spine)
        }
        return false
    }

    private func writer() -> Spine {
        if let spine { return spine }
        let made = Spine(space: space, leafType: .orderedLeaf)
        spine = made
        return made
    }

    private func plantLeaf(_ spine: Spine) throws(StorageError) {
        let (ref, base) = try space.allocate(.orderedLeaf, pageCount: 1)
        _ = OrderedLeafEditor.create(in: base, page: ref.page)
        spine.plant(&root, ref)
    }

    private func freeBlob(of entry: OrderedLeaf.Entry) throws(StorageError) {
        guard entry.isBlob, let stored = entry.stored.baseAddress else { return }
        try space.free(Ref(decoding: stored))
    }

    /// Adds an entry where the spine stands, splitting the leaf where it is full. Counts know the new entry already.
    private func insert(_ entry: OrderedLeaf.Entry, at index: Int, _ editor: OrderedLeafEditor, _ spine: Spine) throws(StorageError) {
        let kept = keep(entry, spine.leafScratch + Page.size)
        if try editor.insert(at: index, kept, scratch: spine.leafScratch) { return }
        try split(adding: kept, at: index, editor, spine)
    }

    /// An entry whose bytes may lie in the leaf that is about to be rewritten, copied aside.
    private func keep(_ entry: OrderedLeaf.Entry, _ place: UnsafeMutableRawPointer) -> OrderedLeaf.Entry {
        if let key = entry.key.baseAddress { place.store(key, count: entry.key.count, at: 0) }
        if let value = entry.stored.baseAddress { place.store(value, count: entry.stored.count, at: entry.key.count) }
        return OrderedLeaf.Entry(
            key: UnsafeRawBufferPointer(start: place, count: entry.key.count),
            stored: UnsafeRawBufferPointer(start: place + entry.key.count, count: entry.stored.count), isBlob: entry.isBlob)
    }

    /// Divides a full leaf and the new entry over two leaves; entries that come in ascending order leave full leaves behind.
    private func split(adding entry: OrderedLeaf.Entry, at index: Int, _ left: OrderedLeafEditor, _ spine: Spine) throws(StorageError) {
        spine.leafScratch.store(left.base, count: Page.size, at: 0)
        let old = try OrderedLeaf(spine.leafScratch, page: left.page)
        let cut = index == old.count && index > 0 ? index : try middle(of: old, adding: entry, at: index)
        let (rightRef, rightBase) = try space.allocate(.orderedLeaf, pageCount: 1)
        let right = OrderedLeafEditor.create(in: rightBase, page: rightRef.page)
        _ = OrderedLeafEditor.create(in: left.base, page: left.page)
        for position in 0...old.count {
            let next = position == index ? entry : try old.entry(position < index ? position : position - 1)
            try (position < cut ? left : right).append(next, left.page)
        }
        let separator = try shortestSeparator(try OrderedLeaf(left.base, page: left.page), try OrderedLeaf(rightBase, page: rightRef.page))
        try spine.insertLeafRight(&root, separator, rightRef, rows: UInt64(old.count + 1 - cut))
    }

    /// How many of the entries, the new one among them, stay left so that both sides weigh about the same.
    private func middle(of old: OrderedLeaf, adding entry: OrderedLeaf.Entry, at index: Int) throws(StorageError) -> Int {
        let half = (try old.usedBytes() + entry.size) / 2
        var sum = 0
        for position in 0..<old.count {
            sum += position == index ? entry.size : try old.entry(position < index ? position : position - 1).size
            if sum >= half { return position + 1 }
        }
        return old.count
    }

    /// The shortest key that stands after the left leaf's last and not after the right leaf's first; borrows from the right leaf.
    private func shortestSeparator(_ left: OrderedLeaf, _ right: OrderedLeaf) throws(StorageError) -> Separator {
        guard left.count > 0 && right.count > 0 else { throw .corrupt(page: left.page, reason: "a leaf cannot be split") }
        let low = try left.entry(left.count - 1).key
        let high = try right.entry(0).key
        var shared = 0
        while shared < low.count, shared < high.count, low[shared] == high[shared] { shared += 1 }
        return Separator(key: UnsafeRawBufferPointer(rebasing: high[..<min(shared + 1, high.count)]))
    }

    /// Removes a key and its value; false where there is none.
    @discardableResult
    package func delete(_ key: UnsafeRawBufferPointer) throws(StorageError) -> Bool {
        guard try contains(key) else { return false }
        let spine = writer()
        var route = KeyRoute(key: Separator(key: key))
        let (ref, base) = try spine.descend(&root, &route)
        let leaf = try OrderedLeaf(base, page: ref.page)
        let (index, found) = try leaf.search(key)
        guard found else { return false }
        let entry = try leaf.entry(index)
        try freeBlob(of: entry)
        OrderedLeafEditor(base: base, page: ref.page).remove(at: index, entry)
        try spine.addRows(&root, -1)
        if leaf.count == 1 {
            try spine.removeLeaf(&root)
            try space.free(ref)
        } else {
            try mergeSmall(ref, base, spine)
        }
        return true
    }

    /// Pours a leaf that fell below a quarter together with a neighbour, where both fit into three quarters of one.
    private func mergeSmall(_ ref: Ref, _ base: UnsafeMutableRawPointer, _ spine: Spine) throws(StorageError) {
        let leaf = try OrderedLeaf(base, page: ref.page)
        let used = try leaf.usedBytes()
        guard used < OrderedLeafLayout.room / 4 else { return }
        if let rightRef = try spine.sibling(1, root), let right = try neighbour(rightRef, used) {
            try pour(leaf, right, into: base, ref, spine)
            try spine.removeLeafRight(&root)
            try space.free(rightRef)
        } else if var leftRef = try spine.sibling(-1, root), try neighbour(leftRef, used) != nil {
            spine.stepLeft()
            let leftBase = try space.edit(&leftRef, as: .orderedLeaf)
            spine.replaceLeaf(&root, by: leftRef)
            try pour(try OrderedLeaf(leftBase, page: leftRef.page), leaf, into: leftBase, leftRef, spine)
            try spine.removeLeafRight(&root)
            try space.free(ref)
        }
    }

    private func neighbour(_ ref: Ref, _ used: Int) throws(StorageError) -> OrderedLeaf? {
        let leaf = try OrderedLeaf(try space.view(ref, as: .orderedLeaf), page: ref.page)
        return try leaf.usedBytes() + used <= OrderedLeafLayout.room * 3 / 4 ? leaf : nil
    }

    private func pour(_ left: OrderedLeaf, _ right: OrderedLeaf, into base: UnsafeMutableRawPointer, _ ref: Ref, _ spine: Spine) throws(StorageError) {
        spine.leafScratch.store(left.base, count: Page.size, at: 0)
        let old = try OrderedLeaf(spine.leafScratch, page: ref.page)
        let joined = OrderedLeafEditor.create(in: base, page: ref.page)
        try joined.append(0..<old.count, of: old)
        try joined.append(0..<right.count, of: right)
    }
}
