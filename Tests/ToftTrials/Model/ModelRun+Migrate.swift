internal import ToftEngine
internal import ToftModel
internal import ToftStorage
internal import ToftTestKit

/// Migrations: changes of the classes that need a higher schema version, applied to the model and
/// by an opening, then compared.
extension ModelRun {
    /// A migration's work in the file besides the schema.
    private struct Work {
        var renamedClasses: [(old: String, new: String)] = []
        /// A class whose objects are deleted, and which is not declared any more.
        var deletedClass: String?
        /// With the names that classes have afterwards.
        var renamedProperties: [(owner: String, old: String, new: String)] = []
        /// Properties that become required, whose values are copied.
        var copied: [(owner: String, oldOwner: String, property: String)] = []
        /// Objects that the block deletes, of a class by the name that it has afterwards.
        var erased: (owner: String, keys: [Int64])?
        /// Whether objects that become embedded are copied and deleted, so that each has one owner.
        var isAutomatic = false
        /// The default of a property that is new.
        var added: (owner: String, property: String, value: Int64)?
        var expected: Int32?
    }

    func migrate(_ owner: Int, _ property: Int, _ bits: UInt64) throws {
        let owner = self.owner(owner)
        try closeAll()
        var numbers = Seed(bits), next = committed, work = Work()
        if numbers.chance(30) { renameClass(owner, &next, &work) }
        switch numbers.below(9) {
        case 0: renameProperty(owner, property, &next, &work)
        case 1: changeType(owner, property, &next, &numbers)
        case 2: removeProperty(owner, property, &next)
        case 3: makeRequired(owner, property, &next, &work)
        case 4: changePrimaryKey(owner, property, &next, &work)
        case 5: removeClass(&next, &work)
        case 6, 7: toggleEmbedding(owner, &next, &numbers, &work)
        default: addDefault(owner, &next, &numbers, &work)
        }
        next.shape.addInverses(&numbers)
        schemaVersion += 1
        let configuration = configuration(next.shape, work)
        if numbers.chance(50) {
            try attempt(expecting: work.expected) { _ = try Migration.dryRun(configuration) }
        }
        if let session = try attempt(expecting: work.expected, { try Session.open(configuration) })
        {
            if work.isAutomatic { try nameCopies(of: &next, in: session) }
            try session.close()
            committed = next
        } else {
            schemaVersion -= 1
        }
        highestKeys.removeLast(highestKeys.count - committed.classes.count)
        try openChanged()
        try verify(seats[0], percent: 100)
    }

    private func configuration(_ shape: Shape, _ work: Work) -> Configuration {
        var configuration = Configuration(
            location: program.ground == .memory ? .memory(name: "model") : .file(path: path),
            schema: shape.schema, schemaVersion: schemaVersion)
        configuration.encryptionKey = encryptionKey
        configuration.handlesBacklinksInMigrations = work.isAutomatic
        configuration.defaults = { owner, property, use throws(ModelError) in
            guard let added = work.added, added.owner == owner, added.property == property else {
                return false
            }
            try use(.int(added.value))
            return true
        }
        configuration.migration = { migration throws(EngineError) in
            for each in work.renamedClasses {
                try migration.renameClass(each.old, to: each.new)
            }
            if let name = work.deletedClass, try !migration.deleteData(name) {
                throw EngineError(ModelError.noSuchClass(name))
            }
            for each in work.renamedProperties {
                try migration.renameProperty(each.owner, each.old, to: each.new)
            }
            if let erased = work.erased {
                let new = try migration.new()
                let owner = try new.classHandle(named: erased.owner).id
                for key in erased.keys {
                    try new.object(ObjectRef(classID: owner, key: key))?.delete()
                }
            }
            for each in work.copied {
                let was = try migration.old.classHandle(named: each.oldOwner)
                let now = try migration.new().classHandle(named: each.owner)
                let (old, new) = try model { () throws(ModelError) in
                    (
                        try was.property(named: each.property).id,
                        try now.property(named: each.property).id
                    )
                }
                try migration.enumerate(each.owner) { before, after throws(EngineError) in
                    guard let before, let after else { return }
                    let value = try before.value(old)
                    if !value.isNull { try after.set(new, value) }
                }
            }
        }
        return configuration
    }

