/// A leaf of the writer's own that its spine leads to, and what begins the leaf right of it, in a
/// node of the spine.
typealias LeafPlace = (ref: Ref, end: Separator?)

/// Where an entry goes whose writer knows more of its key, or does not.
package enum EntryPlace: Equatable {
    /// The key may be there already.
    case wherever
    /// The key is new, and goes to the tree itself.
    case tree
    /// The key is new, and waits in a level of the delta.
    case delta(level: Int)
}

/// An ordered tree: bytes to bytes, keys in the order of unsigned bytes, each key once.
///
/// Readers may use one object from any thread; a writer's object belongs to its transaction. Bytes
/// that are handed out borrow from the pages: until the snapshot is released, in a write
/// transaction until the tree's next change. A caller's mistake throws before anything has changed;
/// after any other error the transaction must be rolled back.
package final class OrderedTree: @unchecked Sendable {
    package let space: PageSpace
    /// Where the tree begins; the transaction writes it to the catalog.
    @exclusivity(unchecked) package var root: TreeRoot
    /// New entries that lie in the delta still; nil in the trees of the engine itself.
    let share: DeltaShare?
    @exclusivity(unchecked) private var spine: Spine?
    /// Where the last entry went: the next one often goes there, too. Forgotten with each change of
    /// nodes.
    @exclusivity(unchecked) var place: LeafPlace?

    package convenience init(space: PageSpace, root: TreeRoot) {
        self.init(space: space, root: root, share: nil)
    }

    init(space: PageSpace, root: TreeRoot, share: DeltaShare?) {
        self.space = space
        self.root = root
        self.share = share
    }

    /// Entries that lie in the tree itself.
    var ownCount: Int { Int(clamping: root.count) }

    /// Entries of the tree. O(log entries of the delta).
    package var count: Int {
        get throws(StorageError) { ownCount + (try share?.count ?? 0) }
    }

    // MARK: Reading

    /// The value of a key; nil where there is none.
    package func value(forKey key: UnsafeRawBufferPointer) throws(StorageError)
        -> UnsafeRawBufferPointer?
    {
        guard let entry = try entry(forKey: key) else { return try share?.value(forKey: key) }
        return try value(of: entry)
    }

    /// Whether the tree holds a key.
    package func contains(_ key: UnsafeRawBufferPointer) throws(StorageError) -> Bool {
        if try isOwn(key) { return true }
        return try share?.value(forKey: key) != nil
    }

    /// Whether a key lies in the tree itself.
    func isOwn(_ key: UnsafeRawBufferPointer) throws(StorageError) -> Bool {
        try entry(forKey: key) != nil
    }

    private func entry(forKey key: UnsafeRawBufferPointer) throws(StorageError) -> OrderedLeaf
        .Entry?
    {
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
        try ownRank(of: key) + (try share?.rank(of: key) ?? 0)
    }

    private func ownRank(of key: UnsafeRawBufferPointer) throws(StorageError) -> Int {
        guard !root.isEmpty else { return 0 }
        var route = KeyRoute(key: Separator(key: key))
        let (ref, base, before) = try root.rankedLeaf(&route, in: space, as: .orderedLeaf)
        let index = try OrderedLeaf(base, page: ref.page).search(key).index
        return Int(clamping: before) &+ index
    }

    /// A cursor that stands nowhere yet.
    package func cursor() throws(StorageError) -> TreeCursor {
        try cursor(share?.levels)
    }

    /// A cursor for the entries whose keys begin with `prefix`; it may leave others out.
    package func cursor(within prefix: UnsafeRawBufferPointer) throws(StorageError) -> TreeCursor {
        try cursor(share?.levels(within: prefix))
    }

    private func cursor(_ levels: [OrderedTree]?) throws(StorageError) -> TreeCursor {
        let own = LeafEntryCursor(tree: self)
        guard let share, let levels, !levels.isEmpty else { return TreeCursor(own, merged: nil) }
        var children = [PrefixCursor(own, prefix: nil)]
        for level in levels {
            children.append(PrefixCursor(LeafEntryCursor(tree: level), prefix: share.key))
        }
        return TreeCursor(own, merged: MergingCursor(children))
    }

    /// Whether the tree itself may hold keys that begin with `prefix`: false is certain.
    func mayHold(prefix: UnsafeRawBufferPointer) throws(StorageError) -> Bool {
        guard !root.isEmpty else { return false }
        var route = KeyRoute(key: Separator(key: prefix))
        let (ref, base) = try root.leaf(&route, in: space, as: .orderedLeaf)
        let leaf = try OrderedLeaf(base, page: ref.page)
        let (index, found) = try leaf.search(prefix)
        guard !found, index < leaf.count else { return true }
        let entry = try leaf.entry(index)
        return withUnsafeTemporaryAllocation(byteCount: OrderedLeafRewrite.keySize, alignment: 8) {
            room in
            guard let place = room.baseAddress else { return true }
            return commonPrefix(leaf.key(of: entry, in: place), prefix) == prefix.count
        }
    }

    // MARK: Writing

    /// Where the entries of a batch belong of which the writer knows that their keys are new.
    /// Sparse ones lie in the delta first.
    package func place(forNew batch: Int) -> EntryPlace {
        share?.entrance(batch: batch, treeCount: ownCount).map(EntryPlace.delta) ?? .tree
    }

    /// Sets the value of a key; true where the key is new. Every place but `.wherever` asks for a
    /// key that is nowhere in the tree.
    @discardableResult
    package func put(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer,
        to place: EntryPlace = .wherever
    ) throws(StorageError) -> Bool {
        switch place {
        case .tree: return try putOwn(key, value)
        case .delta(let level):
            if let share, try share.insert(key, value, into: level) { return true }
            return try putOwn(key, value)
        case .wherever:
            let wasInDelta = try share?.delete(key) ?? false
            return try putOwn(key, value) && !wasInDelta
        }
    }

    func putOwn(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(StorageError)
        -> Bool
    {
        guard key.count <= TreeLimits.key else {
            throw .keyTooLong(length: key.count, limit: TreeLimits.key)
        }
        guard value.count <= TreeLimits.value else {
            throw .valueTooLong(length: value.count, limit: TreeLimits.value)
        }
        guard value.count > TreeLimits.inlineValue else {
            return try put(key, stored: value, isBlob: false)
        }
        let encoded = writer().blobScratch
        try space.writeBlob(value).encode(to: encoded)
        return try put(
            key, stored: UnsafeRawBufferPointer(start: encoded, count: Ref.size), isBlob: true)
    }

    private func put(_ key: UnsafeRawBufferPointer, stored: UnsafeRawBufferPointer, isBlob: Bool)
        throws(StorageError) -> Bool
    {
        let spine = writer()
        let new = OrderedEntry(key: key, stored: stored, isBlob: isBlob)
        let (ref, base, index, found) = try search(key, spine)
        let leaf = try OrderedLeaf(base, page: ref.page)
        let editor = OrderedLeafEditor(base: base, page: ref.page)
        if !found {
            try spine.addRows(&root, 1)
            try insert(new, at: index, leaf, editor, spine)
            return true
        }
        let old = try leaf.entry(index)
        if let blob = old.blob { try space.free(blob) }
        if old.stored.count == stored.count && old.isBlob == isBlob {
            editor.overwrite(old, with: stored)
        } else {
            let kept = keep(new, spine.entryScratch)
            editor.remove(at: index, old)
            try insert(kept, at: index, try OrderedLeaf(base, page: ref.page), editor, spine)
        }
        return false
    }

    /// Stands where a key belongs: at the leaf where the last one went, or at one found from the
    /// root.
    private func search(
        _ key: UnsafeRawBufferPointer, _ spine: Spine
    ) throws(StorageError) -> (ref: Ref, base: UnsafeMutableRawPointer, index: Int, found: Bool) {
        if let standing = try searchAtPlace(key) { return standing }
        let separator = Separator(key: key)
        if root.isEmpty { try plantLeaf(spine) }
        var route = KeyRoute(key: separator)
        let (ref, base) = try spine.descend(&root, &route)
        place = (ref, try spine.nextSeparator(root))
        let (index, found) = try OrderedLeaf(base, page: ref.page).search(key)
        return (ref, base, index, found)
    }

    /// Forgets where the transaction that has ended stood.
    func rest() {
        spine?.leave()
        place = nil
    }

    /// Stands where a key belongs, if that is the leaf where the last one went.
    private func searchAtPlace(
        _ key: UnsafeRawBufferPointer
    ) throws(StorageError) -> (ref: Ref, base: UnsafeMutableRawPointer, index: Int, found: Bool)? {
        guard case (var ref, let end)? = place,
            end.map({ Separator(key: key).compare($0) < 0 }) ?? true
        else { return nil }
        let base = try space.edit(&ref, as: .orderedLeaf)
        let (index, found) = try OrderedLeaf(base, page: ref.page).search(key)
        return index > 0 || found ? (ref, base, index, found) : nil
    }

    func writer() -> Spine {
        if let spine { return spine }
        let made = Spine(space: space, leafType: .orderedLeaf)
        spine = made
        return made
    }

    private func plantLeaf(_ spine: Spine) throws(StorageError) {
        let (ref, base) = try space.allocate(.orderedLeaf, pageCount: 1)
        _ = OrderedLeafEditor.create(
            in: base, page: ref.page, shared: UnsafeRawBufferPointer(start: nil, count: 0))
        spine.plant(&root, ref)
    }

    /// Adds an entry where the spine stands. Counts know it already.
    private func insert(
        _ entry: OrderedEntry, at index: Int, _ leaf: OrderedLeaf, _ editor: OrderedLeafEditor,
        _ spine: Spine
    ) throws(StorageError) {
        let kept = keep(entry, spine.entryScratch)
        let isSharing = leaf.count > 0 && commonPrefix(kept.key, leaf.shared) == leaf.shared.count
        if isSharing {
            guard try !editor.insert(at: index, kept, scratch: spine.leafScratch) else { return }
        }
        spine.leafScratch.store(editor.base, count: Page.size, at: 0)
        let old = try OrderedLeaf(spine.leafScratch, page: editor.page)
        let rewrite = OrderedLeafRewrite(old, inserting: kept, at: index, keys: spine.keyScratch)
        if !isSharing {
            let size = try rewrite.usedBytes()
            if size <= OrderedLeafLayout.room {
                return try rewrite.write(0..<rewrite.count, to: editor.base, page: editor.page)
            }
        }
        try split(rewrite, at: try cut(rewrite, index, isSharing: isSharing), editor, spine)
    }

    /// Entries that come in ascending order leave full leaves behind; one that shares less than the
    /// others gets a leaf of its own; else the weight decides.
    private func cut(_ rewrite: OrderedLeafRewrite, _ index: Int, isSharing: Bool)
        throws(StorageError) -> Int
    {
        if index == rewrite.count - 1 { return index }
        return isSharing ? try rewrite.middle() : 1
    }

    /// An entry whose bytes may lie in the leaf that is about to be rewritten, copied aside.
    private func keep(_ entry: OrderedEntry, _ place: UnsafeMutableRawPointer) -> OrderedEntry {
        if let key = entry.key.baseAddress { place.store(key, count: entry.key.count, at: 0) }
        if let value = entry.stored.baseAddress {
            place.store(value, count: entry.stored.count, at: entry.key.count)
        }
        return OrderedEntry(
            key: UnsafeRawBufferPointer(start: place, count: entry.key.count),
            stored: UnsafeRawBufferPointer(
                start: place + entry.key.count, count: entry.stored.count), isBlob: entry.isBlob)
    }

    /// Divides the entries of a full leaf over it and a new one on its right.
    private func split(
        _ rewrite: OrderedLeafRewrite, at cut: Int, _ left: OrderedLeafEditor, _ spine: Spine
    ) throws(StorageError) {
        place = nil
        guard cut > 0 && cut < rewrite.count else {
            throw .corrupt(page: left.page, reason: "a leaf cannot be split")
        }
        let (rightRef, rightBase) = try space.allocate(.orderedLeaf, pageCount: 1)
        try rewrite.write(0..<cut, to: left.base, page: left.page)
        try rewrite.write(cut..<rewrite.count, to: rightBase, page: rightRef.page)
        try spine.insertLeafRight(
            &root, try rewrite.separator(at: cut), rightRef, rows: UInt64(rewrite.count - cut))
    }

    /// Removes a key and its value; false where there is none.
    @discardableResult
    package func delete(_ key: UnsafeRawBufferPointer) throws(StorageError) -> Bool {
        let spine = writer()
        var standing = try searchAtPlace(key)
        if standing == nil, try isOwn(key) { standing = try search(key, spine) }
        guard let (ref, base, index, found) = standing, found else {
            return try share?.delete(key) ?? false
        }
        let leaf = try OrderedLeaf(base, page: ref.page),
            editor = OrderedLeafEditor(base: base, page: ref.page)
        let entry = try leaf.entry(index)
        if let blob = entry.blob { try space.free(blob) }
        editor.remove(at: index, entry)
        try spine.addRows(&root, -1)
        if leaf.count == 1 {
            place = nil
            try spine.removeLeaf(&root)
            try space.free(ref)
        } else if editor.occupied < OrderedLeafLayout.room / 4 {
            place = nil
            try mergeSmall(ref, base, spine)
        }
        return true
    }

    /// Pours a leaf that fell below a quarter together with a neighbour, where both fit into three
    /// quarters of one.
    private func mergeSmall(_ ref: Ref, _ base: UnsafeMutableRawPointer, _ spine: Spine)
        throws(StorageError)
    {
        let leaf = try OrderedLeaf(base, page: ref.page)
        if let rightRef = try spine.sibling(1, root) {
            let right = try OrderedLeaf(
                try space.view(rightRef, as: .orderedLeaf), page: rightRef.page)
            if try pour(leaf, right, into: base, ref, spine) {
                try spine.removeLeafRight(&root)
                return try space.free(rightRef)
            }
        }
        guard var leftRef = try spine.sibling(-1, root) else { return }
        let left = try OrderedLeaf(try space.view(leftRef, as: .orderedLeaf), page: leftRef.page)
        guard try isFitting(OrderedLeafRewrite(left, leaf, keys: spine.keyScratch)) else { return }
        spine.stepLeft()
        let leftBase = try space.edit(&leftRef, as: .orderedLeaf)
        spine.replaceLeaf(&root, by: leftRef)
        _ = try pour(
            try OrderedLeaf(leftBase, page: leftRef.page), leaf, into: leftBase, leftRef, spine)
        try spine.removeLeafRight(&root)
        try space.free(ref)
    }

    private func isFitting(_ rewrite: OrderedLeafRewrite) throws(StorageError) -> Bool {
        try rewrite.usedBytes() <= OrderedLeafLayout.room * 3 / 4
    }

    /// Writes the entries of two leaves into the left one's page, or the right one's; false where
    /// they do not fit.
    private func pour(
        _ left: OrderedLeaf, _ right: OrderedLeaf, into base: UnsafeMutableRawPointer, _ ref: Ref,
        _ spine: Spine
    ) throws(StorageError) -> Bool {
        spine.leafScratch.store(left.base, count: Page.size, at: 0)
        let old = try OrderedLeaf(spine.leafScratch, page: ref.page)
        let rewrite = OrderedLeafRewrite(old, right, keys: spine.keyScratch)
        guard try isFitting(rewrite) else { return false }
        try rewrite.write(0..<rewrite.count, to: base, page: ref.page)
        return true
    }
}
