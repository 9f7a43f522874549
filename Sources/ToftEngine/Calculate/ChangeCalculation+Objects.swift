internal import ToftModel

extension ChangeCalculation {
    /// The change of an object: of its own properties and, if key paths are watched, beyond its
    /// links.
    mutating func change(of object: ObjectRef, watching paths: WatchedPaths?) throws(EngineError)
        -> ObjectChange
    {
        var change = ObjectChange()
        guard try exists(object, in: new) else {
            change.isDeleted = true
            return change
        }
        change.properties =
            isCompared ? try differences(of: object) : (changes.properties[object] ?? []).sorted()
        if let paths {
            change.properties = try properties(of: object, set: change.properties, on: paths)
        }
        change.oldValues = try oldValues(of: change.properties, of: object)
        return change
    }

    /// The previous values of those properties that have one value. A new property had no value.
    private func oldValues(of properties: [PropertyID], of object: ObjectRef) throws(EngineError)
        -> [PropertyID: Value]
    {
        try model { () throws(ModelError) in
            let owner = try old.schema.classHandle(id: object.classID)
            var values: [PropertyID: Value] = [:]
            for id in properties {
                guard let property = try? owner.property(id: id), property.isStored,
                    property.collection == .none
                else { continue }
                values[id] = try old.value(object.key, property)
            }
            return values
        }
    }

    func exists(_ object: ObjectRef, in view: ModelView) throws(EngineError) -> Bool {
        try model { () throws(ModelError) in try view.exists(object) }
    }

    /// The properties whose values differ.
    func differences(of object: ObjectRef) throws(EngineError) -> [PropertyID] {
        guard changes.rows[object.classID]?.modified.contains(Int(object.key)) == true else {
            return []
        }
        return try model { () throws(ModelError) in
            let (before, after) = (
                try old.schema.classHandle(id: object.classID),
                try new.schema.classHandle(id: object.classID)
            )
            var differing: [PropertyID] = []
            for property in after.visibleProperties where property.isStored {
                guard let was = try? before.property(id: property.id) else {
                    differing.append(property.id)
                    continue
                }
                if try !isEqual(object.key, was, property) { differing.append(property.id) }
            }
            return differing
        }
    }

    private func isEqual(_ key: Int64, _ was: PropertyHandle, _ property: PropertyHandle)
        throws(ModelError) -> Bool
    {
        if property.isCollection {
            if property.collection == .dictionary {
                let (before, after) = (
                    try old.dictionaryKeys(key, was), try new.dictionaryKeys(key, property)
                )
                guard try before.hasSameElements(as: after) else { return false }
            }
            return try old.list(key, was).hasSameElements(as: new.list(key, property))
        }
        return try old.cell(key, was).isEqual(to: new.cell(key, property))
    }
}
