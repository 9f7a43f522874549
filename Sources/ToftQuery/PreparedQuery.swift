package import ToftModel
internal import ToftPlatform

/// A query that is parsed once, to be bound to classes and arguments any number of times. Any
/// thread. A class, since copying all that it holds costs more than a look-up.
package final class PreparedQuery: Sendable {
    package let text: String
    /// Nil where the text has a hyphen: whether that subtracts depends on the names of a schema.
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

    /// The property whose value the query compares with its first argument by `==`, and does no
    /// more, where there are no aliases; nil where it does something else, and before it was bound
    /// to the class.
    package func soughtProperty(of classID: ClassID, _ schema: ModelSchema) -> PropertyID? {
        comparison?.sought(of: classID, schema)
    }
}

/// Keeps how a comparison of a path with an argument was bound last: for the same class of the same
/// schema the path stands for the same.
private final class PreparedComparison: Sendable {
    final class Binding: Sendable {
        let className: String
        /// Those of the schema.
        let classes: [StoredClass]
        let query: BoundQuery
        /// The property that is compared with argument 0 by `==`; nil where more is done.
        let sought: PropertyID?

        init(
            _ className: String, _ schema: StoredSchema, _ query: BoundQuery, _ sought: PropertyID?
        ) {
            self.className = className
            classes = schema.classes
            self.query = query
            self.sought = sought
        }
    }

    private let syntax: ComparisonSyntax
    private let last = FutexMutex<Binding?>(nil)

    init?(_ query: QuerySyntax) {
        guard query.orderings.isEmpty, case .comparison(let comparison) = query.predicate,
            case .path(let path) = comparison.left, !path.hasArguments,
            case .literal(.argument, _) = comparison.right
        else { return nil }
        syntax = comparison
    }

    /// Nil where the comparison is to be bound as a whole.
    func bound(
        to className: String, _ arguments: [QueryArgument], _ schema: StoredSchema,
        _ source: QuerySource, _ takesNumbersAsBools: Bool
    ) throws(QueryError) -> BoundQuery? {
        guard let last = binding(to: className, schema),
            case .filter(.test(let left, _, let quantifier)) = last.query.stages[0]
        else { return nil }
        var binder = Binder(
            schema, classID: last.query.classID, arguments: arguments, source: source,
            aliases: KeyPathAliases(), takesNumbersAsBools: takesNumbersAsBools)
        guard let test = try binder.test(left, syntax) else { return nil }
        return BoundQuery(last.query, with: .test(left, test, quantifier), arguments: arguments)
    }

    /// The property that was sought, where the comparison was bound to the same class last.
    func sought(of classID: ClassID, _ schema: ModelSchema) -> PropertyID? {
        last.withLock { last in
            guard let last, last.query.classID == classID,
                last.classes.isSameArray(as: schema.stored.classes)
            else { return nil }
            return last.sought
        }
    }

    /// How it was bound last, where that was to the same.
    private func binding(to className: String, _ schema: StoredSchema) -> Binding? {
        guard let last = last.withLock({ $0 }), last.className.isSameName(as: className),
            last.classes.isSameArray(as: schema.classes)
        else { return nil }
        return last
    }

    func keep(_ query: BoundQuery, of className: String, _ schema: StoredSchema) {
        guard query.stages.count == 1,
            case .filter(.test(let left, _, let quantifier)) = query.stages[0]
        else { return }
        var sought: PropertyID?
        if syntax.comparator == .equal, syntax.options.isEmpty, quantifier != .none,
            case .literal(.argument(0), _) = syntax.right, case .path(let path) = left
        {
            sought = path.directProperty?.propertyID
        }
        let binding = Binding(className, schema, query, sought)
        last.withLock { $0 = binding }
    }
}

extension PathSyntax {
    /// Whether what it stands for hangs on the arguments.
    var hasArguments: Bool {
        elements.contains {
            switch $0.kind {
            case .argument, .index(.argument): true
            default: false
            }
        }
    }
}

extension [StoredClass] {
    /// Whether both lie in the same memory, and so are equal.
    func isSameArray(as other: [StoredClass]) -> Bool {
        withUnsafeBufferPointer { own in
            other.withUnsafeBufferPointer {
                own.baseAddress == $0.baseAddress && own.count == $0.count
            }
        }
    }
}
