package import ToftStorage

// MARK: Lists

extension ModelView {
    /// The elements of a list or set, or the values of a dictionary, for reading without copying:
    /// good as long as a `Cell` would be.
    package func list(_ key: Int64, _ property: PropertyHandle) throws(ModelError) -> ListView {
        guard property.isCollection else {
            throw .notACollection(
                className: property.className, property: property.name, kind: .list)
        }
        let table = try table(of: property, property.column, with: key)
        do { return try table.list(key, property.column) } catch {
            throw property.modelError(error, key: key)
        }
    }

    /// The number of elements.
    package func listCount(_ key: Int64, _ property: PropertyHandle) throws(ModelError) -> Int {
        guard property.isCollection, let unflushed else { return try list(key, property).count }
        let table = try rows(schema.classes[property.classPosition], with: key)
        if property.type.canLink { try unflushed.flushDeletesForReader() }
        do throws(StorageError) {
            switch unflushed.size(key, property.column, property.classPosition) {
            case .unchanged: return try table.listCount(key, property.column)
            case .difference(let more): return try table.listCount(key, property.column) + more
            case .whole(let count): return count
            }
        } catch { throw property.modelError(error, key: key) }
    }

    /// One element, without copying.
    package func listCell(_ key: Int64, _ property: PropertyHandle, at index: Int)
        throws(ModelError) -> Cell
    {
        let list = try list(key, property)
        guard index >= 0, index < list.count else {
            throw .indexOutOfRange(index: index, count: list.count)
        }
        do { return try list.cell(at: index) } catch { throw .storage(error) }
    }

    /// One element, owned by the caller.
    package func listValue(_ key: Int64, _ property: PropertyHandle, at index: Int)
        throws(ModelError) -> Value
    {
        try property.value(of: listCell(key, property, at: index))
    }

    /// All elements, owned by the caller.
    package func listValues(_ key: Int64, _ property: PropertyHandle) throws(ModelError) -> [Value]
    {
        let list = try list(key, property)
        var values: [Value] = []
        values.reserveCapacity(list.reservedCount)
        for index in 0..<list.count {
            let cell = try stored { () throws(StorageError) in try list.cell(at: index) }
            values.append(try property.value(of: cell))
        }
        return values
    }

    /// The index of the first element that equals a value; nil if no element does.
    /// - Parameter indices: the elements to compare; nil: all.
    package func listIndex(
        _ key: Int64, _ property: PropertyHandle, of value: Value, in indices: Range<Int>? = nil
    ) throws(ModelError) -> Int? {
        let list = try list(key, property)
        return try value.withBorrowed { value throws(ModelError) in
            try property.withSoughtCell(value, in: schema) { wanted throws(ModelError) in
                for index in indices ?? 0..<list.count {
                    let cell = try stored { () throws(StorageError) in try list.cell(at: index) }
                    if cell.isEqual(to: wanted, of: property.type) { return index }
                }
                return nil
            }
        }
    }

    /// The elements of a collection that a reference names.
    package func list(_ ref: CollectionRef) throws(ModelError) -> ListView {
        try list(ref.owner.key, try property(ref.propertyRef))
    }
}

// MARK: Sets and dictionaries

extension ModelView {
    /// The position of a value in a set. O(log elements).
    package func setPosition(_ key: Int64, _ property: PropertyHandle, of value: Value)
        throws(ModelError) -> OrderedPosition
    {
        let set = try collection(.set, key, property)
        return try value.withBorrowed { value throws(ModelError) in
            try property.withSoughtCell(value, in: schema) { cell throws(ModelError) in
                try set.position(of: cell, property.type)
            }
        }
    }

    /// The keys of a dictionary, in ascending order of their bytes; the value of each has the same
    /// index in `list`. Good as long as a `Cell` would be.
    package func dictionaryKeys(_ key: Int64, _ property: PropertyHandle) throws(ModelError)
        -> ListView
    {
        _ = try collection(.dictionary, key, property)
        let table = try table(of: property, property.keysColumn, with: key)
        do { return try table.list(key, property.keysColumn) } catch {
            throw property.modelError(error, key: key)
        }
    }

    /// The position of a key in a dictionary. O(log entries).
    package func dictionaryPosition(
        _ key: Int64, _ property: PropertyHandle, of entryKey: UnsafeRawBufferPointer
    ) throws(ModelError) -> OrderedPosition {
        try dictionaryKeys(key, property).position(of: .bytes(entryKey), .string)
    }

    /// One key of a dictionary, owned by the caller.
    package func dictionaryKey(_ key: Int64, _ property: PropertyHandle, at index: Int)
        throws(ModelError) -> String
    {
        let keys = try dictionaryKeys(key, property)
        guard index >= 0, index < keys.count else {
            throw .indexOutOfRange(index: index, count: keys.count)
        }
        guard
            case .bytes(let bytes) = try stored({ () throws(StorageError) in
                try keys.cell(at: index)
            }), let text = String(validating: bytes, as: UTF8.self)
        else {
            throw .inconsistent(
                "a key of '\(property.className).\(property.name)' is not UTF-8")
        }
        return text
    }

    private func collection(_ kind: CollectionKind, _ key: Int64, _ property: PropertyHandle)
        throws(ModelError) -> ListView
    {
        guard property.collection == kind else {
            throw .notACollection(
                className: property.className, property: property.name, kind: kind)
        }
        return try list(key, property)
    }
}
