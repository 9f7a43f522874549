internal import ToftPlatform
package import ToftStorage

/// One thing that differs between the schema of a file before and after an opening, in plain words.
package struct SchemaDifference: Sendable, CustomStringConvertible {
    /// Raw values are those of toft.h.
    package enum Kind: UInt32, Sendable {
        case classAdded = 1
        case classRemoved = 2
        case classRenamed = 3
        /// Its primary key, unique properties, or embedding.
        case classChanged = 4
        case propertyAdded = 5
        case propertyRemoved = 6
        case propertyRenamed = 7
        /// Its type, its index, or its delete rule.
        case propertyChanged = 8
    }

    package var kind: Kind
    /// The name afterwards; of a class that is removed, before.
    package var className: String
    package var property: String?
    fileprivate var text: String
    /// The possible new name of a class or a property that is missing.
    fileprivate var newName: String?

    package var description: String {
        let problem = SchemaProblem(className: className, property: property, text: text)
        guard let newName else { return problem.description }
        return "\(problem). Did you rename it to '\(newName)'? Rename it in a migration then"
    }
}

extension SchemaDifference {
    /// The log level of the difference; nil for no message: only losses of the program are
    /// reported.
    /// - Parameter isChange: whether the opening has changed the file.
    func level(isChange: Bool) -> Diagnostics.Level? {
        guard kind == .classRemoved || kind == .propertyRemoved else { return nil }
        return newName != nil ? .warn : isChange ? .info : .detail
    }
}

extension StoredSchema {
    /// The schema that a version of a file holds.
    package static func read(_ snapshot: Snapshot) throws(ModelError) -> StoredSchema {
        try SchemaTree.read(snapshot)
    }

    /// The differences of a later schema of the same file, as a program sees them, class by class:
    /// undeclared classes and properties are hidden. Properties are left out for a class that is
    /// new, hidden or shown again.
    package func differences(to later: StoredSchema, seenBy declared: Schema) -> [SchemaDifference]
    {
        let later = later.restricted(to: declared)
        var found: [SchemaDifference] = []
        for id in Set((classes + later.classes).map(\.id)).sorted() {
            let was = storedClass(id: id), now = later.storedClass(id: id)
            differences(was, now, later) { kind, property, text, newName in
                let name = kind == .classRemoved ? was?.persistedName : now?.persistedName
                found.append(
                    SchemaDifference(
                        kind: kind, className: name ?? "#\(id)", property: property, text: text,
                        newName: newName))
            }
        }
        return found
    }

    private func differences(
        _ was: StoredClass?, _ now: StoredClass?, _ later: StoredSchema,
        _ add: AddDifference
    ) {
        guard let was else { return add(.classAdded, nil, "is added", nil) }
        if was.isRetired { return }
        guard let now, !now.isRetired else {
            return add(.classRemoved, nil, "is deleted with its objects", nil)
        }
        if !now.persistedName.isSameName(as: was.persistedName) {
            add(.classRenamed, nil, "has a new name, it was '\(was.persistedName)'", nil)
        }
        switch (was.isHidden, now.isHidden) {
        case (false, false): was.differences(to: now, before: self, after: later, add)
        case (true, false): add(.classAdded, nil, "is shown again", nil)
        case (false, true):
            add(
                .classRemoved, nil, "is hidden, its objects stay", newName(of: was, in: later))
        case (true, true): break
        }
    }

    /// The class that is new and may be a hidden one: the one that has the most properties of its
    /// names.
    private func newName(of was: StoredClass, in later: StoredSchema) -> String? {
        let names = Set(was.properties.map(\.persistedName))
        func shared(_ other: StoredClass) -> Int {
            other.properties.count { names.contains($0.persistedName) }
        }
        let added = later.visibleClasses.filter { storedClass(id: $0.id) == nil && shared($0) > 0 }
        return added.max { shared($0) < shared($1) }?.persistedName
    }
}

private typealias AddDifference = (
    _ kind: SchemaDifference.Kind, _ property: String?, _ text: String, _ newName: String?
) -> Void

