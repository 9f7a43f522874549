internal import ToftEngine
internal import ToftModel
internal import ToftQuery

/// A query while it is being built in Swift: the engine's syntax tree, with values in place of
/// arguments.
indirect enum QueryNode {
    case path(QueryPath)
    case value(QueryArgument)
    /// A value with objects in it, and the databases that they are of.
    case objects(QueryArgument, Set<ObjectIdentifier>)
    /// Number of elements of a collection that satisfy a predicate.
    case matchCount(QueryPath, QueryNode)
    case comparison(QueryNode, ToftQuery.Comparator, ToftQuery.StringOptions, QueryNode)
    case not(QueryNode)
    case and(QueryNode, QueryNode)
    case or(QueryNode, QueryNode)
    /// An unsupported condition; reported when the query is used.
    case mistake(Realm.Error)
}

/// A path from the queried object.
struct QueryPath {
    var elements: [PathSyntax.Element.Kind] = []
    /// For each collection, the number of elements up to and including it.
    var collectionDepths: [Int] = []

    func appending(_ name: String, isCollection: Bool) -> QueryPath {
        var path = self
        path.elements += name.pathNames.map { .name($0) }
        if isCollection { path.collectionDepths.append(path.elements.count) }
        return path
    }

    /// A map's value under a key, and the rest of the path.
    func appending(key: String) -> QueryPath {
        var path = self
        if isCollection { path.collectionDepths.removeLast() }
        path.elements.append(.index(.key(key)))
        return path
    }

    /// The values of a map, a collection themselves.
    func appendingValues() -> QueryPath {
        var path = appending(.values)
        if isCollection {
            path.collectionDepths[path.collectionDepths.count - 1] = path.elements.count
        }
        return path
    }

    func appending(_ operation: PathOperation) -> QueryPath {
        var path = self
        path.elements.append(.operation(operation))
        return path
    }

    /// An aggregate over a collection: for objects' property `$0.dogs.age`, the operation is before
    /// the property.
    func aggregated(_ operation: PathOperation) -> QueryPath {
        guard let collectionDepth = collectionDepths.first, collectionDepth < elements.count else {
            return appending(operation)
        }
        var path = self
        path.elements.insert(.operation(operation), at: collectionDepth)
        return path
    }

    /// Whether the path ends at a collection.
    private var isCollection: Bool { collectionDepths.last == elements.count }

    /// The path to the first collection.
    var collection: QueryPath? { collection(at: collectionDepths.first) }

    /// The path to the last collection.
    var lastCollection: QueryPath? { collection(at: collectionDepths.last) }

    private func collection(at depth: Int?) -> QueryPath? {
        depth.map { QueryPath(elements: Array(elements.prefix($0)), collectionDepths: [$0]) }
    }

    /// The rest of the path, from an element of the first collection.
    func beyondCollection(from variable: String) -> QueryPath? {
        collectionDepths.first.map {
            QueryPath(elements: [.name(variable)] + elements.dropFirst($0))
        }
    }
}

// MARK: To the engine's syntax

/// Turns a node into syntax, and numbers its values as arguments.
struct QueryTranslation {
    private(set) var arguments: [QueryArgument] = []
    /// The databases that objects among the arguments are of.
    private(set) var origins: Set<ObjectIdentifier> = []
    private var variables = 0

    mutating func predicate(_ node: QueryNode) throws -> PredicateSyntax {
        switch node {
        case .comparison(let left, let comparator, let options, let right):
            return .comparison(
                ComparisonSyntax(
                    try expression(left), comparator, options: options, try expression(right)))
        case .not(let inner): return .not(try predicate(inner))
        case .and:
            return .and(
                try predicates(node) {
                    if case .and(let left, let right) = $0 { (left, right) } else { nil }
                })
        case .or:
            return .or(
                try predicates(node) {
                    if case .or(let left, let right) = $0 { (left, right) } else { nil }
                })
        // A Bool property by itself.
        case .path:
            return .comparison(
                ComparisonSyntax(try expression(node), .equal, .literal(.bool(true), offset: -1)))
        case .value(.value(.bool(let value))): return .constant(value)
        case .value, .objects, .matchCount:
            throw Realm.Error(.invalidQuery, "A query has to be a condition, not a value.")
        case .mistake(let error): throw error
        }
    }

