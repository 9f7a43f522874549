package import ToftStorage

/// A class, resolved once for a schema. Immutable; any thread may use it with any view of that
/// schema.
package final class ClassHandle: Sendable {
    package let id: ClassID
    /// Its index in `ModelSchema.classes`.
    package let position: Int
    package let name: String
    package let isHidden: Bool
    /// Whether its objects live in others: see `ClassSchema.isEmbedded`.
    package let isEmbedded: Bool
    package let table: TreeID
    /// All properties in the order of their ids, hidden ones and inverse links too.
    package let properties: ContiguousArray<PropertyHandle>
    /// The values that each of `properties` takes.
    let rules: ContiguousArray<ValueRule>
    package let primaryKey: PropertyHandle?
    /// The primary key without a reference count. Valid as long as the class.
    let uncountedPrimaryKey: Unmanaged<PropertyHandle>?
    let primaryKeyTree: TreeID?
    /// Whether a new object without a primary key gets the next one: see `KeyCounter`.
    let isAutoIncremented: Bool
    let primaryKeySlot: Int
    /// Properties with a secondary index.
    let indexed: ContiguousArray<PropertyHandle>
    package let uniques: ContiguousArray<UniqueConstraint>
    /// The indexes in `properties` of those that take no null in the session although the file
    /// does.
    let declaredRequired: ContiguousArray<Int>
    /// Links and mixed properties of this class, collections of them too.
    package let links: ContiguousArray<PropertyHandle>
    /// Whether one of them is mixed.
    let hasMixed: Bool
    /// The links to embedded objects, which an object owns.
    let owning: ContiguousArray<PropertyHandle>
    /// The links whose targets are deleted with an object.
    let cascading: ContiguousArray<PropertyHandle>
    /// Links of any class that keep an object of this one from being deleted.
    let denying: ContiguousArray<PropertyHandle>
    /// Links and collections of links, of any class, to this class, and all mixed properties.
    package let incoming: ContiguousArray<PropertyHandle>
    /// Whether the property ids are 1, 2, 3..., so that an id is a position.
    private let isDense: Bool

    init(
        _ stored: StoredClass, at position: Int, properties: ContiguousArray<PropertyHandle>,
        incoming: ContiguousArray<PropertyHandle>,
        slots: inout SlotCounter
    ) {
        id = stored.id
        self.position = position
        name = stored.name
        isHidden = stored.isHidden
        isEmbedded = stored.isEmbedded
        table = stored.table
        self.properties = properties
        rules = ContiguousArray(properties.map(\.rule))
        primaryKey = properties.first { $0.isPrimaryKey }
        uncountedPrimaryKey = primaryKey.map { .passUnretained($0) }
        primaryKeyTree = stored.primaryKeyTree
        isAutoIncremented = primaryKey?.isAutoIncremented ?? false
        primaryKeySlot = slots.take(stored.primaryKeyTree)
        indexed = properties.filter { $0.isIndexed }
        uniques = ContiguousArray(
            stored.uniques.map { UniqueConstraint($0, of: properties, slots: &slots) })
        declaredRequired = ContiguousArray(
            properties.indices.filter { properties[$0].isDeclaredRequired })
        links = properties.filter { $0.type.canLink }
        hasMixed = links.contains { $0.type == .mixed }
        owning = links.filter(\.ownsTargets)
        cascading = links.filter(\.cascades)
        denying = incoming.filter { $0.deleteRule == .deny }
        self.incoming = incoming
        isDense = properties.indices.allSatisfy { properties[$0].id == PropertyID($0 + 1) }
    }
}

extension ClassHandle {
    /// The visible property with this id.
    package func property(id: PropertyID) throws(ModelError) -> PropertyHandle {
        guard let property = anyProperty(id: id), !property.isHidden else {
            throw .noSuchProperty(className: name, property: "#\(id)")
        }
        return property
    }

    /// The visible property with exactly this name.
    package func property(named name: String) throws(ModelError) -> PropertyHandle {
        guard
            let property = properties.first(where: { !$0.isHidden && $0.name.isSameName(as: name) })
        else {
            let names = properties.filter { !$0.isHidden }.map(\.name)
            throw .noSuchProperty(
                className: self.name, property: name,
                hint: NearestName.hint(for: name, among: names))
        }
        return property
    }

    /// The properties that are not hidden.
    package var visibleProperties: [PropertyHandle] {
        properties.filter { !$0.isHidden }
    }

    /// The property with this id, hidden or not.
    package func anyProperty(id: PropertyID) -> PropertyHandle? {
        anyPosition(id: id).map { properties[$0] }
    }

    /// The index in `properties` of the property with this id, hidden or not.
    @inline(__always)
    func anyPosition(id: PropertyID) -> Int? {
        if isDense { return id > 0 && Int(id) <= properties.count ? Int(id) - 1 : nil }
        return search(id)
    }

    /// After a migration that has removed properties, ids have gaps.
    private func search(_ id: PropertyID) -> Int? { properties.index(ofID: id) { $0.id } }
}
