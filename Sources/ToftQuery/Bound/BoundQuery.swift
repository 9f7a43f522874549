package import ToftModel

/// A query that is bound to a class: checked, typed, ready to run against any snapshot, by any
/// thread, any number of times.
///
/// It is a pipeline: the objects of a base pass a filter, then SORT, DISTINCT and LIMIT in written
/// order; further filters and orderings may be appended, as `results.filter(...).sorted(...)` does.
package struct BoundQuery: Sendable {
    /// One stage of the pipeline.
    enum Stage: Sendable {
        case filter(BoundPredicate)
        case ordering(BoundOrdering)
    }

    /// A query as it was written, and what was given for its arguments.
    struct Source: Sendable {
        var syntax: QuerySyntax
        var arguments: [QueryArgument]
        /// The paths with aliases, by their offsets, with the aliases' elements.
        var expansions: [Int: [PathSyntax.Element.Kind]] = [:]
    }

    /// The class whose objects are asked for.
    package let classID: ClassID
    let stages: [Stage]
    /// The bound texts, one after the other: for `description`.
    private let sources: [Source]
    /// The dependencies of the answer, each once: they decide whether a change can alter it.
    package let dependencies: [QueryDependency]
    /// Bytes: see `StackOfQuery`.
    let stack: Int

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

    /// All objects of a class.
    package init(all classID: ClassID) {
        self.init(classID: classID, stages: [], dependencies: [], stack: 0, sources: [])
    }

    /// The filters of a query, without its orderings.
    init(filtersOf query: BoundQuery) {
        self.init(
            classID: query.classID,
            stages: query.stages.filter { if case .filter = $0 { true } else { false } },
            dependencies: query.dependencies, stack: query.stack, sources: query.sources)
    }

    /// A query of one filter, with another one that depends on the same, for other arguments.
    init(_ query: BoundQuery, with filter: BoundPredicate, arguments: [QueryArgument]) {
        self.init(
            classID: query.classID, stages: [.filter(filter)], dependencies: query.dependencies,
            stack: query.stack,
            sources: query.sources.map { Source(syntax: $0.syntax, arguments: arguments) })
    }

    /// A query of one filter, with another one that depends on the same, written as `syntax`.
    init(_ query: BoundQuery, with filter: BoundPredicate, _ syntax: QuerySyntax) {
        self.init(
            classID: query.classID, stages: [.filter(filter)], dependencies: query.dependencies,
            stack: query.stack, sources: [Source(syntax: syntax, arguments: [])])
    }

    private init(
        classID: ClassID, stages: [Stage], dependencies: [QueryDependency], stack: Int,
        sources: [Source]
    ) {
        self.sources = sources
        self.stack = stack
        self.classID = classID
        self.stages = stages
        self.dependencies = dependencies
    }

    /// This query, then `next` of its results. Both ask for the same class.
    package func appending(_ next: BoundQuery) -> BoundQuery {
        let known = Set(dependencies)
        return BoundQuery(
            classID: classID, stages: stages + next.stages,
            dependencies: dependencies + next.dependencies.filter { !known.contains($0) },
            stack: max(stack, next.stack), sources: sources + next.sources)
    }

    /// The first results of this query.
    func limited(to count: Int) -> BoundQuery {
        BoundQuery(
            classID: classID, stages: stages + [.ordering(.limit(count))],
            dependencies: dependencies, stack: stack, sources: sources)
    }

    /// Whether SORT, DISTINCT or LIMIT is in it, so that the results are more than a filtered base.
    package var hasOrderings: Bool {
        stages.contains { if case .ordering = $0 { true } else { false } }
    }

    /// True if an object's own properties alone decide whether it is a result, and its place among
    /// the results, whatever other objects exist.
    package var judgesEachAlone: Bool {
        let areInOrder = stages.allSatisfy { stage in
            switch stage {
            case .filter, .ordering(.sort): true
            case .ordering(.distinct), .ordering(.limit), .ordering(.offset): false
            }
        }
        return areInOrder
            && dependencies.allSatisfy {
                $0.steps.isEmpty && !$0.isOfOthers && $0.property.classID == classID
            }
    }

    /// The query as text, with the values of its arguments: parsed and bound in the same schema it
    /// is the same query. Cost: its length.
    package func text() throws(ModelError) -> String {
        try requireStack()
        return Description(sources).text
    }
}

extension StoredSchema {
    /// The names that a query may spell with a hyphen; elsewhere a hyphen subtracts.
    fileprivate var hyphenatedNames: Set<String> {
        var names: Set<String> = []
        for storedClass in visibleClasses {
            for name in [storedClass.name] + storedClass.visibleProperties.map(\.name)
            where name.hasHyphen {
                names.insert(name)
            }
        }
        return names
    }
}

extension String {
    /// Whether there is a hyphen in the text.
    var hasHyphen: Bool {
        var text = self
        return text.withUTF8 { $0.contains(UInt8(ascii: "-")) }
    }
}
