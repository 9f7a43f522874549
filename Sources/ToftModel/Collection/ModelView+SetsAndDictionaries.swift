package import ToftStorage

/// The position of a value or a key in an ordered collection, and whether it exists.
package struct OrderedPosition {
    /// Its index; if it does not exist, that of the first element after it.
    package var index: Int
    package var isFound: Bool
}

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

extension ListView {
    /// The position of a cell among ascending elements of a type. O(log elements).
    package func position(of wanted: Cell, _ type: PropertyType) throws(ModelError)
        -> OrderedPosition
    {
        var low = 0, high = count
        while low < high {
            let middle = low + (high - low) / 2
            let cell = try stored { () throws(StorageError) in try self.cell(at: middle) }
            if cell.isBefore(wanted, of: type) { low = middle + 1 } else { high = middle }
        }
        guard low < count else { return OrderedPosition(index: low, isFound: false) }
        let cell = try stored { () throws(StorageError) in try self.cell(at: low) }
        return OrderedPosition(index: low, isFound: !wanted.isBefore(cell, of: type))
    }
}
