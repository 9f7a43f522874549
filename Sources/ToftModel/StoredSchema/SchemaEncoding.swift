internal import ToftStorage

/// The encoding of the schema in the schema tree: a header under the key 00, and each class under
/// the key 01, class id (big-endian). The key 02, class id (big-endian) has the key counter of a
/// class, see `KeyCounter`: an i64.
///
/// ```
/// header    encoding u8 = 1, schema version u64, generation u64, next class id u32, ...
/// class     encoding u8 = 1, kind u8 (0 ordinary, 1 embedded; 2 asymmetric is reserved), id u32,
///           flags u32, name, next property id u32,
///           table u64, primary key property u32, primary key tree u64, property count u32,
///           properties (each with its length u32), with flag 16 unique constraints (count u32,
///           each tree u64, count u32, property ids u32), ...
/// property  id u32, flags u32, type u8, collection u8, index kind u8 (0 none, 1 ordered; 2 and 3
///           are reserved), 0 u8, name,
///           target class u32, origin property u32, index tree u64, backlink tree u64, ...
/// name      length u16, UTF-8
/// ```
/// All little-endian; 0 means that a number is missing. Bytes after the fields of a record, marked
/// by dots, are for later versions and skipped. Of the flags, bit 0 means hidden, bit 1 optional;
/// of a property bit 16 auto-incremented, bits 17 and 18 the delete rule (0 to 2); of a class bit
/// 16 that it has unique constraints. Unknown low bits are skipped, unknown high ones (16...31)
/// need a newer version.
enum SchemaEncoding {
    static let encodingVersion: UInt8 = 1
    static let headerKey: [UInt8] = [0]
    static let classKeyPrefix: UInt8 = 1
    static let counterKeyPrefix: UInt8 = 2
    static let hiddenFlag: UInt32 = 1
    static let optionalFlag: UInt32 = 2
    static let autoIncrementFlag: UInt32 = 1 << 16
    static let uniqueFlag: UInt32 = 1 << 16
    static let deleteRuleShift: UInt32 = 17
    static let deleteRuleMask: UInt32 = 3 << deleteRuleShift
    static let incompatibleFlags: UInt32 = 0xFFFF_0000
    static let orderedIndex: UInt8 = 1
    static let reservedIndexes: [UInt8: String] = [2: "unique", 3: "full text"]
    static let embeddedKind: UInt8 = 1
    static let reservedKinds: [UInt8: String] = [2: "asymmetric"]
    /// Trees below belong to the engine itself.
    static let firstUserTree = SystemTree.firstUser

    static func classKey(_ id: ClassID) -> [UInt8] { key(classKeyPrefix, id) }
    static func counterKey(_ id: ClassID) -> [UInt8] { key(counterKeyPrefix, id) }

    private static func key(_ prefix: UInt8, _ id: ClassID) -> [UInt8] {
        [prefix] + withUnsafeBytes(of: id.bigEndian) { Array($0) }
    }
}

// MARK: - Writing

extension StoredSchema {
    /// The record under `SchemaEncoding.headerKey`.
    func encodedHeader() -> [UInt8] {
        var writer = SchemaWriter()
        writer.put(SchemaEncoding.encodingVersion)
        writer.put(version)
        writer.put(generation)
        writer.put(nextClassID)
        return writer.bytes
    }
}

extension StoredClass {
    /// The record under the class's key.
    func encoded() -> [UInt8] {
        var writer = SchemaWriter()
        writer.put(SchemaEncoding.encodingVersion)
        writer.put(isEmbedded ? SchemaEncoding.embeddedKind : 0)
        writer.put(id)
        writer.put(
            (isHidden ? SchemaEncoding.hiddenFlag : 0)
                | (uniques.isEmpty ? 0 : SchemaEncoding.uniqueFlag))
        writer.put(persistedName)
        writer.put(nextPropertyID)
        writer.put(table.rawValue)
        writer.put(primaryKeyID ?? 0)
        writer.put(primaryKeyTree?.rawValue ?? 0)
        writer.put(UInt32(truncatingIfNeeded: properties.count))
        for property in properties {
            writer.putCounted { property.encode(into: &$0) }
        }
        if !uniques.isEmpty {
            writer.put(UInt32(truncatingIfNeeded: uniques.count))
            for unique in uniques {
                writer.put(unique.tree.rawValue)
                writer.put(UInt32(truncatingIfNeeded: unique.properties.count))
                for id in unique.properties { writer.put(id) }
            }
        }
        return writer.bytes
    }
}

