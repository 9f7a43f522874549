/// A position in an ordered tree. It is at an entry or nowhere; valid until the snapshot is
/// released or the tree changes. One thread uses it.
package final class TreeCursor {
    /// Over the entries in the tree itself.
    private let own: LeafEntryCursor
    /// A cursor over these and the entries in the insert buffer; nil if the buffer has no entries
    /// of the tree.
    private let merged: MergingCursor?

    init(_ own: LeafEntryCursor, merged: MergingCursor?) {
        self.own = own
        self.merged = merged
    }

    /// True if the cursor is at an entry.
    package var isValid: Bool { merged?.isValid ?? own.isValid }

    /// The key at the cursor, until it moves; empty without a position.
    package var key: UnsafeRawBufferPointer { merged?.key ?? own.key }

    /// The value at the cursor; empty without a position.
    package var value: UnsafeRawBufferPointer {
        get throws(StorageError) {
            if let merged { return try merged.value }
            return try own.value
        }
    }

    /// Moves to the first key that is not before `key`; false if there is no such key.
    @discardableResult
    package func seek(_ key: UnsafeRawBufferPointer) throws(StorageError) -> Bool {
        if let merged { return try merged.seek(key) }
        return try own.seek(key)
    }

    /// Moves to the first key that is after `key`; false if there is no such key.
    @discardableResult
    package func seek(after key: UnsafeRawBufferPointer) throws(StorageError) -> Bool {
        if let merged { return try merged.seek(after: key) }
        return try own.seek(after: key)
    }

    /// Moves to the last key that is before `key`; false if there is no such key.
    @discardableResult
    package func seek(before key: UnsafeRawBufferPointer) throws(StorageError) -> Bool {
        if let merged { return try merged.seek(before: key) }
        return try own.seek(before: key)
    }

    /// Goes to the first key of all.
    @discardableResult
    package func seekFirst() throws(StorageError) -> Bool {
        if let merged { return try merged.seekFirst() }
        return try own.seekFirst()
    }

    /// Goes to the last key of all.
    @discardableResult
    func seekLast() throws(StorageError) -> Bool {
        if let merged { return try merged.seekLast() }
        return try own.seekLast()
    }

    /// Moves to the next key; false after the last one, and the cursor has no position.
    @discardableResult
    package func next() throws(StorageError) -> Bool {
        if let merged { return try merged.next() }
        return try own.next()
    }

    /// Moves to the previous key; false before the first one, and the cursor has no position.
    @discardableResult
    package func previous() throws(StorageError) -> Bool {
        if let merged { return try merged.previous() }
        return try own.previous()
    }

    /// Calls `body` with the entry at the cursor and those after it, as long as their keys begin
    /// with `prefix` and it returns true.
    func forEachEntry(
        withPrefix prefix: UnsafeRawBufferPointer,
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer)
            throws(StorageError) -> Bool
    ) throws(StorageError) {
        while isValid, key.hasPrefix(prefix) {
            guard try body(key, try value) else { return }
            try next()
        }
    }
}
