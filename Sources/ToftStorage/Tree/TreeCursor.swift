/// A position in an ordered tree. Stands at an entry or nowhere; valid until the snapshot is
/// released or the tree changes. One thread uses it.
package final class TreeCursor {
    /// Over the entries in the tree itself.
    private let own: LeafEntryCursor
    /// Over these and those in the insert buffer; nil where the buffer holds none of the tree.
    private let merged: MergingCursor?

    init(_ own: LeafEntryCursor, merged: MergingCursor?) {
        self.own = own
        self.merged = merged
    }

    /// Whether the cursor stands at an entry.
    package var isValid: Bool { merged?.isValid ?? own.isValid }

    /// The key where the cursor stands, until it moves; empty where it stands nowhere.
    package var key: UnsafeRawBufferPointer { merged?.key ?? own.key }

    /// The value where the cursor stands; empty where it stands nowhere.
    package var value: UnsafeRawBufferPointer {
        get throws(StorageError) {
            if let merged { return try merged.value }
            return try own.value
        }
    }

    /// Goes to the first key that is not before `key`; false where there is none.
    @discardableResult
    package func seek(_ key: UnsafeRawBufferPointer) throws(StorageError) -> Bool {
        if let merged { return try merged.seek(key) }
        return try own.seek(key)
    }

    /// Goes to the first key that is after `key`; false where there is none.
    @discardableResult
    package func seek(after key: UnsafeRawBufferPointer) throws(StorageError) -> Bool {
        if let merged { return try merged.seek(after: key) }
        return try own.seek(after: key)
    }

    /// Goes to the last key that is before `key`; false where there is none.
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

    /// Goes to the next key; false, and nowhere, after the last.
    @discardableResult
    package func next() throws(StorageError) -> Bool {
        if let merged { return try merged.next() }
        return try own.next()
    }

    /// Goes to the key before; false, and nowhere, before the first.
    @discardableResult
    package func previous() throws(StorageError) -> Bool {
        if let merged { return try merged.previous() }
        return try own.previous()
    }

    /// Calls `body` with the entry where the cursor stands and those after it, as long as their
    /// keys begin with `prefix` and it returns true.
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