extension StoredProperty {
    fileprivate func encode(into writer: inout SchemaWriter) {
        writer.put(id)
        writer.put(
            (isHidden ? SchemaEncoding.hiddenFlag : 0)
                | (isOptional ? SchemaEncoding.optionalFlag : 0)
                | (isAutoIncremented ? SchemaEncoding.autoIncrementFlag : 0)
                | UInt32(deleteRule.rawValue) << SchemaEncoding.deleteRuleShift)
        writer.put(type.rawValue)
        writer.put(collection.rawValue)
        writer.put(indexTree == nil ? 0 : SchemaEncoding.orderedIndex)
        writer.put(UInt8(0))
        writer.put(persistedName)
        writer.put(targetClassID ?? 0)
        writer.put(originPropertyID ?? 0)
        writer.put(indexTree?.rawValue ?? 0)
        writer.put(backlinkTree?.rawValue ?? 0)
    }
}

// MARK: - Reading

extension StoredSchema {
    /// Reads the header; the classes follow one by one through `StoredClass(decoding:)`, then
    /// `validate()`.
    init(decodingHeader bytes: [UInt8]) throws(ModelError) {
        var reader = SchemaReader(bytes[...])
        try reader.takeEncodingVersion()
        version = try reader.number()
        generation = try reader.number()
        nextClassID = try reader.number()
        classes = []
    }

    /// Checks across records: that ids, names, trees and targets fit together.
    func validate() throws(ModelError) {
        var names = Set<[UInt8]>(), trees = Set<TreeID>()
        var previous: ClassID = 0
        for stored in classes {
            guard stored.id > previous, stored.id < nextClassID else {
                throw .damagedSchema("class id \(stored.id) is out of order")
            }
            previous = stored.id
            guard names.insert(Array(stored.persistedName.utf8)).inserted else {
                throw .damagedSchema("two classes are named '\(stored.persistedName)'")
            }
            try stored.validate(in: self, trees: &trees)
        }
    }
}

extension StoredClass {
    /// Reads the record of a class.
    init(decoding bytes: [UInt8]) throws(ModelError) {
        var reader = SchemaReader(bytes[...])
        try reader.takeEncodingVersion()
        let kind = try reader.number(UInt8.self)
        let id = try reader.number(ClassID.self)
        let flags = try reader.takeFlags(known: SchemaEncoding.uniqueFlag)
        let name = try reader.text(limit: Limits.classNameBytes)
        guard kind <= SchemaEncoding.embeddedKind else {
            throw .unsupportedSchema(
                "class '\(name)' is of kind \(SchemaEncoding.reservedKinds[kind] ?? String(kind))")
        }
        self.init(
            id: id, name: name, isHidden: flags & SchemaEncoding.hiddenFlag != 0,
            isEmbedded: kind == SchemaEncoding.embeddedKind, nextPropertyID: try reader.number())
        table = TreeID(try reader.number())
        primaryKeyID = try reader.optionalNumber()
        primaryKeyTree = try reader.optionalNumber().map { TreeID($0) }
        let count = try reader.number(UInt32.self)
        guard count <= Limits.propertiesPerClass else {
            throw .damagedSchema("class '\(name)' has \(count) properties")
        }
        for _ in 0..<count {
            var part = try reader.counted()
            var property = try StoredProperty(decoding: &part, className: name)
            property.isPrimaryKey = property.id == primaryKeyID
            properties.append(property)
        }
        if flags & SchemaEncoding.uniqueFlag != 0 { try readUniques(&reader) }
    }