    // MARK: The changes

    private func renameClass(_ owner: Int, _ next: inout ModelContent, _ work: inout Work) {
        let old = next.shape.classes[owner].name
        next.shape.classes[owner].name = "C\(owner)_\(schemaVersion)"
        work.renamedClasses.append((old, next.shape.classes[owner].name))
    }

    /// The last class is removed, unless a property leads to it: the others keep their places.
    private func removeClass(_ next: inout ModelContent, _ work: inout Work) {
        let last = next.shape.classes.count - 1, keys = next.classes[last].keys
        let isWanted = next.shape.classes[..<last].contains { declared in
            declared.properties.contains { $0.type == .link && $0.target == last }
        }
        guard last > 0, !isWanted, !next.isDenied(last, keys) else { return }
        work.deletedClass = committed.shape.classes[last].name
        work.renamedClasses.removeAll { $0.new == next.shape.classes[last].name }
        _ = next.erase(last, keys: Set(keys))
        for index in next.shape.classes.indices {
            next.shape.classes[index].inverses.removeAll { $0.origin == last }
        }
        next.shape.classes.removeLast()
        next.classes.removeLast()
    }

    private func renameProperty(
        _ owner: Int, _ property: Int, _ next: inout ModelContent, _ work: inout Work
    ) {
        let declared = next.shape.classes[owner]
        guard !declared.properties.isEmpty else { return }
        let index = property % declared.properties.count, name = "r\(schemaVersion)"
        work.renamedProperties.append((declared.name, declared.properties[index].name, name))
        next.shape.classes[owner].properties[index].name = name
    }

    /// A property that can be replaced: nothing else in the schema depends on it.
    private func replaceable(
        _ owner: Int, _ property: Int, _ shape: Shape, _ isWanted: (ShapeProperty) -> Bool
    ) -> Int? {
        let declared = shape.classes[owner]
        let found = declared.properties.indices.filter { index in
            let property = declared.properties[index]
            return !property.isPrimaryKey && isWanted(property)
                && !declared.uniques.contains { $0.contains(index) }
        }
        return found.isEmpty ? nil : found[property % found.count]
    }

    private func changeType(
        _ owner: Int, _ property: Int, _ next: inout ModelContent, _ numbers: inout Seed
    ) {
        guard let index = replaceable(owner, property, next.shape, { _ in true }) else { return }
        let old = next.shape.classes[owner].properties[index]
        var new = ShapeProperty(name: old.name, type: .int)
        let types = ShapeType.allCases.filter { $0 != old.type && $0 != .link }
        new.type = numbers.pick(types) ?? .int
        new.collection =
            numbers.chance(30) ? numbers.pick([.list, .set, .dictionary]) ?? .list : .none
        new.isNullable = numbers.chance(40) && new.type != .mixed
        new.isIndexed = !new.isCollection && new.type.canBeIndexed && numbers.chance(50)
        next.eraseOwned(owner, index)
        next.shape.dropInverses(of: owner, index)
        next.shape.classes[owner].properties[index] = new
        for row in next.classes[owner].rows.indices {
            next.classes[owner].rows[row][index] = new.initial
        }
    }

    private func removeProperty(_ owner: Int, _ property: Int, _ next: inout ModelContent) {
        guard next.shape.classes[owner].properties.count > 1,
            let index = replaceable(owner, property, next.shape, { _ in true })
        else { return }
        next.eraseOwned(owner, index)
        next.shape.removeProperty(owner, index)
        for row in next.classes[owner].rows.indices {
            next.classes[owner].rows[row].remove(at: index)
        }
    }

    private func makeRequired(
        _ owner: Int, _ property: Int, _ next: inout ModelContent, _ work: inout Work
    ) {
        let found = replaceable(owner, property, next.shape) {
            $0.isNullable && $0.type != .link && $0.type != .mixed && !$0.isCollection
        }
        guard let index = found else { return }
        next.shape.classes[owner].properties[index].isNullable = false
        let declared = next.shape.classes[owner]
        let zero = declared.properties[index].type.zero
        for row in next.classes[owner].rows.indices
        where next.classes[owner].rows[row][index].isNull {
            next.classes[owner].rows[row][index] = zero
        }
        work.copied.append(
            (
                declared.name, committed.shape.classes[owner].name, declared.properties[index].name
            ))
    }

