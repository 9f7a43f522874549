internal import ToftModel

/// One link property, to-one or a list, or a mixed one and a class that it may lead to.
struct Link: Hashable, Sendable {
    let source: ClassID
    let property: PropertyID
    let target: ClassID
    let isCollection: Bool
}

/// The links between classes, through the session's visible properties.
struct LinkMap: Sendable {
    /// A row counts as modified if something is that it reaches over this many links.
    static let depth = 3

    /// By the class that links.
    private(set) var outgoing: [ClassID: [Link]] = [:]
    /// By the class linked to.
    private(set) var incoming: [ClassID: [Link]] = [:]

    init(_ links: [Link]) {
        for link in links {
            outgoing[link.source, default: []].append(link)
            incoming[link.target, default: []].append(link)
        }
    }

    init(_ schema: StoredSchema) {
        let targets = schema.visibleClasses.filter { !$0.isEmbedded }.map(\.id)
        self.init(schema.visibleClasses.flatMap { Self.links(of: $0, any: targets) })
    }

    /// The links of a class; a mixed property may lead to any of the classes `any`.
    private static func links(of source: StoredClass, any: [ClassID]) -> [Link] {
        source.visibleProperties.flatMap { property in
            let targets =
                property.type == .mixed
                ? any : property.type == .link ? [property.targetClassID ?? 0] : []
            return targets.map {
                Link(
                    source: source.id, property: property.id, target: $0,
                    isCollection: property.isCollection)
            }
        }
    }

    /// The least number of links from a class to each that it reaches within the depth.
    func distances(from start: ClassID) -> [ClassID: Int] {
        var distances = [start: 0]
        var frontier = [start]
        for distance in 1...Self.depth {
            let targets = frontier.flatMap { outgoing[$0] ?? [] }.map(\.target)
            frontier = []
            for target in targets where distances[target] == nil {
                distances[target] = distance
                frontier.append(target)
            }
        }
        return distances
    }
}

/// Follows links both ways in one version.
protocol LinkReading {
    /// Calls `body` with the key of each object that links to `target` through `link`, once or
    /// more. Stops when it answers false.
    func forEachSource(of target: Int64, through link: Link, _ body: (Int64) -> Bool)
        throws(EngineError)
    /// Calls `body` with the key of each object that `source` links to through `link`. Stops when
    /// it answers false.
    func forEachTarget(of source: Int64, through link: Link, _ body: (Int64) -> Bool)
        throws(EngineError)
}
