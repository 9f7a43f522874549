internal import ToftStorage

/// The classes that a caller declares when it opens a database. `StoredSchema` is the file's.
package struct Schema: Sendable, Equatable {
    package var classes: [ClassSchema]

    package init(_ classes: [ClassSchema] = []) {
        self.classes = classes
    }

    /// The class with exactly this name.
    func classSchema(named name: String) -> ClassSchema? {
        classes.first { $0.name.isSameName(as: name) }
    }
}

/// One declared class.
package struct ClassSchema: Sendable, Equatable {
    package var name: String
    /// The name in the file, if it differs from `name`.
    package var persistedName: String
    /// Whether each object lives in exactly one other, through the link or the list that leads to
    /// it, and is deleted with that.
    package var isEmbedded: Bool
    package var properties: [PropertySchema]
    /// Names of properties; no two objects have the same values of all in a row.
    package var uniques: [[String]]

    package init(
        _ name: String, persistedName: String? = nil, isEmbedded: Bool = false,
        _ properties: [PropertySchema] = [], uniques: [[String]] = []
    ) {
        self.name = name
        self.persistedName = persistedName ?? name
        self.isEmbedded = isEmbedded
        self.properties = properties
        self.uniques = uniques
    }

    /// The property with exactly this name.
    package func property(named name: String) -> PropertySchema? {
        properties.first { $0.name.isSameName(as: name) }
    }

    /// The property declared as primary key, if any.
    package var primaryKey: PropertySchema? {
        properties.first { $0.isPrimaryKey }
    }
}

/// One declared property.
package struct PropertySchema: Sendable, Equatable {
    package var name: String
    /// The name in the file, if it differs from `name`.
    package var persistedName: String
    package var type: PropertyType
    package var collection: CollectionKind
    /// Whether the value may be null; for a list, whether its elements may. To-one links and mixed
    /// values are always optional, elements of a list of links never.
    package var isOptional: Bool
    package var isPrimaryKey: Bool
    /// Whether a new object without a primary key gets the next one: see `KeyCounter`.
    package var isAutoIncremented: Bool
    package var isIndexed: Bool
    /// Of a link.
    package var deleteRule: DeleteRule
    /// The class linked to; for an inverse link, the class that links here.
    package var target: String?
    /// For an inverse link, the property of `target` that links here.
    package var origin: String?

    package init(
        _ name: String, _ type: PropertyType, collection: CollectionKind = .none,
        isOptional: Bool = false, isPrimaryKey: Bool = false,
        isAutoIncremented: Bool = false, isIndexed: Bool = false, deleteRule: DeleteRule = .nullify,
        target: String? = nil, origin: String? = nil, persistedName: String? = nil
    ) {
        self.name = name
        self.persistedName = persistedName ?? name
        self.type = type
        self.collection = collection
        self.isOptional = isOptional || type == .mixed
        self.isPrimaryKey = isPrimaryKey
        self.isAutoIncremented = isAutoIncremented
        self.isIndexed = isIndexed
        self.deleteRule = deleteRule
        self.target = target
        self.origin = origin
    }

    /// A to-one link to an object of class `target`, or null.
    package static func link(_ name: String, to target: String) -> PropertySchema {
        PropertySchema(name, .link, isOptional: true, target: target)
    }

    /// A list of links to objects of class `target`.
    package static func links(_ name: String, to target: String) -> PropertySchema {
        PropertySchema(name, .link, collection: .list, target: target)
    }

    /// The inverse of property `origin` of class `target`.
    package static func linkingObjects(_ name: String, from target: String, _ origin: String)
        -> PropertySchema
    {
        PropertySchema(name, .linkingObjects, target: target, origin: origin)
    }
}

extension String {
    /// Names are equal when their bytes are: upper and lower case differ, and so do different
    /// spellings of an accented letter.
    package func isSameName(as other: String) -> Bool { hasSameBytes(as: other) }

    /// The names in a path, which points part. A point with an accent behind it is one, too, which
    /// it is not to a Character.
    package var pathNames: [String] {
        utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    /// Whether both are the same UTF-8.
    package func hasSameBytes(as other: String) -> Bool {
        var own = self
        var other = other
        return own.withUTF8 { own in
            other.withUTF8 { UnsafeRawBufferPointer(own).isSame(as: UnsafeRawBufferPointer($0)) }
        }
    }
}
