internal import ToftModel

extension Passage {
    /// What happened to an object: its own properties only.
    func change(of object: ObjectRef) throws(EngineError) -> ObjectChange {
        var change = ObjectChange()
        if try !exists(object, in: new) {
            change.isDeleted = true
        } else {
            change.properties = isCompared ? try differences(of: object) : (touched.properties[object] ?? []).sorted()
        }
        return change
    }

    func exists(_ object: ObjectRef, in view: ModelView) throws(EngineError) -> Bool {
        try model { () throws(ModelError) in try view.exists(object) }
    }

    /// The properties whose values differ.
    private func differences(of object: ObjectRef) throws(EngineError) -> [PropertyID] {
        guard touched.rows[object.classID]?.modified.contains(Int(object.key)) == true else { return [] }
        return try model { () throws(ModelError) in
            let (before, after) = (try old.schema.classHandle(id: object.classID), try new.schema.classHandle(id: object.classID))
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

    private func isEqual(_ key: Int64, _ was: PropertyHandle, _ property: PropertyHandle) throws(ModelError) -> Bool {
        if property.isList { return try old.listValues(key, was) == new.listValues(key, property) }
        return try old.cell(key, was).isEqual(to: new.cell(key, property))
    }
}
