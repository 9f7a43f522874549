package import ToftModel
internal import ToftStorage

/// A mixed value as it is read: a list or a dictionary in it is live.
package enum LiveValue {
    case value(Value)
    case collection(CollectionHandle)
}

extension ObjectHandle {
    /// The value of a mixed property, to keep.
    package func live(_ id: PropertyID) throws(EngineError) -> LiveValue {
        let property = try property(id)
        return try live(try cell(id), property, at: 0)
    }

    func live(_ cell: Cell, _ property: PropertyHandle, at index: Int) throws(EngineError)
        -> LiveValue
    {
        try model { () throws(ModelError) in
            switch try MixedValue(cell) {
            case .scalar(let value): .value(try value.owned())
            case .collection(let collection):
                .collection(
                    CollectionHandle(
                        owner: self, property: property,
                        nested: NestedRef(id: collection.id, index: index), kind: collection.kind))
            }
        }
    }
}

extension CollectionHandle {
    /// An element of a collection of mixed values, to keep.
    package func live(at index: Int) throws(EngineError) -> LiveValue {
        try owner.live(try cell(at: index), property, at: nested?.index ?? index)
    }

    /// All elements, of a dictionary the values in the order of their keys. O(elements).
    package func liveValues() throws(EngineError) -> [LiveValue] {
        var values: [LiveValue] = []
        for (index, cell) in try cells(from: 0, limit: .max).enumerated() {
            values.append(try owner.live(cell, property, at: nested?.index ?? index))
        }
        return values
    }

    /// The reference that finds the collection in every session of its database.
    package var carried: CarriedCollection {
        CarriedCollection(owner: owner.ref, property: property.id, nested: nested, kind: kind)
    }

    /// Whether both are the same property of the same object, or the same collection within one.
    package func isSame(as other: CollectionHandle) -> Bool {
        owner == other.owner && property.id == other.property.id && nested?.id == other.nested?.id
    }
}

/// A collection without its session.
package struct CarriedCollection: Sendable {
    let owner: ObjectRef
    let property: PropertyID
    let nested: NestedRef?
    let kind: CollectionKind

    /// The collection in a session; nil if it does not exist there.
    package func handle(in session: Session) throws(EngineError) -> CollectionHandle? {
        guard let owner = try session.object(owner) else { return nil }
        guard let nested else { return try owner.collection(property, kind) }
        let handle = CollectionHandle(
            owner: owner, property: try owner.property(property), nested: nested, kind: kind)
        return try handle.isValid ? handle : nil
    }
}
