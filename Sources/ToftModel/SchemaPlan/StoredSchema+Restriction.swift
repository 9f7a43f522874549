extension StoredSchema {
    /// The view of a session with this declared schema: classes and properties that it lacks are
    /// hidden, the others have its names and accept null if it says so too.
    func restricted(to schema: Schema) -> StoredSchema {
        var seen = self
        let positions = NameIndex(schema.classes.lazy.map(\.persistedName))
        for index in seen.classes.indices {
            let declared = positions[seen.classes[index].persistedName].map { schema.classes[$0] }
            seen.classes[index].restrict(to: declared)
        }
        return seen
    }

    /// The whole schema of the file: with the parts that an opening with fewer classes and a higher
    /// version has hidden, but without those that a migration has retired.
    func revealed() -> StoredSchema {
        var seen = self
        for index in seen.classes.indices where !seen.classes[index].isRetired {
            seen.classes[index].isHidden = false
            for position in seen.classes[index].properties.indices
            where !seen.classes[index].properties[position].isRetired {
                seen.classes[index].properties[position].isHidden = false
            }
        }
        return seen
    }
}

extension StoredClass {
    fileprivate mutating func restrict(to declared: ClassSchema?) {
        isHidden = declared == nil
        name = declared?.name ?? persistedName
        let declaredProperties = declared?.properties ?? []
        let positions = NameIndex(declaredProperties.lazy.map(\.persistedName))
        for index in properties.indices {
            let persistedName = properties[index].persistedName
            let property = positions[persistedName].map { declaredProperties[$0] }
            properties[index].isHidden = property == nil
            properties[index].isDeclaredRequired =
                properties[index].isOptional && property?.isOptional == false
            properties[index].name = property?.name ?? persistedName
        }
    }
}
