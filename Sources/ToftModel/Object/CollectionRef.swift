/// A collection of an object, or one within its mixed value.
package struct CollectionRef: Hashable, Sendable {
    package let owner: ObjectRef
    package let property: PropertyID
    package var nested: NestedRef?

    package init(owner: ObjectRef, property: PropertyID, nested: NestedRef? = nil) {
        self.owner = owner
        self.property = property
        self.nested = nested
    }

    /// The owner's property with it.
    package var propertyRef: PropertyRef {
        PropertyRef(classID: owner.classID, propertyID: property)
    }
}

/// Names a list or a dictionary within a mixed value of an object's property.
package struct NestedRef: Hashable, Sendable {
    package var id: UInt64
    /// The last known index of the element, for a property that is a collection.
    package var index: Int

    package init(id: UInt64, index: Int = 0) {
        self.id = id
        self.index = index
    }
}

/// The elements of a list or dictionary within a mixed value, borrowed from a version.
package struct NestedElements {
    package let isDictionary: Bool
    package let elements: [MixedElement]
}
