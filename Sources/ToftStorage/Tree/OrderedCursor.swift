/// A position in an ordered tree. Stands at an entry or nowhere; good until the snapshot is released or the tree changes.
package final class OrderedCursor {
    private let tree: OrderedTree
    private let leaves: LeafCursor
    private var leaf: OrderedLeaf?
    private var index = 0
    private var entry: OrderedLeaf.Entry?

    init(tree: OrderedTree) {
        self.tree = tree
        leaves = LeafCursor(space: tree.space, root: tree.root, leafType: .orderedLeaf)
    }

    /// Whether the cursor stands at an entry.
    package var isValid: Bool { entry != nil }

    /// The key where the cursor stands; empty where it stands nowhere.
    package var key: UnsafeRawBufferPointer { entry?.key ?? UnsafeRawBufferPointer(start: nil, count: 0) }

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
        var route = KeyRoute(key: Separator(key: key))
        guard try leaves.seek(&route) else { return leave() }
        try enter()
        index = try leaf?.search(key).index ?? 0
        return try settleForward()
    }

    /// Goes to the first key that is after `key`; false where there is none.
    @discardableResult
    package func seek(after key: UnsafeRawBufferPointer) throws(StorageError) -> Bool {
        guard try seek(key) else { return false }
        guard let found = entry?.key, found.count == key.count, isEqual(found, key) else { return true }
        return try next()
    }

    /// Goes to the last key that is before `key`; false where there is none.
    @discardableResult
    package func seek(before key: UnsafeRawBufferPointer) throws(StorageError) -> Bool {
        var route = KeyRoute(key: Separator(key: key))
        guard try leaves.seek(&route) else { return leave() }
        try enter()
        index = try leaf?.search(key).index ?? 0
        return try previous()
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
        return try previous()
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

/// Whether two strings of bytes of the same length are equal.
@inline(__always)
func isEqual(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
    guard let a = left.baseAddress, let b = right.baseAddress, left.count == right.count else { return left.isEmpty && right.isEmpty }
    return compareBytes(a, left.count, b, right.count) == 0
}
