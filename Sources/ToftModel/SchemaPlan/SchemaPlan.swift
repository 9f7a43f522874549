package import ToftStorage

/// The changes that a file needs before a declared schema can be used with it: additions,
/// properties that become optional, and indexes dropped. No value changes; in a migration,
/// properties are replaced and primary keys change too.
package struct SchemaPlan: Sendable, Equatable {
    /// The schema afterwards. New classes and properties have no trees until the plan is carried
    /// out.
    package var target: StoredSchema
    /// The changes, in this order.
    package var changes: [SchemaChange]

    /// Whether the file is as it should be.
    package var isEmpty: Bool { changes.isEmpty }
}

/// One step of a plan.
package enum SchemaChange: Sendable, Equatable {
    case createTable(ClassID)
    case addColumn(ClassID, PropertyID)
    /// A property, or the elements of a list, may be null from now on.
    case makeOptional(ClassID, PropertyID)
    /// The primary key became optional, which its entries show.
    case remakePrimaryKey(ClassID)
    /// In a migration: the class has no primary key any more.
    case dropPrimaryKey(ClassID, tree: TreeID)
    /// In a migration: the class gets a primary key, whose values must differ.
    case createPrimaryKey(ClassID)
    /// The primary key is counted from its greatest value on.
    case startCounter(ClassID)
    case createBacklinks(ClassID, PropertyID)
    /// The constraint on these properties, which the class has in its schema, without a tree.
    case createUnique(ClassID, [PropertyID])
    case dropUnique(ClassID, tree: TreeID)
    case createIndex(ClassID, PropertyID)
    case dropIndex(ClassID, PropertyID, tree: TreeID)
    /// Columns of properties that the class does not have any more.
    case dropColumns(ClassID, [UInt32])
    /// The backlinks of a property that the class does not have any more.
    case dropBacklinks(ClassID, tree: TreeID)
    /// A class that is not there any more, and all its trees.
    case dropClass(ClassID, trees: [TreeID])
    /// Only the record of the class changes: it gets an inverse link, or hides something else.
    case updateClass(ClassID)
    /// With a higher version: the class becomes embedded. Each object must have one owner.
    case makeEmbedded(ClassID)
    /// With a higher version: the class is not embedded any more.
    case makeTopLevel(ClassID)
    case setVersion(UInt64)
}

/// When a plan is for.
package enum SchemaMoment: Sendable {
    /// An opening without a migration.
    case opening
    /// Before the values change: a property of another type is replaced by a new one, a primary key
    /// that differs afterwards is a plain property meanwhile, and a class that is to be embedded is
    /// not yet.
    case beforeMigration
    /// After the values have changed: undeclared classes and properties are retired.
    case retirement
    /// After that: primary keys are made, and classes become embedded.
    case afterMigration
}

extension StoredSchema {
    /// Compares a valid declared schema with the file's. Classes, properties and indexes that the
    /// file lacks are added, and required properties become optional, whatever the version;
    /// undeclared parts stay in the file. With a higher version a class becomes embedded, or is not
    /// any more. Any other difference throws, with all of them; see `SchemaMoment` for the
    /// behaviour of a migration.
    package func plan(
        for schema: Schema, version: UInt64, at moment: SchemaMoment = .opening
    ) throws(ModelError) -> SchemaPlan {
        guard version >= self.version else {
            throw .schemaVersionTooLow(stored: self.version, given: version)
        }
        let schema =
            moment == .beforeMigration ? schema.withoutPrimaryKeys(thatChangeIn: self) : schema
        var comparison = SchemaComparison(
            stored: self, schema: schema, at: moment, isRaised: version > self.version)
        if moment == .retirement {
            comparison.retireWhatIsNotDeclared()
            return comparison.plan
        }
        comparison.run()
        if !comparison.differences.isEmpty { throw .schemaMismatch(comparison.differences) }
        if version > self.version, moment != .beforeMigration {
            comparison.hideWhatIsNotDeclared()
            comparison.plan.target.version = version
            comparison.plan.changes.append(.setVersion(version))
        }
        return comparison.plan
    }
}

