internal import ToftPlatform
package import ToftStorage

// MARK: Primary keys

extension ModelView {
    /// The key of the object with this primary key; nil if there is no such object. O(log objects).
    package func find(_ primaryKey: Value, _ owner: ClassHandle) throws(ModelError) -> Int64? {
        try primaryKey.withBorrowed { value throws(ModelError) in try find(value, owner) }
    }

    /// Finds an object by a borrowed primary key.
    package func find(_ primaryKey: BorrowedValue, _ owner: ClassHandle) throws(ModelError)
        -> Int64?
    {
        guard let property = owner.uncountedPrimaryKey else {
            throw .noPrimaryKey(className: owner.name)
        }
        return try property.borrow { property throws(ModelError) in
            try find(cell: property.soughtCell(primaryKey, in: schema), property, owner)
        }
    }

    /// Looks a checked primary key up.
    @inline(__always)
    func find(cell: Cell, _ property: PropertyHandle, _ owner: ClassHandle) throws(ModelError)
        -> Int64?
    {
        guard let found = try findRow(cell: cell, property, owner) else { return nil }
        guard let unflushed else { return found }
        if unflushed.isDeleted(found, owner.position) { return nil }
        unflushed.noteVerified(found, owner.position)
        return found
    }

    /// Finds an object that may be deleted in the write buffer.
    @inline(__always)
    func findRow(cell: Cell, _ property: PropertyHandle, _ owner: ClassHandle) throws(ModelError)
        -> Int64?
    {
        try KeyBytes.with { key throws(ModelError) in
            guard key.put(cell, of: property.type, optional: property.isOptional) else {
                return nil
            }
            if !key.isExact {
                return try findLong(cell, key, in: try primaryKeyTree(owner), property)
            }
            switch unflushed?.lookup(owner.primaryKeySlot, key.bytes) ?? .unknown {
            case .removed: return nil
            case .value(let value, _): return Int64(bitPattern: UInt64(littleEndian: value))
            case .unknown: break
            }
            let tree = try uncountedTree(owner.primaryKeySlot, owner.primaryKeyTree)
            let entry = try tree.borrow { tree throws(ModelError) in
                try stored { () throws(StorageError) in try tree.value(forKey: key.bytes) }
            }
            return try entry.map { value throws(ModelError) in
                try PrimaryKeyEntry.objectKey(value, property)
            }
        }
    }

    /// Among the entries whose bytes are those of a long string, the one whose row holds it.
    private func findLong(
        _ cell: Cell, _ prefix: KeyBytes, in tree: TreeReader, _ property: PropertyHandle
    ) throws(ModelError) -> Int64? {
        guard case .bytes(let wanted) = cell else { return nil }
        var found: Int64?
        try tree.forEachEntry(withPrefix: prefix.bytes) { _, value throws(ModelError) in
            let key = try PrimaryKeyEntry.objectKey(value, property)
            guard case .bytes(let text) = try self.cell(key, property), text.isSame(as: wanted)
            else { return true }
            found = key
            return false
        }
        return found
    }

    /// The greatest primary key that an object of a class has had, if such keys are counted;
    /// without a transaction's unwritten changes.
    package func keyCounter(of owner: ClassHandle) throws(ModelError) -> Int64? {
        owner.isAutoIncremented ? try KeyCounter.read(owner.id, in: snapshot) : nil
    }
}

// MARK: Indexes

extension ModelView {
    /// Calls `body` with the key of each object whose indexed property holds `cell`, in ascending
    /// order, until it returns false.
    ///
    /// O(log objects + those found). If `isExactInIndex` is false, the keys are candidates whose
    /// values have to be compared.
    package func forEachIndexed(
        _ property: PropertyHandle, equalTo cell: Cell, _ body: (Int64) throws(ModelError) -> Bool
    ) throws(ModelError) {
        try uncountedIndexTree(property).borrow { tree throws(ModelError) in
            try KeyBytes.with { prefix throws(ModelError) in
                guard prefix.put(cell, of: property.type, optional: property.isOptional) else {
                    throw property.wrongIndexCell
                }
                try tree.forEachEntry(withPrefix: prefix.bytes) { key, _ throws(ModelError) in
                    guard let object = KeyBytes.lastKey(key), object.start == prefix.count else {
                        throw property.damagedIndex
                    }
                    return try body(object.key)
                }
            }
        }
    }

    /// Calls `body` with the key of each object whose indexed property is between two bounds, in
    /// the order of the values (then of the keys), until it returns false. Null is below every
    /// value: a lower bound of `.excluding(.null)` leaves it out.
    ///
    /// Objects with strings longer than 200 bytes near a bound are candidates whose values have to
    /// be compared, and have no order among equal first 200 bytes.
    package func forEachIndexed(
        _ property: PropertyHandle, from lower: IndexBound, to upper: IndexBound,
        _ body: (Int64) throws(ModelError) -> Bool
    ) throws(ModelError) {
        let tree = try indexTree(property)
        try KeyBytes.with { first throws(ModelError) in
            try KeyBytes.with { last throws(ModelError) in
                let lower = try IndexEdge(lower, property, &first),
                    upper = try IndexEdge(upper, property, &last)
                if upper.isBelowEverything { return }
                try tree.forEachEntry(from: first.bytes) { key, _ throws(ModelError) in
                    if upper.isEnd(last.bytes, key) { return false }
                    if lower.isExcluding, key.hasPrefix(first.bytes) { return true }
                    guard let object = KeyBytes.lastKey(key) else { throw property.damagedIndex }
                    return try body(object.key)
                }
            }
        }
    }

