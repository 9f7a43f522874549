package import ToftStorage

/// One thing that differs between the schema of a file before and after an opening, in plain words.
package struct SchemaDifference: Sendable, CustomStringConvertible {
    /// Raw values are those of toft.h.
    package enum Kind: UInt32, Sendable {
        case classAdded = 1
        case classRemoved = 2
        case classRenamed = 3
        /// Its primary key, what is unique, or whether it is embedded.
        case classChanged = 4
        case propertyAdded = 5
        case propertyRemoved = 6
        case propertyRenamed = 7
        /// Its type, its index, or what deletions do along it.
        case propertyChanged = 8
    }

    package var kind: Kind
    /// The name afterwards; of a class that is removed, before.
    package var className: String
    package var property: String?
    package var text: String

    package var description: String {
        SchemaProblem(className: className, property: property, text: text).description
    }
}

extension StoredSchema {
    /// The schema that a version of a file holds.
    package static func read(_ snapshot: Snapshot) throws(ModelError) -> StoredSchema {
        try SchemaTree.read(snapshot)
    }

    /// What is otherwise in a later schema of the same file, class by class. Of a class that is
    /// new, hidden or shown again, the properties are not told.
    package func differences(to later: StoredSchema) -> [SchemaDifference] {
        var found: [SchemaDifference] = []
        for id in Set((classes + later.classes).map(\.id)).sorted() {
            let was = storedClass(id: id), now = later.storedClass(id: id)
            differences(was, now, later) { kind, property, text in
                let name = kind == .classRemoved ? was?.persistedName : now?.persistedName
                found.append(
                    SchemaDifference(
                        kind: kind, className: name ?? "#\(id)", property: property, text: text))
            }
        }
        return found
    }

    private func differences(
        _ was: StoredClass?, _ now: StoredClass?, _ later: StoredSchema,
        _ add: (SchemaDifference.Kind, String?, String) -> Void
    ) {
        guard let was else { return add(.classAdded, nil, "is added") }
        if was.isRetired { return }
        guard let now, !now.isRetired else {
            return add(.classRemoved, nil, "is deleted with its objects")
        }
        if !now.persistedName.isSameName(as: was.persistedName) {
            add(.classRenamed, nil, "has a new name, it was '\(was.persistedName)'")
        }
        guard now.isHidden == was.isHidden else {
            return add(
                now.isHidden ? .classRemoved : .classAdded, nil,
                now.isHidden ? "is hidden, its objects stay" : "is shown again")
        }
        was.differences(to: now, before: self, after: later, add)
    }
}

extension StoredClass {
    fileprivate func differences(
        to now: StoredClass, before: StoredSchema, after: StoredSchema,
        _ add: (SchemaDifference.Kind, String?, String) -> Void
    ) {
        let key = now.primaryKey?.persistedName
        if primaryKey?.persistedName != key {
            add(
                .classChanged, nil,
                key.map { "has the primary key '\($0)'" } ?? "has no primary key any more")
        }
        if now.isEmbedded != isEmbedded {
            add(.classChanged, nil, now.isEmbedded ? "is embedded" : "is no longer embedded")
        }
        for (owner, other, verb) in [
            (now, self, "are unique"), (self, now, "are no longer unique"),
        ] {
            for unique in owner.uniques
            where !other.uniques.contains(where: { $0.properties == unique.properties }) {
                let names = unique.properties.compactMap { owner.property(id: $0)?.persistedName }
                add(
                    .classChanged, nil,
                    "has properties that \(verb): \(names.joined(separator: ", "))")
            }
        }
        for property in now.properties where !property.isRetired {
            let name = property.persistedName, type = after.typeName(of: property)
            if let old = self.property(id: property.id) {
                old.differences(to: property, add)
            } else if let old = active(name) {
                add(.propertyChanged, name, "is \(type), was \(before.typeName(of: old))")
            } else {
                add(.propertyAdded, name, "is added: \(type)")
            }
        }
        for property in properties where !property.isRetired {
            let name = property.persistedName
            if now.property(id: property.id)?.isRetired != false, now.active(name) == nil {
                add(.propertyRemoved, name, "is removed")
            }
        }
    }

    private func active(_ name: String) -> StoredProperty? {
        properties.first { $0.persistedName.isSameName(as: name) }
    }
}

extension StoredProperty {
    fileprivate func differences(
        to now: StoredProperty, _ add: (SchemaDifference.Kind, String?, String) -> Void
    ) {
        let name = now.persistedName
        if !name.isSameName(as: persistedName) {
            add(.propertyRenamed, name, "has a new name, it was '\(persistedName)'")
        }
        if now.isHidden != isHidden {
            add(
                now.isHidden ? .propertyRemoved : .propertyAdded, name,
                now.isHidden ? "is hidden, its values stay" : "is shown again")
        }
        if now.isOptional != isOptional { add(.propertyChanged, name, "is optional now") }
        if now.isIndexed != isIndexed {
            add(.propertyChanged, name, now.isIndexed ? "is indexed" : "is no longer indexed")
        }
        if now.isAutoIncremented != isAutoIncremented {
            add(
                .propertyChanged, name,
                now.isAutoIncremented ? "is counted" : "is no longer counted")
        }
        if now.deleteRule != deleteRule {
            add(.propertyChanged, name, "has the delete rule \(now.deleteRule)")
        }
        if now.type == .linkingObjects,
            now.targetClassID != targetClassID || now.originPropertyID != originPropertyID
        {
            add(.propertyChanged, name, "follows another link")
        }
    }
}

extension StoredSchema {
    fileprivate func typeName(of property: StoredProperty) -> String {
        property.typeName(
            target: property.targetClassID.flatMap { storedClass(id: $0)?.persistedName })
    }
}
