extension Schema {
    /// Checks the declared schema by itself and throws every problem at once.
    func validate() throws(ModelError) {
        let problems = self.problems()
        if !problems.isEmpty { throw .invalidSchema(problems) }
    }

    /// Every problem of the declared schema, in the order of its classes and properties.
    package func problems() -> [SchemaProblem] {
        var problems = SchemaProblems(classes)
        problems.findDuplicates(
            of: classes.map { ($0.name, $0.persistedName) },
            stored: "is the stored name of two classes"
        ) {
            SchemaProblem(className: $0, text: $1)
        }
        for declared in classes {
            problems.className = declared.name
            problems.check(declared)
        }
        return problems.found
    }
}

/// Collects the problems of a schema while it is walked.
private struct SchemaProblems {
    var found: [SchemaProblem] = []
    var className = ""
    private let classes: [ClassSchema]
    private let names: NameIndex

    init(_ classes: [ClassSchema]) {
        self.classes = classes
        names = NameIndex(classes.lazy.map(\.name))
    }

    private func classSchema(named name: String) -> ClassSchema? {
        names[name].map { classes[$0] }
    }

    mutating func add(_ property: String? = nil, _ text: String) {
        found.append(SchemaProblem(className: className, property: property, text: text))
    }

    /// Names that occur twice, then stored names that occur twice under different names; each once.
    mutating func findDuplicates(
        of names: [(name: String, stored: String)], stored storedText: String,
        problem: (String, String) -> SchemaProblem
    ) {
        let differ = names.contains { !$0.name.isSameName(as: $0.stored) }
        if NameIndex(names.lazy.map(\.name)).count == names.count,
            !differ || NameIndex(names.lazy.map(\.stored)).count == names.count
        {
            return
        }
        var counts: [[UInt8]: Int] = [:], storedCounts: [[UInt8]: Int] = [:]
        for (name, stored) in names {
            counts[Array(name.utf8), default: 0] += 1
            if counts[Array(name.utf8)] == 1 { storedCounts[Array(stored.utf8), default: 0] += 1 }
            if counts[Array(name.utf8)] == 2 { found.append(problem(name, "is declared twice")) }
            if counts[Array(name.utf8)] == 1, storedCounts[Array(stored.utf8)] == 2 {
                found.append(problem(stored, storedText))
            }
        }
    }

    mutating func check(_ declared: ClassSchema) {
        checkName(declared.name, limit: Limits.classNameBytes)
        if !declared.persistedName.isSameName(as: declared.name) {
            checkName(declared.persistedName, limit: Limits.classNameBytes, stored: true)
        }
        if declared.properties.count > Limits.propertiesPerClass {
            add(
                nil,
                "has \(declared.properties.count) properties; the limit is "
                    + "\(Limits.propertiesPerClass)"
            )
        }
        findDuplicates(
            of: declared.properties.map { ($0.name, $0.persistedName) },
            stored: "is the stored name of two properties"
        ) {
            SchemaProblem(className: declared.name, property: $0, text: $1)
        }
        for property in declared.properties {
            check(property, of: declared)
        }
        checkUniques(of: declared)
        let keys = declared.properties.filter(\.isPrimaryKey)
        if declared.isEmbedded, let key = keys.first {
            add(key.name, "belongs to an embedded class and can't be the primary key")
        }
        if keys.count > 1 {
            add(
                nil,
                "has several primary keys: " + keys.map { "'\($0.name)'" }.joined(separator: ", "))
        }
    }

    mutating func check(_ property: PropertySchema, of declared: ClassSchema) {
        checkName(property.name, property: property.name, limit: Limits.propertyNameBytes)
        if !property.persistedName.isSameName(as: property.name) {
            checkName(
                property.persistedName, property: property.name, limit: Limits.propertyNameBytes,
                stored: true)
        }
        checkTarget(property, of: declared)
        checkOptionality(property)
        checkKeys(property)
        checkDeleteRule(property, of: declared)
    }