/// Walks a declared schema along the file's and collects differences and changes.
private struct SchemaComparison {
    let schema: Schema
    let moment: SchemaMoment
    /// Whether the declared schema has a higher version.
    let isRaised: Bool
    var plan: SchemaPlan
    var differences: [SchemaProblem] = []
    /// The id of each declared class, in the order of `schema.classes`.
    private var ids: [ClassID] = []
    /// The declared classes by their names.
    private let declaredNames: NameIndex
    /// The classes of the target by their names in the file.
    private var storedNames: NameIndex

    init(stored: StoredSchema, schema: Schema, at moment: SchemaMoment, isRaised: Bool) {
        self.schema = schema
        self.moment = moment
        self.isRaised = isRaised
        plan = SchemaPlan(target: stored, changes: [])
        declaredNames = NameIndex(schema.classes.lazy.map(\.name))
        storedNames = NameIndex(stored.classes.lazy.map(\.persistedName))
    }

    private var isMigrating: Bool { moment != .opening }

    mutating func run() {
        for declared in schema.classes { addClassIfMissing(declared) }
        for (id, declared) in zip(ids, schema.classes) { compareClass(id, declared) }
        for (id, declared) in zip(ids, schema.classes) { compareInverses(id, declared) }
        for (id, declared) in zip(ids, schema.classes) { countProperties(id, declared) }
    }

    // MARK: Classes

    private mutating func addClassIfMissing(_ declared: ClassSchema) {
        if let index = storedNames[declared.persistedName] {
            return ids.append(plan.target.classes[index].id)
        }
        let id = plan.target.nextClassID
        storedNames.add(declared.persistedName, at: plan.target.classes.count)
        plan.target.nextClassID += 1
        plan.target.classes.append(
            StoredClass(id: id, name: declared.persistedName, isEmbedded: declared.isEmbedded))
        plan.changes.append(.createTable(id))
        ids.append(id)
    }

    private mutating func compareClass(_ id: ClassID, _ declared: ClassSchema) {
        guard let index = plan.target.classIndex(id: id) else { return }
        let isNew = plan.target.classes[index].table == 0
        show(classAt: index)
        compareEmbedding(declared, classAt: index)
        if isMigrating, !isNew { changePrimaryKey(declared, classAt: index) }
        for property in declared.properties where property.type != .linkingObjects {
            compareProperty(property, declared: declared, classAt: index, isNewClass: isNew)
        }
        compareUniques(declared, classAt: index)
        if isNew {
            let key = declared.primaryKey.flatMap { key in
                plan.target.classes[index].stored(as: key.persistedName)
            }
            plan.target.classes[index].primaryKeyID = key?.id
        } else if !isMigrating {
            comparePrimaryKey(declared, classAt: index)
        }
    }

    private mutating func compareEmbedding(_ declared: ClassSchema, classAt index: Int) {
        let owner = plan.target.classes[index]
        guard owner.isEmbedded != declared.isEmbedded else { return }
        guard isRaised else {
            let kind = { (isEmbedded: Bool) in isEmbedded ? "embedded" : "not embedded" }
            return add(
                declared, nil,
                "is \(kind(owner.isEmbedded)) in the file and \(kind(declared.isEmbedded)) in the "
                    + "declared schema; open the file with a higher schema version to change that")
        }
        if declared.isEmbedded, moment == .beforeMigration { return }
        plan.target.classes[index].isEmbedded = declared.isEmbedded
        guard declared.isEmbedded else { return plan.changes.append(.makeTopLevel(owner.id)) }
        plan.changes.append(.makeEmbedded(owner.id))
        plan.dropDeleteRules(ofEmbedded: owner.id)
    }

    private mutating func countProperties(_ id: ClassID, _ declared: ClassSchema) {
        guard let stored = plan.target.storedClass(id: id),
            stored.properties.count > Limits.propertiesPerClass
        else { return }
        add(
            declared, nil,
            "would have more than \(Limits.propertiesPerClass) properties, hidden ones included")
    }

