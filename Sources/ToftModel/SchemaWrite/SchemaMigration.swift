package import ToftStorage

/// Changes the schema of a file in a migration, within a write transaction that the caller ends.
///
/// 1. `renameClass`, as often as needed.
/// 2. `begin`: the whole declared schema exists; a property that has changed its type is a new one,
///    and a primary key that changes is a plain property.
/// 3. Values change, through the transactions that `begin` and `renameProperty` give.
/// 4. `finish`: undeclared parts are retired, and all retired ones are removed from the file. Then
///    primary keys are made, classes become embedded, the version is set.
package struct SchemaMigration {
    private let writing: WriteTransaction
    private let declared: Schema
    private let version: UInt64
    private let calls: SchemaCalls
    private var stored: StoredSchema
    /// Classes that were renamed, whose records wait for the next plan.
    private var changed: [SchemaChange] = []
    /// Renamed classes and properties, by their previous names, so that a temporary name does not
    /// stay.
    private var renamedClasses: [ClassID: String] = [:]
    private var renamedProperties: [ClassID: [PropertyID: String]] = [:]
    /// The schema version that the file had.
    package let oldVersion: UInt64

    /// Whether a file with this schema is migrated when it is opened with a version: an older one
    /// is, a new one has nothing to migrate.
    package static func isDue(in snapshot: Snapshot, to version: UInt64) throws(ModelError) -> Bool
    {
        guard let header = try SchemaTree.header(in: snapshot), header.version < version else {
            return false
        }
        return try !SchemaTree.read(snapshot).classes.isEmpty
    }

    package init(
        _ writing: WriteTransaction, to declared: Schema, version: UInt64,
        calls: SchemaCalls
    ) throws(ModelError) {
        try declared.validate()
        self.writing = writing
        self.declared = declared
        self.version = version
        self.calls = calls
        stored = try SchemaTree.read(writing.view)
        oldVersion = stored.version
    }

    // MARK: The schema

    /// Prepares the file for the declared schema, and begins to change values.
    package mutating func begin(_ buffer: WriteBuffer) throws(ModelError) -> ModelTransaction {
        try dropRetired(buffer)
        try carryOut(.beforeMigration)
        return transaction(buffer)
    }

    /// Ends the change of values, and applies the declared schema. The write transaction is to be
    /// committed.
    /// - Throws: `invalidRenaming` if something was given an undeclared name;
    ///   `primaryKeysNotUnique`; `schemaMismatch` if objects of a class that becomes embedded do
    ///   not have one owner each.
    package mutating func finish(_ transaction: ModelTransaction) throws(ModelError) {
        try requireDeclaredNames()
        try transaction.handOver()
        try carryOut(.retirement)
        try dropRetired(transaction.buffer)
        try carryOut(.afterMigration)
    }

    /// Removes retired parts from the file: of this migration, and of earlier libraries.
    private mutating func dropRetired(_ buffer: WriteBuffer) throws(ModelError) {
        let plan = stored.planWithoutRetired()
        guard !plan.isEmpty else { return }
        let owners = stored.retiredOwners()
        if !owners.isEmpty {
            let transaction = self.transaction(buffer)
            for each in owners { try transaction.eraseOwned(by: each.property, of: each.owner) }
            try transaction.handOver()
        }
        stored = try SchemaBuilder.carryOut(plan, in: writing, SchemaCalls())
    }

    /// Throws if a renamed class or property has an undeclared name: its objects or values would be
    /// hidden or deleted.
    private func requireDeclaredNames() throws(ModelError) {
        for owner in stored.classes where !owner.isRetired {
            let name = owner.persistedName
            let target = declared.classes.first { $0.persistedName.isSameName(as: name) }
            if target == nil, let old = renamedClasses[owner.id] {
                throw .invalidRenaming(
                    Self.undeclared(
                        "Cannot rename class '\(old)' to '\(name)' because the schema has no such "
                            + "class", name, declared.classes.map(\.persistedName)))
            }
            guard let target else { continue }
            for property in owner.properties where !target.declares(property.persistedName) {
                guard let old = renamedProperties[owner.id]?[property.id], !property.isRetired
                else { continue }
                let name = property.persistedName
                throw .invalidRenaming(
                    Self.undeclared(
                        "Cannot rename property '\(target.name).\(old)' to '\(name)' because the "
                            + "class has no such property", name,
                        target.properties.filter { $0.type != .linkingObjects }.map(
                            \.persistedName)))
            }
        }
    }

    private static func undeclared(_ what: String, _ name: String, _ candidates: [String])
        -> String
    {
        let hint = NearestName.hint(for: name, among: candidates).map { " \($0)" } ?? ""
        return "\(what), and a name for the meantime has to be renamed again.\(hint)"
    }

    private mutating func carryOut(_ moment: SchemaMoment) throws(ModelError) {
        var plan = try stored.plan(for: declared, version: version, at: moment)
        plan.changes = changed + plan.changes
        changed = []
        if !plan.isEmpty { stored = try SchemaBuilder.carryOut(plan, in: writing, calls) }
    }

    private func transaction(_ buffer: WriteBuffer) -> ModelTransaction {
        ModelTransaction(
            writing, schema: ModelSchema(stored, declared: declared), buffer: buffer)
    }

    // MARK: Names

    /// Gives a class another name, with its objects and all links to them. Before `begin`.
    package mutating func renameClass(_ old: String, to new: String) throws(ModelError) {
        let new = declared.classSchema(named: new)?.persistedName ?? new
        let what = "Cannot rename class '\(old)' to '\(new)'"
        guard let index = stored.classIndex(persistedName: old) else {
            throw .invalidRenaming("\(what) because it does not exist.")
        }
        if stored.classIndex(persistedName: new) != nil {
            throw .invalidRenaming("\(what) because the file has a class of that name.")
        }
        if declared.classes.contains(where: { $0.persistedName.isSameName(as: old) }) {
            throw .invalidRenaming("\(what) because the schema still has the class '\(old)'.")
        }
        try Self.check(new, limit: Limits.classNameBytes, what)
        stored.classes[index].persistedName = new
        stored.classes[index].name = new
        changed.append(.updateClass(stored.classes[index].id))
        if renamedClasses[stored.classes[index].id] == nil {
            renamedClasses[stored.classes[index].id] = old
        }
    }

    /// Gives a property another name, with its values. A new name that is not declared is one for
    /// the meantime, to be renamed once more.
    /// - Returns: a transaction that continues `transaction`, which has ended.
    package mutating func renameProperty(
        _ className: String, _ old: String, to new: String, _ transaction: ModelTransaction
    ) throws(ModelError) -> ModelTransaction {
        let declared = declared.classSchema(named: className)
        let name = declared?.persistedName ?? className
        guard let index = stored.classIndex(persistedName: name) else {
            throw .invalidRenaming(
                "Cannot rename properties for type '\(className)' because it does not exist.")
        }
        let target = declared?.property(named: new)
        let newName = target?.persistedName ?? new
        let what = "Cannot rename property '\(className).\(old)'"
        guard let position = stored.classes[index].position(persistedName: old),
            !stored.classes[index].properties[position].isRetired
        else { throw .invalidRenaming("\(what) because it does not exist.") }
        let property = stored.classes[index].properties[position]
        if declared?.declares(old) == true {
            throw .invalidRenaming(
                "\(what) to '\(new)' because the source property still exists.")
        }
        try Self.check(newName, limit: Limits.propertyNameBytes, "\(what) to '\(new)'")
        var plan = SchemaPlan(
            target: stored, changes: [.updateClass(stored.classes[index].id)])
        if let taken = stored.classes[index].position(persistedName: newName) {
            try check(property, as: stored.classes[index].properties[taken], "\(what) to '\(new)'")
            plan.retire(propertyAt: taken, classAt: index)
        }
        try transaction.handOver()
        plan.target.classes[index].properties[position].persistedName = newName
        plan.target.classes[index].properties[position].name = newName
        stored = try SchemaBuilder.carryOut(plan, in: writing, SchemaCalls())
        if renamedProperties[stored.classes[index].id]?[property.id] == nil {
            renamedProperties[stored.classes[index].id, default: [:]][property.id] = old
        }
        try carryOut(.beforeMigration)
        return self.transaction(transaction.buffer)
    }

    private func check(_ old: StoredProperty, as new: StoredProperty, _ what: String)
        throws(ModelError)
    {
        let name = { (property: StoredProperty) in
            property.typeName(
                target: property.targetClassID.flatMap {
                    stored.storedClass(id: $0)?.persistedName
                })
        }
        var widened = old
        widened.isOptional = old.isOptional || (new.isOptional && !old.type.canLink)
        guard name(widened) != name(new) else { return }
        var narrowed = old
        narrowed.isOptional = false
        if name(narrowed) == name(new) {
            throw .invalidRenaming(
                "\(what) because it would change from optional to required: copy the values into "
                    + "the new property instead.")
        }
        throw .invalidRenaming(
            "\(what) because it would change from type '\(name(old))' to '\(name(new))'.")
    }

    private static func check(_ name: String, limit: Int, _ what: String) throws(ModelError) {
        if name.isEmpty { throw .invalidRenaming("\(what): a name can't be empty.") }
        if name.utf8.count > limit {
            throw .invalidRenaming("\(what): a name has at most \(limit) bytes.")
        }
        if let problem = NameRules.problem(of: name) {
            throw .invalidRenaming("\(what): the name \(problem).")
        }
    }

    // MARK: Data

    /// Deletes all objects of a class. An undeclared class is then removed, without a trace, and
    /// leaves the file at the end. So do the links to it: no declared class has one.
    /// - Returns: false if the file has no such class, and a transaction that continues
    ///   `transaction`, which may have ended.
    package mutating func deleteData(_ className: String, _ transaction: ModelTransaction)
        throws(ModelError) -> (wasThere: Bool, next: ModelTransaction)
    {
        let declared = declared.classSchema(named: className)
        guard let index = stored.classIndex(persistedName: declared?.persistedName ?? className),
            let owner = transaction.view.schema.anyClass(id: stored.classes[index].id)
        else { return (false, transaction) }
        guard declared == nil else {
            try transaction.eraseAll([owner])
            return (true, transaction)
        }
        // Before the objects: hidden links deny nothing.
        let erasing = try retireLinks(to: owner.id, transaction)
        guard let owner = erasing.view.schema.anyClass(id: owner.id) else { return (true, erasing) }
        try erasing.eraseAll([owner])
        try erasing.handOver()
        var plan = SchemaPlan(
            target: stored, changes: [.updateClass(stored.classes[index].id)])
        let retired = NameRules.retiredPrefix + String(stored.classes[index].id)
        plan.target.classes[index].persistedName = retired
        plan.target.classes[index].name = retired
        plan.target.classes[index].isHidden = true
        stored = try SchemaBuilder.carryOut(plan, in: writing, SchemaCalls())
        return (true, self.transaction(transaction.buffer))
    }

    /// Retires links to an undeclared class: undeclared properties, and those of undeclared
    /// classes.
    /// - Returns: a transaction that continues `transaction`, which may have ended.
    private mutating func retireLinks(to target: ClassID, _ transaction: ModelTransaction)
        throws(ModelError) -> ModelTransaction
    {
        var plan = SchemaPlan(target: stored, changes: [])
        for index in stored.classes.indices {
            for (position, property) in stored.classes[index].properties.enumerated()
            where property.type == .link && property.targetClassID == target && !property.isRetired
            {
                plan.retire(propertyAt: position, classAt: index)
            }
        }
        guard !plan.isEmpty else { return transaction }
        try transaction.handOver()
        stored = try SchemaBuilder.carryOut(plan, in: writing, SchemaCalls())
        return self.transaction(transaction.buffer)
    }
}

extension StoredSchema {
    fileprivate func classIndex(persistedName: String) -> Int? {
        classes.firstIndex { $0.persistedName.isSameName(as: persistedName) }
    }
}

extension StoredClass {
    fileprivate func position(persistedName: String) -> Int? {
        properties.firstIndex { $0.persistedName.isSameName(as: persistedName) }
    }
}
