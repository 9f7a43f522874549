/// A cursor over a tree and what the delta holds of it, side by side. No key is in two of them.
final class MergedCursor: OrderedCursor {
    private let levels: [LevelCursor]
    /// Which of `levels` stands at the cursor's key; -1: the tree's own cursor.
    private var current = -1
    /// Whether the others stand behind the key, not before it.
    private var isForward = true
    private var isThere = false

    init(tree: OrderedTree, _ levels: [OrderedTree], _ head: DeltaKey) throws(StorageError) {
        var cursors: [LevelCursor] = []
        for level in levels { cursors.append(LevelCursor(try level.cursor(), head)) }
        self.levels = cursors
        super.init(tree: tree)
    }

    override var isValid: Bool { isThere }

    override var key: UnsafeRawBufferPointer {
        guard isThere else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        return current < 0 ? super.key : levels[current].key
    }

    override var value: UnsafeRawBufferPointer {
        get throws(StorageError) {
            guard isThere else { return UnsafeRawBufferPointer(start: nil, count: 0) }
            return current < 0 ? try super.value : try levels[current].value
        }
    }

    override func seek(_ key: UnsafeRawBufferPointer) throws(StorageError) -> Bool {
        try super.seek(key)
        for level in levels { try level.seek(key) }
        return choose(forward: true)
    }

    override func seek(after key: UnsafeRawBufferPointer) throws(StorageError) -> Bool {
        try super.seek(after: key)
        for level in levels { try level.seek(after: key) }
        return choose(forward: true)
    }

    override func seek(before key: UnsafeRawBufferPointer) throws(StorageError) -> Bool {
        try super.seek(before: key)
        for level in levels { try level.seek(before: key) }
        return choose(forward: false)
    }

    override func seekFirst() throws(StorageError) -> Bool {
        try super.seekFirst()
        for level in levels { try level.seekFirst() }
        return choose(forward: true)
    }

    override func seekLast() throws(StorageError) -> Bool {
        try super.seekLast()
        for level in levels { try level.seekLast() }
        return choose(forward: false)
    }

    override func next() throws(StorageError) -> Bool {
        guard isThere else { return false }
        if !isForward {
            return try Array(key).withBytes { key throws(StorageError) in try seek(after: key) }
        }
        if current < 0 { try super.next() } else { try levels[current].next() }
        return choose(forward: true)
    }

    override func previous() throws(StorageError) -> Bool {
        guard isThere else { return false }
        if isForward {
            return try Array(key).withBytes { key throws(StorageError) in try seek(before: key) }
        }
        if current < 0 { try super.previous() } else { try levels[current].previous() }
        return choose(forward: false)
    }

    /// Stands at the first key that any of them stands at, or the last.
    private func choose(forward: Bool) -> Bool {
        isForward = forward
        isThere = super.isValid
        current = -1
        for (index, level) in levels.enumerated() where level.isValid {
            guard !isThere || isBefore(level.key, key) == forward else { continue }
            current = index
            isThere = true
        }
        return isThere
    }

    private func isBefore(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
        Separator(key: left).compare(Separator(key: right)) < 0
    }
}

/// A cursor over the entries of one tree in one level, by the tree's own keys.
private struct LevelCursor {
    private let cursor: OrderedCursor
    private let head: DeltaKey

    init(_ cursor: OrderedCursor, _ head: DeltaKey) {
        self.cursor = cursor
        self.head = head
    }

    var isValid: Bool { cursor.isValid && head.rest(of: cursor.key) != nil }
    var key: UnsafeRawBufferPointer {
        head.rest(of: cursor.key) ?? UnsafeRawBufferPointer(start: nil, count: 0)
    }
    var value: UnsafeRawBufferPointer { get throws(StorageError) { try cursor.value } }

    func seek(_ key: UnsafeRawBufferPointer) throws(StorageError) {
        _ = try head.with(key) { key throws(StorageError) in try cursor.seek(key) }
    }

    func seek(after key: UnsafeRawBufferPointer) throws(StorageError) {
        _ = try head.with(key) { key throws(StorageError) in try cursor.seek(after: key) }
    }

    func seek(before key: UnsafeRawBufferPointer) throws(StorageError) {
        _ = try head.with(key) { key throws(StorageError) in try cursor.seek(before: key) }
    }

    func seekFirst() throws(StorageError) { try seek(UnsafeRawBufferPointer(start: nil, count: 0)) }

    func seekLast() throws(StorageError) {
        _ = try head.withEnd { end throws(StorageError) in try cursor.seek(before: end) }
    }

    func next() throws(StorageError) { if isValid { try cursor.next() } }

    func previous() throws(StorageError) { if isValid { try cursor.previous() } }
}
