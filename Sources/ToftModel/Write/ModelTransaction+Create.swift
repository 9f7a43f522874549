internal import ToftStorage

extension ModelTransaction {
    /// Creates an object with the given properties; the others get their defaults: null if
    /// optional, otherwise zero, false or empty.
    ///
    /// A class with a primary key needs it among them, unless it is auto-incremented: then the
    /// object gets the next one. If an object has it already, `policy` decides. All or nothing.
    /// O(log objects).
    /// - Parameter valuesOfNew: number of the last assignments that are for a new object alone.
    /// - Returns: the object's key, and whether it is new.
    @discardableResult
    package func create(
        _ owner: ClassHandle, _ assignments: UnsafeBufferPointer<Assignment>,
        policy: UpdatePolicy = .error, valuesOfNew: Int = 0
    ) throws(ModelError) -> (key: Int64, isNew: Bool) {
        guard !owner.isHidden else { throw .noSuchClass(owner.name) }
        guard !owner.isEmbedded else { throw .embeddedClass(owner.name) }
        if owner.primaryKey == nil, policy != .error { throw .noPrimaryKey(className: owner.name) }
        let ofNew = policy == .error ? 0 : valuesOfNew
        try prepare(UnsafeBufferPointer(rebasing: assignments.dropLast(ofNew)), owner)
        if owner.isAutoIncremented { try giveNextKey(owner) }
        if let existing = try findPrepared(owner) {
            guard policy != .error else { throw duplicate(owner) }
            try checkOwned(by: existing, owner)
            for element in prepared.pointee.elements
            where !element.isKeys && !owner.properties[element.position].isPrimaryKey {
                try apply(element, to: existing, owner, policy: policy)
            }
            return (existing, false)
        }
        if ofNew > 0 {
            try prepare(assignments, owner)
            if owner.isAutoIncremented { try giveNextKey(owner) }
        }
        try checkOwned(by: nil, owner)
        return (try insert(owner), true)
    }

    /// Creates an object of values that the caller owns.
    @discardableResult
    package func create(
        _ owner: ClassHandle, _ values: [(property: PropertyHandle, value: Value)] = [],
        policy: UpdatePolicy = .error
    ) throws(ModelError) -> (key: Int64, isNew: Bool) {
        try withAssignments(values) { assignments throws(ModelError) in
            try create(owner, assignments, policy: policy)
        }
    }

    /// The key of the object that has the prepared primary key; nil if there is no such object.
    func findPrepared(_ owner: ClassHandle) throws(ModelError) -> Int64? {
        guard let property = owner.primaryKey else { return nil }
        let cell = try primaryKeyCell(property, owner)
        guard let found = try view.findRow(cell: cell, property, owner) else { return nil }
        guard buffer.isDeleted(found, owner.position) else { return found }
        // The deleted object's entry is removed before the new object's is added.
        try buffer.flushDeletes()
        return nil
    }

    /// Gives a new object the next primary key if the caller gave no key.
    private func giveNextKey(_ owner: ClassHandle) throws(ModelError) {
        guard let property = owner.primaryKey, let position = owner.anyPosition(id: property.id),
            prepared.pointee.cell(at: position) == nil
        else { return }
        let (next, overflows) = try buffer.counter(owner).addingReportingOverflow(1)
        guard !overflows else {
            throw .primaryKeysExhausted(className: owner.name, property: property.name)
        }
        prepared.pointee.add(
            RowValue(column: property.column, tag: position, cell: .int64(next)))
    }

    private func primaryKeyCell(_ property: PropertyHandle, _ owner: ClassHandle) throws(ModelError)
        -> Cell
    {
        guard let position = owner.anyPosition(id: property.id),
            let cell = prepared.pointee.cell(at: position)
        else {
            throw .primaryKeyMissing(className: owner.name, property: property.name)
        }
        return cell
    }

    private func duplicate(_ owner: ClassHandle) -> ModelError {
        guard let property = owner.primaryKey, let cell = try? primaryKeyCell(property, owner),
            let value = try? property.value(of: cell)
        else {
            return .noPrimaryKey(className: owner.name)
        }
        return .duplicatePrimaryKey(className: owner.name, value: value)
    }

    /// Inserts a row with the prepared values, and adds every entry that leads to it.
    /// - Parameter given: the key that it is to have, which no row has; nil: the next one.
    func insert(_ owner: ClassHandle, as given: Int64? = nil) throws(ModelError) -> Int64 {
        giveDefaults(owner)
        let key = try stored { () throws(StorageError) in
            let key = if let given { given } else { try writing.takeKey(owner.table) }
            try prepared.pointee.withContent { content throws(StorageError) in
                try writing.rowInsert(owner.table, key, content, derived: false)
            }
            return key
        }
        buffer.noteCreated(key, owner)
        if let property = owner.primaryKey {
            let cell = try primaryKeyCell(property, owner)
            try buffer.addPrimaryKey(cell, property, owner, key)
            if owner.isAutoIncremented { try buffer.moveCounter(owner, to: cell) }
        }
        for property in owner.indexed {
            guard let position = owner.anyPosition(id: property.id) else { continue }
            try buffer.addIndexEntry(
                prepared.pointee.cell(at: position) ?? property.defaultCell, property, key)
        }
        if !owner.uniques.isEmpty { try addUniques(key, owner) }
        try buffer.flushExcessEntries()
        for property in owner.links {
            if let position = owner.anyPosition(id: property.id),
                let value = prepared.pointee.value(at: position)
            {
                try addBacklinks(value, property, key)
            }
        }
        return key
    }

