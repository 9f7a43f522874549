internal import ToftStorage

/// The checks that a call of several steps makes before its first one: whether a step would be
/// refused, by the code that refuses it then. Nothing is changed.
extension ModelTransaction {
    /// Throws if an object of a class would not accept values.
    package func check(
        _ owner: ClassHandle, _ values: [(property: PropertyHandle, value: Value)]
    ) throws(ModelError) {
        guard !owner.isHidden else { throw .noSuchClass(owner.name) }
        try withAssignments(values) { assignments throws(ModelError) in
            try prepare(assignments, owner)
        }
    }

    /// Throws if a property of an object can't be set, or would not accept a value.
    package func check(_ key: Int64, _ property: PropertyHandle, _ value: Value) throws(ModelError)
    {
        guard !property.isPrimaryKey else {
            throw .primaryKeyImmutable(className: property.className, property: property.name)
        }
        let owner = view.schema.classes[property.classPosition]
        try view.requireObject(key, owner)
        try check(owner, [(property, value)])
    }

    /// Throws if a collection would not accept an edit.
    package func check(
        _ key: Int64, _ property: PropertyHandle, _ ref: NestedRef?, _ edit: CollectionEdit
    ) throws(ModelError) {
        if let ref {
            _ = try edited(key, property, ref, edit)
            return
        }
        arena.reset()
        switch edit {
        case .insert(let values, let index):
            try checkInsertion(of: values.count, at: index, key, property)
            for value in values { _ = try prepareElement(value, property) }
        case .append(let values):
            try checkRoom(for: values.count, beside: try listCount(key, property), property)
            for value in values { _ = try prepareElement(value, property) }
        case .set(let value, let index):
            try checkIndex(index, key, property)
            _ = try prepareElement(value, property)
        case .erase(let range): try checkErasing(range, of: key, property)
        case .setEntry(let name, let value):
            _ = try prepareEntryKey(name, property)
            _ = try prepareElement(value, property)
            _ = try count(of: .dictionary, key, property)
        case .move, .swap, .eraseEntry, .assign: _ = try listCount(key, property)
        }
    }

    /// Number of embedded objects on the path to an object, itself included: 0 if it is not
    /// embedded. Beyond the limit, any number. O(depth · log objects).
    package func embeddedDepth(of key: Int64, _ owner: ClassHandle) throws(ModelError) -> Int {
        guard owner.isEmbedded, view.schema.mayNestTooDeep[owner.position] else { return 0 }
        return try depth(of: key, owner)
    }

    /// The error for an embedded object in a property that is too deep.
    package func tooDeep(in property: PropertyHandle) -> ModelError {
        .embeddedTooDeep(
            className: property.className, property: property.name, limit: nestingLimit)
    }

    /// The last key that was given to an object of a class whose keys are counted.
    package func lastKey(of owner: ClassHandle) throws(ModelError) -> Int64 {
        try buffer.counter(owner)
    }
}
