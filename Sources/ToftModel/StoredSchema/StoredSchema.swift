package import ToftStorage

/// The file's schema: ids that are never used twice, the trees that hold the data, and the hidden
/// parts.
///
/// A value of this type is also a session's view: `restricted(to:)` hides undeclared parts and
/// gives the declared names.
package struct StoredSchema: Sendable, Equatable {
    /// The schema version that callers count, 0 in a file that never had one.
    package var version: UInt64
    /// Goes up by one with every change of the schema, so that a reader sees in one look whether it
    /// knows this one.
    package var generation: UInt64
    /// The id that the next class gets.
    var nextClassID: ClassID
    /// In the order of their ids.
    package var classes: [StoredClass]

    package init(
        version: UInt64 = 0, generation: UInt64 = 0, nextClassID: ClassID = 1,
        classes: [StoredClass] = []
    ) {
        self.version = version
        self.generation = generation
        self.nextClassID = nextClassID
        self.classes = classes
    }
}

/// One class in the file.
package struct StoredClass: Sendable, Equatable {
    package var id: ClassID
    /// The name that callers use.
    package var name: String
    /// The name in the file.
    package var persistedName: String
    /// Whether the session does not see it; its data stays in the file.
    package var isHidden: Bool
    /// Whether its objects live in others: see `ClassSchema.isEmbedded`. Never changes.
    package var isEmbedded: Bool
    /// The id that the next property gets.
    var nextPropertyID: PropertyID
    /// The table with the objects' rows.
    package var table: TreeID
    /// The property that is the primary key.
    var primaryKeyID: PropertyID?
    /// Primary key value -> object key.
    var primaryKeyTree: TreeID?
    /// In the order of their ids.
    package var properties: [StoredProperty]
    /// In the order in which they were made.
    package var uniques: [StoredUnique] = []

    package init(
        id: ClassID, name: String, persistedName: String? = nil, isHidden: Bool = false,
        isEmbedded: Bool = false, nextPropertyID: PropertyID = 1, table: TreeID = 0,
        primaryKeyID: PropertyID? = nil, primaryKeyTree: TreeID? = nil,
        properties: [StoredProperty] = []
    ) {
        self.id = id
        self.name = name
        self.persistedName = persistedName ?? name
        self.isHidden = isHidden
        self.isEmbedded = isEmbedded
        self.nextPropertyID = nextPropertyID
        self.table = table
        self.primaryKeyID = primaryKeyID
        self.primaryKeyTree = primaryKeyTree
        self.properties = properties
    }
}

/// Properties whose values together are unique in a class.
package struct StoredUnique: Sendable, Equatable {
    /// Ascending.
    package var properties: [PropertyID]
    /// Hash of the values, object key -> nothing; 0 until it is made.
    var tree: TreeID = 0
}

/// One property in the file. Its id is its column's id.
package struct StoredProperty: Sendable, Equatable {
    package var id: PropertyID
    /// The name that callers use.
    package var name: String
    /// The name in the file.
    package var persistedName: String
    package var type: PropertyType
    package var collection: CollectionKind
    /// Whether the value, or an element of the list, may be null.
    package var isOptional: Bool
    /// Whether the session declared it as required, and another one has made it optional since.
    var isDeclaredRequired = false
    package var isPrimaryKey: Bool
    /// Whether a new object without a primary key gets the next one: see `KeyCounter`.
    package var isAutoIncremented = false
    /// Of a link.
    package var deleteRule = DeleteRule.nullify
    /// Whether the session does not see it; its data stays in the file.
    package var isHidden: Bool
    /// The class linked to; for an inverse link, the class that links here.
    package var targetClassID: ClassID?
    /// For an inverse link, the property of the target class that links here.
    package var originPropertyID: PropertyID?
    /// (value, object key) -> nothing, for an indexed property.
    var indexTree: TreeID?
    /// (target key, source key) -> number of links, for a link.
    var backlinkTree: TreeID?

    package init(
        id: PropertyID, name: String, persistedName: String? = nil, type: PropertyType,
        collection: CollectionKind = .none, isOptional: Bool = false,
        isPrimaryKey: Bool = false, isHidden: Bool = false, targetClassID: ClassID? = nil,
        originPropertyID: PropertyID? = nil,
        indexTree: TreeID? = nil, backlinkTree: TreeID? = nil
    ) {
        self.id = id
        self.name = name
        self.persistedName = persistedName ?? name
        self.type = type
        self.collection = collection
        self.isOptional = isOptional
        self.isPrimaryKey = isPrimaryKey
        self.isHidden = isHidden
        self.targetClassID = targetClassID
        self.originPropertyID = originPropertyID
        self.indexTree = indexTree
        self.backlinkTree = backlinkTree
    }

    /// Whether a secondary index exists.
    package var isIndexed: Bool { indexTree != nil }
    /// Whether it holds many values.
    package var isCollection: Bool { collection != .none }
    /// Whether it has a column; inverse links are computed.
    package var isStored: Bool { type != .linkingObjects }
    /// True if its values may be counted, as a primary key.
    var canAutoIncrement: Bool { type == .int && !isOptional && !isCollection }
}

