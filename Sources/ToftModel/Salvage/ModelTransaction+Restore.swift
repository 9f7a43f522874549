internal import ToftStorage

/// Writes salvaged objects: with their old keys, and without the rules that apply to callers.
extension ModelTransaction {
    /// Creates an object with the key that it had, which no object of the class has now. A class
    /// need not be visible, and an embedded object has no owner yet.
    /// - Parameter uniques: the values of unique constraints that were restored before.
    /// - Returns: false, without a change, if another object has the primary key or the values of a
    ///   unique constraint.
    /// - Throws: as `create`.
    func restore(
        _ key: Int64, _ owner: ClassHandle, _ values: [(property: PropertyHandle, value: Value)],
        _ uniques: inout Set<SalvagedUnique>
    ) throws(ModelError) -> Bool {
        var values = values
        if let property = owner.primaryKey, !values.contains(where: { $0.property === property }) {
            values.append((property, .null))
        }
        var seen: Set<SalvagedUnique> = []
        let isDone = try withAssignments(values) { assignments throws(ModelError) -> Bool in
            try prepare(assignments, owner)
            if try findPrepared(owner) != nil { return false }
            for constraint in owner.uniques {
                let hash = try constraint.hash { property throws(ModelError) in
                    owner.anyPosition(id: property.id).flatMap { prepared.pointee.cell(at: $0) }
                        ?? property.defaultCell
                }
                guard let hash else { continue }
                let unique = SalvagedUnique(slot: constraint.slot, hash: hash)
                if uniques.contains(unique) { return false }
                seen.insert(unique)
            }
            _ = try insert(owner, as: key)
            return true
        }
        uniques.formUnion(seen)
        return isDone
    }

    /// Sets properties of an object that was restored. Embedded objects need no owner before.
    /// - Throws: as `set`.
    func relink(
        _ key: Int64, _ owner: ClassHandle, _ values: [(property: PropertyHandle, value: Value)]
    ) throws(ModelError) {
        try withAssignments(values) { assignments throws(ModelError) in
            try prepare(assignments, owner)
            for element in prepared.pointee.elements where !element.isKeys {
                let property = owner.properties[element.position]
                if element.isList, property.ownsTargets, property.collection == .list {
                    // An assignment would rely on their existence.
                    try append(element.list, to: key, property, from: 0)
                } else {
                    try apply(element, to: key, owner, policy: .all)
                }
            }
        }
    }

    /// Whether a value can be written to a property.
    func takes(_ value: Value, _ property: PropertyHandle, _ owner: ClassHandle) -> Bool {
        (try? withAssignments([(property, value)]) { assignments throws(ModelError) in
            try prepare(assignments, owner)
        }) != nil
    }
}

/// The values of one object in one unique constraint, by their hash.
struct SalvagedUnique: Hashable {
    let slot: Int
    let hash: UInt64
}
