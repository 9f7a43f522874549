package import ToftModel
package import ToftStorage

/// Sets.
extension CollectionHandle {
    /// Inserts a value unless the set has it already. O(log elements).
    /// - Returns: its index, and whether it is new.
    @discardableResult
    package func setInsert(_ value: BorrowedValue) throws(EngineError) -> (
        index: Int, isNew: Bool
    ) {
        try change { transaction, property throws(ModelError) in
            try transaction.setInsert(key, property, value)
        }
    }

    /// Inserts one value that the caller keeps.
    @discardableResult
    package func setInsert(_ value: Value) throws(EngineError) -> (index: Int, isNew: Bool) {
        try change { transaction, property throws(ModelError) in
            try transaction.setInsert(key, property, value)
        }
    }

    /// Removes a value; false if the set does not have it. O(log elements).
    package func setErase(_ value: Value) throws(EngineError) -> Bool {
        try change { transaction, property throws(ModelError) in
            try transaction.setErase(key, property, value)
        }
    }
}

/// Dictionaries. The value of a key has its index among the elements.
extension CollectionHandle {
    /// The keys as they are now: valid until the session moves or writes.
    func keys() throws(EngineError) -> ListView {
        try onCollection { property throws(ModelError) in
            try session.view.dictionaryKeys(key, property)
        }
    }

    /// Keys from `first` on, as many as there are and at most `limit`, borrowed until the session
    /// moves or writes.
    package func keyCells(from first: Int, limit: Int) throws(EngineError) -> [Cell] {
        if let nested {
            return try elements(nested, from: first, limit: limit).map { .bytes($0.key) }
        }
        return try cells(of: try keys(), from: first, limit: limit)
    }

    /// One key, to keep.
    package func entryKey(at index: Int) throws(EngineError) -> String {
        if let nested { return String(decoding: try element(nested, at: index).key, as: UTF8.self) }
        return try onCollection { property throws(ModelError) in
            try session.view.dictionaryKey(key, property, at: index)
        }
    }

    /// The index of a key; nil if the dictionary does not have it. O(log entries).
    package func index(ofKey entryKey: UnsafeRawBufferPointer) throws(EngineError) -> Int? {
        if let nested {
            return try elements(nested, from: 0, limit: .max).firstIndex {
                $0.key.elementsEqual(entryKey)
            }
        }
        return try onCollection { property throws(ModelError) in
            let position = try session.view.dictionaryPosition(key, property, of: entryKey)
            return position.isFound ? position.index : nil
        }
    }

    /// Sets the value of a key, also to the value that it has: that is a change too. O(log
    /// entries).
    /// - Returns: the key's index, and whether it is new.
    @discardableResult
    package func dictionarySet(_ entryKey: UnsafeRawBufferPointer, _ value: BorrowedValue)
        throws(EngineError) -> (index: Int, isNew: Bool)
    {
        let position = try edit(.setEntry(entryKey, value))
        return (position.index, !position.isFound)
    }

    /// Sets a key and a value that the caller keeps.
    package func dictionarySet(_ entryKey: String, _ value: Value) throws(EngineError) {
        try change { transaction, property throws(ModelError) in
            try value.withBorrowed { value throws(ModelError) in
                try entryKey.withBytes { entryKey throws(ModelError) in
                    _ = try transaction.edit(key, property, nested, .setEntry(entryKey, value))
                }
            }
        }
    }

    /// Removes a key; false if the dictionary does not have it. O(log entries).
    @discardableResult
    package func dictionaryErase(_ entryKey: UnsafeRawBufferPointer) throws(EngineError) -> Bool {
        try edit(.eraseEntry(entryKey)).isFound
    }

    /// Removes a key that the caller keeps.
    @discardableResult
    package func dictionaryErase(_ entryKey: String) throws(EngineError) -> Bool {
        try change { transaction, property throws(ModelError) in
            try entryKey.withBytes { entryKey throws(ModelError) in
                try transaction.edit(key, property, nested, .eraseEntry(entryKey)).isFound
            }
        }
    }
}
