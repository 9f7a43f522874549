internal import ToftStorage

/// Properties whose values together are unique among the objects of a class when a transaction
/// commits. An object with null in one of them differs from every other.
///
/// The constraint has a tree of its own: (hash of the values, object key) -> nothing, for each
/// object without null. Objects with the same hash are compared.
package final class UniqueConstraint: Sendable {
    /// In the order of their ids.
    package let properties: ContiguousArray<PropertyHandle>
    let tree: TreeID
    let slot: Int

    init(
        _ stored: StoredUnique, of properties: ContiguousArray<PropertyHandle>,
        slots: inout SlotCounter
    ) {
        self.properties = properties.filter { stored.properties.contains($0.id) }
        tree = stored.tree
        slot = slots.take(stored.tree)
    }
}
