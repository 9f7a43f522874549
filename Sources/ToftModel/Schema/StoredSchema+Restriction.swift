extension StoredSchema {
    /// What a session with this declared schema sees: classes and properties that it lacks are
    /// hidden, the others have its names and take null where it says so too.
    func restricted(to schema: Schema) -> StoredSchema {
        var seen = self
        for index in seen.classes.indices {
            let stored = seen.classes[index]
            let declared = schema.classes.first {
                $0.persistedName.isSameName(as: stored.persistedName)
            }
            seen.classes[index].restrict(to: declared)
        }
        return seen
    }
}

extension StoredClass {
    fileprivate mutating func restrict(to declared: ClassSchema?) {
        isHidden = declared == nil
        name = declared?.name ?? persistedName
        for index in properties.indices {
            let persistedName = properties[index].persistedName
            let property = declared?.properties.first {
                $0.persistedName.isSameName(as: persistedName)
            }
            properties[index].isHidden = property == nil
            properties[index].isDeclaredRequired =
                properties[index].isOptional && property?.isOptional == false
            properties[index].name = property?.name ?? persistedName
        }
    }
}
