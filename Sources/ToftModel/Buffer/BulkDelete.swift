internal import ToftStorage

/// Deletes many objects at once: finds out which rows change, then changes them, each class in the
/// order of its keys.
///
/// The entries of a deleted object go, links to it become null, lists lose it.
struct BulkDelete {
    let schema: ModelSchema
    let writing: WriteTransaction
    let buffer: WriteBuffer
    /// The keys of the objects, by the position of the class.
    let deleted: ContiguousArray<Set<Int64>>
    /// The keys of `deleted` whose delete follows from another change.
    let cascaded: ContiguousArray<Set<Int64>>
    /// The steps for the rows of each class, by its position.
    private var steps: ContiguousArray<[Step]>

    /// One row's change.
    private struct Step {
        var key: Int64
        /// The property whose links to deleted objects are removed; 0: the row itself is deleted.
        var property: PropertyID
    }

    init(
        schema: ModelSchema, writing: WriteTransaction, buffer: WriteBuffer,
        deleted: ContiguousArray<Set<Int64>>, cascaded: ContiguousArray<Set<Int64>>
    ) {
        self.schema = schema
        self.writing = writing
        self.buffer = buffer
        self.deleted = deleted
        self.cascaded = cascaded
        steps = ContiguousArray(repeating: [], count: deleted.count)
    }

    mutating func run() throws(ModelError) {
        for owner in schema.classes where !deleted[owner.position].isEmpty { try gather(owner) }
        for owner in schema.classes where !steps[owner.position].isEmpty { try change(owner) }
    }

    @inline(__always)
    private func isDeleted(_ key: Int64, _ position: Int?) -> Bool {
        guard let position else { return false }
        return deleted[position].contains(key)
    }

    // MARK: What changes

    private mutating func gather(_ owner: ClassHandle) throws(ModelError) {
        let keys = deleted[owner.position].sorted()
        steps[owner.position].append(contentsOf: keys.lazy.map { Step(key: $0, property: 0) })
        for property in owner.incoming {
            let target = property.backlinkClass(owner.id)
            for link in try links(to: keys, of: target, property) {
                try buffer.removeAllBacklinks(
                    property, target: link.target, of: target, source: link.source)
                try buffer.flushExcessEntries()
                guard !isDeleted(link.source, property.classPosition) else { continue }
                steps[property.classPosition].append(Step(key: link.source, property: property.id))
            }
        }
    }

    /// The backlinks of objects whose keys ascend.
    private func links(to targets: [Int64], of owner: ClassID?, _ property: PropertyHandle)
        throws(ModelError) -> [(target: Int64, source: Int64)]
    {
        guard let id = property.backlinkTree else {
            throw .inconsistent("'\(property.className).\(property.name)' has no backlinks")
        }
        var found: [(target: Int64, source: Int64)] = []
        try buffer.writeEntries(property.backlinkSlot)
        let cursor = try stored { () throws(StorageError) in
            try writing.view.orderedTree(id).cursor()
        }
        try KeyBytes.with { prefix throws(ModelError) in
            for target in targets {
                prefix.removeAll()
                prefix.put(target: target, of: owner)
                try stored { () throws(StorageError) in try cursor.advance(to: prefix.bytes) }
                while cursor.isValid, cursor.key.hasPrefix(prefix.bytes) {
                    let value = try stored { () throws(StorageError) in try cursor.value }
                    found.append(
                        (
                            target,
                            try BacklinkEntry(
                                key: cursor.key, behind: prefix.count, value: value, property
                            ).source
                        ))
                    try stored { () throws(StorageError) in _ = try cursor.next() }
                }
            }
        }
        return found
    }

    // MARK: The changes