    /// Gives a value to properties that would otherwise be null, which the session did not declare.
    private func giveDefaults(_ owner: ClassHandle) {
        for position in owner.declaredRequired
        where prepared.pointee.cell(at: position) == nil && !owner.properties[position].isCollection
        {
            let property = owner.properties[position]
            prepared.pointee.add(
                RowValue(column: property.column, tag: position, cell: property.defaultCell))
        }
    }

    private func addBacklinks(_ value: RowValue, _ property: PropertyHandle, _ key: Int64)
        throws(ModelError)
    {
        guard property.type == .link else {
            try replaceMixedLinks(property, of: key, [], by: value.cell)
            for cellIndex in value.list {
                try replaceMixedLinks(
                    property, of: key, [], by: prepared.pointee.listCells[cellIndex])
            }
            return
        }
        if case .int64(let target) = value.cell {
            try addBacklink(property, target: target, source: key)
        }
        for cellIndex in value.list {
            if case .int64(let target) = prepared.pointee.listCells[cellIndex] {
                try addBacklink(property, target: target, source: key)
            }
        }
    }

    /// Lends values as assignments. Copies their texts and bytes to one block of memory, so that
    /// all of them are borrowed at once.
    package func withAssignments<Result>(
        _ values: [(property: PropertyHandle, value: Value)],
        _ body: (UnsafeBufferPointer<Assignment>) throws(ModelError) -> Result
    ) throws(ModelError) -> Result {
        let arena = UnsafeMutableRawBufferPointer.allocate(
            byteCount: values.reduce(0) { $0 + $1.value.byteCount }, alignment: 1)
        defer { arena.deallocate() }
        let assignments = UnsafeMutableBufferPointer<Assignment>.allocate(capacity: values.count)
        defer { assignments.deallocate() }
        var used = 0, lender: ValueLender?
        for (index, item) in values.enumerated() {
            assignments.initializeElement(
                at: index,
                to: Assignment(
                    item.property.id, item.value.lent(in: arena, at: &used, or: &lender)))
        }
        defer { withExtendedLifetime(lender) {} }
        return try body(UnsafeBufferPointer(assignments))
    }
}

extension Value {
    /// Bytes of text or data that lending takes.
    fileprivate var byteCount: Int {
        switch self {
        case .string(let text): text.utf8.count
        case .data(let bytes): bytes.count
        default: 0
        }
    }

    /// The value, its text or bytes copied to `used` of the arena; a collection is lent by
    /// `lender`.
    fileprivate func lent(
        in arena: UnsafeMutableRawBufferPointer, at used: inout Int, or lender: inout ValueLender?
    ) -> BorrowedValue {
        func copy(_ bytes: some Collection<UInt8>) -> UnsafeRawBufferPointer {
            let copy = UnsafeMutableRawBufferPointer(rebasing: arena[used..<(used + bytes.count)])
            copy.copyBytes(from: bytes)
            used += bytes.count
            return UnsafeRawBufferPointer(copy)
        }
        switch self {
        case .string(let text): return .string(copy(text.utf8))
        case .data(let bytes): return .data(copy(bytes))
        case .list, .dictionary:
            let lends = lender ?? ValueLender()
            lender = lends
            return lends.lend(self)
        default: return plain
        }
    }
}

extension PropertyHandle {
    /// The initial value of a new object.
    var defaultCell: Cell {
        if isNullable, !isDeclaredRequired { return .null }
        switch type {
        case .bool: return .bool(false)
        case .int: return .int64(0)
        case .float: return .float32(0)
        case .double: return .float64(0)
        case .date: return .timestamp(Timestamp(seconds: 0, nanoseconds: 0))
        case .string, .data: return .bytes(UnsafeRawBufferPointer(start: nil, count: 0))
        case .objectId, .uuid, .decimal128: return .fixed(.zero)
        case .link, .linkingObjects, .mixed: return .null
        }
    }
}

extension ModelTransaction {
    /// Has the keys of a class go on after this one, unless they are beyond it.
    package func moveKeyCounter(of owner: ClassHandle, to key: Int64) throws(ModelError) {
        if owner.isAutoIncremented { try buffer.moveCounter(owner, to: .int64(key)) }
    }
}
