internal import ToftStorage

/// Embedded objects: each is created by the link or the list that owns it, and deleted when that
/// no longer leads to it.
extension ModelTransaction {
    /// Creates an embedded object in a to-one property, replacing the present one. All or nothing.
    /// O(log objects).
    /// - Returns: the key of the new object.
    package func setEmbedded(
        _ key: Int64, _ property: PropertyHandle,
        _ assignments: UnsafeBufferPointer<Assignment> = UnsafeBufferPointer(start: nil, count: 0)
    ) throws(ModelError) -> Int64 {
        guard property.collection == .none else { throw property.notOneValue }
        try view.requireObject(key, view.schema.classes[property.classPosition])
        let child = try createOwned(by: key, property, assignments)
        try put(.int64(child), to: key, property)
        return child
    }

    /// Creates an embedded object before `index` of a list, or at its end. All or nothing.
    package func listInsertEmbedded(
        _ key: Int64, _ property: PropertyHandle, at index: Int,
        _ assignments: UnsafeBufferPointer<Assignment> = UnsafeBufferPointer(start: nil, count: 0)
    ) throws(ModelError) -> Int64 {
        try checkInsertion(of: 1, at: index, key, property)
        let child = try createOwned(by: key, property, assignments)
        prepared.pointee.begin(view.schema.classes[property.classPosition])
        prepared.pointee.addListCell(.int64(child))
        try append(0..<1, to: key, property, from: index)
        return child
    }

    /// Creates an embedded object at `index` of a list, replacing the present one. All or nothing.
    package func listSetEmbedded(
        _ key: Int64, _ property: PropertyHandle, at index: Int,
        _ assignments: UnsafeBufferPointer<Assignment> = UnsafeBufferPointer(start: nil, count: 0)
    ) throws(ModelError) -> Int64 {
        try checkIndex(index, key, property)
        let child = try createOwned(by: key, property, assignments)
        try replace(index, of: key, property, by: .int64(child))
        return child
    }

    /// Creates an embedded object for a key of a dictionary, replacing the present one. All or
    /// nothing.
    package func dictionarySetEmbedded(
        _ key: Int64, _ property: PropertyHandle, _ entryKey: UnsafeRawBufferPointer,
        _ assignments: UnsafeBufferPointer<Assignment> = UnsafeBufferPointer(start: nil, count: 0)
    ) throws(ModelError) -> Int64 {
        // The caller's bytes may be in the transaction's memory, which moves when the object is
        // created.
        let name = UnsafeMutableRawBufferPointer.allocate(
            byteCount: entryKey.count, alignment: 1)
        defer { name.deallocate() }
        name.copyMemory(from: entryKey)
        let count = try count(of: .dictionary, key, property)
        let position = try view.dictionaryPosition(key, property, of: entryKey)
        if !position.isFound {
            arena.reset()
            _ = try prepareEntryKey(entryKey, property)
            try checkRoom(for: 1, beside: count, property)
        }
        let child = try createOwned(by: key, property, assignments)
        if position.isFound {
            try replace(position.index, of: key, property, by: .int64(child))
        } else {
            try insertEntry(
                try prepareEntryKey(UnsafeRawBufferPointer(name), property), .int64(child),
                at: position.index, of: key, property)
        }
        return child
    }

    /// Creates an object that `key` is to own, and nothing leads to yet.
    private func createOwned(
        by key: Int64, _ property: PropertyHandle, _ assignments: UnsafeBufferPointer<Assignment>
    ) throws(ModelError) -> Int64 {
        guard property.ownsTargets, let position = property.targetPosition else {
            throw .typeMismatch(
                className: property.className, property: property.name,
                expected: property.typeName, found: "an embedded object")
        }
        let target = view.schema.classes[position]
        let depth = try checkedDepth(of: target, in: key, property)
        try prepare(assignments, target)
        try checkOwned(by: nil, target)
        let child = try insert(target)
        if let depth {
            if embeddedDepths.count == Self.depthCapacity { embeddedDepths.removeAll() }
            embeddedDepths[ObjectRef(classID: target.id, key: child)] = depth
        }
        return child
    }

