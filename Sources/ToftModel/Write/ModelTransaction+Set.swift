internal import ToftStorage

extension ModelTransaction {
    /// Sets a property, also to the value that it has: that is a change too. O(log objects).
    @inline(__always)
    package func set(_ key: Int64, _ property: PropertyHandle, _ value: BorrowedValue)
        throws(ModelError)
    {
        guard !property.isPrimaryKey else {
            throw .primaryKeyImmutable(className: property.className, property: property.name)
        }
        if property.isCollection { return try assign(value, to: key, property) }
        arena.reset()
        let cell = try prepareCell(value, property)
        if property.ownsTargets { try checkOwned(cell, by: key, property) }
        try put(cell, to: key, property)
    }

    /// Adds an amount to an integer property. The commit record keeps the amount beside the result,
    /// unless the transaction is so large that it keeps no values. O(log objects).
    /// - Throws: `typeMismatch` (not an integer), `nullNotAllowed` (the property is null),
    ///   `additionOverflow`; nothing is changed then.
    package func add(_ amount: Int64, to key: Int64, _ property: PropertyHandle)
        throws(ModelError)
    {
        let sum = try sum(adding: amount, to: key, property)
        if property.hasEntries {
            try putWithEntries(.int64(sum), to: key, property, adding: amount)
        } else {
            try putCell(.int64(sum), to: key, property, adding: amount)
        }
    }

    /// The value that `add` would give the property, with its errors.
    package func sum(adding amount: Int64, to key: Int64, _ property: PropertyHandle)
        throws(ModelError) -> Int64
    {
        guard !property.isPrimaryKey else {
            throw .primaryKeyImmutable(className: property.className, property: property.name)
        }
        guard property.type == .int, !property.isCollection else {
            throw .typeMismatch(
                className: property.className, property: property.name,
                expected: property.typeName, found: "an int to add to")
        }
        try view.requireObject(key, view.schema.classes[property.classPosition])
        let old: Int64
        switch try view.cell(key, property) {
        case .int64(let value): old = value
        // The session did not declare null: it adds to the value that it would have created.
        case .null where property.isDeclaredRequired: old = 0
        default: throw .nothingToAddTo(className: property.className, property: property.name)
        }
        let (sum, overflows) = old.addingReportingOverflow(amount)
        guard !overflows else {
            throw .additionOverflow(
                className: property.className, property: property.name, value: old, amount: amount)
        }
        return sum
    }

    /// Sets a value that the caller owns.
    package func set(_ key: Int64, _ property: PropertyHandle, _ value: Value) throws(ModelError) {
        try value.withBorrowed { value throws(ModelError) in try set(key, property, value) }
    }

    /// Sets several properties of one object, lists too: all or nothing.
    package func set(
        _ key: Int64, _ owner: ClassHandle, _ assignments: UnsafeBufferPointer<Assignment>,
        policy: UpdatePolicy = .all
    ) throws(ModelError) {
        try prepareUpdate(assignments, owner)
        try view.requireObject(key, owner)
        try checkOwned(by: key, owner)
        for element in prepared.pointee.elements where !element.isKeys {
            try apply(element, to: key, owner, policy: policy)
        }
    }

    /// Sets several properties of each of some objects to the same values: all or nothing.
    package func set(
        _ keys: [Int64], _ owner: ClassHandle, _ assignments: UnsafeBufferPointer<Assignment>
    ) throws(ModelError) {
        try prepareUpdate(assignments, owner)
        for key in keys {
            try view.requireObject(key, owner)
            try checkOwned(by: key, owner)
        }
        let elements = prepared.pointee.elements
        // An assignment may have deleted some of them: embedded objects within others.
        for key in keys where try view.exists(key, owner) {
            for element in elements where !element.isKeys {
                try apply(element, to: key, owner, policy: .all)
            }
        }
    }

    /// Prepares values for objects that exist.
    private func prepareUpdate(
        _ assignments: UnsafeBufferPointer<Assignment>, _ owner: ClassHandle
    ) throws(ModelError) {
        try prepare(assignments, owner)
        for element in prepared.pointee.elements
        where owner.properties[element.position].isPrimaryKey {
            throw .primaryKeyImmutable(
                className: owner.name, property: owner.properties[element.position].name)
        }
    }

    /// Sets values that the caller owns.
    package func set(
        _ key: Int64, _ owner: ClassHandle, _ values: [(property: PropertyHandle, value: Value)],
        policy: UpdatePolicy = .all
    ) throws(ModelError) {
        try withAssignments(values) { assignments throws(ModelError) in
            try set(key, owner, assignments, policy: policy)
        }
    }

    /// Sets one prepared property of an object that exists.
    func apply(
        _ element: RowValue, to key: Int64, _ owner: ClassHandle, policy: UpdatePolicy
    ) throws(ModelError) {
        let property = owner.properties[element.position]
        if element.isList {
            return switch property.collection {
            case .none, .list: try assignList(element.list, to: key, property, policy: policy)
            case .set: try assignSet(element.list, to: key, property, policy: policy)
            case .dictionary:
                try assignDictionary(element.list, to: key, property, policy: policy)
            }
        }
        if policy == .modified,
            try view.cell(key, property).isIdentical(to: element.cell, of: property.type)
        {
            return
        }
        try put(element.cell, to: key, property)
    }

    /// Sets a checked cell and keeps indexes, unique constraints and backlinks up.
    @inline(__always)
    func put(_ cell: Cell, to key: Int64, _ property: PropertyHandle) throws(ModelError) {
        if property.hasEntries { return try putWithEntries(cell, to: key, property) }
        try putCell(cell, to: key, property)
    }

    @inline(__always)
    func putCell(
        _ cell: Cell, to key: Int64, _ property: PropertyHandle, adding amount: Int64? = nil
    ) throws(ModelError) {
        try view.requireObject(key, view.schema.classes[property.classPosition])
        try buffer.add(cell, to: key, property, adding: amount)
        try stored { () throws(StorageError) in try writing.spillKept() }
    }

    private func putWithEntries(
        _ cell: Cell, to key: Int64, _ property: PropertyHandle, adding amount: Int64? = nil
    ) throws(ModelError) {
        let old = try view.cell(key, property)
        if property.isUnique { try replaceUniques(cell, of: key, property) }
        if property.type == .link {
            var was: Int64?, now: Int64?
            if case .int64(let target) = old { was = target }
            if case .int64(let target) = cell { now = target }
            try putCell(cell, to: key, property)
            guard was != now else { return }
            if let was { try removeBacklink(property, target: was, source: key) }
            if let now { try addBacklink(property, target: now, source: key) }
            if let was { try dropTarget(was, property) }
        } else if property.type == .mixed {
            let links = try MixedValue.links(in: old)
            if property.isIndexed {
                try putIndexed(cell, to: key, property, old: old)
            } else {
                try putCell(cell, to: key, property)
            }
            try replaceMixedLinks(property, of: key, links, by: cell)
        } else {
            if property.isIndexed {
                try putIndexed(cell, to: key, property, old: old, adding: amount)
            } else {
                try putCell(cell, to: key, property, adding: amount)
                try buffer.flushExcessEntries()
            }
        }
    }

    private func putIndexed(
        _ cell: Cell, to key: Int64, _ property: PropertyHandle, old: Cell,
        adding amount: Int64? = nil
    ) throws(ModelError) {
        try buffer.replaceIndexEntry(property, key, old: old, new: cell) {
            () throws(ModelError) in
            try putCell(cell, to: key, property, adding: amount)
        }
        try buffer.flushExcessEntries()
    }
}