    /// Makes another property the primary key, or removes it.
    private func changePrimaryKey(
        _ owner: Int, _ property: Int, _ next: inout ModelContent, _ work: inout Work
    ) {
        let declared = next.shape.classes[owner]
        guard !declared.isEmbedded else { return }
        let found = declared.properties.indices.filter { index in
            let each = declared.properties[index]
            return !each.isPrimaryKey && !each.isCollection
                && [.int, .text, .uuid, .objectId].contains(each.type)
        }
        if let old = declared.primaryKey {
            next.shape.classes[owner].properties[old].isPrimaryKey = false
            next.shape.classes[owner].properties[old].isCounted = false
        }
        next.classes[owner].primaryKeys = [:]
        guard property % 4 > 0, !found.isEmpty else { return }
        let index = found[property % found.count]
        next.shape.classes[owner].properties[index].isPrimaryKey = true
        next.shape.classes[owner].properties[index].isIndexed = false
        for (key, row) in zip(next.classes[owner].keys, next.classes[owner].rows) {
            if next.classes[owner].primaryKeys.updateValue(key, forKey: row[index]) != nil {
                work.expected = Self.duplicateKey
            }
        }
    }

    private func nameCopies(of next: inout ModelContent, in session: Session) throws {
        let keys = try next.shape.classes.map {
            try EngineSession.keys(of: session.results(of: session.classHandle(named: $0.name).id))
        }
        guard let copies = next.nameCopies(keys) else {
            throw ModelViolation(
                "automatic handling left \(keys.map(\.count)) objects of the classes, not "
                    + "\(next.classes.map(\.keys.count))")
        }
        handled.migrations += 1
        handled.copies += copies
    }

    /// A class becomes embedded, or ceases to be. The block may delete objects that do not fit, or
    /// automatic handling makes them fit.
    private func toggleEmbedding(
        _ owner: Int, _ next: inout ModelContent, _ numbers: inout Seed, _ work: inout Work
    ) {
        let becomesEmbedded = !next.shape.classes[owner].isEmbedded
        let isInSet = next.shape.classes.flatMap(\.properties).contains {
            $0.type == .link && $0.target == owner && $0.collection == .set
        }
        guard owner > 0, !becomesEmbedded || !isInSet else { return }
        if becomesEmbedded {
            next.prepareEmbedding(of: owner)
            if numbers.chance(40) {
                let owners = next.owners, mixed = next.keysInMixed(owner)
                let keys = next.classes[owner].keys.filter {
                    owners[ModelObject(owner: owner, key: $0)]?.count != 1 || mixed.contains($0)
                }
                _ = next.erase(owner, keys: Set(keys))
                work.erased = (next.shape.classes[owner].name, keys)
            } else if numbers.chance(75) {
                handleBacklinks(owner, &next, &work)
            }
        }
        next.shape.classes[owner].isEmbedded = becomesEmbedded
        for index in next.shape.classes.indices {
            for place in next.shape.classes[index].properties.indices
            where next.shape.classes[index].properties[place].type == .link
                && next.shape.classes[index].properties[place].target == owner
            {
                next.shape.classes[index].properties[place].isOwning = becomesEmbedded
            }
        }
        if becomesEmbedded, work.expected == nil, !next.isEmbeddable(owner) {
            work.expected = Self.schemaMismatch
        }
    }

    private func handleBacklinks(_ owner: Int, _ next: inout ModelContent, _ work: inout Work) {
        var arranged = next
        switch arranged.giveOwners(owner) {
        case .tooManyCopies: return
        case .tooDeep: work.expected = Self.tooLong
        case .done: if arranged.hasDuplicates { work.expected = Self.duplicateValue }
        }
        work.isAutomatic = true
        next = arranged
    }