    private mutating func readUniques(_ reader: inout SchemaReader) throws(ModelError) {
        let count = try reader.number(UInt32.self)
        for _ in 0..<count {
            let tree = TreeID(try reader.number())
            var ids: [PropertyID] = []
            let count = try reader.number(UInt32.self)
            for _ in 0..<count { ids.append(try reader.number()) }
            uniques.append(StoredUnique(properties: ids, tree: tree))
        }
    }

    private func validateUniques(trees: inout Set<TreeID>) throws(ModelError) {
        for unique in uniques {
            try claim(unique.tree, in: &trees)
            var previous: PropertyID = 0
            for id in unique.properties {
                guard id > previous, let property = property(id: id), !property.isCollection,
                    property.type.canBeUnique
                else {
                    throw .damagedSchema("a unique constraint of class '\(name)' can't be one")
                }
                previous = id
            }
            guard previous > 0 else {
                throw .damagedSchema("a unique constraint of class '\(name)' is empty")
            }
        }
    }

    fileprivate func validate(in schema: StoredSchema, trees: inout Set<TreeID>) throws(ModelError)
    {
        var names = Set<[UInt8]>()
        var previous: PropertyID = 0
        try claim(table, in: &trees)
        for property in properties {
            guard property.id > previous, property.id < nextPropertyID,
                property.id < DictionaryColumns.keysBit
            else {
                throw .damagedSchema(
                    "property id \(property.id) of class '\(name)' is out of order")
            }
            previous = property.id
            guard names.insert(Array(property.persistedName.utf8)).inserted else {
                throw .damagedSchema(
                    "two properties of class '\(name)' are named '\(property.persistedName)'")
            }
            try validate(property, in: schema)
            if let tree = property.indexTree { try claim(tree, in: &trees) }
            if let tree = property.backlinkTree { try claim(tree, in: &trees) }
        }
        try validatePrimaryKey(trees: &trees)
        try validateUniques(trees: &trees)
    }

    private func validatePrimaryKey(trees: inout Set<TreeID>) throws(ModelError) {
        guard let id = primaryKeyID else {
            guard primaryKeyTree == nil else {
                throw .damagedSchema("class '\(name)' has a tree for a primary key, but none")
            }
            return
        }
        guard let property = property(id: id), property.type.canBePrimaryKey,
            !property.isCollection,
            !isEmbedded, let tree = primaryKeyTree
        else {
            throw .damagedSchema(
                "the primary key of class '\(name)' can't be one, or has no tree")
        }
        try claim(tree, in: &trees)
    }

    private func validate(_ property: StoredProperty, in schema: StoredSchema) throws(ModelError) {
        let subject = "property '\(name).\(property.name)'"
        let target = property.targetClassID.flatMap { schema.storedClass(id: $0) }
        switch property.type {
        case .link:
            guard target != nil else {
                throw .damagedSchema("\(subject) links to a class that is not there")
            }
            guard property.backlinkTree != nil else {
                throw .damagedSchema("\(subject) is a link and has no backlink tree")
            }
            guard property.isOptional == property.collection.hasOptionalLinks else {
                throw .damagedSchema("\(subject) is a link that can't be null, or the reverse")
            }
        case .linkingObjects:
            guard let origin = property.originPropertyID.flatMap({ target?.property(id: $0) }),
                origin.type == .link,
                origin.targetClassID == id, !property.isOptional, !property.isCollection
            else { throw .damagedSchema("\(subject) is the inverse of a link that is not there") }
        default:
            guard property.targetClassID == nil else {
                throw .damagedSchema("\(subject) is not a link and has a target")
            }
            guard property.type != .mixed || (property.isOptional && property.backlinkTree != nil)
            else {
                throw .damagedSchema("\(subject) is mixed and can't be null, or has no backlinks")
            }
        }
        if property.isAutoIncremented, !property.isPrimaryKey || !property.canAutoIncrement {
            throw .damagedSchema("\(subject) can't be auto-incremented and is")
        }
        if property.deleteRule != .nullify,
            target?.isEmbedded != false || property.type != .link
                || isEmbedded && property.deleteRule == .cascade
        {
            throw .damagedSchema("\(subject) can't have a delete rule and has one")
        }
        if !property.type.canLink, property.backlinkTree != nil {
            throw .damagedSchema("\(subject) is not a link and has a backlink tree")
        }
        if property.indexTree != nil, property.isCollection || !property.type.canBeIndexed {
            throw .damagedSchema("\(subject) can't have an index and has one")
        }
    }