    mutating func checkTarget(_ property: PropertySchema, of declared: ClassSchema) {
        guard property.type == .link || property.type == .linkingObjects else {
            if property.target != nil {
                add(property.name, "is of type \(property.type.name) and has no target class")
            }
            if property.origin != nil {
                add(property.name, "is of type \(property.type.name) and has no origin property")
            }
            return
        }
        guard let targetName = property.target, !targetName.isEmpty else {
            return add(property.name, "names no target class")
        }
        guard let target = classSchema(named: targetName) else {
            return add(
                property.name,
                "has the target class '\(targetName)', which the schema does not have")
        }
        if property.type == .linkingObjects {
            checkOrigin(property, of: declared, in: target)
        } else if property.origin != nil {
            add(property.name, "is a link and has no origin property")
        } else if property.collection == .set, target.isEmbedded {
            add(
                property.name,
                "is a set of links to the embedded class '\(targetName)'; a list or a dictionary "
                    + "can hold embedded objects")
        }
    }

    mutating func checkOrigin(
        _ property: PropertySchema, of declared: ClassSchema, in target: ClassSchema
    ) {
        guard let originName = property.origin, !originName.isEmpty else {
            return add(property.name, "is an inverse link and names no origin property")
        }
        guard let origin = target.property(named: originName) else {
            return add(
                property.name,
                "is the inverse of '\(target.name).\(originName)', which the schema does not have")
        }
        if origin.type != .link {
            add(
                property.name,
                "is the inverse of '\(target.name).\(originName)', which is not a link")
        } else if !(origin.target ?? "").isSameName(as: declared.name) {
            add(
                property.name,
                "is the inverse of '\(target.name).\(originName)', which links to "
                    + "'\(origin.target ?? "")'"
            )
        }
    }

    mutating func checkOptionality(_ property: PropertySchema) {
        switch (property.type, property.collection) {
        case (.link, .none) where !property.isOptional:
            add(property.name, "is a to-one link and must be optional")
        case (.link, .dictionary) where !property.isOptional:
            add(property.name, "is a dictionary of links, whose values must be optional")
        case (.link, .list) where property.isOptional, (.link, .set) where property.isOptional:
            add(
                property.name,
                "is a \(property.collection.name) of links, whose elements can't be optional")
        case (.linkingObjects, .none) where property.isOptional:
            add(property.name, "is an inverse link and can't be optional")
        case (.linkingObjects, .list), (.linkingObjects, .set), (.linkingObjects, .dictionary):
            add(property.name, "is an inverse link and can't be a \(property.collection.name)")
        default: break
        }
    }

    mutating func checkKeys(_ property: PropertySchema) {
        if property.isPrimaryKey {
            if property.collection != .none {
                add(
                    property.name,
                    "is a \(property.collection.name) and can't be the primary key")
            } else if !property.type.canBePrimaryKey {
                add(
                    property.name,
                    "is of type \(property.type.name) and can't be the primary key; int, "
                        + "string, objectId and uuid can"
                )
            }
        }
        if property.isAutoIncremented {
            if !property.isPrimaryKey {
                add(property.name, "is not the primary key and can't be auto-incremented")
            } else if property.type != .int || property.isOptional {
                add(
                    property.name,
                    "is of type \(property.isOptional ? "optional " : "")\(property.type.name) and "
                        + "can't be auto-incremented; int can")
            }
        }
        if property.isIndexed {
            if property.collection != .none {
                add(property.name, "is a \(property.collection.name) and can't be indexed")
            } else if !property.type.canBeIndexed {
                add(
                    property.name,
                    "is of type \(property.type.name) and can't be indexed; bool, int, string, "
                        + "date, objectId, uuid and mixed can"
                )
            }
        }
    }

    mutating func checkUniques(of declared: ClassSchema) {
        if declared.uniques.count > Limits.uniquesPerClass {
            add(
                nil,
                "has \(declared.uniques.count) unique constraints; the limit is "
                    + "\(Limits.uniquesPerClass)")
        }
        var known: [Set<Int>] = []
        for unique in declared.uniques {
            let list = unique.map { "'\($0)'" }.joined(separator: ", ")
            if unique.isEmpty { add(nil, "has a unique constraint without properties") }
            var positions = Set<Int>()
            for name in unique {
                let position = declared.properties.firstIndex { $0.name.isSameName(as: name) }
                guard let position else {
                    add(nil, "has a unique constraint on '\(name)', which it does not have")
                    continue
                }
                if !positions.insert(position).inserted {
                    add(nil, "has a unique constraint that names a property twice: \(list)")
                }
                checkUnique(declared.properties[position])
            }
            if !positions.isEmpty, known.contains(positions) {
                add(nil, "has the unique constraint on \(list) twice")
            }
            known.append(positions)
        }
    }

