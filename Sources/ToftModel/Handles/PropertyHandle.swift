internal import ToftStorage

/// A property, resolved once for a schema: everything that reading and writing it needs, without
/// look-ups by name.
///
/// Immutable; any thread may use it with any view whose schema it belongs to.
package final class PropertyHandle: Sendable {
    package let id: PropertyID
    package let classID: ClassID
    /// The index of the class in `ModelSchema.classes`.
    let classPosition: Int
    package let className: String
    package let name: String
    /// The name in the file, which files of objects have.
    package let persistedName: String
    package let type: PropertyType
    package let collection: CollectionKind
    /// Whether the value, or an element of the list, may be null.
    package let isOptional: Bool
    /// Whether the session declared it as required, and another one has made it optional since: it
    /// reads null and does not write it.
    let isDeclaredRequired: Bool
    package let isPrimaryKey: Bool
    /// Whether a new object without a primary key gets the next one: see `KeyCounter`.
    package let isAutoIncremented: Bool
    package let isHidden: Bool
    /// The class linked to; for an inverse link, the class that links here.
    let targetPosition: Int?
    package let targetClassID: ClassID?
    package let targetName: String?
    /// Whether it links to embedded objects: those live and die with the link.
    package let ownsTargets: Bool
    package let deleteRule: DeleteRule
    /// Whether it belongs to a unique constraint.
    let isUnique: Bool
    /// Whether entries of trees follow from its value.
    let hasEntries: Bool
    /// For an inverse link, the property of the target class that links here.
    package let originPropertyID: PropertyID?
    let indexTree: TreeID?
    let backlinkTree: TreeID?
    /// The slots of the open trees, see `TreeSlots`; -1 without a tree.
    let indexSlot: Int
    let backlinkSlot: Int
    /// The rule for its values.
    let rule: ValueRule

    init(
        _ stored: StoredProperty, of owner: StoredClass, at position: Int, in schema: StoredSchema,
        slots: inout SlotCounter
    ) {
        id = stored.id
        classID = owner.id
        classPosition = position
        className = owner.name
        name = stored.name
        persistedName = stored.persistedName
        type = stored.type
        collection = stored.collection
        isOptional = stored.isOptional
        isDeclaredRequired = stored.isDeclaredRequired
        isPrimaryKey = stored.isPrimaryKey
        isAutoIncremented = stored.isAutoIncremented
        isHidden = stored.isHidden
        targetPosition = stored.targetClassID.flatMap { schema.classIndex(id: $0) }
        targetClassID = stored.targetClassID
        targetName = targetPosition.map { schema.classes[$0].name }
        ownsTargets =
            type == .link && (targetPosition.map { schema.classes[$0].isEmbedded } ?? false)
        deleteRule = stored.deleteRule
        isUnique = owner.uniques.contains { $0.properties.contains(stored.id) }
        hasEntries = stored.indexTree != nil || isUnique || type.canLink
        originPropertyID = stored.originPropertyID
        indexTree = stored.indexTree
        backlinkTree = stored.backlinkTree
        indexSlot = slots.take(stored.indexTree)
        backlinkSlot = slots.take(stored.backlinkTree)
        rule = ValueRule(
            type: type, isOptional: isOptional && !isDeclaredRequired,
            isOneValue: collection == .none && type != .linkingObjects,
            collection: collection,
            isHidden: isHidden, column: id, targetClassID: targetClassID ?? 0,
            targetPosition: targetPosition ?? -1)
    }
}

extension PropertyHandle {
    /// Whether its targets are deleted with the object.
    var cascades: Bool { ownsTargets || deleteRule == .cascade }
    /// Whether it holds many values.
    package var isCollection: Bool { collection != .none }
    /// Whether it can link to one object more than once.
    var hasManyLinks: Bool { isCollection || type == .mixed }
    /// The class that begins a backlink to one of its objects; nil if all links lead to one class.
    func backlinkClass(_ owner: ClassID) -> ClassID? { type == .mixed ? owner : nil }
    /// Whether it has a column; inverse links are computed.
    package var isStored: Bool { type != .linkingObjects }
    /// Whether a secondary index exists.
    package var isIndexed: Bool { indexTree != nil }
    /// Whether it can be null itself: a list can't, its elements may.
    package var isNullable: Bool { isOptional && collection == .none }
    /// The column that holds it, of a dictionary the values; the property's own id.
    package var column: UInt32 { id }
    /// The column of a dictionary's keys.
    package var keysColumn: UInt32 { DictionaryColumns.keys(id) }

    /// The type in plain words, for messages: "optional int", "list of string", "link to 'Dog'".
    package var typeName: String {
        type.name(collection, isOptional: isOptional, target: targetName)
    }

    /// Whether a handle of another schema names the same property.
    package func isSame(as other: PropertyHandle) -> Bool {
        id == other.id && classID == other.classID
    }
}

/// Numbers the ordered trees of a schema.
struct SlotCounter {
    private(set) var count = 0

    /// A slot of its own for a tree; -1 without a tree.
    mutating func take(_ tree: TreeID?) -> Int {
        guard tree != nil else { return -1 }
        defer { count += 1 }
        return count
    }
}

extension PropertyRef {
    package init(_ property: PropertyHandle) {
        self.init(classID: property.classID, propertyID: property.id)
    }
}