    private func change(_ owner: ClassHandle) throws(ModelError) {
        let steps = steps[owner.position]
        var order = RadixSort(count: steps.count) {
            RadixSort.Item(
                head: RadixSort.head(steps[$0].key), index: UInt32(truncatingIfNeeded: $0))
        }
        order.sort()
        let table = try stored { () throws(StorageError) in try writing.view.table(owner.table) }
        var last: Step?
        for item in order.items {
            let step = steps[Int(item.index)]
            defer { last = step }
            // Equal steps are neighbours.
            if let last, last.key == step.key, last.property == step.property { continue }
            if step.property == 0 {
                try deleteRow(step.key, owner, table)
            } else if let property = owner.anyProperty(id: step.property) {
                try nullify(property, of: step.key, table, owner)
            }
        }
    }

    /// Makes a link to a deleted object null, or takes deleted objects out of a collection.
    private func nullify(
        _ property: PropertyHandle, of key: Int64, _ table: TableReader, _ owner: ClassHandle
    ) throws(ModelError) {
        if property.type == .mixed { return try nullifyMixed(property, of: key, table, owner) }
        do throws(StorageError) {
            if property.isCollection { return try removeElements(property, of: key, table, owner) }
            guard case .int64(let target) = try table.cell(key, property.column),
                isDeleted(target, property.targetPosition)
            else { return }
            try writing.cellSet(owner.table, key, property.column, .null, derived: true)
        } catch { throw property.modelError(error, key: key) }
    }

    /// Puts null in place of the links to deleted objects; a set loses them.
    private func nullifyMixed(
        _ property: PropertyHandle, of key: Int64, _ table: TableReader, _ owner: ClassHandle
    ) throws(ModelError) {
        guard property.isCollection else {
            let cell = try stored { () throws(StorageError) in
                try table.cell(key, property.column)
            }
            guard let new = try withoutDeleted(cell) else { return }
            guard property.isIndexed else { return try putCell(new, to: key, property, owner) }
            try new.withBytes { bytes throws(ModelError) in
                try buffer.replaceIndexEntry(
                    property, key, old: cell, new: bytes.first == 0 ? .null : .bytes(bytes)
                ) { () throws(ModelError) in try putCell(new, to: key, property, owner) }
            }
            return try buffer.flushExcessEntries()
        }
        let list = try stored { () throws(StorageError) in try table.list(key, property.column) }
        var changes: [(index: Int, new: [UInt8])] = []
        for index in 0..<list.count {
            let cell = try stored { () throws(StorageError) in try list.cell(at: index) }
            if let new = try withoutDeleted(cell) { changes.append((index, new)) }
        }
        for change in changes.reversed() {
            if property.collection == .set {
                try stored { () throws(StorageError) in
                    try writing.listErase(
                        owner.table, key, property.column, at: change.index, derived: true)
                }
            } else {
                try put(change.new) { cell throws(StorageError) in
                    try writing.listSet(
                        owner.table, key, property.column, at: change.index, cell, derived: true)
                }
            }
        }
    }

    private func putCell(
        _ value: [UInt8], to key: Int64, _ property: PropertyHandle, _ owner: ClassHandle
    ) throws(ModelError) {
        try put(value) { cell throws(StorageError) in
            try writing.cellSet(owner.table, key, property.column, cell, derived: true)
        }
    }

    /// A mixed value with null in place of links to deleted objects; nil if it has no such links.
    private func withoutDeleted(_ cell: Cell) throws(ModelError) -> [UInt8]? {
        guard case .bytes(let bytes) = cell else { return nil }
        return try MixedFormat.replacing(
            linksTo: { isDeleted($0.key, schema.anyClass(id: $0.classID)?.position) }, in: bytes)
    }

    private func put(_ value: [UInt8], _ body: (Cell) throws(StorageError) -> Void)
        throws(ModelError)
    {
        do throws(StorageError) {
            try value.withBytes { bytes throws(StorageError) in
                try body(bytes.first == 0 ? .null : .bytes(bytes))
            }
        } catch { throw .storage(error) }
    }

