package import ToftModel

/// The key paths whose changes an observer is notified of, resolved against a schema: "name",
/// "dogs.age", "*", "boss.*".
///
/// A path's own properties count when they are set, its links when they get another target, inverse
/// properties when a link to the object is set or removed. `*` means all stored properties; before
/// a dot, the links among them from which the rest of the path continues.
///
/// It is kept as a graph. A node is a position on a path in a class: the properties watched there,
/// and the continuations of the path. Stars that meet in the same class share it, so the graph
/// stays small, however many paths lead through it; and as each step advances along its path, it
/// has no cycles.
package final class WatchedPaths: Sendable {
    struct Node: Sendable {
        let classID: ClassID
        /// Stored properties whose being set counts.
        var properties: Set<PropertyID> = []
        /// Inverse properties, with the links that they show.
        var inverses: [PropertyID: Link] = [:]
        var steps: [Step] = []
    }

    /// From an object to those that one of its properties leads to.
    struct Step: Sendable {
        let property: PropertyID
        let link: Link
        /// Whether the property shows who links here.
        let isInverse: Bool
        let next: Int
    }

    /// Properties that a path may name at most: each takes stack while the path is read.
    static let longestPath = 100

    let nodes: [Node]
    /// The first nodes of the paths.
    let roots: [Int]

    /// - Parameter classID: that of the elements or of the object; nil for values, which have no
    ///   properties to name.
    package init(_ paths: [String], from classID: ClassID?, in schema: ModelSchema)
        throws(EngineError)
    {
        var drawing = Drawing(paths: paths, schema: schema)
        var roots: [Int] = []
        for path in paths.indices {
            guard let classID else {
                throw EngineError(
                    .invalidArgument,
                    "Values have no properties, so the key path '\(paths[path])' can't be observed."
                )
            }
            roots.append(try drawing.root(path, classID))
        }
        self.roots = roots
        nodes = drawing.nodes
    }

    /// The stored properties that the records are to be searched for.
    var properties: Set<PropertyRef> {
        var properties: Set<PropertyRef> = []
        for node in nodes {
            for property in node.properties {
                properties.insert(PropertyRef(classID: node.classID, propertyID: property))
            }
            for link in node.inverses.values { properties.insert(link.ref) }
        }
        return properties
    }
}

/// The graph while it is being made.
private struct Drawing {
    private struct NodeKey: Hashable {
        let path: Int
        let position: Int
        let classID: ClassID
    }

    private let texts: [String]
    private let paths: [[String]]
    private let schema: ModelSchema
    private(set) var nodes: [WatchedPaths.Node] = []
    /// The nodes so far; nil if the path can't continue.
    private var drawn: [NodeKey: Int?] = [:]
    /// The reason why the present path could not continue, at its first obstacle.
    private var mistake: EngineError?

    init(paths: [String], schema: ModelSchema) {
        texts = paths
        self.paths = paths.map(\.pathNames)
        self.schema = schema
    }

    mutating func root(_ path: Int, _ classID: ClassID) throws(EngineError) -> Int {
        guard paths[path].count <= WatchedPaths.longestPath else {
            throw EngineError(
                .invalidArgument,
                "A key path to observe may name \(WatchedPaths.longestPath) properties, not "
                    + "\(paths[path].count)."
            )
        }
        mistake = nil
        if let node = try node(NodeKey(path: path, position: 0, classID: classID)) { return node }
        throw mistake
            ?? EngineError(.noSuchProperty, "The key path '\(texts[path])' leads nowhere.")
    }

    private mutating func node(_ key: NodeKey) throws(EngineError) -> Int? {
        if let known = drawn[key] { return known }
        let made = try draw(key)
        drawn[key] = made
        return made
    }

    private mutating func draw(_ key: NodeKey) throws(EngineError) -> Int? {
        let owner = try model { () throws(ModelError) in try schema.classHandle(id: key.classID) }
        let name = paths[key.path][key.position]
        let isLast = key.position == paths[key.path].count - 1
        var node = WatchedPaths.Node(classID: key.classID)
        let matching = owner.visibleProperties.filter {
            name == "*" ? $0.isStored : $0.name.isSameName(as: name)
        }
        for property in matching {
            guard !isLast else {
                try watch(property, in: &node)
                continue
            }
            guard let step = try step(property, key) else { continue }
            try watch(property, in: &node)
            node.steps.append(step)
        }
        guard !node.properties.isEmpty || !node.inverses.isEmpty else {
            if matching.isEmpty {
                note(.noSuchProperty, key, "'\(owner.name)' has no property '\(name)'")
            }
            if name == "*" {
                note(.noSuchProperty, key, "no link of '\(owner.name)' has what follows the star")
            }
            return nil
        }
        nodes.append(node)
        return nodes.count - 1
    }

    private func watch(_ property: PropertyHandle, in node: inout WatchedPaths.Node)
        throws(EngineError)
    {
        if property.isStored {
            node.properties.insert(property.id)
        } else {
            node.inverses[property.id] = try link(of: property)
        }
    }

    /// On from a property that is not the last of its path.
    private mutating func step(_ property: PropertyHandle, _ key: NodeKey) throws(EngineError)
        -> WatchedPaths.Step?
    {
        guard let target = property.targetClassID else {
            if paths[key.path][key.position] != "*" {
                note(
                    .invalidArgument, key,
                    "'\(property.className).\(property.name)' is no link, so nothing can follow it")
            }
            return nil
        }
        guard
            let next = try node(
                NodeKey(path: key.path, position: key.position + 1, classID: target)),
            let link = try link(of: property)
        else { return nil }
        return WatchedPaths.Step(
            property: property.id, link: link, isInverse: !property.isStored, next: next)
    }

    /// The link that a property is, or shows.
    private func link(of property: PropertyHandle) throws(EngineError) -> Link? {
        let link =
            property.isStored
            ? property : try model { () throws(ModelError) in try schema.origin(of: property) }
        return link.targetClassID.map {
            Link(
                source: link.classID, property: link.id, target: $0, isCollection: link.isCollection
            )
        }
    }

    private mutating func note(_ code: ErrorCode, _ key: NodeKey, _ what: String) {
        if mistake == nil {
            mistake = EngineError(
                code, "The key path '\(texts[key.path])' can't be observed: \(what).")
        }
    }
}