    private func addDefault(
        _ owner: Int, _ next: inout ModelContent, _ numbers: inout Seed, _ work: inout Work
    ) {
        guard next.shape.classes[owner].properties.count < 12 else { return }
        let property = ShapeProperty(
            name: "d\(schemaVersion)", type: .int, isNullable: numbers.chance(30),
            isIndexed: numbers.chance(50))
        let value = numbers.pick([0, 7, .min, .max]) ?? 7 as Int64
        next.addProperty(owner, property)
        for row in next.classes[owner].rows.indices {
            next.classes[owner].rows[row][next.shape.classes[owner].properties.count - 1] =
                .int(value)
        }
        work.added = (next.shape.classes[owner].name, property.name, value)
    }
}

extension ModelContent {
    /// Deletes the objects that are embedded in a property, which is removed.
    fileprivate mutating func eraseOwned(_ owner: Int, _ property: Int) {
        let declared = shape.classes[owner].properties[property]
        guard declared.isOwning else { return }
        var owned: Set<Int64> = []
        for row in classes[owner].rows {
            for case .link(let key) in row[property].targets { owned.insert(key) }
        }
        _ = erase(declared.target, keys: owned)
    }
}

extension ModelContent {
    /// Removes the attributes that an embedded class can't have.
    fileprivate mutating func prepareEmbedding(of owner: Int) {
        classes[owner].primaryKeys = [:]
        for place in shape.classes[owner].properties.indices {
            shape.classes[owner].properties[place].isPrimaryKey = false
            shape.classes[owner].properties[place].isCounted = false
        }
        for index in shape.classes.indices {
            for (place, property) in shape.classes[index].properties.enumerated()
            where property.type == .link
                && (property.target == owner || index == owner && property.rule == .cascade)
            {
                shape.classes[index].properties[place].rule = .nullify
            }
        }
    }

    /// The objects that link to each, but for mixed values, each as often as it does.
    fileprivate var owners: [ModelObject: [ModelObject]] {
        var found: [ModelObject: [ModelObject]] = [:]
        for (origin, declared) in shape.classes.enumerated() {
            for (place, property) in declared.properties.enumerated() where property.type == .link {
                for (key, row) in zip(classes[origin].keys, classes[origin].rows) {
                    for case .link(let target) in row[place].targets {
                        found[ModelObject(owner: property.target, key: target), default: []]
                            .append(ModelObject(owner: origin, key: key))
                    }
                }
            }
        }
        return found
    }

    /// The objects of a class that mixed values link to.
    fileprivate func keysInMixed(_ owner: Int) -> Set<Int64> {
        var found: Set<Int64> = []
        for (origin, declared) in shape.classes.enumerated() {
            for place in declared.properties.indices where declared.properties[place].type == .mixed
            {
                found.formUnion(mixedLinks(to: owner, from: origin, place).keys)
            }
        }
        return found
    }

    /// Whether each object of an embedded class has one owner and hangs from one that is not
    /// embedded.
    fileprivate func isEmbeddable(_ owner: Int) -> Bool {
        let owners = owners
        guard keysInMixed(owner).isDisjoint(with: classes[owner].keys) else { return false }
        return classes[owner].keys.allSatisfy { key in
            var object = ModelObject(owner: owner, key: key)
            for _ in 0..<100 {
                guard let found = owners[object], found.count == 1 else { return false }
                object = found[0]
                if !shape.classes[object.owner].isEmbedded { return true }
            }
            return false
        }
    }
}

extension Shape {
    /// Takes the inverses of a link away.
    fileprivate mutating func dropInverses(of owner: Int, _ property: Int) {
        for index in classes.indices {
            classes[index].inverses.removeAll { $0.origin == owner && $0.property == property }
        }
    }

    /// Takes a property away, which is in no unique constraint.
    fileprivate mutating func removeProperty(_ owner: Int, _ property: Int) {
        dropInverses(of: owner, property)
        classes[owner].properties.remove(at: property)
        classes[owner].uniques = classes[owner].uniques.map { unique in
            unique.map { $0 > property ? $0 - 1 : $0 }
        }
        for index in classes.indices {
            for place in classes[index].inverses.indices
            where classes[index].inverses[place].origin == owner
                && classes[index].inverses[place].property > property
            {
                classes[index].inverses[place].property -= 1
            }
        }
    }
}