    private func claim(_ tree: TreeID, in trees: inout Set<TreeID>) throws(ModelError) {
        guard tree >= SchemaEncoding.firstUserTree, trees.insert(tree).inserted else {
            throw .damagedSchema("tree \(tree) of class '\(name)' belongs to something else")
        }
    }
}

extension StoredProperty {
    fileprivate init(decoding reader: inout SchemaReader, className: String) throws(ModelError) {
        let id = try reader.number(PropertyID.self)
        let flags = try reader.takeFlags(
            known: SchemaEncoding.autoIncrementFlag | SchemaEncoding.deleteRuleMask)
        let type = try reader.number(UInt8.self), collection = try reader.number(UInt8.self),
            index = try reader.number(UInt8.self)
        _ = try reader.number(UInt8.self)
        let name = try reader.text(limit: Limits.propertyNameBytes)
        let subject = "property '\(className).\(name)'"
        guard let known = PropertyType(rawValue: type) else {
            throw .unsupportedSchema(
                "\(subject) is of type \(type)")
        }
        guard let knownCollection = CollectionKind(rawValue: collection) else {
            throw .unsupportedSchema("\(subject) is a collection of kind \(collection)")
        }
        guard index <= SchemaEncoding.orderedIndex else {
            throw .unsupportedSchema(
                "\(subject) has an index of kind "
                    + "\(SchemaEncoding.reservedIndexes[index] ?? String(index))"
            )
        }
        self.init(
            id: id, name: name, type: known, collection: knownCollection,
            isOptional: flags & SchemaEncoding.optionalFlag != 0,
            isHidden: flags & SchemaEncoding.hiddenFlag != 0)
        isAutoIncremented = flags & SchemaEncoding.autoIncrementFlag != 0
        let rule = (flags & SchemaEncoding.deleteRuleMask) >> SchemaEncoding.deleteRuleShift
        guard let knownRule = DeleteRule(rawValue: UInt8(truncatingIfNeeded: rule)) else {
            throw .damagedSchema("\(subject) has the delete rule \(rule)")
        }
        deleteRule = knownRule
        targetClassID = try reader.optionalNumber()
        originPropertyID = try reader.optionalNumber()
        indexTree = try reader.optionalNumber().map { TreeID($0) }
        backlinkTree = try reader.optionalNumber().map { TreeID($0) }
        guard (index != 0) == (indexTree != nil) else {
            throw .damagedSchema("\(subject) has an index without a tree, or the reverse")
        }
    }
}

extension SchemaReader {
    fileprivate mutating func takeEncodingVersion() throws(ModelError) {
        let version = try number(UInt8.self)
        guard version == SchemaEncoding.encodingVersion else {
            throw .unsupportedSchema("its schema has encoding \(version)")
        }
    }

    fileprivate mutating func takeFlags(known: UInt32 = 0) throws(ModelError) -> UInt32 {
        let flags = try number(UInt32.self)
        guard flags & SchemaEncoding.incompatibleFlags & ~known == 0 else {
            throw .unsupportedSchema("its schema has flags \(flags)")
        }
        return flags
    }

    /// A number that is missing if it is 0.
    fileprivate mutating func optionalNumber<Number: FixedWidthInteger>() throws(ModelError)
        -> Number?
    {
        let number = try number(Number.self)
        return number == 0 ? nil : number
    }
}
