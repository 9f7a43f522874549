package import ToftModel
internal import ToftPlatform

/// The parsed forms of repeated query texts, and the last path that was compared with a constant,
/// for the sessions of a database. Any thread.
package final class QueryCache: Sendable {
    /// A slot for one text: of the texts with the same slot, the one that came twice without
    /// another in between.
    private struct Place {
        var query: PreparedQuery?
        /// The hash of the last text that was not found here.
        var candidate = 0
    }

    private static let placeCount = 64
    /// Bytes of the longest text that is kept, also as that of a path.
    private static let longestText = 512

    /// A path that a text compared with a constant.
    private struct KnownPath {
        /// The text up to the operator.
        let start: [UInt8]
        let binding: PathBinding
    }

    private let lastPath = FutexMutex<KnownPath?>(nil)
    private let places = FutexMutex([Place](repeating: Place(), count: placeCount))

    package init() {}

    /// The parsed form of a text, which is parsed here if it is not cached.
    package func query(_ text: String) throws(QueryError) -> PreparedQuery {
        guard text.utf8.count <= Self.longestText else { return try PreparedQuery(text) }
        let hash = text.hashValue
        let index = hash & (Self.placeCount - 1)
        let (known, isSecond) = places.withLock { places in
            if let query = places[index].query, query.text.hasSameBytes(as: text) {
                return (PreparedQuery?.some(query), false)
            }
            defer { places[index].candidate = hash }
            return (nil, places[index].candidate == hash)
        }
        if let known { return known }
        let query = try PreparedQuery(text)
        if isSecond { places.withLock { $0[index].query = query } }
        return query
    }

    /// The query of a text without arguments. Such a text contains its values, and is probably
    /// different each time; but if the last one began alike, the path is not bound again.
    package func bound(
        _ text: String, to className: String, schema: StoredSchema, aliases: KeyPathAliases,
        takesNumbersAsBools: Bool
    ) throws(QueryError) -> BoundQuery {
        let syntax = try BoundQuery.syntax(text, schema)
        let comparison = aliases.isEmpty ? syntax.comparisonWithConstant : nil
        let start = syntax.source.bytes.prefix(comparison?.offset ?? 0)
        if let comparison, let known = lastPath.withLock({ $0 }),
            known.binding.isOf(className, schema), known.start.elementsEqual(start),
            let filter = try known.binding.filter(
                comparison, [], schema, syntax.source, takesNumbersAsBools)
        {
            return BoundQuery(known.binding.query, with: filter, syntax)
        }
        let query = try BoundQuery(
            syntax, className: className, schema: schema, aliases: aliases,
            takesNumbersAsBools: takesNumbersAsBools)
        if comparison != nil, syntax.source.bytes.count <= Self.longestText,
            let binding = PathBinding(query, of: className, schema)
        {
            let known = KnownPath(start: Array(start), binding: binding)
            lastPath.withLock { $0 = known }
        }
        return query
    }
}

extension QuerySyntax {
    /// The comparison of a path with a constant that the query is, and nothing else.
    fileprivate var comparisonWithConstant: ComparisonSyntax? {
        guard orderings.isEmpty, case .comparison(let comparison) = predicate,
            case .path(let path) = comparison.left, !path.hasArguments,
            case .literal(let literal, _) = comparison.right
        else { return nil }
        switch literal {
        case .null, .bool, .integer, .double, .float, .string, .data, .date, .uuid, .objectId:
            return comparison
        case .value, .objectKey, .argument, .object: return nil
        }
    }
}
