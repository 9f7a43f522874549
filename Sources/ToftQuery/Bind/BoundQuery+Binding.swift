package import ToftModel

extension BoundQuery {
    /// Binds a query that is given as text.
    /// - Parameter takesNumbersAsBools: whether 0 and 1 are accepted as false and true beside
    ///   booleans, as in Cocoa's predicates; in Realm's query language they are not.
    package static func parse(
        _ text: String, arguments: [QueryArgument] = [], className: String, schema: StoredSchema,
        aliases: KeyPathAliases = KeyPathAliases(), takesNumbersAsBools: Bool = false
    ) throws(QueryError) -> BoundQuery {
        try BoundQuery(
            syntax(text, schema), arguments: arguments, className: className, schema: schema,
            aliases: aliases, takesNumbersAsBools: takesNumbersAsBools)
    }

    /// A text, parsed as a schema's names want it.
    static func syntax(_ text: String, _ schema: StoredSchema) throws(QueryError) -> QuerySyntax {
        try Parser.parse(text, hyphenatedNames: text.hasHyphen ? schema.hyphenatedNames : [])
    }

    /// Binds a query that was parsed or built from code.
    package init(
        _ syntax: QuerySyntax, arguments: [QueryArgument] = [], className: String,
        schema: StoredSchema, aliases: KeyPathAliases = KeyPathAliases(),
        takesNumbersAsBools: Bool = false
    ) throws(QueryError) {
        guard let target = schema.storedClass(named: className) else {
            throw QueryError(
                .invalidQuery, "There is no class '\(className)'.", at: -1, in: syntax.source)
        }
        var binder = Binder(
            schema, classID: target.id, arguments: arguments, source: syntax.source,
            aliases: aliases, takesNumbersAsBools: takesNumbersAsBools)
        var stages: [Stage] = [.filter(try binder.bind(syntax.predicate))]
        for ordering in syntax.orderings {
            if case .filter(let predicate) = ordering {
                stages.append(.filter(try binder.bind(predicate)))
            } else {
                stages.append(.ordering(try binder.bind(ordering)))
            }
        }
        self.init(
            classID: target.id, stages: stages, dependencies: binder.dependencies,
            stack: binder.deepestStack,
            sources: [
                Source(syntax: syntax, arguments: arguments, expansions: binder.expansions)
            ])
    }
}