    private mutating func compareUniques(_ declared: ClassSchema, classAt index: Int) {
        let owner = plan.target.classes[index]
        let wanted = declared.uniques.map { names in
            let names = names.compactMap { declared.property(named: $0)?.persistedName }
            return owner.properties.filter { property in
                names.contains { property.persistedName.isSameName(as: $0) }
            }.map(\.id)
        }
        for unique in owner.uniques where !wanted.contains(unique.properties) {
            plan.target.classes[index].uniques.removeAll { $0.tree == unique.tree }
            plan.changes.append(.dropUnique(owner.id, tree: unique.tree))
        }
        for ids in wanted where !owner.uniques.contains(where: { $0.properties == ids }) {
            plan.target.classes[index].uniques.append(StoredUnique(properties: ids))
            plan.changes.append(.createUnique(owner.id, ids))
        }
    }

    private mutating func comparePrimaryKey(_ declared: ClassSchema, classAt index: Int) {
        let stored = plan.target.classes[index].primaryKey?.persistedName,
            given = declared.primaryKey?.persistedName
        guard !(stored ?? "").isSameName(as: given ?? "") else { return }
        let text = { (name: String?) in name.map { "the primary key '\($0)'" } ?? "no primary key" }
        add(
            declared, nil,
            "has \(text(stored)) in the file and \(text(given)) in the declared schema")
    }

    private mutating func changePrimaryKey(_ declared: ClassSchema, classAt index: Int) {
        let owner = plan.target.classes[index], key = declared.primaryKey
        guard !(owner.primaryKey?.persistedName ?? "").isSameName(as: key?.persistedName ?? "")
        else { return }
        if let tree = owner.primaryKeyTree {
            plan.changes.append(.dropPrimaryKey(owner.id, tree: tree))
        }
        plan.target.classes[index].setPrimaryKey(
            key.flatMap { owner.stored(as: $0.persistedName) }?.id)
        if plan.target.classes[index].primaryKeyID != nil {
            plan.changes.append(.createPrimaryKey(owner.id))
        }
    }

    private mutating func show(classAt index: Int) {
        guard plan.target.classes[index].isHidden else { return }
        plan.target.classes[index].isHidden = false
        plan.changes.append(.updateClass(plan.target.classes[index].id))
    }

    // MARK: Properties

    private mutating func compareProperty(
        _ declared: PropertySchema, declared owner: ClassSchema, classAt index: Int,
        isNewClass: Bool
    ) {
        let stored = plan.target.classes[index]
        guard
            let position = stored.properties.firstIndex(where: {
                $0.persistedName.isSameName(as: declared.persistedName)
            })
        else {
            return addProperty(declared, classAt: index, isNewClass: isNewClass)
        }
        if canMakeOptional(stored.properties[position], declared) {
            makeOptional(propertyAt: position, classAt: index)
        }
        let property = plan.target.classes[index].properties[position]
        let was = typeName(of: property), now = typeName(of: declared)
        guard was == now else {
            if isMigrating {
                plan.retire(propertyAt: position, classAt: index)
                return addProperty(declared, classAt: index, isNewClass: isNewClass)
            }
            return add(
                owner, declared,
                "is \(was) in the file and \(now) in the declared schema"
                    + (isSame(property, declared, but: false) ? Self.whyNotRequired : ""))
        }
        show(propertyAt: position, classAt: index)
        compareIndex(declared, propertyAt: position, classAt: index)
        compareCounter(declared, propertyAt: position, classAt: index)
        compareDeleteRule(declared, propertyAt: position, classAt: index)
    }

