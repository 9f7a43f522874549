package import ToftModel
internal import ToftPlatform

/// A query that is parsed once, to be bound to classes and arguments any number of times. Any
/// thread. A class, since copying all that it holds costs more than a look-up.
///
/// A query that only compares a path with a value is bound with a hole for the value: its shape,
/// kept for the class that it was bound to last.
package final class PreparedQuery: Sendable {
    package let text: String
    /// Nil if the text has a hyphen: whether that subtracts depends on the names of a schema.
    private let syntax: QuerySyntax?
    /// The query, if it is one comparison of a path with an argument.
    private let comparison: ComparisonSyntax?
    private let shape = FutexMutex<BoundShape?>(nil)

    package init(_ text: String) throws(QueryError) {
        self.text = text
        syntax = text.hasHyphen ? nil : try Parser.parse(text, hyphenatedNames: [])
        comparison = syntax.flatMap { syntax in
            syntax.comparison { if case .argument = $0 { true } else { false } }
        }
    }

    /// The queries whose text up to the operator of their one comparison is `start`, and whose
    /// value is written behind it.
    init(start: String) {
        text = start
        syntax = nil
        comparison = nil
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
        guard let comparison, aliases.isEmpty else {
            return try BoundQuery(
                syntax, arguments: arguments, className: className, schema: schema,
                aliases: aliases, takesNumbersAsBools: takesNumbersAsBools)
        }
        return try bound(
            syntax, comparison, to: className, arguments, schema, takesNumbersAsBools)
    }

    /// The query of a class, which is one comparison. A known shape leaves only the value to bind.
    func bound(
        _ syntax: QuerySyntax, _ comparison: ComparisonSyntax, to className: String,
        _ arguments: [QueryArgument], _ schema: StoredSchema, _ takesNumbersAsBools: Bool
    ) throws(QueryError) -> BoundQuery {
        if let shape = shape.withLock({ $0 }), shape.isOf(className, schema),
            let filter = try shape.filter(
                comparison, arguments, schema, syntax.source, takesNumbersAsBools)
        {
            return BoundQuery(shape.query, with: filter, syntax, arguments)
        }
        let query = try BoundQuery(
            syntax, arguments: arguments, className: className, schema: schema,
            takesNumbersAsBools: takesNumbersAsBools)
        if let made = BoundShape(query, comparison, of: className, schema) {
            shape.withLock { $0 = made }
        }
        return query
    }

    /// The key of the first object of a class that passes the query with one argument, if the
    /// plan for its shape is one lookup of the argument. `isKnown` is false if it is not, if the
    /// shape is not known yet, and if an index can't decide for the value. O(log objects).
    package func firstKey(
        of classID: ClassID, lookingUp value: BorrowedValue, in view: ModelView
    ) throws(ModelError) -> (isKnown: Bool, key: Int64?) {
        let decided = shape.withLock { shape -> PropertyID? in
            guard let shape, shape.query.classID == classID, shape.isOf(view.schema.stored) else {
                return nil
            }
            return shape.decided
        }
        guard let decided else { return (false, nil) }
        return try view.firstIndexed(decided, of: classID, equalTo: value)
    }
}

/// A bound query that only compares a path with a value, whatever the value: good for one class of
/// one schema.
final class BoundShape: Sendable {
    private let className: String
    /// Those of the schema.
    private let classes: [StoredClass]
    private let left: BoundExpression
    private let quantifier: Quantifier
    /// The query that was bound.
    let query: BoundQuery
    /// The plan: the property whose lookup decides the query if its value is argument 0; nil if
    /// the query has to be run.
    let decided: PropertyID?

    /// Nil if the query is more than one test.
    init?(
        _ query: BoundQuery, _ comparison: ComparisonSyntax, of className: String,
        _ schema: StoredSchema
    ) {
        guard query.stages.count == 1,
            case .filter(.test(let left, _, let quantifier)) = query.stages[0]
        else { return nil }
        self.className = className
        classes = schema.classes
        self.left = left
        self.quantifier = quantifier
        self.query = query
        if quantifier != .none, case .literal(.argument(0), _) = comparison.right {
            decided = IndexPlan.decided(left, comparison)
        } else {
            decided = nil
        }
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

    /// The filter that a comparison of the path is; nil if it has to be bound as a whole.
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

extension QuerySyntax {
    /// The comparison of a path with a literal of some kind that the query is, and nothing else.
    func comparison(with isOfKind: (Literal) -> Bool) -> ComparisonSyntax? {
        guard orderings.isEmpty, case .comparison(let comparison) = predicate,
            case .path(let path) = comparison.left, !path.hasArguments,
            case .literal(let literal, _) = comparison.right, isOfKind(literal)
        else { return nil }
        return comparison
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
