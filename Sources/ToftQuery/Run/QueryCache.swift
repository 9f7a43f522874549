package import ToftModel
internal import ToftPlatform

/// The queries that a program asks again and again, for the sessions of a database: by their texts,
/// or by the beginnings of texts that differ in the value alone. Any thread.
package final class QueryCache: Sendable {
    /// A slot for one text: of the texts with the same slot, the one that came twice without
    /// another in between.
    private struct Slot {
        var query: PreparedQuery?
        /// The hash of the last text that was not found here.
        var candidate = 0
    }

    private static let slotCount = 64
    /// Bytes of the longest text that is kept.
    private static let longestText = 512

    private let slots = FutexMutex([Slot](repeating: Slot(), count: slotCount))

    package init() {}

    /// The parsed form of a text, which is parsed here if it is not cached.
    package func query(_ text: String) throws(QueryError) -> PreparedQuery {
        try cached(text) { () throws(QueryError) in try PreparedQuery(text) }
    }

    /// The query of a text without arguments. Such a text contains its values, and is probably
    /// different each time; but if one began alike, the path is not bound again.
    package func bound(
        _ text: String, to className: String, schema: StoredSchema, aliases: KeyPathAliases,
        takesNumbersAsBools: Bool
    ) throws(QueryError) -> BoundQuery {
        let syntax = try BoundQuery.syntax(text, schema)
        guard aliases.isEmpty, let comparison = syntax.comparison(with: \.isConstant),
            comparison.offset <= Self.longestText
        else {
            return try BoundQuery(
                syntax, className: className, schema: schema, aliases: aliases,
                takesNumbersAsBools: takesNumbersAsBools)
        }
        let start = String(decoding: syntax.source.bytes.prefix(comparison.offset), as: UTF8.self)
        let query = try cached(start) { PreparedQuery(start: start) }
        return try query.bound(
            syntax, comparison, to: className, [], schema, takesNumbersAsBools)
    }

    private func cached(
        _ text: String, make: () throws(QueryError) -> PreparedQuery
    ) throws(QueryError) -> PreparedQuery {
        guard text.utf8.count <= Self.longestText else { return try make() }
        let hash = text.hashValue
        let index = hash & (Self.slotCount - 1)
        let (known, isSecond) = slots.withLock { slots in
            if let query = slots[index].query, query.text.hasSameBytes(as: text) {
                return (PreparedQuery?.some(query), false)
            }
            defer { slots[index].candidate = hash }
            return (nil, slots[index].candidate == hash)
        }
        if let known { return known }
        let query = try make()
        if isSecond { slots.withLock { $0[index].query = query } }
        return query
    }
}

extension Literal {
    /// Whether it is written in the text as one value.
    fileprivate var isConstant: Bool {
        switch self {
        case .null, .bool, .integer, .double, .float, .string, .data, .date, .uuid, .objectId: true
        case .value, .objectKey, .argument, .object: false
        }
    }
}