    private mutating func checkUnique(_ property: PropertySchema) {
        if property.collection != .none {
            add(property.name, "is a \(property.collection.name) and can't be unique")
        } else if !property.type.canBeUnique {
            add(
                property.name,
                "is of type \(property.type.name) and can't be unique; bool, int, string, date, "
                    + "objectId and uuid can")
        }
    }

    mutating func checkDeleteRule(_ property: PropertySchema, of declared: ClassSchema) {
        guard property.deleteRule != .nullify else { return }
        if property.type != .link {
            add(
                property.name, "is of type \(property.type.name) and has no delete rule; links have"
            )
        } else if classSchema(named: property.target ?? "")?.isEmbedded == true {
            add(
                property.name,
                "links to the embedded class '\(property.target ?? "")', whose objects are deleted "
                    + "with their owner, and has no delete rule")
        } else if declared.isEmbedded, property.deleteRule == .cascade {
            add(property.name, "belongs to an embedded class and can't cascade")
        }
    }

    mutating func checkName(
        _ name: String, property: String? = nil, limit: Int, stored: Bool = false
    ) {
        let subject = stored ? "has the stored name '\(name)', which" : "has a name that"
        if name.isEmpty { return add(property, "has an empty \(stored ? "stored " : "")name") }
        if name.utf8.count > limit {
            add(property, "\(subject) is \(name.utf8.count) bytes long; the limit is \(limit)")
        }
        if let reason = NameRules.problem(of: name) { add(property, "\(subject) \(reason)") }
    }
}

/// The rules for names: those that the query language can spell as an identifier, a space behind a
/// backslash.
package enum NameRules {
    /// The fault of a non-empty name; nil for a valid one.
    static func problem(of name: String) -> String? {
        guard let first = name.unicodeScalars.first else { return nil }
        if first == "@" || first == "$" {
            return "begins with '\(first)', which queries use themselves"
        }
        if isRetired(name) { return "is '__' and a number, as what migrations removed is called" }
        if first == "-" || ("0"..."9").contains(first) {
            return "begins with '\(first)'; a letter or '_' is needed"
        }
        if first == " " || name.unicodeScalars.last == " " { return "begins or ends with a space" }
        for scalar in name.unicodeScalars where !isAllowed(scalar) {
            return "contains \(display(scalar)); letters, digits, '_', '-', '$' and spaces are "
                + "allowed"
        }
        return nil
    }

    /// The name with '_' for each forbidden character, and before a first one that can't be
    /// first; a number follows if that is taken. An allowed name that is free stays as it is.
    /// - Parameter limit: bytes that it has at most.
    package static func allowed(_ name: String, limit: Int, isTaken: (String) -> Bool) -> String {
        let plain = allowed(name)
        var found = cut(plain, limit)
        var number = 2
        while isTaken(found) {
            found = cut(plain, limit - "_\(number)".utf8.count) + "_\(number)"
            number += 1
        }
        return found
    }

    private static func cut(_ name: String, _ limit: Int) -> String {
        var cut = name.unicodeScalars
        while String(cut).utf8.count > limit || cut.last == " " { cut.removeLast() }
        return String(cut)
    }

    private static func allowed(_ name: String) -> String {
        var allowed = String.UnicodeScalarView()
        for scalar in name.unicodeScalars { allowed.append(isAllowed(scalar) ? scalar : "_") }
        // A space at the end, also of a name that is cut, would be refused.
        while allowed.last == " " { allowed.removeLast() }
        let plain = String(allowed)
        if plain.isEmpty { return "_" }
        guard problem(of: plain) != nil else { return plain }
        return isRetired(plain) ? plain + "_" : "_" + plain
    }

    /// The prefix of the names of retired properties and classes, before their number.
    static let retiredPrefix = "__"

    /// Whether it is the name of a property or class that a migration has replaced or removed. No
    /// declared one has such a name.
    static func isRetired(_ name: String) -> Bool {
        let number = name.utf8.dropFirst(retiredPrefix.utf8.count)
        return name.utf8.starts(with: retiredPrefix.utf8) && !number.isEmpty
            && number.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }

    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "_", "-", "$", " ": true
        default: scalar.value >= 0xA0
        }
    }

    private static func display(_ scalar: Unicode.Scalar) -> String {
        scalar.value > 0x20 && scalar.value < 0x7F
            ? "'\(scalar)'" : "U+" + String(scalar.value, radix: 16, uppercase: true)
    }
}
