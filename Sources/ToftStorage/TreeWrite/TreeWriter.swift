/// Changes an ordered tree of the version being made. A caller's mistake throws before anything has
/// changed; after any other error the transaction must be rolled back.
///
/// Invariant: while `insertHint` is set, the path leads to its leaf, and all of both is of this
/// version. Whatever splits, merges or removes nodes clears it.
final class TreeWriter {
    /// The tree as it is now.
    let reader: TreeReader
    private let pages: PageWriter
    private let head: TreeHead
    private let scratch: ScratchBuffers
    private let path: TreePath
    /// Its entries in the insert buffer; nil in the trees of the engine itself.
    private let buffered: BufferedEntryWriter?
    /// The leaf that took the last entry: the next one often belongs there, too.
    @exclusivity(unchecked) private var insertHint: InsertHint?  // asked for every entry

    private struct InsertHint {
        let leaf: Ref
        /// The first key that belongs to the next leaf, in a node of the path; nil without a next
        /// leaf.
        let end: Separator?
    }

    /// The place of a key, or its insertion point, in a leaf that may be changed.
    private typealias Position = (
        ref: Ref, base: UnsafeMutableRawPointer, index: Int, isFound: Bool
    )

    /// A writer of a tree that `reader` reads through the reader of `pages`.
    init(
        _ reader: TreeReader, pages: PageWriter, scratch: ScratchBuffers,
        buffered: BufferedEntryWriter? = nil
    ) {
        self.reader = reader
        self.pages = pages
        self.scratch = scratch
        self.buffered = buffered
        head = reader.head
        path = TreePath(pages: pages, leafType: .orderedLeaf, scratch: scratch)
    }

    @inline(__always)
    private var root: TreeRoot { head.root }

    /// Forgets the leaf of the last entry, between two transactions.
    func reset() {
        path.reset()
        insertHint = nil
    }

    // MARK: Entries

    /// Sets the value of a key; true if the key is new. O(log entries).
    @discardableResult
    func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(StorageError)
        -> Bool
    {
        let wasBuffered = try buffered?.delete(key) ?? false
        return try putOwn(key, value) && !wasBuffered
    }

    /// Inserts an entry whose key is new: into the level of the insert buffer that `bufferLevel`
    /// gave for its batch; nil: into the tree itself.
    func insert(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, bufferLevel: Int?
    ) throws(StorageError) {
        if let bufferLevel, let buffered, try buffered.insert(key, value, into: bufferLevel) {
            return
        }
        _ = try putOwn(key, value)
    }

    /// The level of the insert buffer for the new entries of a batch; nil: the tree itself.
    func bufferLevel(forBatchOf count: Int) -> Int? {
        buffered?.entryLevel(batch: count, treeCount: reader.ownCount)
    }