    /// From the last to the first; a dictionary keeps the key, with null.
    private func removeElements(
        _ property: PropertyHandle, of key: Int64, _ table: TableReader, _ owner: ClassHandle
    ) throws(StorageError) {
        var indexes: [Int] = []
        let list = try table.list(key, property.column)
        for index in 0..<list.count {
            if case .int64(let target) = try list.cell(at: index),
                isDeleted(target, property.targetPosition)
            {
                indexes.append(index)
            }
        }
        for index in indexes.reversed() {
            if property.collection == .dictionary {
                try writing.listSet(
                    owner.table, key, property.column, at: index, .null, derived: true)
            } else {
                try writing.listErase(owner.table, key, property.column, at: index, derived: true)
            }
        }
    }

    /// Deletes a row with its entries and the backlinks of its links.
    private func deleteRow(_ key: Int64, _ owner: ClassHandle, _ table: TableReader)
        throws(ModelError)
    {
        let cluster = try stored { () throws(StorageError) in try table.cluster(containing: key) }
        guard let cluster, let row = cluster.row(of: key) else {
            throw .noSuchObject(className: owner.name, key: key)
        }
        for property in owner.links { try removeLinks(property, of: key, cluster, row) }
        for property in owner.indexed {
            try buffer.removeIndexEntry(try cluster.cell(row, property), property, key)
        }
        if !owner.uniques.isEmpty { try removeUniques(owner, cluster, row) }
        if let property = owner.primaryKey {
            try buffer.removePrimaryKey(try cluster.cell(row, property), property, owner, key)
        }
        let derived = cascaded[owner.position].contains(key)
        try stored { () throws(StorageError) in
            try writing.rowErase(owner.table, key, derived: derived)
        }
        try buffer.flushExcessEntries()
    }

    private func removeUniques(_ owner: ClassHandle, _ cluster: ClusterView, _ row: Int)
        throws(ModelError)
    {
        for constraint in owner.uniques {
            let hash = try constraint.hash { property throws(ModelError) in
                try cluster.cell(row, property)
            }
            if let hash { try buffer.removeUnique(constraint, hash, cluster.keys[row]) }
        }
    }

    /// Removes the backlinks of the objects that a row links to, except those of deleted objects,
    /// which `gather` removed.
    private func removeLinks(
        _ property: PropertyHandle, of key: Int64, _ cluster: ClusterView, _ row: Int
    ) throws(ModelError) {
        if property.type == .mixed {
            return try removeMixedLinks(property, of: key, cluster, row)
        }
        if property.isCollection {
            let list = try stored { () throws(StorageError) in
                try cluster.list(property.column, row)
            }
            for target in try list.linkTargets() where !isDeleted(target, property.targetPosition) {
                try buffer.removeAllBacklinks(property, target: target, source: key)
            }
        } else if case .int64(let target) = try cluster.cell(row, property),
            !isDeleted(target, property.targetPosition)
        {
            try buffer.removeAllBacklinks(property, target: target, source: key)
        }
    }
}

extension BulkDelete {
    private func removeMixedLinks(
        _ property: PropertyHandle, of key: Int64, _ cluster: ClusterView, _ row: Int
    ) throws(ModelError) {
        let targets: Set<ObjectRef>
        if property.isCollection {
            let list = try stored { () throws(StorageError) in
                try cluster.list(property.column, row)
            }
            targets = try list.mixedTargets()
        } else {
            targets = Set(try MixedValue.links(in: try cluster.cell(row, property)))
        }
        for target in targets
        where !isDeleted(target.key, schema.anyClass(id: target.classID)?.position) {
            try buffer.removeAllBacklinks(
                property, target: target.key, of: target.classID, source: key)
        }
    }
}

extension ClusterView {
    func cell(_ row: Int, _ property: PropertyHandle) throws(ModelError) -> Cell {
        do { return try cell(row, property.column) } catch { throw .storage(error) }
    }
}

extension TreeCursor {
    /// Moves to the first key that is not before `key`. Each call has a greater key.
    fileprivate func advance(to key: UnsafeRawBufferPointer) throws(StorageError) {
        guard isValid else {
            try seek(key)
            return
        }
        for _ in 0..<4 where isValid && self.key.isBefore(key) { try next() }
        if isValid, self.key.isBefore(key) { try seek(key) }
    }
}
