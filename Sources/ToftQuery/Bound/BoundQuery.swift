package import ToftModel
internal import ToftPlatform

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

    /// The syntax of a query, and its arguments.
    struct Source: Sendable {
        var syntax: QuerySyntax
        var arguments: [QueryArgument]
        /// The paths with aliases, by their offsets, with the aliases' elements.
        var expansions: [Int: [PathSyntax.Element.Kind]] = [:]
    }

    /// The class of the results.
    package let classID: ClassID
    let stages: [Stage]
    /// The bound texts, one after the other: for `description`.
    private let sources: [Source]
    /// The dependencies of the answer, each once: they decide whether a change can alter it.
    package let dependencies: [QueryDependency]
    /// Bytes: see `StackOfQuery`.
    let stack: Int

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

    /// A query of one filter, with another one that depends on the same, written as `syntax` with
    /// `arguments`.
    init(
        _ query: BoundQuery, with filter: BoundPredicate, _ syntax: QuerySyntax,
        _ arguments: [QueryArgument]
    ) {
        self.init(
            classID: query.classID, stages: [.filter(filter)], dependencies: query.dependencies,
            stack: query.stack, sources: [Source(syntax: syntax, arguments: arguments)])
    }

    init(
        classID: ClassID, stages: [Stage], dependencies: [QueryDependency], stack: Int,
        sources: [Source]
    ) {
        self.sources = sources
        self.stack = stack
        self.classID = classID
        self.stages = stages
        self.dependencies = dependencies
    }

    /// This query, then `next` of its results. Both have the same class.
    package func appending(_ next: BoundQuery) -> BoundQuery {
        let known = Set(dependencies)
        return BoundQuery(
            classID: classID, stages: stages + next.stages,
            dependencies: dependencies + next.dependencies.filter { !known.contains($0) },
            stack: max(stack, next.stack), sources: sources + next.sources)
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

extension BoundQuery {
    /// Throws if the stack of the calling thread is too small for the query's nesting.
    func requireStack() throws(ModelError) {
        guard ThreadStack.hasRoom(for: stack) else { throw .stackTooSmallForQuery }
    }
}
