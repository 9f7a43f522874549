internal import ToftModel
package import ToftQuery
internal import ToftStorage

extension Results {
    /// The groups of the objects by the values of paths over to-one links, in the order of those
    /// values, null first. Each group has the number of its objects and the requested aggregates.
    ///
    /// One pass; no object is made. Throws `unsupportedAggregate` for a path without such an
    /// aggregate, `overflow` for a sum of integers beyond 64 bits.
    package func groups(
        by paths: [String], values: [(aggregate: Aggregate, path: String)] = []
    ) throws(EngineError) -> [ResultGroup] {
        try session.check()
        let owner = try objectClass()
        let grouping = try querying { () throws(QueryError) in
            try Grouping(
                by: paths.map { PathSyntax(keyPath: $0) },
                of: values.map { ($0.aggregate.operation, PathSyntax(keyPath: $0.path)) },
                className: owner.name, schema: session.schema.stored,
                aliases: session.aliases)
        }
        if let (path, operation) = grouping.impossible {
            throw EngineError(
                .unsupportedAggregate,
                "There is no \(operation.rawValue) of '\(owner.name).\(path)'. Numbers have all "
                    + "four aggregates, dates minimum and maximum.")
        }
        let view = session.view
        return try session.interruption.watching { () throws(EngineError) in
            try model { () throws(ModelError) in
                if let root = definition.root, try !view.exists(root) { return [] }
                let query = definition.query ?? BoundQuery(all: owner.id)
                return try query.groups(
                    grouping, in: view, of: try definition.queryBase(in: view))
            }
        }
    }
}