    private mutating func addProperty(
        _ declared: PropertySchema, classAt index: Int, isNewClass: Bool
    ) {
        let owner = plan.target.classes[index]
        var property = StoredProperty(
            id: owner.nextPropertyID, name: declared.persistedName, type: declared.type)
        property.collection = declared.collection
        property.isOptional = declared.isOptional
        property.isPrimaryKey = declared.isPrimaryKey
        property.isAutoIncremented = declared.isAutoIncremented
        property.deleteRule = declared.deleteRule
        property.targetClassID = declared.target.flatMap { classID(named: $0) }
        plan.target.classes[index].nextPropertyID += 1
        plan.target.classes[index].properties.append(property)
        if !isNewClass { plan.changes.append(.addColumn(owner.id, property.id)) }
        if declared.type.canLink {
            plan.changes.append(.createBacklinks(owner.id, property.id))
        }
        if declared.isIndexed, !declared.isPrimaryKey {
            plan.changes.append(.createIndex(owner.id, property.id))
        }
    }

    private static let whyNotRequired =
        "; the file may hold null there. Declare it optional, or add a required property under "
        + "another name and copy the values"

    private func canMakeOptional(_ stored: StoredProperty, _ declared: PropertySchema) -> Bool {
        !declared.type.canLink && isSame(stored, declared, but: true)
    }

    /// Whether the types differ in nothing but that one of them is optional: the declared one, or
    /// the other.
    private func isSame(
        _ stored: StoredProperty, _ declared: PropertySchema, but isDeclaredOptional: Bool
    ) -> Bool {
        guard declared.isOptional == isDeclaredOptional, stored.isOptional != isDeclaredOptional
        else { return false }
        var changed = stored
        changed.isOptional = isDeclaredOptional
        return typeName(of: changed) == typeName(of: declared)
    }

    /// The keys of an index encode whether the property is optional, so it is rebuilt.
    private mutating func makeOptional(propertyAt position: Int, classAt index: Int) {
        let owner = plan.target.classes[index], property = owner.properties[position]
        plan.target.classes[index].properties[position].isOptional = true
        plan.changes.append(.makeOptional(owner.id, property.id))
        if property.isPrimaryKey { plan.changes.append(.remakePrimaryKey(owner.id)) }
        if let tree = property.indexTree {
            plan.target.classes[index].properties[position].indexTree = nil
            plan.changes.append(.dropIndex(owner.id, property.id, tree: tree))
        }
    }

    private mutating func compareIndex(
        _ declared: PropertySchema, propertyAt position: Int, classAt index: Int
    ) {
        let owner = plan.target.classes[index], property = owner.properties[position]
        let wanted = declared.isIndexed && !declared.isPrimaryKey
        if wanted, property.indexTree == nil {
            plan.changes.append(.createIndex(owner.id, property.id))
        } else if !wanted, let tree = property.indexTree {
            plan.target.classes[index].properties[position].indexTree = nil
            plan.changes.append(.dropIndex(owner.id, property.id, tree: tree))
        }
    }

    private mutating func compareCounter(
        _ declared: PropertySchema, propertyAt position: Int, classAt index: Int
    ) {
        let owner = plan.target.classes[index]
        guard owner.properties[position].isAutoIncremented != declared.isAutoIncremented else {
            return
        }
        plan.target.classes[index].properties[position].isAutoIncremented =
            declared.isAutoIncremented
        plan.changes.append(
            declared.isAutoIncremented ? .startCounter(owner.id) : .updateClass(owner.id))
    }

    /// A rule speaks of deletions to come: no data changes.
    private mutating func compareDeleteRule(
        _ declared: PropertySchema, propertyAt position: Int, classAt index: Int
    ) {
        let owner = plan.target.classes[index]
        guard owner.properties[position].deleteRule != declared.deleteRule else { return }
        plan.target.classes[index].properties[position].deleteRule = declared.deleteRule
        plan.changes.append(.updateClass(owner.id))
    }

    private mutating func show(propertyAt position: Int, classAt index: Int) {
        guard plan.target.classes[index].properties[position].isHidden else { return }
        plan.target.classes[index].properties[position].isHidden = false
        plan.changes.append(.updateClass(plan.target.classes[index].id))
    }

    // MARK: Inverse links

    private mutating func compareInverses(_ id: ClassID, _ declared: ClassSchema) {
        guard let index = plan.target.classIndex(id: id) else { return }
        for property in declared.properties where property.type == .linkingObjects {
            compareInverse(property, declared: declared, classAt: index)
        }
    }