    /// Sets the value of a key in the tree itself; true if the key is new there.
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
        let encoded = scratch.blobRef
        try pages.writeBlob(value).encode(to: encoded)
        return try put(
            key, stored: UnsafeRawBufferPointer(start: encoded, count: Ref.size), isBlob: true)
    }

    private func put(_ key: UnsafeRawBufferPointer, stored: UnsafeRawBufferPointer, isBlob: Bool)
        throws(StorageError) -> Bool
    {
        let new = OrderedEntry(key: key, stored: stored, isBlob: isBlob)
        let (ref, base, index, found) = try search(key)
        let leaf = try OrderedLeaf(base, page: ref.page)
        let editor = OrderedLeafEditor(base: base, page: ref.page)
        if !found {
            try path.addRows(&head.root, 1)
            try insert(new, at: index, leaf, editor)
            return true
        }
        let old = try leaf.entry(index)
        if let blob = old.blob { try pages.free(blob) }
        if old.stored.count == stored.count && old.isBlob == isBlob {
            editor.overwrite(old, with: stored)
        } else {
            let kept = copied(new)
            editor.remove(at: index, old)
            try insert(kept, at: index, try OrderedLeaf(base, page: ref.page), editor)
        }
        return false
    }

    /// Finds the place of a key: in the leaf of the last one, or from the root.
    private func search(_ key: UnsafeRawBufferPointer) throws(StorageError) -> Position {
        if let position = try searchAtHint(key) { return position }
        if root.isEmpty { try createRootLeaf() }
        var target = KeyTarget(key: Separator(key: key))
        let (ref, base) = try path.descend(&head.root, &target)
        insertHint = InsertHint(leaf: ref, end: try path.nextSeparator(root))
        let (index, found) = try OrderedLeaf(base, page: ref.page).search(key)
        return (ref, base, index, found)
    }

    /// Finds the place of a key, if that is in the leaf of the last one.
    private func searchAtHint(_ key: UnsafeRawBufferPointer) throws(StorageError) -> Position? {
        guard let hint = insertHint, hint.end.map({ Separator(key: key).compare($0) < 0 }) ?? true
        else { return nil }
        let ref = hint.leaf
        guard let base = try pages.editInPlace(ref, as: .orderedLeaf) else { return nil }
        let (index, found) = try OrderedLeaf(base, page: ref.page).search(key)
        return index > 0 || found ? (ref, base, index, found) : nil
    }

    private func createRootLeaf() throws(StorageError) {
        let (ref, base) = try pages.allocate(.orderedLeaf, pageCount: 1)
        _ = OrderedLeafEditor.create(
            in: base, page: ref.page, shared: UnsafeRawBufferPointer(start: nil, count: 0))
        path.createRootLeaf(&head.root, ref)
    }

    /// Adds an entry to the leaf that the path leads to. The counts hold it already.
    private func insert(
        _ entry: OrderedEntry, at index: Int, _ leaf: OrderedLeaf, _ editor: OrderedLeafEditor
    ) throws(StorageError) {
        let kept = copied(entry)
        let isSharing = leaf.count > 0 && commonPrefix(kept.key, leaf.shared) == leaf.shared.count
        if isSharing {
            guard try !editor.insert(at: index, kept, scratch: scratch.leaf) else { return }
        }
        scratch.leaf.store(editor.base, count: Page.size, at: 0)
        let old = try OrderedLeaf(scratch.leaf, page: editor.page)
        var rewrite = try OrderedLeafRewrite(
            old, inserting: kept, at: index, memory: scratch.rewrite)
        if !isSharing || rewrite.hasNewMiddle {
            try rewrite.measure()
            // A leaf that is nearly full again would be written anew for one of the next entries.
            let room = OrderedLeafLayout.room
            if rewrite.usedBytes <= (isSharing ? room * 7 / 8 : room) {
                return try rewrite.write(0..<rewrite.count, to: editor.base, page: editor.page)
            }
        }
        if isSharing, index < old.count {
            if try shift(old, kept, at: index, editor) { return }
            // The compaction used the same memory.
            rewrite = try OrderedLeafRewrite(
                old, inserting: kept, at: index, memory: scratch.rewrite)
        }
        try rewrite.measure()
        try split(rewrite, at: cut(rewrite, index, isSharing: isSharing), editor)
    }

    /// Makes room for an entry in a full leaf: divides the entries evenly between it and a
    /// neighbour that has room, or, if both are full, over both and a new one. Leaves are therefore
    /// fuller than if each full one were split. False if nothing was changed.
    private func shift(
        _ full: OrderedLeaf, _ entry: OrderedEntry, at index: Int, _ editor: OrderedLeafEditor
    ) throws(StorageError) -> Bool {
        for side in [1, -1] {
            guard let ref = try path.sibling(side, root) else { continue }
            let next = try OrderedLeaf(try pages.view(ref, as: .orderedLeaf), page: ref.page)
            guard next.freeBytes > OrderedLeafLayout.room / 8 else { continue }
            if try divide(full, entry, at: index, editor, with: ref, side, over: 2) { return true }
        }
        for side in [1, -1] {
            guard let ref = try path.sibling(side, root) else { continue }
            if try divide(full, entry, at: index, editor, with: ref, side, over: 3) { return true }
        }
        return false
    }

    /// Divides the entries of a full leaf, a new one among them, and those of the neighbour on one
    /// side evenly over both, or over both and a new leaf. False if they do not fit.
    private func divide(
        _ full: OrderedLeaf, _ entry: OrderedEntry, at index: Int, _ editor: OrderedLeafEditor,
        with neighbour: Ref, _ side: Int, over parts: Int
    ) throws(StorageError) -> Bool {
        var ref = neighbour
        let next = try OrderedLeaf(try pages.view(ref, as: .orderedLeaf), page: ref.page)
        scratch.nextLeaf.store(next.base, count: Page.size, at: 0)
        let other = try OrderedLeaf(scratch.nextLeaf, page: ref.page)
        var rewrite = try OrderedLeafRewrite(
            side > 0 ? full : other, inserting: entry,
            at: side > 0 ? index : other.count + index, before: side > 0 ? other : full,
            memory: scratch.rewrite)
        try rewrite.measure()
        guard let (first, last) = rewrite.cuts(into: parts) else { return false }
        // The neighbour keeps the part on its side; this leaf has the rest, and passes the part on
        // its right to a new leaf, if there is one.
        let moved = side > 0 ? last : first
        guard
            try path.moveSeparator(
                at: side > 0 ? 1 : 0, try rewrite.separator(at: moved),
                rows: UInt64(rewrite.count - moved), root)
        else { return false }
        insertHint = nil
        let base = try pages.edit(&ref, as: .orderedLeaf)
        path.setSibling(side, ref)
        try rewrite.write(
            side > 0 ? last..<rewrite.count : 0..<first, to: base, page: ref.page)
        let rest = side > 0 ? 0..<last : first..<rewrite.count
        let cut = parts == 2 ? rest.upperBound : side > 0 ? first : last
        try rewrite.write(rest.lowerBound..<cut, to: editor.base, page: editor.page)
        guard parts > 2 else { return true }
        let (newRef, newBase) = try pages.allocate(.orderedLeaf, pageCount: 1)
        try rewrite.write(cut..<rest.upperBound, to: newBase, page: newRef.page)
        try path.insertLeafRight(
            &head.root, try rewrite.separator(at: cut), newRef, rows: UInt64(rest.upperBound - cut))
        return true
    }

    /// Entries in ascending order leave full leaves behind; one that shares less than the others
    /// gets a leaf of its own; otherwise the weight decides.
    private func cut(_ rewrite: OrderedLeafRewrite, _ index: Int, isSharing: Bool) -> Int {
        if index == rewrite.count - 1 { return index }
        return isSharing ? rewrite.half() : 1
    }

    /// An entry whose bytes may be in the leaf that is about to be rewritten, copied to scratch
    /// memory.
    private func copied(_ entry: OrderedEntry) -> OrderedEntry {
        let copy = scratch.entry
        if let key = entry.key.baseAddress { copy.store(key, count: entry.key.count, at: 0) }
        if let value = entry.stored.baseAddress {
            copy.store(value, count: entry.stored.count, at: entry.key.count)
        }
        return OrderedEntry(
            key: UnsafeRawBufferPointer(start: copy, count: entry.key.count),
            stored: UnsafeRawBufferPointer(
                start: copy + entry.key.count, count: entry.stored.count), isBlob: entry.isBlob)
    }

    /// Divides the entries of a full leaf over it and a new one on its right.
    private func split(
        _ rewrite: OrderedLeafRewrite, at cut: Int, _ left: OrderedLeafEditor
    ) throws(StorageError) {
        insertHint = nil
        guard cut > 0 && cut < rewrite.count else {
            throw .corrupt(page: left.page, reason: "a leaf cannot be split")
        }
        let (rightRef, rightBase) = try pages.allocate(.orderedLeaf, pageCount: 1)
        try rewrite.write(0..<cut, to: left.base, page: left.page)
        try rewrite.write(cut..<rewrite.count, to: rightBase, page: rightRef.page)
        try path.insertLeafRight(
            &head.root, try rewrite.separator(at: cut), rightRef, rows: UInt64(rewrite.count - cut))
    }

    /// Deletes an entry; false if it does not exist. O(log entries).
    @discardableResult
    func delete(_ key: UnsafeRawBufferPointer) throws(StorageError) -> Bool {
        var position = try searchAtHint(key)
        if position == nil, try reader.isOwn(key) { position = try search(key) }
        guard let (ref, base, index, isFound) = position, isFound else {
            return try buffered?.delete(key) ?? false
        }
        let leaf = try OrderedLeaf(base, page: ref.page),
            editor = OrderedLeafEditor(base: base, page: ref.page)
        let entry = try leaf.entry(index)
        if let blob = entry.blob { try pages.free(blob) }
        editor.remove(at: index, entry)
        try path.addRows(&head.root, -1)
        if leaf.count == 1 {
            insertHint = nil
            try path.removeLeaf(&head.root)
            try pages.free(ref)
        } else if editor.occupied < OrderedLeafLayout.room / 4 {
            insertHint = nil
            try mergeSmall(ref, base)
        }
        return true
    }

    /// Merges a leaf that fell below a quarter with a neighbour, if both fit into three quarters of
    /// one.
    private func mergeSmall(_ ref: Ref, _ base: UnsafeMutableRawPointer)
        throws(StorageError)
    {
        let leaf = try OrderedLeaf(base, page: ref.page)
        if let rightRef = try path.sibling(1, root) {
            let right = try OrderedLeaf(
                try pages.view(rightRef, as: .orderedLeaf), page: rightRef.page)
            if try merge(leaf, right, into: base, ref) {
                try path.removeLeafRight(&head.root)
                return try pages.free(rightRef)
            }
        }
        guard var leftRef = try path.sibling(-1, root) else { return }
        let left = try OrderedLeaf(try pages.view(leftRef, as: .orderedLeaf), page: leftRef.page)
        guard try rewrite(left, leaf) != nil else { return }
        path.stepLeft()
        let leftBase = try pages.edit(&leftRef, as: .orderedLeaf)
        path.replaceLeaf(&head.root, by: leftRef)
        _ = try merge(
            try OrderedLeaf(leftBase, page: leftRef.page), leaf, into: leftBase, leftRef)
        try path.removeLeafRight(&head.root)
        try pages.free(ref)
    }

    /// A rewrite of two leaves into one; nil if they do not fit.
    private func rewrite(_ left: OrderedLeaf, _ right: OrderedLeaf) throws(StorageError)
        -> OrderedLeafRewrite?
    {
        var rewrite = try OrderedLeafRewrite(left, right, memory: scratch.rewrite)
        try rewrite.measure()
        return rewrite.usedBytes <= OrderedLeafLayout.room * 3 / 4 ? rewrite : nil
    }

    /// Writes the entries of two leaves into the left one's page, or the right one's; false if they
    /// do not fit.
    private func merge(
        _ left: OrderedLeaf, _ right: OrderedLeaf, into base: UnsafeMutableRawPointer, _ ref: Ref
    ) throws(StorageError) -> Bool {
        scratch.leaf.store(left.base, count: Page.size, at: 0)
        let old = try OrderedLeaf(scratch.leaf, page: ref.page)
        guard let rewrite = try rewrite(old, right) else { return false }
        try rewrite.write(0..<rewrite.count, to: base, page: ref.page)
        return true
    }

    /// Frees every extent of the tree, which is empty afterwards, and deletes its entries in the
    /// insert buffer. O(extents).
    func freeAll() throws(StorageError) {
        try buffered?.deleteAll()
        reset()
        try root.freeNodes(in: pages) { (ref) throws(StorageError) in
            let leaf = try OrderedLeaf(try pages.view(ref, as: .orderedLeaf), page: ref.page)
            for index in 0..<leaf.count {
                if let blob = try leaf.entry(index).blob { try pages.free(blob) }
            }
            try pages.free(ref)
        }
        head.root = TreeRoot(kind: .ordered)
    }

    /// Takes entries out of the leaf to which `start` leads, at most `limit` and those from `start`
    /// on first, and gives them to `body`, which may change every tree but this one. Not for empty
    /// trees. Returns the key to go on from; empty after the last entry.
    func takeEntries(
        atMost limit: Int, from start: [UInt8], _ body: (OrderedEntry) throws(StorageError) -> Void
    ) throws(StorageError) -> [UInt8] {
        insertHint = nil
        let (ref, base) = try start.withBytes { key throws(StorageError) in
            var target = KeyTarget(key: Separator(key: key))
            return try path.descend(&head.root, &target)
        }
        let leaf = try OrderedLeaf(base, page: ref.page)
        let count = min(leaf.count, limit)
        let first = min(
            try start.withBytes { key throws(StorageError) in try leaf.search(key).index },
            leaf.count - count)
        for index in first..<first + count {
            try body(try leaf.whole(index, in: scratch.movingKey))
        }
        let next =
            try first + count < leaf.count
            ? Array(leaf.whole(first + count, in: scratch.movingKey).key)
            : path.nextSeparator(root)?.bytes
        try path.addRows(&head.root, -count)
        if count == leaf.count {
            try path.removeLeaf(&head.root)
            try pages.free(ref)
        } else {
            try OrderedLeafEditor(base: base, page: ref.page).remove(first..<first + count)
        }
        return next ?? []
    }
}
