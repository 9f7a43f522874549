internal import ToftModel
internal import ToftPlatform

/// The parsed forms of texts that a program asks again and again, for the sessions of a database.
/// Any thread.
package final class QueryCache: Sendable {
    /// A place for one text: of those with the same place the one that came twice, with none of the
    /// others between.
    private struct Place {
        var query: PreparedQuery?
        /// The hash of the last text that was not found here.
        var candidate = 0
    }

    private static let placeCount = 64
    /// Bytes of the longest text that is kept.
    private static let longestText = 512

    private let places = FutexMutex([Place](repeating: Place(), count: placeCount))

    package init() {}

    /// The parsed form of a text, which is parsed here where it is not known.
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
}