    /// An inverse link holds no data, so it may follow another link at any time.
    private mutating func compareInverse(
        _ declared: PropertySchema, declared owner: ClassSchema, classAt index: Int
    ) {
        let stored = plan.target.classes[index]
        let target = declared.target.flatMap { classID(named: $0) }
        let origin = originID(of: declared, in: target)
        let position = stored.properties.firstIndex {
            $0.persistedName.isSameName(as: declared.persistedName)
        }
        if isMigrating, let position, stored.properties[position].type != .linkingObjects {
            plan.retire(propertyAt: position, classAt: index)
            addInverse(declared, target, origin, classAt: index)
        } else if let position {
            let was = stored.properties[position]
            guard was.type == .linkingObjects else {
                return add(
                    owner, declared,
                    "is \(typeName(of: was)) in the file and an inverse link in the declared schema"
                )
            }
            show(propertyAt: position, classAt: index)
            guard was.targetClassID != target || was.originPropertyID != origin else { return }
            plan.target.classes[index].properties[position].targetClassID = target
            plan.target.classes[index].properties[position].originPropertyID = origin
        } else {
            addInverse(declared, target, origin, classAt: index)
        }
        plan.changes.append(.updateClass(stored.id))
    }

    private mutating func addInverse(
        _ declared: PropertySchema, _ target: ClassID?, _ origin: PropertyID?, classAt index: Int
    ) {
        var property = StoredProperty(
            id: plan.target.classes[index].nextPropertyID, name: declared.persistedName,
            type: .linkingObjects)
        property.targetClassID = target
        property.originPropertyID = origin
        plan.target.classes[index].nextPropertyID += 1
        plan.target.classes[index].properties.append(property)
    }

    private func originID(of declared: PropertySchema, in target: ClassID?) -> PropertyID? {
        guard let target, let origin = declared.origin,
            let property = declaredClass(named: declared.target ?? "")?.property(named: origin)
        else { return nil }
        return plan.target.storedClass(id: target)?.stored(as: property.persistedName)?.id
    }

    // MARK: Hiding

    /// With a higher version, undeclared parts count as dropped: they stay, hidden.
    mutating func hideWhatIsNotDeclared() {
        let seen = plan.target.restricted(to: schema)
        for index in seen.classes.indices {
            var changed = plan.target.classes[index].isHidden != seen.classes[index].isHidden
            plan.target.classes[index].isHidden = seen.classes[index].isHidden
            for position in seen.classes[index].properties.indices {
                let hide = seen.classes[index].properties[position].isHidden
                changed =
                    changed || plan.target.classes[index].properties[position].isHidden != hide
                plan.target.classes[index].properties[position].isHidden = hide
            }
            if changed { plan.changes.append(.updateClass(seen.classes[index].id)) }
        }
    }

    /// After a migration, undeclared parts are removed: a property of the same name that is added
    /// later is a new one.
    mutating func retireWhatIsNotDeclared() {
        for declared in schema.classes { addClassIfMissing(declared) }
        for (id, declared) in zip(ids, schema.classes) {
            guard let index = plan.target.classIndex(id: id) else { continue }
            for position in plan.target.classes[index].properties.indices {
                let property = plan.target.classes[index].properties[position]
                guard property.isStored, !property.isRetired,
                    !declared.declares(property.persistedName)
                else { continue }
                plan.retire(propertyAt: position, classAt: index)
            }
        }
    }

    // MARK: Words

    private mutating func add(_ owner: ClassSchema, _ property: PropertySchema?, _ text: String) {
        differences.append(
            SchemaProblem(className: owner.name, property: property?.name, text: text))
    }

    private func classID(named name: String) -> ClassID? {
        declaredNames[name].map { ids[$0] }
    }

    private func declaredClass(named name: String) -> ClassSchema? {
        declaredNames[name].map { schema.classes[$0] }
    }

    private func typeName(of property: StoredProperty) -> String {
        property.typeName(
            target: property.targetClassID.flatMap {
                plan.target.storedClass(id: $0)?.persistedName
            })
    }