/// A dictionary is two lists side by side: its values in the column of the property's id, its keys
/// in another one.
package enum DictionaryColumns {
    /// Property ids are below.
    static let keysBit: UInt32 = 1 << 31

    /// The column of a dictionary's keys.
    package static func keys(_ property: PropertyID) -> UInt32 { property | keysBit }

    /// The property that has a column, be it of a dictionary's keys.
    package static func property(of column: UInt32) -> PropertyID { column & ~keysBit }
}

extension StoredSchema {
    /// The class with this id, hidden or not.
    package func storedClass(id: ClassID) -> StoredClass? {
        classIndex(id: id).map { classes[$0] }
    }

    /// The visible class with exactly this name.
    package func storedClass(named name: String) -> StoredClass? {
        classes.first { !$0.isHidden && $0.name.isSameName(as: name) }
    }

    /// The classes that are not hidden.
    package var visibleClasses: [StoredClass] {
        classes.filter { !$0.isHidden }
    }

    /// The index of the class with this id in `classes`.
    func classIndex(id: ClassID) -> Int? {
        classes.index(ofID: id) { $0.id }
    }

    /// Every stored link property, hidden ones too, whose target is this class, and every mixed
    /// one.
    package func linkProperties(targeting id: ClassID) -> [(
        origin: StoredClass, property: StoredProperty
    )] {
        classes.flatMap { origin in
            origin.properties.filter {
                $0.type == .mixed || ($0.type == .link && $0.targetClassID == id)
            }.map { (origin, $0) }
        }
    }
}

extension StoredClass {
    /// The property with this id, hidden or not.
    package func property(id: PropertyID) -> StoredProperty? {
        propertyIndex(id: id).map { properties[$0] }
    }

    /// The visible property with exactly this name.
    package func property(named name: String) -> StoredProperty? {
        properties.first { !$0.isHidden && $0.name.isSameName(as: name) }
    }

    /// The properties that are not hidden.
    package var visibleProperties: [StoredProperty] {
        properties.filter { !$0.isHidden }
    }

    /// The index of the property with this id in `properties`.
    func propertyIndex(id: PropertyID) -> Int? {
        properties.index(ofID: id) { $0.id }
    }

    /// The primary key, hidden or not.
    package var primaryKey: StoredProperty? {
        primaryKeyID.flatMap { property(id: $0) }
    }
}

extension StoredProperty {
    /// The columns of the class's table for this property: two for a dictionary, zero for an
    /// inverse link.
    var columns: [Column] {
        guard let columnType = type.columnType else { return [] }
        guard isCollection else {
            return [Column(id: id, type: columnType, isNullable: isOptional)]
        }
        let values = Column(
            id: id, type: .list, isNullable: false, elementType: columnType,
            elementIsNullable: isOptional)
        guard collection == .dictionary else { return [values] }
        let keys = Column(
            id: DictionaryColumns.keys(id), type: .list, isNullable: false, elementType: .bytes)
        return [values, keys]
    }
}