    /// Calls `body` with the key of each object whose indexed mixed property may hold a value from
    /// `lower` to `upper`, ends included, or with nil to that end of the kind `rank`, until it
    /// returns false: candidates whose values are still to be compared.
    package func forEachIndexed(
        _ property: PropertyHandle, rank: Int, from lower: BorrowedValue?, to upper: BorrowedValue?,
        _ body: (Int64) throws(ModelError) -> Bool
    ) throws(ModelError) {
        let tree = try indexTree(property)
        try KeyBytes.with { first throws(ModelError) in
            try KeyBytes.with { last throws(ModelError) in
                first.putBound(lower, rank)
                last.putBound(upper, rank)
                try tree.forEachEntry(from: first.bytes) { key, _ throws(ModelError) in
                    if last.bytes.isBefore(key), !key.hasPrefix(last.bytes) { return false }
                    guard let object = KeyBytes.lastKey(key) else { throw property.damagedIndex }
                    return try body(object.key)
                }
            }
        }
    }

    /// The key of the first object of a class whose property has a value, if an index alone can
    /// decide.
    ///
    /// - Returns: `isKnown` is false if it can't: the property has no index and is not a primary
    ///   key, or the value is of another type, not UTF-8, or a string so long that rows have to be
    ///   compared.
    ///
    /// O(log objects).
    package func firstIndexed(_ id: PropertyID, of classID: ClassID, equalTo value: BorrowedValue)
        throws(ModelError) -> (isKnown: Bool, key: Int64?)
    {
        guard let owner = schema.uncountedClass(id: classID) else { return (false, nil) }
        return try owner.borrow { owner throws(ModelError) in
            guard let index = owner.anyPosition(id: id) else { return (false, nil) }
            return try Unmanaged.passUnretained(owner.properties[index]).borrow {
                property throws(ModelError) in
                if owner.isHidden || property.isHidden { return (false, nil) }
                return try firstIndexed(property, owner, equalTo: value)
            }
        }
    }

    private func firstIndexed(
        _ property: PropertyHandle, _ owner: ClassHandle, equalTo value: BorrowedValue
    ) throws(ModelError) -> (isKnown: Bool, key: Int64?) {
        let cell: Cell
        switch (value, property.type) {
        case (.string(let text), .string)
        where text.count <= KeyBytes.textLimit && UTF8Text.isValid(text):
            cell = .bytes(text)
        case (.int(let number), .int): cell = .int64(number)
        case (.uuid(let bytes), .uuid), (.objectId(let bytes), .objectId): cell = .fixed(bytes)
        default: return (false, nil)
        }
        if property.isPrimaryKey { return (true, try find(cell: cell, property, owner)) }
        guard property.isIndexed else { return (false, nil) }
        var first: Int64?
        try forEachIndexed(property, equalTo: cell) { key throws(ModelError) in
            first = key
            return false
        }
        return (true, first)
    }

    /// True if an index distinguishes a string of `size` bytes from every other: not so beyond 200.
    package static func isExactInIndex(size: Int) -> Bool { size <= KeyBytes.textLimit }
}

// MARK: Unique constraints

extension ModelView {
    /// The hash of an object's values for a constraint; nil if one is null.
    /// - Parameter change: a property that is taken to have another value.
    func uniqueHash(
        _ key: Int64, _ constraint: UniqueConstraint,
        with change: (property: PropertyHandle, cell: Cell)? = nil
    ) throws(ModelError) -> UInt64? {
        try constraint.hash { property throws(ModelError) in
            if let change, change.property === property { return change.cell }
            return try cell(key, property)
        }
    }

    /// Throws if two objects have the same values.
    /// - Parameter hash: the hash of the values to check; nil for all.
    func checkUnique(_ constraint: UniqueConstraint, _ hash: UInt64? = nil) throws(ModelError) {
        let tree = try uniqueTree(constraint)
        var last: Int64?, keys: [Int64] = []
        try KeyBytes.with { prefix throws(ModelError) in
            if let hash { prefix.put(Int64(bitPattern: hash)) }
            try tree.forEachEntry(withPrefix: prefix.bytes) { entry, _ throws(ModelError) in
                guard let (key, start) = KeyBytes.lastKey(entry, after: 8),
                    let hash = KeyBytes.lastInt(UnsafeRawBufferPointer(rebasing: entry[..<start]))
                else { throw .inconsistent("an entry of a unique constraint names no object") }
                if last != hash { keys.removeAll(keepingCapacity: true) }
                last = hash
                for other in keys { try requireDifference(key, other, constraint) }
                keys.append(key)
                return true
            }
        }
    }

    private func requireDifference(_ key: Int64, _ other: Int64, _ constraint: UniqueConstraint)
        throws(ModelError)
    {
        var values: [Value] = []
        for property in constraint.properties {
            let cell = try cell(key, property)
            guard try cell.isEqual(to: self.cell(other, property)) else { return }
            values.append(try property.value(of: cell))
        }
        throw .duplicateValues(
            className: constraint.properties.first?.className ?? "",
            properties: constraint.properties.map(\.name), values: values)
    }
}
