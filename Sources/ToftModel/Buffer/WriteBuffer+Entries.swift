internal import ToftStorage

/// The entries that lead to objects: primary keys, indexes and backlinks. All are derived effects.
///
/// Nothing here flushes: the caller calls `flushExcessEntries` when it holds no memory of a page.
extension WriteBuffer {
    // MARK: Primary keys

    func addPrimaryKey(_ cell: Cell, _ property: PropertyHandle, _ owner: ClassHandle, _ key: Int64)
        throws(ModelError)
    {
        let bytes = try primaryKeyBytes(cell, property, key)
        addEntry(
            owner.primaryKeySlot, tree: owner.primaryKeyTree ?? 0, bytes.bytes,
            UInt64(bitPattern: key).littleEndian, length: PrimaryKeyEntry.size(key))
    }

    func removePrimaryKey(
        _ cell: Cell, _ property: PropertyHandle, _ owner: ClassHandle, _ key: Int64
    ) throws(ModelError) {
        try addRemoval(
            owner.primaryKeySlot, tree: owner.primaryKeyTree ?? 0,
            try primaryKeyBytes(cell, property, key).bytes)
    }

    private func primaryKeyBytes(_ cell: Cell, _ property: PropertyHandle, _ key: Int64)
        throws(ModelError) -> KeyBytes
    {
        var bytes = firstKey
        guard bytes.put(cell, of: property.type, optional: property.isOptional) else {
            throw property.wrongCell
        }
        if !bytes.isExact { bytes.put(objectKey: key) }
        return bytes
    }

    // MARK: Unique constraints

    /// Adds the entry of an object that gets values with this hash.
    func addUnique(_ constraint: UniqueConstraint, _ hash: UInt64, _ key: Int64) {
        addEntry(constraint.slot, tree: constraint.tree, uniqueBytes(hash, key).bytes)
        touched.append((constraint, hash))
    }

    func removeUnique(_ constraint: UniqueConstraint, _ hash: UInt64, _ key: Int64)
        throws(ModelError)
    {
        try addRemoval(constraint.slot, tree: constraint.tree, uniqueBytes(hash, key).bytes)
    }

    private func uniqueBytes(_ hash: UInt64, _ key: Int64) -> KeyBytes {
        var bytes = firstKey
        bytes.putUnique(hash, key)
        return bytes
    }

    // MARK: Indexes

    func addIndexEntry(_ cell: Cell, _ property: PropertyHandle, _ key: Int64) throws(ModelError) {
        addEntry(
            property.indexSlot, tree: property.indexTree ?? 0,
            try indexBytes(cell, property, key, firstKey).bytes)
    }

    func removeIndexEntry(_ cell: Cell, _ property: PropertyHandle, _ key: Int64) throws(ModelError)
    {
        try addRemoval(
            property.indexSlot, tree: property.indexTree ?? 0,
            try indexBytes(cell, property, key, firstKey).bytes)
    }

    /// Replaces an object's index entry. Runs `change`, which sets the value, in between, because
    /// `old` may borrow from the page that it changes.
    func replaceIndexEntry(
        _ property: PropertyHandle, _ key: Int64, old: Cell, new: Cell,
        _ change: () throws(ModelError) -> Void
    ) throws(ModelError) {
        let was = try indexBytes(old, property, key, firstKey),
            now = try indexBytes(new, property, key, secondKey)
        try change()
        guard !was.bytes.isSame(as: now.bytes) else { return }
        try addRemoval(property.indexSlot, tree: property.indexTree ?? 0, was.bytes)
        addEntry(property.indexSlot, tree: property.indexTree ?? 0, now.bytes)
    }

    private func indexBytes(
        _ cell: Cell, _ property: PropertyHandle, _ key: Int64, _ room: KeyBytes
    ) throws(ModelError) -> KeyBytes {
        var bytes = room
        guard bytes.put(cell, of: property.type, optional: property.isOptional) else {
            throw property.wrongCell
        }
        bytes.put(objectKey: key)
        return bytes
    }

    // MARK: Backlinks

    /// Adds one link from an object to another; `owner` is the target's class if the property is
    /// mixed, otherwise nil. `tree` is that of the backlinks, without buffered ones.
    func addBacklink(
        _ property: PropertyHandle, target: Int64, of owner: ClassID?, source: Int64,
        in tree: () throws(ModelError) -> TreeReader
    ) throws(ModelError) {
        let bytes = backlinkBytes(target, owner, source)
        let links = property.hasManyLinks ? try links(property, bytes, in: tree) : 0
        setLinks(property, bytes, links + 1, isNew: links == 0)
    }

    /// Removes one link from an object to another.
    func removeBacklink(
        _ property: PropertyHandle, target: Int64, of owner: ClassID?, source: Int64,
        in tree: () throws(ModelError) -> TreeReader
    ) throws(ModelError) {
        let bytes = backlinkBytes(target, owner, source)
        let links = property.hasManyLinks ? try links(property, bytes, in: tree) : 1
        guard links > 0 else {
            throw .inconsistent(
                "object \(source) has fewer backlinks of '\(property.className).\(property.name)' "
                    + "than links"
            )
        }
        if links > 1 { return setLinks(property, bytes, links - 1, isNew: false) }
        try addRemoval(property.backlinkSlot, tree: property.backlinkTree ?? 0, bytes.bytes)
    }

    /// Removes the whole entry, whatever its number of links.
    func removeAllBacklinks(
        _ property: PropertyHandle, target: Int64, of owner: ClassID? = nil, source: Int64
    ) throws(ModelError) {
        try addRemoval(
            property.backlinkSlot, tree: property.backlinkTree ?? 0,
            backlinkBytes(target, owner, source).bytes)
    }

    private func backlinkBytes(_ target: Int64, _ owner: ClassID?, _ source: Int64) -> KeyBytes {
        var bytes = firstKey
        bytes.put(target: target, of: owner)
        bytes.put(objectKey: source)
        return bytes
    }

    private func links(
        _ property: PropertyHandle, _ bytes: KeyBytes, in tree: () throws(ModelError) -> TreeReader
    ) throws(ModelError) -> Int {
        switch lookup(property.backlinkSlot, bytes.bytes) {
        case .removed: return 0
        case .value(let value, let length):
            return length == 0 ? 1 : Int(UInt32(truncatingIfNeeded: UInt64(littleEndian: value)))
        case .unknown:
            let tree = try tree()
            let value = try stored { () throws(StorageError) in try tree.value(forKey: bytes.bytes)
            }
            return try value.map { value throws(ModelError) in try BacklinkEntry.links(value) } ?? 0
        }
    }

    private func setLinks(
        _ property: PropertyHandle, _ bytes: KeyBytes, _ links: Int, isNew: Bool
    ) {
        let value = UInt64(truncatingIfNeeded: links).littleEndian
        addEntry(
            property.backlinkSlot, tree: property.backlinkTree ?? 0, bytes.bytes, value,
            length: links == 1 ? 0 : 4, isNew: isNew)
    }
}
