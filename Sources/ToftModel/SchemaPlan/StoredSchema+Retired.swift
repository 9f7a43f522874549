internal import ToftStorage

/// The classes and properties that migrations have retired, and their removal from the file.
///
/// 1. A retired property is removed with its column and its backlinks. Its id is not used again.
/// 2. An inverse link is removed with the link that it follows: it holds no data.
/// 3. A retired class is removed with its table and all its trees, unless a link that stays leads
///    to it: one of a class that no program has declared since.
extension StoredSchema {
    /// The plan that removes retired classes and properties; empty without retired ones. Embedded
    /// objects that retired properties own are deleted before: see `retiredOwners`.
    func planWithoutRetired() -> SchemaPlan {
        var plan = SchemaPlan(target: self, changes: [])
        let classes = retiredClasses()
        for owner in self.classes {
            if classes.contains(owner.id) {
                plan.changes.append(.dropClass(owner.id, trees: owner.trees))
            } else {
                plan.drop(gone(of: owner, classes), of: owner)
            }
        }
        plan.target.classes.removeAll { classes.contains($0.id) }
        return plan
    }

    /// Links that are retired and own embedded objects, with their classes.
    func retiredOwners() -> [(owner: ClassID, property: PropertyID)] {
        let classes = retiredClasses()
        return self.classes.flatMap { owner in
            classes.contains(owner.id)
                ? []
                : owner.properties.filter { property in
                    guard property.isRetired, property.type == .link,
                        let target = property.targetClassID
                    else { return false }
                    return storedClass(id: target)?.isEmbedded == true && !classes.contains(target)
                }.map { (owner.id, $0.id) }
        }
    }

    /// Retired classes that no link leads to which stays.
    private func retiredClasses() -> Set<ClassID> {
        var retired = Set(classes.filter(\.isRetired).map(\.id))
        while true {
            let wanted = classes.filter { !retired.contains($0.id) }.flatMap(\.properties).filter {
                $0.type == .link && !$0.isRetired
            }.compactMap(\.targetClassID)
            let rest = retired.subtracting(wanted)
            if rest == retired { return rest }
            retired = rest
        }
    }

    /// The properties of a class that are removed together with these classes. A retired property
    /// that stays keeps its own: links refer to it.
    private func gone(of owner: StoredClass, _ classes: Set<ClassID>) -> Set<PropertyID> {
        Set(
            owner.properties.filter { property in
                guard property.type == .linkingObjects else {
                    return property.isRetired && property.id != owner.primaryKeyID
                }
                guard let target = property.targetClassID, !classes.contains(target),
                    let origin = property.originPropertyID
                else { return true }
                return property.isRetired
                    || storedClass(id: target)?.property(id: origin)?.isRetired != false
            }.map(\.id))
    }
}

extension SchemaPlan {
    /// Takes properties of a class away.
    fileprivate mutating func drop(_ gone: Set<PropertyID>, of owner: StoredClass) {
        guard !gone.isEmpty, let index = target.classIndex(id: owner.id) else { return }
        let properties = owner.properties.filter { gone.contains($0.id) }
        target.classes[index].properties.removeAll { gone.contains($0.id) }
        let columns = properties.flatMap(\.columns).map(\.id)
        if !columns.isEmpty { changes.append(.dropColumns(owner.id, columns)) }
        for tree in properties.compactMap(\.backlinkTree) {
            changes.append(.dropBacklinks(owner.id, tree: tree))
        }
        changes.append(.updateClass(owner.id))
    }
}

extension StoredClass {
    /// All trees that hold its data.
    fileprivate var trees: [TreeID] {
        [table] + [primaryKeyTree].compactMap { $0 } + uniques.map(\.tree)
            + properties.flatMap { [$0.indexTree, $0.backlinkTree].compactMap { $0 } }
    }
}
