internal import ToftStorage

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

extension UniqueConstraint {
    /// The hash of an object's values, which `cell` gives; nil if one is null. FNV-1a of the values
    /// one after the other, as `KeyBytes` of properties that are not optional.
    func hash(_ cell: (PropertyHandle) throws(ModelError) -> Cell) throws(ModelError) -> UInt64? {
        var hash = KeyBytes.emptyHash
        for property in properties {
            let cell = try cell(property)
            if case .null = cell { return nil }
            hash = try property.hash(of: cell, after: hash)
        }
        return hash
    }
}

extension PropertyHandle {
    @inline(never)
    fileprivate func hash(of cell: Cell, after hash: UInt64) throws(ModelError) -> UInt64 {
        try KeyBytes.with { bytes throws(ModelError) in
            guard bytes.put(cell, of: type, optional: false) else { throw wrongCell }
            return KeyBytes.hash(bytes.bytes, after: hash)
        }
    }
}
