extension StoredSchema {
    /// Throws unless a session with this schema can continue with a newer one of the file: all
    /// visible parts exist under the same ids, and at most accept null in addition.
    func requireStillThere(in newer: StoredSchema) throws(ModelError) {
        var problems: [SchemaProblem] = []
        for owner in visibleClasses {
            guard let now = newer.storedClass(id: owner.id), owner.isSameClass(as: now) else {
                problems.append(
                    SchemaProblem(className: owner.name, text: "is not in the file any more"))
                continue
            }
            if owner.isEmbedded != now.isEmbedded {
                problems.append(
                    SchemaProblem(
                        className: owner.name,
                        text: now.isEmbedded ? "is embedded now" : "is not embedded any more"))
            }
            if owner.primaryKeyID != now.primaryKeyID {
                problems.append(
                    SchemaProblem(className: owner.name, text: "has another primary key now"))
            }
            for property in owner.visibleProperties where property.isStored {
                if let other = now.property(id: property.id), property.isSameProperty(as: other) {
                    continue
                }
                problems.append(
                    SchemaProblem(
                        className: owner.name, property: property.name,
                        text: "is not in the file any more, or is of another type"))
            }
        }
        if !problems.isEmpty { throw .schemaOutdated(stored: newer.version, problems) }
    }
}

extension StoredClass {
    fileprivate func isSameClass(as other: StoredClass) -> Bool {
        persistedName.isSameName(as: other.persistedName)
    }
}

extension StoredProperty {
    fileprivate func isSameProperty(as other: StoredProperty) -> Bool {
        persistedName.isSameName(as: other.persistedName) && (other.isOptional || !isOptional)
    }
}