    /// The conditions that are joined two by two, in their order: thousands may be.
    private mutating func predicates(
        _ node: QueryNode, _ halves: (QueryNode) -> (QueryNode, QueryNode)?
    ) throws -> [PredicateSyntax] {
        var found: [PredicateSyntax] = []
        var waiting = [node]
        while let next = waiting.popLast() {
            if let (left, right) = halves(next) {
                waiting += [right, left]
            } else {
                found.append(try predicate(next))
            }
        }
        return found
    }

    private mutating func expression(_ node: QueryNode) throws -> ExpressionSyntax {
        switch node {
        case .path(let path): return .path(path.syntax)
        case .value(let argument):
            arguments.append(argument)
            return .literal(.argument(arguments.count - 1), offset: -1)
        case .objects(let argument, let databases):
            origins.formUnion(databases)
            return try expression(.value(argument))
        case .matchCount(let collection, let predicate):
            variables += 1
            let variable = "$element\(variables)"
            let inner = try self.predicate(try predicate.relative(to: collection, variable))
            return .subquery(SubquerySyntax(collection.syntax, variable: variable, inner))
        case .comparison, .not, .and, .or:
            throw Realm.Error(
                .invalidQuery,
                "Conditions can't be compared with each other: combine them with && and ||.")
        case .mistake(let error): throw error
        }
    }
}

extension QueryPath {
    /// A path without steps is the object itself.
    fileprivate var syntax: PathSyntax {
        PathSyntax((elements.isEmpty ? [.name("SELF")] : elements).map { PathSyntax.Element($0) })
    }

    fileprivate func isSameCollection(as other: QueryPath) -> Bool {
        collection?.elements == other.elements
    }
}

extension QueryNode {
    /// The collection that a condition is about, if there is one.
    var collection: QueryPath? {
        switch self {
        case .path(let path): path.collection
        case .comparison(let left, _, _, let right), .and(let left, let right),
            .or(let left, let right):
            left.collection ?? right.collection
        case .not(let inner): inner.collection
        case .matchCount(let collection, _): collection
        case .value, .objects, .mistake: nil
        }
    }

    /// The condition for an element of the collection, called `variable`.
    fileprivate func relative(to collection: QueryPath, _ variable: String) throws -> QueryNode {
        switch self {
        case .path(let path):
            guard path.isSameCollection(as: collection),
                let relative = path.beyondCollection(from: variable)
            else {
                throw Realm.Error(
                    .invalidQuery, "A condition that is counted must be about one collection only.")
            }
            return .path(relative)
        // The condition that any element satisfies another one is, for one element, the other one.
        case .comparison(.matchCount(let inner, let any), .greater, _, .value(.value(.int(0))))
        where inner.elements == collection.elements:
            return try any.relative(to: collection, variable)
        case .comparison(let left, let comparator, let options, let right):
            return .comparison(
                try left.relative(to: collection, variable), comparator, options,
                try right.relative(to: collection, variable))
        case .not(let inner): return .not(try inner.relative(to: collection, variable))
        case .and(let left, let right):
            return .and(
                try left.relative(to: collection, variable),
                try right.relative(to: collection, variable))
        case .or(let left, let right):
            return .or(
                try left.relative(to: collection, variable),
                try right.relative(to: collection, variable))
        case .matchCount(let inner, _) where inner.elements.starts(with: collection.elements):
            throw Realm.Error(
                .invalidQuery,
                "A condition that is counted can't look into a collection of the elements.")
        case .value, .objects, .matchCount, .mistake: return self
        }
    }
}
