package import ToftModel
package import ToftStorage

/// Sets.
extension CollectionHandle {
    /// Inserts a value unless the set has it. O(log elements).
    /// - Returns: its index, and whether it is new.
    @discardableResult
    package func setInsert(_ value: BorrowedValue) throws(EngineError) -> (
        index: Int, isNew: Bool
    ) {
        try changed { transaction, property throws(ModelError) in
            try transaction.setInsert(key, property, value)
        }
    }

    /// Inserts one value that the caller keeps.
    @discardableResult
    package func setInsert(_ value: Value) throws(EngineError) -> (index: Int, isNew: Bool) {
        try changed { transaction, property throws(ModelError) in
            try transaction.setInsert(key, property, value)
        }
    }

    /// Removes a value; false where the set does not have it. O(log elements).
    package func setErase(_ value: Value) throws(EngineError) -> Bool {
        try changed { transaction, property throws(ModelError) in
            try transaction.setErase(key, property, value)
        }
    }

    /// Runs a change that has a result.
    private func changed<Result>(
        _ body: (ModelTransaction, PropertyHandle) throws(ModelError) -> Result
    ) throws(EngineError) -> Result {
        let transaction = try session.writing()
        let result = try onCollection { property throws(ModelError) in
            try body(transaction, property)
        }
        session.noteSet(property)
        return result
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

    /// The index of a key; nil where it is not there. O(log entries).
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
        if let nested {
            let was = try index(ofKey: entryKey)
            try edit(nested, .setEntry(entryKey, value))
            if let was { return (was, false) }
            return (try index(ofKey: entryKey) ?? 0, true)
        }
        return try changed { transaction, property throws(ModelError) in
            try transaction.dictionarySet(key, property, entryKey, value)
        }
    }

    /// The same for a key and a value that the caller keeps.
    @discardableResult
    package func dictionarySet(_ entryKey: String, _ value: Value) throws(EngineError) -> (
        index: Int, isNew: Bool
    ) {
        if nested != nil {
            return try lending(entryKey, value) { entry throws(EngineError) in
                try dictionarySet(entry.key, entry.value)
            }
        }
        return try changed { transaction, property throws(ModelError) in
            try transaction.dictionarySet(key, property, entryKey, value)
        }
    }

    /// Removes a key; false where the dictionary does not have it. O(log entries).
    @discardableResult
    package func dictionaryErase(_ entryKey: UnsafeRawBufferPointer) throws(EngineError) -> Bool {
        if let nested { return try erases(nested, .eraseEntry(entryKey)) }
        return try changed { transaction, property throws(ModelError) in
            try transaction.dictionaryErase(key, property, entryKey)
        }
    }

    /// The same for a key that the caller keeps.
    @discardableResult
    package func dictionaryErase(_ entryKey: String) throws(EngineError) -> Bool {
        if nested != nil {
            return try lending(entryKey, .null) { entry throws(EngineError) in
                try dictionaryErase(entry.key)
            }
        }
        return try changed { transaction, property throws(ModelError) in
            try transaction.dictionaryErase(key, property, entryKey)
        }
    }
}
