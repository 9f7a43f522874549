/// A position among the entries in the leaves of one tree. It is at an entry or nowhere; valid
/// until the snapshot is released or the tree changes. One thread uses it.
final class LeafEntryCursor {
    private let tree: TreeReader
    private let leaves: LeafCursor
    private var leaf: OrderedLeaf?
    private var index = 0
    private var entry: OrderedLeaf.Entry?
    /// Memory in which the key is assembled.
    private let memory: UnsafeMutableRawPointer

    init(tree: TreeReader) {
        self.tree = tree
        leaves = LeafCursor(pages: tree.pages, root: tree.root, leafType: .orderedLeaf)
        memory = .allocate(byteCount: OrderedLeafRewrite.keySize, alignment: 8)
    }

    deinit { memory.deallocate() }

    /// True if the cursor is at an entry.
    var isValid: Bool { entry != nil }

    /// The key at the cursor, until it moves; empty without a position.
    var key: UnsafeRawBufferPointer {
        guard let leaf, let entry else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        return leaf.key(of: entry, in: memory)
    }

    /// The value at the cursor; empty without a position.
    var value: UnsafeRawBufferPointer {
        get throws(StorageError) {
            guard let entry else { return UnsafeRawBufferPointer(start: nil, count: 0) }
            return try tree.value(of: entry)
        }
    }

    /// Moves to the first key that is not before `key`; false if there is no such key.
    @discardableResult
    func seek(_ key: UnsafeRawBufferPointer) throws(StorageError) -> Bool {
        guard try locate(key) != nil else { return clear() }
        return try normalizeForward()
    }

    /// Moves to the first key that is after `key`; false if there is no such key.
    @discardableResult
    func seek(after key: UnsafeRawBufferPointer) throws(StorageError) -> Bool {
        guard let isFound = try locate(key) else { return clear() }
        if isFound { index += 1 }
        return try normalizeForward()
    }

    /// Moves to the last key that is before `key`; false if there is no such key.
    @discardableResult
    func seek(before key: UnsafeRawBufferPointer) throws(StorageError) -> Bool {
        guard try locate(key) != nil else { return clear() }
        return try normalizeBackward()
    }

    /// Moves to a key or its insertion point, which may be behind its leaf's last entry; nil in an
    /// empty tree, otherwise true if the key exists.
    private func locate(_ key: UnsafeRawBufferPointer) throws(StorageError) -> Bool? {
        var target = KeyTarget(key: Separator(key: key))
        guard try leaves.seek(&target) else { return nil }
        try enter()
        guard let found = try leaf?.search(key) else { return nil }
        index = found.index
        return found.found
    }

    /// Goes to the first key of all.
    @discardableResult
    func seekFirst() throws(StorageError) -> Bool {
        var target = EdgeTarget(isLast: false)
        guard try leaves.seek(&target) else { return clear() }
        try enter()
        index = 0
        return try normalizeForward()
    }

    /// Goes to the last key of all.
    @discardableResult
    func seekLast() throws(StorageError) -> Bool {
        var target = EdgeTarget(isLast: true)
        guard try leaves.seek(&target) else { return clear() }
        try enter()
        index = leaf?.count ?? 0
        return try normalizeBackward()
    }

    /// Moves to the next key; false after the last one, and the cursor has no position.
    @discardableResult
    func next() throws(StorageError) -> Bool {
        guard leaf != nil else { return false }
        index += 1
        return try normalizeForward()
    }

    /// Moves to the previous key; false before the first one, and the cursor has no position.
    @discardableResult
    func previous() throws(StorageError) -> Bool {
        try normalizeBackward()
    }

    private func normalizeBackward() throws(StorageError) -> Bool {
        guard leaf != nil else { return false }
        while index == 0 {
            guard try leaves.previous() else { return clear() }
            try enter()
            index = leaf?.count ?? 0
        }
        index -= 1
        entry = try leaf?.entry(index)
        return true
    }

    private func normalizeForward() throws(StorageError) -> Bool {
        while let current = leaf, index >= current.count {
            guard try leaves.next() else { return clear() }
            try enter()
            index = 0
        }
        entry = try leaf?.entry(index)
        return entry != nil
    }

    private func enter() throws(StorageError) {
        entry = nil
        leaf = nil
        if let base = leaves.base { leaf = try OrderedLeaf(base, page: leaves.ref.page) }
    }

    private func clear() -> Bool {
        leaf = nil
        entry = nil
        return false
    }
}