    private func typeName(of property: PropertySchema) -> String {
        let target = property.target.flatMap { declaredClass(named: $0)?.persistedName }
        return property.type.name(
            property.collection, isOptional: property.isOptional, target: target)
    }
}

extension SchemaPlan {
    /// The classes that become embedded.
    var embedded: [ClassID] {
        changes.compactMap { if case .makeEmbedded(let id) = $0 { id } else { nil } }
    }

    /// Takes away the rules that an embedded class can't have: hidden properties keep them
    /// otherwise.
    fileprivate mutating func dropDeleteRules(ofEmbedded id: ClassID) {
        for index in target.classes.indices {
            let owner = target.classes[index]
            for (position, property) in owner.properties.enumerated()
            where property.deleteRule != .nullify
                && (property.targetClassID == id
                    || owner.id == id && property.deleteRule == .cascade)
            {
                target.classes[index].properties[position].deleteRule = .nullify
                changes.append(.updateClass(owner.id))
            }
        }
    }

    /// Hides a property permanently: until the end of the migration, which drops it, it keeps its
    /// column and its links, under a name that no schema can declare.
    mutating func retire(propertyAt position: Int, classAt index: Int) {
        let id = target.classes[index].id, property = target.classes[index].properties[position]
        target.classes[index].properties[position].retire()
        changes.append(.updateClass(id))
        if let tree = property.indexTree {
            changes.append(.dropIndex(id, property.id, tree: tree))
        }
        for unique in target.classes[index].uniques where unique.properties.contains(property.id) {
            target.classes[index].uniques.removeAll { $0.tree == unique.tree }
            changes.append(.dropUnique(id, tree: unique.tree))
        }
    }
}

extension Schema {
    /// The schema while values are migrated: a class whose primary key differs in the file has no
    /// primary key, and the file's classes are not held to their unique constraints.
    fileprivate func withoutPrimaryKeys(thatChangeIn stored: StoredSchema) -> Schema {
        var schema = self
        let storedNames = NameIndex(stored.classes.lazy.map(\.persistedName))
        for index in classes.indices {
            let declared = classes[index]
            guard let position = storedNames[declared.persistedName] else { continue }
            let owner = stored.classes[position]
            schema.classes[index].uniques = []
            if let was = owner.primaryKey, let now = declared.primaryKey,
                was.persistedName.isSameName(as: now.persistedName), was.type == now.type,
                now.collection == .none, now.isOptional || !was.isOptional
            {
                continue
            }
            for position in declared.properties.indices {
                schema.classes[index].properties[position].isPrimaryKey = false
                schema.classes[index].properties[position].isAutoIncremented = false
            }
        }
        return schema
    }
}

extension ClassSchema {
    /// Whether it has a property that the file knows by this name.
    func declares(_ persistedName: String) -> Bool {
        properties.contains { $0.persistedName.isSameName(as: persistedName) }
    }
}

extension StoredProperty {
    /// Whether a migration has replaced it, or left it out.
    var isRetired: Bool { NameRules.isRetired(persistedName) }

    fileprivate mutating func retire() {
        persistedName = NameRules.retiredPrefix + String(id)
        name = persistedName
        isHidden = true
        deleteRule = .nullify
        indexTree = nil
    }
}

extension StoredClass {
    /// Whether a migration has deleted it.
    var isRetired: Bool { NameRules.isRetired(persistedName) }

    fileprivate mutating func setPrimaryKey(_ property: PropertyID?) {
        primaryKeyID = property
        primaryKeyTree = nil
        for position in properties.indices {
            properties[position].isPrimaryKey = properties[position].id == property
            properties[position].isAutoIncremented = false
        }
    }

    /// The property with this name in the file.
    func stored(as persistedName: String) -> StoredProperty? {
        properties.first { $0.persistedName.isSameName(as: persistedName) }
    }
}

extension StoredProperty {
    /// The property's type in plain words: "optional int", "list of string", "link to 'Dog'".
    package func typeName(target: String?) -> String {
        type.name(collection, isOptional: isOptional, target: target)
    }
}