    /// Number of cached depths.
    private static let depthCapacity = 4_096

    /// Number of embedded objects on the path to a new one that `key` is to own, itself included;
    /// nil if that is within the limit for all of its class. O(depth · log objects); O(1) if the
    /// owner was just created.
    private func checkedDepth(
        of target: ClassHandle, in key: Int64, _ property: PropertyHandle
    ) throws(ModelError) -> Int? {
        guard view.schema.mayNestTooDeep[target.position] else { return nil }
        let depth = try 1 + depth(of: key, view.schema.classes[property.classPosition])
        guard depth <= nestingLimit else { throw tooDeep(in: property) }
        return depth
    }

    /// Number of embedded objects on the path to an object, itself included; more than the limit
    /// once that is passed.
    func depth(of key: Int64, _ owner: ClassHandle) throws(ModelError) -> Int {
        var object = key, owner = owner, depth = 0
        while owner.isEmbedded {
            if let known = embeddedDepths[ObjectRef(classID: owner.id, key: object)] {
                return depth + known
            }
            depth += 1
            guard depth <= nestingLimit, let outer = try view.embeddingObject(of: object, owner)
            else { break }
            (object, owner) = outer
        }
        return depth
    }

    /// Throws if one of the prepared values is an embedded object that `key` does not own there
    /// already; nil is a new object.
    func checkOwned(by key: Int64?, _ owner: ClassHandle) throws(ModelError) {
        guard !owner.owning.isEmpty else { return }
        for element in prepared.pointee.elements where !element.isKeys {
            let property = owner.properties[element.position]
            guard property.ownsTargets else { continue }
            if !element.isList {
                try checkOwned(element.cell, by: key, property)
            } else if property.collection == .list, !element.list.isEmpty {
                guard let key, try holds(element.list, key, property) else {
                    throw property.alreadyOwned
                }
            } else {
                for index in element.list {
                    try checkOwned(prepared.pointee.listCells[index], at: nil, of: 0, property)
                }
            }
        }
    }

    /// Throws if one value of a to-one property is an embedded object that is not owned there
    /// already.
    func checkOwned(_ cell: Cell, by key: Int64?, _ property: PropertyHandle) throws(ModelError) {
        if case .null = cell { return }
        guard let key, try view.cell(key, property).isIdentical(to: cell) else {
            throw property.alreadyOwned
        }
    }

    /// Throws if one value of a collection, its future element at `index`, is an embedded object
    /// that is not owned there already; nil is a new element.
    func checkOwned(
        _ cell: Cell, at index: Int?, of key: Int64, _ property: PropertyHandle
    ) throws(ModelError) {
        if case .null = cell { return }
        guard let index, try view.listCell(key, property, at: index).isIdentical(to: cell) else {
            throw property.alreadyOwned
        }
    }

    /// Whether a list has just the prepared cells of `range`.
    private func holds(_ range: Range<Int>, _ key: Int64, _ property: PropertyHandle)
        throws(ModelError) -> Bool
    {
        guard try listCount(key, property) == range.count else { return false }
        for (index, cellIndex) in range.enumerated() {
            let cell = prepared.pointee.listCells[cellIndex]
            guard try view.listCell(key, property, at: index).isIdentical(to: cell) else {
                return false
            }
        }
        return true
    }

    /// Deletes an embedded object that its owner's link or list no longer leads to. Does nothing
    /// for the target of a property that does not own it.
    func dropTarget(_ target: Int64, _ property: PropertyHandle) throws(ModelError) {
        guard property.ownsTargets, let position = property.targetPosition else { return }
        try addDeletes([target], view.schema.classes[position], derived: true)
    }
}

extension PropertyHandle {
    /// The error for linking to an embedded object, which has an owner.
    var alreadyOwned: ModelError { .alreadyOwned(className: className, property: name) }
}
