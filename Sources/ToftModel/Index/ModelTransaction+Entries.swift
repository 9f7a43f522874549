internal import ToftStorage

/// The entries that lead to objects: primary keys, indexes and backlinks. All are derived effects.
extension ModelTransaction {
    // MARK: Primary keys

    func putPrimaryKey(_ cell: Cell, _ property: PropertyHandle, _ owner: ClassHandle, _ key: Int64) throws(ModelError) {
        let bytes = try primaryKeyBytes(cell, property, key)
        var value = key.littleEndian
        try put(try view.primaryKeyTree(owner), owner.primaryKeyTree, bytes, &value)
    }

    func removePrimaryKey(_ cell: Cell, _ property: PropertyHandle, _ owner: ClassHandle, _ key: Int64) throws(ModelError) {
        try delete(try view.primaryKeyTree(owner), owner.primaryKeyTree, try primaryKeyBytes(cell, property, key))
    }

    private func primaryKeyBytes(_ cell: Cell, _ property: PropertyHandle, _ key: Int64) throws(ModelError) -> KeyBytes {
        var bytes = firstKey
        guard bytes.put(cell, optional: property.isOptional) else { throw wrongCell(property) }
        if !bytes.isExact { bytes.put(key) }
        return bytes
    }

    // MARK: Indexes

    func putIndex(_ cell: Cell, _ property: PropertyHandle, _ key: Int64) throws(ModelError) {
        let bytes = try indexBytes(cell, property, key, firstKey)
        try put(try view.indexTree(property), property.indexTree, bytes)
    }

    func removeIndex(_ cell: Cell, _ property: PropertyHandle, _ key: Int64) throws(ModelError) {
        let bytes = try indexBytes(cell, property, key, firstKey)
        try delete(try view.indexTree(property), property.indexTree, bytes)
    }

    /// Moves an object's entry from its old value to its new one, around the change of the value: the old one may lie in the page that changes.
    func replaceIndex(
        _ property: PropertyHandle, _ key: Int64, old: Cell, new: Cell, _ change: () throws(ModelError) -> Void
    ) throws(ModelError) {
        let was = try indexBytes(old, property, key, firstKey), now = try indexBytes(new, property, key, secondKey)
        try change()
        guard !was.bytes.isSame(as: now.bytes) else { return }
        let tree = try view.indexTree(property)
        try delete(tree, property.indexTree, was)
        try put(tree, property.indexTree, now)
    }

    private func indexBytes(_ cell: Cell, _ property: PropertyHandle, _ key: Int64, _ room: KeyBytes) throws(ModelError) -> KeyBytes {
        var bytes = room
        guard bytes.put(cell, optional: property.isOptional) else { throw wrongCell(property) }
        bytes.put(key)
        return bytes
    }

    // MARK: Backlinks

    func addBacklink(_ property: PropertyHandle, target: Int64, source: Int64, count: Int = 1) throws(ModelError) {
        let tree = try view.backlinkTree(property), bytes = backlinkBytes(target, source)
        let links = property.isList ? try links(tree, bytes) : 0
        try putLinks(tree, property, bytes, links + count)
    }

    func removeBacklink(_ property: PropertyHandle, target: Int64, source: Int64, count: Int = 1) throws(ModelError) {
        let tree = try view.backlinkTree(property), bytes = backlinkBytes(target, source)
        let links = property.isList ? try links(tree, bytes) : 1
        guard links >= count else {
            throw .inconsistent("object \(source) has fewer backlinks of '\(property.className).\(property.name)' than links")
        }
        if links == count { return try delete(tree, property.backlinkTree, bytes) }
        try putLinks(tree, property, bytes, links - count)
    }

    /// Removes the whole entry, however many links it stands for.
    func dropBacklink(_ property: PropertyHandle, target: Int64, source: Int64) throws(ModelError) {
        try delete(try view.backlinkTree(property), property.backlinkTree, backlinkBytes(target, source))
    }

    private func backlinkBytes(_ target: Int64, _ source: Int64) -> KeyBytes {
        var bytes = firstKey
        bytes.put(target)
        bytes.put(source)
        return bytes
    }

    private func links(_ tree: OrderedTree, _ bytes: KeyBytes) throws(ModelError) -> Int {
        let value = try stored { () throws(StorageError) in try tree.value(forKey: bytes.bytes) }
        guard let value else { return 0 }
        return try BacklinkEntry.links(value)
    }

    private func putLinks(_ tree: OrderedTree, _ property: PropertyHandle, _ bytes: KeyBytes, _ links: Int) throws(ModelError) {
        if links == 1 { return try put(tree, property.backlinkTree, bytes) }
        var value = UInt32(truncatingIfNeeded: links).littleEndian
        try put(tree, property.backlinkTree, bytes, &value)
    }

    // MARK: The funnel

    @inline(__always)
    private func put(_ tree: OrderedTree, _ id: UInt64?, _ key: KeyBytes) throws(ModelError) {
        do {
            try writing.treePut(tree, id: id ?? 0, key.bytes, UnsafeRawBufferPointer(start: nil, count: 0), derived: true)
        } catch { throw .storage(error) }
    }

    @inline(__always)
    private func put<Number: FixedWidthInteger>(
        _ tree: OrderedTree, _ id: UInt64?, _ key: KeyBytes, _ value: inout Number
    ) throws(ModelError) {
        let result: Result<Void, StorageError> = withUnsafeBytes(of: &value) { value in
            do throws(StorageError) {
                return .success(try writing.treePut(tree, id: id ?? 0, key.bytes, value, derived: true))
            } catch { return .failure(error) }
        }
        do { try result.get() } catch { throw .storage(error) }
    }

    private func delete(_ tree: OrderedTree, _ id: UInt64?, _ key: KeyBytes) throws(ModelError) {
        let wasThere = try stored { () throws(StorageError) in try writing.treeDelete(tree, id: id ?? 0, key.bytes, derived: true) }
        guard wasThere else { throw .inconsistent("an entry that leads to an object is missing") }
    }

    private func wrongCell(_ property: PropertyHandle) -> ModelError {
        .inconsistent("'\(property.className).\(property.name)' holds what its index can't")
    }
}
