/// A position in an ordered tree. Stands at an entry or nowhere; good until the snapshot is
/// released or the tree changes. One thread uses it.
package class OrderedCursor {
    private let tree: OrderedTree
    private let leaves: LeafCursor
    private var leaf: OrderedLeaf?
    private var index = 0
    private var entry: OrderedLeaf.Entry?
    /// Where the key is put together.
    private let memory: UnsafeMutableRawPointer

    init(tree: OrderedTree) {
        self.tree = tree
        leaves = LeafCursor(space: tree.space, root: tree.root, leafType: .orderedLeaf)
        memory = .allocate(byteCount: OrderedLeafRewrite.keySize, alignment: 8)
    }

    deinit { memory.deallocate() }

    /// Whether the cursor stands at an entry.
    package var isValid: Bool { entry != nil }

    /// The key where the cursor stands, until it moves; empty where it stands nowhere.
    package var key: UnsafeRawBufferPointer {
        guard let leaf, let entry else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        return leaf.key(of: entry, in: memory)
    }

    /// The value where the cursor stands; empty where it stands nowhere.
    package var value: UnsafeRawBufferPointer {
        get throws(StorageError) {
            guard let entry else { return UnsafeRawBufferPointer(start: nil, count: 0) }
            return try tree.value(of: entry)
        }
    }

    /// Goes to the first key that is not before `key`; false where there is none.
    @discardableResult
    package func seek(_ key: UnsafeRawBufferPointer) throws(StorageError) -> Bool {
        guard try approach(key) != nil else { return leave() }
        return try settleForward()
    }

    /// Goes to the first key that is after `key`; false where there is none.
    @discardableResult
    package func seek(after key: UnsafeRawBufferPointer) throws(StorageError) -> Bool {
        guard let isFound = try approach(key) else { return leave() }
        if isFound { index += 1 }
        return try settleForward()
    }

    /// Goes to the last key that is before `key`; false where there is none.
    @discardableResult
    package func seek(before key: UnsafeRawBufferPointer) throws(StorageError) -> Bool {
        guard try approach(key) != nil else { return leave() }
        return try settleBackward()
    }

    /// Goes to where a key stands or would stand, which may be behind its leaf's last entry; nil in
    /// an empty tree, else whether it is there.
    private func approach(_ key: UnsafeRawBufferPointer) throws(StorageError) -> Bool? {
        var route = KeyRoute(key: Separator(key: key))
        guard try leaves.seek(&route) else { return nil }
        try enter()
        guard let place = try leaf?.search(key) else { return nil }
        index = place.index
        return place.found
    }

    /// Goes to the first key of all.
    @discardableResult
    package func seekFirst() throws(StorageError) -> Bool {
        var route = EdgeRoute(isLast: false)
        guard try leaves.seek(&route) else { return leave() }
        try enter()
        index = 0
        return try settleForward()
    }

    /// Goes to the last key of all.
    @discardableResult
    package func seekLast() throws(StorageError) -> Bool {
        var route = EdgeRoute(isLast: true)
        guard try leaves.seek(&route) else { return leave() }
        try enter()
        index = leaf?.count ?? 0
        return try settleBackward()
    }

    /// Goes to the next key; false, and nowhere, after the last.
    @discardableResult
    package func next() throws(StorageError) -> Bool {
        guard leaf != nil else { return false }
        index += 1
        return try settleForward()
    }

    /// Goes to the key before; false, and nowhere, before the first.
    @discardableResult
    package func previous() throws(StorageError) -> Bool {
        try settleBackward()
    }

    private func settleBackward() throws(StorageError) -> Bool {
        guard leaf != nil else { return false }
        while index == 0 {
            guard try leaves.previous() else { return leave() }
            try enter()
            index = leaf?.count ?? 0
        }
        index -= 1
        entry = try leaf?.entry(index)
        return true
    }

    private func settleForward() throws(StorageError) -> Bool {
        while let current = leaf, index >= current.count {
            guard try leaves.next() else { return leave() }
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

    private func leave() -> Bool {
        leaf = nil
        entry = nil
        return false
    }
}
