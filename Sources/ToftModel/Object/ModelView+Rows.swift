internal import ToftPlatform
package import ToftStorage

// MARK: Objects

extension ModelView {
    /// The number of objects of a class. O(1).
    package func count(_ owner: ClassHandle) throws(ModelError) -> Int {
        try rows(owner).rowCount - (unflushed?.deletedCount(owner.position) ?? 0)
    }

    /// True if the class has an object with this key. O(log objects); O(1) if no object was ever
    /// deleted.
    package func exists(_ key: Int64, _ owner: ClassHandle) throws(ModelError) -> Bool {
        guard let unflushed else { return try holdsRow(key, owner) }
        if unflushed.isVerified(key, owner.position) { return true }
        guard !unflushed.isDeleted(key, owner.position), try holdsRow(key, owner) else {
            return false
        }
        unflushed.noteVerified(key, owner.position)
        return true
    }

    private func holdsRow(_ key: Int64, _ owner: ClassHandle) throws(ModelError) -> Bool {
        let table = try rows(owner)
        // Keys count up from 0 and are never used twice: as many rows as keys leave no gap.
        if table.rowCount == table.nextKey { return key >= 0 && key < table.nextKey }
        do { return try table.contains(key) } catch { throw .storage(error) }
    }

    /// Whether the object exists; false too for an object of a hidden class.
    package func exists(_ object: ObjectRef) throws(ModelError) -> Bool {
        guard let owner = schema.anyClass(id: object.classID), !owner.isHidden else { return false }
        return try exists(object.key, owner)
    }

    /// Whether an object with this reference may be created in a later version.
    package func isToCome(_ object: ObjectRef) throws(ModelError) -> Bool {
        guard let owner = schema.anyClass(id: object.classID) else { return false }
        return object.key >= (try rows(owner).nextKey)
    }

    func requireObject(_ key: Int64, _ owner: ClassHandle) throws(ModelError) {
        guard try exists(key, owner) else { throw .noSuchObject(className: owner.name, key: key) }
    }

    /// The keys of the objects that exist.
    package func existing(_ keys: [Int64], of classID: ClassID) throws(ModelError) -> [Int64] {
        let owner = try schema.classHandle(id: classID)
        var existing: [Int64] = []
        for key in keys where try exists(key, owner) { existing.append(key) }
        return existing
    }

    /// All keys of a class, ascending.
    package func allKeys(of owner: ClassHandle) throws(ModelError) -> [Int64] {
        let table = try table(owner)
        return try stored { () throws(StorageError) in
            var keys: [Int64] = []
            keys.reserveCapacity(table.rowCount)
            try table.forEachCluster { cluster throws(StorageError) in
                for row in 0..<cluster.count { keys.append(cluster.keys[row]) }
                return true
            }
            return keys
        }
    }

    /// The keys of the cluster that has the first key from `first` on; empty if there is no such
    /// key.
    package func keysOfCluster(_ owner: ClassHandle, from first: Int64) throws(ModelError)
        -> [Int64]
    {
        let table = try table(owner)
        var keys: [Int64] = []
        try stored { () throws(StorageError) in
            try table.forEachCluster(from: first) { cluster throws(StorageError) in
                keys = (0..<cluster.count).map { cluster.keys[$0] }
                return false
            }
        }
        return keys
    }
}

// MARK: Values

extension ModelView {
    /// A property that a reference names.
    package func property(_ ref: PropertyRef) throws(ModelError) -> PropertyHandle {
        try schema.classHandle(id: ref.classID).property(id: ref.propertyID)
    }

    /// The value of a property that is not a list, without copying. A link is its target's key.
    /// O(log objects).
    @inline(__always)
    package func cell(_ key: Int64, _ property: PropertyHandle) throws(ModelError) -> Cell {
        guard property.collection == .none, property.isStored else { throw property.notOneValue }
        let table = try rows(schema.classes[property.classPosition], with: key)
        if let unflushed {
            if property.type == .mixed { try unflushed.flushDeletesForReader() }
            if let cell = unflushed.value(key, property.column, property.classPosition) {
                return isDangling(cell, property) ? .null : cell
            }
        }
        do {
            let cell = try table.cell(key, property.column)
            return isDangling(cell, property) ? .null : cell
        } catch { throw property.modelError(error, key: key) }
    }

