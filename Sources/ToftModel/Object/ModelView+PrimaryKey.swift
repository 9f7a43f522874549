internal import ToftPlatform
internal import ToftStorage

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
}

/// The entries of a primary key tree.
enum PrimaryKeyEntry {
    static func objectKey(_ value: UnsafeRawBufferPointer, _ property: PropertyHandle)
        throws(ModelError) -> Int64
    {
        guard let base = value.baseAddress, value.count <= 8 else {
            if value.isEmpty { return 0 }
            throw .inconsistent(
                "an entry of the primary key '\(property.className).\(property.name)' is "
                    + "\(value.count) bytes long"
            )
        }
        // Two loads, which overlap for values shorter than both.
        let size = value.count
        let key: UInt64 =
            switch size {
            case 4...:
                UInt64(base.loadUnaligned(as: UInt32.self).littleEndian)
                    | UInt64(
                        base.loadUnaligned(fromByteOffset: size &- 4, as: UInt32.self).littleEndian)
                    << UInt64(8 &* (size &- 4))
            case 2...:
                UInt64(base.loadUnaligned(as: UInt16.self).littleEndian)
                    | UInt64(
                        base.loadUnaligned(fromByteOffset: size &- 2, as: UInt16.self).littleEndian)
                    << UInt64(8 &* (size &- 2))
            case 1: UInt64(base.load(as: UInt8.self))
            default: 0
            }
        return Int64(bitPattern: key)
    }

    /// Bytes of an object key without the zeros at its end.
    @inline(__always)
    static func size(_ objectKey: Int64) -> Int {
        8 &- objectKey.leadingZeroBitCount / 8
    }
}

extension TreeReader {
    /// Calls `body` with each entry whose key begins with `prefix`, in order, until it returns
    /// false.
    func forEachEntry(
        withPrefix prefix: UnsafeRawBufferPointer,
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(ModelError)
            -> Bool
    ) throws(ModelError) {
        var failure: ModelError?
        try stored { () throws(StorageError) in
            try forEachStoredEntry(withPrefix: prefix) { key, value in
                do throws(ModelError) { return try body(key, value) } catch {
                    failure = error
                    return false
                }
            }
        }
        if let failure { throw failure }
    }

    /// Calls `body` with each entry whose key is not before `start`, in order, until it returns
    /// false.
    func forEachEntry(
        from start: UnsafeRawBufferPointer,
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(ModelError)
            -> Bool
    ) throws(ModelError) {
        let cursor = try stored { () throws(StorageError) in try self.cursor() }
        var isThere = try stored { () throws(StorageError) in try cursor.seek(start) }
        while isThere {
            let value = try stored { () throws(StorageError) in try cursor.value }
            guard try body(cursor.key, value) else { return }
            isThere = try stored { () throws(StorageError) in try cursor.next() }
        }
    }
}
