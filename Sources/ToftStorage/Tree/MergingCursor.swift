/// A cursor over several trees side by side, whose keys are disjoint: LevelDB's merging iterator.
/// Each child is a cursor; the merged position is that of one of them.
final class MergingCursor {
    private let children: [PrefixCursor]
    /// The child at the merged position; nil without a position.
    private var current: Int?
    /// True if the other children are behind the current key, false if they are before it.
    private var isForward = true

    init(_ children: [PrefixCursor]) { self.children = children }

    var isValid: Bool { current != nil }

    /// The current key; empty without a position.
    var key: UnsafeRawBufferPointer {
        current.map { children[$0].key } ?? UnsafeRawBufferPointer(start: nil, count: 0)
    }

    /// The current value; empty without a position.
    var value: UnsafeRawBufferPointer {
        get throws(StorageError) {
            guard let current else { return UnsafeRawBufferPointer(start: nil, count: 0) }
            return try children[current].value
        }
    }

    func seek(_ key: UnsafeRawBufferPointer) throws(StorageError) -> Bool {
        for child in children { try child.seek(key) }
        return choose(forward: true)
    }

    func seek(after key: UnsafeRawBufferPointer) throws(StorageError) -> Bool {
        for child in children { try child.seek(after: key) }
        return choose(forward: true)
    }

    func seek(before key: UnsafeRawBufferPointer) throws(StorageError) -> Bool {
        for child in children { try child.seek(before: key) }
        return choose(forward: false)
    }

    func seekFirst() throws(StorageError) -> Bool {
        for child in children { try child.seekFirst() }
        return choose(forward: true)
    }

    func seekLast() throws(StorageError) -> Bool {
        for child in children { try child.seekLast() }
        return choose(forward: false)
    }

    func next() throws(StorageError) -> Bool {
        guard let current else { return false }
        if !isForward {
            let key = Array(key)
            for child in children {
                try key.withBytes { key throws(StorageError) in try child.seek(after: key) }
            }
        } else {
            try children[current].next()
        }
        return choose(forward: true)
    }

    func previous() throws(StorageError) -> Bool {
        guard let current else { return false }
        if isForward {
            let key = Array(key)
            for child in children {
                try key.withBytes { key throws(StorageError) in try child.seek(before: key) }
            }
        } else {
            try children[current].previous()
        }
        return choose(forward: false)
    }

    /// Moves to the first of the children's keys, or to the last.
    private func choose(forward: Bool) -> Bool {
        isForward = forward
        current = nil
        for (index, child) in children.enumerated() where child.isValid {
            if let current, isBefore(child.key, children[current].key) != forward { continue }
            current = index
        }
        return isValid
    }

    private func isBefore(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
        Separator(key: left).compare(Separator(key: right)) < 0
    }
}

/// A cursor over the entries of one tree, by the tree's own keys: in the tree itself, or in a level
/// of the insert buffer, whose keys have a prefix.
struct PrefixCursor {
    private let cursor: LeafEntryCursor
    /// Nil in the tree itself.
    private let prefix: BufferKey?

    init(_ cursor: LeafEntryCursor, prefix: BufferKey?) {
        self.cursor = cursor
        self.prefix = prefix
    }

    var isValid: Bool {
        guard let prefix, cursor.isValid else { return cursor.isValid }
        return prefix.rest(of: cursor.key) != nil
    }

    var key: UnsafeRawBufferPointer {
        guard let prefix else { return cursor.key }
        return prefix.rest(of: cursor.key) ?? UnsafeRawBufferPointer(start: nil, count: 0)
    }

    var value: UnsafeRawBufferPointer { get throws(StorageError) { try cursor.value } }

    func seek(_ key: UnsafeRawBufferPointer) throws(StorageError) {
        try with(key) { key throws(StorageError) in _ = try cursor.seek(key) }
    }

    func seek(after key: UnsafeRawBufferPointer) throws(StorageError) {
        try with(key) { key throws(StorageError) in _ = try cursor.seek(after: key) }
    }

    func seek(before key: UnsafeRawBufferPointer) throws(StorageError) {
        try with(key) { key throws(StorageError) in _ = try cursor.seek(before: key) }
    }

    func seekFirst() throws(StorageError) {
        guard prefix != nil else { return _ = try cursor.seekFirst() }
        try seek(UnsafeRawBufferPointer(start: nil, count: 0))
    }

    func seekLast() throws(StorageError) {
        guard let prefix else { return _ = try cursor.seekLast() }
        try prefix.withEnd { end throws(StorageError) in _ = try cursor.seek(before: end) }
    }

    func next() throws(StorageError) { if isValid { try cursor.next() } }

    func previous() throws(StorageError) { if isValid { try cursor.previous() } }

    private func with(
        _ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws(StorageError) -> Void
    ) throws(StorageError) {
        if let prefix { try prefix.with(key, body) } else { try body(key) }
    }
}
