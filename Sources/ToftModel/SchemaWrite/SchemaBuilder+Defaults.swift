internal import ToftStorage

/// The caller's handlers and options for adapting a file to a schema.
package struct SchemaCalls {
    package var progress: ProgressHandler?
    package var defaults: DefaultHandler?
    /// True if objects of a class that becomes embedded are deleted without an owner, and copied
    /// for several owners: see `OwnerArrangement`.
    package var handlesBacklinks: Bool

    package init(
        progress: ProgressHandler? = nil, defaults: DefaultHandler? = nil,
        handlesBacklinks: Bool = false
    ) {
        self.progress = progress
        self.defaults = defaults
        self.handlesBacklinks = handlesBacklinks
    }
}

/// Gives the value that a new object would have in a property, for an existing object: calls `use`
/// with it, or with null for an object that stays without a value, if the property is optional.
/// False: the property has no default; the handler is then not called again after the first object.
/// Names are those of the file.
package typealias DefaultHandler =
    @Sendable (
        _ className: String, _ property: String, _ use: (BorrowedValue) throws(ModelError) -> Void
    ) throws(ModelError) -> Bool

extension SchemaBuilder {
    /// Gives the objects of a class their defaults in a new property, except for links and
    /// collections, which stay empty. O(objects), if there is a default.
    mutating func fillDefaults(_ id: ClassID, _ property: PropertyID) throws(ModelError) {
        let index = try classIndex(id), name = schema.classes[index].persistedName
        guard let defaults = calls.defaults,
            let stored = schema.classes[index].property(id: property), stored.isStored,
            !stored.isCollection, stored.type != .link
        else { return }
        let resolved = ModelSchema(schema)
        guard let property = resolved.classes[index].anyProperty(id: property) else { return }
        let table = try ToftModel.stored { () throws(StorageError) in
            try writing.view.table(schema.classes[index].table)
        }
        var rank = 0
        while rank < table.rowCount {
            let keys = try ToftModel.stored { () throws(StorageError) in
                try CurrentCall.checkInterruption()
                let (cluster, first) = try table.cluster(atRank: rank)
                return (first..<cluster.count).map { cluster.keys[$0] }
            }
            for (offset, key) in keys.enumerated() {
                let isGiven = try defaults(name, stored.persistedName) { value throws(ModelError) in
                    do throws(ModelError) { try set(value, of: key, property, resolved) } catch {
                        throw error.ofDefault(name, stored.persistedName)
                    }
                }
                guard !isGiven else { continue }
                // The caller may have ended the opening in its handler.
                try ToftModel.stored { () throws(StorageError) in
                    try CurrentCall.checkInterruption()
                }
                if rank + offset == 0 { return }
            }
            if rank == 0 { expect(table.rowCount) }
            rank += keys.count
            tell(keys.count)
        }
    }

    private func set(
        _ value: BorrowedValue, of key: Int64, _ property: PropertyHandle, _ schema: ModelSchema
    ) throws(ModelError) {
        guard property.type == .mixed else {
            return try set(try property.checkedCell(value, in: schema), of: key, property, schema)
        }
        if value.isNull { return }
        var writer = MixedWriter(nil, property)
        try writer.put(value, depth: 0)
        try writer.bytes.withBytes { bytes throws(ModelError) in
            let cell = Cell.bytes(bytes)
            // Links have backlinks, which objects of no version yet can't be given here.
            guard try MixedValue.links(in: cell).isEmpty else {
                throw property.rejection(of: value, schema)
            }
            try set(cell, of: key, property, schema)
        }
    }

    /// Sets a cell, unless every object has that value in a new column.
    private func set(
        _ cell: Cell, of key: Int64, _ property: PropertyHandle, _ schema: ModelSchema
    ) throws(ModelError) {
        if cell.isInitial(isNullable: property.isOptional) { return }
        let table = schema.classes[property.classPosition].table
        do {
            try writing.cellSet(table, key, property.column, cell, derived: true)
        } catch { throw property.modelError(error, key: key) }
    }
}

extension ModelError {
    /// The error, for a default that was given for a property; an error of the file stays as it is.
    fileprivate func ofDefault(_ className: String, _ property: String) -> ModelError {
        if case .storage = self { return self }
        return .refusedDefault(className: className, property: property, self)
    }
}

extension Cell {
    /// Whether it is the value of an existing row in a new column.
    fileprivate func isInitial(isNullable: Bool) -> Bool {
        switch self {
        case .null: isNullable
        case .bool(let value): !isNullable && !value
        case .int64(let value): !isNullable && value == 0
        case .float32(let value): !isNullable && value.bitPattern == 0
        case .float64(let value): !isNullable && value.bitPattern == 0
        case .timestamp(let value):
            !isNullable && value == Timestamp(seconds: 0, nanoseconds: 0)
        case .bytes(let value): !isNullable && value.isEmpty
        case .fixed: false
        }
    }
}