    /// Whether values of a class wait for its table, or deletes: reading values one by one then
    /// costs less than reading the table.
    package func holdsBack(_ owner: ClassHandle) -> Bool {
        unflushed?.holdsRows(of: owner.position) ?? false
    }

    /// Whether a cell is a link to a deleted object.
    @inline(__always)
    private func isDangling(_ cell: Cell, _ property: PropertyHandle) -> Bool {
        guard let unflushed, property.type == .link, case .int64(let target) = cell,
            let position = property.targetPosition
        else { return false }
        return unflushed.isDeleted(target, position)
    }

    /// Calls `body` with the type of each of some properties that are not lists, the class that it
    /// links to, and its value, without copying. The object is looked up once for all.
    package func forEachCell(
        _ key: Int64, _ owner: ClassHandle, _ ids: UnsafeBufferPointer<PropertyID>,
        _ body: (PropertyType, ClassID, Cell) -> Void
    ) throws(ModelError) {
        let table = try rows(owner, with: key)
        if owner.hasMixed { try unflushed?.flushDeletesForReader() }
        let row = try reading(key, owner) { () throws(StorageError) in try table.row(key) }
        for id in ids {
            let property = try owner.property(id: id)
            guard property.collection == .none, property.isStored else {
                throw property.notOneValue
            }
            let waiting = unflushed?.value(key, property.column, owner.position)
            let cell =
                if let waiting { waiting } else {
                    try reading(key, owner) { () throws(StorageError) in
                        try table.cell(row, property.column)
                    }
                }
            body(
                property.type, property.targetClassID ?? 0,
                isDangling(cell, property) ? .null : cell)
        }
    }

    /// The value of a property, owned by the caller.
    package func value(_ key: Int64, _ property: PropertyHandle) throws(ModelError) -> Value {
        try property.value(of: cell(key, property))
    }
}

extension PropertyHandle {
    /// The error for asking a list or an inverse link for one value.
    var notOneValue: ModelError {
        collection != .none
            ? .isACollection(className: className, property: name, kind: collection)
            : .typeMismatch(
                className: className, property: name, expected: "an inverse link",
                found: "one value")
    }

    /// The error that an error of the table means for an object.
    func modelError(_ error: StorageError, key: Int64) -> ModelError {
        switch error {
        case .noSuchRow: .noSuchObject(className: className, key: key)
        case .indexOutOfRange(let index, let count): .indexOutOfRange(index: index, count: count)
        default: .storage(error)
        }
    }

    /// Copies a cell of this property, or an element of the list, to a value that the caller owns.
    package func value(of cell: Cell) throws(ModelError) -> Value {
        switch cell {
        case .null: .null
        case .bool(let value): .bool(value)
        case .int64(let value):
            type == .link ? .link(ObjectRef(classID: targetClassID ?? 0, key: value)) : .int(value)
        case .float32(let value): .float(value)
        case .float64(let value): .double(value)
        case .timestamp(let value): .date(value)
        case .fixed(let bytes) where type == .uuid: .uuid(bytes)
        case .fixed(let bytes) where type == .decimal128: .decimal(Decimal128(stored: bytes))
        case .fixed(let bytes): .objectId(bytes)
        case .bytes where type == .mixed: try MixedValue(cell).owned()
        case .bytes(let bytes): try value(ofBytes: bytes)
        }
    }

    /// Throws unless a text is UTF-8. Makes no value: Swift 6.3.1 releases the array of one that
    /// nobody uses before it copies the bytes into it.
    func requireText(_ cell: Cell) throws(ModelError) {
        guard type == .string, case .bytes(let bytes) = cell, !UTF8Text.isValid(bytes) else {
            return
        }
        throw .invalidText(className: className, property: name)
    }

    private func value(ofBytes bytes: UnsafeRawBufferPointer) throws(ModelError) -> Value {
        guard type == .string else { return .data(Array(bytes)) }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw .inconsistent("'\(className).\(name)' holds text that is not UTF-8")
        }
        return .string(text)
    }
}
