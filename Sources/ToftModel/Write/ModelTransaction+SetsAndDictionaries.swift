internal import ToftStorage

/// Sets, whose elements ascend, and dictionaries, whose keys do. A change is recorded with the
/// index that it has in that order.
extension ModelTransaction {
    // MARK: Sets

    /// Inserts a value unless the set has it already. O(log elements).
    /// - Returns: its index, and whether it is new.
    @discardableResult
    package func setInsert(_ key: Int64, _ property: PropertyHandle, _ value: BorrowedValue)
        throws(ModelError) -> (index: Int, isNew: Bool)
    {
        let count = try count(of: .set, key, property)
        arena.reset()
        let cell = try prepareElement(value, property)
        let position = try view.list(key, property).position(
            of: cell, property.type)
        guard !position.isFound else { return (position.index, false) }
        try checkRoom(for: 1, beside: count, property)
        try insert(cell, at: position.index, of: key, property)
        return (position.index, true)
    }

    /// Inserts a value that the caller owns.
    @discardableResult
    package func setInsert(_ key: Int64, _ property: PropertyHandle, _ value: Value)
        throws(ModelError) -> (index: Int, isNew: Bool)
    {
        try value.withBorrowed { value throws(ModelError) in try setInsert(key, property, value) }
    }

    /// Removes a value; false if the set does not have it. O(log elements).
    package func setErase(_ key: Int64, _ property: PropertyHandle, _ value: Value)
        throws(ModelError) -> Bool
    {
        let position = try view.setPosition(key, property, of: value)
        guard position.isFound else { return false }
        try remove(position.index, of: key, property)
        return true
    }

    /// Replaces the content of a set by prepared cells, which ascend.
    func assignSet(
        _ range: Range<Int>, to key: Int64, _ property: PropertyHandle, policy: UpdatePolicy
    ) throws(ModelError) {
        guard policy == .modified else {
            try clear(key, property)
            return try append(range, to: key, property, from: 0)
        }
        for step in try steps(
            from: try view.list(key, property), to: range, property.type
        ).reversed() {
            switch step {
            case .keep: break
            case .erase(let index): try remove(index, of: key, property)
            case .insert(let offset, let index):
                try insert(
                    prepared.pointee.listCells[range.lowerBound + offset], at: index, of: key,
                    property)
            }
        }
    }

    // MARK: Dictionaries

    /// Sets the value of a key, also to the value that it has: that is a change too. O(log
    /// entries).
    /// - Returns: the key's index, and whether it is new.
    @discardableResult
    package func dictionarySet(
        _ key: Int64, _ property: PropertyHandle, _ entryKey: UnsafeRawBufferPointer,
        _ value: BorrowedValue
    ) throws(ModelError) -> (index: Int, isNew: Bool) {
        let count = try count(of: .dictionary, key, property)
        arena.reset()
        let name = try prepareEntryKey(entryKey, property)
        let cell = try prepareElement(value, property)
        let position = try view.dictionaryKeys(key, property).position(of: name, .string)
        if property.ownsTargets {
            try checkOwned(cell, at: position.isFound ? position.index : nil, of: key, property)
        }
        guard !position.isFound else {
            try replace(position.index, of: key, property, by: cell)
            return (position.index, false)
        }
        try checkRoom(for: 1, beside: count, property)
        try insertEntry(name, cell, at: position.index, of: key, property)
        return (position.index, true)
    }

    /// Removes a key; false if the dictionary does not have it. O(log entries).
    package func dictionaryErase(
        _ key: Int64, _ property: PropertyHandle, _ entryKey: UnsafeRawBufferPointer
    ) throws(ModelError) -> Bool {
        let position = try view.dictionaryPosition(key, property, of: entryKey)
        guard position.isFound else { return false }
        try removeEntry(at: position.index, of: key, property)
        return true
    }

    /// Replaces the content of a dictionary by prepared values and, behind them, as many keys,
    /// which ascend.
    func assignDictionary(
        _ values: Range<Int>, to key: Int64, _ property: PropertyHandle, policy: UpdatePolicy
    ) throws(ModelError) {
        let names = values.upperBound..<values.upperBound + values.count
        if policy != .modified { try clear(key, property) }
        for step in try steps(
            from: try view.dictionaryKeys(key, property), to: names, .string
        ).reversed() {
            switch step {
            case .erase(let index): try removeEntry(at: index, of: key, property)
            case .insert(let offset, let index):
                try insertEntry(
                    prepared.pointee.listCells[names.lowerBound + offset],
                    prepared.pointee.listCells[values.lowerBound + offset], at: index, of: key,
                    property)
            case .keep(let offset, let index):
                let cell = prepared.pointee.listCells[values.lowerBound + offset]
                if try !view.listCell(key, property, at: index).isIdentical(
                    to: cell, of: property.type)
                {
                    try replace(index, of: key, property, by: cell)
                }
            }
        }
    }

    func insertEntry(
        _ name: Cell, _ cell: Cell, at index: Int, of key: Int64, _ property: PropertyHandle
    ) throws(ModelError) {
        try change(.listInsert, of: key, property, at: index, name, in: property.keysColumn)
        try insert(cell, at: index, of: key, property)
    }

    private func removeEntry(at index: Int, of key: Int64, _ property: PropertyHandle)
        throws(ModelError)
    {
        try remove(index, of: key, property)
        try change(.listErase, of: key, property, at: index, in: property.keysColumn)
    }

    // MARK: Differences

    /// The steps from one ascending sequence of elements to another: as they are applied from the
    /// last one to the first, each index is that of before.
    private enum Step {
        case keep(offset: Int, index: Int)
        case erase(index: Int)
        /// The new element `offset` comes before the old one at `index`.
        case insert(offset: Int, index: Int)
    }

    private func steps(
        from elements: ListView, to range: Range<Int>, _ type: PropertyType
    ) throws(ModelError) -> [Step] {
        var steps: [Step] = []
        var index = 0, offset = 0
        while index < elements.count || offset < range.count {
            guard index < elements.count else {
                steps.append(.insert(offset: offset, index: index))
                offset += 1
                continue
            }
            let old = try stored { () throws(StorageError) in try elements.cell(at: index) }
            let new =
                offset < range.count ? prepared.pointee.listCells[range.lowerBound + offset] : nil
            if let new, new.isBefore(old, of: type) {
                steps.append(.insert(offset: offset, index: index))
                offset += 1
            } else if let new, !old.isBefore(new, of: type) {
                steps.append(.keep(offset: offset, index: index))
                (index, offset) = (index + 1, offset + 1)
            } else {
                steps.append(.erase(index: index))
                index += 1
            }
        }
        return steps
    }
}

extension String {
    /// Lends the text's bytes for the time of the call.
    package func withBytes<Result>(
        _ body: (UnsafeRawBufferPointer) throws(ModelError) -> Result
    ) throws(ModelError) -> Result {
        var copy = self
        let result: Swift.Result<Result, ModelError> = copy.withUTF8 { buffer in
            do throws(ModelError) {
                return .success(try body(UnsafeRawBufferPointer(buffer)))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}
