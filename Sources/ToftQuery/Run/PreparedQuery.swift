package import ToftModel
internal import ToftPlatform

/// A query that is parsed once, to be bound to classes and arguments any number of times. Any
/// thread. It is a class because copying its contents would cost more than a lookup.
package final class PreparedQuery: Sendable {
    package let text: String
    /// Nil if the text has a hyphen: whether that subtracts depends on the names of a schema.
    private let syntax: QuerySyntax?
    /// Of a query that is one comparison of a path with an argument.
    private let comparison: PreparedComparison?

    package init(_ text: String) throws(QueryError) {
        self.text = text
        let syntax =
            text.hasHyphen
            ? nil : try Parser.parse(text, hyphenatedNames: [])
        self.syntax = syntax
        comparison = syntax.flatMap(PreparedComparison.init)
    }

    /// The query of a class of this name.
    package func bound(
        to className: String, arguments: [QueryArgument], schema: StoredSchema,
        aliases: KeyPathAliases, takesNumbersAsBools: Bool = false
    ) throws(QueryError) -> BoundQuery {
        guard let syntax else {
            return try BoundQuery.parse(
                text, arguments: arguments, className: className, schema: schema,
                aliases: aliases, takesNumbersAsBools: takesNumbersAsBools)
        }
        let comparison = aliases.isEmpty ? comparison : nil
        let known = try comparison?.bound(
            to: className, arguments, schema, syntax.source, takesNumbersAsBools)
        if let known { return known }
        let bound = try BoundQuery(
            syntax, arguments: arguments, className: className, schema: schema, aliases: aliases,
            takesNumbersAsBools: takesNumbersAsBools)
        comparison?.keep(bound, of: className, schema)
        return bound
    }

    /// The property that the query compares with its first argument by `==`, if that is the whole
    /// query and there are no aliases; nil otherwise, and before it was bound to the class.
    package func soughtProperty(of classID: ClassID, _ schema: ModelSchema) -> PropertyID? {
        comparison?.sought(of: classID, schema)
    }
}

/// The bound path of a query that only compares it with a constant: it is reused for the same class
/// of the same schema.
final class PathBinding: Sendable {
    private let className: String
    /// The classes of the schema.
    private let classes: [StoredClass]
    private let left: BoundExpression
    let quantifier: Quantifier
    /// The query that was bound.
    let query: BoundQuery

    /// Nil if the query is more than one test.
    init?(_ query: BoundQuery, of className: String, _ schema: StoredSchema) {
        guard query.stages.count == 1,
            case .filter(.test(let left, _, let quantifier)) = query.stages[0]
        else { return nil }
        self.className = className
        classes = schema.classes
        self.left = left
        self.quantifier = quantifier
        self.query = query
    }

    /// Whether the path was one of this class.
    func isOf(_ className: String, _ schema: StoredSchema) -> Bool {
        self.className.isSameName(as: className) && isOf(schema)
    }

    func isOf(_ schema: StoredSchema) -> Bool {
        // Arrays in the same memory are equal.
        classes.withUnsafeBufferPointer { own in
            schema.classes.withUnsafeBufferPointer {
                own.baseAddress == $0.baseAddress && own.count == $0.count
            }
        }
    }

    /// The path; nil if a value is computed from it.
    var path: BoundPath? { if case .path(let path) = left { path } else { nil } }

    /// The filter of a comparison of the path; nil if it has to be bound as a whole.
    func filter(
        _ comparison: ComparisonSyntax, _ arguments: [QueryArgument], _ schema: StoredSchema,
        _ source: QuerySource, _ takesNumbersAsBools: Bool
    ) throws(QueryError) -> BoundPredicate? {
        var binder = Binder(
            schema, classID: query.classID, arguments: arguments, source: source,
            aliases: KeyPathAliases(), takesNumbersAsBools: takesNumbersAsBools)
        return try binder.test(left, comparison).map { .test(left, $0, quantifier) }
    }
}

/// Keeps how a comparison of a path with an argument was bound last.
private final class PreparedComparison: Sendable {
    private struct Last {
        let binding: PathBinding
        /// The property that is compared with argument 0 by `==`; nil for other comparisons.
        let sought: PropertyID?
    }

    private let syntax: ComparisonSyntax
    private let last = FutexMutex<Last?>(nil)

    init?(_ query: QuerySyntax) {
        guard query.orderings.isEmpty, case .comparison(let comparison) = query.predicate,
            case .path(let path) = comparison.left, !path.hasArguments,
            case .literal(.argument, _) = comparison.right
        else { return nil }
        syntax = comparison
    }

    /// Nil if the comparison has to be bound as a whole.
    func bound(
        to className: String, _ arguments: [QueryArgument], _ schema: StoredSchema,
        _ source: QuerySource, _ takesNumbersAsBools: Bool
    ) throws(QueryError) -> BoundQuery? {
        guard let binding = last.withLock({ $0?.binding }), binding.isOf(className, schema),
            let filter = try binding.filter(
                syntax, arguments, schema, source, takesNumbersAsBools)
        else { return nil }
        return BoundQuery(binding.query, with: filter, arguments: arguments)
    }

    /// The property that is looked up, if the comparison was last bound to the same class.
    func sought(of classID: ClassID, _ schema: ModelSchema) -> PropertyID? {
        last.withLock { last in
            guard let last, last.binding.query.classID == classID,
                last.binding.isOf(schema.stored)
            else { return nil }
            return last.sought
        }
    }

    func keep(_ query: BoundQuery, of className: String, _ schema: StoredSchema) {
        guard let binding = PathBinding(query, of: className, schema) else { return }
        var sought: PropertyID?
        if syntax.comparator == .equal, syntax.options.isEmpty, binding.quantifier != .none,
            case .literal(.argument(0), _) = syntax.right
        {
            sought = binding.path?.directProperty?.propertyID
        }
        let kept = Last(binding: binding, sought: sought)
        last.withLock { $0 = kept }
    }
}

extension PathSyntax {
    /// True if its elements depend on the arguments.
    var hasArguments: Bool {
        elements.contains {
            switch $0.kind {
            case .argument, .index(.argument): true
            default: false
            }
        }
    }
}