extension StoredClass {
    fileprivate func differences(
        to now: StoredClass, before: StoredSchema, after: StoredSchema, _ add: AddDifference
    ) {
        let key = now.primaryKey?.persistedName
        if primaryKey?.persistedName != key {
            add(
                .classChanged, nil,
                key.map { "has the primary key '\($0)'" } ?? "has no primary key any more", nil)
        }
        if now.isEmbedded != isEmbedded {
            add(.classChanged, nil, now.isEmbedded ? "is embedded" : "is no longer embedded", nil)
        }
        for (owner, other, verb) in [
            (now, self, "are unique"), (self, now, "are no longer unique"),
        ] {
            for unique in owner.uniques
            where !other.uniques.contains(where: { $0.properties == unique.properties }) {
                let names = unique.properties.compactMap { owner.property(id: $0)?.persistedName }
                add(
                    .classChanged, nil,
                    "has properties that \(verb): \(names.joined(separator: ", "))", nil)
            }
        }
        for property in now.properties where !property.isRetired {
            let name = property.persistedName, type = after.typeName(of: property)
            if let old = self.property(id: property.id) {
                old.differences(to: property, add) { newName(of: old, in: now, before, after) }
            } else if let old = active(name) {
                add(.propertyChanged, name, "is \(type), was \(before.typeName(of: old))", nil)
            } else {
                add(.propertyAdded, name, "is added: \(type)", nil)
            }
        }
        for property in properties where !property.isRetired {
            let name = property.persistedName
            if now.property(id: property.id)?.isRetired != false, now.active(name) == nil {
                add(
                    .propertyRemoved, name,
                    property.isStored ? "is removed with its values" : "is removed",
                    newName(of: property, in: now, before, after))
            }
        }
    }

    /// The new property that may be a renamed one: of the same type, optional or not, and the
    /// nearest name.
    private func newName(
        of old: StoredProperty, in now: StoredClass, _ before: StoredSchema, _ after: StoredSchema
    ) -> String? {
        let type = before.requiredTypeName(of: old)
        let added = now.visibleProperties.filter {
            property(id: $0.id) == nil && active($0.persistedName) == nil
                && after.requiredTypeName(of: $0) == type
        }
        return added.map(\.persistedName).min {
            NearestName.distance($0, old.persistedName)
                < NearestName.distance($1, old.persistedName)
        }
    }

    private func active(_ name: String) -> StoredProperty? {
        properties.first { $0.persistedName.isSameName(as: name) }
    }
}

extension StoredProperty {
    /// - Parameter newName: of one that is hidden, the new one that it may be.
    fileprivate func differences(
        to now: StoredProperty, _ add: AddDifference, newName: () -> String?
    ) {
        let name = now.persistedName
        if !name.isSameName(as: persistedName) {
            add(.propertyRenamed, name, "has a new name, it was '\(persistedName)'", nil)
        }
        switch (isHidden, now.isHidden) {
        case (true, false): add(.propertyAdded, name, "is shown again", nil)
        case (false, true):
            add(
                .propertyRemoved, name, isStored ? "is hidden, its values stay" : "is hidden",
                newName())
        default: break
        }
        if now.isOptional != isOptional { add(.propertyChanged, name, "is optional now", nil) }
        if now.isIndexed != isIndexed {
            add(.propertyChanged, name, now.isIndexed ? "is indexed" : "is no longer indexed", nil)
        }
        if now.isAutoIncremented != isAutoIncremented {
            add(
                .propertyChanged, name,
                now.isAutoIncremented ? "is counted" : "is no longer counted", nil)
        }
        if now.deleteRule != deleteRule {
            add(.propertyChanged, name, "has the delete rule \(now.deleteRule)", nil)
        }
        if now.type == .linkingObjects,
            now.targetClassID != targetClassID || now.originPropertyID != originPropertyID
        {
            add(.propertyChanged, name, "follows another link", nil)
        }
    }
}

extension StoredSchema {
    fileprivate func typeName(of property: StoredProperty) -> String {
        property.typeName(
            target: property.targetClassID.flatMap { storedClass(id: $0)?.persistedName })
    }

    fileprivate func requiredTypeName(of property: StoredProperty) -> String {
        var required = property
        required.isOptional = false
        return typeName(of: required)
    }
}
