/// A value that an object got from the transaction that made it.
package struct Given: Hashable, Sendable {
    package let property: PropertyNumber
    /// A list has its elements in the order of their labels.
    package let node: Node
    /// Whether the user gave it; else it is the class's default.
    package let isExplicit: Bool

    package init(_ property: PropertyNumber, _ node: Node, isExplicit: Bool = true) {
        self.property = property
        self.node = node
        self.isExplicit = isExplicit
    }
}

/// The elements between which one was put, as its author saw them.
package struct Neighbours: Hashable, Sendable {
    package let left: MadeID?
    package let right: MadeID?

    package init(_ left: MadeID?, _ right: MadeID?) {
        self.left = left
        self.right = right
    }
}

/// One thing that a transaction did.
package enum Op: Hashable, Sendable {
    case create(ObjectID, [Given])
    /// With the objects that went along by the delete rules of the replica.
    case delete(ObjectID, along: [ObjectID])
    /// A value, the value of an element, a member, an entry, an embedded object.
    case put(Path, Content)
    /// A number that counts on top of whatever is there.
    case add(Path, Int64)
    case insert(Path, Neighbours, Node)
    case move(Path, Neighbours)
    case remove(Path)
    /// All elements, members or entries.
    case clear(Path)
    case nested(Path, CollectionID, NestedEdit)
    case addClass(ClassSchema)
    case addProperty(ClassNumber, PropertySchema)
}

/// The ops of one write transaction of a replica.
package struct Changeset: Hashable, Sendable {
    /// Whose it is.
    package var replica: ReplicaNumber
    /// It is the replica's first, second...
    package var number: UInt64
    /// The last entry of the server's log that the replica had applied.
    package var base: UInt64
    /// Milliseconds since 2020, by the replica's clock.
    package var time: Int64
    package var ops: [Op]

    package init(
        _ replica: ReplicaNumber, _ number: UInt64, base: UInt64, time: Int64, _ ops: [Op]
    ) {
        self.replica = replica
        self.number = number
        self.base = base
        self.time = time
        self.ops = ops
    }
}

extension Op {
    /// The path that it is about; nil for an op of the schema.
    package var path: Path? {
        switch self {
        case .create(let object, _), .delete(let object, _): Path(object)
        case .put(let path, _), .add(let path, _), .insert(let path, _, _), .move(let path, _),
            .remove(let path), .clear(let path), .nested(let path, _, _):
            path
        case .addClass, .addProperty: nil
        }
    }

    /// Calls `body` for each path that the replica shows as the op left it, from its commit until
    /// the answer has been applied. An add owns nothing: it counts on top.
    package func eachOwned(_ schema: Schema, _ body: (Path) -> Void) {
        switch self {
        case .create(let object, _): body(Path(object))
        case .delete(let object, let along):
            body(Path(object))
            for other in along { body(Path(other)) }
        case .move(let path, _): body(path + .label)
        case .put(let path, _), .insert(let path, _, _), .remove(let path), .clear(let path),
            .nested(let path, _, _):
            body(schema.told(path))
        case .add, .addClass, .addProperty: return
        }
    }
}

extension Schema {
    /// The path that a fact about `path` has: a link in a list goes with its element when its
    /// target goes, so the element is told whole.
    package func told(_ path: Path) -> Path {
        guard path.steps.count > 2, path.steps.last == .value else { return path }
        return slot(path)?.isLinkInList == true ? path.parent : path
    }
}
